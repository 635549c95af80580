"""``bailiwick role``: what each role may do, and roles of your own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.commands.app_entitlement import FleetOption
from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import Columns, draw_details
from bailiwick.cli.shared.scopes import RevisionOption
from bailiwick.vocab.errors import InvalidValue, NotFound
from bailiwick.vocab.permissions import Permission

if TYPE_CHECKING:
    from bailiwick.wire.people import CustomRole

app = noun("Roles: what each may do, and roles of your own.")
_Name = Annotated[str, typer.Argument(metavar="ROLE", help="Its name.")]
_ROLES: Columns[CustomRole] = Columns(
    ("role*", "whose", "at a", "keys", "revision"),
    lambda r: (r.role, _whose(r), r.level, str(len(r.keys)), str(r.revision or "-")),
    lambda r: r.role,
    numbers=("keys", "revision"),
    empty="no role that you may see",
)


def _whose(role: CustomRole) -> str:
    return "the product's" if role.is_builtin else role.tenant or "the fleet's"


@verb(app, "list", lists=True)
def list_roles(ask: Ask) -> None:
    """The roles of the product, of the fleet, and of your tenants.

    Example: bailiwick role list
    """
    from bailiwick.wire.actions.tenants import ROLE_LIST

    ask.list(ROLE_LIST, columns=_ROLES)


@verb(app, "show", scope="tenant")
def show_role(ask: Ask, role: _Name) -> None:
    """What a role may do: every key that it holds.

    Example: bailiwick role show project_member
    """
    from bailiwick.wire.actions.tenants import ROLE_LIST

    found = [each for each in ask.client.pages(ROLE_LIST).items if each.role == role]
    if ask.given.get("tenant"):
        found = [each for each in found if each.tenant in (None, ask.tenant)]
    if not found:
        raise NotFound("role", role, hint="bailiwick role list shows them")
    for each in found:
        rows = [("whose", _whose(each)), ("at a", each.level), *(("", key) for key in each.keys)]
        _draw(ask, each, rows=rows)


def _draw(ask: Ask, role: CustomRole, *, rows: list[tuple[str, str]]) -> None:
    ask.printer.thing(role, name=role.role, draw=lambda: draw_details("role", role.role, rows=rows))


@verb(app, "set", changes=True, scope="tenant")
def set_role(
    ask: Ask,
    role: _Name,
    *,
    keys: Annotated[list[str], typer.Argument(metavar="KEY...", help="What it may do.")],
    level: Annotated[
        str, typer.Option("--at", metavar="LEVEL", help="Given at a project, tenant or fleet.")
    ] = "project",
    fleet: FleetOption = False,
    if_revision: RevisionOption = None,
) -> None:
    """Put a role together, or replace what it holds; at most what you may do yourself.

    Example: bailiwick role set triage scheduler.queue.read scheduler.queue.cancel --tenant lab
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.tenants import ROLE_SET
    from bailiwick.wire.people import RoleChange

    unknown = [key for key in keys if key not in list(Permission)]
    if unknown:
        raise InvalidValue("KEY", unknown[0], "a permission key; role show fleet_admin lists them")
    tenant = None if fleet else ask.tenant
    body = make_body(RoleChange, role=role, tenant=tenant, level=level, keys=keys)
    etag = None if if_revision is None else f'"{if_revision}"'
    ask.change(ROLE_SET, body=body, etag=etag, told=f"{role} holds {len(keys)} keys")


@verb(app, "delete", changes=True, scope="tenant")
def delete_role(
    ask: Ask, role: _Name, *, fleet: FleetOption = False, if_revision: RevisionOption = None
) -> None:
    """Delete a role of your own that nobody has.

    Example: bailiwick role delete triage --tenant lab
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.tenants import ROLE_DELETE
    from bailiwick.wire.people import RoleName

    ask.confirm(f"Delete the role {role}?")
    body = make_body(RoleName, role=role, tenant=None if fleet else ask.tenant)
    etag = None if if_revision is None else f'"{if_revision}"'
    ask.change(ROLE_DELETE, body=body, etag=etag, told=f"{role} is deleted")
