"""Findings on machines in sentences, with their numbers.

>>> from bailiwick.vocab.health import HealthCheck, HealthFinding, HealthLevel
>>> told_finding(HealthFinding(HealthCheck.ECC, HealthLevel.FAIL, gpu=3, value=2))
'GPU 3: memory errors that could not be corrected (2, and no more than 0 may be)'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bailiwick.phrases.amounts import plural, span
from bailiwick.phrases.templates import fill
from bailiwick.phrases.times import told_time
from bailiwick.vocab.health import (
    EVICTED_BY,
    HealthAction,
    HealthCheck,
    HealthFinding,
    HealthLevel,
    NodeTestOutcome,
)
from bailiwick.vocab.words import PreemptionReason

_DRAIN: Final = PreemptionReason.OPERATOR_DRAIN.value

FOUND: Final = {
    check: "{where}: "
    f"{check.human_summary()} ({{value:count}}, and no more than {{limit:count}} may be"
    f"[code?, {'XID' if check is HealthCheck.XID else 'code'} {{code}}])"
    for check in HealthCheck
}
"""Of each check what was found, where, and with which numbers."""

CLOSED: Final = {
    HealthAction.NONE: "left as it was",
    HealthAction.DRAIN: "drained for its health",
    HealthAction.HOLD_BACK: "closed to new work: too many are drained for their health",
}
"""What was done with a node for what was found."""

_NEXT: Final = {
    HealthCheck.DRIVER: "Look whether the driver sees the GPU (nvidia-smi -L); reset or reseat it.",
    HealthCheck.XID: "Look up the driver's number for the fault; the kernel's log has more.",
    HealthCheck.ECC: "Reset the GPU, so that bad rows are remapped; if it comes again, replace it.",
    HealthCheck.THERMAL: "Look at fans, filters and the air or water that reaches the machine.",
    HealthCheck.FABRIC: "Look at the links (nvidia-smi nvlink -s) and at the fabric manager.",
    HealthCheck.DISK: "Make room, or replace the disk if it can only be read.",
    HealthCheck.CLOCK: "Look at the time service; if all nodes say it, at the server's own clock.",
    HealthCheck.BURN_IN: "Reset the GPU and have it tested again; if it fails again, replace it.",
}
"""What to do about each, for who has the machine in front of him."""

ENDS: Final = {
    NodeTestOutcome.PASSED: "passed",
    NodeTestOutcome.FAILED: "failed",
    NodeTestOutcome.TIMED_OUT: "was not answered in time",
    NodeTestOutcome.CANCELLED: "was called off",
}
"""How a test ended."""


def told_finding(found: HealthFinding) -> str:
    """One finding, with its numbers."""
    where = "the machine" if found.gpu is None else f"GPU {found.gpu}"
    values = {"where": where, "value": found.value, "limit": found.limit, "code": found.code}
    return fill(FOUND[found.check], values)


def told_eviction(facts: Mapping[str, object]) -> str | None:
    """Why a lease had to go whose machine failed a check; nothing if it was not that.

    >>> told_eviction({"reason": "operator_drain", "preemptor": "health", "rule": "clock"})
    "the machine failed a check: clock (the machine's clock is wrong)"
    """
    if (facts.get("preemptor"), facts.get("reason")) != (EVICTED_BY, _DRAIN):
        return None
    check = facts.get("rule")
    known = check in tuple(HealthCheck)
    name = f": {check} ({HealthCheck(str(check)).human_summary()})" if known else ""
    return f"the machine failed a check{name}"


def told_findings(findings: Sequence[HealthFinding]) -> str:
    """How many there are, in a few words."""
    fails = sum(each.level is HealthLevel.FAIL for each in findings)
    warns = len(findings) - fails
    if not findings:
        return "ok"
    parts = []
    if fails:
        parts.append(f"{plural(fails, 'finding')} that {'fails' if fails == 1 else 'fail'} it")
    if warns:
        parts.append(plural(warns, "warning"))
    return ", ".join(parts)


def next_steps(findings: Sequence[HealthFinding]) -> tuple[str, ...]:
    """What to do about them, each once."""
    return tuple(dict.fromkeys(_NEXT[each.check] for each in findings))


def told_end(outcome: NodeTestOutcome, *, ended_ms: int, took_ms: int | None) -> str:
    """How a test ended, and when."""
    took = "" if took_ms is None else f" after {span(took_ms)}"
    return f"{ENDS[outcome]} at {told_time(ended_ms)[:19]} UTC{took}"
