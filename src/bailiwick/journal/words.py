"""The closed words of the journal: what a record tells, and what can be wrong with one.

Rules:

- A record's kind is one of :class:`RecordKind`; a reader refuses any other, and so does a writer.
- Words that another package decides with (a preemption reason, a node's mode) live in
  :mod:`bailiwick.vocab`; here are only those that nobody but the journal speaks so far.

>>> RecordKind("lease_preempted").scope
<KindScope.TENANT: 'tenant'>
"""

from __future__ import annotations

from enum import StrEnum


class KindScope(StrEnum):
    """Whose a record is: which of tenant and project it must name."""

    FLEET = "fleet"
    TENANT = "tenant"
    PROJECT = "project"


class RecordKind(StrEnum):
    """What a record tells. One kind for each decision and each privileged action."""

    ADMISSION_APPROVED = "admission_approved"
    ADMISSION_DENIED = "admission_denied"
    REQUEST_QUEUED = "request_queued"
    REQUEST_BLOCKED = "request_blocked"
    REQUEST_CANCELLED = "request_cancelled"
    ROOM_RESERVED = "room_reserved"
    LEASE_GRANTED = "lease_granted"
    LEASE_RENEWED = "lease_renewed"
    LEASE_RELEASED = "lease_released"
    LEASE_EXPIRED = "lease_expired"
    LEASE_REVOKED = "lease_revoked"
    LEASE_FENCED = "lease_fenced"
    FENCE_CLEARED = "fence_cleared"
    LEASE_PREEMPTED = "lease_preempted"
    NODE_REGISTERED = "node_registered"
    NODE_DEPARTED = "node_departed"
    NODE_MODE_CHANGED = "node_mode_changed"
    NODE_QUARANTINED = "node_quarantined"
    NODE_QUARANTINE_LIFTED = "node_quarantine_lifted"
    NODE_ENROLLED = "node_enrolled"
    NODE_ENROLMENT_WITHDRAWN = "node_enrolment_withdrawn"
    DRAIN_STARTED = "drain_started"
    DRAIN_FINISHED = "drain_finished"
    ATTESTATION_VERDICT = "attestation_verdict"
    QUOTA_CHANGED = "quota_changed"
    POLICY_CHANGED = "policy_changed"
    TOKEN_ISSUED = "token_issued"
    TOKEN_REFUSED = "token_refused"
    OPERATOR_ACTION = "operator_action"
    BREAK_GLASS = "break_glass"
    CHECKPOINT_REPORTED = "checkpoint_reported"
    TENANT_CREATED = "tenant_created"
    TENANT_CHANGED = "tenant_changed"
    PROJECT_CREATED = "project_created"
    PROJECT_CHANGED = "project_changed"
    MEMBER_CHANGED = "member_changed"
    SERVICE_ACCOUNT_CREATED = "service_account_created"
    SERVICE_ACCOUNT_CHANGED = "service_account_changed"
    ENTITLEMENT_CHANGED = "entitlement_changed"
    APP_INSTANCE_CREATED = "app_instance_created"
    APP_INSTANCE_CHANGED = "app_instance_changed"
    APP_INSTANCE_REMOVED = "app_instance_removed"
    SHARED_RUNTIME_CHANGED = "shared_runtime_changed"
    ARTIFACT_PROMOTED = "artifact_promoted"
    SECRET_ISSUED = "secret_issued"
    RATE_CARD_CHANGED = "rate_card_changed"
    INVOICE_ISSUED = "invoice_issued"
    BUDGET_CHANGED = "budget_changed"
    BUDGET_STATE_CHANGED = "budget_state_changed"
    FINDING_REPORTED = "finding_reported"
    SHARE_CHANGED = "share_changed"
    SETTINGS_CHANGED = "settings_changed"
    STATE_CHECKPOINT = "state_checkpoint"
    LEADER_ELECTED = "leader_elected"
    ACCESS_TOKEN_ISSUED = "access_token_issued"
    ACCESS_TOKEN_REVOKED = "access_token_revoked"
    ACCESS_REFUSED = "access_refused"

    @property
    def scope(self) -> KindScope:
        """Whose the record is. A lease without a tenant would escape its owner's view."""
        return _SCOPES.get(self, KindScope.TENANT)


_SCOPES = dict.fromkeys(
    (
        RecordKind.NODE_REGISTERED,
        RecordKind.NODE_DEPARTED,
        RecordKind.NODE_MODE_CHANGED,
        RecordKind.NODE_QUARANTINED,
        RecordKind.NODE_QUARANTINE_LIFTED,
        RecordKind.NODE_ENROLLED,
        RecordKind.NODE_ENROLMENT_WITHDRAWN,
        RecordKind.DRAIN_STARTED,
        RecordKind.DRAIN_FINISHED,
        RecordKind.ATTESTATION_VERDICT,
        RecordKind.POLICY_CHANGED,
        RecordKind.TOKEN_REFUSED,
        RecordKind.OPERATOR_ACTION,
        RecordKind.BREAK_GLASS,
        RecordKind.SERVICE_ACCOUNT_CREATED,
        RecordKind.SERVICE_ACCOUNT_CHANGED,
        RecordKind.ARTIFACT_PROMOTED,
        RecordKind.SECRET_ISSUED,
        RecordKind.RATE_CARD_CHANGED,
        RecordKind.FINDING_REPORTED,
        RecordKind.SETTINGS_CHANGED,
        RecordKind.STATE_CHECKPOINT,
        RecordKind.LEADER_ELECTED,
        RecordKind.MEMBER_CHANGED,
        RecordKind.ACCESS_TOKEN_ISSUED,
        RecordKind.ACCESS_TOKEN_REVOKED,
        RecordKind.ACCESS_REFUSED,
    ),
    KindScope.FLEET,
) | dict.fromkeys(
    (
        RecordKind.PROJECT_CREATED,
        RecordKind.PROJECT_CHANGED,
        RecordKind.APP_INSTANCE_CREATED,
        RecordKind.APP_INSTANCE_CHANGED,
        RecordKind.APP_INSTANCE_REMOVED,
    ),
    KindScope.PROJECT,
)


class CancelCause(StrEnum):
    """Why a waiting request left the queue without starting."""

    ASKED = "asked"
    DEADLINE_PASSED = "deadline_passed"
    UNSATISFIABLE = "unsatisfiable"


class RecordFault(StrEnum):
    """Why bytes are no record, in the order the checks are made."""

    TOO_LONG = "too_long"
    NO_NEWLINE = "no_newline"
    NOT_UTF8 = "not_utf8"
    NOT_JSON = "not_json"
    TRAILING_DATA = "trailing_data"
    DUPLICATE_KEY = "duplicate_key"
    NOT_AN_INTEGER = "not_an_integer"
    UNKNOWN_FIELD = "unknown_field"
    MISSING_FIELD = "missing_field"
    UNKNOWN_KIND = "unknown_kind"
    BAD_VALUE = "bad_value"
    NOT_CANONICAL = "not_canonical"


class FindingWord(StrEnum):
    """What verification found wrong with a log."""

    MALFORMED = "malformed"
    CHANGED = "changed"
    REMOVED = "removed"
    ADDED = "added"
    REORDERED = "reordered"
    TRUNCATED = "truncated"
    TORN = "torn"
    TIME_WENT_BACK = "time_went_back"
    CHECKPOINT_MISMATCH = "checkpoint_mismatch"


class ProofFault(StrEnum):
    """Why a proof does not prove."""

    OUT_OF_RANGE = "out_of_range"
    WRONG_LENGTH = "wrong_length"
    ROOT_MISMATCH = "root_mismatch"
    OLD_ROOT_MISMATCH = "old_root_mismatch"
    NEW_ROOT_MISMATCH = "new_root_mismatch"


class NoteFault(StrEnum):
    """Why a signed checkpoint is not trusted, in the order the checks are made."""

    MALFORMED = "malformed"
    UNKNOWN_KEY = "unknown_key"
    BAD_SIGNATURE = "bad_signature"
    ORIGIN_MISMATCH = "origin_mismatch"
    TOO_FEW_WITNESSES = "too_few_witnesses"


class AttestationWord(StrEnum):
    """What a verifier said of a node's evidence."""

    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"
    STALE = "stale"
    UNSUPPORTED = "unsupported"


class MemberChange(StrEnum):
    """What happened to someone's place in a tenant or project."""

    ADDED = "added"
    ROLE_CHANGED = "role_changed"
    REMOVED = "removed"


class GrantChange(StrEnum):
    """What happened to a right to run an app."""

    GRANTED = "granted"
    CHANGED = "changed"
    WITHDRAWN = "withdrawn"


class RuntimeChange(StrEnum):
    """What happened to a runtime that projects of a tenant share."""

    CREATED = "created"
    CHANGED = "changed"
    ATTACHED = "attached"
    DETACHED = "detached"
    REMOVED = "removed"


class ArtifactChannel(StrEnum):
    """How far towards production an artifact has come."""

    DEV = "dev"
    TEST = "test"
    STAGING = "staging"
    PROD = "prod"


class TrustState(StrEnum):
    """Whether an artifact's content was verified."""

    UNVERIFIED = "unverified"
    VERIFIED = "verified"
    FAILED_VERIFICATION = "failed_verification"
    REVOKED = "revoked"


class Severity(StrEnum):
    """How bad a reported finding is."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"
