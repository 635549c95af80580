"""What another budget would do: how it would stand, when it would be used up, whom it would hold.

Rules:

- It is tried on a copy (:mod:`.trial`), and told by the code that tells how a budget stands.
- Used up is when what runs now, at today's prices and until its terms end, has cost the limit; if
  that never happens within the budget's period, there is no such time. Nobody else comes.
"""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.billing.rates import HOUR_MS, WHOLE
from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.kernel.money.commands import RemoveBudget, SetBudget
from bailiwick.kernel.money.rules import BudgetView, find_purse, look_at_budget
from bailiwick.kernel.money.spending import Holding
from bailiwick.kernel.state import State
from bailiwick.scheduler.quota_policy import QuotaScope
from bailiwick.whatif.scope_trial import ScopeTrial, ScopeTried
from bailiwick.whatif.trial import StateTrial


@dataclass(frozen=True, slots=True)
class BudgetTried:
    """How a budget would stand, when it would be used up, and what would come of it at once."""

    view: BudgetView | None
    """Nothing of a budget that would be removed."""
    used_up_ms: int | None
    at_once: ScopeTried


def try_budget(
    trial: StateTrial, command: SetBudget | RemoveBudget, *, scope: QuotaScope
) -> BudgetTried:
    """What the budget would do; the trial is used up."""
    found = ScopeTrial(trial, scope)
    found.do(command)
    if isinstance(command, RemoveBudget):
        return BudgetTried(None, None, found.finish())
    names = str(scope.tenant), scope.project
    view = look_at_budget(trial.state, names[0], project=names[1], now_ms=trial.now_ms)
    used_up_ms = used_up(trial.state, scope, now_ms=trial.now_ms)
    return BudgetTried(view, used_up_ms, found.finish())


def used_up(state: State, scope: QuotaScope, *, now_ms: int) -> int | None:
    """When the budget of a scope is used up by what runs now, if it ever is."""
    spending, purse = state.spending, find_purse(state, str(scope.tenant), project=scope.project)
    budget = purse.budget
    left = budget.limit_micros * WHOLE - spending.spent_micros(purse, now_ms) * WHOLE
    if left <= 0 or not budget.is_on(now_ms):
        return now_ms if left <= 0 else None
    until_ms = INTEGER_MAX if budget.until_ms is None else budget.until_ms
    span_ms = min(HOUR_MS, until_ms - now_ms)

    def cost(each: Holding) -> int:
        return spending.cost(purse, each.charges, from_ms=now_ms, to_ms=now_ms + span_ms)

    running = (each for each in purse.running.values() if each.expires_ms > now_ms)
    ends = sorted((each.expires_ms, cost(each)) for each in running)
    rate, at_ms = sum(each for _, each in ends), now_ms
    for expires_ms, less in ends:
        grown = rate * (expires_ms - at_ms) // span_ms
        if grown >= left and rate:
            found = at_ms + -(-left * span_ms // rate)
            return found if found < until_ms else None
        left, rate, at_ms = left - grown, rate - less, expires_ms
    return None
