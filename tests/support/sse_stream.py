"""A caller of a stream of events, without a socket: it reads event by event, and may hang up."""

from __future__ import annotations

import asyncio
import json
from types import TracebackType
from typing import Any, Self

from fastapi import FastAPI

from tests.support.waiting import WAIT_S


class Stream:
    """One request that is answered bit by bit; to be used with ``async with``.

    Without a ``body`` it is a ``GET``.
    """

    def __init__(
        self,
        app: FastAPI,
        path: str,
        *,
        token: str | None,
        body: dict[str, Any] | None = None,
        **headers: str,
    ) -> None:
        self._app, self._body = app, b"" if body is None else json.dumps(body).encode()
        route, _, query = path.partition("?")
        named = {} if token is None else {"authorization": f"Bearer {token}"}
        named |= {} if body is None else {"content-type": "application/json"}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        self._scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET" if body is None else "POST",
            "scheme": "http",
            "path": route,
            "raw_path": route.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(n.lower().encode(), v.encode()) for n, v in named.items()],
            "client": ("stream", 1),
            "server": ("house", 80),
        }
        self._asked = False
        self._gone = asyncio.Event()
        self._chunks: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._text = b""
        self.status = 0
        self.headers: dict[str, str] = {}
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._gone.set()
        assert self._task is not None
        async with asyncio.timeout(WAIT_S):
            await self._task

    async def _run(self) -> None:
        await self._app(self._scope, self._receive, self._send)
        self._chunks.put_nowait(None)

    async def _receive(self) -> dict[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {n.decode(): v.decode() for n, v in message["headers"]}
        elif message["type"] == "http.response.body":
            self._chunks.put_nowait(message.get("body", b""))

    async def next(self) -> dict[str, str] | None:
        """The fields of the next event or comment; nothing once the stream is over."""
        while b"\n\n" not in self._text:
            async with asyncio.timeout(WAIT_S):
                chunk = await self._chunks.get()
            if chunk is None:
                self._chunks.put_nowait(None)
                return None
            self._text += chunk
        block, _, self._text = self._text.partition(b"\n\n")
        rows = (line.partition(":") for line in block.decode().split("\n"))
        return {name or "comment": value.strip() for name, _, value in rows}

    async def event(self) -> dict[str, str] | None:
        """The next event, past all comments."""
        found = await self.next()
        while found is not None and "event" not in found:
            found = await self.next()
        return found

    async def body(self) -> bytes:
        """All of an answer that is no stream."""
        parts = [self._text]
        async with asyncio.timeout(WAIT_S):
            while (chunk := await self._chunks.get()) is not None:
                parts.append(chunk)
        return b"".join(parts)
