"""Bookings over the API: who may book, who may see, what strangers are told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bailiwick.kernel import Book, Envelope, Tick
from bailiwick.phrases.times import utc
from bailiwick.runtime.gateway import Gateway
from tests.support.http_house import HttpHouse, MovedClock, http_house

ADMIN, BOSS, MEMBER = "fleet_admin", "tenant_admin@lab", "project_member@lab"
STRANGER, STRANGE_BOSS = "project_member@rival", "tenant_admin@rival"
MINUTE_MS, HOUR_MS = 60_000, 3_600_000
RULE = "weekly on tue at 09:00 for 2h in Europe/Berlin"


class MovedHouse:
    """A house whose clock a test moves."""

    def __init__(self, house: HttpHouse, clock: MovedClock) -> None:
        self.house, self.clock = house, clock
        self.ask = house.ask

    @property
    def now_ms(self) -> int:
        return self.house.runner.read(lambda view: view.now_ms)

    def move(self, ms: int) -> None:
        """So much later everything that is due has happened."""
        self.clock.ahead_ms += ms
        self.house.do(Tick())


@pytest.fixture
def there(tmp_path: Path) -> Iterator[MovedHouse]:
    clock = MovedClock()
    with http_house(tmp_path, clock=clock) as house:
        for number in (1, 2):
            node = {"node": f"big{number}", "resources": {"cpu_milli": 8_000, "mem_bytes": 2**33}}
            node["gpus"] = [{"generation": "nvidia_hopper", "vram_bytes": 2**36}] * 8
            node["labels"] = ["pool=big"]
            answer = house.ask("fleet_operator", "POST", "/v1/nodes", json=node)
            assert answer.status_code == 200, answer.text
        for entry in (1, 2):  # nobody waits but those of a test
            assert house.ask("fleet_admin", "DELETE", f"/v1/queue/{entry}").status_code == 200
        yield MovedHouse(house, clock)


def path(tenant: str = "lab", word: str = "bookings") -> str:
    return f"/v1/tenants/{tenant}/projects/p/{word}"


def book(there: MovedHouse, who: str = BOSS, *, query: str = "", **more: Any) -> Any:
    starts = there.now_ms + HOUR_MS
    body = {"booking": "due", "gpus": 9, "starts_ms": starts, "ends_ms": starts + 2 * HOUR_MS}
    tenant = more.pop("tenant", "lab")
    body |= more
    return there.ask(who, "POST", path(tenant) + query, json=body)


def bookings(there: MovedHouse, who: str = MEMBER) -> list[Any]:
    """Those that a test made."""
    rows = there.ask(who, "GET", "/v1/bookings").json()["items"]
    return [row for row in rows if row["booking"] != "b1"]


def test_a_booking_is_tried_made_seen_by_its_tenant_and_cancelled(there: MovedHouse) -> None:
    tried = book(there, query="?dry_run=true", generation="nvidia_hopper")
    assert tried.status_code == 200, tried.text
    found = tried.json()["consequence"]
    assert (found["nodes"], found["gpu_count"]) == (["big1", "big2"], 16)
    assert found["wait_ms"] == 15 * MINUTE_MS
    assert bookings(there) == []
    assert (
        book(there, generation="nvidia_hopper", text="camera ready").json()["consequence"] is None
    )
    (shown,) = bookings(there)
    assert (shown["booking"], shown["phase"], shown["nodes"]) == (
        "due",
        "planned",
        ["big1", "big2"],
    )
    assert (shown["tenant"], shown["project"], shown["gpu_count"]) == ("lab", "p", 16)
    assert (shown["asked"]["gpus"], shown["asked"]["text"]) == (9, "camera ready")
    assert there.ask(MEMBER, "GET", f"{path()}/due").json() == shown
    node = there.ask(STRANGER, "GET", "/v1/nodes/big1").json()
    assert (node["booked_ms"], node["booked_until_ms"]) == (shown["starts_ms"], shown["ends_ms"])
    assert book(there).status_code == 409, "the name is taken"
    assert there.ask(BOSS, "DELETE", f"{path()}/due").status_code == 200
    assert there.ask(MEMBER, "GET", f"{path()}/due").status_code == 404
    assert [row["cause"] for row in there.house.records("booking_ended")] == ["cancelled"]


def test_admins_book_and_others_of_the_tenant_read(there: MovedHouse) -> None:
    for who in (MEMBER, "project_admin@lab", "fleet_operator", "tenant_auditor@lab"):
        assert book(there, who).status_code == 403, who
        wish = {"rule": RULE, "count": 1}
        answer = there.ask(who, "PUT", f"{path(word='booking-series')}/class", json=wish)
        assert answer.status_code == 403, who
    assert book(there, ADMIN).status_code == 200, "for anybody"
    assert there.ask(MEMBER, "DELETE", f"{path()}/due").status_code == 403
    assert len(bookings(there, "tenant_auditor@lab")) == 1
    assert len(bookings(there, "fleet_auditor")) == 1


def test_a_tenants_admin_keeps_unused_nodes_only_so_long_and_the_fleets_for_any_time(
    there: MovedHouse,
) -> None:
    series = f"{path(word='booking-series')}/class"
    for wait_ms in (0, HOUR_MS + 1):
        refused = book(there, BOSS, wait_ms=wait_ms)
        assert refused.status_code == 422, refused.text
        assert "wait_ms" in refused.text
        assert str(HOUR_MS) in refused.text
        wish = {"rule": RULE, "count": 1, "wait_ms": wait_ms}
        assert there.ask(BOSS, "PUT", series, json=wish).status_code == 422
        assert book(there, BOSS, query="?dry_run=true", wait_ms=wait_ms).status_code == 422
    assert there.ask(BOSS, "PUT", series, json=wish | {"wait_ms": HOUR_MS}).status_code == 200
    assert book(there, BOSS, wait_ms=HOUR_MS).status_code == 200
    assert book(there, ADMIN, booking="all", gpus=1, wait_ms=0).status_code == 409, "none is free"
    assert there.ask(BOSS, "DELETE", f"{path()}/due").status_code == 200
    assert book(there, ADMIN, booking="all", wait_ms=0).status_code == 200


def test_of_another_tenants_booking_nothing_is_told_but_when_a_node_is_booked(
    there: MovedHouse,
) -> None:
    assert book(there, text="top secret").status_code == 200
    assert bookings(there, STRANGER) == []
    for method, who in (("GET", STRANGER), ("DELETE", STRANGE_BOSS)):
        assert there.ask(who, method, f"{path()}/due").status_code == 404
    assert book(there, STRANGE_BOSS).status_code == 404
    refused = book(there, STRANGE_BOSS, tenant="rival")
    assert refused.status_code == 409, "the nodes are taken"
    assert "lab" not in refused.text
    assert "secret" not in refused.text
    own = book(there, STRANGE_BOSS, tenant="rival", gpus=0, nodes=["n1"])
    assert own.status_code != 409 or "is booked already" not in own.text, (
        "names are a project's own"
    )


def test_a_refusal_tells_numbers_and_from_when_on_it_would_do(there: MovedHouse) -> None:
    assert book(there, gpus=8, generation="nvidia_hopper").status_code == 200
    refused = book(there, booking="more", gpus=16, generation="nvidia_hopper")
    assert refused.status_code == 409
    assert "16" in refused.text
    assert "8 are free" in refused.text
    (taken,) = bookings(there)
    told = refused.json()
    numbers = {"wanted": 16, "found": 8, "suitable": 16}
    assert told["details"] == {
        "reason": "too_few_free",
        "earliest_ms": taken["ends_ms"],
        **numbers,
    }
    assert str(taken["ends_ms"]) not in told["message"]
    assert utc(taken["ends_ms"]) in told["message"]


@pytest.mark.parametrize("query", ["", "?dry_run=true"])
def test_what_begins_more_than_a_year_ahead_is_refused_with_field_and_date(
    there: MovedHouse, query: str
) -> None:
    latest_ms = there.now_ms + 366 * 24 * HOUR_MS
    for starts_ms in (latest_ms + HOUR_MS, 2**53 - 1 - HOUR_MS):
        times = {"starts_ms": starts_ms, "ends_ms": starts_ms + HOUR_MS}
        told = book(there, query=query, **times)
        assert told.status_code == 422, told.text
        details = told.json()["details"]
        assert (details["field"], details["starts_ms"]) == ("starts_ms", starts_ms)
        assert latest_ms <= details["latest_ms"] < latest_ms + HOUR_MS
        assert utc(details["latest_ms"]) in told.json()["message"]
    starts_ms = latest_ms - HOUR_MS
    times = {"starts_ms": starts_ms, "ends_ms": starts_ms + HOUR_MS}
    assert book(there, query=query, **times).status_code == 200


def test_what_is_refused_never_reaches_who_writes_and_a_repeat_is_answered_as_before(
    there: MovedHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, plain = list[str](), Gateway.execute

    async def execute(gateway: Gateway, envelope: Envelope, **how: Any) -> Any:
        if isinstance(envelope.command, Book):
            reached.append(envelope.command.booking)
        return await plain(gateway, envelope, **how)

    monkeypatch.setattr(Gateway, "execute", execute)
    times = {"starts_ms": there.now_ms + HOUR_MS, "ends_ms": there.now_ms + 2 * HOUR_MS}
    body = {"booking": "due", "gpus": 9, "generation": "nvidia_hopper", **times}
    key = {"Idempotency-Key": "once"}
    first = there.ask(BOSS, "POST", path(), json=body, headers=key)
    assert first.status_code == 200, first.text
    assert book(there, booking="more", generation="nvidia_hopper").status_code == 409
    assert book(there, **times).status_code == 409
    assert reached == ["due"]
    again = there.ask(BOSS, "POST", path(), json=body, headers=key)
    assert (again.status_code, again.json()) == (200, first.json())
    other = there.ask(BOSS, "POST", path(), json=body | {"gpus": 1}, headers=key)
    assert other.status_code == 409
    assert "due is booked" not in other.text


def test_a_time_that_is_past_is_told_with_dates_and_numbers(there: MovedHouse) -> None:
    told = book(there, starts_ms=HOUR_MS, ends_ms=2 * HOUR_MS).json()
    assert told["details"]["field"] == "starts_ms"
    assert told["details"]["starts_ms"] == HOUR_MS
    assert utc(told["details"]["now_ms"]) in told["message"]
    assert "got 1970-01-01 01:00:00Z" in told["message"]


@pytest.mark.parametrize("query", ["", "?dry_run=true"])
def test_a_booking_lasts_five_minutes_at_least_and_so_does_every_time_of_a_series(
    there: MovedHouse, query: str
) -> None:
    starts_ms = there.now_ms + HOUR_MS
    times = {"starts_ms": starts_ms, "ends_ms": starts_ms + 5 * MINUTE_MS - 1}
    refused = book(there, query=query, **times)
    assert refused.status_code == 422
    assert refused.json()["details"]["field"] == "ends_ms"
    assert utc(starts_ms) in refused.json()["message"]
    name = f"{path(word='booking-series')}/class{query}"
    wish = {"rule": "daily at 09:00 for 4m in UTC", "count": 1}
    refused = there.ask(BOSS, "PUT", name, json=wish)
    assert refused.status_code == 422
    assert refused.json()["details"]["field"] == "rule"
    wish["rule"] = "daily at 09:00 for 5m in UTC"
    assert there.ask(BOSS, "PUT", name, json=wish).status_code == 200
    times["ends_ms"] += 1
    assert book(there, query=query, **times).status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"gpus": 0},
        {"gpus": 8, "count": 1},
        {"gpus": 0, "nodes": ["big1"], "generation": "nvidia_hopper"},
        {"gpus": 8, "starts_ms": 1},
        {"gpus": 8, "ends_ms": 1},
        {"gpus": 8, "wait_ms": -1},
        {"gpus": 8, "generation": "abacus"},
    ],
)
def test_what_cannot_be_meant_is_refused(there: MovedHouse, wrong: dict[str, Any]) -> None:
    assert book(there, **wrong).status_code == 422
    assert bookings(there) == []


def request(there: MovedHouse, tenant: str, *, ttl_ms: int, **more: Any) -> Any:
    body = {"tenant": tenant, "project": "p", "resources": {"cpu_milli": 1_000}, "ttl_ms": ttl_ms}
    body["labels"] = ["pool=big"]
    who = f"project_member@{tenant}"
    query = more.pop("query", "")
    return there.ask(who, "POST", f"/v1/leases{query}", json=body | more)


def test_plan_and_queue_tell_others_when_they_could_start(there: MovedHouse) -> None:
    made = book(there, ADMIN, generation="nvidia_hopper", wait_ms=0)
    assert made.status_code == 200, made.text
    (shown,) = bookings(there)
    fits = request(there, "rival", ttl_ms=HOUR_MS // 2, query="?dry_run=true").json()
    assert fits["plan"] == "grant", fits
    found = request(there, "rival", ttl_ms=2 * HOUR_MS, query="?dry_run=true").json()
    assert found["plan"] == "queue", found
    assert found["estimate"]["starts_ms"] == shown["ends_ms"], found
    assert not {"lab", "due"} & {*re.findall(r"\w+", str(found))}
    own = request(there, "lab", ttl_ms=2 * HOUR_MS, query="?dry_run=true").json()
    assert own["plan"] == "grant", "it ends before the booking does"
    waits = request(there, "rival", ttl_ms=2 * HOUR_MS)
    assert waits.status_code == 202, waits.text
    entry = waits.json()["entry_id"]
    line = there.ask(STRANGER, "GET", f"/v1/queue/{entry}").json()
    assert [each["detail"] for each in line["blockers"]] == ["nodes_booked"], line
    assert line["estimate"]["starts_ms"] == shown["ends_ms"]
    assert not {"lab", "due"} & {*re.findall(r"\w+", str(line))}


def test_what_is_not_used_is_given_back(there: MovedHouse) -> None:
    starts = there.now_ms + 10 * MINUTE_MS
    times = {"starts_ms": starts, "ends_ms": starts + 2 * HOUR_MS}
    made = book(there, generation="nvidia_hopper", wait_ms=5 * MINUTE_MS, **times)
    assert made.status_code == 200, made.text
    held = request(there, "lab", ttl_ms=2 * HOUR_MS, gpu_count=1)
    assert held.status_code == 201, held.text
    there.move(11 * MINUTE_MS)
    (shown,) = bookings(there)
    assert (shown["phase"], len(shown["nodes"])) == ("on", 2)
    there.move(5 * MINUTE_MS)
    (shown,) = bookings(there)
    assert (len(shown["nodes"]), len(shown["given_back"])) == (1, 1)
    there.ask(MEMBER, "DELETE", f"/v1/leases/{held.json()['lease_ids'][0]}")
    there.move(5 * MINUTE_MS)
    assert bookings(there) == []
    assert [row["cause"] for row in there.house.records("booking_ended")] == ["unused"]


def series(there: MovedHouse, who: str = BOSS, **more: Any) -> Any:
    wish = {"rule": RULE, "count": 2, "labels": ["pool=big"], **more}
    return there.ask(who, "PUT", f"{path(word='booking-series')}/class", json=wish)


def test_a_dry_run_of_a_series_tells_its_next_times_and_what_each_would_get(
    there: MovedHouse,
) -> None:
    place = f"{path(word='booking-series')}/class?dry_run=true"
    wish = {"rule": RULE, "count": 2, "labels": ["pool=big"]}

    def tried(**more: Any) -> list[Any]:
        answer = there.ask(BOSS, "PUT", place, json=wish | more)
        assert answer.status_code == 200, answer.text
        found: list[Any] = answer.json()["consequence"]["times"]
        return found

    first = tried()
    zone = ZoneInfo("Europe/Berlin")
    local = [datetime.fromtimestamp(each["starts_ms"] / 1000, zone) for each in first]
    assert [(at.weekday(), at.hour, at.minute) for at in local] == [(1, 9, 0)] * 5
    assert {(tuple(each["nodes"]), each["why"]) for each in first} == {(("big1", "big2"), "")}
    second = first[1]
    taken = {"starts_ms": second["starts_ms"], "ends_ms": second["ends_ms"]}
    assert book(there, ADMIN, booking="taken", gpus=0, nodes=["big1"], **taken).status_code == 200
    found = tried()
    assert [bool(each["nodes"]) for each in found] == [True, False, True, True, True]
    assert "1 are free" in found[1]["why"]
    assert found[1]["earliest_ms"] == second["ends_ms"]
    assert utc(second["ends_ms"]) in found[1]["why"]
    assert len(tried(rule="once on 2999-01-01 at 09:00 for 1h in UTC")) == 0
    assert there.ask(MEMBER, "GET", f"{path(word='booking-series')}/class").status_code == 404


def test_a_series_that_is_set_anew_is_foreseen_without_what_it_would_call_off(
    there: MovedHouse,
) -> None:
    assert series(there).json()["consequence"] is None
    name = f"{path(word='booking-series')}/class"
    wish = {"rule": RULE, "count": 2, "labels": ["pool=big"]}
    tried = there.ask(BOSS, "PUT", f"{name}?dry_run=true", json=wish).json()["consequence"]
    starts_ms, ends_ms = (tried["times"][0][key] for key in ("starts_ms", "ends_ms"))
    date = datetime.fromtimestamp(starts_ms / 1000, ZoneInfo("Europe/Berlin"))
    command = Book(f"class-{date:%Y%m%d}", "lab", "p", starts_ms, ends_ms, count=2, series="class")
    there.house.do(command)
    again = there.ask(BOSS, "PUT", f"{name}?dry_run=true", json=wish).json()["consequence"]
    assert again == tried, "the name and the nodes would be free by then"


def test_a_series_is_set_listed_shown_with_what_it_lacks_and_withdrawn(there: MovedHouse) -> None:
    assert series(there, ahead_days=15, text="lecture").status_code == 200
    listed = there.ask(MEMBER, "GET", "/v1/booking-series").json()["items"]
    (row,) = [each for each in listed if each["series"] == "class"]
    assert (row["wish"]["rule"], row["wish"]["count"], row["booked_ms"]) == (RULE, 2, [])
    found = there.ask(MEMBER, "GET", f"{path(word='booking-series')}/class").json()
    assert 2 <= len(found["unbooked"]) <= 3, "nobody leads the planning here"
    assert {each["why"] for each in found["unbooked"]} == {""}
    assert series(there, count=3, ahead_days=15).status_code == 200
    found = there.ask(MEMBER, "GET", f"{path(word='booking-series')}/class").json()
    assert all("3" in each["why"] for each in found["unbooked"]), found
    assert there.ask(STRANGER, "GET", f"{path(word='booking-series')}/class").status_code == 404
    strangers = there.ask(STRANGER, "GET", "/v1/booking-series").json()["items"]
    assert {each["tenant"] for each in strangers} <= {"rival"}
    assert there.ask(BOSS, "DELETE", f"{path(word='booking-series')}/class").status_code == 200
    assert there.ask(BOSS, "DELETE", f"{path(word='booking-series')}/class").status_code == 404


@pytest.mark.parametrize(
    "wrong",
    [
        {"rule": "whenever"},
        {"rule": "daily at 02:00 for 1h in Europe/Nowhere"},
        {"rule": "once on 9999-12-31 at 23:00 for 4h in America/New_York"},
        {"count": 0},
        {"gpus": 8},
    ],
)
def test_a_series_that_cannot_be_counted_out_is_refused(
    there: MovedHouse, wrong: dict[str, Any]
) -> None:
    assert series(there, **wrong).status_code == 422
