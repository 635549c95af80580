"""The command ``bailiwick``: its top-level words, and how errors reach a person.

Rules:

- Starting costs under 300 ms: a command is imported when it is called, and what it needs is
  imported inside it.
- A mistake in what was typed or handed in is told in one line on stderr, with exit code 2; what
  the server refuses has its own code (see ``bailiwick.cli.failing``).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.lazy import COMMANDS, Later, LazyGroup

_DAILY, _WORK = "Every day", "Work"
_FLEET, _PEOPLE, _SERVER = "Fleet", "People", "Server, journal and experiments"
_CLI = "bailiwick.cli."

COMMANDS.update(
    {
        "login": Later(_CLI + "login:login_app", "Become somebody, with a one-time code.", _DAILY),
        "plan": Later(_CLI + "submit:plan_app", "Place, victims and price, beforehand.", _DAILY),
        "submit": Later(_CLI + "submit:submit_app", "Run a command under a lease.", _DAILY),
        "explain": Later(_CLI + "explain:explain_app", "Why something waits or ended.", _DAILY),
        "watch": Later(_CLI + "watching:watch_app", "What happens, as it happens.", _DAILY),
        "logs": Later(_CLI + "jobs:logs_app", "What a job printed; -f follows it.", _DAILY),
        "trace": Later(_CLI + "tracing:trace_app", "Everything about one request.", _DAILY),
        "job": Later(_CLI + "jobs:jobs", "Commands that run under leases.", _WORK),
        "lease": Later(_CLI + "leases:leases", "Holds on resources.", _WORK),
        "queue": Later(_CLI + "leases:queue", "Requests that wait.", _WORK),
        "decision": Later(_CLI + "decisions:decisions", "What was decided, and why.", _WORK),
        "usage": Later(_CLI + "money:usage", "What was used, and its cost.", _WORK),
        "finding": Later(_CLI + "findings:findings", "What does not agree.", _WORK),
        "rates": Later(_CLI + "money:rates", "What things cost.", _WORK),
        "budget": Later(_CLI + "budgets:budgets", "What may be spent, and how it stands.", _WORK),
        "cost": Later(_CLI + "cost:app", "What work would cost, beforehand.", _WORK),
        "invoice": Later(_CLI + "invoices:app", "What is owed, and why.", _WORK),
        "fleet": Later(_CLI + "fleet:fleet_app", "What there is, by generation.", _FLEET),
        "node": Later(_CLI + "nodes:nodes", "Machines and their modes.", _FLEET),
        "quota": Later(_CLI + "fleet:quotas", "What a tenant or project may hold.", _FLEET),
        "settings": Later(_CLI + "settings:settings", "How the kernel decides.", _FLEET),
        "tenant": Later(_CLI + "people:tenants", "Who pays.", _PEOPLE),
        "project": Later(_CLI + "people:projects", "Parts of a tenant.", _PEOPLE),
        "member": Later(_CLI + "people:members", "Who has which role where.", _PEOPLE),
        "account": Later(_CLI + "credentials:accounts", "Programs as principals.", _PEOPLE),
        "token": Later(_CLI + "credentials:tokens", "What lets somebody in.", _PEOPLE),
        "whoami": Later(_CLI + "standing:whoami_app", "Who the server takes you for.", _PEOPLE),
        "context": Later(_CLI + "login:context_app", "Your server, tenant and project.", _PEOPLE),
        "logout": Later(_CLI + "login:logout_app", "End the session.", _PEOPLE),
        "break-glass": Later(
            _CLI + "standing:break_glass_app", "Take more rights, openly, for minutes.", _PEOPLE
        ),
        "up": Later(_CLI + "up:up", "Run a server.", _SERVER),
        "status": Later(_CLI + "standing:status_app", "How the server stands.", _SERVER),
        "agent": Later(_CLI + "agent:app", "This machine as a node.", _SERVER),
        "attest": Later(_CLI + "attest:app", "What nodes must prove, and evidence.", _SERVER),
        "journal": Later(
            _CLI + "journal_server:app", "The sealed record of every decision.", _SERVER
        ),
        "meter": Later(_CLI + "meter:app", "GPU time from events, or a cluster's books.", _SERVER),
        "history": Later(_CLI + "history:app", "The past, from a store.", _SERVER),
        "whatif": Later(_CLI + "whatif:whatif", "The past under other rules.", _SERVER),
        "demo": Later(_CLI + "main:demo", "A campus in simulated time.", _SERVER),
        "bench": Later(_CLI + "bench:app", "Experiments that measure placement.", _SERVER),
        "completion": Later(
            _CLI + "completion:completion_app", "The script for your shell's TAB key.", _SERVER
        ),
        "version": Later(_CLI + "main:version", "Which Bailiwick this is.", _SERVER),
    }
)

app = typer.Typer(
    name="bailiwick",
    help="Many teams, one GPU fleet: who may use what, where it runs, and why not.",
    cls=LazyGroup,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        version()
        raise typer.Exit


@app.callback()
def bailiwick(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_show_version, help="The same as version."
        ),
    ] = False,
) -> None:
    """Many teams, one GPU fleet: who may use what, where it runs, and why not."""


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


def version() -> None:
    """Which Bailiwick this is, and which engine decides."""
    from importlib.metadata import version as version_of

    from bailiwick import CapacityLedger

    pure = type(CapacityLedger().engine).__name__ == "PureEngine"
    typer.echo(f"bailiwick {version_of('bailiwick')} ({'pure' if pure else 'compiled'} engine)")


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line; what went wrong becomes one line and an exit code."""
    try:
        app(arguments)
    except BrokenPipeError:
        # Whoever read our output has enough of it; nothing more is written, not even at the end.
        sys.stdout = None
        sys.exit(ExitCode.DONE)
    except Exception as error:
        from bailiwick.cli.failing import tell

        told = tell(error)
        if told is None:
            raise
        line, code = told
        for each in line.splitlines():  # only a job file's mistakes are several
            typer.echo(f"bailiwick: {each}", err=True)
        sys.exit(code)
    sys.exit(ExitCode.DONE)


if __name__ == "__main__":
    main()
