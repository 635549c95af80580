"""What a change of a node's mode, of a quota or of a budget would do; asked in its dry run.

Rules:

- The kernel's own code tells it: on the state, where looking is enough (who would have to go from a
  node), or on a copy, on which the change is really done (who would start, or be held).
- Of a lease that the caller may not read its number is not told, nor its tenant's name. Numbers of
  waiting requests and leases of his own tenant are told to who may read those.
- Where no copy can be had (:mod:`bailiwick.runtime.state_copy`) that part is left out; the change
  itself can be made all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from bailiwick.iam import Permission, Scope
from bailiwick.kernel import ChangeMode, RebalanceQuota, RemoveBudget, SetBudget, SetQuota
from bailiwick.kernel.fleet.foresight import LeavingLease, ModeOutlook, foresee_mode
from bailiwick.kernel.fleet.rebalance import RebalanceOutlook, SurplusLease, foresee_rebalance
from bailiwick.runtime.replica import View
from bailiwick.scheduler.quota_policy import QuotaHeadroom, QuotaScope, Room
from bailiwick.services.caller import Caller
from bailiwick.services.decisions import ANOTHER
from bailiwick.vocab.errors import LimitReached, Unavailable
from bailiwick.vocab.words import Dimension, HardwareGeneration
from bailiwick.whatif.budget_trial import BudgetTried, try_budget
from bailiwick.whatif.scope_trial import ScopeTried, Some, try_on_scope
from bailiwick.whatif.trial import StateTrial

T = TypeVar("T")


class ShownLeaving(NamedTuple):
    """A lease that would go, as far as the caller may know of it."""

    lease_id: int | None
    tenant: str
    node: str
    until_ms: int


class ModeForeseen(NamedTuple):
    """What a change of mode would do, and the first of those who would go."""

    outlook: ModeOutlook
    leases: tuple[ShownLeaving, ...]


class LimitMoved(NamedTuple):
    """One limit before and after, what is used of it, and what of that is above the new one."""

    before: int | None
    after: int | None
    used: int
    over: int


@dataclass(frozen=True, slots=True)
class QuotaForeseen:
    """What another quota would do; ``at_once`` is nothing if that could not be tried."""

    limits: dict[Dimension, LimitMoved]
    gpu_limits: dict[HardwareGeneration, LimitMoved]
    at_once: ScopeTried | None


class BudgetForeseen(NamedTuple):
    """What another budget would do, and what the limit is now."""

    tried: BudgetTried
    before_micros: int | None
    currency: str


async def foresee_node(caller: Caller, change: ChangeMode) -> ModeForeseen:
    """What a change of mode would do."""
    found = await caller.read(lambda view: foresee_mode(view.state, change, now_ms=view.now_ms))
    return ModeForeseen(found, tuple(show_leaving(caller, each) for each in found.told))


def show_leaving(caller: Caller, lease: LeavingLease) -> ShownLeaving:
    """A lease that would go, as far as the caller may know of it."""
    seen = caller.holds(Permission.LEASE_READ, Scope(*lease.owner))
    number = lease.lease_id if seen else None
    tenant = str(lease.owner.tenant) if seen else ANOTHER
    return ShownLeaving(number, tenant, lease.node, lease.until_ms)


class RebalanceForeseen(NamedTuple):
    """What bringing a scope back inside its quota would do, and the first of those who would go."""

    outlook: RebalanceOutlook
    leases: tuple[tuple[ShownLeaving, SurplusLease], ...]


async def foresee_quota_rebalance(caller: Caller, change: RebalanceQuota) -> RebalanceForeseen:
    """Who would go to bring a tenant or project back inside its quota."""
    found = await caller.read(
        lambda view: foresee_rebalance(view.state, change, now_ms=view.now_ms)
    )
    rows = ((LeavingLease(e.lease_id, e.owner, e.node, e.until_ms), e) for e in found.told)
    return RebalanceForeseen(found, tuple((show_leaving(caller, row), each) for row, each in rows))


async def foresee_quota(caller: Caller, change: SetQuota) -> QuotaForeseen:
    """What another quota would do."""
    scope = QuotaScope.of(change.tenant, change.project)
    room = await caller.lookup(lambda v: v.state.quotas.headroom(change.tenant, change.project))
    at_once = await _tried(caller, lambda trial: try_on_scope(trial, change, scope=scope))
    told = None if at_once is None else _told(caller, at_once, scope=scope)
    return QuotaForeseen(*_moved(room, change), told)


def _moved(
    room: QuotaHeadroom, change: SetQuota
) -> tuple[dict[Dimension, LimitMoved], dict[HardwareGeneration, LimitMoved]]:
    quota = change.quota
    after = {each.dimension: each.limit for each in quota.limits}
    by_kind = {each.generation: each.count for each in quota.gpu_generations}
    # A table is an allow-list: what it does not name is not allowed at all.
    rest = 0 if by_kind else None
    limits = {word: _move(each, after.get(word)) for word, each in room.dimensions.items()}
    kinds = {word: _move(each, by_kind.get(word, rest)) for word, each in room.generations.items()}
    shown = {g: each for g, each in kinds.items() if each.used or each.before or each.after}
    return {d: each for d, each in limits.items() if {each.before, each.after} != {None}}, shown


def _move(room: Room, after: int | None) -> LimitMoved:
    over = 0 if after is None else max(0, room.used - after)
    return LimitMoved(room.limit, after, room.used, over)


async def foresee_budget(
    caller: Caller, change: SetBudget | RemoveBudget, *, scope: Scope
) -> BudgetForeseen | None:
    """What another budget would do; nothing if that could not be tried."""
    names = QuotaScope.of(str(scope.tenant), scope.project)
    found = await _tried(caller, lambda trial: try_budget(trial, change, scope=names))
    if found is None:
        return None

    def before(view: View) -> tuple[int | None, str]:
        purse = view.state.spending.purses.get((str(scope.tenant), scope.project))
        limit = None if purse is None else purse.budget.limit_micros
        return limit, view.state.spending.book.currency

    told = replace(found, at_once=_told(caller, found.at_once, scope=names))
    return BudgetForeseen(told, *await caller.lookup(before))


def _told(caller: Caller, tried: ScopeTried, *, scope: QuotaScope) -> ScopeTried:
    """The same, without numbers of what the caller may not read."""
    place = Scope(str(scope.tenant), scope.project)
    if not caller.holds(Permission.QUEUE_READ, place):
        hidden = Some(tried.starts.count), Some(tried.hopeless.count)
        tried = replace(tried, starts=hidden[0], hopeless=hidden[1])
    if not caller.holds(Permission.LEASE_READ, place):
        tried = replace(tried, ends=Some(tried.ends.count))
    return tried


async def _tried(caller: Caller, attempt: Callable[[StateTrial], T]) -> T | None:
    try:
        return await caller.copied(lambda data, now_ms: attempt(StateTrial(data, now_ms=now_ms)))
    except (LimitReached, Unavailable):
        return None
