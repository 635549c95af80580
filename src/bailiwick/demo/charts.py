"""GPU use over time, drawn with characters: one line for the fleet, one strip per generation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import plotille  # type: ignore[import-untyped]
from rich.text import Text

from bailiwick import HardwareGeneration
from bailiwick.demo.books import Sample
from bailiwick.demo.fleet import HOUR_MS
from bailiwick.demo.phrases import DAYS

_EIGHTHS = " ▁▂▃▄▅▆▇█"
LABEL = 19
"""Columns to the left of every chart."""

TAIL = 6
"""Columns to the right: a mean."""


def bar(part: float, width: int = 10) -> str:
    """A part of one as a bar of so many characters."""
    full = max(0, min(width, round(part * width)))
    return "█" * full + "░" * (width - full)


def strip(values: Sequence[float], width: int) -> str:
    """Values from 0 to 1 as a strip of so many characters, each the mean of its share of time."""
    cells = []
    for column in range(width):
        first = column * len(values) // width
        last = max(first + 1, (column + 1) * len(values) // width)
        mean = sum(values[first:last]) / (last - first)
        # Anything above nothing shows: an empty cell means an idle one.
        cells.append(_EIGHTHS[min(8, max(int(mean > 0), round(8 * mean)))])
    return "".join(cells)


def chart_width(console_width: int) -> int:
    """How many columns the time axis gets; at most one an hour of three days."""
    return max(24, min(72, console_width - LABEL - TAIL - 1))


def line_chart(samples: Sequence[Sample], width: int, *, height: int = 7) -> list[Text]:
    """All GPUs together: the share leased, as a line."""
    canvas = plotille.Canvas(
        width, height, xmin=0, ymin=0, xmax=max(1, len(samples) - 1), ymax=1.02
    )
    points = [(float(i), sample.busy) for i, sample in enumerate(samples)]
    for (x0, y0), (x1, y1) in pairwise(points):
        canvas.line(x0, y0, x1, y1)
    rows = canvas.plot().splitlines()
    marks = {0: "100%", height // 2: "50%", height - 1: "0%"}
    lines = []
    for number, row in enumerate(rows):
        drawn = row.replace("⠀", " ").rstrip()
        line = Text(f"{marks.get(number, ''):>{LABEL - 2}} ┤")
        lines.append(line.append(drawn, style="green"))
    return lines


def time_axis(samples: Sequence[Sample], width: int) -> Text:
    """Days and hours under a chart."""
    end_ms = samples[-1].at_ms if samples else HOUR_MS
    hours = max(1, round(end_ms / HOUR_MS))
    step = next(s for s in (6, 12, 24, 48, 96, 192, 10**6) if width * s >= hours * 8)
    cells = [" "] * (width + len(DAYS[0]))
    for hour in range(0, hours, step):
        at = hour * width // hours
        name = DAYS[hour // 24 % 7] if hour % 24 == 0 else f"{hour % 24:02}h"
        cells[at : at + len(name)] = name
    caption = f"{'generation':<13}{'GPUs':>4}"
    return Text(
        f"{caption:<{LABEL}}" + f"{''.join(cells):<{width}}"[:width] + f"{'mean':>{TAIL}}",
        style="dim",
    )


def mark_row(marks: Sequence[tuple[str, int]], end_ms: int, *, width: int) -> Text:
    """Letters under the time axis, each at its time; one that would hide another steps right."""
    cells = [" "] * width
    for letter, at_ms in marks:
        at = min(width - 1, at_ms * width // end_ms)
        while at < width - 1 and cells[at] != " ":
            at += 1
        cells[at] = letter
    return Text(f"{'see below':<{LABEL}}", style="dim").append("".join(cells).rstrip(), "not dim")


def generation_rows(samples: Sequence[Sample], width: int) -> list[Text]:
    """One strip per generation, and its mean."""
    rows = []
    for family, size in samples[0].total.items():
        values = [s.leased.get(family, 0) / max(1, s.total.get(family, 0)) for s in samples]
        row = Text(f"{_label(family, size):<{LABEL}}")
        row.append(strip(values, width), style="green")
        rows.append(row.append(f"{100 * sum(values) / len(values):>{TAIL - 1}.0f}%"))
    return rows


def _label(family: HardwareGeneration, milli: int) -> str:
    return f"{family:<13} {milli // 1000:>3}"
