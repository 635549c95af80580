"""One replica of the kernel: it leads (decides, makes durable, answers) or follows (replays).

Rules:

- ``step`` does one round and never waits; whoever drives it (a thread, a simulation) decides when.
  The store, the clock and the inbox are handed in, so a whole cluster can run in one process.
- Nothing is answered before it is durable. All commands of a round share one commit.
- A store that fails leaves the outcome open: the round's callers are told so (``Unavailable``), the
  state in memory is thrown away, and a new one is read from the store. So memory never runs ahead
  of the journal for longer than one round.
- Leading begins with a new epoch, the whole journal read, and a record that says so. A replica
  that is deposed forgets its state in the same way.
- Whose clock cannot be believed (:mod:`.steady_clock`) does not lead: it says so, lets another, and
  takes up again once its clock agrees with the others. Time that leaps under a leader (its process
  was stopped for hours) makes it begin anew, as after an outage.
- A record that no leader of this ledger wrote (:mod:`.stamps`) is damage: it ends the replica.
- A follower answers reads and says how old they may be; commands it refuses with ``NotLeader``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from bailiwick.kernel import ChangeSettings, Elect, Envelope, Kernel, Settings, State, Tick
from bailiwick.kernel.answers import Answer
from bailiwick.kernel.machine import Outcome, Step
from bailiwick.ports import Clock, JournalStore, Leader, StoredSnapshot
from bailiwick.runtime.clock_watch import ClockWatch
from bailiwick.runtime.feed import Feed
from bailiwick.runtime.indexes import ByOwner, Indexes, Scan, scan_leases, scan_waiting
from bailiwick.runtime.rebuild import catch_up, rebuild
from bailiwick.runtime.stamps import Stamps
from bailiwick.runtime.steady_clock import SteadyClock
from bailiwick.vocab.errors import (
    BailiwickError,
    ClockJumped,
    Deposed,
    InvariantBroken,
    NotLeader,
    Unavailable,
)

ACTOR = "kernel"


class Role(StrEnum):
    """What a replica is doing."""

    STARTING = "starting"
    FOLLOWING = "following"
    LEADING = "leading"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often a replica does what nobody asks it for, and how much at once."""

    tick_ms: int = 200
    tick_ms_max: int = 2_000
    follow_ms: int = 50
    lead_ms: int = 500
    batch_max: int = 1024
    read_max: int = 5_000
    snapshot_every: int = 100_000


@dataclass(frozen=True, slots=True)
class View:
    """What a read sees: the state, and for how long it may have been out of date."""

    state: State
    now_ms: int
    age_ms: int
    role: Role
    indexes: Indexes | None = None

    @property
    def leases(self) -> ByOwner | Scan:
        """Pages of leases."""
        return scan_leases(self.state) if self.indexes is None else self.indexes.leases

    @property
    def waiting(self) -> ByOwner | Scan:
        """Pages of waiting requests."""
        return scan_waiting(self.state) if self.indexes is None else self.indexes.waiting


class KnownLength(NamedTuple):
    """At this time (of the clock that never goes back) the journal had so many records."""

    size: int
    elapsed_ms: int


@dataclass(slots=True)
class Ticket:
    """A command on its way; ``done`` is called once, when ``answer`` or ``error`` is there."""

    envelope: Envelope
    done: Callable[[Ticket], None]
    answer: Answer | None = None
    error: BaseException | None = None

    def settle(self, answer: Answer | None, error: BaseException | None) -> None:
        """Give the answer."""
        self.answer, self.error = answer, error
        self.done(self)


class Replica:
    """The kernel over a store; driven by ``step``."""

    def __init__(
        self,
        store: JournalStore,
        clock: Clock,
        *,
        name: str,
        address: str = "",
        settings: Settings | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.store = store
        self.clock = clock if isinstance(clock, SteadyClock) else SteadyClock(clock)
        self.watch = ClockWatch(self.clock, store, name)
        self.name, self.address = name, address
        self.settings = settings or Settings()
        self.pace = pace or Pace()
        self.journal = Feed()
        self.before_ms = 0
        """When the journal was last written before this replica began to lead."""
        self.role = Role.STARTING
        self.kernel: Kernel | None = None
        self.leader: Leader | None = None
        self.stamps: Stamps | None = None
        """What proves who wrote a batch; without it every record that fits is taken up."""
        self.warn: Callable[[str], None] = lambda message: None
        self.save: Callable[[StoredSnapshot], None] = store.save_snapshot
        self._inbox: deque[Ticket] = deque()
        self._reads: deque[Callable[[View], None]] = deque()
        self._epoch = 0
        self._snapshot_size = 0
        self._tick_at = self._followed = self._tried = -(2**62)
        self.known = KnownLength(0, -(2**62))
        """What the journal was when it was last looked at."""

    # -- asking (from any thread: a deque's append and popleft are atomic) ---------------------

    def submit(self, *tickets: Ticket) -> None:
        """Have commands decided in the next rounds, with no other between them."""
        self._inbox.extend(tickets)  # at once: other threads submit, too

    @property
    def waiting(self) -> int:
        """Commands that were submitted and not taken up yet."""
        return len(self._inbox)

    def read_soon(self, read: Callable[[View], None]) -> None:
        """Have the state read in one of the next rounds, when all of it is durable."""
        self._reads.append(read)

    def abandon(self, error: BaseException) -> None:
        """Nothing will be decided any more: say so to everybody who waits."""
        while self._inbox:  # bounded: nobody is added once the caller says it stops
            self._inbox.popleft().settle(None, error)

    # -- one round -----------------------------------------------------------------------------

    def step(self) -> bool:
        """Do what is due; whether there was anything."""
        tickets = self._take()
        try:
            if self.role is Role.LEADING and self.kernel is not None:
                self._check_clock(self.kernel)
            if self.role is not Role.LEADING:
                busy = self._follow()
            if self.role is Role.LEADING:
                busy = self._lead(tickets)
            else:
                self._refuse(tickets)
        except (Unavailable, Deposed, ClockJumped) as error:
            self._lose(tickets, error)
            busy = False
        except BaseException as error:
            _settle(tickets, error)
            raise
        self._answer_reads()
        return busy or bool(tickets)

    def _take(self) -> list[Ticket]:
        inbox, most = self._inbox, self.pace.batch_max
        return [inbox.popleft() for _ in range(min(len(inbox), most))]

    def _refuse(self, tickets: list[Ticket]) -> None:
        if tickets:
            known = self.leader
            address = known.address if known is not None and known.name != self.name else None
            wrong = None if address else self.watch.error
            _settle(tickets, wrong or NotLeader(address or None))

    def _lose(self, tickets: list[Ticket], error: BailiwickError) -> None:
        """The store and the memory may differ now: the store is right."""
        self.warn(f"{self.name} starts again from the store: {error}")
        was_leading, self.role, self.kernel = self.role, Role.STARTING, None
        self._tried = self.clock.elapsed_ms() if was_leading is Role.LEADING else self._tried
        try:
            self.store.resign()
        except Unavailable as again:
            self.warn(f"{self.name} could not resign: {again}")
        for ticket in tickets:
            if ticket.answer is None and ticket.error is None:
                ticket.settle(None, error)

    def _answer_reads(self) -> None:
        kernel = self.kernel
        if kernel is None or self.role is Role.STARTING:
            return
        for _ in range(len(self._reads)):
            now = max(self.clock.now_ms(), kernel.state.clock_ms)
            age = self.clock.elapsed_ms() - self.known.elapsed_ms
            self._reads.popleft()(View(kernel.state, now, age, self.role))

    # -- following -----------------------------------------------------------------------------

    def _follow(self) -> bool:
        elapsed = self.clock.elapsed_ms()
        busy = False
        if self.kernel is None:
            self.kernel, self._snapshot_size = rebuild(
                self.store, read_max=self.pace.read_max, warn=self.warn, stamps=self.stamps
            )
            self._found_all(self.kernel, elapsed)
        elif elapsed - self._followed >= self.pace.follow_ms:
            busy = self._catch_up(self.kernel)
            if not busy:
                self._found_all(self.kernel, elapsed)
        if self.role is Role.FOLLOWING and elapsed - self._tried >= self.pace.lead_ms:
            self._tried = elapsed
            if self.watch.may_lead(self.kernel.state, leads=False, warn=self.warn):
                self._try_to_lead(self.kernel)
            else:
                self.leader = self.store.leader()
        return busy

    def _check_clock(self, kernel: Kernel) -> None:
        """A leader whose clock is wrong stands aside; all that it decided is durable."""
        if not self.watch.may_lead(kernel.state, leads=True, warn=self.warn):
            self.role = Role.FOLLOWING
            self.store.resign()

    def _found_all(self, kernel: Kernel, elapsed: int) -> None:
        self._followed = elapsed
        self.journal.publish(kernel.state.size)
        self.known = KnownLength(kernel.state.size, elapsed)
        self.role = Role.FOLLOWING

    def _catch_up(self, kernel: Kernel) -> bool:
        """Replay one batch, and hand it on; whether there may be more."""
        first = kernel.state.size
        caught = catch_up(kernel, self.store, limit=self.pace.read_max, stamps=self.stamps)
        self.journal.publish(first, caught.lines, steps=caught.steps)
        return caught.is_more

    def _append(self, first: int, lines: list[bytes]) -> None:
        """Make a batch durable, with what proves that this leader wrote it."""
        stamp = None if self.stamps is None else self.stamps.make(self._epoch, lines, first=first)
        self.store.append(self._epoch, first, lines, stamp=stamp)

    def _try_to_lead(self, kernel: Kernel) -> None:
        found = self.store.lead(self.name, self.address)
        self.leader = found or self.store.leader()
        if found is None:
            return
        # Only a later leader can append from here on: this reaches the end, or shows that one.
        while self._catch_up(kernel):  # bounded: the journal is finite
            pass
        if kernel.state.epoch >= found.epoch:
            raise Deposed(found.epoch, kernel.state.epoch)
        self._epoch = found.epoch
        fresh = kernel.state.size == 0
        self.before_ms = kernel.state.clock_ms
        elect = Envelope(Elect(found.epoch, self.name, self.address), ACTOR, "elect")
        first, now = kernel.state.size, self.clock.now_ms()
        batch = _Batch()
        batch.add(kernel.execute(elect, now))
        if fresh:
            change = Envelope(ChangeSettings(self.settings), ACTOR, "elect")
            batch.add(kernel.execute(change, now))
        # Counted from before the append: once it is there, a later leader may append as well.
        asked = self.clock.elapsed_ms()
        self._append(first, batch.lines)
        self.journal.publish(first, batch.lines, steps=batch.steps)
        self.role, self.known = Role.LEADING, KnownLength(kernel.state.size, asked)
        self._tick_at = asked + self.pace.tick_ms

    # -- leading -------------------------------------------------------------------------------

    def _lead(self, tickets: list[Ticket]) -> bool:
        kernel = self.kernel
        if kernel is None:
            raise InvariantBroken("a leader without a state")
        first, elapsed = kernel.state.size, self.clock.elapsed_ms()
        batch = _Batch()
        settled: list[tuple[Ticket, Answer | None, BailiwickError | None]] = []
        for ticket in tickets:
            try:
                outcome = kernel.execute(ticket.envelope, self.clock.now_ms())
            except InvariantBroken:
                raise
            except BailiwickError as error:
                if kernel.is_lost:
                    ticket.settle(None, error)
                    raise Unavailable(
                        "the kernel", f"a command failed half way: {error}"
                    ) from error
                settled.append((ticket, None, error))
            else:
                batch.add(outcome)
                settled.append((ticket, outcome.answer, None))
        if elapsed >= self._tick_at:
            begun = self.clock.elapsed_ms()
            tick = Envelope(Tick(), ACTOR, "tick")
            batch.add(kernel.execute(tick, self.clock.now_ms()))
            # A long line makes ticks long: callers get four fifths of the time in any case. But a
            # process that was stopped for a minute must not put off what is due for four more.
            spent = self.clock.elapsed_ms() - begun
            pause = min(max(self.pace.tick_ms, 4 * spent), self.pace.tick_ms_max)
            self._tick_at = begun + spent + pause
        snapshot = self._checkpoint(kernel, batch)
        if batch.lines or elapsed - self.known.elapsed_ms >= self.pace.lead_ms:
            self._append(first, batch.lines)
            self.journal.publish(first, batch.lines, steps=batch.steps)
            self.known = KnownLength(kernel.state.size, elapsed)
        for ticket, answer, failure in settled:
            ticket.settle(answer, failure)
        if snapshot is not None:
            self._keep(snapshot)
        return bool(batch.lines)

    def _keep(self, snapshot: StoredSnapshot) -> None:
        """A snapshot that cannot be kept is no reason to stop leading: it is a cache."""
        try:
            self.save(snapshot)
        except Unavailable as error:
            self.warn(f"snapshot {snapshot.size} was not kept: {error}")

    def _checkpoint(self, kernel: Kernel, batch: _Batch) -> StoredSnapshot | None:
        size = kernel.state.size
        if size - self._snapshot_size < self.pace.snapshot_every:
            return None
        self._snapshot_size = size
        anchor = str(kernel.chain.anchor())
        made = kernel.checkpoint(ACTOR, self.clock.now_ms())
        batch.lines.append(made.line)
        batch.steps.append(made.step)
        return StoredSnapshot(size, anchor, made.digest, made.data)


@dataclass(slots=True)
class _Batch:
    """What one round made, before it is durable."""

    lines: list[bytes] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        self.lines.extend(outcome.lines)
        self.steps.extend(outcome.steps)


def _settle(tickets: list[Ticket], error: BaseException) -> None:
    for ticket in tickets:
        if ticket.answer is None and ticket.error is None:
            ticket.settle(None, error)
