"""What a provider says of somebody is believed only if all of it holds."""

from __future__ import annotations

import base64
import hmac
import json
from hashlib import sha256
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from bailiwick.services.logins.id_tokens import (
    AGE_S_MAX,
    SKEW_S,
    ExpectedToken,
    UnknownKey,
    judge,
    read_keys,
)
from bailiwick.services.logins.words import LoginRefusal, LoginRefused

NOW_S = 1_800_000_000
KEY = RSAKey.generate_key(2048, parameters={"kid": "one", "use": "sig"})
EC = ECKey.generate_key("P-256", parameters={"kid": "two"})
OKP = OKPKey.generate_key("Ed25519", parameters={"kid": "three"})
KEYS = read_keys({"keys": [key.as_dict(private=False) for key in (KEY, EC, OKP)]})
CLAIMS = {
    "iss": "https://id.example",
    "aud": "bailiwick",
    "sub": "ann",
    "nonce": "n-1",
    "iat": NOW_S - 2,
    "exp": NOW_S + 300,
}
EXPECTED = ExpectedToken(
    issuer="https://id.example",
    client_id="bailiwick",
    nonce="n-1",
    access_token="access",
    now_s=NOW_S,
)


def signed(algorithm: str = "RS256", key: Any = KEY, kid: str = "one", **claims: Any) -> str:
    said = {name: value for name, value in (CLAIMS | claims).items() if value is not None}
    header = {"alg": algorithm, "kid": kid}
    return jwt.encode(header, said, key, algorithms=[algorithm])


def spelled(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def at_hash(text: str) -> str:
    half = sha256(text.encode()).digest()[:16]
    return base64.urlsafe_b64encode(half).rstrip(b"=").decode()


def test_what_holds_is_believed() -> None:
    for token in (
        signed(),
        signed("PS256"),
        signed("ES256", EC, "two"),
        signed("Ed25519", OKP, "three"),
        signed(aud=["bailiwick"]),
        signed(aud=["bailiwick", "other"], azp="bailiwick"),
        signed(at_hash=at_hash("access")),
        signed(exp=NOW_S - SKEW_S + 1),
        signed(iat=NOW_S + SKEW_S),
        signed(nbf=NOW_S),
    ):
        assert judge(token, KEYS, expected=EXPECTED)["sub"] == "ann"


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://id.example/"},
        {"iss": None},
        {"aud": "other"},
        {"aud": ["other", "another"]},
        {"aud": None},
        {"aud": ["bailiwick", "other"]},
        {"azp": "other"},
        {"exp": NOW_S - SKEW_S},
        {"exp": None},
        {"exp": "tomorrow"},
        {"exp": True},
        {"iat": NOW_S + SKEW_S + 1},
        {"iat": NOW_S - AGE_S_MAX - 1},
        {"iat": None},
        {"nbf": NOW_S + SKEW_S + 1},
        {"nonce": "n-2"},
        {"nonce": None},
        {"nonce": 7},
        {"sub": None},
        {"sub": ""},
        {"at_hash": at_hash("another")},
        {"at_hash": 7},
    ],
    ids=repr,
)
def test_one_claim_that_does_not_hold_spoils_all(claims: dict[str, Any]) -> None:
    with pytest.raises(LoginRefused) as refused:
        judge(signed(**claims), KEYS, expected=EXPECTED)
    assert refused.value.word is LoginRefusal.LOGIN_TOKEN_INVALID


def test_no_token_is_believed_that_is_not_signed_by_a_key_with_two_halves() -> None:
    body = spelled(CLAIMS)
    forged = [
        f"{spelled({'alg': 'none', 'kid': 'one'})}.{body}.",
        f"{spelled({'alg': 'None'})}.{body}.",
        f"{spelled({'kid': 'one'})}.{body}.",
        f"{spelled({'alg': 'RS256', 'kid': 'one'})}.{body}.",
        f"{spelled(['RS256'])}.{body}.x",
        "a.b",
        "..",
        "é.é.é",
    ]
    # The public key's own text as a shared secret: an old trick.
    start = f"{spelled({'alg': 'HS256', 'kid': 'one'})}.{body}"
    mark = hmac.digest(KEY.as_pem(private=False), start.encode(), "sha256")
    forged.append(f"{start}.{base64.urlsafe_b64encode(mark).rstrip(b'=').decode()}")
    forged.append(signed("HS256", OctKey.import_key(b"k" * 32)))
    # A good token with one claim changed.
    header, _, signature = signed().split(".")
    forged.append(f"{header}.{spelled(CLAIMS | {'sub': 'root'})}.{signature}")
    for token in forged:
        with pytest.raises(LoginRefused):
            judge(token, KEYS, expected=EXPECTED)


def test_a_header_that_asks_for_more_is_not_followed() -> None:
    header, body, signature = signed().split(".")
    more = spelled({"alg": "RS256", "kid": "one", "crit": ["b64"], "b64": False})
    with pytest.raises(LoginRefused):
        judge(f"{more}.{body}.{signature}", KEYS, expected=EXPECTED)
    assert header


def test_a_key_that_is_not_published_is_looked_for_and_never_brought_along() -> None:
    stranger = RSAKey.generate_key(2048, parameters={"kid": "mine"})
    with pytest.raises(UnknownKey):
        judge(signed("RS256", stranger, "mine"), KEYS, expected=EXPECTED)
    with pytest.raises(LoginRefused):  # another's signature under a name that is known
        judge(signed("RS256", stranger, "one"), KEYS, expected=EXPECTED)
    with pytest.raises(UnknownKey):  # a key of another kind than the algorithm's
        judge(signed("RS256", KEY, "two"), KEYS, expected=EXPECTED)
    said = {"alg": "RS256", "kid": "mine", "jwk": stranger.as_dict(private=False)}
    token = jwt.encode(said, CLAIMS, stranger, algorithms=["RS256"])
    with pytest.raises(UnknownKey):
        judge(token, KEYS, expected=EXPECTED)


@pytest.mark.parametrize("document", [None, [], {"keys": 7}, {"keys": [{}] * 51}])
def test_what_is_no_list_of_keys_is_refused(document: object) -> None:
    with pytest.raises(LoginRefused):
        read_keys(document)


def test_what_cannot_sign_is_left_out_of_the_keys() -> None:
    shared = OctKey.import_key(b"k" * 32).as_dict()
    sealing = KEY.as_dict(private=False) | {"use": "enc"}
    broken = {"kty": "RSA", "n": "!", "e": "AQAB"}
    leaked = KEY.as_dict(private=True)  # what everybody can read signs nothing that counts
    rows = [shared, sealing, broken, leaked, 7, EC.as_dict(private=False)]
    assert [key.key_type for key in read_keys({"keys": rows}).keys] == ["EC"]
