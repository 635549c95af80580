"""How numbers and tables look on a screen: lengths of time, GPUs, owners, plain tables.

Rules:

- Text from a record never steers the terminal: what is not printable is spelled out.
- Where no terminal sets the width, 120 columns are used, or what ``COLUMNS`` says.
- A cell is never cut: a number or an id that lost its end would be another one. A table that
  cannot fold into the width is wider than the screen; a live one is shown as far as it reaches.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table

    from bailiwick.wire.work import Asked

WIDTH_IN_A_FILE = 120
FOLD_MIN = 24
"""The columns of a table that fold do not become narrower than this, all of them together."""


def make_console() -> Console:
    """The console that a result is printed on."""
    from rich.console import Console

    console = Console(highlight=False)
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return Console(width=WIDTH_IN_A_FILE, highlight=False)


def print_rows(
    console: Console,
    headings: Sequence[str],
    *,
    rows: Iterable[Sequence[str]],
    title: str = "",
    numbers: Sequence[str] = (),
) -> None:
    """A table under a title; columns named in ``numbers`` stand at the right, in one piece."""
    from rich.markup import escape

    if title:
        console.print(f"\n[bold]{escape(title)}[/bold]")
    print_table(console, table_of(headings, rows, numbers=numbers))


class Whole:
    """A table that leaves no column away, however narrow the screen is."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = self._table.columns
        least = sum(column.min_width or 0 for column in columns) + 2 * len(columns)
        return console.render(self._table, options.update(width=max(options.max_width, least)))


def print_table(console: Console, table: Table) -> None:
    """A table, whole; the terminal wraps the lines that are too long for it."""
    console.print(Whole(table), crop=False)


def table_of(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Sequence[str] = (),
    show_header: bool = True,
) -> Table:
    """The table itself.

    A heading with a ``*`` folds where the screen is narrow; the others keep to one line.
    """
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        box=SIMPLE_HEAD if show_header else None,
        pad_edge=False,
        show_edge=False,
        show_header=show_header,
        header_style="bold",
        padding=(0, 1, 0, 0),
    )
    cells = [[printable(cell) for cell in row] for row in rows]
    least = FOLD_MIN // max(1, sum(heading.endswith("*") for heading in headings))
    for at, heading in enumerate(headings):
        folds = heading.endswith("*")
        name = heading.removesuffix("*")
        widest = _widest([name, *(row[at] for row in cells)])
        table.add_column(
            name,
            justify="right" if name in numbers else "left",
            no_wrap=not folds,
            overflow="fold",
            min_width=min(widest, least) if folds else widest,
        )
    for row in cells:
        table.add_row(*(escape(cell) for cell in row))
    return table


def _widest(cells: Iterable[str]) -> int:
    from rich.cells import cell_len

    return max(cell_len(line) for cell in cells for line in cell.split("\n"))


def printable(text: str) -> str:
    """Text from a record, without what could steer a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)


def owner(tenant: object, project: object) -> str:
    """A tenant, or a project of it."""
    return f"{tenant}" if project is None else f"{tenant}/{project}"


def asked(found: Asked | None) -> str:
    """What was asked for, in a few words."""
    from bailiwick.phrases.amounts import milli, size

    if found is None:
        return "-"
    gpus = found.gpu_count * 1000 or found.gpu_milli
    parts = [f"{milli(gpus)} GPU{'' if gpus <= 1000 else 's'}"] if gpus else []
    if gpus and found.gpu_generation is not None:
        parts[0] += f" {found.gpu_generation.value}"
    parts.append(f"{milli(found.cpu_milli)} core{'' if found.cpu_milli == 1000 else 's'}")
    parts += [size(each) for each in (found.mem_bytes,) if each]
    told = ", ".join(parts)
    return told if found.gang_size == 1 else f"{found.gang_size} x ({told})"


def words(counts: dict[str, int]) -> str:
    """Words with their counts, the most frequent first."""
    order = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return ", ".join(f"{word} {count:,}" for word, count in order)
