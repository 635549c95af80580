"""All sentences for closed words, list by list: what the command line says, and the web too.

A sentence with names in braces is to be filled in with the numbers that stand beside its word, by
the rules of ``bailiwick.phrases.templates``.

>>> SENTENCES["pending_reason"]["waiting_for_quota"]
'it waits for quota'
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from bailiwick.phrases.denials import DENIALS
from bailiwick.phrases.estimates import ESTIMATED, ESTIMATES
from bailiwick.phrases.health.sentences import CLOSED, ENDS, FOUND
from bailiwick.phrases.jobs import FAULTS, HELD
from bailiwick.phrases.readiness import CONDITIONS, TEMPLATES, VERDICTS
from bailiwick.phrases.reasons import REASONS, fix_of
from bailiwick.phrases.remedies import REMEDIES
from bailiwick.phrases.shared import SHARED_FIXES
from bailiwick.phrases.states import BUDGETS, FALLEN, FILTERS
from bailiwick.phrases.tokens import MINT_DENIALS
from bailiwick.vocab.mig import MigFailure
from bailiwick.vocab.words import PendingReason, PreemptionReason

W = TypeVar("W", bound=str)


def _plain(said: Mapping[W, str]) -> dict[str, str]:
    return {str(word): sentence for word, sentence in said.items()}


SENTENCES: Final[Mapping[str, Mapping[str, str]]] = {
    "budget_state": _plain(BUDGETS),
    "denial": _plain(DENIALS),
    "estimate": dict(ESTIMATED),
    "estimate_basis": _plain(ESTIMATES),
    "filter_reason": _plain(FILTERS),
    "filter_reason_beside": _plain(FALLEN),
    "health_action": _plain(CLOSED),
    "health_check": _plain(FOUND),
    "held_reason": _plain(HELD),
    "job_fault": _plain(FAULTS),
    "mig_failure": {cause.value: cause.human_summary() for cause in MigFailure},
    "mint_denial": _plain(MINT_DENIALS),
    "node_test_outcome": _plain(ENDS),
    "pending_fix": {reason.value: fix_of(reason, "") for reason in PendingReason},
    "pending_reason": _plain(REASONS),
    "preemption_reason": {reason.value: reason.human_summary() for reason in PreemptionReason},
    "readiness": _plain(VERDICTS),
    "readiness_condition": _plain(CONDITIONS),
    "readiness_reason": _plain(TEMPLATES),
    "remedy": _plain(REMEDIES),
    "shared_fix": _plain(SHARED_FIXES),
}
"""By the list that a word is of; ``_beside`` is what stands beside a word that shows."""
