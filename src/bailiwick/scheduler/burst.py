"""Burst credit: how long a scope may stay above its hard limits, and how far.

Rules:

- With burst credit the wall is limit + ceiling, or how far a full bucket carries for the minimum
  run if that is less; between limit and wall a request passes if what is in the bucket carries the
  scope, with the request, for the minimum run. So nobody is let in to be evicted a moment later.
- Guaranteed work is never evicted for quota, so credit carries none: it starts only where the hard
  limit bears it beside all that is held. Whose room is kept already, or who renews, is asked only
  whether guaranteed work alone is within the limit: what came above it since is on credit, and goes
  when that is gone. So an excess can always be ended, unless a limit was lowered under it.
- The bucket's level is an integer in unit-milliseconds, so that one millisecond of any whole excess
  or refill is a whole number and nothing is ever rounded.
- Above the hard limit the bucket drains by the excess in each millisecond, and does not refill; at
  or below the limit it refills, up to its capacity.
- INVARIANT: while usage stays the same, settling at t1 and then at t2 equals settling at t2 at
  once. Whoever changes usage or a limit therefore settles first, and how often is of no matter.

>>> credit = BurstCredit(Dimension.GPU_COUNT, capacity=10, refill_per_s=1, ceiling=2000)
>>> bucket = BurstBucket.full(credit, 0)
>>> [bucket.at(now_ms, excess=2000).level for now_ms in (0, 4, 5, 9)]
[10000, 2000, 0, 0]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.scheduler.quota_policy import (
    DIMENSIONS,
    BurstCredit,
    BurstCreditExhausted,
    HardLimitExceeded,
    QuotaScope,
    WithinQuota,
    unit_of,
    units_up,
)
from bailiwick.scheduler.quota_rows import RowView, as_told
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import AMOUNT_MAX, MILLI, check_amount
from bailiwick.vocab.words import Dimension


@dataclass(frozen=True, slots=True)
class BurstOverrun:
    """A scope above its hard limit with no credit left; ``excess`` is in the row's unit."""

    scope: QuotaScope
    dimension: Dimension
    excess: int


@dataclass(frozen=True, slots=True)
class BurstBucket:
    """The credit of one scope as it stood at ``settled_ms``."""

    credit: BurstCredit
    level: int
    settled_ms: int

    @classmethod
    def full(cls, credit: BurstCredit, now_ms: int) -> BurstBucket:
        """A bucket that has not been drawn on."""
        return cls(credit, credit.capacity * MILLI, now_ms)

    def at(self, now_ms: int, *, excess: int) -> BurstBucket:
        """The bucket at a later moment, the scope having been this far above its limit since.

        ``excess`` of zero or less means within the limit.
        """
        elapsed_ms = now_ms - self.settled_ms
        if excess > 0:
            level = max(0, self.level - excess * elapsed_ms)
        else:
            grown = self.level + self.credit.refill_per_s * elapsed_ms
            level = min(self.credit.capacity * MILLI, grown)
        return BurstBucket(self.credit, level, now_ms)

    def under(self, credit: BurstCredit) -> BurstBucket:
        """The same moment under another credit; one in the same dimension brings nothing new.

        Otherwise committing the same quota again would refill the bucket.
        """
        if credit.dimension is not self.credit.dimension:
            return BurstBucket.full(credit, self.settled_ms)
        return BurstBucket(credit, min(self.level, credit.capacity * MILLI), self.settled_ms)


Firm: TypeAlias = Callable[[QuotaScope], Sequence[int]]
"""What the guaranteed leases of a scope count as: by dimension."""


@dataclass(frozen=True, slots=True)
class BurstMemory:
    """How a book stood: buckets by row, the clock, and what was seen of the rows."""

    buckets: dict[int, BurstBucket]
    clock_ms: int
    stirred: dict[int, None]
    let_be: dict[int, None]
    firm: dict[int, Sequence[int]]


class BurstBook:
    """The buckets of all rows, and the one clock they are settled by."""

    __slots__ = (
        "_buckets", "_firm", "_let_be", "_promised_to", "_stirred", "clock_ms", "min_run_ms",
    )  # fmt: skip

    def __init__(self) -> None:
        self._buckets: dict[int, BurstBucket] = {}
        # Rows that may be above their limit: those that changed since they were seen within it.
        self._stirred: dict[int, None] = {}
        # Of those, the ones whose excess nobody can be made to end, and what was counted as firm.
        self._let_be: dict[int, None] = {}
        self._firm: dict[int, Sequence[int]] = {}
        self._promised_to: Firm | None = None
        self.clock_ms = 0
        self.min_run_ms = 0
        """How long credit must last for whoever is let in above a limit."""

    def __contains__(self, row: int) -> bool:
        return row in self._buckets

    def bucket(self, row: int) -> BurstBucket | None:
        """The row's credit as it was last settled, if it has any."""
        return self._buckets.get(row)

    def rows(self) -> tuple[int, ...]:
        """The rows that have credit."""
        return tuple(self._buckets)

    def memory(self) -> BurstMemory:
        """The book as it stands, for who will put it back with :meth:`recall`."""
        seen = dict(self._stirred), dict(self._let_be), dict(self._firm)
        return BurstMemory(dict(self._buckets), self.clock_ms, *seen)

    def recall(self, memory: BurstMemory) -> None:
        """Put all buckets and the clock back, usage being again what it was."""
        self._buckets, self.clock_ms = dict(memory.buckets), memory.clock_ms
        self._stirred |= memory.stirred
        self._let_be, self._firm = dict(memory.let_be), dict(memory.firm)

    @contextmanager
    def promised(self, firm: Firm) -> Iterator[None]:
        """Ask for somebody whose room is kept: credit was asked for when it was promised him.

        Any that is left will do, and guaranteed work needs none.
        """
        before, self._promised_to = self._promised_to, firm
        try:
            yield
        finally:
            self._promised_to = before

    def stir(self, row: int) -> None:
        """Something of the row changed: look at it again."""
        if row in self._buckets:
            self._stirred[row] = None
            self._let_be.pop(row, None)
            self._firm.pop(row, None)

    def let_be(self, row: int) -> None:
        """Nobody can be made to go for the row's excess, until something of it changes."""
        self._let_be[row] = None

    def overruns(
        self, view_of: Callable[[int], RowView], now_ms: int, *, anew: bool = False
    ) -> Iterator[BurstOverrun]:
        """Every row that is above its limit with its credit gone at that time, in order.

        A row is settled before it changes; one that is within its limit is not looked at again
        until then, nor, if asked ``anew``, one that was let be.
        """
        for row in sorted(self._stirred.keys() - self._let_be.keys() if anew else self._stirred):
            view = view_of(row)
            found = self.overrun(view, now_ms)
            if found is not None:
                yield found
            elif _excess(view, self._buckets[row].credit.dimension) <= 0:
                del self._stirred[row]

    def restore(self, row: int, level: int, *, settled_ms: int) -> None:
        """Put a bucket back to where it stood."""
        self._buckets[row] = BurstBucket(self._buckets[row].credit, level, settled_ms)
        self.stir(row)

    def check_now(self, now_ms: int) -> int:
        """The time, if it is one and not before the last one told."""
        check_amount("now_ms", now_ms)
        if now_ms < self.clock_ms:
            raise InvalidValue("now_ms", now_ms, f"{self.clock_ms} or later, as told before")
        return now_ms

    def put(self, row: int, credit: BurstCredit | None) -> None:
        """Give the row (settled up to the clock) this credit from now on, or none."""
        self.stir(row)
        bucket = self._buckets.pop(row, None)
        self._stirred.pop(row, None)
        if credit is None:
            return
        full = BurstBucket.full(credit, self.clock_ms)
        self._buckets[row] = full if bucket is None else bucket.under(credit)
        self.stir(row)

    def settle(self, view: RowView, now_ms: int) -> None:
        """Bring the row's bucket to that time; to be done before its usage or limits change."""
        self._buckets[view.row] = self._at(view, now_ms)
        self.stir(view.row)

    def overrun(self, view: RowView, now_ms: int) -> BurstOverrun | None:
        """How far the row is above its limit, if it is and its credit is gone at that time."""
        bucket = self._at(view, now_ms)
        excess = _excess(view, bucket.credit.dimension)
        if excess <= 0 or bucket.level:
            return None
        return BurstOverrun(view.scope, bucket.credit.dimension, excess)

    def has_credit(self, view: RowView, now_ms: int) -> bool:
        """Whether anything is left of the row's credit at that time."""
        return view.row in self._buckets and self._at(view, now_ms).level > 0

    def check_limits(
        self,
        views: Sequence[RowView],
        demand: Sequence[int],
        *,
        now_ms: int,
        guaranteed: bool = False,
    ) -> HardLimitExceeded | BurstCreditExhausted | WithinQuota:
        """Whether every row bears the demand, all hard limits being asked before any credit."""
        firm = self._promised_to if guaranteed else None
        for view in views:
            denied = self._hard_denial(view, demand, lent=not guaranteed, firm=firm)
            if denied is not None:
                return denied
        burst = 0
        for view in views:
            answer = self._burst_answer(view, demand, now_ms=now_ms, lent=not guaranteed)
            if not isinstance(answer, WithinQuota):
                return answer
            burst = burst or answer.burst
        return WithinQuota(burst)

    def check_held(
        self, view: RowView, amounts: Sequence[int], *, now_ms: int, firm: Firm | None = None
    ) -> HardLimitExceeded | BurstCreditExhausted | None:
        """Why a row would not bear anew a part of what it bears now, if it would not.

        What is guaranteed says so by ``firm``: that needs no credit, and gets none.
        """
        rest = view.without(amounts)
        denied = self._hard_denial(rest, amounts, lent=firm is None, firm=firm, held=True)
        if denied is not None or firm is not None or view.row not in self._buckets:
            return denied
        over = self.overrun(view, now_ms)
        i = None if over is None else DIMENSIONS.index(over.dimension)
        if over is None or i is None or not amounts[i]:
            return None
        unit = unit_of(over.dimension)
        shown = as_told(unit, view.limits[i], used=rest.used[i], requested=amounts[i])
        return BurstCreditExhausted(over.dimension, *shown, credit=0, scope=view.scope)

    def wall(self, view: RowView, dimension: Dimension) -> int:
        """What the row can ever hold of a dimension: its limit, and how far credit carries."""
        limit = view.limits[DIMENSIONS.index(dimension)]
        if not self._is_lent(view, dimension):
            return limit
        return min(limit + carried_by(self._buckets[view.row].credit, self.min_run_ms), AMOUNT_MAX)

    def _at(self, view: RowView, now_ms: int) -> BurstBucket:
        bucket = self._buckets[view.row]
        return bucket.at(now_ms, excess=_excess(view, bucket.credit.dimension))

    def _is_lent(self, view: RowView, dimension: Dimension) -> bool:
        bucket = self._buckets.get(view.row)
        return bucket is not None and bucket.credit.dimension is dimension

    def _hard_denial(
        self,
        view: RowView,
        demand: Sequence[int],
        *,
        lent: bool,
        firm: Firm | None,
        held: bool = False,
    ) -> HardLimitExceeded | None:
        """The first limit that does not bear the demand, with credit or (not ``lent``) without.

        With ``firm``, what is held above the limit on credit is not in the way; that counts the
        demand, too, if it is ``held``.
        """
        for i, used in enumerate(view.used):
            if not demand[i] or used + demand[i] <= view.limits[i]:
                continue  # the limit bears it, and what credit adds is never below zero
            dimension = DIMENSIONS[i]
            limit = self.wall(view, dimension) if lent else view.limits[i]
            if used + demand[i] <= limit:
                continue
            if firm is not None and self._is_lent(view, dimension):
                more = 0 if held else demand[i]
                if self._firm_in(view, firm)[i] + more <= limit:
                    continue
            shown = as_told(unit_of(dimension), limit, used=used, requested=demand[i])
            return HardLimitExceeded(dimension, *shown, view.scope)
        return None

    def _firm_in(self, view: RowView, firm: Firm) -> Sequence[int]:
        """What is guaranteed in the row: counted once until its usage changes."""
        found = self._firm.get(view.row)
        if found is None:
            found = self._firm[view.row] = firm(view.scope)
        return found

    def _burst_answer(
        self, view: RowView, demand: Sequence[int], *, now_ms: int, lent: bool
    ) -> BurstCreditExhausted | WithinQuota:
        if view.row not in self._buckets:
            return WithinQuota()
        bucket = self._at(view, now_ms)
        dimension = bucket.credit.dimension
        i = DIMENSIONS.index(dimension)
        above = _excess(view, dimension) + demand[i]
        if not demand[i] or above <= 0:
            return WithinQuota()
        least_ms = 0 if self._promised_to is not None else self.min_run_ms
        if not lent or (bucket.level and bucket.level >= above * least_ms):
            return WithinQuota(above)
        shown = as_told(unit_of(dimension), view.limits[i], used=view.used[i], requested=demand[i])
        needed = units_up(above * least_ms, MILLI)
        return BurstCreditExhausted(
            dimension, *shown, credit=bucket.level // MILLI, credit_needed=needed, scope=view.scope
        )


def carried_by(credit: BurstCredit, min_run_ms: int) -> int:
    """How far above its limit credit ever carries a scope, if it must last for so long."""
    if not min_run_ms:
        return credit.ceiling
    return min(credit.ceiling, credit.capacity * MILLI // min_run_ms)


def _excess(view: RowView, dimension: Dimension) -> int:
    i = DIMENSIONS.index(dimension)
    return view.used[i] - view.limits[i]
