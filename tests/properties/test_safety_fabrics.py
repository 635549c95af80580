"""Which devices a lease gets: of as few fabrics as can be, and only those that it may use.

The naive reference tries every choice of devices; both engines are asked, with every strategy.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.scheduler.engine import has_compiled
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.placement import PlacementScorer, ScoreWeights, Strategy
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.values import TenantId
from bailiwick.vocab.words import HardwareGeneration

ENGINES = ["pure", *(["compiled"] if has_compiled() else [])]
GENERATIONS = (HardwareGeneration.NVIDIA_HOPPER, HardwareGeneration.NVIDIA_AMPERE)
LAB = TenantId("lab")

devices = st.builds(
    GpuDevice,
    st.sampled_from((*GENERATIONS[:1] * 3, GENERATIONS[1])),
    st.just(80),
    fabric=st.sampled_from(["", "f1", "f2", "f2", "f3"]),
)
machines = st.lists(st.lists(devices, max_size=8), min_size=1, max_size=4)
asks = st.tuples(st.integers(1, 6), st.none() | st.sampled_from(GENERATIONS))
strategies = st.sampled_from(list(Strategy))


def scorer_of(strategy: Strategy, *filters: object) -> PlacementScorer:
    weights = ScoreWeights() if strategy is Strategy.WEIGHTED else None
    return PlacementScorer(strategy, weights=weights, filters=filters)  # type: ignore[arg-type]


def fabrics(gpus: list[GpuDevice], chosen: tuple[int, ...]) -> set[object]:
    return {gpus[i].fabric or i for i in chosen}


def best_choices(gpus: list[GpuDevice], usable: list[int], count: int) -> list[tuple[int, ...]]:
    """Of every choice those of the fewest fabrics; of one fabric, those that leave least of it."""
    every = list(combinations(usable, count))
    fewest = min(len(fabrics(gpus, choice)) for choice in every)
    found = [choice for choice in every if len(fabrics(gpus, choice)) == fewest]
    if fewest > 1:
        return found

    def left(choice: tuple[int, ...]) -> int:
        return sum(fabrics(gpus, (i,)) == fabrics(gpus, choice) for i in usable)

    least = min(map(left, found))
    return [choice for choice in found if left(choice) == least]


class Limits:
    """A rule that leaves a request some devices of some nodes."""

    def __init__(self, nodes: NodeSet) -> None:
        self.nodes = nodes

    def nodes_for(self, request: PlacementRequest) -> NodeSet:
        del request
        return self.nodes


@pytest.mark.parametrize("engine", ENGINES)
@given(
    machines=machines,
    limits=st.lists(st.none() | st.integers(0, 2**8 - 1), min_size=4, max_size=4),
    asked=st.lists(asks, max_size=5),
    strategy=strategies,
)
def test_devices_are_of_as_few_fabrics_as_can_be_and_within_the_limits(
    engine: str,
    machines: list[list[GpuDevice]],
    limits: list[int | None],
    asked: list[tuple[int, HardwareGeneration | None]],
    strategy: Strategy,
) -> None:
    ledger = CapacityLedger(engine=engine)
    names = [f"n{i}" for i in range(len(machines))]
    for name, gpus in zip(names, machines, strict=True):
        ledger.register_node(name, NodeCapacity(64, 2**40, gpus=tuple(gpus)))
    rule = ledger.node_set(names)
    for name, bits in zip(names, limits, strict=False):
        rule.limit_devices(ledger.handle_of(name), bits)
    scorer = scorer_of(strategy, Limits(rule))
    free = {name: set(range(len(gpus))) for name, gpus in zip(names, machines, strict=True)}
    for count, generation in asked:
        ask = PlacementRequest(
            tenant=LAB, cpu_cores=1, mem_bytes=1, gpu_count=count, generation=generation
        )
        usable = {
            name: [
                i
                for i in sorted(free[name])
                if (limits[at] is None or (limits[at] or 0) >> i & 1)
                and generation in (None, machines[at][i].generation)
            ]
            for at, name in enumerate(names)
        }
        fitting = {name for name, those in usable.items() if len(those) >= count}
        ranked = scorer.score(ledger, ask)
        assert {row.node for row in ranked} == fitting
        found = ledger.place(scorer.ready(ledger, ask), scorer.code, now_ms=0)
        if not fitting:
            assert found < 0
            continue
        lease = ledger.lease(found)
        if strategy is not Strategy.BEST_FIT:  # which may take a near tie
            assert (lease.node, lease.devices) == (ranked[0].node, ranked[0].devices)
        gpus = machines[names.index(lease.node)]
        assert lease.devices in best_choices(gpus, usable[lease.node], count)
        free[lease.node] -= set(lease.devices)


@pytest.mark.parametrize("engine", ENGINES)
@given(bits=st.integers(0, 15), free=st.lists(st.integers(1, 1000), min_size=4, max_size=4))
def test_a_share_is_of_a_device_that_may_be_used(engine: str, bits: int, free: list[int]) -> None:
    ledger = CapacityLedger(engine=engine)
    gpus = tuple(GpuDevice(GENERATIONS[0], 80, fabric=name) for name in ("f1", "f1", "f2", "f2"))
    ledger.register_node("n", NodeCapacity(64, 2**40, gpus=gpus))
    rule = ledger.node_set(["n"])
    share = PlacementRequest(tenant=LAB, cpu_cores=1, mem_bytes=1, gpu_milli=300)
    for index, left in enumerate(free):
        if left < 1000:
            rule.limit_devices(0, 1 << index)
            taken = replace(share, gpu_milli=1000 - left)
            scorer = scorer_of(Strategy.ROUND_ROBIN, Limits(rule))
            assert ledger.place(scorer.ready(ledger, taken), scorer.code, now_ms=0) >= 0
    rule.limit_devices(0, bits)
    scorer = scorer_of(Strategy.BEST_FIT, Limits(rule))
    usable = [i for i in range(4) if bits >> i & 1 and free[i] >= 300]
    found = ledger.place(scorer.ready(ledger, share), scorer.code, now_ms=0)
    if not usable:
        assert found < 0
        return
    assert ledger.lease(found).devices == (min(usable, key=free.__getitem__),)


@pytest.mark.parametrize("engine", ENGINES)
def test_work_with_several_gpus_goes_where_they_are_joined(engine: str) -> None:
    ledger = CapacityLedger(engine=engine)
    split = tuple(GpuDevice(GENERATIONS[0], 80, fabric=f"f{i // 2}") for i in range(4))
    whole = tuple(GpuDevice(GENERATIONS[0], 80, fabric="g") for _ in range(4))
    ledger.register_node("split", NodeCapacity(64, 2**40, gpus=split))
    ledger.register_node("whole", NodeCapacity(64, 2**40, gpus=whole))
    three = PlacementRequest(tenant=LAB, cpu_cores=1, mem_bytes=1, gpu_count=3)
    two = replace(three, gpu_count=2)
    assert scorer_of(Strategy.FRAGMENTATION_AWARE).best(ledger, three) == "whole"
    assert scorer_of(Strategy.WEIGHTED).best(ledger, three) == "whole"
    assert scorer_of(Strategy.FRAGMENTATION_AWARE).best(ledger, two) == "split"
