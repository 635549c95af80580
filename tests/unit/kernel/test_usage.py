"""Shares with running work counted in, against a sum over every lease."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.kernel import DepartNode, ReportTeardown
from bailiwick.kernel.work.usage import SETTLE_MS, RunningShares, weight_of
from bailiwick.scheduler.fairness import CORES_PER_GPU
from tests.unit.kernel.desk import Desk, cores

HALF_LIFE_MS = 10**15
terms = st.tuples(
    st.sampled_from(["a", "b"]),
    st.sampled_from([None, "p"]),
    st.integers(1, 5_000),
    st.integers(0, 60_000),
    st.integers(0, 60_000),
)


def test_a_lease_weighs_its_gpus_or_its_cores_and_never_nothing() -> None:
    assert weight_of(gpu_milli=500, cpu_milli=1000) == 500
    assert weight_of(gpu_milli=1, cpu_milli=CORES_PER_GPU * 9) == 9
    assert weight_of(gpu_milli=0, cpu_milli=0) == 1


@given(st.lists(terms, max_size=12), st.integers(0, 50_000))
def test_running_usage_is_the_sum_over_all_leases(
    leases: list[tuple[str, str | None, int, int, int]], more: int
) -> None:
    """With a half-life that never ends nothing fades, so the sum is exact."""
    shares = RunningShares(HALF_LIFE_MS)
    changes = []
    for tenant, project, rate, start, length in leases:
        changes.append((start, tenant, project, rate))
        changes.append((start + length, tenant, project, -rate))
    changes.sort(key=lambda change: change[0])
    end = max((change[0] for change in changes), default=0) + more
    for at_ms, tenant, project, rate in changes:
        shares.change(tenant, project, rate=rate, now_ms=at_ms)
    for tenant in ("a", "b"):
        rows = [row for row in leases if row[0] == tenant]
        used = sum(rate * length for _, _, rate, _, length in rows)
        assert abs(shares.usage(tenant, end) - used) <= len(changes)
        inner = sum(rate * n for _, project, rate, _, n in rows if project == "p")
        assert abs(shares.usage(tenant, end, project="p") - inner) <= len(changes)
    assert all(run.rate == 0 for run in shares.running.values())


def test_what_runs_counts_while_it_runs_and_reading_changes_nothing() -> None:
    shares = RunningShares(1_000_000)
    shares.change("a", None, rate=7, now_ms=100)
    assert [shares.usage("a", now) for now in (100, 101, 200)] == [0, 7, 700]
    assert shares.usage("a", 200) == 700
    shares.change("a", None, rate=-7, now_ms=200)
    assert shares.usage("a", 900) == 700


def test_usage_is_charged_at_most_once_in_the_settle_time_and_fades_from_then() -> None:
    shares = RunningShares(1_000)
    shares.change("a", None, rate=10, now_ms=0)
    shares.change("a", None, rate=-10, now_ms=SETTLE_MS - 1)
    before = 10 * (SETTLE_MS - 1)
    assert shares.usage("a", SETTLE_MS + 5_000) == before, "not yet charged, so it does not fade"
    shares.change("a", None, rate=0, now_ms=SETTLE_MS)
    assert shares.usage("a", SETTLE_MS) == before
    assert shares.usage("a", SETTLE_MS + 1_000) == before // 2
    assert shares.usage("a", SETTLE_MS + 3_000) == before // 8
    assert shares.dump()["accounts"]


def test_a_tenant_and_its_project_are_charged_alike_and_apart() -> None:
    shares = RunningShares(1_000)
    shares.change("a", "p", rate=3, now_ms=0)
    shares.change("a", None, rate=2, now_ms=0)
    assert (shares.usage("a", 10), shares.usage("a", 10, project="p")) == (50, 30)
    assert shares.running[("a", "")].rate == 2


def test_the_kernel_counts_every_lease_from_its_start_to_its_end() -> None:
    d = Desk(nodes=[cores(64, gpus=2)], half_life_ms=10**15)
    d.at(10_000).gang(2, "lab", gpu_milli=500, ttl_ms=30_000)
    lease = d.at(15_000).lease("lab", project="p", cpu_cores=32, ttl_ms=10**6)
    d.tick(40_000)
    d.at(55_000).kernel.state.shares.usage("lab", 55_000)
    used = 2 * 500 * 30_000 + 2_000 * 40_000
    assert abs(d.state.shares.usage("lab", 55_000) - used) <= 2
    assert abs(d.state.shares.usage("lab", 55_000, project="p") - 2_000 * 40_000) <= 2
    assert Fraction(d.state.shares.running[("lab",)].rate) == 2_000
    assert lease in d.state.leases


def test_what_is_lost_with_its_node_counts_up_to_the_last_proof_of_life() -> None:
    d = Desk(nodes=[cores(64, gpus=2)], half_life_ms=10**15)
    d.at(10_000).lease("lab", gpu_count=1, ttl_ms=10**6)
    d.at(70_000).do(DepartNode("n1", last_seen_ms=30_000))
    assert abs(d.state.shares.usage("lab", 90_000) - 1_000 * 20_000) <= 1
    assert d.state.shares.running[("lab",)].rate == 0


def test_a_fenced_lease_counts_up_to_its_fence() -> None:
    d = Desk(
        nodes=[cores(64, gpus=2)], half_life_ms=10**15, confirm_teardown=True, teardown_ms=9_000
    )
    lease = d.at(10_000).lease("lab", gpu_count=1, ttl_ms=5_000)
    d.tick(20_000)
    d.at(25_000).do(ReportTeardown(lease, clean=False))
    assert abs(d.state.shares.usage("lab", 90_000) - 1_000 * 15_000) <= 1


@given(
    st.integers(1, 100_000),
    st.lists(st.integers(0, 30_000), min_size=1, max_size=6),
    st.integers(0, 180_000),
    st.integers(0, 50_000),
)
def test_what_is_taken_off_is_never_more_than_there_is(
    half_life_ms: int, gaps: list[int], back_ms: int, more: int
) -> None:
    """However fast usage fades: against shares that nothing is taken off from."""
    late, kept = RunningShares(half_life_ms), RunningShares(half_life_ms)
    now = sum(gaps)
    for shares, until in ((late, max(now - back_ms, 0)), (kept, None)):
        shares.change("a", None, rate=9, now_ms=0)
        at = 0
        for gap in gaps:  # others come and go, and so what has grown is charged now and then
            at += gap
            shares.change("a", None, rate=0, now_ms=at)
        shares.change("a", None, rate=-9, now_ms=now, until_ms=until)
    assert 0 <= late.usage("a", now + more) <= kept.usage("a", now + more)
    assert late.running[("a",)].rate == 0
