"""Budgets: how much a tenant or project may spend in a period, and how it stands.

Rules:

- A budget has a limit for what is spent, and may have a hard cap for what spending is heading for:
  spent, plus what runs now, to the end of its terms or of the period.
- Spent at or above the limit is ``depleted``; while work that agreed to end on that is still being
  ended it is ``auto_release_pending``. From a threshold (per mille of the limit) on it is
  ``low_balance``, one more time for each threshold that is crossed. Else it is ``healthy``.
- Only a change is told, and the standing that was told last is remembered: so a crossing is told
  once, however often somebody looks. A line that is crossed again after a refund is another.
- Outside its period a budget holds nobody back.
- A raised limit (a top-up) changes the standing, and nothing else.

>>> budget = Budget("acme", limit_micros=1_000, thresholds=(800,))
>>> [str(stand(budget, spent, at_ms=0, is_ending=False).state) for spent in (799, 800, 1_000)]
['healthy', 'low_balance', 'depleted']
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Final

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import MILLI, check_integer, check_name
from bailiwick.vocab.words import BudgetState

NUMBER_MAX: Final = 2**53 - 1
"""The largest amount of money or time that a budget, and a record of it, can say."""

THRESHOLDS_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class Budget:
    """What a tenant or one of its projects may spend, in micros of the journal's currency.

    It counts for ``from_ms <= t < until_ms``; without ``until_ms`` the period has no end. Without
    ``cap_micros`` there is no hard cap. ``thresholds`` are per mille of the limit.
    """

    tenant: str
    project: str | None = None
    _: KW_ONLY
    limit_micros: int
    cap_micros: int | None = None
    from_ms: int = 0
    until_ms: int | None = None
    thresholds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        if self.project is not None:
            check_name("project", self.project)
        check_integer("limit_micros", self.limit_micros, low=0, high=NUMBER_MAX)
        check_integer("from_ms", self.from_ms, low=0, high=NUMBER_MAX)
        if self.cap_micros is not None:
            check_integer("cap_micros", self.cap_micros, low=0, high=NUMBER_MAX)
        if self.until_ms is not None:
            check_integer("until_ms", self.until_ms, low=self.from_ms + 1, high=NUMBER_MAX)
        if not isinstance(self.thresholds, list | tuple) or len(self.thresholds) > THRESHOLDS_MAX:
            raise InvalidValue("thresholds", self.thresholds, f"at most {THRESHOLDS_MAX} of them")
        object.__setattr__(self, "thresholds", tuple(self.thresholds))
        low = 1
        for threshold in self.thresholds:
            low = 1 + check_integer("thresholds", threshold, low=low, high=MILLI - 1)

    def is_on(self, at_ms: int) -> bool:
        """Whether this time lies in the budget's period."""
        return self.from_ms <= at_ms and (self.until_ms is None or at_ms < self.until_ms)

    def clip(self, from_ms: int, to_ms: int) -> tuple[int, int]:
        """The part of this span that lies in the budget's period; an empty one if none does."""
        low = max(from_ms, self.from_ms)
        high = to_ms if self.until_ms is None else min(to_ms, self.until_ms)
        return low, max(low, high)


@dataclass(frozen=True, slots=True)
class BudgetProgress:
    """A budget's state, and how many of its thresholds were crossed."""

    state: BudgetState = BudgetState.HEALTHY
    crossed: int = 0


HEALTHY: Final = BudgetProgress()
"""How every budget begins."""


def stand(budget: Budget, spent_micros: int, *, at_ms: int, is_ending: bool) -> BudgetProgress:
    """How a budget stands with this much spent.

    ``is_ending``: work that agreed to end when the budget does still runs, or is being ended.
    """
    if not budget.is_on(at_ms):
        return HEALTHY
    if spent_micros >= budget.limit_micros:
        state = BudgetState.AUTO_RELEASE_PENDING if is_ending else BudgetState.DEPLETED
        return BudgetProgress(state, len(budget.thresholds))
    crossed = sum(spent_micros * MILLI >= each * budget.limit_micros for each in budget.thresholds)
    return BudgetProgress(BudgetState.LOW_BALANCE, crossed) if crossed else HEALTHY
