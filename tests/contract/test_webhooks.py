"""Webhooks over HTTP: who may set them, what is told of them, and what never is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from bailiwick.events.signing import secret_of, spell_secret
from bailiwick.iam import Permission, PrincipalKind, Role, Scope
from bailiwick.kernel.people.commands import SetMember
from bailiwick.services import authority as auth
from tests.support.http_house import FOREIGN, OWN, HttpHouse, http_house

URL = "https://hooks.example/in?token=known-to-few"
_NAMES = (f"w{n}" for n in count(1))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("webhooks")) as made:
        yield made


def put(house: HttpHouse, who: str, *, headers: Any = None, query: str = "", **more: Any) -> Any:
    body = {"webhook": next(_NAMES), "tenant": OWN, "url": URL, **more}
    return house.ask(who, "PUT", f"/v1/webhooks{query}", json=body, headers=headers or {})


def test_a_secret_is_told_once_and_stands_nowhere(house: HttpHouse) -> None:
    made = put(house, f"tenant_admin@{OWN}", webhook="once")
    assert made.status_code == 200, made.text
    secret = made.json()["secret"]
    assert secret.startswith("whsec_")
    again = put(house, f"tenant_admin@{OWN}", webhook="once", is_enabled=False)
    assert again.json() == {"webhook": "once", "secret": None}
    store = house.runner.replica.store
    lines = b"".join(house.runner.read(lambda view: store.read(0, view.state.size)))
    assert secret.removeprefix("whsec_").encode() not in lines
    (told,) = [b for b in house.records("app_webhook_set") if b["webhook"] == "once"][:1]
    made_from = secret_of(bytes(32), Scope(OWN), webhook="once", secret_id=told["secret_id"])
    assert spell_secret(made_from) == secret
    listed = house.ask(f"tenant_admin@{OWN}", "GET", "/v1/webhooks").text
    assert secret not in listed


def test_a_secret_is_another_for_each_scope_webhook_and_rotation(house: HttpHouse) -> None:
    who = f"tenant_admin@{OWN}"
    secrets = [put(house, who, webhook="same", **more).json()["secret"] for more in (
        {}, {"project": "p"},
    )]  # fmt: skip
    place = {"webhook": "same", "tenant": OWN}
    for _ in range(2):
        rotated = house.ask(who, "POST", "/v1/webhooks/rotate", json=place)
        secrets.append(rotated.json()["secret"])
    assert len({*secrets}) == 4


def test_a_secret_is_replaced_once_under_one_key(house: HttpHouse) -> None:
    who, named = f"tenant_admin@{OWN}", {"Idempotency-Key": "rotate-1"}
    put(house, who, webhook="keyed")
    place = {"webhook": "keyed", "tenant": OWN}
    dry = house.ask(who, "POST", "/v1/webhooks/rotate?dry_run=true", json=place)
    assert dry.json()["secret"] is None
    first = house.ask(who, "POST", "/v1/webhooks/rotate", json=place, headers=named)
    assert first.json()["secret"].startswith("whsec_")
    # The revision has moved on: the same key for what is another command now is refused.
    again = house.ask(who, "POST", "/v1/webhooks/rotate", json=place, headers=named)
    assert again.status_code in (409, 412, 422)


def test_whose_webhooks_they_are(house: HttpHouse) -> None:
    assert put(house, f"project_admin@{OWN}", project="p").status_code == 200
    for who, status, more in (
        (f"project_admin@{OWN}", 403, {}),
        (f"project_admin@{OWN}", 404, {"project": "other"}),
        (f"project_member@{OWN}", 403, {"project": "p"}),
        (f"tenant_auditor@{OWN}", 403, {}),
        (f"tenant_admin@{FOREIGN}", 404, {}),
        ("fleet_operator", 403, {}),
        (f"tenant_admin@{OWN}", 404, {"project": "nowhere"}),
    ):
        refused = put(house, who, **more)
        assert refused.status_code == status, (who, more, refused.text)
    rows = house.ask(f"project_admin@{OWN}", "GET", "/v1/webhooks").json()["items"]
    assert {(row["tenant"], row["project"]) for row in rows} == {(OWN, "p")}
    rows = house.ask(f"tenant_admin@{FOREIGN}", "GET", "/v1/webhooks").json()["items"]
    assert {row["tenant"] for row in rows} == {FOREIGN}


@pytest.mark.parametrize("verb", ["rotate", "delete", "deliveries", "replay"])
def test_a_foreign_webhook_is_as_if_it_were_not_there(house: HttpHouse, verb: str) -> None:
    for who, place in (
        (f"tenant_admin@{OWN}", {"webhook": "hook", "tenant": FOREIGN}),
        (f"tenant_admin@{OWN}", {"webhook": "none", "tenant": OWN}),
    ):
        refused = house.ask(who, "POST", f"/v1/webhooks/{verb}", json=place)
        assert (refused.status_code, refused.json()["code"]) == (404, "not_found")


def test_a_service_account_manages_those_of_its_own_project_alone(house: HttpHouse) -> None:
    house.do(SetMember(f"bot-{OWN}", Role.PROJECT_ADMIN, OWN, "p"))
    token = house.token(f"bot-{OWN}", kind=PrincipalKind.SERVICE_ACCOUNT)
    headers = {"Authorization": f"Bearer {token}"}

    def ask(**more: Any) -> int:
        body = {"webhook": next(_NAMES), "tenant": OWN, "url": URL, **more}
        return int(house.client.put("/v1/webhooks", json=body, headers=headers).status_code)

    assert ask(project="p") == 200
    assert ask() == 403
    assert ask(tenant=FOREIGN, project="p") == 404


def test_who_may_not_read_events_may_not_have_them_sent(house: HttpHouse) -> None:
    terms = auth.Terms(keys=(Permission.WEBHOOK_MANAGE,))
    token = house.token(f"tenant_admin@{OWN}", terms=terms)
    body = {"webhook": next(_NAMES), "tenant": OWN, "url": URL}
    found = house.client.put(
        "/v1/webhooks", json=body, headers={"Authorization": f"Bearer {token}"}
    )
    assert found.status_code == 403
    assert "scheduler.instance.read" in found.json()["message"]


def test_an_event_of_a_webhook_does_not_say_where_it_leads(house: HttpHouse) -> None:
    put(house, f"tenant_admin@{OWN}", project="p")
    asked = "/v1/events?types=apps.webhook.*&limit=500"
    found = house.ask(f"project_viewer@{OWN}", "GET", asked)
    assert found.json()["items"]
    assert "known-to-few" not in found.text
    assert "secret" not in json.dumps(found.json())


@pytest.mark.parametrize(
    "url",
    [
        *("http://hooks.example/", "https://user:pw@hooks.example/", "https://hooks.example/#x"),
        *("https://169.254.169.254/latest/", "https://[fe80::1]/", "ftp://hooks.example/", "x"),
    ],
)
def test_an_address_that_no_webhook_may_have_is_refused(house: HttpHouse, url: str) -> None:
    refused = put(house, f"tenant_admin@{OWN}", url=url)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_value")
    assert "pw" not in refused.text


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "https://127.0.0.1/", "https://10.0.0.1/", "https://[::1]/"]
)
def test_an_own_network_is_refused_unless_the_operator_allows_it(
    house: HttpHouse, url: str
) -> None:
    assert put(house, f"project_admin@{FOREIGN}", tenant=FOREIGN, project="p", url=url).is_success
    held = house.app.state.house
    parts = held.parts
    strict = replace(parts, webhooks=replace(parts.webhooks, allow_private=False))
    house.app.state.house = replace(held, parts=strict)
    try:
        refused = put(house, f"tenant_admin@{OWN}", url=url)
    finally:
        house.app.state.house = held
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_value")


def test_a_webhook_changes_only_as_it_was_read(house: HttpHouse) -> None:
    who = f"tenant_admin@{OWN}"
    assert put(house, who, webhook="tagged", headers={"If-Match": '"0"'}).status_code == 200
    stale = put(house, who, webhook="tagged", is_enabled=False, headers={"If-Match": '"7"'})
    assert stale.status_code == 412
    same = put(house, who, webhook="tagged")
    assert same.status_code == 409
