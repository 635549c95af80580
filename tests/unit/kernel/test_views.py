"""What can be seen in a state, and that looking leaves no trace."""

from __future__ import annotations

import pytest

from bailiwick.kernel import (
    ChangeMode,
    ChangeSettings,
    Quarantine,
    RegisterNode,
    Release,
    SetQuota,
    SetShare,
    digest_of,
)
from bailiwick.kernel.views import (
    Estimate,
    EstimateBasis,
    fleet,
    leases,
    usage,
    waiting,
    waiting_entry,
)
from bailiwick.scheduler.decision import VictimsLeaving
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.vocab.errors import NotFound
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import Dimension, FilterReason, PendingReason, Priority
from tests.support.kernel_histories import (
    AMPERE,
    HOPPER,
    HOUR,
    MINUTE,
    START_MS,
    Campus,
    busy_journal,
    granted,
    node,
)
from tests.support.wide_open import wide_settings


@pytest.fixture
def campus() -> Campus:
    made = Campus()
    made.do(ChangeSettings(wide_settings()))
    for name in ("a", "b"):
        made.do(RegisterNode(name, node(8)))
    return made


def test_looking_at_everything_leaves_the_digest_as_it_is() -> None:
    for seed in (1, 2, 3):
        state = busy_journal(seed, steps=80).kernel.state
        before = digest_of(state)
        shown = waiting(state, state.clock_ms + HOUR)
        for each in shown:
            told = waiting_entry(state, each.id, now_ms=state.clock_ms + HOUR)
            assert (told.id, told.position) == (each.id, each.position)
        fleet(state), list(leases(state)), usage(state)
        assert digest_of(state) == before


def test_the_line_is_told_in_the_order_in_which_it_is_looked_at(campus: Campus) -> None:
    campus.submit("a", gpu_count=8, ttl_ms=HOUR)
    campus.submit("a", gpu_count=8, ttl_ms=2 * HOUR)
    campus.submit("a", gpu_count=8)
    campus.submit("b", gpu_count=2, priority=Priority.CRITICAL, wait=False)
    campus.submit("b", gpu_count=2, priority=Priority.NORMAL)
    state = campus.kernel.state
    shown = waiting(state, campus.now_ms)
    assert [each.position for each in shown] == [1, 2]
    assert [e.id for e in state.line.order(campus.now_ms)] == [each.id for each in shown]
    assert waiting(state, campus.now_ms, limit=1) == shown[:1]


def test_room_that_is_kept_is_a_reservation_and_for_others_an_expiry(
    campus: Campus,
) -> None:
    campus.submit("a", gpu_count=8, ttl_ms=HOUR)
    campus.submit("a", gpu_count=8, ttl_ms=2 * HOUR)
    for _ in range(5):
        campus.submit("b", gpu_count=8, ttl_ms=4 * HOUR)
    first, *others, last = waiting(campus.kernel.state, campus.now_ms)
    assert (first.estimate.starts_ms, first.estimate.basis) == (START_MS + HOUR, "reservation")
    assert {each.estimate.basis for each in others} == {EstimateBasis.RESERVATION}
    assert last.estimate == Estimate(START_MS + 9 * HOUR, EstimateBasis.EXPIRY)
    assert first.reason is PendingReason.WAITING_FOR_CAPACITY
    assert first.fallen == {FilterReason.GPU: 2}
    assert first.fitting == 0
    assert first.remedy.amount == 8_000
    assert first.blocker == first.blockers[0]


def test_who_waits_for_quota_has_no_estimate_but_every_blocker(campus: Campus) -> None:
    campus.do(SetQuota("a", Quota((ResourceLimit.gpu_count(8),))))
    campus.submit("a", gpu_count=8, ttl_ms=HOUR)
    campus.submit("b", gpu_count=8, ttl_ms=HOUR)
    campus.submit("a", gpu_count=4)
    (entry,) = waiting(campus.kernel.state, campus.now_ms)
    assert (entry.estimate.starts_ms, entry.estimate.basis) == (None, "waits_for_quota")
    assert [b.reason for b in entry.blockers] == ["waiting_for_quota", "waiting_for_capacity"]


def test_room_that_is_free_again_is_told_before_anybody_looked(campus: Campus) -> None:
    (lease,) = granted(campus.submit("a", gpu_count=8, ttl_ms=HOUR))
    campus.submit("a", gpu_count=8, ttl_ms=HOUR)
    campus.submit("b", gpu_count=8)
    campus.do(Release(lease))
    (entry,) = waiting(campus.kernel.state, campus.now_ms)
    assert entry.blocker is None
    assert entry.reason is PendingReason.NOT_YET_LOOKED_AT
    assert (entry.estimate.starts_ms, entry.estimate.basis) == (campus.now_ms, "fits_now")


def test_victims_that_leave_tell_until_when(campus: Campus) -> None:
    for _ in range(2):
        campus.submit("a", gpu_count=8, priority=Priority.LOW, ttl_ms=5 * HOUR)
    campus.submit("b", gpu_count=8, priority=Priority.CRITICAL)
    (entry,) = waiting(campus.kernel.state, campus.now_ms)
    assert entry.blocker is not None
    assert isinstance(entry.blocker.detail, VictimsLeaving)
    assert entry.estimate.starts_ms == entry.blocker.detail.until_ms == START_MS + 30_000
    assert entry.estimate.basis is EstimateBasis.VICTIMS


def test_what_never_ends_in_the_horizon_has_no_estimate(campus: Campus) -> None:
    campus.do(ChangeSettings(wide_settings(horizon_ms=MINUTE)))
    for _ in range(2):
        campus.submit("a", gpu_count=8, ttl_ms=HOUR)
    campus.submit("b", gpu_count=8)
    (entry,) = waiting(campus.kernel.state, campus.now_ms)
    assert entry.estimate.basis is EstimateBasis.BEYOND_HORIZON


def test_an_entry_that_is_gone_is_an_error(campus: Campus) -> None:
    with pytest.raises(NotFound):
        waiting_entry(campus.kernel.state, 1, now_ms=0)


def test_the_fleet_adds_up(campus: Campus) -> None:
    campus.do(RegisterNode("c", node(4, generation=AMPERE)))
    campus.submit("a", gpu_count=3, cpu_cores=2)
    campus.do(Quarantine("c", "evidence_is_stale"))
    campus.do(ChangeMode("b", NodeMode.DRAINING))
    told = fleet(campus.kernel.state)
    assert told.nodes == 3
    assert sum(told.modes.values()) == 3
    assert told.quarantined == 1
    rows = {row.generation: row for row in told.generations}
    assert (rows[AMPERE].devices, rows[AMPERE].free_milli, rows[AMPERE].closed_milli) == (
        4, 0, 4_000,
    )  # fmt: skip
    hopper = rows[HOPPER]
    assert hopper.leased_milli + hopper.free_milli + hopper.closed_milli == 16_000
    assert told.leased.cpu_milli == 2_000
    assert told.capacity.gpu_milli == 20_000


def test_leases_bear_the_kernels_numbers_and_tenants_their_sums() -> None:
    for seed in (4, 7):
        state = busy_journal(seed, steps=100).kernel.state
        told = list(leases(state))
        assert [lease.id for lease in told] == sorted(state.leases)
        for lease in told:
            assert state.owner_of(lease.id).tenant == lease.tenant
        rows = {str(each.scope): each for each in usage(state)}
        assert sum(r.leases for n, r in rows.items() if "/" not in n) == len(told) - len(
            state.fenced
        )
        assert sum(r.waiting for n, r in rows.items() if "/" not in n) == len(state.line.entries)
        for each in rows.values():
            room = each.dimensions[Dimension.GPU_COUNT]
            assert room.used == -(-each.held.gpu_milli // 1_000)


def test_a_share_and_a_quota_are_told_before_anything_is_held(campus: Campus) -> None:
    campus.do(SetShare("a", 5, "x"))
    campus.do(SetQuota("b", Quota((ResourceLimit.gpu_count(3),))))
    rows = {str(each.scope): each for each in usage(campus.kernel.state)}
    assert rows["a/x"].share == 5
    assert rows["a"].share == 1
    assert rows["b"].dimensions[Dimension.GPU_COUNT].limit == 3
