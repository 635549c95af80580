"""What a verifier says of a piece of evidence: a closed union, and the one error of its parsers.

Rules:

- A verifier is a function of bytes and an explicit time. It reads no clock and no file.
- A parser raises :class:`EvidenceError` and nothing else; :func:`judged` turns it into a verdict.
- Claims are short names (they can become node labels): what is believed now that the evidence is.

>>> @judged
... def verify(raw: bytes) -> Verdict:
...     raise EvidenceError(UntrustedReason.MALFORMED, "two bytes at offset 0")
>>> verify(b"").reason.value
'malformed'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from types import MappingProxyType
from typing import ParamSpec, TypeAlias

from bailiwick.vocab.trust import UntrustedReason
from bailiwick.vocab.values import check_amount, check_kind, check_name

CLAIMS_MAX = 32
"""Claims in one verdict."""

_Given = ParamSpec("_Given")


class EvidenceError(Exception):
    """Evidence that cannot be believed: for which reason, and where it was seen."""

    def __init__(self, reason: UntrustedReason, where: str) -> None:
        super().__init__(f"{reason}: {where}")
        self.reason = reason
        self.where = where


@dataclass(frozen=True, slots=True)
class Trusted:
    """Believed until then; ``claims`` is what it proves."""

    claims: Mapping[str, str]
    valid_until_ms: int

    def __post_init__(self) -> None:
        claims = dict(self.claims)
        for key, value in claims.items():
            check_name("claims key", key)
            check_name(f"claims[{key}]", value)
        object.__setattr__(self, "claims", MappingProxyType(claims))
        check_amount("valid_until_ms", self.valid_until_ms)


@dataclass(frozen=True, slots=True)
class Untrusted:
    """Not believed. ``where`` says which part of the evidence, for a person."""

    reason: UntrustedReason
    where: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        check_kind("reason", self.reason, UntrustedReason)


@dataclass(frozen=True, slots=True)
class StaleEvidence:
    """Once good, and too old to count now: it was good until then."""

    until_ms: int


@dataclass(frozen=True, slots=True)
class Unsupported:
    """There is nothing to judge: the machine has no such means, or they are switched off."""

    why: str = field(default="", compare=False)


Verdict: TypeAlias = Trusted | Untrusted | StaleEvidence | Unsupported


def judged(verify: Callable[_Given, Verdict]) -> Callable[_Given, Verdict]:
    """The function with its parsers' error as the verdict it stands for."""

    @wraps(verify)
    def asked(*args: _Given.args, **kwargs: _Given.kwargs) -> Verdict:
        try:
            return verify(*args, **kwargs)
        except EvidenceError as error:
            return Untrusted(error.reason, error.where)

    return asked


def refuse(reason: UntrustedReason, where: str) -> EvidenceError:
    """The error to raise; short, because parsers say it often."""
    return EvidenceError(reason, where)
