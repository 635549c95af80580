"""Budgets: what a tenant or project may spend, and how that stands.

Rules:

- What a tenant may spend is set by whoever has the key over the fleet; how that is shared out over
  projects, by the tenant's own admins. Who works in a project sees its budget.
- The kernel counts from the moment a budget is set. What was spent of its period before is read
  off the meter then, unless the caller says what it was.
- Sent again with its idempotency key, a budget that stands as it was asked for is not metered
  again: it gets its first answer.
"""

from __future__ import annotations

from typing import NamedTuple

from bailiwick.billing.budgets import Budget
from bailiwick.iam import Scope
from bailiwick.kernel import Done, RemoveBudget, SetBudget
from bailiwick.kernel.money.rules import BudgetView, look_at_budget
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.foreseeing.changes import BudgetForeseen, foresee_budget
from bailiwick.services.pages import Rows, page_of
from bailiwick.services.rating import Period, accounts_of, prices_in, rate_period
from bailiwick.services.tables import StoreTables


class BudgetStanding(NamedTuple):
    """A budget, how it stands, and in which currency."""

    view: BudgetView
    currency: str


async def read(caller: Caller, scope: Scope) -> BudgetStanding:
    """What a tenant or project may spend, and how that stands."""
    caller.require(scope)
    return await caller.lookup(lambda view: _standing(view, scope))


async def page(
    caller: Caller, tenant: str, *, after: str | None, limit: int
) -> Rows[BudgetStanding]:
    """The budgets of a tenant and its projects that the caller may see, the tenant's first."""
    caller.require_within(Scope(tenant))

    def rows(view: View) -> Rows[BudgetStanding]:
        state = view.state
        state.directory.tenant(tenant)
        scopes = [Scope(*scope) for scope in state.spending.purses if scope[0] == tenant]
        seen = (scope for scope in scopes if caller.may(scope))
        found, more = page_of(seen, after=after, limit=limit, key=_place)
        return [_standing(view, scope) for scope in found], more

    return await caller.read(rows)


async def put(
    caller: Caller,
    tables: StoreTables,
    *,
    budget: Deferred[Budget],
    scope: Scope,
    opening_micros: int | None = None,
    seen: str | None = None,
) -> tuple[Done, BudgetForeseen | None]:
    """Replace a budget; for the same period it goes on counting. A dry run tells what follows."""
    caller.require(scope)
    await caller.lookup(lambda view: view.state.directory.check_scope(scope))
    wanted = budget()
    repeated = await caller.lookup(lambda view: _repeated(view, caller, wanted))
    if repeated is not None:
        return repeated, None
    if opening_micros is None:
        opening_micros = await _opening(caller, tables, wanted)
    return await _change(caller, SetBudget(wanted, opening_micros, seen), scope=scope)


async def remove(caller: Caller, scope: Scope) -> tuple[Done, BudgetForeseen | None]:
    """What the tenant or project spends is no longer limited by a budget of its own."""
    caller.require(scope)
    tenant = str(scope.tenant)
    await caller.lookup(lambda view: view.state.directory.tenant(tenant))
    return await _change(caller, RemoveBudget(tenant, scope.project), scope=scope)


async def _change(
    caller: Caller, change: SetBudget | RemoveBudget, *, scope: Scope
) -> tuple[Done, BudgetForeseen | None]:
    done = await caller.change(change)
    return done, await foresee_budget(caller, change, scope=scope) if caller.dry_run else None


def _place(scope: Scope) -> str:
    """Where a budget stands in the list: the tenant's own before all projects'."""
    return "0" if scope.project is None else f"1:{scope.project}"


def _standing(view: View, scope: Scope) -> BudgetStanding:
    tenant = str(scope.tenant)
    view.state.directory.tenant(tenant)
    if scope.project is not None:
        view.state.directory.project(tenant, scope.project)
    found = look_at_budget(view.state, tenant, project=scope.project, now_ms=view.now_ms)
    return BudgetStanding(found, view.state.spending.book.currency)


def _repeated(view: View, caller: Caller, budget: Budget) -> Done | None:
    """The first answer, if this very budget was set with this key and stands."""
    answer = caller.first_answer(view)
    purse = view.state.spending.purses.get((budget.tenant, budget.project))
    is_same = purse is not None and purse.budget == budget
    return answer if is_same and isinstance(answer, Done) else None


async def _opening(caller: Caller, tables: StoreTables, budget: Budget) -> int | None:
    """What was spent in the period so far, if nobody counts for it yet."""

    def counts(view: View) -> bool:
        purse = view.state.spending.purses.get((budget.tenant, budget.project))
        mine = budget.from_ms, budget.until_ms
        return purse is not None and mine == (purse.budget.from_ms, purse.budget.until_ms)

    if await caller.lookup(counts):
        return None
    now_ms = (await caller.lookup(prices_in)).now_ms
    from_ms, to_ms = budget.clip(0, now_ms)
    if from_ms >= to_ms:
        return 0
    wanted = accounts_of(Scope(budget.tenant, budget.project))
    period = Period(from_ms, to_ms)
    return (await rate_period(caller, tables.meter, wanted=wanted, period=period)).cost_micros
