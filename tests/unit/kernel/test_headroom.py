"""Room kept for urgent work: who fits but for it evicts, and nobody is evicted for it in vain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.fleet.resources import Resources
from bailiwick.kernel import Cancel, ChangeSettings, Granted, Queued, Submit
from bailiwick.scheduler.decision import Denied, HeadroomKept, VictimsLeaving
from bailiwick.vocab.words import LeaseClass, Priority, ResourceKind
from tests.unit.kernel.desk import CRITICAL, HIGH, LOW, Desk, ask, cores, started

NORMAL = Priority.NORMAL
GRACE_MS = 500
KEPT = Resources(cpu_milli=8000)


def desk(*sizes: int, **how: Any) -> Desk:
    return Desk(
        nodes=[cores(size) for size in sizes], **{"grace_ms": GRACE_MS, "headroom": KEPT, **how}
    )


@pytest.mark.parametrize("engine", ["pure", "auto"])
def test_who_fits_but_for_headroom_evicts_and_starts_when_its_victim_has_left(engine: str) -> None:
    d = desk(16, engine=engine)
    victim = d.lease("slow", cpu_cores=8, priority=LOW)
    entry = d.wait("fast", cpu_cores=4, priority=HIGH)
    assert d.last[1].body["victims"] == (victim,)
    assert d.state.blocked[entry] == Denied.because(VictimsLeaving(1, 1_500))
    assert d.tick(1_499) == []
    assert d.tick(1_500) == ["lease_revoked", "lease_preempted", "admission_approved"]
    assert started(d) == [entry]
    assert not d.state.claims


def test_without_grace_headroom_is_made_in_one_command() -> None:
    d = desk(16, grace_ms=0)
    d.lease("slow", cpu_cores=8, priority=LOW)
    assert isinstance(d.do(Submit(ask("fast", cpu_cores=4, priority=HIGH))), Granted)


def test_the_victim_may_be_where_the_request_could_never_run() -> None:
    small = cores(4, labels={"size": "small"})
    d = Desk(nodes=[cores(8), small], grace_ms=GRACE_MS, headroom=Resources(cpu_milli=6000))
    victim = d.lease("slow", cpu_cores=4, priority=LOW, labels={"size": "small"})
    entry = d.wait("fast", cpu_cores=6, priority=HIGH)
    assert d.last[1].body["victims"] == (victim,)
    d.tick(1_500)
    assert started(d) == [entry]


def test_who_leaves_already_is_counted_on_before_anybody_else_goes() -> None:
    d = desk(24)
    d.lease("slow", cpu_cores=8, priority=LOW)
    d.lease("slow", cpu_cores=8, priority=LOW)
    first = d.wait("fast", cpu_cores=4, priority=HIGH)
    gone = d.last[1].body["victims"]
    second = d.wait("fast", cpu_cores=4, priority=HIGH)
    d.tick()  # the second stands behind the first until it is looked at
    assert d.state.claims[first].victims == d.state.claims[second].victims == gone
    assert len(d.state.leaving) == 1
    d.tick(1_500)
    assert sorted(started(d)) == [first, second]


def test_what_victims_leave_free_for_headroom_is_nobody_elses() -> None:
    d = desk(16)
    d.lease("slow", cpu_cores=8, priority=LOW)
    entry = d.wait("fast", cpu_cores=4, priority=HIGH)
    d.wait("late", cpu_cores=4, priority=NORMAL)
    d.wait("late", cpu_cores=4, priority=NORMAL)
    d.tick(1_500)
    assert len(started(d)) == 2, "there is room for one more beside it"
    assert entry in started(d)
    assert d.state.ledger.free.cpu_milli == 8000


def test_a_more_urgent_request_takes_over_what_headroom_was_made_for() -> None:
    d = desk(16)
    d.lease("slow", cpu_cores=8, priority=LOW)
    d.wait("fast", cpu_cores=4, priority=HIGH)
    assert isinstance(d.do(Submit(ask("must", cpu_cores=8, priority=CRITICAL))), Granted)


def test_a_claim_elsewhere_gives_way_if_both_would_leave_too_little() -> None:
    sizes = {"a": 12, "b": 12, "c": 8}
    nodes = [cores(size, labels={"at": where}) for where, size in sizes.items()]
    kept = Resources(cpu_milli=16_000)
    d = Desk(nodes=nodes, grace_ms=GRACE_MS, headroom=kept, preempt_from=NORMAL)
    d.lease("slow", cpu_cores=8, priority=LOW, labels={"at": "c"})
    d.wait("calm", cpu_cores=10, priority=NORMAL, labels={"at": "a"})
    entry = d.wait("fast", cpu_cores=10, priority=HIGH, labels={"at": "b"})
    assert list(d.state.claims) == [entry]
    d.tick(1_500)
    assert started(d) == [entry]


def test_a_victim_whose_claimant_is_cancelled_gets_its_lease_back() -> None:
    d = desk(16)
    d.lease("slow", cpu_cores=8, priority=LOW)
    d.do(Cancel(d.wait("fast", cpu_cores=4, priority=HIGH)))
    assert "lease_restored" in d.kinds


def test_who_may_not_evict_is_told_that_headroom_is_kept() -> None:
    d = desk(16)
    d.lease("slow", cpu_cores=8, priority=LOW)
    entry = d.wait("calm", cpu_cores=4, priority=NORMAL)
    kept = HeadroomKept(ResourceKind.CPU_MILLI, 8000, 8000, 4000)
    assert d.state.blocked[entry] == Denied.because(kept)


LEASES = st.tuples(
    st.integers(1, 6),
    st.sampled_from([LOW, LOW, NORMAL, HIGH]),
    st.sampled_from([LeaseClass.SPOT, LeaseClass.STANDARD, LeaseClass.GUARANTEED]),
    st.sampled_from([1, 1, 2]),
)


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(4, 10), min_size=1, max_size=3),
    kept=st.integers(0, 12),
    rows=st.lists(LEASES, max_size=8),
    asked=st.lists(
        st.tuples(st.integers(1, 8), st.sampled_from([HIGH, CRITICAL])), min_size=1, max_size=3
    ),
)
def test_whoever_evicts_starts_when_the_last_of_its_victims_has_left(
    sizes: list[int],
    kept: int,
    rows: list[tuple[int, Any, LeaseClass, int]],
    asked: list[tuple[int, Any]],
) -> None:
    d = Desk(nodes=[cores(size) for size in sizes], grace_ms=GRACE_MS)
    for count, priority, lease_class, members in rows:
        terms = {"priority": priority, "lease_class": lease_class, "gang_size": members}
        d.do(Submit(ask("old", cpu_cores=count, ttl_ms=10**6, **terms), wait=False))
    keep(d, kept)
    for count, priority in asked:
        answer = d.do(Submit(ask("new", cpu_cores=count, priority=priority, ttl_ms=10**6)))
        if not d.state.claims:
            continue
        assert isinstance(answer, Queued)
        claims = {i: claim for i, claim in d.state.claims.items() if claim.victims}
        first = max(claims, key=lambda i: d.state.entry(i).request.priority.rank)
        d.tick(d.now_ms + GRACE_MS)
        assert first in started(d), "somebody had to go for nothing"
        assert not d.state.leaving


def keep(d: Desk, count: int) -> None:
    headroom = Resources(cpu_milli=1000 * count)
    d.do(ChangeSettings(replace(d.state.settings, headroom=headroom)))
