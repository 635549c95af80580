"""Sentences for people, made here and only here, from the library's words and numbers.

A closed word is always shown as it is spelled; what stands beside it explains it.
"""

from __future__ import annotations

from typing import assert_never

from bailiwick import (
    BudgetExhausted,
    BurstCreditExhausted,
    CapacityDenied,
    CostCapExceeded,
    DeadlinePassed,
    Dimension,
    FilterReason,
    Fragmented,
    GpuGenerationLimitExceeded,
    GpuGenerationRequired,
    HardLimitExceeded,
    HeadroomKept,
    LargerThanAnyNode,
    NodesForbidden,
    NoSuchHardware,
    NotEnoughFree,
    PlacementRequest,
    QuotaDenied,
    Remedy,
    RemedyWord,
    ResourceKind,
    VictimsLeaving,
)
from bailiwick.demo.fleet import GIB, HOUR_MS, TIB

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
GPU_HOUR = 1_000 * HOUR_MS
"""One GPU for one hour, in milli-shares times milliseconds."""


def moment(at_ms: int) -> str:
    """A simulated time: weekday and clock."""
    days, minutes = divmod(at_ms // 60_000, 1440)
    return f"{DAYS[days % 7]} {minutes // 60:02}:{minutes % 60:02}"


def duration(ms: int) -> str:
    """A length of time, as one would say it."""
    minutes = ms / 60_000
    if minutes < 1:
        return "at once"
    if minutes < 90:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.1f} h" if minutes < 2880 else f"{minutes / 1440:.1f} days"


def percent(part: float, whole: float = 1.0) -> str:
    """A part of a whole."""
    return f"{100 * part / whole:.0f}%" if whole else "·"


def gpu_hours(micros: int) -> str:
    """GPU time in hours; small amounts keep a decimal."""
    hours = micros / GPU_HOUR
    return f"{hours:,.0f}" if hours >= 100 or not micros else f"{hours:,.1f}"


def plural(count: int, noun: str) -> str:
    """A number and its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def gpus(milli: int) -> str:
    """GPU shares as GPUs."""
    return plural(milli // 1000, "GPU") if milli % 1000 == 0 else f"{milli / 1000:g} GPUs"


def amount(unit: str, value: int) -> str:
    """An amount of a resource: bytes made readable, all else as it is counted."""
    if unit in (ResourceKind.MEM_BYTES, ResourceKind.BLOCK_BYTES, Dimension.GPU_VRAM):
        return f"{value / TIB:.1f} TiB" if value >= TIB else f"{value / GIB:,.0f} GiB"
    if unit.endswith("_micros"):
        return credits(value)
    return f"{value:,}"


def credits(micros: int) -> str:
    """Money."""
    return f"{micros / 10**6:,.2f} credits"


def asks(request: PlacementRequest) -> str:
    """What a request is for, in one line."""
    each = f"{request.cpu_milli // 1000} cores, {amount('mem_bytes', request.mem_bytes)}"
    if request.device_count:
        family = request.generation or "GPU of any generation"
        each = f"{gpus(request.gpu_milli_total)} {family}, {each}"
    members = f"{request.gang_size} members, each " if request.gang_size > 1 else ""
    return f"{members}{each}; {request.priority}, {request.lease_class}"


def denial(detail: QuotaDenied | CapacityDenied) -> str:
    """The numbers behind a denial."""
    match detail:
        case GpuGenerationRequired():
            return f"{plural(detail.requested, 'GPU')} requested, no generation named"
        case GpuGenerationLimitExceeded():
            return f"{detail.generation}: {_limits(detail)}"
        case HardLimitExceeded():
            return f"{_whose(detail)}: {_limits(detail, detail.dimension)}"
        case BurstCreditExhausted():
            return f"{_whose(detail)}: {_limits(detail, detail.dimension)}, credit {detail.credit}"
        case BudgetExhausted():
            return (
                f"budget {credits(detail.budget_micros)}, spent {credits(detail.spent_micros)},"
                f" requested {credits(detail.requested_micros)}"
            )
        case CostCapExceeded():
            cap, projected = credits(detail.cap_micros), credits(detail.projected_micros)
            return f"cap {cap}, heading for {projected}"
        case _:
            return _capacity(detail)


def _capacity(detail: CapacityDenied) -> str:
    match detail:
        case DeadlinePassed():
            late = duration(detail.now_ms - detail.deadline_ms)
            return f"had to start by {moment(detail.deadline_ms)}, {late} ago"
        case NoSuchHardware():
            return f"none of {detail.nodes} nodes has such devices, busy or not"
        case NodesForbidden():
            return f"policy closes all {detail.nodes} suitable nodes"
        case LargerThanAnyNode():
            asked = amount(detail.resource, detail.requested)
            return f"{detail.resource}: {asked} requested, {_largest(detail)}"
        case HeadroomKept():
            return _kept(detail)
        case NotEnoughFree():
            return f"{detail.resource}: " + _numbers(
                detail.resource, free=detail.free, requested=detail.requested
            )
        case Fragmented():
            placed = f"{detail.placed} of {plural(detail.members, 'member')} placed"
            return f"{placed} on {detail.nodes} suitable nodes"
        case VictimsLeaving():
            return f"{plural(detail.leases, 'lease')} leaving by {moment(detail.until_ms)}"
        case _:
            assert_never(detail)


def _kept(detail: HeadroomKept) -> str:
    """Room kept for the urgent, or (when enough would stay free) for the request ahead in line."""
    unit = detail.resource
    free, kept, asked = (amount(unit, n) for n in (detail.free, detail.kept, detail.requested))
    whom = "for urgent work"
    if detail.free - detail.requested >= detail.kept:
        whom = "where it would fit, for a request ahead of it"
    return f"{unit}: free {free}, kept {kept} {whom}, requested {asked}"


def _whose(detail: HardLimitExceeded | BurstCreditExhausted) -> str:
    return f"{detail.dimension} of {detail.scope}" if detail.scope else str(detail.dimension)


def _largest(detail: LargerThanAnyNode) -> str:
    return f"the largest node has {amount(detail.resource, detail.largest)}"


def _limits(
    detail: GpuGenerationLimitExceeded | HardLimitExceeded | BurstCreditExhausted, unit: str = ""
) -> str:
    return _numbers(unit, limit=detail.limit, used=detail.used, requested=detail.requested)


def _numbers(unit: str, **values: int) -> str:
    return ", ".join(f"{name} {amount(unit, value)}" for name, value in values.items())


FALLEN = {
    FilterReason.NODE_MODE: "not accepting: draining or in maintenance",
    FilterReason.QUARANTINED: "quarantined, not trusted now",
    FilterReason.ATTESTATION: "have yet to prove what is asked of them",
    FilterReason.GPU_KIND: "have no GPU of the kind asked for",
    FilterReason.LABELS: "do not carry the labels asked for",
    FilterReason.POLICY: "kept for others by policy",
    FilterReason.CPU: "right kind, too few cores free",
    FilterReason.MEMORY: "right kind, too little memory free",
    FilterReason.BLOCK: "right kind, too little storage free",
    FilterReason.GPU: "right kind, too few GPUs free",
}
"""Why a node fell at a filter."""


def remedy(advice: Remedy) -> str:
    """What would clear the first blocker."""
    what = f"{amount(advice.unit, advice.amount)} {advice.unit}".strip()
    match advice.word:
        case RemedyWord.NOTHING_NEEDED:
            return "nothing stands in the way"
        case RemedyWord.DECLARE_GENERATION:
            return "name the GPU generation"
        case RemedyWord.CHANGE_REQUEST:
            return "ask for something this fleet has"
        case RemedyWord.CHANGE_POLICY:
            return f"a policy that opens some of {what}"
        case RemedyWord.RAISE_QUOTA:
            return f"a limit higher by {what}"
        case RemedyWord.FREE_OWN_LEASES:
            return f"give back {what} of its own"
        case RemedyWord.OPEN_NODES:
            return f"{what} that could serve it must attest, or be opened by an operator"
        case RemedyWord.WAIT_OR_PREEMPT:
            if advice.unit == "members":
                return f"wait until {plural(advice.amount, 'more member')} can be placed, or evict"
            return f"wait until {what} more come free, or evict"
        case _:
            assert_never(advice.word)
