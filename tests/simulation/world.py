"""What happens next: one seed, one source of chance, one simulated time, every fault.

Rules:

- Everything that is random is drawn from ``World.rng``, in one order. The same seed gives the same
  trace, line for line, in any process.
- A replica's step may be held up at every call of its store and its clock while others act, and
  may be cut short there by its death. A replica is never in two steps at once.
- Which faults there are, and how often, is drawn first (a swarm): some worlds are calm, so that
  long histories happen; some have one fault only, and that one all the time.
- At the end the faults stop. Then somebody must lead, and answer, within ``CALM_MS``.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from random import Random

from bailiwick.kernel import Envelope, SetShare
from bailiwick.kernel.fleet import rules as fleet_rules
from bailiwick.kernel.work import requests
from bailiwick.runtime.replica import Pace, Replica, Role, Ticket, View
from bailiwick.vocab.errors import BailiwickError, Damaged, Deposed, Unavailable
from tests.simulation.actors import Actors, Said, settings_of
from tests.simulation.clock import EPOCH_MS, SimClock
from tests.simulation.disk import SimDisk
from tests.simulation.invariants import Judge
from tests.simulation.model import Violation
from tests.simulation.store import (
    LOG,
    DatabaseDown,
    Session,
    SimDatabase,
    SimStore,
    snapshot_name,
)

ACTIONS = 700
DAY_MS = 86_400_000
APART_EVERY = 3
"""One world of so many has policies of isolation."""

CALM_MS = 15_000
"""How long after the last fault somebody must have led and answered."""

_TRIES_MAX = 12
_DEPTH_MAX = 2
_DEAR_EVERY = 8
_SEEN = (
    "dies",
    "is held up",
    "loses",
    "late batch",
    "the database starts",
    "rots",
    "jumps",
    "leaps",
)
"""Words of the trace that are counted, to know that these things really happen."""


class Killed(BaseException):
    """A replica's process ends right here."""


@dataclass(slots=True)
class Faults:
    """How often each thing goes wrong; zero for those that do not exist in this world."""

    drop: float = 0.0
    kill: float = 0.0
    hold_up: float = 0.0
    late: float = 0.0
    die: float = 0.0

    @classmethod
    def drawn(cls, rng: Random) -> Faults:
        """A swarm: each fault is there or not, often or seldom."""
        return cls(
            drop=rng.choice((0, 0, 0.003, 0.02)),
            kill=rng.choice((0, 0, 0.0005, 0.002)),
            hold_up=rng.choice((0, 0.004, 0.02, 0.05)),
            late=rng.choice((0, 0, 0.01, 0.05)),
            die=rng.choice((0, 0, 0.002, 0.01)),
        )


@dataclass(slots=True)
class Host:
    """A machine with a replica on it, or with none for the moment."""

    name: str
    clock: SimClock
    replica: Replica
    store: SimStore
    up: bool = True
    stepping: bool = False
    doomed: bool = False
    stalled_until: int = 0


@dataclass(slots=True)
class Op:
    """A command that somebody wants answered."""

    said: Said
    key: str | None
    tries: int = 0
    settled: bool = False
    answer: object = None


@dataclass(slots=True)
class Plan:
    """What may be replaced to see whether the judge notices."""

    store: type[SimStore] = SimStore
    database: type[SimDatabase] = SimDatabase
    replica: type[Replica] = Replica
    faults: Faults | None = None
    """Instead of those that would be drawn: what brings the mistake out."""
    bound: bool | None = None
    actions: int = 0


class World:
    """One simulation."""

    def __init__(self, seed: int, *, plan: Plan | None = None, actions: int = ACTIONS) -> None:
        self.seed, self.rng = seed, Random(seed)
        self.plan = plan or Plan()
        self._left = self.plan.actions or actions
        rng = self.rng
        self.now, self.calm, self._depth, self._serial = 0, False, 0, 0
        self._trace, self.trace_lines_max = sha256(), 40
        self.trace_tail: list[str] = []
        self.seen = dict.fromkeys(_SEEN, 0)
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        drawn, bound = Faults.drawn(rng), rng.random() < 0.5
        self.faults = drawn if self.plan.faults is None else self.plan.faults
        self.bound = bound if self.plan.bound is None else self.plan.bound
        self.judge = Judge(self._timers, self._at_risk, self.true_ms)
        self.disk = SimDisk(rng)
        self.database = self.plan.database(self.disk, self.judge)
        apart = seed % APART_EVERY == APART_EVERY - 1
        self.actors = Actors(rng, self.judge.model, lambda: self.now, apart=apart)
        self._settings = settings_of(rng)
        self._pace = Pace(
            batch_max=rng.choice((1, 8, 1024, 1024)),
            read_max=rng.choice((1, 7, 50, 5_000)),
            snapshot_every=rng.choice((4, 25, 100_000)),
        )
        self._members_max = rng.choice((1, 2, 256))
        self.hosts: list[Host] = []
        for number in range(rng.choice((1, 2, 3, 3, 4))):
            self.hosts.append(self._make_host(f"replica-{number}"))
        self._database_waits = False
        self.ops: list[Op] = []
        self._actions = self._weigh()

    def _weigh(self) -> tuple[tuple[Callable[[], None], int], ...]:
        rng = self.rng
        return (
            (self._step_one, 60),
            (self._speak, rng.choice((6, 14, 25))),
            (self._look, rng.choice((4, 20))),
            (self._repeat, rng.choice((0, 3))),
            (self._kill, rng.choice((0, 0, 1))),
            (self._stall, rng.choice((0, 0, 1))),
            (self._cut, rng.choice((0, 0, 2, 6))),
            (self._crash, rng.choice((0, 0, 1))),
            (self._fill_disk, rng.choice((0, 0, 1))),
            (self._fail_fsync, rng.choice((0, 0, 1))),
            (self._harm_snapshot, rng.choice((0, 1))),
            (self._jump_clock, rng.choice((0, 0, 1))),
            (self._leap_years, rng.choice((0, 0, 1, 3))),
            (self._stop_timer, rng.choice((0, 0, 1))),
        )

    def _make_host(self, name: str) -> Host:
        clock = SimClock(self.rng, lambda: self.now, lambda: self._meanwhile(name))
        store = self.plan.store(self.database, self, name=name, bound=self.bound)
        return Host(name, clock, self._make_replica(name, store, clock), store)

    def _make_replica(self, name: str, store: SimStore, clock: SimClock) -> Replica:
        return self.plan.replica(
            store, clock, name=name, address=f"at-{name}", settings=self._settings, pace=self._pace
        )

    # -- running -------------------------------------------------------------------------------

    def run(self) -> World:
        """All of it; a broken promise is raised as a violation."""
        constants = requests.MEMBERS_MAX, fleet_rules.MEMBERS_MAX
        requests.MEMBERS_MAX = fleet_rules.MEMBERS_MAX = self._members_max
        try:
            for said in self.actors.first():
                self._send(Op(said, self._key()))
            while self._left > 0:  # bounded: every action counts it down
                self._pass_time()
                self._act()
            self._come_to_rest()
        finally:
            requests.MEMBERS_MAX, fleet_rules.MEMBERS_MAX = constants
        return self

    def _act(self) -> None:
        self._left -= 1
        kinds, weights = zip(*self._actions, strict=True)
        self.rng.choices(kinds, weights)[0]()

    def note(self, text: str) -> None:
        """One line of the trace."""
        line = f"{self.now} {text}"
        self._trace.update(line.encode() + b"\n")
        self.trace_tail.append(line)
        del self.trace_tail[: -self.trace_lines_max]
        for words in _SEEN:
            self.seen[words] += words in text

    @property
    def trace_hash(self) -> str:
        """The whole trace in one word, with the journal that came of it."""
        final = self._trace.copy()
        final.update(self.judge.model.hashes[-1].encode())
        return final.hexdigest()

    def _pass_time(self) -> None:
        rng = self.rng
        self.now += rng.choice((0, 1, 5, 20, 20, 50, 50, 120))
        if rng.random() < 0.01:
            self.now += rng.randrange(5_000)
        self._deliver()
        if not self.database.up and not self._database_waits:
            self._database_waits = True
            self._at(rng.randrange(20, 1_500), self._start_database)

    def _at(self, delay_ms: int, what: Callable[[], None]) -> None:
        self._serial += 1
        heapq.heappush(self._due, (self.now + delay_ms, self._serial, what))

    def _deliver(self) -> None:
        for _ in range(len(self._due)):  # what becomes due meanwhile waits for the next time
            if self._due and self._due[0][0] <= self.now:
                heapq.heappop(self._due)[2]()

    def _timers(self) -> dict[str, int]:
        return {host.name: host.clock.true_elapsed() for host in self.hosts}

    def _host(self, name: str) -> Host:
        return next(host for host in self.hosts if host.name == name)

    # -- replicas ------------------------------------------------------------------------------

    def _step_one(self) -> None:
        idle = [h for h in self.hosts if h.up and not h.stepping and h.stalled_until <= self.now]
        if idle:
            self._step(self.rng.choice(idle))

    def _step(self, host: Host) -> bool:
        """One step; whether the replica says that there was something to do."""
        replica, busy = host.replica, False
        host.stepping = True
        try:
            busy = replica.step()
        except Killed:
            self._bury(host)
        except Violation:
            raise
        except Exception as error:
            raise Violation("a step fails only by the store", f"{host.name}: {error!r}") from error
        finally:
            host.stepping = False
        if host.up:
            kernel, self._serial = replica.kernel, self._serial + 1
            size = -1 if kernel is None else kernel.state.size
            self.note(f"{host.name} {replica.role} {size} of {self.judge.model.size}")
            dear = self._serial % _DEAR_EVERY == 0
            self.judge.stepped(host.name, kernel, dear=dear)
        return busy

    def _bury(self, host: Host) -> None:
        """The process is gone with all it had in memory; its sessions are noticed later."""
        self.note(f"{host.name} dies")
        host.up = host.doomed = False
        host.store.close()
        self._at(self.rng.randrange(1_500), lambda: self._revive(host))

    def _revive(self, host: Host) -> None:
        if not host.up:
            self.note(f"{host.name} starts")
            host.store = self.plan.store(self.database, self, name=host.name, bound=self.bound)
            host.replica = self._make_replica(host.name, host.store, host.clock)
            host.up = True

    def _meanwhile(self, name: str) -> None:
        """A call of a replica's clock or store: others may act before it returns, or it may die."""
        if self.calm or all(host.name != name for host in self.hosts):
            return  # its machine is being put up
        rng, chance = self.rng, self.rng.random()
        if self._depth < _DEPTH_MAX and chance < self.faults.hold_up:
            self._depth += 1
            self.note(f"{name} is held up")
            span = rng.choice((3, 60, 700, 4_000))
            for _ in range(rng.randrange(1, 8)):
                self.now += rng.randrange(span)
                self._pass_time()
                self._act()
            self._depth -= 1
        host = self._host(name)
        if host.stepping and (host.doomed or 1 - chance < self.faults.kill):
            raise Killed

    # -- the network to the database -----------------------------------------------------------

    def on_the_way(self, name: str, *, back: bool) -> None:
        """Let others act, the caller die, or the message be lost."""
        self._meanwhile(name)
        if not self.calm and self.rng.random() < self.faults.drop:
            self.note(f"{name} loses {'an answer' if back else 'a request'}")
            raise Unavailable("database", "the connection was lost")

    def true_ms(self) -> int:
        """What a clock that is right shows."""
        return EPOCH_MS + self.now

    def comes_late(self) -> bool:
        """Whether a batch arrives only after its sender has given up."""
        return not self.calm and self.rng.random() < self.faults.late

    def abandon(self, session: Session) -> None:
        """The server goes on with what was sent, and notices in its own time."""
        for what in session.late:
            self._at(self.rng.randrange(1_500), lambda what=what: self._arrive(session, what))
        self._at(self.rng.randrange(2_000), lambda: self.database.cut(session))

    def _arrive(self, session: Session, what: Callable[[], None]) -> None:
        if self.bound and not session.alive:
            return
        try:
            what()
            self.note("a late batch arrives")
        except (Deposed, Unavailable, DatabaseDown) as error:
            self.note(f"a late batch is refused: {type(error).__name__}")

    def _at_risk(self, where: str) -> bool:
        dies = not self.calm and self.rng.random() < self.faults.die
        if dies:
            self.note(f"the database dies {where}")
        return dies

    def _start_database(self) -> None:
        self._database_waits = False
        if self.database.up:
            return
        self.note("the database starts")
        try:
            self.database.start()
        except Damaged as error:
            raise Violation("the log survives crashes", str(error)) from error

    # -- faults from outside -------------------------------------------------------------------

    def _kill(self) -> None:
        host = self.rng.choice(self.hosts)
        if host.stepping:
            host.doomed = True
        elif host.up:
            self._bury(host)

    def _stall(self) -> None:
        host = self.rng.choice(self.hosts)
        host.stalled_until = self.now + self.rng.choice((300, 2_000, 8_000))
        self.note(f"{host.name} stands until {host.stalled_until}")

    def _cut(self) -> None:
        if self.database.sessions:
            session = self.rng.choice(self.database.sessions)
            self.note(f"a session of {session.owner} is cut")
            self.database.cut(session)

    def _crash(self) -> None:
        if self.database.up:
            self.note("the database loses power")
            self.database.crash()

    def _fill_disk(self) -> None:
        self.note("the disk is full")
        self.disk.full = True
        self._at(self.rng.randrange(3_000), self._free_disk)

    def _free_disk(self) -> None:
        self.disk.full = False

    def _fail_fsync(self) -> None:
        self.note("fsync fails")
        self.disk.fsync_fails = True
        self._at(self.rng.randrange(500), self._mend_fsync)

    def _mend_fsync(self) -> None:
        self.disk.fsync_fails = False

    def _harm_snapshot(self) -> None:
        sizes = self.database.snapshots() if self.database.up else []
        if sizes:
            name = snapshot_name(self.rng.choice(sizes))
            lost = self.rng.random() < 0.3
            self.note(f"{name} {'is lost' if lost else 'rots'}")
            (self.disk.remove if lost else self.disk.rot)(name)

    def _jump_clock(self) -> None:
        host = self.rng.choice(self.hosts)
        by_ms = self.rng.choice((-60_000, -2_000, 900, 5_000, 40_000))
        self.note(f"the clock of {host.name} jumps by {by_ms}")
        host.clock.jump(by_ms)

    def _leap_years(self) -> None:
        """A clock is years off: for two seconds, or until all is calm."""
        host, rng = self.rng.choice(self.hosts), self.rng
        by_ms = rng.choice((-3, -1, 1, 2)) * rng.randrange(35, 500) * DAY_MS
        self.note(f"the clock of {host.name} leaps by {by_ms}")
        host.clock.jump(by_ms)
        if rng.random() < 0.7:
            self._at(rng.choice((500, 2_000, 6_000)), lambda: self._leap_back(host, by_ms))

    def _leap_back(self, host: Host, by_ms: int) -> None:
        """Undo a leap, unless the clock was put right since: that would make it wrong again."""
        if not self.calm:
            self.note(f"the clock of {host.name} is back from {by_ms}")
            host.clock.jump(-by_ms)

    def _stop_timer(self) -> None:
        self.rng.choice(self.hosts).clock.stand_still(self.rng.choice((200, 3_000)))

    # -- clients -------------------------------------------------------------------------------

    def _key(self) -> str | None:
        self._serial += 1
        return None if self.rng.random() < 0.1 else f"key-{self._serial}"

    def _speak(self) -> None:
        op = Op(self.actors.next(), self._key())
        self.ops.append(op)
        self._send(op)
        if op.key is not None and self.rng.random() < 0.15:
            self._send(op)  # the same once more, maybe to another replica and first to arrive

    def _repeat(self) -> None:
        """Somebody asks again, long after the answer."""
        keyed = [op for op in self.ops[-200:] if op.key is not None]
        if keyed:
            self._send(self.rng.choice(keyed))

    def _send(self, op: Op, address: str | None = None) -> None:
        op.tries += 1
        named = [h for h in self.hosts if f"at-{h.name}" == address]
        leads = [h for h in self.hosts if h.replica.role is Role.LEADING]
        near = named or (leads if self.rng.random() < 0.6 else [])
        host = self.rng.choice(near or self.hosts)
        self._at(self.rng.choice((0, 1, 10, 200)), lambda: self._arrive_at(host, op))
        if op.key is not None and op.tries < _TRIES_MAX:
            self._at(self.rng.randrange(400, 3_000), lambda: self._retry(op))

    def _retry(self, op: Op) -> None:
        if not op.settled and op.tries < _TRIES_MAX:
            self._send(op)

    def _arrive_at(self, host: Host, op: Op) -> None:
        if host.up:
            said = op.said
            envelope = Envelope(said.command, said.actor, f"op-{op.tries}", op.key)
            host.replica.submit(Ticket(envelope, lambda ticket: self._answered(ticket, op)))

    def _answered(self, ticket: Ticket, op: Op) -> None:
        """A replica has answered; the answer may still be lost on its way to the client."""
        error, answer = ticket.error, ticket.answer
        if answer is not None:
            self.judge.told(op.said.actor, op.key, answer)
            op.answer = answer
            self.note(f"{type(op.said.command).__name__} {op.key}: {answer}")
        elif isinstance(error, BailiwickError):
            self.note(f"{type(op.said.command).__name__} {op.key}: {error}")
            if error.retryable and not self._is_final(error):
                address = getattr(error, "address", None)
                if op.key is not None and op.tries < _TRIES_MAX and not op.settled:
                    self._at(self.rng.randrange(20, 400), lambda: self._send(op, address))
                return
        else:
            return  # the process died with it; the client learns nothing
        if self.calm or self.rng.random() > 0.1:
            op.settled = True

    @staticmethod
    def _is_final(error: BailiwickError) -> bool:
        """A stale generation stays stale, however often it is sent."""
        return error.code == "stale"

    def _look(self) -> None:
        host = self.rng.choice(self.hosts)
        if host.up:
            host.replica.read_soon(lambda view: self._seen(host, view))

    def _seen(self, host: Host, view: View) -> None:
        self.judge.viewed(host.name, view, asked_at=host.clock.last_elapsed)

    # -- the end -------------------------------------------------------------------------------

    def _come_to_rest(self) -> None:
        """No more faults: somebody must lead, and answer."""
        self.note("all is calm")
        self.calm, self.disk.full, self.disk.fsync_fails = True, False, False
        self._start_database()
        for host in self.hosts:
            host.stalled_until = 0
            host.clock.put_right()
            self._revive(host)
        probe = Op(Said("operator", SetShare("acme", 7)), "probe")
        self._at(1_000, lambda: self._send(probe))
        self._go_on(CALM_MS, until=lambda: probe.settled)
        if not probe.settled:
            raise Violation("somebody leads and answers", f"not within {CALM_MS} ms of calm")
        self._repeat_all()
        self._go_on(6_000, until=lambda: False)
        last = Op(Said("operator", SetShare("acme", 8)), "last")
        self._send(last)
        self._go_on(CALM_MS, until=lambda: last.settled)
        self._go_on(1_000, until=lambda: False)
        self.judge.check_nothing_overdue()
        self._check_all_follow()
        self.judge.finish(self.hosts[0].store)

    def _go_on(self, span_ms: int, *, until: Callable[[], bool]) -> None:
        end = self.now + span_ms
        while self.now < end and not until():  # bounded by the span
            self.now += 200
            self._deliver()
            for host in self.hosts:
                self._step_all(host)

    def _step_all(self, host: Host) -> None:
        for _ in range(1_000):  # as its driver does: at once again while there is more
            if not self._step(host):
                return

    def _repeat_all(self) -> None:
        """Ask again what was answered; whatever is remembered must be said again."""
        asked = [op for op in self.ops if op.answer is not None and op.key is not None]
        for op in asked[-40:]:
            op.tries, op.settled = 0, False
            self._send(op)

    def _check_all_follow(self) -> None:
        roles = sorted(host.replica.role.value for host in self.hosts)
        followers = [host for host in self.hosts if host.replica.role is not Role.LEADING]
        for host in followers * 3:  # the leader is not asked again, so that it adds nothing
            self.now += 60
            self._step_all(host)
        size = self.judge.model.size
        behind = [h.name for h in self.hosts if h.replica.kernel is None]
        if roles.count("leading") != 1 or behind:
            raise Violation("somebody leads and answers", f"{roles}, without a state: {behind}")
        for host in self.hosts:
            kernel = host.replica.kernel
            if kernel is None or kernel.state.size != size:
                raise Violation("followers come to the end", f"{host.name}, not at {size}")
        assert LOG in self.disk.names()
