"""How well a strategy packs a fleet: the allocation experiment of Weng et al. (ATC 2023).

Rules:

- Nodes are registered in an order shuffled by ``Random(seed + 7)``; pods arrive by
  :func:`~bailiwick.bench.openb.arrivals`; nothing ever leaves, and a pod is asked for once.
- The *allocation ratio* is allocated over all GPU milli, in percent: the mean over the arrivals at
  which the GPU milli that arrived round to ``arrived`` percent of the fleet's. If one large pod
  jumps over that percentage, the ratio just before it counts.
- *Fragmentation* is the percentage of the GPU milli idle at the end that a pod drawn from the
  popular shapes (the most frequent ones that make up 95 % of the list) could not use. It is
  recomputed here from the free state alone, so that no engine judges itself.
- Statistics are learned online, as in service: a strategy sees a pod when it arrives.
"""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from time import thread_time
from typing import TypeVar

from bailiwick import (
    CapacityLedger,
    Conflict,
    InvalidValue,
    NodeUsage,
    PlacementScorer,
    ScoreWeights,
    Strategy,
)
from bailiwick.bench.openb import MILLI, NodeRow, PodRow, arrivals, read_nodes, read_pods

ARRIVALS_PERCENT = 130
"""The published experiment lets this much of the fleet's GPU capacity arrive."""

POPULAR_PERCENT = 95
SEEDS_MAX = 10_000
SEED_DIGITS_MAX = 9

Popular = list[tuple[PodRow, float]]
Row = TypeVar("Row", NodeRow, PodRow)


@dataclass(frozen=True, slots=True)
class Lists:
    """A fleet and what arrives at it, with the names to show for them."""

    nodes: list[NodeRow]
    pods: list[PodRow]
    nodes_name: str = ""
    pods_name: str = ""
    popular: Popular = field(init=False)

    def __post_init__(self) -> None:
        if not self.gpu_milli:
            raise InvalidValue(self.nodes_name or "nodes", 0, "at least one GPU in the fleet")
        if not any(pod.demand for pod in self.pods):
            raise InvalidValue(self.pods_name or "pods", 0, "at least one pod with a GPU")
        object.__setattr__(self, "popular", popular_shapes(self.pods))

    @property
    def gpu_milli(self) -> int:
        """All GPU milli of the fleet."""
        return MILLI * sum(node.gpus for node in self.nodes)


@dataclass(frozen=True, slots=True)
class Trial:
    """One strategy, one seed."""

    strategy: Strategy
    seed: int
    allocation_ratio: float
    fragmentation: float
    decisions: int
    decisions_per_s: float
    engine: str


def load_lists(nodes_path: Path, pods_path: Path) -> Lists:
    """Both files, with every row checked; what is wrong is told as one ``InvalidValue``."""
    path = nodes_path
    try:
        nodes = read_nodes(nodes_path)
        path = pods_path
        pods = read_pods(pods_path)
    except OSError as error:
        raise InvalidValue(str(path), error.strerror, "a readable file") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidValue(str(path), str(error), "comma-separated text in UTF-8") from error
    ledger = CapacityLedger()
    _check_rows(nodes_path.name, nodes, make=lambda node: _register(ledger, node))
    _check_rows(pods_path.name, pods, make=cache(PodRow.request))
    return Lists(nodes, pods, nodes_path.name, pods_path.name)


def _check_rows(name: str, rows: Sequence[Row], *, make: Callable[[Row], object]) -> None:
    """Make every row into what it stands for, so that a bad one is named before anything runs."""
    for line, row in enumerate(rows, start=2):
        try:
            make(row)
        except InvalidValue as error:
            field_name = f"{name} line {line}: {error.field}"
            raise InvalidValue(field_name, error.value, error.expected) from error
        except Conflict as error:
            raise InvalidValue(f"{name} line {line}: sn", error.name, "each name once") from error


def _register(ledger: CapacityLedger, node: NodeRow) -> None:
    if node.model is None:  # the row ended before its last column
        raise InvalidValue("model", None, "a name, or nothing after the last comma")
    ledger.register_node(node.name, node.capacity())


def strategies_named(word: str) -> tuple[Strategy, ...]:
    """The strategy of that word; ``all`` for every one."""
    if word == "all":
        return tuple(Strategy)
    if word not in tuple(Strategy):
        raise InvalidValue("strategy", word, " or ".join((", ".join(Strategy), "all")))
    return (Strategy(word),)


def seeds_named(text: str) -> tuple[int, ...]:
    """Seeds from ``42-51``, ``42,43,50`` or both, each once.

    >>> seeds_named("42-44,50")
    (42, 43, 44, 50)
    """
    seeds: dict[int, None] = {}
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        ends = (first, last) if dash else (first, first)
        if not all(e.isascii() and e.isdigit() and len(e) <= SEED_DIGITS_MAX for e in ends):
            raise InvalidValue("seeds", text, "whole numbers like 42-51 or 42,43,50")
        low, high = int(ends[0]), int(ends[1])
        if low > high or len(seeds) + high - low >= SEEDS_MAX:
            raise InvalidValue("seeds", text, f"ranges that rise, {SEEDS_MAX} seeds at most")
        seeds.update(dict.fromkeys(range(low, high + 1)))
    return tuple(seeds)


def run_trials(
    lists: Lists,
    strategies: Sequence[Strategy],
    *,
    seeds: Sequence[int],
    arrived: int = 100,
    engine: str = "auto",
) -> Iterator[Trial]:
    """Every strategy with every seed, told one by one."""
    for strategy in strategies:
        for seed in seeds:
            yield run_trial(lists, strategy, seed=seed, arrived=arrived, engine=engine)


def run_trial(
    lists: Lists, strategy: Strategy, *, seed: int, arrived: int = 100, engine: str = "auto"
) -> Trial:
    """The experiment once."""
    capacity = lists.gpu_milli
    ledger = CapacityLedger(engine=engine)
    order = list(lists.nodes)
    random.Random(seed + 7).shuffle(order)
    for node in order:
        _register(ledger, node)
    weights = ScoreWeights() if strategy is Strategy.WEIGHTED else None
    scorer = PlacementScorer(strategy, weights=weights)
    ready = cache(lambda pod: scorer.ready(ledger, pod.request()))
    percent = max(ARRIVALS_PERCENT, arrived)
    asked = used = decisions = 0
    ratio = 0.0
    counted: list[float] = []
    sequence = arrivals(lists.pods, capacity=capacity, ratio_percent=percent, seed=seed)
    started = thread_time()
    for pod in sequence:
        asked += pod.demand
        reached = round(100 * asked / capacity)
        if reached > arrived:
            break
        if ledger.place(ready(pod), scorer.code, now_ms=0) >= 0:
            used += pod.demand
        decisions += 1
        ratio = 100 * used / capacity
        if reached == arrived:
            counted.append(ratio)
    spent_s = thread_time() - started
    free = free_state(lists, ledger)
    return Trial(
        strategy=strategy,
        seed=seed,
        allocation_ratio=sum(counted) / len(counted) if counted else ratio,
        fragmentation=fragmentation(free, lists.popular),
        decisions=decisions,
        decisions_per_s=decisions / spent_s if spent_s else 0.0,
        engine="pure" if type(ledger.engine).__name__ == "PureEngine" else "compiled",
    )


def free_state(lists: Lists, ledger: CapacityLedger) -> list[tuple[NodeRow, NodeUsage]]:
    """Every node of the list with what is left on it."""
    return [(node, ledger.node(node.name)) for node in lists.nodes]


def popular_shapes(pods: Sequence[PodRow]) -> Popular:
    """The most frequent shapes that make up 95 % of the list, with the weight of each.

    Memory does not tell shapes apart here, as in the published measure.
    """
    times = Counter(PodRow(p.cpu_milli, 0, p.num_gpu, p.gpu_milli, p.models) for p in pods)
    kept: list[tuple[PodRow, int]] = []
    total = 0
    for shape, count in sorted(times.items(), key=lambda pair: (-pair[1], _order(pair[0]))):
        if 100 * total >= POPULAR_PERCENT * len(pods):
            break
        kept.append((shape, count))
        total += count
    return [(shape, count / total) for shape, count in kept]


def _order(pod: PodRow) -> tuple[int, int, int, tuple[str, ...]]:
    return pod.cpu_milli, pod.num_gpu, pod.gpu_milli, pod.models


def fragmentation(free: Sequence[tuple[NodeRow, NodeUsage]], popular: Popular) -> float:
    """Percent of the idle GPU milli that a pod drawn from the popular shapes could not use."""
    idle = sum(sum(usage.device_free_milli) for _, usage in free)
    lost = sum(
        weight * unusable_milli(pod, node, usage=usage)
        for node, usage in free
        if any(usage.device_free_milli)
        for pod, weight in popular
    )
    return 100 * lost / idle if idle else 0.0


def unusable_milli(pod: PodRow, node: NodeRow, *, usage: NodeUsage) -> int:
    """Idle GPU milli of the node that this pod cannot use: all, unless it fits."""
    devices = usage.device_free_milli
    wide_enough = [milli for milli in devices if milli >= pod.gpu_milli]
    fits = (
        pod.num_gpu > 0
        and len(wide_enough) >= pod.num_gpu
        and usage.free.cpu_milli >= pod.cpu_milli
        and (not pod.models or node.model in pod.models)
    )
    return sum(devices) - (sum(wide_enough) if fits else 0)
