"""Handlers for tenants, projects, members and service accounts.

Rules:

- Every handler asks for its action's key, at the scope that its path or body names, first.
- A list holds the rows that the principal may see one by one, and never tells how many others.
"""

from __future__ import annotations

from fastapi import Response

from bailiwick import iam
from bailiwick.iam import FLEET, NODE_PREFIX, OWN_NAMES, Role, Scope
from bailiwick.kernel.people import commands as cmd
from bailiwick.server.http.asked import Changing, Here
from bailiwick.server.http.params import (
    IfMatch,
    Limit,
    NameCursor,
    PathName,
    page_of,
    revision_of,
    spell_page,
)
from bailiwick.server.problems import hidden
from bailiwick.services.replica import View
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire import people as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page

# -- tenants and projects --------------------------------------------------------------------


async def list_tenants(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Tenant]:
    """The tenants that the caller may see."""
    asked.require_within(FLEET)

    def read(view: View) -> tuple[list[iam.Tenant], str | None]:
        rows = (t for t in view.state.directory.tenants.values() if asked.may(Scope(t.name)))
        return page_of(rows, after=cursor, limit=limit, key=lambda t: t.name)

    return spell_page(await asked.look(read), _tenant)


async def create_tenant(asked: Changing, body: wire.NewTenant) -> Done:
    """Create a tenant; its name stays, ``display_name`` can change later."""
    asked.require(FLEET)
    return await asked.do(cmd.CreateTenant(body.tenant, body.display_name))


async def read_tenant(asked: Here, tenant: PathName, *, response: Response) -> wire.Tenant:
    """One tenant; its revision is the ``ETag``."""
    asked.require(Scope(tenant))
    found = await asked.look(lambda view: view.state.directory.tenants.get(tenant))
    if found is None:
        raise hidden()
    response.headers["etag"] = f'"{found.revision}"'
    return _tenant(found)


async def change_tenant(
    asked: Changing, tenant: PathName, *, body: wire.ScopeChange, if_match: IfMatch = None
) -> Done:
    """Change the name for people, or close or open the tenant."""
    asked.require(Scope(tenant))
    revision = revision_of(if_match)
    return await asked.do(cmd.ChangeTenant(tenant, body.display_name, body.is_open, revision))


async def list_projects(
    asked: Here, tenant: PathName, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Project]:
    """The projects of a tenant that the caller may see."""
    asked.require_within(Scope(tenant))

    def read(view: View) -> tuple[list[iam.Project], str | None]:
        all_of_them = view.state.directory.projects.values()
        rows = (p for p in all_of_them if p.tenant == tenant and asked.may(Scope(tenant, p.name)))
        return page_of(rows, after=cursor, limit=limit, key=lambda p: p.name)

    return spell_page(await asked.look(read), _project)


async def create_project(asked: Changing, tenant: PathName, *, body: wire.NewProject) -> Done:
    """Create a project; its name stays, ``display_name`` can change later."""
    asked.require(Scope(tenant))
    return await asked.do(cmd.CreateProject(tenant, body.project, body.display_name))


async def read_project(
    asked: Here, tenant: PathName, *, project: PathName, response: Response
) -> wire.Project:
    """One project; its revision is the ``ETag``."""
    asked.require(Scope(tenant, project))
    found = await asked.look(lambda view: view.state.directory.projects.get((tenant, project)))
    if found is None:
        raise hidden()
    response.headers["etag"] = f'"{found.revision}"'
    return _project(found)


async def change_project(
    asked: Changing,
    tenant: PathName,
    *,
    project: PathName,
    body: wire.ScopeChange,
    if_match: IfMatch = None,
) -> Done:
    """Change the name for people, or close or open the project."""
    asked.require(Scope(tenant, project))
    revision = revision_of(if_match)
    command = cmd.ChangeProject(tenant, project, body.display_name, body.is_open, revision)
    return await asked.do(command)


# -- members ---------------------------------------------------------------------------------


async def list_fleet_members(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Member]:
    """Who has which role over the whole fleet."""
    return await _members(asked, FLEET, cursor=cursor, limit=limit)


async def list_tenant_members(
    asked: Here, tenant: PathName, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Member]:
    """Who has which role at a tenant."""
    return await _members(asked, Scope(tenant), cursor=cursor, limit=limit)


async def list_project_members(
    asked: Here,
    tenant: PathName,
    *,
    project: PathName,
    cursor: NameCursor = None,
    limit: Limit = 100,
) -> Page[wire.Member]:
    """Who has which role at a project."""
    return await _members(asked, Scope(tenant, project), cursor=cursor, limit=limit)


async def set_fleet_member(asked: Changing, body: wire.MemberChange) -> Done:
    """Give a principal a role over the whole fleet, or take it away."""
    return await _set_member(asked, FLEET, body=body)


async def set_tenant_member(asked: Changing, tenant: PathName, *, body: wire.MemberChange) -> Done:
    """Give a principal a role at a tenant, or take it away."""
    return await _set_member(asked, Scope(tenant), body=body)


async def set_project_member(
    asked: Changing, tenant: PathName, *, project: PathName, body: wire.MemberChange
) -> Done:
    """Give a principal a role at a project, or take it away."""
    return await _set_member(asked, Scope(tenant, project), body=body)


async def _members(
    asked: Here, scope: Scope, *, cursor: str | None, limit: int
) -> Page[wire.Member]:
    asked.require(scope)

    def read(view: View) -> tuple[list[tuple[str, Role]], str | None]:
        rows = view.state.directory.members(scope)
        return page_of(rows, after=cursor, limit=limit, key=lambda row: row[0])

    def spell(row: tuple[str, Role]) -> wire.Member:
        return wire.Member(member=row[0], role=row[1].value)

    return spell_page(await asked.look(read), spell)


async def _set_member(asked: Changing, scope: Scope, *, body: wire.MemberChange) -> Done:
    asked.require(scope)
    role = None if body.role is None else Role(body.role)
    if role is not None and body.member in OWN_NAMES:
        raise InvalidValue("member", body.member, "any name but the server's own")
    if role is not None and scope != FLEET and body.member.startswith(NODE_PREFIX):
        raise InvalidValue("member", body.member, "no node: those have roles over the fleet alone")
    return await asked.do(cmd.SetMember(body.member, role, scope.tenant, scope.project))


# -- service accounts ------------------------------------------------------------------------


async def list_accounts(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.ServiceAccount]:
    """The service accounts that the caller may see."""
    asked.require_within(FLEET)

    def read(view: View) -> tuple[list[iam.ServiceAccount], str | None]:
        rows = (a for a in view.state.directory.accounts.values() if asked.may(a.scope))
        return page_of(rows, after=cursor, limit=limit, key=lambda a: a.name)

    return spell_page(await asked.look(read), _account)


async def create_account(asked: Changing, body: wire.NewAccount) -> Done:
    """Create a service account of a project, a tenant or the whole fleet."""
    scope = Scope.of(body.tenant, body.project)
    asked.require(scope)
    if body.account in OWN_NAMES:
        raise InvalidValue("account", body.account, "any name but the server's own")
    return await asked.do(cmd.CreateAccount(body.account, scope.tenant, scope.project))


async def change_account(asked: Changing, account: PathName, *, body: wire.AccountChange) -> Done:
    """Enable or disable a service account."""
    found = await asked.locate(lambda view: view.state.directory.accounts.get(account))
    asked.require(found.scope)
    return await asked.do(cmd.ChangeAccount(account, body.is_enabled))


def _tenant(found: iam.Tenant) -> wire.Tenant:
    return wire.Tenant(
        tenant=found.name,
        display_name=found.display_name,
        is_open=found.is_open,
        revision=found.revision,
    )


def _project(found: iam.Project) -> wire.Project:
    return wire.Project(
        tenant=found.tenant,
        project=found.name,
        display_name=found.display_name,
        is_open=found.is_open,
        revision=found.revision,
    )


def _account(found: iam.ServiceAccount) -> wire.ServiceAccount:
    tenant, project = found.scope
    return wire.ServiceAccount(
        account=found.name, tenant=tenant, project=project, is_enabled=found.is_enabled
    )
