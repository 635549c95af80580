"""``bailiwick member``: which role somebody has over the fleet, a tenant or a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import Columns
from bailiwick.phrases.times import moment
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.client.http_client import Places
    from bailiwick.wire.people import Member

app = noun("Members: which role somebody has over the fleet, a tenant or a project.")
_KNOWN = (
    *("fleet_admin", "fleet_operator", "fleet_auditor", "node_agent"),
    *("tenant_admin", "tenant_auditor", "project_admin", "project_member", "project_viewer"),
)
_Fleet = Annotated[bool, typer.Option("--fleet", help="Over the whole fleet.")]


def _role(found: Member) -> str:
    """The role, and whether it only can be accepted."""
    if not found.is_offer or found.expires_ms is None:
        return found.role
    return f"{found.role} (offered until {moment(found.expires_ms)})"


def _where(ask: Ask, fleet: bool) -> tuple[Places, str]:
    """Of what the members are, and that for people."""
    return ({}, "the fleet") if fleet else (ask.scope, ask.scope_name)


@verb(app, "list", lists=True, scope="project")
def list_members(ask: Ask, *, fleet: _Fleet = False) -> None:
    """Who has which role there (the session's tenant, or as the options say).

    Example: bailiwick member list --fleet
    """
    from bailiwick.wire.actions import tenants

    action = ask.of_scope(tenants.TENANT_MEMBER_LIST, tenants.PROJECT_MEMBER_LIST)
    path, where = _where(ask, fleet)
    columns: Columns[Member] = Columns(
        ("member*", "role", "at", "is", "home"),
        lambda m: (m.member, _role(m), where, m.kind, m.home),
        lambda m: m.member,
        empty="nobody has a role there",
    )
    ask.list(tenants.FLEET_MEMBER_LIST if fleet else action, path=path, columns=columns)


@verb(app, "set", changes=True, scope="project")
def set_member(
    ask: Ask,
    member: Annotated[str, typer.Argument(metavar="PRINCIPAL", help="Who.")],
    *,
    role: Annotated[
        str,
        typer.Argument(
            metavar="ROLE",
            help="tenant_admin, tenant_auditor; project_admin, project_member, project_viewer; "
            "fleet_admin, fleet_operator, fleet_auditor, node_agent; or one of your own.",
        ),
    ],
    fleet: _Fleet = False,
) -> None:
    """Give somebody a role there; what role they had there is replaced.

    To one who is at home in another tenant it is offered: it counts once he accepts it.

    Example: bailiwick member set eve project_member --tenant lab --project vision
    """
    _set_member(ask, member, fleet=fleet, role=role)


@verb(app, "remove", changes=True, scope="project")
def remove_member(
    ask: Ask,
    member: Annotated[str, typer.Argument(metavar="PRINCIPAL", help="Who.")],
    *,
    fleet: _Fleet = False,
) -> None:
    """Take somebody's role there away, or withdraw one that is only offered.

    Example: bailiwick member remove eve --tenant lab
    """
    _set_member(ask, member, fleet=fleet, role=None)


def _set_member(ask: Ask, member: str, *, fleet: bool, role: str | None) -> None:
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions import tenants
    from bailiwick.wire.people import MemberChange

    if role is not None and role in _KNOWN and not fleet:
        level = role.partition("_")[0]
        if level == "project" and ask.typed_project is None:
            raise InvalidValue("ROLE", role, "a role of a tenant, or --project NAME beside it")
        if level in ("fleet", "node"):
            raise InvalidValue("ROLE", role, "a role of a tenant or project, or --fleet beside it")
    path, where = _where(ask, fleet)
    body = make_body(MemberChange, member=member, role=role)
    by_scope = ask.of_scope(tenants.TENANT_MEMBER_SET, tenants.PROJECT_MEMBER_SET)
    action = tenants.FLEET_MEMBER_SET if fleet else by_scope
    done = ask.client.send(action, path=path, dry_run=ask.dry_run, body=body)
    told = f"{member} has no role at {where}" if role is None else f"{member} is {role} at {where}"
    if done.is_offer and role is not None:
        told = f"{role} at {where} is offered to {member}, who is at home elsewhere: it counts once"
        told += " accepted (bailiwick invitation accept)"
    told += " (dry run: nothing was changed)" if ask.dry_run else ""
    ask.printer.thing(done, name=told, draw=lambda: typer.echo(told))


@verb(app, "home", changes=True, scope="tenant")
def set_home(
    ask: Ask,
    member: Annotated[str, typer.Argument(metavar="PRINCIPAL", help="Who.")],
    *,
    fleet: _Fleet = False,
) -> None:
    """Write down where somebody is at home, and who there looks after his tokens.

    That is for the administrator of the fleet.

    Example: bailiwick member home alice --tenant lab
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.tenants import PRINCIPAL_HOME
    from bailiwick.wire.people import HomeChange

    tenant = None if fleet else ask.tenant
    body = make_body(HomeChange, principal=member, tenant=tenant)
    told = f"{member} is at home in {tenant or 'the fleet'}"
    ask.change(PRINCIPAL_HOME, body=body, told=told)
