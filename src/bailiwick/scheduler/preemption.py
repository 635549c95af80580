"""Making room for urgent work: which leases to end, and ending them.

Rules:

- Searching and doing are two functions: ``find_victims`` changes nothing, ``preempt`` evicts.
- A victim is one that the request may evict by its class and priority
  (:mod:`.rights.eviction_table`), has run for ``min_run_ms``, and has not itself evicted others
  ``max_cascade_depth`` deep. One member of a gang means the gang.
- The set is the cheapest: spot before standard, low before high, freshly checkpointed before not,
  small before large (:mod:`.victim_cost`). For one member it is exact at any size (``exact`` says
  if a bound cut the search short); for gangs see :mod:`.victims.gangs`.
- Room that is kept for more urgent work (``headroom``) stays free: who is in its way goes as well,
  wherever it runs (:mod:`.victims.headroom`). So a request for which room was made is admitted.
- Where a policy would close what victims leave, for what they leave behind, nobody is evicted
  (:mod:`.library.left_behind`).
- Work that evicted others carries the depth of that cascade, so a chain of evictions ends.
- Every eviction carries one of the nine reasons.
- What victims leave can be kept for the request they leave it for (``hold_for``): then nobody goes
  unless that lets the request in, and nobody else gets it (:mod:`.library.kept_room`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from bailiwick.fleet.resources import Resources
from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.evictions import EvictionPlan, Victim
from bailiwick.scheduler.handles import Prepared
from bailiwick.scheduler.lease import EndedLease
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.library.kept_room import KeptRoom, keep_room
from bailiwick.scheduler.library.left_behind import TRIES_MAX, Shunned, closed_after
from bailiwick.scheduler.node_set import NodeFilter, look_at
from bailiwick.scheduler.placement import PlacementScorer
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.revoker import LeaseRevoker, RevokeTransition
from bailiwick.scheduler.victim_cost import BlockedNodes, VictimTerms, lease_cost
from bailiwick.scheduler.victims.gangs import find_gang_victims
from bailiwick.scheduler.victims.headroom import ReservationHeadroom, find_headroom_victims
from bailiwick.scheduler.victims.units import Judge
from bailiwick.vocab.values import MILLI, NodeId, check_amount, check_integer, check_kind
from bailiwick.vocab.words import PreemptionReason


class Obstacle(StrEnum):
    """Which constraint kept a node from making room, in the order they are tried."""

    HARDWARE = "hardware"
    NOT_ELIGIBLE = "not_eligible"
    PROTECTED = "protected"
    PRIORITY = "priority"
    MIN_RUN_TIME = "min_run_time"
    CASCADE_DEPTH = "cascade_depth"
    GANG_SIZE = "gang_size"
    HEADROOM = "headroom"


@dataclass(frozen=True, slots=True)
class PreemptionConfig:
    """What protects running work from more urgent work."""

    min_run_ms: int = 0
    max_cascade_depth: int = 3
    fresh_checkpoint_ms: int = 60_000

    def __post_init__(self) -> None:
        check_amount("min_run_ms", self.min_run_ms)
        check_integer("max_cascade_depth", self.max_cascade_depth, low=0, high=255)
        check_amount("fresh_checkpoint_ms", self.fresh_checkpoint_ms)


@dataclass(frozen=True, slots=True)
class Preemptable(EvictionPlan):
    """Ending these leases makes room; ``node`` is where a single member would go.

    No other choice costs less than ``bound_cost``, and if that is the cost, this is ``exact``.
    """

    node: NodeId | None = None
    exact: bool = True
    bound_cost: int = 0
    filters: tuple[NodeFilter, ...] = field(default=(), compare=False, repr=False)
    headroom: ReservationHeadroom = field(default=ReservationHeadroom(), compare=False, repr=False)
    """With which victims were sought, for who keeps the room."""

    @property
    def loss_ratio_milli(self) -> int | None:
        """How dear it is at most, in thousandths of the cheapest there is: 1000 is the cheapest.

        ``None`` if nothing is proven.
        """
        if self.exact:
            return MILLI
        return -(-MILLI * self.cost // self.bound_cost) if self.bound_cost else None

    @property
    def depth(self) -> int:
        """The cascade depth that the preemptor's leases will carry."""
        return _depth_of(self)


@dataclass(frozen=True, slots=True)
class Impossible:
    """No allowed set of victims makes room: which constraint blocked it, on how many nodes."""

    reason: Obstacle
    nodes: dict[Obstacle, int] = field(default_factory=dict)

    @classmethod
    def because(cls, blocked: BlockedNodes) -> Impossible:
        """The refusal, told by the constraint that gives way last: the nearest to possible."""
        nodes: dict[Obstacle, int] = {}
        for obstacle in Obstacle:
            count = getattr(blocked, obstacle.value, 0)
            if count:
                nodes[obstacle] = count
        return cls(max(nodes, key=list(Obstacle).index, default=Obstacle.HARDWARE), nodes)

    def combined(self, other: Impossible) -> Impossible:
        """Two fleets' refusals as one."""
        nodes = {o: self.nodes.get(o, 0) + other.nodes.get(o, 0) for o in Obstacle}
        nodes = {o: n for o, n in nodes.items() if n}
        return Impossible(max(self.reason, other.reason, key=list(Obstacle).index), nodes)


PreemptionResult: TypeAlias = Preemptable | Impossible


@dataclass(frozen=True, slots=True)
class Preempted:
    """What a plan did: every lease that ended or is ending, and each step of its walk."""

    plan: EvictionPlan
    ended: tuple[EndedLease, ...]
    steps: tuple[RevokeTransition, ...]
    hold: KeptRoom | None = None
    """What is kept for the request, if it was to be: ``admit`` takes it."""

    @property
    def freed(self) -> Resources:
        """What has been given back so far (less than planned while grace runs)."""
        return sum((e.lease.resources for e in self.ended), Resources())


class PreemptionManager:
    """Finds victims and evicts them."""

    def __init__(self, config: PreemptionConfig | None = None) -> None:
        self.config = config or PreemptionConfig()

    def find_victims(
        self,
        ledger: CapacityLedger,
        request: PlacementRequest,
        *,
        now_ms: int = 0,
        filters: Sequence[NodeFilter] = (),
        headroom: ReservationHeadroom | None = None,
    ) -> PreemptionResult:
        """The cheapest leases whose end makes room for the request; nothing changes.

        ``headroom`` is that of the admission which is to let it in.
        """
        check_kind("ledger", ledger, CapacityLedger)
        check_kind("request", request, PlacementRequest)
        kept = check_kind("headroom", headroom or ReservationHeadroom(), ReservationHeadroom)
        terms = self._terms(now_ms)
        look_at(filters, now_ms)
        shunned = 0
        for _ in range(TRIES_MAX):
            less = (Shunned(shunned, nodes=len(ledger.by_handle)),) if shunned else ()
            ready = ledger.prepare(request, (*filters, *less))
            search = self._for_gang if request.gang_size > 1 else self._for_one
            seated = search(ledger, ready, terms)
            if isinstance(seated, Impossible):
                return seated
            seated = replace(seated, filters=tuple(filters), headroom=kept)
            found = self._beside(kept, seated, ledger=ledger, request=request, terms=terms)
            if isinstance(found, Impossible):
                return found
            gone = [victim.lease_id for victim in found.victims]
            closed = closed_after(filters, request, gone=gone)
            if found.node is not None:
                closed &= 1 << ledger.handle_of(found.node)
            if not closed:
                return found
            shunned |= closed  # they would have to go for nothing
        return Impossible(Obstacle.NOT_ELIGIBLE, {Obstacle.NOT_ELIGIBLE: shunned.bit_count()})

    def preempt(
        self,
        plan: EvictionPlan,
        revoker: LeaseRevoker,
        *,
        now_ms: int = 0,
        grace_ms: int | None = None,
        hold_for: PlacementRequest | None = None,
    ) -> Preempted:
        """Begin to end every victim, for the plan's one reason; a gang's members go together.

        What they leave is kept for ``hold_for``; if it would not let that in, nobody goes.
        """
        check_kind("plan", plan, EvictionPlan)
        check_amount("now_ms", now_ms)
        for victim in plan.victims:  # all or nothing: a stale plan evicts nobody
            revoker.check(victim.lease_id, plan.reason, now_ms=now_ms)
        if hold_for is None:
            return self._evict(plan, revoker, now_ms=now_ms, grace_ms=grace_ms)
        check_kind("hold_for", hold_for, PlacementRequest)
        door, depth = _door_of(plan, revoker.ledger), _depth_of(plan)
        victims = [victim.lease_id for victim in plan.victims]
        room = keep_room(door, hold_for, victims=victims, depth=depth, now_ms=now_ms)
        try:
            done = self._evict(plan, revoker, now_ms=now_ms, grace_ms=grace_ms)
        except BaseException:
            door.give_up(room, now_ms=now_ms)  # nobody was told of it
            raise
        return replace(done, hold=room)

    @staticmethod
    def _evict(
        plan: EvictionPlan, revoker: LeaseRevoker, *, now_ms: int, grace_ms: int | None
    ) -> Preempted:
        steps: list[RevokeTransition] = []
        ended: list[EndedLease] = []
        begun: set[int] = set()
        for victim in plan.victims:
            if victim.lease_id in begun:
                continue
            walk = revoker.revoke(victim.lease_id, plan.reason, now_ms=now_ms, grace_ms=grace_ms)
            begun.update(step.lease_id for step in walk.steps)
            steps.extend(walk.steps)
            ended.extend(walk.ended)
        return Preempted(plan, tuple(ended), tuple(steps))

    def _terms(self, now_ms: int) -> VictimTerms:
        config = self.config
        return VictimTerms(
            check_amount("now_ms", now_ms),
            config.min_run_ms,
            config.fresh_checkpoint_ms,
            config.max_cascade_depth,
        )

    def _for_one(
        self, ledger: CapacityLedger, ready: Prepared, terms: VictimTerms
    ) -> PreemptionResult:
        found = ledger.search_victims(ready, terms, mask=ledger.mask_of(ready))
        if isinstance(found, BlockedNodes):
            return Impossible.because(found)
        entry = ledger.by_handle[found.node]
        victims = _victims(ledger, found.lease_ids, terms)
        node = entry.id if entry is not None else None
        bound = found.cost if found.exact else 0
        return Preemptable(PreemptionReason.PRIORITY_PREEMPTION, victims, node, found.exact, bound)

    def _for_gang(
        self, ledger: CapacityLedger, ready: Prepared, terms: VictimTerms
    ) -> PreemptionResult:
        found = find_gang_victims(ledger, ready, terms=terms)
        if found is None:
            one = ledger.search_victims(ready, terms, mask=ledger.mask_of(ready))
            if isinstance(one, BlockedNodes):
                return Impossible.because(one)
            # One member could be seated, all together cannot.
            return Impossible(Obstacle.GANG_SIZE, {Obstacle.GANG_SIZE: len(ledger)})
        victims = _victims(ledger, found.lease_ids, terms)
        reason = PreemptionReason.PRIORITY_PREEMPTION
        return Preemptable(reason, victims, None, found.exact, found.bound)

    def _beside(
        self,
        headroom: ReservationHeadroom,
        seated: Preemptable,
        *,
        ledger: CapacityLedger,
        request: PlacementRequest,
        terms: VictimTerms,
    ) -> PreemptionResult:
        """Who has to go beside those that leave a place, so that the headroom stays free."""
        lacking = headroom.lacking(request, free=ledger.free)
        if not any(lacking):
            return seated
        judge = Judge(ledger, request, terms=terms)
        alone = find_headroom_victims(ledger, lacking, judge=judge)
        gone = [victim.lease_id for victim in seated.victims]
        rest = headroom.lacking(request, free=ledger.free + _given_back(ledger, seated))
        more = find_headroom_victims(ledger, rest, judge=judge, spared=gone)
        if alone is None or more is None:
            return Impossible(Obstacle.HEADROOM, {Obstacle.HEADROOM: len(ledger)})
        victims = (*seated.victims, *_victims(ledger, more.lease_ids, terms))
        bound = max(seated.bound_cost, alone.bound)
        exact = bound == seated.cost + more.cost
        return replace(seated, victims=victims, exact=exact, bound_cost=bound)


def _depth_of(plan: EvictionPlan) -> int:
    return 1 + max((v.lease.depth for v in plan.victims), default=-1)


def _door_of(plan: EvictionPlan, ledger: CapacityLedger) -> AdmissionController:
    """Who admits as it was asked for when the victims were sought."""
    if not isinstance(plan, Preemptable):
        return AdmissionController(ledger)
    scorer = PlacementScorer(filters=plan.filters)
    return AdmissionController(ledger, scorer=scorer, headroom=plan.headroom)


def _given_back(ledger: CapacityLedger, plan: EvictionPlan) -> Resources:
    """What the victims of a plan leave free on nodes that take leases."""
    here = (v for v in plan.victims if ledger.entry(v.lease.node).takes_leases)
    return sum((victim.resources for victim in here), Resources())


def _victims(
    ledger: CapacityLedger, lease_ids: Sequence[int], terms: VictimTerms
) -> tuple[Victim, ...]:
    leases = [ledger.lease(i) for i in ledger.with_gangs(lease_ids)]
    return tuple(Victim(le, lease_cost(le, terms)) for le in leases)
