"""How far people were told of each budget, a row for each.

Rules:

- A row is written in the transaction that moves the place in the journal. So it is what the records
  before that place say, whoever leads.
- A budget of which nothing is known has no row. A tenant's own has an empty word for its project.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, and_, delete, insert, select

from bailiwick.iam import Scope
from bailiwick.store.notices.tables import notice_budgets
from bailiwick.store.notices.told import NOTHING_TOLD, ToldBudget

_B = notice_budgets.c


def read_told(connection: Connection, scope: Scope) -> ToldBudget:
    """How far people were told of a budget."""
    which = and_(_B.tenant == scope.tenant, _B.project == (scope.project or ""))
    row = connection.execute(select(_B.terms, _B.level).where(which)).one_or_none()
    return NOTHING_TOLD if row is None else ToldBudget(row.terms, row.level)


def write_told(connection: Connection, told: Mapping[Scope, ToldBudget]) -> None:
    """Keep how far people were told of these budgets."""
    for scope, each in told.items():
        own = {"tenant": scope.tenant, "project": scope.project or ""}
        which = and_(*(_B[name] == value for name, value in own.items()))
        connection.execute(delete(notice_budgets).where(which))
        if each != NOTHING_TOLD:
            row = {**own, "terms": each.terms, "level": each.level}
            connection.execute(insert(notice_budgets).values(row))
