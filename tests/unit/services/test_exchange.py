"""What a provider says of a person beside his ID token is believed of that person alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from bailiwick.runtime.runner import SystemClock
from bailiwick.services.logins.exchange import GrantedTokens, NamedPerson, ProviderClient
from bailiwick.services.logins.providers import Provider
from bailiwick.services.logins.words import LoginRefusal, LoginRefused
from tests.support.small_issuer import SmallIssuer, small_issuer


@pytest.fixture(scope="module")
def issuer() -> Iterator[SmallIssuer]:
    with small_issuer() as made:
        made.more = {"userinfo_endpoint": f"{made.issuer}/userinfo"}
        yield made


def told(
    issuer: SmallIssuer, said: dict[str, Any], userinfo: dict[str, Any], *, by: str = "email"
) -> NamedPerson:
    """Who comes in with such claims in the ID token, and such in what is asked for after it."""
    clock = SystemClock()
    now_s = clock.now_ms() // 1000
    claims = {"iss": issuer.issuer, "aud": "bailiwick", "iat": now_s, "exp": now_s + 60}
    issuer.pages["/userinfo"] = userinfo
    provider = Provider(
        name="campus", title="Campus", issuer=issuer.issuer, client_id="bailiwick", name_claim=by
    )
    tokens = GrantedTokens(issuer.sign(**(claims | said)), "access")
    return asyncio.run(ProviderClient(provider, clock).person(tokens, nonce=None))


def word(*args: Any, **more: Any) -> LoginRefusal:
    with pytest.raises(LoginRefused) as refused:
        told(*args, **more)
    return refused.value.word


def test_what_the_id_token_leaves_out_is_asked_for(issuer: SmallIssuer) -> None:
    more = {"sub": "7", "email": "ann@lab.example", "email_verified": True, "groups": ["ops"]}
    assert told(issuer, {"sub": "7"}, more) == NamedPerson("campus:ann@lab.example", ("ops",))


def test_what_is_said_of_somebody_else_is_refused(issuer: SmallIssuer) -> None:
    more = {"sub": "8", "email": "boss@lab.example", "email_verified": True}
    assert word(issuer, {"sub": "7"}, more) is LoginRefusal.LOGIN_TOKEN_INVALID
    assert word(issuer, {"sub": "7"}, more | {"sub": None}) is LoginRefusal.LOGIN_TOKEN_INVALID


def test_what_is_signed_counts_before_what_is_not(issuer: SmallIssuer) -> None:
    signed = {"sub": "7", "email": "ann@lab.example", "email_verified": True}
    more = {"sub": "7", "email": "boss@lab.example", "groups": ["ops"]}
    assert told(issuer, signed, more).name == "campus:ann@lab.example"


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_a_mail_address_names_nobody_before_it_is_verified(
    issuer: SmallIssuer, verified: object
) -> None:
    more = {"sub": "7", "email": "boss@lab.example", "email_verified": verified}
    assert word(issuer, {"sub": "7"}, more) is LoginRefusal.LOGIN_NAME_UNUSABLE
