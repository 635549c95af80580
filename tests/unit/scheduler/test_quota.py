"""The quota manager: what it lets through, in which order it says no, and what it counts."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import (
    DIMENSIONS,
    GPUS_MAX,
    BudgetExhausted,
    BurstCredit,
    BurstCreditExhausted,
    CostCapExceeded,
    GpuGenerationLimitExceeded,
    GpuGenerationQuota,
    GpuGenerationRequired,
    HardLimitExceeded,
    Missing,
    Quota,
    QuotaDecision,
    QuotaScope,
    ResourceLimit,
    Shortfall,
    WithinQuota,
)
from bailiwick.scheduler.quota_rows import (
    FLAG_ASK,
    FLAG_GENERATIONS,
    FLAGS,
    GENERATION_LIMIT,
    GENERATION_USED,
    LIMIT,
    PARENT,
    ROW_WIDTH,
    ROWS_MAX,
    USED,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue, InvariantBroken, LimitReached
from bailiwick.vocab.values import AMOUNT_MAX, ProjectId, TenantId
from bailiwick.vocab.words import GENERATIONS, Dimension
from bailiwick.vocab.words import HardwareGeneration as G

LAB = TenantId("lab")
HOPPER_4 = GpuGenerationQuota(G.NVIDIA_HOPPER, 4)
AMPERE_8 = GpuGenerationQuota(G.NVIDIA_AMPERE, 8)
SCOPES = [QuotaScope(LAB), QuotaScope(LAB, ProjectId("p"))]


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


def row(manager: QuotaManager, tenant: str = "lab", project: str | None = None) -> array[int]:
    at = manager.row_of(tenant, project) * ROW_WIDTH
    return manager.buffer[at : at + ROW_WIDTH]


def used(manager: QuotaManager, project: str | None = None) -> dict[Dimension, int]:
    cells = row(manager, "lab", project)
    return {d: cells[USED + i] for i, d in enumerate(DIMENSIONS) if cells[USED + i]}


def used_of(manager: QuotaManager, generation: G, project: str | None = None) -> int:
    return row(manager, "lab", project)[GENERATION_USED + GENERATIONS.index(generation)]


def everything(manager: QuotaManager) -> tuple[object, ...]:
    """All that a refused call must leave as it was."""
    quotas = [manager.quota_of(s.tenant, s.project) for s in SCOPES]
    return manager.row_count, manager.buffer.tobytes(), quotas, manager.burst_exhausted(10**9)


# --- generations (recipe 56) --------------------------------------------------------------------


@pytest.fixture
def fleet() -> QuotaManager:
    """Up to 4 Hopper and up to 8 Ampere."""
    manager = QuotaManager()
    manager.set_gpu_generation_limits("lab", [HOPPER_4, AMPERE_8])
    return manager


@pytest.mark.parametrize("count", [0, 1, 4])
def test_a_declared_generation_within_its_count_is_allowed(fleet: QuotaManager, count: int) -> None:
    assert fleet.check_gpu_generation("lab", G.NVIDIA_HOPPER, count) == WithinQuota()


def test_an_undeclared_generation_fails_closed_once_a_table_exists(fleet: QuotaManager) -> None:
    assert fleet.check_gpu_generation("lab", None, 1) == GpuGenerationRequired(requested=1)


@pytest.mark.parametrize(
    "generation", [g for g in G if g not in (G.NVIDIA_HOPPER, G.NVIDIA_AMPERE)]
)
def test_an_unlisted_generation_has_limit_zero(fleet: QuotaManager, generation: G) -> None:
    expected = GpuGenerationLimitExceeded(generation, limit=0, used=0, requested=1)
    assert fleet.check_gpu_generation("lab", generation, 1) == expected


def test_beyond_the_listed_count_all_four_numbers_are_told(fleet: QuotaManager) -> None:
    fleet.record_gpu_generation_alloc("lab", G.NVIDIA_HOPPER, 3)
    expected = GpuGenerationLimitExceeded(G.NVIDIA_HOPPER, limit=4, used=3, requested=2)
    assert fleet.check_gpu_generation("lab", G.NVIDIA_HOPPER, 2) == expected


def test_a_release_makes_the_next_request_fit_again(fleet: QuotaManager) -> None:
    fleet.record_gpu_generation_alloc("lab", G.NVIDIA_HOPPER, 4)
    assert fleet.check_gpu_generation("lab", G.NVIDIA_HOPPER, 1) != WithinQuota()
    assert fleet.record_gpu_generation_free("lab", G.NVIDIA_HOPPER, 1) == 0
    assert fleet.check_gpu_generation("lab", G.NVIDIA_HOPPER, 1) == WithinQuota()


@pytest.mark.parametrize(("held", "freed", "left_over"), [(0, 3, 3), (2, 5, 3), (5, 5, 0)])
def test_a_release_beyond_what_was_recorded_stops_at_zero_and_says_by_how_much(
    fleet: QuotaManager, held: int, freed: int, left_over: int
) -> None:
    fleet.record_gpu_generation_alloc("lab", G.NVIDIA_AMPERE, held)
    assert fleet.record_gpu_generation_free("lab", G.NVIDIA_AMPERE, freed) == left_over
    assert used_of(fleet, G.NVIDIA_AMPERE) == 0


def test_a_release_short_of_part_of_a_gpu_counts_that_gpu_as_missing(fleet: QuotaManager) -> None:
    fleet.record_alloc(ask(gpu_milli=300, generation=G.NVIDIA_AMPERE))
    assert fleet.record_gpu_generation_free("lab", G.NVIDIA_AMPERE, 1) == 1


def test_a_release_for_an_unknown_tenant_is_reported_whole_and_makes_no_row() -> None:
    manager = QuotaManager()
    assert manager.record_gpu_generation_free("new", G.OTHER, 2) == 2
    assert manager.row_count == 0


@pytest.mark.parametrize("generation", [None, *G])
def test_without_a_table_every_generation_and_none_are_allowed(generation: G | None) -> None:
    manager = limited(ResourceLimit.mem_bytes(1))
    assert manager.check_gpu_generation("lab", generation, 10**6) == WithinQuota()


def test_an_empty_table_lifts_the_allow_list(fleet: QuotaManager) -> None:
    fleet.set_gpu_generation_limits("lab", [])
    assert fleet.check_gpu_generation("lab", None, 1) == WithinQuota()


def test_a_listed_count_of_zero_still_makes_it_an_allow_list(fleet: QuotaManager) -> None:
    fleet.set_gpu_generation_limits("lab", [GpuGenerationQuota(G.OTHER, 0)])
    assert fleet.check_gpu_generation("lab", None, 1) == GpuGenerationRequired(1)
    assert isinstance(fleet.check(gpus(1, generation=G.OTHER)), GpuGenerationLimitExceeded)


@pytest.mark.parametrize("table_on", ["lab", "p"])
def test_a_table_of_either_the_tenant_or_the_project_binds_the_project(table_on: str) -> None:
    manager = QuotaManager()
    project = None if table_on == "lab" else table_on
    manager.set_gpu_generation_limits("lab", [HOPPER_4], project=project)
    assert manager.check_gpu_generation("lab", None, 1, project="p") == GpuGenerationRequired(1)
    denied = manager.check(gpus(5, generation=G.NVIDIA_HOPPER, project="p"))
    assert denied == GpuGenerationLimitExceeded(G.NVIDIA_HOPPER, 4, 0, 5)
    assert denied.scope == QuotaScope.of("lab", project)


def test_two_projects_share_their_tenants_table(fleet: QuotaManager) -> None:
    fleet.record_gpu_generation_alloc("lab", G.NVIDIA_HOPPER, 3, project="p")
    denied = fleet.check_gpu_generation("lab", G.NVIDIA_HOPPER, 2, project="q")
    assert denied == GpuGenerationLimitExceeded(G.NVIDIA_HOPPER, limit=4, used=3, requested=2)


def test_a_projects_table_does_not_bind_its_tenant() -> None:
    manager = QuotaManager()
    manager.set_gpu_generation_limits("lab", [HOPPER_4], project="p")
    assert manager.check(gpus(9)) == WithinQuota()


def test_a_request_without_gpus_is_no_matter_of_generations(fleet: QuotaManager) -> None:
    assert fleet.check(ask(cpu_cores=1)) == WithinQuota()


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (gpus(2), GpuGenerationRequired(requested=2)),
        (gpus(2, gang_size=3), GpuGenerationRequired(requested=6)),
        (ask(gpu_milli=300), GpuGenerationRequired(requested=1)),
        (ask(gpu_milli=300, gang_size=4), GpuGenerationRequired(requested=2)),
        (
            gpus(2, gang_size=3, generation=G.NVIDIA_HOPPER),
            GpuGenerationLimitExceeded(G.NVIDIA_HOPPER, 4, 0, 6),
        ),
        (
            ask(gpu_milli=1, generation=G.OTHER),
            GpuGenerationLimitExceeded(G.OTHER, 0, 0, 1),
        ),
        (gpus(2, gang_size=2, generation=G.NVIDIA_HOPPER), WithinQuota()),
    ],
)
def test_a_placement_request_meets_the_same_table_with_all_members_together(
    fleet: QuotaManager, request_: PlacementRequest, expected: QuotaDecision
) -> None:
    assert fleet.check(request_) == expected


def test_rounded_numbers_in_a_denial_still_show_the_excess(fleet: QuotaManager) -> None:
    for _ in range(7):
        fleet.record_alloc(ask(gpu_milli=500, generation=G.NVIDIA_HOPPER))
    denied = fleet.check(ask(gpu_milli=501, generation=G.NVIDIA_HOPPER))
    assert denied == GpuGenerationLimitExceeded(G.NVIDIA_HOPPER, limit=4, used=4, requested=1)
    assert fleet.check(ask(gpu_milli=500, generation=G.NVIDIA_HOPPER)) == WithinQuota()


def test_the_gpu_count_caps_all_generations_together() -> None:
    manager = QuotaManager()
    manager.set_quota("lab", Quota((ResourceLimit.gpu_count(6),), (HOPPER_4, AMPERE_8)))
    manager.record_alloc(gpus(4, generation=G.NVIDIA_HOPPER))
    assert manager.check(gpus(2, generation=G.NVIDIA_AMPERE)) == WithinQuota()
    denied = manager.check(gpus(3, generation=G.NVIDIA_AMPERE))
    assert denied == HardLimitExceeded(Dimension.GPU_COUNT, limit=6, used=4, requested=3)


def test_usage_of_a_generation_that_is_later_unlisted_is_told(fleet: QuotaManager) -> None:
    fleet.record_gpu_generation_alloc("lab", G.NVIDIA_HOPPER, 3)
    fleet.set_gpu_generation_limits("lab", [AMPERE_8])
    denied = fleet.check_gpu_generation("lab", G.NVIDIA_HOPPER, 1)
    assert denied == GpuGenerationLimitExceeded(G.NVIDIA_HOPPER, limit=0, used=3, requested=1)


# --- hard limits --------------------------------------------------------------------------------

LIMITS: list[tuple[ResourceLimit, dict[str, Any], dict[str, Any], int]] = [
    (ResourceLimit.cpu_cores(2), {"cpu_cores": 2}, {"cpu_cores": 0.001}, 1),
    (ResourceLimit.mem_bytes(9), {"mem_bytes": 9}, {"mem_bytes": 1}, 1),
    (ResourceLimit.block_bytes(9), {"block_bytes": 9}, {"block_bytes": 1}, 1),
    (ResourceLimit.gpu_count(3), {"gpu_count": 3}, {"gpu_milli": 1}, 1),
    (ResourceLimit.gpu_vram(9), {"gpu_count": 3, "gpu_vram": 3}, {"gpu_vram": 1}, 1),
    (ResourceLimit.lease_count(4), {"cpu_cores": 1, "gang_size": 4}, {"cpu_cores": 1}, 1),
]


@pytest.mark.parametrize("project", [None, "p"])
@pytest.mark.parametrize(("limit", "fits", "more", "requested"), LIMITS)
def test_a_limit_lets_exactly_its_amount_through(
    limit: ResourceLimit,
    fits: dict[str, Any],
    more: dict[str, Any],
    requested: int,
    project: str | None,
) -> None:
    manager = limited(limit, project=project)
    whole = ask(project="p", **fits)
    assert manager.check(whole) == WithinQuota()
    manager.record_alloc(whole)
    denied = manager.check(ask(project="p", **more))
    expected = HardLimitExceeded(limit.dimension, limit.limit, limit.limit, requested)
    assert denied == expected
    assert isinstance(denied, HardLimitExceeded)
    assert denied.scope == QuotaScope.of("lab", project)
    assert manager.record_free(whole) == Shortfall(QuotaScope.of("lab", "p"))
    assert manager.check(ask(project="p", **more)) == WithinQuota()


def test_an_unknown_tenant_is_not_limited_and_asking_makes_no_row() -> None:
    manager = QuotaManager()
    assert manager.check(gpus(16, project="p", gang_size=4096)) == WithinQuota()
    assert manager.row_count == 0


def test_more_than_can_be_counted_is_denied_even_without_a_limit() -> None:
    manager = QuotaManager()
    denied = manager.check(ask(mem_bytes=AMOUNT_MAX, gang_size=2))
    expected = HardLimitExceeded(Dimension.MEM_BYTES, AMOUNT_MAX, 0, 2 * AMOUNT_MAX)
    assert denied == expected
    assert manager.check(ask(mem_bytes=AMOUNT_MAX)) == WithinQuota()


def test_only_what_a_request_asks_for_is_held_against_it() -> None:
    manager = limited(ResourceLimit.mem_bytes(5))
    manager.record_alloc(ask(mem_bytes=9))
    assert manager.check(ask(cpu_cores=1)) == WithinQuota()
    assert manager.check(ask(mem_bytes=1)) == HardLimitExceeded(Dimension.MEM_BYTES, 5, 9, 1)


def test_a_project_cannot_go_beyond_its_tenant_nor_beyond_itself() -> None:
    manager = limited(ResourceLimit.mem_bytes(10))
    manager.set_quota("lab", Quota((ResourceLimit.mem_bytes(8),)), project="p")
    over_project = manager.check(ask(mem_bytes=9, project="p"))
    assert over_project == HardLimitExceeded(Dimension.MEM_BYTES, 8, 0, 9)
    manager.record_alloc(ask(mem_bytes=5, project="q"))
    over_tenant = manager.check(ask(mem_bytes=6, project="p"))
    assert over_tenant == HardLimitExceeded(Dimension.MEM_BYTES, 10, 5, 6)
    assert manager.check(ask(mem_bytes=5, project="p")) == WithinQuota()


def test_a_generous_project_is_still_within_its_tenant() -> None:
    manager = limited(ResourceLimit.mem_bytes(3))
    manager.set_quota("lab", Quota((ResourceLimit.mem_bytes(100),)), project="p")
    assert manager.check(ask(mem_bytes=4, project="p")) == HardLimitExceeded(
        Dimension.MEM_BYTES, 3, 0, 4
    )


def test_one_tenants_usage_is_not_anothers() -> None:
    manager = limited(ResourceLimit.mem_bytes(5))
    manager.record_alloc(PlacementRequest(tenant=TenantId("other"), mem_bytes=50))
    assert manager.check(ask(mem_bytes=5)) == WithinQuota()


def test_the_same_project_name_in_two_tenants_is_two_projects() -> None:
    manager = QuotaManager()
    assert manager.row_of("a", "p") != manager.row_of("b", "p")


# --- the order of rules -------------------------------------------------------------------------


@dataclass
class Purse:
    """A budget hook that always answers the same, and remembers what it was asked."""

    answer: BudgetExhausted | CostCapExceeded | None
    asked: list[tuple[PlacementRequest, int]] = field(default_factory=list)

    def check(
        self, request: PlacementRequest, now_ms: int
    ) -> BudgetExhausted | CostCapExceeded | None:
        self.asked.append((request, now_ms))
        return self.answer


BROKE = BudgetExhausted(budget_micros=10, spent_micros=9, requested_micros=2)


def test_the_rules_are_asked_in_their_order_each_hiding_the_next() -> None:
    """One request breaks every rule; lifting the first each time uncovers the second."""
    manager = QuotaManager()
    credit = BurstCredit(Dimension.GPU_COUNT, capacity=1, refill_per_s=0, ceiling=4000)
    manager.set_budget_hook("lab", Purse(BROKE))
    manager.set_quota("lab", Quota((ResourceLimit.gpu_count(1),), (HOPPER_4,), credit))
    manager.set_quota("lab", Quota((ResourceLimit.mem_bytes(1),)), project="p")
    manager.record_alloc(gpus(2, generation=G.NVIDIA_HOPPER))
    wanted: dict[str, Any] = {"project": "p", "mem_bytes": 2, "gpu_count": 1}

    def answer(**more: Any) -> QuotaDecision:
        return manager.check(ask(**wanted, **more), now_ms=1000)

    assert answer() == GpuGenerationRequired(1)
    assert answer(generation=G.OTHER) == GpuGenerationLimitExceeded(G.OTHER, 0, 0, 1)
    hopper = {"generation": G.NVIDIA_HOPPER}
    assert answer(**hopper) == HardLimitExceeded(Dimension.MEM_BYTES, 1, 0, 2)
    manager.set_quota("lab", Quota(), project="p")
    assert answer(**hopper) == BurstCreditExhausted(Dimension.GPU_COUNT, 1, 2, 1, 0)
    manager.set_quota("lab", Quota())
    assert answer(**hopper) == BROKE
    manager.set_budget_hook("lab", None)
    assert answer(**hopper) == WithinQuota()


def test_within_one_rule_the_project_is_asked_before_its_tenant() -> None:
    manager = limited(ResourceLimit.mem_bytes(1))
    manager.set_quota("lab", Quota((ResourceLimit.mem_bytes(2),)), project="p")
    denied = manager.check(ask(mem_bytes=3, project="p"))
    assert denied == HardLimitExceeded(Dimension.MEM_BYTES, 2, 0, 3)


def test_a_generation_rule_of_the_tenant_comes_before_a_limit_of_the_project() -> None:
    manager = limited(ResourceLimit.gpu_count(0), project="p")
    manager.set_gpu_generation_limits("lab", [HOPPER_4])
    assert manager.check(gpus(1, project="p")) == GpuGenerationRequired(1)


# --- budget and cost cap ------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [BROKE, CostCapExceeded(5, 6)])
@pytest.mark.parametrize("project", [None, "p"])
def test_what_the_budget_hook_denies_is_denied(
    answer: BudgetExhausted | CostCapExceeded, project: str | None
) -> None:
    manager, purse = QuotaManager(), Purse(answer)
    manager.set_budget_hook("lab", purse)
    wanted = ask(cpu_cores=1, project=project)
    assert manager.check(wanted, now_ms=7) == answer
    assert purse.asked == [(wanted, 7)]
    assert manager.check(PlacementRequest(tenant=TenantId("b"), cpu_cores=1)) == WithinQuota()


def test_a_budget_hook_with_nothing_to_say_lets_the_request_through_with_its_burst() -> None:
    manager = bursting()
    manager.set_budget_hook("lab", Purse(None))
    assert manager.check(gpus(3)) == WithinQuota(burst=1000)


def test_the_budget_is_not_asked_about_what_quota_already_denies() -> None:
    manager, purse = limited(ResourceLimit.mem_bytes(0)), Purse(BROKE)
    manager.set_budget_hook("lab", purse)
    manager.check(ask(mem_bytes=1))
    assert purse.asked == []


# --- usage --------------------------------------------------------------------------------------


def test_a_request_is_counted_whole_in_every_dimension_for_project_and_tenant() -> None:
    manager = QuotaManager()
    wanted = ask(
        project="p",
        cpu_cores=1.5,
        mem_bytes=10,
        block_bytes=20,
        gpu_count=2,
        gpu_vram=7,
        generation=G.NVIDIA_ADA,
        gang_size=3,
    )
    manager.record_alloc(wanted)
    expected = dict(zip(DIMENSIONS, (4500, 30, 60, 6000, 42, 3), strict=True))
    for project in (None, "p"):
        assert used(manager, project) == expected
        assert used_of(manager, G.NVIDIA_ADA, project) == 6000
    assert not manager.record_free(wanted)
    for project in (None, "p"):
        assert used(manager, project) == {}
        assert used_of(manager, G.NVIDIA_ADA, project) == 0


def test_a_share_of_a_gpu_counts_as_that_share() -> None:
    manager = limited(ResourceLimit.gpu_count(1))
    manager.record_alloc(ask(gpu_milli=600))
    assert manager.check(ask(gpu_milli=400)) == WithinQuota()
    assert manager.check(ask(gpu_milli=401)) == HardLimitExceeded(Dimension.GPU_COUNT, 1, 1, 1)


@pytest.mark.parametrize(
    ("declared", "actual", "counted"),
    [
        (None, None, None),
        (None, G.NVIDIA_ADA, G.NVIDIA_ADA),
        (G.NVIDIA_ADA, None, G.NVIDIA_ADA),
        (G.NVIDIA_ADA, G.NVIDIA_ADA, G.NVIDIA_ADA),
    ],
)
def test_gpus_count_under_the_generation_they_are_known_to_be(
    declared: G | None, actual: G | None, counted: G | None
) -> None:
    manager = QuotaManager()
    manager.record_alloc(gpus(1, generation=declared), generation=actual)
    assert [g for g in G if used_of(manager, g)] == ([] if counted is None else [counted])
    assert not manager.record_free(gpus(1, generation=declared), generation=actual)
    assert [g for g in G if used_of(manager, g)] == []


def test_a_generation_given_for_a_request_without_gpus_counts_nothing() -> None:
    manager = QuotaManager()
    manager.record_alloc(ask(cpu_cores=1), generation=G.NVIDIA_ADA)
    assert used_of(manager, G.NVIDIA_ADA) == 0


def test_recording_generations_alone_leaves_the_gpu_count_alone() -> None:
    manager = limited(ResourceLimit.gpu_count(1))
    manager.record_gpu_generation_alloc("lab", G.NVIDIA_ADA, 9, project="p")
    assert used(manager) == {}
    assert used_of(manager, G.NVIDIA_ADA) == used_of(manager, G.NVIDIA_ADA, "p") == 9000


def test_a_free_of_more_than_was_recorded_stops_at_zero_and_lists_what_was_missing() -> None:
    manager = QuotaManager()
    manager.record_alloc(ask(cpu_cores=1, mem_bytes=5, gpu_milli=400), generation=G.NVIDIA_ADA)
    shortfall = manager.record_free(ask(mem_bytes=9, gpu_count=1, generation=G.NVIDIA_ADA))
    assert shortfall == Shortfall(
        QuotaScope(LAB),
        (
            Missing(Dimension.MEM_BYTES, 4),
            Missing(Dimension.GPU_COUNT, 600),
            Missing(Dimension.GPU_COUNT, 600, G.NVIDIA_ADA),
        ),
    )
    assert shortfall
    assert used(manager) == {Dimension.CPU_MILLI: 1000}
    assert used_of(manager, G.NVIDIA_ADA) == 0


def test_a_free_for_a_project_takes_nothing_from_another_through_the_tenant() -> None:
    manager = QuotaManager()
    manager.record_alloc(ask(mem_bytes=5, project="p"))
    manager.row_of("lab", "q")
    shortfall = manager.record_free(ask(mem_bytes=5, project="q"))
    assert shortfall.missing == (
        Missing(Dimension.MEM_BYTES, 5),
        Missing(Dimension.LEASE_COUNT, 1),
    )
    assert used(manager) == used(manager, "p") == {Dimension.MEM_BYTES: 5, Dimension.LEASE_COUNT: 1}


def test_a_free_for_the_tenant_takes_nothing_from_its_projects() -> None:
    manager = QuotaManager()
    manager.record_alloc(ask(mem_bytes=5, project="p"))
    manager.record_alloc(ask(mem_bytes=2))
    shortfall = manager.record_free(ask(mem_bytes=3))
    assert shortfall.missing == (Missing(Dimension.MEM_BYTES, 1),)
    assert used(manager)[Dimension.MEM_BYTES] == used(manager, "p")[Dimension.MEM_BYTES] == 5


def test_a_free_for_an_unknown_scope_is_missing_whole_and_makes_no_row() -> None:
    manager = QuotaManager()
    shortfall = manager.record_free(ask(mem_bytes=5, project="p"))
    assert [m.amount for m in shortfall.missing] == [5, 1]
    assert manager.row_count == 0


def test_rows_that_contradict_each_other_stop_the_work() -> None:
    manager = QuotaManager()
    manager.record_alloc(ask(mem_bytes=5, project="p"))
    manager.buffer[manager.row_of("lab") * ROW_WIDTH + USED + 1] = 4
    before = everything(manager)
    with pytest.raises(InvariantBroken):
        manager.record_free(ask(mem_bytes=1))
    assert everything(manager) == before


# --- the rows -----------------------------------------------------------------------------------


def test_a_new_row_is_laid_out_as_the_compiled_core_expects() -> None:
    manager = QuotaManager()
    assert (manager.row_of("a"), manager.row_of("b", "p"), manager.row_of("b")) == (0, 2, 1)
    blank = [0] * 7 + [AMOUNT_MAX] * 6 + [0] * 16 + [AMOUNT_MAX] * 16 + [0, 0]
    assert list(row(manager, "a")) == [-1, *blank]
    assert list(row(manager, "b", "p")) == [1, *blank]
    assert (PARENT, FLAGS, USED, LIMIT, GENERATION_USED, GENERATION_LIMIT) == (0, 1, 2, 8, 14, 30)
    assert (ROW_WIDTH, FLAG_ASK, FLAG_GENERATIONS) == (48, 1, 2)
    assert [d.value for d in DIMENSIONS] == [
        "cpu_milli",
        "mem_bytes",
        "block_bytes",
        "gpu_count",
        "gpu_vram",
        "lease_count",
    ]
    assert len(GENERATIONS) == GENERATION_LIMIT - GENERATION_USED == 16


def test_limits_are_written_into_the_row_in_its_units() -> None:
    manager = QuotaManager()
    limits = (ResourceLimit.gpu_count(3), ResourceLimit.cpu_cores(2))
    manager.set_quota("lab", Quota(limits, (HOPPER_4,)))
    cells = row(manager)
    assert list(cells[LIMIT:GENERATION_USED]) == [2000, *[AMOUNT_MAX] * 2, 3000, *[AMOUNT_MAX] * 2]
    expected = [4000 if g is G.NVIDIA_HOPPER else 0 for g in GENERATIONS]
    assert list(cells[GENERATION_LIMIT : GENERATION_LIMIT + 16]) == expected
    assert cells[FLAGS] == FLAG_GENERATIONS
    manager.set_quota("lab", Quota())
    assert list(row(manager)) == list(row(manager, "other"))


def test_a_row_says_when_only_python_can_decide_for_it_or_its_parent() -> None:
    manager = QuotaManager()

    def flags() -> list[int]:
        scopes = (("lab", None), ("lab", "p"), ("lab", "late"), ("other", None))
        return [row(manager, *scope)[FLAGS] for scope in scopes]

    manager.row_of("lab", "p")
    manager.set_budget_hook("lab", Purse(None))
    assert flags() == [1, 1, 1, 0]
    manager.set_budget_hook("lab", None)
    assert flags() == [0, 0, 0, 0]
    credit = BurstCredit(Dimension.MEM_BYTES, 1, 1, 1)
    quota = Quota((ResourceLimit.mem_bytes(1),), (HOPPER_4,), credit)
    manager.set_quota("lab", quota, project="p")
    assert flags() == [0, 3, 0, 0]
    manager.set_quota("lab", quota)
    assert flags() == [3, 3, 1, 0]
    manager.set_quota("lab", Quota(), project="p")
    assert flags() == [3, 1, 1, 0]
    manager.set_gpu_generation_limits("lab", [])
    assert flags() == [1, 1, 1, 0]
    manager.set_quota("lab", Quota())
    assert flags() == [0, 0, 0, 0]


def test_the_buffer_grows_into_a_new_array_while_the_old_one_is_exported() -> None:
    manager = QuotaManager()
    manager.record_alloc(ask(mem_bytes=5))
    old = manager.buffer
    exported, version = memoryview(old), manager.buffer_version
    count = 0
    while manager.buffer_version == version:
        manager.row_of(f"t{count}")
        count += 1
    assert manager.buffer is not old
    assert len(manager.buffer) == 2 * len(exported)
    assert manager.buffer[: len(old)] == old
    assert manager.row_count * ROW_WIDTH == len(old) + ROW_WIDTH
    manager.record_alloc(ask(mem_bytes=1))
    assert used(manager)[Dimension.MEM_BYTES] == 6
    assert exported[USED + 1] == 5
    exported.release()


def test_rows_are_bounded_and_a_project_is_never_made_without_its_tenant() -> None:
    manager = QuotaManager(rows_max=2)
    manager.row_of("a")
    with pytest.raises(LimitReached) as caught:
        manager.row_of("b", "p")
    assert (caught.value.limit, manager.row_count) == (2, 1)
    manager.row_of("a", "p")
    assert manager.row_of("a", "p") == 1
    for call in (
        lambda: manager.row_of("b"),
        lambda: manager.record_alloc(PlacementRequest(tenant=TenantId("b"), mem_bytes=1), now_ms=9),
        lambda: manager.set_quota("b", Quota(), now_ms=9),
    ):
        with pytest.raises(LimitReached):
            call()
    assert manager.row_count == 2
    assert manager.check(ask(mem_bytes=1), now_ms=0) == WithinQuota()  # the clock stood still too
    assert ROWS_MAX == 1_000_000


# --- bad input ----------------------------------------------------------------------------------

NEGATIVE_TIMES = [-1, True, None, "1", 1.0, AMOUNT_MAX + 1]
BAD_COUNTS = [-1, True, None, "1", 1.5, GPUS_MAX + 1]
Call = Callable[[Any], object]

BAD_CALLS: list[tuple[Call, str]] = [
    (lambda m: m.row_of(""), "tenant"),
    (lambda m: m.row_of(None), "tenant"),
    (lambda m: m.row_of([]), "tenant"),
    (lambda m: m.row_of("a b"), "tenant"),
    (lambda m: m.row_of("x" * 64), "tenant"),
    (lambda m: m.row_of("lab", ""), "project"),
    (lambda m: m.row_of("lab", 5), "project"),
    (lambda m: m.set_quota("", Quota()), "tenant"),
    (lambda m: m.set_quota("new", None), "quota"),
    (lambda m: m.set_quota("new", Quota(), project=""), "project"),
    (lambda m: m.set_quota("new", Quota(), now_ms=-1), "now_ms"),
    (lambda m: m.set_quota("new", Quota(), now_ms=49), "now_ms"),
    (lambda m: m.quota_of(""), "tenant"),
    (lambda m: m.headroom("lab", ""), "project"),
    (lambda m: m.set_gpu_generation_limits("", [HOPPER_4]), "tenant"),
    (lambda m: m.set_gpu_generation_limits("new", [HOPPER_4] * 2), "gpu_generations"),
    (lambda m: m.set_gpu_generation_limits("lab", [AMPERE_8, HOPPER_4] * 2), "gpu_generations"),
    (lambda m: m.set_gpu_generation_limits("lab", ["other"]), "gpu_generations[0]"),
    (lambda m: m.set_gpu_generation_limits("lab", None), "gpu_generations"),
    (lambda m: m.set_budget_hook("", None), "tenant"),
    (lambda m: m.set_budget_hook("lab", object()), "hook"),
    (lambda m: m.check(None), "request"),
    (lambda m: m.check(ask(mem_bytes=1), now_ms=49), "now_ms"),
    (lambda m: m.check_gpu_generation("", None, 1), "tenant"),
    (lambda m: m.check_gpu_generation("lab", "other", 1), "generation"),
    (lambda m: m.record_alloc("lab"), "request"),
    (lambda m: m.record_alloc(gpus(1), generation="hopper"), "generation"),
    (lambda m: m.record_alloc(ask(mem_bytes=1), now_ms=49), "now_ms"),
    (lambda m: m.record_free(None), "request"),
    (lambda m: m.record_free(gpus(1), generation=5), "generation"),
    (lambda m: m.record_free(ask(mem_bytes=1), now_ms=49), "now_ms"),
    (lambda m: m.record_gpu_generation_alloc("", G.OTHER, 1), "tenant"),
    (lambda m: m.record_gpu_generation_alloc("lab", None, 1), "generation"),
    (lambda m: m.record_gpu_generation_free("lab", G.OTHER, 1, project=""), "project"),
    (lambda m: m.record_gpu_generation_free("lab", "x", 1), "generation"),
    (lambda m: m.settle(-1, 50), "row"),
    (lambda m: m.settle(m.row_count, 50), "row"),
    (lambda m: m.settle(True, 50), "row"),
    (lambda m: m.settle(0, 49), "now_ms"),
    (lambda m: m.burst_exhausted(49), "now_ms"),
    *[(lambda m, t=t: m.check(ask(mem_bytes=1), now_ms=t), "now_ms") for t in NEGATIVE_TIMES],
    *[
        (lambda m, t=t: m.record_alloc(ask(mem_bytes=1), now_ms=t), "now_ms")
        for t in NEGATIVE_TIMES
    ],
    *[(lambda m, t=t: m.burst_exhausted(t), "now_ms") for t in NEGATIVE_TIMES],
    *[(lambda m, c=c: m.check_gpu_generation("lab", None, c), "count") for c in BAD_COUNTS],
    *[
        (lambda m, c=c: m.record_gpu_generation_alloc("lab", G.OTHER, c), "count")
        for c in BAD_COUNTS
    ],
    *[
        (lambda m, c=c: m.record_gpu_generation_free("lab", G.OTHER, c), "count")
        for c in BAD_COUNTS
    ],
]


@pytest.mark.parametrize(("call", "field_name"), BAD_CALLS)
def test_bad_input_is_refused_by_name_and_changes_nothing(call: Call, field_name: str) -> None:
    manager = bursting()
    manager.record_alloc(gpus(3, project="p"), now_ms=50)
    before = everything(manager)
    with pytest.raises(InvalidValue) as caught:
        call(manager)
    assert caught.value.field == field_name
    assert everything(manager) == before
    assert manager.check(ask(mem_bytes=1), now_ms=50) == WithinQuota()


@pytest.mark.parametrize("bad", [0, -1, True, None, ROWS_MAX + 1])
def test_a_manager_with_an_impossible_bound_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidValue, match="rows_max"):
        QuotaManager(rows_max=bad)


def test_devices_of_another_generation_than_requested_are_refused() -> None:
    manager = QuotaManager()
    with pytest.raises(InvalidValue, match="generation"):
        manager.record_alloc(gpus(1, generation=G.NVIDIA_HOPPER), generation=G.NVIDIA_ADA)
    assert manager.row_count == 0


@pytest.mark.parametrize("known", [False, True])
def test_usage_beyond_counting_is_refused_whole(known: bool) -> None:
    manager = QuotaManager()
    if known:
        manager.record_alloc(ask(mem_bytes=AMOUNT_MAX, project="p"))
    before = everything(manager)
    wanted = ask(cpu_cores=1, mem_bytes=AMOUNT_MAX, gang_size=1 if known else 2, project="q")
    with pytest.raises(InvalidValue) as caught:
        manager.record_alloc(wanted, now_ms=9)
    assert caught.value.field == "mem_bytes"
    assert everything(manager) == before
    assert manager.row_count == (2 if known else 0)
    assert manager.check(ask(cpu_cores=1), now_ms=0) == WithinQuota()


def test_generation_usage_beyond_counting_is_refused() -> None:
    manager = QuotaManager()
    manager.record_gpu_generation_alloc("lab", G.OTHER, GPUS_MAX)
    with pytest.raises(InvalidValue) as caught:
        manager.record_gpu_generation_alloc("lab", G.OTHER, 1)
    assert caught.value.field == "gpu_count"
    denied = manager.check_gpu_generation("lab", G.OTHER, 1)
    assert denied == GpuGenerationLimitExceeded(G.OTHER, GPUS_MAX, GPUS_MAX, 1)
