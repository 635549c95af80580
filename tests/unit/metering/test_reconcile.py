"""Attribution against counters: each kind of difference, and exactly where it begins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bailiwick.metering import Account, Idle, Leased, Segment, Share
from bailiwick.metering.counters import Counter, GpuCount
from bailiwick.metering.reconcile import (
    USUAL,
    Attributed,
    AttributionDrift,
    Drift,
    Evasion,
    QuotaEvasion,
    Tolerance,
    attribute,
    check_usage,
)
from bailiwick.metering.usage_words import FOREIGN, spell_finding, subject_of
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import GIB, MIB
from bailiwick.vocab.words import LeaseClass, ResourceKind

CPU, MEM, GPU = ResourceKind.CPU_MILLI, ResourceKind.MEM_BYTES, ResourceKind.GPU_MILLI
OWNER = Leased(7, Account("lab", "p", None, LeaseClass.STANDARD, None))
FROM, TO = 1_000_000, 1_100_000
SPAN = TO - FROM


def stretch(kind: ResourceKind, amount: int, *, index: int = 0, **more: Any) -> Segment:
    span = {"from_ms": FROM, "to_ms": TO} | more
    return Segment(Share("n", kind, index), amount, OWNER, **span, from_seq=1, to_seq=2)


HELD = (
    stretch(CPU, 2_000),
    stretch(MEM, GIB),
    stretch(GPU, 500, index=1),
    stretch(GPU, 1_000, index=2),
)
OVER = attribute(HELD)[7]
RUNS = attribute((), HELD)[7]
HONEST = Counter(7, "n", TO, FROM, to_ms=TO)


def found(counter: Counter, held: Attributed | None = OVER) -> list[Any]:
    return [
        (each.what, getattr(each, "device", None), each.counted, each.allowed)
        for each in check_usage(held, counter)
    ]


def gpu(index: int, **told: int) -> Counter:
    given = {"active_ms": 0, "busy_ms": 0, "until_ms": TO} | told
    return replace(HONEST, gpus=(GpuCount(index, **given),))


# --- what a lease held --------------------------------------------------------------------------


def test_what_a_lease_held_is_added_up_from_its_stretches_and_nobody_elses() -> None:
    half = FROM + SPAN // 2
    charged = [
        stretch(CPU, 2_000, to_ms=half),
        stretch(CPU, 2_000, from_ms=half),
        stretch(GPU, 250, index=3),
        stretch(CPU, 9_000)._replace(owner=Idle()),
        stretch(CPU, 1)._replace(owner=replace(OWNER, lease_id=8)),
    ]
    both = attribute(charged)
    assert both.keys() == {7, 8}
    lease = both[7]
    assert (lease.tenant, lease.project, lease.node) == ("lab", "p", "n")
    assert (lease.from_ms, lease.to_ms, lease.is_over) == (FROM, TO, True)
    assert lease.used == {(CPU, 0): 2_000 * SPAN, (GPU, 3): 250 * SPAN}
    assert lease.amounts == {(CPU, 0): 2_000, (GPU, 3): 250}


def test_a_lease_with_a_stretch_that_still_runs_is_not_over() -> None:
    later = stretch(CPU, 2_000, from_ms=TO, to_ms=TO + 10)
    lease = attribute(HELD, [later])[7]
    assert (lease.is_over, lease.to_ms) == (False, TO + 10)
    assert lease.used[CPU, 0] == 2_000 * (SPAN + 10)


# --- each difference, and where it begins -------------------------------------------------------


def test_honest_work_is_no_finding() -> None:
    full = replace(
        HONEST,
        cpu_ms=2 * SPAN,
        mem_peak_bytes=GIB,
        gpu_ms=SPAN * 3 // 2,
        gpus=(GpuCount(1, SPAN, SPAN // 2, TO), GpuCount(2, SPAN, SPAN, TO)),
    )
    assert found(full) == found(full, RUNS) == found(HONEST) == []


def test_more_cpu_time_than_cores_x_time() -> None:
    granted = 2_000 * SPAN
    allowed = granted + 2_000 * 1_000 + granted // 50
    most = replace(HONEST, cpu_ms=allowed // 1000)
    assert found(most) == []
    more = replace(HONEST, cpu_ms=allowed // 1000 + 1)
    assert found(more) == [(Evasion.CPU_TIME, None, (allowed // 1000 + 1) * 1000, allowed)]
    (finding,) = check_usage(OVER, more)
    assert isinstance(finding, QuotaEvasion)
    assert finding.granted == granted


def test_a_small_share_of_a_core_may_still_be_one_core_second_off() -> None:
    lease = attribute([stretch(CPU, 100)])[7]
    granted = 100 * SPAN
    allowed = granted + 1_000 * 1_000 + granted // 50
    assert found(replace(HONEST, cpu_ms=allowed // 1000), lease) == []
    assert found(replace(HONEST, cpu_ms=allowed // 1000 + 1), lease) != []


def test_more_memory_than_granted() -> None:
    allowed = GIB + 16 * MIB + GIB * 20 // 1000
    assert found(replace(HONEST, mem_peak_bytes=allowed)) == []
    more = replace(HONEST, mem_peak_bytes=allowed + 1)
    assert found(more) == [(Evasion.MEMORY, None, allowed + 1, allowed)]


def test_more_gpu_time_than_the_share_on_one_device() -> None:
    granted = 500 * SPAN
    allowed = granted + 1_000 * 1_000 + granted // 50
    assert found(gpu(1, busy_ms=allowed // 1000)) == []
    more = allowed // 1000 + 1
    assert found(gpu(1, busy_ms=more)) == [(Evasion.GPU_TIME, 1, more * 1000, allowed)]
    # The same on the device that it has whole is its right.
    assert found(gpu(2, busy_ms=more)) == []


def test_more_gpu_time_than_all_shares_together_where_devices_are_not_told_apart() -> None:
    granted = 1_500 * SPAN
    allowed = granted + 1_500 * 1_000 + granted // 50
    assert found(replace(HONEST, gpu_ms=allowed // 1000)) == []
    assert found(replace(HONEST, gpu_ms=allowed // 1000 + 1)) == [
        (Evasion.GPU_TIME, None, (allowed // 1000 + 1) * 1000, allowed)
    ]


def test_time_on_a_gpu_that_the_lease_does_not_hold() -> None:
    assert found(gpu(0, active_ms=1_000)) == []
    assert found(gpu(0, active_ms=1_001)) == [(Evasion.GPU_NOT_HELD, 0, 1_001_000, 1_000_000)]


def test_a_gpu_that_is_used_after_the_end() -> None:
    assert found(gpu(2, until_ms=TO + 5_000)) == []
    late = gpu(2, until_ms=TO + 5_001)
    assert found(late) == [(Evasion.GPU_AFTER_END, 2, TO + 5_001, TO + 5_000)]
    assert found(late, RUNS) == []


def test_work_that_began_before_its_lease() -> None:
    assert found(replace(HONEST, from_ms=FROM - 5_000)) == []
    early = replace(HONEST, from_ms=FROM - 5_001)
    assert found(early) == [(Drift.BEFORE_GRANT, None, FROM - 5_001, FROM - 5_000)]


def test_work_that_lasts_beyond_its_lease() -> None:
    runs = replace(HONEST, at_ms=TO + 5_000, to_ms=None)
    assert found(runs) == []
    runs_on = replace(HONEST, at_ms=TO + 5_001, to_ms=None)
    assert found(runs_on) == [(Drift.AFTER_END, None, TO + 5_001, TO + 5_000)]
    ended = replace(HONEST, at_ms=TO + 9_000, to_ms=TO + 5_001)
    assert found(ended) == [(Drift.AFTER_END, None, TO + 5_001, TO + 5_000)]
    assert found(ended, RUNS) == []


def test_a_lease_that_is_attributed_long_after_its_work_ended() -> None:
    assert found(replace(HONEST, to_ms=TO - 5_000)) == []
    short = replace(HONEST, to_ms=TO - 5_001)
    assert found(short) == [(Drift.HELD_LONGER, None, TO - 5_001, TO - 1)]
    # Whoever does not know whether more follows says nothing about the end.
    assert found(replace(short, at_ms=TO - 5_001, to_ms=None)) == []
    assert found(short, RUNS) == []


def test_a_lease_that_the_journal_does_not_know_or_has_elsewhere() -> None:
    greedy = replace(HONEST, cpu_ms=10**9)
    assert found(greedy, None) == [(Drift.UNKNOWN_LEASE, None, 0, 0)]
    assert found(replace(greedy, node="m")) == [(Drift.OTHER_NODE, None, 0, 0)]


def test_what_a_lease_holds_none_of_is_not_judged_but_for_gpus() -> None:
    lease = attribute([stretch(GPU, 1_000, index=1)])[7]
    free = replace(HONEST, cpu_ms=10**9, mem_peak_bytes=2**50)
    assert found(free, lease) == []
    bare = attribute([stretch(CPU, 1_000)])[7]
    assert found(replace(HONEST, gpu_ms=1_001), bare) == [
        (Evasion.GPU_TIME, None, 1_001_000, 1_000_000)
    ]


def test_every_difference_is_told_and_none_makes_up_for_another() -> None:
    all_of_it = replace(
        HONEST,
        from_ms=0,
        cpu_ms=10**9,
        mem_peak_bytes=2**40,
        gpus=(GpuCount(0, 9_000, 0, TO), GpuCount(1, SPAN, SPAN, TO), GpuCount(2, 0, 0, TO)),
    )
    assert [what for what, *_ in found(all_of_it)] == [
        *(Drift.BEFORE_GRANT, Evasion.CPU_TIME, Evasion.MEMORY),
        *(Evasion.GPU_NOT_HELD, Evasion.GPU_TIME),
    ]


def test_the_tolerance_is_as_documented_and_can_be_none_at_all() -> None:
    assert (USUAL.time_ms, USUAL.per_mille, USUAL.mem_bytes, USUAL.clock_ms) == (
        *(1_000, 20, 16 * MIB, 5_000),
    )
    none = Tolerance(time_ms=0, per_mille=0, mem_bytes=0, clock_ms=0)
    exact = replace(HONEST, cpu_ms=2 * SPAN, mem_peak_bytes=GIB)
    assert check_usage(OVER, exact, tolerance=none) == ()
    for more in (replace(exact, cpu_ms=2 * SPAN + 1), replace(exact, mem_peak_bytes=GIB + 1)):
        assert len(check_usage(OVER, more, tolerance=none)) == 1
    with pytest.raises(InvalidValue):
        Tolerance(per_mille=1_001)
    with pytest.raises(InvalidValue):
        Tolerance(clock_ms=-1)


# --- in words -----------------------------------------------------------------------------------


def test_every_difference_has_a_subject_of_its_own_and_a_sentence_with_its_numbers() -> None:
    findings = [
        *(QuotaEvasion(what, HONEST, 123_456, 1_000, 1_111, 3) for what in Evasion),
        *(AttributionDrift(what, HONEST, 123_456, 1_000, 1_111) for what in Drift),
    ]
    subjects = [subject_of(each, day=5) for each in findings]
    assert len(set(subjects)) == len(Evasion) + len(Drift)
    for each, subject in zip(findings, subjects, strict=True):
        assert subject.startswith("node:n/" if each.what in FOREIGN else "lease:7/n/")
        text = spell_finding(each)
        assert "lease 7 on n" in text
        assert each.what in FOREIGN or any(number in text for number in ("123456", "122456"))


def test_a_subject_does_not_change_when_the_numbers_do() -> None:
    small = QuotaEvasion(Evasion.CPU_TIME, HONEST, 2, 1, 1)
    large = QuotaEvasion(Evasion.CPU_TIME, replace(HONEST, cpu_ms=99), 9, 3, 4)
    assert subject_of(small, day=1) == subject_of(large, day=2)
