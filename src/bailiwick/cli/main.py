"""The command ``bailiwick``: its top-level words, and how errors reach a person.

Rules:

- Starting costs under 300 ms: a command is imported when it is called, and what it needs is
  imported inside it.
- A mistake in what was typed or handed in is told in one line on stderr, with exit code 2; what
  the server refuses has its own code (see ``bailiwick.cli.shared.failures``).
"""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Annotated, NoReturn

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.lazy import COMMANDS, LazyGroup, Word

_DAILY, _WORK = "Every day", "Work"
_FLEET, _PEOPLE, _SERVER = "Fleet", "People", "Server, journal and experiments"

COMMANDS.update(
    {
        "login": Word("Log in, with a code or through a provider.", _DAILY),
        "plan": Word("Place, victims and price, beforehand.", _DAILY),
        "submit": Word("Run a command under a lease.", _DAILY),
        "explain": Word("Why something waits or ended.", _DAILY),
        "watch": Word("What happens, as it happens.", _DAILY),
        "logs": Word("What a job printed; -f follows it.", _DAILY),
        "run": Word("A command, followed; -it: on your terminal.", _DAILY),
        "cp": Word("Files into and out of a running job.", _DAILY),
        "exec": Word("A program inside a running job.", _DAILY),
        "inbox": Word("What you were told.", _DAILY),
        "trace": Word("Everything about one request.", _DAILY),
        "job": Word("Commands that run under leases.", _WORK),
        "graph": Word("Tasks that stand after each other.", _WORK),
        "app": Word("Apps, and who may use them how.", _WORK),
        "shared": Word("Apps that several projects share.", _WORK),
        "artifact": Word("What apps are made of, and its trust.", _WORK),
        "events": Word("What happens to apps, as CloudEvents.", _WORK),
        "webhook": Word("Where events are sent.", _WORK),
        "lease": Word("Holds on resources.", _WORK),
        "queue": Word("Requests that wait.", _WORK),
        "decision": Word("What was decided, and why.", _WORK),
        "usage": Word("What was used, and its cost.", _WORK),
        "finding": Word("What does not agree.", _WORK),
        "rates": Word("What things cost.", _WORK),
        "budget": Word("What may be spent, and how it stands.", _WORK),
        "cost": Word("What work would cost, beforehand.", _WORK),
        "invoice": Word("What is owed, and why.", _WORK),
        "fleet": Word("What there is, by generation.", _FLEET),
        "node": Word("Machines and their modes.", _FLEET),
        "maintenance": Word("When machines are maintained.", _FLEET),
        "booking": Word("Nodes that are kept for a time.", _FLEET),
        "cell": Word("Planes under one admission.", _FLEET),
        "quota": Word("What a tenant or project may hold.", _FLEET),
        "share": Word("What tenants and projects weigh.", _FLEET),
        "isolation": Word("Who may not meet whom, and where.", _FLEET),
        "settings": Word("How the kernel decides.", _FLEET),
        "tenant": Word("Who pays.", _PEOPLE),
        "project": Word("Parts of a tenant.", _PEOPLE),
        "member": Word("Who has which role where.", _PEOPLE),
        "invitation": Word("Roles elsewhere that you were offered.", _PEOPLE),
        "role": Word("What each role may do; your own.", _PEOPLE),
        "account": Word("Programs as principals.", _PEOPLE),
        "token": Word("What lets somebody in.", _PEOPLE),
        "session": Word("Your own sessions, everywhere.", _PEOPLE),
        "notify": Word("By which ways you are told of what.", _PEOPLE),
        "whoami": Word("Who the server takes you for.", _PEOPLE),
        "context": Word("Your servers, tenants and projects.", _PEOPLE),
        "logout": Word("End the session.", _PEOPLE),
        "break-glass": Word("Take more rights, openly, for minutes.", _PEOPLE),
        "up": Word("Run a server.", _SERVER),
        "status": Word("How the server stands.", _SERVER),
        "agent": Word("This machine as a node.", _SERVER),
        "image": Word("The images that this machine's jobs run in.", _SERVER),
        "attest": Word("What nodes must prove, and evidence.", _SERVER),
        "journal": Word("The sealed record of every decision.", _SERVER),
        "meter": Word("GPU time from events, or a cluster's books.", _SERVER),
        "repair": Word("Set right what no server can.", _SERVER),
        "history": Word("The past, from a store.", _SERVER),
        "whatif": Word("The past under other rules.", _SERVER),
        "demo": Word("A campus in simulated time.", _SERVER),
        "bench": Word("Experiments that measure placement and growth.", _SERVER),
        "completion": Word("The script for your shell's TAB key.", _SERVER),
        "version": Word("Which Bailiwick this is.", _SERVER),
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
        from bailiwick.cli.commands.version import version

        version()
        raise typer.Exit


def _complete_contexts(incomplete: str) -> list[str]:
    from bailiwick.cli.shared.completions import complete_contexts

    return complete_contexts(incomplete)


@app.callback()
def bailiwick(
    *,
    context: Annotated[
        str | None,
        typer.Option(
            "--context",
            metavar="NAME",
            help="The login to use, for this command (see bailiwick context list).",
            autocompletion=_complete_contexts,
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_show_version, help="The same as version."
        ),
    ] = False,
) -> None:
    """Many teams, one GPU fleet: who may use what, where it runs, and why not."""
    from bailiwick.cli.shared.session import choose_context

    choose_context(context)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line; what went wrong becomes one line and an exit code.

    With ``-o json`` it becomes one document on stderr, mistakes in what was typed too.
    """
    is_json = wants_json(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app(arguments, standalone_mode=not is_json)
    except BrokenPipeError:
        # Whoever read our output has enough of it; nothing more is written, not even at the end.
        sys.stdout = None
        sys.exit(ExitCode.DONE)
    except Exception as error:
        from bailiwick.cli.shared.failures import tell

        told = tell(error)
        if told is None:
            raise
        line, code = told
        if is_json:
            from bailiwick.cli.shared.failures import spell_error

            typer.echo(spell_error(error, line, code=code), err=True)
            sys.exit(code)
        for each in line.splitlines():  # only a job file's mistakes are several
            typer.echo(f"bailiwick: {each}", err=True)
        sys.exit(code)
    # Only where the library does not end the process itself, it hands on the exit code.
    sys.exit(code if isinstance(code, int) else ExitCode.DONE)


def wants_json(arguments: list[str]) -> bool:
    """Whether what was typed asks for JSON; what follows ``--`` is another program's.

    >>> wants_json(["job", "list", "-o", "json"]), wants_json(["submit", "--", "x", "-ojson"])
    (True, False)
    """
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    in_two = any(a in ("-o", "--output") and b == "json" for a, b in pairwise(own))
    return in_two or "-ojson" in own or "--output=json" in own


if __name__ == "__main__":
    main()
