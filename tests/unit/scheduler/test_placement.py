"""Which node suits a request best: four strategies and the hard filters before them."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.resources import Resources
from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.engine import has_compiled
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.placement import PlacementScore, PlacementScorer, ScoreWeights, Strategy
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import GIB
from bailiwick.vocab.words import HardwareGeneration as G

ENGINES = ["pure", "compiled"] if has_compiled() else ["pure"]
H100, A40 = GpuDevice(G.NVIDIA_HOPPER, 80, "H100"), GpuDevice(G.NVIDIA_AMPERE, 48, "A40")
SCORERS = {
    Strategy.ROUND_ROBIN: PlacementScorer(Strategy.ROUND_ROBIN),
    Strategy.BEST_FIT: PlacementScorer(Strategy.BEST_FIT),
    Strategy.WEIGHTED: PlacementScorer(Strategy.WEIGHTED, weights=ScoreWeights()),
    Strategy.FRAGMENTATION_AWARE: PlacementScorer(),
}


class Only:
    """A policy that allows one set of nodes."""

    def __init__(self, nodes: NodeSet | None) -> None:
        self.nodes = nodes

    def nodes_for(self, request: PlacementRequest) -> NodeSet | None:
        return self.nodes


@pytest.fixture(params=ENGINES)
def ledger(request: pytest.FixtureRequest) -> CapacityLedger:
    made = CapacityLedger(engine=request.param)
    for name, cores in (("small", 4), ("large", 64), ("medium", 16)):
        made.register_node(
            name, NodeCapacity(cpu_cores=cores, mem_bytes=cores * GIB, labels={"size": name})
        )
    made.register_node(
        "gpus", NodeCapacity(cpu_cores=64, mem_bytes=64 * GIB, gpus=(H100, H100, A40, A40))
    )
    return made


def ask(**terms: Any) -> PlacementRequest:
    return PlacementRequest(**{"tenant": "lab", "cpu_cores": 2, "mem_bytes": GIB, **terms})


def with_filter(scorer: PlacementScorer, *nodes: NodeSet | None) -> PlacementScorer:
    filters = [Only(each) for each in nodes]
    return PlacementScorer(scorer.strategy, weights=scorer.weights, filters=filters)


each_strategy = pytest.mark.parametrize("scorer", SCORERS.values(), ids=[s.value for s in SCORERS])


# --- every strategy -----------------------------------------------------------------------------


@each_strategy
def test_asking_changes_nothing(ledger: CapacityLedger, scorer: PlacementScorer) -> None:
    before = list(ledger.nodes())
    first = scorer.best(ledger, ask()), scorer.score(ledger, ask())
    assert (scorer.best(ledger, ask()), scorer.score(ledger, ask())) == first
    assert list(ledger.nodes()) == before


@each_strategy
def test_the_ranking_holds_every_node_that_fits_best_first(
    ledger: CapacityLedger, scorer: PlacementScorer
) -> None:
    ranked = scorer.score(ledger, ask(cpu_cores=10))
    assert {row.node for row in ranked} == {"large", "medium", "gpus"}
    assert [row.score for row in ranked] == sorted((row.score for row in ranked), reverse=True)


@each_strategy
def test_the_best_node_is_one_of_the_ranking(
    ledger: CapacityLedger, scorer: PlacementScorer
) -> None:
    assert scorer.best(ledger, ask()) in {row.node for row in scorer.score(ledger, ask())}


@each_strategy
@pytest.mark.parametrize("limit", [0, 1, 2, 100])
def test_a_ranking_can_be_cut_short(
    ledger: CapacityLedger, scorer: PlacementScorer, limit: int
) -> None:
    ranked = scorer.score(ledger, ask())
    assert scorer.score(ledger, ask(), limit=limit) == ranked[:limit]


@each_strategy
@pytest.mark.parametrize(
    "terms",
    [{"cpu_cores": 65}, {"mem_bytes": 65 * GIB}, {"block_bytes": 1}, {"gpu_count": 5},
     {"gpu_count": 3, "generation": G.NVIDIA_HOPPER}, {"gpu_count": 1, "gpu_vram": 81},
     {"gpu_count": 1, "gpu_models": ("T4",)}, {"labels": {"size": "huge"}},
     {"gpu_count": 1, "labels": {"size": "large"}}],
)  # fmt: skip
def test_where_nothing_fits_there_is_no_best_and_an_empty_ranking(
    ledger: CapacityLedger, scorer: PlacementScorer, terms: dict[str, Any]
) -> None:
    assert scorer.best(ledger, ask(**terms)) is None
    assert scorer.score(ledger, ask(**terms)) == []


@each_strategy
def test_an_empty_fleet_has_no_best_node(scorer: PlacementScorer) -> None:
    assert scorer.best(CapacityLedger(), ask()) is None
    assert scorer.score(CapacityLedger(), ask()) == []


@each_strategy
def test_a_closed_or_quarantined_node_is_not_looked_at(
    ledger: CapacityLedger, scorer: PlacementScorer
) -> None:
    ledger.set_mode("large", NodeMode.DRAINING)
    ledger.set_quarantine("gpus", True)
    ranked = scorer.score(ledger, ask())
    assert {row.node for row in ranked} == {"small", "medium"}
    assert scorer.best(ledger, ask()) in {"small", "medium"}


@each_strategy
@pytest.mark.parametrize("size", ["small", "medium", "large"])
def test_labels_are_a_hard_filter(
    ledger: CapacityLedger, scorer: PlacementScorer, size: str
) -> None:
    request = ask(labels={"size": size})
    assert scorer.best(ledger, request) == size
    assert [row.node for row in scorer.score(ledger, request)] == [size]


@each_strategy
@pytest.mark.parametrize("name", ["small", "medium", "large", "gpus"])
def test_a_policy_is_a_hard_filter(
    ledger: CapacityLedger, scorer: PlacementScorer, name: str
) -> None:
    filtered = with_filter(scorer, ledger.node_set([name]))
    assert filtered.best(ledger, ask()) == name
    assert [row.node for row in filtered.score(ledger, ask())] == [name]


@each_strategy
def test_policies_and_labels_narrow_each_other(
    ledger: CapacityLedger, scorer: PlacementScorer
) -> None:
    first, second = ledger.node_set(["small", "medium"]), ledger.node_set(["medium", "large"])
    filtered = with_filter(scorer, first, second, None)
    assert filtered.best(ledger, ask()) == "medium"
    assert filtered.best(ledger, ask(labels={"size": "medium"})) == "medium"
    assert filtered.best(ledger, ask(labels={"size": "large"})) is None


@each_strategy
def test_a_policy_that_changes_its_mind_is_followed_at_once(
    ledger: CapacityLedger, scorer: PlacementScorer
) -> None:
    allowed = ledger.node_set(["small"])
    filtered = with_filter(scorer, allowed)
    assert filtered.best(ledger, ask()) == "small"
    allowed.discard(ledger.handle_of("small"))
    assert filtered.best(ledger, ask()) is None
    allowed.add(ledger.handle_of("large"))
    assert filtered.best(ledger, ask()) == "large"


@each_strategy
def test_a_policy_that_allows_nothing_leaves_nothing(
    ledger: CapacityLedger, scorer: PlacementScorer
) -> None:
    assert with_filter(scorer, ledger.node_set()).best(ledger, ask()) is None


@each_strategy
def test_a_policy_without_opinion_allows_all(
    ledger: CapacityLedger, scorer: PlacementScorer
) -> None:
    assert with_filter(scorer, None).score(ledger, ask()) == scorer.score(ledger, ask())


@each_strategy
def test_a_score_names_the_devices_the_lease_would_get(
    ledger: CapacityLedger, scorer: PlacementScorer
) -> None:
    request = ask(gpu_count=2, generation=G.NVIDIA_AMPERE)
    assert [row.devices for row in scorer.score(ledger, request)] == [(2, 3)]
    assert scorer.score(ledger, ask())[0].devices == ()


@each_strategy
def test_a_node_registered_later_is_found(ledger: CapacityLedger, scorer: PlacementScorer) -> None:
    request = ask(cpu_cores=100)
    assert scorer.best(ledger, request) is None
    ledger.register_node("giant", NodeCapacity(cpu_cores=128, mem_bytes=64 * GIB))
    assert scorer.best(ledger, request) == "giant"


@each_strategy
def test_a_kind_of_device_that_comes_later_serves_requests_seen_before(
    ledger: CapacityLedger, scorer: PlacementScorer
) -> None:
    request = ask(gpu_count=1, gpu_vram=141)
    assert scorer.best(ledger, request) is None
    h200 = GpuDevice(G.NVIDIA_HOPPER, 141, "H200")
    ledger.register_node("new", NodeCapacity(cpu_cores=8, mem_bytes=8 * GIB, gpus=(h200,)))
    assert scorer.best(ledger, request) == "new"


@each_strategy
def test_room_that_was_given_back_is_found_again(
    ledger: CapacityLedger, scorer: PlacementScorer
) -> None:
    request = ask(gpu_count=4)
    lease = ledger.grant("gpus", request)
    assert scorer.best(ledger, request) is None
    ledger.release(lease.id)
    assert scorer.best(ledger, request) == "gpus"


# --- each strategy for itself -------------------------------------------------------------------


def test_round_robin_goes_on_after_the_node_it_gave_last(ledger: CapacityLedger) -> None:
    admission = AdmissionController(ledger, scorer=SCORERS[Strategy.ROUND_ROBIN])
    turns = [admission.admit(ask(cpu_cores=1)).node for _ in range(6)]
    assert turns == ["small", "large", "medium", "gpus", "small", "large"]


def test_best_fit_leaves_least_over(ledger: CapacityLedger) -> None:
    scorer = SCORERS[Strategy.BEST_FIT]
    assert [row.node for row in scorer.score(ledger, ask())][:2] == ["small", "medium"]
    assert scorer.best(ledger, ask()) == "small"
    assert scorer.best(ledger, ask(cpu_cores=5)) == "medium"


def test_positive_weights_pack_and_negative_weights_spread(ledger: CapacityLedger) -> None:
    ledger.grant("large", ask(cpu_cores=32, mem_bytes=32 * GIB))
    pack = PlacementScorer(Strategy.WEIGHTED, weights=ScoreWeights(1.0, 1.0, 0.0, 0.0))
    spread = PlacementScorer(Strategy.WEIGHTED, weights=ScoreWeights(-1.0, -1.0, 0.0, 0.0))
    request = ask(cpu_cores=8, mem_bytes=8 * GIB)
    assert pack.best(ledger, request) == "large"
    assert spread.best(ledger, request) == "gpus"


def test_two_weighted_scorers_can_take_turns_on_one_ledger(ledger: CapacityLedger) -> None:
    one = PlacementScorer(Strategy.WEIGHTED, weights=ScoreWeights(1.0, 0.0, 0.0, 0.0))
    two = PlacementScorer(Strategy.WEIGHTED, weights=ScoreWeights(-1.0, 0.0, 0.0, 0.0))
    alone = [scorer.score(ledger, ask()) for scorer in (one, two)]
    assert alone[0] != alone[1]
    for _ in range(3):
        assert [scorer.score(ledger, ask()) for scorer in (one, two)] == alone


def test_the_default_keeps_whole_devices_whole(ledger: CapacityLedger) -> None:
    ledger.grant("gpus", ask(gpu_milli=500))
    begun = ledger.node("gpus").device_free_milli.index(500)
    lease = AdmissionController(ledger).admit(ask(gpu_milli=500)).leases[0]
    assert lease.devices == (begun,)


def test_the_default_keeps_gpu_nodes_for_gpu_work(ledger: CapacityLedger) -> None:
    assert SCORERS[Strategy.FRAGMENTATION_AWARE].best(ledger, ask(cpu_cores=32)) == "large"


@pytest.mark.parametrize("strategy", [Strategy.WEIGHTED, Strategy.FRAGMENTATION_AWARE])
def test_equal_scores_go_to_the_node_registered_first(strategy: Strategy) -> None:
    ledger = CapacityLedger()
    for name in ("b", "a", "c"):
        ledger.register_node(name, NodeCapacity(cpu_cores=8, mem_bytes=GIB))
    assert SCORERS[strategy].best(ledger, ask()) == "b"
    assert [row.node for row in SCORERS[strategy].score(ledger, ask())] == ["b", "a", "c"]


@pytest.mark.parametrize("strategy", [Strategy.WEIGHTED, Strategy.FRAGMENTATION_AWARE])
def test_among_equals_a_new_node_stands_where_a_departed_one_stood(strategy: Strategy) -> None:
    ledger = CapacityLedger()
    for name in ("gone", "first"):
        ledger.register_node(name, NodeCapacity(cpu_cores=8, mem_bytes=GIB))
    ledger.depart_node("gone")
    ledger.register_node("second", NodeCapacity(cpu_cores=8, mem_bytes=GIB))
    assert SCORERS[strategy].best(ledger, ask()) == "second"
    assert [row.node for row in SCORERS[strategy].score(ledger, ask())] == ["second", "first"]


def test_work_without_a_gpu_keeps_off_gpu_machines_while_others_serve() -> None:
    ledger = CapacityLedger()
    gpus = (H100,) * 8
    ledger.register_node("gpu", NodeCapacity(cpu_cores=64, mem_bytes=GIB, gpus=gpus))
    ledger.register_node("plain", NodeCapacity(cpu_cores=8, mem_bytes=GIB))
    scorer = PlacementScorer()
    assert scorer.best(ledger, ask(cpu_cores=8)) == "plain"
    assert scorer.best(ledger, ask(cpu_cores=9)) == "gpu"


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["cpu", "mem", "gpu", "block"])
@pytest.mark.parametrize(
    "value", [1.01, -1.01, nan, inf, -inf, True, "1", None, 10**400], ids=range(9)
)
def test_a_weight_is_a_finite_number_from_minus_one_to_one(field: str, value: Any) -> None:
    with pytest.raises(InvalidValue) as refused:
        ScoreWeights(**{field: value})
    assert refused.value.field == field


@pytest.mark.parametrize("value", [-1, -1.0, 0, 0.0005, 1, 1.0])
def test_the_bounds_of_a_weight_belong_to_it(value: float) -> None:
    assert ScoreWeights(cpu=value).per_mille()[0] == round(1000 * value)


@pytest.mark.parametrize("strategy", ["best_fit", None, 1, "", Resources()])
def test_a_strategy_that_does_not_exist_is_refused(strategy: Any) -> None:
    with pytest.raises(InvalidValue) as refused:
        PlacementScorer(strategy)
    assert refused.value.field == "strategy"


@pytest.mark.parametrize(
    ("strategy", "weights"),
    [(Strategy.WEIGHTED, None), (Strategy.BEST_FIT, ScoreWeights()),
     (Strategy.WEIGHTED, (1, 1, 1, 1)), (Strategy.WEIGHTED, "even")],
)  # fmt: skip
def test_weights_belong_to_weighted_and_to_nothing_else(strategy: Strategy, weights: Any) -> None:
    with pytest.raises(InvalidValue) as refused:
        PlacementScorer(strategy, weights=weights)
    assert refused.value.field == "weights"


@pytest.mark.parametrize("filters", [5, None, "policy", Only(None)])
def test_filters_come_as_a_list(filters: Any) -> None:
    with pytest.raises(InvalidValue) as refused:
        PlacementScorer(filters=filters)
    assert refused.value.field == "filters"


@pytest.mark.parametrize("call", ["best", "score"])
@pytest.mark.parametrize(
    ("field", "given"),
    [("ledger", (None, ask())), ("ledger", ("ledger", ask())), ("request", (CapacityLedger(), {})),
     ("request", (CapacityLedger(), None))],
)  # fmt: skip
def test_what_is_no_ledger_or_no_request_is_refused(call: str, field: str, given: Any) -> None:
    with pytest.raises(InvalidValue) as refused:
        getattr(PlacementScorer(), call)(*given)
    assert refused.value.field == field


@pytest.mark.parametrize("limit", [-1, True, 1.0, nan, "1"])
def test_a_ranking_is_not_cut_to_less_than_nothing(ledger: CapacityLedger, limit: Any) -> None:
    with pytest.raises(InvalidValue) as refused:
        PlacementScorer().score(ledger, ask(), limit=limit)
    assert refused.value.field == "limit"


def test_a_score_is_told_as_node_number_and_devices(ledger: CapacityLedger) -> None:
    row = SCORERS[Strategy.BEST_FIT].score(ledger, ask(gpu_milli=100))[0]
    assert row == PlacementScore("gpus", row.score, row.devices)
    assert len(row.devices) == 1
