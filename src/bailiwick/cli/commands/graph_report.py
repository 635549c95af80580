"""``bailiwick graph report``: what an attempt of a task says of itself, from inside its job."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from bailiwick.cli.shared.ask import Ask, verb
from bailiwick.vocab.errors import InvalidValue

Outputs = Annotated[
    list[str] | None,
    typer.Option("--made", metavar="NAME=FILE", help="An output, or NAME=sha256:... of it."),
]
Checkpoint = Annotated[
    str | None, typer.Option("--checkpoint", metavar="PATH", help="Where the next goes on.")
]
OfGraph = Annotated[int, typer.Option("--graph", envvar="GRAPH_ID", help="In a job: its own.")]
OfTask = Annotated[str, typer.Option("--task", envvar="TASK_NAME", help="In a job: its own.")]
OfAttempt = Annotated[
    int, typer.Option("--attempt", envvar="TASK_ATTEMPT", min=1, help="In a job: its own.")
]


def add_report_verb(app: typer.Typer) -> None:
    """Give the group its word."""
    verb(app, "report", changes=True)(report_task)


def report_task(
    ask: Ask,
    *,
    graph: OfGraph,
    task: OfTask,
    attempt: OfAttempt,
    made: Outputs = None,
    checkpoint: Checkpoint = None,
) -> None:
    """Say inside a job what it made, and where it saved its work; said again, the last counts.

    A task that names outputs succeeds only if its attempt has reported all of them.

    Example: bailiwick graph report --made data=data.parquet
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.graphs import GRAPH_REPORT
    from bailiwick.wire.graphs import TaskReport

    outputs = dict(_output(each) for each in made or ())
    body = make_body(TaskReport, task=task, attempt=attempt, outputs=outputs, checkpoint=checkpoint)
    told = f"graph-{graph}: {task}, attempt {attempt} is reported"
    ask.change(GRAPH_REPORT, path={"graph_id": graph}, body=body, told=told)


def _output(text: str) -> tuple[str, str]:
    """An output's name, and what is in it."""
    name, is_given, where = text.partition("=")
    if not is_given or not where:
        raise InvalidValue("--made", text, "NAME=FILE, or NAME=sha256: and 64 digits")
    if where.startswith("sha256:"):
        return name, where
    try:
        with Path(where).open("rb") as file:
            return name, "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InvalidValue("--made", text, f"a file that can be read ({error.strerror})") from None
