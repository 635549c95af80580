"""``bailiwick job`` and ``logs``: commands that run under leases, and what they print."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.asking import Ask, noun, verb
from bailiwick.cli.completing import complete_jobs
from bailiwick.cli.leases import parse_id
from bailiwick.cli.output import Columns, draw_details
from bailiwick.cli.phrases import age, moment
from bailiwick.cli.screen import owner, span
from bailiwick.vocab.jobs import JobFault, JobPhase

if TYPE_CHECKING:
    from bailiwick.wire.jobs import Job

jobs = noun("Jobs: commands that run under leases.")
logs_app = typer.Typer(add_completion=False)

_JobId = Annotated[
    str, typer.Argument(metavar="JOB", help="7 or job-7.", autocompletion=complete_jobs)
]
_Follow = Annotated[bool, typer.Option("--follow", "-f", help="Go on until the job is over.")]
_Offset = Annotated[int, typer.Option("--offset", min=0, help="Start at this byte.")]


def _words(job: Job) -> str:
    return job.name or shlex.join(job.command)


def _ran(job: Job) -> str:
    if job.started_ms is None:
        return "-"
    return (
        age(job.started_ms) if job.ended_ms is None else span(max(0, job.ended_ms - job.started_ms))
    )


def outcome_of(job: Job) -> str:
    """How a job stands, in a few words."""
    told = job.phase.value
    if job.exit_code is not None and job.phase is JobPhase.FAILED:
        told += f", exit code {job.exit_code}"
    if job.signal is not None:
        told += f", signal {job.signal}"
    if job.reason is not None:
        told += f" ({job.reason})"
    return told


_WAS = (JobPhase.CANCELLED, JobPhase.PREEMPTED, JobPhase.REFUSED, JobPhase.LOST)


def sentence_of(job: Job) -> str:
    """The same as a sentence about the job."""
    verb_word = "was " if job.phase in _WAS else "" if job.phase.is_over else "is "
    return f"job-{job.job_id} {verb_word}{outcome_of(job)}"


JOBS: Columns[Job] = Columns(
    ("job", "owner", "phase*", "what*", "node", "submitted", "ran"),
    lambda j: (
        f"job-{j.job_id}",
        owner(j.tenant, j.project),
        outcome_of(j),
        _words(j),
        j.node or "-",
        f"{age(j.submitted_ms)} ago",
        _ran(j),
    ),
    lambda j: f"job-{j.job_id}",
    numbers=("submitted", "ran"),
    empty="no job that you may see; bailiwick submit -- CMD runs one",
)


def read_job(ask: Ask, number: int) -> Job:
    """One job as it stands now."""
    from bailiwick.wire.jobs import Job

    return ask.client.read(f"/v1/jobs/{number}", Job)


@verb(jobs, "list", lists=True)
def list_jobs(ask: Ask) -> None:
    """The jobs that you may see."""
    from bailiwick.wire.jobs import Job

    ask.list("/v1/jobs", Job, columns=JOBS)


@verb(jobs, "show")
def show_job(ask: Ask, job: _JobId) -> None:
    """One job."""
    found = read_job(ask, parse_id("job", job))
    ask.printer.thing(found, name=f"job-{found.job_id}", draw=lambda: draw_job(found))


def draw_job(found: Job) -> None:
    """One job for people."""
    lease = "-" if found.lease_id is None else f"lease-{found.lease_id}"
    entry = "-" if found.entry_id is None else f"entry-{found.entry_id}"
    rows = [
        ("name", found.name or "-"),
        ("command", shlex.join(found.command)),
        ("owner", owner(found.tenant, found.project)),
        ("submitted by", found.submitter),
        ("tag", found.tag or "-"),
        ("phase", outcome_of(found)),
        ("node", found.node or "-"),
        ("lease", lease),
        ("queue", entry),
        ("submitted", moment(found.submitted_ms)),
        ("started", "-" if found.started_ms is None else moment(found.started_ms)),
        ("ended", "-" if found.ended_ms is None else moment(found.ended_ms)),
    ]
    draw_details("job", f"job-{found.job_id}", rows=rows)


@verb(jobs, "cancel", changes=True)
def cancel_job(ask: Ask, job: _JobId) -> None:
    """End a job, or take it out of the queue."""
    number = parse_id("job", job)
    ask.change("DELETE", f"/v1/jobs/{number}", told=f"job-{number} is to end")


@verb(jobs, "logs")
def job_logs(ask: Ask, job: _JobId, *, follow: _Follow = False, offset: _Offset = 0) -> None:
    """What a job has printed; the same as bailiwick logs."""
    _logs(ask, job, follow=follow, offset=offset)


@verb(logs_app, "logs")
def logs(ask: Ask, job: _JobId, *, follow: _Follow = False, offset: _Offset = 0) -> None:
    """What a job has printed, on stdout as it was; -f goes on until the job is over."""
    _logs(ask, job, follow=follow, offset=offset)


def _logs(ask: Ask, job: str, *, follow: bool, offset: int) -> None:
    from bailiwick.cli.following import copy_output

    try:
        copy_output(ask, parse_id("job", job), follow=follow, offset=offset)
    except KeyboardInterrupt:  # the person has seen enough; the job goes on
        return


def explain_job(ask: Ask, number: int) -> None:
    """Why a job is where it is: in the queue, under its lease, or over."""
    from bailiwick.cli.explain import explain_entry, explain_lease
    from bailiwick.cli.output import Format

    found = read_job(ask, number)
    if ask.output is Format.TABLE:
        typer.echo(sentence_of(found))
        if found.reason is not None and found.phase is not JobPhase.WAITING:
            typer.echo(_reason(found.reason))
    if found.phase is JobPhase.WAITING and found.entry_id is not None:
        explain_entry(ask, found.entry_id)
    elif found.lease_id is not None:
        explain_lease(ask, found.lease_id)
    elif ask.output is not Format.TABLE:
        ask.printer.thing(found, name=f"job-{number}", draw=lambda: None)


def _reason(word: str) -> str:
    from bailiwick.cli.phrases import REASONS
    from bailiwick.vocab.words import PendingReason, PreemptionReason

    if word in tuple(PreemptionReason):
        return f"why: {PreemptionReason(word).human_summary()}"
    if word in tuple(PendingReason):
        return f"why: {REASONS[PendingReason(word)]}"
    return f"why: {_FAULTS[JobFault(word)] if word in tuple(JobFault) else word}"


_FAULTS = {
    JobFault.PROGRAM_NOT_RUNNABLE: "there is no such program, or it cannot be run",
    JobFault.DIRECTORY_NOT_USABLE: "it cannot start in that folder",
    JobFault.LIMITS_NOT_POSSIBLE: "its limits could not be set on that machine",
    JobFault.TOKEN_REFUSED: "no token could be made for it",
    JobFault.EXECUTOR_UNAVAILABLE: "the machine runs no jobs now",
    JobFault.LEASE_GONE: "its lease was gone before it could start",
    JobFault.FOLDER_GONE: "what is known of it on the machine is gone",
    JobFault.SUBMISSION_UNKNOWN: "the server was lost before its request was decided",
}
