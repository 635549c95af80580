"""The limits of a port, with small numbers: who is slow, idle or greedy loses his connection."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from typing import Any, cast

from bailiwick.server.desk import Desk
from bailiwick.server.lines import Limits, LinePort


class SlowDesk:
    """Answers when told to, and counts how many wait."""

    def __init__(self) -> None:
        self.waiting = self.most = 0
        self.go = asyncio.Event()

    def knows(self, plain: dict[str, Any]) -> bool:
        return plain.get("token") == "t"

    async def answer(self, plain: dict[str, Any]) -> dict[str, Any]:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        if plain.get("token") == "t":
            await self.go.wait()
        self.waiting -= 1
        return {"id": plain["id"], "pong": True}

    def close(self) -> None:
        self.go.set()


def with_port(limits: Limits, use: Callable[[int, LinePort, SlowDesk], Awaitable[None]]) -> None:
    async def run() -> None:
        desk = SlowDesk()
        port = LinePort(cast("Desk", desk), limits)
        bound = socket.socket()
        bound.bind(("127.0.0.1", 0))
        await port.open(bound)
        try:
            async with asyncio.timeout(20):
                await use(bound.getsockname()[1], port, desk)
        finally:
            await port.close()

    asyncio.run(run())


async def told(reader: asyncio.StreamReader) -> str:
    line = await reader.readline()
    return str(json.loads(line)["error"]["code"]) if line else "closed"


def test_a_line_that_drips_in_is_cut_off() -> None:
    async def use(port: int, *_: object) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)

        async def drip() -> None:
            for letter in b'{"id": 1, "read":':
                writer.write(bytes([letter]))
                await asyncio.sleep(0.1)

        dripping = asyncio.create_task(drip())
        assert await told(reader) == "invalid_value"
        assert not dripping.done()
        dripping.cancel()

    with_port(Limits(first_line_s=0.3, idle_s=60), use)


def test_a_connection_that_says_nothing_more_is_closed() -> None:
    async def use(port: int, _: object, desk: SlowDesk) -> None:
        desk.go.set()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b'{"id": 1, "token": "t"}\n')
        assert b"pong" in await reader.readline()
        assert await told(reader) == "invalid_value"
        assert await told(reader) == "closed"

    with_port(Limits(first_line_s=60, idle_s=0.3), use)


def test_no_more_than_so_many_requests_of_one_connection_are_under_way() -> None:
    async def use(port: int, _: object, desk: SlowDesk) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number in range(20):
            writer.write(json.dumps({"id": number, "token": "t"}).encode() + b"\n")
        await asyncio.sleep(0.2)
        assert desk.waiting == 4
        desk.go.set()
        found = [json.loads(await reader.readline())["id"] for _ in range(20)]
        assert sorted(found) == list(range(20))
        assert desk.most == 4

    with_port(Limits(in_flight=4), use)


def test_no_more_than_so_many_connections_are_open() -> None:
    async def use(port: int, *_: object) -> None:
        pairs = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        await asyncio.sleep(0.05)
        reader, _writer = await asyncio.open_connection("127.0.0.1", port)
        assert await told(reader) == "limit_reached"
        assert await told(reader) == "closed"
        pairs[0][1].close()
        await asyncio.sleep(0.1)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b'{"id": 1, "read": "ping"}\n')
        assert b"pong" in await reader.readline()

    with_port(Limits(connections=2), use)


def test_closing_lets_requests_under_way_finish() -> None:
    async def use(port: int, opened: LinePort, desk: SlowDesk) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b'{"id": 1, "token": "t"}\n')
        await asyncio.sleep(0.1)
        closing = asyncio.create_task(opened.close())
        await asyncio.sleep(0.1)
        assert not closing.done()
        desk.go.set()
        assert json.loads(await reader.readline())["id"] == 1
        assert await reader.readline() == b""
        await closing

    with_port(Limits(close_s=5), use)


def test_closing_does_not_wait_for_ever() -> None:
    async def use(port: int, opened: LinePort, _: object) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b'{"id": 1, "token": "t"}\n')
        await asyncio.sleep(0.1)
        async with asyncio.timeout(2):
            await opened.close()
        assert await reader.readline() == b""

    with_port(Limits(close_s=0.2), use)
