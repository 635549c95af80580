"""``bailiwick job``: commands that run under leases."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import typer

from bailiwick.cli.commands.logs import FollowOption, JobId, MemberOption, OffsetOption, show_logs
from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.denials import phrase_denial
from bailiwick.cli.shared.jobs import outcome_of, read_job, sentence_of
from bailiwick.cli.shared.output import Columns, draw_details
from bailiwick.cli.shared.screen import asked, owner
from bailiwick.cli.shared.units import parse_id
from bailiwick.phrases.amounts import size, span
from bailiwick.phrases.jobs import phrase_job_reason
from bailiwick.phrases.times import age, moment
from bailiwick.vocab.jobs import JobPhase

if TYPE_CHECKING:
    from bailiwick.wire.jobs import Job, JobMember

app = noun("Jobs: commands that run under leases.")


def _words(job: Job) -> str:
    return job.name or shlex.join(job.command)


def _ran(job: Job) -> str:
    if job.started_ms is None:
        return "-"
    return (
        age(job.started_ms) if job.ended_ms is None else span(max(0, job.ended_ms - job.started_ms))
    )


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


@verb(app, "list", lists=True)
def list_jobs(ask: Ask) -> None:
    """The jobs that you may see.

    Example: bailiwick job list --watch
    """
    from bailiwick.wire.actions.jobs import JOB_LIST

    ask.list(JOB_LIST, columns=JOBS)


@verb(app, "show")
def show_job(ask: Ask, job: JobId) -> None:
    """One job.

    Example: bailiwick job show job-7
    """
    found = read_job(ask, parse_id("job", job))
    ask.printer.thing(found, name=f"job-{found.job_id}", draw=lambda: draw_job(found))


def _terms(found: Job) -> list[tuple[str, str]]:
    """On which terms it runs, and until when at most."""
    if found.request is None:
        return []
    limit, begun = found.request.ttl_ms, found.started_ms
    left = "" if begun is None or found.phase.is_over else f", until {moment(begun + limit)}"
    return [
        ("priority", found.request.priority.value),
        ("class", found.request.lease_class.value),
        ("time limit", f"{span(limit)}{left}"),
    ]


def _member(each: JobMember) -> str:
    """Where a member of a gang runs, and how it ended."""
    told = f"{each.node} (lease-{each.lease_id})"
    if each.signal is not None:
        return f"{told}, signal {each.signal}"
    return told if each.exit_code is None else f"{told}, exit code {each.exit_code}"


def draw_job(found: Job) -> None:
    """One job for people."""
    lease = "-" if found.lease_id is None else f"lease-{found.lease_id}"
    entry = "-" if found.entry_id is None else f"entry-{found.entry_id}"
    rows = [
        ("name", found.name or "-"),
        ("command", shlex.join(found.command)),
        ("asks for", asked(found.request)),
        ("memory", size(found.mem_bytes)),
        *_terms(found),
        ("owner", owner(found.tenant, found.project)),
        ("submitted by", found.submitter),
        ("tag", found.tag or "-"),
        ("phase", outcome_of(found)),
        *([] if found.denied is None else [("why", phrase_denial(found.denied))]),
        ("node", found.node or "-"),
        ("lease", lease),
        ("queue", entry),
        ("submitted", moment(found.submitted_ms)),
        ("started", "-" if found.started_ms is None else moment(found.started_ms)),
        ("ended", "-" if found.ended_ms is None else moment(found.ended_ms)),
        *((f"member {each.rank}", _member(each)) for each in found.members),
    ]
    draw_details("job", f"job-{found.job_id}", rows=rows)


@verb(app, "cancel", changes=True)
def cancel_job(ask: Ask, job: JobId) -> None:
    """End a job, or take it out of the queue.

    Example: bailiwick job cancel job-7
    """
    from bailiwick.wire.actions.jobs import JOB_CANCEL

    number = parse_id("job", job)
    ask.change(JOB_CANCEL, path={"job_id": number}, told=f"job-{number} is to end")


@verb(app, "logs")
def job_logs(
    ask: Ask,
    job: JobId,
    *,
    follow: FollowOption = False,
    offset: OffsetOption = 0,
    member: MemberOption = 0,
) -> None:
    """What a job has printed; the same as bailiwick logs.

    Example: bailiwick job logs -f job-7
    """
    show_logs(ask, job, follow=follow, offset=offset, member=member)


def explain_job(ask: Ask, number: int) -> None:
    """Why a job is where it is: in the queue, under its lease, or over."""
    from bailiwick.cli.commands.explain import explain_entry, explain_lease
    from bailiwick.cli.shared.output import Format

    found = read_job(ask, number)
    if ask.output is Format.TABLE:
        typer.echo(sentence_of(found))
        if found.reason is not None and found.phase is not JobPhase.WAITING:
            denied, word = found.denied, found.reason
            why = phrase_job_reason(word) if denied is None else phrase_denial(denied)
            typer.echo(f"why: {why}")
    if found.phase is JobPhase.WAITING and found.entry_id is not None:
        explain_entry(ask, found.entry_id)
    elif found.lease_id is not None:
        explain_lease(ask, found.lease_id)
    elif ask.output is not Format.TABLE:
        ask.printer.thing(found, name=f"job-{number}", draw=lambda: None)
