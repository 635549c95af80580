"""Prices: the card that holds, every change of prices, and setting them.

Rules:

- The list is for everybody who may read prices anywhere. A tenant's own card is shown where one
  may read the tenant's prices, and a tenant of which one may not know has none.
- Prices are set for the whole fleet or for one tenant, by whoever has the key over the fleet.
"""

from __future__ import annotations

from typing import NamedTuple

from bailiwick.billing.rates import RateCard, RateChange
from bailiwick.iam import FLEET, Scope
from bailiwick.kernel import Done, SetRateCard, WithdrawRateCard
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.pages import Rows, cut
from bailiwick.services.rating import prices_in


class NumberedChange(NamedTuple):
    """A change of prices, and the how manieth it is."""

    number: int
    change: RateChange


async def read(caller: Caller, tenant: str | None, *, at_ms: int | None) -> RateCard:
    """The prices now, or at a time: the list, or those of a tenant."""
    caller.require_within(FLEET if tenant is None else Scope(tenant))

    def card(view: View) -> RateCard:
        if tenant is not None:
            view.state.directory.tenant(tenant)
        prices = prices_in(view)
        return prices.book.card_for(tenant, prices.now_ms if at_ms is None else at_ms)

    return await caller.lookup(card)


async def page(caller: Caller, *, after: int, limit: int) -> Rows[NumberedChange]:
    """Every change of prices that the caller may see, in the order in which they were set."""
    caller.require_within(FLEET)
    changes = (await caller.lookup(prices_in)).book.changes
    rows = [
        NumberedChange(number, change)
        for number, change in enumerate(changes, 1)
        if number > after and (change.tenant is None or caller.may_within(Scope(change.tenant)))
    ]
    return cut(rows, limit, key=lambda row: row.number)


async def put(caller: Caller, card: Deferred[RateCard], *, tenant: str | None) -> Done:
    """Set prices for everybody or for one tenant: at once, or from a time in the future."""
    caller.require(FLEET)
    if tenant is not None:
        await caller.lookup(lambda view: view.state.directory.check_scope(Scope(tenant)))
    return await caller.change(SetRateCard(card()))


async def withdraw(caller: Caller, tenant: str, *, effective_ms: int) -> Done:
    """The list prices apply to the tenant again."""
    caller.require(FLEET)
    await caller.lookup(lambda view: view.state.directory.tenant(tenant))
    return await caller.change(WithdrawRateCard(tenant, effective_ms))
