"""Quotas: how much of each resource a tenant or project may hold at once.

A quota is set for a tenant or project that exists and is open; it is read for one that ever did.
"""

from __future__ import annotations

from typing import NamedTuple

from bailiwick.iam import Scope
from bailiwick.kernel import Done, SetQuota
from bailiwick.runtime.replica import View
from bailiwick.scheduler.quota_policy import Quota, QuotaHeadroom
from bailiwick.services.caller import Caller, Deferred


class QuotaStanding(NamedTuple):
    """What was set, and how that stands."""

    quota: Quota
    headroom: QuotaHeadroom


async def read(caller: Caller, scope: Scope) -> QuotaStanding:
    """What a tenant or project is allowed, and how that stands."""
    caller.require(scope)
    tenant, project = str(scope.tenant), scope.project

    def standing(view: View) -> QuotaStanding:
        directory, quotas = view.state.directory, view.state.quotas
        directory.tenant(tenant)
        if project is not None:
            directory.project(tenant, project)
        return QuotaStanding(quotas.quota_of(tenant, project), quotas.headroom(tenant, project))

    return await caller.read(standing)


async def put(caller: Caller, scope: Scope, *, quota: Deferred[Quota], seen: str | None) -> Done:
    """Replace everything that a tenant or project is allowed."""
    caller.require(scope)
    await caller.read(lambda view: view.state.directory.check_scope(scope))
    return await caller.change(SetQuota(str(scope.tenant), quota(), scope.project, seen))
