"""A quota is set right while work above it is leaving for a request that waits: that work stays."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.kernel import RebalanceQuota, Release, SetQuota, digest_of
from bailiwick.kernel.fleet.commands import ChangeMode
from bailiwick.scheduler.quota_policy import BurstCredit, Quota, ResourceLimit
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import Dimension
from tests.unit.kernel.desk import HIGH, Desk, cores, started

GRACE = 10_000
LONG = 1_000_000
WAIT_MS = 5_000
CREDIT = BurstCredit(Dimension.CPU_MILLI, capacity=10**12, refill_per_s=0, ceiling=4_000)


def limit(cpus: int, burst: BurstCredit | None = None) -> Quota:
    return Quota((ResourceLimit.cpu_cores(cpus),), (), burst)


def going(*, project: str | None = None, held: int = 4, **request: Any) -> tuple[Desk, int, int]:
    """Lab holds a whole node and may hold half of it, so one of its leases goes for pond."""
    d = Desk(nodes=[cores(8)], grace_ms=GRACE, rebalance_ms=WAIT_MS, burst_min_run_ms=0)
    for _ in range(held):
        d.lease("lab", project=project, cpu_cores=8 // held, ttl_ms=LONG)
    d.do(SetQuota("lab", limit(4), project))
    entry = d.wait("pond", **{"cpu_cores": 2, "ttl_ms": LONG, **request})
    d.tick(d.now_ms + WAIT_MS)
    (victim,) = d.state.claims[entry].victims
    assert d.phase(victim) == "grace_running"
    return d, victim, entry


def ends(d: Desk) -> list[int]:
    """Whose lease has ended by force."""
    return [r.body["lease_id"] for r in d.of_kind("lease_preempted")]


@pytest.mark.parametrize("quota", [limit(8), Quota(), limit(4, CREDIT)])
def test_whose_quota_allows_what_he_holds_again_keeps_it(quota: Quota) -> None:
    d, victim, entry = going()
    until_ms = d.state.terms[victim]
    d.do(SetQuota("lab", quota))
    d.tick(d.now_ms + 1_000)
    assert d.kinds[:2] == ["request_blocked", "lease_restored"]
    assert (d.phase(victim), d.state.fields(victim).expires_ms) == ("active", until_ms)
    d.tick(d.now_ms + GRACE)
    assert ends(d) == []
    assert entry in d.state.line.entries
    assert digest_of(d.replayed().state) == d.digest


def test_a_quota_that_is_set_right_at_the_last_moment_is_in_time() -> None:
    d, victim, _ = going()
    d.at(d.state.fields(victim).expires_ms).do(SetQuota("lab", limit(8)))
    d.tick()
    assert d.phase(victim) == "active"


def test_who_is_still_above_a_raised_quota_goes() -> None:
    d, victim, entry = going()
    d.do(SetQuota("lab", limit(7)))
    d.tick(d.now_ms + GRACE)
    assert ends(d) == [victim]
    assert started(d) == [entry]


@pytest.mark.parametrize("outer", [4, 8])
def test_a_project_and_its_tenant_are_both_asked(outer: int) -> None:
    d, victim, _ = going(project="a")
    d.do(SetQuota("lab", limit(outer)))
    d.do(SetQuota("lab", limit(8), "a"))
    d.tick(d.now_ms + GRACE)
    assert ends(d) == ([victim] if outer == 4 else [])


def test_who_holds_nothing_of_what_his_owner_is_above_in_keeps_it() -> None:
    d = Desk(nodes=[cores(8), cores(1, gpus=1)], grace_ms=GRACE, rebalance_ms=WAIT_MS)
    d.lease("lab", gpu_count=1, cpu_cores=1, ttl_ms=LONG)
    victim = d.lease("lab", cpu_cores=8, ttl_ms=LONG)
    d.do(SetQuota("lab", limit(4)))
    d.wait("pond", cpu_cores=2, ttl_ms=LONG)
    d.tick(d.now_ms + WAIT_MS)
    assert d.phase(victim) == "grace_running"
    d.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(9), ResourceLimit.gpu_count(0)))))
    d.tick(d.now_ms + GRACE)
    assert d.phase(victim) == "active"


def test_other_work_that_ends_brings_his_owner_back_inside_as_well() -> None:
    d = Desk(nodes=[cores(8), cores(1)], grace_ms=GRACE, rebalance_ms=WAIT_MS)
    victim = d.lease("lab", cpu_cores=8, ttl_ms=LONG)
    other = d.lease("lab", cpu_cores=1, ttl_ms=LONG)
    d.do(SetQuota("lab", limit(8)))
    d.wait("pond", cpu_cores=2, ttl_ms=LONG)
    d.tick(d.now_ms + WAIT_MS)
    assert d.phase(victim) == "grace_running"
    d.do(Release(other))
    d.tick(d.now_ms + GRACE)
    assert d.phase(victim) == "active"


def test_who_cannot_stay_leaves_his_room_to_whom_it_was_promised() -> None:
    d, victim, entry = going()
    d.do(ChangeMode("n1", NodeMode.DRAINING))
    d.do(SetQuota("lab", limit(8)))
    d.tick(d.now_ms + 1_000)
    assert d.state.claims[entry].victims == (victim,)


def test_a_gang_is_asked_for_as_a_whole() -> None:
    d = Desk(nodes=[cores(4), cores(4)], grace_ms=GRACE, rebalance_ms=WAIT_MS)
    gang = d.gang(2, "lab", cpu_cores=4, ttl_ms=LONG)
    d.do(SetQuota("lab", limit(7)))
    d.wait("pond", cpu_cores=2, ttl_ms=LONG)
    d.tick(d.now_ms + WAIT_MS)
    assert {d.phase(i) for i in gang} == {"grace_running"}
    d.do(SetQuota("lab", limit(8)))
    d.tick(d.now_ms + GRACE)
    assert {d.phase(i) for i in gang} == {"active"}


def test_urgent_work_that_counts_on_him_gets_his_room() -> None:
    d, victim, entry = going(cpu_cores=1)
    boss = d.wait("boss", cpu_cores=1, priority=HIGH, ttl_ms=LONG)
    assert victim in d.state.claims[boss].victims
    d.do(SetQuota("lab", limit(8)))
    d.tick(d.now_ms + 1_000)
    assert entry not in d.state.claims
    d.tick(d.now_ms + GRACE)
    assert ends(d) == [victim]
    assert boss in started(d)


def test_who_was_told_to_go_by_command_goes() -> None:
    d = Desk(nodes=[cores(8)], grace_ms=GRACE, rebalance_ms=WAIT_MS)
    d.lease("lab", cpu_cores=8, ttl_ms=LONG)
    d.do(SetQuota("lab", limit(4)))
    d.do(RebalanceQuota("lab"))
    d.do(SetQuota("lab", limit(8)))
    d.tick(d.now_ms + GRACE)
    assert len(ends(d)) == 1


def test_nobody_is_told_to_go_and_to_stay_in_turns() -> None:
    d, _, _ = going()
    d.do(SetQuota("lab", limit(8)))
    told = [kind for _ in range(100) for kind in d.tick(d.now_ms + 1_000)]
    assert told.count("lease_restored") == 1
    assert "lease_revoked" not in told
