"""Whether a lease gets a token, and what the token says.

Rules:

- Only the lease's tenant gets one, only for the node the lease is on, only for the generation
  the lease has now, and none once the lease is ending or its node is quarantined.
- A token ends after the asked time, after 300 s at the latest (more is refused, not cut), and
  never after the lease.
- A broker mints for a node only if its key counts there (:mod:`bailiwick.capability.keys`). A
  node that mints for itself has a broker of its own with a key of its own.
- The broker decides and mints. Whoever calls it seals the outcome: the claims or the reason, never
  the token.

>>> from bailiwick.capability.hmac_tokens import HmacMinter
>>> broker = CapBroker(HmacMinter(bytes(32)))
>>> lease = LeaseView(lease_id=7, tenant="team-a", node="node-1", generation=1, expires_ms=60_000)
>>> wish = MintWish(token_id="t-1", tenant="team-a", operations=(Operation.MEM_READ,))
>>> broker.mint(wish, lease, now_ms=0).claims.expires_ms
60000
>>> broker.mint(wish, lease, now_ms=60_000).reason.value
'lease_ending'
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from bailiwick.capability.claims import (
    TOKEN_TTL_MS_MAX,
    TokenClaims,
    check_operations,
    check_resource,
    lease_resource,
)
from bailiwick.capability.keys import KeyRing, RingKey
from bailiwick.vocab.trust import MintDenial, Operation
from bailiwick.vocab.values import check_integer, check_name


class Minter(Protocol):
    """Writes tokens with one key."""

    @property
    def key(self) -> RingKey:
        """What goes into the ring of whoever verifies (Biscuit), or of the broker alone (HMAC)."""

    def mint(self, claims: TokenClaims) -> str:
        """The token that says this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MintWish:
    """What is asked of the broker. ``None`` means what the lease has."""

    token_id: str
    tenant: str
    operations: tuple[Operation, ...]
    ttl_ms: int = TOKEN_TTL_MS_MAX
    audience: str | None = None
    generation: int | None = None
    part: str | None = None
    """Which part of the lease: ``gpu-0`` of lease 7 is the resource ``lease-7/gpu-0``."""

    def __post_init__(self) -> None:
        check_name("token_id", self.token_id)
        check_name("tenant", self.tenant)
        if self.operations:
            chosen = check_operations("operations", self.operations)
            object.__setattr__(self, "operations", chosen)
        check_integer("ttl_ms", self.ttl_ms, low=1, high=2**52)
        if self.part is not None:
            check_resource("part", self.part)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseView:
    """What a broker must know of a lease."""

    lease_id: int
    tenant: str
    node: str
    generation: int
    expires_ms: int
    is_ending: bool = False
    """It is being revoked or is fenced."""
    is_quarantined: bool = False
    """Its node is."""


@dataclass(frozen=True, slots=True)
class Issued:
    """A token, and what it says. The token is a secret; the claims are not."""

    token: str = field(repr=False)
    claims: TokenClaims


@dataclass(frozen=True, slots=True)
class Denied:
    """No token: the first reason in the order of :func:`check_wish`."""

    reason: MintDenial


MintOutcome: TypeAlias = Issued | Denied


def check_wish(wish: MintWish, lease: LeaseView | None, *, now_ms: int) -> MintDenial | None:
    """What stands against the wish, if anything; which key would sign is not looked at."""
    if lease is None:
        return MintDenial.NO_SUCH_LEASE
    against = (
        (wish.tenant != lease.tenant, MintDenial.NOT_OWNER),
        (lease.is_ending or now_ms >= lease.expires_ms, MintDenial.LEASE_ENDING),
        (wish.generation not in (None, lease.generation), MintDenial.STALE_GENERATION),
        (lease.is_quarantined, MintDenial.NODE_QUARANTINED),
        (wish.audience not in (None, lease.node), MintDenial.WRONG_AUDIENCE),
        (not wish.operations, MintDenial.NO_OPERATION),
        (wish.ttl_ms > TOKEN_TTL_MS_MAX, MintDenial.TTL_TOO_LONG),
    )
    return next((reason for holds, reason in against if holds), None)


class CapBroker:
    """Mints tokens for leases with one minter.

    ``keys`` says where the minter's key counts; left out, it counts for every node.
    """

    def __init__(self, minter: Minter, keys: KeyRing | None = None) -> None:
        self._minter = minter
        self._keys = KeyRing(shared=(minter.key,)) if keys is None else keys

    def mint(self, wish: MintWish, lease: LeaseView | None, *, now_ms: int) -> MintOutcome:
        """A token for the lease, or why there is none."""
        denial = check_wish(wish, lease, now_ms=now_ms)
        if denial is not None or lease is None:
            return Denied(denial or MintDenial.NO_SUCH_LEASE)
        audience = lease.node
        if self._minter.key.for_audience(audience) not in self._keys.keys_of(audience):
            is_own = audience in self._keys.nodes
            return Denied(MintDenial.NODE_MINTS if is_own else MintDenial.WRONG_AUDIENCE)
        whole = lease_resource(lease.lease_id)
        claims = TokenClaims(
            token_id=wish.token_id,
            tenant=lease.tenant,
            lease_id=lease.lease_id,
            generation=lease.generation,
            resource=whole if wish.part is None else f"{whole}/{wish.part}",
            operations=wish.operations,
            audience=audience,
            expires_ms=min(now_ms + wish.ttl_ms, lease.expires_ms),
        )
        return Issued(self._minter.mint(claims), claims)
