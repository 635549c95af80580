"""Quotas that were lowered under running work: who goes when somebody says so, and who by time."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.kernel import Cancel, RebalanceQuota, Release, SetQuota, State, digest_of
from bailiwick.kernel.fleet import rebalance_line
from bailiwick.kernel.fleet.rebalance import foresee_rebalance
from bailiwick.kernel.fleet.tries import PAUSE_MS, HelpTries
from bailiwick.kernel.snapshot import decode, encode
from bailiwick.scheduler.quota_policy import BurstCredit, GpuGenerationQuota, Quota, ResourceLimit
from bailiwick.vocab.errors import Conflict
from bailiwick.vocab.words import Dimension, HardwareGeneration, LeaseClass, Priority
from tests.unit.kernel.desk import HOPPER, Desk, cores

BLACKWELL = HardwareGeneration.NVIDIA_BLACKWELL
LONG = 1_000_000
WAIT_MS = 5_000


def limit(cpus: int) -> Quota:
    return Quota((ResourceLimit.cpu_cores(cpus),))


def desk(**how: Any) -> Desk:
    return Desk(nodes=[cores(8)], **{"grace_ms": 500, **how})


def warned(d: Desk) -> list[int]:
    """Whose lease the last command told to go."""
    found = (r.body for r in d.last if r.kind == "lease_revoked")
    return [body["lease_id"] for body in found if body["after"] == "revoke_warning"]


# --- by command ---------------------------------------------------------------------------------


def test_who_is_above_a_lowered_quota_gives_up_the_cheapest_and_no_more() -> None:
    d = desk()
    dear = d.lease("lab", cpu_cores=2, ttl_ms=LONG, priority=Priority.HIGH)
    cheap = d.lease("lab", cpu_cores=2, ttl_ms=LONG, lease_class=LeaseClass.SPOT)
    plain = d.lease("lab", cpu_cores=2, ttl_ms=LONG)
    other = d.lease("pond", cpu_cores=2, ttl_ms=LONG)
    d.do(SetQuota("lab", limit(4)))
    d.do(RebalanceQuota("lab"))
    assert warned(d) == [cheap]
    body = next(r.body for r in d.last if r.kind == "lease_revoked")
    assert (body["reason"], body["preemptor"]) == ("quota_rebalance", "quota")
    d.tick(d.now_ms + 500)
    assert d.kinds == ["lease_revoked", "lease_preempted"]
    assert [d.phase(i) for i in (dear, plain, other)] == ["active"] * 3
    assert "not above its quota" in d.refuses(Conflict, RebalanceQuota("lab"))


def test_who_turns_out_not_to_be_needed_stays() -> None:
    d = desk()
    d.lease("lab", cpu_cores=1, ttl_ms=LONG, lease_class=LeaseClass.SPOT)
    large = d.lease("lab", cpu_cores=3, ttl_ms=LONG)
    d.do(SetQuota("lab", limit(1)))
    d.do(RebalanceQuota("lab"))
    assert warned(d) == [large]


def test_who_is_within_its_quota_or_has_none_is_told_so() -> None:
    d = desk()
    d.lease("lab", cpu_cores=2)
    d.do(SetQuota("lab", limit(2)))
    for tenant in ("lab", "nobody"):
        told = d.refuses(Conflict, RebalanceQuota(tenant))
        assert told.startswith(f"quota {tenant!r}: is not above its quota")
    assert "'lab/p'" in d.refuses(Conflict, RebalanceQuota("lab", "p"))


def test_guaranteed_leases_stay_and_are_named_as_the_reason() -> None:
    d = desk()
    d.lease("lab", cpu_cores=3, lease_class=LeaseClass.GUARANTEED, ttl_ms=LONG)
    d.do(SetQuota("lab", limit(1)))
    assert "guaranteed leases alone" in d.refuses(Conflict, RebalanceQuota("lab"))
    with pytest.raises(Conflict, match="guaranteed"):
        foresee_rebalance(d.state, RebalanceQuota("lab"), now_ms=d.now_ms)


def test_what_can_go_goes_even_if_guaranteed_leases_keep_the_scope_above() -> None:
    d = desk()
    d.lease("lab", cpu_cores=3, lease_class=LeaseClass.GUARANTEED, ttl_ms=LONG)
    plain = d.lease("lab", cpu_cores=1, ttl_ms=LONG)
    d.do(SetQuota("lab", limit(1)))
    seen = foresee_rebalance(d.state, RebalanceQuota("lab"), now_ms=d.now_ms)
    assert [(s.word, s.over, s.over_after) for s in seen.surpluses] == [
        (Dimension.CPU_MILLI, 3000, 2000)
    ]
    d.do(RebalanceQuota("lab"))
    assert warned(d) == [plain]


def test_what_is_on_its_way_out_already_counts_as_gone() -> None:
    d = desk()
    d.lease("lab", cpu_cores=2, ttl_ms=LONG)
    d.lease("lab", cpu_cores=2, ttl_ms=LONG)
    d.do(SetQuota("lab", limit(2)))
    d.do(RebalanceQuota("lab", grace_ms=10_000))
    assert len(warned(d)) == 1
    assert "on their way out" in d.refuses(Conflict, RebalanceQuota("lab"))


def test_every_dimension_and_generation_comes_back_inside() -> None:
    both = NodeCapacity(8, 10**6, gpus=(GpuDevice(HOPPER), GpuDevice(HOPPER), GpuDevice(BLACKWELL)))
    d = Desk(nodes=[both], grace_ms=0)
    first = d.lease("lab", gpu_count=1, generation=HOPPER, ttl_ms=LONG)
    second = d.lease("lab", gpu_count=1, generation=HOPPER, ttl_ms=LONG)
    newer = d.lease("lab", gpu_count=1, generation=BLACKWELL, ttl_ms=LONG)
    idle = d.lease("lab", cpu_cores=1, ttl_ms=LONG, priority=Priority.LOW)
    quota = Quota((), (GpuGenerationQuota(HOPPER, 1), GpuGenerationQuota(BLACKWELL, 1)))
    d.do(SetQuota("lab", quota))
    seen = foresee_rebalance(d.state, RebalanceQuota("lab"), now_ms=d.now_ms)
    assert [(s.word, s.over, s.over_after) for s in seen.surpluses] == [(HOPPER, 1000, 0)]
    d.do(RebalanceQuota("lab"))
    left = set(d.state.leases)
    assert {newer, idle} < left
    assert len(left & {first, second}) == 1


def test_of_a_project_only_its_own_leases_go_and_of_a_tenant_those_of_all_projects() -> None:
    d = desk(grace_ms=0)
    mine = d.lease("lab", project="a", cpu_cores=2, ttl_ms=LONG)
    d.lease("lab", project="b", cpu_cores=2, ttl_ms=LONG, lease_class=LeaseClass.SPOT)
    d.do(SetQuota("lab", limit(1), "a"))
    d.do(RebalanceQuota("lab", "a"))
    assert warned(d) == [mine]
    d.do(SetQuota("lab", limit(0)))
    d.do(RebalanceQuota("lab"))
    assert not d.state.leases


def test_one_member_of_a_gang_means_the_gang() -> None:
    d = Desk(nodes=[cores(4), cores(4)], grace_ms=0)
    gang = d.gang(2, "lab", cpu_cores=3, ttl_ms=LONG)
    d.do(SetQuota("lab", limit(5)))
    seen = foresee_rebalance(d.state, RebalanceQuota("lab"), now_ms=d.now_ms)
    assert (seen.leaving, seen.gangs, [each.lease_id for each in seen.told]) == (2, 1, [*gang])
    d.do(RebalanceQuota("lab"))
    assert warned(d) == [*gang]


def test_what_burst_credit_carries_is_not_above_the_quota() -> None:
    d = desk(burst_min_run_ms=0)
    d.lease("lab", cpu_cores=2, ttl_ms=LONG)
    d.lease("lab", cpu_cores=2, ttl_ms=LONG)
    burst = BurstCredit(Dimension.CPU_MILLI, capacity=10**9, refill_per_s=0, ceiling=2000)
    d.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(2),), (), burst)))
    assert "not above its quota" in d.refuses(Conflict, RebalanceQuota("lab"))
    d.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(1),), (), burst)))
    d.do(RebalanceQuota("lab"))
    assert len(warned(d)) == 1


def test_looking_tells_what_the_command_does_and_changes_nothing() -> None:
    d = desk()
    for _ in range(3):
        d.lease("lab", cpu_cores=2, ttl_ms=LONG)
    d.do(SetQuota("lab", limit(2)))
    before, command = d.digest, RebalanceQuota("lab", grace_ms=7)
    seen = foresee_rebalance(d.state, command, now_ms=d.now_ms)
    assert d.digest == before
    d.do(command)
    assert [each.lease_id for each in seen.told] == warned(d)
    assert {each.until_ms for each in seen.told} == {seen.until_ms} == {d.now_ms + 7}


# --- by time ------------------------------------------------------------------------------------


def over(**how: Any) -> tuple[Desk, list[int]]:
    """Lab holds all of a node, and may hold half of it."""
    d = desk(rebalance_ms=WAIT_MS, **how)
    held = [d.lease("lab", cpu_cores=2, ttl_ms=LONG) for _ in range(4)]
    d.do(SetQuota("lab", limit(4)))
    return d, held


def test_nobody_goes_before_somebody_has_waited_for_so_long() -> None:
    d, _ = over()
    d.tick()
    entry = d.wait("pond", cpu_cores=2, ttl_ms=LONG)
    since = d.now_ms
    assert "lease_revoked" not in d.tick(since + WAIT_MS - 1)
    assert "lease_revoked" in d.tick(since + WAIT_MS)
    assert len(warned(d)) == 1
    body = next(r.body for r in d.last if r.kind == "lease_revoked")
    assert (body["reason"], body["preemptor"]) == ("quota_rebalance", "pond")
    assert entry in d.state.claims
    d.tick(d.now_ms + 500)
    ended = next(r.body for r in d.last if r.kind == "lease_preempted")
    assert ended["preemptor_entry_id"] == entry
    assert "admission_approved" in d.kinds
    assert not d.state.line.entries


def test_without_the_setting_nobody_ever_goes() -> None:
    d = desk()
    for _ in range(4):
        d.lease("lab", cpu_cores=2, ttl_ms=LONG)
    d.do(SetQuota("lab", limit(4)))
    d.wait("pond", cpu_cores=2, ttl_ms=LONG)
    assert "lease_revoked" not in d.tick(d.now_ms + 100 * WAIT_MS)


def test_no_more_goes_than_the_excess_whatever_the_request_lacks() -> None:
    d, _ = over()
    entry = d.wait("pond", cpu_cores=5, ttl_ms=LONG)  # four above: three leases would be needed
    assert "lease_revoked" not in d.tick(d.now_ms + WAIT_MS)
    d.wait("sea", cpu_cores=4, ttl_ms=LONG)
    d.tick()
    d.tick(d.now_ms + WAIT_MS)
    assert warned(d) == []  # the node is promised to who was there before
    d.do(Cancel(entry))
    d.tick(d.now_ms + 1)
    assert len(warned(d)) == 2


def test_only_what_the_request_needs_goes() -> None:
    d, _ = over()
    d.wait("pond", cpu_cores=1, ttl_ms=LONG)
    d.tick(d.now_ms + WAIT_MS)
    assert len(warned(d)) == 1


def test_who_is_within_its_quota_and_who_is_guaranteed_stays() -> None:
    d = desk(rebalance_ms=WAIT_MS)
    for terms in ({"tenant": "calm"}, {"lease_class": LeaseClass.GUARANTEED}):
        d.lease(**{"tenant": "lab", "cpu_cores": 4, "ttl_ms": LONG, **terms})
    d.do(SetQuota("calm", limit(4)))
    d.do(SetQuota("lab", limit(1)))
    d.wait("pond", cpu_cores=1, ttl_ms=LONG)
    assert "lease_revoked" not in d.tick(d.now_ms + WAIT_MS)


def test_a_request_that_could_not_use_the_room_evicts_nobody() -> None:
    d = Desk(nodes=[cores(8), cores(2, gpus=1)], grace_ms=0, rebalance_ms=WAIT_MS)
    d.lease("calm", gpu_count=1, cpu_cores=2, ttl_ms=LONG)
    d.lease("lab", cpu_cores=8, ttl_ms=LONG)
    d.do(SetQuota("lab", limit(1)))
    d.wait("pond", gpu_count=1, ttl_ms=LONG)
    assert "lease_revoked" not in d.tick(d.now_ms + WAIT_MS)


def test_its_own_tenant_s_excess_is_no_room_for_a_project_that_counts_in_it() -> None:
    d = Desk(nodes=[cores(8, gpus=1)], grace_ms=0, rebalance_ms=WAIT_MS)
    d.lease("lab", project="a", cpu_cores=8, gpu_count=1, ttl_ms=LONG)
    d.do(SetQuota("lab", Quota((ResourceLimit.gpu_count(0),))))
    d.wait("lab", project="b", cpu_cores=2, ttl_ms=LONG)
    assert "lease_revoked" not in d.tick(d.now_ms + WAIT_MS)


def test_a_project_above_its_quota_makes_room_though_its_tenant_is_within() -> None:
    d = desk(rebalance_ms=WAIT_MS, grace_ms=0)
    d.lease("lab", project="a", cpu_cores=8, ttl_ms=LONG)
    d.do(SetQuota("lab", limit(8)))
    d.do(SetQuota("lab", limit(2), "a"))
    d.wait("pond", cpu_cores=2, ttl_ms=LONG)
    d.tick(d.now_ms + WAIT_MS)
    assert len(warned(d)) == 1


def test_victims_stay_when_who_waits_for_them_gives_up() -> None:
    d, _ = over()
    entry = d.wait("pond", cpu_cores=2, ttl_ms=LONG)
    d.tick(d.now_ms + WAIT_MS)
    (victim,) = warned(d)
    d.do(Cancel(entry))
    assert "lease_restored" in d.kinds
    assert d.phase(victim) == "active"
    d.tick(d.now_ms + 1_000)
    assert d.phase(victim) == "active"


def test_one_request_is_served_in_a_tick_and_the_next_in_the_next() -> None:
    d, _ = over()
    for tenant in ("pond", "sea"):
        d.wait(tenant, cpu_cores=2, ttl_ms=LONG)
    d.tick()
    d.tick(d.now_ms + WAIT_MS)
    assert len(warned(d)) == 1
    d.tick(d.now_ms + 1)
    assert len(warned(d)) == 1
    d.tick(d.now_ms + 1)
    assert warned(d) == []  # nobody waits who has no room coming, and lab is within its quota


def test_room_is_there_by_itself_soon_so_nobody_goes() -> None:
    d, held = over()
    d.wait("pond", cpu_cores=2, ttl_ms=LONG)
    d.do(Release(held[0]))
    d.tick(d.now_ms + WAIT_MS)
    assert "lease_revoked" not in d.kinds
    assert not d.state.line.entries


@pytest.mark.parametrize("engine", ["pure", "auto"])
def test_a_replay_and_a_snapshot_come_to_the_same(engine: str) -> None:
    d, _ = over(engine=engine)
    d.wait("pond", cpu_cores=2, ttl_ms=LONG)
    d.tick(d.now_ms + WAIT_MS)
    assert digest_of(d.replayed(engine=engine).state) == d.digest
    assert digest_of(decode(encode(d.state), d.digest, engine=engine)) == d.digest
    d.tick(d.now_ms + 500)
    assert digest_of(d.replayed(engine=engine).state) == d.digest


# --- however many wait ---------------------------------------------------------------------------


def hopeless(d: Desk, count: int) -> None:
    """So many who ask for the same, for which no room can be made: there is one machine."""
    for _ in range(count):
        d.wait("sea", cpu_cores=8, gang_size=2, ttl_ms=LONG)


def test_who_cannot_be_helped_is_in_nobody_s_way() -> None:
    d, _ = over()
    hopeless(d, 20)
    d.wait("pond", cpu_cores=2, ttl_ms=LONG)
    d.tick()
    d.tick(d.now_ms + WAIT_MS)
    assert len(warned(d)) == 1


def test_who_could_not_be_helped_is_let_be_until_somebody_is_above_by_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[int] = []

    class Counted(rebalance_line._Surplus):
        def __init__(self, state: State, excesses: Any, now_ms: int) -> None:
            looks.append(now_ms)
            super().__init__(state, excesses, now_ms)

    monkeypatch.setattr(rebalance_line, "_Surplus", Counted)
    d, _ = over()
    hopeless(d, 20)
    start_ms = d.now_ms + WAIT_MS
    for now_ms in range(start_ms, start_ms + 200_000, 1_000):
        d.tick(now_ms)
    after_s = [(each - start_ms) // 1_000 for each in looks]
    assert after_s == [0, 2, 6, 14, 30, 62, 126, 190]
    d.do(SetQuota("lab", limit(1)))
    d.tick(d.now_ms + 1)
    assert len(looks) == len(after_s) + 1


def test_a_shorter_term_is_asked_for_though_a_longer_one_was_of_no_use() -> None:
    tries = HelpTries()
    tries.note_failure("ask", ttl_ms=10, now_ms=0)
    assert not tries.may_ask("ask", ttl_ms=10, now_ms=1)
    assert not tries.may_ask("ask", ttl_ms=11, now_ms=1)
    assert tries.may_ask("ask", ttl_ms=9, now_ms=1)
    assert tries.may_ask("ask", ttl_ms=10, now_ms=PAUSE_MS)
    assert tries.may_ask("another", ttl_ms=10, now_ms=1)
