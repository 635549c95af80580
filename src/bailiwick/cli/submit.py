"""``bailiwick plan`` and ``bailiwick submit``: see what would happen, then have it happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.asking import Ask
from bailiwick.cli.bench import with_options
from bailiwick.cli.options import JobOptions, RequestOptions, SubmitOptions, ask_of, wish_of
from bailiwick.cli.output import Format, emit
from bailiwick.cli.units import parse_span
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.jobs import JobPhase

if TYPE_CHECKING:
    from bailiwick.wire.answers import Plan
    from bailiwick.wire.jobs import Job, NewJob

plan_app = typer.Typer(add_completion=False)
submit_app = typer.Typer(add_completion=False)

# What follows the command's first word is the command's own, options too.
_SETTINGS = {"allow_interspersed_args": False}


@plan_app.command(
    help="What would happen to a job, before anything does: where it would run, who would have to "
    "go, what it costs.\n\nEnds with 0 if it would run, 4 if it would wait, 3 if it would be "
    "refused.\n\nbailiwick plan --gpus 2 --mem 64GiB -- python train.py",
    context_settings=_SETTINGS,
)
@with_options(JobOptions)
def plan(options: JobOptions) -> None:
    """Tell what would happen."""
    _plan(ask_of(options, dry_run=True), options)


def _plan(ask: Ask, options: JobOptions) -> None:
    from bailiwick.wire.answers import Plan

    body = new_job(options, ask, needs_command=False)
    found: Plan = ask.client.call(
        "POST", "/v1/jobs", kind=Plan, body=body, query={"dry_run": "true"}
    )
    tell_plan(ask, found)


def tell_plan(ask: Ask, found: Plan) -> None:
    """Print a plan and end as it would."""
    from bailiwick.cli.plans import draw_plan

    ask.printer.thing(found, name=found.plan, draw=lambda: draw_plan(found))
    codes = {"queue": ExitCode.PENDING, "refuse": ExitCode.DENIED}
    raise typer.Exit(codes.get(found.plan, ExitCode.DONE))


def new_job(options: JobOptions, ask: Ask, *, needs_command: bool = True) -> NewJob:
    """The job that was meant."""
    from bailiwick.cli.wishes import body_of
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.jobs import NewJob

    wish = wish_of(options, ask)
    if "command" not in wish:
        if needs_command:
            raise InvalidValue("CMD", None, "what to run: bailiwick submit -- python train.py")
        wish["command"] = ["true"]
    return make_body(NewJob, **body_of(wish))


@submit_app.command(
    help="Run a command under a lease.\n\nbailiwick submit --gpus 2 --generation nvidia_hopper "
    "--mem 64GiB --ttl 2h --tag exp-7 -- python train.py\n\nEnds with 0 once it is taken (with "
    "--wait: runs; with --follow: has succeeded), 3 if it is refused, 4 if --timeout is over.",
    context_settings=_SETTINGS,
)
@with_options(SubmitOptions)
def submit(options: SubmitOptions) -> None:
    """Submit a job."""
    from bailiwick.wire.jobs import Job

    ask = ask_of(options, dry_run=options.dry_run)
    timeout_s = None if options.timeout is None else parse_span("--timeout", options.timeout) / 1000
    if options.dry_run:
        _plan(ask, options)
    body = new_job(options, ask)
    job: Job = ask.client.call("POST", "/v1/jobs", kind=Job, body=body)
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
    from bailiwick.cli.following import exit_code_of, follow_job, has_begun, wait_until_running
    from bailiwick.cli.jobs import sentence_of

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


def _draw(job: Job, asked_as: str) -> None:
    from bailiwick.cli.jobs import sentence_of

    name = f"job-{job.job_id}"
    where = ""
    if job.node is not None and job.lease_id is not None:
        where = f" on {job.node} (lease-{job.lease_id})"
    elif job.entry_id is not None:
        where = f" in the queue (entry-{job.entry_id})"
    emit(f"{sentence_of(job)}{where}")
    first = "explain" if job.phase is JobPhase.WAITING else "logs -f"
    others = [word for word in ("explain", "logs -f", "job cancel") if word != first]
    for word in (first, *others):
        typer.echo(f"  bailiwick {word} {name}", err=True)
    typer.echo(f"  bailiwick trace {asked_as}", err=True)


@with_options(RequestOptions)
def request_lease(options: RequestOptions) -> None:
    """Ask for a lease without a job; what runs under it is your business."""
    from bailiwick.cli.wishes import body_of
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.answers import Granted, Plan, Queued
    from bailiwick.wire.work import LeaseRequest

    ask = ask_of(options, dry_run=options.dry_run)
    wish = wish_of(options, ask, defaults=False)
    body = make_body(LeaseRequest, **body_of(wish, is_job=False))
    if options.dry_run:
        query = {"dry_run": "true"}
        tell_plan(ask, ask.client.call("POST", "/v1/leases", kind=Plan, body=body, query=query))
    found: Granted | Queued = ask.client.call(
        "POST", "/v1/leases", kind=Granted | Queued, body=body
    )
    _tell_lease(ask, found)


def _tell_lease(ask: Ask, found: object) -> None:
    from bailiwick.cli.phrases import moment, phrase_denial
    from bailiwick.wire.answers import Granted, Queued

    assert isinstance(found, Granted | Queued)
    if ask.output in (Format.JSON, Format.YAML):
        ask.printer.document(found)
    elif isinstance(found, Granted):
        for lease_id, node in zip(found.lease_ids, found.nodes, strict=True):
            until = f" on {node}, until {moment(found.expires_ms)}"
            emit(f"lease-{lease_id}" + ("" if ask.output is Format.NAME else until))
    else:
        why = "others are before it" if found.denied is None else phrase_denial(found.denied)
        told = "" if ask.output is Format.NAME else f" waits: {why}"
        emit(f"entry-{found.entry_id}{told}")
    if isinstance(found, Queued):
        raise typer.Exit(ExitCode.PENDING)
