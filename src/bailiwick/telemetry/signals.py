"""Which closed words are a signal of attack or misuse, and so must have an alert of their own.

Rules:

- Every preemption reason is judged, one by one; a new one must be judged before it can be added.
- A word that is no signal is one that the fleet's ordinary work produces all day.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from bailiwick.journal.words import AttestationWord
from bailiwick.vocab.apps import PullFault
from bailiwick.vocab.words import PreemptionReason


class Signal(StrEnum):
    """What a word tells those who watch."""

    SECURITY = "security"
    MISUSE = "misuse"
    ORDINARY = "ordinary"


_R = PreemptionReason

PREEMPTION_SIGNALS: Final[dict[PreemptionReason, Signal]] = {
    # Urgent priorities are claimed, not earned: a storm of these is somebody who claims them all.
    _R.PRIORITY_PREEMPTION: Signal.MISUSE,
    # A few are sharing at work. Many at once: a quota was lowered far below what is held.
    _R.QUOTA_REBALANCE: Signal.MISUSE,
    _R.BURST_CREDIT_EXHAUSTED: Signal.MISUSE,
    _R.BUDGET_EXHAUSTED: Signal.MISUSE,
    _R.COST_CAP_EVICTION: Signal.MISUSE,
    # An operator's word ends even guaranteed work: so would a stolen operator's.
    _R.OPERATOR_DRAIN: Signal.SECURITY,
    _R.OPERATOR_MIG_PROFILE_CHANGE: Signal.SECURITY,
    # One that was announced in time finds few left. One for the next minute ends all, as a drain.
    _R.MAINTENANCE_WINDOW: Signal.SECURITY,
    _R.POLICY_VIOLATION_RECOVERY: Signal.SECURITY,
}

REFUSALS: Final = (
    *("no_token", "rate_limited", "malformed_token", "bad_signature", "unknown_token"),
    *("revoked_token", "expired_token", "account_disabled"),
    *("forbidden", "foreign_scope", "foreign_lease", "beyond_reach", "not_found"),
    *("foreign_node", "tells_of_another", "service_account_refused", "public_needs_fleet"),
    "own_check",
    *(f"pull_{fault.value}" for fault in PullFault),
    "role_broadens",
    "foreign_project",
    *("needs_service_account", "needs_person"),
    "foreign_runtime",
    "needs_own_role",
    "needs_runtime_operator",
    "csrf_refused",
    *("login_state_mismatch", "login_provider_refused", "login_provider_unreachable"),
    *("login_token_invalid", "login_name_unusable"),
    *("federation_issuer_unknown", "federation_issuer_unreachable"),
    *("federation_token_invalid", "federation_not_trusted", "account_key_refused"),
)
"""Why somebody was turned away, as the door and the handlers say it."""

REFUSAL_SIGNALS: Final = (
    *("rate_limited", "bad_signature", "unknown_token", "revoked_token", "account_disabled"),
    *("foreign_scope", "foreign_lease", "foreign_project", "foreign_runtime", "beyond_reach"),
    *("pull_unknown_credential", "pull_wrong_audience", "pull_wrong_digest", "role_broadens"),
    *("csrf_refused", "login_token_invalid", "federation_token_invalid"),
    "account_key_refused",
)
"""Those that no well-behaved caller meets often."""

ATTESTATION_SIGNALS: Final = (AttestationWord.UNTRUSTED, AttestationWord.STALE)
