"""Whether a token's bearer may do what is asked, here and now.

Rules:

- The text before the first dot says how a token is written; whatever else it is, any text gives
  an answer and never an exception.
- A token is refused with the first fault in the order of :class:`TokenFault`. A refusal that comes
  before the signature was found good is about what the token states.
- The key is the one that counts for this audience, whatever the token says of itself.
- An end that no broker gives (further off than 300 s, and a minute for clocks that differ) makes
  it no token: what is revoked is remembered for as long as tokens last, and no longer.
- A token must be in time, unrevoked, for this audience, and good for the asked operation; and for
  the tenant, lease and resource where the use names them.

>>> from bailiwick.capability.hmac_tokens import HmacMinter
>>> from bailiwick.capability.claims import TokenClaims
>>> claims = TokenClaims(
...     token_id="t-1", tenant="team-a", lease_id=7, generation=1, resource="lease-7",
...     operations=(Operation.MEM_READ,), audience="node-1", expires_ms=60_000)
>>> minter = HmacMinter(bytes(32))
>>> here = dict(audience="node-1", keys=KeyRing(shared=(minter.key,)), revoked=Revocations())
>>> verify(minter.mint(claims), Use(Operation.MEM_READ), now_ms=0, **here).claims == claims
True
>>> verify(minter.mint(claims), Use(Operation.MEM_WRITE), now_ms=0, **here).fault.value
'operation_not_allowed'
"""

from __future__ import annotations

from collections.abc import Iterable

from bailiwick.capability import hmac_tokens
from bailiwick.capability.claims import (
    TOKEN_CHARS_MAX,
    Accepted,
    Narrowing,
    Opened,
    Refused,
    Use,
    Verification,
    covers,
)
from bailiwick.capability.keys import BiscuitKey, KeyRing
from bailiwick.capability.revocation import KEEP_MS, Revocations
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import Operation, TokenFault

BISCUIT_PREFIX = "bwb1."
"""Here, because reading it must not load the library."""


def verify(
    token: str,
    use: Use,
    *,
    audience: str,
    keys: KeyRing,
    revoked: Revocations,
    now_ms: int,
) -> Verification:
    """The claims, or why not. ``audience`` is the node that asks, by its own knowledge."""
    if not isinstance(token, str) or len(token) > TOKEN_CHARS_MAX:
        return Refused(TokenFault.MALFORMED)
    if token.startswith(hmac_tokens.PREFIX):
        opened = hmac_tokens.open_token(token, use, audience=audience, keys=keys, now_ms=now_ms)
    elif token.startswith(BISCUIT_PREFIX):
        if not any(isinstance(key, BiscuitKey) for key in keys.keys_of(audience)):
            return Refused(TokenFault.UNKNOWN_KEY)  # and the library need not be there
        from bailiwick.capability import biscuit_tokens

        opened = biscuit_tokens.open_token(token, use, audience=audience, keys=keys, now_ms=now_ms)
    else:
        return Refused(TokenFault.MALFORMED)
    if isinstance(opened, TokenFault):
        return Refused(opened)
    fault = _first_fault(opened, use, audience=audience, revoked=revoked, now_ms=now_ms)
    return Accepted(opened[0], opened[1]) if fault is None else Refused(fault)


def _first_fault(
    opened: Opened, use: Use, *, audience: str, revoked: Revocations, now_ms: int
) -> TokenFault | None:
    """What the claims say against the use, or the narrowings, whichever comes first."""
    claims, ids, against = opened
    if claims.expires_ms - now_ms > KEEP_MS:
        return TokenFault.MALFORMED
    if now_ms >= claims.expires_ms or against is TokenFault.EXPIRED:
        return TokenFault.EXPIRED
    if revoked.refuses(claims.lease_id, generation=claims.generation, ids=ids):
        return TokenFault.REVOKED
    if audience != claims.audience:
        return TokenFault.WRONG_AUDIENCE
    if use.tenant is not None and use.tenant != claims.tenant:
        return TokenFault.WRONG_TENANT
    if use.lease_id is not None and use.lease_id != claims.lease_id:
        return TokenFault.WRONG_LEASE
    if use.resource is not None and not covers(claims.resource, use.resource):
        return TokenFault.WRONG_RESOURCE
    return against


def narrow(
    token: str,
    *,
    operations: Iterable[Operation] | None = None,
    expires_ms: int | None = None,
    resource: str | None = None,
    key: BiscuitKey | None = None,
) -> str:
    """The token with less in it, made by its bearer, offline; ``InvalidValue`` if it is none.

    A Biscuit is narrowed with the public ``key`` of its minter at hand: the library writes only
    what it has verified.
    """
    narrowing = Narrowing(
        operations=None if operations is None else tuple(operations),
        expires_ms=expires_ms,
        resource=resource,
    )
    if not isinstance(token, str) or len(token) > TOKEN_CHARS_MAX:
        raise InvalidValue("token", type(token).__name__, f"at most {TOKEN_CHARS_MAX} characters")
    if not token.startswith(BISCUIT_PREFIX):
        return hmac_tokens.narrow(token, narrowing)
    from bailiwick.capability import biscuit_tokens

    return biscuit_tokens.narrow(token, narrowing, key=key)
