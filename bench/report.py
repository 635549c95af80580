"""What a bench hands back, and how it is shown: tables for people, the same in JSON.

A section has tables, bars and notes. A bar is a promise of the design with the figure measured
against it; it is met, missed, or (in a quick run, or without its reference) not judged.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table as RichTable

OUT = Path(__file__).resolve().parent / "out"


@dataclass(slots=True)
class Table:
    """Rows under headings; the first column names the row."""

    title: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Bar:
    """A promise and the figure against it."""

    what: str
    wanted: str
    measured: str
    met: bool | None

    @property
    def word(self) -> str:
        """How it went."""
        return {True: "met", False: "MISSED", None: "not judged"}[self.met]


@dataclass(slots=True)
class Section:
    """One bench's result."""

    name: str
    title: str
    tables: list[Table] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    data: dict[str, object] = field(default_factory=dict)

    def bar_at_least(self, what: str, measured: float, bar: float, *, unit: str = "x") -> None:
        """A bar that the figure must reach."""
        words = f">= {_short(bar)}{unit}", f"{_short(measured)}{unit}"
        self.bars.append(Bar(what, *words, measured >= bar))

    def bar_at_most(self, what: str, measured: float, bar: float, *, unit: str = "x") -> None:
        """A bar that the figure must not pass."""
        words = f"<= {_short(bar)}{unit}", f"{_short(measured)}{unit}"
        self.bars.append(Bar(what, *words, measured <= bar))

    def leave_unjudged(self) -> None:
        """The figures are too rough to judge by."""
        self.bars = [replace(bar, met=None) for bar in self.bars]


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def machine() -> dict[str, object]:
    """What the figures depend on, without naming the machine."""
    from bailiwick import CapacityLedger

    pure = type(CapacityLedger().engine).__name__ == "PureEngine"
    return {
        "python": platform.python_version(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
        "engine": "pure" if pure else "compiled",
    }


def show(sections: list[Section], console: Console) -> None:
    """Print every table, then every bar."""
    for section in sections:
        console.rule(section.title)
        for table in section.tables:
            drawn = RichTable(title=table.title, title_justify="left")
            for at, column in enumerate(table.columns):
                drawn.add_column(column, justify="right" if at else "left", no_wrap=True)
            for row in table.rows:
                drawn.add_row(*row)
            console.print(drawn)
        for note in section.notes:
            console.print(f"- {note}", highlight=False)
    bars = [(section.name, bar) for section in sections for bar in section.bars]
    if bars:
        console.rule("bars")
        drawn = RichTable()
        for column in ("section", "what", "wanted", "measured", ""):
            drawn.add_column(column, no_wrap=column != "what")
        colours = {True: "green", False: "bold red", None: "yellow"}
        for name, bar in bars:
            verdict = f"[{colours[bar.met]}]{bar.word}[/]"
            drawn.add_row(name, bar.what, bar.wanted, bar.measured, verdict)
        console.print(drawn)


def write(sections: list[Section], *, folder: Path, quick: bool) -> None:
    """Leave ``bench.json`` and ``bench.md`` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    run = {**machine(), "quick": quick}
    told = {
        section.name: {
            "title": section.title,
            "data": section.data,
            "bars": [
                {"what": b.what, "wanted": b.wanted, "measured": b.measured, "verdict": b.word}
                for b in section.bars
            ],
            "notes": section.notes,
        }
        for section in sections
    }
    text = json.dumps({"run": run, "sections": told}, indent=1)
    (folder / "bench.json").write_text(text + "\n", encoding="utf-8")
    (folder / "bench.md").write_text(_markdown(sections, run), encoding="utf-8")


def _markdown(sections: list[Section], run: dict[str, object]) -> str:
    lines = ["# Bench", "", ", ".join(f"{key} {value}" for key, value in run.items()), ""]
    for section in sections:
        lines += [f"## {section.title}", ""]
        for table in section.tables:
            lines += [f"### {table.title}", "", _row(table.columns)]
            lines += ["|" + " --- |" * len(table.columns), *map(_row, table.rows), ""]
        lines += [f"- {note}" for note in section.notes] + [""]
    lines += ["## Bars", "", _row(["section", "what", "wanted", "measured", "verdict"])]
    lines.append("|" + " --- |" * 5)
    for section in sections:
        lines += [_row([section.name, b.what, b.wanted, b.measured, b.word]) for b in section.bars]
    return "\n".join(lines) + "\n"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
