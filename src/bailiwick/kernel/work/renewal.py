"""Renewals: whether a lease may be held longer than was agreed.

Rules:

- A renewal is judged like a request for the time it adds: owner, ceilings (priority, class and
  term), the node's state, its next maintenance and its next booking, policy, quota, money, and
  those who wait, in this order. One that adds no time is not judged. Up to a window, or a booking
  of somebody else, the term may grow, and no further; in its owner's booking up to the end of that.
- A node that is closed renews nothing, but where it is only cordoned.
- Policy asks whether it may be beside those who are there for all of that time: a window that opens
  before its end, or an exception that ends before, is in its way.
- A denial is an answer, and is recorded. The lease keeps the term it has.
- Quota asks whether what is held would be allowed anew: who runs above a limit that was lowered
  runs to the end of the term, and no further. Burst credit carries no guaranteed lease, so what
  others of its owner hold on it is not in its way: only what is guaranteed counts there.
- Nobody is put off: if a request of at least the lease's priority would start later than it was
  promised, the renewal is denied, and told the longest term with which it would not. What its own
  tenant waits for does not bind it: there the promise is lost.
- A member of a gang renews alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice

from bailiwick.billing.rates import WHOLE
from bailiwick.kernel.events import Event
from bailiwick.kernel.money.charging import holding_of
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.kernel.views import AHEAD_MAX
from bailiwick.kernel.work.commands import Renew
from bailiwick.kernel.work.lease_events import LeaseRenewed, RenewalDenied
from bailiwick.kernel.work.rights import check_held
from bailiwick.scheduler.backfill.promises import Promise
from bailiwick.scheduler.decision import (
    DenialDetail,
    Denied,
    NodeBooked,
    NodeClosed,
    NodeKeptApart,
    NodeMaintained,
    TermReserved,
)
from bailiwick.scheduler.quota_policy import (
    BudgetExhausted,
    CostCapExceeded,
    QuotaDenied,
    QuotaScope,
    WithinQuota,
)
from bailiwick.scheduler.rights.denials import RightsDenied, ScopeClosed
from bailiwick.scheduler.rights.excess import guaranteed_in
from bailiwick.vocab.errors import Conflict, Stale
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.words import LEASE_CLASSES, PRIORITIES, LeaseClass


def renew(state: State, command: Renew, *, now_ms: int) -> Iterator[Event]:
    """A new term from now, or why not."""
    lease_id, fields = command.lease_id, state.fields(command.lease_id)
    if command.generation is not None and command.generation != fields.generation:
        raise Stale("lease", lease_id, held=command.generation, current=fields.generation)
    phase = state.phase(lease_id)
    if phase is not RevokeState.ACTIVE:
        raise Conflict("lease", lease_id, f"is {phase}, so it cannot be renewed")
    if fields.expires_ms <= now_ms:
        raise Conflict("lease", lease_id, f"expired at {fields.expires_ms}")
    owner, until_ms = state.owner_of(lease_id), now_ms + command.ttl_ms
    denied = None
    if until_ms > fields.expires_ms:
        denied = _Renewal(state, command, now_ms).judged()
    if denied is None:
        yield LeaseRenewed(owner, lease_id, fields.generation + 1, until_ms)
    else:
        yield RenewalDenied(owner, lease_id, command.ttl_ms, Denied.because(denied))


class _Renewal:
    """One renewal that adds time."""

    def __init__(self, state: State, command: Renew, now_ms: int) -> None:
        self.state, self.lease_id, self.now_ms = state, command.lease_id, now_ms
        self.ttl_ms, self.until_ms = command.ttl_ms, now_ms + command.ttl_ms
        self.fields = state.fields(command.lease_id)
        tenant, project = state.owner_of(command.lease_id)
        self.scope = QuotaScope.of(str(tenant), project)

    def judged(self) -> DenialDetail | None:
        """What stands in its way first, if anything does."""
        return (
            self._rights()
            or self._node()
            or self._window()
            or self._booking()
            or self._policy()
            or self._quota()
            or self._money()
            or self._reservation()
        )

    def _rights(self) -> RightsDenied | None:
        directory, (tenant, project) = self.state.directory, (self.scope.tenant, self.scope.project)
        # Where nobody keeps a directory, there is nothing to close.
        home = directory.tenants.get(tenant)
        if home is not None and not home.is_open:
            return ScopeClosed(QuotaScope(tenant))
        part = None if project is None else directory.projects.get((tenant, project))
        if part is not None and not part.is_open:
            return ScopeClosed(self.scope)
        held = PRIORITIES[self.fields.priority], LEASE_CLASSES[self.fields.lease_class]
        return check_held(self.state, self.scope, held=held, ttl_ms=self.ttl_ms)

    def _node(self) -> NodeClosed | None:
        entry = self.state.ledger.entry(self.state.node_of(self.lease_id))
        why = entry.renewal_closed_by
        return None if why is None else NodeClosed(entry.id, why)

    def _window(self) -> NodeMaintained | None:
        node = self.state.node_of(self.lease_id)
        starts_ms = self.state.maintenance.next_start(node)
        if starts_ms is None or self.until_ms <= starts_ms:
            return None
        longest_ms = max(starts_ms - self.now_ms, 0)
        return NodeMaintained(node, self.ttl_ms, longest_ms, starts_ms)

    def _booking(self) -> NodeBooked | None:
        node = self.state.node_of(self.lease_id)
        owner = Owner(self.scope.tenant, self.scope.project)
        until_ms = self.state.bookings.open_until(node, owner)
        if until_ms is None or self.until_ms <= until_ms:
            return None
        return NodeBooked(node, self.ttl_ms, max(until_ms - self.now_ms, 0), until_ms)

    def _policy(self) -> NodeKeptApart | None:
        guards, ttl_ms = self.state.guards, self.ttl_ms
        rule = guards.renewal_breaks(self.lease_id, ttl_ms=ttl_ms, now_ms=self.now_ms)
        node = self.state.node_of(self.lease_id)
        return None if rule is None else NodeKeptApart(node, rule)

    def _quota(self) -> QuotaDenied | None:
        ledger = self.state.ledger
        held = ledger.holds.charged(self.state.handle(self.lease_id))
        is_firm = LEASE_CLASSES[self.fields.lease_class] is LeaseClass.GUARANTEED
        firm = partial(guaranteed_in, ledger) if is_firm else None
        found = self.state.quotas.check_held(self.scope, held, now_ms=self.now_ms, firm=firm)
        return None if isinstance(found, WithinQuota) else found

    def _money(self) -> BudgetExhausted | CostCapExceeded | None:
        spending, now_ms = self.state.spending, self.now_ms
        found = spending.purses_of(self.scope.tenant, self.scope.project)
        purses = [purse for purse in found if purse.budget.is_on(now_ms)]
        if not purses:
            return None
        charges, ends_ms = holding_of(self.state, self.lease_id).charges, self.fields.expires_ms
        for purse in purses:
            spent, limit = spending.spent_micros(purse, now_ms), purse.budget.limit_micros
            if spent >= limit:
                added = spending.cost(purse, charges, from_ms=ends_ms, to_ms=self.until_ms)
                return BudgetExhausted(limit, spent, _up(added), QuotaScope.of(*purse.scope))
        for purse in purses:
            cap = purse.budget.cap_micros
            if cap is None:
                continue
            added = spending.cost(purse, charges, from_ms=ends_ms, to_ms=self.until_ms)
            ahead = spending.projected(purse) + added
            if ahead > cap * WHOLE:
                return CostCapExceeded(cap, _up(ahead), QuotaScope.of(*purse.scope))
        return None

    def _reservation(self) -> TermReserved | None:
        """The room that is kept for somebody else, whom this lease does not come before."""
        node = self.state.node_of(self.lease_id)
        for promise in self.state.line.promises.values():
            request = promise.entry.request
            if request.tenant == self.scope.tenant or request.priority.rank < self.fields.priority:
                continue
            if self.until_ms <= promise.starts_ms or node not in promise.nodes:
                continue
            if self._puts_off(promise):
                longest_ms = max(promise.starts_ms - self.now_ms, 0)
                return TermReserved(self.ttl_ms, longest_ms, promise.starts_ms)
        return None

    def _puts_off(self, promise: Promise) -> bool:
        """Whether who was promised a start would start later by this renewal."""
        state, turn = self.state, self.state.turn(self.now_ms)
        for entry in islice(state.line.order(self.now_ms), AHEAD_MAX):
            if entry.id not in state.claims:
                turn.ask(entry)
        kept = turn.reservation_of(promise.entry)
        if kept is None:
            return False
        later = turn.again(promise.entry, {state.handle(self.lease_id): self.until_ms})
        return later is None or later.at_ms > max(kept.at_ms, promise.starts_ms)


def _up(whole: int) -> int:
    """In micros, rounded up: what does not fit is told above what it does not fit in."""
    return -(-whole // WHOLE)
