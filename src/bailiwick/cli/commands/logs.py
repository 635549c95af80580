"""``bailiwick logs``: what a job printed."""

from __future__ import annotations

from typing import Annotated

import typer

from bailiwick.cli.shared.ask import Ask, verb
from bailiwick.cli.shared.completions import complete_jobs

command = typer.Typer(add_completion=False)

JobId = Annotated[
    str,
    typer.Argument(
        metavar="JOB", help="7, job-7, job-7[3] or a name.", autocompletion=complete_jobs
    ),
]
FollowOption = Annotated[bool, typer.Option("--follow", "-f", help="Go on until the job is over.")]
MemberOption = Annotated[
    int, typer.Option("--member", metavar="RANK", min=0, help="Of a gang: whose output.")
]
OffsetOption = Annotated[int, typer.Option("--offset", min=0, help="Start at this byte.")]
TailOption = Annotated[
    int | None, typer.Option("--tail", min=0, max=1_000_000, help="Only the last so many lines.")
]


def show_logs(
    ask: Ask,
    job: str,
    *,
    follow: bool,
    offset: int,
    tail: int | None = None,
    member: int = 0,
) -> None:
    """Copy what a job printed."""
    from bailiwick.cli.jobs.addresses import find_one
    from bailiwick.cli.shared.jobs import copy_output, find_tail

    number = find_one(ask, job).job_id
    try:
        begin = offset
        if tail is not None:
            begin = max(offset, find_tail(ask, number, lines=tail, member=member))
        copy_output(ask, number, follow=follow, offset=begin, member=member)
    except KeyboardInterrupt:  # the person has seen enough; the job goes on
        return


@verb(command, "logs")
def logs(
    ask: Ask,
    job: JobId,
    *,
    follow: FollowOption = False,
    offset: OffsetOption = 0,
    member: MemberOption = 0,
    tail: TailOption = None,
) -> None:
    """What a job has printed, on stdout as it was; -f goes on until the job is over.

    Example: bailiwick logs --tail 20 -f job-7
    """
    show_logs(ask, job, follow=follow, offset=offset, tail=tail, member=member)
