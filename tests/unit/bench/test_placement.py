"""The allocation experiment: what it counts, that it repeats, and that both engines agree.

Which strategy packs better is measured by the bench and never asserted here.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bailiwick import (
    CapacityLedger,
    InvalidValue,
    NodeUsage,
    PlacementScorer,
    Resources,
    Strategy,
)
from bailiwick.bench.openb import NodeRow, PodRow
from bailiwick.bench.placement import (
    Lists,
    fragmentation,
    load_lists,
    popular_shapes,
    run_trial,
    run_trials,
    seeds_named,
    strategies_named,
    unusable_milli,
)
from bench import lists as own
from bench.plain import PlainScan
from bench.workload import Workload

FOLDER = own.FOLDER


@pytest.fixture(scope="module")
def small() -> Lists:
    """The repository's own lists, cut down to what a unit test may take."""
    whole = load_lists(FOLDER / "nodes.csv", FOLDER / "pods_named.csv")
    return Lists(whole.nodes[:24], whole.pods[:200], "nodes.csv", "pods_named.csv")


# --- the lists ----------------------------------------------------------------------------------


def test_the_committed_lists_are_what_the_generator_makes(tmp_path: Path) -> None:
    for path in own.write_all(tmp_path):
        assert path.read_bytes() == (FOLDER / path.name).read_bytes(), path.name


@pytest.mark.parametrize("mix", own.MIXES)
def test_every_own_list_loads(mix: str) -> None:
    lists = load_lists(FOLDER / "nodes.csv", FOLDER / f"pods_{mix}.csv")
    assert len(lists.nodes) == own.NODES_COUNT
    assert len(lists.pods) == own.PODS_COUNT
    assert lists.gpu_milli == 1000 * sum(node.gpus for node in lists.nodes)


def test_a_file_that_is_not_there_is_told_as_a_bad_value(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="expected a readable file, got 'No such file"):
        load_lists(FOLDER / "nodes.csv", tmp_path / "absent.csv")


def test_a_file_that_is_no_text_is_told_as_a_bad_value(tmp_path: Path) -> None:
    path = tmp_path / "binary.csv"
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InvalidValue, match="comma-separated text"):
        load_lists(path, FOLDER / "pods_default.csv")


def test_a_node_named_twice_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text("sn,cpu_milli,memory_mib,gpu,model\na,1,1,1,T4\na,1,1,1,T4\n")
    with pytest.raises(InvalidValue, match=r"nodes.csv line 3: sn: expected each name once"):
        load_lists(path, FOLDER / "pods_default.csv")


def test_a_node_with_a_bad_name_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text("sn,cpu_milli,memory_mib,gpu,model\na,1,1,1,T4\n,1,1,1,T4\n")
    with pytest.raises(InvalidValue, match=r"nodes.csv line 3: \w+: expected 1 to 63 letters"):
        load_lists(path, FOLDER / "pods_default.csv")


def test_a_node_whose_row_ends_before_its_model_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text("sn,cpu_milli,memory_mib,gpu,model\na,1,1,1\n")
    with pytest.raises(InvalidValue, match=r"nodes.csv line 2: model"):
        load_lists(path, FOLDER / "pods_default.csv")


def test_a_pod_that_asks_for_nothing_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "pods.csv"
    path.write_text("cpu_milli,memory_mib,num_gpu,gpu_milli\n1,1,1,1000\n0,0,0,0\n")
    with pytest.raises(InvalidValue, match=r"pods.csv line 3: request"):
        load_lists(FOLDER / "nodes.csv", path)


def test_a_fleet_or_a_list_without_gpus_is_refused() -> None:
    node, pod = NodeRow("a", 1000, 1024, 0, ""), PodRow(1000, 1024, 1, 1000, ())
    with pytest.raises(InvalidValue, match="at least one GPU in the fleet"):
        Lists([node], [pod])
    with pytest.raises(InvalidValue, match="at least one pod with a GPU"):
        Lists([replace(node, gpus=1, model="T4")], [PodRow(1000, 1024, 0, 0, ())])


# --- what was typed -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("42", (42,)), ("42-44", (42, 43, 44)), ("1,7,3", (1, 7, 3)), ("1-2, 2-3", (1, 2, 3))],
)
def test_seeds_are_a_range_a_list_or_both(text: str, seeds: tuple[int, ...]) -> None:
    assert seeds_named(text) == seeds


@pytest.mark.parametrize("text", ["", "a", "5-3", "1-", "-1", "1,,2", "1.5", "0-10000", "9" * 10])
def test_what_is_no_list_of_seeds_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="seeds: expected"):
        seeds_named(text)


def test_all_means_every_strategy() -> None:
    assert strategies_named("all") == tuple(Strategy)
    assert strategies_named("best_fit") == (Strategy.BEST_FIT,)


def test_an_unknown_strategy_is_answered_with_the_known_words() -> None:
    with pytest.raises(InvalidValue) as caught:
        strategies_named("bestfit")
    assert all(word in str(caught.value) for word in (*Strategy, "all"))


# --- one trial ----------------------------------------------------------------------------------


def test_what_is_allocated_and_what_is_idle_make_up_the_fleet() -> None:
    """One node of four GPUs, pods of one GPU: at 100 % arrived all four are allocated."""
    lists = Lists([NodeRow("a", 64_000, 65_536, 4, "T4")], [PodRow(1000, 1024, 1, 1000, ())] * 9)
    trial = run_trial(lists, Strategy.BEST_FIT, seed=1)
    assert (trial.allocation_ratio, trial.fragmentation, trial.decisions) == (100.0, 0.0, 4)


def test_pods_that_cannot_be_placed_leave_capacity_idle_and_all_of_it_unusable() -> None:
    """CPU for one of the four: three quarters stay idle, and no pod of the list could use them."""
    lists = Lists([NodeRow("a", 1000, 65_536, 4, "T4")], [PodRow(1000, 1024, 1, 1000, ())] * 9)
    trial = run_trial(lists, Strategy.BEST_FIT, seed=1)
    assert (trial.allocation_ratio, trial.fragmentation) == (25.0, 100.0)


def test_only_arrivals_at_the_asked_percentage_count() -> None:
    """Ten GPUs, one per pod: at 30 % arrived exactly the third arrival is counted."""
    lists = Lists([NodeRow("a", 64_000, 65_536, 10, "T4")], [PodRow(1000, 1024, 1, 1000, ())] * 10)
    trial = run_trial(lists, Strategy.BEST_FIT, seed=1, arrived=30)
    assert (trial.allocation_ratio, trial.decisions) == (30.0, 3)


def test_when_one_pod_jumps_over_the_percentage_the_ratio_before_it_counts() -> None:
    lists = Lists([NodeRow("a", 64_000, 65_536, 4, "T4")], [PodRow(1000, 1024, 1, 1000, ())] * 9)
    assert run_trial(lists, Strategy.BEST_FIT, seed=1, arrived=60).allocation_ratio == 50.0


def test_more_than_the_published_percentage_can_arrive() -> None:
    lists = Lists([NodeRow("a", 64_000, 65_536, 4, "T4")], [PodRow(1000, 1024, 1, 1000, ())] * 9)
    trial = run_trial(lists, Strategy.BEST_FIT, seed=1, arrived=200)
    assert (trial.allocation_ratio, trial.decisions) == (100.0, 8)


@pytest.mark.parametrize("strategy", Strategy)
def test_the_same_seed_gives_the_same_answer(small: Lists, strategy: Strategy) -> None:
    first, second = (run_trial(small, strategy, seed=42) for _ in range(2))
    assert replace(first, decisions_per_s=0) == replace(second, decisions_per_s=0)


@pytest.mark.parametrize("strategy", Strategy)
def test_the_compiled_engine_and_its_twin_agree(small: Lists, strategy: Strategy) -> None:
    try:
        CapacityLedger(engine="compiled")
    except InvalidValue:
        pytest.skip("the compiled core is not built here")
    compiled, pure = (
        run_trial(small, strategy, seed=43, engine=engine) for engine in ("compiled", "pure")
    )
    assert (compiled.engine, pure.engine) == ("compiled", "pure")
    assert compiled.allocation_ratio == pure.allocation_ratio
    assert compiled.fragmentation == pure.fragmentation
    assert compiled.decisions == pure.decisions


def test_ratios_are_percentages_and_no_more_is_allocated_than_arrived(small: Lists) -> None:
    for trial in run_trials(small, tuple(Strategy), seeds=(42, 43), arrived=60):
        assert 0 < trial.allocation_ratio <= 60.5
        assert 0 <= trial.fragmentation <= 100
        assert trial.decisions_per_s > 0


def test_every_strategy_meets_every_seed_in_order(small: Lists) -> None:
    trials = run_trials(small, (Strategy.BEST_FIT, Strategy.ROUND_ROBIN), seeds=(5, 3), arrived=10)
    assert [(t.strategy, t.seed) for t in trials] == [
        (Strategy.BEST_FIT, 5),
        (Strategy.BEST_FIT, 3),
        (Strategy.ROUND_ROBIN, 5),
        (Strategy.ROUND_ROBIN, 3),
    ]


# --- fragmentation ------------------------------------------------------------------------------


def usage(cpu_milli: int, *devices: int) -> NodeUsage:
    """A node as the ledger would tell it, with this much left."""
    ledger = CapacityLedger()
    row = NodeRow("a", 64_000, 65_536, len(devices), "T4")
    told = ledger.register_node("a", row.capacity())
    free = Resources(cpu_milli, told.free.mem_bytes, 0, sum(devices))
    return replace(told, free=free, device_free_milli=devices)


T4 = NodeRow("a", 64_000, 65_536, 3, "T4")


@pytest.mark.parametrize(
    ("pod", "lost"),
    [
        (PodRow(1000, 0, 1, 1000, ()), 700),  # fits; the two started devices are of no use to it
        (PodRow(1000, 0, 1, 400, ()), 200),  # fits; only the smallest rest is of no use
        (PodRow(1000, 0, 2, 1000, ()), 1700),  # there is only one whole device
        (PodRow(9000, 0, 1, 400, ()), 1700),  # not enough CPU
        (PodRow(1000, 0, 1, 400, ("A10",)), 1700),  # another model
        (PodRow(1000, 0, 1, 400, ("A10", "T4")), 200),
        (PodRow(1000, 0, 0, 0, ()), 1700),  # wants no GPU
    ],
)
def test_idle_gpu_is_lost_to_a_pod_that_cannot_use_it(pod: PodRow, lost: int) -> None:
    assert unusable_milli(pod, T4, usage=usage(8000, 1000, 500, 200)) == lost


def test_fragmentation_weighs_pods_by_how_often_they_come() -> None:
    free = [(T4, usage(8000, 1000, 500, 200))]
    popular = [(PodRow(1000, 0, 1, 1000, ()), 0.5), (PodRow(1000, 0, 1, 400, ()), 0.5)]
    assert fragmentation(free, popular) == pytest.approx(100 * 450 / 1700)


def test_a_full_fleet_has_nothing_to_fragment() -> None:
    assert fragmentation([(T4, usage(0, 0, 0, 0))], [(PodRow(1, 0, 1, 1, ()), 1.0)]) == 0.0


def test_popular_shapes_make_up_95_percent_and_forget_memory() -> None:
    pods = [PodRow(1000, mem, 1, 1000, ()) for mem in range(60)]
    pods += [PodRow(2000, 1, 1, 500, ())] * 36
    pods += [PodRow(1000 * i, 1, 0, 0, ()) for i in range(1, 5)]
    shapes = popular_shapes(pods)
    assert [(shape.cpu_milli, shape.mem_mib) for shape, _ in shapes] == [(1000, 0), (2000, 0)]
    assert [weight for _, weight in shapes] == [60 / 96, 36 / 96]


# --- the reference of the hot-path bench --------------------------------------------------------


def test_the_plain_scan_grants_what_the_ledger_grants_and_never_fits_worse() -> None:
    """Both are asked on the same state; the ledger's index may settle for a near tie."""
    workload = Workload(60)
    ledger, trusted = workload.ledger("auto")
    plain = PlainScan(workload)
    code = PlacementScorer(Strategy.BEST_FIT).code
    granted = 0
    for ask in workload.stream(1200, seed=5):
        expected = plain.find(ask)
        ready = ledger.prepare(workload.request(ask), (trusted,))
        lease = ledger.place(ready, code, now_ms=0)
        assert (lease >= 0) == (expected >= 0), ask
        if lease >= 0:
            node = ledger.fields(lease).node
            assert plain.key[node] >= plain.key[expected]
            plain.take(node, ask)
            granted += 1
    assert 0 < granted < 1200
    for node, row in zip(ledger.nodes(), plain.free, strict=True):
        told = node.free
        assert [told.cpu_milli, told.mem_bytes >> 20, told.block_bytes >> 30] == row[:3]
