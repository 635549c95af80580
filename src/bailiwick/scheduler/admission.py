"""May this request run now, and where: quota, then headroom, then capacity.

Rules:

- Order of checks: deadline, quota (project, then tenant), headroom, hard filters, strategy.
- ``evaluate``, ``plan`` and ``explain`` change nothing; ``admit`` is the same code, kept.
- A gang is admitted whole or not at all, and its quota is asked for whole.
- GPU memory is asked for twice: by the least that any device of the fleet could count for, and by
  the very devices that were chosen. So usage never passes a limit, whatever a request names.
- Headroom is room that only requests of at least its priority may use.

>>> from bailiwick import *
>>> ledger = CapacityLedger()
>>> _ = ledger.register_node("node-1", NodeCapacity(cpu_cores=16, mem_bytes=8_000_000_000))
>>> admission = AdmissionController(ledger)
>>> ask = PlacementRequest(tenant=TenantId("lab"), cpu_cores=20, mem_bytes=1)
>>> admission.evaluate(ask).detail
LargerThanAnyNode(resource=<ResourceKind.CPU_MILLI: 'cpu_milli'>, requested=20000, largest=16000)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bailiwick.scheduler.decision import (
    AdmissionDecision,
    Approved,
    DeadlinePassed,
    Denied,
    HeadroomKept,
)
from bailiwick.scheduler.engine.protocol import NO_CAPACITY
from bailiwick.scheduler.explain import (
    Explanation,
    RuleCounts,
    advise,
    count_filters,
    count_rules,
    hardware_denial,
)
from bailiwick.scheduler.gangs.members import MemberPlaces
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.library.kept_apart import PoliciesAsked
from bailiwick.scheduler.library.kept_room import KeptRoom, ask_with
from bailiwick.scheduler.placement import PlacementScorer
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import WithinQuota
from bailiwick.scheduler.quota_rows import VRAM
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.victims.headroom import ReservationHeadroom, wanted_by
from bailiwick.vocab.errors import Conflict
from bailiwick.vocab.values import check_amount, check_integer, check_kind
from bailiwick.vocab.words import RESOURCE_KINDS, PendingReason

if TYPE_CHECKING:
    from bailiwick.scheduler.preemption import PreemptionManager, PreemptionResult

__all__ = ["AdmissionController", "Plan", "ReservationHeadroom"]


# What evicting somebody else could clear; quota and mistakes it cannot.
_ROOM = (PendingReason.WAITING_FOR_CAPACITY, PendingReason.FRAGMENTED)


@dataclass(frozen=True, slots=True)
class Plan:
    """What would happen to a request, with nothing done about it."""

    request: PlacementRequest
    explanation: Explanation
    victims: PreemptionResult | None
    price_micros_per_hour: int | None

    @property
    def decision(self) -> AdmissionDecision:
        """What admission would answer without evicting anybody."""
        return self.explanation.decision


class AdmissionController:
    """Gates requests against quota and free capacity of one ledger."""

    def __init__(
        self,
        ledger: CapacityLedger,
        *,
        quotas: QuotaManager | None = None,
        scorer: PlacementScorer | None = None,
        headroom: ReservationHeadroom | None = None,
    ) -> None:
        self.ledger = check_kind("ledger", ledger, CapacityLedger)
        self.scorer = check_kind("scorer", scorer or PlacementScorer(), PlacementScorer)
        self.headroom = check_kind(
            "headroom", headroom or ReservationHeadroom(), ReservationHeadroom
        )
        if quotas is not None:
            ledger.attach_quotas(quotas)
        self.places = MemberPlaces(ledger, self.scorer)
        self.kept_apart = PoliciesAsked(ledger, self.scorer)
        kept = self.headroom.kept.as_tuple()
        self._kept = (self.headroom.priority.rank if any(kept) else 0, *kept)

    # -- asking ------------------------------------------------------------------------------

    def evaluate(self, request: PlacementRequest, *, now_ms: int = 0) -> AdmissionDecision:
        """What ``admit`` would answer now; nothing changes."""
        return self._decide(request, now_ms=now_ms, keep=False)

    def admit(
        self,
        request: PlacementRequest,
        *,
        now_ms: int = 0,
        depth: int = 0,
        hold: KeptRoom | None = None,
    ) -> AdmissionDecision:
        """Decide and, if approved, grant the leases; ``depth`` is that of the cascade behind it.

        With a ``hold``, what ``preempt`` keeps for this request is free for it, and the hold ends
        when it is admitted.
        """
        check_integer("depth", depth, low=0, high=255)
        if hold is not None:
            return self._admit_with(hold, request, now_ms=now_ms)
        counted = False
        if self._is_plain(request, now_ms):
            lease_id = self._fast(request, now_ms=now_ms, depth=depth)
            if lease_id >= 0:
                lease = self.ledger.lease(lease_id)
                self.ledger.watchers.began(request, (lease_id,))
                return Approved((lease.node,), (lease,))
            counted = lease_id == NO_CAPACITY
        decision = self._decide(request, now_ms=now_ms, keep=True, depth=depth)
        if not counted and not _was_quota(decision):
            self.ledger.note_arrivals(self.scorer.ready(self.ledger, request), request.gang_size)
        if isinstance(decision, Approved):
            self.ledger.watchers.began(request, [lease.id for lease in decision.leases])
        return decision

    def _admit_with(
        self, room: KeptRoom, request: PlacementRequest, *, now_ms: int
    ) -> AdmissionDecision:
        check_kind("hold", room, KeptRoom)
        if request != room.request:
            raise Conflict("hold", room.number, "is kept for another request")
        decision = ask_with(self, room, now_ms=now_ms)
        if isinstance(decision, Denied):
            return decision
        self.give_up(room, now_ms=now_ms)
        return self.admit(request, now_ms=now_ms, depth=room.depth)

    def give_up(self, room: KeptRoom, *, now_ms: int = 0) -> None:
        """Keep the room no longer; nothing happens if that was so before."""
        check_kind("room", room, KeptRoom)
        self.ledger.holds.drop(room.number, now_ms=now_ms)

    @staticmethod
    def _is_plain(request: object, now_ms: object) -> bool:
        """Whether the engine can decide alone; everything else takes the long way round."""
        return (
            isinstance(request, PlacementRequest)
            and request.gang_size == 1
            and request.deadline_ms is None
            and type(now_ms) is int
            and 0 <= now_ms < 2**53
        )

    def _fast(self, request: PlacementRequest, *, now_ms: int, depth: int) -> int:
        """The same checks inside the engine; a negative word sends it the long way round."""
        self.kept_apart.look(now_ms)
        ready = self.scorer.ready(self.ledger, request).at_depth(depth)
        self.ledger.use_headroom(self._kept)
        return self.ledger.place(ready, self.scorer.code, now_ms=now_ms)

    def explain(self, request: PlacementRequest, *, now_ms: int = 0) -> Explanation:
        """The decision with every obstacle, counts of nodes per filter, and a remedy."""
        decision = self.evaluate(request, now_ms=now_ms)
        fallen, fitting = count_filters(self.ledger, request, filters=self.scorer.filters)
        blockers = self._blockers(request, decision, now_ms=now_ms)
        first = min(blockers, key=lambda b: b.reason.rank, default=decision)
        remedy = advise(first, fallen, fitting=fitting)
        rules = self.rules_closing(request)
        return Explanation(decision, blockers, fallen, fitting, remedy, rules)

    def rules_closing(self, request: PlacementRequest) -> RuleCounts:
        """How many nodes each rule of its filters closes to the request now."""
        return count_rules(self.scorer.filters, request)

    def plan(
        self,
        request: PlacementRequest,
        *,
        now_ms: int = 0,
        preemption: PreemptionManager | None = None,
        price: Callable[[PlacementRequest], int] | None = None,
    ) -> Plan:
        """Where it would run, whom it would evict, why not elsewhere, at what price an hour."""
        explanation = self.explain(request, now_ms=now_ms)
        decision = explanation.decision
        victims: PreemptionResult | None = None
        if preemption is not None and isinstance(decision, Denied) and decision.reason in _ROOM:
            filters, kept = self.scorer.filters, self.headroom
            victims = preemption.find_victims(
                self.ledger, request, now_ms=now_ms, filters=filters, headroom=kept
            )
        cost = price(request) if price is not None else None
        return Plan(request, explanation, victims, cost)

    def _blockers(
        self, request: PlacementRequest, decision: AdmissionDecision, *, now_ms: int
    ) -> tuple[Denied, ...]:
        """Every obstacle, not only the one that decided."""
        if isinstance(decision, Approved):
            return ()
        found = [self._deadline(request, now_ms), self._quota(request, now_ms)]
        found.append(self._headroom(request))
        nodes = self.places.choose(request, now_ms=now_ms, keep=False)
        # What a policy keeps out for now only, waiting clears: it is told as it was decided.
        if isinstance(nodes, Denied) and not nodes.reason.is_transient:
            nodes = decision if decision.reason.is_transient else nodes
        found.append(nodes if isinstance(nodes, Denied) else None)
        blockers = dict.fromkeys(b for b in found if isinstance(b, Denied))
        return tuple(sorted(blockers, key=lambda b: b.reason.rank))

    # -- deciding ----------------------------------------------------------------------------

    def _decide(
        self, request: PlacementRequest, *, now_ms: int, keep: bool, depth: int = 0
    ) -> AdmissionDecision:
        check_kind("request", request, PlacementRequest)
        check_amount("now_ms", now_ms)
        self.kept_apart.look(now_ms)
        late = self._deadline(request, now_ms)
        if late is not None:
            return late
        quota = self._quota(request, now_ms)
        if isinstance(quota, Denied):
            # What no machine could ever hold must not be told to wait for quota.
            never = hardware_denial(self.ledger, request) if quota.reason.is_transient else None
            return Denied.because(never) if never is not None else quota
        no_room = self._headroom(request)
        if no_room is not None:
            return no_room
        chosen = self.places.choose(request, now_ms=now_ms, keep=keep, depth=depth)
        if isinstance(chosen, Denied):
            return self.kept_apart.told(request, chosen, now_ms=now_ms)
        return replace(chosen, burst=chosen.burst or quota)

    @staticmethod
    def _deadline(request: PlacementRequest, now_ms: int) -> Denied | None:
        if request.deadline_ms is not None and request.deadline_ms < now_ms:
            return Denied.because(DeadlinePassed(request.deadline_ms, now_ms))
        return None

    def _quota(self, request: PlacementRequest, now_ms: int) -> Denied | int:
        """The denial, or how far into burst the request would go."""
        quotas = self.ledger.quotas
        if quotas is None:
            return 0
        ready = self.ledger.prepare(request)
        if quotas.bears(ready.row, ready.demand, now_ms=now_ms):
            return 0
        answer = quotas.check(request, now_ms=now_ms, vram_bytes=ready.demand[VRAM])
        return answer.burst if isinstance(answer, WithinQuota) else Denied.because(answer)

    def _headroom(self, request: PlacementRequest) -> Denied | None:
        if request.priority.rank >= self._kept[0]:
            return None
        free, kept = self.ledger.free, self.headroom.kept.as_tuple()
        lacking = self.headroom.lacking(request, free=free)
        numbers = free.as_tuple(), kept, wanted_by(request)
        for kind, lack, *row in zip(RESOURCE_KINDS, lacking, *numbers, strict=True):
            if lack:
                return Denied.because(HeadroomKept(kind, *row))
        return None


def _was_quota(decision: AdmissionDecision) -> bool:
    """Whether quota said no before a place was looked for: such a request is no arrival."""
    return isinstance(decision, Denied) and hasattr(decision.detail, "quota_violation")
