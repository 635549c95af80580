"""What is between a caller and his program inside a job: two bounded queues, and how it ended.

Rules:

- It lives in the memory of the server that leads and is written down nowhere: neither what is typed
  nor what is printed.
- Both ways go by offsets. What is sent twice is there once; what was read up to an offset is
  dropped once something after it is asked for.
- A full queue takes nothing: the program, or the caller, waits.
- Once it is over it stays over; what the program wrote before can still be read, and what is typed
  later counts as taken.
- Calls come from any thread; whoever waits for a change is woken.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from bailiwick.executors.execs import ExecOver, Typed
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.execs import ExecOutcome, ExecStream, Terminal

TYPED_BYTES_MAX: Final = 262_144
WRITTEN_BYTES_MAX: Final = 1_048_576
PIECES_MAX: Final = 1_024
PIECE_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class Written:
    """What the program wrote from an offset on, and how it stands."""

    pieces: tuple[tuple[ExecStream, bytes], ...]
    next_offset: int
    has_begun: bool
    outcome: ExecOutcome | None
    """Set once this was the last of it."""


class ExecChannel:
    """One program inside a job, between its two ends."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._wakes: list[Callable[[], None]] = []
        self._typed, self._typed_from = bytearray(), 0
        self._is_closed = False
        self._terminal: Terminal | None = None
        self._pieces: deque[tuple[int, ExecStream, bytes]] = deque()
        self._written_to, self._held = 0, 0
        self._has_begun = False
        self._outcome: ExecOutcome | None = None
        self.caller_s = self.program_s = time.monotonic()
        """When either end was last heard."""

    @property
    def outcome(self) -> ExecOutcome | None:
        """How it ended, once it has."""
        return self._outcome

    @property
    def has_begun(self) -> bool:
        """Whether the program's end was ever heard."""
        return self._has_begun

    # -- the caller's end --------------------------------------------------------------------

    def type(self, offset: int, data: bytes, *, is_closed: bool = False) -> int:
        """Take what was typed; up to where it was taken."""
        self.caller_s = time.monotonic()
        with self._changed:
            if self._outcome is not None:  # nobody reads it: who waited for room would for ever
                return offset + len(data)
            end = self._typed_from + len(self._typed)
            if offset > end:
                raise InvalidValue("offset", offset, f"at most {end}: what is before is missing")
            fresh = data[end - offset :]
            fresh = fresh[: TYPED_BYTES_MAX - len(self._typed)]
            if not self._is_closed:
                self._typed += fresh
                self._is_closed = is_closed and end + len(fresh) == offset + len(data)
                self._tell()
            return self._typed_from + len(self._typed)

    def resize(self, terminal: Terminal) -> None:
        """The caller's terminal has another size."""
        self.caller_s = time.monotonic()
        with self._changed:
            self._terminal = terminal
            self._tell()

    def read(self, offset: int) -> Written:
        """What the program wrote from there on; what was before is not wanted any more."""
        self.caller_s = time.monotonic()
        with self._changed:
            self._drop(offset)
            first = self._pieces[0][0] if self._pieces else self._written_to
            if not first <= offset <= self._written_to:
                raise InvalidValue("offset", offset, f"from {first} to {self._written_to}")
            found: list[tuple[ExecStream, bytes]] = []
            at = offset
            for start, stream, data in self._pieces:
                part = data[max(0, offset - start) :]
                if at - offset + len(part) > WRITTEN_BYTES_MAX // 4 and found:
                    break
                found.append((stream, part))
                at += len(part)
            outcome = self._outcome if at == self._written_to else None
            return Written(tuple(found), at, self._has_begun, outcome)

    # -- the program's end -------------------------------------------------------------------

    def begin(self) -> None:
        """The program's end is there."""
        self.program_s = time.monotonic()
        with self._changed:
            self._has_begun = True

    def pull(self, offset: int) -> Typed | None:
        """What was typed from there on; ``None`` if there is nothing new."""
        self.program_s = time.monotonic()
        with self._changed:
            self._check()
            done = offset - self._typed_from
            if not 0 <= done <= len(self._typed):
                raise InvalidValue("offset", offset, f"from {self._typed_from} on")
            del self._typed[:done]
            self._typed_from = offset
            if done:  # there is room again
                self._tell()
            terminal, self._terminal = self._terminal, None
            if not self._typed and terminal is None and not self._is_closed:
                return None
            return Typed(bytes(self._typed), self._is_closed, terminal)

    def push(self, offset: int, stream: ExecStream, *, data: bytes) -> int:
        """Take what the program wrote; up to where it was taken."""
        self.program_s = time.monotonic()
        with self._changed:
            self._check()
            if offset > self._written_to:
                raise InvalidValue("offset", offset, f"at most {self._written_to}")
            room = WRITTEN_BYTES_MAX - self._held if len(self._pieces) < PIECES_MAX else 0
            fresh = data[self._written_to - offset :][: max(0, room)]
            if fresh:
                self._add(stream, fresh)
                self._tell()
            return self._written_to

    def finish(self, outcome: ExecOutcome) -> bool:
        """It is over, unless it was; whether this was news."""
        with self._changed:
            if self._outcome is not None:
                return False
            self._outcome = outcome
            self._tell()
            return True

    # -- waiting -----------------------------------------------------------------------------

    @contextmanager
    def listening(self, wake: Callable[[], None]) -> Iterator[None]:
        """Have ``wake`` called whenever something changes."""
        with self._changed:
            self._wakes.append(wake)
        try:
            yield
        finally:
            with self._changed:
                self._wakes.remove(wake)

    def wait(self, wait_s: float) -> None:
        """Wait for a change, for so long at most."""
        with self._changed:
            self._changed.wait(wait_s)

    def _tell(self) -> None:
        self._changed.notify_all()
        for wake in self._wakes:
            wake()

    def _drop(self, offset: int) -> None:
        before = self._held
        while self._pieces and self._pieces[0][0] + len(self._pieces[0][2]) <= offset:
            self._held -= len(self._pieces.popleft()[2])
        if self._held < before:  # who looks changes nothing; who makes room does
            self._tell()

    def _check(self) -> None:
        if self._outcome is not None:
            raise ExecOver

    def _add(self, stream: ExecStream, data: bytes) -> None:
        if self._pieces and self._pieces[-1][1] is stream:
            start, _, last = self._pieces[-1]
            if len(last) + len(data) <= PIECE_BYTES:
                self._pieces[-1] = (start, stream, last + data)
                self._held += len(data)
                self._written_to += len(data)
                return
        self._pieces.append((self._written_to, stream, data))
        self._held += len(data)
        self._written_to += len(data)


class ChannelEnd:
    """The far end of a program that runs on this very machine."""

    def __init__(self, channel: ExecChannel) -> None:
        self._channel, self._offset = channel, 0

    def pull(self, offset: int, *, wait_s: float) -> Typed:
        """What was typed; held back until there is something."""
        until = time.monotonic() + wait_s
        while True:  # bounded by ``wait_s``
            found = self._channel.pull(offset)
            left_s = until - time.monotonic()
            if found is not None or left_s <= 0:
                return found or Typed(b"")
            self._channel.wait(min(left_s, 1.0))

    def push(self, stream: ExecStream, data: bytes) -> None:
        """Let the caller have it; waits while he has no room."""
        end = self._offset + len(data)
        while self._offset < end:  # until he has it, or it is over
            left = data[len(data) - (end - self._offset) :]
            taken = self._channel.push(self._offset, stream, data=left)
            if taken == self._offset:
                self._channel.wait(1.0)
            self._offset = taken

    def finish(self, outcome: ExecOutcome) -> None:
        """The program has ended."""
        self._channel.finish(outcome)
