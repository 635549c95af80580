"""Handlers for prices: the card that holds, every change of prices, and setting them.

Rules:

- The list is for everybody who may read prices anywhere. A tenant's own card is shown where one
  may read the tenant's prices, and a tenant of which one may not know has none.
- Prices are set for the whole fleet or for one tenant, by whoever has the key over the fleet.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated

from fastapi import Query

from bailiwick.billing.rates import CardWithdrawn, RateCard, RateChange
from bailiwick.iam import FLEET, Scope
from bailiwick.kernel.money import commands as cmd
from bailiwick.server.http.asked import Asked, Changing, Here
from bailiwick.server.http.billed import see_prices
from bailiwick.server.http.params import Limit, NumberCursor, PathName
from bailiwick.services.replica import View
from bailiwick.wire import usage as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import INTEGER_MAX, NAME_PATTERN, Page

TenantQuery = Annotated[
    str | None,
    Query(pattern=NAME_PATTERN, description="The card that holds for this tenant; else the list."),
]
AtMs = Annotated[
    int | None, Query(ge=0, le=INTEGER_MAX, description="The card that holds then; else now.")
]
EffectiveMs = Annotated[
    int, Query(ge=0, le=INTEGER_MAX, description="From when on the list holds again; 0: at once.")
]


async def read_rates(asked: Here, tenant: TenantQuery = None, *, at_ms: AtMs = None) -> wire.Rates:
    """The prices now, or at a time: the list, or those of a tenant."""
    asked.require_within(FLEET if tenant is None else Scope(tenant))

    def read(view: View) -> RateCard:
        if tenant is not None:
            view.state.directory.tenant(tenant)
        prices = see_prices(view)
        return prices.book.card_for(tenant, prices.now_ms if at_ms is None else at_ms)

    return _spell(await asked.look(read))


async def list_rates(
    asked: Here, *, cursor: NumberCursor = None, limit: Limit = 100
) -> Page[wire.RateChange]:
    """Every change of prices that the caller may see, in the order in which they were set."""
    asked.require_within(FLEET)
    first = 0 if cursor is None else int(cursor)
    changes = (await asked.look(see_prices)).book.changes
    rows = [
        (number, change)
        for number, change in enumerate(changes, 1)
        if number > first and _may_see(asked, change)
    ]
    shown = [_change(number, change) for number, change in rows[:limit]]
    return Page(items=shown, next=str(shown[-1].number) if len(rows) > limit else None)


async def set_rates(asked: Changing, body: wire.NewRates) -> Done:
    """Set prices for everybody or for one tenant: at once, or from a time in the future."""
    asked.require(FLEET)
    if body.tenant is not None:
        scope = Scope(body.tenant)
        await asked.look(lambda view: view.state.directory.check_scope(scope))
    card = RateCard(**{each.name: getattr(body, each.name) for each in fields(RateCard)})
    return await asked.do(cmd.SetRateCard(card))


async def withdraw_rates(
    asked: Changing, tenant: PathName, *, effective_ms: EffectiveMs = 0
) -> Done:
    """The list prices apply to the tenant again."""
    asked.require(FLEET)
    await asked.look(lambda view: view.state.directory.tenant(tenant))
    return await asked.do(cmd.WithdrawRateCard(tenant, effective_ms))


def _may_see(asked: Asked, change: RateChange) -> bool:
    if change.tenant is None:
        return True
    scope = Scope(change.tenant)
    inside = (each for each in asked.principal.roles if scope.covers(each))
    return asked.may(scope) or any(asked.may(each) for each in inside)


def _change(number: int, change: RateChange) -> wire.RateChange:
    return wire.RateChange(
        number=number,
        name=change.name,
        tenant=change.tenant,
        effective_ms=change.effective_ms,
        rates=None if isinstance(change, CardWithdrawn) else _spell(change),
    )


def _spell(card: RateCard) -> wire.Rates:
    return wire.Rates(
        name=card.name,
        tenant=card.tenant,
        currency=card.currency,
        effective_ms=card.effective_ms,
        gpu_micros_per_hour=dict(card.gpu_micros_per_hour),
        core_micros_per_hour=card.core_micros_per_hour,
        mem_micros_per_gib_hour=card.mem_micros_per_gib_hour,
        block_micros_per_gib_hour=card.block_micros_per_gib_hour,
        class_per_mille=dict(card.class_per_mille),
    )
