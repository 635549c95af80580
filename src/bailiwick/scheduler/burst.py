"""Hard limits, and the burst credit that lets a scope stay above one for a while.

Rules:

- A limit is asked only about what a request adds. With credit the wall is limit + ceiling; between
  limit and wall a request passes while the bucket is not empty.
- The level is an integer in unit-milliseconds, so one millisecond of any whole excess or refill is
  a whole number and nothing is ever rounded.
- Time only goes forward, by one clock for all rows.
- Above the hard limit the bucket drains by the excess in each millisecond, and does not refill;
  at or below the limit it refills, up to its capacity.
- INVARIANT: while usage stays the same, settling at t1 and then at t2 equals settling at t2 at
  once. Whoever changes usage or a limit therefore settles first, and how often is of no matter.

>>> credit = BurstCredit(Dimension.GPU_COUNT, capacity=10, refill_per_s=1, ceiling=2000)
>>> bucket = BurstBucket.full(credit, 0)
>>> bucket.at(4, excess=2000).level, bucket.at(5, excess=2000).level, bucket.at(9, excess=2000).level
(2000, 0, 0)
"""

from __future__ import annotations

from collections.abc import Sequence
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
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import AMOUNT_MAX, MILLI, check_amount
from bailiwick.vocab.words import Dimension


@dataclass(frozen=True, slots=True)
class BurstOverrun:
    """A scope that is above its hard limit with no credit left: work of it has to end."""

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


LimitRow: TypeAlias = tuple[QuotaScope, int, Sequence[int], Sequence[int]]
"""A scope, its row, and what it uses and may use of each dimension."""


class BurstBook:
    """The buckets of all rows, and the one clock they are settled by."""

    __slots__ = ("_buckets", "clock_ms")

    def __init__(self) -> None:
        self._buckets: dict[int, BurstBucket] = {}
        self.clock_ms = 0

    def __contains__(self, row: int) -> bool:
        return row in self._buckets

    def check_now(self, now_ms: int) -> int:
        """The time, if it is one and not before the last one told."""
        check_amount("now_ms", now_ms)
        if now_ms < self.clock_ms:
            raise InvalidValue("now_ms", now_ms, f"{self.clock_ms} or later, as told before")
        return now_ms

    @property
    def rows(self) -> list[int]:
        """The rows that were given credit."""
        return sorted(self._buckets)

    def put(self, row: int, credit: BurstCredit | None) -> None:
        """Give the row this credit from now on, or none."""
        bucket = self._buckets.pop(row, None)
        if credit is None:
            return
        if bucket is None:
            self._buckets[row] = BurstBucket.full(credit, self.clock_ms)
        else:
            self._buckets[row] = bucket.under(credit)

    def settle(self, row: LimitRow, now_ms: int) -> None:
        """Bring the row's bucket to that time; to be done before its usage or limits change."""
        if row[1] in self._buckets:
            self._buckets[row[1]] = self._at(row, now_ms)

    def overrun(self, row: LimitRow, now_ms: int) -> BurstOverrun | None:
        """How far the row is above its limit, if it is and its credit is gone at that time."""
        scope, number, used, limits = row
        dimension = self._buckets[number].credit.dimension
        i = DIMENSIONS.index(dimension)
        if used[i] <= limits[i] or self._at(row, now_ms).level:
            return None
        return BurstOverrun(scope, dimension, used[i] - limits[i])

    def check_limits(
        self, rows: Sequence[LimitRow], demand: Sequence[int], *, now_ms: int
    ) -> HardLimitExceeded | BurstCreditExhausted | WithinQuota:
        """Whether every row bears the demand, all hard limits being asked before any credit."""
        for row in rows:
            denied = self._hard_denial(row, demand)
            if denied is not None:
                return denied
        burst = 0
        for row in rows:
            answer = self._burst_answer(row, demand, now_ms=now_ms)
            if not isinstance(answer, WithinQuota):
                return answer
            burst = burst or answer.burst
        return WithinQuota(burst)

    def _at(self, row: LimitRow, now_ms: int) -> BurstBucket:
        bucket = self._buckets[row[1]]
        i = DIMENSIONS.index(bucket.credit.dimension)
        return bucket.at(now_ms, excess=row[2][i] - row[3][i])

    def _hard_denial(self, row: LimitRow, demand: Sequence[int]) -> HardLimitExceeded | None:
        scope, number, used, limits = row
        bucket = self._buckets.get(number)
        for i, dimension in enumerate(DIMENSIONS):
            limit = limits[i]
            if bucket is not None and bucket.credit.dimension is dimension:
                limit = min(limit + bucket.credit.ceiling, AMOUNT_MAX)
            if demand[i] and used[i] + demand[i] > limit:
                shown = _shown(dimension, limit, used=used[i], requested=demand[i])
                return HardLimitExceeded(dimension, *shown, scope)
        return None

    def _burst_answer(
        self, row: LimitRow, demand: Sequence[int], *, now_ms: int
    ) -> BurstCreditExhausted | WithinQuota:
        scope, number, used, limits = row
        bucket = self._buckets.get(number)
        if bucket is None:
            return WithinQuota()
        dimension = bucket.credit.dimension
        i = DIMENSIONS.index(dimension)
        above = used[i] + demand[i] - limits[i]
        if not demand[i] or above <= 0:
            return WithinQuota()
        left = self._at(row, now_ms).level
        if left == 0:
            shown = _shown(dimension, limits[i], used=used[i], requested=demand[i])
            return BurstCreditExhausted(dimension, *shown, left, scope)
        return WithinQuota(above)


def _shown(dimension: Dimension, limit: int, *, used: int, requested: int) -> tuple[int, int, int]:
    """Limit, used and requested as a denial tells them."""
    unit = unit_of(dimension)
    return limit // unit, units_up(used, unit), units_up(requested, unit)
