"""Cells over the API: both sides of it, who may, and what a letter does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.billing.budgets import Budget
from bailiwick.iam import Permission, PrincipalKind, ScopeLevel
from bailiwick.kernel import SetQuota
from bailiwick.kernel.cells.book import Order
from bailiwick.kernel.cells.commands import JoinCell, ReachCell, SendGlobal
from bailiwick.kernel.cells.link import ORDERS_MAX, CellLetter
from bailiwick.kernel.money.commands import SetBudget
from bailiwick.kernel.people import commands as people
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.scheduler.rights.ceilings import Ceiling
from bailiwick.server.http.edge import Bounds
from bailiwick.server.http.parsing import submit_of
from bailiwick.services.cells.spelling import spell_letter
from bailiwick.vocab.words import LeaseClass, Priority
from bailiwick.wire.work import LeaseRequest
from tests.support.http_house import HttpHouse, drop_budgets, http_house

OPERATOR, MEMBER, RIVAL = "fleet_operator", "project_member@lab", "project_member@rival"
HOME = "bot-home"
CELLS, REQUESTS, LETTERS = "/v1/cells", "/v1/global/requests", "/v1/cell/letters"
ASKED = {"tenant": "lab", "project": "p", "resources": {"cpu_milli": 1000}, "ttl_ms": 60_000}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as made:
        drop_budgets(made)
        yield made


@pytest.fixture
def home(house: HttpHouse) -> str:
    """The token of a service account that may be this cell's home, and nothing else."""
    house.do(people.SetRole("home", ScopeLevel.FLEET, (Permission.CELL_HOME,)))
    house.do(people.CreateAccount(HOME))
    house.do(people.SetMember(HOME, None, custom="home"))
    return house.token(HOME, kind=PrincipalKind.SERVICE_ACCOUNT)


def write(house: HttpHouse, token: str, **letter: Any) -> Any:
    body = {"home": "fleet-far", "epoch": 1, **letter}
    return post(house, token, LETTERS, body)


def post(house: HttpHouse, token: str, path: str, body: Any) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    return house.client.post(path, headers=headers, json=body)


def order(number: int, **more: Any) -> dict[str, Any]:
    return {"number": number, "global_id": 100 + number, "request": ASKED, **more}


def test_the_largest_letter_is_smaller_than_what_a_server_takes(
    house: HttpHouse, home: str
) -> None:
    grins = ["\U0001f600" * 124 + f"{number:03d}" for number in range(32)]
    wish = LeaseRequest(tenant="lab", gpu_count=1, gpu_models=grins)
    asked = submit_of(wish).request
    orders = tuple(Order(number, number, asked) for number in range(1, ORDERS_MAX + 1))
    letter = spell_letter(CellLetter("fleet-far", 1, 10, orders))
    assert 1 < len(letter.orders) < ORDERS_MAX
    text = letter.model_dump_json(exclude_defaults=True).encode()
    assert len(text) <= Bounds().body_bytes
    sent = {"Authorization": f"Bearer {home}", "Content-Type": "application/json"}
    answer = house.client.post(LETTERS, headers=sent, content=text)
    assert "counted until 10" in answer.json()["message"], "it was read"


# -- at home -----------------------------------------------------------------------------------


def test_a_cell_joins_is_shown_and_leaves(house: HttpHouse) -> None:
    body = {"cell": "west", "url": "https://west.example:7077/"}
    assert house.ask(OPERATOR, "POST", CELLS, json=body).status_code == 200
    assert house.ask(OPERATOR, "POST", CELLS, json=body).status_code == 409
    shown = house.ask("fleet_auditor", "GET", f"{CELLS}/west").json()
    assert (shown["url"], shown["standing"]) == ("https://west.example:7077", "cut_off")
    assert (shown["heard_ms"], shown["requests"]) == (None, 0)
    names = [row["cell"] for row in house.ask(OPERATOR, "GET", CELLS).json()["items"]]
    assert names == ["east", "west"]
    assert house.ask(OPERATOR, "POST", f"{CELLS}/west/leave", json={}).status_code == 200
    assert house.ask(OPERATOR, "GET", f"{CELLS}/west").status_code == 404


@pytest.mark.parametrize("url", ["http://west.example", "ftp://west", "west", "https://"])
def test_an_address_that_would_show_our_key_to_others_is_refused(
    house: HttpHouse, url: str
) -> None:
    body = {"cell": "west", "url": url}
    assert house.ask(OPERATOR, "POST", CELLS, json=body).status_code == 422
    assert house.ask(OPERATOR, "GET", f"{CELLS}/west").status_code == 404


def test_on_this_machine_plain_http_will_do(house: HttpHouse) -> None:
    body = {"cell": "west", "url": "http://127.0.0.1:7078"}
    assert house.ask(OPERATOR, "POST", CELLS, json=body).status_code == 200


def test_cells_are_the_fleets_business(house: HttpHouse) -> None:
    body = {"cell": "west", "url": "https://west.example"}
    for who in (MEMBER, "tenant_admin@lab", "fleet_auditor"):
        assert house.ask(who, "POST", CELLS, json=body).status_code == 403
        assert house.ask(who, "POST", f"{CELLS}/east/leave", json={}).status_code == 403
    assert house.ask(MEMBER, "GET", CELLS).status_code == 403


def test_a_cell_with_requests_leaves_only_as_lost(house: HttpHouse) -> None:
    house.do(ReachCell("east", 9, 0))
    house.do(SendGlobal(1, "east"))
    assert house.ask(OPERATOR, "POST", f"{CELLS}/east/leave", json={}).status_code == 409
    shown = house.ask(MEMBER, "GET", f"{REQUESTS}/1").json()
    assert (shown["status"], shown["cell"]) == ("sent", "east")
    lost = house.ask(OPERATOR, "POST", f"{CELLS}/east/leave", json={"lost": True})
    assert lost.status_code == 200
    assert house.ask(MEMBER, "GET", f"{REQUESTS}/1").status_code == 404


def test_a_request_is_asked_seen_by_its_people_and_withdrawn(house: HttpHouse) -> None:
    tried = house.ask(MEMBER, "POST", REQUESTS + "?dry_run=true", json=ASKED)
    assert (tried.status_code, tried.json()["global_id"]) == (201, None)
    key = {"Idempotency-Key": "once"}
    asked = house.ask(MEMBER, "POST", REQUESTS, json=ASKED, headers=key)
    assert asked.status_code == 201, asked.text
    number = asked.json()["global_id"]
    again = house.ask(MEMBER, "POST", REQUESTS, json=ASKED, headers=key)
    assert again.json() == asked.json(), "asked once, however often it is said"
    shown = house.ask(MEMBER, "GET", f"{REQUESTS}/{number}").json()
    assert (shown["status"], shown["cpu_milli"], shown["cell"]) == ("waiting", 1000, None)
    rows = house.ask(MEMBER, "GET", REQUESTS).json()["items"]
    assert [row["global_id"] for row in rows] == [1, number], "none of the other tenant's"
    assert house.ask(MEMBER, "DELETE", f"{REQUESTS}/{number}").status_code == 200
    assert house.ask(MEMBER, "GET", f"{REQUESTS}/{number}").status_code == 404


def test_who_has_a_budget_here_asks_no_cells(house: HttpHouse) -> None:
    house.do(SetBudget(Budget("lab", "p", limit_micros=1)))
    answer = house.ask(MEMBER, "POST", REQUESTS, json=ASKED)
    assert answer.status_code == 409
    assert "does not count what runs in cells" in answer.json()["message"]


def test_pages_of_requests_hold_each_once(house: HttpHouse) -> None:
    for _ in range(4):
        house.ask(MEMBER, "POST", REQUESTS, json=ASKED)
    found, cursor = [], ""
    for _ in range(9):
        page = house.ask(OPERATOR, "GET", f"{REQUESTS}?limit=2{cursor}").json()
        found += [row["global_id"] for row in page["items"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert found == [1, 2, 3, 4, 5, 6]


def test_anothers_request_is_not_there(house: HttpHouse) -> None:
    absent = house.ask(MEMBER, "GET", f"{REQUESTS}/99").json()
    foreign = house.ask(MEMBER, "GET", f"{REQUESTS}/2")
    assert foreign.status_code == 404
    assert foreign.json()["message"] == absent["message"]
    assert house.ask(MEMBER, "DELETE", f"{REQUESTS}/2").status_code == 404
    assert house.ask(RIVAL, "GET", f"{REQUESTS}/2").status_code == 200
    assert house.ask("project_viewer@lab", "DELETE", f"{REQUESTS}/1").status_code == 403


@pytest.mark.parametrize(
    "more", [{"wait": False}, {"scheduler_type": "batch"}, {"gang_size": 257}, {"resources": {}}]
)
def test_what_no_cell_could_be_asked_is_refused(house: HttpHouse, more: dict[str, Any]) -> None:
    answer = house.ask(MEMBER, "POST", REQUESTS, json={**ASKED, **more})
    assert answer.status_code == 422, answer.text


# -- in a cell -----------------------------------------------------------------------------------


def test_a_letter_is_carried_out_and_its_reply_tells_what_became_of_it(
    house: HttpHouse, home: str
) -> None:
    now_ms = write(house, home).json()["now_ms"]
    told = write(house, home, not_after_ms=now_ms + 60_000, orders=[order(1), order(2)])
    assert told.status_code == 200, told.text
    reply = told.json()
    assert (reply["epoch"], reply["done"]) == (1, 2)
    assert [news["global_id"] for news in reply["news"]] == [101, 102]
    assert {news["status"] for news in reply["news"]} == {"held"}
    again = write(house, home, not_after_ms=now_ms + 60_000, orders=[order(1), order(2)])
    assert again.json()["news"] == reply["news"], "each order is carried out once"
    back = [{"number": 3, "global_id": 101}, {"number": 4, "global_id": 102}]
    ended = write(house, home, not_after_ms=now_ms + 60_000, orders=back).json()
    assert ended["done"] == 4
    assert {news["status"] for news in ended["news"]} == {"ended"}
    heard = max(news["seq"] for news in ended["news"])
    assert write(house, home, heard=heard).json()["news"] == []
    assert house.ask(OPERATOR, "GET", "/v1/cell/home").json()["held"] == 0


def test_a_reply_tells_how_many_requests_there_are(house: HttpHouse, home: str) -> None:
    assert write(house, home).json()["held"] == 0
    late = {"not_after_ms": 2**52, "orders": [order(1), order(2)]}
    counted = write(house, home, **late).json()
    assert (counted["held"], counted["left"]) == (len(counted["news"]), 0) == (2, 0)


def test_one_key_does_not_stand_for_several_letters(house: HttpHouse, home: str) -> None:
    now_ms = write(house, home).json()["now_ms"]
    headers = {"Authorization": f"Bearer {home}", "Idempotency-Key": "same"}
    for number in (1, 2):
        body = {"home": "fleet-far", "epoch": 1, "not_after_ms": now_ms + 60_000}
        body |= {"orders": [order(number)]}
        told = house.client.post(LETTERS, headers=headers, json=body)
        assert (told.status_code, told.json()["done"]) == (200, number), told.text


def test_a_letter_that_is_tried_out_changes_nothing(house: HttpHouse, home: str) -> None:
    path, body = f"{LETTERS}?dry_run=true", {"home": "fleet-far", "epoch": 5}
    assert post(house, home, path, body).status_code == 200
    assert house.ask(OPERATOR, "GET", "/v1/cell/home").json()["epoch"] == 1


def test_what_comes_too_late_is_refused_and_what_was_done_before_it_is_told(
    house: HttpHouse, home: str
) -> None:
    now_ms = write(house, home).json()["now_ms"]
    write(house, home, not_after_ms=now_ms + 60_000, orders=[order(1)])
    back = {"number": 2, "global_id": 101}
    late = write(house, home, not_after_ms=now_ms - 1, orders=[back, order(3)])
    assert late.status_code == 409, late.text
    reply = write(house, home).json()
    assert (reply["done"], [news["status"] for news in reply["news"]]) == (2, ["ended"])


def test_an_order_of_another_epoch_or_out_of_turn_is_refused(house: HttpHouse, home: str) -> None:
    now_ms = write(house, home).json()["now_ms"]
    until = {"not_after_ms": now_ms + 60_000}
    assert write(house, home, **until, orders=[order(2)]).status_code == 409
    assert write(house, home, epoch=2).json()["epoch"] == 2
    assert write(house, home, epoch=1, **until, orders=[order(1)]).status_code == 409
    assert write(house, home, home="fleet-other", epoch=3).status_code == 409
    assert write(house, home, epoch=2).json()["done"] == 0


def test_only_the_home_writes_letters_and_it_may_do_nothing_else(
    house: HttpHouse, home: str
) -> None:
    body = {"home": "fleet-far", "epoch": 1}
    for who in (OPERATOR, MEMBER, "tenant_admin@lab"):
        assert house.ask(who, "POST", LETTERS, json=body).status_code == 403
        assert house.ask(who, "POST", "/v1/cell/offers", json=ASKED).status_code == 403
    headers = {"Authorization": f"Bearer {home}"}
    assert house.client.get("/v1/leases", headers=headers).status_code == 403
    assert house.client.get(CELLS, headers=headers).status_code == 403
    assert post(house, home, "/v1/leases", ASKED).status_code == 403


@pytest.mark.parametrize(
    "letter",
    [
        {"epoch": 0},
        {"orders": [{"number": 0, "global_id": 1}]},
        {"orders": [{"number": 1, "global_id": 1, "more": 1}]},
        {"orders": [{"number": n, "global_id": n} for n in range(1, 258)]},
        {"orders": [order(1, request={**ASKED, "scheduler_type": "batch"})]},
        {"heard": -2},
    ],
)
def test_a_letter_is_read_strictly(house: HttpHouse, home: str, letter: dict[str, Any]) -> None:
    assert write(house, home, **letter).status_code == 422


def test_an_offer_changes_nothing(house: HttpHouse, home: str) -> None:
    before = house.runner.read(lambda view: view.state.size)
    found = post(house, home, "/v1/cell/offers", ASKED)
    assert found.json()["offer"]["offer"] == "can_start", found.text
    large = {**ASKED, "resources": {"cpu_milli": 10**9}}
    none = post(house, home, "/v1/cell/offers", large).json()["offer"]
    assert (none["offer"], none["reason"]) == ("cannot_run", "exceeds_maximum")
    assert before == house.runner.read(lambda view: view.state.size)


def test_what_a_home_asks_for_is_bound_by_the_cells_own_ceilings_and_quotas(
    house: HttpHouse, home: str
) -> None:
    now_ms = write(house, home).json()["now_ms"]
    until = {"not_after_ms": now_ms + 60_000}
    narrow = Ceiling(priority_max=Priority.NORMAL, lease_classes=(LeaseClass.SPOT,))
    house.do(SetQuota("lab", Quota(limits=[ResourceLimit.cpu_cores(3)], ceiling=narrow)))
    terms = {"lease_class": "spot"}
    orders = [
        order(1, request={**ASKED, **terms, "priority": "critical"}),
        order(2, request=ASKED | {"lease_class": "guaranteed"}),
        order(3, request={**ASKED, **terms, "resources": {"cpu_milli": 9_000}}),
        order(4, request={**ASKED, **terms}),
    ]
    news = write(house, home, **until, orders=orders).json()["news"]
    assert [each["status"] for each in news] == ["turned_away"] * 3 + ["held"]
    for each in orders[:3]:
        found = post(house, home, "/v1/cell/offers", each["request"]).json()["offer"]
        assert found["offer"] != "can_start", each


def test_a_home_ends_nothing_that_it_did_not_ask_for(house: HttpHouse, home: str) -> None:
    now_ms = write(house, home).json()["now_ms"]
    before = house.runner.read(lambda view: list(view.state.leases))
    assert before
    back = [{"number": n, "global_id": lease} for n, lease in enumerate(before, 1)]
    told = write(house, home, not_after_ms=now_ms + 60_000, orders=back)
    assert (told.status_code, told.json()["done"]) == (200, len(back))
    assert house.runner.read(lambda view: list(view.state.leases)) == before


def test_a_tenant_that_is_not_here_is_offered_nothing(house: HttpHouse, home: str) -> None:
    stranger = {**ASKED, "tenant": "nobody"}
    found = post(house, home, "/v1/cell/offers", stranger).json()["offer"]
    assert (found["offer"], found["reason"]) == ("cannot_run", "forbidden")


def test_the_cells_operator_parts_it_from_its_home(house: HttpHouse, home: str) -> None:
    now_ms = write(house, home).json()["now_ms"]
    write(house, home, not_after_ms=now_ms + 60_000, orders=[order(1)])
    assert house.ask(OPERATOR, "GET", "/v1/cell/home").json() == {
        "home": "fleet-far",
        "epoch": 1,
        "done": 1,
        "held": 1,
    }
    assert house.ask(MEMBER, "DELETE", "/v1/cell/home").status_code == 403
    assert house.ask(OPERATOR, "DELETE", "/v1/cell/home").status_code == 409
    write(house, home, orders=[{"number": 2, "global_id": 101}])
    assert house.ask(OPERATOR, "DELETE", "/v1/cell/home").status_code == 200
    assert house.ask(OPERATOR, "GET", "/v1/cell/home").status_code == 404


def test_joining_twice_under_one_name_is_no_other_cell(house: HttpHouse) -> None:
    house.do(JoinCell("north", "https://north.example"))
    body = {"cell": "north", "url": "https://elsewhere.example"}
    assert house.ask(OPERATOR, "POST", CELLS, json=body).status_code == 409
    assert house.ask(OPERATOR, "GET", f"{CELLS}/north").json()["url"] == "https://north.example"


def test_metrics_tell_which_cells_are_reached_and_how_long_requests_wait(house: HttpHouse) -> None:
    house.do(JoinCell("south", "https://south.example"))
    cut_off = house.ask(OPERATOR, "GET", CELLS).json()["items"]
    text = house.ask("fleet_admin", "GET", "/metrics").text
    count = sum(each["standing"] == "cut_off" for each in cut_off)
    waiting = house.ask("fleet_admin", "GET", REQUESTS).json()["items"]
    assert f'bailiwick_cells{{standing="cut_off"}} {count}.0' in text
    there = sum(each["status"] == "waiting" for each in waiting)
    assert f"bailiwick_global_waiting_requests {there}.0" in text
    assert re.search(r"bailiwick_global_waiting_oldest_seconds \d", text)
