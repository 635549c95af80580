"""A replica with a thread of its own: calls wait until their answer is durable.

Rules:

- One thread steps the replica; callers only queue and wait. Commands that arrive while a commit is
  under way share the next one. Another thread follows what is durable and answers reads.
- Every wait is bounded. A call without an answer in time is ``Unavailable``: its outcome is open,
  and the same key tells it.
- If the replica fails for good (a damaged journal, a broken invariant), every caller is told, now
  and from then on, and ``failed`` says why.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from bailiwick.kernel import Envelope
from bailiwick.kernel.answers import Answer
from bailiwick.ports import StoredSnapshot
from bailiwick.runtime.feed import DurableLines
from bailiwick.runtime.read_model import ReadModel
from bailiwick.runtime.replica import Replica, Role, Ticket, View
from bailiwick.vocab.errors import InvariantBroken, Unavailable

T = TypeVar("T")

IDLE_S = 0.02
"""How long the thread sleeps when there is nothing to do and nobody wakes it."""

GATHER_S = 0.0003
"""After a large batch: how long, at most thrice, the callers just answered are waited for."""

GATHER_FROM = 8
"""Batches below this are not waited for: a lone caller pays nothing for the crowd's sake."""


_TIMER = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SystemClock:
    """This machine's clocks."""

    def now_ms(self) -> int:
        """The time of day."""
        return time.time_ns() // 1_000_000

    def elapsed_ms(self) -> int:
        """A clock that never goes back, and counts the time that a machine sleeps."""
        return time.clock_gettime_ns(_TIMER) // 1_000_000


class Runner:
    """Drives one replica and lets any thread call it."""

    def __init__(self, replica: Replica, *, wait_s: float = 30.0) -> None:
        self.replica = replica
        self.lines = DurableLines(replica.journal, replica.store.read)
        """The durable journal, for whoever follows it."""
        self.model = ReadModel(replica)
        self.wait_s = wait_s
        self.failed: BaseException | None = None
        self._wake = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="replica", daemon=True)
        self._saving = threading.Lock()
        save = replica.save
        replica.save = lambda snapshot: self._save(snapshot, save)

    def start(self) -> None:
        """Begin to step the replica, and to follow it."""
        self._thread.start()
        self.model.start()

    def stop(self) -> None:
        """Finish the round under way, let another lead, and close the store."""
        self._stopping = True
        self._wake.set()
        self.model.stop(self.wait_s)
        if self._thread.is_alive():
            self._thread.join(self.wait_s)
        with self._saving:
            self.replica.store.close()

    def execute(self, envelope: Envelope, *, wait_s: float | None = None) -> Answer:
        """The durable answer to a command."""
        (answer,) = self.execute_in_turn(envelope, wait_s=wait_s)
        return answer

    def execute_in_turn(
        self, *envelopes: Envelope, wait_s: float | None = None
    ) -> tuple[Answer, ...]:
        """The durable answers to commands between which no other is decided.

        Each is decided, whatever became of those before it; the first error is raised.
        """
        locks = [threading.Lock() for _ in envelopes]
        for lock in locks:
            lock.acquire()
        tickets = [
            Ticket(envelope, lambda _, lock=lock: lock.release())  # type: ignore[misc]
            for envelope, lock in zip(envelopes, locks, strict=True)
        ]
        self.submit(*tickets)
        for lock in locks:
            self._wait(lock, self.wait_s if wait_s is None else wait_s)
        return tuple(_answer_of(ticket) for ticket in tickets)

    def submit(self, *tickets: Ticket) -> None:
        """Have commands decided, one behind the other; the replica's thread settles each."""
        self._check()
        self.replica.submit(*tickets)
        if not self._wake.is_set():
            self._wake.set()

    def read(self, read: Callable[[View], T], *, wait_s: float | None = None) -> T:
        """What ``read`` makes of the state; it must not keep or change it."""
        lock = threading.Lock()
        lock.acquire()
        found: list[T] = []
        raised: list[BaseException] = []

        def run(view: View) -> None:
            try:
                found.append(read(view))
            except BaseException as error:
                raised.append(error)
            finally:
                lock.release()

        self.read_soon(run)
        self._wait(lock, self.wait_s if wait_s is None else wait_s)
        if raised:
            raise raised[0]
        return found[0]

    def read_soon(self, run: Callable[[View], None], *, urgent: bool = False) -> None:
        """Have the state read, by the read model's thread; ``urgent`` for what takes a moment.

        Until there is a read model, the replica's own thread reads between two rounds.
        """
        self._check()
        is_starting = self.replica.role is Role.STARTING
        if not is_starting and self.model.ask(run, urgent=urgent):
            return
        self.replica.read_soon(run)
        if not self._wake.is_set():
            self._wake.set()

    def wait_for(self, role: Role, *, wait_s: float) -> bool:
        """Whether the replica comes to that role in time."""
        until = time.monotonic() + wait_s
        while time.monotonic() < until:
            self._check()
            if self.replica.role is role:
                return True
            time.sleep(0.005)
        return False

    def _check(self) -> None:
        if self.failed is not None:
            raise self.failed
        if self._stopping:
            raise Unavailable("the kernel", "it is being stopped")

    def _wait(self, lock: threading.Lock, wait_s: float) -> None:
        if lock.acquire(timeout=wait_s):
            return
        self._check()
        raise Unavailable("the kernel", f"no answer within {wait_s:g} s")

    def _run(self) -> None:
        replica, wake = self.replica, self._wake
        try:
            while not self._stopping:  # until stopped: this is the replica's own thread
                wake.clear()
                crowd = replica.waiting
                if not replica.step():
                    wake.wait(IDLE_S)
                self._gather(crowd)
        except BaseException as error:
            self.failed = error
            replica.warn(f"{replica.name} stops for good: {error}")
        finally:
            replica.abandon(self.failed or Unavailable("the kernel", "it is being stopped"))

    def _gather(self, crowd: int) -> None:
        """Let those who were just answered ask again, so that they share the next commit too."""
        if crowd < GATHER_FROM:
            return
        for _ in range(3):
            if self.replica.waiting >= crowd:
                return
            time.sleep(GATHER_S)

    def _save(self, snapshot: StoredSnapshot, save: Callable[[StoredSnapshot], None]) -> None:
        """Store a snapshot beside the replica's own work; one at a time, and none is waited for."""
        if not self._saving.acquire(blocking=False):
            return

        def run() -> None:
            try:
                save(snapshot)
            except Unavailable as error:
                self.replica.warn(f"snapshot {snapshot.size} was not kept: {error}")
            finally:
                self._saving.release()

        threading.Thread(target=run, name="snapshot", daemon=True).start()


def _answer_of(ticket: Ticket) -> Answer:
    if ticket.error is not None:
        raise ticket.error
    if ticket.answer is None:
        raise InvariantBroken("a ticket was settled without an answer")
    return ticket.answer
