"""``bailiwick run``: a command under a lease, followed to its end or on your own terminal."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.commands.plan import OWN_ARGUMENTS, new_job
from bailiwick.cli.shared.ask import Ask
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.options import JobOptions, ask_of
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.jobs import Job

command = typer.Typer(add_completion=False)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(JobOptions):
    """What a run can be told, beyond what a job can."""

    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="With -t: type into it.")
    ] = False
    tty: Annotated[bool, typer.Option("--tty", "-t", help="On your terminal; with -i.")] = False


@command.command(
    help="Run a command under a lease, wait for it and follow it to its end; with -it on your own "
    "terminal.\n\nbailiwick run -it --gpus 1 --image pytorch -- bash\n\nbailiwick run --mem 4GiB "
    "-- python check.py\n\nWith -it it ends with the command's own exit status, and the job ends "
    "when you leave: its terminal is yours. What is typed and printed is kept nowhere.",
    context_settings=OWN_ARGUMENTS,
)
@with_options(RunOptions)
def run(options: RunOptions) -> None:
    """Run a job and stay with it."""
    from bailiwick.cli.jobs.attached import terminal_here
    from bailiwick.wire.actions.jobs import JOB_SUBMIT

    if options.interactive is not options.tty:
        raise InvalidValue("-i", options.interactive, "both of -i and -t, or none")
    ask = ask_of(options)
    body = new_job(options, ask)
    if body.array is not None:
        raise InvalidValue("--array", body.array, "one job; bailiwick submit takes arrays")
    if options.tty:
        terminal_here()  # before anything is submitted
        body = body.model_copy(update={"interactive": True})
    job = ask.client.send(JOB_SUBMIT, body=body.model_copy(update={"wait": True}))
    raise typer.Exit(_on_terminal(ask, job) if options.tty else _followed(ask, job))


def _followed(ask: Ask, job: Job) -> int:
    from bailiwick.cli.shared.jobs import (
        exit_code_of,
        follow_job,
        has_begun,
        sentence_of,
        wait_until_running,
    )

    try:
        job = wait_until_running(ask, job, timeout_s=None)
        if has_begun(job.phase):
            job = follow_job(ask, job.job_id)
    except KeyboardInterrupt:
        typer.echo(f"\njob-{job.job_id} goes on without you; bailiwick logs -f", err=True)
        return int(ExitCode.PENDING)
    typer.echo(sentence_of(job), err=True)
    return int(exit_code_of(job.phase))


def _on_terminal(ask: Ask, job: Job) -> int:
    """Be attached to the job once it runs; one that is not is taken back."""
    from bailiwick.cli.jobs.attached import attach, terminal_here
    from bailiwick.cli.shared.jobs import exit_code_of, sentence_of, wait_until_running
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.execs import JOB_EXEC
    from bailiwick.wire.actions.jobs import JOB_CANCEL
    from bailiwick.wire.execs import NewExec

    path = {"job_id": job.job_id}
    try:
        job = wait_until_running(ask, job, timeout_s=None)
        if job.phase.is_over:
            typer.echo(sentence_of(job), err=True)
            return int(exit_code_of(job.phase))
        body = make_body(NewExec, attach=True, terminal=terminal_here().model_dump())
        opened = ask.client.send(JOB_EXEC, path=path, body=body)
    except BaseException:
        ask.client.send(JOB_CANCEL, path=path)
        raise
    return attach(ask, opened, has_input=True, is_terminal=True)
