"""Tokens as Biscuits: anyone with the public key can check them, and no one who checks can mint.

The only module that loads the library. What it adds to the library's own rules:

- The first block has the claims as one fact, a ``right`` per operation, and a check of its own that
  the token is in time. The policy allows an operation that the first block has a right for. It
  does not see facts of other blocks, so a ``right`` that a bearer adds gains nothing.
- A use is told as facts: ``now_ms``, ``operation``, and ``resource`` (with a slash at its end)
  where it names one. Narrowing adds a block with checks of those.
- Values go in as parameters, never as text. The text of a failed check chooses the word of a
  refusal and nothing else.
- What is evaluated is bounded before (:mod:`bailiwick.capability.biscuit_shape`) and while it
  runs. The library's own limit is 1 ms of wall time, which a busy machine exceeds with good
  tokens; here it is a hundred times that, and excess is told as ``evaluation_limit``.
- Minting and narrowing draw a fresh key for the end of the chain: the library's own randomness.

>>> minter = BiscuitMinter(bytes(32))
>>> str(minter.key)[:16]
'ed25519/3b6a27bc'
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import biscuit_auth

from bailiwick.capability.biscuit_shape import ShapeError, inspect
from bailiwick.capability.claims import (
    NARROWINGS_MAX,
    TOKEN_CHARS_MAX,
    Narrowing,
    Opened,
    TokenClaims,
    Use,
    signed_claims,
)
from bailiwick.capability.keys import BiscuitKey, KeyRing
from bailiwick.capability.token_text import decoded, encoded
from bailiwick.vocab.ed25519_points import KEY_BYTES
from bailiwick.vocab.errors import InvalidValue, LimitReached
from bailiwick.vocab.trust import TokenFault

PREFIX: Final = "bwb1."
TIME_LIMIT_FACTOR = 100
FACTS_MAX = 100

_library: Any = biscuit_auth  # its type stubs are of another version than its code

_CLAIMS: Final = """
    grant({token_id}, {tenant}, {lease_id}, {generation}, {resource}, {audience}, {expires_ms});
    check if now_ms($now), $now < {expires_ms};
"""
_USE: Final = "now_ms({now_ms}); operation({operation});"
_POLICY: Final = "allow if operation($operation), right($operation);"
_ON_RESOURCE: Final = "resource({resource});"
_READ: Final = _library.Rule(
    "claims($id, $tenant, $lease, $generation, $resource, $audience, $end)"
    " <- grant($id, $tenant, $lease, $generation, $resource, $audience, $end)"
)
_FAULTS: Final = (
    _library.AuthorizationError,
    _library.BiscuitBlockError,
    _library.BiscuitBuildError,
    _library.BiscuitSerializationError,
    _library.BiscuitValidationError,
    _library.DataLogError,
)
_FAILED: Final = re.compile(r"Check n°\d+ in block n°\d+: check if (\w+)\(")
_LIMIT: Final = "Reached Datalog execution limits"
_WORDS: Final = {"now_ms": TokenFault.EXPIRED, "resource": TokenFault.WRONG_RESOURCE}


class BiscuitMinter:
    """Mints with one Ed25519 key, given as its seed of 32 bytes."""

    __slots__ = ("_key", "_private")

    def __init__(self, seed: bytes) -> None:
        if not isinstance(seed, bytes) or len(seed) != KEY_BYTES:
            raise InvalidValue("seed", f"a {type(seed).__name__}", f"{KEY_BYTES} bytes")
        self._private = _library.PrivateKey.from_bytes(seed, _library.Algorithm.Ed25519)
        pair = _library.KeyPair.from_private_key(self._private)
        self._key = BiscuitKey(bytes(pair.public_key.to_bytes()))

    @property
    def key(self) -> BiscuitKey:
        """The public key, for every verifier's ring."""
        return self._key

    def mint(self, claims: TokenClaims) -> str:
        """The token that says this."""
        values = {
            name: getattr(claims, name) for name in TokenClaims.__slots__ if name != "operations"
        }
        builder = _library.BiscuitBuilder(_CLAIMS, values)
        for operation in claims.operations:
            builder.add_fact(_library.Fact("right({operation})", {"operation": operation.value}))
        builder.set_root_key_id(self._key.id)
        return encoded(PREFIX, bytes(builder.build(self._private).to_bytes()))


def open_token(
    token: str, use: Use, *, audience: str, keys: KeyRing, now_ms: int
) -> Opened | TokenFault:
    """The claims and what rights and checks say to the use, if the signatures are good."""
    try:
        raw = decoded(PREFIX, token)
        key_id = inspect(raw)
    except ShapeError as error:
        return error.fault
    except ValueError:
        return TokenFault.MALFORMED
    key = None if key_id is None else keys.find(audience, key_id)
    if not isinstance(key, BiscuitKey):
        return TokenFault.UNKNOWN_KEY
    try:
        biscuit = _library.Biscuit.from_bytes(raw, _public(key.public))
    except _FAULTS:
        return TokenFault.BAD_SIGNATURE if _is_biscuit(token) else TokenFault.MALFORMED
    try:
        authorizer = _asked(use, now_ms=now_ms).build(biscuit)
        against = _against(authorizer)
        claims = _claims(authorizer.query(_READ)[0].terms, use)
    except (*_FAULTS, IndexError) as error:
        return TokenFault.EVALUATION_LIMIT if str(error) == _LIMIT else TokenFault.MALFORMED
    return claims, (claims.token_id, *biscuit.revocation_ids), against


def narrow(token: str, narrowing: Narrowing, *, key: BiscuitKey | None) -> str:
    """The token with a block more, whose checks every verifier makes."""
    if key is None:
        raise InvalidValue("key", key, "the public key of the token's minter")
    try:
        raw = decoded(PREFIX, token)
        inspect(raw)
        biscuit = _library.Biscuit.from_bytes(raw, _public(key.public))
    except (*_FAULTS, ShapeError, ValueError):
        raise InvalidValue("token", "another text", "a token of the minter with this key") from None
    if biscuit.block_count() > NARROWINGS_MAX:
        raise LimitReached("narrowings of one token", NARROWINGS_MAX)
    made = encoded(PREFIX, bytes(biscuit.append(_block(narrowing)).to_bytes()))
    if len(made) > TOKEN_CHARS_MAX:
        raise LimitReached("characters of one token", TOKEN_CHARS_MAX)
    return made


def _block(narrowing: Narrowing) -> Any:
    block = _library.BlockBuilder("")
    if narrowing.operations is not None:
        words = {each.value for each in narrowing.operations}
        text = "check if operation($operation), {words}.contains($operation)"
        block.add_check(_library.Check(text, {"words": words}))
    if narrowing.expires_ms is not None:
        end = {"end": narrowing.expires_ms}
        block.add_check(_library.Check("check if now_ms($now), $now < {end}", end))
    if narrowing.resource is not None:
        part = {"part": _as_folder(narrowing.resource)}
        text = "check if resource($resource), $resource.starts_with({part})"
        block.add_check(_library.Check(text, part))
    return block


def _asked(use: Use, *, now_ms: int) -> Any:
    """The use as facts, and the one policy."""
    values = {"now_ms": now_ms, "operation": use.operation.value}
    if use.resource is None:
        builder = _library.AuthorizerBuilder(_USE + _POLICY, values)
    else:
        values["resource"] = _as_folder(use.resource)
        builder = _library.AuthorizerBuilder(_USE + _ON_RESOURCE + _POLICY, values)
    builder.set_limits(_limits())
    return builder


def _as_folder(resource: str) -> str:
    # With a slash at both ends of the comparison, "a/b" begins with "a" and "ab" does not.
    return f"{resource}/"


def _against(authorizer: Any) -> TokenFault | None:
    """The first fault that policy and checks find."""
    try:
        authorizer.authorize()
    except _library.AuthorizationError as error:
        told = str(error)
        if told == _LIMIT:
            return TokenFault.EVALUATION_LIMIT
        found = {_WORDS.get(name) for name in _FAILED.findall(told)}
        order = (TokenFault.EXPIRED, TokenFault.WRONG_RESOURCE)
        return next((each for each in order if each in found), TokenFault.OPERATION_NOT_ALLOWED)
    return None


def _claims(terms: list[Any], use: Use) -> TokenClaims:
    token_id, tenant, lease_id, generation, resource, audience, expires_ms = terms
    return signed_claims(
        use.operation,
        (token_id, tenant, resource, audience),
        lease_id=lease_id,
        generation=generation,
        expires_ms=expires_ms,
    )


def _is_biscuit(token: str) -> bool:
    text = token[len(PREFIX) :]
    try:
        _library.UnverifiedBiscuit.from_base64(text + "=" * (-len(text) % 4))
    except _FAULTS:
        return False
    return True


@lru_cache(maxsize=256)
def _public(key: bytes) -> Any:
    return _library.PublicKey.from_bytes(key, _library.Algorithm.Ed25519)


@lru_cache(maxsize=1)
def _limits() -> Any:
    limits = _library.AuthorizerBuilder("").limits()
    limits.max_time *= TIME_LIMIT_FACTOR
    limits.max_facts = FACTS_MAX
    return limits
