"""``bailiwick exec``: a program inside a running job."""

from __future__ import annotations

from typing import Annotated

import typer

from bailiwick.cli.commands.logs import JobId
from bailiwick.cli.shared.ask import Ask, verb
from bailiwick.vocab.errors import InvalidValue

command = typer.Typer(add_completion=False)

Words = Annotated[
    list[str] | None, typer.Argument(metavar="-- COMMAND...", help="The program, and its words.")
]
InputOption = Annotated[bool, typer.Option("--stdin", "-i", help="Pass on what comes on stdin.")]
TtyOption = Annotated[bool, typer.Option("--tty", "-t", help="On a terminal of its own.")]
MemberOption = Annotated[
    int, typer.Option("--member", metavar="RANK", min=0, help="Of a gang: inside whose.")
]


@verb(command, "exec", context_settings={"allow_interspersed_args": False})
def run_exec(
    ask: Ask,
    job: JobId,
    *,
    words: Words = None,
    stdin: InputOption = False,
    tty: TtyOption = False,
    member: MemberOption = 0,
) -> None:
    """Run a program inside a running job, with what the job has; -it for a shell.

    Options stand before the job. Ends with the program's own exit status. It is sealed in the
    journal that you did, with the command, and never what is typed.

    Example: bailiwick exec -it job-7 -- bash

    Example: bailiwick exec job-7 -- nvidia-smi
    """
    from bailiwick.cli.jobs.addresses import find_one
    from bailiwick.cli.jobs.attached import attach, terminal_here
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.execs import JOB_EXEC
    from bailiwick.wire.execs import NewExec

    words = words[1:] if words and words[0] == "--" else words
    if not words:
        raise InvalidValue("COMMAND", None, "a program after --, such as -- bash")
    found = find_one(ask, job)
    terminal = terminal_here().model_dump() if tty else None
    body = make_body(NewExec, command=words, member=member, terminal=terminal)
    opened = ask.client.send(JOB_EXEC, path={"job_id": found.job_id}, body=body)
    raise typer.Exit(attach(ask, opened, has_input=stdin, is_terminal=tty))
