"""``bailiwick events`` as people type it, over a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from bailiwick.kernel.apps.commands import SetEntitlement
from tests.e2e.test_client_cli import Cli, be, cli, done, one_line
from tests.support.http_house import HttpHouse, http_house
from tests.support.http_server import Served

__all__ = ["cli"]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("data")) as made:
        yield made


@pytest.fixture(scope="module")
def served(house: HttpHouse) -> Iterator[Served]:
    found = Served(house.app, house.token)
    found.open()
    try:
        yield found
    finally:
        found.close()


def test_events_are_listed_and_watched(
    house: HttpHouse, served: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.do(SetEntitlement("lab.hello", True, tenant="lab"), correlation_id="incident-1")
    be(served, "tenant_admin@lab", monkeypatch)
    told = done(cli("events", "list", "--correlation", "incident-1"))
    assert "apps.entitlement.set" in told
    assert "apps/lab.hello" in told
    assert "rival" not in done(cli("events", "list"))
    some = json.loads(done(cli("events", "list", "--type", "apps.version.*", "-o", "json")))
    assert {each["type"] for each in some["items"]} == {"apps.version.published"}
    lines = done(cli("events", "watch", "--until-end", "-o", "json")).splitlines()
    events = [json.loads(line) for line in lines]
    assert {event["orgid"] for event in events} == {"lab"}
    place = events[-2]["id"]
    rest = done(cli("events", "watch", "--until-end", "--from", place)).splitlines()
    assert len(rest) == 1
    assert "apps.entitlement.set" in rest[0]
    assert "incident-1" in rest[0]
    assert done(cli("events", "watch", "--until-end", "--since", "2099-01-01")) == ""


def test_what_makes_no_sense_is_told_in_one_line(
    served: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    be(served, "tenant_admin@lab", monkeypatch)
    one_line(cli("events", "watch", "-o", "yaml"), 2, "table or json")
    one_line(cli("events", "watch", "--from", "99999999"), 2, "of this journal")
    one_line(cli("events", "list", "--tenant", "rival"), 2, "not yours to see")


def test_a_webhook_is_set_shown_rotated_replayed_and_deleted(
    served: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    be(served, "tenant_admin@lab", monkeypatch)
    at = ("--tenant", "lab")
    line = ("webhook", "set", "pager", "https://hooks.example/in", *at)
    assert "nothing was changed" in done(cli(*line, "--dry-run"))
    made = done(cli(*line, "--type", "apps.instance.*"))
    assert "pager of lab is on" in made
    assert "whsec_" in made
    assert "whsec_" not in done(cli(*line, "--disable"))
    shown = done(cli("webhook", "show", "pager", *at, "-o", "json"))
    assert json.loads(shown)["is_enabled"] is False
    assert "whsec_" not in shown
    assert "pager" in done(cli("webhook", "list"))
    assert "whsec_" in done(cli("webhook", "rotate", "pager", *at))
    assert "nothing was sent yet" in cli("webhook", "deliveries", "pager", *at).err
    assert "0 events" in done(cli("webhook", "replay", "pager", *at))
    one_line(cli("webhook", "replay", "pager", *at, "--event", "1"), 2, "delivery")
    one_line(cli("webhook", "delete", "pager", *at), 2, "say yes with -y")
    assert "is deleted" in done(cli("webhook", "delete", "pager", *at, "-y"))
    one_line(cli("webhook", "show", "pager", *at), 2, "no webhook")
    one_line(cli("webhook", "set", "p", "http://hooks.example/", *at), 2, "https://")
