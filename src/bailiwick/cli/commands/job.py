"""``bailiwick job``: commands that run under leases."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.commands.logs import JobId, LogsOptions, show_logs
from bailiwick.cli.jobs.addresses import find_job, tasks_of
from bailiwick.cli.jobs.lists import (
    JOBS,
    LIVE,
    WIDE,
    FormatOption,
    JobFormat,
    MineOption,
    NameOption,
    SortOption,
    StateOption,
    query_of,
    read_jobs,
    sorted_jobs,
    words_of,
)
from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.completions import complete_jobs
from bailiwick.cli.shared.denials import phrase_denial
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.jobs import name_of, outcome_of, read_job, sentence_of
from bailiwick.cli.shared.output import Format, draw_details
from bailiwick.cli.shared.periods import spell_money
from bailiwick.cli.shared.screen import asked, make_console, owner, print_rows
from bailiwick.cli.shared.session import load_session
from bailiwick.phrases.amounts import plural, size, span
from bailiwick.phrases.jobs import phrase_job_reason
from bailiwick.phrases.times import moment
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.jobs import JobFault, JobPhase

if TYPE_CHECKING:
    from bailiwick.wire.jobs import Job, JobMember

JobIds = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[JOB]...", help="7, job-7, job-7[3] or a name.", autocompletion=complete_jobs
    ),
]

app = noun("Jobs: commands that run under leases.")


@verb(app, "list", lists=True, scope="everywhere")
def list_jobs(
    ask: Ask,
    *,
    state: StateOption = None,
    mine: MineOption = False,
    name: NameOption = None,
    sort: SortOption = None,
    output: FormatOption = JobFormat.TABLE,
) -> None:
    """The jobs that you may see, newest first.

    Example: bailiwick job list --mine --state live --sort -ran -o wide
    """
    is_wide = output is JobFormat.WIDE
    ask.output = Format.TABLE if is_wide else Format(output.value)
    query = query_of(ask, states=state, mine=mine, name=name)
    ask.show_rows(lambda: sorted_jobs(read_jobs(ask, query), sort), WIDE if is_wide else JOBS)


@verb(app, "show")
def show_job(ask: Ask, job: JobId) -> None:
    """One job, or an array: what it asked for, and how far it has come.

    Example: bailiwick job show job-7
    """
    found, is_array = find_job(ask, job)
    if not is_array:
        ask.printer.thing(found, name=name_of(found), draw=lambda: draw_job(found))
        return
    page = tasks_of(ask, found)
    if ask.output is Format.TABLE:
        counts = Counter(task.phase.value for task in page.items)
        rows = [("tasks", found.array or "-"), *((word, str(n)) for word, n in counts.items())]
        draw_details("array", f"job-{found.array_id}", rows=rows)
    ask.printer.rows(page, JOBS)


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


def _why(found: Job) -> list[tuple[str, str]]:
    """Why it was refused or could not be run."""
    if found.denied is not None:
        return [("why", phrase_denial(found.denied))]
    if found.reason in tuple(JobFault):
        return [("why", phrase_job_reason(found.reason))]
    return []


def _money(found: Job) -> list[tuple[str, str]]:
    """What it costs an hour, and has cost so far."""
    cost = found.cost
    if cost is None:
        return []
    most = "at most " if cost.is_upper_bound else ""
    rows = [("cost so far", f"{spell_money(cost.cost_micros)} {cost.currency}")]
    if cost.micros_per_hour is not None:
        price = f"{most}{spell_money(cost.micros_per_hour)} {cost.currency} an hour"
        rows = [("price", price), *rows]
    return rows if not found.phase.is_over else [("cost", rows[0][1])]


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
        *_money(found),
        *_later(found),
        ("owner", owner(found.tenant, found.project)),
        ("submitted by", found.submitter),
        ("tag", found.tag or "-"),
        ("phase", outcome_of(found)),
        *_why(found),
        ("node", found.node or "-"),
        ("lease", lease),
        ("queue", entry),
        ("submitted", moment(found.submitted_ms)),
        ("started", "-" if found.started_ms is None else moment(found.started_ms)),
        ("ended", "-" if found.ended_ms is None else moment(found.ended_ms)),
        *((f"member {each.rank}", _member(each)) for each in found.members),
    ]
    draw_details("job", name_of(found), rows=rows)
    if found.attempts:
        draw_attempts(found)


def _later(found: Job) -> list[tuple[str, str]]:
    """What it waits for, what it is a part of, and how often it may be tried."""
    rows = [("after", ", ".join(found.after))] if found.after else []
    if found.array is not None:
        rows.append(("array", f"job-{found.array_id}, tasks {found.array}"))
    if found.retries:
        why = ", ".join(found.retry_on)
        rows.append(("attempt", f"{found.attempt} of {found.retries + 1}; again if {why}"))
    if found.checkpoint is not None:
        rows.append(("checkpoint", found.checkpoint))
    return rows


def draw_attempts(found: Job) -> None:
    """The attempts that are over, for people."""
    rows = [
        (
            str(each.attempt),
            each.phase.value if each.reason is None else f"{each.phase.value} ({each.reason})",
            each.node or "-",
            "-" if each.lease_id is None else f"lease-{each.lease_id}",
            moment(each.ended_ms),
        )
        for each in found.attempts
    ]
    heads = ("attempt", "ended as*", "node", "lease", "at")
    print_rows(make_console(), heads, rows=rows, title="Attempts that are over")


@verb(app, "cancel", changes=True, scope="project")
def cancel_job(
    ask: Ask,
    jobs: JobIds = None,
    *,
    state: StateOption = None,
    mine: MineOption = False,
    name: NameOption = None,
) -> None:
    """End jobs, or take them out of the queue: one, a whole array, or all that a filter names.

    Several are shown first, and you are asked.

    Example: bailiwick job cancel job-7

    Example: bailiwick job cancel --mine --state waiting --name train
    """
    is_filter = bool(state or mine or name or any(ask.given.values()))
    if is_filter is bool(jobs):
        raise InvalidValue(
            "JOB", " ".join(jobs or []), "jobs, or a filter such as --mine; not both"
        )
    if jobs:
        found = [task for each in jobs for task in _live_of(ask, each)]
    else:
        query = query_of(ask, states=state or [LIVE], mine=mine, name=name)
        page = read_jobs(ask, query)
        found = [job for job in page.items if not job.phase.is_over]
        if not found:
            typer.echo("no job that is not over is named by that", err=True)
            return
    if is_filter or len(found) > 1:
        if ask.output is Format.TABLE:
            draw_jobs(found)
        ask.confirm(f"Cancel {plural(len(found), 'job')}?")
    _cancel(ask, found)


def draw_jobs(found: list[Job]) -> None:
    """Jobs that are about to be cancelled, for people; not the result, so not on stdout."""
    for job in found:
        typer.echo(f"  {sentence_of(job)}: {words_of(job)}", err=True)


def _live_of(ask: Ask, text: str) -> list[Job]:
    """The job that is meant, or those tasks of an array that are not over."""
    found, is_array = find_job(ask, text)
    if not is_array:
        return [found]
    return [task for task in tasks_of(ask, found).items if not task.phase.is_over]


def _cancel(ask: Ask, jobs: list[Job]) -> None:
    """Cancel each; one of many that has ended meanwhile is no fault."""
    from bailiwick.client.errors import Refusal
    from bailiwick.wire.actions.jobs import JOB_CANCEL

    for job in jobs:
        told = f"{name_of(job)} is to end"
        try:
            ask.change(JOB_CANCEL, path={"job_id": job.job_id}, told=told)
        except Refusal as error:
            if len(jobs) == 1 or not read_job(ask, job.job_id).phase.is_over:
                raise
            typer.echo(f"bailiwick: {error}", err=True)


@app.command("logs")
@with_options(LogsOptions)
def job_logs(options: LogsOptions) -> None:
    """What a job has printed; the same as bailiwick logs.

    Example: bailiwick job logs -f job-7
    """
    show_logs(Ask(load_session(), output=options.output), options)


def explain_job(ask: Ask, found: Job) -> None:
    """Why a job is where it is: in the queue, under its lease, or over."""
    from bailiwick.cli.commands.explain import draw_lease, explain_entry, failure_in, read_lease

    waits = found.phase is JobPhase.WAITING and found.entry_id is not None
    number = None if waits else found.lease_id
    page = None if number is None else read_lease(ask, number)
    if ask.output is Format.TABLE:
        typer.echo(sentence_of(found))
        if found.reason is not None and (found.is_held or found.phase is not JobPhase.WAITING):
            denied, word = found.denied, found.reason
            why = phrase_job_reason(word) if denied is None else phrase_denial(denied)
            if page is not None and found.phase is JobPhase.PREEMPTED:
                why = failure_in(page) or why
            typer.echo(f"why: {why}")
    if found.phase is JobPhase.WAITING and found.entry_id is not None:
        explain_entry(ask, found.entry_id)
    elif number is not None and page is not None:
        draw_lease(ask, number, page=page)
    elif ask.output is not Format.TABLE:
        ask.printer.thing(found, name=name_of(found), draw=lambda: None)
