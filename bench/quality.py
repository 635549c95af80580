"""How well every strategy packs: the allocation experiment over 10 seeds, beside published FGD.

The lists are the public openb traces where the shared folder is (``BAILIWICK_SHARED``, or
``../shared`` beside the repository), else the repository's own small lists, for which nothing is
published and no bar is judged. The section says which it used. Lists run in two processes; one
trial's speed is not judged here, so they may disturb each other.
"""

from __future__ import annotations

import csv
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

from bailiwick import Strategy
from bailiwick.bench.placement import Trial, load_lists, run_trials
from bench import lists as own_lists
from bench.measure import say
from bench.report import Bar, Section, Table

SEEDS = range(42, 52)
QUICK_SEEDS = range(42, 44)
DEFAULT = Strategy.FRAGMENTATION_AWARE
MEAN_GAIN, WORST_LOSS = 0.8, 0.1
BOUND_LIST, BOUND, BOUND_DISTANCE = "default", 96.9, 1.2
"""The offline bound of that list, from a linear program solved in the performance lab."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where lists come from: one fleet, several pod lists by name."""

    words: str
    nodes: Path
    pods: dict[str, Path]
    published: dict[str, float]


def shared_folder() -> Path:
    """The folder of shared traces, whether or not it is there."""
    named = os.environ.get("BAILIWICK_SHARED")
    return Path(named) if named else Path(__file__).resolve().parents[2] / "shared"


def find_source() -> Source:
    """The public traces, or our own lists."""
    folder = shared_folder() / "traces" / "openb"
    nodes = folder / "openb_node_list_gpu_node.csv"
    prefix = "openb_pod_list_"
    pods = {path.stem.removeprefix(prefix): path for path in sorted(folder.glob(f"{prefix}*.csv"))}
    if nodes.is_file() and pods:
        words = f"the public openb traces ({len(pods)} lists)"
        return Source(words, nodes, pods, published_fgd(folder / "paper_expected.csv"))
    pods = {mix: own_lists.FOLDER / f"pods_{mix}.csv" for mix in own_lists.MIXES}
    words = "the repository's own small lists (the public traces are not here)"
    return Source(words, own_lists.FOLDER / "nodes.csv", pods, {})


def published_fgd(path: Path) -> dict[str, float]:
    """The published allocation ratio of FGD at 100 % arrived, mean over its seeds, per list."""
    if not path.is_file():
        return {}
    ratios: dict[str, list[float]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["policy"] == "FGD":
                ratios.setdefault(row["list"], []).append(float(row["alloc_100"]))
    return {name: mean(values) for name, values in ratios.items()}


def _run_list(nodes: Path, pods: Path, seeds: range) -> list[Trial]:
    return list(run_trials(load_lists(nodes, pods), tuple(Strategy), seeds=seeds))


def run(*, quick: bool = False) -> Section:
    """The whole section."""
    source = find_source()
    seeds = QUICK_SEEDS if quick else SEEDS
    section = Section("quality", f"Placement quality: {source.words}, {len(seeds)} seeds")
    found: dict[str, list[Trial]] = {}
    with ProcessPoolExecutor(max_workers=2) as pool:
        waiting = {
            name: pool.submit(_run_list, source.nodes, path, seeds)
            for name, path in source.pods.items()
        }
        for at, (name, future) in enumerate(waiting.items(), 1):
            found[name] = future.result()
            say(f"quality: {name} ({at} of {len(waiting)} lists)")
    published = source.published if source.published.keys() & found.keys() else {}
    section.tables.append(_allocation(found, published))
    section.tables.append(_speed(found))
    section.data = _data(found, source)
    section.notes.append(f"Lists used: {source.words}.")
    if published:
        _judge(section, found, published)
    else:
        section.notes.append("Nothing is published for these lists, so no bar is judged.")
    return section


def _mean_of(trials: list[Trial], strategy: Strategy) -> float:
    return mean(t.allocation_ratio for t in trials if t.strategy is strategy)


def _allocation(found: dict[str, list[Trial]], published: dict[str, float]) -> Table:
    columns = ["list", *(s.value for s in Strategy), "sd of default"]
    if published:
        columns += ["published FGD", "default - FGD"]
    table = Table("Allocated GPU capacity at 100 % arrived, percent, mean over seeds", columns)
    for name, trials in found.items():
        own = [t.allocation_ratio for t in trials if t.strategy is DEFAULT]
        cells = [f"{_mean_of(trials, s):.2f}" for s in Strategy]
        cells.append(f"{stdev(own):.2f}")
        if published:
            theirs = published.get(name)
            cells.append("-" if theirs is None else f"{theirs:.2f}")
            cells.append("-" if theirs is None else f"{_mean_of(trials, DEFAULT) - theirs:+.2f}")
        table.rows.append([name, *cells])
    means = [mean(_mean_of(trials, s) for trials in found.values()) for s in Strategy]
    last = ["mean of lists", *(f"{m:.2f}" for m in means), ""]
    if published:
        theirs = mean(published[name] for name in found if name in published)
        gain = mean(_mean_of(found[n], DEFAULT) - published[n] for n in found if n in published)
        last += [f"{theirs:.2f}", f"{gain:+.2f}"]
    table.rows.append(last)
    return table


def _speed(found: dict[str, list[Trial]]) -> Table:
    table = Table(
        "The same runs: fragmentation at the end (percent), decisions per CPU second",
        ["strategy", "fragmentation", "decisions/s"],
    )
    for strategy in Strategy:
        own = [t for trials in found.values() for t in trials if t.strategy is strategy]
        frag = mean(t.fragmentation for t in own)
        speed = mean(t.decisions_per_s for t in own)
        table.rows.append([strategy.value, f"{frag:.1f}", f"{speed:,.0f}"])
    return table


def _judge(section: Section, found: dict[str, list[Trial]], published: dict[str, float]) -> None:
    gains = {n: _mean_of(found[n], DEFAULT) - published[n] for n in found if n in published}
    gain, worst = mean(gains.values()), min(gains, key=lambda name: gains[name])
    section.bars += [
        Bar(
            "default strategy against published FGD, mean of the lists",
            f">= +{MEAN_GAIN} points",
            f"{gain:+.2f}",
            gain >= MEAN_GAIN,
        ),
        Bar(
            f"the same, worst list ({worst})",
            f">= -{WORST_LOSS} points",
            f"{gains[worst]:+.2f}",
            gains[worst] >= -WORST_LOSS,
        ),
    ]
    if BOUND_LIST in found:
        distance = BOUND - _mean_of(found[BOUND_LIST], DEFAULT)
        section.bars.append(
            Bar(
                f"distance to the offline bound ({BOUND}), list {BOUND_LIST}",
                f"<= {BOUND_DISTANCE} points",
                f"{distance:.2f}",
                distance <= BOUND_DISTANCE,
            )
        )


def _data(found: dict[str, list[Trial]], source: Source) -> dict[str, object]:
    return {
        "lists": source.words,
        "published_fgd": source.published,
        "trials": [
            {
                "list": name,
                "strategy": t.strategy.value,
                "seed": t.seed,
                "allocation_ratio": round(t.allocation_ratio, 4),
                "fragmentation": round(t.fragmentation, 4),
                "decisions_per_s": round(t.decisions_per_s),
                "engine": t.engine,
            }
            for name, trials in found.items()
            for t in trials
        ],
    }
