"""A graph as a picture: stages and what stands after what, as DOT or as SVG.

Rules:

- A box for each stage (a map is one), an arrow for each "stands after"; nothing else is drawn, so a
  picture of a large map is as small as its file.
- Columns are how many stages a stage stands after at most; rows are in the order of the file.
- A colour never stands alone: what it means is written in the box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from bailiwick.vocab.graphs import TaskPhase

if TYPE_CHECKING:
    from bailiwick.wire.graphs import GraphDetail

WIDE, HIGH, ACROSS, DOWN, EDGE = 200, 50, 260, 74, 10
NAME_MAX, TEXT_MAX = 26, 32
"""Letters that a box has room for, in its first line and in its second."""
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
    is_over = bool(counts) and all(phase.is_over for phase in counts)
    if is_over and any(phase.is_good for phase in counts):
        return "done"
    waits = (TaskPhase.BLOCKED, TaskPhase.CANCELLED, TaskPhase.SKIPPED)
    return "idle" if all(phase in waits for phase in counts) else "running"


def draw_dot(found: GraphDetail) -> str:
    """As Graphviz reads it."""
    lines = [f"digraph graph_{found.graph.graph_id} {{", "  rankdir=LR; node [shape=box];"]
    counts = stage_counts(found)
    for stage in found.stages:
        own = counts[stage.name]
        label, colour = f"{stage.name}\\n{_counts(own)}", _COLOURS[state_of(own)]
        lines.append(f'  "{stage.name}" [label="{label}" style=filled fillcolor="{colour}"];')
    for source, target in _arrows(found):
        lines.append(f'  "{source}" -> "{target}";')
    return "\n".join([*lines, "}"])


def draw_svg(found: GraphDetail) -> str:
    """As a browser shows it."""
    places, counts = _places(found), stage_counts(found)
    width = 2 * EDGE + WIDE + ACROSS * max((x for x, _ in places.values()), default=0)
    height = 2 * EDGE + HIGH + DOWN * max((y for _, y in places.values()), default=0)
    graph = found.graph
    title = f"graph-{graph.graph_id}{'' if graph.name is None else f' {graph.name}'}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}: {graph.phase.value}</title>",
        '<defs><marker id="tip" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto">'
        '<path d="M0,0 L9,4 L0,8 z" fill="#777"/></marker></defs>',
    ]
    parts += [_arrow(places[source], places[target]) for source, target in _arrows(found)]
    for name, (x, y) in places.items():
        left, top = x * ACROSS + EDGE, y * DOWN + EDGE
        colour = _COLOURS[state_of(counts[name])]
        first, second = escape(_cut(name, NAME_MAX)), escape(_cut(_counts(counts[name]), TEXT_MAX))
        parts.append(
            f'<rect x="{left}" y="{top}" width="{WIDE}" height="{HIGH}" rx="5" fill="{colour}" '
            f'stroke="#777"/><text x="{left + 10}" y="{top + 20}" font-weight="bold">{first}</text>'
            f'<text x="{left + 10}" y="{top + 38}">{second}</text>'
        )
    return "\n".join([*parts, "</svg>"])


def _arrow(source: tuple[int, int], target: tuple[int, int]) -> str:
    (ax, ay), (bx, by) = source, target
    from_x, from_y = ax * ACROSS + EDGE + WIDE, ay * DOWN + EDGE + HIGH // 2
    to_x, to_y = bx * ACROSS + EDGE, by * DOWN + EDGE + HIGH // 2
    bend = (from_x + to_x) // 2
    return (
        f'<path d="M{from_x},{from_y} C{bend},{from_y} {bend},{to_y} {to_x},{to_y}" '
        'fill="none" stroke="#777" marker-end="url(#tip)"/>'
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"


def _counts(counts: Mapping[TaskPhase, int]) -> str:
    """One task by its phase alone, a map by how many are in which."""
    if sum(counts.values()) == 1:
        return next(iter(counts)).value
    return ", ".join(f"{counts[phase]:,} {phase.value}" for phase in TaskPhase if phase in counts)


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
