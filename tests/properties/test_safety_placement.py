"""Every strategy names a node that fits whenever one does, and never one that does not.

A fleet changes at random while the same few requests are asked about again and again, so that
every cache and list behind the answers has to keep up. The judges are a reference in plain dicts
(which nodes fit) and a plain scan over all nodes (which of them is best).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.fleet.node import NodeCapacity
from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.decision import Approved
from bailiwick.scheduler.engine import has_compiled
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.placement import PlacementScorer, ScoreWeights, Strategy
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import HardwareGeneration
from tests.support.naive_fleet import (
    CAPACITIES,
    NaiveFleet,
    NaiveNode,
    capacities,
    remember,
    requests,
)

ENGINES = ["pure", "compiled"] if has_compiled() else ["pure"]
each_engine = pytest.mark.parametrize("engine", ENGINES)
each_strategy = pytest.mark.parametrize("strategy", list(Strategy))
weights = st.builds(
    ScoreWeights, *[st.sampled_from([-1.0, -0.25, 0.0, 0.1, 0.5, 1.0]) for _ in range(4)]
)


@dataclass
class Policy:
    """A set of nodes, for every request."""

    nodes: NodeSet

    def nodes_for(self, request: PlacementRequest) -> NodeSet:
        return self.nodes


@dataclass
class Change:
    """One thing that happens to a fleet."""

    what: str
    where: int
    capacity: NodeCapacity
    request: int


changes = st.lists(
    st.builds(
        Change,
        st.sampled_from(
            ["admit"] * 6
            + ["release"] * 3
            + ["register", "depart", "drain", "open", "quarantine", "gate", "attest", "attest"]
        ),
        st.integers(0, 50),
        capacities,
        st.integers(0, 3),
    ),
    max_size=25,
)


NODE_CHANGES = ("depart", "drain", "open", "quarantine", "gate", "attest")


class World:
    """A ledger that changes, and the reference beside it."""

    def __init__(self, engine: str, scorer: PlacementScorer) -> None:
        self.ledger = CapacityLedger(engine=engine)
        self.fleet = NaiveFleet()
        self.admission = AdmissionController(self.ledger, scorer=scorer)
        self.serial = 0

    def register(self, capacity: NodeCapacity) -> None:
        name = f"n{self.serial}"
        self.serial += 1
        self.ledger.register_node(name, capacity)
        self.fleet.nodes[name] = NaiveNode(capacity)

    def happen(self, change: Change, asked: list[PlacementRequest]) -> None:
        names, leases = list(self.fleet.nodes), list(self.fleet.leases)
        if change.what == "register":
            self.register(change.capacity)
        elif change.what == "admit":
            request = asked[change.request % len(asked)]
            answer = self.admission.admit(replace(request, gang_size=1))
            if isinstance(answer, Approved):
                remember(self.fleet, answer.leases, request)
        elif change.what == "release" and leases:
            lease_id = leases[change.where % len(leases)]
            self.ledger.release(lease_id)
            del self.fleet.leases[lease_id]
        elif names and change.what in NODE_CHANGES:
            self.change_node(names[change.where % len(names)], change.what)

    def change_node(self, name: str, what: str) -> None:
        node = self.fleet.nodes[name]
        if what == "depart":
            self.ledger.depart_node(name)
            del self.fleet.nodes[name]
            for lease in list(self.fleet.leases.values()):
                if lease.node == name:
                    del self.fleet.leases[lease.id]
        elif what == "quarantine":
            node.quarantined = not node.quarantined
            self.ledger.set_quarantine(name, node.quarantined)
        elif what == "gate":
            node.gated = not node.gated
            self.ledger.set_gate(name, node.gated)
        elif what == "attest":
            node.attested = {} if node.attested else {"attested.tpm2.boot": "ok"}
            self.ledger.set_attested(name, node.attested)
        elif (what, node.mode) in (("drain", "accepting"), ("open", "draining")):
            node.mode = "draining" if what == "drain" else "accepting"
            self.ledger.set_mode(name, NodeMode(node.mode))


def scan(world: World, scorer: PlacementScorer, request: PlacementRequest) -> str | None:
    """The best node by one pass over all nodes, in the order of their handles."""
    ledger, ready = world.ledger, scorer.ready(world.ledger, request)
    best: tuple[int, str] | None = None
    for entry in sorted(ledger.entries.values(), key=lambda e: e.handle):
        if entry.id not in world.fleet.fitting(request):
            continue
        scored = ledger.engine.score(scorer.code, ready.shape, entry.handle)
        assert scored is not None, "the engine does not see that it fits"
        if best is None or scored[0] > best[0]:
            best = scored[0], entry.id
    return best[1] if best is not None else None


def scorer_for(strategy: Strategy, given_weights: ScoreWeights) -> PlacementScorer:
    weighted = strategy is Strategy.WEIGHTED
    return PlacementScorer(strategy, weights=given_weights if weighted else None)


@each_engine
@each_strategy
@given(
    first=st.lists(capacities, min_size=1, max_size=5),
    asked=st.lists(requests(), min_size=1, max_size=4),
    history=changes,
    weights=weights,
)
def test_the_best_node_fits_whenever_one_does_and_is_the_one_a_scan_finds(
    engine: str,
    strategy: Strategy,
    first: list[NodeCapacity],
    asked: list[PlacementRequest],
    history: list[Change],
    weights: ScoreWeights,
) -> None:
    scorer = scorer_for(strategy, weights)
    world = World(engine, scorer)
    for capacity in first:
        world.register(capacity)
    for change in [None, *history]:
        if change is not None:
            world.happen(change, asked)
        for request in asked:
            best = scorer.best(world.ledger, request)
            ranked = scorer.score(world.ledger, request)
            fitting = world.fleet.fitting(request)
            assert {row.node for row in ranked} == set(fitting)
            if not fitting:
                assert best is None
            elif strategy is Strategy.BEST_FIT:
                assert best in fitting
            else:
                assert best == ranked[0].node == scan(world, scorer, request)


@each_engine
@each_strategy
@given(
    first=st.lists(capacities, min_size=1, max_size=6),
    request=requests(),
    flips=st.lists(st.integers(0, 5), max_size=8),
    weights=weights,
)
def test_a_mask_is_never_stepped_over(
    engine: str,
    strategy: Strategy,
    first: list[NodeCapacity],
    request: PlacementRequest,
    flips: list[int],
    weights: ScoreWeights,
) -> None:
    plain = scorer_for(strategy, weights)
    world = World(engine, plain)
    for capacity in first:
        world.register(capacity)
    allowed = world.ledger.node_set()
    scorer = PlacementScorer(strategy, weights=plain.weights, filters=[Policy(allowed)])
    names: set[str] = set()
    for flip in [None, *flips]:
        if flip is not None:
            name = f"n{flip % len(first)}"
            names ^= {name}
            change = allowed.add if name in names else allowed.discard
            change(world.ledger.handle_of(name))
        fitting = world.fleet.fitting(request, names)
        best = scorer.best(world.ledger, request)
        ranked = scorer.score(world.ledger, request)
        assert {row.node for row in ranked} == set(fitting)
        assert (best in fitting) if fitting else best is None
        if fitting and strategy is not Strategy.BEST_FIT:
            assert best == ranked[0].node


@each_engine
@each_strategy
@given(first=st.lists(capacities, min_size=1, max_size=5), request=requests(), weights=weights)
def test_a_ranking_names_devices_that_the_lease_can_have(
    engine: str,
    strategy: Strategy,
    first: list[NodeCapacity],
    request: PlacementRequest,
    weights: ScoreWeights,
) -> None:
    scorer = scorer_for(strategy, weights)
    world = World(engine, scorer)
    for capacity in first:
        world.register(capacity)
    for row in scorer.score(world.ledger, request):
        lease = world.ledger.grant(row.node, request)
        remember(world.fleet, [replace(lease, devices=row.devices)], request)
        world.ledger.release(lease.id)
        world.fleet.leases.clear()


@each_engine
@given(first=st.lists(capacities, min_size=1, max_size=6), request=requests(), weights=weights)
def test_a_weighted_score_is_the_weighted_leftover(
    engine: str, first: list[NodeCapacity], request: PlacementRequest, weights: ScoreWeights
) -> None:
    """Worked out here once more, from the request and the empty machines."""
    scorer = PlacementScorer(Strategy.WEIGHTED, weights=weights)
    world = World(engine, scorer)
    for capacity in first:
        world.register(capacity)
    mille = [round(1000 * w) for w in (weights.cpu, weights.mem, weights.block, weights.gpu)]
    need = (request.cpu_milli, request.mem_bytes, request.block_bytes, request.gpu_milli_total)
    for row in scorer.score(world.ledger, request):
        total = world.fleet.nodes[row.node].total
        left = [
            w * ((have - n) * 1024 // have)
            for w, have, n in zip(mille, total, need, strict=True)
            if have
        ]
        assert row.score == max(-32000, min(32000, -sum(left) // 256))


@each_engine
@each_strategy
def test_answers_stay_those_of_a_scan_while_the_workload_is_learned(
    engine: str, strategy: Strategy
) -> None:
    """Past the 32nd, 64th, 128th... arrival every score changes at once."""
    scorer = scorer_for(strategy, ScoreWeights())
    world = World(engine, scorer)
    for i in range(12):
        world.register(CAPACITIES[i % len(CAPACITIES)])
    asked = [
        PlacementRequest(tenant="red", mem_bytes=1, gpu_milli=250),
        PlacementRequest(tenant="red", cpu_cores=1, mem_bytes=1, gpu_count=1),
        PlacementRequest(tenant="red", cpu_cores=0.5, mem_bytes=4),
    ]
    for step in range(300):
        what = "release" if step % 5 == 4 else "admit"
        world.happen(Change(what, step * 7, CAPACITIES[0], step), asked)
        request = asked[step % 3]
        best, fitting = scorer.best(world.ledger, request), world.fleet.fitting(request)
        if strategy is Strategy.BEST_FIT or not fitting:
            assert best in (fitting or [None])
        else:
            assert best == scan(world, scorer, request)


@each_engine
@each_strategy
@pytest.mark.parametrize("masked", [False, True])
def test_in_a_crowded_fleet_no_is_said_only_when_no_node_fits(
    engine: str, strategy: Strategy, masked: bool
) -> None:
    """Large enough that the lists behind best fit skip and jump, and full enough to be refused."""
    rng = random.Random(7)
    scorer = scorer_for(strategy, ScoreWeights())
    world = World(engine, scorer)
    for i in range(60):
        world.register(CAPACITIES[(1, 3, 3)[i % 3]])
    names = {name for name in world.fleet.nodes if rng.random() < 0.5} if masked else None
    if names is not None:
        policy = Policy(world.ledger.node_set(sorted(names)))
        scorer = PlacementScorer(strategy, weights=scorer.weights, filters=[policy])
        world.admission = AdmissionController(world.ledger, scorer=scorer)
    generations = [None, None, HardwareGeneration.NVIDIA_HOPPER, HardwareGeneration.NVIDIA_AMPERE]
    refused = 0
    for step in range(500):
        gpus = {"gpu_count": 1} if rng.random() < 0.4 else {"gpu_milli": rng.randrange(50, 999)}
        request = PlacementRequest(
            tenant="red", cpu_cores=rng.choice([0.5, 2, 7]), mem_bytes=rng.choice([1, 9, 30]),
            generation=rng.choice(generations), **gpus,
        )  # fmt: skip
        answer = world.admission.admit(request)
        if isinstance(answer, Approved):
            assert names is None or answer.node in names
            remember(world.fleet, answer.leases, request)
        else:
            refused += 1
            assert world.fleet.fitting(request, names) == []
        if step % 9 == 8 and world.fleet.leases:
            world.happen(Change("release", rng.randrange(10**6), CAPACITIES[0], 0), [])
    assert refused > 30
