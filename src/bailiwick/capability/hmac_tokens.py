"""Tokens by chained HMAC-SHA256: for one trust domain, where a check must cost microseconds.

The construction is that of macaroons. The key of the audience signs the claims; each caveat is
signed with the signature before it, which then is gone. So a bearer can add a caveat with no key
at all, and nobody can take one away.

Rules:

- Layout, big-endian: key id (4 bytes), lease, generation, end in ms (8 each), operations (2, one
  bit each), the lengths (1 each) of token id, tenant, resource and audience, and those four in
  ASCII; then caveats, each a kind (1), a length (1) and a body; then the signature (32). In text
  ``bwh1.`` and base64url without padding. One token has one spelling.
- A caveat only narrows: operations that remain, an earlier end, a part of the resource. One of an
  unknown kind might narrow too, so a token that has it is refused.
- The claims are read with no further check once the signature is good: whoever signed them checked.

>>> minter = HmacMinter(bytes(32))
>>> minter.key.for_audience("node-1") == minter.key.for_audience("node-2")
False
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

from bailiwick.capability.claims import (
    NARROWINGS_MAX,
    TOKEN_CHARS_MAX,
    Narrowing,
    Opened,
    TokenClaims,
    Use,
    check_resource,
    covers,
    signed_claims,
)
from bailiwick.capability.keys import HmacKey, HmacRoot, KeyRing
from bailiwick.capability.token_text import decoded, encoded
from bailiwick.vocab.errors import InvalidValue, LimitReached
from bailiwick.vocab.trust import Operation, TokenFault

PREFIX = "bwh1."
MAC_BYTES = 32

# Written out: the bit of a word stays, wherever the word stands in its list.
BITS = {
    Operation.MEM_READ: 1 << 0,
    Operation.MEM_WRITE: 1 << 1,
    Operation.BLOCK_READ: 1 << 2,
    Operation.BLOCK_WRITE: 1 << 3,
    Operation.GPU_SUBMIT: 1 << 4,
    Operation.TASK_SUBMIT: 1 << 5,
    Operation.LEASE_RENEW: 1 << 6,
}

_HEAD = Struct(">4sQQQHBBBB")
_CAVEAT = Struct(">BB")
_MASK = Struct(">H")
_INSTANT = Struct(">Q")


class _Kind(IntEnum):
    """What a caveat speaks of: the operations that remain, an earlier end, a part."""

    OPERATIONS = 1
    END = 2
    RESOURCE = 3


class HmacMinter:
    """Mints with keys derived from one root secret of 32 to 64 bytes."""

    __slots__ = ("_root",)

    def __init__(self, root: bytes) -> None:
        self._root = HmacRoot(root)

    @property
    def key(self) -> HmacRoot:
        """The root: for the broker's own ring, never for a verifier's."""
        return self._root

    def mint(self, claims: TokenClaims) -> str:
        """The token that says this."""
        key = self._root.for_audience(claims.audience)
        names = (claims.token_id, claims.tenant, claims.resource, claims.audience)
        head = _HEAD.pack(
            key.id,
            claims.lease_id,
            claims.generation,
            claims.expires_ms,
            _mask(claims.operations),
            *map(len, names),
        )
        body = head + "".join(names).encode("ascii")
        return encoded(PREFIX, body + hmac.digest(key.secret, body, "sha256"))


def open_token(
    token: str, use: Use, *, audience: str, keys: KeyRing, now_ms: int
) -> Opened | TokenFault:
    """The claims and what the caveats say to the use, if the signature is good."""
    try:
        raw = decoded(PREFIX, token)
        key_id, lease_id, generation, expires_ms, mask, a, b, c, d = _HEAD.unpack_from(raw)
        end = _HEAD.size + a + b + c + d
        caveats = _caveats(raw, end) if end + MAC_BYTES != len(raw) else ()
        names = raw[_HEAD.size : end].decode("ascii")
    except (ValueError, StructError):
        return TokenFault.MALFORMED
    to_resource, to_audience = a + b, a + b + c
    stated = names[to_audience:]
    key = keys.find(audience, key_id)
    if not isinstance(key, HmacKey):
        return TokenFault.UNKNOWN_KEY if stated == audience else TokenFault.WRONG_AUDIENCE
    signature = hmac.digest(key.secret, raw[:end], "sha256")
    for caveat in caveats:
        signature = hmac.digest(signature, caveat.signed, "sha256")
    if not hmac.compare_digest(signature, raw[-MAC_BYTES:]):
        return TokenFault.BAD_SIGNATURE
    claims = signed_claims(
        use.operation,
        (names[:a], names[a:to_resource], names[to_resource:to_audience], stated),
        lease_id=lease_id,
        generation=generation,
        expires_ms=expires_ms,
    )
    if caveats:
        against = _against(mask, caveats, use=use, now_ms=now_ms)
    else:
        against = None if mask & BITS[use.operation] else TokenFault.OPERATION_NOT_ALLOWED
    return claims, (names[:a],), against


def narrow(token: str, narrowing: Narrowing) -> str:
    """The token with less in it; no key is needed. What it allowed before is still asked first."""
    try:
        raw = decoded(PREFIX, token)
        end = _HEAD.size + sum(_HEAD.unpack_from(raw)[5:])
        count = len(_caveats(raw, end))
    except (ValueError, StructError):
        raise InvalidValue("token", "another text", f"a token that begins with {PREFIX}") from None
    body, signature = raw[:-MAC_BYTES], raw[-MAC_BYTES:]
    added = list(_written(narrowing))
    if count + len(added) > NARROWINGS_MAX:
        raise LimitReached("narrowings of one token", NARROWINGS_MAX)
    for caveat in added:
        signature = hmac.digest(signature, caveat, "sha256")
    made = encoded(PREFIX, body + b"".join(added) + signature)
    if len(made) > TOKEN_CHARS_MAX:
        raise LimitReached("characters of one token", TOKEN_CHARS_MAX)
    return made


def _written(narrowing: Narrowing) -> Iterator[bytes]:
    bodies: list[tuple[int, bytes]] = []
    if narrowing.operations is not None:
        bodies.append((_Kind.OPERATIONS, _MASK.pack(_mask(narrowing.operations))))
    if narrowing.expires_ms is not None:
        bodies.append((_Kind.END, _INSTANT.pack(narrowing.expires_ms)))
    if narrowing.resource is not None:
        bodies.append((_Kind.RESOURCE, narrowing.resource.encode("ascii")))
    for kind, body in bodies:
        yield _CAVEAT.pack(kind, len(body)) + body


class _Caveat(NamedTuple):
    """As it was signed, and what remains; what it does not speak of remains as it is."""

    signed: bytes
    mask: int = 0xFFFF
    ends_ms: int = 2**64
    resource: str | None = None


def _caveats(raw: bytes, at: int) -> Sequence[_Caveat]:
    found: list[_Caveat] = []
    end = len(raw) - MAC_BYTES
    while at < end and len(found) < NARROWINGS_MAX:
        kind, size = _CAVEAT.unpack_from(raw, at)
        found.append(_caveat(kind, raw[at : min(at + _CAVEAT.size + size, end)]))
        at += _CAVEAT.size + size
    if at != end:
        raise ValueError("the caveats do not end where the signature begins")
    return found


def _caveat(kind: int, signed: bytes) -> _Caveat:
    body = signed[_CAVEAT.size :]
    match kind:
        case _Kind.OPERATIONS:
            return _Caveat(signed, mask=_MASK.unpack(body)[0])
        case _Kind.END:
            return _Caveat(signed, ends_ms=_INSTANT.unpack(body)[0])
        case _Kind.RESOURCE:
            return _Caveat(signed, resource=check_resource("caveat", body.decode("ascii")))
        case _:
            raise ValueError(f"a caveat of the unknown kind {kind}")


def _against(mask: int, caveats: Iterable[_Caveat], *, use: Use, now_ms: int) -> TokenFault | None:
    has_ended = is_elsewhere = False
    for caveat in caveats:
        mask &= caveat.mask
        has_ended |= now_ms >= caveat.ends_ms
        if caveat.resource is not None:
            is_elsewhere |= use.resource is None or not covers(caveat.resource, use.resource)
    if has_ended:
        return TokenFault.EXPIRED
    if is_elsewhere:
        return TokenFault.WRONG_RESOURCE
    return None if mask & BITS[use.operation] else TokenFault.OPERATION_NOT_ALLOWED


def _mask(operations: Iterable[Operation]) -> int:
    return sum(BITS[each] for each in operations)
