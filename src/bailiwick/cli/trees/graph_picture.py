"""A graph as a picture: stages and what stands after what, as DOT or as SVG.

Rules:

- A box for each stage (a map is one), an arrow for each "stands after"; nothing else is drawn, so a
  picture of a large map is as small as its file.
- Columns are how many stages a stage stands after at most; rows are in the order of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from bailiwick.vocab.graphs import TaskPhase

if TYPE_CHECKING:
    from bailiwick.wire.graphs import GraphDetail

WIDE, HIGH, ACROSS, DOWN = 180, 46, 240, 70
_COLOURS: Final = {"failed": "#f4b6b6", "done": "#bfe3c0", "running": "#bcd4f2", "idle": "#eeeeee"}


def stage_counts(found: GraphDetail) -> dict[str, dict[TaskPhase, int]]:
    """How many tasks of each stage are in which phase."""
    counts: dict[str, dict[TaskPhase, int]] = {stage.name: {} for stage in found.stages}
    for task in found.tasks:
        own = counts[task.stage]
        own[task.phase] = own.get(task.phase, 0) + 1
    return counts


def state_of(counts: Mapping[TaskPhase, int]) -> str:
    """A stage in one word."""
    if counts.get(TaskPhase.FAILED):
        return "failed"
    if counts and all(phase.is_over for phase in counts):
        return "done"
    waits = (TaskPhase.BLOCKED, TaskPhase.CANCELLED, TaskPhase.SKIPPED)
    return "idle" if all(phase in waits for phase in counts) else "running"


def draw_dot(found: GraphDetail) -> str:
    """As Graphviz reads it."""
    lines = [f"digraph graph_{found.graph.graph_id} {{", "  rankdir=LR; node [shape=box];"]
    counts = stage_counts(found)
    for stage in found.stages:
        label, colour = _label(found, stage.name), _COLOURS[state_of(counts[stage.name])]
        lines.append(f'  "{stage.name}" [label="{label}" style=filled fillcolor="{colour}"];')
    for source, target in _arrows(found):
        lines.append(f'  "{source}" -> "{target}";')
    return "\n".join([*lines, "}"])


def draw_svg(found: GraphDetail) -> str:
    """As a browser shows it."""
    places, counts = _places(found), stage_counts(found)
    width = ACROSS * (1 + max((x for x, _ in places.values()), default=0))
    height = DOWN * (1 + max((y for _, y in places.values()), default=0))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="13">'
    ]
    for source, target in _arrows(found):
        (ax, ay), (bx, by) = places[source], places[target]
        from_x, from_y = ax * ACROSS + 10 + WIDE, ay * DOWN + 10 + HIGH // 2
        to_x, to_y = bx * ACROSS + 10, by * DOWN + 10 + HIGH // 2
        bend = (from_x + to_x) // 2
        parts.append(
            f'<path d="M{from_x},{from_y} C{bend},{from_y} {bend},{to_y} {to_x},{to_y}" '
            'fill="none" stroke="#777"/>'
        )
    for name, (x, y) in places.items():
        left, top, colour = x * ACROSS + 10, y * DOWN + 10, _COLOURS[state_of(counts[name])]
        label = escape(_label(found, name))
        parts.append(
            f'<rect x="{left}" y="{top}" width="{WIDE}" height="{HIGH}" rx="5" fill="{colour}" '
            f'stroke="#777"/><text x="{left + 10}" y="{top + 28}">{label}</text>'
        )
    return "\n".join([*parts, "</svg>"])


def _label(found: GraphDetail, name: str) -> str:
    counts = stage_counts(found)[name]
    done = sum(count for phase, count in counts.items() if phase.is_over)
    return f"{name} {done}/{sum(counts.values())}"


def _arrows(found: GraphDetail) -> Sequence[tuple[str, str]]:
    pairs = [(up.partition("[")[0], stage.name) for stage in found.stages for up in stage.after]
    return list(dict.fromkeys(pairs))


def _places(found: GraphDetail) -> dict[str, tuple[int, int]]:
    """Where each stage stands: its column and its row."""
    before: dict[str, list[str]] = {stage.name: [] for stage in found.stages}
    for source, target in _arrows(found):
        before[target].append(source)
    column = dict.fromkeys(before, 0)
    for _ in before:  # as often as the longest way may be long
        moved = {
            name: 1 + max((column[up] for up in ups), default=-1) for name, ups in before.items()
        }
        if moved == column:
            break
        column = moved
    places, rows = dict[str, tuple[int, int]](), dict[int, int]()
    for name in before:
        at = column[name]
        places[name] = at, rows.get(at, 0)
        rows[at] = rows.get(at, 0) + 1
    return places
