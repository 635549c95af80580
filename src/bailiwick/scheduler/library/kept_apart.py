"""Policies that are handed in as filters: told the time, and a refusal of theirs told as one.

Rules:

- What a policy closes because of work that runs now, or of what was left behind, opens again: who
  is kept out by that alone waits, and is told the rule that closes most nodes to it.
- What no waiting clears is never told as something to wait for, whatever else is in the way.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bailiwick.scheduler.decision import Approved, Denied, NodesKeptApart
from bailiwick.scheduler.explain import capacity_denial, count_rules
from bailiwick.scheduler.gangs.members import MemberPlaces
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeFilter, PolicyFilter, is_policy, look_at
from bailiwick.scheduler.placement import PlacementScorer
from bailiwick.scheduler.request import PlacementRequest


@dataclass(slots=True)
class PoliciesAsked:
    """The policies among the filters of one scorer."""

    ledger: CapacityLedger
    scorer: PlacementScorer
    found: tuple[PolicyFilter, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.found = tuple(each for each in self.scorer.filters if is_policy(each))

    def look(self, now_ms: int) -> None:
        """What is asked next is asked as of this time."""
        look_at(self.found, now_ms)

    def told(self, request: PlacementRequest, denied: Denied, *, now_ms: int) -> Denied:
        """The denial, told apart by what a policy has to do with it."""
        if not self.found:
            return denied
        lasting = [each.lasting if is_policy(each) else each for each in self.scorer.filters]
        if denied.reason.is_transient:
            never = Denied.because(capacity_denial(self.ledger, request, filters=lasting))
            if not never.reason.is_transient:
                return never
        freely = self._freely(request, lasting, now_ms=now_ms)
        if isinstance(freely, Approved):
            return Denied.because(self._apart(request))
        if not len(self.ledger):
            return freely  # where no node is, no policy closes one
        if denied.reason.is_transient or not freely.reason.is_transient:
            return denied if denied.reason.is_transient else freely
        # Only work that runs now is what a policy keeps it away from.
        return Denied.because(self._apart(request))

    def _freely(
        self, request: PlacementRequest, lasting: list[NodeFilter], *, now_ms: int
    ) -> Approved | Denied:
        """What it would be answered if a policy closed nothing that may open again."""
        old = self.scorer
        scorer = PlacementScorer(old.strategy, weights=old.weights, filters=lasting)
        return MemberPlaces(self.ledger, scorer).choose(request, now_ms=now_ms, keep=False)

    def _apart(self, request: PlacementRequest) -> NodesKeptApart:
        closed = dict(count_rules(self.found, request).told)
        rule = max(closed, key=lambda name: (closed[name], name), default=None)
        return NodesKeptApart(len(self.ledger) if rule is None else closed[rule], rule)
