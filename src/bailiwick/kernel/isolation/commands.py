"""Commands about isolation: the policy, another held against what runs, and domains that were
cleaned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.isolation.language.parser import parse_policy
from bailiwick.journal.fields import INTEGER_MAX, TEXT
from bailiwick.journal.record import encode_json
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer, check_kind
from bailiwick.vocab.words import DomainKind

SEALED_BYTES_MAX = 60_000
"""Of a policy's text as a record writes it."""

DOMAIN_MAX = 256
"""Characters of a domain's name."""


@dataclass(frozen=True, slots=True)
class SetIsolationPolicy:
    """Replace the policy; who may not stay under the new one has to go.

    ``if_version``: only if this is still the one in force; 0 says that there is none.
    """

    text: str
    if_version: int | None = None

    def __post_init__(self) -> None:
        _check_text(self.text)
        if self.if_version is not None:
            check_integer("if_version", self.if_version, low=0, high=INTEGER_MAX)


@dataclass(frozen=True, slots=True)
class EnforceIsolation:
    """Whoever may not be where it is by this policy has to go; the one in force stays in force."""

    text: str

    def __post_init__(self) -> None:
        _check_text(self.text)


def _check_text(text: str) -> None:
    """Raise unless it is a policy that one record can hold."""
    check_kind("text", text, str)
    parse_policy(text)
    size = len(encode_json(text).encode())
    if size > SEALED_BYTES_MAX:
        expected = f"at most {SEALED_BYTES_MAX}, with quotes and line ends written out"
        raise InvalidValue("text", f"{size} bytes", expected)


@dataclass(frozen=True, slots=True)
class ScrubDomain:
    """Somebody made sure that nothing of those who left is in the domain any more."""

    kind: DomainKind
    domain: str

    def __post_init__(self) -> None:
        check_kind("kind", self.kind, DomainKind)
        TEXT.check("domain", self.domain)
        if not 1 <= len(self.domain) <= DOMAIN_MAX:
            raise InvalidValue("domain", self.domain, f"1 to {DOMAIN_MAX} characters")


IsolationCommand: TypeAlias = SetIsolationPolicy | EnforceIsolation | ScrubDomain
