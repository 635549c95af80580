"""What every kind of published case is made of: fields, files and an instant.

Rules:

- Reading is handed in, as ``read(path)``: bytes, or an error that names the path.
- A case that is no case (a missing field, a wrong type) is :class:`.InvalidValue`, not a verdict.
- Fields that nothing looked at are told, so that a check we do not make is not taken for one.

>>> instant_ms("at", "2026-11-15T12:00:00Z")
1794744000000
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bailiwick.attestation.verdict import StaleEvidence, Trusted, Unsupported, Untrusted, Verdict
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import AttestationState

Read = Callable[[str], bytes]
_INSTANT = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z")
_SAID = {
    Trusted: AttestationState.TRUSTED,
    Untrusted: AttestationState.UNTRUSTED,
    StaleEvidence: AttestationState.STALE,
    Unsupported: AttestationState.UNSUPPORTED,
}


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """What one case turned out to be: the verdict's word, its reason, and where it was seen."""

    verdict: str
    reason: str | None = None
    where: str = ""
    unused: tuple[str, ...] = ()
    """Fields of the case that no check looked at."""


class CaseFields:
    """The fields of one case, each read once and strictly."""

    def __init__(self, case: Mapping[str, Any], read: Read) -> None:
        self._case, self._read_file = case, read
        self._used = {"id", "kind", "expect", "reason", "note", "machine", "device", "format"}
        self._skipped: set[str] = set()

    def get(self, name: str) -> Any:
        """The value as it stands; None if it is left out or null."""
        self._used.add(name)
        return self._case.get(name)

    def text(self, name: str) -> str:
        """A text that must be there."""
        value = self.get(name)
        if not isinstance(value, str):
            raise InvalidValue(name, value, "a text")
        return value

    def hex(self, name: str) -> bytes:
        """Bytes in hexadecimal that must be there; any length, even none."""
        return unhex(name, self.text(name))

    def file(self, name: str) -> bytes:
        """The file that the field names."""
        return self._read_file(self.text(name))

    def optional_file(self, name: str) -> bytes | None:
        """The file that the field names; None if there is no such field."""
        return None if self.get(name) is None else self.file(name)

    def files(self, name: str) -> tuple[bytes, ...]:
        """The files that the field lists; none if there is no such field."""
        value = self.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise InvalidValue(name, value, "a list of paths")
        return tuple(self._read_file(each) for each in value)

    def flag(self, name: str) -> bool:
        """True or false; false if it is left out."""
        value = self.get(name)
        if value not in (None, True, False):
            raise InvalidValue(name, value, "true or false")
        return bool(value)

    def at_ms(self, name: str = "at") -> int:
        """The instant to judge at; 0 if the case says none."""
        return 0 if self.get(name) is None else instant_ms(name, self.text(name))

    def policy(self, *known: str) -> dict[str, Any]:
        """The rules of the case that we know; the others are told as not looked at."""
        found = self.get("policy")
        if found is None:
            return {}
        if not isinstance(found, dict):
            raise InvalidValue("policy", found, "a map")
        self._skipped |= {f"policy.{name}" for name in found if name not in known}
        return {name: value for name, value in found.items() if name in known}

    @property
    def unused(self) -> tuple[str, ...]:
        """Fields of the case that nothing looked at."""
        return tuple(
            sorted({name for name in self._case if name not in self._used} | self._skipped)
        )


def told(verdict: Verdict) -> CaseOutcome:
    """A verdict in the words of a case."""
    match verdict:
        case Untrusted(reason, where):
            return CaseOutcome(_SAID[Untrusted].value, reason.value, where)
        case _:
            return CaseOutcome(_SAID[type(verdict)].value)


def unhex(name: str, value: object) -> bytes:
    """Bytes from hexadecimal."""
    try:
        return bytes.fromhex(value) if isinstance(value, str) else bytes.fromhex("-")
    except ValueError:
        raise InvalidValue(name, value, "bytes in hexadecimal") from None


def instant_ms(name: str, text: str) -> int:
    """Milliseconds since 1970 of an instant in UTC, written the one way cases write it."""
    found = _INSTANT.fullmatch(text)
    if found is None:
        raise InvalidValue(name, text, "an instant like 2026-11-15T12:00:00Z")
    year, month, day, hour, minute, second = (int(each) for each in found.groups())
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 60):
        raise InvalidValue(name, text, "an instant like 2026-11-15T12:00:00Z")
    # Days since 1970 of a day in the calendar; years begin in March, so that leap days come last.
    shifted = year - (month <= 2)
    days = shifted * 365 + shifted // 4 - shifted // 100 + shifted // 400 - 719_468
    days += (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000
