"""May this request run now, and where: the order of the checks, and what asking costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.resources import Resources
from bailiwick.scheduler.admission import AdmissionController, ReservationHeadroom
from bailiwick.scheduler.decision import (
    Approved,
    DeadlinePassed,
    Denied,
    Fragmented,
    HeadroomKept,
    LargerThanAnyNode,
    NodesClosed,
    NodesForbidden,
    NoSuchHardware,
    NotEnoughFree,
)
from bailiwick.scheduler.engine import has_compiled
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.placement import PlacementScorer, Strategy
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import (
    BudgetExhausted,
    BurstCredit,
    CostCapExceeded,
    GpuGenerationLimitExceeded,
    GpuGenerationQuota,
    GpuGenerationRequired,
    HardLimitExceeded,
    Quota,
    ResourceLimit,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import AMOUNT_MAX
from bailiwick.vocab.words import Dimension, HardwareGeneration, Priority, ResourceKind

G = HardwareGeneration
ENGINES = ["pure", "compiled"] if has_compiled() else ["pure"]
H100, A40 = GpuDevice(G.NVIDIA_HOPPER, 80, "H100"), GpuDevice(G.NVIDIA_AMPERE, 48, "A40")


@pytest.fixture(params=ENGINES)
def ledger(request: pytest.FixtureRequest) -> CapacityLedger:
    made = CapacityLedger(engine=request.param, quotas=QuotaManager())
    made.register_node("hopper", NodeCapacity(cpu_cores=16, mem_bytes=100, gpus=(H100,) * 4))
    made.register_node(
        "ampere", NodeCapacity(cpu_cores=8, mem_bytes=50, gpus=(A40,) * 2, labels={"zone": "b"})
    )
    return made


@pytest.fixture
def admission(ledger: CapacityLedger) -> AdmissionController:
    return AdmissionController(ledger)


@pytest.fixture
def quotas(ledger: CapacityLedger) -> QuotaManager:
    assert ledger.quotas is not None
    return ledger.quotas


def ask(**terms: Any) -> PlacementRequest:
    return PlacementRequest(**{"tenant": "lab", "cpu_cores": 1, **terms})


def told(ledger: CapacityLedger) -> object:
    usage = ledger.quotas.headroom("lab") if ledger.quotas is not None else None
    return list(ledger.nodes()), list(ledger.leases()), ledger.free, usage


@dataclass
class Only:
    """A policy that allows one set of nodes."""

    nodes: NodeSet

    def nodes_for(self, request: PlacementRequest) -> NodeSet:
        return self.nodes


@dataclass
class Purse:
    """A budget that says the same to everyone."""

    answer: BudgetExhausted | CostCapExceeded | None

    def check(
        self, request: PlacementRequest, now_ms: int
    ) -> BudgetExhausted | CostCapExceeded | None:
        return self.answer


# --- yes ----------------------------------------------------------------------------------------


def test_asking_names_a_place_and_gives_no_lease(
    ledger: CapacityLedger, admission: AdmissionController
) -> None:
    before = told(ledger)
    answer = admission.evaluate(ask(generation=G.NVIDIA_AMPERE, gpu_count=1))
    assert answer == Approved(("ampere",))
    assert told(ledger) == before


def test_admitting_gives_the_lease_where_asking_said(
    ledger: CapacityLedger, admission: AdmissionController
) -> None:
    asked = admission.evaluate(ask(gpu_count=1))
    granted = admission.admit(ask(gpu_count=1), now_ms=5)
    assert granted.nodes == asked.nodes
    assert granted.leases == tuple(ledger.leases())
    assert granted.leases[0].granted_ms == 5


def test_a_gang_is_admitted_whole(ledger: CapacityLedger, admission: AdmissionController) -> None:
    answer = admission.admit(ask(gpu_count=1, gang_size=6))
    assert sorted(answer.nodes) == ["ampere"] * 2 + ["hopper"] * 4
    assert len({lease.gang for lease in answer.leases}) == 1
    assert answer.leases[0].gang is not None
    assert ledger.free.gpu_milli == 0


def test_a_gang_is_admitted_whole_or_not_at_all(
    ledger: CapacityLedger, admission: AdmissionController
) -> None:
    before = told(ledger)
    answer = admission.admit(ask(gpu_count=4, gang_size=2))
    assert answer == Denied.because(NotEnoughFree(ResourceKind.GPU_MILLI, 6000, 8000))
    assert told(ledger) == before
    assert admission.admit(ask()).leases[0].id == 0


def test_two_gangs_have_two_numbers(admission: AdmissionController) -> None:
    first, second = admission.admit(ask(gang_size=2)), admission.admit(ask(gang_size=2))
    assert first.leases[0].gang != second.leases[0].gang


def test_the_cascade_behind_a_request_is_written_into_its_leases(
    admission: AdmissionController,
) -> None:
    assert admission.admit(ask(), depth=3).leases[0].depth == 3
    gang = admission.admit(ask(gang_size=2), depth=2)
    assert [lease.depth for lease in gang.leases] == [2, 2]


def test_a_request_at_its_deadline_is_still_in_time(admission: AdmissionController) -> None:
    assert admission.admit(ask(deadline_ms=10), now_ms=10).leases[0].granted_ms == 10


def test_going_above_the_limit_on_burst_credit_is_told(
    admission: AdmissionController, quotas: QuotaManager
) -> None:
    credit = BurstCredit(Dimension.CPU_MILLI, capacity=10, refill_per_s=1, ceiling=3000)
    quotas.set_quota("lab", Quota((ResourceLimit.cpu_cores(1),), burst=credit))
    assert admission.evaluate(ask(cpu_cores=3)).burst == 2000
    assert admission.admit(ask(cpu_cores=3)).burst == 2000


# --- no: capacity -------------------------------------------------------------------------------

DENIALS: list[tuple[str, dict[str, Any], object]] = [
    ("deadline", {"deadline_ms": 99}, DeadlinePassed(99, 100)),
    ("generation", {"gpu_count": 1, "generation": G.AMD_MI300}, NoSuchHardware(2)),
    ("model", {"gpu_count": 1, "gpu_models": ("T4",)}, NoSuchHardware(2)),
    ("vram", {"gpu_vram": 81}, NoSuchHardware(2)),
    ("labels", {"labels": {"zone": "c"}}, NoSuchHardware(2)),
    ("devices", {"gpu_count": 5}, LargerThanAnyNode(ResourceKind.GPU_MILLI, 5000, 4000)),
    ("devices of a kind", {"gpu_count": 3, "generation": G.NVIDIA_AMPERE},
     LargerThanAnyNode(ResourceKind.GPU_MILLI, 3000, 2000)),
    ("cpu", {"cpu_cores": 17}, LargerThanAnyNode(ResourceKind.CPU_MILLI, 17_000, 16_000)),
    ("memory", {"mem_bytes": 101}, LargerThanAnyNode(ResourceKind.MEM_BYTES, 101, 100)),
    ("block", {"block_bytes": 1}, LargerThanAnyNode(ResourceKind.BLOCK_BYTES, 1, 0)),
    ("absurd", {"mem_bytes": AMOUNT_MAX},
     LargerThanAnyNode(ResourceKind.MEM_BYTES, AMOUNT_MAX, 100)),
    ("small zone", {"cpu_cores": 9, "labels": {"zone": "b"}},
     LargerThanAnyNode(ResourceKind.CPU_MILLI, 9000, 8000)),
    ("gang", {"cpu_cores": 5, "gang_size": 5},
     NotEnoughFree(ResourceKind.CPU_MILLI, 24_000, 25_000)),
    ("gang in pieces", {"cpu_cores": 7, "gang_size": 4},
     NotEnoughFree(ResourceKind.CPU_MILLI, 24_000, 28_000)),
    ("fragmented", {"cpu_cores": 6, "gang_size": 4}, Fragmented(2, 3, 4)),
]  # fmt: skip


@pytest.mark.parametrize(("terms", "detail"), [d[1:] for d in DENIALS], ids=[d[0] for d in DENIALS])
def test_a_denial_is_a_word_with_its_numbers_and_changes_nothing(
    ledger: CapacityLedger, admission: AdmissionController, terms: dict[str, Any], detail: Any
) -> None:
    before = told(ledger)
    for answer in (
        admission.evaluate(ask(**terms), now_ms=100),
        admission.admit(ask(**terms), now_ms=100),
    ):
        assert answer == Denied.because(detail)
    assert told(ledger) == before


def test_a_full_fleet_says_how_much_is_free_and_how_much_was_asked(
    admission: AdmissionController,
) -> None:
    admission.admit(ask(cpu_cores=14))
    admission.admit(ask(cpu_cores=6))
    assert admission.admit(ask(cpu_cores=5)) == Denied.because(
        NotEnoughFree(ResourceKind.CPU_MILLI, 4000, 5000)
    )
    assert admission.admit(ask(cpu_cores=3)) == Denied.because(Fragmented(2, 0, 1))


def test_free_shares_on_many_devices_are_no_whole_device(
    ledger: CapacityLedger, admission: AdmissionController
) -> None:
    for _ in range(2):
        ledger.grant("ampere", ask(gpu_milli=600))
    answer = admission.admit(ask(gpu_milli=500, generation=G.NVIDIA_AMPERE))
    assert answer == Denied.because(Fragmented(1, 0, 1))


def test_closed_nodes_count_as_hardware_but_not_as_room(
    ledger: CapacityLedger, admission: AdmissionController
) -> None:
    ledger.set_mode("hopper", NodeMode.DRAINING)
    answer = admission.admit(ask(gpu_count=1, generation=G.NVIDIA_HOPPER))
    assert answer == Denied.because(NodesClosed(1))


def test_an_empty_fleet_denies(ledger: CapacityLedger) -> None:
    admission = AdmissionController(CapacityLedger())
    assert isinstance(admission.admit(ask()), Denied)
    assert isinstance(admission.admit(ask(gpu_count=1)), Denied)


def test_nodes_that_policy_forbids_are_told_apart_from_hardware_that_is_not_there(
    ledger: CapacityLedger,
) -> None:
    scorer = PlacementScorer(filters=[Only(ledger.node_set(["ampere"]))])
    admission = AdmissionController(ledger, scorer=scorer)
    answer = admission.admit(ask(gpu_count=1, generation=G.NVIDIA_HOPPER))
    assert answer == Denied.because(NodesForbidden(1))
    assert answer.reason == "forbidden"


def test_what_no_single_machine_could_ever_hold_is_not_told_to_wait(ledger: CapacityLedger) -> None:
    ledger.register_node("fat", NodeCapacity(cpu_cores=1, mem_bytes=1000))
    answer = AdmissionController(ledger).admit(ask(cpu_cores=16, mem_bytes=1000))
    assert isinstance(answer, Denied)
    assert not answer.reason.is_transient


# --- no: quota ----------------------------------------------------------------------------------


def test_quota_is_asked_before_capacity(
    admission: AdmissionController, quotas: QuotaManager
) -> None:
    quotas.set_quota("lab", Quota((ResourceLimit.cpu_cores(1),)))
    assert admission.admit(ask(cpu_cores=17)) == Denied.because(
        HardLimitExceeded(Dimension.CPU_MILLI, 1000, 0, 17_000)
    )


def test_a_passed_deadline_is_told_before_quota(
    admission: AdmissionController, quotas: QuotaManager
) -> None:
    quotas.set_quota("lab", Quota((ResourceLimit.cpu_cores(0),)))
    answer = admission.admit(ask(deadline_ms=1), now_ms=2)
    assert answer.detail == DeadlinePassed(1, 2)


def test_a_gang_s_quota_is_asked_whole(
    ledger: CapacityLedger, admission: AdmissionController, quotas: QuotaManager
) -> None:
    quotas.set_quota("lab", Quota((ResourceLimit.lease_count(3),)))
    answer = admission.admit(ask(gang_size=4))
    assert answer == Denied.because(HardLimitExceeded(Dimension.LEASE_COUNT, 3, 0, 4))
    assert list(ledger.leases()) == []
    assert isinstance(admission.admit(ask(gang_size=3)), Approved)


def test_a_project_is_held_to_its_own_limit_and_to_its_tenant_s(
    admission: AdmissionController, quotas: QuotaManager
) -> None:
    quotas.set_quota("lab", Quota((ResourceLimit.cpu_cores(3),)))
    quotas.set_quota("lab", Quota((ResourceLimit.cpu_cores(2),)), project="vision")
    assert isinstance(admission.admit(ask(cpu_cores=3, project="vision")), Denied)
    assert isinstance(admission.admit(ask(cpu_cores=2, project="vision")), Approved)
    assert isinstance(admission.admit(ask(cpu_cores=2, project="speech")), Denied)
    assert isinstance(admission.admit(ask(cpu_cores=1)), Approved)


@pytest.fixture
def listed(quotas: QuotaManager) -> None:
    """Two Hopper GPUs and nothing else."""
    quotas.set_gpu_generation_limits("lab", [GpuGenerationQuota(G.NVIDIA_HOPPER, 2)])


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize("gang_size", [1, 2])
@pytest.mark.parametrize("deadline_ms", [None, 10])
def test_an_untagged_gpu_request_fails_closed_where_generations_are_listed(
    admission: AdmissionController, gang_size: int, deadline_ms: int | None
) -> None:
    request = ask(gpu_milli=500, gang_size=gang_size, deadline_ms=deadline_ms)
    answer = admission.admit(request)
    assert answer == Denied.because(GpuGenerationRequired(requested=1))
    assert answer.reason == "misconfigured"


@pytest.mark.usefixtures("listed")
def test_an_unlisted_generation_has_limit_zero(admission: AdmissionController) -> None:
    answer = admission.admit(ask(gpu_count=1, generation=G.NVIDIA_AMPERE))
    assert answer == Denied.because(GpuGenerationLimitExceeded(G.NVIDIA_AMPERE, 0, 0, 1))
    assert answer.reason == "forbidden"


@pytest.mark.usefixtures("listed")
def test_a_listed_generation_is_given_up_to_its_count_and_again_after_release(
    ledger: CapacityLedger, admission: AdmissionController
) -> None:
    request = ask(gpu_count=1, generation=G.NVIDIA_HOPPER)
    leases = [admission.admit(request).leases[0] for _ in range(2)]
    assert {lease.gpu_generation for lease in leases} == {G.NVIDIA_HOPPER}
    answer = admission.admit(request)
    assert answer == Denied.because(GpuGenerationLimitExceeded(G.NVIDIA_HOPPER, 2, 2, 1))
    assert answer.reason == "waiting_for_quota"
    ledger.release(leases[0].id)
    assert isinstance(admission.admit(request), Approved)


@pytest.mark.usefixtures("listed")
def test_the_gpu_count_is_a_cap_beside_the_generations(
    admission: AdmissionController, quotas: QuotaManager
) -> None:
    entries = (GpuGenerationQuota(G.NVIDIA_HOPPER, 2), GpuGenerationQuota(G.NVIDIA_AMPERE, 2))
    quotas.set_quota("lab", Quota((ResourceLimit.gpu_count(3),), entries))
    admission.admit(ask(gpu_count=2, generation=G.NVIDIA_HOPPER))
    answer = admission.admit(ask(gpu_count=2, generation=G.NVIDIA_AMPERE))
    assert answer == Denied.because(HardLimitExceeded(Dimension.GPU_COUNT, 3, 2, 2))


@pytest.mark.usefixtures("listed")
def test_work_without_a_gpu_needs_no_generation(admission: AdmissionController) -> None:
    assert isinstance(admission.admit(ask()), Approved)


@pytest.mark.parametrize(
    "denial", [BudgetExhausted(10, 10, 1), CostCapExceeded(5, 6)], ids=["budget", "cap"]
)
@pytest.mark.parametrize("gang_size", [1, 2])
def test_a_budget_is_asked_on_every_way_in(
    ledger: CapacityLedger, quotas: QuotaManager, denial: Any, gang_size: int
) -> None:
    admission = AdmissionController(ledger)
    quotas.set_budget_hook("lab", Purse(denial))
    assert admission.admit(ask(gang_size=gang_size)) == Denied.because(denial)
    quotas.set_budget_hook("lab", Purse(None))
    assert isinstance(admission.admit(ask(gang_size=gang_size)), Approved)


# --- no: headroom -------------------------------------------------------------------------------

KEPT = ReservationHeadroom(Resources(cpu_milli=20_000), Priority.HIGH)


@pytest.mark.parametrize("priority", list(Priority))
@pytest.mark.parametrize("gang_size", [1, 2])
def test_headroom_is_for_requests_of_at_least_its_priority(
    ledger: CapacityLedger, priority: Priority, gang_size: int
) -> None:
    admission = AdmissionController(ledger, headroom=KEPT)
    request = ask(cpu_cores=6 / gang_size, priority=priority, gang_size=gang_size)
    answers = admission.evaluate(request), admission.admit(request)
    if priority.rank >= Priority.HIGH.rank:
        assert all(isinstance(answer, Approved) for answer in answers)
    else:
        denied = Denied.because(HeadroomKept(ResourceKind.CPU_MILLI, 24_000, 20_000, 6000))
        assert answers == (denied, denied)


@pytest.mark.parametrize("gang_size", [1, 4])
def test_what_leaves_the_headroom_whole_is_admitted(ledger: CapacityLedger, gang_size: int) -> None:
    admission = AdmissionController(ledger, headroom=KEPT)
    request = ask(cpu_cores=4 / gang_size, gang_size=gang_size)
    assert isinstance(admission.evaluate(request), Approved)
    assert isinstance(admission.admit(request), Approved)
    assert isinstance(admission.evaluate(ask(cpu_cores=0.001)), Denied)
    assert isinstance(admission.admit(ask(cpu_cores=0.001)), Denied)


def test_headroom_in_one_resource_does_not_hold_up_work_that_asks_for_none_of_it(
    ledger: CapacityLedger,
) -> None:
    kept = ReservationHeadroom(Resources(gpu_milli=6000))
    admission = AdmissionController(ledger, headroom=kept)
    assert isinstance(admission.admit(ask(cpu_cores=8)), Approved)
    assert isinstance(admission.admit(ask(gpu_milli=1)), Denied)


def test_each_controller_of_a_ledger_keeps_its_own_headroom(ledger: CapacityLedger) -> None:
    first = AdmissionController(ledger, headroom=KEPT)
    AdmissionController(ledger)
    assert isinstance(first.evaluate(ask(cpu_cores=6)), Denied)
    assert isinstance(first.admit(ask(cpu_cores=6)), Denied)


# --- asking and admitting agree -----------------------------------------------------------------


@pytest.mark.parametrize("strategy", [s for s in Strategy if s is not Strategy.WEIGHTED])
def test_asking_about_a_gang_leaves_no_trace(ledger: CapacityLedger, strategy: Strategy) -> None:
    admission = AdmissionController(ledger, scorer=PlacementScorer(strategy))
    admission.admit(ask(gpu_milli=300))
    before = told(ledger)
    asked = [admission.evaluate(ask(gpu_milli=300, gang_size=5)) for _ in range(3)]
    assert told(ledger) == before
    answer = admission.admit(ask(gpu_milli=300, gang_size=5))
    assert asked == [Approved(answer.nodes)] * 3
    assert [lease.id for lease in answer.leases] == [1, 2, 3, 4, 5]


def test_asking_about_the_future_does_not_move_the_clock(
    admission: AdmissionController, quotas: QuotaManager
) -> None:
    credit = BurstCredit(Dimension.CPU_MILLI, capacity=10, refill_per_s=1, ceiling=3000)
    quotas.set_quota("lab", Quota((ResourceLimit.cpu_cores(9),), burst=credit))
    admission.evaluate(ask(gang_size=2), now_ms=1_000_000)
    assert isinstance(admission.admit(ask(gang_size=2), now_ms=5), Approved)


@pytest.mark.parametrize("gang_size", [1, 2])
def test_asking_and_admitting_agree_when_a_lesson_is_due(gang_size: int) -> None:
    ledger = CapacityLedger()
    for name, device in (("hopper", H100), ("ampere", A40)):
        ledger.register_node(name, NodeCapacity(cpu_cores=64, mem_bytes=99, gpus=(device,) * 8))
    admission = AdmissionController(ledger)
    for _ in range(33 - gang_size):  # a lesson is due after the 32nd arrival
        answer = admission.admit(ask(gpu_count=1, generation=G.NVIDIA_HOPPER))
        ledger.release(answer.leases[0].id)
    request = ask(gpu_count=1, gang_size=gang_size)
    assert admission.evaluate(request).nodes == admission.admit(request).nodes


def test_requests_of_a_tenant_with_burst_credit_teach_as_all_others_do(
    ledger: CapacityLedger, admission: AdmissionController, quotas: QuotaManager
) -> None:
    credit = BurstCredit(Dimension.CPU_MILLI, capacity=10, refill_per_s=1, ceiling=3000)
    quotas.set_quota("lab", Quota((ResourceLimit.cpu_cores(9),), burst=credit))
    admission.admit(ask())
    assert ledger.engine.learning()[0] == 1


# --- bad input ----------------------------------------------------------------------------------

WAYS: list[tuple[str, Callable[[AdmissionController, Any, Any], object]]] = [
    ("evaluate", lambda admission, r, t: admission.evaluate(r, now_ms=t)),
    ("admit", lambda admission, r, t: admission.admit(r, now_ms=t)),
    ("explain", lambda admission, r, t: admission.explain(r, now_ms=t)),
    ("plan", lambda admission, r, t: admission.plan(r, now_ms=t)),
]
each_way = pytest.mark.parametrize("way", [w for _, w in WAYS], ids=[n for n, _ in WAYS])


@each_way
@pytest.mark.parametrize(
    "now_ms", [-1, AMOUNT_MAX + 1, 10**5000, True, 1.0, nan, "1", None], ids=range(8)
)
@pytest.mark.parametrize("gang_size", [1, 2])
def test_a_time_that_is_none_is_refused(
    ledger: CapacityLedger,
    way: Callable[[AdmissionController, Any, Any], object],
    now_ms: Any,
    gang_size: int,
) -> None:
    before = told(ledger)
    with pytest.raises(InvalidValue) as refused:
        way(AdmissionController(ledger), ask(gang_size=gang_size), now_ms)
    assert refused.value.field == "now_ms"
    assert told(ledger) == before


@each_way
@pytest.mark.parametrize("request_", [None, {}, "cpu", Resources(1, 1, 1, 1)])
def test_what_is_no_request_is_refused(
    ledger: CapacityLedger, way: Callable[[AdmissionController, Any, Any], object], request_: Any
) -> None:
    with pytest.raises(InvalidValue) as refused:
        way(AdmissionController(ledger), request_, 0)
    assert refused.value.field == "request"


@pytest.mark.parametrize("depth", [-1, 256, True, 1.0, nan, "1", None])
def test_a_cascade_that_deep_is_refused(
    ledger: CapacityLedger, admission: AdmissionController, depth: Any
) -> None:
    with pytest.raises(InvalidValue) as refused:
        admission.admit(ask(), depth=depth)
    assert refused.value.field == "depth"
    assert list(ledger.leases()) == []


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("ledger", {"ledger": None}),
        ("ledger", {"ledger": "ledger"}),
        ("scorer", {"scorer": "best_fit"}),
        ("scorer", {"scorer": Strategy.BEST_FIT}),
        ("headroom", {"headroom": Resources(1, 1, 1, 1)}),
        ("headroom", {"headroom": 5}),
        ("quotas", {"quotas": "lab"}),
    ],
)
def test_a_controller_is_made_of_the_right_parts(field: str, given: dict[str, Any]) -> None:
    ledger = CapacityLedger()
    with pytest.raises(InvalidValue) as refused:
        AdmissionController(**{"ledger": ledger, "quotas": QuotaManager(), **given})
    assert refused.value.field == field
    assert ledger.quotas is None


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("kept", {"kept": None}),
        ("kept", {"kept": 5}),
        ("kept.cpu_milli", {"kept": Resources(cpu_milli=-1)}),
        ("kept.mem_bytes", {"kept": Resources(mem_bytes=2**70)}),
        ("kept.block_bytes", {"kept": Resources(block_bytes=1.5)}),
        ("kept.gpu_milli", {"kept": Resources(gpu_milli=True)}),
        ("kept.gpu_milli", {"kept": Resources(gpu_milli=nan)}),
        ("priority", {"priority": "high"}),
        ("priority", {"priority": None}),
    ],
)
def test_headroom_is_amounts_and_a_priority(field: str, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue) as refused:
        ReservationHeadroom(**given)
    assert refused.value.field == field
