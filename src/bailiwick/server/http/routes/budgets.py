"""Routes for budgets: what a tenant or project may spend, and how that stands."""

from __future__ import annotations

from fastapi import Response

from bailiwick.billing.budgets import Budget
from bailiwick.iam import Scope
from bailiwick.kernel import Done
from bailiwick.kernel.precondition import budget_digest
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here
from bailiwick.server.http.foreseen import spell_budget_change
from bailiwick.server.http.params import (
    IfMatchDigest,
    Limit,
    NameCursor,
    PathName,
    digest_in,
    spell_page,
)
from bailiwick.services import budgets
from bailiwick.services.foreseeing.changes import BudgetForeseen
from bailiwick.wire import billing as wire
from bailiwick.wire.base import Page
from bailiwick.wire.foreseen import BudgetSet


@answers("tenant_budget.read")
async def read_tenant_budget(
    asked: Here, tenant: PathName, *, response: Response
) -> wire.BudgetStanding:
    """What a tenant may spend, and how that stands; the ``ETag`` is of what was set."""
    return await _read(asked, Scope(tenant), response=response)


@answers("project_budget.read")
async def read_project_budget(
    asked: Here, tenant: PathName, *, project: PathName, response: Response
) -> wire.BudgetStanding:
    """What a project may spend, and how that stands; the ``ETag`` is of what was set."""
    return await _read(asked, Scope(tenant, project), response=response)


@answers("tenant_budget.set")
async def set_tenant_budget(
    asked: Changing, tenant: PathName, *, body: wire.NewBudget, if_match: IfMatchDigest = None
) -> BudgetSet:
    """Replace a tenant's budget; for the same period it goes on counting."""
    return await _set(asked, Scope(tenant), body=body, seen=digest_in(if_match))


@answers("project_budget.set")
async def set_project_budget(
    asked: Changing,
    tenant: PathName,
    *,
    project: PathName,
    body: wire.NewBudget,
    if_match: IfMatchDigest = None,
) -> BudgetSet:
    """Replace a project's budget; for the same period it goes on counting."""
    return await _set(asked, Scope(tenant, project), body=body, seen=digest_in(if_match))


@answers("tenant_budget.remove")
async def remove_tenant_budget(asked: Changing, tenant: PathName) -> BudgetSet:
    """What the tenant spends is no longer limited."""
    return _spell_set(await budgets.remove(asked, Scope(tenant)))


@answers("project_budget.remove")
async def remove_project_budget(
    asked: Changing, tenant: PathName, *, project: PathName
) -> BudgetSet:
    """What the project spends is no longer limited by a budget of its own."""
    return _spell_set(await budgets.remove(asked, Scope(tenant, project)))


@answers("budget.list")
async def list_budgets(
    asked: Here, tenant: PathName, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.BudgetStanding]:
    """The budgets of a tenant and its projects that the caller may see, the tenant's first."""
    return spell_page(await budgets.page(asked, tenant, after=cursor, limit=limit), _spell)


async def _read(asked: Asked, scope: Scope, *, response: Response) -> wire.BudgetStanding:
    found = await budgets.read(asked, scope)
    response.headers["etag"] = f'"{budget_digest(found.view.budget)}"'
    return _spell(found)


async def _set(asked: Asked, scope: Scope, *, body: wire.NewBudget, seen: str | None) -> BudgetSet:
    found = await budgets.put(
        asked,
        asked.tables,
        budget=lambda: _budget(scope, body),
        scope=scope,
        opening_micros=body.opening_micros,
        seen=seen,
    )
    return _spell_set(found)


def _spell_set(found: tuple[Done, BudgetForeseen | None]) -> BudgetSet:
    done, foreseen = found
    consequence = None if foreseen is None else spell_budget_change(foreseen)
    return BudgetSet(answer="done", seq=done.seq, consequence=consequence)


def _budget(scope: Scope, body: wire.NewBudget) -> Budget:
    return Budget(
        str(scope.tenant),
        scope.project,
        limit_micros=body.limit_micros,
        cap_micros=body.cap_micros,
        from_ms=body.from_ms,
        until_ms=body.until_ms,
        thresholds=tuple(body.thresholds),
    )


def _spell(found: budgets.BudgetStanding) -> wire.BudgetStanding:
    view, budget = found.view, found.view.budget
    return wire.BudgetStanding(
        tenant=budget.tenant,
        project=budget.project,
        currency=found.currency,
        budget=wire.Budget(
            limit_micros=budget.limit_micros,
            cap_micros=budget.cap_micros,
            from_ms=budget.from_ms,
            until_ms=budget.until_ms,
            thresholds=list(budget.thresholds),
        ),
        state=view.standing.state,
        crossed=view.standing.crossed,
        spent_micros=view.spent_micros,
        left_micros=max(0, budget.limit_micros - view.spent_micros),
        projected_micros=view.projected_micros,
    )
