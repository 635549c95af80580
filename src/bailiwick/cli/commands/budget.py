"""``bailiwick budget``: what a tenant or project may spend, and how that stands.

Rules:

- A change names only what it changes. What it was made from is checked: if somebody was faster, it
  ends with 6 and nothing is changed.
- A new budget warns at four fifths of its limit, unless it is told otherwise.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import Columns, draw_details
from bailiwick.cli.shared.periods import (
    align_money,
    parse_money,
    parse_month,
    parse_time,
    spell_money,
    spell_period,
)
from bailiwick.cli.shared.screen import owner
from bailiwick.phrases.states import BUDGETS
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.billing import BudgetStanding

app = noun("Budgets: what a tenant or project may spend, and how that stands.")

_WARN: Final = [800]
_BUDGETS: Columns[BudgetStanding] = Columns(
    ("of", "limit", "spent", "left", "heading for", "cap", "state"),
    lambda b: (
        owner(b.tenant, b.project),
        align_money(b.budget.limit_micros),
        align_money(b.spent_micros),
        align_money(b.left_micros),
        align_money(b.projected_micros),
        "-" if b.budget.cap_micros is None else align_money(b.budget.cap_micros),
        b.state.value,
    ),
    lambda b: owner(b.tenant, b.project),
    numbers=("limit", "spent", "left", "heading for", "cap"),
    empty="no budget that you may see: nothing limits what is spent there",
)


@verb(app, "list", lists=True, scope="tenant")
def list_budgets(ask: Ask) -> None:
    """The budgets of a tenant and its projects that you may see.

    Example: bailiwick budget list --tenant lab
    """
    from bailiwick.wire.actions.budgets import BUDGET_LIST

    ask.list(BUDGET_LIST, path={"tenant": ask.tenant}, columns=_BUDGETS)


@verb(app, "show", scope="project")
def show_budget(ask: Ask) -> None:
    """What a tenant (or with --project a project) may spend, and how that stands.

    Example: bailiwick budget show --tenant lab --project vision
    """
    from bailiwick.wire.actions.budgets import PROJECT_BUDGET_READ, TENANT_BUDGET_READ

    action = ask.of_scope(TENANT_BUDGET_READ, PROJECT_BUDGET_READ)
    found = ask.client.send(action, path=ask.scope)
    ask.printer.thing(found, name=ask.scope_name, draw=lambda: _draw(found, ask.scope_name))


def _draw(found: BudgetStanding, name: str) -> None:
    budget, unit = found.budget, found.currency
    rows = [
        ("period", spell_period(budget.from_ms, budget.until_ms)),
        ("limit", f"{spell_money(budget.limit_micros)} {unit}"),
        ("spent", f"{spell_money(found.spent_micros)} {unit}{_share(found)}"),
        ("left", f"{spell_money(found.left_micros)} {unit}"),
        ("heading for", f"{spell_money(found.projected_micros)} {unit}, if all that runs goes on"),
        ("hard cap", "-" if budget.cap_micros is None else spell_money(budget.cap_micros)),
        ("warns at", ", ".join(_warned(found)) or "-"),
        ("state", BUDGETS[found.state]),
    ]
    draw_details("budget", name, rows=rows)


def _share(found: BudgetStanding) -> str:
    limit = found.budget.limit_micros
    mille = found.spent_micros * 1_000 // limit if limit else 1_000
    return f" ({mille // 10}.{mille % 10}%)"


def _warned(found: BudgetStanding) -> list[str]:
    told = []
    for number, mille in enumerate(found.budget.thresholds):
        decimal = f".{mille % 10}" if mille % 10 else ""
        told.append(f"{mille // 10}{decimal}%{' (told)' if number < found.crossed else ''}")
    return told


_Cap = Annotated[
    str | None,
    typer.Option("--cap", metavar="AMOUNT", help="Never head for more: the cheapest ends; none."),
]
_Warn = Annotated[
    list[str] | None,
    typer.Option("--warn", metavar="PERCENT", help="Warn when so much is spent; repeat it; none."),
]
_Period = Annotated[
    str | None,
    typer.Option(
        "--period",
        metavar="PERIOD",
        help="Of when: 2026-11 (a month, UTC), 2026-11-01..2027-02-01, 2026-11-01.., or always.",
    ),
]
_Opening = Annotated[
    str | None,
    typer.Option("--spent", metavar="AMOUNT", help="Begin with this; else with what was metered."),
]


@verb(app, "set", changes=True, scope="project")
def set_budget(
    ask: Ask,
    limit: Annotated[str, typer.Argument(metavar="LIMIT", help="5000, 12.50: what may be spent.")],
    *,
    cap: _Cap = None,
    warn: _Warn = None,
    period: _Period = None,
    spent: _Opening = None,
) -> None:
    """Set what a tenant (or with --project a project) may spend; what is not named stays.

    A new budget without a period counts all that was ever spent, and has no end. A higher limit
    starts nothing that has ended.

    Example: bailiwick budget set 5000 --cap 6000 --warn 80 --warn 95 --tenant lab
    """
    from bailiwick.cli.outlook.consequences import draw_budget
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.budgets import PROJECT_BUDGET_SET, TENANT_BUDGET_SET
    from bailiwick.wire.billing import NewBudget

    body, etag = _before(ask)
    body["limit_micros"] = parse_money("LIMIT", limit)
    if cap is not None:
        body["cap_micros"] = None if cap == "none" else parse_money("--cap", cap)
    if warn is not None:
        body["thresholds"] = [] if warn == ["none"] else sorted(_mille(each) for each in warn)
    if period is not None:
        body |= parse_span_of_time(period)
    if spent is not None:
        body["opening_micros"] = parse_money("--spent", spent)
    told = f"{ask.scope_name} may spend {spell_money(body['limit_micros'])}, "
    told += spell_period(body.get("from_ms", 0), body.get("until_ms"))
    action = ask.of_scope(TENANT_BUDGET_SET, PROJECT_BUDGET_SET)
    made = make_body(NewBudget, **body)
    ask.change(action, path=ask.scope, body=made, etag=etag, told=told, tell=draw_budget)


def _before(ask: Ask) -> tuple[dict[str, Any], str | None]:
    """The budget that is there, or what a new one begins with."""
    from bailiwick.client.errors import Refusal
    from bailiwick.wire.actions.budgets import PROJECT_BUDGET_READ, TENANT_BUDGET_READ

    action = ask.of_scope(TENANT_BUDGET_READ, PROJECT_BUDGET_READ)
    try:
        found, etag = ask.client.send_tagged(action, path=ask.scope)
    except Refusal as refused:
        if refused.status != 404:
            raise
        return {"thresholds": _WARN}, None
    return found.budget.model_dump(mode="json"), etag


def parse_span_of_time(text: str) -> dict[str, int | None]:
    """From when, and until when, a budget counts.

    >>> parse_span_of_time("always"), parse_span_of_time("2026-11-01..")["until_ms"]
    ({'from_ms': 0, 'until_ms': None}, None)
    """
    begin, dots, end = text.partition("..")
    if text == "always":
        return {"from_ms": 0, "until_ms": None}
    if not dots:
        month = parse_month("--period", text)
        return {"from_ms": month[0], "until_ms": month[1]}
    return {
        "from_ms": parse_time("--period", begin),
        "until_ms": parse_time("--period", end) if end else None,
    }


def _mille(text: str) -> int:
    """Per mille of a percentage.

    >>> _mille("80"), _mille("99.5%")
    (800, 995)
    """
    found = re.fullmatch(r"([0-9]{1,2})(?:\.([0-9]))?%?", text)
    mille = 0 if found is None else int(found[1]) * 10 + int(found[2] or 0)
    if not mille:
        raise InvalidValue("--warn", text, "a percentage such as 80 or 99.5, or none")
    return mille


@verb(app, "remove", changes=True, scope="project")
def remove_budget(ask: Ask) -> None:
    """What a tenant (or with --project a project) spends is limited by this no more.

    Example: bailiwick budget remove --tenant lab --project vision
    """
    from bailiwick.cli.outlook.consequences import draw_budget
    from bailiwick.wire.actions.budgets import PROJECT_BUDGET_REMOVE, TENANT_BUDGET_REMOVE

    told = f"{ask.scope_name} has no budget any more"
    action = ask.of_scope(TENANT_BUDGET_REMOVE, PROJECT_BUDGET_REMOVE)
    ask.change(action, path=ask.scope, told=told, tell=draw_budget)
