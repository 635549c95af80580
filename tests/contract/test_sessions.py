"""A browser's session: a cookie that no script reads, no other page uses, and no app sees."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.iam import Permission
from bailiwick.kernel.people import commands as cmd
from bailiwick.runtime.runner import SystemClock
from bailiwick.server.http.cookies import COOKIE
from bailiwick.services import authority as auth
from bailiwick.services.watching import Watchers
from bailiwick.wire.actions.table import ACTIONS
from tests.support.http_actions import aim
from tests.support.http_house import OWN, HttpHouse, add_instances, http_house, make_parts
from tests.support.sse_stream import Stream

HERE = {"Origin": "http://testserver"}
"""What a page of the server's own says."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    folder: Path = tmp_path_factory.mktemp("sessions")
    # Tokens of those who watch are never looked at anew: that one ended, the journal tells.
    with http_house(folder, parts=make_parts(watchers=Watchers(check_s=10**6))) as made:
        yield made


class Browser:
    """Somebody's browser: it keeps the one cookie by itself, as a person's does."""

    def __init__(self, house: HttpHouse, who: str, **more: Any) -> None:
        self.house, self.who = house, who
        code = house.token(who, terms=auth.Terms(single_use=True))
        begun = house.client.post("/v1/session", json={"code": code, **more}, headers=HERE)
        assert begun.status_code == 200, begun.text
        self.begun, self.csrf = begun, begun.json()["csrf"]
        self.cookie = kept(begun)

    def ask(self, method: str, path: str, *, csrf: bool = True, **more: Any) -> Any:
        headers = {"Cookie": f"{COOKIE}={self.cookie}", **more.pop("headers", {})}
        if csrf:
            headers["X-CSRF-Token"] = self.csrf
        return self.house.client.request(method, path, headers=headers, **more)

    @property
    def token_id(self) -> str:
        return str(self.ask("GET", "/v1/whoami").json()["token_id"])


def kept(response: Any) -> str:
    """What a browser would keep of an answer; the test's client keeps none by itself."""
    (line,) = response.headers.get_list("set-cookie")
    name, _, rest = line.partition("=")
    value, *terms = rest.split("; ")
    assert name == COOKIE
    assert {"Secure", "HttpOnly", "SameSite=Strict", "Path=/"} < set(terms)
    assert not any(term.lower().startswith("domain") for term in terms)
    (age,) = [term for term in terms if term.startswith("Max-Age=")]
    assert int(age.removeprefix("Max-Age=")) > 0
    return value


@pytest.fixture(autouse=True)
def forgetful(house: HttpHouse) -> Iterator[None]:
    """The client itself keeps no cookie: each test says what its browser sends."""
    yield
    house.client.cookies.clear()


# -- beginning -------------------------------------------------------------------------------


def test_anybody_may_ask_how_to_log_in(house: HttpHouse) -> None:
    found = house.client.get("/v1/login")
    assert found.status_code == 200
    assert found.json() == {"code": True, "providers": []}


def test_a_code_becomes_a_cookie_and_the_token_is_in_no_body(house: HttpHouse) -> None:
    ann = Browser(house, "project_member@lab")
    assert ann.begun.headers["cache-control"] == "no-store"
    assert ann.begun.json().keys() == {"principal", "expires_ms", "ends_ms", "csrf"}
    assert ann.begun.json()["principal"] == "project_member@lab"
    assert ann.cookie not in ann.begun.text
    again = ann.ask("GET", "/v1/session", csrf=False)
    assert again.status_code == 200
    assert again.json() == ann.begun.json()
    assert ann.ask("GET", "/v1/whoami").json()["principal"] == "project_member@lab"


def test_a_code_works_once(house: HttpHouse) -> None:
    code = house.token("project_member@lab", terms=auth.Terms(single_use=True))
    wish = {"json": {"code": code}, "headers": HERE}
    assert house.client.post("/v1/session", **wish).status_code == 200
    assert house.client.post("/v1/session", **wish).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://testserver:8080"},
        {"Sec-Fetch-Site": "cross-site", **HERE},
        {"Sec-Fetch-Site": "same-site", **HERE},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_another_page_logs_nobody_in(house: HttpHouse, headers: dict[str, str]) -> None:
    code = house.token("project_member@lab", terms=auth.Terms(single_use=True))
    found = house.client.post("/v1/session", json={"code": code}, headers=headers)
    assert (found.status_code, found.json()["details"]) == (403, {"reason": "csrf_refused"})
    assert "set-cookie" not in found.headers
    # The code is as good as before.
    assert house.client.post("/v1/session", json={"code": code}, headers=HERE).status_code == 200


def test_behind_a_proxy_the_browsers_own_word_counts(house: HttpHouse) -> None:
    code = house.token("project_member@lab", terms=auth.Terms(single_use=True))
    headers = {"Origin": "https://fleet.example", "Sec-Fetch-Site": "same-origin"}
    found = house.client.post("/v1/session", json={"code": code}, headers=headers)
    assert found.status_code == 200


def test_without_the_cookie_there_is_no_session(house: HttpHouse) -> None:
    assert house.client.get("/v1/session").status_code == 401
    assert house.ask("fleet_admin", "GET", "/v1/session").status_code == 401
    assert house.ask("fleet_admin", "POST", "/v1/session/renewal", json={}).status_code == 401


# -- using it --------------------------------------------------------------------------------


def test_what_changes_something_has_to_show_the_sessions_value(house: HttpHouse) -> None:
    admin = Browser(house, "tenant_admin@lab")
    change = {"json": {"display_name": "By cookie"}}
    path = "/v1/tenants/lab/projects/p"
    refused = admin.ask("PATCH", path, csrf=False, **change)
    assert (refused.status_code, refused.json()["details"]) == (403, {"reason": "csrf_refused"})
    wrong = admin.ask("PATCH", path, csrf=False, headers={"X-CSRF-Token": "0" * 64}, **change)
    assert wrong.status_code == 403
    other = Browser(house, "tenant_admin@lab").csrf
    assert other != admin.csrf
    foreign = admin.ask("PATCH", path, csrf=False, headers={"X-CSRF-Token": other}, **change)
    assert foreign.status_code == 403
    said = [each for each in house.records("access_refused") if each["reason"] == "csrf_refused"]
    assert "tenant_admin@lab" in [each.get("principal") for each in said]
    assert admin.ask("PATCH", path, **change).status_code == 200


@pytest.mark.parametrize("method", ["GET", "PATCH"])
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_page_asks_is_refused(house: HttpHouse, method: str, site: str) -> None:
    admin = Browser(house, "tenant_admin@lab")
    more = {"json": {"display_name": f"{site} {method}"}} if method == "PATCH" else {}
    path = "/v1/tenants/lab/projects/p"
    found = admin.ask(method, path, headers={"Sec-Fetch-Site": site}, **more)
    assert (found.status_code, found.json()["code"]) == (403, "forbidden")
    for own in ("same-origin", "none"):
        assert admin.ask("GET", path, headers={"Sec-Fetch-Site": own}).status_code == 200


def test_a_token_that_is_shown_counts_and_the_cookie_beside_it_does_not(house: HttpHouse) -> None:
    ann = Browser(house, "project_member@lab")
    headers = {"Authorization": f"Bearer {house.token('fleet_admin')}"}
    found = ann.ask("GET", "/v1/whoami", csrf=False, headers=headers)
    assert found.json()["principal"] == "fleet_admin"
    headers = {"Authorization": "Bearer nonsense"}
    assert ann.ask("GET", "/v1/whoami", headers=headers).status_code == 401


def test_only_a_browsers_token_counts_as_a_cookie_and_of_two_none(house: HttpHouse) -> None:
    plain = house.token("fleet_admin")
    found = house.client.get("/v1/whoami", headers={"Cookie": f"{COOKIE}={plain}"})
    assert found.status_code == 401
    ann = Browser(house, "project_member@lab")
    two = f"{COOKIE}={ann.cookie}; {COOKIE}={plain}"
    assert house.client.get("/v1/whoami", headers={"Cookie": two}).status_code == 401


def test_no_answer_of_the_api_is_a_page(house: HttpHouse) -> None:
    ann = Browser(house, "project_member@lab")
    for path in ("/v1/whoami", "/v1/no-such-thing", "/v1/leases"):
        headers = ann.ask("GET", path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "no-store" in headers["cache-control"]
        assert headers["cross-origin-resource-policy"] == "same-origin"


def test_no_app_is_opened_by_a_cookie(house: HttpHouse) -> None:
    add_instances(house)
    passed = [action for action in ACTIONS.values() if action.passes_on]
    assert len(passed) == 5
    ann = Browser(house, "project_member@lab")
    bearer = {"Authorization": f"Bearer {house.token('project_member@lab')}"}
    for action in passed:
        path, _ = aim(action, OWN)
        found = ann.ask(action.method, path)
        assert (found.status_code, found.json()["code"]) == (401, "unauthenticated")
        # By a token one gets as far as the instance, which serves nothing now.
        assert house.client.request(action.method, path, headers=bearer).status_code == 409


# -- going on, and ending ---------------------------------------------------------------------


def test_a_session_goes_on_with_a_new_token_and_the_old_one_ends(house: HttpHouse) -> None:
    ann = Browser(house, "project_member@lab", ttl_s=60)
    first, old = ann.token_id, ann.cookie
    renewed = ann.ask("POST", "/v1/session/renewal", json={"ttl_s": 600})
    assert renewed.status_code == 200, renewed.text
    ann.cookie = kept(renewed)
    assert ann.cookie != old
    assert ann.cookie not in renewed.text
    assert renewed.json()["csrf"] == ann.csrf
    assert renewed.json()["ends_ms"] == ann.begun.json()["ends_ms"]
    assert renewed.json()["expires_ms"] > ann.begun.json()["expires_ms"]
    assert ann.ask("GET", "/v1/session").status_code == 200
    assert {"token_id": first} in house.records("access_token_revoked")
    issued = [each["token_id"] for each in house.records("access_token_issued")]
    assert issued[-1] == ann.token_id
    ann.cookie = old
    assert ann.ask("GET", "/v1/session").status_code == 401
    assert ann.ask("POST", "/v1/session/renewal", json={}).status_code == 401


def test_a_renewal_that_is_tried_changes_nothing(house: HttpHouse) -> None:
    ann = Browser(house, "project_member@lab")
    found = ann.ask("POST", "/v1/session/renewal?dry_run=true", json={})
    assert found.status_code == 200
    assert "set-cookie" not in found.headers
    assert ann.ask("GET", "/v1/session").status_code == 200


def test_a_narrowed_session_stays_as_narrow(house: HttpHouse) -> None:
    terms = auth.Terms(single_use=True, keys=(Permission.LEASE_READ,), within=("lab",))
    code = house.token("fleet_admin", terms=terms)
    begun = house.client.post("/v1/session", json={"code": code}, headers=HERE)
    headers = {"Cookie": f"{COOKIE}={kept(begun)}", "X-CSRF-Token": begun.json()["csrf"]}
    renewed = house.client.post("/v1/session/renewal", json={}, headers=headers)
    headers["Cookie"] = f"{COOKIE}={kept(renewed)}"
    who = house.client.get("/v1/whoami", headers=headers).json()
    assert who["keys"] == ["scheduler.lease.read"]
    assert who["roles"] == []  # the fleet's role lies outside of what the code was for


@pytest.mark.parametrize(("left_s", "status"), [(40, 200), (0, 401)])
def test_no_renewal_leads_beyond_the_sessions_end(
    house: HttpHouse, left_s: int, status: int
) -> None:
    until_ms = 1000 * (SystemClock().now_ms() // 1000 + left_s)
    session = auth.BrowserSession("some-session", until_ms)
    token = house.token("project_member@lab", terms=auth.Terms(session=session))
    headers = {"Cookie": f"{COOKIE}={token}"}
    headers["X-CSRF-Token"] = house.client.get("/v1/session", headers=headers).json()["csrf"]
    found = house.client.post("/v1/session/renewal", json={"ttl_s": 3600}, headers=headers)
    assert found.status_code == status
    if status == 200:
        assert found.json()["expires_ms"] <= until_ms == found.json()["ends_ms"]


def test_who_logs_out_leaves_no_cookie_and_no_token(house: HttpHouse) -> None:
    ann = Browser(house, "project_member@lab")
    assert ann.ask("DELETE", "/v1/session", csrf=False).status_code == 403
    tried = ann.ask("DELETE", "/v1/session?dry_run=true")
    assert (tried.status_code, "set-cookie" in tried.headers) == (200, False)
    found = ann.ask("DELETE", "/v1/session")
    assert found.status_code == 200
    (line,) = found.headers.get_list("set-cookie")
    assert line.startswith(f"{COOKIE}=;")
    assert "Max-Age=0" in line
    assert ann.ask("GET", "/v1/session").status_code == 401


def test_everybody_lists_and_ends_his_own_sessions_alone(house: HttpHouse) -> None:
    ann, other = Browser(house, "project_viewer@lab"), Browser(house, "project_viewer@lab")
    bob = Browser(house, "project_viewer@rival")
    listed = ann.ask("GET", "/v1/sessions").json()["items"]
    assert {row["token_id"] for row in listed} >= {ann.token_id, other.token_id}
    assert [row["token_id"] for row in listed if row["is_this"]] == [ann.token_id]
    assert bob.token_id not in str(listed)
    hidden = ann.ask("DELETE", f"/v1/sessions/{bob.token_id}")
    absent = ann.ask("DELETE", "/v1/sessions/no-such-token")
    assert (hidden.status_code, hidden.json()["message"]) == (404, absent.json()["message"])
    assert ann.ask("DELETE", f"/v1/sessions/{other.token_id}").status_code == 200
    assert other.ask("GET", "/v1/session").status_code == 401
    assert bob.ask("GET", "/v1/session").status_code == 200


def test_a_session_that_an_admin_revokes_ends_at_once(house: HttpHouse) -> None:
    ann = Browser(house, "project_member@lab")
    token_id = ann.token_id
    assert house.ask("fleet_admin", "DELETE", f"/v1/tokens/{token_id}").status_code == 200
    assert ann.ask("GET", "/v1/session").status_code == 401


@pytest.mark.parametrize("path", ["/v1/watch", "/v1/events/watch"])
def test_a_stream_by_cookie_ends_when_the_session_does(house: HttpHouse, path: str) -> None:
    ann = Browser(house, "tenant_admin@lab")
    token_id = ann.token_id

    async def play() -> None:
        cookie = {"cookie": f"{COOKIE}={ann.cookie}", "sec_fetch_site": "same-origin"}
        async with Stream(house.app, path, token=None, **cookie) as stream:
            first = await stream.next()
            assert stream.status == 200
            assert first is not None
            await asyncio.to_thread(house.do, cmd.RevokeToken(token_id))
            while (found := await stream.event()) is not None:
                if found["event"] == "end":
                    assert json.loads(found["data"]) == {"reason": "token_ended"}
                    return
            raise AssertionError("it ended without a word")

    asyncio.run(play())
