"""What the tenants and projects with a budget have spent, exact at every time, lease by lease.

Rules:

- Only scopes with a budget have a purse; a lease of anybody else costs nothing here but a lookup.
- A purse grows by the price of what is charged of its leases, times time. What it grows by changes
  only where a lease begins, ends or comes to another stage, and where a card becomes effective; so
  nothing has to be counted in between, and a change takes constant time (a card, and setting a
  budget, take a look at every lease that is charged).
- Exact integers throughout (micros times ``WHOLE``); a micro counts as spent once it is full.
- A lease is charged to the end of its term at most, however late somebody notices that; what was
  counted beyond (or beyond a last proof of life) is taken off again.
- Nothing is charged twice or taken off that was not charged: each stage of a lease is charged from
  where it began, and a purse counts from where that began.
- What a purse is bound to spend, if all that is charged runs to its term, does not change with
  time: what is spent grows by what the rest shrinks. So it is kept like the sums (``bound``),
  changes where a lease begins, ends or has another term, and is reckoned anew after a card.
- A purse is looked at when it changed, or when time alone may have brought it to another standing:
  see :mod:`.purse_watch`.
- All but the sums can be made again from the leases: see :meth:`Spending.rebuild`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from bailiwick.billing.budgets import HEALTHY, Budget, BudgetProgress, stand
from bailiwick.billing.rates import WHOLE, Charge, RateBook, RateCard, Used, weigh
from bailiwick.kernel.money.purse_watch import PurseWatch, Scope
from bailiwick.vocab.values import AMOUNT_MAX, MILLI
from bailiwick.vocab.words import HardwareGeneration, LeaseClass

_Key: TypeAlias = tuple[HardwareGeneration | None, LeaseClass]
_NOTHING = Used()
_SLACK = 64


class Leaving(NamedTuple):
    """A lease that has to go: until when it was held, when its grace began, and was over."""

    held_ms: int
    grace_ms: int
    left_ms: int | None
    """``None`` while it is in grace."""


class Restored(NamedTuple):
    """A lease that was to go and stayed: held again since when, and what was charged before."""

    since_ms: int
    earlier: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Holding:
    """A lease as money sees it: what a millisecond of it is charged for, and until when at most."""

    lease_id: int
    tenant: str
    project: str | None
    charges: tuple[Charge, ...]
    since_ms: int
    """Where the stage begins that is charged now, if it is."""
    expires_ms: int
    earlier: tuple[tuple[int, int], ...]
    """The spans of earlier stages that were charged."""
    is_charged: bool
    ends_on_budget: bool
    """Whether it goes when a budget of its owner is spent."""


@dataclass(slots=True)
class Purse:
    """What one scope has spent up to ``settled_ms``, and what it spends by."""

    budget: Budget
    whole: int
    began_ms: int
    settled_ms: int
    standing: BudgetProgress = HEALTHY
    """What was told last."""
    amounts: dict[_Key, Used] = field(default_factory=dict)
    running: dict[int, Holding] = field(default_factory=dict)
    """The leases that are charged now."""
    leaving: dict[int, None] = field(default_factory=dict)
    """The leases that are there, charged or not, and go when the budget is spent."""
    rate: int = 0
    card: RateCard | None = None
    """The price of a millisecond of it all, on this card."""
    bound: int | None = None
    """What it will have spent when all that is charged has run to its term; ``None``: reckon it."""

    @property
    def scope(self) -> Scope:
        """Whose purse it is."""
        return self.budget.tenant, self.budget.project


class Spending:
    """Every purse, and the cards that they are counted by."""

    def __init__(self) -> None:
        self.book = RateBook()
        self.purses: dict[Scope, Purse] = {}
        self._terms: list[tuple[int, int]] = []  # a heap; who is renewed or gone stays for a while
        self._charged: dict[int, Holding] = {}
        self.watch = PurseWatch()

    # -- asking ------------------------------------------------------------------------------

    def purses_of(self, tenant: str, project: str | None) -> list[Purse]:
        """The purses that such an owner's leases are charged to, the project's first."""
        scopes = [(tenant, None)] if project is None else [(tenant, project), (tenant, None)]
        return [purse for scope in scopes if (purse := self.purses.get(scope)) is not None]

    def spent(self, purse: Purse, at_ms: int) -> int:
        """What was spent by then, exactly."""
        found = purse.whole + self._grown(purse, at_ms)
        for holding in self._overdue(at_ms):
            if holding.lease_id in purse.running:
                from_ms = max(holding.expires_ms, holding.since_ms, purse.began_ms)
                found -= self.cost(purse, holding.charges, from_ms=from_ms, to_ms=at_ms)
        return found

    def spent_micros(self, purse: Purse, at_ms: int) -> int:
        """What was spent by then: the micros that are full."""
        return self.spent(purse, at_ms) // WHOLE

    def projected(self, purse: Purse) -> int:
        """What will be spent if all that is charged now runs to its term; exact."""
        if purse.bound is None:
            ahead = (self._left(purse, each) for each in purse.running.values())
            purse.bound = purse.whole + sum(ahead)
        return purse.bound

    def quiet_until_ms(self, purse: Purse, at_ms: int) -> int | None:
        """Before when time alone does not change how a budget stands; ``None`` for never."""
        budget = purse.budget
        if not budget.is_on(at_ms):
            return budget.from_ms if at_ms < budget.from_ms else None
        ends = [] if budget.until_ms is None else [budget.until_ms]
        if purse.amounts:
            ends += self.book.edges(at_ms, AMOUNT_MAX)[:1]
            spent, card = self.spent(purse, at_ms), self.book.card_for(budget.tenant, at_ms)
            rate = purse.rate if card is purse.card else _rate_of(card, purse)
            missing = [line - spent for line in _lines(budget) if line > spent]
            if rate and missing:
                ends.append(at_ms + -(-min(missing) // rate))
        return min(ends, default=None)

    def ahead(self, purse: Purse, holding: Holding, *, from_ms: int) -> int:
        """What a lease will cost a purse from then to the end of its term, exactly."""
        return self.cost(purse, holding.charges, from_ms=from_ms, to_ms=holding.expires_ms)

    def cost(self, purse: Purse, charges: Iterable[Charge], *, from_ms: int, to_ms: int) -> int:
        """What a span of these costs a purse, exactly; what lies outside its period is free."""
        kept = tuple(charges)
        return sum(
            sum(weigh(card, each) for each in kept) * span_ms
            for card, span_ms in self._spans(purse, from_ms, to_ms)
        )

    def stand(self, purse: Purse, at_ms: int) -> BudgetProgress:
        """How a budget stands."""
        spent, is_ending = self.spent_micros(purse, at_ms), bool(purse.leaving)
        return stand(purse.budget, spent, at_ms=at_ms, is_ending=is_ending)

    # -- rules -------------------------------------------------------------------------------

    def use_book(self, book: RateBook, at_ms: int) -> None:
        """Count by these cards from now on; what was used before has its price already."""
        for purse in self.purses.values():
            self._settle(purse, at_ms)
            purse.card = purse.bound = None
        self.book = book

    def wake_all(self) -> None:
        """Something has changed that every budget may depend on."""
        for scope in self.purses:
            self.watch.wake(scope)

    def open(self, budget: Budget, *, opening_micros: int, at_ms: int) -> None:
        """Begin to count for this budget; :meth:`rebuild` is to follow."""
        purse = Purse(budget, opening_micros * WHOLE, at_ms, at_ms)
        before = self.purses.get(purse.scope)
        if before is not None:
            purse.standing = before.standing
        self.purses[purse.scope] = purse
        self.watch.wake(purse.scope)

    def change(self, budget: Budget, at_ms: int) -> None:
        """Count on, for other numbers of the same period."""
        purse = self.purses[budget.tenant, budget.project]
        self._settle(purse, at_ms)
        purse.budget = budget
        purse.bound = None

    def close(self, scope: Scope) -> None:
        """Count no more; :meth:`rebuild` is to follow."""
        del self.purses[scope]
        self.watch.forget(scope)

    def rebuild(self, tenant: str, holdings: Iterable[Holding], *, at_ms: int) -> None:
        """Take up the leases of a tenant as they are, whatever was known of them before."""
        mine = [purse for purse in self.purses.values() if purse.budget.tenant == tenant]
        for purse in mine:
            self._settle(purse, at_ms)
            purse.amounts, purse.running, purse.leaving = {}, {}, {}
            purse.card = purse.bound = None
        for lease_id in [i for i, each in self._charged.items() if each.tenant == tenant]:
            del self._charged[lease_id]
        self.take_up(holdings)

    def take_up(self, holdings: Iterable[Holding]) -> None:
        """Leases are there that no purse knows of yet."""
        for holding in holdings:
            self.hold(holding)
            if holding.is_charged:
                self._charge(holding)

    # -- leases ------------------------------------------------------------------------------

    def hold(self, holding: Holding) -> None:
        """A lease is there."""
        if holding.ends_on_budget:
            for purse in self.purses_of(holding.tenant, holding.project):
                purse.leaving[holding.lease_id] = None
                self.watch.wake(purse.scope)

    def start(self, holding: Holding) -> None:
        """A lease is charged from ``since_ms`` on, which is now."""
        for purse in self.purses_of(holding.tenant, holding.project):
            self._settle(purse, holding.since_ms)
            self._bind(purse, self._left(purse, holding))
        self._charge(holding)

    def stop(self, lease_id: int, *, until_ms: int, at_ms: int) -> Holding | None:
        """A lease is charged no more, and was up to ``until_ms`` at most; what it was, if it was.

        INVARIANT: what is taken off was counted. A lease was counted from where its stage began,
        and by a purse from where that began.
        """
        holding = self._charged.pop(lease_id, None)
        if holding is None:
            return None
        over_ms = max(holding.since_ms, min(until_ms, holding.expires_ms, at_ms))
        for purse in self.purses_of(holding.tenant, holding.project):
            self._settle(purse, at_ms)
            from_ms = max(over_ms, purse.began_ms)
            beyond = self.cost(purse, holding.charges, from_ms=from_ms, to_ms=at_ms)
            self._bind(purse, -beyond - self._left(purse, holding))
            purse.whole -= beyond
            self._add(purse, holding, -1)
            del purse.running[lease_id]
        return holding

    def refund(self, holding: Holding, from_ms: int) -> None:
        """Take off what was charged for earlier stages of a lease beyond this time."""
        for purse in self.purses_of(holding.tenant, holding.project):
            self.watch.wake(purse.scope)
            for began_ms, over_ms in holding.earlier:
                low = max(began_ms, from_ms, purse.began_ms)
                beyond = self.cost(purse, holding.charges, from_ms=low, to_ms=over_ms)
                self._bind(purse, -beyond)
                purse.whole -= beyond

    def renew(self, lease_id: int, expires_ms: int) -> None:
        """A lease that is charged has another term."""
        holding = self._charged.get(lease_id)
        if holding is None:
            return
        longer = self._charged[lease_id] = replace(holding, expires_ms=expires_ms)
        self._note_term(longer)
        for purse in self.purses_of(holding.tenant, holding.project):
            purse.running[lease_id] = longer
            self._bind(purse, self._left(purse, longer) - self._left(purse, holding))
            self.watch.wake(purse.scope)

    def forget(self, lease_id: int, *, tenant: str, project: str | None) -> None:
        """A lease is over for its holder; :meth:`stop` came before."""
        for purse in self.purses_of(tenant, project):
            purse.leaving.pop(lease_id, None)
            self.watch.wake(purse.scope)

    # -- counting ----------------------------------------------------------------------------

    def _charge(self, holding: Holding) -> None:
        purses = self.purses_of(holding.tenant, holding.project)
        if not purses:
            return
        for purse in purses:
            self._add(purse, holding, 1)
            purse.running[holding.lease_id] = holding
        self._charged[holding.lease_id] = holding
        self._note_term(holding)

    def _note_term(self, holding: Holding) -> None:
        heappush(self._terms, (holding.expires_ms, holding.lease_id))
        if len(self._terms) > 2 * len(self._charged) + _SLACK:
            self._terms = [(each.expires_ms, i) for i, each in self._charged.items()]
            heapify(self._terms)

    def _left(self, purse: Purse, holding: Holding) -> int:
        """What a lease will still add to what a purse has settled; less than nothing if overdue."""
        over_ms = max(holding.expires_ms, holding.since_ms, purse.began_ms)
        low, high = sorted((purse.settled_ms, over_ms))
        found = self.cost(purse, holding.charges, from_ms=low, to_ms=high)
        return found if over_ms > purse.settled_ms else -found

    def _bind(self, purse: Purse, more: int) -> None:
        if purse.bound is not None:
            purse.bound += more

    def _add(self, purse: Purse, holding: Holding, sign: int) -> None:
        self.watch.wake(purse.scope)
        for charge in holding.charges:
            key = charge.generation, charge.lease_class
            found = purse.amounts.get(key, _NOTHING) + charge.used.times(sign)
            if found == _NOTHING:
                del purse.amounts[key]
            else:
                purse.amounts[key] = found
        if purse.card is not None:
            card = purse.card
            purse.rate += sign * sum(weigh(card, each) for each in holding.charges)

    def _settle(self, purse: Purse, at_ms: int) -> None:
        self.watch.wake(purse.scope)
        purse.whole += self._grown(purse, at_ms)
        purse.settled_ms = max(purse.settled_ms, at_ms)

    def _grown(self, purse: Purse, at_ms: int) -> int:
        """What a purse has grown by since it was settled, as if no term had run out."""
        whole = 0
        for card, span_ms in self._spans(purse, purse.settled_ms, at_ms):
            if card is not purse.card:
                purse.card, purse.rate = card, _rate_of(card, purse)
            whole += purse.rate * span_ms
        return whole

    def _spans(self, purse: Purse, from_ms: int, to_ms: int) -> Iterator[tuple[RateCard, int]]:
        """The part of a span that lies in the purse's period, cut where prices change."""
        low, high = purse.budget.clip(from_ms, to_ms)
        if low >= high:
            return
        tenant = purse.budget.tenant
        for start, end in pairwise((low, *self.book.edges(low, high), high)):
            yield self.book.card_for(tenant, start), end - start

    def _overdue(self, at_ms: int) -> list[Holding]:
        """The leases that are charged although their term is over: mostly none."""
        heap, charged = self._terms, self._charged
        while heap and not _is_current(heap[0], charged):
            heappop(heap)
        found: dict[int, Holding] = {}  # a term that was told twice is in the heap twice
        seen = [0]
        while seen:  # bounded: down the heap, only where terms are over
            index = seen.pop()
            if index < len(heap) and heap[index][0] < at_ms:
                seen += (2 * index + 1, 2 * index + 2)
                if _is_current(heap[index], charged):
                    found[heap[index][1]] = charged[heap[index][1]]
        return list(found.values())


def _is_current(term: tuple[int, int], charged: dict[int, Holding]) -> bool:
    holding = charged.get(term[1])
    return holding is not None and holding.expires_ms == term[0]


def _lines(budget: Budget) -> list[int]:
    """Where what was spent, exactly, brings a budget to another standing."""
    shares = (*budget.thresholds, MILLI)
    return [-(-each * budget.limit_micros // MILLI) * WHOLE for each in shares]


def _rate_of(card: RateCard, purse: Purse) -> int:
    """What a millisecond of all that is charged costs on a card."""
    return sum(
        weigh(card, Charge(used, generation, lease_class))
        for (generation, lease_class), used in purse.amounts.items()
    )
