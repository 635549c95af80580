"""The error envelope: the one shape of everything that did not go as asked."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from bailiwick.vocab.errors import ErrorCode
from bailiwick.wire.answers import Refused, TokenDenied
from bailiwick.wire.base import Model


class EdgeCode(StrEnum):
    """What only the server itself says; every other code is an ``ErrorCode``."""

    MALFORMED = "malformed"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    TOO_LARGE = "too_large"
    PRECONDITION_REQUIRED = "precondition_required"
    RATE_LIMITED = "rate_limited"
    REFUSED = "refused"


class Problem(Model):
    """Which error, in words for a program and for a person; a refused request's decision is in it.

    ``correlation_id`` finds everything that belongs to the request, and ``trace_id`` the same in
    whatever collects the spans. ``retryable`` says whether the
    same request (with the same idempotency key) may do better later.
    """

    code: Annotated[ErrorCode, Field(strict=False)] | Annotated[EdgeCode, Field(strict=False)]
    message: str
    correlation_id: str
    details: dict[str, str | int | list[str] | None]
    retryable: bool
    decision: Annotated[Refused | TokenDenied, Field(discriminator="answer")] | None = None
    trace_id: str | None = None
