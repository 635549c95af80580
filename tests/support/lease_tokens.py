"""Tokens of leases for tests: claims, both minters, a naive verifier, and blocks forged by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from bailiwick.capability import (
    BiscuitMinter,
    HmacMinter,
    KeyRing,
    Minter,
    Operation,
    Revocations,
    TokenClaims,
    TokenFault,
    Use,
    Verification,
    narrow,
    verify,
)
from bailiwick.capability.keys import BiscuitKey
from bailiwick.capability.token_text import decoded, encoded

SEED, OTHER_SEED = bytes(range(32)), bytes(range(1, 33))
MAKERS = {"hmac": HmacMinter, "biscuit": BiscuitMinter}

CLAIMS = TokenClaims(
    token_id="token-1",
    tenant="team-a",
    lease_id=7,
    generation=3,
    resource="lease-7",
    operations=(Operation.MEM_READ, Operation.MEM_WRITE),
    audience="node-1",
    expires_ms=300_000,
)
READ, WRITE = Use(Operation.MEM_READ), Use(Operation.MEM_WRITE)


@dataclass(frozen=True)
class Kit:
    """One minter, and a verifier on ``node-1`` that believes it."""

    name: str
    minter: Any

    @property
    def ring(self) -> KeyRing:
        return KeyRing(shared=(self.minter.key,))

    def other(self) -> Kit:
        """The same kind with another key."""
        return Kit(self.name, MAKERS[self.name](OTHER_SEED))

    def mint(self, **changed: Any) -> str:
        return str(self.minter.mint(replace(CLAIMS, **changed)))

    def narrow(self, token: str, **less: Any) -> str:
        key = self.minter.key if isinstance(self.minter.key, BiscuitKey) else None
        return narrow(token, key=key, **less)

    def verify(self, token: str, use: Use = READ, **here: Any) -> Verification:
        given = {"audience": "node-1", "keys": self.ring, "revoked": Revocations(), "now_ms": 0}
        return verify(token, use, **(given | here))


def kit(name: str) -> Kit:
    return Kit(name, MAKERS[name](SEED))


def minter_of(name: str, seed: bytes = SEED) -> Minter:
    made: Minter = MAKERS[name](seed)
    return made


# --- what a verifier should say, told slowly -----------------------------------------------------


@dataclass(frozen=True)
class Chain:
    """Claims and what was taken away from them, step by step."""

    claims: TokenClaims
    steps: tuple[dict[str, Any], ...] = field(default=())


def naive(chain: Chain, use: Use, *, audience: str, now_ms: int, floor: int) -> TokenFault | None:
    """The first fault in the order of the words; each rule in full, for claims and each step."""
    claims = chain.claims
    ends = [claims.expires_ms, *_given(chain, "expires_ms")]
    parts = list(_given(chain, "resource"))
    operations = [claims.operations, *_given(chain, "operations")]
    asked = use.resource
    holds = {
        TokenFault.EXPIRED: any(now_ms >= end for end in ends),
        TokenFault.REVOKED: claims.generation < floor,
        TokenFault.WRONG_AUDIENCE: claims.audience != audience,
        TokenFault.WRONG_TENANT: use.tenant is not None and use.tenant != claims.tenant,
        TokenFault.WRONG_LEASE: use.lease_id is not None and use.lease_id != claims.lease_id,
        TokenFault.WRONG_RESOURCE: (
            any(asked is None or not _is_part(asked, of=part) for part in parts)
            or (asked is not None and not _is_part(asked, of=claims.resource))
        ),
        TokenFault.OPERATION_NOT_ALLOWED: any(use.operation not in each for each in operations),
    }
    return next((fault for fault in TokenFault if holds.get(fault)), None)


def _given(chain: Chain, name: str) -> Iterator[Any]:
    return (step[name] for step in chain.steps if step.get(name) is not None)


def _is_part(path: str, *, of: str) -> bool:
    return path.split("/")[: len(of.split("/"))] == of.split("/")


# --- Biscuits that no honest bearer would make ---------------------------------------------------


def framed(number: int, value: bytes) -> bytes:
    """One field of a protobuf message."""
    size, head = len(value), bytearray([number << 3 | 2])
    while size >= 0x80:
        head.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([*head, size]) + value


def with_block(token: str, block: bytes, *, is_p256: bool = False) -> str:
    """The token with these bytes as one more block, signed as a bearer can sign it.

    Who adds the next block signs that with an Ed25519 key, or with one on P-256.
    """
    raw = decoded("bwb1.", token)
    fields = list(_messages(raw))
    [proof] = [value for number, value in fields if number == 4]
    [(_, secret)] = list(_messages(proof))
    following = bytes(31) + b"\x05"
    if is_p256:
        point = ec.derive_private_key(5, ec.SECP256R1()).public_key()
        public = point.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
    else:
        public = Ed25519PrivateKey.from_private_bytes(following).public_key().public_bytes_raw()
    payload = block + bytes([is_p256, 0, 0, 0]) + public
    signature = Ed25519PrivateKey.from_private_bytes(secret).sign(payload)
    key = bytes([8, is_p256]) + framed(2, public)
    signed = framed(1, block) + framed(2, key) + framed(3, signature)
    kept = raw[: len(raw) - len(framed(4, proof))]
    return encoded("bwb1.", kept + framed(3, signed) + framed(4, framed(1, following)))


def signed_block(token: str) -> bytes:
    """The last block of a token, as its bearer signed it."""
    blocks = [value for number, value in _messages(decoded("bwb1.", token)) if number == 3]
    return dict(_messages(blocks[-1]))[1]


def _messages(raw: bytes) -> Iterable[tuple[int, bytes]]:
    from bailiwick.capability.biscuit_shape import _fields

    return [(number, value) for number, value in _fields(raw) if isinstance(value, bytes)]
