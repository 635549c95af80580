"""What a quota may say, what its answers look like, and what burst credit and headroom mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from typing import Any, get_args

import pytest

from bailiwick.scheduler.burst import BurstBucket, BurstOverrun
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import (
    DIMENSIONS,
    GPUS_MAX,
    BudgetExhausted,
    BurstCredit,
    BurstCreditExhausted,
    CostCapExceeded,
    GpuFleetPolicy,
    GpuGenerationLimitExceeded,
    GpuGenerationQuota,
    GpuGenerationRequired,
    HardLimitExceeded,
    Quota,
    QuotaDenied,
    QuotaScope,
    ResourceLimit,
    Room,
    WithinQuota,
)
from bailiwick.scheduler.quota_rows import ROW_WIDTH, USED
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import AMOUNT_MAX, ProjectId, TenantId
from bailiwick.vocab.words import GENERATIONS, Dimension, LeaseClass, QuotaViolation
from bailiwick.vocab.words import HardwareGeneration as G

HOPPER_4 = GpuGenerationQuota(G.NVIDIA_HOPPER, 4)
AMPERE_8 = GpuGenerationQuota(G.NVIDIA_AMPERE, 8)
LAB = TenantId("lab")
BURST = BurstCredit(Dimension.GPU_COUNT, capacity=10, refill_per_s=1, ceiling=1000)

DENIALS: list[tuple[Any, str, tuple[str, ...]]] = [
    (GpuGenerationRequired(1), "gpu_generation_required", ("requested",)),
    (
        GpuGenerationLimitExceeded(G.OTHER, 1, 1, 1),
        "gpu_generation_limit_exceeded",
        ("generation", "limit", "used", "requested"),
    ),
    (
        HardLimitExceeded(Dimension.MEM_BYTES, 1, 1, 1),
        "hard_limit_exceeded",
        ("dimension", "limit", "used", "requested"),
    ),
    (
        BurstCreditExhausted(Dimension.MEM_BYTES, 1, 1, 1, 0),
        "burst_credit_exhausted",
        ("dimension", "limit", "used", "requested", "credit", "credit_needed"),
    ),
    (
        BudgetExhausted(1, 1, 1),
        "budget_exhausted",
        ("budget_micros", "spent_micros", "requested_micros"),
    ),
    (CostCapExceeded(1, 2), "cost_cap_exceeded", ("cap_micros", "projected_micros")),
]


def ask(**terms: Any) -> PlacementRequest:
    return PlacementRequest(**{"tenant": LAB, **terms})


def gpus(count: int, **terms: Any) -> PlacementRequest:
    return ask(gpu_count=count, **terms)


def limited(*limits: ResourceLimit, project: str | None = None) -> QuotaManager:
    manager = QuotaManager()
    manager.set_quota("lab", Quota(limits), project=project)
    return manager


def bursting(
    *, capacity: int = 6, refill: int = 500, ceiling: int = 2000, project: str | None = None
) -> QuotaManager:
    """Two GPUs, and for a while up to two more."""
    manager = QuotaManager()
    credit = BurstCredit(Dimension.GPU_COUNT, capacity, refill, ceiling)
    manager.set_quota("lab", Quota((ResourceLimit.gpu_count(2),), (), credit), project=project)
    return manager


# --- limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "dimension", "shown", "amount"),
    [
        (ResourceLimit.cpu_cores(4), Dimension.CPU_MILLI, 4000, 4000),
        (ResourceLimit.cpu_cores(0.25), Dimension.CPU_MILLI, 250, 250),
        (ResourceLimit.mem_bytes(7), Dimension.MEM_BYTES, 7, 7),
        (ResourceLimit.block_bytes(8), Dimension.BLOCK_BYTES, 8, 8),
        (ResourceLimit.gpu_count(3), Dimension.GPU_COUNT, 3, 3000),
        (ResourceLimit.gpu_vram(9), Dimension.GPU_VRAM, 9, 9),
        (ResourceLimit.lease_count(2), Dimension.LEASE_COUNT, 2, 2),
        (ResourceLimit.mem_bytes(0), Dimension.MEM_BYTES, 0, 0),
        (ResourceLimit.mem_bytes(AMOUNT_MAX), Dimension.MEM_BYTES, AMOUNT_MAX, AMOUNT_MAX),
    ],
)
def test_a_limit_speaks_in_the_unit_of_its_word_and_counts_gpus_in_shares(
    limit: ResourceLimit, dimension: Dimension, shown: int, amount: int
) -> None:
    assert (limit.dimension, limit.limit, limit.amount) == (dimension, shown, amount)


@pytest.mark.parametrize(
    "maker",
    [
        ResourceLimit.mem_bytes,
        ResourceLimit.block_bytes,
        ResourceLimit.gpu_count,
        ResourceLimit.gpu_vram,
        ResourceLimit.lease_count,
        ResourceLimit.cpu_cores,
    ],
)
@pytest.mark.parametrize("bad", [-1, True, None, "4", AMOUNT_MAX + 1, float("nan"), float("inf")])
def test_a_limit_that_is_no_amount_is_refused_under_its_own_name(
    maker: Callable[[Any], ResourceLimit], bad: object
) -> None:
    with pytest.raises(InvalidValue) as caught:
        maker(bad)
    assert caught.value.field == getattr(maker, "__name__", "")


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: ResourceLimit("mem_bytes", 1), "dimension"),
        (lambda: ResourceLimit(Dimension.MEM_BYTES, -1), "limit"),
        (lambda: ResourceLimit(Dimension.GPU_COUNT, GPUS_MAX + 1), "limit"),
        (lambda: ResourceLimit.gpu_count(GPUS_MAX + 1), "gpu_count"),
        (lambda: GpuGenerationQuota("nvidia_hoper", 1), "generation"),
        (lambda: GpuGenerationQuota(None, 1), "generation"),
        (lambda: GpuGenerationQuota(G.NVIDIA_HOPPER, -1), "count"),
        (lambda: GpuGenerationQuota(G.NVIDIA_HOPPER, True), "count"),
        (lambda: GpuGenerationQuota(G.NVIDIA_HOPPER, 1.0), "count"),
        (lambda: GpuGenerationQuota(G.NVIDIA_HOPPER, GPUS_MAX + 1), "count"),
        (lambda: BurstCredit("gpu_count", 1, 1, 1), "dimension"),
        (lambda: BurstCredit(Dimension.GPU_COUNT, 0, 1, 1), "capacity"),
        (lambda: BurstCredit(Dimension.GPU_COUNT, AMOUNT_MAX + 1, 1, 1), "capacity"),
        (lambda: BurstCredit(Dimension.GPU_COUNT, True, 1, 1), "capacity"),
        (lambda: BurstCredit(Dimension.GPU_COUNT, 1, -1, 1), "refill_per_s"),
        (lambda: BurstCredit(Dimension.GPU_COUNT, 1, 1, 0), "ceiling"),
        (lambda: BurstCredit(Dimension.GPU_COUNT, 1, 1, AMOUNT_MAX + 1), "ceiling"),
        (lambda: QuotaScope(""), "tenant"),
        (lambda: QuotaScope.of(7), "tenant"),
        (lambda: QuotaScope.of("lab", ""), "project"),
    ],
)
def test_a_value_that_cannot_be_is_refused_and_named(make: Callable[[], Any], field: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        make()
    assert caught.value.field == field


def test_the_largest_counts_that_still_sum_are_accepted() -> None:
    assert ResourceLimit.gpu_count(GPUS_MAX).amount <= AMOUNT_MAX
    assert GpuGenerationQuota(G.OTHER, GPUS_MAX).count == GPUS_MAX
    assert BurstCredit(Dimension.GPU_COUNT, AMOUNT_MAX, AMOUNT_MAX, AMOUNT_MAX)


# --- quota and policy ---------------------------------------------------------------------------


def test_a_quota_takes_lists_and_keeps_tuples() -> None:
    quota = Quota(limits=[ResourceLimit.mem_bytes(1)], gpu_generations=[HOPPER_4])
    assert quota == Quota((ResourceLimit.mem_bytes(1),), (HOPPER_4,))
    assert isinstance(quota.limits, tuple)
    assert isinstance(quota.gpu_generations, tuple)


def test_a_quota_that_says_nothing_limits_nothing() -> None:
    assert Quota() == Quota(limits=(), gpu_generations=(), burst=None)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Quota((ResourceLimit.mem_bytes(1), ResourceLimit.mem_bytes(2))), "limits"),
        (lambda: Quota((), (HOPPER_4, GpuGenerationQuota(G.NVIDIA_HOPPER, 9))), "gpu_generations"),
        (lambda: Quota((HOPPER_4,)), "limits[0]"),
        (lambda: Quota((ResourceLimit.mem_bytes(1), 5)), "limits[1]"),
        (lambda: Quota((), (None,)), "gpu_generations[0]"),
        (lambda: Quota(ResourceLimit.mem_bytes(1)), "limits"),
        (lambda: Quota((), "nvidia_hopper"), "gpu_generations"),
        (lambda: Quota((), (), 5), "burst"),
        (lambda: Quota((), (), BURST), "burst"),
        (lambda: Quota((ResourceLimit.mem_bytes(1),), (), BURST), "burst"),
    ],
    ids=[
        "a dimension twice",
        "a generation twice",
        "not a limit",
        "not a limit, second",
        "not a generation",
        "no list of limits",
        "no list of generations",
        "no credit",
        "credit without any limit",
        "credit without a limit in its dimension",
    ],
)
def test_a_quota_that_contradicts_itself_is_refused_and_named(
    make: Callable[[], Any], field: str
) -> None:
    with pytest.raises(InvalidValue) as caught:
        make()
    assert caught.value.field == field


def test_burst_credit_goes_with_a_limit_in_its_dimension() -> None:
    assert Quota((ResourceLimit.gpu_count(2),), (), BURST).burst is BURST


@pytest.mark.parametrize(
    ("generations", "field"),
    [
        ([HOPPER_4, AMPERE_8, HOPPER_4], "generations"),
        ([HOPPER_4, GpuGenerationQuota(G.NVIDIA_HOPPER, 1)], "generations"),
        ([], "generations"),
        ([G.NVIDIA_HOPPER], "generations[0]"),
        (HOPPER_4, "generations"),
    ],
)
def test_a_fleet_policy_with_a_bad_table_is_never_built(generations: Any, field: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        GpuFleetPolicy(TenantId("lab"), generations)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("tenant", "project", "field"), [("", None, "tenant"), ("a", "", "project")]
)
def test_a_fleet_policy_needs_well_formed_names(tenant: Any, project: Any, field: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        GpuFleetPolicy(tenant, (HOPPER_4,), project)
    assert caught.value.field == field


@pytest.mark.parametrize("project", [None, ProjectId("p")])
def test_committing_a_fleet_policy_makes_it_the_table_of_that_scope_only(
    project: ProjectId | None,
) -> None:
    manager = QuotaManager()
    GpuFleetPolicy(TenantId("lab"), (HOPPER_4, AMPERE_8), project).commit(manager)
    assert manager.quota_of("lab", project).gpu_generations == (HOPPER_4, AMPERE_8)
    other = None if project else ProjectId("p")
    assert manager.quota_of("lab", other) == Quota()


# --- answers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("denied", "word", "names"), DENIALS)
def test_a_denial_has_its_word_its_numbers_and_a_scope_beside_them(
    denied: Any, word: str, names: tuple[str, ...]
) -> None:
    assert denied.quota_violation == word
    assert denied.code is QuotaViolation(word)
    assert tuple(f.name for f in fields(denied)) == (*names, "scope")
    assert [f.name for f in fields(denied) if not f.compare] == ["scope"]


def test_the_union_of_denials_covers_every_word_once() -> None:
    assert [kind.code for kind in get_args(QuotaDenied)] == list(QuotaViolation)


@pytest.mark.parametrize(("denied", "word", "names"), DENIALS)
def test_a_denial_cannot_be_changed(denied: Any, word: str, names: tuple[str, ...]) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(denied, names[0], 0)


def test_denials_are_equal_by_their_numbers_whichever_scope_said_no() -> None:
    said_by = GpuGenerationRequired(requested=1, scope=QuotaScope.of("lab", "p"))
    assert said_by == GpuGenerationRequired(requested=1)
    assert hash(said_by) == hash(GpuGenerationRequired(requested=1))
    assert said_by != GpuGenerationRequired(requested=2)


def test_being_within_quota_normally_means_no_burst() -> None:
    assert WithinQuota() == WithinQuota(burst=0)


@pytest.mark.parametrize(("project", "text"), [(None, "lab"), ("p", "lab/p")])
def test_a_scope_reads_as_a_path(project: str | None, text: str) -> None:
    assert str(QuotaScope.of("lab", project)) == text


# --- the bucket ---------------------------------------------------------------------------------

CREDIT = BurstCredit(Dimension.MEM_BYTES, capacity=5, refill_per_s=2, ceiling=9)


@pytest.mark.parametrize(
    ("start", "excess", "elapsed_ms", "level"),
    [
        (5000, 3, 0, 5000),
        (5000, 3, 1, 4997),
        (5000, 3, 1666, 2),
        (5000, 3, 1667, 0),
        (5000, 3, 10**9, 0),
        (0, 0, 1, 2),
        (0, -7, 1, 2),
        (0, 0, 2499, 4998),
        (0, 0, 2500, 5000),
        (0, 0, 10**9, 5000),
        (5000, 0, 1, 5000),
    ],
)
def test_the_bucket_drains_by_the_excess_and_refills_within_the_limit(
    start: int, excess: int, elapsed_ms: int, level: int
) -> None:
    bucket = BurstBucket(CREDIT, start, 100)
    assert bucket.at(100 + elapsed_ms, excess=excess) == BurstBucket(
        CREDIT, level, 100 + elapsed_ms
    )


def test_a_new_bucket_is_full() -> None:
    assert BurstBucket.full(CREDIT, 3) == BurstBucket(CREDIT, 5000, 3)


@pytest.mark.parametrize(
    ("credit", "level"),
    [
        (CREDIT, 3000),
        (BurstCredit(Dimension.MEM_BYTES, capacity=50, refill_per_s=2, ceiling=9), 3000),
        (BurstCredit(Dimension.MEM_BYTES, capacity=2, refill_per_s=2, ceiling=9), 2000),
        (BurstCredit(Dimension.GPU_COUNT, capacity=7, refill_per_s=2, ceiling=9), 7000),
    ],
    ids=["the same", "a larger one", "a smaller one", "another dimension"],
)
def test_another_credit_in_the_same_dimension_gives_nothing_back(
    credit: BurstCredit, level: int
) -> None:
    assert BurstBucket(CREDIT, 3000, 8).under(credit) == BurstBucket(credit, level, 8)


# --- credit in use ------------------------------------------------------------------------------


@pytest.mark.parametrize("project", [None, "p"])
def test_credit_lets_a_scope_go_above_its_limit_up_to_the_ceiling(project: str | None) -> None:
    manager = bursting(project=project)
    assert manager.check(gpus(2, project="p")) == WithinQuota(burst=0)
    assert manager.check(gpus(3, project="p")) == WithinQuota(burst=1000)
    assert manager.check(gpus(4, project="p")) == WithinQuota(burst=2000)
    denied = manager.check(gpus(5, project="p"))
    assert denied == HardLimitExceeded(Dimension.GPU_COUNT, limit=4, used=0, requested=5)


def test_a_ceiling_of_part_of_a_gpu_is_told_rounded_down() -> None:
    manager = bursting(ceiling=1500)
    manager.record_alloc(gpus(3))
    assert manager.check(ask(gpu_milli=500)) == WithinQuota(burst=1500)
    denied = manager.check(ask(gpu_milli=501))
    assert denied == HardLimitExceeded(Dimension.GPU_COUNT, limit=3, used=3, requested=1)


def test_credit_in_one_dimension_is_none_in_another() -> None:
    manager = QuotaManager()
    limits = (ResourceLimit.gpu_count(2), ResourceLimit.mem_bytes(5))
    manager.set_quota("lab", Quota(limits, (), BurstCredit(Dimension.GPU_COUNT, 9, 1, 9000)))
    assert manager.check(ask(mem_bytes=6)) == HardLimitExceeded(Dimension.MEM_BYTES, 5, 0, 6)


def test_a_ceiling_beyond_counting_stops_at_the_largest_amount() -> None:
    manager = QuotaManager()
    credit = BurstCredit(Dimension.MEM_BYTES, 1, 0, AMOUNT_MAX)
    manager.set_quota("lab", Quota((ResourceLimit.mem_bytes(5),), (), credit))
    assert manager.check(ask(mem_bytes=AMOUNT_MAX)) == WithinQuota(burst=AMOUNT_MAX - 5)
    manager.record_alloc(ask(mem_bytes=1))
    denied = manager.check(ask(mem_bytes=AMOUNT_MAX))
    assert denied == HardLimitExceeded(Dimension.MEM_BYTES, AMOUNT_MAX, 1, AMOUNT_MAX)


@pytest.mark.parametrize("owner", [None, "p"])
def test_credit_carries_no_guaranteed_work_above_the_limit(owner: str | None) -> None:
    """Nobody could end it when the credit is gone: ``plan_burst`` takes none."""
    manager = bursting(project=owner)
    firm = {"project": "p", "lease_class": LeaseClass.GUARANTEED}
    assert manager.check(gpus(2, **firm)) == WithinQuota()
    manager.record_alloc(gpus(1, project="p"))
    denied = HardLimitExceeded(Dimension.GPU_COUNT, limit=2, used=1, requested=2)
    assert manager.check(gpus(2, **firm)) == denied
    assert manager.check(gpus(2, project="p")) == WithinQuota(burst=1000)
    assert manager.check(ask(cpu_cores=1, **firm)) == WithinQuota()


def test_no_more_memory_is_looked_for_than_the_limit_bears_for_guaranteed_work() -> None:
    manager = QuotaManager()
    credit = BurstCredit(Dimension.GPU_VRAM, 10**6, 0, 50)
    manager.set_quota("lab", Quota((ResourceLimit.gpu_vram(100),), (), credit))
    row = manager.row_of("lab")
    assert manager.most_vram(row, gpus(1)) == 150
    assert manager.most_vram(row, gpus(1, lease_class=LeaseClass.GUARANTEED)) == 100


def test_when_project_and_tenant_both_burst_the_projects_amount_is_told() -> None:
    manager = bursting()
    credit = BurstCredit(Dimension.GPU_COUNT, 9, 1, 9000)
    manager.set_quota("lab", Quota((ResourceLimit.gpu_count(1),), (), credit), project="p")
    assert manager.check(gpus(4, project="p")) == WithinQuota(burst=3000)


def test_credit_is_used_by_the_excess_over_time_and_then_gone() -> None:
    # 6 GPU-milli-seconds and an excess of 2000 milli: gone after 3 ms.
    manager = bursting()
    manager.record_alloc(gpus(4), now_ms=100)
    assert manager.burst_exhausted(102) == ()
    gone = (BurstOverrun(QuotaScope(LAB), Dimension.GPU_COUNT, excess=2000),)
    assert manager.burst_exhausted(103) == gone
    manager.record_free(gpus(1), now_ms=103)
    denied = manager.check(gpus(1), now_ms=103)
    expected = BurstCreditExhausted(Dimension.GPU_COUNT, limit=2, used=3, requested=1, credit=0)
    assert denied == expected
    assert isinstance(denied, BurstCreditExhausted)
    assert denied.scope == QuotaScope(LAB)


def test_exhausted_credit_stops_only_what_would_need_it() -> None:
    manager = bursting()
    manager.record_alloc(gpus(4), now_ms=0)
    assert manager.check(ask(cpu_cores=1), now_ms=50) == WithinQuota()
    manager.record_free(gpus(3), now_ms=50)
    assert manager.check(gpus(1), now_ms=50) == WithinQuota()
    assert isinstance(manager.check(gpus(2), now_ms=50), BurstCreditExhausted)


def test_an_overrun_ends_when_the_scope_is_back_within_its_limit() -> None:
    manager = bursting()
    manager.record_alloc(gpus(3), now_ms=0)
    assert len(manager.burst_exhausted(6)) == 1
    manager.record_free(gpus(1), now_ms=6)
    assert manager.burst_exhausted(6) == ()


def test_credit_grows_again_within_the_limit() -> None:
    manager = bursting()
    manager.record_alloc(gpus(4), now_ms=0)
    manager.record_free(gpus(4), now_ms=10)
    assert isinstance(manager.check(gpus(3), now_ms=10), BurstCreditExhausted)
    assert manager.check(gpus(3), now_ms=11) == WithinQuota(burst=1000)
    # 500 a millisecond for 12 ms fill it; another hour adds nothing.
    manager.settle(manager.row_of("lab"), 3_600_000)
    manager.record_alloc(gpus(4), now_ms=3_600_000)
    assert manager.burst_exhausted(3_600_002) == ()
    assert len(manager.burst_exhausted(3_600_003)) == 1


def test_usage_exactly_at_the_limit_refills() -> None:
    manager = bursting()
    manager.record_alloc(gpus(4), now_ms=0)
    manager.record_free(gpus(2), now_ms=5)
    assert manager.check(gpus(1), now_ms=6) == WithinQuota(burst=1000)


@pytest.mark.parametrize("stops", [[], [1], [1, 2], [0, 0, 2, 2]])
def test_how_often_it_is_settled_does_not_matter(stops: list[int]) -> None:
    manager = bursting()
    manager.record_alloc(gpus(4), now_ms=0)
    for stop in stops:
        manager.settle(manager.row_of("lab"), stop)
    assert manager.burst_exhausted(2) == ()
    assert len(manager.burst_exhausted(3)) == 1


def test_settling_a_project_settles_its_tenant() -> None:
    manager = bursting()
    inner = manager.row_of("lab", "p")
    manager.record_alloc(gpus(4, project="p"), now_ms=0)
    manager.settle(inner, 2)
    cells = manager.buffer
    for at in (inner, manager.row_of("lab")):
        cells[at * ROW_WIDTH + USED + 3] = 0  # as a compiled core would write it
    manager.settle(inner, 3)
    manager.record_alloc(gpus(4, project="p"), now_ms=3)
    # Left at 2 ms: 6000 - 2 * 2000; one millisecond of refill; then 2000 a millisecond again.
    assert manager.burst_exhausted(4) == ()
    assert len(manager.burst_exhausted(5)) == 1


def test_setting_the_same_quota_again_gives_no_new_credit() -> None:
    manager = bursting()
    manager.record_alloc(gpus(4), now_ms=0)
    manager.set_quota("lab", manager.quota_of("lab"), now_ms=3)
    assert len(manager.burst_exhausted(3)) == 1


def test_a_new_limit_counts_from_the_moment_it_is_set() -> None:
    manager = bursting()
    manager.record_alloc(gpus(4), now_ms=0)
    credit = manager.quota_of("lab").burst
    manager.set_quota("lab", Quota((ResourceLimit.gpu_count(3),), (), credit), now_ms=2)
    # 2000 left of 6000, now draining by 1000.
    assert manager.burst_exhausted(3) == ()
    assert manager.burst_exhausted(4)[0].excess == 1000


def test_a_quota_without_burst_ends_the_credit() -> None:
    manager = bursting()
    manager.record_alloc(gpus(4), now_ms=0)
    manager.set_quota("lab", Quota((ResourceLimit.gpu_count(2),)))
    assert manager.burst_exhausted(100) == ()
    assert isinstance(manager.check(gpus(1), now_ms=100), HardLimitExceeded)


def test_overruns_are_listed_for_each_scope_in_the_order_of_rows() -> None:
    manager = QuotaManager()
    for tenant in ("b", "a"):
        quota = Quota((ResourceLimit.mem_bytes(1),), (), BurstCredit(Dimension.MEM_BYTES, 1, 0, 10))
        manager.set_quota(tenant, quota)
        manager.record_alloc(PlacementRequest(tenant=TenantId(tenant), mem_bytes=2))
    assert [str(o.scope) for o in manager.burst_exhausted(1000)] == ["b", "a"]


# --- headroom and quota -------------------------------------------------------------------------


def test_headroom_tells_limit_used_and_left_of_the_scope() -> None:
    manager = QuotaManager()
    manager.set_quota("lab", Quota((ResourceLimit.gpu_count(4),), (HOPPER_4,)))
    manager.record_alloc(ask(gpu_milli=500, generation=G.NVIDIA_HOPPER))
    room = manager.headroom("lab")
    assert room.scope == QuotaScope(LAB)
    assert room.dimensions[Dimension.GPU_COUNT] == Room(4, 1, 3, 3500)
    assert room.dimensions[Dimension.LEASE_COUNT] == Room(None, 1, None, None)
    assert room.generations[G.NVIDIA_HOPPER] == Room(4, 1, 3, 3500)
    assert room.generations[G.NVIDIA_ADA] == Room(0, 0, 0, 0)
    assert tuple(room.dimensions) == DIMENSIONS
    assert tuple(room.generations) == GENERATIONS


def test_a_project_has_no_more_left_than_its_tenant() -> None:
    manager = limited(ResourceLimit.mem_bytes(10))
    manager.set_quota("lab", Quota((ResourceLimit.mem_bytes(8),)), project="p")
    manager.record_alloc(ask(mem_bytes=6, project="q"))
    assert manager.headroom("lab", "p").dimensions[Dimension.MEM_BYTES] == Room(8, 0, 4, 4)
    assert manager.headroom("lab", "new").dimensions[Dimension.MEM_BYTES] == Room(None, 0, 4, 4)
    assert manager.headroom("lab", "q").dimensions[Dimension.MEM_BYTES] == Room(None, 6, 4, 4)


def test_nothing_is_left_above_a_lowered_limit() -> None:
    manager = limited(ResourceLimit.mem_bytes(10))
    manager.record_alloc(ask(mem_bytes=9))
    manager.set_quota("lab", Quota((ResourceLimit.mem_bytes(5),)))
    assert manager.headroom("lab").dimensions[Dimension.MEM_BYTES] == Room(5, 9, 0, 0)


def test_headroom_of_an_unknown_tenant_is_unlimited_and_makes_no_row() -> None:
    manager = QuotaManager()
    room = manager.headroom("new")
    assert set(room.dimensions.values()) | set(room.generations.values()) == {
        Room(None, 0, None, None)
    }
    assert manager.row_count == 0


def test_what_is_set_can_be_read_back_and_replaces_what_was() -> None:
    manager = QuotaManager()
    assert manager.quota_of("lab") == Quota()
    first = Quota((ResourceLimit.mem_bytes(1),), (HOPPER_4,))
    manager.set_quota("lab", first)
    assert manager.quota_of("lab") == first
    manager.set_gpu_generation_limits("lab", (AMPERE_8,))
    assert manager.quota_of("lab") == Quota((ResourceLimit.mem_bytes(1),), (AMPERE_8,))
    manager.set_quota("lab", Quota((ResourceLimit.cpu_cores(1),)))
    assert manager.check(gpus(16, mem_bytes=2)) == WithinQuota()
    assert manager.check(ask(cpu_cores=2)) == HardLimitExceeded(Dimension.CPU_MILLI, 1000, 0, 2000)
