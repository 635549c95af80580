"""One request of a caller to an app, and its answer, as HTTP/1.1 over a link.

Rules:

- The framing is the library's (h11): both sides are parsed, and said anew. What is no HTTP ends the
  exchange; a body that is cut short is never told as whole.
- Nothing is gathered: a piece of a body goes on before the next is read. Heads are bounded.
- No protocol is switched to (101), and what an app says before its answer (1xx) is left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import h11

from bailiwick.apps.endpoints.headers import HEADER_BYTES_MAX, to_app
from bailiwick.services.apps.endpoints.link import Link, LinkLost
from bailiwick.vocab.errors import InvalidValue, Unavailable

HEAD_S: Final = 60.0
"""How long an app may take until it begins to answer."""
SILENT_S: Final = 300.0
"""How long it may be silent in the middle of an answer."""
RECHECK_S: Final = 5.0
"""How often it is asked, while an answer goes on, whether the caller still may."""

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointRequest:
    """What a caller asks of an app."""

    method: str
    target: bytes
    """The path below the endpoint, and the query, as they were spelled."""
    headers: Headers
    length: int | None
    """Of the body, if it is known; none: there is none, or it is told in pieces."""
    has_body: bool
    body: AsyncIterator[bytes]


class Exchange:
    """One request and its answer; afterwards the link may be good for another."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._http = h11.Connection(our_role=h11.CLIENT, max_incomplete_event_size=HEADER_BYTES_MAX)
        self.is_reusable = False
        """Whether all of it was read and the app goes on listening."""
        self.has_sent_body = False

    async def ask(self, request: EndpointRequest) -> tuple[int, Headers]:
        """Send it; the status and the headers of the answer."""
        await self._send_request(request)
        until = asyncio.get_running_loop().time() + HEAD_S
        while True:  # bounded by ``HEAD_S``
            event = self._next()
            if event is h11.NEED_DATA:
                left_s = until - asyncio.get_running_loop().time()
                await self._feed(max(0.0, left_s))
            elif isinstance(event, h11.Response):
                return event.status_code, list(event.headers)
            elif not isinstance(event, h11.InformationalResponse):
                raise LinkLost

    async def body(self, still_may: Callable[[], Awaitable[None]]) -> AsyncGenerator[bytes, None]:
        """The answer's body as it comes, as long as the caller may."""
        loop = asyncio.get_running_loop()
        heard = checked = loop.time()
        while True:  # until the app has said all, or is silent for too long
            event = self._next()
            if isinstance(event, h11.Data):
                heard = loop.time()
                yield bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                self._settle()
                return
            elif event is h11.NEED_DATA:
                data = await self._link.receive(wait_s=RECHECK_S)
                if data is None and loop.time() - heard > SILENT_S:
                    raise Unavailable("the endpoint", "its app fell silent")
                if data is not None:
                    self._take(data)
            else:
                raise LinkLost
            if loop.time() - checked >= RECHECK_S:
                checked = loop.time()
                await still_may()

    async def _send_request(self, request: EndpointRequest) -> None:
        greeting = self._link.greeting
        headers: Headers = [(b"Host", f"localhost:{greeting.port}".encode())]
        headers += to_app(request.headers)
        if greeting.authorization is not None:
            headers.append((b"Authorization", greeting.authorization.encode()))
        if request.has_body and request.length is None:
            headers.append((b"Transfer-Encoding", b"chunked"))
        elif request.has_body or request.method not in ("GET", "DELETE"):
            headers.append((b"Content-Length", str(request.length or 0).encode()))
        try:
            head = h11.Request(method=request.method, target=request.target, headers=headers)
            await self._say(head)
            if request.has_body:
                await self._send_body(request.body)
            await self._say(h11.EndOfMessage())
        except h11.LocalProtocolError as error:
            raise InvalidValue("request", "(not shown)", f"HTTP ({error})") from None

    async def _send_body(self, body: AsyncIterator[bytes]) -> None:
        async for piece in body:
            if piece:
                self.has_sent_body = True
                await self._say(h11.Data(data=piece))

    async def _say(self, event: h11.Request | h11.Data | h11.EndOfMessage) -> None:
        data = self._http.send(event)
        if data:
            await self._link.send(data)

    def _next(self) -> object:
        try:
            return self._http.next_event()
        except h11.RemoteProtocolError:
            raise Unavailable("the endpoint", "its app does not speak HTTP as it should") from None

    async def _feed(self, wait_s: float) -> None:
        data = await self._link.receive(wait_s=wait_s)
        if data is None:
            raise Unavailable("the endpoint", "its app did not answer in time")
        self._take(data)

    def _take(self, data: bytes) -> None:
        try:
            self._http.receive_data(data)
        except h11.RemoteProtocolError:
            raise Unavailable("the endpoint", "its app does not speak HTTP as it should") from None

    def _settle(self) -> None:
        """All was read: whether the link is as it was before."""
        is_done = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        self.is_reusable = is_done and not self._http.trailing_data[0]
