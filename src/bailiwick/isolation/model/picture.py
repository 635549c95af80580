"""A history as a picture: the machines at every step, who is where, and what is wrong at the end.

Rules:

- One frame for each step that moves somebody, from left to right and then below: a machine is a
  box, its caches are boxes in it, and seats in these. A seat shows its job; a dashed one is
  leaving, a dotted one is kept.
- Colours tell tenants apart, and words do too: nothing is told by colour alone.
- Plain SVG without scripts, links or fonts of its own; every text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby

from bailiwick.isolation.model.history import ModelHistory, ModelState, Phase, job_name
from bailiwick.isolation.model.shape import ModelSeat
from bailiwick.isolation.model.story import tell_step, tell_violation
from bailiwick.isolation.model.world import ModelWorld, spell_subject
from bailiwick.isolation.trace import TraceWord

_COLOURS = ("#9ecae1", "#fdd49e", "#c7e9c0", "#dadaeb", "#fcc5c0", "#d9d9d9")
_SEAT_W, _SEAT_H, _GAP, _HEAD = 104, 34, 8, 20
_ACROSS = 3
_SHORT = {Phase.LEAVING: "leaves", Phase.CLAIMING: "next"}
_STYLE = (
    "text{font:12px sans-serif;fill:#222}.b{font-weight:bold}.node{fill:#fff;stroke:#444}"
    ".cache{fill:#f4f4f4;stroke:#999}.free{fill:#fff;stroke:#bbb}.wrong{fill:#c00}"
    ".leaving{stroke:#444;stroke-dasharray:6 3}.claiming{stroke:#444;stroke-dasharray:1 3}"
    ".running{stroke:#444}.down{fill:#bbb}.bad{stroke:#c00;stroke-width:3}"
)


def draw_history(world: ModelWorld, history: ModelHistory) -> str:
    """The whole picture."""
    whose = {job_name(i): spell_subject(each) for i, each in enumerate(history.subjects)}
    frames = _frames(history, whose)
    width, height = _frame_size(world)
    rows, across = -(-len(frames) // _ACROSS), min(len(frames), _ACROSS)
    ends = [tell_violation(each, whose) for each in history.broken]
    total = (across * (width + 2 * _GAP), rows * (height + 2 * _GAP) + 18 * (len(ends) + 1))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total[0]} {total[1]}" '
        f'width="{total[0]}" height="{total[1]}" role="img">',
        f"<title>{escape('; '.join(ends) or 'a history')}</title><style>{_STYLE}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for number, (title, state) in enumerate(frames):
        x = (number % _ACROSS) * (width + 2 * _GAP) + _GAP
        y = (number // _ACROSS) * (height + 2 * _GAP) + _GAP
        is_last = number == len(frames) - 1
        bad = {name for each in history.broken for name in each.who} if is_last else set()
        parts.append(f'<g transform="translate({x},{y})">')
        for line, text in enumerate(_wrapped(title, width)):
            parts.append(f'<text class="b" x="0" y="{12 + 14 * line}">{escape(text)}</text>')
        parts += _frame(world, history, state, bad=bad)
        parts.append("</g>")
    for line, text in enumerate(ends):
        y = rows * (height + 2 * _GAP) + 18 * (line + 1)
        parts.append(f'<text class="b wrong" x="{_GAP}" y="{y}">{escape(text)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _frames(history: ModelHistory, whose: dict[str, str]) -> list[tuple[str, ModelState]]:
    """States with what led to them; arrivals, which move nobody, are told with what comes next."""
    found, title = [], ""
    for number, (step, state) in enumerate(zip(history.steps, history.states[1:], strict=True), 1):
        title = f"{title} {number}. {tell_step(step, whose)}.".strip()
        if step.do is not TraceWord.ARRIVE or number == len(history.steps):
            found.append((title, state))
            title = ""
    return found or [("at first", history.states[0])]


def _wrapped(text: str, width: int) -> Iterator[str]:
    """A title on at most three lines."""
    line, lines, most = "", 0, width // 7
    for word in text.split():
        if line and len(line) + len(word) + 1 > most and lines < 2:
            yield line
            line, lines = "", lines + 1
        line = f"{line} {word}".strip()
    yield line


def _nodes(world: ModelWorld) -> list[tuple[str, list[list[ModelSeat]]]]:
    found = []
    for node, seats in groupby(world.seats, key=lambda seat: seat.node):
        caches = [list(group) for _, group in groupby(seats, key=lambda seat: seat.cache)]
        found.append((node, caches))
    return found


def _frame_size(world: ModelWorld) -> tuple[int, int]:
    nodes = _nodes(world)
    widest = max(sum(len(cache) for cache in caches) for _, caches in nodes)
    caches = max(len(caches) for _, caches in nodes)
    width = widest * (_SEAT_W + _GAP) + (caches + 2) * _GAP
    return width, 46 + len(nodes) * (_SEAT_H + 2 * _HEAD + 3 * _GAP)


def _frame(
    world: ModelWorld, history: ModelHistory, state: ModelState, *, bad: set[str]
) -> Iterator[str]:
    width, _ = _frame_size(world)
    y = 46
    for node, caches in _nodes(world):
        height = _SEAT_H + 2 * _HEAD + _GAP
        down = " down" if node in state.down else ""
        labels = sorted(label for name, label in state.labels if name == node)
        words = [node, *(["lost"] if down else []), *labels]
        words += [f"{d} kept by {rule}" for rule, _, d in sorted(state.residues) if d == node]
        yield f'<rect class="node{down}" x="0" y="{y}" width="{width}" height="{height}"/>'
        yield f'<text x="{_GAP}" y="{y + 14}">{escape(", ".join(words))}</text>'
        x = _GAP
        for cache in caches:
            wide = len(cache) * (_SEAT_W + _GAP) + _GAP
            yield (
                f'<rect class="cache" x="{x}" y="{y + _HEAD}" width="{wide - _GAP // 2}" '
                f'height="{_SEAT_H + _HEAD}"/>'
            )
            yield f'<text x="{x + 4}" y="{y + _HEAD + 13}">cache{cache[0].cache}</text>'
            for seat in cache:
                yield from _seat(history, state, seat, at=(x + _GAP // 2, y + _HEAD + 18), bad=bad)
                x += _SEAT_W + _GAP
            x += _GAP
        y += height + 2 * _GAP


def _seat(
    history: ModelHistory, state: ModelState, seat: ModelSeat, *, at: tuple[int, int], bad: set[str]
) -> Iterator[str]:
    holders = [(index, job) for index, job in enumerate(state.jobs) if seat.name in job.seats]
    box = f'x="{at[0]}" y="{at[1]}" width="{_SEAT_W}" height="{_SEAT_H}"'
    if not holders:
        yield f'<rect class="free" {box}/>'
        yield f'<text x="{at[0] + 4}" y="{at[1] + 21}" opacity=".5">{escape(seat.name)}</text>'
        return
    holders.sort(key=lambda pair: pair[1].phase is Phase.CLAIMING)
    index, job = holders[0]
    tenants = list(dict.fromkeys(subject.tenant for subject in history.subjects))
    colour = _COLOURS[tenants.index(history.subjects[index].tenant) % len(_COLOURS)]
    wrong = " bad" if bad & {job_name(each) for each, _ in holders} else ""
    yield f'<rect class="{job.phase.value}{wrong}" fill="{colour}" {box}/>'
    names = ", ".join(
        job_name(each) if held.phase is Phase.RUNNING else f"{job_name(each)} {_SHORT[held.phase]}"
        for each, held in holders
    )
    whose = spell_subject(history.subjects[index])[:16]
    yield f'<text class="b" x="{at[0] + 4}" y="{at[1] + 14}">{escape(names)}</text>'
    yield f'<text x="{at[0] + 4}" y="{at[1] + 28}">{escape(whose)}</text>'
