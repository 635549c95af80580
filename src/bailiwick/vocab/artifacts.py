"""The closed words of fetching: what was found of an artifact's bytes, and why nobody gets them.

Rules:

- ``VerificationReason`` stands in the record of an artifact's trust, in the order of the checks.
- ``PullFault`` is why a credential hands out nothing, in the order of the checks.
"""

from __future__ import annotations

from enum import StrEnum


class VerificationReason(StrEnum):
    """Why an artifact is verified, or failed to be."""

    DIGEST_DIFFERS = "digest_differs"
    TOO_LARGE = "too_large"
    NOT_SIGNED = "not_signed"
    SIGNATURE_MALFORMED = "signature_malformed"
    KEY_UNKNOWN = "key_unknown"
    SUBJECT_DIFFERS = "subject_differs"
    SIGNATURE_INVALID = "signature_invalid"
    COMMENT_INVALID = "comment_invalid"
    DIGEST_MATCHES = "digest_matches"
    """It is what its digest says, and its source names no keys."""
    SIGNATURE_VALID = "signature_valid"

    @property
    def is_good(self) -> bool:
        """Whether it is verified by that."""
        return self in (self.DIGEST_MATCHES, self.SIGNATURE_VALID)


class PullFault(StrEnum):
    """Why a credential for a pull hands out nothing."""

    MALFORMED = "malformed"
    BAD_SIGNATURE = "bad_signature"
    UNKNOWN_CREDENTIAL = "unknown_credential"
    EXPIRED = "expired"
    WRONG_AUDIENCE = "wrong_audience"
    WRONG_DIGEST = "wrong_digest"
    OPERATION_ENDED = "operation_ended"
    NOT_USABLE = "not_usable"
    """The policy does not let it be used any more, or it is not trusted any more."""
