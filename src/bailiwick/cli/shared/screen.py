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

    from bailiwick import PlacementRequest

WIDTH_IN_A_FILE = 120
FOLD_MIN = 24
"""The columns of a table that fold do not become narrower than this, all of them together."""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_SPANS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"))


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


def span(ms: int) -> str:
    """A length of time in its two largest units.

    >>> span(5_400_000), span(1_500), span(250), span(0)
    ('1h 30m', '1.5s', '250ms', '0s')
    """
    sign, rest = ("-", -ms) if ms < 0 else ("", ms)
    if rest < 1_000:
        return f"{sign}{rest}ms" if rest else "0s"
    if rest < 60_000:
        whole, part = divmod(rest, 1_000)
        return f"{sign}{whole}.{part // 100}s" if part >= 100 else f"{sign}{whole}s"
    parts: list[tuple[int, str]] = []
    for size, unit in _SPANS:
        count, rest = divmod(rest, size)
        if count or parts:
            parts.append((count, unit))
    return sign + " ".join(f"{count}{unit}" for count, unit in parts[:2] if count)


def milli(amount: int) -> str:
    """Thousandths as whole ones, with decimals only where there are any.

    >>> milli(4_000), milli(1_500), milli(-250)
    ('4', '1.5', '-0.25')
    """
    sign, rest = ("-", -amount) if amount < 0 else ("", amount)
    whole, part = divmod(rest, 1_000)
    return f"{sign}{whole:,}" + (f".{part:03}".rstrip("0") if part else "")


def asks(request: PlacementRequest) -> str:
    """What a request is for, as short as can be.

    >>> from bailiwick import PlacementRequest, TenantId
    >>> asks(PlacementRequest(tenant=TenantId("a"), gpu_count=4, cpu_cores=8, gang_size=2))
    '2 × 4 GPU, 8 cores'
    """
    parts = []
    if request.device_count:
        family = "" if request.generation is None else f" {request.generation}"
        parts.append(f"{milli(request.gpu_milli_total)} GPU{family}")
    if request.cpu_milli:
        cores = milli(request.cpu_milli)
        parts.append(f"{cores} core" if cores == "1" else f"{cores} cores")
    if not parts:
        parts.append("memory only" if request.mem_bytes else "block storage only")
    gang = f"{request.gang_size} × " if request.gang_size > 1 else ""
    return gang + ", ".join(parts)


def money(micros: int) -> str:
    """Millionths of a currency unit as units with two decimals, rounded half up.

    >>> money(2_500_000), money(-1_234_567_890), money(4_999)
    ('2.50', '-1,234.57', '0.00')
    """
    cents = (abs(micros) + 5_000) // 10_000
    sign = "-" if micros < 0 and cents else ""
    return f"{sign}{cents // 100:,}.{cents % 100:02}"


def owner(tenant: object, project: object) -> str:
    """A tenant, or a project of it."""
    return f"{tenant}" if project is None else f"{tenant}/{project}"


def words(counts: dict[str, int]) -> str:
    """Words with their counts, the most frequent first."""
    order = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return ", ".join(f"{word} {count:,}" for word, count in order)


def size(count: int) -> str:
    """Bytes in the largest unit that leaves at least one.

    >>> size(25_275_125_760), size(512), size(0)
    ('23.5 GiB', '512 B', '0 B')
    """
    power = min(max(0, count.bit_length() - 1) // 10, len(_UNITS) - 1)
    tenths = count * 10 // 1024**power
    whole, part = divmod(tenths, 10)
    return f"{whole:,}.{part} {_UNITS[power]}" if part else f"{whole:,} {_UNITS[power]}"
