"""Whether a request, or a longer term, is within the ceilings of its owner.

Rules:

- A project's own ceiling is asked before its tenant's; the first that says no is told.
- In each: priority, lease class, term. Whether one more may wait is asked only of what would wait.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from bailiwick.kernel.state import State
from bailiwick.scheduler.quota_policy import QuotaScope
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.rights.ceilings import Ceiling
from bailiwick.scheduler.rights.denials import (
    LeaseClassForbidden,
    PriorityTooHigh,
    RightsDenied,
    TermTooLong,
    TooManyWaiting,
)
from bailiwick.vocab.words import LEASE_CLASSES, LeaseClass, Priority


def ceilings_of(state: State, scope: QuotaScope) -> Iterator[tuple[QuotaScope, Ceiling]]:
    """The ceilings that bind a scope, its own first."""
    quotas, outer = state.quotas, QuotaScope(scope.tenant)
    own = quotas.quota_of(scope.tenant, scope.project).ceiling if scope.project else None
    if own is not None:
        yield scope, own
    tenants = quotas.quota_of(scope.tenant).ceiling
    yield outer, state.settings.ceiling() if tenants is None else tenants


def ceiling_of(state: State, scope: QuotaScope) -> Ceiling:
    """What a scope may ask for in all: the narrower of its own and those above."""
    found = [most for _, most in ceilings_of(state, scope)]
    return Ceiling(
        min((each.priority_max for each in found), key=lambda priority: priority.rank),
        tuple(kind for kind in LEASE_CLASSES if all(kind in each.lease_classes for each in found)),
        min(each.term_max_ms for each in found),
        min(each.waiting_max for each in found),
    )


def check_asked(state: State, request: PlacementRequest) -> RightsDenied | None:
    """Why the owner may not ask for this, if it may not."""
    scope = QuotaScope(request.tenant, request.project)
    held = request.priority, request.lease_class
    return check_held(state, scope, held=held, ttl_ms=request.ttl_ms)


def check_held(
    state: State, scope: QuotaScope, *, held: tuple[Priority, LeaseClass], ttl_ms: int
) -> PriorityTooHigh | LeaseClassForbidden | TermTooLong | None:
    """Why the owner may not have a lease of this priority and class for a term, if it may not."""
    priority, lease_class = held
    for whose, most in ceilings_of(state, scope):
        if priority.rank > most.priority_max.rank:
            return PriorityTooHigh(priority, most.priority_max, whose)
        if lease_class not in most.lease_classes:
            return LeaseClassForbidden(lease_class, whose)
        if ttl_ms > most.term_max_ms:
            return TermTooLong(ttl_ms, most.term_max_ms, whose)
    return None


def check_waiting(
    state: State,
    request: PlacementRequest,
    *,
    more: Mapping[tuple[str, str | None], int] = MappingProxyType({}),
) -> TooManyWaiting | None:
    """Whether as many of the owner's requests wait as may; ``more`` wait elsewhere."""
    scope = QuotaScope(request.tenant, request.project)
    for whose, most in ceilings_of(state, scope):
        key = whose.tenant, whose.project
        waiting = state.waiting.get(key, 0) + more.get(key, 0)
        if waiting >= most.waiting_max:
            return TooManyWaiting(waiting, most.waiting_max, whose)
    return None
