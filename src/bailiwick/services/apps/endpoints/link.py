"""A connection to what a member listens on, through the channel of a program inside its job.

Rules:

- It is there once the far end has said so, in one line of bounded size; what that line says of the
  member is not believed beyond its shape.
- Nothing is kept here: what there is no room for waits where it is.
- Whoever waits holds no thread, and waits for a bounded time.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

from bailiwick.apps.endpoints.headers import is_showable
from bailiwick.runtime.waiting import await_set
from bailiwick.services.jobs.channel import ExecChannel, Written
from bailiwick.vocab.errors import Unavailable
from bailiwick.vocab.execs import PORT_MAX, ExecEnd, ExecOutcome, ExecStream

GREETING_BYTES_MAX: Final = 8_192
OPEN_S: Final = 20.0
SEND_S: Final = 60.0
LOOK_S: Final = 1.0
PIECE_BYTES: Final = 65_536

T = TypeVar("T")


class LinkGreeting(NamedTuple):
    """What the far end says once it is connected."""

    port: int
    authorization: str | None
    """What the app wants to be shown."""


class LinkLost(Exception):
    """The connection is over before it should be."""


class Link:
    """One connection, for one task at a time."""

    def __init__(self, channel: ExecChannel) -> None:
        self._channel = channel
        self._read_to = self._sent_to = 0
        self._waiting = b""
        self.greeting = LinkGreeting(0, None)
        self.is_used = False
        """Whether an exchange went over it before."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more goes over it."""
        return self._channel.outcome is not None

    async def open(self, *, wait_s: float = OPEN_S) -> None:
        """Wait until it is there; refused with what the member's side says."""
        said = b""
        until = asyncio.get_running_loop().time() + wait_s
        while b"\n" not in said:  # bounded by ``wait_s`` and by its size
            left_s = until - asyncio.get_running_loop().time()
            found = await self._changed(self._news, wait_s=left_s)
            if found is None or len(said) > GREETING_BYTES_MAX:
                raise Unavailable("the endpoint", "its member did not answer in time")
            said += self._take(found, ExecStream.STDERR)
            if b"\n" not in said and found.outcome is not None:
                note = found.outcome.note or f"the connection was {found.outcome.end}"
                raise Unavailable("the endpoint", note)
        self.greeting = _greeting(said.partition(b"\n")[0])

    async def send(self, data: bytes) -> None:
        """Have the app read it; waits while it has no room."""
        at, end = 0, len(data)
        while at < end:  # each turn takes some of it, or is the last
            piece = data[at : at + PIECE_BYTES]
            start = self._sent_to

            def take(piece: bytes = piece, start: int = start) -> int | None:
                if self._channel.outcome is not None:
                    raise LinkLost
                taken = self._channel.type(start, piece) - start
                return taken or None

            taken = await self._changed(take, wait_s=SEND_S)
            if taken is None:
                raise Unavailable("the endpoint", "its app reads nothing")
            at, self._sent_to = at + taken, self._sent_to + taken

    async def receive(self, *, wait_s: float) -> bytes | None:
        """What the app wrote: empty once it ended the connection, ``None`` after so long."""
        until = asyncio.get_running_loop().time() + wait_s
        while not self._waiting:  # bounded by ``wait_s``
            left_s = until - asyncio.get_running_loop().time()
            found = await self._changed(self._news, wait_s=left_s)
            if found is None:
                return None
            self._waiting += self._take(found, ExecStream.STDOUT)
            if not self._waiting and found.outcome is not None:
                if found.outcome.end is ExecEnd.EXITED and found.outcome.code == 0:
                    return b""
                raise LinkLost
        data, self._waiting = self._waiting, b""
        return data

    def close(self) -> None:
        """Have the far end go."""
        self._channel.finish(ExecOutcome(ExecEnd.ENDED))

    def _news(self) -> Written | None:
        found = self._channel.read(self._read_to)
        return found if found.pieces or found.outcome is not None else None

    def _take(self, found: Written, wanted: ExecStream) -> bytes:
        self._read_to = found.next_offset
        if wanted is ExecStream.STDERR:  # what follows the line is kept
            self._waiting += b"".join(d for s, d in found.pieces if s is ExecStream.STDOUT)
        return b"".join(data for stream, data in found.pieces if stream is wanted)

    async def _changed(self, look: Callable[[], T | None], *, wait_s: float) -> T | None:
        """The first answer that is one, or ``None`` after so long."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()
        until = loop.time() + wait_s

        def wake() -> None:
            loop.call_soon_threadsafe(changed.set)

        with self._channel.listening(wake):
            while True:  # bounded by ``wait_s``
                changed.clear()
                found = look()
                left_s = until - loop.time()
                if found is not None or left_s <= 0:
                    return found
                await await_set(changed, min(LOOK_S, left_s))


def _greeting(line: bytes) -> LinkGreeting:
    try:
        told = json.loads(line)
    except ValueError:
        told = None
    told = told if isinstance(told, dict) else {}
    port, shown = told.get("connected"), told.get("authorization")
    if type(port) is int and 1 <= port <= PORT_MAX and (shown is None or is_showable(shown)):
        return LinkGreeting(port, shown)
    fault = told.get("fault")
    why = fault if isinstance(fault, str) and fault.isprintable() else "its member says nonsense"
    raise Unavailable("the endpoint", why[:200])
