"""What was used over a period and what it costs: meter and prices, of one and the same time.

Rules:

- Usage comes from the meter, prices from the kernel's state. They are read apart, so it is looked
  whether any price changed in between; if so, it is done again.
- A period is cut wherever any price changes. It ends now at the latest: what still runs counts up
  to its end, and nobody knows what will run tomorrow.
- Without a word about it, a period is the calendar month that it is now, in UTC.

>>> month_begin(1_794_733_667_217) == 1_793_491_200_000
True
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from bailiwick.billing.bills import windows_in
from bailiwick.billing.lines import RatedLine
from bailiwick.billing.rates import RateBook
from bailiwick.billing.rating import rate
from bailiwick.iam import Scope
from bailiwick.metering.owners import Account
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller
from bailiwick.store.meter_rows import MeterBook, MeteredUsage
from bailiwick.vocab.errors import InvalidValue, Unavailable

_TRIES = 10
_PAUSE_S = 0.1

Wanted = Callable[[Account], bool]


class Period(NamedTuple):
    """``from_ms <= t < to_ms``."""

    from_ms: int
    to_ms: int


class Prices(NamedTuple):
    """All cards, of how many records that is, and when it was looked."""

    book: RateBook
    size: int
    now_ms: int


@dataclass(frozen=True, slots=True)
class Rated:
    """The lines of a period, and what they were made from."""

    period: Period
    lines: tuple[RatedLine, ...]
    metered: MeteredUsage
    prices: Prices

    @property
    def cost_micros(self) -> int:
        """What it all comes to."""
        return sum(line.cost_micros for line in self.lines)


def month_begin(at_ms: int) -> int:
    """When the calendar month began that it is at this time, in UTC."""
    at = datetime.fromtimestamp(at_ms // 1000, UTC)
    begin = at.replace(day=1, hour=0, minute=0, second=0)
    return int(begin.timestamp()) * 1000


def prices_in(view: View) -> Prices:
    """The prices as they are; for :meth:`Caller.lookup`."""
    state = view.state
    return Prices(state.spending.book, state.size, max(view.now_ms, state.clock_ms))


async def period_of(caller: Caller, *, from_ms: int | None, to_ms: int | None) -> Period:
    """The period that is meant; it has not begun tomorrow."""
    now_ms = (await caller.lookup(prices_in)).now_ms
    end_ms = now_ms if to_ms is None else min(to_ms, now_ms)
    begin_ms = month_begin(end_ms - 1) if from_ms is None else from_ms
    if begin_ms >= end_ms:
        raise InvalidValue("from_ms", begin_ms, f"a time before {end_ms}, the end of the period")
    return Period(begin_ms, end_ms)


def accounts_of(scope: Scope) -> Wanted:
    """Whose accounts a tenant's are, or a project's."""
    tenant, project = scope

    def wanted(account: Account) -> bool:
        return account.tenant == tenant and (project is None or account.project == project)

    return wanted


async def rate_period(caller: Caller, meter: MeterBook, *, wanted: Wanted, period: Period) -> Rated:
    """What these accounts used in a period, rated by the cards that held then.

    INVARIANT: the lines are those of the journal's first ``metered.size`` records. The prices were
    known by then (``before.size <= metered.size``), and none came until after it.
    """
    for _ in range(_TRIES):
        before = await caller.lookup(prices_in)
        metered, lines = await asyncio.to_thread(
            _rate, meter, wanted, book=before.book, period=period
        )
        after = await _prices_at(caller, metered.size)
        is_same = len(after.book.changes) == len(before.book.changes)
        if before.size <= metered.size and is_same:
            return Rated(period, lines, metered, before)
    raise Unavailable("the bill", "prices change while it is made")


def _rate(
    meter: MeterBook, wanted: Wanted, *, book: RateBook, period: Period
) -> tuple[MeteredUsage, tuple[RatedLine, ...]]:
    metered = meter.uses(wanted, windows_in(book, period))
    return metered, rate(metered.uses, book)


async def _prices_at(caller: Caller, size: int) -> Prices:
    """The prices as of so many records or more; a follower's state may be behind the store."""
    for _ in range(_TRIES):
        found = await caller.lookup(prices_in)
        if found.size >= size:
            return found
        await asyncio.sleep(_PAUSE_S)
    raise Unavailable("the bill", "this replica is behind what is in the store")
