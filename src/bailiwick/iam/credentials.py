"""How a program becomes a service account: whom it trusts elsewhere, and keys of its own.

Rules:

- A rule trusts what one issuer signs for one audience, if every condition holds. A condition is
  ``CLAIM=PATTERN``: the claim is a text, and is the pattern. A ``*`` in a pattern stands for any
  characters, or none; there are four at most, and something beside them. Nothing else is special.
- A claim that is missing, or is no text, fulfils nothing.
- A rule without a condition is none: whoever that issuer knows would be let in.

>>> matches("repo:acme/train:ref:refs/heads/*", "repo:acme/train:ref:refs/heads/main")
True
>>> matches("repo:acme/train:ref:refs/heads/*", "repo:acme/training:ref:refs/heads/main")
False
>>> holds(("sub=ci-*", "env=prod"), {"sub": "ci-7", "env": "prod"})
True
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.permissions import Permission

CONDITIONS_MAX: Final = 8
STARS_MAX: Final = 4
PATTERN_MAX: Final = 255
VALUE_MAX: Final = 1_024
"""A claim that is longer fulfils nothing."""
CHECKED: Final = frozenset(("iss", "aud", "exp", "iat", "nbf", "jti"))
"""Claims that are looked at anyway, or are new each time: no conditions over these."""
_CLAIM: Final = re.compile("[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,99}")


@dataclass(frozen=True, slots=True)
class AccountTrust:
    """Whoever an issuer says this of may be the account; ``keys`` are all that he carries then."""

    account: str
    rule: str
    issuer: str
    audience: str
    conditions: tuple[str, ...]
    keys: tuple[Permission, ...] | None = None


@dataclass(frozen=True, slots=True)
class AccountKey:
    """A key that is exchanged for short tokens of an account: its digest, and until when."""

    account: str
    key_id: str
    digest: str
    added_ms: int
    expires_ms: int
    keys: tuple[Permission, ...] | None = None


def check_conditions(conditions: tuple[str, ...]) -> None:
    """Refuse conditions that are none, or that would hold for everybody."""
    if not 1 <= len(conditions) <= CONDITIONS_MAX:
        told = f"1 to {CONDITIONS_MAX}: without one, all that the issuer knows were let in"
        raise InvalidValue("conditions", len(conditions), told)
    claims = set()
    for each in conditions:
        claim, sign, pattern = each.partition("=")
        is_told = _CLAIM.fullmatch(claim) and sign and 0 < len(pattern) <= PATTERN_MAX
        if not is_told or not (pattern.isascii() and pattern.isprintable()):
            raise InvalidValue("conditions", each[:80], "CLAIM=PATTERN, in plain characters")
        if claim in CHECKED:
            raise InvalidValue("conditions", claim, "a claim that is not checked anyway")
        if not pattern.strip("*") or pattern.count("*") > STARS_MAX:
            told = f"something beside the stars, of which there are {STARS_MAX} at most"
            raise InvalidValue("conditions", each, told)
        claims.add(claim)
    if len(claims) < len(conditions):
        raise InvalidValue("conditions", len(conditions), "one for each claim at most")


def holds(conditions: Iterable[str], claims: Mapping[str, object]) -> bool:
    """Whether all of these hold for these claims; none hold nothing."""
    told = [each.partition("=")[::2] for each in conditions]
    return bool(told) and all(_fulfils(pattern, claims.get(claim)) for claim, pattern in told)


def _fulfils(pattern: str, value: object) -> bool:
    return isinstance(value, str) and len(value) <= VALUE_MAX and matches(pattern, value)


def matches(pattern: str, value: str) -> bool:
    """Whether a value is a pattern: one pass, whatever they hold."""
    first, *rest = pattern.split("*")
    if not rest:
        return value == first
    last = rest.pop()
    if not value.startswith(first):
        return False
    place = len(first)
    for piece in rest:  # the earliest place leaves the most for those that follow
        found = value.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return len(value) - place >= len(last) and value.endswith(last)
