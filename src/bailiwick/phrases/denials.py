"""Why a request does not run: what kind of obstacle, which rule, and its numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, assert_never

from bailiwick.phrases.amounts import credits, plural, short_amount
from bailiwick.phrases.templates import fill
from bailiwick.scheduler.decision import (
    CapacityDenied,
    DeadlinePassed,
    DenialDetail,
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
from bailiwick.scheduler.quota_policy import (
    BudgetExhausted,
    BurstCreditExhausted,
    CostCapExceeded,
    GpuGenerationLimitExceeded,
    GpuGenerationRequired,
    HardLimitExceeded,
)
from bailiwick.scheduler.rights.denials import (
    LeaseClassForbidden,
    PriorityTooHigh,
    ScopeClosed,
    TermTooLong,
    TooManyWaiting,
)
from bailiwick.vocab.words import CapacityDenial, QuotaViolation, RightsDenial

Spell: TypeAlias = Callable[[int], str]
DenialWord: TypeAlias = CapacityDenial | QuotaViolation | RightsDenial


_OF: Final = "[denied_scope? of {denied_scope:scope}]"
_OVER: Final = (
    "{requested:amount dimension} asked, {used:amount dimension} of {limit:amount dimension}"
    f" in the quota{_OF} used"
)
_ASKED: Final = "{requested:amount resource} asked"

DENIALS: Final[Mapping[DenialWord, str]] = {
    CapacityDenial.DEADLINE_PASSED: "its deadline passed {now_ms-deadline_ms:span} ago",
    CapacityDenial.NO_SUCH_HARDWARE: (
        "no node (of {nodes:count}) has the devices or labels that were named"
    ),
    CapacityDenial.NODES_FORBIDDEN: "policy closes all {nodes:plural node} that have the hardware",
    CapacityDenial.LARGER_THAN_ANY_NODE: (
        f"{_ASKED}, the largest node has {{largest:amount resource}}"
    ),
    CapacityDenial.HEADROOM_KEPT: (
        f"{_ASKED}, {{free:amount resource}} free, "
        "of which {kept:amount resource} is kept for more urgent work"
    ),
    CapacityDenial.ROOM_CLAIMED: (
        f"{_ASKED}, {{kept:amount resource}} is kept for a request for which others had to leave"
    ),
    CapacityDenial.ROOM_RESERVED: (
        f"{_ASKED}, {{kept:amount resource}} is kept for a request ahead of it, "
        "which it would outlast"
    ),
    CapacityDenial.NODES_KEPT_APART: (
        "policy keeps it apart from what runs now wherever it would fit"
        "[rule?: rule {rule} on {nodes:plural node}]"
    ),
    CapacityDenial.NOT_ENOUGH_FREE: f"{_ASKED}, {{free:amount resource}} free in all",
    CapacityDenial.FRAGMENTED: (
        "enough is free over {nodes:plural node}, but {placed} of {members} members find it in "
        "one place"
    ),
    CapacityDenial.VICTIMS_LEAVING: (
        "{leases:plural lease} of others must leave first, by {until_ms:moment}"
    ),
    CapacityDenial.NODES_CLOSED: "nodes that could hold it: {nodes:count}, all closed",
    CapacityDenial.NODE_CLOSED: "{node} takes no leases now ({closed_by})",
    CapacityDenial.NODE_KEPT_APART: (
        "{node}, where it runs, is closed to it for so long by rule {rule}"
    ),
    CapacityDenial.TERM_RESERVED: (
        "{requested_ms:span} asked, but a request that waits is to start by {starts_ms:moment}; "
        "up to {longest_ms:span} would do"
    ),
    CapacityDenial.NODES_MAINTAINED: (
        "it would not have ended when {nodes:plural node} are maintained, the last from "
        "{starts_ms:moment}; a term of {longest_ms:span} might fit"
    ),
    CapacityDenial.NODE_MAINTAINED: (
        "{requested_ms:span} asked, but {node}, where it runs, is maintained from "
        "{starts_ms:moment}; up to {longest_ms:span} would do"
    ),
    CapacityDenial.NODES_BOOKED: (
        "bookings close {nodes:plural node} to it, the last from {until_ms:moment}; a term of "
        "{longest_ms:span} might fit"
    ),
    CapacityDenial.NODE_BOOKED: (
        "{requested_ms:span} asked, but a booking closes {node}, where it runs, to it from "
        "{until_ms:moment}; up to {longest_ms:span} would do"
    ),
    RightsDenial.SCOPE_CLOSED: "[denied_scope?{denied_scope:scope}|the place] is closed",
    RightsDenial.PRIORITY_TOO_HIGH: (
        f"priority {{asked_priority}} asked, the highest{_OF} is {{priority_max}}"
    ),
    RightsDenial.LEASE_CLASS_FORBIDDEN: f"{{asked_class}} leases may not be asked for{_OF}",
    RightsDenial.TERM_TOO_LONG: (
        f"a term of {{requested_ms:span}} asked, the longest{_OF} is {{longest_ms:span}}"
    ),
    RightsDenial.TOO_MANY_WAITING: (
        f"{{waiting:count}} requests wait{_OF}, and {{waiting_max:count}} may"
    ),
    QuotaViolation.GPU_GENERATION_REQUIRED: (
        f"{{requested:plural GPU}} asked of no stated generation, but the quota{_OF} is by "
        "generation"
    ),
    QuotaViolation.GPU_GENERATION_LIMIT_EXCEEDED: (
        "{requested:count} {denied_generation} asked, "
        f"[limit?{{used:count}} of {{limit:count}} in the quota{_OF} used|"
        f"a generation that the quota{_OF} does not list]"
    ),
    QuotaViolation.HARD_LIMIT_EXCEEDED: _OVER,
    QuotaViolation.BURST_CREDIT_EXHAUSTED: (
        f"{_OVER}, burst credit {{credit:count}}[credit_needed? of {{credit_needed:count}} needed]"
    ),
    QuotaViolation.BUDGET_EXHAUSTED: (
        "{requested_micros:money} asked, {budget_micros-spent_micros:money} of the "
        f"budget{_OF} of {{budget_micros:money}} left"
    ),
    QuotaViolation.COST_CAP_EXCEEDED: (
        f"the cost would come to {{projected_micros:money}}, the cap{_OF} is {{cap_micros:money}}"
    ),
}
"""One obstacle with its numbers, by the names that the contract and the journal give them."""


def phrase_denial(facts: Mapping[str, Any]) -> str:
    """One obstacle with its numbers, in one sentence; ``detail`` among them says which."""
    return fill(_BY_WORD[facts["detail"]], facts)


_BY_WORD: Final = {word.value: text for word, text in DENIALS.items()}


def denial_numbers(detail: DenialDetail, *, when: Spell, late: Spell) -> str:
    """The numbers behind a denial, to stand beside its word.

    ``when`` spells a moment and ``late`` a length of time, on the clock that counts there.
    """
    match detail:
        case GpuGenerationRequired():
            return f"{plural(detail.requested, 'GPU')} requested, no generation named"
        case GpuGenerationLimitExceeded():
            return f"{detail.generation}: {_limits(detail)}"
        case HardLimitExceeded():
            return f"{_whose(detail)}: {_limits(detail, detail.dimension)}"
        case BurstCreditExhausted():
            return f"{_whose(detail)}: {_limits(detail, detail.dimension)}, {_credit(detail)}"
        case BudgetExhausted():
            return (
                f"budget {credits(detail.budget_micros)}, spent {credits(detail.spent_micros)},"
                f" requested {credits(detail.requested_micros)}"
            )
        case CostCapExceeded():
            cap, projected = credits(detail.cap_micros), credits(detail.projected_micros)
            return f"cap {cap}, heading for {projected}"
        case ScopeClosed():
            return f"{detail.scope} is closed"
        case PriorityTooHigh():
            return f"priority {detail.asked_priority}, highest {detail.priority_max}"
        case LeaseClassForbidden():
            return f"class {detail.asked_class} is not open to it"
        case TermTooLong():
            return f"term {late(detail.requested_ms)}, longest {late(detail.longest_ms)}"
        case TooManyWaiting():
            return f"{detail.waiting} wait, {detail.waiting_max} may"
        case _:
            return _capacity(detail, when, late)


def _capacity(detail: CapacityDenied, when: Spell, late: Spell) -> str:
    match detail:
        case DeadlinePassed():
            ago = late(detail.now_ms - detail.deadline_ms)
            return f"had to start by {when(detail.deadline_ms)}, {ago} ago"
        case NoSuchHardware():
            return f"none of {detail.nodes} nodes has such devices, busy or not"
        case NodesForbidden():
            return f"policy closes all {detail.nodes} suitable nodes"
        case LargerThanAnyNode():
            asked = short_amount(detail.resource, detail.requested)
            return f"{detail.resource}: {asked} requested, {_largest(detail)}"
        case HeadroomKept():
            return _kept(detail, "for urgent work")
        case RoomClaimed():
            return _kept(detail, "for a request for which others left")
        case ReservedForOthers():
            return _kept(detail, "for a request ahead of it, which it would outlast")
        case NodesKeptApart():
            by = "policy" if detail.rule is None else f"rule {detail.rule}"
            return f"{by} keeps it apart from what runs on {plural(detail.nodes, 'node')}"
        case NotEnoughFree():
            return f"{detail.resource}: " + _numbers(
                detail.resource, free=detail.free, requested=detail.requested
            )
        case Fragmented():
            placed = f"{detail.placed} of {plural(detail.members, 'member')} placed"
            return f"{placed} on {detail.nodes} suitable nodes"
        case VictimsLeaving():
            return f"{plural(detail.leases, 'lease')} leaving by {when(detail.until_ms)}"
        case NodesClosed():
            return f"{plural(detail.nodes, 'node')} that could hold it closed"
        case NodeClosed():
            return f"{detail.node} is closed ({detail.closed_by})"
        case NodeKeptApart():
            return f"rule {detail.rule} closes {detail.node} to it"
        case TermReserved():
            asked, most = late(detail.requested_ms), late(detail.longest_ms)
            return f"term {asked}, {most} before another is to start at {when(detail.starts_ms)}"
        case NodesMaintained():
            most, nodes = late(detail.longest_ms), plural(detail.nodes, "node")
            return f"maintenance of {nodes} from {when(detail.starts_ms)}, {most} before it"
        case NodeMaintained():
            asked, most = late(detail.requested_ms), late(detail.longest_ms)
            return f"term {asked}, {most} before {detail.node} is maintained"
        case NodesBooked():
            most, nodes = late(detail.longest_ms), plural(detail.nodes, "node")
            return f"bookings close {nodes} from {when(detail.until_ms)}, {most} before it"
        case NodeBooked():
            asked, most = late(detail.requested_ms), late(detail.longest_ms)
            return f"term {asked}, {most} before a booking closes {detail.node}"
        case _:
            assert_never(detail)


def _kept(detail: HeadroomKept | RoomClaimed | ReservedForOthers, whom: str) -> str:
    unit = detail.resource
    free, kept, asked = (
        short_amount(unit, n) for n in (detail.free, detail.kept, detail.requested)
    )
    return f"{unit}: free {free}, kept {kept} {whom}, requested {asked}"


def _whose(detail: HardLimitExceeded | BurstCreditExhausted) -> str:
    return f"{detail.dimension} of {detail.scope}" if detail.scope else str(detail.dimension)


def _largest(detail: LargerThanAnyNode) -> str:
    return f"the largest node has {short_amount(detail.resource, detail.largest)}"


def _limits(
    detail: GpuGenerationLimitExceeded | HardLimitExceeded | BurstCreditExhausted, unit: str = ""
) -> str:
    return _numbers(unit, limit=detail.limit, used=detail.used, requested=detail.requested)


def _credit(detail: BurstCreditExhausted) -> str:
    needed = f" of {detail.credit_needed:,} needed" if detail.credit_needed else ""
    return f"credit {detail.credit:,}{needed}"


def _numbers(unit: str, **values: int) -> str:
    return ", ".join(f"{name} {short_amount(unit, value)}" for name, value in values.items())
