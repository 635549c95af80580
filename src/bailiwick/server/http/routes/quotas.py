"""Routes for quotas and fair shares: what a tenant or project may hold, and what it weighs."""

from __future__ import annotations

from fastapi import Response

from bailiwick.iam import Scope
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
from bailiwick.server.http.foreseen import spell_quota_change, spell_rebalance
from bailiwick.server.http.params import (
    IfMatchDigest,
    Limit,
    OfTenant,
    PathName,
    RowCursor,
    digest_in,
    spell_page,
)
from bailiwick.server.http.spelling import spell_done
from bailiwick.services import quotas
from bailiwick.wire import fleet
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.foreseen import QuotaRebalanced, QuotaSet


@answers("quota.list")
async def list_quotas(
    asked: Here, *, tenant: OfTenant = None, cursor: RowCursor = None, limit: Limit = 100
) -> Page[fleet.QuotaState]:
    """The quotas of the tenants and projects that the caller may see, and how they stand."""
    found = await quotas.page_quotas(asked, tenant=tenant, after=cursor, limit=limit)
    return spell_page(found, _state)


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


@answers("tenant_quota.rebalance")
async def rebalance_tenant_quota(
    asked: Changing, tenant: PathName, *, body: fleet.Rebalance
) -> QuotaRebalanced:
    """End the cheapest leases that a tenant holds above its quota."""
    return await _rebalance(asked, Scope(tenant), body=body)


@answers("project_quota.rebalance")
async def rebalance_project_quota(
    asked: Changing, tenant: PathName, *, project: PathName, body: fleet.Rebalance
) -> QuotaRebalanced:
    """End the cheapest leases that a project holds above its quota."""
    return await _rebalance(asked, Scope(tenant, project), body=body)


async def _rebalance(asked: Asked, scope: Scope, *, body: fleet.Rebalance) -> QuotaRebalanced:
    done, found = await quotas.rebalance_quota(asked, scope, grace_ms=body.grace_ms)
    consequence = None if found is None else spell_rebalance(found)
    return QuotaRebalanced(answer="done", seq=done.seq, consequence=consequence)


async def _read_quota(asked: Asked, scope: Scope, *, response: Response) -> fleet.QuotaState:
    found = await quotas.read_quota(asked, scope)
    response.headers["etag"] = f'"{quota_digest(found.quota)}"'
    return _state(found)


def _state(found: quotas.QuotaStanding) -> fleet.QuotaState:
    room = found.headroom
    return fleet.QuotaState(
        tenant=str(found.scope.tenant),
        project=found.scope.project,
        is_default=found.is_default,
        quota=_spell_quota(found.quota),
        ceiling=_spell_ceiling(found.ceiling),
        dimensions={word: _room(each) for word, each in room.dimensions.items()},
        generations={
            word: _room(each)
            for word, each in room.generations.items()
            if each.used or each.left is not None
        },
        burst_left=found.burst_left,
    )


async def _set_quota(
    asked: Asked, scope: Scope, *, body: fleet.Quota, seen: str | None
) -> QuotaSet:
    done, found = await quotas.set_quota(asked, scope, quota=lambda: _quota(body), seen=seen)
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


# -- fair shares -----------------------------------------------------------------------------


@answers("share.list")
async def list_shares(
    asked: Here, *, tenant: OfTenant = None, cursor: RowCursor = None, limit: Limit = 100
) -> Page[fleet.ShareState]:
    """The fair shares of the tenants and projects that the caller may see."""
    found = await quotas.page_shares(asked, tenant=tenant, after=cursor, limit=limit)
    return spell_page(found, _share)


@answers("tenant_share.read")
async def read_tenant_share(asked: Here, tenant: PathName) -> fleet.ShareState:
    """What a tenant weighs among tenants, and what it used of late."""
    return _share(await quotas.read_share(asked, Scope(tenant)))


@answers("project_share.read")
async def read_project_share(
    asked: Here, tenant: PathName, *, project: PathName
) -> fleet.ShareState:
    """What a project weighs among its tenant's, and what it used of late."""
    return _share(await quotas.read_share(asked, Scope(tenant, project)))


@answers("tenant_share.set")
async def set_tenant_share(asked: Changing, tenant: PathName, *, body: fleet.NewShare) -> Done:
    """Weigh a tenant among tenants; the order of the queue follows at once."""
    return spell_done(await quotas.set_share(asked, Scope(tenant), share=body.share))


@answers("project_share.set")
async def set_project_share(
    asked: Changing, tenant: PathName, *, project: PathName, body: fleet.NewShare
) -> Done:
    """Weigh a project among its tenant's; against other tenants that changes nothing."""
    return spell_done(await quotas.set_share(asked, Scope(tenant, project), share=body.share))


def _share(found: quotas.ShareStanding) -> fleet.ShareState:
    return fleet.ShareState(
        tenant=str(found.scope.tenant),
        project=found.scope.project,
        share=found.share,
        is_default=found.is_default,
        usage_gpu_milli_ms=str(found.usage),
        usage_per_share=str(found.usage // found.share),
    )
