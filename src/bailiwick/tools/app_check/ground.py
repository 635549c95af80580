"""What a check stands on: an account for the operator, another project, and how both go away again.

Rules:

- Names follow from the app and where it is tried, so that checks do not leave more and more behind:
  what is there from an earlier one is opened again, and closed or disabled at the end.
- What the caller may not make is not tried; that is told, and no failure.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final, TypeVar

from bailiwick.client import Client, ClientError, Refusal
from bailiwick.tools.app_check.foreign import ForeignPlace
from bailiwick.vocab.readiness import ForeignScope
from bailiwick.wire.actions.instances import (
    INSTANCE_CREATE,
    INSTANCE_DELETE,
    INSTANCE_LIST,
    INSTANCE_OPERATION_LIST,
    INSTANCE_READ,
    INSTANCE_REPORT,
)
from bailiwick.wire.actions.tenants import PROJECT_CHANGE, PROJECT_CREATE, PROJECT_MEMBER_SET
from bailiwick.wire.actions.tokens import (
    ACCOUNT_CHANGE,
    ACCOUNT_CREATE,
    SELF_READ,
    TOKEN_ISSUE,
    TOKEN_REVOKE,
)
from bailiwick.wire.instances import InstanceReport, NewInstance
from bailiwick.wire.people import (
    AccountChange,
    MemberChange,
    NewAccount,
    NewProject,
    NewToken,
    ScopeChange,
)

if TYPE_CHECKING:
    from bailiwick.tools.app_check.plan import CheckPlan

T = TypeVar("T")
TOKEN_TTL_S: Final = 4 * 3_600
_POLL_S: Final = 0.5
_MAY_NOT: Final = frozenset((403, 404))


@dataclass(frozen=True, slots=True)
class OperatorLogin:
    """As whom the operator is to act."""

    principal: str
    token: str
    is_account: bool
    """A service account of the project."""
    is_confined: bool
    """It has no role anywhere else."""


def unless_refused(ask: Callable[[], T]) -> T | None:
    """The answer; nothing if the caller may not."""
    try:
        return ask()
    except Refusal as refused:
        if refused.status in _MAY_NOT:
            return None
        raise


def quietly(ask: Callable[[], object]) -> None:
    """Put something away; that it cannot be reached must not hide why the check ended."""
    with suppress(ClientError):
        ask()


def remove(
    client: Client,
    path: dict[str, str | int],
    *,
    account: Callable[[], Client] | None = None,
    timeout_s: float,
) -> None:
    """Delete an instance and wait until it is gone.

    Where its operator does not say that it has seen that, its account does so here.
    """
    until = monotonic() + timeout_s
    with suppress(ClientError):
        client.send(INSTANCE_DELETE, path=path)
        while monotonic() < until:  # bounded by the time
            found, etag = client.send_tagged(INSTANCE_READ, path=path)
            if account is not None and found.observed_generation not in (0, found.generation):
                seen = InstanceReport(observed_generation=found.generation)
                _report(account, path, seen=seen, etag=etag)
            sleep(_POLL_S)


def _report(
    account: Callable[[], Client],
    path: dict[str, str | int],
    *,
    seen: InstanceReport,
    etag: str | None,
) -> None:
    with account() as login, suppress(Refusal):
        login.send(INSTANCE_REPORT, path=path, body=seen, etag=etag)


def read_login(client: Client, token: str, *, plan: CheckPlan) -> OperatorLogin:
    """Who a token is, as the server says."""
    me = client.send(SELF_READ)
    own = (plan.tenant, plan.project)
    is_program = me.kind == "service_account"
    places = {(each.tenant, each.project) for each in me.roles}
    is_account = is_program and own in places
    return OperatorLogin(me.principal, token, is_account, is_account and places == {own})


def make_login(client: Client, plan: CheckPlan, *, cleanup: ExitStack) -> OperatorLogin:
    """A service account of the project with a token that carries what the manifest asks for."""
    told = f"{plan.tenant}/{plan.project}/{plan.app}".encode()
    name = f"check-{sha256(told).hexdigest()[:12]}"
    body = NewAccount(account=name, tenant=plan.tenant, project=plan.project)
    path = {"account": name}
    try:
        client.send(ACCOUNT_CREATE, body=body)
    except Refusal as refused:
        if refused.status != 409:
            raise
        with suppress(Refusal):  # it may be enabled already
            client.send(ACCOUNT_CHANGE, path=path, body=AccountChange(is_enabled=True))
    off = AccountChange(is_enabled=False)
    cleanup.callback(quietly, lambda: client.send(ACCOUNT_CHANGE, path=path, body=off))
    role = MemberChange(member=name, role="project_admin")
    place = {"tenant": plan.tenant, "project": plan.project}
    with suppress(Refusal):  # it may have it already
        client.send(PROJECT_MEMBER_SET, path=place, body=role)
    keys = [each.value for each in plan.manifest.permissions] or ["scheduler.instance.read"]
    wish = NewToken.model_validate(
        {"principal": name, "kind": "service_account", "ttl_s": TOKEN_TTL_S, "keys": keys}
    )
    issued = client.send(TOKEN_ISSUE, body=wish)
    gone = {"token_id": issued.token_id}
    cleanup.callback(quietly, lambda: client.send(TOKEN_REVOKE, path=gone))
    return OperatorLogin(name, issued.token, True, True)


def open_project(client: Client, plan: CheckPlan, *, cleanup: ExitStack) -> str | None:
    """Another project of the tenant, for as long as the check takes; nothing if it may not be."""
    name = f"check-{plan.manifest.app}"
    place = {"tenant": plan.tenant, "project": name}

    def ask() -> str:
        try:
            path = {"tenant": plan.tenant}
            client.send(PROJECT_CREATE, path=path, body=NewProject(project=name))
        except Refusal as refused:
            if refused.status != 409:
                raise
            with suppress(Refusal):  # it may be open already
                client.send(PROJECT_CHANGE, path=place, body=ScopeChange(is_open=True))
        return name

    made = unless_refused(ask)
    if made is not None:
        shut = ScopeChange(is_open=False)
        cleanup.callback(quietly, lambda: client.send(PROJECT_CHANGE, path=place, body=shut))
    return made


def make_foreign(
    client: Client, plan: CheckPlan, *, project: str, cleanup: ExitStack
) -> ForeignPlace | None:
    """An instance in another project, on which the operator's account is to try its luck."""
    place: dict[str, str | int] = {"tenant": plan.tenant, "project": project}
    given = dict(plan.parameters)
    body = NewInstance(name=plan.name, app=plan.app, version=plan.start, parameters=given)
    try:
        number = client.send(INSTANCE_CREATE, path=place, body=body).instance_id
    except Refusal:
        return None
    assert number is not None  # it was no dry run
    path = place | {"instance_id": number}
    cleanup.callback(remove, client, path, timeout_s=plan.timeout_s)
    return _foreign(client, plan, scope=ForeignScope.OTHER_PROJECT, path=path)


def find_foreign(client: Client, plan: CheckPlan) -> ForeignPlace | None:
    """Some instance of the other tenant that was named; nothing if there is none to be seen."""
    if plan.other is None:
        return None
    tenant, project = plan.other
    place: dict[str, str | int] = {"tenant": tenant, "project": project}
    found = unless_refused(lambda: client.send(INSTANCE_LIST, path=place, query={"limit": 1}))
    if found is None or not found.items:
        return None
    path = {**place, "instance_id": found.items[0].instance_id}
    return _foreign(client, plan, scope=ForeignScope.OTHER_TENANT, path=path)


def _foreign(
    client: Client, plan: CheckPlan, *, scope: ForeignScope, path: dict[str, str | int]
) -> ForeignPlace:
    work = client.send(INSTANCE_OPERATION_LIST, path=path, query={"limit": 1}).items
    operation = work[0].operation_id if work else 1
    where = (str(path["tenant"]), str(path["project"]), int(path["instance_id"]))
    return ForeignPlace(scope, *where, operation, plan.app, plan.start)
