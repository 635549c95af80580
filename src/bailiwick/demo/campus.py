"""``bailiwick demo``: run the campus, show how it goes, print the report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from bailiwick.demo import phrases
from bailiwick.demo.books import CampusBooks
from bailiwick.demo.closing import close_books
from bailiwick.demo.driver import Driver, RunStep
from bailiwick.demo.report import print_report
from bailiwick.demo.story import Story

DAY_MS = 24 * 3_600_000


def simulate(
    days: int, seed: int, *, watcher: Callable[[RunStep], None], engine: str = "auto"
) -> CampusBooks:
    """The campus over some days, its bills and the audit of its journal."""
    driver = Driver(days, seed, engine=engine)
    Story(driver, days).plan()
    driver.run(watcher)
    close_books(driver.kernel, driver.books, end_ms=driver.end_ms)
    return driver.books


def run_demo(
    *,
    days: int = 3,
    seed: int = 7,
    console: Console,
    quiet: bool = False,
    journal: Path | None = None,
) -> int:
    """Simulate the campus and report; a broken promise of the kernel stops it with an error.

    Returns 0, or 3 if the audit of the run's journal found something wrong.
    """
    if quiet:
        books = simulate(days, seed, watcher=lambda step: None)
    elif console.is_terminal:
        books = _run_live(console, days=days, seed=seed)
    else:
        books = simulate(days, seed, watcher=_day_teller(console))
    if journal is not None:
        journal.write_bytes(b"".join(books.lines))
    print_report(console, books, days=days, seed=seed)
    return 0 if books.audit is not None and books.audit.is_clean else 3


def _run_live(console: Console, *, days: int, seed: int) -> CampusBooks:
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
            "campus", total=days * DAY_MS, when="Mon 00:00", running=0, waiting=0, busy="0%"
        )
        return simulate(days, seed, watcher=_bar_teller(progress, task))


def _bar_teller(progress: Progress, task: TaskID) -> Callable[[RunStep], None]:
    def tell(step: RunStep) -> None:
        progress.update(
            task,
            completed=step.now_ms,
            when=phrases.moment(step.now_ms),
            running=step.sample.running,
            waiting=step.sample.waiting,
            busy=phrases.percent(step.sample.busy),
        )

    return tell


def _day_teller(console: Console) -> Callable[[RunStep], None]:
    """One line at the end of each simulated day."""

    def tell(step: RunStep) -> None:
        if (step.now_ms + 1_800_000) % DAY_MS:
            return
        console.print(
            f"{phrases.moment(step.now_ms)[:3]}  {step.asked:>6,} asked {step.granted:>6,} granted"
            f" {step.sample.running:>4} running {step.sample.waiting:>4} waiting"
            f" {phrases.percent(step.sample.busy):>4} of GPUs leased",
            highlight=False,
        )

    return tell
