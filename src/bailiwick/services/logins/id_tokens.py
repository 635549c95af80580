"""What a provider says of a person: an ID token, judged.

Rules:

- Signed by a key that the provider publishes, under an algorithm with two keys. One with a shared
  key (``HS256``) or none is never read, whatever the token says of itself.
- From exactly this issuer, for exactly this client, now (within ``SKEW_S``), and of this login: the
  ``nonce`` is the one that was sent. Where it tells what the access token hashes to, it does.
- What is not as it should be is one refusal; which check failed is for the operator's log alone.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256, sha384, sha512
from hmac import compare_digest
from typing import Any, Final

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet, OKPKey, RSAKey

from bailiwick.services.logins.words import LoginRefusal, LoginRefused

ALGORITHMS: Final = {
    "RS256": ("RSA", sha256),
    "RS384": ("RSA", sha384),
    "RS512": ("RSA", sha512),
    "PS256": ("RSA", sha256),
    "PS384": ("RSA", sha384),
    "PS512": ("RSA", sha512),
    "ES256": ("EC", sha256),
    "ES384": ("EC", sha384),
    "EdDSA": ("OKP", sha512),
    "Ed25519": ("OKP", sha512),
}
"""What may sign: the kind of key, and the hash that goes with it."""
SKEW_S: Final = 60
AGE_S_MAX: Final = 600
IDENTITY_AGE_S_MAX: Final = 3_600
"""How old what a program shows may be, whatever its issuer allows."""
TOKEN_CHARS_MAX: Final = 32_768
KEYS_MAX: Final = 50

PublicKey = RSAKey | ECKey | OKPKey


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedToken:
    """What an ID token must say."""

    issuer: str
    client_id: str
    nonce: str | None
    """Of the login that it ends; none where a device asked, which sends none."""
    access_token: str | None
    now_s: int


class UnknownKey(Exception):
    """It is signed by a key that was not published when we looked."""


def read_keys(document: object) -> KeySet:
    """The keys that a provider publishes; what cannot be one of them is left out."""
    rows = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(rows, list) or len(rows) > KEYS_MAX:
        raise _invalid("the provider publishes no list of keys")
    keys: list[PublicKey] = []
    kinds: dict[object, type[RSAKey] | type[ECKey] | type[OKPKey]]
    kinds = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}
    for row in filter(_can_sign, rows):
        with suppress(JoseError, ValueError, TypeError, KeyError):
            keys.append(kinds[row["kty"]].import_key(row))
    return KeySet(keys)  # type: ignore[arg-type]


def judge(token: str, keys: KeySet, *, expected: ExpectedToken) -> Mapping[str, Any]:
    """The claims of an ID token that holds; anything else is refused."""
    claims, algorithm = _signed(token, keys)
    _check(claims, expected)
    said = claims.get("at_hash")
    if said is not None and expected.access_token is not None:
        digest = ALGORITHMS[algorithm][1](expected.access_token.encode()).digest()
        half = base64.urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=")
        if not isinstance(said, str) or not compare_digest(said.encode(), half):
            raise _invalid("it belongs to another access token")
    return claims


def judge_identity(token: str, keys: KeySet, *, issuer: str, now_s: int) -> Mapping[str, Any]:
    """The claims of a program's token that holds, for whomever it was made; else refused."""
    claims, _ = _signed(token, keys)
    if claims.get("iss") != issuer:
        raise _invalid("another issuer")
    _check_times(claims, now_s=now_s, age_s_max=IDENTITY_AGE_S_MAX)
    _check_subject(claims)
    return claims


def claimed_issuer(token: str) -> str:
    """Whom a token says it is of: to be looked up, and not believed."""
    if len(token) > TOKEN_CHARS_MAX or not token.isascii() or token.count(".") != 2:
        raise _invalid("not a signed token")
    found = _part(token, 1).get("iss")
    if not isinstance(found, str):
        raise _invalid("it names no issuer")
    return found


def _signed(token: str, keys: KeySet) -> tuple[dict[str, Any], str]:
    """The claims of a token, and how it is signed, if that holds."""
    if len(token) > TOKEN_CHARS_MAX or not token.isascii() or token.count(".") != 2:
        raise _invalid("not an ID token")
    header = _header(token)
    algorithm = header.get("alg")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS or "crit" in header:
        raise _invalid(f"algorithm {algorithm!r}")
    key = _key(header, keys, kind=ALGORITHMS[algorithm][0])
    try:
        claims = jwt.decode(token, key, algorithms=[algorithm]).claims
    except (JoseError, ValueError):
        raise _invalid("its signature does not hold") from None
    return claims, algorithm


def _can_sign(row: object) -> bool:
    return isinstance(row, dict) and row.get("use") in (None, "sig") and "d" not in row


def _check(claims: Mapping[str, Any], expected: ExpectedToken) -> None:
    now_s = expected.now_s
    if claims.get("iss") != expected.issuer:
        raise _invalid("another issuer")
    audience, party = claims.get("aud"), claims.get("azp")
    several = isinstance(audience, list) and len(audience) > 1
    audiences = audience if isinstance(audience, list) else [audience]
    if expected.client_id not in audiences:
        raise _invalid("another audience")
    if (several or party is not None) and party != expected.client_id:
        raise _invalid("it was made for another party")
    _check_times(claims, now_s=now_s, age_s_max=AGE_S_MAX)
    if expected.nonce is not None:
        nonce = claims.get("nonce")
        if not isinstance(nonce, str) or not compare_digest(
            nonce.encode(), expected.nonce.encode()
        ):
            raise _invalid("it is of another login")
    _check_subject(claims)


def _check_times(claims: Mapping[str, Any], *, now_s: int, age_s_max: int) -> None:
    ends, made, begins = (claims.get(name) for name in ("exp", "iat", "nbf"))
    if _time(ends) <= now_s - SKEW_S:
        raise _invalid("it has run out")
    if not now_s - age_s_max <= _time(made) <= now_s + SKEW_S:
        raise _invalid("it was not made just now")
    if begins is not None and _time(begins) > now_s + SKEW_S:
        raise _invalid("it does not count yet")


def _check_subject(claims: Mapping[str, Any]) -> None:
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= 255:
        raise _invalid("it names nobody")


def _key(header: Mapping[str, Any], keys: KeySet, *, kind: str) -> PublicKey:
    """The one key that a token can be signed by."""
    named = header.get("kid")
    found = [
        key
        for key in keys.keys
        if key.key_type == kind and (named is None or key.as_dict().get("kid") == named)
    ]
    if len(found) != 1:
        raise UnknownKey
    return found[0]  # type: ignore[return-value]


def _header(token: str) -> Mapping[str, Any]:
    return _part(token, 0)


def _part(token: str, place: int) -> Mapping[str, Any]:
    part = token.split(".")[place]
    try:
        found = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        raise _invalid("it cannot be read") from None
    if not isinstance(found, dict):
        raise _invalid("it cannot be read")
    return found


def _time(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < value < 2**53:  # type: ignore[operator]
        raise _invalid("a time in it is none")
    return value  # type: ignore[return-value]


def _invalid(told: str) -> LoginRefused:
    return LoginRefused(LoginRefusal.LOGIN_TOKEN_INVALID, told)
