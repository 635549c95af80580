"""The application: routes made from the list of actions, behind one door and one edge.

Rules:

- A route with a login exists only as an action, and its principal is known before a byte of its
  body is parsed. A handler that answered without having asked for its key is a fault.
- Without a login there are ``/healthz``, ``/readyz``, ``/openapi.json`` and the logins themselves.
- Every error, the framework's own among them, is told in the one envelope.
- What is no path of the API is the web's: pages for people, from the files that were built.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from fastapi import Depends, FastAPI, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Scope

from bailiwick.ports import Clock
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.runner import Runner
from bailiwick.server.http import document
from bailiwick.server.http.answering import Handler
from bailiwick.server.http.context import Asked, House, Parts
from bailiwick.server.http.door import Door
from bailiwick.server.http.edge import Bounds, Edge, log_fault, spell_problem
from bailiwick.server.http.forward import Forward
from bailiwick.server.http.gauges import GaugeReader
from bailiwick.server.http.observe import Observe, watch_waits
from bailiwick.server.http.routes import HANDLERS, server, watch
from bailiwick.server.http.web import BUILT, WebRoute, load_web
from bailiwick.server.problems import (
    Trouble,
    is_fault,
    trouble_of,
    trouble_of_denial,
    trouble_of_status,
)
from bailiwick.services.authority import Allowance, Authority
from bailiwick.services.caller import AccessDenied
from bailiwick.telemetry.trace_context import note
from bailiwick.vocab.errors import (
    BailiwickError,
    ErrorCode,
    InvalidValue,
    InvariantBroken,
)
from bailiwick.wire.actions.action import Action, Blob, Stream
from bailiwick.wire.actions.table import ACTIONS, OPEN
from bailiwick.wire.problem import EdgeCode

Handle = Callable[[Request], Coroutine[Any, Any, Response]]

_STREAMS: dict[str, str] = {
    "record.watch": "WatchEvent",
    "event.watch": "EventStreamItem",
    "self.watch": "ChangeEvent",
    "isolation.search": "IsolationSearchEvent",
}
"""What each stream is made of, as the contract calls it."""
_BYTES = "application/octet-stream"
_MEDIA: dict[object, str] = {
    str: "text/plain",
    Blob: _BYTES,
    Stream: watch.WatchResponse.media_type,
}
"""What is answered in something else than JSON."""

AGE_HEADER = "x-age-ms"
"""On every read: how many milliseconds old it may be, if a follower answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppTerms:
    """What may be set about an application."""

    bounds: Bounds = field(default_factory=Bounds)
    guesses: Allowance | None = None
    """How many bad tokens a source may show."""
    notes: Allowance | None = None
    """How many refusals of a source are sealed."""
    web: Path = BUILT
    """Where the pages lie that were built."""


class StrictRoute(APIRoute):
    """A route that refuses query parameters which nobody reads, or of which one is read.

    A typo must not pass for a wish, nor one of two wishes for both.
    """

    def get_route_handler(self) -> Handle:
        """The framework's own handling, after a look at the query."""
        inner = super().get_route_handler()
        known = _query_params(self.dependant)

        async def strict(request: Request) -> Response:
            given = Counter(name for name, _ in request.query_params.multi_items())
            for name, count in given.items():
                if name not in known:
                    expected = ", ".join(sorted(known)) or "none"
                    raise InvalidValue("query parameter", name, expected)
                if count > 1 and not known[name]:
                    raise InvalidValue("query parameter", name, "once")
            return await inner(request)

        return strict


def _query_params(dependant: Dependant) -> dict[str, bool]:
    """The query parameters of a handler and of all it depends on: whether each may be repeated."""
    found: dict[str, bool] = {}
    rest = [dependant]
    while rest:  # bounded by the dependencies there are
        each = rest.pop()
        for param in each.query_params:
            told = param.field_info.annotation
            found[param.alias] = any(get_origin(one) is list for one in (told, *get_args(told)))
        rest += each.dependencies
    return found


class GuardedRoute(StrictRoute):
    """A route of an action: nobody gets to its handler but a principal."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a request is for it; most are seen not to be by the length of their path."""
        if scope["type"] == "http":
            more = scope["path"].count("/") - self.path.count("/")
            if more < 0 or (more and not ACTIONS[self.name].passes_on):
                return Match.NONE, {}
        return super().matches(scope)

    def get_route_handler(self) -> Handle:
        """The framework's own handling, behind the door."""
        action = ACTIONS[self.name]
        # The query of what is passed on is the app's: nothing in it is unknown.
        inner = (APIRoute if action.passes_on else StrictRoute).get_route_handler(self)

        async def guarded(request: Request) -> Response:
            house: House = request.app.state.house
            principal = await house.door.admit(request, takes_cookie=not action.passes_on)
            note(principal=principal.name, action=action.name)
            asked = Asked(
                action=action.name,
                asks_for=action.permission,
                principal=principal,
                gateway=house.gateway,
                clock=house.door.clock,
                ids=house.ids,
                correlation_id=str(request.state.correlation_id),
                on_cleared=lambda scope: note(tenant=scope.tenant, project=scope.project),
                house=house,
            )
            request.state.asked = asked
            try:
                response = await inner(request)
            except AccessDenied as denied:
                await house.door.note(request, denied.refusal)
                raise trouble_of_denial(denied) from None
            if not asked.cleared:
                raise InvariantBroken(f"{action.name} asked for no permission")
            if action.method == "GET":
                response.headers[AGE_HEADER] = str(asked.age_ms)
            return response

        return guarded


def create_app(
    runner: Runner,
    authority: Authority,
    *,
    clock: Clock,
    ids: Callable[[], str],
    terms: AppTerms | None = None,
    parts: Parts | None = None,
) -> FastAPI:
    """The API of one replica."""
    terms, parts = terms or AppTerms(), parts or Parts()
    wait_s = min(runner.wait_s, terms.bounds.kernel_s)
    gateway = Gateway(runner, wait_s=wait_s, watch=watch_waits(parts.telemetry))
    door = Door(
        gateway,
        authority,
        clock=clock,
        guesses=terms.guesses,
        notes=terms.notes,
        providers=frozenset(() if parts.logins is None else parts.logins.clients),
    )
    app = document.DocumentedApi(
        **document.INFO,
        docs_url=None,
        redoc_url=None,
        # A slash too many is a wrong path, not a way out of the envelope to wherever Host says.
        redirect_slashes=False,
        # Spans are made in one place, `observe`; the framework's own would say them twice.
        telemetry={"auto_configure": False, "tracing": False, "metrics": False, "logs": False},
        responses=document.ERRORS,
    )
    app.router.route_class = StrictRoute
    app.state.house = House(gateway, door, ids, parts)
    app.state.gauges = GaugeReader(gateway)
    if parts is not None and parts.peers is not None:
        app.add_middleware(Forward, peers=parts.peers)
    app.add_middleware(Edge, ids=ids, bounds=terms.bounds)
    app.add_middleware(Observe, telemetry=parts.telemetry)
    if parts.metrics_open:  # before the action of the same path, which would ask for a token
        app.add_route("/metrics", server.read_metrics_openly, include_in_schema=False)
    _add_routes(app)
    app.router.routes.append(WebRoute(load_web(terms.web)))  # the last: all else was asked first
    _add_handlers(app)
    return app


def _add_routes(app: FastAPI) -> None:
    """A route for every action, as its row says."""
    if HANDLERS.keys() != ACTIONS.keys() | OPEN.keys():
        raise InvariantBroken(f"no handler or no action: {HANDLERS.keys() ^ ACTIONS.keys()}")
    bearer = Depends(document.BEARER)
    for action in ACTIONS.values():
        handler = HANDLERS[action.name]
        # Not by a router of their own: an included router is searched twice for every request.
        app.router.add_api_route(
            action.path.replace("{rest}", "{rest:path}"),
            handler,
            route_class_override=GuardedRoute,
            dependencies=[bearer],
            description=document.description_of(action, handler),
            **_told_of(action, handler),
        )
    for action in OPEN.values():
        handler = HANDLERS[action.name]
        app.router.add_api_route(
            action.path,
            handler,
            # Who sends a browser back here adds to the query what it likes.
            route_class_override=APIRoute if action.takes_any_query else StrictRoute,
            **_told_of(action, handler),
        )


def _told_of(action: Action[Any, Any], handler: Handler) -> dict[str, Any]:
    """What the framework is told of an action; its handler must speak as the row says."""
    hints = get_type_hints(handler)
    if hints.get("body", NoneType) is not action.takes:
        raise InvariantBroken(f"{action.name} takes another body than its row says")
    media = _MEDIA.get(action.answers)
    is_model = media is None and not action.outcomes
    if is_model and hints["return"] is not action.answers:
        raise InvariantBroken(f"{action.name} answers with something else than its row says")
    return {
        "methods": [action.method],
        "name": action.name,
        "operation_id": action.operation_id,
        "summary": action.summary,
        "tags": [action.tag],
        "status_code": action.status,
        "responses": _texts(action, media) if media is not None else _outcomes(action),
        "response_model": action.answers if is_model else None,
        "response_model_exclude_none": action.omits_null,
        # A bare one leaves errors to be the JSON that they are.
        "response_class": JSONResponse if media is None else Response,
    }


def _outcomes(action: Action[Any, Any]) -> dict[int | str, dict[str, Any]] | None:
    """What each status of its own says."""
    found = action.outcomes.items()
    return {status: each._asdict() for status, each in found} or None


def _texts(action: Action[Any, Any], media: str) -> dict[int | str, dict[str, Any]]:
    """What an action answers that answers in something else than JSON."""
    is_stream = media == watch.WatchResponse.media_type
    text = watch.stream_of(_STREAMS[action.name]) if is_stream else {"schema": {"type": "string"}}
    told = "A stream of events" if is_stream else "The text"
    if media == _BYTES:
        text, told = {"schema": {"type": "string", "format": "binary"}}, "The bytes"
    return {200: {"description": told, "content": {media: text}}}


def _add_handlers(app: FastAPI) -> None:
    async def on_error(request: Request, error: Exception) -> Response:
        if is_fault(error):
            log_fault(str(request.state.correlation_id), error)
        return spell_problem(trouble_of(error), str(request.state.correlation_id))

    async def on_invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        found = list(error.errors())[:20]
        fields = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}"[:300] for e in found]
        malformed = any(each["type"] == "json_invalid" for each in found)
        code = EdgeCode.MALFORMED if malformed else ErrorCode.INVALID_VALUE
        trouble = Trouble(code, "the request is not as the contract says", {"errors": fields})
        return spell_problem(trouble, str(request.state.correlation_id))

    async def on_status(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        trouble = trouble_of_status(error.status_code, str(error.detail))
        response = spell_problem(trouble, str(request.state.correlation_id))
        response.headers.update(error.headers or {})
        return response

    app.add_exception_handler(Trouble, on_error)
    app.add_exception_handler(BailiwickError, on_error)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_status)
