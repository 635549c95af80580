"""A graph as people read it: its plan, its tasks, a bar for each stage, and what went wrong.

Rules:

- What failed is told with its reason and the command that shows what it printed.
- What was tried again is told with how often and why, also where it came right in the end.
- Lists of tasks that are told in lines are bounded; the table of a graph has all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from bailiwick.cli.shared.output import Columns, draw_details, emit
from bailiwick.cli.shared.screen import make_console, owner, print_rows, table_of
from bailiwick.cli.trees.graph_picture import stage_counts
from bailiwick.phrases.amounts import money, plural, span
from bailiwick.phrases.times import age, clock, moment
from bailiwick.vocab.graphs import TaskPhase

if TYPE_CHECKING:
    from rich.table import Table

    from bailiwick.wire.graphs import (
        Graph,
        GraphDetail,
        GraphPlan,
        GraphTask,
        PastAttempt,
        PlannedStage,
    )

BAR: Final = 24
TOLD_MAX: Final = 10
"""Tasks that are told of in lines of their own."""


def _done(graph: Graph) -> int:
    return sum(count for phase, count in graph.counts.items() if phase.is_good)


GRAPHS: Columns[Graph] = Columns(
    ("graph", "owner", "name*", "phase", "done", "submitted"),
    lambda g: (
        f"graph-{g.graph_id}",
        owner(g.tenant, g.project),
        g.name or "-",
        g.phase.value,
        f"{_done(g):,}/{g.tasks:,}",
        f"{age(g.submitted_ms)} ago",
    ),
    lambda g: f"graph-{g.graph_id}",
    numbers=("done", "submitted"),
    empty="no graph that you may see; bailiwick graph run FILE runs one",
)


# -- a plan ----------------------------------------------------------------------------------


def draw_plan(found: GraphPlan) -> None:
    """What a graph would lead to."""
    rows = [
        (
            stage.name,
            f"{stage.tasks:,}",
            ", ".join(stage.after) or "-",
            "at once" if not stage.starts_ms else f"after {span(stage.starts_ms)}",
            span(stage.ttl_ms),
            _now(stage),
        )
        for stage in found.stages
    ]
    heads = ("stage", "tasks", "after*", "could start", "at most", "now")
    print_rows(make_console(), heads, rows=rows, numbers=("tasks",))
    for stage in found.stages:
        _tell_obstacle(stage)
    emit(f"longest path: {' -> '.join(found.critical_path)} ({span(found.critical_ms)} at most)")
    currency = "" if found.currency is None else f" {found.currency}"
    emit(f"cost: {money(found.micros_total)}{currency} at most")


def _now(stage: PlannedStage) -> str:
    if stage.unhonoured is not None:
        return "refuse"
    return "-" if stage.plan is None else stage.plan.plan


def _tell_obstacle(stage: PlannedStage) -> None:
    """Why a task of it would not begin at once, were it submitted now."""
    from bailiwick.cli.shared.denials import phrase_denial
    from bailiwick.wire.answers import WouldQueue, WouldRefuse

    if stage.unhonoured is not None:
        bad = stage.unhonoured
        steps = "" if bad.step is None else f"; {bad.executor} gives steps of {bad.step}"
        emit(
            f"{stage.name} would be refused: {bad.executor} cannot honour {bad.what} "
            f"({bad.asked} asked for{steps})"
        )
    match stage.plan:
        case WouldRefuse(denied=denied):
            emit(f"{stage.name} would be refused: {phrase_denial(denied)}")
        case WouldQueue(denied=denied) if denied is not None:
            emit(f"{stage.name} would wait: {phrase_denial(denied)}")
        case _:
            pass


# -- a graph ---------------------------------------------------------------------------------


def draw_graph(found: GraphDetail) -> None:
    """A graph and all of its tasks."""
    graph = found.graph
    rows = [
        ("name", graph.name or "-"),
        ("owner", owner(graph.tenant, graph.project)),
        ("submitted by", graph.submitter),
        ("phase", graph.phase.value),
        ("tasks", told_counts(graph.counts.items())),
        ("submitted", moment(graph.submitted_ms)),
        ("ended", "-" if graph.ended_ms is None else moment(graph.ended_ms)),
    ]
    again = retried(found.tasks)
    if again:
        rows.append(("tried again", f"after {_times(again)}"))
    draw_details("graph", f"graph-{graph.graph_id}", rows=rows)
    heads = ("task", "phase", "attempt", "job", "why*")
    told = [
        (
            task.name,
            task.phase.value,
            str(task.attempt or "-"),
            "-" if task.job_id is None else f"job-{task.job_id}",
            why(task),
        )
        for task in found.tasks
    ]
    print_rows(make_console(), heads, rows=told, numbers=("attempt",))
    if found.tried_again:
        columns = ("ended", "task", "attempt", "node", "job", "why*")
        past = [
            (
                clock(each.ended_ms),
                each.task,
                str(each.attempt),
                each.node or "-",
                f"job-{each.job_id}",
                why_again(each),
            )
            for each in found.tried_again
        ]
        print_rows(make_console(), columns, rows=past, title="tried again", numbers=("attempt",))


def told_counts(counts: Iterable[tuple[TaskPhase, int]]) -> str:
    """How many are in which phase, in the order of the phases."""
    found = dict(counts)
    return ", ".join(f"{phase} {found[phase]:,}" for phase in TaskPhase if found.get(phase))


def draw_bars(found: GraphDetail) -> Table:
    """A bar for each stage."""
    rows = list[tuple[str, str, str, str]]()
    for name, counts in stage_counts(found).items():
        total = sum(counts.values())
        over = sum(count for phase, count in counts.items() if phase.is_over)
        full = BAR if not total else BAR * over // total
        bar = "#" * full + "." * (BAR - full)
        rows.append((name, bar, f"{over:,}/{total:,}", told_counts(counts.items())))
    return table_of(("stage", "progress", "over", "tasks*"), rows, numbers=("over",))


# -- what went wrong -------------------------------------------------------------------------


def why(task: GraphTask) -> str:
    """Why a task is where it is, and what it was tried again after."""
    parts, before = list[str](), Counter[str](task.failures)
    if task.category is not None and task.phase is TaskPhase.FAILED:
        code = "" if task.exit_code is None else f" {task.exit_code}"
        parts.append(f"{task.category.value}{code}")
        before[task.category] -= 1
    if task.reason is not None:
        parts.append(task.reason)
    if before.total() > 0:
        parts.append(f"tried again after {_times(before)}")
    return ", ".join(parts) or "-"


def why_again(past: PastAttempt) -> str:
    """Why an attempt was followed by another."""
    code = "" if past.exit_code is None else f" {past.exit_code}"
    reason = "" if past.reason in (None, past.category.value) else f", {past.reason}"
    return f"{past.category.value}{code}{reason}"


def retried(tasks: Sequence[GraphTask]) -> dict[str, int]:
    """How many attempts were followed by another, by why they failed."""
    found = Counter[str]()
    for task in tasks:
        for category, count in task.failures.items():
            is_last = task.phase is TaskPhase.FAILED and category is task.category
            found[category.value] += count - is_last
    return {category: count for category, count in found.items() if count > 0}


def summary(found: GraphDetail) -> Iterator[str]:
    """What is to be said of a graph that is over, beside its counts."""
    name = f"graph-{found.graph.graph_id}"
    again = [each for each in found.tasks if retried([each])]
    counts = retried(found.tasks)
    if counts:
        yield f"{name}: tried again after {_times(counts)}: {_some([t.name for t in again])}"
    for past in found.tried_again[-TOLD_MAX:]:
        where = "" if past.node is None else f" on {past.node}"
        when = clock(past.ended_ms)
        yield f"  {when}: {past.task}, attempt {past.attempt}{where}: {why_again(past)}"
    failed = [each for each in found.tasks if each.phase is TaskPhase.FAILED]
    for task in failed[:TOLD_MAX]:
        yield f"{name}: {task.name} failed: {why(task)}"
    if len(failed) > TOLD_MAX:
        yield f"{name}: {plural(len(failed) - TOLD_MAX, 'more task')} failed"


def advice(found: GraphDetail) -> Iterator[str]:
    """What to type next, of a graph that is over and did not succeed."""
    name = f"graph-{found.graph.graph_id}"
    failed = [each for each in found.tasks if each.phase is TaskPhase.FAILED and each.job_id]
    if failed:
        yield f"bailiwick graph logs {name} {failed[0].name}"
    if any(each.phase in (TaskPhase.FAILED, TaskPhase.CANCELLED) for each in found.tasks):
        yield f"bailiwick graph retry {name}"


def _times(counts: Mapping[str, int]) -> str:
    """How often what happened; the number first, for an exit code has one of its own."""
    return ", ".join(f"{count:,} {word}" for word, count in counts.items() if count > 0)


def _some(names: Sequence[str]) -> str:
    more = len(names) - TOLD_MAX
    return ", ".join(names[:TOLD_MAX]) + (f" and {more:,} more" if more > 0 else "")
