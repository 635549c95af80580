"""What single leases cost so far, and what they cost an hour: the lines of a bill of theirs alone.

Rules:

- The lines are those that a bill would have if these leases were all there was: same keys, same
  prices, same table of what is charged. So the lines of all leases together add up, use by use, to
  the lines of the bill; only the rounding of each cost to a micro is done for each bill alone.
- What still runs counts up to the moment to which it was metered.
- An hour's price is that of what is held at the end, as long as that time is charged.

>>> from bailiwick.metering.owners import Account
>>> from bailiwick.metering.values import Share
>>> from bailiwick.vocab.words import LeaseClass, ResourceKind
>>> cores = Share("node-1", ResourceKind.CPU_MILLI)
>>> held = Leased(7, Account("acme", None, None, LeaseClass.STANDARD, None))
>>> running = [Segment(cores, 2_000, held, 0, HOUR_MS, 1, 1)]
>>> [(line.quantity, line.cost_micros) for line in lines_of(running, RateBook())]
[('7200', 40000)]
>>> micros_per_hour(running, RateBook(), at_ms=HOUR_MS)
40000
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bailiwick.billing.bills import windows_in
from bailiwick.billing.charges import is_charged
from bailiwick.billing.lines import RatedLine, price_on
from bailiwick.billing.rates import HOUR_MS, RateBook, nearest_micro
from bailiwick.billing.rating import rate
from bailiwick.metering.owners import Leased
from bailiwick.metering.values import Segment, Use


def lines_of(segments: Iterable[Segment], book: RateBook) -> tuple[RatedLine, ...]:
    """The bill of these stretches alone."""
    return rate(_uses(segments, book), book)


def micros_per_hour(running: Iterable[Segment], book: RateBook, *, at_ms: int) -> int:
    """What an hour costs, by the prices of now, of all that is held to the last of its time."""
    held = [each for each in running if isinstance(each.owner, Leased)]
    last_ms = max((each.to_ms for each in held), default=0)
    exact = 0
    for each in held:
        assert isinstance(each.owner, Leased)
        account = each.owner.account
        if each.to_ms == last_ms and is_charged(account):
            terms = account.generation, account.lease_class
            card = book.card_for(account.tenant, at_ms)
            price = price_on(card, each.share.kind, terms=terms)
            exact += price.exact(each.share.kind, each.amount * HOUR_MS)
    return nearest_micro(exact)


def _uses(segments: Iterable[Segment], book: RateBook) -> Iterator[Use]:
    for each in segments:
        if not isinstance(each.owner, Leased) or each.from_ms >= each.to_ms:
            continue
        for from_ms, to_ms in windows_in(book, (each.from_ms, each.to_ms)):
            used = each.amount * (to_ms - from_ms)
            account, kind = each.owner.account, each.share.kind
            yield Use(account, kind, from_ms, to_ms, used, 1, each.from_seq, each.to_seq)
