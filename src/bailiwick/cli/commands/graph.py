"""``bailiwick graph``: graphs of tasks, each of which runs as a job."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.commands.logs import FollowOption, OffsetOption
from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.completions import complete_graphs, complete_places
from bailiwick.cli.shared.output import Format, emit
from bailiwick.cli.shared.screen import make_console
from bailiwick.cli.shared.units import parse_id
from bailiwick.cli.trees.graph_screen import (
    GRAPHS,
    advice,
    draw_bars,
    draw_graph,
    draw_plan,
    summary,
    told_counts,
)
from bailiwick.phrases.amounts import plural
from bailiwick.vocab.errors import Conflict, InvalidValue, NotFound
from bailiwick.vocab.graphs import GraphPhase

if TYPE_CHECKING:
    from bailiwick.wire.graphs import Graph, GraphDetail, NewGraph

app = noun("Graphs of tasks, each of which runs as a job.")

POLL_S = 0.5
GraphId = Annotated[
    str, typer.Argument(metavar="GRAPH", help="7 or graph-7.", autocompletion=complete_graphs)
]
GraphFile = Annotated[Path, typer.Argument(metavar="FILE", help="A graph's file (YAML).")]
OnOption = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="EXECUTOR|NODE",
        help="Who runs all of its tasks, or the one node.",
        autocompletion=complete_places,
    ),
]
ReuseOption = Annotated[
    str | None,
    typer.Option(
        "--reuse",
        metavar="GRAPH",
        help="What this one has done is not done again.",
        autocompletion=complete_graphs,
    ),
]
FollowRun = Annotated[bool, typer.Option("--follow", "-f", help="Show it until it is over.")]
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


class GraphForm(StrEnum):
    """How a graph is shown."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    DOT = "dot"
    SVG = "svg"


@verb(app, "run", changes=True, scope="project")
def run_graph(
    ask: Ask,
    file: GraphFile,
    *,
    on: OnOption = None,
    reuse: ReuseOption = None,
    follow: FollowRun = False,
) -> None:
    """Run a graph: each task as a job, once what it stands after is over.

    With --follow it ends as the graph does: 0 if it succeeded, 1 if it failed, 3 if cancelled.

    Example: bailiwick graph run nightly.yaml --follow --on n1
    """
    from bailiwick.wire.actions.graphs import GRAPH_SUBMIT

    if ask.dry_run:
        _plan(ask, file, on=on)
        return
    reused = None if reuse is None else parse_id("graph", reuse)
    made = ask.client.send(GRAPH_SUBMIT, body=_body(ask, file, on=on, reused=reused))
    name = f"graph-{made.graph_id}"
    ask.printer.thing(made, name=name, draw=lambda: _tell(made))
    if follow:
        _follow(ask, made.graph_id)


@verb(app, "plan", scope="project")
def plan_graph(ask: Ask, file: GraphFile, *, on: OnOption = None) -> None:
    """What a graph would lead to: its longest path, its cost, and when each task could start.

    Times and costs are the most that the tasks' time limits allow.

    Example: bailiwick graph plan nightly.yaml
    """
    _plan(ask, file, on=on)


@verb(app, "list", lists=True)
def list_graphs(ask: Ask) -> None:
    """The graphs that you may see.

    Example: bailiwick graph list --watch
    """
    from bailiwick.wire.actions.graphs import GRAPH_LIST

    ask.list(GRAPH_LIST, columns=GRAPHS)


@verb(app, "show")
def show_graph(
    ask: Ask,
    graph: GraphId,
    *,
    output: Annotated[
        GraphForm, typer.Option("--output", "-o", help="A table, the wire model, or a picture.")
    ] = GraphForm.TABLE,
) -> None:
    """One graph, with all of its tasks; or as a picture.

    Example: bailiwick graph show graph-7 -o svg
    """
    from bailiwick.cli.trees.graph_picture import draw_dot, draw_svg

    found = _read(ask, parse_id("graph", graph))
    if output is GraphForm.DOT:
        emit(draw_dot(found))
    elif output is GraphForm.SVG:
        emit(draw_svg(found))
    else:
        printer = replace(ask, output=Format(output.value)).printer
        name = f"graph-{found.graph.graph_id}"
        printer.thing(found, name=name, draw=lambda: draw_graph(found))


@verb(app, "watch")
def watch_graph(ask: Ask, graph: GraphId) -> None:
    """Show a graph until it is over: a bar for each stage, and what fails.

    It ends as the graph does: 0 if it succeeded, 1 if it failed, 3 if it was cancelled.

    Example: bailiwick graph watch graph-7
    """
    _follow(ask, parse_id("graph", graph))


@verb(app, "retry", changes=True)
def retry_graph(
    ask: Ask,
    graph: GraphId,
    *,
    tasks: Annotated[
        list[str] | None, typer.Argument(metavar="[TASK]...", help="Only these.")
    ] = None,
) -> None:
    """Try again what did not succeed, of a graph that is over; what is done stays done.

    Example: bailiwick graph retry graph-7 train[3]
    """
    from bailiwick.wire.actions.graphs import GRAPH_RETRY
    from bailiwick.wire.graphs import GraphRetry

    number = parse_id("graph", graph)
    told = f"graph-{number} is tried again"
    body = GraphRetry(tasks=tasks or [])
    ask.change(GRAPH_RETRY, path={"graph_id": number}, body=body, told=told)


@verb(app, "cancel", changes=True)
def cancel_graph(ask: Ask, graph: GraphId) -> None:
    """End a graph: what waits is not begun, what runs is torn down.

    Example: bailiwick graph cancel graph-7
    """
    from bailiwick.wire.actions.graphs import GRAPH_CANCEL

    number = parse_id("graph", graph)
    ask.change(GRAPH_CANCEL, path={"graph_id": number}, told=f"graph-{number} is to end")


@verb(app, "logs")
def graph_logs(
    ask: Ask,
    graph: GraphId,
    *,
    task: Annotated[str, typer.Argument(metavar="TASK", help="prep, or train[3].")],
    follow: FollowOption = False,
    offset: OffsetOption = 0,
) -> None:
    """What the last attempt of a task has printed.

    Example: bailiwick graph logs -f graph-7 train[3]
    """
    from bailiwick.cli.commands.logs import LogsOptions, show_logs

    number = parse_id("graph", graph)
    named = {each.name: each for each in _read(ask, number).tasks}
    found = named.get(task)
    if found is None:
        from bailiwick.batch.problems import nearest_name

        near = nearest_name(task, named) or f"bailiwick graph show {graph} lists them"
        raise NotFound("task", task, hint=f"did you mean {near}?" if near in named else near)
    if found.job_id is None:
        raise Conflict("task", task, f"is {found.phase}", hint="no attempt of it has begun")
    show_logs(ask, LogsOptions(job=str(found.job_id), follow=follow, offset=offset))


@verb(app, "report", changes=True)
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


# -- asking ----------------------------------------------------------------------------------


def _body(ask: Ask, file: Path, *, on: str | None, reused: int | None = None) -> NewGraph:
    from bailiwick.batch.document import FILE_BYTES_MAX
    from bailiwick.cli.offline.policy_files import read_bytes
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.graphs import NewGraph

    try:
        text = read_bytes("FILE", file, most=FILE_BYTES_MAX).decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidValue("FILE", str(file), "text in UTF-8") from None
    _check(file, text)
    owned = {"tenant": ask.tenant, "project": ask.project}
    return make_body(NewGraph, **owned, document=text, executor=on, reuses=reused)


def _check(file: Path, text: str) -> None:
    """Refuse what is no graph before anybody is asked, each mistake on a line of its own."""
    from bailiwick.batch import load_graph
    from bailiwick.batch.problems import GraphRefused
    from bailiwick.cli.shared.screen import printable

    try:
        load_graph(text)
    except GraphRefused as refused:
        lines = (f"\n  {printable(each.told)}" for each in refused.problems)
        refused.args = (f"{file} is no graph that could run:{''.join(lines)}",)
        raise


def _read(ask: Ask, number: int) -> GraphDetail:
    from bailiwick.wire.actions.graphs import GRAPH_READ

    return ask.client.send(GRAPH_READ, path={"graph_id": number})


def _plan(ask: Ask, file: Path, *, on: str | None) -> None:
    from bailiwick.wire.actions.graphs import GRAPH_PLAN

    found = ask.client.send(GRAPH_PLAN, body=_body(ask, file, on=on))
    ask.printer.thing(found, name=file.name, draw=lambda: draw_plan(found))


# -- showing -------------------------------------------------------------------------------


def _tell(made: Graph) -> None:
    name = f"graph-{made.graph_id}"
    emit(f"{name}: {plural(made.tasks, 'task')}")
    for word in ("watch", "show", "cancel"):
        typer.echo(f"  bailiwick graph {word} {name}", err=True)


def _follow(ask: Ask, number: int) -> None:
    """Show the graph until it is over, and end as it does."""
    from rich.live import Live

    from bailiwick.cli.shared.jobs import patiently
    from bailiwick.cli.shared.screen import Whole

    console, read = make_console(), partial(_read, ask, number)
    is_live = ask.output is Format.TABLE and console.is_terminal
    found, before = patiently(read), ""
    with Live(console=console, auto_refresh=False, screen=False) as live:
        while True:  # until it is over, or Ctrl-C
            if is_live:
                live.update(Whole(draw_bars(found)), refresh=True)
            else:
                before = _say_if_new(ask, found, before)
            if found.graph.phase.is_over:
                break
            time.sleep(POLL_S)
            found = patiently(read)
    _tell_end(ask, found)
    raise typer.Exit(_exit_code(found.graph.phase))


def _tell_end(ask: Ask, found: GraphDetail) -> None:
    """What failed, what was tried again and why, and what to do about it."""
    if ask.output is not Format.TABLE:
        return
    for line in summary(found):
        emit(line)
    for line in advice(found):
        typer.echo(f"  {line}", err=True)


def _say_if_new(ask: Ask, found: GraphDetail, before: str) -> str:
    graph = found.graph
    if ask.output is Format.JSON:
        now = graph.model_dump_json()
    else:
        counts = told_counts(graph.counts.items())
        now = f"graph-{graph.graph_id}: {graph.phase.value}: {counts}"
    if now != before:
        emit(now)
    return now


def _exit_code(phase: GraphPhase) -> ExitCode:
    if phase is GraphPhase.SUCCEEDED:
        return ExitCode.DONE
    return ExitCode.FAULT if phase is GraphPhase.FAILED else ExitCode.DENIED


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
