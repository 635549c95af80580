"""``bailiwick plan``: what would happen to a job, before anything does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.shared.ask import Ask
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.options import JobOptions, ask_of, wish_of
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.answers import Plan
    from bailiwick.wire.jobs import NewJob

command = typer.Typer(add_completion=False)

# What follows the command's first word is the command's own, options too.
OWN_ARGUMENTS = {"allow_interspersed_args": False}


@command.command(
    help="What would happen to a job, before anything does: where it would run, who would have to "
    "go, what it costs.\n\nEnds with 0 if it would run, 4 if it would wait, 3 if it would be "
    "refused.\n\nbailiwick plan --gpus 2 --mem 64GiB -- python train.py",
    context_settings=OWN_ARGUMENTS,
)
@with_options(JobOptions)
def plan(options: JobOptions) -> None:
    """Tell what would happen."""
    run_plan(ask_of(options, dry_run=True), options)


def run_plan(ask: Ask, options: JobOptions) -> None:
    """Ask what would happen, tell it, and end as it would."""
    from bailiwick.wire.answers import Plan

    body = new_job(options, ask, needs_command=False)
    found: Plan = ask.client.call(
        "POST", "/v1/jobs", kind=Plan, body=body, query={"dry_run": "true"}
    )
    tell_plan(ask, found)


def tell_plan(ask: Ask, found: Plan) -> None:
    """Print a plan and end as it would."""
    from bailiwick.cli.shared.plan_screen import draw_plan

    ask.printer.thing(found, name=found.plan, draw=lambda: draw_plan(found))
    codes = {"queue": ExitCode.PENDING, "refuse": ExitCode.DENIED}
    raise typer.Exit(codes.get(found.plan, ExitCode.DONE))


def new_job(options: JobOptions, ask: Ask, *, needs_command: bool = True) -> NewJob:
    """The job that was meant."""
    from bailiwick.cli.shared.wishes import body_of
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.jobs import NewJob

    wish = wish_of(options, ask)
    if "command" not in wish:
        if needs_command:
            raise InvalidValue("CMD", None, "what to run: bailiwick submit -- python train.py")
        wish["command"] = ["true"]
    return make_body(NewJob, **body_of(wish))
