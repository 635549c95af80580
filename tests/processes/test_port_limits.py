"""The limits of a port, with small numbers: who is slow or idle loses his connection."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

from starlette.types import Receive, Scope, Send

from bailiwick.server.port import BoundedProtocol, Port, open_port
from tests.support.waiting import WAIT_S

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Quick(BoundedProtocol):
    """Has little patience."""

    headers_s = 0.3

    def __init__(self, *arguments: object, **more: object) -> None:
        super().__init__(*arguments, **more)  # type: ignore[arg-type]
        self.timeout_keep_alive = 0  # only ours counts


class SlowApp:
    """Answers when told to."""

    def __init__(self) -> None:
        self.waiting = 0
        self.go = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.waiting += 1
        await self.go.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"pong"})


Use = Callable[[int, Port, SlowApp], Awaitable[None]]


def with_port(use: Use, protocol: type[BoundedProtocol] = Quick) -> None:
    async def run() -> None:
        app = SlowApp()
        port = open_port(app, protocol=protocol)
        bound = socket.socket()
        bound.bind(("127.0.0.1", 0))
        serving = asyncio.create_task(port.serve(sockets=[bound]))
        try:
            async with asyncio.timeout(WAIT_S):
                while not port.started:
                    await asyncio.sleep(0.01)
                await use(bound.getsockname()[1], port, app)
        finally:
            app.go.set()
            port.should_exit = True
            await serving

    asyncio.run(run())


async def end_of(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionError:
        return b""


def test_headers_that_drip_in_are_cut_off() -> None:
    async def use(port: int, *_: object) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)

        async def drip() -> None:
            for letter in REQUEST:
                writer.write(bytes([letter]))
                await asyncio.sleep(0.1)

        dripping = asyncio.create_task(drip())
        assert await end_of(reader) == b""
        assert not dripping.done()
        dripping.cancel()

    with_port(use)


def test_a_connection_that_says_nothing_is_closed() -> None:
    async def use(port: int, *_: object) -> None:
        reader, _writer = await asyncio.open_connection("127.0.0.1", port)
        assert await end_of(reader) == b""

    with_port(use)


def test_a_second_request_may_not_drip_either() -> None:
    async def use(port: int, _: object, app: SlowApp) -> None:
        app.go.set()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST)
        assert b"200" in await reader.readline()
        for letter in REQUEST[:4]:
            writer.write(bytes([letter]))
            await asyncio.sleep(0.12)
        assert b"HTTP" not in await end_of(reader)

    with_port(use)


def test_a_slow_answer_is_not_cut_off() -> None:
    async def use(port: int, _: object, app: SlowApp) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST)
        await asyncio.sleep(0.6)
        app.go.set()
        assert b"200" in await reader.readline()

    with_port(use)


def test_closing_lets_requests_under_way_finish() -> None:
    async def use(port: int, opened: Port, app: SlowApp) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST)
        while not app.waiting:
            await asyncio.sleep(0.01)
        opened.should_exit = True
        await asyncio.sleep(0.3)
        app.go.set()
        assert b"pong" in await end_of(reader)

    with_port(use, BoundedProtocol)


def test_a_header_without_an_end_is_cut_off_soon() -> None:
    async def use(port: int, *_: object) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: ")
        sent = 0
        while sent < 64 << 20:
            writer.write(b"x" * 65536)
            sent += 65536
            try:
                await writer.drain()
            except ConnectionError:
                break
        assert sent < 32 << 20, "it took all of it"
        await end_of(reader)

    with_port(use, BoundedProtocol)


def test_many_small_headers_count_too() -> None:
    async def use(port: int, *_: object) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a:\r\n" * 20_000 + b"\r\n")
        assert b"200" not in await end_of(reader)

    with_port(use, BoundedProtocol)
