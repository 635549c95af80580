"""What may stand between a request and a node: policies, and claims.

Rules:

- A policy holds for everybody, always: for who is first or last in the line, for who has a claim,
  for each member of a gang, in room that victims leave, and beside a reservation.
- A claim keeps the room that victims leave for one entry. It binds everybody but its claimant.
- What a policy forbids for ever is never told as something to wait for, whatever else is in the
  way. What only a claim, or work that runs now, keeps out is never told that it can never run.
- Guards learn what happens from ``apply`` alone: of grants, of ends, and of nodes that come and go.
  Asking changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bailiwick.kernel.owner import Owner
from bailiwick.kernel.settings import Settings
from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.decision import AdmissionDecision, Approved, Denied, HeadroomKept
from bailiwick.scheduler.explain import capacity_denial
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import GangFilter, NodeFilter, NodeSet
from bailiwick.scheduler.placement import PlacementScorer
from bailiwick.scheduler.quota_rows import demand_of
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.words import RESOURCE_KINDS


class PolicyGuard(GangFilter, Protocol):
    """A hard rule about where work may run, which knows what runs where."""

    def nodes_for(
        self, request: PlacementRequest, *, without: Collection[int] = ()
    ) -> NodeSet | None:
        """Where the request may run now, if these leases were gone; ``None`` for everywhere."""

    def nodes_ever(self, request: PlacementRequest) -> NodeSet | None:
        """Where it might run if nothing else did. None at all: it can never be placed whole."""

    def granted(self, lease_id: int, owner: Owner, *, node: str) -> None:
        """A lease began."""

    def ended(self, lease_id: int) -> None:
        """What a lease held is free."""

    def fleet_changed(self) -> None:
        """A node came or went."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Room that is being made for one entry: who leaves, from where, and how deep the cascade is.

    Until the entry starts, nobody else is placed on those nodes.
    """

    victims: tuple[int, ...]
    nodes: tuple[str, ...]
    depth: int


class KeptOff:
    """A node filter that keeps everybody off some nodes."""

    def __init__(self, ledger: CapacityLedger, names: Iterable[str] = ()) -> None:
        self._ledger = ledger
        self.put(names)

    def put(self, names: Iterable[str]) -> None:
        """The nodes to keep off from now on; those that are gone keep nobody off."""
        closed = [self._ledger.handle_of(name) for name in names if name in self._ledger]
        self._allowed: NodeSet | None = None
        if closed:
            allowed = NodeSet()
            allowed.bits = bytearray(b"\xff" * (len(self._ledger.by_handle) // 8 + 1))
            for handle in closed:
                allowed.discard(handle)
            self._allowed = allowed

    def nodes_for(self, request: PlacementRequest) -> NodeSet | None:
        """All other nodes."""
        del request
        return self._allowed


@dataclass(frozen=True, slots=True)
class _Lasting:
    """The part of a policy that no waiting clears."""

    policy: PolicyGuard

    def nodes_for(self, request: PlacementRequest) -> NodeSet | None:
        """Where the policy might ever let the request run."""
        return self.policy.nodes_ever(request)


class GuardedAdmission(AdmissionController):
    """Admission behind guards, which tells what passes from what does not."""

    lasting: tuple[NodeFilter, ...] = ()
    """The policies, as far as no waiting clears them."""

    def evaluate(self, request: PlacementRequest, *, now_ms: int = 0) -> AdmissionDecision:
        """What the request may have of what the guards leave."""
        decision = super().evaluate(request, now_ms=now_ms)
        if isinstance(decision, Approved):
            return decision
        if decision.reason.is_transient:
            return self._never(request) or decision
        old = self.scorer
        scorer = PlacementScorer(old.strategy, weights=old.weights, filters=self.lasting)
        alone = AdmissionController(self.ledger, scorer=scorer, headroom=self.headroom)
        freely = alone.evaluate(request, now_ms=now_ms)
        if isinstance(freely, Denied):
            return freely
        rows = zip(RESOURCE_KINDS, self.ledger.free.as_tuple(), demand_of(request), strict=False)
        kind, free, wanted = [row for row in rows if row[2]][-1]
        return Denied.because(HeadroomKept(kind, free, free, wanted))

    def _never(self, request: PlacementRequest) -> Denied | None:
        """What forbids the request for ever, though something that passes was met first."""
        if not self.lasting:
            return None
        found = Denied.because(capacity_denial(self.ledger, request, filters=self.lasting))
        return None if found.reason.is_transient else found


class Guards:
    """All guards of one state, and the admissions behind them."""

    def __init__(self, ledger: CapacityLedger, settings: Settings) -> None:
        self.policies: tuple[PolicyGuard, ...] = ()
        self.claims: dict[int, Claim] = {}
        self._ledger, self._claimed = ledger, KeptOff(ledger)
        self._lasting: tuple[NodeFilter, ...] = ()
        self.use_settings(settings)

    def add(self, policy: PolicyGuard) -> None:
        """One more policy, which has been told of everything so far."""
        self.policies = (*self.policies, policy)
        self._lasting = tuple(_Lasting(each) for each in self.policies)
        self.use_settings(self._settings)

    def use_settings(self, settings: Settings) -> None:
        """Place by these settings from now on."""
        self._settings = settings
        self.admission = self._behind(self._claimed)
        """For everybody who has no claim."""
        self._unclaimed = self._behind()

    def _behind(self, *claims: KeptOff) -> GuardedAdmission:
        how = self._settings
        scorer = PlacementScorer(
            how.strategy, weights=how.score_weights(), filters=(*self.policies, *claims)
        )
        admission = GuardedAdmission(self._ledger, scorer=scorer, headroom=how.kept())
        admission.lasting = self._lasting
        return admission

    # -- asking ------------------------------------------------------------------------------

    def unclaimed(self) -> GuardedAdmission:
        """What anybody might have if there were no claims."""
        return self._unclaimed

    def admission_for(self, entry: QueueEntry) -> GuardedAdmission:
        """For an entry: its own claim does not bind it, that of any other does."""
        if entry.id not in self.claims:
            return self.admission
        others = {i: claim for i, claim in self.claims.items() if i != entry.id}
        if not others:
            return self._unclaimed
        return self._behind(KeptOff(self._ledger, _nodes_of(others)))

    def room_filters(
        self, request: PlacementRequest, *, shunned: Collection[str] = ()
    ) -> tuple[NodeFilter, ...]:
        """Where room for a request may be sought: who leaves it is not in the way of a policy.

        Of a gang it is not known which victims leave room for which member, so what runs now
        counts. Whether one member may have the room that is found, :meth:`permits` says; if not,
        that node is ``shunned``.
        """
        if request.gang_size > 1:
            return self.admission.scorer.filters
        if not shunned:
            return (*self._lasting, self._claimed)
        return (*self._lasting, self._claimed, KeptOff(self._ledger, shunned))

    def permits(
        self, request: PlacementRequest, node: str, *, without: Collection[int] = ()
    ) -> bool:
        """Whether every policy lets the request run on the node once these leases are gone."""
        handle = self._ledger.handle_of(node)
        found = (policy.nodes_for(request, without=without) for policy in self.policies)
        return all(nodes is None or handle in nodes for nodes in found)

    # -- being told, by ``apply`` ------------------------------------------------------------

    def claim(self, entry_id: int, claim: Claim) -> None:
        """Room is kept for an entry."""
        self.claims[entry_id] = claim
        self._claimed.put(_nodes_of(self.claims))

    def unclaim(self, entry_id: int) -> None:
        """No room is kept for the entry any more."""
        if self.claims.pop(entry_id, None) is not None:
            self._claimed.put(_nodes_of(self.claims))

    def granted(self, lease_ids: Sequence[int], owner: Owner, *, nodes: Sequence[str]) -> None:
        """Leases began, each on its node."""
        for policy in self.policies:
            for lease_id, node in zip(lease_ids, nodes, strict=True):
                policy.granted(lease_id, owner, node=node)

    def ended(self, lease_id: int) -> None:
        """What a lease held is free."""
        for policy in self.policies:
            policy.ended(lease_id)

    def fleet_changed(self) -> None:
        """A node came or went; one that joined is not claimed by anybody."""
        if self.claims:
            self._claimed.put(_nodes_of(self.claims))
        for policy in self.policies:
            policy.fleet_changed()


def _nodes_of(claims: Mapping[int, Claim]) -> set[str]:
    return {node for claim in claims.values() for node in claim.nodes}
