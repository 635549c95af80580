"""The application: routes made from the list of actions, behind one door and one edge.

Rules:

- A route with a login exists only as an action, and its principal is known before a byte of its
  body is parsed. A handler that answered without having asked for its key is a fault.
- Without a login there are ``/healthz``, ``/readyz``, ``/openapi.json`` and the login itself.
- Every error, the framework's own among them, is told in the one envelope.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Literal, get_type_hints

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException

from bailiwick.ports import Clock
from bailiwick.server.http import fleet, people, tokens, work
from bailiwick.server.http.actions import ACTIONS
from bailiwick.server.http.asked import AccessDenied, Asked, House, Parts
from bailiwick.server.http.door import Door
from bailiwick.server.http.edge import Bounds, Edge, log_fault, spell_problem
from bailiwick.server.http.looks import Looks
from bailiwick.server.problems import (
    STATUSES,
    Trouble,
    is_fault,
    trouble_of,
    trouble_of_status,
)
from bailiwick.services.authority import Allowance, Authority
from bailiwick.services.runner import Runner
from bailiwick.vocab.errors import (
    BailiwickError,
    ErrorCode,
    InvalidValue,
    InvariantBroken,
    Unavailable,
)
from bailiwick.wire import answers as told
from bailiwick.wire.base import Model
from bailiwick.wire.problem import EdgeCode, Problem

Handle = Callable[[Request], Coroutine[Any, Any, Response]]

HANDLERS: dict[str, Callable[..., Any]] = {
    "tenant.list": people.list_tenants,
    "tenant.create": people.create_tenant,
    "tenant.read": people.read_tenant,
    "tenant.change": people.change_tenant,
    "project.list": people.list_projects,
    "project.create": people.create_project,
    "project.read": people.read_project,
    "project.change": people.change_project,
    "fleet_member.list": people.list_fleet_members,
    "fleet_member.set": people.set_fleet_member,
    "tenant_member.list": people.list_tenant_members,
    "tenant_member.set": people.set_tenant_member,
    "project_member.list": people.list_project_members,
    "project_member.set": people.set_project_member,
    "account.list": people.list_accounts,
    "account.create": people.create_account,
    "account.change": people.change_account,
    "token.list": tokens.list_tokens,
    "token.issue": tokens.issue_token,
    "token.revoke": tokens.revoke_token,
    "tenant_quota.read": fleet.read_tenant_quota,
    "tenant_quota.set": fleet.set_tenant_quota,
    "project_quota.read": fleet.read_project_quota,
    "project_quota.set": fleet.set_project_quota,
    "node.list": fleet.list_nodes,
    "node.register": fleet.register_node,
    "node.depart": fleet.depart_node,
    "node.mode": fleet.change_mode,
    "node.quarantine": fleet.quarantine_node,
    "node.lift": fleet.lift_quarantine,
    "lease.request": work.request_lease,
    "lease.list": work.list_leases,
    "lease.read": work.read_lease,
    "lease.renew": work.renew_lease,
    "lease.release": work.release_lease,
    "lease.checkpoint": work.report_checkpoint,
    "queue.list": work.list_queue,
    "queue.read": work.read_entry,
    "queue.cancel": work.cancel_entry,
    "record.list": work.list_records,
}
"""Who answers each action."""

_LEASE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"model": told.Plan, "description": "What would happen (dry run)"},
    201: {"model": told.Granted, "description": "The request runs"},
    202: {"model": told.Queued, "description": "The request waits"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What may be set about an application."""

    bounds: Bounds = field(default_factory=Bounds)
    guesses: Allowance | None = None
    """How many bad tokens a source may show."""
    notes: Allowance | None = None
    """How many refusals of a source are sealed."""


class Health(Model):
    """Whether the process, or the state behind it, is there."""

    status: Literal["ok"]


class StrictRoute(APIRoute):
    """A route that refuses query parameters which nobody reads: a typo must not pass for a wish."""

    def get_route_handler(self) -> Handle:
        """The framework's own handling, after a look at the query."""
        inner = super().get_route_handler()
        known = _query_names(self.dependant)

        async def strict(request: Request) -> Response:
            for name in request.query_params:
                if name not in known:
                    expected = ", ".join(sorted(known)) or "none"
                    raise InvalidValue("query parameter", name, expected)
            return await inner(request)

        return strict


def _query_names(dependant: Dependant) -> set[str]:
    """The query parameters of a handler and of all it depends on."""
    names, rest = set(), [dependant]
    while rest:  # bounded by the dependencies there are
        each = rest.pop()
        names |= {param.alias for param in each.query_params}
        rest += each.dependencies
    return names


class GuardedRoute(StrictRoute):
    """A route of an action: nobody gets to its handler but a principal."""

    def get_route_handler(self) -> Handle:
        """The framework's own handling, behind the door."""
        inner, action = super().get_route_handler(), ACTIONS[self.name]

        async def guarded(request: Request) -> Response:
            house: House = request.app.state.house
            principal = await house.door.admit(request)
            asked = Asked(action, principal, house, str(request.state.correlation_id))
            request.state.asked = asked
            try:
                response = await inner(request)
            except AccessDenied as denied:
                await house.door.note(request, denied.refusal)
                raise denied.trouble from None
            if not asked.cleared:
                raise InvariantBroken(f"{action.name} asked for no permission")
            return response

        return guarded


def create_app(
    runner: Runner,
    authority: Authority,
    *,
    clock: Clock,
    ids: Callable[[], str],
    terms: Terms | None = None,
    parts: Parts | None = None,
) -> FastAPI:
    """The API of one replica."""
    terms = terms or Terms()
    looks = Looks(runner, wait_s=min(runner.wait_s, terms.bounds.kernel_s))
    door = Door(looks, authority, clock=clock, guesses=terms.guesses, notes=terms.notes)
    app = FastAPI(
        title="Bailiwick",
        version="1",
        docs_url=None,
        redoc_url=None,
        telemetry={"auto_configure": False},
        responses={status: {"model": Problem} for status in STATUSES},
    )
    app.router.route_class = StrictRoute
    app.state.house = House(looks, door, ids, parts or Parts())
    app.add_middleware(Edge, ids=ids, bounds=terms.bounds)
    app.include_router(_action_routes())
    _add_open_routes(app)
    _add_handlers(app)
    return app


def _action_routes() -> APIRouter:
    if HANDLERS.keys() != ACTIONS.keys():
        raise InvariantBroken(f"no handler or no action: {HANDLERS.keys() ^ ACTIONS.keys()}")
    bearer = Depends(HTTPBearer(auto_error=False))  # told in the OpenAPI document; the door decides
    router = APIRouter(route_class=GuardedRoute, dependencies=[bearer])
    for name, action in ACTIONS.items():
        is_request = name == "lease.request"
        router.add_api_route(
            action.path,
            HANDLERS[name],
            methods=[action.method],
            name=name,
            operation_id=name.replace(".", "_"),
            tags=[name.partition(".")[0]],
            status_code=201 if name == "token.issue" else 200,
            responses=_LEASE_RESPONSES if is_request else None,
            response_model=None if is_request else _returned(HANDLERS[name]),
        )
    return router


def _returned(handler: Callable[..., Any]) -> Any:
    return get_type_hints(handler)["return"]


def _add_open_routes(app: FastAPI) -> None:
    async def healthz() -> Health:
        """Whether the process answers."""
        return Health(status="ok")

    async def readyz(request: Request) -> Health:
        """Whether there is a state to answer from."""
        house: House = request.app.state.house
        if not house.looks.is_ready:
            raise Unavailable("the state", "it is being read from the store, or was lost")
        return Health(status="ok")

    app.add_api_route("/healthz", healthz, methods=["GET"], response_model=Health)
    app.add_api_route("/readyz", readyz, methods=["GET"], response_model=Health)
    app.add_api_route(
        "/v1/login", tokens.log_in, methods=["POST"], name="login", operation_id="login"
    )


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
