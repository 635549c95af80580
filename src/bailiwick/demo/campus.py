"""``bailiwick demo``: run the campus, show how it goes, print the report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from bailiwick.demo import phrases
from bailiwick.demo.books import Books
from bailiwick.demo.report import print_report
from bailiwick.demo.simulation import Simulation, Step
from bailiwick.journal import Verified

DAY_MS = 24 * 3_600_000


def run_demo(
    *,
    days: int = 3,
    seed: int = 7,
    console: Console,
    quiet: bool = False,
    journal: Path | None = None,
) -> int:
    """Simulate the campus and report; a broken promise of the library stops it with an error.

    Returns 0, or 3 if the journal of the run does not verify.
    """
    simulation = Simulation(days, seed)
    if quiet:
        books = simulation.run(lambda step: None)
    elif console.is_terminal:
        books = _run_live(simulation, console)
    else:
        books = simulation.run(_day_teller(console))
    if journal is not None:
        journal.write_bytes(b"".join(books.seal.lines))
    print_report(console, books, days=days, seed=seed)
    return 0 if isinstance(books.seal.verify(), Verified) else 3


def _run_live(simulation: Simulation, console: Console) -> Books:
    """A bar over simulated time, with what runs and what waits beside it."""
    columns = (
        TextColumn("{task.fields[when]}"),
        BarColumn(bar_width=None, complete_style="green", finished_style="green"),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("running {task.fields[running]:>4}"),
        TextColumn("waiting {task.fields[waiting]:>4}"),
        TextColumn("GPUs leased {task.fields[busy]:>4}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(
            "campus", total=simulation.end_ms, when="Mon 00:00", running=0, waiting=0, busy="0%"
        )
        return simulation.run(_bar_teller(progress, task))


def _bar_teller(progress: Progress, task: TaskID) -> Callable[[Step], None]:
    def tell(step: Step) -> None:
        progress.update(
            task,
            completed=step.now_ms,
            when=phrases.moment(step.now_ms),
            running=step.sample.running,
            waiting=step.sample.waiting,
            busy=phrases.percent(step.sample.busy),
        )

    return tell


def _day_teller(console: Console) -> Callable[[Step], None]:
    """One line at the end of each simulated day."""

    def tell(step: Step) -> None:
        if (step.now_ms + 1_800_000) % DAY_MS:
            return
        console.print(
            f"{phrases.moment(step.now_ms)[:3]}  {step.asked:>6,} asked {step.granted:>6,} granted"
            f" {step.sample.running:>4} running {step.sample.waiting:>4} waiting"
            f" {phrases.percent(step.sample.busy):>4} of GPUs leased",
            highlight=False,
        )

    return tell
