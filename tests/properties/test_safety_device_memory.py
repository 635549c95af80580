"""GPU memory in quota: what is held counts, whatever requests name, and never more than a limit.

The reference adds up, lease by lease, the memory of the devices that were given.
"""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.decision import Approved, Denied
from bailiwick.scheduler.engine import has_compiled
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.placement import PlacementScorer, Strategy
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import HardLimitExceeded, Quota, ResourceLimit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.words import Dimension, HardwareGeneration

SIZES = (10, 41, 80)
ENGINES = ["pure", "compiled"] if has_compiled() else ["pure"]
each_engine = pytest.mark.parametrize("engine", ENGINES)

machines = st.lists(st.sampled_from(SIZES), min_size=1, max_size=4).map(tuple) | st.sampled_from(
    [(80, 80, 80, 80), (41, 41), (10, 80), (10,)]
)
limits = st.sampled_from([0, 9, 40, 41, 82, 121, 160, 300])
wishes = st.builds(
    dict,
    gpu_count=st.sampled_from([1, 1, 1, 2, 2, 3]),
    gpu_vram=st.sampled_from([0, 0, 0, 20, 80]),
    gang_size=st.sampled_from([1, 1, 2]),
) | st.builds(dict, gpu_milli=st.sampled_from([1, 250, 333, 999]), gang_size=st.just(1))


class Bench:
    """One fleet with a quota on GPU memory, and what was given away."""

    def __init__(
        self, engine: str, fleet: list[tuple[int, ...]], quota: tuple[int, int], how: Strategy
    ):
        self.quotas = QuotaManager()
        self.ledger = CapacityLedger(engine=engine, quotas=self.quotas)
        for number, sizes in enumerate(fleet):
            gpus = tuple(GpuDevice(HardwareGeneration.OTHER, size) for size in sizes)
            self.ledger.register_node(f"n{number}", NodeCapacity(99, 99, gpus=gpus))
        self.fleet = fleet
        self.most = {None: quota[0], "p": quota[1]}
        for project, most in self.most.items():
            limit = Quota((ResourceLimit.gpu_vram(most),))
            self.quotas.set_quota("lab", limit, project=project)
        self.admission = AdmissionController(self.ledger, scorer=PlacementScorer(how))
        self.given: dict[int, int] = {}

    def ask(self, **wish: int) -> PlacementRequest:
        return PlacementRequest(tenant="lab", project="p", **wish)  # type: ignore[arg-type]

    def admit(self, request: PlacementRequest) -> Approved | Denied:
        asked = self.admission.evaluate(request)
        answer = self.admission.admit(request)
        assert isinstance(asked, Approved) == isinstance(answer, Approved)
        for lease in answer.leases if isinstance(answer, Approved) else ():
            sizes = self.fleet[int(lease.node[1:])]
            milli = request.gpu_milli or 1000
            self.given[lease.id] = sum(-(-sizes[i] * milli // 1000) for i in lease.devices)
            assert lease.vram_bytes == self.given[lease.id]
        return answer

    def used(self, project: str | None) -> int:
        return self.quotas.headroom("lab", project).dimensions[Dimension.GPU_VRAM].used

    def check(self) -> None:
        for project, most in self.most.items():
            assert self.used(project) == sum(self.given.values()) <= most


def least_ever(fleet: list[tuple[int, ...]], request: PlacementRequest) -> int | None:
    """What the request counts for at least on an empty fleet; None if it cannot be placed."""
    milli = request.gpu_milli or 1000
    seats: list[int] = []
    for sizes in fleet:
        able = sorted(size for size in sizes if size >= request.gpu_vram)
        each = request.device_count
        seats += [
            sum(-(-size * milli // 1000) for size in able[at : at + each])
            for at in range(0, len(able) - each + 1, each)
        ]
    members = request.gang_size
    return min((sum(c) for c in combinations(sorted(seats), members)), default=None)


@each_engine
@given(
    fleet=st.lists(machines, min_size=1, max_size=4),
    quota=st.tuples(limits, limits),
    how=st.sampled_from([Strategy.BEST_FIT, Strategy.FRAGMENTATION_AWARE, Strategy.ROUND_ROBIN]),
    story=st.lists(st.tuples(wishes, st.booleans()), min_size=1, max_size=8),
)
def test_usage_is_the_memory_of_given_devices_and_within_every_limit(
    engine: str,
    fleet: list[tuple[int, ...]],
    quota: tuple[int, int],
    how: Strategy,
    story: list[tuple[dict[str, int], bool]],
) -> None:
    """Seen: a request that named no memory held devices of any size and counted for nothing."""
    bench = Bench(engine, fleet, quota, how)
    for wish, give_back in story:
        request = bench.ask(**wish)
        answer = bench.admit(request)
        bench.check()
        least = least_ever(fleet, request)
        if isinstance(answer, Denied) and isinstance(answer.detail, HardLimitExceeded):
            event("waits for quota" if answer.reason.is_transient else "above the limit")
            assert answer.detail.used + answer.detail.requested > answer.detail.limit
        # A gang is told to wait even where all machines together are too few for it.
        if isinstance(answer, Denied) and answer.reason.is_transient and request.gang_size == 1:
            assert least is None or least <= min(quota) or sum(bench.given.values())
        if give_back and bench.given:
            lease_id = min(bench.given)
            for member in bench.ledger.with_gangs([lease_id]):
                bench.ledger.release(member)
                del bench.given[member]
        bench.check()


@each_engine
@given(
    fleet=st.lists(st.sampled_from([(80, 80), (41, 41), (10,), (80,)]), min_size=1, max_size=4),
    most=limits,
    wish=wishes,
)
def test_on_machines_of_one_kind_an_empty_fleet_serves_whoever_the_limit_bears(
    engine: str, fleet: list[tuple[int, ...]], most: int, wish: dict[str, int]
) -> None:
    bench = Bench(engine, fleet, (most, 10**6), Strategy.FRAGMENTATION_AWARE)
    request = bench.ask(**wish)
    answer = bench.admit(request)
    borne = [
        size
        for size in sorted({size for sizes in fleet for size in sizes})
        if least_ever([s for s in fleet if s[0] <= size], request) is not None
        and request.device_count
        * request.gang_size
        * -(-size * (request.gpu_milli or 1000) // 1000)
        <= most
    ]
    event(f"{type(answer).__name__}, {bool(borne)}")
    if borne:
        assert isinstance(answer, Approved)
    least = least_ever(fleet, request)
    if request.gang_size == 1 and least is not None and least > most:
        assert isinstance(answer, Denied)
        assert not answer.reason.is_transient, "no waiting raises a limit"


@each_engine
def test_smaller_devices_are_taken_when_quota_does_not_bear_the_larger(engine: str) -> None:
    bench = Bench(engine, [(80,), (41,)], (100, 100), Strategy.ROUND_ROBIN)
    first = bench.admit(bench.ask(gpu_count=1))
    assert isinstance(first, Approved)
    assert first.nodes == ("n0",)
    second = bench.admit(bench.ask(gpu_count=1))
    assert isinstance(second, Denied)
    assert second.detail == HardLimitExceeded(Dimension.GPU_VRAM, 100, 80, 41)
    bench.quotas.set_quota("lab", Quota((ResourceLimit.gpu_vram(121),)))
    bench.quotas.set_quota("lab", Quota((ResourceLimit.gpu_vram(121),)), project="p")
    third = bench.admit(bench.ask(gpu_count=1))
    assert isinstance(third, Approved)
    assert third.nodes == ("n1",)


@each_engine
def test_who_lacks_a_small_device_is_told_what_it_waits_for(engine: str) -> None:
    bench = Bench(engine, [(80,), (41,)], (60, 60), Strategy.BEST_FIT)
    assert isinstance(bench.admit(bench.ask(gpu_count=1)), Approved)
    denied = bench.admit(bench.ask(gpu_milli=500))
    assert isinstance(denied, Denied)
    assert denied.detail == HardLimitExceeded(Dimension.GPU_VRAM, 60, 41, 21)
    assert denied.reason.value == "waiting_for_quota", (
        "the larger one could be borne, if it held less"
    )
