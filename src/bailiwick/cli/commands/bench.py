"""The commands ``bailiwick bench ...``: experiments on a machine of one's own.

Rules:

- The result goes to stdout, progress to stderr, and progress only to a terminal and only when the
  work takes over two seconds.
- Table and JSON tell the same runs. ``placement``: JSON has one object per strategy and seed, the
  table one row per strategy. ``growth``: one object per case, kind of line and size, one row per
  case and kind of line.
- A table is as wide in a pipe as every other (``cli/shared/screen.py``), and no cell is cut.
"""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.flags import Output, with_options
from bailiwick.cli.shared.progress import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiwick.bench.growth import Curve
    from bailiwick.bench.placement import Lists, Trial

app = typer.Typer(help="Experiments that measure placement and growth.", no_args_is_help=True)


class BenchEngine(StrEnum):
    """Which engine decides."""

    AUTO = "auto"
    COMPILED = "compiled"
    PURE = "pure"


@dataclasses.dataclass(frozen=True, slots=True)
class PlacementOptions:
    """What ``bench placement`` can be told."""

    nodes: Annotated[
        Path,
        typer.Option(
            "--nodes",
            metavar="FILE",
            help="Machines: a CSV with the columns sn, cpu_milli, memory_mib, gpu, model.",
        ),
    ]
    pods: Annotated[
        Path,
        typer.Option(
            "--pods",
            metavar="FILE",
            help="Requests: a CSV with the columns cpu_milli, memory_mib, num_gpu, gpu_milli "
            "(of each GPU) and optionally gpu_spec (models joined by '|', empty for any).",
        ),
    ]
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            metavar="WORD",
            help="round_robin, best_fit, weighted, fragmentation_aware, or all of them.",
        ),
    ] = "fragmentation_aware"
    seeds: Annotated[
        str,
        typer.Option(
            "--seeds", metavar="SEEDS", help="Orders of arrival to try: 42-51, or 42,43,50."
        ),
    ] = "42-51"
    arrived: Annotated[
        int,
        typer.Option(
            "--arrived",
            min=1,
            max=1000,
            help="Measure when so many percent of the fleet's GPU capacity have been asked for.",
        ),
    ] = 100
    output: Annotated[
        Output, typer.Option("--output", "-o", help="A table for people, or JSON.")
    ] = Output.TABLE
    engine: Annotated[
        BenchEngine,
        typer.Option("--engine", help="Both engines decide alike; auto is the compiled if built."),
    ] = BenchEngine.AUTO


@app.command(
    help="How much of a fleet's GPU capacity each strategy can allocate.\n\n"
    "Example: bailiwick bench placement --nodes nodes.csv --pods pods.csv\n\n"
    "Pods arrive in a random order until more is asked for than the fleet has, and none leaves "
    "(the experiment of Weng et al., Beware of Fragmentation, ATC 2023). Told per seed: the "
    "allocation ratio, in percent of all GPU capacity; fragmentation, the percent of what is "
    "still idle that a typical pod could not use; and decisions per CPU second."
)
@with_options(PlacementOptions)
def placement(options: PlacementOptions) -> None:
    """Run the allocation experiment on two lists and print what came of it."""
    from bailiwick.bench.placement import load_lists, run_trials, seeds_named, strategies_named

    strategies, seeds = strategies_named(options.strategy), seeds_named(options.seeds)
    lists = load_lists(options.nodes, options.pods)
    runs = run_trials(
        lists, strategies, seeds=seeds, arrived=options.arrived, engine=options.engine.value
    )
    trials = []
    with progress(len(strategies) * len(seeds)) as step:
        for trial in runs:
            trials.append(trial)
            step(f"{trial.strategy}, seed {trial.seed}: {trial.allocation_ratio:.2f} %")
    if options.output is Output.JSON:
        import json

        typer.echo(json.dumps([_told(trial, lists, options) for trial in trials], indent=2))
    else:
        _print_trials(trials, lists, options)


def _told(trial: Trial, lists: Lists, options: PlacementOptions) -> dict[str, object]:
    return {
        "strategy": trial.strategy.value,
        "seed": trial.seed,
        "allocation_ratio": round(trial.allocation_ratio, 4),
        "fragmentation": round(trial.fragmentation, 4),
        "decisions": trial.decisions,
        "decisions_per_s": round(trial.decisions_per_s),
        "arrived": options.arrived,
        "engine": trial.engine,
        "lists": {"nodes": lists.nodes_name, "pods": lists.pods_name},
    }


def _print_trials(trials: list[Trial], lists: Lists, options: PlacementOptions) -> None:
    from statistics import mean, stdev

    from bailiwick.cli.shared.screen import make_console, print_rows

    rows = []
    for strategy in dict.fromkeys(trial.strategy for trial in trials):
        own = [trial for trial in trials if trial.strategy is strategy]
        ratios = [trial.allocation_ratio for trial in own]
        rows.append(
            (
                strategy.value,
                str(len(own)),
                f"{mean(ratios):.2f}",
                f"{min(ratios):.2f}",
                f"{max(ratios):.2f}",
                f"{stdev(ratios) if len(ratios) > 1 else 0:.2f}",
                f"{mean(trial.fragmentation for trial in own):.1f}",
                f"{mean(trial.decisions_per_s for trial in own):,.0f}",
            )
        )
    console, numbers = make_console(), ("seeds", "mean", "min", "max", "sd", "frag.", "dec./s")
    title = (
        f"{lists.pods_name} on {lists.nodes_name} ({len(lists.nodes)} nodes, "
        f"{lists.gpu_milli // 1000} GPUs), {options.arrived} % arrived, {trials[0].engine} engine"
    )
    print_rows(console, ["strategy", *numbers], rows=rows, title=title, numbers=numbers)
    console.print(
        "mean to sd: allocated GPU capacity in percent; frag.: percent of the idle GPU capacity "
        "that a typical pod cannot use; dec./s: decisions per CPU second",
        style="dim",
    )


@dataclasses.dataclass(frozen=True, slots=True)
class GrowthOptions:
    """What ``bench growth`` can be told."""

    leases: Annotated[
        str,
        typer.Option("--leases", metavar="N,N,...", help="How many leases are held, rising."),
    ] = "1000,10000,100000"
    waiting: Annotated[
        str,
        typer.Option(
            "--waiting",
            metavar="N,N,...",
            help="How many requests wait, rising: the first beside every number of leases, the "
            "others beside the largest.",
        ),
    ] = "100,1000,10000"
    calls: Annotated[
        int, typer.Option("--calls", min=1, max=100_000, help="Calls of each case, at most.")
    ] = 300
    output: Annotated[
        Output, typer.Option("--output", "-o", help="A table for people, or JSON.")
    ] = Output.TABLE
    engine: Annotated[
        BenchEngine,
        typer.Option("--engine", help="Both engines decide alike; auto is the compiled if built."),
    ] = BenchEngine.AUTO


@app.command(
    help="What one decision costs, the more leases there are and the more requests wait.\n\n"
    "Example: bailiwick bench growth --leases 1000,10000 --waiting 100,1000\n\n"
    "Told per case and size: the CPU time of one call, the median. From the fewest leases to the "
    "most, and from a line to one ten times as long, it should at most double; with the most of "
    "both it should stay below a millisecond. Each case is told twice: with a line of many tenants "
    "and with one of a few. The full sizes take some minutes."
)
@with_options(GrowthOptions)
def growth(options: GrowthOptions) -> None:
    """Measure every case at every size and print the curves."""
    from bailiwick.bench.grown_fleet import LEASES_PER_NODE, WaitingTenants
    from bailiwick.bench.growth import measure, numbers_named

    leases = numbers_named("leases", options.leases, low=LEASES_PER_NODE)
    waiting = numbers_named("waiting", options.waiting)
    with progress(len(WaitingTenants) * (len(leases) + len(waiting) - 1)) as step:
        curves = measure(
            leases, waiting, engine=options.engine.value, calls_max=options.calls, tell=step
        )
    if options.output is Output.JSON:
        import json

        from bailiwick.bench.growth import as_objects

        typer.echo(json.dumps(as_objects(curves), indent=2))
    else:
        _print_curves(curves)


def _print_curves(curves: Sequence[Curve]) -> None:
    from bailiwick.bench.grown_fleet import FEW_TENANTS
    from bailiwick.bench.growth import RATIO_MAX, US_MAX, headings, row
    from bailiwick.cli.shared.screen import make_console, print_rows

    console, names = make_console(), headings(curves)
    print_rows(
        console,
        names,
        rows=[row(curve) for curve in curves],
        title="CPU time of one call, by leases held/requests waiting",
        numbers=names[2:],
    )
    console.print(
        f"tenants: whose requests wait, many tenants' or those of {FEW_TENANTS}; curve: a step for "
        "each doubling; leases: the most against the fewest; waiting: the longest line against the "
        f"next; bars: both at most {RATIO_MAX:.0f}x, and at most {US_MAX / 1000:.0f} ms with the "
        "most of both",
        style="dim",
    )
