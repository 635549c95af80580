"""What does not fit in metered events or books, one sentence each, with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from bailiwick.metering.report import Finding, ReportFindingWord
from bailiwick.phrases.amounts import span
from bailiwick.phrases.times import clock


def _seconds(finding: Finding) -> str:
    whole, part = divmod(finding.gpu_micro_seconds, 10**6)
    decimals = f".{part:06}".rstrip("0") if part else ""
    return f"{whole:,}{decimals} GPU-seconds"


def _gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"


def _others(finding: Finding) -> str:
    names = ", ".join(finding.others[:8])
    more = len(finding.others) - 8
    return f"{names} and {more} more" if more > 0 else names


def _overlap(f: Finding) -> str:
    where = f" on {f.node}" if f.node else ""
    if not f.wanted:
        return f"{f.why}{where}; the other is {_others(f)}"
    held = f", while {_others(f)} ran there" if f.others else ""
    reason = f" ({f.why})" if f.why else ""
    lost = f": its {_seconds(f)} are not counted" if f.by_ms else ": it is not counted"
    return f"it holds {_gpus(f.wanted)}{where}, and {f.found} were free{held}{reason}{lost}"


def _time_went_back(f: Finding) -> str:
    if f.gpus:
        return f"it ends at {clock(f.at_ms)}, {span(f.by_ms)} before it starts: it is not counted"
    return f"{clock(f.at_ms)} lies {span(f.by_ms)} before what came earlier, and is taken as that"


def _past_end(f: Finding) -> str:
    extra = f", {_seconds(f)} too many" if f.gpus else ""
    return f"it was charged until {clock(f.at_ms)}, {span(f.by_ms)} after it had ended{extra}"


def _doubt(f: Finding) -> str:
    most = f": up to {span(f.by_ms)}, {_seconds(f)}, may be too many" if f.by_ms else ""
    return f"it is charged until {clock(f.at_ms)}, and may have ended before; {f.why}{most}"


def _never_ended(f: Finding) -> str:
    held = f" with {_gpus(f.gpus)}" if f.gpus else ""
    since = f"told as running since {clock(f.at_ms)}{held}"
    return f"{since}, and the controller does not know it: it is not counted"


def _not_in_books(f: Finding) -> str:
    seen = f"{f.node} saw it end at" if f.node else f"{f.why} since"
    return f"{seen} {clock(f.at_ms)}, and no record covers that: what it used nobody is charged for"


def _capacity(f: Finding) -> str:
    if f.gpus:
        return f"it holds {_gpus(f.wanted)}, and its nodes have {f.found}: it is not counted"
    return (
        f"{_gpus(f.wanted)} were registered from {clock(f.at_ms)} on for {span(f.by_ms)}, "
        f"and the nodes have {f.found}: node changes in this time are not known"
    )


PHRASES: Final[Mapping[ReportFindingWord, Callable[[Finding], str]]] = {
    ReportFindingWord.OVERLAP: _overlap,
    ReportFindingWord.TIME_WENT_BACK: _time_went_back,
    ReportFindingWord.CHARGED_PAST_END: _past_end,
    ReportFindingWord.END_IN_DOUBT: _doubt,
    ReportFindingWord.ELAPSED_DIFFERS: lambda f: (
        f"{span(f.found)} are told as its length, and from start "
        f"to end it is {span(f.wanted)}, which is counted"
    ),
    ReportFindingWord.NEVER_ENDED: _never_ended,
    ReportFindingWord.NOT_IN_BOOKS: _not_in_books,
    ReportFindingWord.ON_UNAVAILABLE_NODE: lambda f: (
        f"it ran for {span(f.by_ms)} on {f.node} while that was down ({f.why})"
    ),
    ReportFindingWord.SUSPENDED: lambda f: (
        f"suspended for {span(f.by_ms)}, nobody tells when: that is counted"
    ),
    ReportFindingWord.GENERATION_UNKNOWN: lambda f: (
        f"which of its nodes' different GPUs it held is not told: its {_seconds(f)} are not counted"
    ),
    ReportFindingWord.CAPACITY_DIFFERS: _capacity,
    ReportFindingWord.CONFLICT: lambda f: (
        "the same was told before, differently: what came first counts"
    ),
    ReportFindingWord.MISSING_EVENTS: lambda f: (
        f"number {f.wanted} never came, so this and what follows it is not counted"
    ),
    ReportFindingWord.FENCED: lambda f: f"epoch {f.wanted} had begun already: it is not counted",
    ReportFindingWord.ALREADY_STARTED: lambda f: "it had started already: the first start counts",
    ReportFindingWord.UNKNOWN_LEASE: lambda f: "it ended without ever having started",
    ReportFindingWord.ALREADY_THERE: lambda f: "the node was there already",
    ReportFindingWord.UNKNOWN_NODE: lambda f: (
        f"nobody told of the node {f.node or ''}".rstrip() + ": it is not counted"
    ),
}


def phrase_finding(finding: Finding) -> str:
    """What was found, as a sentence; with its line where it stood in one."""
    where = f" (line {finding.line})" if finding.line else ""
    return f"{PHRASES[finding.word](finding)}{where}"
