"""How things stand: nodes that do not serve a request (at which filter they fell), budgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bailiwick.vocab.words import BudgetState, FilterReason

FILTERS: Final[Mapping[FilterReason, str]] = {
    FilterReason.NODE_MODE: "are not accepting work",
    FilterReason.QUARANTINED: "are quarantined",
    FilterReason.ATTESTATION: "have not proven what is asked of them",
    FilterReason.GPU_KIND: "have no such GPU",
    FilterReason.LABELS: "lack a label",
    FilterReason.POLICY: "are closed to it by policy",
    FilterReason.CPU: "have too few free cores",
    FilterReason.MEMORY: "have too little free memory",
    FilterReason.BLOCK: "have too little free storage",
    FilterReason.GPU: "have no such GPU free",
}
"""What is said of nodes that fell at a filter."""


FALLEN: Final[Mapping[FilterReason, str]] = {
    FilterReason.NODE_MODE: "not accepting: cordoned, draining or in maintenance",
    FilterReason.QUARANTINED: "quarantined, not trusted now",
    FilterReason.ATTESTATION: "have yet to prove what is asked of them",
    FilterReason.GPU_KIND: "have no GPU of the kind asked for",
    FilterReason.LABELS: "do not carry the labels asked for",
    FilterReason.POLICY: "kept for others by policy",
    FilterReason.CPU: "right kind, too few cores free",
    FilterReason.MEMORY: "right kind, too little memory free",
    FilterReason.BLOCK: "right kind, too little storage free",
    FilterReason.GPU: "right kind, too few GPUs free",
}
"""The same, to stand beside the word."""

BUDGETS: Final[Mapping[BudgetState, str]] = {
    BudgetState.HEALTHY: "healthy",
    BudgetState.LOW_BALANCE: "low: a warning was given",
    BudgetState.AUTO_RELEASE_PENDING: "spent: what agreed to end on that is ending",
    BudgetState.DEPLETED: "spent: new requests are refused",
}
