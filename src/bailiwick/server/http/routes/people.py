"""Routes for tenants, projects, members and service accounts."""

from __future__ import annotations

from fastapi import Response

from bailiwick import iam
from bailiwick.iam import FLEET, Role, Scope
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here, spell_done
from bailiwick.server.http.params import (
    IfMatch,
    Limit,
    NameCursor,
    PathName,
    revision_of,
    spell_page,
)
from bailiwick.services import people
from bailiwick.wire import people as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page

# -- tenants and projects --------------------------------------------------------------------


@answers("tenant.list")
async def list_tenants(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Tenant]:
    """The tenants that the caller may see."""
    return spell_page(await people.page_tenants(asked, after=cursor, limit=limit), _tenant)


@answers("tenant.create")
async def create_tenant(asked: Changing, body: wire.NewTenant) -> Done:
    """Create a tenant; its name stays, ``display_name`` can change later."""
    done = await people.create_tenant(asked, body.tenant, display_name=body.display_name)
    return spell_done(done)


@answers("tenant.read")
async def read_tenant(asked: Here, tenant: PathName, *, response: Response) -> wire.Tenant:
    """One tenant; its revision is the ``ETag``."""
    found = await people.read_tenant(asked, tenant)
    response.headers["etag"] = f'"{found.revision}"'
    return _tenant(found)


@answers("tenant.change")
async def change_tenant(
    asked: Changing, tenant: PathName, *, body: wire.ScopeChange, if_match: IfMatch = None
) -> Done:
    """Change the name for people, or close or open the tenant."""
    return spell_done(await people.change_tenant(asked, tenant, change=_change(body, if_match)))


@answers("project.list")
async def list_projects(
    asked: Here, tenant: PathName, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Project]:
    """The projects of a tenant that the caller may see."""
    found = await people.page_projects(asked, tenant, after=cursor, limit=limit)
    return spell_page(found, _project)


@answers("project.create")
async def create_project(asked: Changing, tenant: PathName, *, body: wire.NewProject) -> Done:
    """Create a project; its name stays, ``display_name`` can change later."""
    name, display_name = body.project, body.display_name
    return spell_done(
        await people.create_project(asked, tenant, project=name, display_name=display_name)
    )


@answers("project.read")
async def read_project(
    asked: Here, tenant: PathName, *, project: PathName, response: Response
) -> wire.Project:
    """One project; its revision is the ``ETag``."""
    found = await people.read_project(asked, tenant, project=project)
    response.headers["etag"] = f'"{found.revision}"'
    return _project(found)


@answers("project.change")
async def change_project(
    asked: Changing,
    tenant: PathName,
    *,
    project: PathName,
    body: wire.ScopeChange,
    if_match: IfMatch = None,
) -> Done:
    """Change the name for people, or close or open the project."""
    change = _change(body, if_match)
    return spell_done(await people.change_project(asked, tenant, project=project, change=change))


# -- members ---------------------------------------------------------------------------------


@answers("fleet_member.list")
async def list_fleet_members(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Member]:
    """Who has which role over the whole fleet."""
    return spell_page(await people.page_members(asked, FLEET, after=cursor, limit=limit), _member)


@answers("tenant_member.list")
async def list_tenant_members(
    asked: Here, tenant: PathName, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Member]:
    """Who has which role at a tenant."""
    found = await people.page_members(asked, Scope(tenant), after=cursor, limit=limit)
    return spell_page(found, _member)


@answers("project_member.list")
async def list_project_members(
    asked: Here,
    tenant: PathName,
    *,
    project: PathName,
    cursor: NameCursor = None,
    limit: Limit = 100,
) -> Page[wire.Member]:
    """Who has which role at a project."""
    found = await people.page_members(asked, Scope(tenant, project), after=cursor, limit=limit)
    return spell_page(found, _member)


@answers("fleet_member.set")
async def set_fleet_member(asked: Changing, body: wire.MemberChange) -> Done:
    """Give a principal a role over the whole fleet, or take it away."""
    return await _set_member(asked, FLEET, body=body)


@answers("tenant_member.set")
async def set_tenant_member(asked: Changing, tenant: PathName, *, body: wire.MemberChange) -> Done:
    """Give a principal a role at a tenant, or take it away."""
    return await _set_member(asked, Scope(tenant), body=body)


@answers("project_member.set")
async def set_project_member(
    asked: Changing, tenant: PathName, *, project: PathName, body: wire.MemberChange
) -> Done:
    """Give a principal a role at a project, or take it away."""
    return await _set_member(asked, Scope(tenant, project), body=body)


async def _set_member(asked: Asked, scope: Scope, *, body: wire.MemberChange) -> Done:
    role = None if body.role is None else Role(body.role)
    return spell_done(await people.set_member(asked, scope, member=body.member, role=role))


# -- service accounts ------------------------------------------------------------------------


@answers("account.list")
async def list_accounts(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.ServiceAccount]:
    """The service accounts that the caller may see."""
    return spell_page(await people.page_accounts(asked, after=cursor, limit=limit), _account)


@answers("account.create")
async def create_account(asked: Changing, body: wire.NewAccount) -> Done:
    """Create a service account of a project, a tenant or the whole fleet."""
    scope = Scope.of(body.tenant, body.project)
    return spell_done(await people.create_account(asked, body.account, scope=scope))


@answers("account.change")
async def change_account(asked: Changing, account: PathName, *, body: wire.AccountChange) -> Done:
    """Enable or disable a service account."""
    return spell_done(await people.change_account(asked, account, is_enabled=body.is_enabled))


# -- spelling --------------------------------------------------------------------------------


def _change(body: wire.ScopeChange, if_match: str | None) -> people.ScopeChange:
    return people.ScopeChange(body.display_name, body.is_open, revision_of(if_match))


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


def _member(found: people.Membership) -> wire.Member:
    return wire.Member(member=found.member, role=found.role.value)


def _account(found: iam.ServiceAccount) -> wire.ServiceAccount:
    tenant, project = found.scope
    return wire.ServiceAccount(
        account=found.name, tenant=tenant, project=project, is_enabled=found.is_enabled
    )
