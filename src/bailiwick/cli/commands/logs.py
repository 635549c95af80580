"""``bailiwick logs``: what a job printed."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from bailiwick.cli.shared.ask import Ask
from bailiwick.cli.shared.completions import complete_jobs
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.output import Format
from bailiwick.cli.shared.periods import parse_since
from bailiwick.cli.shared.session import load_session

command = typer.Typer(add_completion=False)

JobId = Annotated[
    str,
    typer.Argument(
        metavar="JOB", help="7, job-7, job-7[3] or a name.", autocompletion=complete_jobs
    ),
]
FollowOption = Annotated[bool, typer.Option("--follow", "-f", help="Go on until the job is over.")]
OffsetOption = Annotated[int, typer.Option("--offset", min=0, help="Start at this byte.")]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LogsOptions:
    """What ``bailiwick logs`` can be told."""

    job: JobId
    follow: FollowOption = False
    tail: Annotated[
        int | None,
        typer.Option("--tail", min=0, max=1_000_000, help="Only the last so many lines."),
    ] = None
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="SPAN|TIME",
            help="Only what came since: 10m (ago), or a time in UTC such as 2026-11-01T12:00.",
        ),
    ] = None
    attempt: Annotated[
        int | None,
        typer.Option("--attempt", min=1, help="Of this attempt; else the last one."),
    ] = None
    member: Annotated[
        int, typer.Option("--member", metavar="RANK", min=0, help="Of a gang: whose output.")
    ] = 0
    offset: OffsetOption = 0
    output: Annotated[
        Format, typer.Option("--output", "-o", help="How an error is told: for people, or JSON.")
    ] = Format.TABLE


def show_logs(ask: Ask, options: LogsOptions) -> None:
    """Copy what a job printed."""
    from bailiwick.cli.jobs.addresses import find_one
    from bailiwick.cli.shared.jobs import Printed, copy_output, find_since, find_tail

    since_ms = None if options.since is None else parse_since("--since", options.since)
    printed = Printed(find_one(ask, options.job).job_id, options.member, options.attempt)
    try:
        begin = options.offset
        if options.tail is not None:
            begin = max(begin, find_tail(ask, printed, lines=options.tail))
        if since_ms is not None:
            begin = max(begin, find_since(ask, printed, since_ms=since_ms))
        copy_output(ask, printed, follow=options.follow, offset=begin)
    except KeyboardInterrupt:  # the person has seen enough; the job goes on
        return


@command.command("logs")
@with_options(LogsOptions)
def logs(options: LogsOptions) -> None:
    """What a job has printed, on stdout as it was; -f goes on until the job is over.

    Example: bailiwick logs --tail 20 -f job-7

    Example: bailiwick logs --since 10m --attempt 1 job-7
    """
    show_logs(Ask(load_session(), output=options.output), options)
