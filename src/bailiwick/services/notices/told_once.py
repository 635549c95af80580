"""What is news about a budget: each of its lines is told once in a period.

Rules:

- The journal has a record for each time a line is passed. What was spent may shrink again (a lease
  that was lost with its node costs up to the last proof of life), and then a line is passed twice.
  People are told of it the first time.
- So they are until the budget is set anew: with another limit or other thresholds, or counted from
  another beginning, as in another period. One that is set to what it was is no other.
- The lines are the thresholds and the limit. Whether work is still being ended is none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from bailiwick.journal.kinds import RecordKind
from bailiwick.store.notices.told import NOTHING_TOLD, ToldBudget
from bailiwick.vocab.words import BudgetState

_SPENT: Final = (BudgetState.DEPLETED.value, BudgetState.AUTO_RELEASE_PENDING.value)

OF_BUDGETS: Final = (RecordKind.BUDGET_CHANGED.value, RecordKind.BUDGET_STATE_CHANGED.value)
"""The kinds that this reads."""


def told_after(line: Mapping[str, Any], told: ToldBudget) -> ToldBudget:
    """How far people know of a budget, once such a record of it was read; more, if it is news."""
    body = line["body"]
    if line["kind"] == RecordKind.BUDGET_STATE_CHANGED.value:
        return replace(told, level=max(told.level, _level(body)))
    if body.get("removed"):
        return NOTHING_TOLD
    terms = json.dumps([body["limit_micros"], list(body.get("thresholds", ()))])
    is_same = terms == told.terms and "opening_micros" not in body
    return told if is_same else ToldBudget(terms)


def _level(body: Mapping[str, Any]) -> int:
    return int(body["crossed"]) + (body["after"] in _SPENT)
