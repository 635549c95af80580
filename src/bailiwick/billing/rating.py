"""Rating: from what was used, and the cards that held then, to the lines of bills.

Rules:

- A line adds up all uses of its key and is rated once, so its cost has one division. How use was
  cut into windows changes no line: not what it counts and not what it costs.
- A window lies under one set of prices; one that crosses a change of any card is refused.
- Which time is charged is the table of :mod:`bailiwick.billing.charges`; what is not stands on its
  own line, with its cause, at the price 0.

>>> from bailiwick.metering.owners import Account
>>> from bailiwick.vocab.words import HardwareGeneration, LeaseClass, ResourceKind
>>> hopper = HardwareGeneration.NVIDIA_HOPPER
>>> account = Account("acme", None, None, LeaseClass.STANDARD, hopper)
>>> use = Use(account, ResourceKind.GPU_MILLI, 0, 120_000, 1000 * 120_000, 1, 3, 7)
>>> [(line.quantity, line.cost_micros) for line in rate([use], RateBook())]
[('120', 80000)]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from bailiwick.billing.charges import cause_of, is_charged
from bailiwick.billing.lines import FREE, CardId, LineKey, RatedLine, price_on, sort_lines
from bailiwick.billing.rates import RateBook, RateCard
from bailiwick.metering.values import Use
from bailiwick.vocab.errors import InvalidValue, LimitReached
from bailiwick.vocab.words import HardwareGeneration, ResourceKind

LINES_MAX: Final = 1_000_000
"""More lines than this no bill can have: whoever made them adds up by the wrong thing."""


def rate(uses: Iterable[Use], book: RateBook) -> tuple[RatedLine, ...]:
    """The lines of all tenants, in the order in which bills show them."""
    prices = _Prices(book)
    sums: dict[LineKey, _Sum] = {}
    for use in uses:
        _check(use)
        if not use.used:
            continue
        key = prices.key_of(use)
        found = sums.get(key)
        if found is None:
            if len(sums) >= LINES_MAX:
                raise LimitReached("lines of a bill", LINES_MAX)
            sums[key] = _Sum(use)
        else:
            found.add(use)
    return sort_lines(_rated(sums))


def _check(use: Use) -> None:
    if not 0 <= use.from_ms < use.to_ms:
        raise InvalidValue("window", (use.from_ms, use.to_ms), "a begin before its end")
    if use.used < 0:
        raise InvalidValue("used", use.used, "an amount that is not negative")


class _Sum:
    """What one key used so far."""

    __slots__ = ("first_seq", "from_ms", "last_seq", "segments", "to_ms", "used")

    def __init__(self, use: Use) -> None:
        self.used, self.segments = use.used, use.segments
        self.from_ms, self.to_ms = use.from_ms, use.to_ms
        self.first_seq, self.last_seq = use.first_seq, use.last_seq

    def add(self, use: Use) -> None:
        self.used += use.used
        self.segments += use.segments
        self.from_ms, self.to_ms = min(self.from_ms, use.from_ms), max(self.to_ms, use.to_ms)
        self.first_seq = min(self.first_seq, use.first_seq)
        self.last_seq = max(self.last_seq, use.last_seq)


def _rated(sums: dict[LineKey, _Sum]) -> Iterator[RatedLine]:
    for key, found in sums.items():
        yield RatedLine(
            key,
            used=found.used,
            cost_micros=key.price.cost(key.kind, found.used),
            list_cost_micros=key.list_price.cost(key.kind, found.used),
            segments=found.segments,
            from_ms=found.from_ms,
            to_ms=found.to_ms,
            first_seq=found.first_seq,
            last_seq=found.last_seq,
        )


class _Prices:
    """Which line a use belongs to; asks a book once for each tenant and window."""

    def __init__(self, book: RateBook) -> None:
        self._book = book
        self._cards: dict[tuple[str, int, int], tuple[RateCard, CardId, RateCard]] = {}

    def key_of(self, use: Use) -> LineKey:
        account = use.account
        generation = account.generation
        if use.kind is ResourceKind.GPU_MILLI and generation is None:
            generation = HardwareGeneration.OTHER
        card, card_id, listed = self._cards_for(account.tenant, use.from_ms, use.to_ms)
        price = list_price = FREE
        if is_charged(account):
            terms = generation, account.lease_class
            price = price_on(card, use.kind, terms=terms)
            list_price = price if listed is card else price_on(listed, use.kind, terms=terms)
        return LineKey(
            account.tenant,
            account.project,
            generation,
            account.tag,
            account.lease_class,
            use.kind,
            account.stage,
            cause_of(account),
            card_id,
            price,
            list_price,
            account.member,
        )

    def _cards_for(
        self, tenant: str, from_ms: int, to_ms: int
    ) -> tuple[RateCard, CardId, RateCard]:
        found = self._cards.get((tenant, from_ms, to_ms))
        if found is None:
            if edges := self._book.edges(from_ms, to_ms):
                raise InvalidValue(
                    "window", (from_ms, to_ms), f"an end by {edges[0]}, when prices change"
                )
            card = self._book.card_for(tenant, from_ms)
            card_id = CardId(card.name, card.tenant, card.effective_ms, card.currency)
            found = card, card_id, self._book.card_for(None, from_ms)
            self._cards[tenant, from_ms, to_ms] = found
        return found
