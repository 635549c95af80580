"""The error tree: what a caller did wrong, told as data.

Rules:

- A denial is *not* here. "No" is a value (see :mod:`bailiwick.scheduler.admission`).
- An error names the field, the value and the fix, and is raised before anything changed.
- ``InvariantBroken`` is our own bug. Nothing below the top of a program catches it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, Self


class ErrorCode(StrEnum):
    """The closed words by which a program tells one error from another."""

    INVALID_VALUE = "invalid_value"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    ILLEGAL_TRANSITION = "illegal_transition"
    STALE = "stale"
    LIMIT_REACHED = "limit_reached"
    NOT_HONOURED = "not_honoured"
    OVERLAY_BROADENS = "overlay_broadens"
    VERIFICATION_FAILED = "verification_failed"
    INSTANCE_REFUSED = "instance_refused"
    SHARED_RUNTIME_REFUSED = "shared_runtime_refused"
    EVIDENCE_CONTRADICTED = "evidence_contradicted"
    CALL_UNANSWERED = "call_unanswered"
    UNAVAILABLE = "unavailable"
    NOT_LEADER = "not_leader"
    DEPOSED = "deposed"
    DAMAGED = "damaged"
    UNSUPPORTED_SCHEMA = "unsupported_schema"
    CLOCK_JUMPED = "clock_jumped"
    INVARIANT_BROKEN = "invariant_broken"


def _shown(value: object) -> str:
    """The value for a message: short, and even if it cannot be spelled (a huge integer cannot)."""
    try:
        text = repr(value)
    except Exception:
        return f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= 80 else text[:77] + "..."


class BailiwickError(Exception):
    """Base of every error this library raises on purpose."""

    code: ClassVar[ErrorCode]
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message} ({hint})" if hint else message)
        self.hint = hint
        self.times: Mapping[str, int] = MappingProxyType({})
        """Points in time that the message tells in milliseconds, by what they are: whoever has a
        reader before him spells them as dates."""

    def with_times(self, **times_ms: int) -> Self:
        """The same, and which of its numbers are points in time."""
        self.times = MappingProxyType(times_ms)
        return self


class InvalidValue(BailiwickError, ValueError):
    """A field holds a value it cannot hold."""

    code = ErrorCode.INVALID_VALUE

    def __init__(self, field: str, value: object, expected: str) -> None:
        super().__init__(f"{field}: expected {expected}, got {_shown(value)}")
        self.field = field
        self.value = value
        self.expected = expected


class NotFound(BailiwickError, LookupError):
    """A name or id that this object does not know."""

    code = ErrorCode.NOT_FOUND

    def __init__(self, kind: str, name: object, *, hint: str = "") -> None:
        super().__init__(f"no {kind} {_shown(name)}", hint=hint)
        self.kind = kind
        self.name = name


class Conflict(BailiwickError):
    """The thing exists already, or is in a state that forbids the change."""

    code = ErrorCode.CONFLICT

    def __init__(self, kind: str, name: object, why: str, *, hint: str = "") -> None:
        super().__init__(f"{kind} {_shown(name)}: {why}", hint=hint)
        self.kind = kind
        self.name = name


class IllegalTransition(BailiwickError):
    """A state machine was asked for an edge that its table does not have."""

    code = ErrorCode.ILLEGAL_TRANSITION

    def __init__(self, machine: str, current: str, wanted: str, allowed: tuple[str, ...]) -> None:
        edges = ", ".join(allowed) or "none, it is terminal"
        super().__init__(
            f"{machine}: {current} -> {wanted} is not allowed; from {current}: {edges}"
        )
        self.machine = machine
        self.current = current
        self.wanted = wanted
        self.allowed = allowed


class Stale(BailiwickError):
    """The caller holds an older generation of a thing that has moved on."""

    code = ErrorCode.STALE
    retryable = True

    def __init__(self, kind: str, name: object, *, held: int | str, current: int | str) -> None:
        super().__init__(
            f"{kind} {_shown(name)} is at generation {_shown(current)}, "
            f"the caller holds {_shown(held)}",
            hint="read it again and retry",
        )
        self.held = held
        self.current = current


class LimitReached(BailiwickError):
    """A bound of the library itself (not of a tenant) is full."""

    code = ErrorCode.LIMIT_REACHED

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"{what}: the limit of {limit} is reached")
        self.what = what
        self.limit = limit


class NotHonoured(BailiwickError):
    """Whoever would run it cannot give what is asked for, and never could."""

    code = ErrorCode.NOT_HONOURED

    def __init__(self, what: str, executor: str, *, asked: int | str, step: int | None) -> None:
        steps = "" if step is None else f", it gives steps of {step}"
        super().__init__(
            f"{executor} cannot honour {what}: asked for {asked}{steps}",
            hint="ask for what it gives, or for another place to run",
        )
        self.what, self.executor = what, executor
        self.asked, self.step = asked, step


class OverlayBroadens(BailiwickError):
    """A line of a policy would allow what a wider one does not."""

    code = ErrorCode.OVERLAY_BROADENS

    def __init__(self, what: str, value: str, *, source: str) -> None:
        super().__init__(
            f"{what}: {_shown(value)} is more than the line of {source} allows",
            hint="an overlay only narrows; see app entitlement explain",
        )
        self.what, self.value, self.source = what, value, source


class VerificationFailed(BailiwickError):
    """Bytes are not what their digest says, or nobody signed them whose word counts."""

    code = ErrorCode.VERIFICATION_FAILED

    def __init__(self, digest: str, reason: str) -> None:
        super().__init__(f"artifact {digest} is not used: {reason}")
        self.digest, self.reason = digest, reason


class InstanceRefused(BailiwickError):
    """An instance of an app is not made, or not changed so: the word for why, and its numbers."""

    code = ErrorCode.INSTANCE_REFUSED

    def __init__(self, reason: StrEnum, name: str, **numbers: int | str) -> None:
        told = "".join(f", {key} {value}" for key, value in numbers.items())
        super().__init__(f"instance {_shown(name)}: {reason.value}{told}")
        self.reason, self.name, self.numbers = reason, name, numbers


class SharedRuntimeRefused(BailiwickError):
    """A shared runtime is not made, or not used so: the word for why, and its numbers."""

    code = ErrorCode.SHARED_RUNTIME_REFUSED

    def __init__(self, reason: StrEnum, name: str, **numbers: int | str) -> None:
        told = "".join(f", {key} {value}" for key, value in numbers.items())
        super().__init__(f"shared runtime {_shown(name)}: {reason.value}{told}")
        self.reason, self.name, self.numbers = reason, name, numbers


class EvidenceContradicted(BailiwickError):
    """A check of an app says what the server's own records do not: the word for what."""

    code = ErrorCode.EVIDENCE_CONTRADICTED

    def __init__(self, reason: StrEnum, name: str, *, seq: int | None = None) -> None:
        where = "" if seq is None else f", record {seq}"
        super().__init__(f"check of {_shown(name)}: {reason.value}{where}")
        self.reason, self.name, self.seq = reason, name, seq


class CallUnanswered(BailiwickError):
    """Nobody answered a call of an instance in its time; one that was taken may have had effect."""

    code = ErrorCode.CALL_UNANSWERED

    def __init__(self, call_id: int, *, was_taken: bool) -> None:
        told = "was taken, and may have had effect" if was_taken else "had no effect"
        hint = "look whether the instance's operator runs"
        super().__init__(f"call {call_id} was not answered in time; it {told}", hint=hint)
        self.call_id, self.was_taken = call_id, was_taken


class Unavailable(BailiwickError):
    """The store cannot be reached or written now; whether the last write arrived is unknown."""

    code = ErrorCode.UNAVAILABLE
    retryable = True

    def __init__(self, what: str, why: object) -> None:
        super().__init__(
            f"{what} is unavailable: {why}", hint="retry with the same idempotency key"
        )
        self.what = what


class NotLeader(BailiwickError):
    """This replica only follows; ``address`` is where the leader was last known, if anywhere."""

    code = ErrorCode.NOT_LEADER
    retryable = True

    def __init__(self, address: str | None) -> None:
        hint = f"ask {address}" if address else "no leader is known yet, retry"
        super().__init__("this replica does not lead", hint=hint)
        self.address = address


class Deposed(BailiwickError):
    """A batch of an older epoch: another replica leads since, and nothing was written."""

    code = ErrorCode.DEPOSED
    retryable = True

    def __init__(self, epoch: int, current: int) -> None:
        super().__init__(
            f"epoch {epoch} may not write, the current one is {current}",
            hint="retry with the same idempotency key",
        )
        self.epoch = epoch
        self.current = current


class Damaged(BailiwickError):
    """Stored data is not what was stored: where, and what was found."""

    code = ErrorCode.DAMAGED

    def __init__(self, what: str, where: object, why: object, *, hint: str = "") -> None:
        super().__init__(f"{what} is damaged at {where}: {why}", hint=hint)
        self.what = what
        self.where = where


class UnsupportedSchema(BailiwickError):
    """The database was written by a newer version of Bailiwick."""

    code = ErrorCode.UNSUPPORTED_SCHEMA

    def __init__(self, found: str, known: str) -> None:
        super().__init__(
            f"the database has schema {found}, this version knows up to {known}",
            hint="start a version at least as new as the one that wrote it",
        )
        self.found = found
        self.known = known


class ClockJumped(BailiwickError):
    """A time too far ahead of the last one to be believed; nothing was decided."""

    code = ErrorCode.CLOCK_JUMPED
    retryable = True

    def __init__(self, at_ms: int, now_ms: int, most_ms: int) -> None:
        super().__init__(
            f"the clock went from {now_ms} to {at_ms}, by {at_ms - now_ms} ms; "
            f"at most {most_ms} ms are believed",
            hint="set the server's clock right",
        )
        self.at_ms = at_ms
        self.now_ms = now_ms
        self.most_ms = most_ms


class InvariantBroken(BailiwickError):
    """Something this library promises did not hold: a bug, never a caller's mistake."""

    code = ErrorCode.INVARIANT_BROKEN
