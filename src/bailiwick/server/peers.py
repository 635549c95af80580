"""Passing a command on to the leader, over connections that are kept.

Rules:

- A few connections per address carry many requests at once; answers find their way by number.
- Every wait is bounded. A leader that cannot be reached, goes away or does not answer in time is
  ``Unavailable``: whether the command took effect is open, and its key tells.
- Only the last few addresses are kept; who leads now is the only one that is needed.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from itertools import count, cycle

from bailiwick.server.protocol import Plain, parse_line, spell_line
from bailiwick.vocab.errors import InvalidValue, Unavailable

CONNECT_S = 2.0
CONNECTIONS = 4
"""Connections to one address; each carries as many requests as the other side lets in flight."""

ADDRESSES_MAX = 4
LINE_BYTES_MAX = 1 << 20


class Peers:
    """Every other replica this one has passed commands on to."""

    def __init__(self, *, wait_s: float) -> None:
        self._wait_s = wait_s
        self._lines: dict[str, list[_Line]] = {}
        self._turn = cycle(range(CONNECTIONS))

    async def ask(self, address: str, plain: Plain) -> Plain:
        """What the replica at this address answers, with an ``answer`` or an ``error``."""
        if address not in self._lines:
            for old in list(self._lines)[: len(self._lines) + 1 - ADDRESSES_MAX]:
                _hang_up(self._lines.pop(old))
            self._lines[address] = [_Line(address) for _ in range(CONNECTIONS)]
        line = self._lines[address][next(self._turn)]
        try:
            async with asyncio.timeout(self._wait_s):
                return await line.ask(plain)
        except (OSError, TimeoutError, InvalidValue) as error:
            why = str(error) or "no answer in time"
            raise Unavailable(f"the leader at {address}", why) from error

    def close(self) -> None:
        """Hang up everywhere."""
        for lines in self._lines.values():
            _hang_up(lines)
        self._lines.clear()


class _Line:
    """One connection at a time, made when first needed and again after it was lost."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._connecting = asyncio.Lock()
        self._connection: _Connection | None = None

    async def ask(self, plain: Plain) -> Plain:
        async with self._connecting:
            if self._connection is None or self._connection.is_lost:
                self._connection = await _connect(self._address)
        return await self._connection.ask(plain)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


async def _connect(address: str) -> _Connection:
    host, _, port = address.rpartition(":")
    if not port.isdecimal():
        raise InvalidValue("address", address, "host:port")
    opening = asyncio.open_connection(host.strip("[]"), int(port), limit=LINE_BYTES_MAX)
    return _Connection(*await asyncio.wait_for(opening, CONNECT_S))


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Plain]] = {}
        self._ended = False
        self._listening = asyncio.create_task(self._listen(reader))

    @property
    def is_lost(self) -> bool:
        return self._ended or self._writer.is_closing()

    async def ask(self, plain: Plain) -> Plain:
        number = next(self._numbers)
        future: asyncio.Future[Plain] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            self._writer.write(spell_line({**plain, "id": number}))
            await self._writer.drain()
            return await future
        finally:
            self._waiting.pop(number, None)

    def close(self) -> None:
        self._writer.transport.abort()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        """Hand out answers until the connection ends; then tell all who still wait."""
        with suppress(OSError, ValueError):
            while line := await reader.readline():  # until the other side hangs up
                self._deliver(parse_line(line))
        self._ended = True
        self._writer.transport.abort()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(ConnectionResetError("the connection was lost"))

    def _deliver(self, plain: Plain) -> None:
        number = plain.get("id")
        future = self._waiting.get(number) if type(number) is int else None
        if future is not None and not future.done():
            future.set_result(plain)


def _hang_up(lines: list[_Line]) -> None:
    for line in lines:
        line.close()
