"""The closed words of the journal: those in a record's fields, and what can be wrong with one.

What a record can tell is in :mod:`bailiwick.journal.kinds`. Words that another package decides with
(a preemption reason, a node's mode) live in :mod:`bailiwick.vocab`; here are only those that nobody
but the journal speaks so far.
"""

from __future__ import annotations

from enum import StrEnum


class KindScope(StrEnum):
    """Whose a record is: which of tenant and project it must name."""

    FLEET = "fleet"
    TENANT = "tenant"
    PROJECT = "project"


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


class RoleChange(StrEnum):
    """What happened to a role that somebody put together."""

    CREATED = "created"
    CHANGED = "changed"
    DELETED = "deleted"


class MemberChange(StrEnum):
    """What happened to someone's place in a tenant or project."""

    ADDED = "added"
    ROLE_CHANGED = "role_changed"
    REMOVED = "removed"


class OfferOutcome(StrEnum):
    """What became of an offered role."""

    ACCEPTED = "accepted"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"


class NoteOutcome(StrEnum):
    """Why a note about a node stands no more."""

    ENDED = "ended"
    """By a person."""
    EXPIRED = "expired"


class Severity(StrEnum):
    """How bad a reported finding is."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"
