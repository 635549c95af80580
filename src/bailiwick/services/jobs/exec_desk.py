"""The programs that people run inside jobs: who may have how many, for how long, and their ends.

Rules:

- Only who opened one may use it, and only while he may enter the job: that is asked each time.
- All is bounded: how many there are in all and for each caller, how long one lasts, how long either
  end may be silent.
- That one begins is sealed before it begins; that it is over, as soon as it is. A server that is
  killed takes those that it holds with it, and seals no end.
- What runs elsewhere is told to the agent of its node; what runs here has two threads.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from bailiwick.executors.execs import Enterable, pump
from bailiwick.kernel import Envelope
from bailiwick.kernel.work.execs.commands import NoteExecEnded
from bailiwick.runtime.runner import Runner
from bailiwick.services.jobs.channel import ChannelEnd, ExecChannel
from bailiwick.vocab.errors import BailiwickError, LimitReached
from bailiwick.vocab.execs import ExecEnd, ExecOutcome, ExecWish

EXECS_MAX: Final = 64
"""Programs inside jobs that one server holds at a time."""
EXECS_MAX_EACH: Final = 16
"""Of one caller."""
LASTS_S: Final = 12 * 3600.0
SILENT_S: Final = 60.0
"""How long either end may be silent before it counts as gone."""
KEPT_S: Final = 60.0
"""How long the end of one can still be read."""
LOOK_S: Final = 0.5


@dataclass(slots=True, kw_only=True, eq=False)
class Exec:
    """One program inside a job."""

    exec_id: str
    opener: str
    key: str | None
    tenant: str
    project: str | None
    job_id: int
    lease_id: int
    node: str
    wish: ExecWish
    correlation_id: str
    channel: ExecChannel = field(default_factory=ExecChannel)
    opened_s: float = field(default_factory=time.monotonic)
    is_elsewhere: bool = False
    """Whether the agent of its node runs it."""
    is_sealed: bool = False
    over_s: float | None = None


class ExecDesk:
    """Those that this server holds; calls come from any thread."""

    def __init__(self, runner: Runner, *, silent_s: float = SILENT_S) -> None:
        self._runner, self._silent_s = runner, silent_s
        self._lock = threading.Lock()
        self._execs: dict[str, Exec] = {}
        self._wakes: dict[str, list[Callable[[], None]]] = {}
        self._keeping: threading.Thread | None = None

    def new_id(self) -> str:
        """A name that nobody guesses."""
        return secrets.token_hex(16)

    def repeated(self, opener: str, key: str | None) -> Exec | None:
        """What he opened under this key before."""
        with self._lock:
            held = list(self._execs.values())
        mine = (each for each in held if (each.opener, each.key) == (opener, key))
        return None if key is None else next(mine, None)

    def check_room(self, opener: str) -> None:
        """Refuse one too many."""
        with self._lock:
            live = [each for each in self._execs.values() if each.channel.outcome is None]
        if len(live) >= EXECS_MAX:
            raise LimitReached("programs inside jobs", EXECS_MAX)
        if sum(each.opener == opener for each in live) >= EXECS_MAX_EACH:
            raise LimitReached("programs inside jobs of one caller", EXECS_MAX_EACH)

    def begin(self, made: Exec, executor: Enterable | None) -> None:
        """Have it run: by this machine's executor, or (without one) by its node's agent."""
        made.is_elsewhere = executor is None
        self.hold(made)
        with self._lock:
            if self._keeping is None or not self._keeping.is_alive():
                self._keeping = threading.Thread(target=self._keep, name="execs", daemon=True)
                self._keeping.start()
        if executor is None:
            self.wake(made.node)
            return
        threading.Thread(target=_run, args=(made, executor), name="exec", daemon=True).start()

    def hold(self, made: Exec) -> None:
        """Have it be known from now on."""
        with self._lock:
            self._execs[made.exec_id] = made

    def get(self, exec_id: str) -> Exec | None:
        """That one."""
        with self._lock:
            return self._execs.get(exec_id)

    # -- agents ------------------------------------------------------------------------------

    def due(self, node: str) -> list[Exec]:
        """Those that the agent of this node has not taken up yet."""
        with self._lock:
            held = list(self._execs.values())
        return [
            each
            for each in held
            if each.is_elsewhere and each.node == node and not each.channel.has_begun
            if each.channel.outcome is None
        ]

    def of_node(self, node: str, exec_id: str) -> Exec | None:
        """That one, if this node's agent is to run it."""
        found = self.get(exec_id)
        is_its = found is not None and found.is_elsewhere and found.node == node
        return found if is_its else None

    @contextmanager
    def listening(self, node: str, wake: Callable[[], None]) -> Iterator[None]:
        """Have ``wake`` called whenever there is one to run there."""
        with self._lock:
            self._wakes.setdefault(node, []).append(wake)
        try:
            yield
        finally:
            with self._lock:
                self._wakes[node].remove(wake)
                if not self._wakes[node]:
                    del self._wakes[node]

    def wake(self, node: str) -> None:
        """There is one to run there."""
        with self._lock:
            wakes = tuple(self._wakes.get(node, ()))
        for wake in wakes:
            wake()

    # -- keeping -----------------------------------------------------------------------------

    def close(self) -> None:
        """The server ends, and they with it."""
        with self._lock:
            held = list(self._execs.values())
        for each in held:
            each.channel.finish(ExecOutcome(ExecEnd.LOST, note="the server was stopped"))
            self._seal(each)

    def _keep(self) -> None:
        while True:  # as long as any is held
            time.sleep(LOOK_S)
            with self._lock:
                held = list(self._execs.values())
                if not held:
                    self._keeping = None
                    return
            for each in held:
                self._look_at(each, time.monotonic())

    def _look_at(self, each: Exec, now: float) -> None:
        channel = each.channel
        if now - each.opened_s > LASTS_S:
            channel.finish(ExecOutcome(ExecEnd.TIME_OVER))
        elif now - channel.caller_s > self._silent_s:
            channel.finish(ExecOutcome(ExecEnd.CALLER_GONE))
        elif each.is_elsewhere and now - channel.program_s > self._silent_s:
            note = f"the agent of {each.node} is not heard"
            channel.finish(ExecOutcome(ExecEnd.LOST, note=note))
        if channel.outcome is None:
            return
        each.over_s = each.over_s or now
        self._seal(each)
        if now - each.over_s > KEPT_S:
            with self._lock:
                self._execs.pop(each.exec_id, None)

    def _seal(self, each: Exec) -> None:
        outcome = each.channel.outcome
        with self._lock:
            if each.is_sealed or outcome is None:
                return
            each.is_sealed = True
        note = NoteExecEnded(
            tenant=each.tenant,
            project=each.project,
            job_id=each.job_id,
            exec_id=each.exec_id,
            end=outcome.end,
            exit_code=outcome.code,
            signal=outcome.signal,
        )
        key = f"exec-{each.exec_id}/end"
        with suppress(BailiwickError):  # one that leads no more leaves it open
            self._runner.execute(Envelope(note, each.opener, each.correlation_id, key))


def _run(made: Exec, executor: Enterable) -> None:
    channel = made.channel
    try:
        inside = executor.enter(made.lease_id, made.wish)
    except (BailiwickError, OSError) as error:
        channel.finish(ExecOutcome(ExecEnd.NOT_BEGUN, note=str(error)))
        return
    channel.begin()
    try:
        pump(inside, ChannelEnd(channel))
    finally:
        channel.finish(ExecOutcome(ExecEnd.LOST))
