"""Quotas and fair shares: how much one may hold at once, what one weighs, and how that stands.

Rules:

- Every use case asks for its action's key first, at the scope that it is about.
- A quota is set for a tenant or project that exists and is open; it is read for one that ever did.
- A tenant's own people set quotas of its projects within the tenant's, and weigh its projects
  against each other. What a tenant is allowed and weighs is the fleet's to say.
- Who may set a quota may have what is held above it ended: nothing within it can go by that.
- A list holds the rows that the principal may see one by one, and never tells how many others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bailiwick.iam import FLEET, GivenBy, Permission, Scope
from bailiwick.kernel import Done, RebalanceQuota, SetQuota, SetShare
from bailiwick.kernel.state import State
from bailiwick.kernel.work.rights import ceiling_of
from bailiwick.runtime.replica import View
from bailiwick.scheduler.burst import BurstBucket
from bailiwick.scheduler.quota_policy import DIMENSIONS, Quota, QuotaHeadroom, QuotaScope
from bailiwick.scheduler.rights.ceilings import Ceiling
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.foreseeing.changes import (
    QuotaForeseen,
    RebalanceForeseen,
    foresee_quota,
    foresee_quota_rebalance,
)
from bailiwick.services.pages import Rows, page_of
from bailiwick.vocab.values import MILLI


class QuotaStanding(NamedTuple):
    """What was set (or is the default), what may be asked for, and how that stands."""

    scope: Scope
    quota: Quota
    is_default: bool
    ceiling: Ceiling
    headroom: QuotaHeadroom
    burst_left: int | None
    """Burst credit now, in unit-seconds; none where there is no burst."""


async def page_quotas(
    caller: Caller, *, tenant: str | None, after: str | None, limit: int
) -> Rows[QuotaStanding]:
    """The quotas of all tenants and projects that the caller may see, a tenant's before its own.

    With ``tenant`` only of that one and its projects.
    """
    caller.require_within(FLEET)

    def read(view: View) -> Rows[QuotaStanding]:
        seen = (scope for scope in scopes_of(view.state, tenant) if caller.may(scope))
        found, more = page_of(seen, after=after, limit=limit, key=scope_key)
        return [_standing(view, scope) for scope in found], more

    return await caller.read(read)


def scopes_of(state: State, tenant: str | None) -> Iterator[Scope]:
    """Every tenant and project that there is, or those of one tenant."""
    directory = state.directory
    yield from (Scope(name) for name in directory.tenants if tenant in (None, name))
    yield from (Scope(*names) for names in directory.projects if tenant in (None, names[0]))


def scope_key(scope: Scope) -> str:
    """What such a list is ordered by, and its pages turned: a tenant, then its projects."""
    return f"{scope.tenant}/{scope.project or ''}"


async def read_quota(caller: Caller, scope: Scope) -> QuotaStanding:
    """What a tenant or project is allowed, and how that stands."""
    caller.require(scope)

    def read(view: View) -> QuotaStanding:
        directory, tenant = view.state.directory, str(scope.tenant)
        directory.tenant(tenant)
        if scope.project is not None:
            directory.project(tenant, scope.project)
        return _standing(view, scope)

    return await caller.lookup(read)


def _standing(view: View, scope: Scope) -> QuotaStanding:
    quotas, tenant, project = view.state.quotas, str(scope.tenant), scope.project
    has_own, left = quotas.has_quota(tenant, project), None
    if has_own:  # without one there is no credit, and perhaps no row to look for it
        row = quotas.row_of(tenant, project)
        left = _credit(quotas.bursts.bucket(row), quotas.table.left_in(row), now_ms=view.now_ms)
    return QuotaStanding(
        scope,
        quotas.quota_of(tenant, project),
        project is None and not has_own,
        ceiling_of(view.state, QuotaScope.of(tenant, project)),
        quotas.headroom(tenant, project),
        left,
    )


def _credit(bucket: BurstBucket | None, left: list[int], *, now_ms: int) -> int | None:
    if bucket is None:
        return None
    above = -left[DIMENSIONS.index(bucket.credit.dimension)]
    return bucket.at(max(now_ms, bucket.settled_ms), excess=above).level // MILLI


async def set_quota(
    caller: Caller, scope: Scope, *, quota: Deferred[Quota], seen: str | None
) -> tuple[Done, QuotaForeseen | None]:
    """Replace everything that a tenant or project is allowed; a dry run tells what follows."""
    caller.require(scope)
    await caller.lookup(lambda view: view.state.directory.check_scope(scope))
    # Who sets the tenant's may set a project's as he likes: what counts is the narrower of both.
    is_fleets = caller.holds(Permission.QUOTA_SET, scope)
    given_by = None if is_fleets else GivenBy.TENANT
    change = SetQuota(str(scope.tenant), quota(), scope.project, seen, given_by)
    done = await caller.change(change)
    return done, await foresee_quota(caller, change) if caller.dry_run else None


async def rebalance_quota(
    caller: Caller, scope: Scope, *, grace_ms: int | None
) -> tuple[Done, RebalanceForeseen | None]:
    """End the cheapest leases that a tenant or project holds above its quota."""
    caller.require(scope)
    await caller.lookup(lambda view: view.state.directory.check_scope(scope))
    change = RebalanceQuota(str(scope.tenant), scope.project, grace_ms)
    done = await caller.change(change)
    return done, await foresee_quota_rebalance(caller, change) if caller.dry_run else None


# -- fair shares -----------------------------------------------------------------------------


class ShareStanding(NamedTuple):
    """What somebody weighs, whether anybody said so, and what was used of late."""

    scope: Scope
    share: int
    is_default: bool
    usage: int
    """Milli-shares of GPUs times milliseconds, as far as they have not faded."""


async def page_shares(
    caller: Caller, *, tenant: str | None, after: str | None, limit: int
) -> Rows[ShareStanding]:
    """The fair shares of all tenants and projects that the caller may see."""
    caller.require_within(FLEET)

    def read(view: View) -> Rows[ShareStanding]:
        seen = (scope for scope in scopes_of(view.state, tenant) if caller.may(scope))
        found, more = page_of(seen, after=after, limit=limit, key=scope_key)
        return [_share(view, scope) for scope in found], more

    return await caller.read(read)


async def read_share(caller: Caller, scope: Scope) -> ShareStanding:
    """What a tenant weighs among tenants, or a project in its tenant, and what it used."""
    caller.require(scope)

    def read(view: View) -> ShareStanding:
        directory, tenant = view.state.directory, str(scope.tenant)
        directory.tenant(tenant)
        if scope.project is not None:
            directory.project(tenant, scope.project)
        return _share(view, scope)

    return await caller.lookup(read)


def _share(view: View, scope: Scope) -> ShareStanding:
    shares, tenant, project = view.state.shares, str(scope.tenant), scope.project
    found = shares.standing(tenant, view.now_ms, project=project)
    is_default = not shares.has_share(tenant, project=project)
    return ShareStanding(scope, found.share, is_default, found.usage)


async def set_share(caller: Caller, scope: Scope, *, share: int) -> Done:
    """Weigh a tenant among tenants, or a project among its tenant's, from now on."""
    caller.require(scope)
    await caller.lookup(lambda view: view.state.directory.check_scope(scope))
    return await caller.change(SetShare(str(scope.tenant), share, scope.project))
