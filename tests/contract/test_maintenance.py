"""Maintenance over the API: who may plan, who may see, and what planning would do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_house import HttpHouse, http_house

OPERATOR, MEMBER = "fleet_operator", "project_member@lab"
HOUR_MS = 3_600_000
WINDOWS, CALENDARS = "/v1/maintenance/windows", "/v1/maintenance/calendars"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as made:
        yield made


def plan(house: HttpHouse, who: str = OPERATOR, query: str = "", **more: Any) -> Any:
    starts = house.runner.read(lambda view: view.now_ms) + HOUR_MS // 2
    body = {"window": "fans", "nodes": ["n1"], "starts_ms": starts, "ends_ms": starts + HOUR_MS}
    return house.ask(who, "POST", WINDOWS + query, json={**body, **more})


def windows(house: HttpHouse) -> list[Any]:
    """Those that a test planned."""
    rows = house.ask(MEMBER, "GET", WINDOWS).json()["items"]
    return [row for row in rows if row["window"] != "w1"]


def calendars(house: HttpHouse) -> list[Any]:
    rows = house.ask(MEMBER, "GET", CALENDARS).json()["items"]
    return [row for row in rows if row["calendar"] != "weekly"]


def test_a_window_is_tried_planned_seen_by_its_people_and_cancelled(house: HttpHouse) -> None:
    tried = plan(house, query="?dry_run=true")
    assert tried.status_code == 200, tried.text
    found = tried.json()["consequence"]
    assert found["leaving"] + found["staying"] > 0
    assert found["waiting"] > 0
    assert {each["node"] for each in found["leases"]} <= {"n1"}
    assert windows(house) == []
    assert plan(house, text="new fans").json()["consequence"] is None
    (shown,) = windows(house)
    assert (shown["window"], shown["phase"], shown["text"]) == ("fans", "planned", "new fans")
    assert house.ask(MEMBER, "GET", f"{WINDOWS}/fans").json() == shown
    node = house.ask(MEMBER, "GET", "/v1/nodes/n1").json()
    lease = house.ask("project_member@lab", "GET", "/v1/leases").json()["items"][0]
    assert node["maintained_ms"] == lease["maintained_ms"] == shown["starts_ms"]
    assert plan(house).status_code == 409
    assert house.ask(OPERATOR, "DELETE", f"{WINDOWS}/fans").status_code == 200
    assert house.ask(MEMBER, "GET", f"{WINDOWS}/fans").status_code == 404
    assert [row["cause"] for row in house.records("window_ended")] == ["cancelled"]


@pytest.mark.parametrize("query", ["", "?dry_run=true"])
def test_a_window_begins_later_than_now_and_within_a_year(house: HttpHouse, query: str) -> None:
    year_ms = 366 * 24 * HOUR_MS
    now_ms = house.runner.read(lambda view: view.now_ms)
    for starts_ms in (now_ms - HOUR_MS, now_ms + year_ms + HOUR_MS, 2**53 - 1 - HOUR_MS):
        times = {"starts_ms": starts_ms, "ends_ms": starts_ms + HOUR_MS}
        told = plan(house, query=query, **times)
        assert told.status_code == 422, told.text
        details = told.json()["details"]
        assert (details["field"], details["starts_ms"]) == ("starts_ms", starts_ms)
    times = {"starts_ms": now_ms + year_ms, "ends_ms": now_ms + year_ms + HOUR_MS}
    assert plan(house, query=query, **times).status_code == 200


def test_only_who_runs_machines_plans_and_cancels(house: HttpHouse) -> None:
    assert plan(house, MEMBER).status_code == 403
    assert plan(house, "fleet_auditor").status_code == 403
    plan(house)
    assert house.ask(MEMBER, "DELETE", f"{WINDOWS}/fans").status_code == 403
    wish = {"rule": "daily at 02:00 for 1h in UTC", "nodes": ["n1"]}
    assert house.ask(MEMBER, "PUT", f"{CALENDARS}/c", json=wish).status_code == 403


def test_whom_a_tenant_may_not_see_is_not_named_in_what_a_window_would_do(house: HttpHouse) -> None:
    told = plan(house, query="?dry_run=true").json()["consequence"]["leases"]
    assert all(each["lease_id"] is not None for each in told), "an operator sees leases"


def test_a_renewal_beyond_the_window_is_refused_with_how_long_would_do(house: HttpHouse) -> None:
    plan(house)
    now_ms = house.runner.read(lambda view: view.now_ms)
    ends_ms = house.ask(MEMBER, "GET", "/v1/leases/1").json()["expires_ms"]
    longer = {"ttl_ms": ends_ms - now_ms + HOUR_MS}
    refused = house.ask(MEMBER, "POST", "/v1/leases/1/renew", json=longer)
    assert refused.status_code == 409
    denied = refused.json()["decision"]["denied"]
    assert (denied["detail"], denied["node"]) == ("node_maintained", "n1")
    longest = {"ttl_ms": denied["longest_ms"] - 60_000}
    assert house.ask(MEMBER, "POST", "/v1/leases/1/renew", json=longest).status_code == 200


@pytest.mark.parametrize(
    "wish",
    [
        {"rule": "whenever", "nodes": ["n1"]},
        {"rule": "daily at 02:00 for 1h in Europe/Nowhere", "nodes": ["n1"]},
        {"rule": "daily at 02:00 for 1h in UTC"},
        {"rule": "daily at 02:00 for 1h in UTC", "nodes": ["n1"], "labels": ["a=b"]},
    ],
)
def test_a_calendar_that_cannot_be_counted_out_is_refused(
    house: HttpHouse, wish: dict[str, Any]
) -> None:
    answer = house.ask(OPERATOR, "PUT", f"{CALENDARS}/c", json=wish)
    assert answer.status_code == 422, answer.text
    assert calendars(house) == []


def test_a_calendar_is_set_listed_and_withdrawn(house: HttpHouse) -> None:
    wish = {"rule": "Weekly on SUN,sat at 02:00 for 240m in Europe/Berlin", "labels": ["a=b"]}
    assert house.ask(OPERATOR, "PUT", f"{CALENDARS}/fans", json=wish).status_code == 200
    (shown,) = calendars(house)
    assert shown["rule"] == "weekly on sat,sun at 02:00 for 4h in Europe/Berlin"
    assert (shown["calendar"], shown["labels"], shown["ahead_days"]) == ("fans", ["a=b"], 28)
    assert house.ask(OPERATOR, "DELETE", f"{CALENDARS}/fans").status_code == 200
    assert house.ask(OPERATOR, "DELETE", f"{CALENDARS}/fans").status_code == 404
