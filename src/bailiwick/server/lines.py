"""The replica port: TCP, one JSON object a line, everything about a connection bounded.

Rules:

- Bounded: the length of a line, how many connections there are, how many requests of one are under
  way (then it is not read on), how long a line may take to arrive and an answer to be taken.
- A connection that breaks the protocol is told why, if it listens, and closed. Nobody else is
  affected. One that has not shown the token yet has less time.
- Closing takes up no more requests and gives those under way a moment.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from dataclasses import dataclass

from bailiwick.server.desk import Desk
from bailiwick.server.protocol import Plain, PortCode, error_of, parse_line, spell_line
from bailiwick.vocab.errors import BailiwickError, InvalidValue, LimitReached


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one port takes."""

    line_bytes: int = 1 << 20
    connections: int = 256
    in_flight: int = 64
    first_line_s: float = 10.0
    idle_s: float = 300.0
    write_s: float = 10.0
    close_s: float = 5.0


class LinePort:
    """The listening side."""

    def __init__(self, desk: Desk, limits: Limits | None = None) -> None:
        self._desk = desk
        self._limits = limits or Limits()
        self._server: asyncio.Server | None = None
        self._open: set[_Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, bound: socket.socket) -> None:
        """Listen on a socket that is bound already."""
        most = self._limits.line_bytes
        self._server = await asyncio.start_server(self._meet, sock=bound, limit=most, backlog=128)

    async def close(self) -> None:
        """Stop listening, let requests under way finish for a moment, hang up."""
        if self._server is not None:
            self._server.close()
        for connection in self._open:
            connection.stop_reading()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._limits.close_s)
        for task in list(self._tasks):
            task.cancel()
        self._desk.close()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _Connection(self._desk, self._limits, reader=reader, writer=writer)
        if len(self._open) >= self._limits.connections:
            full = LimitReached("connections", self._limits.connections)
            await connection.refuse(full, retryable=True)
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None  # this is a coroutine
        self._open.add(connection)
        self._tasks.add(task)
        try:
            with suppress(OSError, asyncio.CancelledError):
                await connection.serve()
        finally:
            self._open.discard(connection)
            self._tasks.discard(task)


class _Connection:
    def __init__(
        self,
        desk: Desk,
        limits: Limits,
        *,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._desk, self._limits = desk, limits
        self._reader, self._writer = reader, writer
        self._room = asyncio.Semaphore(limits.in_flight)
        self._writing = asyncio.Lock()
        self._under_way: set[asyncio.Task[None]] = set()
        self._reading: asyncio.Task[bytes] | None = None
        self._stopping = False
        self._known = False
        self._stuck = False

    async def serve(self) -> None:
        """Answer until the other side hangs up or breaks the protocol."""
        try:
            while not self._stopping:  # until the connection ends
                line = await self._line()
                if not line or not await self._take(line):
                    break
            if self._under_way:
                await asyncio.wait(self._under_way)
        finally:
            for task in self._under_way:
                task.cancel()
            self._writer.close()

    def stop_reading(self) -> None:
        """Take up no more requests."""
        self._stopping = True
        if self._reading is not None:
            self._reading.cancel()

    async def refuse(self, error: BailiwickError, *, retryable: bool = False) -> None:
        """Say why this connection is closed; it may not have asked anything."""
        await self._write({"id": None, "error": {**error_of(error), "retryable": retryable}})

    async def _line(self) -> bytes:
        """The next line; nothing if there is none to be answered."""
        limits = self._limits
        wait_s = limits.idle_s if self._known else limits.first_line_s
        self._reading = asyncio.ensure_future(self._reader.readline())
        try:
            line = await asyncio.wait_for(self._reading, wait_s)
        except TimeoutError:
            await self.refuse(InvalidValue("line", "...", f"a whole line within {wait_s:g} s"))
        except ValueError:
            await self.refuse(LimitReached("bytes of a line", limits.line_bytes))
        except ConnectionError:
            pass
        except asyncio.CancelledError:
            if not self._stopping:
                raise
        else:
            return line if line.endswith(b"\n") else b""
        return b""

    async def _take(self, line: bytes) -> bool:
        """Have a request answered; whether the connection is to be read on."""
        try:
            plain = parse_line(line)
        except InvalidValue as error:
            await self.refuse(error)
            return False
        if not self._known:
            self._known = self._desk.knows(plain)
        if not self._known:
            # Without the token one request is looked at after the other.
            answer = await self._desk.answer(plain)
            await self._write(answer)
            code = answer["error"]["code"] if "error" in answer else None
            return bool(code != PortCode.UNAUTHENTICATED)
        await self._room.acquire()
        task = asyncio.create_task(self._answer(plain))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return True

    async def _answer(self, plain: Plain) -> None:
        try:
            await self._write(await self._desk.answer(plain))
        finally:
            self._room.release()

    async def _write(self, plain: Plain) -> None:
        if self._stuck:
            return
        try:
            async with self._writing:
                self._writer.write(spell_line(plain))
                await asyncio.wait_for(self._writer.drain(), self._limits.write_s)
        except (OSError, TimeoutError):
            # Nobody takes the answer: what is buffered for them is thrown away.
            self._stuck = True
            self._writer.transport.abort()
