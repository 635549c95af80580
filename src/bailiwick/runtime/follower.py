"""One way to follow the journal, for everything that is made of its records.

Rules:

- A *fold* keeps its own result and how far it has come, the two changed together. A follower asks
  it where to begin, hands it batches of durable lines in order, and asks again after a failure. So
  nothing is lost and nothing is taken twice, whatever fails in between.
- One batch at a time, by whoever needs it: a thread of its own (``start``), or whoever asks
  (``catch_up``). It never holds up the writer: to be woken is to have a flag set.
- A failure ends one batch, not the following. It is told, and tried again after a pause that grows.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from bailiwick.vocab.errors import BailiwickError, Unavailable

BATCH = 1_000
PAUSE_S = 0.05
"""How long news gathers, so that a busy journal is read in large pieces."""
PAUSE_S_MAX = 5.0
"""The longest pause after failures that repeat."""
IDLE_S = 1.0


class Source(Protocol):
    """Durable lines, in order; :class:`bailiwick.runtime.feed.DurableLines` is one."""

    @property
    def size(self) -> int:
        """How many there are; 0 also while nobody knows yet."""

    def read(self, first: int, limit: int) -> Sequence[bytes]:
        """Up to ``limit`` of them from number ``first`` on; none at the end."""

    def listen(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Have ``wake`` called when there are more; call the result to end that."""


class Fold(Protocol):
    """What is made of the journal; only its follower changes it."""

    def begin(self, size: int) -> int:
        """The record to go on with, given how many there are; also after failures."""

    def take(self, first: int, lines: Sequence[bytes]) -> int:
        """Take these up, the first being number ``first``; how far it has come then.

        All of them with the number, or (after an error) as many as ``begin`` then says.
        """


F = TypeVar("F", bound=Fold)


class EachRecord:
    """A fold in memory that is told of records one by one, as plain values."""

    def __init__(
        self, follow: Callable[[Mapping[str, Any]], None], *, begin: Callable[[int], int]
    ) -> None:
        self._follow, self._begin = follow, begin
        self._next: int | None = None

    def begin(self, size: int) -> int:
        """Where the caller says, and from then on where it is."""
        if self._next is None:
            self._next = self._begin(size)
        return self._next

    def take(self, first: int, lines: Sequence[bytes]) -> int:
        """Hand each over; one that fails is handed over again, those before it are not."""
        for number, line in enumerate(lines, first):
            self._follow(json.loads(line))
            self._next = number + 1
        return first + len(lines)


class Follower(Generic[F]):
    """One fold of one journal, and how far it has come; from any thread."""

    def __init__(
        self,
        fold: F,
        source: Source,
        *,
        name: str,
        batch: int = BATCH,
        shared: bool = False,
        warn: Callable[[str], None] = lambda message: None,
    ) -> None:
        self.fold, self.name, self.batch = fold, name, batch
        self._shared = shared
        """Whether others move the fold too (it is in a database): it is asked anew each time."""
        self._source, self._warn = source, warn
        self._next, self._begun = 0, False
        self._turn = threading.Lock()
        self._wake, self._ending = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._unlisten: Callable[[], None] = lambda: None

    @property
    def position(self) -> int:
        """The number of the record that is taken up next."""
        return self._next

    def advance(self) -> bool:
        """Take up one batch; whether there may be more."""
        with self._turn:
            return self._advance()

    def catch_up(self, wait_s: float, *, rounds: int | None = None) -> bool:
        """Whether all that is durable now is taken up, within the time and so many batches.

        What fails is told to whoever asks. Only where a thread of its own follows, which tries
        again, a store that is away is waited for.
        """
        size, until = self._source.size, time.monotonic() + wait_s
        left = -1 if rounds is None else rounds
        if self._shared:
            with self._turn:
                self._next, self._begun = (self.fold.begin(size), True) if size else (0, False)
        while self._next < size:  # bounded by the time, and by the records there are
            remaining = until - time.monotonic()
            if remaining <= 0 or left == 0 or not self._turn.acquire(timeout=remaining):
                return False
            try:
                if self._next < size:
                    self._advance()
                    left -= 1
            except BailiwickError as error:
                if self._thread is None or not error.retryable:
                    raise
                time.sleep(PAUSE_S)
            finally:
                self._turn.release()
        return True

    def current(self, wait_s: float, *, rounds: int | None = None) -> F:
        """The fold, with everything in it that is durable now."""
        if not self.catch_up(wait_s, rounds=rounds):
            raise Unavailable(self.name, "it is being folded from the journal")
        return self.fold

    def start(self) -> None:
        """Follow in a thread of its own from now on."""
        self._unlisten = self._source.listen(self._wake.set)
        self._thread = threading.Thread(target=self._run, name=f"follow-{self.name}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop following; what was taken up stays."""
        self._unlisten()
        self._ending.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(10.0)

    def _run(self) -> None:
        pause_s = PAUSE_S
        while not self._ending.is_set():  # until closed: this is the follower's own thread
            self._wake.wait(IDLE_S)
            self._wake.clear()
            try:
                while not self._ending.is_set() and self.advance():  # bounded by the journal
                    pass
            except Exception as error:
                self._warn(f"{self.name} goes on from record {self._next} in a while: {error}")
                self._wake.set()
                pause_s = min(2 * pause_s, PAUSE_S_MAX)
            else:
                pause_s = PAUSE_S
            self._ending.wait(pause_s)

    def _advance(self) -> bool:
        if not self._begun:
            size = self._source.size
            if size == 0:
                return False  # the replica is still reading the store
            self._next, self._begun = self.fold.begin(size), True
        try:
            lines = self._source.read(self._next, self.batch)
            if lines:
                self._next = self.fold.take(self._next, lines)
        except BaseException:
            self._begun = False  # the fold knows how far it has come
            raise
        return self._next < self._source.size
