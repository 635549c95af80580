"""``bailiwick usage`` and ``rates``: what was used, what it costs, and what things cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from bailiwick.cli.asking import Ask, noun, verb
from bailiwick.cli.phrases import clock
from bailiwick.cli.screen import make_console, print_rows

if TYPE_CHECKING:
    from bailiwick.wire.usage import Amounts, Rates, Usage

usage = noun("Usage: what a tenant used, and its cost.")
rates_app = typer.Typer(add_completion=False)

_HEADINGS = (
    *("project", "tag", "generation", "class"),
    *("leases", "running", "GPU hours", "core hours", "GiB hours", "cost"),
)


@verb(usage, "report", scope="tenant")
def report(ask: Ask) -> None:
    """What a tenant used by project, tag, generation and class, and what it costs."""
    from bailiwick.wire.usage import Usage

    found = ask.client.read(f"/v1/tenants/{ask.tenant}/usage", Usage)
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
    print_rows(
        make_console(),
        _HEADINGS,
        rows=rows,
        title=f"Usage of {found.tenant} until {clock(found.as_of_ms)}, in {found.currency}",
        numbers=_HEADINGS[4:],
    )
    if found.rows_left:
        typer.echo(f"{found.rows_left:,} rows more are in the sum but not shown", err=True)


def _amounts(row: Amounts) -> tuple[str, ...]:
    return (
        f"{row.leases:,}",
        f"{row.running:,}",
        _hours(row.gpu_micro_seconds, 10**6),
        _hours(row.cpu_milli_seconds, 10**3),
        _hours(row.mem_mib_seconds, 2**10),
        _exact(row.cost_micros),
    )


def _hours(amount: int, unit: int) -> str:
    """Seconds in parts of a unit as hours with four decimals, rounded half up."""
    parts = (amount * 10_000 + unit * 1800) // (unit * 3600)
    return f"{parts // 10_000:,}.{parts % 10_000:04}"


@verb(rates_app, "rates")
def rates(ask: Ask) -> None:
    """What an hour of each resource costs, and what each lease class pays of it."""
    from bailiwick.wire.usage import Rates

    found = ask.client.read("/v1/rates", Rates)
    ask.printer.thing(found, name="rates", draw=lambda: _draw_rates(found))


def _draw_rates(found: Rates) -> None:
    prices = [
        ("a core", found.core_micros_per_hour),
        ("a GiB of memory", found.mem_micros_per_gib_hour),
        ("a GiB of block storage", found.block_micros_per_gib_hour),
        *((f"a GPU, {word.value}", price) for word, price in found.gpu_micros_per_hour.items()),
    ]
    print_rows(
        make_console(),
        ("an hour of", found.currency),
        rows=[(name, _exact(price)) for name, price in prices],
        numbers=(found.currency,),
    )
    classes = ", ".join(
        f"{word.value} {mille // 10}.{mille % 10}%" for word, mille in found.class_per_mille.items()
    )
    typer.echo(f"\nlease classes pay of that: {classes}")


def _exact(micros: int) -> str:
    """A price with as many decimals as it needs, at least two.

    >>> _exact(2_400_000), _exact(1_250)
    ('2.40', '0.00125')
    """
    whole, part = divmod(micros, 10**6)
    decimals = f"{part:06}".rstrip("0").ljust(2, "0")
    return f"{whole:,}.{decimals}"
