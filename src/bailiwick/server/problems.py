"""Errors as HTTP: one table from each code to its status and whether trying again may help.

Rules:

- The catalog is closed: every code of ``ErrorCode`` and ``EdgeCode`` is in the table, no other.
- What went wrong inside is not told: a fault says that it is one, and its correlation id.
- What is not there and what is not the caller's look the same, to the letter (``Hidden``).

>>> PROBLEMS[ErrorCode.STALE].status
412
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from bailiwick.kernel.bookings.refusals import BookingRefused
from bailiwick.phrases.times import with_dates
from bailiwick.services.caller import AccessDenied, Hidden
from bailiwick.services.gate.joining import OtherInventory
from bailiwick.telemetry.trace_context import trace_id
from bailiwick.vocab.errors import (
    BailiwickError,
    CallUnanswered,
    ErrorCode,
    EvidenceContradicted,
    IllegalTransition,
    InstanceRefused,
    InvalidValue,
    InvariantBroken,
    NotHonoured,
    NotLeader,
    OverlayBroadens,
    SharedRuntimeRefused,
    Stale,
    VerificationFailed,
)
from bailiwick.wire.answers import Refused, TokenDenied
from bailiwick.wire.problem import EdgeCode, Problem

Code: TypeAlias = ErrorCode | EdgeCode
Details: TypeAlias = dict[str, str | int | list[str] | None]


class Row(NamedTuple):
    """What HTTP says of a code."""

    status: int
    retryable: bool
    meaning: str
    """For people: half a sentence in the manual and in the OpenAPI document."""


PROBLEMS: Final[dict[Code, Row]] = {
    EdgeCode.MALFORMED: Row(400, False, "the request is not HTTP, or its body is not JSON"),
    EdgeCode.UNAUTHENTICATED: Row(401, False, "there is no token, or it is not valid"),
    EdgeCode.FORBIDDEN: Row(403, False, "you lack the permission in `details` at the scope there"),
    EdgeCode.METHOD_NOT_ALLOWED: Row(405, False, "the path exists, but not with this method"),
    EdgeCode.TOO_LARGE: Row(413, False, "the body is larger than the server takes"),
    EdgeCode.PRECONDITION_REQUIRED: Row(
        428, False, "`If-Match` is needed here: the `ETag` of what you read"
    ),
    EdgeCode.RATE_LIMITED: Row(
        429,
        True,
        "too many bad tokens or watchers, somebody searches already, or it was told just now",
    ),
    # Whether a refused request may do better later is the decision's own to say.
    EdgeCode.REFUSED: Row(409, False, "admission said no; `decision` says why"),
    ErrorCode.INVALID_VALUE: Row(
        422, False, "a field is not as the contract says; `details` names it"
    ),
    ErrorCode.NOT_FOUND: Row(404, False, "it does not exist, or you may not see it"),
    ErrorCode.CONFLICT: Row(409, False, "it exists already, or its state does not allow this"),
    ErrorCode.ILLEGAL_TRANSITION: Row(
        409, False, "no such step from the node's mode; `details` has those that there are"
    ),
    ErrorCode.STALE: Row(412, True, "it changed since you read it; read it again"),
    ErrorCode.LIMIT_REACHED: Row(409, False, "a limit of the server itself is reached"),
    ErrorCode.NOT_HONOURED: Row(
        409, False, "whoever would run it cannot give that; `details` has the numbers"
    ),
    ErrorCode.OVERLAY_BROADENS: Row(
        409, False, "a line about an app allows more than a wider one; `details` has which"
    ),
    ErrorCode.VERIFICATION_FAILED: Row(
        409, False, "an artifact is not what it should be; `details` has its digest and why"
    ),
    ErrorCode.INSTANCE_REFUSED: Row(
        409, False, "the app, its policy or its version does not allow this; `details` says why"
    ),
    ErrorCode.SHARED_RUNTIME_REFUSED: Row(
        409, False, "a shared runtime is not made, or not used so; `details` says why"
    ),
    ErrorCode.EVIDENCE_CONTRADICTED: Row(
        409, False, "a check of an app says what the journal does not; `details` says what"
    ),
    ErrorCode.CALL_UNANSWERED: Row(
        409, False, "an instance did not answer in time; `details` says whether it may have acted"
    ),
    ErrorCode.UNAVAILABLE: Row(503, True, "no answer in time; it may have taken effect or not"),
    ErrorCode.NOT_LEADER: Row(503, True, "another replica decides; `details` may say which"),
    ErrorCode.DEPOSED: Row(503, True, "another replica took over meanwhile"),
    ErrorCode.CLOCK_JUMPED: Row(503, True, "the server's clock is wrong; nothing was decided"),
    ErrorCode.DAMAGED: Row(500, False, "the journal was changed or is incomplete"),
    ErrorCode.UNSUPPORTED_SCHEMA: Row(500, False, "the data was written by a newer version"),
    ErrorCode.INVARIANT_BROKEN: Row(500, False, "a fault of the server; its log says more"),
}

STATUSES: Final = tuple(sorted({row.status for row in PROBLEMS.values()}))
"""Every status that an error may have."""

_BY_STATUS: Final[dict[int, Code]] = {
    400: EdgeCode.MALFORMED,
    404: ErrorCode.NOT_FOUND,
    405: EdgeCode.METHOD_NOT_ALLOWED,
    413: EdgeCode.TOO_LARGE,
    422: ErrorCode.INVALID_VALUE,
}


@dataclass(slots=True)
class Trouble(Exception):
    """Something that the server itself has to say instead of an answer."""

    code: Code
    message: str
    details: Details = field(default_factory=dict)
    decision: Refused | TokenDenied | None = None
    retryable: bool | None = None
    """If not as the table says."""


def trouble_of_denial(denied: AccessDenied) -> Trouble:
    """What somebody is told who may not; what is hidden from him looks as if it were not there."""
    refusal = denied.refusal
    if denied.message is None:
        return Trouble(ErrorCode.NOT_FOUND, Hidden.MESSAGE)
    details: Details = {}
    if not denied.lacks_key:
        details = {"reason": refusal.reason}
    elif refusal.permission is not None:
        details = {"permission": refusal.permission.value, "scope": str(refusal.scope)}
    return Trouble(EdgeCode.FORBIDDEN, denied.message, details)


def trouble_of(error: BaseException) -> Trouble:
    """An error as it is told; what is not a caller's business is left out."""
    if isinstance(error, Trouble):
        return error
    if isinstance(error, BailiwickError):
        if PROBLEMS[error.code].status < 500 or error.retryable:
            told = with_dates(str(error), error.times.values())
            return Trouble(error.code, told, {**_details(error), **error.times})
        return Trouble(error.code, _FAULT)
    return Trouble(ErrorCode.INVARIANT_BROKEN, _FAULT)


_FAULT: Final = "a fault of the server; its log says more under the correlation id"


def trouble_of_status(status: int, message: str) -> Trouble:
    """What a bare HTTP status of the framework says in our words."""
    code = _BY_STATUS.get(status, EdgeCode.MALFORMED)
    return Trouble(code, Hidden.MESSAGE if status == 404 else message)


def problem_of(trouble: Trouble, correlation_id: str) -> tuple[int, Problem]:
    """The status and the envelope."""
    row = PROBLEMS[trouble.code]
    retryable = row.retryable if trouble.retryable is None else trouble.retryable
    return row.status, Problem(
        code=trouble.code,
        message=trouble.message,
        correlation_id=correlation_id,
        details=trouble.details,
        retryable=retryable,
        decision=trouble.decision,
        trace_id=trace_id(),
    )


def is_fault(error: BaseException) -> bool:
    """Whether it is our own bug, which must be logged."""
    return isinstance(error, InvariantBroken) or not isinstance(error, BailiwickError | Trouble)


def _details(error: BailiwickError) -> Details:
    match error:
        case InvalidValue():
            return {"field": error.field, "expected": error.expected}
        case BookingRefused():
            return {"reason": error.reason.value, **error.numbers}
        case OtherInventory():
            return {} if error.gpus is None else {"gpus": list(error.gpus)}
        case Stale():
            return {"held": error.held, "current": error.current}
        case IllegalTransition():
            return {"current": error.current, "allowed": list(error.allowed)}
        case NotHonoured():
            about: Details = {"what": error.what, "executor": error.executor}
            return about | {"asked": error.asked, "step": error.step}
        case OverlayBroadens():
            return {"what": error.what, "value": error.value, "source": error.source}
        case VerificationFailed():
            return {"digest": error.digest, "reason": error.reason}
        case InstanceRefused() | SharedRuntimeRefused():
            return {"reason": error.reason.value, **error.numbers}
        case EvidenceContradicted():
            return {"reason": error.reason.value, "record": error.seq}
        case CallUnanswered():
            return {"call_id": error.call_id, "was_taken": int(error.was_taken)}
        case NotLeader():
            return {"leader": error.address}
        case _:
            return {}
