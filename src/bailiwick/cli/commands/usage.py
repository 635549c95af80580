"""``bailiwick usage``: what was used and what it costs, of a tenant and of the whole fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import typer

from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.periods import (
    FromOption,
    MonthOption,
    ToOption,
    align_money,
    parse_period,
    spell_period,
)
from bailiwick.cli.shared.screen import make_console, print_rows
from bailiwick.phrases.times import clock

if TYPE_CHECKING:
    from bailiwick.wire.usage import Amounts, FleetRow, FleetUsage, Usage, UsageRow

app = noun("Usage: what a tenant used, and its cost; where the whole fleet's time went.")

_HEADINGS = (
    *("project", "tag", "generation", "class"),
    *("leases", "running", "GPU hours", "core hours", "GiB hours", "cost"),
)
WIDE: Final = 112
"""Columns that a screen needs for one line a row."""
_UNITS: Final = {
    "gpu_milli": ("GPU", "GPU hours", 3_600 * 10**6),
    "cpu_milli": ("cores", "core hours", 3_600 * 10**6),
    "mem_bytes": ("memory", "GiB hours", 3_600 * 10**3 * 2**30),
    "block_bytes": ("block storage", "GiB hours", 3_600 * 10**3 * 2**30),
}


@verb(app, "report", scope="tenant")
def report(
    ask: Ask, *, month: MonthOption = None, since: FromOption = None, until: ToOption = None
) -> None:
    """What a tenant used by project, tag, generation and class, and what it costs.

    Without a word about the period: this calendar month (UTC) until now.

    Example: bailiwick usage report --tenant lab --month 2026-10
    """
    from bailiwick.wire.actions.usage import USAGE_READ

    begin, end = parse_period(month, since=since, until=until)
    query = {"from_ms": begin, "to_ms": end}
    found = ask.client.send(USAGE_READ, path={"tenant": ask.tenant}, query=query)
    ask.printer.thing(found, name=found.tenant, draw=lambda: _draw_usage(found))


def _draw_usage(found: Usage) -> None:
    console, period = make_console(), spell_period(found.from_ms, found.to_ms)
    title = f"Usage of {found.tenant}, {period}, in {found.currency}"
    if console.width < WIDE:
        _draw_narrow(found, title)
    else:
        _draw_wide(found, title)
    if found.rows_left:
        typer.echo(f"{found.rows_left:,} rows more are in the sum but not shown", err=True)
    typer.echo(f"\nmetered from the first {found.journal_size:,} records of the journal")


def _draw_narrow(found: Usage, title: str) -> None:
    """The same for a narrow screen: what was used, below one another."""
    rows = [(_told_group(row), *_stacked(row)) for row in found.rows]
    rows.append(("in all", *_stacked(found.total)))
    headings = ("for*", "leases", "used", "cost")
    print_rows(make_console(), headings, rows=rows, title=title, numbers=headings[1:])


def _told_group(row: UsageRow) -> str:
    told = [row.project or "-", row.tag, row.generation, row.lease_class.value]
    if row.member is not None:
        told.append(_told_member(row))
    return " ".join(str(each) for each in told if each is not None)


def _told_member(row: UsageRow) -> str:
    use = row.member
    return "-" if use is None else f"{use.app} #{use.instance_id} {use.part}"


def _stacked(row: Amounts) -> tuple[str, str, str]:
    leases, running, *hours, cost = _amounts(row)
    used = "\n".join(f"{each} {unit}" for each, unit in zip(hours, _HEADINGS[6:9], strict=True))
    return f"{leases}\n{running} running", used, cost


def _draw_wide(found: Usage, title: str) -> None:
    has_members = any(row.member is not None for row in found.rows)
    rows = [
        (
            row.project or "-",
            row.tag or "-",
            "-" if row.generation is None else row.generation.value,
            row.lease_class.value,
            *([_told_member(row)] if has_members else []),
            *_amounts(row),
        )
        for row in found.rows
    ]
    named = (*_HEADINGS[:4], *(["member of"] if has_members else []))
    rows.append(("in all", *[""] * (len(named) - 1), *_amounts(found.total)))
    numbers = _HEADINGS[4:]
    print_rows(make_console(), (*named, *numbers), rows=rows, title=title, numbers=numbers)


def _amounts(row: Amounts) -> tuple[str, ...]:
    return (
        f"{row.leases:,}",
        f"{row.running:,}",
        _hours(row.gpu_micro_seconds, 3_600 * 10**6),
        _hours(row.cpu_milli_seconds, 3_600 * 10**3),
        _hours(row.mem_mib_seconds, 3_600 * 2**10),
        align_money(row.cost_micros),
    )


def _hours(amount: int, unit: int) -> str:
    """An amount in hours of its unit with four decimals, rounded half up."""
    parts = (2 * amount * 10_000 + unit) // (2 * unit)
    return f"{parts // 10_000:,}.{parts % 10_000:04}"


@verb(app, "fleet")
def fleet_usage(ask: Ask) -> None:
    """Where all of the fleet's time went: leased, idle and unavailable, and that this is all.

    Example: bailiwick usage fleet
    """
    from bailiwick.wire.actions.usage import USAGE_FLEET

    found = ask.client.send(USAGE_FLEET)
    ask.printer.thing(found, name="fleet", draw=lambda: _draw_fleet(found))


def _draw_fleet(found: FleetUsage) -> None:
    headings = ("resource", "unit", "leased", "idle", "unavailable", "capacity x time", "leased %")
    print_rows(
        make_console(),
        headings,
        rows=[_fleet_cells(row) for row in found.rows],
        title=f"The fleet until {clock(found.as_of_ms)}",
        numbers=headings[2:],
    )
    for row in found.rows:
        unit = _UNITS[row.kind.value][2]
        causes = [f"{cause} {_hours(int(used), unit)}" for cause, used in row.unavailable.items()]
        if causes:
            typer.echo(f"unavailable {_resource(row)}: {', '.join(causes)}")
    wrong = [_resource(row) for row in found.rows if _owned(row) != int(row.capacity)]
    if wrong:
        typer.echo(f"\nleased + idle + unavailable is NOT capacity x time: {', '.join(wrong)}")
    elif found.rows:
        typer.echo(
            "\nleased + idle + unavailable = capacity x time, to the last unit, in every row; "
            f"from the first {found.journal_size:,} records"
        )


def _fleet_cells(row: FleetRow) -> tuple[str, ...]:
    _, unit, size = _UNITS[row.kind.value]
    leased, idle, capacity = int(row.leased), int(row.idle), int(row.capacity)
    closed = _owned(row) - leased - idle
    mille = leased * 1_000 // capacity if capacity else 0
    hours = (_hours(each, size) for each in (leased, idle, closed, capacity))
    return _resource(row), unit, *hours, f"{mille // 10}.{mille % 10}"


def _resource(row: FleetRow) -> str:
    name = _UNITS[row.kind.value][0]
    return name if row.generation is None else f"{name} {row.generation.value}"


def _owned(row: FleetRow) -> int:
    return int(row.leased) + int(row.idle) + sum(int(each) for each in row.unavailable.values())
