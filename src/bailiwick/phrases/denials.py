"""Why a request does not run: what kind of obstacle, which rule, and its numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, assert_never

from bailiwick.phrases.amounts import amount, credits, money, plural, short_amount, span
from bailiwick.phrases.times import moment
from bailiwick.scheduler.decision import (
    CapacityDenied,
    DeadlinePassed,
    DenialDetail,
    Fragmented,
    HeadroomKept,
    LargerThanAnyNode,
    NodeClosed,
    NodeKeptApart,
    NodesClosed,
    NodesForbidden,
    NodesKeptApart,
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
    QuotaDenied,
)
from bailiwick.scheduler.rights.denials import (
    LeaseClassForbidden,
    PriorityTooHigh,
    RightsDenied,
    ScopeClosed,
    TermTooLong,
    TooManyWaiting,
)

Spell: TypeAlias = Callable[[int], str]


def phrase_denial(denied: DenialDetail) -> str:
    """One obstacle with its numbers, in one sentence."""
    if isinstance(denied, RightsDenied):
        return _phrase_rights(denied)
    if isinstance(denied, QuotaDenied):
        return _phrase_quota(denied)
    match denied:
        case DeadlinePassed():
            return f"its deadline passed {span(denied.now_ms - denied.deadline_ms)} ago"
        case NoSuchHardware():
            return f"no node (of {denied.nodes:,}) has the devices or labels that were named"
        case NodesForbidden():
            return f"policy closes all {plural(denied.nodes, 'node')} that have the hardware"
        case LargerThanAnyNode():
            most = amount(denied.resource, denied.largest)
            return f"{amount(denied.resource, denied.requested)} asked, the largest node has {most}"
        case HeadroomKept():
            kept = amount(denied.resource, denied.kept)
            return (
                f"{amount(denied.resource, denied.requested)} asked, "
                f"{amount(denied.resource, denied.free)} free, "
                f"of which {kept} is kept for more urgent work"
            )
        case RoomClaimed() | ReservedForOthers():
            kept = amount(denied.resource, denied.kept)
            whom = "a request for which others had to leave"
            if isinstance(denied, ReservedForOthers):
                whom = "a request ahead of it, which it would outlast"
            return f"{amount(denied.resource, denied.requested)} asked, {kept} is kept for {whom}"
        case NodesKeptApart():
            where = "policy keeps it apart from what runs now wherever it would fit"
            if denied.rule is None:
                return where
            return f"{where}: rule {denied.rule} on {plural(denied.nodes, 'node')}"
        case NotEnoughFree():
            free = amount(denied.resource, denied.free)
            return f"{amount(denied.resource, denied.requested)} asked, {free} free in all"
        case Fragmented():
            return (
                f"enough is free over {plural(denied.nodes, 'node')}, but {denied.placed} of "
                f"{denied.members} members find it in one place"
            )
        case VictimsLeaving():
            leases = amount("lease_count", denied.leases)
            return f"{leases} of others must leave first, by {moment(denied.until_ms)}"
        case NodesClosed():
            return f"nodes that could hold it: {denied.nodes:,}, all closed"
        case NodeClosed():
            return f"{denied.node} takes no leases now ({denied.closed_by.value})"
        case NodeKeptApart():
            return (
                f"{denied.node}, where it runs, is closed to it for so long by rule {denied.rule}"
            )
        case TermReserved():
            return (
                f"{span(denied.requested_ms)} asked, but a request that waits is to start by "
                f"{moment(denied.starts_ms)}; up to {span(denied.longest_ms)} would do"
            )
        case _:
            assert_never(denied)


def _phrase_rights(denied: RightsDenied) -> str:
    whose = f" of {denied.scope}" if denied.scope else ""
    match denied:
        case ScopeClosed():
            return f"{denied.scope} is closed"
        case PriorityTooHigh():
            most = denied.priority_max.value
            return f"priority {denied.asked_priority.value} asked, the highest{whose} is {most}"
        case LeaseClassForbidden():
            return f"{denied.asked_class.value} leases may not be asked for{whose}"
        case TermTooLong():
            most = span(denied.longest_ms)
            return f"a term of {span(denied.requested_ms)} asked, the longest{whose} is {most}"
        case TooManyWaiting():
            return f"{denied.waiting:,} requests wait{whose}, and {denied.waiting_max:,} may"
        case _:
            assert_never(denied)


def _phrase_quota(denied: QuotaDenied) -> str:
    whose = f" of {denied.scope}" if denied.scope else ""
    match denied:
        case GpuGenerationRequired():
            asked = amount("gpu_count", denied.requested)
            return f"{asked} asked of no stated generation, but the quota{whose} is by generation"
        case GpuGenerationLimitExceeded(limit=0):
            asked = f"{denied.requested:,} {denied.generation.value} asked"
            return f"{asked}, a generation that the quota{whose} does not list"
        case GpuGenerationLimitExceeded():
            return (
                f"{denied.requested:,} {denied.generation.value} asked, {denied.used:,} of "
                f"{denied.limit:,} in the quota{whose} used"
            )
        case HardLimitExceeded():
            return _over(denied.dimension, denied, whose)
        case BurstCreditExhausted():
            return f"{_over(denied.dimension, denied, whose)}, burst {_credit(denied)}"
        case BudgetExhausted():
            left = max(0, denied.budget_micros - denied.spent_micros)
            return (
                f"{money(denied.requested_micros)} asked, {money(left)} of the budget{whose} of "
                f"{money(denied.budget_micros)} left"
            )
        case CostCapExceeded():
            cost = money(denied.projected_micros)
            return f"the cost would come to {cost}, the cap{whose} is {money(denied.cap_micros)}"
        case _:
            assert_never(denied)


def _over(unit: str, denied: HardLimitExceeded | BurstCreditExhausted, whose: str) -> str:
    used, limit = amount(unit, denied.used), amount(unit, denied.limit)
    return f"{amount(unit, denied.requested)} asked, {used} of {limit} in the quota{whose} used"


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
