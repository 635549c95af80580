"""How a budget stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bailiwick.vocab.words import BudgetState

BUDGETS: Final[Mapping[BudgetState, str]] = {
    BudgetState.HEALTHY: "healthy",
    BudgetState.LOW_BALANCE: "low: a warning was given",
    BudgetState.AUTO_RELEASE_PENDING: "spent: what agreed to end on that is ending",
    BudgetState.DEPLETED: "spent: new requests are refused",
}
