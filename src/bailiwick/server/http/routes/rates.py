"""Routes for prices: the card that holds, every change of prices, and setting them."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated

from fastapi import Query

from bailiwick.billing.rates import CardWithdrawn, RateCard
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import (
    Limit,
    NumberCursor,
    PathName,
    number_in,
    spell_page,
)
from bailiwick.server.http.spelling import spell_done
from bailiwick.services import rates
from bailiwick.vocab.words import LEASE_CLASSES
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


@answers("rates.read")
async def read_rates(asked: Here, tenant: TenantQuery = None, *, at_ms: AtMs = None) -> wire.Rates:
    """The prices now, or at a time: the list, or those of a tenant."""
    return _spell(await rates.read(asked, tenant, at_ms=at_ms))


@answers("rates.list")
async def list_rates(
    asked: Here, *, cursor: NumberCursor = None, limit: Limit = 100
) -> Page[wire.RateChange]:
    """Every change of prices that the caller may see, in the order in which they were set."""
    found = await rates.page(asked, after=number_in(cursor) or 0, limit=limit)
    return spell_page(found, _change)


@answers("rates.set")
async def set_rates(asked: Changing, body: wire.NewRates) -> Done:
    """Set prices for everybody or for one tenant: at once, or from a time in the future."""
    return spell_done(await rates.put(asked, lambda: _card(body), tenant=body.tenant))


@answers("rates.withdraw")
async def withdraw_rates(
    asked: Changing, tenant: PathName, *, effective_ms: EffectiveMs = 0
) -> Done:
    """The list prices apply to the tenant again."""
    return spell_done(await rates.withdraw(asked, tenant, effective_ms=effective_ms))


def _card(body: wire.NewRates) -> RateCard:
    return RateCard(**{each.name: getattr(body, each.name) for each in fields(RateCard)})


def _change(row: rates.NumberedChange) -> wire.RateChange:
    number, change = row
    return wire.RateChange(
        number=number,
        name=change.name,
        tenant=change.tenant,
        effective_ms=change.effective_ms,
        rates=None if isinstance(change, CardWithdrawn) else _spell(change),
    )


def _spell(card: RateCard) -> wire.Rates:
    # By word: a card that was read back from its record has another order of its own.
    shares = card.class_per_mille
    return wire.Rates(
        name=card.name,
        tenant=card.tenant,
        currency=card.currency,
        effective_ms=card.effective_ms,
        gpu_micros_per_hour=dict(sorted(card.gpu_micros_per_hour.items())),
        core_micros_per_hour=card.core_micros_per_hour,
        mem_micros_per_gib_hour=card.mem_micros_per_gib_hour,
        block_micros_per_gib_hour=card.block_micros_per_gib_hour,
        class_per_mille={each: shares[each] for each in LEASE_CLASSES if each in shares},
        app_unit_micros=dict(sorted(card.app_unit_micros.items())),
    )
