"""``bailiwick rates``: what things cost, when and for whom.

Rules:

- A card that was shown as YAML can be edited and set. What a file leaves out stays as it is on the
  card that holds; when it takes effect is said beside it, never by the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.shared.ask import Ask, noun, path_word, verb
from bailiwick.cli.shared.completions import complete_tenants
from bailiwick.cli.shared.output import Columns
from bailiwick.cli.shared.periods import (
    align_money,
    parse_time,
    parse_until,
    spell_time,
)
from bailiwick.cli.shared.screen import make_console, print_rows
from bailiwick.phrases.times import clock

if TYPE_CHECKING:
    from bailiwick.wire.usage import RateChange, Rates

app = noun("Rates: what an hour of each resource costs, when and for whom.")


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


@verb(app, "show", scope="tenant")
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
    """The card that holds for the tenant: an hour of each resource, and what a class pays of it.

    Example: bailiwick rates show --tenant lab --at 2026-12-01
    """
    found = _read_card(
        ask,
        tenant=None if the_list else (ask.given.get("tenant") or ask.session.tenant),
        at_ms=None if at is None else parse_time("--at", at),
    )
    ask.printer.thing(found, name=found.name, draw=lambda: _draw_rates(found))


def _read_card(ask: Ask, *, tenant: str | None, at_ms: int | None = None) -> Rates:
    from bailiwick.wire.actions.rates import RATES_READ

    return ask.client.send(RATES_READ, query={"tenant": tenant, "at_ms": at_ms})


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
    for key, price in found.app_unit_micros.items():
        typer.echo(f"one {key} costs {align_money(price)}")


@verb(app, "list", lists=True)
def list_rates(ask: Ask) -> None:
    """Every change of prices that you may see, in the order in which they were set.

    Example: bailiwick rates list
    """
    from bailiwick.wire.actions.rates import RATES_LIST

    ask.list(RATES_LIST, columns=_CHANGES)


@verb(app, "set", changes=True)
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

    Example: bailiwick rates set -f card.yaml --tenant lab --from 2026-12-01
    """
    from bailiwick.cli.commands.rates_file import TABLES, load_card
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.rates import RATES_SET
    from bailiwick.wire.usage import NewRates

    wanted = load_card(file)
    held = _read_card(ask, tenant=tenant).model_dump(mode="json")
    body: dict[str, Any] = held | wanted
    for table in TABLES:
        body[table] = held[table] | wanted.get(table, {})
    body["tenant"] = None if tenant is None else path_word("--tenant", tenant)
    body["effective_ms"] = 0 if effective is None else parse_until("--from", effective)
    body["name"] = name or _name_of(held, wanted.get("name"), tenant=tenant)
    whose = "everybody" if tenant is None else tenant
    when = "from now on" if effective is None else f"from {spell_time(body['effective_ms'])} on"
    told = f"card {body['name']} holds for {whose} {when}"
    ask.change(RATES_SET, body=make_body(NewRates, **body), told=told)


def _name_of(held: dict[str, Any], wanted: object, *, tenant: str | None) -> object:
    """What a card is called: as the file says, if it says another name than the card that holds.

    Else it keeps that name; a tenant's first card has the tenant's.
    """
    if wanted is not None and wanted != held["name"]:
        return wanted
    return held["name"] if tenant is None or held["tenant"] == tenant else tenant


@verb(app, "withdraw", changes=True)
def withdraw_rates(
    ask: Ask,
    *,
    tenant: Annotated[
        str,
        typer.Option("--tenant", help="Whose own card.", autocompletion=complete_tenants),
    ],
    effective: _Effective = None,
) -> None:
    """Have the list hold for a tenant again.

    Example: bailiwick rates withdraw --tenant lab
    """
    from bailiwick.wire.actions.rates import RATES_WITHDRAW

    at_ms = 0 if effective is None else parse_until("--from", effective)
    ask.change(
        RATES_WITHDRAW,
        path={"tenant": path_word("--tenant", tenant)},
        query={"effective_ms": at_ms or None},
        told=f"the list holds for {tenant} again",
    )
