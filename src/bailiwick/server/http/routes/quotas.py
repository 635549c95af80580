"""Routes for quotas: how much of each resource a tenant or project may hold at once."""

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
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here, spell_done
from bailiwick.server.http.params import IfMatchDigest, PathName, digest_in
from bailiwick.services import quotas
from bailiwick.wire import fleet as wire
from bailiwick.wire.answers import Done


@answers("tenant_quota.read")
async def read_tenant_quota(
    asked: Here, tenant: PathName, *, response: Response
) -> wire.QuotaState:
    """What a tenant is allowed, and how that stands; the ``ETag`` is of what was set."""
    return await _read(asked, Scope(tenant), response=response)


@answers("project_quota.read")
async def read_project_quota(
    asked: Here, tenant: PathName, *, project: PathName, response: Response
) -> wire.QuotaState:
    """What a project is allowed, and how that stands; the ``ETag`` is of what was set."""
    return await _read(asked, Scope(tenant, project), response=response)


@answers("tenant_quota.set")
async def set_tenant_quota(
    asked: Changing, tenant: PathName, *, body: wire.Quota, if_match: IfMatchDigest = None
) -> Done:
    """Replace everything that a tenant is allowed."""
    return await _set(asked, Scope(tenant), body=body, seen=digest_in(if_match))


@answers("project_quota.set")
async def set_project_quota(
    asked: Changing,
    tenant: PathName,
    *,
    project: PathName,
    body: wire.Quota,
    if_match: IfMatchDigest = None,
) -> Done:
    """Replace everything that a project is allowed."""
    return await _set(asked, Scope(tenant, project), body=body, seen=digest_in(if_match))


async def _read(asked: Asked, scope: Scope, *, response: Response) -> wire.QuotaState:
    quota, room = await quotas.read(asked, scope)
    response.headers["etag"] = f'"{quota_digest(quota)}"'
    return wire.QuotaState(
        tenant=str(scope.tenant),
        project=scope.project,
        quota=_spell(quota),
        dimensions={word: _room(each) for word, each in room.dimensions.items()},
        generations={
            word: _room(each) for word, each in room.generations.items() if each.used or each.limit
        },
    )


async def _set(asked: Asked, scope: Scope, *, body: wire.Quota, seen: str | None) -> Done:
    return spell_done(await quotas.put(asked, scope, quota=lambda: _quota(body), seen=seen))


def _quota(body: wire.Quota) -> Quota:
    burst = None
    if body.burst is not None:
        told = body.burst
        burst = BurstCredit(told.dimension, told.capacity, told.refill_per_s, told.ceiling)
    return Quota(
        tuple(ResourceLimit(word, limit) for word, limit in body.limits.items()),
        tuple(GpuGenerationQuota(word, count) for word, count in body.gpu_limits.items()),
        burst,
    )


def _spell(quota: Quota) -> wire.Quota:
    burst = None
    if quota.burst is not None:
        held = quota.burst
        burst = wire.Burst(
            dimension=held.dimension,
            capacity=held.capacity,
            refill_per_s=held.refill_per_s,
            ceiling=held.ceiling,
        )
    return wire.Quota(
        limits={each.dimension: each.limit for each in quota.limits},
        gpu_limits={each.generation: each.count for each in quota.gpu_generations},
        burst=burst,
    )


def _room(room: Room) -> wire.Room:
    return wire.Room(limit=room.limit, used=room.used, left=room.left)
