"""The outermost layer of a request: its correlation id, its size, its time, and its last resort.

Rules:

- Every request has a correlation id: the caller's ``X-Correlation-Id`` if it is well-formed, else
  a new one. The response bears it.
- A body is bounded, whether its length is announced or not. A request is bounded in time; what it
  had begun may still take effect, which the same idempotency key tells. A stream of events, and
  what an app answers, is bounded until it begins: from then on it lasts as long as both sides want
  it to.
- No answer of the API is a page: a browser neither guesses what it is nor runs, frames or keeps it.
- Whatever nobody caught becomes an envelope that says nothing but that it is our fault, and a log
  line that says everything.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bailiwick.journal.fields import NAME_SHAPE
from bailiwick.server.http.passing import is_passed_on
from bailiwick.server.problems import Trouble, problem_of, trouble_of
from bailiwick.vocab.errors import Unavailable
from bailiwick.wire.actions.action import API
from bailiwick.wire.problem import EdgeCode

HEADER = "x-correlation-id"
GUARDS = {
    b"x-content-type-options": b"nosniff",
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'; sandbox",
    b"cross-origin-resource-policy": b"same-origin",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
}
"""On every answer of the API, which may hold what a tenant wrote; ``cache-control`` by default."""
_LOG = logging.getLogger("bailiwick.http")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much one request may take."""

    body_bytes: int = 1 << 20
    request_s: float = 30.0
    kernel_s: float = 20.0
    """Less than ``request_s``, so that a slow kernel is told as such."""
    passed_bytes: int = 1 << 28
    passed_s: float = 300.0
    """The same, of what is passed on to an app: as it comes, never gathered."""


class Edge:
    """The middleware."""

    def __init__(self, app: ASGIApp, *, ids: Callable[[], str], bounds: Bounds) -> None:
        self._app, self._ids, self._bounds = app, ids, bounds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        correlation_id = _given(scope) or self._ids()
        scope.setdefault("state", {})["correlation_id"] = correlation_id
        begun, bounds = False, self._bounds
        is_passed = is_passed_on(scope["path"])
        most = bounds.passed_bytes if is_passed else bounds.body_bytes

        async def tell(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                if is_passed or _is_stream(message):
                    if limit.expired():
                        raise TimeoutError  # it is being cut already: nothing may begin
                    limit.reschedule(None)
                begun = True
                message["headers"].append((HEADER.encode(), correlation_id.encode()))
                if scope["path"].startswith(API) and not is_passed:
                    _guard(message)
            await send(message)

        limit = asyncio.timeout(bounds.passed_s if is_passed else bounds.request_s)
        try:
            if _announced(scope) > most:
                raise _too_large(most)
            async with limit:
                await self._app(scope, _counted(receive, most), tell)
        except Exception as error:
            found: Exception = error
            if isinstance(error, TimeoutError):
                found = Unavailable("the server", "the request took too long")
            elif not isinstance(error, Trouble):
                log_fault(correlation_id, error)
            if begun:
                raise
            await spell_problem(trouble_of(found), correlation_id)(scope, receive, tell)


def log_fault(correlation_id: str, error: Exception) -> None:
    """Say everything about a fault where operators read."""
    _LOG.error("request %s met a fault", correlation_id, exc_info=error)


def spell_problem(trouble: Trouble, correlation_id: str) -> Response:
    """The response that tells an error."""
    status, problem = problem_of(trouble, correlation_id)
    # ASCII, because what a caller sent may hold what UTF-8 cannot spell.
    body = json.dumps(problem.model_dump(mode="json"), ensure_ascii=True)
    headers = {}
    if trouble.code is EdgeCode.UNAUTHENTICATED:
        headers["www-authenticate"] = "Bearer"
    if trouble.code is EdgeCode.RATE_LIMITED:
        headers["retry-after"] = "60"
    return Response(body, status, headers, media_type="application/json")


def _too_large(most: int) -> Trouble:
    return Trouble(EdgeCode.TOO_LARGE, f"a body has at most {most} bytes")


def _counted(receive: Receive, most: int) -> Receive:
    """The body as it comes in, up to the bound."""
    seen = 0

    async def count() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            # The framework lets only this kind through from where it reads the body.
            raise HTTPException(413, _too_large(most).message)
        return message

    return count


def _guard(start: Message) -> None:
    """Say what a browser must not do with an answer."""
    said = {name.lower() for name, _ in start["headers"]}
    start["headers"] += [pair for pair in GUARDS.items() if pair[0] not in said]


def _is_stream(start: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream")
        for name, value in start["headers"]
    )


def _given(scope: Scope) -> str | None:
    value = _header(scope, HEADER.encode())
    return value if re.fullmatch(NAME_SHAPE, value) else None


def _announced(scope: Scope) -> int:
    value = _header(scope, b"content-length")
    return int(value) if re.fullmatch("[0-9]{1,18}", value) else 0


def _header(scope: Scope, name: bytes) -> str:
    found: list[bytes] = [value for key, value in scope["headers"] if key == name]
    return found[0].decode("latin-1") if found else ""
