"""``bailiwick cp``: files into and out of a running job."""

from __future__ import annotations

from typing import Annotated

import typer

from bailiwick.cli.shared.ask import Ask, verb
from bailiwick.vocab.errors import InvalidValue

command = typer.Typer(add_completion=False)

Source = Annotated[str, typer.Argument(metavar="FROM", help="JOB:PATH, or a path here.")]
Target = Annotated[str, typer.Argument(metavar="TO", help="A path here, or JOB:PATH.")]
MemberOption = Annotated[
    int, typer.Option("--member", metavar="RANK", min=0, help="Of a gang: whose files.")
]


@verb(command, "cp")
def copy_files(ask: Ask, source: Source, *, target: Target, member: MemberOption = 0) -> None:
    """Copy a file or folder out of a running job, or into it.

    A path in the job counts from its working directory. Into a folder that is there it goes under
    its own name. It is sealed in the journal that you did, with the path.

    Example: bailiwick cp job-7:checkpoints/last.pt .

    Example: bailiwick cp config.yaml train:config.yaml
    """
    from bailiwick.cli.jobs.addresses import find_one
    from bailiwick.cli.jobs.copies import copy_here, copy_there
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.execs import JOB_EXEC
    from bailiwick.wire.execs import NewExec

    far, near = _parted(source), _parted(target)
    if (far is None) is (near is None):
        raise InvalidValue("FROM TO", f"{source} {target}", "JOB:PATH on one side, a path here")
    is_out = far is not None
    job, path = far or near or ("", "")
    copied = {"direction": "out" if is_out else "in", "path": path or "."}
    found = find_one(ask, job)
    body = make_body(NewExec, member=member, copy_files=copied)
    opened = ask.client.send(JOB_EXEC, path={"job_id": found.job_id}, body=body)
    here = target if is_out else source
    raise typer.Exit((copy_here if is_out else copy_there)(ask, opened, local=here))


def _parted(text: str) -> tuple[str, str] | None:
    """The job and the path in it; nothing for a path here.

    >>> _parted("job-7:a/b"), _parted("./a:b"), _parted("/tmp/x")
    (('job-7', 'a/b'), None, None)
    """
    job, colon, path = text.partition(":")
    return (job, path) if colon and job and "/" not in job and job != "." else None
