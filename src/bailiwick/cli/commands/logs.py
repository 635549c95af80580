"""``bailiwick logs``: what a job printed."""

from __future__ import annotations

from typing import Annotated

import typer

from bailiwick.cli.shared.ask import Ask, verb
from bailiwick.cli.shared.completions import complete_jobs
from bailiwick.cli.shared.units import parse_id

command = typer.Typer(add_completion=False)

JobId = Annotated[
    str, typer.Argument(metavar="JOB", help="7 or job-7.", autocompletion=complete_jobs)
]
FollowOption = Annotated[bool, typer.Option("--follow", "-f", help="Go on until the job is over.")]
MemberOption = Annotated[
    int, typer.Option("--member", metavar="RANK", min=0, help="Of a gang: whose output.")
]
OffsetOption = Annotated[int, typer.Option("--offset", min=0, help="Start at this byte.")]


def show_logs(ask: Ask, job: str, *, follow: bool, offset: int, member: int = 0) -> None:
    """Copy what a job printed."""
    from bailiwick.cli.shared.jobs import copy_output

    try:
        copy_output(ask, parse_id("job", job), follow=follow, offset=offset, member=member)
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
) -> None:
    """What a job has printed, on stdout as it was; -f goes on until the job is over.

    Example: bailiwick logs -f job-7
    """
    show_logs(ask, job, follow=follow, offset=offset, member=member)
