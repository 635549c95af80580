"""What may stand between a request and a node: policies, and claims.

Rules:

- A policy holds for everybody, always: for who is first or last in the line, for who has a claim,
  for each member of a gang, in room that victims leave, and beside a reservation.
- A claim keeps of the room that victims leave what one entry needs
  (:mod:`..scheduler.room_holds`): for everybody but its claimant that is not free. Policies take a
  claimant for one who runs in its room already, so that nobody comes beside it with whom it may not
  be.
- Which cores a claimant gets is not known before it starts, and others may take some meanwhile. So
  room is made only on nodes of which a policy closes the cores of no cache to it.
- What a policy forbids for ever is never told as something to wait for, whatever else is in the
  way. What only a claim, or work that runs now, keeps out is never told that it can never run.
- Guards learn what happens from ``apply`` alone: of grants, of ends, and of nodes that come and go.
  Asking changes nothing; as of when is asked, who asks says first.
- Whom a policy alone keeps out is told so, and which rule closes most nodes to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import NamedTuple, Protocol

from bailiwick.kernel.owner import MEMBERS_MAX, Owner
from bailiwick.kernel.settings import Settings
from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.decision import (
    AdmissionDecision,
    Approved,
    Denied,
    NodesBooked,
    NodesKeptApart,
    NodesMaintained,
    RoomClaimed,
)
from bailiwick.scheduler.explain import capacity_denial
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import (
    ALL_DEVICES,
    GangFilter,
    NodeFilter,
    NodeSet,
    closes_most,
    tells_itself,
    uncut,
)
from bailiwick.scheduler.placement import PlacementScorer
from bailiwick.scheduler.quota_rows import demand_of
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.reservation import CAPACITY_REASONS
from bailiwick.scheduler.rights.excess import guaranteed_in
from bailiwick.scheduler.room_holds import RoomHold, Seat
from bailiwick.vocab.words import RESOURCE_KINDS


class HeldLease(NamedTuple):
    """What a lease is to a policy: whose it is, how its job is labelled, and what it holds."""

    owner: Owner
    job_labels: Mapping[str, str]
    node: str
    devices: int
    """As bits."""
    caches: tuple[int, ...] | None = None
    """Under which its cores lie; ``None`` if it is not known."""


class PolicyGuard(GangFilter, Protocol):
    """A hard rule about where work may run, which knows what runs where."""

    def look(self, now_ms: int) -> None:
        """What is asked next is asked as of this time."""

    def nodes_for(
        self, request: PlacementRequest, *, without: Collection[int] = ()
    ) -> NodeSet | None:
        """Where the request may run now, if these leases were gone; ``None`` for everywhere."""

    def nodes_ever(self, request: PlacementRequest) -> NodeSet | None:
        """Where it might run if nothing else did. None at all: it can never be placed whole."""

    def nodes_beside(
        self, request: PlacementRequest, placed: Sequence[int], *, without: Collection[int] = ()
    ) -> NodeSet | None:
        """Where a further member of a gang may run, with others on these nodes."""

    def closed_by(self, request: PlacementRequest) -> Mapping[str, int]:
        """How many nodes each rule closes to the request now, by the rule's name."""

    def renewal_breaks(self, lease_id: int, *, ttl_ms: int) -> str | None:
        """The rule that a lease would break if it stayed where it is for so long from now."""

    def granted(self, lease_id: int, held: HeldLease) -> None:
        """A lease began, or (below zero) room is kept for one that is to begin."""

    def ended(self, lease_id: int) -> None:
        """What a lease held is free."""

    def fleet_changed(self, node: str) -> None:
        """The node came or went."""


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
    """A policy as if some leases were gone; if ``whole``, without nodes of which only the cores of
    some caches are open."""

    policy: PolicyGuard
    gone: Collection[int]
    whole: bool = False

    def nodes_for(self, request: PlacementRequest) -> NodeSet | None:
        """Where the request may run with all others."""
        nodes = self.policy.nodes_for(request, without=self.gone)
        return uncut(nodes) if self.whole and nodes is not None else nodes

    def nodes_beside(self, request: PlacementRequest, placed: Sequence[int]) -> NodeSet | None:
        """Where a further member of a gang may run."""
        return self.policy.nodes_beside(request, placed, without=self.gone)


class GuardedAdmission(AdmissionController):
    """Admission behind guards, which tells what passes from what does not."""

    policies: tuple[PolicyGuard, ...] = ()
    lasting: tuple[NodeFilter, ...] = ()
    """The policies, as far as no waiting clears them."""

    def evaluate(self, request: PlacementRequest, *, now_ms: int = 0) -> AdmissionDecision:
        """What the request may have of what the guards leave."""
        for policy in self.policies:
            policy.look(now_ms)
        decision = super().evaluate(request, now_ms=now_ms)
        if isinstance(decision, Approved):
            return decision
        if decision.reason in CAPACITY_REASONS and len(self.ledger.holds):
            decision = self._claimed(request, now_ms) or decision
        if not self.lasting:
            return decision
        if decision.reason.is_transient:
            never = self._never(request)
            if never is not None:
                return never
        if decision.reason.is_transient and decision.reason not in CAPACITY_REASONS:
            return decision
        old = self.scorer
        scorer = PlacementScorer(old.strategy, weights=old.weights, filters=self.lasting)
        alone = AdmissionController(self.ledger, scorer=scorer, headroom=self.headroom)
        freely = alone.evaluate(request, now_ms=now_ms)
        if isinstance(freely, Approved):
            return Denied.because(self._apart(request))
        if decision.reason.is_transient or not freely.reason.is_transient:
            return decision if decision.reason.is_transient else freely
        # Only work that runs now is what a policy keeps it away from.
        return Denied.because(self._apart(request))

    def _apart(self, request: PlacementRequest) -> NodesKeptApart | NodesMaintained | NodesBooked:
        """What work that runs now, or has left something behind, does to the request."""
        found = ((closes_most(policy, request), policy) for policy in self.policies)
        closing = [(most, policy) for most, policy in found if most is not None]
        if not closing:
            return NodesKeptApart(len(self.ledger), None)
        (nodes, rule), policy = max(closing, key=itemgetter(0))
        return policy.told_as(request) if tells_itself(policy) else NodesKeptApart(nodes, rule)

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
        found = Denied.because(capacity_denial(self.ledger, request, filters=self.lasting))
        return None if found.reason.is_transient else found


class Guards:
    """All guards of one state, and the admissions behind them."""

    def __init__(self, ledger: CapacityLedger, settings: Settings) -> None:
        self.policies: tuple[PolicyGuard, ...] = ()
        self.claims: dict[int, Claim] = {}
        self._claimants: dict[int, PlacementRequest] = {}
        self._ledger = ledger
        self._lasting: tuple[NodeFilter, ...] = ()
        self.use_settings(settings)

    def add(self, policy: PolicyGuard) -> None:
        """One more policy, which has been told of every lease so far."""
        for entry_id in self._claimants:
            self._seat(policy, entry_id)
        self._use((*self.policies, policy))

    def drop(self, policy: PolicyGuard) -> None:
        """The policy holds no more."""
        self._use(tuple(each for each in self.policies if each is not policy))

    def _use(self, policies: tuple[PolicyGuard, ...]) -> None:
        self.policies = policies
        self._lasting = tuple(_Lasting(each) for each in policies)
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
        admission.policies, admission.lasting = self.policies, self._lasting
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
            with quotas.bursts.promised(partial(guaranteed_in, self._ledger)):
                yield admission

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
        found, :meth:`permits` says; if not, that node is ``shunned``. What tells itself is about
        terms, whoever runs.
        """
        if not self.policies:
            return self.admission
        less = (_Shunned(self._ledger, shunned),) if shunned else ()
        if request.gang_size > 1:
            gone = self.seats_of(lifted)
            whole = (_Without(each, gone, whole=True) for each in self.policies)
            return self._behind((*whole, *less))
        terms = (each for each in self.policies if tells_itself(each))
        return self._behind((*self._lasting, *terms, *less))

    def permits(
        self, request: PlacementRequest, seat: Seat, *, without: Collection[int] = ()
    ) -> bool:
        """Whether every policy lets the request run in the seat once these leases are gone."""
        handle = self._ledger.handle_of(seat.node)
        for policy in self.policies:
            nodes = policy.nodes_for(request, without=without)
            if nodes is None:
                continue
            if handle not in nodes or handle in nodes.caches:
                return False
            if seat.devices & ~nodes.devices.get(handle, ALL_DEVICES):
                return False
        return True

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
        self._claimants[entry.id] = entry.request
        for policy in self.policies:
            self._seat(policy, entry.id)
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

    def _seat(self, policy: PolicyGuard, entry_id: int) -> None:
        request = self._claimants[entry_id]
        for number, seat in enumerate(self.claims[entry_id].seats):
            held = HeldLease(Owner.of(request), request.job_labels, seat.node, seat.devices)
            policy.granted(_seat_id(entry_id, number), held)

    def granted(self, lease_id: int, held: HeldLease) -> None:
        """A lease began."""
        for policy in self.policies:
            policy.granted(lease_id, held)

    def ended(self, lease_id: int) -> None:
        """What a lease held is free."""
        for policy in self.policies:
            policy.ended(lease_id)

    def fleet_changed(self, node: str) -> None:
        """The node came or went."""
        for policy in self.policies:
            policy.fleet_changed(node)

    def renewal_breaks(self, lease_id: int, *, ttl_ms: int, now_ms: int) -> str | None:
        """The rule of a policy that the lease would break if it stayed for so long from now."""
        for policy in self.policies:
            policy.look(now_ms)
            found = policy.renewal_breaks(lease_id, ttl_ms=ttl_ms)
            if found is not None:
                return found
        return None


def _seat_id(entry_id: int, number: int) -> int:
    return -(entry_id * MEMBERS_MAX + number) - 1
