"""Routes for tenants, projects, members and quotas."""

from __future__ import annotations

from fastapi import Response

from bailiwick import iam
from bailiwick.iam import FLEET, Scope
from bailiwick.kernel.precondition import quota_digest
from bailiwick.scheduler.quota_policy import (
    BurstCredit,
    GpuGenerationQuota,
    Quota,
    ResourceLimit,
    Room,
)
from bailiwick.scheduler.rights.ceilings import Ceiling
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here
from bailiwick.server.http.foreseen import spell_quota_change
from bailiwick.server.http.params import (
    IfMatch,
    IfMatchDigest,
    Limit,
    NameCursor,
    PathName,
    digest_in,
    revision_of,
    spell_page,
)
from bailiwick.server.http.spelling import spell_done
from bailiwick.services import tenants
from bailiwick.wire import fleet
from bailiwick.wire import people as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.foreseen import QuotaSet

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


# -- quotas ----------------------------------------------------------------------------------


@answers("tenant_quota.read")
async def read_tenant_quota(
    asked: Here, tenant: PathName, *, response: Response
) -> fleet.QuotaState:
    """What a tenant is allowed, and how that stands; the ``ETag`` is of what was set."""
    return await _read_quota(asked, Scope(tenant), response=response)


@answers("project_quota.read")
async def read_project_quota(
    asked: Here, tenant: PathName, *, project: PathName, response: Response
) -> fleet.QuotaState:
    """What a project is allowed, and how that stands; the ``ETag`` is of what was set."""
    return await _read_quota(asked, Scope(tenant, project), response=response)


@answers("tenant_quota.set")
async def set_tenant_quota(
    asked: Changing, tenant: PathName, *, body: fleet.Quota, if_match: IfMatchDigest = None
) -> QuotaSet:
    """Replace everything that a tenant is allowed."""
    return await _set_quota(asked, Scope(tenant), body=body, seen=digest_in(if_match))


@answers("project_quota.set")
async def set_project_quota(
    asked: Changing,
    tenant: PathName,
    *,
    project: PathName,
    body: fleet.Quota,
    if_match: IfMatchDigest = None,
) -> QuotaSet:
    """Replace everything that a project is allowed."""
    return await _set_quota(asked, Scope(tenant, project), body=body, seen=digest_in(if_match))


async def _read_quota(asked: Asked, scope: Scope, *, response: Response) -> fleet.QuotaState:
    found = await tenants.read_quota(asked, scope)
    quota, room = found.quota, found.headroom
    response.headers["etag"] = f'"{quota_digest(quota)}"'
    return fleet.QuotaState(
        tenant=str(scope.tenant),
        project=scope.project,
        is_default=found.is_default,
        quota=_spell_quota(quota),
        ceiling=_spell_ceiling(found.ceiling),
        dimensions={word: _room(each) for word, each in room.dimensions.items()},
        generations={
            word: _room(each)
            for word, each in room.generations.items()
            if each.used or each.left is not None
        },
    )


async def _set_quota(
    asked: Asked, scope: Scope, *, body: fleet.Quota, seen: str | None
) -> QuotaSet:
    done, found = await tenants.set_quota(asked, scope, quota=lambda: _quota(body), seen=seen)
    consequence = None if found is None else spell_quota_change(found)
    return QuotaSet(answer="done", seq=done.seq, consequence=consequence)


def _quota(body: fleet.Quota) -> Quota:
    burst = None
    if body.burst is not None:
        told = body.burst
        burst = BurstCredit(told.dimension, told.capacity, told.refill_per_s, told.ceiling)
    return Quota(
        tuple(ResourceLimit(word, limit) for word, limit in body.limits.items()),
        tuple(GpuGenerationQuota(word, count) for word, count in body.gpu_limits.items()),
        burst,
        None if body.ceiling is None else _ceiling(body.ceiling),
    )


def _ceiling(body: fleet.Ceiling) -> Ceiling:
    classes = tuple(body.lease_classes)
    return Ceiling(body.priority_max, classes, body.term_max_ms, body.waiting_max)


def _spell_ceiling(ceiling: Ceiling) -> fleet.Ceiling:
    return fleet.Ceiling(
        priority_max=ceiling.priority_max,
        lease_classes=list(ceiling.lease_classes),
        term_max_ms=ceiling.term_max_ms,
        waiting_max=ceiling.waiting_max,
    )


def _spell_quota(quota: Quota) -> fleet.Quota:
    burst = None
    if quota.burst is not None:
        held = quota.burst
        burst = fleet.Burst(
            dimension=held.dimension,
            capacity=held.capacity,
            refill_per_s=held.refill_per_s,
            ceiling=held.ceiling,
        )
    return fleet.Quota(
        limits={each.dimension: each.limit for each in quota.limits},
        gpu_limits={each.generation: each.count for each in quota.gpu_generations},
        burst=burst,
        ceiling=None if quota.ceiling is None else _spell_ceiling(quota.ceiling),
    )


def _room(room: Room) -> fleet.Room:
    return fleet.Room(limit=room.limit, used=room.used, left=room.left)


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
