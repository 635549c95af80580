"""Logging in through a real provider: who gets in, with which roles, and who never does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from bailiwick.iam import Role
from bailiwick.kernel.people import commands as cmd
from bailiwick.runtime.runner import SystemClock
from bailiwick.server.http.app import AppTerms
from bailiwick.server.http.context import LoginBook
from bailiwick.server.http.cookies import COOKIE, LOGIN_COOKIE
from bailiwick.services.authority import Allowance
from bailiwick.services.logins.exchange import ProviderClient
from bailiwick.services.logins.providers import read_providers
from tests.support.http_house import HttpHouse, http_house, make_parts
from tests.support.oidc_provider import OidcProvider, Visitor, oidc_provider

HOME = "http://testserver"
BACK = f"{HOME}/v1/login/campus/callback"
ROLES = """
[[campus.roles]]
group = "ops"
role = "fleet_operator"
[[campus.roles]]
group = "lab-admins"
role = "tenant_admin"
tenant = "lab"
[[campus.roles]]
group = "lab-people"
role = "tenant_auditor"
tenant = "lab"
[[campus.roles]]
group = "lab-people"
role = "project_member"
tenant = "lab"
project = "p"
"""


@pytest.fixture(scope="module")
def campus() -> Iterator[OidcProvider]:
    with oidc_provider(BACK, people={}) as made:
        yield made


@pytest.fixture(scope="module")
def clients(campus: OidcProvider) -> dict[str, ProviderClient]:
    return {"campus": ProviderClient(campus.provider(more=ROLES), SystemClock())}


@pytest.fixture(scope="module")
def house(
    clients: dict[str, ProviderClient], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HttpHouse]:
    parts = make_parts(logins=LoginBook(clients, HOME))
    with http_house(tmp_path_factory.mktemp("logins"), parts=parts) as made:
        yield made


@pytest.fixture(autouse=True)
def forgetful(house: HttpHouse) -> Iterator[None]:
    """The client itself keeps no cookie: each test says what its browser sends."""
    yield
    house.client.cookies.clear()


def cookies(response: Any) -> dict[str, str]:
    """What a browser would keep of an answer."""
    lines = response.headers.get_list("set-cookie")
    for line in lines:
        assert {"Secure", "HttpOnly", "Path=/"} < set(line.split("; "))
    return {line.partition("=")[0]: line.partition("=")[2].partition(";")[0] for line in lines}


class Attempt:
    """One login in a browser, up to its coming back."""

    def __init__(self, house: HttpHouse, name: str, *, to: str = "/") -> None:
        self.house = house
        begun = house.client.get("/v1/login/campus", params={"to": to}, follow_redirects=False)
        assert begun.status_code == 303, begun.text
        self.place = begun.headers["location"]
        self.note = cookies(begun)[LOGIN_COOKIE]
        house.client.cookies.clear()
        back = Visitor(name).visit(self.place, until_url=BACK)
        self.back = back.headers["location"].removeprefix(HOME)
        self.given = {key: each[0] for key, each in parse_qs(urlsplit(self.back).query).items()}

    def end(self, *, note: str | None = None, **given: str) -> Any:
        """Come back, perhaps with something else than was given."""
        headers = {"Cookie": f"{LOGIN_COOKIE}={self.note if note is None else note}"}
        path = urlsplit(self.back).path
        found = self.house.client.get(
            path, params=self.given | given, headers=headers, follow_redirects=False
        )
        self.house.client.cookies.clear()
        return found


def refusal(response: Any) -> str:
    """Why nobody was let in; he gets no session."""
    assert response.status_code == 303
    assert COOKIE not in cookies(response)
    place = response.headers["location"]
    assert place.startswith("/?login_refused=")
    return str(place.partition("=")[2])


def who_is(house: HttpHouse, cookie: str) -> Any:
    return house.client.get("/v1/whoami", headers={"Cookie": f"{COOKIE}={cookie}"}).json()


def roles_of(who: Any) -> set[tuple[str | None, str | None, str]]:
    return {(each["tenant"], each["project"], each["role"]) for each in who["roles"]}


def log_in(house: HttpHouse, name: str) -> str:
    ended = Attempt(house, name).end()
    assert (ended.status_code, ended.headers["location"]) == (303, "/")
    return cookies(ended)[COOKIE]


# -- who gets in -----------------------------------------------------------------------------


def test_the_ways_to_log_in_name_the_provider(house: HttpHouse) -> None:
    found = house.client.get("/v1/login").json()
    assert found["providers"] == [{"provider": "campus", "title": "Campus login"}]


def test_a_person_comes_in_with_what_his_groups_give(
    house: HttpHouse, campus: OidcProvider
) -> None:
    campus.put_people({"ann": ["lab-people", "choir"]})
    attempt = Attempt(house, "ann", to="/jobs?mine=1")
    asked = parse_qs(urlsplit(attempt.place).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == [BACK]
    ended = attempt.end()
    assert ended.headers["location"] == "/jobs?mine=1"
    kept = cookies(ended)
    assert kept[LOGIN_COOKIE] == ""
    who = who_is(house, kept[COOKIE])
    assert who["principal"] == "campus:ann"
    assert roles_of(who) == {("lab", None, "tenant_auditor"), ("lab", "p", "project_member")}
    told = [each for each in house.records("member_changed") if each["member"] == "campus:ann"]
    assert {each["provider"] for each in told} == {"campus"}


def test_what_his_groups_give_no_more_is_taken_away_and_the_hands_word_stays(
    house: HttpHouse, campus: OidcProvider
) -> None:
    campus.put_people({"bo": ["lab-people", "lab-admins", "ops"]})
    first = log_in(house, "bo")
    # Of two roles at one scope, the first in the operator's file counts.
    both = {(None, None, "fleet_operator"), ("lab", None, "tenant_admin")}
    assert roles_of(who_is(house, first)) == both | {("lab", "p", "project_member")}
    house.do(cmd.SetMember("campus:bo", Role.PROJECT_VIEWER, "rival", "p"))
    campus.put_people({"bo": ["lab-people"]})
    second = log_in(house, "bo")
    left = {("lab", None, "tenant_auditor"), ("lab", "p", "project_member")}
    by_hand = {("rival", "p", "project_viewer")}
    assert roles_of(who_is(house, second)) == left | by_hand
    # It counts for the session that he had before, too.
    assert roles_of(who_is(house, first)) == left | by_hand
    campus.put_people({})
    assert roles_of(who_is(house, log_in(house, "bo"))) == by_hand


def test_a_provider_gives_nothing_that_the_operator_did_not_map(
    house: HttpHouse, campus: OidcProvider
) -> None:
    campus.put_people({"admin": ["fleet_admin", "admin", "root"]})
    who = who_is(house, log_in(house, "admin"))
    assert (who["principal"], who["roles"]) == ("campus:admin", [])


def test_a_session_through_a_provider_is_renewed_and_revoked_as_any(
    house: HttpHouse, campus: OidcProvider
) -> None:
    campus.put_people({"cy": ["lab-people"]})
    cookie = log_in(house, "cy")
    headers = {"Cookie": f"{COOKIE}={cookie}"}
    headers["X-CSRF-Token"] = house.client.get("/v1/session", headers=headers).json()["csrf"]
    renewed = house.client.post("/v1/session/renewal", json={}, headers=headers)
    house.client.cookies.clear()
    cookie = cookies(renewed)[COOKIE]
    token_id = who_is(house, cookie)["token_id"]
    assert house.ask("fleet_admin", "DELETE", f"/v1/tokens/{token_id}").status_code == 200
    assert who_is(house, cookie)["code"] == "unauthenticated"


def test_a_provider_that_was_removed_lets_nobody_in(house: HttpHouse, campus: OidcProvider) -> None:
    campus.put_people({"di": ["lab-people"]})
    cookie = log_in(house, "di")
    door = house.app.state.house.door
    known, door._providers = door._providers, frozenset()
    try:
        assert who_is(house, cookie)["code"] == "unauthenticated"
    finally:
        door._providers = known
    assert who_is(house, cookie)["principal"] == "campus:di"
    assert house.client.get("/v1/login/other", follow_redirects=False).status_code == 404


# -- who does not ----------------------------------------------------------------------------


def test_only_the_browser_that_began_a_login_ends_it(
    house: HttpHouse, campus: OidcProvider
) -> None:
    campus.put_people({"eve": ["ops"]})
    mine, other = Attempt(house, "eve"), Attempt(house, "eve")
    word = "login_state_mismatch"
    assert refusal(mine.end(state="another")) == word
    assert refusal(mine.end(note="")) == word
    assert refusal(mine.end(note=other.note)) == word
    assert refusal(mine.end(note=mine.note[:-4] + "AAAA")) == word
    assert word in [each["reason"] for each in house.records("access_refused")]
    # A stranger's code with one's own state: the verifier is not that code's.
    assert refusal(mine.end(code=other.given["code"])) == "login_provider_refused"


def test_what_began_at_one_provider_does_not_end_at_another(
    house: HttpHouse, clients: dict[str, ProviderClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else whoever runs one of two providers could end the logins of the other's people."""
    monkeypatch.setitem(clients, "twin", clients["campus"])
    attempt = Attempt(house, "eve")
    attempt.back = attempt.back.replace("/campus/", "/twin/")
    assert refusal(attempt.end()) == "login_state_mismatch"


def test_a_terminal_gets_the_session_that_it_began_and_nobody_elses(
    house: HttpHouse,
    campus: OidcProvider,
    clients: dict[str, ProviderClient],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    campus.put_people({"ida": []})
    monkeypatch.setitem(clients, "twin", clients["campus"])
    begun = house.client.post("/v1/login/campus/device").json()

    def poll(device: str, provider: str = "campus") -> Any:
        return house.client.post(f"/v1/login/{provider}/device/token", json={"device": device})

    assert poll(begun["device"]).json()["session"] is None
    Visitor("ida").visit(begun["verification_uri_complete"])
    strange = [
        poll(begun["device"], "twin"),
        poll(begun["device"][:-4] + "AAAA"),
        poll(Attempt(house, "ida").note),  # a browser's note is no terminal's
    ]
    for found in strange:
        assert (found.status_code, found.json()["details"]["reason"]) == (
            401,
            "login_state_mismatch",
        )
    token = poll(begun["device"]).json()["session"]["token"]
    headers = {"Authorization": f"Bearer {token}"}
    who = house.client.get("/v1/whoami", headers=headers).json()
    assert who["principal"] == "campus:ida"
    assert poll(begun["device"]).status_code == 401  # once


def test_a_code_counts_once(house: HttpHouse, campus: OidcProvider) -> None:
    campus.put_people({"fay": []})
    attempt = Attempt(house, "fay")
    assert COOKIE in cookies(attempt.end())
    assert refusal(attempt.end()) == "login_provider_refused"


def test_another_issuers_answer_is_refused(house: HttpHouse, campus: OidcProvider) -> None:
    attempt = Attempt(house, "gil")
    assert attempt.given["iss"] == campus.issuer
    assert refusal(attempt.end(iss="https://evil.example")) == "login_token_invalid"


def test_who_gives_up_at_the_provider_is_told_so(house: HttpHouse) -> None:
    attempt = Attempt(house, "hal")
    code = attempt.given.pop("code")
    assert code
    assert refusal(attempt.end(error="access_denied")) == "login_provider_refused"


@pytest.mark.parametrize(
    "to",
    ["//evil.example", "https://evil.example", "/\\evil.example", "evil", "/a\nb", "/\tx", "/ x"],
)
def test_a_login_ends_on_this_server_alone(house: HttpHouse, to: str) -> None:
    found = house.client.get("/v1/login/campus", params={"to": to}, follow_redirects=False)
    assert found.status_code == 422


def test_a_token_for_another_client_is_refused(house: HttpHouse, campus: OidcProvider) -> None:
    # The operator named another client than the one that the code is for.
    client = house.app.state.house.parts.logins.clients["campus"]
    attempt = Attempt(house, "ida")
    right = client.provider
    client.provider = replace(right, client_id="public", client_secret=None)
    try:
        assert refusal(attempt.end()) == "login_provider_refused"
    finally:
        client.provider = right


def test_a_provider_that_does_not_answer_lets_nobody_in(house: HttpHouse) -> None:
    clients = house.app.state.house.parts.logins.clients
    right = clients["campus"]
    lost = replace(right.provider, issuer="http://127.0.0.1:1")
    clients["campus"] = ProviderClient(lost, SystemClock())
    try:
        found = house.client.get("/v1/login/campus", follow_redirects=False)
        assert refusal(found) == "login_provider_unreachable"
    finally:
        clients["campus"] = right


def test_it_is_remembered_when_somebody_last_came_in(
    house: HttpHouse, campus: OidcProvider
) -> None:
    campus.put_people({"lea": []})
    desk = house.app.state.house.parts.notices
    assert desk.people.get("campus:lea").login_ms == 0
    before_ms = SystemClock().now_ms()
    log_in(house, "lea")
    first = desk.people.get("campus:lea").login_ms
    assert before_ms <= first <= SystemClock().now_ms() + 60_000
    log_in(house, "lea")
    assert desk.people.get("campus:lea").login_ms >= first
    assert desk.providers == {"campus"}


def test_a_public_client_logs_in_too(campus: OidcProvider, tmp_path: Path) -> None:
    campus.put_people({"jo": []})
    client = ProviderClient(campus.provider(client_id="public"), SystemClock())
    with http_house(tmp_path, parts=make_parts(logins=LoginBook({"campus": client}, HOME))) as own:
        assert who_is(own, log_in(own, "jo"))["principal"] == "campus:jo"


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("preferred_username", "campus:kim@campus"),
        ("nickname", "login_name_unusable"),
        ("groups", "login_name_unusable"),
        ("email", "login_name_unusable"),
    ],
)
def test_a_person_is_named_by_the_claim_that_the_operator_chose_or_not_at_all(
    house: HttpHouse, campus: OidcProvider, claim: str, told: str
) -> None:
    campus.put_people({"kim": []})
    client = house.app.state.house.parts.logins.clients["campus"]
    right = client.provider
    client.provider = replace(right, name_claim=claim)
    try:
        ended = Attempt(house, "kim").end()
    finally:
        client.provider = right
    if told.startswith("campus:"):
        assert who_is(house, cookies(ended)[COOKIE])["principal"] == told
    else:
        assert refusal(ended) == told


def test_a_name_that_none_can_have_is_refused(house: HttpHouse, campus: OidcProvider) -> None:
    campus.put_people({})
    assert refusal(Attempt(house, "kim lee").end()) == "login_name_unusable"


def test_who_is_refused_too_often_is_not_looked_at_for_a_while(tmp_path: Path) -> None:
    text = '[campus]\nissuer = "http://127.0.0.1:1"\nclient_id = "x"\n'
    client = ProviderClient(read_providers(text)["campus"], SystemClock())
    book = LoginBook({"campus": client}, HOME)
    terms = AppTerms(guesses=Allowance(burst=2, per_minute=1))
    with http_house(tmp_path, terms, parts=make_parts(logins=book)) as own:

        def come(path: str) -> Any:
            return own.client.get(f"/v1/login/campus{path}", follow_redirects=False)

        # That the provider is down counts against nobody.
        words = [refusal(come("")) for _ in range(4)]
        assert words == ["login_provider_unreachable"] * 4
        for _ in range(2):
            assert refusal(come("/callback?code=x&state=y")) == "login_state_mismatch"
        for path in ("/callback?code=x&state=y", ""):
            assert come(path).status_code == 429
