"""A follower passes changes on to the leader: whichever replica is asked, the answer is the same.

Rules:

- What may change something goes to the leader as it came, once; reads are answered here. A request
  that was passed on is not passed on again, so two that believe in each other end in an error.
- The leader judges the caller by the caller's own token, or by a browser's cookie and what says
  whose page asks. Only for counting bad guesses does it believe who asked, from a replica that
  proves with the shared key that it is one.
- A search for a way around the policy is made here: it changes nothing, computes for a while, and
  is told as it goes.
- What is an app's to answer goes to the leader, too, which alone has the way into its members; it
  is passed on piece by piece, both ways.
- A leader that does not answer leaves the outcome open (503, retryable); with the same
  ``Idempotency-Key`` the same request may be sent again.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterable
from dataclasses import dataclass, field

import httpx2
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from bailiwick.apps.endpoints.headers import GUARDS, TO_APP, TO_CALLER
from bailiwick.ports import Clock
from bailiwick.runtime.replica import Role
from bailiwick.runtime.runner import Runner
from bailiwick.runtime.steady_clock import Against
from bailiwick.server.http.cookies import CSRF_HEADER
from bailiwick.server.http.edge import HEADER, spell_problem
from bailiwick.server.http.passing import MARK, is_passed_on, split_target
from bailiwick.server.problems import trouble_of
from bailiwick.services.authority import Authority
from bailiwick.telemetry.trace_context import note_apps_answer, note_passed_on
from bailiwick.vocab.errors import InvalidValue, Unavailable
from bailiwick.wire.actions.cells import CELLS
from bailiwick.wire.actions.isolation import ISOLATION_SEARCH
from bailiwick.wire.actions.tokens import LOGIN_END

VOUCHER = "x-bailiwick-forwarded"
WAIT_S = 25.0
PASSED_S = 300.0
"""How long an app may take, or be silent."""
CONNECTIONS_MAX = 64
_READS = frozenset(("GET", "HEAD", "OPTIONS"))
_PASSED_ON = (
    *("authorization", "content-type", "idempotency-key", "if-match", "traceparent", "accept"),
)
_PAGE = ("cookie", CSRF_HEADER, "origin", "sec-fetch-site", "host")
"""What a browser says of itself; no request for an app bears it further."""
_BROUGHT_BACK = (
    *("content-type", "cache-control", "etag", "www-authenticate", "retry-after", HEADER),
    "location",
)
_LOGIN_END = re.compile(LOGIN_END.path.replace("{provider}", "[^/]+"))
"""Where browsers come back from a provider: their session is made then."""


@dataclass(slots=True)
class Peers:
    """How this replica reaches the others."""

    runner: Runner
    authority: Authority
    clock: Clock
    verify: ssl.SSLContext | bool = True
    _client: httpx2.AsyncClient | None = field(default=None, init=False)

    @property
    def client(self) -> httpx2.AsyncClient:
        """The connections; made in the event loop that uses them."""
        if self._client is None:
            self._client = httpx2.AsyncClient(
                verify=self.verify,
                timeout=httpx2.Timeout(WAIT_S, connect=3.0),
                limits=httpx2.Limits(max_connections=CONNECTIONS_MAX),
                trust_env=False,
            )
        return self._client

    async def close(self) -> None:
        """Hang up."""
        if self._client is not None:
            await self._client.aclose()

    def leader(self) -> str | None:
        """Where the leader is, if it is another and known."""
        replica = self.runner.replica
        if replica.role is Role.LEADING or replica.leader is None:
            return None
        return replica.leader.address if replica.leader.name != replica.name else None


class Forward:
    """The middleware; inside the edge, outside everything that decides."""

    def __init__(self, app: ASGIApp, *, peers: Peers) -> None:
        self._app, self._peers = app, peers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, here or by the leader."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        peers = self._peers
        source = self._vouched(scope)
        leader = None
        if source is not None:
            scope["client"] = (source, 0)
        elif _is_leaders(scope["method"], scope["path"]):
            leader = peers.leader()
        if not leader:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        is_apps = is_passed_on(scope["path"])
        response = await (self._stream_on if is_apps else self._pass_on)(request, leader)
        await response(scope, receive, send)

    def _vouched(self, scope: Scope) -> str | None:
        found = [value for name, value in scope["headers"] if name == VOUCHER.encode()]
        if not found:
            return None
        text, peers = found[0].decode("latin-1"), self._peers
        told_ms = peers.authority.told_ms(text)
        if told_ms is not None:
            clock = peers.runner.replica.clock
            clock.hear(Against.FOLLOWER, told_ms, asked_ms=clock.elapsed_ms())
        return peers.authority.vouched(text, now_ms=peers.clock.now_ms())

    def _told(
        self, request: Request, leader: str, *, names: Iterable[str]
    ) -> tuple[str, dict[str, str]]:
        """Where the leader is asked, and with which headers."""
        peers = self._peers
        source = "unknown" if request.client is None else request.client.host
        headers = {name: request.headers[name] for name in names if name in request.headers}
        headers[HEADER] = str(request.state.correlation_id)
        headers[VOUCHER] = peers.authority.vouch(source, now_ms=peers.clock.now_ms())
        target = leader + request.scope["raw_path"].decode("ascii")
        if request.scope["query_string"]:
            target += "?" + request.scope["query_string"].decode("latin-1")
        return target, headers

    async def _stream_on(self, request: Request, leader: str) -> Response:
        """What an app is asked, and answers, as it comes."""
        try:
            split_target(request.scope)  # the client would lead a step up elsewhere
        except InvalidValue as error:
            return spell_problem(trouble_of(error), str(request.state.correlation_id))
        client, framing = self._peers.client, ("content-length", "transfer-encoding")
        names = {*TO_APP, *_PASSED_ON, "content-length"}
        target, headers = self._told(request, leader, names=names)
        has_body = any(name in request.headers for name in framing)
        asked = client.build_request(
            request.method,
            target,
            headers=headers,
            content=request.stream() if has_body else None,
            timeout=httpx2.Timeout(PASSED_S, connect=3.0),
        )
        try:
            found = await client.send(asked, stream=True)
        except ClientDisconnect:
            return Response(status_code=400)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            return _lost(request, leader, error)
        note_passed_on()
        if MARK in found.headers:
            note_apps_answer()
        brought = {*TO_CALLER, *GUARDS, *_BROUGHT_BACK, MARK} - {HEADER}
        told = {name: found.headers[name] for name in brought if name in found.headers}
        after = BackgroundTask(found.aclose)
        return StreamingResponse(found.aiter_raw(), found.status_code, told, background=after)

    async def _pass_on(self, request: Request, leader: str) -> Response:
        peers = self._peers
        target, headers = self._told(request, leader, names=(*_PASSED_ON, *_PAGE))
        try:
            body = await request.body()
            found = await peers.client.request(
                request.method, target, content=body, headers=headers
            )
        except ClientDisconnect:
            return Response(status_code=400)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            return _lost(request, leader, error)
        note_passed_on()
        brought = {n: found.headers[n] for n in _BROUGHT_BACK if n in found.headers}
        brought.pop(HEADER, None)  # the edge puts it on every answer
        response = Response(found.content, found.status_code, brought)
        for cookie in found.headers.get_list("set-cookie"):
            response.headers.append("set-cookie", cookie)
        return response


def _is_leaders(method: str, path: str) -> bool:
    """Whether it is the leader's to answer: what may change something, and reads that make it."""
    if method not in _READS:
        return path != ISOLATION_SEARCH.path
    if path == CELLS or path.startswith(CELLS + "/"):
        return True  # how it stands with its cells only the leader knows
    return is_passed_on(path) or _LOGIN_END.fullmatch(path) is not None


def _lost(request: Request, leader: str, error: Exception) -> Response:
    lost = Unavailable("the leader", f"{leader} did not answer ({type(error).__name__})")
    return spell_problem(trouble_of(lost), str(request.state.correlation_id))
