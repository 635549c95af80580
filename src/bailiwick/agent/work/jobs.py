"""The agent's jobs: what is to be so is pulled, made so with this machine's executor, and told.

Rules:

- Nothing is done because a message came; all follows from what is to be so and what is. So an
  agent that was killed goes on where it was, and an answer that comes twice does nothing twice.
- A job is started only with its specification at hand, and once: the executor's folder of its lease
  is made before anything runs.
- Ends come before starts: what is to be gone makes room for what comes.
- A server that is away ends nothing here before its term. Jobs go on; what they print and how they
  end is kept by the executor and told later, after pauses that grow. A job whose lease's term is
  over by ``TERM_OVER_S``, as far as that was heard, is ended without the server.
- What is to be gone and shares a device with what comes is gone first. The kernel keeps the two
  apart, but for a node that departed: what ran there then may be there still when it joins anew.
- What a job printed is told before its end is, within bounds: who sees the end has all of it.
- Another agent that began later for the same node ends this part of this one.
"""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from bailiwick.agent.heartbeat import Away
from bailiwick.agent.work.room import DeviceRoom
from bailiwick.agent.work.wishes import PrintedPiece, Superseded, WorkItem, WorkServer
from bailiwick.executors.node.work import ITEMS_MAX, PIECE_BYTES_MAX, Seen, Wish, parse_spec
from bailiwick.executors.port import (
    Executor,
    Exited,
    JobStatus,
    Lost,
    LostReason,
    Running,
    Starting,
    Unstarted,
    fault_of,
)
from bailiwick.vocab.errors import BailiwickError, Conflict, Damaged, InvalidValue, NotFound
from bailiwick.vocab.jobs import JobFault

POLL_S: Final = 20
"""How long the server may hold an answer back while nothing changes."""
LOOK_S: Final = 0.05
IDLE_S: Final = 1.0
PAUSE_S_LEAST, PAUSE_S_MOST = 0.5, 30.0
AGAIN_S: Final = 5.0
"""After so long an end that was not clean is tried again."""
STARTS_MAX: Final = 5
THREADS: Final = 8
TERM_OVER_S: Final = 30.0
"""A job is ended without the server so long after its term; a renewal is heard of before."""
ROOM_S: Final = 120.0
"""How long a start waits for devices that something else is to leave."""
DRAIN_PIECES: Final = 64
"""Pieces of output that are told before an end is, at most; the others follow it."""


class JobAgent:
    """Runs what is to run on this node."""

    def __init__(
        self,
        executor: Executor,
        server: WorkServer,
        *,
        address: str,
        say: Callable[[str], None],
        over_s: float = TERM_OVER_S,
    ) -> None:
        self._executor, self._server, self._address, self._say = executor, server, address, say
        self._over_s = over_s
        self._items: dict[int, WorkItem] = {}
        self._told: dict[int, Seen] = {}
        self._sent: dict[int, int | None] = {}
        self._cleared: dict[int, bool] = {}
        self._faults: dict[int, Unstarted] = {}
        self._forgotten: set[int] = set()
        self._warned: dict[int, int] = {}
        self._tries: dict[int, int] = {}
        self._again: dict[int, float] = {}
        self._terms: dict[int, float] = {}
        self._room = DeviceRoom()
        self._waits: dict[int, float] = {}
        self._busy: dict[int, Future[None]] = {}
        self._wake = threading.Event()
        self._pulling: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="job")

    def run(self, stop: threading.Event, puller: WorkServer) -> None:
        """Go on until told to stop, or until another counts; the jobs themselves go on."""
        over = threading.Event()
        self._pulling = threading.Thread(
            target=self._pull_until, args=(puller, stop, over), name="pull", daemon=True
        )
        self._pulling.start()
        pause_s, tell_at = 0.0, 0.0
        while not stop.is_set() and not over.is_set():  # until told to stop
            self._wake.clear()
            is_live = self.converge()
            if time.monotonic() >= tell_at:
                try:
                    self.tell()
                    pause_s = 0.0
                except Away:
                    pause_s = min(max(2 * pause_s, PAUSE_S_LEAST), PAUSE_S_MOST)
                    tell_at = time.monotonic() + pause_s
                except Superseded:
                    over.set()
            self._wake.wait(LOOK_S if is_live else IDLE_S)
        self._pool.shutdown(wait=True, cancel_futures=True)
        if self._failure is not None:
            raise self._failure
        if over.is_set():
            self._say("another agent runs the jobs of this node now")

    def wake(self) -> None:
        """There may be something to do."""
        self._wake.set()

    def join(self, wait_s: float) -> None:
        """Wait for an answer that is still held back."""
        if self._pulling is not None:
            self._pulling.join(wait_s)

    def _pull_until(self, puller: WorkServer, stop: threading.Event, over: threading.Event) -> None:
        try:
            self._pull(puller, stop, over)
        except BaseException as error:  # raised again by who runs this
            self._failure = error
            over.set()
            self._wake.set()

    def _pull(self, puller: WorkServer, stop: threading.Event, over: threading.Event) -> None:
        version, pause_s, is_first = 0, 0.0, True
        while not stop.is_set() and not over.is_set():  # until told to stop
            try:
                found = puller.work(after=version, wait_s=0 if is_first else POLL_S)
            except Superseded:
                over.set()
                self._wake.set()
                return
            except Away:
                pause_s = min(max(2 * pause_s, PAUSE_S_LEAST), PAUSE_S_MOST)
                stop.wait(pause_s)
                continue
            # A server that knows less than it did was restored from a copy: all is asked again.
            pause_s, version = 0.0, found.version if found.version >= version else 0
            self.take(found.items, found.terms)
            if is_first and len(found.items) < ITEMS_MAX:
                is_first = False
                self._clear_strays()

    def take(self, items: Iterable[WorkItem], terms: Mapping[int, int]) -> None:
        """From now on this is to be so, and leases last so long."""
        over = time.monotonic() + self._over_s
        self._terms |= {lease_id: over + left_ms / 1000 for lease_id, left_ms in terms.items()}
        for item in items:
            self._items[item.lease_id] = item
            self._sent.setdefault(item.lease_id, item.output_bytes)
        self._wake.set()

    def _clear_strays(self) -> None:
        """What the server does not know of is to end."""
        for lease_id in set(self._executor.leases()) - self._items.keys():
            self._say(f"something of lease {lease_id}, which is gone, is being ended")
            self._items[lease_id] = WorkItem(lease_id, Wish.END)
        self._wake.set()

    # -- making it so ------------------------------------------------------------------------

    def converge(self) -> bool:
        """One round: the next act of each lease that nobody is at; whether anything lives."""
        for lease_id, future in list(self._busy.items()):
            if future.done():
                del self._busy[lease_id]
                future.result()
        is_live, now = bool(self._busy), time.monotonic()
        # Ends first: what is to be gone makes room for what comes.
        for item in sorted(self._items.values(), key=lambda each: each.wish is Wish.RUN):
            if item.lease_id in self._busy or self._again.get(item.lease_id, 0.0) > now:
                is_live = True
                continue
            act = self._act(item)
            if act is not None:
                self._busy[item.lease_id] = self._pool.submit(self._try, item.lease_id, act)
                is_live = True
            elif item.lease_id not in self._cleared:
                is_live = True
        return is_live

    def _act(self, item: WorkItem) -> Callable[[], None] | None:
        lease_id = item.lease_id
        if item.wish is Wish.FORGET:
            return None if lease_id in self._forgotten else lambda: self._forget(lease_id)
        if self._cleared.get(lease_id):
            return None
        status = self._status(item)
        if item.wish is Wish.END:
            return lambda: self._end(item)
        match status:
            case Starting():
                return self._start_in_turn(item)
            case Exited() | Unstarted():
                return lambda: self._end(item)
            case Running() if self._terms.get(lease_id, math.inf) < time.monotonic():
                self._say(f"the term of lease {lease_id} is over: its job is ended")
                return lambda: self._end(item)
            case Running() as found:
                return self._warning(item, found)
            case _:
                return None

    def _start_in_turn(self, item: WorkItem) -> Callable[[], None] | None:
        """To start it, once nobody is on its devices who is to be gone."""
        lease_id, now = item.lease_id, time.monotonic()
        if not self._room.is_known(lease_id) and item.spec is not None:
            with suppress(InvalidValue, Damaged):  # the start itself tells that
                self._room.note(lease_id, parse_spec(item.spec).device_indices)
        ends = (i.lease_id for i in self._items.values() if i.wish is Wish.END)
        other = self._room.blocker(lease_id, leaving=(i for i in ends if not self._cleared.get(i)))
        if other is None:
            return lambda: self._start(item)
        if now - self._waits.setdefault(lease_id, now) > ROOM_S:
            why = f"lease {other} is to be gone and may still be on its devices"
            self._faults[lease_id] = Unstarted(JobFault.EXECUTOR_UNAVAILABLE, why)
        return None

    def _warning(self, item: WorkItem, found: Running) -> Callable[[], None] | None:
        lease_id, until_ms = item.lease_id, item.warn_until_ms
        if until_ms is not None and self._warned.get(lease_id) != until_ms:

            def warn() -> None:
                self._executor.warn(lease_id, until_ms)
                self._warned[lease_id] = until_ms

            return warn
        if until_ms is None and found.is_warned:
            self._warned.pop(lease_id, None)
            return lambda: self._executor.call_off(lease_id)
        return None

    def _status(self, item: WorkItem) -> JobStatus:
        """How the job stands here; ``Starting`` is one that is still to be started."""
        if item.lease_id in self._faults:
            return self._faults[item.lease_id]
        if item.is_unstarted:
            return Unstarted(JobFault.EXECUTOR_UNAVAILABLE)
        try:
            found = self._executor.status(item.lease_id)
        except NotFound:
            if item.spec is not None:
                return Starting()
            ended = item.wish is not Wish.RUN
            # Its folder is gone: what became of it nobody can tell.
            return Lost(LostReason.NEVER_STARTED if ended else LostReason.STATE_UNREADABLE)
        if found == Lost(LostReason.NEVER_STARTED) and item.spec is not None:
            return Starting()
        return found

    def _try(self, lease_id: int, act: Callable[[], None]) -> None:
        try:
            act()
        except (BailiwickError, OSError) as error:
            self._again[lease_id] = time.monotonic() + PAUSE_S_LEAST
            self._say(f"lease {lease_id}: tried again: {error}")
        finally:
            self._wake.set()

    def _start(self, item: WorkItem) -> None:
        lease_id = item.lease_id
        assert item.spec is not None
        try:
            with suppress(NotFound):  # a start that was cut short before anything ran
                if self._executor.status(lease_id) == Lost(LostReason.NEVER_STARTED):
                    self._executor.forget(lease_id)
            spec = dataclasses.replace(parse_spec(item.spec), server=self._address)
            self._executor.start(spec)
        except Conflict:
            return  # it was started before: its status tells
        except (InvalidValue, Damaged) as error:
            fault = JobFault.EXECUTOR_UNAVAILABLE
            if isinstance(error, InvalidValue):
                fault = fault_of(error)
            self._faults[lease_id] = Unstarted(fault, str(error))
        except BailiwickError as error:
            tries = self._tries[lease_id] = self._tries.get(lease_id, 0) + 1
            if tries < STARTS_MAX:
                raise
            self._faults[lease_id] = Unstarted(JobFault.EXECUTOR_UNAVAILABLE, str(error))

    def _end(self, item: WorkItem) -> None:
        lease_id = item.lease_id
        try:
            is_clear = lease_id in self._faults or self._executor.tear_down(lease_id)
        except NotFound:
            is_clear = True  # nothing was ever started under it
        self._cleared[lease_id] = is_clear
        if not is_clear:
            self._again[lease_id] = time.monotonic() + AGAIN_S

    def _forget(self, lease_id: int) -> None:
        try:
            self._executor.forget(lease_id)
        except NotFound:
            pass
        except Conflict:
            self._executor.tear_down(lease_id)
            raise
        self._forgotten.add(lease_id)

    # -- telling -----------------------------------------------------------------------------

    def tell(self) -> None:
        """Tell what is new: first what was printed, then what was seen."""
        news: list[Seen] = []
        drained = 0
        for item in list(self._items.values()):
            if len(news) >= ITEMS_MAX:
                self._wake.set()
                break
            if item.lease_id in self._busy:
                continue
            if item.lease_id in self._told and self._is_settled(item):
                continue
            seen = self._see(item)
            if item.wish is not Wish.FORGET:
                drained += self._drain(item, most=max(1, DRAIN_PIECES - drained))
            if seen is not None and self._told.get(item.lease_id) != seen:
                news.append(seen)
        if not news:
            return
        self._server.observe(news)
        for seen in news:
            self._told[seen.lease_id] = seen
            if seen.is_forgotten:
                self._drop(seen.lease_id)

    def _is_settled(self, item: WorkItem) -> bool:
        """Whether nothing more can be told of it until something else is wished."""
        told = self._told[item.lease_id]
        is_sent = self._sent.get(item.lease_id) is None
        return item.wish is not Wish.FORGET and told.is_cleared is True and is_sent

    def _see(self, item: WorkItem) -> Seen | None:
        lease_id = item.lease_id
        if item.wish is Wish.FORGET:
            if lease_id not in self._forgotten:
                return None
            return Seen(lease_id, Lost(LostReason.NEVER_STARTED), is_forgotten=True)
        status, is_cleared = self._status(item), self._cleared.get(lease_id)
        if isinstance(status, Starting):
            if item.wish is Wish.RUN or is_cleared is None:
                return None
            status = Lost(LostReason.NEVER_STARTED)  # it was to end before it was begun
        if isinstance(status, Exited | Unstarted) and is_cleared is None:
            return None  # its end is told once nothing of it is left
        return Seen(lease_id, status, is_cleared)

    def _drain(self, item: WorkItem, *, most: int) -> int:
        """Tell what was printed, so many pieces at most; how many were."""
        lease_id = item.lease_id
        for count in range(most):
            offset = self._sent.get(lease_id)
            if offset is None:
                return count
            try:
                part = self._executor.read_output(lease_id, offset, limit=PIECE_BYTES_MAX)
            except (NotFound, BailiwickError):
                part = None
            is_last = self._cleared.get(lease_id) is not None
            if part is None or not (part.data or part.is_truncated):
                if is_last:
                    self._sent[lease_id] = None
                return count
            piece = PrintedPiece(lease_id, offset, part.data, part.is_truncated and not part.data)
            reached = self._server.send_output([piece]).get(lease_id)
            self._sent[lease_id] = None if piece.is_truncated else reached
        return most

    def _drop(self, lease_id: int) -> None:
        for kept in (self._items, self._told, self._sent, self._cleared, self._faults):
            kept.pop(lease_id, None)
        for other in (self._warned, self._tries, self._again, self._terms, self._waits):
            other.pop(lease_id, None)
        self._room.forget(lease_id)
        self._forgotten.discard(lease_id)
