"""Handlers for quotas: one is set for a tenant or project that exists and is open."""

from __future__ import annotations

from typing import Any, cast

from fastapi import Response

from bailiwick.iam import Scope
from bailiwick.kernel.codec import decode_command
from bailiwick.kernel.events import Owner, QuotaChanged
from bailiwick.kernel.precondition import quota_digest
from bailiwick.runtime.replica import View
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here
from bailiwick.server.http.params import (
    IfMatchDigest,
    PathName,
    digest_in,
)
from bailiwick.wire import fleet as wire
from bailiwick.wire.answers import Done

Plain = dict[str, Any]

# -- quotas ----------------------------------------------------------------------------------


@answers("tenant_quota.read")
async def read_tenant_quota(
    asked: Here, tenant: PathName, *, response: Response
) -> wire.QuotaState:
    """What a tenant is allowed, and how that stands; the ``ETag`` is of what was set."""
    return await _read_quota(asked, Scope(tenant), response=response)


@answers("project_quota.read")
async def read_project_quota(
    asked: Here, tenant: PathName, *, project: PathName, response: Response
) -> wire.QuotaState:
    """What a project is allowed, and how that stands; the ``ETag`` is of what was set."""
    return await _read_quota(asked, Scope(tenant, project), response=response)


@answers("tenant_quota.set")
async def set_tenant_quota(
    asked: Changing, tenant: PathName, *, body: wire.Quota, if_match: IfMatchDigest = None
) -> Done:
    """Replace everything that a tenant is allowed."""
    return await _set_quota(asked, Scope(tenant), body=body, seen=digest_in(if_match))


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
    return await _set_quota(asked, Scope(tenant, project), body=body, seen=digest_in(if_match))


async def _read_quota(asked: Asked, scope: Scope, *, response: Response) -> wire.QuotaState:
    asked.require(scope)
    tenant, project = cast(str, scope.tenant), scope.project

    def read(view: View) -> tuple[Any, Any]:
        directory = view.state.directory
        directory.tenant(tenant)
        if project is not None:
            directory.project(tenant, project)
        quotas = view.state.quotas
        return quotas.quota_of(tenant, project), quotas.headroom(tenant, project)

    quota, room = await asked.read(read)
    response.headers["etag"] = f'"{quota_digest(quota)}"'
    body = QuotaChanged(Owner(tenant, project), quota).body()
    names = ("dimension", "capacity", "refill_per_s", "ceiling")
    burst = {name: body[f"burst_{name}"] for name in names} if "burst_dimension" in body else None
    return wire.QuotaState(
        tenant=tenant,
        project=project,
        quota=wire.Quota(
            limits=body["limits"],
            gpu_limits=body.get("gpu_limits", {}),
            burst=None if burst is None else wire.Burst(**burst),
        ),
        dimensions={word: _room(each) for word, each in room.dimensions.items()},
        generations={
            word: _room(each) for word, each in room.generations.items() if each.used or each.limit
        },
    )


async def _set_quota(
    asked: Asked, scope: Scope, *, body: wire.Quota, seen: str | None = None
) -> Done:
    asked.require(scope)
    await asked.read(lambda view: view.state.directory.check_scope(scope))
    quota: Plain = {"limits": {word.value: limit for word, limit in body.limits.items()}}
    if body.gpu_limits:
        quota["gpu_limits"] = {word.value: count for word, count in body.gpu_limits.items()}
    if body.burst is not None:
        quota |= {f"burst_{name}": value for name, value in body.burst.model_dump().items()}
        quota["burst_dimension"] = body.burst.dimension.value
    plain: Plain = {"command": "set_quota", "tenant": scope.tenant, "quota": quota}
    if scope.project is not None:
        plain["project"] = scope.project
    if seen is not None:
        plain["seen"] = seen
    return await asked.do(decode_command(plain))


def _room(room: Any) -> wire.Room:
    return wire.Room(limit=room.limit, used=room.used, left=room.left)
