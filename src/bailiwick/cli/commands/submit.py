"""``bailiwick submit``: run a command under a lease."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.commands.plan import OWN_ARGUMENTS, new_job, phrase_limit, run_plan
from bailiwick.cli.shared.ask import Ask
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.options import SubmitOptions, ask_of
from bailiwick.cli.shared.output import emit
from bailiwick.phrases.amounts import plural
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.job_arrays import parse_array
from bailiwick.vocab.jobs import JobPhase
from bailiwick.vocab.units import parse_span

if TYPE_CHECKING:
    from bailiwick.wire.jobs import Job

command = typer.Typer(add_completion=False)


@command.command(
    help="Run a command under a lease.\n\nbailiwick submit --gpus 2 --generation nvidia_hopper "
    "--mem 64GiB --ttl 2h --tag exp-7 -- python train.py\n\nbailiwick submit --array 0-99%10 "
    "--after job-3:ok --retries 3 -- python part.py\n\nEnds with 0 once it is taken (with "
    "--wait: runs; with --follow: has succeeded), 3 if it is refused, 4 if --timeout is over.",
    context_settings=OWN_ARGUMENTS,
)
@with_options(SubmitOptions)
def submit(options: SubmitOptions) -> None:
    """Submit a job."""
    from bailiwick.wire.actions.jobs import JOB_SUBMIT

    ask = ask_of(options, dry_run=options.dry_run)
    timeout_s = None if options.timeout is None else parse_span("--timeout", options.timeout) / 1000
    if options.dry_run:
        run_plan(ask, options)
    body = new_job(options, ask)
    if body.array is not None and options.follow:
        raise InvalidValue("--follow", body.array, "one job, not an array; logs -f follows a task")
    job = ask.client.send(JOB_SUBMIT, body=body)
    asked_as = ask.client.correlation_id
    if not options.follow and not options.wait:
        _tell(ask, job, asked_as)
        return
    try:
        _stay(ask, job, asked_as, options=options, timeout_s=timeout_s)
    except KeyboardInterrupt:
        typer.echo(f"\njob-{job.job_id} goes on without you; bailiwick logs -f", err=True)
        raise typer.Exit(ExitCode.PENDING) from None


def _stay(
    ask: Ask, job: Job, asked_as: str, *, options: SubmitOptions, timeout_s: float | None
) -> None:
    """Wait for the job, with or without its output, and end as it does."""
    from bailiwick.cli.shared.jobs import (
        exit_code_of,
        follow_job,
        has_begun,
        sentence_of,
        wait_until_running,
    )

    job = wait_until_running(ask, job, timeout_s=timeout_s)
    runs = has_begun(job.phase)
    if runs and options.follow:
        job = follow_job(ask, job.job_id)
        typer.echo(sentence_of(job), err=True)
        raise typer.Exit(exit_code_of(job.phase))
    _tell(ask, job, asked_as)
    if not runs:
        raise typer.Exit(ExitCode.PENDING)
    if job.phase.is_over:
        raise typer.Exit(exit_code_of(job.phase))


def _tell(ask: Ask, job: Job, asked_as: str) -> None:
    ask.printer.thing(job, name=f"job-{job.job_id}", draw=lambda: _draw(job, asked_as))


def _draw_array(job: Job) -> None:
    spec, name = parse_array(job.array or ""), f"job-{job.job_id}"
    most = "" if spec.limit is None else f", {spec.limit} at once"
    emit(f"{name} is an array of {plural(len(spec.indices), 'task')}{most}")
    if job.request is not None:
        typer.echo(f"  time limit of each: {phrase_limit(job.request.ttl_ms)}", err=True)
    for words in (f"job show {name}", f"logs -f {name}[{spec.indices[0]}]", f"job cancel {name}"):
        typer.echo(f"  bailiwick {words}", err=True)


def _draw(job: Job, asked_as: str) -> None:
    from bailiwick.cli.shared.jobs import sentence_of

    name = f"job-{job.job_id}"
    if job.array is not None:
        _draw_array(job)
        return
    where = ""
    if job.node is not None and job.lease_id is not None:
        where = f" on {job.node} (lease-{job.lease_id})"
    elif job.entry_id is not None:
        where = f" in the queue (entry-{job.entry_id})"
    emit(f"{sentence_of(job)}{where}")
    if job.request is not None and not job.phase.is_over:
        typer.echo(f"  time limit: {phrase_limit(job.request.ttl_ms)}", err=True)
    first = "explain" if job.phase is JobPhase.WAITING else "logs -f"
    others = [word for word in ("explain", "logs -f", "job cancel") if word != first]
    for word in (first, *others):
        typer.echo(f"  bailiwick {word} {name}", err=True)
    typer.echo(f"  bailiwick trace {asked_as}", err=True)
