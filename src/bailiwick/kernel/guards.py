"""What may stand between a request and a node: policies, and claims.

Rules:

- A policy holds for everybody, always: for who is first or last in the line, for who has a claim,
  for each member of a gang, in room that victims leave, and beside a reservation.
- A claim keeps of the room that victims leave what one entry needs
  (:mod:`..scheduler.room_holds`): for everybody but its claimant that is not free. Policies take a
  claimant for one who runs in its room already, so that nobody comes beside it with whom it may not
  be.
- What a policy forbids for ever is never told as something to wait for, whatever else is in the
  way. What only a claim, or work that runs now, keeps out is never told that it can never run.
- Guards learn what happens from ``apply`` alone: of grants, of ends, and of nodes that come and go.
  Asking changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from bailiwick.kernel.owner import MEMBERS_MAX, Owner
from bailiwick.kernel.settings import Settings
from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.decision import (
    AdmissionDecision,
    Approved,
    Denied,
    NodesKeptApart,
    RoomClaimed,
)
from bailiwick.scheduler.explain import capacity_denial
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import GangFilter, NodeFilter, NodeSet
from bailiwick.scheduler.placement import PlacementScorer
from bailiwick.scheduler.quota_rows import demand_of
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.reservation import CAPACITY_REASONS
from bailiwick.scheduler.room_holds import RoomHold, Seat
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
        """A lease began, or (below zero) room is kept for one that is to begin."""

    def ended(self, lease_id: int) -> None:
        """What a lease held is free."""

    def fleet_changed(self) -> None:
        """A node came or went."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Room that is being made for one entry: who leaves, the place of each member, how deep the
    cascade is.

    Until the entry starts, nobody else gets what it needs of that room; all else is for anybody.
    """

    victims: tuple[int, ...]
    seats: tuple[Seat, ...]
    depth: int


class _Shunned:
    """A node filter that leaves out some nodes."""

    def __init__(self, ledger: CapacityLedger, names: Iterable[str]) -> None:
        self._allowed = NodeSet()
        self._allowed.bits = bytearray(b"\xff" * (len(ledger.by_handle) // 8 + 1))
        for name in names:
            self._allowed.discard(ledger.handle_of(name))

    def nodes_for(self, request: PlacementRequest) -> NodeSet:
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


@dataclass(frozen=True, slots=True)
class _Without:
    """A policy as if some leases were gone."""

    policy: PolicyGuard
    gone: Collection[int]

    def nodes_for(self, request: PlacementRequest) -> NodeSet | None:
        """Where the request may run with all others."""
        return self.policy.nodes_for(request, without=self.gone)

    def nodes_beside(self, request: PlacementRequest, placed: Sequence[int]) -> NodeSet | None:
        """Where a further member of a gang may run."""
        return self.policy.nodes_beside(request, placed)


class GuardedAdmission(AdmissionController):
    """Admission behind guards, which tells what passes from what does not."""

    lasting: tuple[NodeFilter, ...] = ()
    """The policies, as far as no waiting clears them."""

    def evaluate(self, request: PlacementRequest, *, now_ms: int = 0) -> AdmissionDecision:
        """What the request may have of what the guards leave."""
        decision = super().evaluate(request, now_ms=now_ms)
        if isinstance(decision, Approved):
            return decision
        if decision.reason in CAPACITY_REASONS and len(self.ledger.holds):
            decision = self._claimed(request, now_ms) or decision
        if decision.reason.is_transient:
            return self._never(request) or decision
        if not self.lasting:
            return decision
        old = self.scorer
        scorer = PlacementScorer(old.strategy, weights=old.weights, filters=self.lasting)
        alone = AdmissionController(self.ledger, scorer=scorer, headroom=self.headroom)
        freely = alone.evaluate(request, now_ms=now_ms)
        if isinstance(freely, Denied) and not freely.reason.is_transient:
            return freely
        # Only work that runs now is what a policy keeps it away from.
        return Denied.because(NodesKeptApart(len(self.ledger)))

    def _claimed(self, request: PlacementRequest, now_ms: int) -> Denied | None:
        """The denial, if room that is kept for others is all that is lacking."""
        holds = self.ledger.holds
        free = self.ledger.free.as_tuple()
        with holds.shadow(lifted=holds.numbers(), now_ms=now_ms):
            if isinstance(super().evaluate(request, now_ms=now_ms), Denied):
                return None
            kept = (self.ledger.free.as_tuple()[kind] - free[kind] for kind in range(4))
        wanted = demand_of(request)[:4]
        rows = [r for r in zip(RESOURCE_KINDS, free, kept, wanted, strict=True) if r[2] and r[3]]
        return Denied.because(RoomClaimed(*rows[-1])) if rows else None

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
        self._claimants: dict[int, Owner] = {}
        self._ledger = ledger
        self._lasting: tuple[NodeFilter, ...] = ()
        self.use_settings(settings)

    def add(self, policy: PolicyGuard) -> None:
        """One more policy, which has been told of every lease so far."""
        for entry_id, owner in self._claimants.items():
            self._seat(policy, entry_id, owner)
        self.policies = (*self.policies, policy)
        self._lasting = tuple(_Lasting(each) for each in self.policies)
        self.use_settings(self._settings)

    def use_settings(self, settings: Settings) -> None:
        """Place by these settings from now on."""
        self._settings = settings
        self.admission = self._behind(self.policies)
        """For everybody: what is claimed is not free."""

    def _behind(self, filters: Sequence[NodeFilter]) -> GuardedAdmission:
        how = self._settings
        scorer = PlacementScorer(how.strategy, weights=how.score_weights(), filters=filters)
        admission = GuardedAdmission(self._ledger, scorer=scorer, headroom=how.kept())
        admission.lasting = self._lasting
        return admission

    # -- asking ------------------------------------------------------------------------------

    @contextmanager
    def for_claimant(
        self, entry_id: int, *, now_ms: int, victims_gone: bool = False
    ) -> Iterator[GuardedAdmission]:
        """Who admits one entry: its own claim does not bind it, that of others does.

        ``victims_gone`` looks ahead: as if all who leave for it had left. Burst credit was asked
        for when room was claimed, and has drained since as if the entry ran: any that is left will
        do, or its victims would have gone for nothing.
        """
        holds, quotas = self._ledger.holds, self._ledger.quotas
        lifted = (entry_id,) if entry_id in holds else ()
        gone = holds.victims_of(entry_id) if victims_gone else ()
        with holds.shadow(gone=gone, lifted=lifted, now_ms=now_ms):
            admission = self._without(self.seats_of([entry_id]))
            if quotas is None or not lifted:
                yield admission
                return
            least, quotas.burst_min_run_ms = quotas.burst_min_run_ms, 0
            try:
                yield admission
            finally:
                quotas.burst_min_run_ms = least

    def admission_in_room(
        self,
        request: PlacementRequest,
        *,
        lifted: Collection[int] = (),
        shunned: Collection[str] = (),
    ) -> GuardedAdmission:
        """Who admits to room that others are to leave: they are not in the way of a policy.

        Of a gang it is not known which victims leave room for which member, so what runs now
        counts, but for the claims that are ``lifted``. Whether one member may have the room that is
        found, :meth:`permits` says; if not, that node is ``shunned``.
        """
        if request.gang_size > 1:
            return self._without(self.seats_of(lifted))
        if not self.policies:
            return self.admission
        less = (_Shunned(self._ledger, shunned),) if shunned else ()
        return self._behind((*self._lasting, *less))

    def permits(
        self, request: PlacementRequest, node: str, *, without: Collection[int] = ()
    ) -> bool:
        """Whether every policy lets the request run on the node once these leases are gone."""
        handle = self._ledger.handle_of(node)
        found = (policy.nodes_for(request, without=without) for policy in self.policies)
        return all(nodes is None or handle in nodes for nodes in found)

    def seats_of(self, entry_ids: Iterable[int]) -> tuple[int, ...]:
        """What policies know the members of these claims by: numbers that no lease has."""
        claimed = ((i, self.claims[i].seats) for i in entry_ids if i in self.claims)
        return tuple(_seat_id(i, number) for i, seats in claimed for number in range(len(seats)))

    def _without(self, gone: Collection[int]) -> GuardedAdmission:
        if not self.policies or not gone:
            return self.admission
        return self._behind([_Without(policy, gone) for policy in self.policies])

    # -- being told, by ``apply`` ------------------------------------------------------------

    def claim(self, entry: QueueEntry, claim: Claim, *, gone: Sequence[int], now_ms: int) -> None:
        """Room is kept for an entry; the leases ``gone`` (by the ledger's ids) are to leave it."""
        self.unclaim(entry.id, now_ms=now_ms)
        self.claims[entry.id] = claim
        self._claimants[entry.id] = owner = Owner.of(entry.request)
        for policy in self.policies:
            self._seat(policy, entry.id, owner)
        if claim.seats:
            hold = RoomHold(entry.request, claim.seats, tuple(gone))
            self._ledger.holds.put(entry.id, hold, now_ms=now_ms)

    def unclaim(self, entry_id: int, *, now_ms: int) -> None:
        """No room is kept for the entry any more."""
        if entry_id not in self.claims:
            return
        for policy in self.policies:
            for seat_id in self.seats_of([entry_id]):
                policy.ended(seat_id)
        del self.claims[entry_id], self._claimants[entry_id]
        self._ledger.holds.drop(entry_id, now_ms=now_ms)

    def _seat(self, policy: PolicyGuard, entry_id: int, owner: Owner) -> None:
        for number, seat in enumerate(self.claims[entry_id].seats):
            policy.granted(_seat_id(entry_id, number), owner, node=seat.node)

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
        """A node came or went."""
        for policy in self.policies:
            policy.fleet_changed()


def _seat_id(entry_id: int, number: int) -> int:
    return -(entry_id * MEMBERS_MAX + number) - 1
