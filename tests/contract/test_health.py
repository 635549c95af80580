"""Health over the API: what an agent tells, its test, who may, and what is shown of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.kernel import Tick
from bailiwick.runtime.gateway import Gateway
from bailiwick.server.http.gauges import GaugeReader
from tests.contract.test_mig import MACHINE
from tests.contract.test_operating import as_node
from tests.support.http_house import HttpHouse, http_house
from tests.support.waiting import WAIT_S

OPERATOR = "fleet_operator"
ECC = {"check": "ecc", "level": "fail", "gpu": 0, "value": 2, "limit": 0, "code": 0}
HOT = {"check": "thermal", "level": "warn", "gpu": 0, "value": 88, "limit": 85, "code": 0}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as made:
        yield made


@pytest.fixture
def node(house: HttpHouse) -> dict[str, str]:
    """The headers of an agent whose machine has joined with one GPU."""
    headers = as_node(house, "g1")
    said = house.client.put("/v1/nodes/g1/inventory", json=MACHINE, headers=headers)
    assert said.status_code == 200, said.text
    return headers


def tell(house: HttpHouse, node: dict[str, str], *findings: Any, can_test: bool = True) -> Any:
    body = {"findings": list(findings), "can_test": can_test}
    return house.client.post("/v1/nodes/g1/health", json=body, headers=node)


def answer(house: HttpHouse, node: dict[str, str], *findings: Any, test_id: int) -> Any:
    body = {"test_id": test_id, "findings": list(findings), "took_ms": 4_000}
    return house.client.post("/v1/nodes/g1/test", json=body, headers=node)


def shown(house: HttpHouse, who: str = OPERATOR) -> Any:
    return house.ask(who, "GET", "/v1/nodes/g1").json()


def order(house: HttpHouse, node: dict[str, str]) -> Any:
    said = house.client.post("/v1/nodes/g1/heartbeat", headers=node)
    assert said.status_code == 200, said.text
    return said.json().get("test")


def opened(house: HttpHouse, query: str = "") -> Any:
    return house.ask(OPERATOR, "POST", f"/v1/nodes/g1/open{query}")


def test_what_fails_a_machine_closes_its_node_and_a_passed_test_opens_it(
    house: HttpHouse, node: dict[str, str]
) -> None:
    said = tell(house, node, HOT, ECC)
    assert said.status_code == 200, said.text
    house.do(Tick())
    found = shown(house)
    assert (found["mode"], found["health"]["closed"]) == ("drained", "drain")
    assert found["health"]["findings"] == [ECC, HOT]
    assert order(house, node) is None
    tried = opened(house, "?dry_run=true")
    assert (tried.status_code, tried.json()["mode"]) == (200, "returning"), tried.text
    (room,) = tried.json()["consequence"]["room"]
    assert room["free_after_milli"] == room["free_milli"]
    untested = opened(house, "?dry_run=true&untested=true")
    assert untested.json()["mode"] == "accepting"
    assert shown(house)["mode"] == "drained"
    told = opened(house)
    assert (told.status_code, told.json()["mode"]) == (200, "returning")
    wanted = order(house, node)
    assert wanted == {"test_id": shown(house)["health"]["test"]["test_id"]}
    assert answer(house, node, test_id=wanted["test_id"] + 1).status_code == 409
    done = answer(house, node, HOT, test_id=wanted["test_id"])
    assert done.status_code == 200, done.text
    found = shown(house)
    assert (found["mode"], found["health"]["closed"]) == ("accepting", "none")
    assert [e["outcome"] for e in found["health"]["tests"]] == ["passed"]
    assert order(house, node) is None
    assert answer(house, node, test_id=wanted["test_id"]).status_code == 404


def test_a_node_that_failed_its_test_is_taken_untested_only_by_word(
    house: HttpHouse, node: dict[str, str]
) -> None:
    tell(house, node, ECC)
    house.do(Tick())
    opened(house)
    answer(house, node, ECC, test_id=order(house, node)["test_id"])
    assert shown(house)["mode"] == "returning"
    by_hand = house.ask(OPERATOR, "PUT", "/v1/nodes/g1/mode", json={"mode": "accepting"})
    assert by_hand.status_code == 409, by_hand.text
    again = house.ask(OPERATOR, "PUT", "/v1/nodes/g1/test")
    assert again.status_code == 200, again.text
    assert order(house, node) == {"test_id": again.json()["seq"]}
    told = opened(house, "?untested=true")
    assert (told.status_code, told.json()["mode"]) == (200, "accepting")
    assert order(house, node) is None


def test_what_is_told_too_often_is_told_again_later(house: HttpHouse, node: dict[str, str]) -> None:
    assert tell(house, node, HOT).status_code == 200
    assert tell(house, node, HOT).json()["seq"] is None
    said = tell(house, node)
    assert said.status_code == 429, said.text
    assert tell(house, node, ECC).status_code == 200


def test_an_agent_tells_of_its_own_machine_alone(house: HttpHouse, node: dict[str, str]) -> None:
    other = as_node(house, "n1")
    assert tell(house, other, ECC).status_code == 403
    assert answer(house, other, test_id=1).status_code == 403
    for who in ("project_member@lab", "tenant_admin@lab"):
        said = house.ask(who, "POST", "/v1/nodes/g1/health", json={"findings": [ECC]})
        assert said.status_code in (403, 404)
        assert house.ask(who, "PUT", "/v1/nodes/g1/test").status_code in (403, 404)
        assert house.ask(who, "GET", "/v1/nodes/g1/ticket").status_code in (403, 404)
    assert shown(house)["mode"] == "accepting"


def test_health_is_told_to_who_may_read_the_fleet(house: HttpHouse, node: dict[str, str]) -> None:
    assert shown(house).get("health") is None
    tell(house, node, HOT)
    assert shown(house)["health"]["findings"] == [HOT]
    assert shown(house, "project_member@lab").get("health") is None


def test_a_node_that_two_checks_fail_is_told_as_one_node(
    house: HttpHouse, node: dict[str, str]
) -> None:
    def told() -> tuple[Any, Any]:
        reader = GaugeReader(Gateway(house.runner, wait_s=WAIT_S), wait_s=WAIT_S)
        found = asyncio.run(reader.read(None)).values
        return found["bailiwick_health_failing_nodes"], found["bailiwick_node_health_findings"]

    tell(house, node, HOT)
    assert told() == ({(): 0}, {("thermal", "warn"): 1})
    assert tell(house, node, HOT, ECC, {**ECC, "check": "xid", "code": 79}).status_code == 200
    assert told() == ({(): 1}, {("thermal", "warn"): 1, ("ecc", "fail"): 1, ("xid", "fail"): 1})


def test_a_ticket_tells_what_was_found_and_names_no_tenant(
    house: HttpHouse, node: dict[str, str]
) -> None:
    tell(house, node, ECC)
    said = house.ask(OPERATOR, "GET", "/v1/nodes/g1/ticket")
    assert said.status_code == 200, said.text
    told = said.json()
    assert told["title"] == "Node g1: memory errors that could not be corrected"
    for part in ("GPU 0", "It has failed since", "0 leases there", "bailiwick node uncordon g1"):
        assert part in told["text"]
    assert "lab" not in told["text"]


def test_what_no_machine_can_say_is_refused(house: HttpHouse, node: dict[str, str]) -> None:
    assert tell(house, node, {**ECC, "check": "mood"}).status_code == 422
    assert tell(house, node, {**ECC, "gpu": 64}).status_code == 422
    assert tell(house, node, ECC, ECC).status_code == 422
    assert tell(house, node, *({**ECC, "code": i} for i in range(65))).status_code == 422
    assert house.ask(OPERATOR, "PUT", "/v1/nodes/g1/test").status_code == 409
    assert opened(house, "?untested=perhaps").status_code == 422
