"""``bailiwick demo``: a campus of labs in simulated time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

command = typer.Typer(add_completion=False)


@command.command()
def demo(
    *,
    days: Annotated[int, typer.Option("--days", min=1, max=365, help="Simulated days to run.")] = 3,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="The same seed tells the same story.")
    ] = 7,
    journal: Annotated[
        Path | None,
        typer.Option("--journal", dir_okay=False, help="Write the run's sealed records here."),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Only the final report, no progress.")
    ] = False,
) -> None:
    """A campus of labs shares a small fleet in simulated time; ends with a report.

    Example: bailiwick demo --days 3
    """
    from rich.console import Console

    from bailiwick.demo.campus import run_demo

    console = Console()
    raise typer.Exit(run_demo(days=days, seed=seed, console=console, quiet=quiet, journal=journal))
