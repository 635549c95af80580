"""Routes for tenants, projects and members."""

from __future__ import annotations

from fastapi import Response

from bailiwick import iam
from bailiwick.iam import FLEET, Scope
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here
from bailiwick.server.http.params import (
    IfMatch,
    Limit,
    NameCursor,
    PathName,
    revision_of,
    spell_page,
)
from bailiwick.server.http.spelling import spell_done
from bailiwick.services import tenants
from bailiwick.wire import people as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page

# -- tenants and projects --------------------------------------------------------------------


@answers("tenant.list")
async def list_tenants(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Tenant]:
    """The tenants that the caller may see."""
    return spell_page(await tenants.page_tenants(asked, after=cursor, limit=limit), _tenant)


@answers("tenant.create")
async def create_tenant(asked: Changing, body: wire.NewTenant) -> Done:
    """Create a tenant; its name stays, ``display_name`` can change later."""
    done = await tenants.create_tenant(asked, body.tenant, display_name=body.display_name)
    return spell_done(done)


@answers("tenant.read")
async def read_tenant(asked: Here, tenant: PathName, *, response: Response) -> wire.Tenant:
    """One tenant; its revision is the ``ETag``."""
    found = await tenants.read_tenant(asked, tenant)
    response.headers["etag"] = f'"{found.revision}"'
    return _tenant(found)


@answers("tenant.change")
async def change_tenant(
    asked: Changing, tenant: PathName, *, body: wire.ScopeChange, if_match: IfMatch = None
) -> Done:
    """Change the name for people, or close or open the tenant."""
    return spell_done(await tenants.change_tenant(asked, tenant, change=_change(body, if_match)))


@answers("project.list")
async def list_projects(
    asked: Here, tenant: PathName, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Project]:
    """The projects of a tenant that the caller may see."""
    found = await tenants.page_projects(asked, tenant, after=cursor, limit=limit)
    return spell_page(found, _project)


@answers("project.create")
async def create_project(asked: Changing, tenant: PathName, *, body: wire.NewProject) -> Done:
    """Create a project; its name stays, ``display_name`` can change later."""
    name, display_name = body.project, body.display_name
    return spell_done(
        await tenants.create_project(asked, tenant, project=name, display_name=display_name)
    )


@answers("project.read")
async def read_project(
    asked: Here, tenant: PathName, *, project: PathName, response: Response
) -> wire.Project:
    """One project; its revision is the ``ETag``."""
    found = await tenants.read_project(asked, tenant, project=project)
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
    return spell_done(await tenants.change_project(asked, tenant, project=project, change=change))


# -- members ---------------------------------------------------------------------------------


@answers("fleet_member.list")
async def list_fleet_members(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Member]:
    """Who has which role over the whole fleet."""
    return spell_page(await tenants.page_members(asked, FLEET, after=cursor, limit=limit), _member)


@answers("tenant_member.list")
async def list_tenant_members(
    asked: Here, tenant: PathName, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Member]:
    """Who has which role at a tenant."""
    found = await tenants.page_members(asked, Scope(tenant), after=cursor, limit=limit)
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
    found = await tenants.page_members(asked, Scope(tenant, project), after=cursor, limit=limit)
    return spell_page(found, _member)


@answers("fleet_member.set")
async def set_fleet_member(asked: Changing, body: wire.MemberChange) -> wire.MemberSet:
    """Give a principal a role over the whole fleet, or take it away."""
    return await _set_member(asked, FLEET, body=body)


@answers("tenant_member.set")
async def set_tenant_member(
    asked: Changing, tenant: PathName, *, body: wire.MemberChange
) -> wire.MemberSet:
    """Give a principal a role at a tenant, or take it away."""
    return await _set_member(asked, Scope(tenant), body=body)


@answers("project_member.set")
async def set_project_member(
    asked: Changing, tenant: PathName, *, project: PathName, body: wire.MemberChange
) -> wire.MemberSet:
    """Give a principal a role at a project, or take it away."""
    return await _set_member(asked, Scope(tenant, project), body=body)


async def _set_member(asked: Asked, scope: Scope, *, body: wire.MemberChange) -> wire.MemberSet:
    found = await tenants.set_member(asked, scope, member=body.member, role=body.role)
    return wire.MemberSet(answer="done", seq=found.done.seq, is_offer=found.is_offer)


# -- spelling --------------------------------------------------------------------------------


def _change(body: wire.ScopeChange, if_match: str | None) -> tenants.ScopeChange:
    return tenants.ScopeChange(body.display_name, body.is_open, revision_of(if_match))


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


def _member(found: tenants.Membership) -> wire.Member:
    return wire.Member(
        member=found.member,
        role=found.role,
        kind=found.kind.value,
        home=found.home,
        is_offer=found.expires_ms is not None,
        expires_ms=found.expires_ms,
    )
