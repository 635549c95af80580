"""How much money a tenant or project may spend."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, PROJECT, TENANT, Action, Where
from bailiwick.wire.base import Page
from bailiwick.wire.billing import BudgetStanding, NewBudget
from bailiwick.wire.foreseen import BudgetSet

_P, _W = Permission, Where

# fmt: off
BUDGET_LIST = Action(
    "budget.list", "List budgets", "GET", TENANT + "/budgets",
    _P.BUDGET_READ, _W.TENANT_ROWS, NOTHING, Page[BudgetStanding])
TENANT_BUDGET_READ = Action(
    "tenant_budget.read", "Read a tenant's budget", "GET", TENANT + "/budget",
    _P.BUDGET_READ, _W.TENANT, NOTHING, BudgetStanding)
TENANT_BUDGET_SET = Action(
    "tenant_budget.set", "Set a tenant's budget", "PUT", TENANT + "/budget",
    _P.BUDGET_SET, _W.TENANT, NewBudget, BudgetSet)
TENANT_BUDGET_REMOVE = Action(
    "tenant_budget.remove", "Remove a tenant's budget", "DELETE", TENANT + "/budget",
    _P.BUDGET_SET, _W.TENANT, NOTHING, BudgetSet)
PROJECT_BUDGET_READ = Action(
    "project_budget.read", "Read a project's budget", "GET", PROJECT + "/budget",
    _P.BUDGET_READ, _W.PROJECT, NOTHING, BudgetStanding)
PROJECT_BUDGET_SET = Action(
    "project_budget.set", "Set a project's budget", "PUT", PROJECT + "/budget",
    _P.PROJECT_BUDGET_SET, _W.PROJECT, NewBudget, BudgetSet)
PROJECT_BUDGET_REMOVE = Action(
    "project_budget.remove", "Remove a project's budget", "DELETE", PROJECT + "/budget",
    _P.PROJECT_BUDGET_SET, _W.PROJECT, NOTHING, BudgetSet)
# fmt: on
