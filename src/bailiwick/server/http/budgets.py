"""Handlers for budgets: what a tenant or project may spend, and how that stands.

Rules:

- What a tenant may spend is set by whoever has the key over the fleet; how that is shared out over
  projects, by the tenant's own admins. Who works in a project sees its budget.
- The kernel counts from the moment a budget is set. What was spent of its period before is read
  off the meter then, unless the caller says what it was.
- Sent again with its idempotency key, a budget that stands as it was asked for is not metered
  again: it gets its first answer.
"""

from __future__ import annotations

from typing import Any, cast

from fastapi import Response

from bailiwick.billing.budgets import Budget
from bailiwick.iam import Scope
from bailiwick.kernel.answers import Done as Did
from bailiwick.kernel.money import commands as cmd
from bailiwick.kernel.money.rules import BudgetView, look_at_budget
from bailiwick.kernel.precondition import budget_digest
from bailiwick.server.http.asked import Asked, Changing, Here
from bailiwick.server.http.billed import Period, accounts_of, rate_period, see_prices
from bailiwick.server.http.params import (
    IfMatchDigest,
    Limit,
    NameCursor,
    PathName,
    digest_in,
    page_of,
    spell_page,
)
from bailiwick.services.replica import View
from bailiwick.wire import billing as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page

_FIELDS = ("limit_micros", "cap_micros", "from_ms", "until_ms")


async def read_tenant_budget(
    asked: Here, tenant: PathName, *, response: Response
) -> wire.BudgetStanding:
    """What a tenant may spend, and how that stands; the ``ETag`` is of what was set."""
    return await _read(asked, Scope(tenant), response=response)


async def read_project_budget(
    asked: Here, tenant: PathName, *, project: PathName, response: Response
) -> wire.BudgetStanding:
    """What a project may spend, and how that stands; the ``ETag`` is of what was set."""
    return await _read(asked, Scope(tenant, project), response=response)


async def set_tenant_budget(
    asked: Changing, tenant: PathName, *, body: wire.NewBudget, if_match: IfMatchDigest = None
) -> Done:
    """Replace a tenant's budget; for the same period it goes on counting."""
    return await _set(asked, Scope(tenant), body=body, seen=digest_in(if_match))


async def set_project_budget(
    asked: Changing,
    tenant: PathName,
    *,
    project: PathName,
    body: wire.NewBudget,
    if_match: IfMatchDigest = None,
) -> Done:
    """Replace a project's budget; for the same period it goes on counting."""
    return await _set(asked, Scope(tenant, project), body=body, seen=digest_in(if_match))


async def remove_tenant_budget(asked: Changing, tenant: PathName) -> Done:
    """What the tenant spends is no longer limited."""
    return await _remove(asked, Scope(tenant))


async def remove_project_budget(asked: Changing, tenant: PathName, *, project: PathName) -> Done:
    """What the project spends is no longer limited by a budget of its own."""
    return await _remove(asked, Scope(tenant, project))


async def list_budgets(
    asked: Here, tenant: PathName, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.BudgetStanding]:
    """The budgets of a tenant and its projects that the caller may see, the tenant's first."""
    asked.require_within(Scope(tenant))

    def read(view: View) -> tuple[list[tuple[BudgetView, str]], str | None]:
        state = view.state
        state.directory.tenant(tenant)
        scopes = [Scope(*scope) for scope in state.spending.purses if scope[0] == tenant]
        rows = (scope for scope in scopes if asked.may(scope))
        found, more = page_of(rows, after=cursor, limit=limit, key=_place)
        return [_look(view, scope) for scope in found], more

    return spell_page(await asked.look(read), lambda row: _spell(*row))


def _place(scope: Scope) -> str:
    """Where a budget stands in the list: the tenant's own before all projects'."""
    return "0" if scope.project is None else f"1:{scope.project}"


# -- what they share -------------------------------------------------------------------------


async def _read(asked: Asked, scope: Scope, *, response: Response) -> wire.BudgetStanding:
    asked.require(scope)
    view, currency = await asked.look(lambda view: _look(view, scope))
    response.headers["etag"] = f'"{budget_digest(view.budget)}"'
    return _spell(view, currency)


def _look(view: View, scope: Scope) -> tuple[BudgetView, str]:
    tenant = cast(str, scope.tenant)
    view.state.directory.tenant(tenant)
    if scope.project is not None:
        view.state.directory.project(tenant, scope.project)
    found = look_at_budget(view.state, tenant, project=scope.project, now_ms=view.now_ms)
    return found, view.state.spending.book.currency


async def _set(
    asked: Asked, scope: Scope, *, body: wire.NewBudget, seen: str | None = None
) -> Done:
    asked.require(scope)
    await asked.look(lambda view: view.state.directory.check_scope(scope))
    values: dict[str, Any] = {name: getattr(body, name) for name in _FIELDS}
    values["thresholds"] = tuple(body.thresholds)
    budget = Budget(cast(str, scope.tenant), scope.project, **values)
    repeated = await asked.look(lambda view: _repeated(view, asked, budget))
    if repeated is not None:
        return repeated
    opening = body.opening_micros
    if opening is None:
        opening = await _opening(asked, budget)
    return await asked.do(cmd.SetBudget(budget, opening, seen))


def _repeated(view: View, asked: Asked, budget: Budget) -> Done | None:
    """The first answer, if this very budget was set with this key and stands."""
    known = None
    if asked.key is not None and not asked.dry_run:
        known = view.state.answers.get(asked.principal.name, asked.key)
    purse = view.state.spending.purses.get((budget.tenant, budget.project))
    if known is None or not isinstance(known.answer, Did):
        return None
    if purse is None or purse.budget != budget:
        return None
    return Done(answer="done", seq=known.answer.seq)


async def _opening(asked: Asked, budget: Budget) -> int | None:
    """What was spent in the period so far, if nobody counts for it yet."""

    def counts(view: View) -> bool:
        purse = view.state.spending.purses.get((budget.tenant, budget.project))
        mine = budget.from_ms, budget.until_ms
        return purse is not None and mine == (purse.budget.from_ms, purse.budget.until_ms)

    if await asked.look(counts):
        return None
    now_ms = (await asked.look(see_prices)).now_ms
    from_ms, to_ms = budget.clip(0, now_ms)
    if from_ms >= to_ms:
        return 0
    wanted = accounts_of(Scope(budget.tenant, budget.project))
    return (await rate_period(asked, wanted, period=Period(from_ms, to_ms))).cost_micros


async def _remove(asked: Asked, scope: Scope) -> Done:
    asked.require(scope)
    tenant = cast(str, scope.tenant)
    await asked.look(lambda view: view.state.directory.tenant(tenant))
    return await asked.do(cmd.RemoveBudget(tenant, scope.project))


def _spell(view: BudgetView, currency: str) -> wire.BudgetStanding:
    budget = view.budget
    values: dict[str, Any] = {name: getattr(budget, name) for name in _FIELDS}
    return wire.BudgetStanding(
        tenant=budget.tenant,
        project=budget.project,
        currency=currency,
        budget=wire.Budget(**values, thresholds=list(budget.thresholds)),
        state=view.standing.state,
        crossed=view.standing.crossed,
        spent_micros=view.spent_micros,
        left_micros=max(0, budget.limit_micros - view.spent_micros),
        projected_micros=view.projected_micros,
    )
