"""Seeing requests as they pass: a span, a latency and, if it went wrong, a log line for each.

Rules:

- The outermost layer: what the edge refuses is seen too. It changes nothing but one thing: an
  error's envelope names the trace.
- Around every wait for the kernel there is a span; the kernel itself knows nothing of it. However
  the wait ends, it was a wait: one that was given up after ten seconds is what a slow kernel is.
  A replica that only follows refuses at once; that is no decision, and would look like a fast one.
- A request that the leader answers is counted there. The replica that passed it on has its span.
- An app's answer is neither counted nor logged, and no failure: a tenant's app that breaks is no
  fault of the server's, and its traffic would hide one. What the platform answers in its place is.
- Without telemetry nothing here does anything.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bailiwick.runtime.gateway import Watch
from bailiwick.telemetry.telemetry import Telemetry
from bailiwick.telemetry.trace_context import CURRENT, TraceContext
from bailiwick.vocab.errors import NotLeader
from bailiwick.wire.actions.table import ACTIONS, OPEN

OPEN_PATHS: Final = {(row.method, row.path): row.name for row in OPEN.values()} | {
    ("GET", "/openapi.json"): "openapi",
    ("GET", "/metrics"): "metrics.read",
}
_LOG = logging.getLogger("bailiwick.http")


class Observe:
    """The middleware."""

    def __init__(self, app: ASGIApp, *, telemetry: Telemetry | None) -> None:
        self._app, self._telemetry = app, telemetry
        self._running = 0
        if telemetry is not None:
            telemetry.metrics.actions |= {*ACTIONS, *OPEN_PATHS.values()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, and see how it goes."""
        telemetry = self._telemetry
        if telemetry is None or scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        context = TraceContext(scope.setdefault("state", {}))
        span = telemetry.spans.begin("request", context, traceparent=_traceparent(scope))
        status, begun = 0, time.perf_counter()
        self._count(1)

        async def tell(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        token = CURRENT.set(context)
        try:
            await self._app(scope, receive, tell)
        finally:
            taken = time.perf_counter() - begun
            action = context.action or OPEN_PATHS.get((scope["method"], scope["path"]), "other")
            is_ours = not context.is_apps_answer
            span.name, span.is_failed = action, not status or (status >= 500 and is_ours)
            span.set("http.request.method", scope["method"])
            if status:  # else it was cut off, and nobody heard an answer
                span.set("http.response.status_code", status)
                if is_ours and not context.is_passed_on:
                    self._tell(telemetry, action, status, taken=taken)
            span.end()
            self._count(-1)
            CURRENT.reset(token)

    def _count(self, change: int) -> None:
        self._running += change
        if self._telemetry is not None:
            self._telemetry.metrics.set("bailiwick_requests_running", self._running)

    def _tell(self, telemetry: Telemetry, action: str, status: int, *, taken: float) -> None:
        metrics = telemetry.metrics
        metrics.observe("bailiwick_request_seconds", taken, action, f"{status // 100}xx")
        if status < 400:
            return
        metrics.count("bailiwick_request_errors_total", str(status))
        level = logging.ERROR if status >= 500 else logging.INFO
        _LOG.log(level, "%s was answered with %d after %.1f ms", action, status, 1000 * taken)


def _traceparent(scope: Scope) -> str | None:
    found: list[bytes] = [value for key, value in scope["headers"] if key == b"traceparent"]
    return found[0].decode("latin-1") if found else None


def watch_waits(telemetry: Telemetry | None) -> Watch | None:
    """A span and a duration for every wait for the kernel."""
    if telemetry is None:
        return None

    @contextmanager
    def watch(wait: str, command: str | None) -> Iterator[None]:
        begun, is_asked = time.perf_counter(), True
        told = {} if command is None else {"command": command}
        try:
            with telemetry.spans.span(f"kernel.{wait}", **told):
                yield
        except NotLeader:
            is_asked = False
            raise
        finally:
            if is_asked:
                telemetry.metrics.observe(_WAIT, time.perf_counter() - begun, wait)

    return watch


_WAIT: Final = "bailiwick_kernel_wait_seconds"
