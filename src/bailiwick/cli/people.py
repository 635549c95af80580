"""``bailiwick tenant``, ``project``, ``member``: who pays, for what, and who may do what there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.asking import Ask, noun, path_word, scope_path, verb
from bailiwick.cli.completing import complete_projects, complete_tenants
from bailiwick.cli.output import Columns, draw_details
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.people import Project, Tenant

tenants = noun("Tenants: who pays, and the outer boundary of everything.")
projects = noun("Projects: the parts of a tenant.")
members = noun("Members: which role somebody has over the fleet, a tenant or a project.")

_TenantName = Annotated[
    str, typer.Argument(metavar="TENANT", help="Its name.", autocompletion=complete_tenants)
]
_ProjectName = Annotated[
    str, typer.Argument(metavar="PROJECT", help="Its name.", autocompletion=complete_projects)
]
_DisplayName = Annotated[
    str | None, typer.Option("--display-name", metavar="TEXT", help="What people call it.")
]
_Open = Annotated[
    bool | None, typer.Option("--open/--close", help="Whether it takes new requests.")
]
_Match = Annotated[
    int | None,
    typer.Option(
        "--if-revision", min=1, help="Only if it is still at this revision; else ends with 6."
    ),
]
_Fleet = Annotated[bool, typer.Option("--fleet", help="Over the whole fleet.")]

_TENANTS: Columns[Tenant] = Columns(
    ("tenant", "name for people*", "state", "revision"),
    lambda t: (t.tenant, t.display_name or "-", _state(t.is_open), str(t.revision)),
    lambda t: t.tenant,
    numbers=("revision",),
    empty="no tenant that you may see",
)
_PROJECTS: Columns[Project] = Columns(
    ("tenant", "project", "name for people*", "state", "revision"),
    lambda p: (p.tenant, p.project, p.display_name or "-", _state(p.is_open), str(p.revision)),
    lambda p: p.project,
    numbers=("revision",),
    empty="no project that you may see",
)


def _state(is_open: bool) -> str:
    return "open" if is_open else "closed"


def _draw(found: Tenant | Project, kind: str, name: str) -> None:
    draw_details(
        kind,
        name,
        rows=[
            ("name for people", found.display_name or "-"),
            ("state", _state(found.is_open)),
            ("revision", str(found.revision)),
        ],
    )


def _change_body(display_name: str | None, is_open: bool | None) -> Any:
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.people import ScopeChange

    given: dict[str, Any] = {"display_name": display_name, "is_open": is_open}
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        raise InvalidValue("options", None, "--display-name, --open or --close")
    return make_body(ScopeChange, **given)


# -- tenants ---------------------------------------------------------------------------------


@verb(tenants, "list", lists=True)
def list_tenants(ask: Ask) -> None:
    """The tenants that you may see."""
    from bailiwick.wire.people import Tenant

    ask.list("/v1/tenants", Tenant, columns=_TENANTS)


@verb(tenants, "show")
def show_tenant(ask: Ask, tenant: _TenantName) -> None:
    """One tenant."""
    from bailiwick.wire.people import Tenant

    found = ask.client.read(scope_path(path_word("TENANT", tenant), None), Tenant)
    ask.printer.thing(found, name=found.tenant, draw=lambda: _draw(found, "tenant", found.tenant))


@verb(tenants, "create", changes=True)
def create_tenant(ask: Ask, tenant: _TenantName, *, display_name: _DisplayName = None) -> None:
    """Make a tenant."""
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.people import NewTenant

    body = make_body(NewTenant, tenant=path_word("TENANT", tenant), display_name=display_name or "")
    ask.change("POST", "/v1/tenants", body=body, told=f"tenant {tenant} is there")


@verb(tenants, "change", changes=True)
def change_tenant(
    ask: Ask,
    tenant: _TenantName,
    *,
    display_name: _DisplayName = None,
    is_open: _Open = None,
    if_revision: _Match = None,
) -> None:
    """Rename a tenant for people, or close or open it."""
    if is_open is False:
        ask.confirm(f"Close {tenant}? It takes no new requests until it is opened.")
    ask.change(
        "PATCH",
        scope_path(path_word("TENANT", tenant), None),
        body=_change_body(display_name, is_open),
        etag=None if if_revision is None else f'"{if_revision}"',
        told=f"tenant {tenant} is changed",
    )


# -- projects --------------------------------------------------------------------------------


@verb(projects, "list", lists=True, scope="tenant")
def list_projects(ask: Ask) -> None:
    """The projects of a tenant that you may see."""
    from bailiwick.wire.people import Project

    ask.list(f"/v1/tenants/{ask.tenant}/projects", Project, columns=_PROJECTS)


@verb(projects, "show", scope="tenant")
def show_project(ask: Ask, project: _ProjectName) -> None:
    """One project."""
    from bailiwick.wire.people import Project

    path = scope_path(ask.tenant, path_word("PROJECT", project))
    found = ask.client.read(path, Project)
    name = f"{found.tenant}/{found.project}"
    ask.printer.thing(found, name=found.project, draw=lambda: _draw(found, "project", name))


@verb(projects, "create", changes=True, scope="tenant")
def create_project(ask: Ask, project: _ProjectName, *, display_name: _DisplayName = None) -> None:
    """Make a project of a tenant."""
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.people import NewProject

    body = make_body(
        NewProject, project=path_word("PROJECT", project), display_name=display_name or ""
    )
    told = f"project {ask.tenant}/{project} is there"
    ask.change("POST", f"/v1/tenants/{ask.tenant}/projects", body=body, told=told)


@verb(projects, "change", changes=True, scope="tenant")
def change_project(
    ask: Ask,
    project: _ProjectName,
    *,
    display_name: _DisplayName = None,
    is_open: _Open = None,
    if_revision: _Match = None,
) -> None:
    """Rename a project for people, or close or open it."""
    if is_open is False:
        ask.confirm(f"Close {ask.tenant}/{project}? It takes no new requests until it is opened.")
    ask.change(
        "PATCH",
        scope_path(ask.tenant, path_word("PROJECT", project)),
        body=_change_body(display_name, is_open),
        etag=None if if_revision is None else f'"{if_revision}"',
        told=f"project {ask.tenant}/{project} is changed",
    )


# -- members ---------------------------------------------------------------------------------


def _where(ask: Ask, fleet: bool) -> tuple[str, str]:
    """The path of the members, and where that is for people."""
    if fleet:
        return "/v1/members", "the fleet"
    return f"{ask.scope_path}/members", ask.scope_name


@verb(members, "list", lists=True, scope="project")
def list_members(ask: Ask, *, fleet: _Fleet = False) -> None:
    """Who has which role there (the session's tenant, or as the options say)."""
    from bailiwick.wire.people import Member

    path, where = _where(ask, fleet)
    columns: Columns[Member] = Columns(
        ("member*", "role", "at"),
        lambda m: (m.member, m.role, where),
        lambda m: m.member,
        empty="nobody has a role there",
    )
    ask.list(path, Member, columns=columns)


@verb(members, "set", changes=True, scope="project")
def set_member(
    ask: Ask,
    member: Annotated[str, typer.Argument(metavar="PRINCIPAL", help="Who.")],
    *,
    role: Annotated[
        str,
        typer.Argument(
            metavar="ROLE",
            help="tenant_admin, tenant_auditor; project_admin, project_member, project_viewer; "
            "fleet_admin, fleet_operator, fleet_auditor, node_agent.",
        ),
    ],
    fleet: _Fleet = False,
) -> None:
    """Give somebody a role there; what role they had there is replaced."""
    _set_member(ask, member, fleet=fleet, role=role)


@verb(members, "remove", changes=True, scope="project")
def remove_member(
    ask: Ask,
    member: Annotated[str, typer.Argument(metavar="PRINCIPAL", help="Who.")],
    *,
    fleet: _Fleet = False,
) -> None:
    """Take somebody's role there away."""
    _set_member(ask, member, fleet=fleet, role=None)


def _set_member(ask: Ask, member: str, *, fleet: bool, role: str | None) -> None:
    from typing import get_args

    from bailiwick.client.bodies import make_body
    from bailiwick.wire.people import MemberChange
    from bailiwick.wire.words import RoleWord

    words = get_args(RoleWord)
    if role is not None and role not in words:
        raise InvalidValue("ROLE", role, "one of " + ", ".join(words))
    if role is not None and not fleet:
        level = role.partition("_")[0]
        if level == "project" and ask.typed_project is None:
            raise InvalidValue("ROLE", role, "a role of a tenant, or --project NAME beside it")
        if level in ("fleet", "node"):
            raise InvalidValue("ROLE", role, "a role of a tenant or project, or --fleet beside it")
    path, where = _where(ask, fleet)
    body = make_body(MemberChange, member=member, role=role)
    told = f"{member} has no role at {where}" if role is None else f"{member} is {role} at {where}"
    ask.change("PUT", path, body=body, told=told)
