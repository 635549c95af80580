"""What a token says, and what its bearer may ask with it.

Rules:

- A token names one tenant, one lease in one generation, one resource, some operations, one node
  that accepts it, and an end at most 300 s away.
- A resource is a path of names: a token for ``lease-7`` covers ``lease-7/gpu-0``, and a token for
  ``lease-7/gpu-0`` does not cover ``lease-7``.
- A use asks for one operation. What it leaves open (tenant, lease, resource) is for the service to
  look at in the claims; a token that was narrowed to a part of its resource wants that part named.

>>> covers("lease-7", "lease-7/gpu-0"), covers("lease-7", "lease-70"), covers("a/b", "a")
(True, False, False)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import Operation, TokenFault
from bailiwick.vocab.values import check_amount, check_kind, check_name, check_unique

TOKEN_TTL_MS_MAX = 300_000
"""No token lives longer, whatever was asked for."""

TOKEN_CHARS_MAX = 4096
"""A token with a dozen narrowings; within what web servers take as a header."""

NARROWINGS_MAX = 16
"""Blocks or caveats that were added to one token."""

RESOURCE_CHARS_MAX = 200
_new, _set = object.__new__, object.__setattr__


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenClaims:
    """What the broker says of a token's bearer."""

    token_id: str
    tenant: str
    lease_id: int
    generation: int
    resource: str
    operations: tuple[Operation, ...]
    audience: str
    expires_ms: int

    def __post_init__(self) -> None:
        check_name("token_id", self.token_id)
        check_name("tenant", self.tenant)
        check_amount("lease_id", self.lease_id)
        check_amount("generation", self.generation)
        check_resource("resource", self.resource)
        object.__setattr__(self, "operations", check_operations("operations", self.operations))
        check_name("audience", self.audience)
        check_amount("expires_ms", self.expires_ms)


@dataclass(frozen=True, slots=True)
class Use:
    """What the bearer wants to do here. ``None`` leaves it to the service to look at the claims."""

    operation: Operation
    tenant: str | None = None
    lease_id: int | None = None
    resource: str | None = None

    def __post_init__(self) -> None:
        check_kind("operation", self.operation, Operation)
        if self.resource is not None:
            check_resource("resource", self.resource)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The bearer may, now. ``claims`` are the broker's, but for the operations: only the asked one.

    A token may have been narrowed in ways that the claims do not show, so nothing else follows
    from this: ask again for every use, and remember no answer. ``ids`` are all by which the
    token can be revoked: the token's id, then (Biscuit) one per block.
    """

    claims: TokenClaims
    ids: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """The bearer may not: the first fault in the order of :class:`TokenFault`."""

    fault: TokenFault


Verification: TypeAlias = Accepted | Refused


# A token whose signature is good: its claims with the asked operation as the only one, its ids, and
# the first fault that its operations and its narrowings find with the use. A plain tuple, because
# a hundred thousand are made each second.
Opened: TypeAlias = tuple[TokenClaims, tuple[str, ...], TokenFault | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """What a bearer takes away from a token before handing it on; ``None`` takes nothing away."""

    operations: tuple[Operation, ...] | None = None
    expires_ms: int | None = None
    resource: str | None = None

    def __post_init__(self) -> None:
        if self.operations is None and self.expires_ms is None and self.resource is None:
            raise InvalidValue("narrowing", "nothing", "operations, expires_ms or resource")
        if self.operations is not None:
            object.__setattr__(self, "operations", check_operations("operations", self.operations))
        if self.expires_ms is not None:
            check_amount("expires_ms", self.expires_ms)
        if self.resource is not None:
            check_resource("resource", self.resource)


def signed_claims(
    operation: Operation,
    names: tuple[str, str, str, str],
    *,
    lease_id: int,
    generation: int,
    expires_ms: int,
) -> TokenClaims:
    """Claims under a good signature, for one operation, with no further check: whoever signed them
    checked them. ``names`` are token id, tenant, resource and audience."""
    claims = _new(TokenClaims)
    _set(claims, "token_id", names[0])
    _set(claims, "tenant", names[1])
    _set(claims, "lease_id", lease_id)
    _set(claims, "generation", generation)
    _set(claims, "resource", names[2])
    _set(claims, "operations", (operation,))
    _set(claims, "audience", names[3])
    _set(claims, "expires_ms", expires_ms)
    return claims


def covers(granted: str, asked: str) -> bool:
    """Whether a token for one resource is good for another: the same, or a part of it."""
    return asked == granted or asked.startswith(granted + "/")


def lease_resource(lease_id: int) -> str:
    """The resource that is all of a lease."""
    return f"lease-{lease_id}"


def check_resource(where: str, value: object) -> str:
    """The value if it is a path of names."""
    if not isinstance(value, str) or len(value) > RESOURCE_CHARS_MAX:
        raise InvalidValue(where, value, f"names with '/' between, {RESOURCE_CHARS_MAX} characters")
    for name in value.split("/"):
        check_name(where, name)
    return value


def check_operations(where: str, values: Iterable[Operation]) -> tuple[Operation, ...]:
    """The operations in the order of the word list; at least one, none twice."""
    found = check_unique(where, tuple(values))
    for each in found:
        check_kind(where, each, Operation)
    if not found:
        raise InvalidValue(where, found, "at least one operation")
    return tuple(each for each in Operation if each in found)
