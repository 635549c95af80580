"""What a difference in usage is called: its subject, and its one sentence with all numbers.

Rules:

- The subject names what it is about, and nothing that changes: the same difference has the same
  subject, however often it is seen and however large it has become.
- What a node says of leases that are not its own has one subject a day, however much it says.

>>> from bailiwick.metering.counters import Counter
>>> counter = Counter(7, "node-1", at_ms=9_000, from_ms=1_000, cpu_ms=9_000)
>>> found = QuotaEvasion(Evasion.CPU_TIME, counter, 9_000_000, 1_000_000, 2_020_000)
>>> subject_of(found, day=1)
'lease:7/node-1/cpu_time'
"""

from __future__ import annotations

from typing import Final, assert_never

from bailiwick.metering.reconcile import (
    AttributionDrift,
    Drift,
    Evasion,
    QuotaEvasion,
    UsageFinding,
)

FOREIGN: Final = (Drift.UNKNOWN_LEASE, Drift.OTHER_NODE)
"""What is said of leases that are not the node's own."""


def subject_of(finding: UsageFinding, *, day: int) -> str:
    """What a finding is about."""
    counter, what = finding.counter, finding.what.value
    match finding:
        case AttributionDrift() if finding.what in FOREIGN:
            return f"node:{counter.node}/{what}/{day}"
        case QuotaEvasion(device=int(device)):
            return f"lease:{counter.lease_id}/{counter.node}/{what}:{device}"
        case _:
            return f"lease:{counter.lease_id}/{counter.node}/{what}"


def spell_finding(finding: UsageFinding) -> str:
    """A finding in one sentence, with its numbers."""
    lease = f"lease {finding.counter.lease_id} on {finding.counter.node}"
    if isinstance(finding, QuotaEvasion):
        return f"{lease}: {_spell_evasion(finding)}"
    return f"{lease}: {_spell_drift(finding)}"


def _spell_evasion(finding: QuotaEvasion) -> str:
    counted, granted, allowed = finding.counted, finding.granted, finding.allowed
    match finding.what:
        case Evasion.CPU_TIME:
            what = "of CPU time, in milli-core milliseconds"
        case Evasion.MEMORY:
            what = "bytes of memory"
        case Evasion.GPU_TIME:
            on = "all GPUs" if finding.device is None else f"GPU {finding.device}"
            what = f"of GPU time on {on}, in milli-share milliseconds"
        case Evasion.GPU_NOT_HELD:
            what = f"on GPU {finding.device}, which it does not hold, in milli-share milliseconds"
        case Evasion.GPU_AFTER_END:
            late_ms = counted - granted
            return f"GPU {finding.device} was used {late_ms} ms after its end at {granted}"
        case _:
            assert_never(finding.what)
    return f"{counted} {what}; granted {granted}, with tolerance {allowed}"


def _spell_drift(finding: AttributionDrift) -> str:
    counted, attributed = finding.counted, finding.attributed
    match finding.what:
        case Drift.UNKNOWN_LEASE:
            return "counted, but the journal attributes nothing to such a lease"
        case Drift.OTHER_NODE:
            return "counted, but the journal has that lease on another node"
        case Drift.BEFORE_GRANT:
            return f"its work began {attributed - counted} ms before it was granted at {attributed}"
        case Drift.AFTER_END:
            return f"its work lasted {counted - attributed} ms beyond its end at {attributed}"
        case Drift.HELD_LONGER:
            late_ms = attributed - counted
            return f"it was attributed {late_ms} ms beyond the end of its work at {counted}"
        case _:
            assert_never(finding.what)
