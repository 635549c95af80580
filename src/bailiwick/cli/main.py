"""The command ``bailiwick``: its top-level words, and how errors reach a person.

Rules:

- Starting costs under 300 ms: what a command needs is imported inside it.
- A mistake in what was typed or handed in is told in one line on stderr, with exit code 2.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bailiwick import BailiwickError, InvariantBroken
from bailiwick.cli import ExitCode
from bailiwick.cli.agent import app as agent_app
from bailiwick.cli.bench import app as bench_app
from bailiwick.cli.history import app as history_app
from bailiwick.cli.journal import app as journal_app
from bailiwick.cli.up import HELP as UP_HELP
from bailiwick.cli.up import up
from bailiwick.cli.whatif import HELP as WHATIF_HELP
from bailiwick.cli.whatif import whatif

app = typer.Typer(
    name="bailiwick",
    help="Many teams, one GPU fleet: who may use what, where it runs, and why not.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
app.add_typer(agent_app, name="agent")
app.add_typer(bench_app, name="bench")
app.add_typer(history_app, name="history")
app.add_typer(journal_app, name="journal")
app.command(help=UP_HELP)(up)
app.command(help=WHATIF_HELP)(whatif)


@app.command()
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
    """A campus of labs shares a small fleet in simulated time; ends with a report."""
    from rich.console import Console

    from bailiwick.demo.campus import run_demo

    console = Console()
    raise typer.Exit(run_demo(days=days, seed=seed, console=console, quiet=quiet, journal=journal))


@app.command()
def version() -> None:
    """Which Bailiwick this is, and which engine decides."""
    from importlib.metadata import version as version_of

    from bailiwick import CapacityLedger

    pure = type(CapacityLedger().engine).__name__ == "PureEngine"
    typer.echo(f"bailiwick {version_of('bailiwick')} ({'pure' if pure else 'compiled'} engine)")


def main() -> None:
    """Run the command line; what the library refuses becomes one line and an exit code."""
    try:
        app()
    except BailiwickError as error:
        fault = isinstance(error, InvariantBroken)
        typer.echo(f"bailiwick: {error}", err=True)
        sys.exit(ExitCode.FAULT if fault else ExitCode.USAGE)


if __name__ == "__main__":
    main()
