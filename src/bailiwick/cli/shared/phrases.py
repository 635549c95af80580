"""Decisions in words for a person: denials with their numbers, remedies, estimates, filters.

Rules:

- A sentence is made here, from the word and the numbers that the contract gives; nothing is
  guessed and nothing is left out.
- Every closed word has its sentence; one without is a type error or fails a test.
"""

from __future__ import annotations

from typing import Final, assert_never

from bailiwick.cli.shared.screen import milli, money, printable, size, span
from bailiwick.vocab.trust import MintDenial
from bailiwick.vocab.words import PendingReason
from bailiwick.wire import answers as ans
from bailiwick.wire.words import EstimateWord

REASONS: Final[dict[PendingReason, str]] = {
    PendingReason.MISCONFIGURED: "the request itself must change",
    PendingReason.FORBIDDEN: "policy forbids it",
    PendingReason.EXCEEDS_MAXIMUM: "it is larger than anything there is",
    PendingReason.WAITING_FOR_QUOTA: "it waits for quota",
    PendingReason.WAITING_FOR_CAPACITY: "it waits for free capacity",
    PendingReason.FRAGMENTED: "enough is free, but not on one node",
    PendingReason.WAITING_FOR_VICTIMS: "it waits for others to leave",
    PendingReason.NOT_YET_LOOKED_AT: "others are before it in the line",
}

FILTERS: Final[dict[str, str]] = {
    "node_mode": "are not accepting work",
    "quarantined": "are quarantined",
    "attestation": "have not proven what is asked of them",
    "gpu_kind": "have no such GPU",
    "labels": "lack a label",
    "policy": "are closed to it by policy",
    "cpu": "have too few free cores",
    "memory": "have too little free memory",
    "block": "have too little free storage",
    "gpu": "have no such GPU free",
}

MINT_DENIALS: Final[dict[MintDenial, str]] = {
    MintDenial.NO_SUCH_LEASE: "there is no such lease, or it is not yours",
    MintDenial.NOT_OWNER: "the lease is another tenant's",
    MintDenial.LEASE_ENDING: "the lease is ending or over",
    MintDenial.STALE_GENERATION: "the lease was renewed since; read it again",
    MintDenial.NODE_QUARANTINED: "its node is quarantined",
    MintDenial.WRONG_AUDIENCE: "the lease is not on that node",
    MintDenial.NO_OPERATION: "it would allow nothing",
    MintDenial.TTL_TOO_LONG: "no token lives longer than 5 minutes",
    MintDenial.NODE_MINTS: "its node mints tokens itself; ask there",
}

_ESTIMATES: Final[dict[EstimateWord, str]] = {
    "fits_now": "it fits now",
    "reservation": "a place is reserved from then on",
    "victims": "those who make room are gone by then",
    "expiry": "leases in its way end by then",
    "waits_for_quota": "no time can be told: it waits for its own quota",
    "beyond_horizon": "no time can be told: beyond what is planned ahead",
    "waiting_does_not_help": "waiting does not help",
}


def amount(unit: str, value: int) -> str:
    """An amount of a resource or a quota's dimension, with its unit.

    >>> amount("mem_bytes", 2**36), amount("gpu_milli", 1500), amount("cpu_milli", 4000)
    ('64 GiB of memory', '1.5 GPUs', '4 cores')
    """
    match unit:
        case "cpu_milli":
            return f"{milli(value)} core{'' if value == 1000 else 's'}"
        case "mem_bytes":
            return f"{size(value)} of memory"
        case "block_bytes":
            return f"{size(value)} of block storage"
        case "gpu_milli":
            return f"{milli(value)} GPU{'' if value == 1000 else 's'}"
        case "gpu_vram":
            return f"{size(value)} of GPU memory"
        case "gpu_count":
            return f"{value:,} GPU{'' if value == 1 else 's'}"
        case "lease_count":
            return f"{value:,} lease{'' if value == 1 else 's'}"
        case _:
            return f"{value:,} {unit}".rstrip()


def phrase_denial(denied: ans.Denial) -> str:
    """One obstacle with its numbers, in one sentence."""
    match denied:
        case (
            ans.GpuGenerationRequired()
            | ans.GpuGenerationLimitExceeded()
            | ans.HardLimitExceeded()
            | ans.BurstCreditExhausted()
            | ans.BudgetExhausted()
            | ans.CostCapExceeded()
        ):
            return _phrase_quota(denied)
        case ans.DeadlinePassed():
            return f"its deadline passed {span(denied.now_ms - denied.deadline_ms)} ago"
        case ans.NoSuchHardware():
            return f"no node (of {denied.nodes:,}) has the devices or labels that were named"
        case ans.NodesForbidden():
            return f"policy closes all {_nodes(denied.nodes)} that have the hardware"
        case ans.LargerThanAnyNode():
            most = amount(denied.resource, denied.largest)
            return f"{amount(denied.resource, denied.requested)} asked, the largest node has {most}"
        case ans.HeadroomKept():
            kept = amount(denied.resource, denied.kept)
            return (
                f"{amount(denied.resource, denied.requested)} asked, "
                f"{amount(denied.resource, denied.free)} free, "
                f"of which {kept} is kept for more urgent work"
            )
        case ans.NotEnoughFree():
            free = amount(denied.resource, denied.free)
            return f"{amount(denied.resource, denied.requested)} asked, {free} free in all"
        case ans.Fragmented():
            return (
                f"enough is free over {_nodes(denied.nodes)}, but {denied.placed} of "
                f"{denied.members} members find it in one place"
            )
        case ans.VictimsLeaving():
            leases = amount("lease_count", denied.leases)
            return f"{leases} of others must leave first, by {moment(denied.until_ms)}"
        case _:
            assert_never(denied)


def _phrase_quota(
    denied: ans.GpuGenerationRequired
    | ans.GpuGenerationLimitExceeded
    | ans.HardLimitExceeded
    | ans.BurstCreditExhausted
    | ans.BudgetExhausted
    | ans.CostCapExceeded,
) -> str:
    scope = "/".join(denied.denied_scope or ())
    whose = f" of {scope}" if scope else ""
    match denied:
        case ans.GpuGenerationRequired():
            asked = amount("gpu_count", denied.requested)
            return f"{asked} asked of no stated generation, but the quota{whose} is by generation"
        case ans.GpuGenerationLimitExceeded():
            return (
                f"{denied.requested:,} {denied.denied_generation.value} asked, {denied.used:,} of "
                f"{denied.limit:,} in the quota{whose} used"
            )
        case ans.HardLimitExceeded():
            return _over(denied.dimension, denied, whose)
        case ans.BurstCreditExhausted():
            credit = f"burst credit {denied.credit:,}"
            return f"{_over(denied.dimension, denied, whose)}, {credit}"
        case ans.BudgetExhausted():
            left = max(0, denied.budget_micros - denied.spent_micros)
            return (
                f"{money(denied.requested_micros)} asked, {money(left)} of the budget{whose} of "
                f"{money(denied.budget_micros)} left"
            )
        case ans.CostCapExceeded():
            cost = money(denied.projected_micros)
            return f"the cost would come to {cost}, the cap{whose} is {money(denied.cap_micros)}"
        case _:
            assert_never(denied)


def _over(unit: str, denied: ans.HardLimitExceeded | ans.BurstCreditExhausted, whose: str) -> str:
    used, limit = amount(unit, denied.used), amount(unit, denied.limit)
    return f"{amount(unit, denied.requested)} asked, {used} of {limit} in the quota{whose} used"


def fix_of(denied: ans.Denial) -> str:
    """What a person can do about a denial."""
    match denied.reason:
        case PendingReason.MISCONFIGURED | PendingReason.EXCEEDS_MAXIMUM:
            return "change the request; bailiwick fleet shows what there is"
        case PendingReason.FORBIDDEN:
            return "ask an operator which nodes are open to you"
        case PendingReason.WAITING_FOR_QUOTA:
            return "end something of your own, or ask for more quota: bailiwick quota show"
        case (
            PendingReason.WAITING_FOR_CAPACITY
            | PendingReason.FRAGMENTED
            | PendingReason.WAITING_FOR_VICTIMS
            | PendingReason.NOT_YET_LOOKED_AT
        ):
            return "try again later, or let it wait"
        case _:
            assert_never(denied.reason)


def phrase_remedy(remedy: str, *, value: int, unit: str) -> str:
    """The one change that would clear the first blocker."""
    by = f" by {amount(unit, value)}" if value else ""
    match remedy:
        case "nothing_needed":
            return "nothing: it only has to wait its turn"
        case "declare_generation":
            return "name a GPU generation, such as --generation nvidia_hopper"
        case "change_request":
            less = f"ask for {amount(unit, value)} less"
            return less if value else "ask for something that there is"
        case "change_policy":
            return "an operator would have to open nodes to it"
        case "raise_quota":
            return f"a higher quota{by}"
        case "free_own_leases":
            return f"end leases of your own{by}"
        case "open_nodes":
            closed = "the one node is" if value == 1 else f"all {value} nodes are"
            return f"{closed} closed: to be opened, or to attest (bailiwick node list)"
        case "wait_or_preempt":
            return f"wait until others free {amount(unit, value)}" if by else "wait, or be urgent"
        case _:
            return printable(remedy)


def phrase_estimate(found: ans.Estimate) -> str:
    """When it may start; always told as the guess that it is."""
    why = _ESTIMATES[found.basis]
    if found.starts_ms is None:
        return why
    from time import time

    is_due = found.starts_ms <= time() * 1000
    return f"{'now' if is_due else 'about ' + moment(found.starts_ms)}; an estimate: {why}"


def phrase_price(price: ans.Price) -> str:
    """What an hour and the whole term cost."""
    name = printable(price.currency)
    hour, total = money(price.micros_per_hour), money(price.micros_total)
    return f"{hour} {name} an hour, {total} {name} for the whole term"


def moment(at_ms: int) -> str:
    """A moment on this machine's clock, and how far away it is."""
    from time import time

    away = at_ms - int(time() * 1000)
    return f"{clock(at_ms)} ({'in ' + span(away) if away >= 0 else span(-away) + ' ago'})"


def clock(at_ms: int | None) -> str:
    """Date and time of day on this machine's clock, to the second, with its distance from UTC."""
    from datetime import UTC, datetime

    if at_ms is None:
        return "-"
    try:
        at = datetime.fromtimestamp(at_ms / 1000, UTC).astimezone()
    except (OverflowError, ValueError, OSError):
        return f"{at_ms} ms"
    return at.isoformat(" ", "seconds").replace("+00:00", "Z")


def age(since_ms: int | None) -> str:
    """How long ago, in its two largest units."""
    from time import time

    return "-" if since_ms is None else span(max(0, int(time()) * 1000 - since_ms))


def _nodes(count: int) -> str:
    return f"{count:,} node{'' if count == 1 else 's'}"
