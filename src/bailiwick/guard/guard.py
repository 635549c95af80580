"""Middleware that lets a request through if it bears a good token for what it asks.

Rules:

- The token is the ``Authorization: Bearer`` of the request, once. Without one the answer is 401;
  with one that is not accepted 403, and ``details.fault`` has the word of ``TokenFault``.
- What a request needs, the service says: a function of method and path. A path of which it can
  make no resource is none that a token is for. Every request is judged anew.
- What is known of keys and revocations has an end. Past it nobody is let in (503): a service that
  cannot hear of revocations must not go on as if there were none.
- Accepted claims are handed on: ``scope["bailiwick.claims"]``, ``environ["bailiwick.claims"]``. A
  claim that the use leaves open (tenant, lease) is for the service to look at.
- This is an edge: it reads the clock. Deciding is :func:`bailiwick.capability.verify`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from bailiwick.capability import Accepted, KeyRing, Refused, Revocations, Use, verify
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import TokenFault
from bailiwick.vocab.values import check_name

CLAIMS = "bailiwick.claims"
"""Under which key the service finds the claims."""

POLICY_VIOLATION = 1008
"""The code with which a web socket is closed that may not be opened."""

_SCHEME = "bearer "

Needs: TypeAlias = Callable[[str, str], Use]
"""Method and path of a request; what its bearer must be allowed to do."""

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
WsgiApp: TypeAlias = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
class Known:
    """Whom to believe and what was revoked, and how long that may be relied on."""

    keys: KeyRing = field(repr=False)
    revoked: Revocations = field(default_factory=Revocations, repr=False)
    until_ms: int | None = None
    """``None`` where it does not age: nothing is ever revoked there but by the end of a token."""


@dataclass(frozen=True, slots=True)
class Turned:
    """A request that is not let through: the status and the body that say why."""

    status: int
    code: str
    message: str
    fault: str | None = None

    @property
    def body(self) -> bytes:
        """The answer, in JSON."""
        details = {} if self.fault is None else {"fault": self.fault}
        told = {"code": self.code, "message": self.message, "details": details}
        return json.dumps(told | {"retryable": self.status == 503}).encode()

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Of the answer; a 401 says how to do better."""
        found = [("content-type", "application/json"), ("content-length", str(len(self.body)))]
        return [*found, ("www-authenticate", "Bearer")] if self.status == 401 else found


def wall_ms() -> int:
    """The time of this machine."""
    return time.time_ns() // 1_000_000


class Guard:
    """Stands before one service on one node.

    ``known`` is asked at each request and must answer at once, from any thread.
    """

    def __init__(
        self, audience: str, known: Callable[[], Known], *, now_ms: Callable[[], int] = wall_ms
    ) -> None:
        self._audience = check_name("audience", audience)
        self._known, self._now_ms = known, now_ms

    def check(self, token: str, use: Use) -> Accepted | Refused | Turned:
        """Whether the token's bearer may, now."""
        known, now_ms = self._known(), self._now_ms()
        if known.until_ms is not None and now_ms >= known.until_ms:
            return Turned(503, "unavailable", "what is known of revoked tokens is too old")
        return verify(
            token,
            use,
            audience=self._audience,
            keys=known.keys,
            revoked=known.revoked,
            now_ms=now_ms,
        )

    def asgi(self, app: AsgiApp, needs: Needs) -> AsgiApp:
        """The ASGI application behind this guard, its web sockets as well."""

        async def _guarded(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                return await app(scope, receive, send)
            bearers = [
                value.decode("latin-1")
                for name, value in scope["headers"]
                if name.lower() == b"authorization"
            ]
            # A web socket has no method of its own; it begins as a GET.
            asked = scope.get("method", "GET"), scope["path"]
            found = self._judge(bearers, lambda: needs(*asked))
            if not isinstance(found, Turned):
                return await app({**scope, CLAIMS: found.claims}, receive, send)
            return await _answer(found, scope["type"], send)

        return _guarded

    def wsgi(self, app: WsgiApp, needs: Needs) -> WsgiApp:
        """The WSGI application behind this guard."""

        def guarded(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
            given = environ.get("HTTP_AUTHORIZATION")
            asked = environ["REQUEST_METHOD"], environ.get("PATH_INFO", "")
            found = self._judge([] if given is None else [given], lambda: needs(*asked))
            if isinstance(found, Turned):
                start(f"{found.status} {found.code}", found.headers)
                return [found.body]
            return app({**environ, CLAIMS: found.claims}, start)

        return guarded

    def _judge(self, bearers: list[str], use: Callable[[], Use]) -> Accepted | Turned:
        if len(bearers) != 1 or bearers[0][: len(_SCHEME)].lower() != _SCHEME:
            return Turned(401, "unauthenticated", "one bearer token of a lease is needed")
        try:
            found = self.check(bearers[0][len(_SCHEME) :], use())
        except InvalidValue:  # the path spells what no resource can be
            found = Refused(TokenFault.WRONG_RESOURCE)
        if isinstance(found, Refused):
            fault = found.fault.value
            return Turned(403, "forbidden", f"the token is not accepted: {fault}", fault)
        return found


async def _answer(turned: Turned, kind: str, send: Send) -> None:
    if kind != "http":
        reason = turned.fault or turned.code
        await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": reason})
        return
    headers = [(name.encode(), value.encode()) for name, value in turned.headers]
    await send({"type": "http.response.start", "status": turned.status, "headers": headers})
    await send({"type": "http.response.body", "body": turned.body})
