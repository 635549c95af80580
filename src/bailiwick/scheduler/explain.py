"""Why not: which nodes fell at which filter, what stands first in the way, what would clear it.

Rules:

- Every node is counted once, at the first filter it fails, in the order of ``FilterReason``;
  nodes that pass all are counted as fitting. The counts sum to the number of nodes.
- The first blocker is the obstacle with the smallest rank; a remedy names the one change of
  numbers that would clear it, and does not promise that nothing stands behind it.
- Counting is the engine's work; why nodes are closed is kept up to date as they open and close.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from bailiwick.fleet.node import ATTESTED_PREFIX
from bailiwick.fleet.resources import Resources
from bailiwick.scheduler.decision import (
    AdmissionDecision,
    Approved,
    CapacityDenied,
    DeadlinePassed,
    Denied,
    Fragmented,
    HeadroomKept,
    LargerThanAnyNode,
    NodeBooked,
    NodeClosed,
    NodeKeptApart,
    NodeMaintained,
    NodesBooked,
    NodesClosed,
    NodesForbidden,
    NodesKeptApart,
    NodesMaintained,
    NoSuchHardware,
    NotEnoughFree,
    ReservedForOthers,
    RoomClaimed,
    TermReserved,
    VictimsLeaving,
)
from bailiwick.scheduler.handles import IDLE_MAX, Prepared, Shape
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeFilter, names_rules
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.quota_policy import (
    BudgetExhausted,
    BurstCreditExhausted,
    CostCapExceeded,
    GpuGenerationLimitExceeded,
    GpuGenerationRequired,
    HardLimitExceeded,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.rights.denials import (
    LeaseClassForbidden,
    PriorityTooHigh,
    ScopeClosed,
    TermTooLong,
    TooManyWaiting,
)
from bailiwick.vocab.remedies import RemedyWord
from bailiwick.vocab.values import MILLI
from bailiwick.vocab.words import RESOURCE_KINDS, FilterReason, PendingReason, ResourceKind


@dataclass(frozen=True, slots=True)
class Remedy:
    """The change that would clear the first blocker, by how much, and of what."""

    word: RemedyWord
    amount: int = 0
    unit: str = ""
    leases: tuple[int, ...] = ()
    """The asker's own leases that hold the room, where ending those would do."""


RULES_TOLD_MAX = 10
"""Rules that are named with the nodes they close; the others are counted."""


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """How many nodes each rule of a policy closes to a request; a node counts for every rule."""

    told: tuple[tuple[str, int], ...] = ()
    """Rule and nodes, the most nodes first."""
    more: int = 0
    """How many rules besides close some."""


NO_RULES = RuleCounts()


@dataclass(frozen=True, slots=True)
class Explanation:
    """The decision, every obstacle found, the count of nodes at each filter, and the remedy."""

    decision: AdmissionDecision
    blockers: tuple[Denied, ...]
    fallen: dict[FilterReason, int]
    fitting: int
    remedy: Remedy
    rules: RuleCounts = NO_RULES

    @property
    def nodes(self) -> int:
        """All nodes looked at."""
        return self.fitting + sum(self.fallen.values())

    @property
    def first_blocker(self) -> Denied | None:
        """The obstacle to clear first."""
        return min(self.blockers, key=lambda b: b.reason.rank, default=None)


def count_filters(
    ledger: CapacityLedger, request: PlacementRequest, *, filters: Sequence[NodeFilter] = ()
) -> tuple[dict[FilterReason, int], int]:
    """How many nodes fall at which filter for one member, and how many fit."""
    labelled, ready = ledger.prepare(request), ledger.prepare(request, filters)
    masks = _permitted(ledger, labelled), _permitted(ledger, ready)
    limits = ledger.reach_of(ready).limits
    *counts, fitting = ledger.engine.filter_counts(ready.shape, *masks, limits)
    fallen = {**ledger.closed, **dict(zip(_OPEN, counts, strict=True))}
    return {reason: fallen[reason] for reason in FilterReason if fallen.get(reason)}, fitting


def count_rules(filters: Sequence[NodeFilter], request: PlacementRequest) -> RuleCounts:
    """How many nodes each rule of these filters closes to the request now."""
    closed: dict[str, int] = {}
    for each in filters:
        if names_rules(each):
            closed.update(each.closed_by(request))
    rows = sorted(closed.items(), key=lambda row: (-row[1], row[0]))
    return RuleCounts(tuple(rows[:RULES_TOLD_MAX]), len(rows[RULES_TOLD_MAX:]))


def hardware_denial(
    ledger: CapacityLedger, request: PlacementRequest, *, shape: Shape | None = None
) -> NoSuchHardware | LargerThanAnyNode | None:
    """What no machine of the fleet could ever hold, by classes of machines; labels apart."""
    shape = shape or Shape.of(request)
    known = ledger.handles.impossible
    if shape not in known:
        if len(known) > IDLE_MAX:
            known.clear()
        known[shape] = _hardware_denial(ledger, shape)
    return known[shape]


def _hardware_denial(
    ledger: CapacityLedger, shape: Shape
) -> NoSuchHardware | LargerThanAnyNode | None:
    machines = ledger.class_samples()
    serving = [e for e in machines if not shape.device_count or ledger.serving(e, shape)]
    if not serving:
        return NoSuchHardware(len(ledger)) if shape.device_count else None
    return _largest(ledger, serving, shape, need=_need(shape))


def capacity_denial(
    ledger: CapacityLedger,
    request: PlacementRequest,
    *,
    filters: Sequence[NodeFilter] = (),
    placed: int = 0,
    shape: Shape | None = None,
) -> CapacityDenied:
    """Why no place was found, given that none was (``placed`` members of a gang did fit).

    ``shape`` is what one member was sought as, if that is narrower than what was asked for.
    Counting is the engine's work; what labels and filters leave is compared class by class.
    """
    shape, lasting = shape or Shape.of(request), _lasting(request)
    never = hardware_denial(ledger, request, shape=shape)
    if never is not None:
        return never
    labelled, ready = ledger.prepare(lasting), ledger.prepare(lasting, filters)
    sought = ledger.handles.intern_shape(shape)
    mask = _permitted(ledger, ready)
    permitted, taking, able, able_open, *free = ledger.engine.survey(sought, mask)
    suitable = permitted
    if ready is not labelled:
        suitable = ledger.engine.survey(sought, _permitted(ledger, labelled))[0]
    if not suitable and lasting.labels:
        return NoSuchHardware(len(ledger))
    if suitable and not permitted:
        return NodesForbidden(suitable)
    if mask is not None:
        left = ledger.class_samples(mask)
        too_large = _largest(ledger, list(left), shape, need=_need(shape))
        if too_large is not None:
            return too_large
    if able and not able_open:
        return NodesClosed(able)
    if lasting is not request:
        now = _permitted(ledger, ledger.prepare(request, filters))
        _, taking, _, _, *free = ledger.engine.survey(sought, now)
    for kind, have, one in zip(RESOURCE_KINDS, free, _need(shape).as_tuple(), strict=True):
        if have < one * request.gang_size:
            return NotEnoughFree(kind, have, one * request.gang_size)
    return Fragmented(taking, placed, request.gang_size)


def _lasting(request: PlacementRequest) -> PlacementRequest:
    """The request without labels that attestation gives: a node may come to have those yet."""
    labels = {k: v for k, v in request.labels.items() if not k.startswith(ATTESTED_PREFIX)}
    return request if len(labels) == len(request.labels) else replace(request, labels=labels)


def _need(shape: Shape) -> Resources:
    gpu_milli = shape.device_count * shape.device_milli
    return Resources(shape.cpu_milli, shape.mem_bytes, shape.block_bytes, gpu_milli)


def _largest(
    ledger: CapacityLedger, entries: list[NodeEntry], shape: Shape, *, need: Resources
) -> LargerThanAnyNode | None:
    """The first resource of which no machine that has the others has enough, even empty."""
    for kind, wanted in zip(RESOURCE_KINDS, need.as_tuple(), strict=True):
        sizes = [(_size(ledger, entry, shape, kind=kind), entry) for entry in entries]
        entries = [entry for size, entry in sizes if size >= wanted]
        if not entries:
            return LargerThanAnyNode(kind, wanted, max((s for s, _ in sizes), default=0))
    return None


def _size(ledger: CapacityLedger, entry: NodeEntry, shape: Shape, *, kind: ResourceKind) -> int:
    if kind is ResourceKind.GPU_MILLI:
        return MILLI * len(ledger.serving(entry, shape))
    return int(getattr(entry.capacity, kind.value))


_OPEN = (
    *(FilterReason.GPU_KIND, FilterReason.LABELS, FilterReason.POLICY, FilterReason.CPU),
    *(FilterReason.MEMORY, FilterReason.BLOCK, FilterReason.GPU),
)
"""What an open node may fall at, as an engine counts them."""
_CLOSED = (FilterReason.NODE_MODE, FilterReason.QUARANTINED, FilterReason.ATTESTATION)
_FULL = (FilterReason.CPU, FilterReason.MEMORY, FilterReason.BLOCK, FilterReason.GPU)


def advise(first: Denied | Approved, fallen: Mapping[FilterReason, int], *, fitting: int) -> Remedy:
    """What would clear the first obstacle, seeing where nodes fall.

    To wait for others helps nobody while no node is open on which they could make room.
    """
    found = remedy_for(first)
    closed = sum(fallen.get(reason, 0) for reason in _CLOSED)
    is_open = fitting or any(reason in fallen for reason in _FULL)
    if found.word is RemedyWord.WAIT_OR_PREEMPT and closed and not is_open:
        return Remedy(RemedyWord.OPEN_NODES, closed, "nodes")
    return found


def remedy_for(denied: Denied | Approved) -> Remedy:
    """What would clear this obstacle."""
    if isinstance(denied, Approved):
        return Remedy(RemedyWord.NOTHING_NEEDED)
    detail = denied.detail
    match detail:
        case GpuGenerationRequired():
            return Remedy(RemedyWord.DECLARE_GENERATION, detail.requested, "gpu_count")
        case DeadlinePassed() | NoSuchHardware():
            return Remedy(RemedyWord.CHANGE_REQUEST)
        case NodesForbidden():
            return Remedy(RemedyWord.CHANGE_POLICY, detail.nodes, "nodes")
        case LargerThanAnyNode():
            over = detail.requested - detail.largest
            return Remedy(RemedyWord.CHANGE_REQUEST, over, detail.resource)
        case GpuGenerationLimitExceeded():
            over = detail.used + detail.requested - detail.limit
            return Remedy(_quota_word(denied), over, detail.generation)
        case HardLimitExceeded() | BurstCreditExhausted():
            over = detail.used + detail.requested - detail.limit
            return Remedy(_quota_word(denied), over, detail.dimension)
        case BudgetExhausted():
            over = detail.spent_micros + detail.requested_micros - detail.budget_micros
            return Remedy(RemedyWord.RAISE_QUOTA, over, "budget_micros")
        case CostCapExceeded():
            over = detail.projected_micros - detail.cap_micros
            return Remedy(RemedyWord.RAISE_QUOTA, over, "cap_micros")
        case HeadroomKept():
            over = detail.requested + detail.kept - detail.free
            return Remedy(RemedyWord.WAIT_OR_PREEMPT, over, detail.resource)
        case RoomClaimed() | ReservedForOthers():
            return Remedy(RemedyWord.WAIT_OR_PREEMPT, detail.kept, detail.resource)
        case NodesKeptApart() | NodesMaintained() | NodesBooked():
            return Remedy(RemedyWord.WAIT_OR_PREEMPT, detail.nodes, "nodes")
        case NodeKeptApart():
            return Remedy(RemedyWord.WAIT_OR_PREEMPT, 1, "nodes")
        case NotEnoughFree():
            over = detail.requested - detail.free
            return Remedy(RemedyWord.WAIT_OR_PREEMPT, over, detail.resource)
        case Fragmented():
            left = detail.members - detail.placed
            return Remedy(RemedyWord.WAIT_OR_PREEMPT, left, "members")
        case VictimsLeaving():
            return Remedy(RemedyWord.WAIT_OR_PREEMPT, detail.leases, "leases")
        case NodeClosed():
            return Remedy(RemedyWord.OPEN_NODES, 1, "nodes")
        case NodesClosed():
            return Remedy(RemedyWord.OPEN_NODES, detail.nodes, "nodes")
        case ScopeClosed():
            return Remedy(RemedyWord.CHANGE_POLICY)
        case PriorityTooHigh() | LeaseClassForbidden():
            return Remedy(RemedyWord.RAISE_CEILING)
        case TooManyWaiting():
            return Remedy(RemedyWord.RAISE_CEILING, 1, "waiting")
        case TermReserved() | TermTooLong() | NodeMaintained() | NodeBooked():
            over = detail.requested_ms - detail.longest_ms
            return Remedy(RemedyWord.CHANGE_REQUEST, over, "ms")
        case _:
            assert_never(detail)


def _quota_word(denied: Denied) -> RemedyWord:
    """A tenant that would fit its own limit can free; one that never would needs a new limit."""
    if denied.reason is PendingReason.WAITING_FOR_QUOTA:
        return RemedyWord.FREE_OWN_LEASES
    return RemedyWord.RAISE_QUOTA


def _permitted(ledger: CapacityLedger, ready: Prepared) -> bytearray | None:
    """The nodes it may use, be it on some devices only."""
    return ledger.reach_of(ready, by_device=False).mask
