"""``bailiwick usage`` and ``rates``: what was used, what it costs, and what things cost.

Rules:

- A card that was shown as YAML can be edited and set. What a file leaves out stays as it is on the
  card that holds; when it takes effect is said beside it, never by the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bailiwick.cli.asking import Ask, noun, path_word, verb
from bailiwick.cli.completing import complete_tenants
from bailiwick.cli.output import Columns
from bailiwick.cli.periods import (
    FromOption,
    MonthOption,
    ToOption,
    align_money,
    parse_period,
    parse_time,
    spell_period,
    spell_time,
)
from bailiwick.cli.phrases import clock
from bailiwick.cli.screen import make_console, print_rows

if TYPE_CHECKING:
    from bailiwick.wire.usage import Amounts, FleetRow, FleetUsage, RateChange, Rates, Usage

usage = noun("Usage: what a tenant used, and its cost; where the whole fleet's time went.")
rates = noun("Rates: what an hour of each resource costs, when and for whom.")

_HEADINGS = (
    *("project", "tag", "generation", "class"),
    *("leases", "running", "GPU hours", "core hours", "GiB hours", "cost"),
)
_UNITS: Final = {
    "gpu_milli": ("GPU", "GPU hours", 3_600 * 10**6),
    "cpu_milli": ("cores", "core hours", 3_600 * 10**6),
    "mem_bytes": ("memory", "GiB hours", 3_600 * 10**3 * 2**30),
    "block_bytes": ("block storage", "GiB hours", 3_600 * 10**3 * 2**30),
}

# -- usage -----------------------------------------------------------------------------------


@verb(usage, "report", scope="tenant")
def report(
    ask: Ask, *, month: MonthOption = None, since: FromOption = None, until: ToOption = None
) -> None:
    """What a tenant used by project, tag, generation and class, and what it costs.

    Without a word about the period: this calendar month (UTC) until now.
    """
    from bailiwick.wire.usage import Usage

    begin, end = parse_period(month, since=since, until=until)
    query = {"from_ms": begin, "to_ms": end}
    found = ask.client.read(f"/v1/tenants/{ask.tenant}/usage", Usage, query=query)
    ask.printer.thing(found, name=found.tenant, draw=lambda: _draw_usage(found))


def _draw_usage(found: Usage) -> None:
    rows = [
        (
            row.project or "-",
            row.tag or "-",
            "-" if row.generation is None else row.generation.value,
            row.lease_class.value,
            *_amounts(row),
        )
        for row in found.rows
    ]
    rows.append(("in all", "", "", "", *_amounts(found.total)))
    period = spell_period(found.from_ms, found.to_ms)
    print_rows(
        make_console(),
        _HEADINGS,
        rows=rows,
        title=f"Usage of {found.tenant}, {period}, in {found.currency}",
        numbers=_HEADINGS[4:],
    )
    if found.rows_left:
        typer.echo(f"{found.rows_left:,} rows more are in the sum but not shown", err=True)
    typer.echo(f"\nmetered from the first {found.journal_size:,} records of the journal")


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


@verb(usage, "fleet")
def fleet_usage(ask: Ask) -> None:
    """Where all of the fleet's time went: leased, idle and unavailable, and that this is all."""
    from bailiwick.wire.usage import FleetUsage

    found = ask.client.read("/v1/usage", FleetUsage)
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


# -- rates -----------------------------------------------------------------------------------

_Tenant = Annotated[
    str | None,
    typer.Option(
        "--tenant",
        help="For this tenant alone; else for everybody.",
        autocompletion=complete_tenants,
    ),
]
_Effective = Annotated[
    str | None,
    typer.Option("--from", metavar="TIME", help="From when on, a time to come; else at once."),
]

_CHANGES: Columns[RateChange] = Columns(
    ("change", "card", "for", "from", "what"),
    lambda c: (
        str(c.number),
        c.name,
        c.tenant or "everybody",
        clock(c.effective_ms),
        "withdrawn: the list holds again" if c.rates is None else "set",
    ),
    lambda c: str(c.number),
    numbers=("change",),
    empty="no prices were set: the list prices that come with Bailiwick hold",
)


@verb(rates, "show", scope="tenant")
def show_rates(
    ask: Ask,
    *,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="The card that holds then.")
    ] = None,
    the_list: Annotated[
        bool, typer.Option("--list", help="The list, whatever card the tenant has.")
    ] = False,
) -> None:
    """The card that holds for the tenant: an hour of each resource, and what a class pays of it."""
    found = _read_card(
        ask,
        tenant=None if the_list else (ask.given.get("tenant") or ask.session.tenant),
        at_ms=None if at is None else parse_time("--at", at),
    )
    ask.printer.thing(found, name=found.name, draw=lambda: _draw_rates(found))


def _read_card(ask: Ask, *, tenant: str | None, at_ms: int | None = None) -> Rates:
    from bailiwick.wire.usage import Rates

    return ask.client.read("/v1/rates", Rates, query={"tenant": tenant, "at_ms": at_ms})


def _draw_rates(found: Rates) -> None:
    prices = [
        ("a core", found.core_micros_per_hour),
        ("a GiB of memory", found.mem_micros_per_gib_hour),
        ("a GiB of block storage", found.block_micros_per_gib_hour),
        *((f"a GPU, {word.value}", price) for word, price in found.gpu_micros_per_hour.items()),
    ]
    whose = "for everybody" if found.tenant is None else f"for {found.tenant} alone"
    since = f", since {clock(found.effective_ms)}" if found.effective_ms else ""
    print_rows(
        make_console(),
        ("an hour of", found.currency),
        rows=[(name, align_money(price)) for name, price in prices],
        title=f"Card {found.name}, {whose}{since}",
        numbers=(found.currency,),
    )
    classes = ", ".join(
        f"{word.value} {mille // 10}.{mille % 10}%" for word, mille in found.class_per_mille.items()
    )
    typer.echo(f"\nlease classes pay of that: {classes}")


@verb(rates, "list", lists=True)
def list_rates(ask: Ask) -> None:
    """Every change of prices that you may see, in the order in which they were set."""
    from bailiwick.wire.usage import RateChange

    ask.list("/v1/rates/changes", RateChange, columns=_CHANGES)


@verb(rates, "set", changes=True)
def set_rates(
    ask: Ask,
    *,
    file: Annotated[
        Path, typer.Option("--file", "-f", metavar="FILE", help="The card, as YAML, or -.")
    ],
    tenant: _Tenant = None,
    name: Annotated[
        str | None, typer.Option("--name", help="What the card is called; else as in the file.")
    ] = None,
    effective: _Effective = None,
) -> None:
    """Set prices, for everybody or for one tenant; what a file leaves out stays as it is.

    The words of the file are those that bailiwick rates show -o yaml prints.
    """
    from bailiwick.cli.rate_file import load_card
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.usage import NewRates

    wanted = load_card(file)
    held = _read_card(ask, tenant=tenant).model_dump(mode="json")
    body: dict[str, Any] = held | wanted
    for table in ("gpu_micros_per_hour", "class_per_mille"):
        body[table] = held[table] | wanted.get(table, {})
    body["tenant"] = None if tenant is None else path_word("--tenant", tenant)
    body["effective_ms"] = 0 if effective is None else parse_time("--from", effective)
    body["name"] = name or _name_of(held, wanted.get("name"), tenant=tenant)
    whose = "everybody" if tenant is None else tenant
    when = "from now on" if effective is None else f"from {spell_time(body['effective_ms'])} on"
    told = f"card {body['name']} holds for {whose} {when}"
    ask.change("PUT", "/v1/rates", body=make_body(NewRates, **body), told=told)


def _name_of(held: dict[str, Any], wanted: object, *, tenant: str | None) -> object:
    """What a card is called: as the file says, if it says another name than the card that holds.

    Else it keeps that name; a tenant's first card has the tenant's.
    """
    if wanted is not None and wanted != held["name"]:
        return wanted
    return held["name"] if tenant is None or held["tenant"] == tenant else tenant


@verb(rates, "withdraw", changes=True)
def withdraw_rates(
    ask: Ask,
    *,
    tenant: Annotated[
        str,
        typer.Option("--tenant", help="Whose own card.", autocompletion=complete_tenants),
    ],
    effective: _Effective = None,
) -> None:
    """Have the list hold for a tenant again."""
    at_ms = 0 if effective is None else parse_time("--from", effective)
    query = f"?effective_ms={at_ms}" if at_ms else ""
    path = f"/v1/tenants/{path_word('--tenant', tenant)}/rates{query}"
    ask.change("DELETE", path, told=f"the list holds for {tenant} again")
