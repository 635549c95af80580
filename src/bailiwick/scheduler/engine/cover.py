"""One covering problem: the cheapest units that supply what a node lacks, in pure Python.

A choice of devices leaves amounts lacking in at most four dimensions: cores, memory, block, and
the share of one device. Rules:

- States (cost, what is still lacking, which units) are extended unit by unit. All lists are in the
  order of (cost, set); a state goes when one before it lacks no more in any dimension, or when its
  cost and a lower bound on the rest exceed what a plan may cost. What is left at the end is exact.
  At first only ``STATES_NARROW`` of them are kept, the most promising ones: that gives a good plan
  to measure all others by.
- Of two sets of equal cost the one that holds the lowest slot that only one of them holds comes
  first. As bits, lowest slot highest, that is the larger number; adding a unit to both keeps it so.
- The lower bound is the strongest of: the number of units still needed, the best value in one
  dimension, and prices per dimension under which no unit is a bargain (weak duality: whoever pays
  the prices for all that is lacking pays no more than the units cost, bargains aside). Prices are
  fixed point, and any prices bound; good ones bound well.
- Bases are multiples of 500, so a bound on their sum is rounded up. The size of victims, one for
  each core, is at least what is lacking less what is lost to whole cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

POINT = 20
PRICE_MAX = 1 << 38
STATES_NARROW, STATES_MAX, STEPS_MAX = 32, 4096, 1_000_000
INFINITE = (2**63 - 1) // 4

State = tuple[int, tuple[int, ...], int, int]
"""Cost, what is lacking, the set of units as bits, cost and bound on the rest together."""


@dataclass(slots=True)
class CoverUnit:
    """A lease, or all members of a gang on the node: what goes together, and its cost."""

    cost: int
    base: int
    slots: list[int] = field(default_factory=list)
    gives: list[int] = field(default_factory=lambda: [0, 0, 0])
    shares: dict[int, int] = field(default_factory=dict)
    bit: int = 0


@dataclass(slots=True)
class CoverPlan:
    """The best units to evict on one node so far, and what others may cost at most."""

    limit: int
    steps: int
    cost: int = -1
    units: int = 0
    width: int = STATES_NARROW
    thinned: bool = False
    cut_short: bool = False

    def offer(self, cost: int, units: int) -> None:
        """Keep it if it is better."""
        if cost < self.limit or (cost == self.limit and (self.cost < 0 or units > self.units)):
            self.cost = self.limit = cost
            self.units = units


@dataclass(frozen=True, slots=True)
class Piece:
    """A unit in one problem: no more of it than is lacking, and that in scaled steps."""

    cost: int
    base: int
    bit: int
    amount: tuple[int, ...]
    scaled: tuple[int, ...]

    def worth(self, price: Sequence[int]) -> int:
        """What it supplies, at these prices."""
        return sum(p * s for p, s in zip(price, self.scaled, strict=True))

    def bargain(self, price: Sequence[int]) -> int:
        """How much more than its base that is."""
        return max(0, self.worth(price) - (self.base << POINT))


@dataclass(slots=True)
class Tail:
    """What the pieces from one on still offer."""

    base: int
    total: tuple[int, ...]
    most: tuple[int, ...]
    rate: tuple[int, ...]
    bargains: tuple[int, ...]


class Cover:
    """What is lacking once some units are chosen, and the pieces that can supply it."""

    def __init__(
        self,
        plan: CoverPlan,
        units: Sequence[CoverUnit],
        chosen: int,
        lacking: Sequence[int],
        device: int,
    ) -> None:
        self.plan, self.chosen = plan, chosen
        here = [unit for unit in units if unit.bit & chosen]
        self.cost = sum(unit.cost for unit in here)
        need = [*(lack - sum(u.gives[d] for u in here) for d, lack in enumerate(lacking[:3]))]
        need.append(lacking[3])
        dims = [d for d in range(4) if need[d] > 0]
        self.need = tuple(need[d] for d in dims)
        self.shift = tuple(max(0, amount.bit_length() - POINT) for amount in self.need)
        self.scaled = tuple(amount >> s for amount, s in zip(self.need, self.shift, strict=True))
        self.cpu = 0 if 0 in dims else -1
        self.pieces: list[Piece] = []
        self.tails: list[Tail] = []
        self.prices: list[list[int]] = []
        self.lost = 0
        for unit in units:
            if not unit.bit & chosen and self.cost + unit.cost <= plan.limit:
                self._add(unit, [*unit.gives, unit.shares.get(device, 0)], dims)
        self.least = min((piece.base for piece in self.pieces), default=INFINITE)
        self.step = 500 if any(piece.base % 1000 for piece in self.pieces) else 1000
        if self.lost > 1000 * self.least:
            self.cpu = -1  # one unit could lose more to whole cores than it costs

    def _add(self, unit: CoverUnit, gives: list[int], dims: list[int]) -> None:
        amount = tuple(min(gives[d], need) for d, need in zip(dims, self.need, strict=True))
        if any(amount):
            scaled = tuple(-(-a >> s) for a, s in zip(amount, self.shift, strict=True))
            self.pieces.append(Piece(unit.cost, unit.base, unit.bit, amount, scaled))
            self.lost = max(self.lost, unit.gives[0] - 1000 * (unit.cost - unit.base))

    def solve(self) -> None:
        """Offer the plan the best that there is."""
        if not self.need:
            self.plan.offer(self.cost, self.chosen)
        elif self.can_win():
            self._order()
            self._offer_greedy()
            if self.cost + self._lacking(0, self.need) <= self.plan.limit:
                self._search()

    def can_win(self) -> bool:
        """Whether the pieces suffice, and no bound exceeds what a plan may cost."""
        for d, need in enumerate(self.need):
            useful = [piece for piece in self.pieces if piece.amount[d]]
            if sum(piece.amount[d] for piece in useful) < need:
                return False
            times = _times(self.scaled[d], max(piece.scaled[d] for piece in useful))
            if self.cost + times * min(piece.base for piece in useful) > self.plan.limit:
                return False
        return not self.need or self._set_prices()

    # -- bounds --------------------------------------------------------------------------------

    def _set_prices(self) -> bool:
        """Prices for each dimension alone, then for all together, one after the other."""
        dims = range(len(self.need))
        for d in dims:
            price = [0] * len(dims)
            price[d] = self._best_price(d, price)
            self.prices.append(price)
        values = [self._value(price) for price in self.prices]
        if self.cost + self._whole(max(values)) > self.plan.limit:
            return False
        if len(dims) > 1:
            joint = list(self.prices[values.index(max(values))])
            for d in (*dims, *dims):
                joint[d] = self._best_price(d, joint)
            self.prices.append(joint)
        return self.cost + self._whole(self._value(self.prices[-1])) <= self.plan.limit

    def _best_price(self, d: int, price: Sequence[int]) -> int:
        """In one dimension, the others given: where the need is just supplied."""
        asked = []
        for piece in self.pieces:
            if piece.scaled[d]:
                rest = (piece.base << POINT) - piece.worth(price) + price[d] * piece.scaled[d]
                asked.append((max(0, rest) // piece.scaled[d], piece.scaled[d]))
        supplied = found = 0
        for key, amount in sorted(asked):
            if supplied >= self.scaled[d]:
                break
            supplied, found = supplied + amount, key
        return min(found, PRICE_MAX)

    def _value(self, price: Sequence[int]) -> int:
        paid = sum(p * s for p, s in zip(price, self.scaled, strict=True))
        return paid - sum(piece.bargain(price) for piece in self.pieces)

    def _whole(self, value: int) -> int:
        """The next possible sum of bases."""
        return -(-max(0, -(-value >> POINT)) // self.step) * self.step

    def _lacking(self, i: int, need: Sequence[int]) -> int:
        """What supplying the need with pieces from i on costs at least."""
        tail, value = self.tails[i], 0
        scaled = [amount >> s for amount, s in zip(need, self.shift, strict=True)]
        for d, amount in enumerate(need):
            if amount <= 0:
                continue
            if tail.total[d] < amount:
                return INFINITE
            counted = tail.base * _times(scaled[d], tail.most[d]) << POINT
            value = max(value, counted, tail.rate[d] * scaled[d])
        for price, bargains in zip(self.prices, tail.bargains, strict=True):
            paid = sum(p * s for p, s in zip(price, scaled, strict=True))
            value = max(value, paid - bargains)
        base = self._whole(value)
        if self.cpu < 0 or need[0] <= 0:
            return base
        return base + max(0, -(-(need[0] - base // tail.base * self.lost) // 1000))

    # -- the search ----------------------------------------------------------------------------

    def _order(self) -> None:
        """Best value first; then what each tail of that order still offers."""
        joint = self.prices[-1]
        self.pieces.sort(key=lambda p: (p.base << 32) // ((p.worth(joint) >> 12) + 1))
        zero = (0,) * len(self.need)
        rates = (PRICE_MAX,) * len(self.need)
        tail = Tail(INFINITE, zero, zero, rates, (0,) * len(self.prices))
        self.tails = [tail]
        for piece in reversed(self.pieces):
            tail = Tail(
                min(tail.base, piece.base),
                tuple(map(int.__add__, tail.total, piece.amount)),
                tuple(map(max, tail.most, piece.scaled)),
                tuple(
                    min(rate, (piece.base << POINT) // s) if s else rate
                    for rate, s in zip(tail.rate, piece.scaled, strict=True)
                ),
                tuple(
                    sum_ + piece.bargain(price)
                    for sum_, price in zip(tail.bargains, self.prices, strict=True)
                ),
            )
            self.tails.append(tail)
        self.tails.reverse()

    def _offer_greedy(self) -> None:
        """A first plan: in order until all is covered, then without what proves superfluous."""
        left = list(self.need)
        taken: list[Piece] = []
        for piece in self.pieces:
            if max(left) <= 0:
                break
            if any(lack > 0 and a for lack, a in zip(left, piece.amount, strict=True)):
                taken.append(piece)
                left = [lack - a for lack, a in zip(left, piece.amount, strict=True)]
        cost, units = self.cost, self.chosen
        for piece in sorted(taken, key=lambda p: -p.cost):
            without = [lack + a for lack, a in zip(left, piece.amount, strict=True)]
            if max(without) <= 0:
                left = without
            else:
                cost, units = cost + piece.cost, units | piece.bit
        self.plan.offer(cost, units)

    def _search(self) -> None:
        states: list[State] = [(self.cost, self.need, self.chosen, 0)]
        for i in range(len(self.pieces)):
            states = self._extend(i, states)
            if len(states) > self.plan.width:
                best = sorted(range(len(states)), key=lambda k: states[k][3])[: self.plan.width]
                states = [states[k] for k in sorted(best)]
                self.plan.thinned = True

    def _extend(self, i: int, states: list[State]) -> list[State]:
        """One piece taken or left by every state, in the order of (cost, set)."""
        piece, plan = self.pieces[i], self.plan
        kept: list[State] = []
        leave = take = 0
        while take < len(states):
            cost, need, units, _ = states[take]
            cost, units = cost + piece.cost, units | piece.bit
            taking = leave == len(states) or (cost, -units) < (states[leave][0], -states[leave][2])
            plan.steps += 1
            if taking:
                take += 1
                need = tuple(max(0, n - a) for n, a in zip(need, piece.amount, strict=True))
            else:
                cost, need, units, _ = states[leave]
                leave += 1
            if not any(need):
                plan.offer(cost, units)
                continue
            bound = cost + self._lacking(i + 1, need)
            if bound <= plan.limit and not self._hopeless(kept, need):
                kept.append((cost, need, units, bound))
                if len(kept) == STATES_MAX or plan.steps > STEPS_MAX:
                    plan.cut_short = True
                    return []
        return kept

    def _hopeless(self, kept: list[State], need: tuple[int, ...]) -> bool:
        """Whether a state before this one lacks no more in any dimension."""
        for _, other, _, _ in kept:
            self.plan.steps += 1
            if all(map(int.__le__, other, need)):
                return True
        return False


def _times(need: int, most: int) -> int:
    return -(-need // most) if need > most else 1
