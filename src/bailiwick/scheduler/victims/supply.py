"""The cheapest pieces that together give what is lacking, and what any choice must cost at least.

A piece can be had in several ways (its offers) or not at all: a lease that goes or stays, a node of
which more or fewer leases go. Rules:

- At most one offer of a piece is taken. One of its offers gives the most of everything.
- The search takes or leaves the pieces one after the other, best value first. A state is left if
  its cost, with what the rest must cost at least, is no less than that of the best answer so far,
  or if another state costs and lacks no more. Of more states than a width, those with the least
  bound stay. A narrow search comes first; if it proves nothing, a wide one.
- First answers are the best values by several prices. What then cannot be part of anything cheaper
  is left out at once, so that few of many pieces are searched.
- ``bound`` is proven: no choice costs less. It equals the cost unless a state that might have led
  to something cheaper had to be left.
- The least cost of what is lacking is reckoned by prices: what is lacking is paid in full, less
  what the pieces give beyond their cost. Any prices give a bound; good ones give a good bound.
- Everything is an integer and no clock is read: the same question has the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypeAlias

WIDTHS = (48, 768)
"""States that stay after each piece, in the searches that are tried one after the other."""

STEPS_MAX = 10_000
"""States times pieces of one search: many pieces make it narrower."""

_POINT = 64
"""Bits behind the point of a price: a byte of memory costs little."""

_COMPARED = 16
"""States with which one is compared when several kinds are lacking."""

_NEVER = 1 << 120

Amounts: TypeAlias = tuple[int, ...]


class Offer(NamedTuple):
    """One way to have a piece: its cost, what it gives of each kind, and which units go."""

    cost: int
    gives: Amounts
    units: tuple[int, ...]


Piece: TypeAlias = tuple[Offer, ...]


@dataclass(frozen=True, slots=True)
class Supplied:
    """The units that go, what they cost, and what any choice costs at least."""

    units: tuple[int, ...]
    cost: int
    bound: int


class _Taken(NamedTuple):
    offer: Offer
    before: _Taken | None


class _State(NamedTuple):
    """What was taken so far costs ``cost`` and leaves ``need``; ``bound`` covers both."""

    cost: int
    need: Amounts
    bound: int
    taken: _Taken | None


def supply(
    lacking: Sequence[int], pieces: Iterable[Piece], *, widths: Sequence[int] | None = None
) -> Supplied | None:
    """The cheapest offers that give what is lacking; ``None`` if all together do not."""
    need = tuple(max(amount, 0) for amount in lacking)
    if not any(need):
        return Supplied((), 0, 0)
    useful = [piece for piece in (_capped(each, need) for each in pieces) if piece]
    if any(sum(p[-1].gives[d] for p in useful) < amount for d, amount in enumerate(need)):
        return None
    search = _Search(need, useful)
    for width in WIDTHS if widths is None else widths:
        if search.bound < search.cost:
            search.run(width)
    units = {unit for offer in search.offers for unit in offer.units}
    return Supplied(tuple(sorted(units)), search.cost, search.bound)


def copies(cost: int, gives: Amounts, *, units: Sequence[int]) -> Iterator[Piece]:
    """Pieces for units that nobody can tell apart: any number of them is a choice of these."""
    at, count = 0, 1
    while at < len(units):
        some = tuple(units[at : at + count])
        here = len(some)
        yield (Offer(here * cost, tuple(here * amount for amount in gives), some),)
        at, count = at + count, 2 * count


def _capped(piece: Piece, need: Amounts) -> Piece:
    """The offers, cheapest first, with no more than is lacking; none that a cheaper one covers."""
    kept: list[Offer] = []
    for offer in sorted(piece, key=lambda o: o.cost):
        gives = tuple(map(min, offer.gives, need))
        if any(gives) and not any(_covers(other.gives, gives) for other in kept):
            kept.append(Offer(offer.cost, gives, offer.units))
    return tuple(kept)


def _covers(amounts: Iterable[int], others: Iterable[int]) -> bool:
    return all(a >= b for a, b in zip(amounts, others, strict=True))


def _left(need: Amounts, offer: Offer) -> Amounts:
    return tuple(
        [lack - gift if lack > gift else 0 for lack, gift in zip(need, offer.gives, strict=True)]
    )


class _Search:
    """One question, its best answer so far, and what is proven about it."""

    def __init__(self, need: Amounts, pieces: list[Piece]) -> None:
        self.need = need
        self._prices = SupplyPrices(need, pieces)
        # Of pieces as good as each other the largest comes first, then the caller's order holds.
        self._pieces = sorted(pieces, key=lambda p: (min(map(self._prices.rate, p)), -p[-1].cost))
        self._prices.reckon_tails(self._pieces)
        self.offers: tuple[Offer, ...] = ()
        self.cost = _NEVER
        for price in self._prices.to_try():
            self._greedy(price)
        # What cannot be part of anything cheaper is not looked at again.
        self._pieces = [piece for piece in map(self._worthwhile, self._pieces) if piece]
        self._prices.reckon_tails(self._pieces)
        self.bound = min(self._prices.least(0, need), self.cost)

    def _worthwhile(self, piece: Piece) -> Piece:
        """The offers with which something cheaper than the best answer is still possible."""
        return tuple(o for o in piece if self._prices.least_with(o, piece) < self.cost)

    def _greedy(self, price: Sequence[int]) -> None:
        """A first answer: best value first, and whatever completes that for the least."""
        rate = self._prices.rate
        order = sorted(self._pieces, key=lambda p: min(rate(o, at=price) for o in p))
        need, cost = self.need, 0
        taken: list[tuple[Piece, Offer]] = []
        # If nothing completes it, all of everything suffices.
        best, best_cost = [(piece, piece[-1]) for piece in self._pieces], _NEVER
        for piece in order:
            useful = [o for o in piece if any(map(min, o.gives, need))]
            if not useful:
                continue
            offer = min(useful, key=lambda o: rate(o, within=need, at=price))
            if any(_left(need, offer)):
                taken.append((piece, offer))
                need, cost = _left(need, offer), cost + offer.cost
            elif cost + offer.cost < best_cost:  # something smaller may complete it, too
                best, best_cost = [*taken, (piece, offer)], cost + offer.cost
        self._reduce(best)

    def _reduce(self, taken: Sequence[tuple[Piece, Offer]]) -> None:
        """Take less where less will do, the dearest first, and keep that as an answer."""
        given = [sum(column) for column in zip(*(o.gives for _, o in taken), strict=True)]
        offers: list[Offer] = []
        for piece, offer in sorted(taken, key=lambda row: -row[1].cost):
            rest = [have - gift for have, gift in zip(given, offer.gives, strict=True)]
            if _covers(rest, self.need):
                given = rest
                continue
            short = [lack - have for lack, have in zip(self.need, rest, strict=True)]
            offers.append(next(o for o in piece if _covers(o.gives, short)))
            given = [have + gift for have, gift in zip(rest, offers[-1].gives, strict=True)]
        self._answer(offers)

    def _answer(self, offers: Iterable[Offer]) -> None:
        chosen = tuple(offers)
        cost = sum(offer.cost for offer in chosen)
        if cost < self.cost:
            self.offers, self.cost = chosen, cost

    def run(self, width: int) -> None:
        """Look for something cheaper, with so many states at a time, or fewer."""
        width = max(1, min(width, STEPS_MAX // max(1, len(self._pieces))))
        dropped = _NEVER
        states = [_State(0, self.need, self.bound, None)]
        for i, piece in enumerate(self._pieces):
            states = self._extend(states, piece, i + 1)
            if len(states) > width:
                states.sort(key=lambda state: state.bound)
                dropped = min(dropped, states[width].bound)
                del states[width:]
        self.bound = max(self.bound, min(dropped, self.cost))

    def _extend(self, states: list[_State], piece: Piece, after: int) -> list[_State]:
        """Every state without the piece, and with each of its offers."""
        found: list[_State] = []
        for state in states:
            bound = state.cost + self._prices.least(after, state.need)
            found.append(state._replace(bound=bound))
            for offer in piece:
                cost, need = state.cost + offer.cost, _left(state.need, offer)
                if cost >= self.cost:
                    break
                taken = _Taken(offer, state.taken)
                if any(need):
                    bound = cost + self._prices.least(after, need)
                    found.append(_State(cost, need, bound, taken))
                else:
                    self._answer(_chain(taken))
        found = [state for state in found if state.bound < self.cost]
        found.sort(key=lambda state: (state.cost, state.need))
        kept: list[_State] = []
        for state in found:
            if not self._is_beaten(state, kept):
                kept.append(state)
        return kept

    def _is_beaten(self, state: _State, kept: list[_State]) -> bool:
        """Whether one that costs no more lacks no more."""
        if len(self.need) == 1:
            return bool(kept) and kept[-1].need <= state.need
        return any(_covers(state.need, s.need) for s in islice(reversed(kept), _COMPARED))


def _chain(taken: _Taken | None) -> Iterator[Offer]:
    while taken is not None:
        yield taken.offer
        taken = taken.before


class SupplyPrices:
    """What one of each kind is reckoned at, in several ways, and the bounds that follow.

    The pieces' offers give no more than ``need``, and the last one of each gives the most.
    """

    def __init__(self, need: Amounts, pieces: Sequence[Piece]) -> None:
        self._need, self._pieces = need, pieces
        kinds = range(len(need))
        self._all: list[list[int]] = []
        for kind in kinds:
            price = [0] * len(need)
            price[kind] = self._best(kind, price)
            self._all.append(price)
        if len(need) > 1:
            best: list[int] = max(self._all, key=self._value)
            joint = list(best)
            for kind in (*kinds, *kinds):
                joint[kind] = self._best(kind, joint)
            self._all.append(joint)
        self._joint_value = self._value(self._all[-1]) if need else 0
        self._tails: list[tuple[Amounts, Amounts]] = []

    def _best(self, kind: int, price: Sequence[int]) -> int:
        """Of one kind, with the prices of the others: where just as much is given as lacks."""
        steps = sorted(s for piece in self._pieces for s in self._steps(piece, kind, price))
        given = found = 0
        for slope, gift in steps:
            if given >= self._need[kind]:
                break
            given, found = given + gift, slope
        return found

    @staticmethod
    def _steps(piece: Piece, kind: int, price: Sequence[int]) -> Iterator[tuple[int, int]]:
        """From nothing up the convex hull of the offers: the price and the amount of each step."""
        rest = [
            (o.gives[kind], max(0, (o.cost << _POINT) - _worth(o.gives, price, but=kind)))
            for o in piece
        ]
        had = paid = 0
        while any(gift > had for gift, _ in rest):
            rest = [row for row in rest if row[0] > had]
            slope, gift, cost = min(
                (max(0, cost - paid) // (gift - had), gift, cost) for gift, cost in rest
            )
            yield slope, gift - had
            had, paid = gift, max(paid, cost)

    def _value(self, price: Sequence[int]) -> int:
        return _worth(self._need, price) - sum(_bargain(piece, price) for piece in self._pieces)

    def to_try(self) -> list[list[int]]:
        """Prices by which a first answer may be good: these, and as if all kinds were scarce."""
        even = [(1 << 2 * _POINT) // (amount or 1) for amount in self._need]
        return [*self._all, even] if len(self._need) > 1 else self._all

    def rate(
        self, offer: Offer, within: Amounts | None = None, *, at: Sequence[int] | None = None
    ) -> int:
        """What an offer costs for its worth, of which no more counts than is lacking."""
        gives = offer.gives if within is None else tuple(map(min, offer.gives, within))
        return (offer.cost << 2 * _POINT) // (_worth(gives, at or self._all[-1]) + 1)

    def reckon_tails(self, pieces: Sequence[Piece]) -> None:
        """In this order, what the pieces from each one on give, and beyond their cost."""
        most, bargains = (0,) * len(self._need), (0,) * len(self._all)
        self._tails = [(most, bargains)]
        for piece in reversed(pieces):
            top = (max(column) for column in zip(*(o.gives for o in piece), strict=True))
            most = tuple(map(int.__add__, most, top))
            more = (_bargain(piece, price) for price in self._all)
            bargains = tuple(map(int.__add__, bargains, more))
            self._tails.append((most, bargains))
        self._tails.reverse()

    def least_with(self, offer: Offer, piece: Piece) -> int:
        """What any choice costs at least that takes this offer of the piece."""
        price = self._all[-1]
        loss = _bargain(piece, price) - _worth(offer.gives, price) + (offer.cost << _POINT)
        return -(-(self._joint_value + loss) >> _POINT)

    def least(self, i: int, need: Amounts) -> int:
        """What supplying the need with pieces from i on costs at least."""
        most, bargains = self._tails[i]
        if not _covers(most, need):
            return _NEVER
        value = 0
        for price, bargain in zip(self._all, bargains, strict=True):
            value = max(value, _worth(need, price) - bargain)
        return -(-value >> _POINT)


def _worth(gives: Amounts, price: Sequence[int], *, but: int = -1) -> int:
    worth = sum(map(int.__mul__, gives, price))
    return worth if but < 0 else worth - gives[but] * price[but]


def _bargain(piece: Piece, price: Sequence[int]) -> int:
    """What the best offer gives beyond its cost."""
    return max(0, *(_worth(o.gives, price) - (o.cost << _POINT) for o in piece))
