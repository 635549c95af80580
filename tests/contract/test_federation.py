"""Programs become service accounts by another's word or by a key; nobody else does."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from joserfc.jwk import RSAKey

from bailiwick.iam import Permission, Role, ScopeLevel
from bailiwick.kernel.people import commands as cmd
from bailiwick.server.http.app import AppTerms
from bailiwick.server.http.context import LoginBook
from bailiwick.services.authority import Allowance, Terms
from bailiwick.services.logins.issuers import IssuerClient
from bailiwick.wire.credentials import ACCOUNT_KEY, EXCHANGE, KEY_PREFIX
from tests.support.http_house import FOREIGN, OWN, HttpHouse, MovedClock, http_house, make_parts
from tests.support.oidc_provider import OidcProvider, Visitor, oidc_provider
from tests.support.small_issuer import SmallIssuer, small_issuer
from tests.support.waiting import until

BOSS, RIVAL, MEMBER = f"tenant_admin@{OWN}", f"tenant_admin@{FOREIGN}", f"project_member@{OWN}"
HERE = "/v1/service-accounts/bot"
AUDIENCE = "gpu.example"
SUBJECT = "repo:acme/train:ref:refs/heads/main"
PATTERN = "sub=repo:acme/train:ref:refs/heads/*"


@pytest.fixture(scope="module")
def ci() -> Iterator[SmallIssuer]:
    with small_issuer() as made:
        yield made


@pytest.fixture(scope="module")
def other_ci() -> Iterator[SmallIssuer]:
    """One more that the operator allowed, of which no rule speaks."""
    with small_issuer() as made:
        yield made


@pytest.fixture(autouse=True)
def fresh(ci: SmallIssuer) -> None:
    ci.more, ci.keys = {}, [ci.key.as_dict(private=False)]


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
def house(
    tmp_path: Path, clock: MovedClock, ci: SmallIssuer, other_ci: SmallIssuer
) -> Iterator[HttpHouse]:
    """With an account of the first tenant that reads its project."""
    allowed = {each.issuer: IssuerClient(each.issuer, None, clock) for each in (ci, other_ci)}
    book = LoginBook({}, "http://testserver", allowed)
    terms = AppTerms(guesses=Allowance(burst=1000), notes=Allowance(burst=1000))
    parts = make_parts(logins=book)
    with http_house(tmp_path, parts=parts, clock=clock, terms=terms) as made:
        made.do(cmd.CreateAccount("bot", OWN))
        made.do(cmd.SetMember("bot", Role.PROJECT_VIEWER, OWN, "p"))
        yield made


def trust(house: HttpHouse, ci: SmallIssuer, who: str = BOSS, **more: Any) -> Any:
    body = {"rule": "main", "issuer": ci.issuer, "audience": AUDIENCE, "conditions": [PATTERN]}
    return house.ask(who, "PUT", f"{HERE}/trust", json=body | more)


def signed(ci: SmallIssuer, clock: MovedClock, **more: Any) -> str:
    now_s = clock.now_ms() // 1000
    claims = {"iss": ci.issuer, "aud": AUDIENCE, "sub": SUBJECT, "iat": now_s - 5}
    return ci.sign(**(claims | {"exp": now_s + 300} | more))


def exchange(house: HttpHouse, shown: str, **more: Any) -> Any:
    body = {"grant_type": EXCHANGE, "subject_token": shown, "account": "bot"}
    return house.client.post("/v1/federation/token", json=body | more)


def spend(house: HttpHouse, key: str, **more: Any) -> Any:
    return exchange(house, key, **({"subject_token_type": ACCOUNT_KEY} | more))


def add(house: HttpHouse, who: str = BOSS, **body: Any) -> Any:
    return house.ask(who, "POST", f"{HERE}/keys", json=body)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def narrowed(house: HttpHouse, *keys: Permission) -> dict[str, str]:
    return bearer(house.token(BOSS, terms=Terms(keys=keys)))


def whoami(house: HttpHouse, token: str) -> Any:
    return house.client.get("/v1/whoami", headers=bearer(token))


def refused(house: HttpHouse, answer: Any) -> str:
    """Why nobody was let in, as the journal says it; the answer is the same for all."""
    assert answer.status_code == 401, answer.text
    assert answer.json()["message"] == "this identity gets no token of that account"
    return str(house.records("access_refused")[-1]["reason"])


# -- by another's word -----------------------------------------------------------------------


def test_a_job_becomes_the_account_for_minutes_and_the_journal_says_who(
    house: HttpHouse, ci: SmallIssuer, clock: MovedClock
) -> None:
    assert trust(house, ci).status_code == 200
    shown = signed(ci, clock)
    answer = exchange(house, shown)
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    found = answer.json()
    assert (found["token_type"], found["expires_in"]) == ("Bearer", 900)
    who = whoami(house, found["access_token"]).json()
    assert (who["principal"], who["kind"]) == ("bot", "service_account")
    told = house.records("account_token_granted")[-1]
    assert (told["rule"], told["subject"], told["issuer"]) == ("main", SUBJECT, ci.issuer)
    assert told["token_id"] == house.records("access_token_issued")[-1]["token_id"]
    again = exchange(house, shown).json()  # as often as it counts; each is told
    assert again["token_id"] != found["token_id"]
    assert house.records("account_token_granted")[-1]["assertion"] == told["assertion"]
    clock.ahead_ms = 901_000
    assert whoami(house, found["access_token"]).status_code == 401


def test_what_one_issuer_is_trusted_with_no_other_can_say(
    house: HttpHouse, ci: SmallIssuer, other_ci: SmallIssuer, clock: MovedClock
) -> None:
    trust(house, ci)
    assert refused(house, exchange(house, signed(other_ci, clock))) == "federation_not_trusted"
    forged = signed(other_ci, clock, iss=ci.issuer)
    assert refused(house, exchange(house, forged)) == "federation_token_invalid"
    assert exchange(house, signed(ci, clock)).status_code == 200


def test_whatever_is_wrong_the_answer_is_the_same(
    house: HttpHouse, ci: SmallIssuer, clock: MovedClock
) -> None:
    trust(house, ci)
    now_s = clock.now_ms() // 1000
    other = RSAKey.generate_key(2048, parameters={"kid": "one"})
    invalid, not_trusted = "federation_token_invalid", "federation_not_trusted"
    cases = [
        (signed(ci, clock, key=other), invalid),
        (signed(ci, clock, kid="two"), invalid),
        (signed(ci, clock, exp=now_s - 61), invalid),
        (signed(ci, clock, exp=None), invalid),
        (signed(ci, clock, iat=now_s - 3_700), invalid),
        (signed(ci, clock, iat=None), invalid),
        (signed(ci, clock, nbf=now_s + 100), invalid),
        (signed(ci, clock, sub=None), invalid),
        ("not a token", invalid),
        ("a.b.c", invalid),
        (signed(ci, clock, iss="https://elsewhere.example"), "federation_issuer_unknown"),
        (signed(ci, clock, aud="another"), not_trusted),
        (signed(ci, clock, aud=[AUDIENCE, "another"]), not_trusted),
        (signed(ci, clock, sub="repo:acme/training:ref:refs/heads/main"), not_trusted),
        (signed(ci, clock, sub="repo:acme/train:pull_request"), not_trusted),
    ]
    assert exchange(house, signed(ci, clock, aud=[AUDIENCE])).status_code == 200
    for shown, word in cases:
        assert refused(house, exchange(house, shown)) == word, word
    assert refused(house, exchange(house, signed(ci, clock), account="none")) == not_trusted
    granted = house.records("account_token_granted")
    assert len(granted) == 1


def test_every_condition_of_one_rule_counts_and_rules_are_not_mixed(
    house: HttpHouse, ci: SmallIssuer, clock: MovedClock
) -> None:
    trust(house, ci, conditions=[PATTERN, "environment=prod"])
    trust(house, ci, rule="other", conditions=["sub=somebody", "environment=test"])
    assert exchange(house, signed(ci, clock)).status_code == 401
    assert exchange(house, signed(ci, clock, environment="test")).status_code == 401
    assert exchange(house, signed(ci, clock, environment="prod")).status_code == 200


def test_a_rule_lets_nobody_into_another_account(
    house: HttpHouse, ci: SmallIssuer, clock: MovedClock
) -> None:
    trust(house, ci)
    house.do(cmd.CreateAccount("strict", OWN))
    rule = {"rule": "main", "issuer": ci.issuer, "audience": AUDIENCE, "conditions": ["sub=x"]}
    answer = house.ask(BOSS, "PUT", "/v1/service-accounts/strict/trust", json=rule)
    assert answer.status_code == 200, answer.text
    shown = signed(ci, clock)
    assert refused(house, exchange(house, shown, account="strict")) == "federation_not_trusted"
    assert exchange(house, shown).status_code == 200


def test_a_rule_that_is_deleted_and_an_account_that_is_disabled_let_nobody_in(
    house: HttpHouse, ci: SmallIssuer, clock: MovedClock
) -> None:
    trust(house, ci)
    live = exchange(house, signed(ci, clock)).json()["access_token"]
    house.ask(BOSS, "PATCH", HERE, json={"is_enabled": False})
    assert refused(house, exchange(house, signed(ci, clock))) == "federation_not_trusted"
    assert whoami(house, live).status_code == 401
    house.ask(BOSS, "PATCH", HERE, json={"is_enabled": True})
    assert house.ask(BOSS, "DELETE", f"{HERE}/trust/main").status_code == 200
    assert refused(house, exchange(house, signed(ci, clock))) == "federation_not_trusted"
    assert house.ask(BOSS, "GET", f"{HERE}/trust").json()["items"] == []


def test_only_issuers_that_the_operator_named_are_asked(
    house: HttpHouse, ci: SmallIssuer, clock: MovedClock
) -> None:
    with small_issuer() as stranger:
        assert trust(house, ci, issuer=stranger.issuer).status_code in (400, 422)
        now_s = clock.now_ms() // 1000
        shown = stranger.sign(iss=stranger.issuer, sub="x", iat=now_s, exp=now_s + 60)
        assert refused(house, exchange(house, shown)) == "federation_issuer_unknown"
        assert stranger.asked == []


def test_an_issuer_that_cannot_be_asked_is_told_apart_and_costs_no_guess(
    house: HttpHouse, ci: SmallIssuer, clock: MovedClock
) -> None:
    trust(house, ci)
    ci.more = {"issuer": "https://another.example"}
    answer = exchange(house, signed(ci, clock))
    assert answer.status_code == 401
    assert answer.json()["details"]["reason"] == "federation_issuer_unreachable"


def test_new_keys_of_the_issuer_are_looked_up(
    house: HttpHouse, ci: SmallIssuer, clock: MovedClock
) -> None:
    trust(house, ci)
    assert exchange(house, signed(ci, clock)).status_code == 200
    other = RSAKey.generate_key(2048, parameters={"kid": "two"})
    ci.keys = [other.as_dict(private=False)]
    clock.ahead_ms = 61_000
    assert exchange(house, signed(ci, clock, key=other, kid="two")).status_code == 200


# -- by a key --------------------------------------------------------------------------------


def test_a_key_is_exchanged_for_a_short_token_and_is_none_itself(
    house: HttpHouse, clock: MovedClock
) -> None:
    made = add(house)
    assert made.status_code == 201, made.text
    key = made.json()["key"]
    assert whoami(house, key).status_code == 401
    found = spend(house, key, ttl_s=60)
    assert found.status_code == 200, found.text
    assert whoami(house, found.json()["access_token"]).json()["principal"] == "bot"
    told = house.records("account_token_granted")[-1]
    assert told["key_id"] == made.json()["key_id"]
    rows = house.ask(BOSS, "GET", f"{HERE}/keys").json()["items"]
    assert [(row["key_id"], row["is_live"]) for row in rows] == [(told["key_id"], True)]
    everything = str(house.records("account_key_added")) + str(rows)
    assert key.partition(".")[2] not in everything
    for wrong in (key + "0", key[:-1], key.partition(".")[0], "bwkey-none.00"):
        assert refused(house, spend(house, wrong)) == "account_key_refused"
    assert refused(house, spend(house, key, account=f"bot-{OWN}")) == "account_key_refused"


def test_a_rotated_key_ends_after_the_overlap_and_there_are_two_at_most(
    house: HttpHouse, clock: MovedClock
) -> None:
    old = add(house).json()["key"]
    new = add(house, overlap_s=600).json()["key"]
    assert add(house).status_code == 409
    assert add(house, overlap_s=0).status_code == 409
    assert [spend(house, key).status_code for key in (old, new)] == [200, 200]
    clock.ahead_ms = 601_000
    until(lambda: spend(house, new).status_code != 503, "the replica leads again")
    assert [spend(house, key).status_code for key in (old, new)] == [401, 200]
    assert add(house).status_code == 201
    rows = house.ask(BOSS, "GET", f"{HERE}/keys").json()["items"]
    assert len(rows) == 2  # what ended is forgotten with the next one


def test_a_key_ends_by_itself_and_rotating_never_makes_it_last_longer(
    house: HttpHouse, clock: MovedClock
) -> None:
    old = add(house, ttl_s=60).json()
    add(house, overlap_s=600)
    assert house.records("account_key_ended") == []
    assert spend(house, old["key"]).status_code == 200
    clock.ahead_ms = 61_000
    assert refused(house, spend(house, old["key"])) == "account_key_refused"


def test_without_a_key_there_is_nothing_to_rotate(house: HttpHouse) -> None:
    assert add(house, overlap_s=60).status_code == 409


def test_a_deleted_key_gives_nothing(house: HttpHouse) -> None:
    made = add(house).json()
    assert house.ask(BOSS, "DELETE", f"{HERE}/keys/{made['key_id']}").status_code == 200
    assert refused(house, spend(house, made["key"])) == "account_key_refused"
    assert house.ask(BOSS, "DELETE", f"{HERE}/keys/{made['key_id']}").status_code == 404


# -- who may set them ------------------------------------------------------------------------


def test_others_neither_see_nor_set_whom_an_account_trusts(
    house: HttpHouse, ci: SmallIssuer
) -> None:
    trust(house, ci)
    for who, status in ((RIVAL, 404), (MEMBER, 403)):
        assert trust(house, ci, who).status_code == status
        assert add(house, who).status_code == status
        for method, path in (("GET", "trust"), ("GET", "keys"), ("DELETE", "trust/main")):
            assert house.ask(who, method, f"{HERE}/{path}").status_code == status, path


def test_a_dry_run_shows_no_key_and_makes_none(house: HttpHouse) -> None:
    made = house.ask(BOSS, "POST", f"{HERE}/keys?dry_run=true", json={})
    assert (made.status_code, made.json()["key"]) == (201, "")
    assert house.ask(BOSS, "GET", f"{HERE}/keys").json()["items"] == []


def test_who_manages_accounts_but_makes_no_tokens_sets_none(
    house: HttpHouse, ci: SmallIssuer
) -> None:
    """Such as a session of broken glass, which makes no other tokens, in whatever way."""
    headers = narrowed(house, Permission.ACCOUNT_MANAGE, Permission.ACCOUNT_READ)
    body = {"rule": "main", "issuer": ci.issuer, "audience": AUDIENCE, "conditions": [PATTERN]}
    for method, path, given in (("PUT", "trust", body), ("POST", "keys", {})):
        found = house.client.request(method, f"{HERE}/{path}", json=given, headers=headers)
        assert found.status_code == 403, found.text


def test_nobody_gets_by_a_rule_or_key_what_he_may_not_himself(
    house: HttpHouse, ci: SmallIssuer
) -> None:
    """Who manages accounts, and no more, makes no way for himself to one that may more."""
    keys = (Permission.ACCOUNT_MANAGE, Permission.ACCOUNT_READ, Permission.TOKEN_ISSUE)
    house.do(cmd.SetRole("clerk", ScopeLevel.TENANT, keys, OWN))
    house.do(cmd.SetMember("carl", None, OWN, None, "clerk"))
    headers = bearer(house.token("carl"))
    body = {"rule": "main", "issuer": ci.issuer, "audience": AUDIENCE, "conditions": [PATTERN]}
    for method, path, given in (("PUT", "trust", body), ("POST", "keys", {})):
        found = house.client.request(method, f"{HERE}/{path}", json=given, headers=headers)
        assert found.status_code == 403, found.text
        assert house.records("access_refused")[-1]["reason"] == "beyond_reach"


def test_what_a_narrowed_token_sets_carries_no_more_than_it_did(
    house: HttpHouse, ci: SmallIssuer, clock: MovedClock
) -> None:
    keys = (Permission.ACCOUNT_MANAGE, Permission.TOKEN_ISSUE, Permission.QUEUE_READ)
    headers = narrowed(house, *keys)
    made = house.client.post(f"{HERE}/keys", json={}, headers=headers)
    assert made.status_code == 201, made.text
    token = spend(house, made.json()["key"]).json()["access_token"]
    assert set(whoami(house, token).json()["keys"]) == {key.value for key in keys}


def test_a_key_begins_as_the_command_line_knows_it(house: HttpHouse) -> None:
    assert add(house).json()["key"].startswith(KEY_PREFIX)


# -- with a real provider --------------------------------------------------------------------


def test_what_a_real_provider_signs_is_believed_by_its_published_keys(
    tmp_path: Path, clock: MovedClock
) -> None:
    back = "http://testserver/back"
    with oidc_provider(back, people={"job-7": []}) as campus:
        told = identity_of(campus, "job-7", back=back)
        issuers = {campus.issuer: IssuerClient(campus.issuer, None, clock)}
        parts = make_parts(logins=LoginBook({}, "http://testserver", issuers))
        with http_house(tmp_path, parts=parts, clock=clock) as house:
            house.do(cmd.CreateAccount("bot", OWN))
            body = {"rule": "main", "issuer": campus.issuer, "audience": "public"}
            for pattern, status in (("sub=job-8", 401), ("sub=job-*", 200)):
                wish = body | {"conditions": [pattern]}
                assert house.ask(BOSS, "PUT", f"{HERE}/trust", json=wish).status_code == 200
                assert exchange(house, told).status_code == status
            assert house.records("account_token_granted")[-1]["subject"] == "job-7"


def identity_of(campus: OidcProvider, name: str, *, back: str) -> str:
    """An ID token that the provider signs for a public client."""
    verifier = "v" * 50
    challenge = base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=")
    asked = {"client_id": "public", "response_type": "code", "scope": "openid"}
    asked |= {"redirect_uri": back, "state": "s", "code_challenge_method": "S256"}
    query = urlencode(asked | {"code_challenge": challenge.decode()})
    came = Visitor(name).visit(f"{campus.issuer}/auth?{query}", until_url=back)
    code = parse_qs(urlsplit(came.headers["location"]).query)["code"][0]
    grant = {"grant_type": "authorization_code", "code": code, "redirect_uri": back}
    grant |= {"client_id": "public", "code_verifier": verifier}
    return str(httpx2.post(f"{campus.issuer}/token", data=grant).json()["id_token"])
