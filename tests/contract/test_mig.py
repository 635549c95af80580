"""MIG profiles over the API: who may, who would go, what an agent is told, what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.kernel import Tick
from tests.contract.test_operating import as_node
from tests.support.http_house import HttpHouse, http_house

OPERATOR = "fleet_operator"
WISH = {"gpus": [0], "profiles": ["3g.71gb", "4g.71gb"], "grace_ms": 0}
MACHINE = {
    "resources": {"cpu_milli": 8_000, "mem_bytes": 2**34},
    "gpus": [{"generation": "nvidia_hopper", "partitionable": False}],
}
DIVIDED = {**MACHINE, "gpus": [{"generation": "nvidia_hopper", "partitionable": True}]}


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


def change(house: HttpHouse, who: str = OPERATOR, query: str = "", **more: Any) -> Any:
    return house.ask(who, "POST", f"/v1/nodes/g1/mig{query}", json={**WISH, **more})


def shown(house: HttpHouse) -> Any:
    return house.ask(OPERATOR, "GET", "/v1/nodes/g1").json()


def order(house: HttpHouse, node: dict[str, str]) -> Any:
    said = house.client.post("/v1/nodes/g1/heartbeat", headers=node)
    assert said.status_code == 200, said.text
    return said.json().get("mig")


def answer(house: HttpHouse, node: dict[str, str], **told: Any) -> Any:
    return house.client.post("/v1/nodes/g1/mig/outcome", json=told, headers=node)


def test_an_order_reaches_the_agent_once_its_node_is_empty_and_its_answer_opens_the_node(
    house: HttpHouse, node: dict[str, str]
) -> None:
    assert order(house, node) is None
    done = change(house)
    assert done.status_code == 200, done.text
    house.do(Tick())
    house.do(Tick())
    wanted = order(house, node)
    assert wanted == {
        "change_id": done.json()["seq"],
        "gpus": [0],
        "profiles": WISH["profiles"],
    }
    found = shown(house)
    assert (found["mode"], found["mig"]["phase"]) == ("maintenance", "repartitioning")
    told = answer(house, node, change_id=wanted["change_id"], inventory=DIVIDED)
    assert told.status_code == 200, told.text
    found = shown(house)
    assert (found["mode"], found["mig"]) == ("accepting", None)
    assert found["gpus"][0]["partitionable"] is True
    assert order(house, node) is None
    assert [row["outcome"] for row in house.records("mig_change_ended")] == ["done"]
    again = answer(house, node, change_id=wanted["change_id"], inventory=DIVIDED)
    assert again.status_code == 404


def test_a_failure_is_shown_with_its_cause_until_somebody_opens_the_node(
    house: HttpHouse, node: dict[str, str]
) -> None:
    number = change(house).json()["seq"]
    house.do(Tick())
    house.do(Tick())
    assert answer(house, node, change_id=number, cause="in_use").status_code == 200
    found = shown(house)
    assert (found["mode"], found["mig"]["phase"]) == ("maintenance", "failed")
    assert found["mig"]["cause"] == "in_use"
    assert house.ask(OPERATOR, "POST", "/v1/nodes/g1/open").status_code == 200
    assert shown(house)["mig"] is None


def test_a_dry_run_tells_who_would_go_and_changes_nothing(
    house: HttpHouse, node: dict[str, str]
) -> None:
    tried = change(house, query="?dry_run=true")
    assert tried.status_code == 200, tried.text
    assert tried.json()["consequence"]["leaving"] == 0
    assert shown(house)["mode"] == "accepting"


def test_only_who_may_drain_may_divide_and_only_the_node_itself_may_answer(
    house: HttpHouse, node: dict[str, str]
) -> None:
    assert change(house, "project_member@lab").status_code in (403, 404)
    number = change(house).json()["seq"]
    house.do(Tick())
    house.do(Tick())
    other = as_node(house, "n1")
    assert answer(house, other, change_id=number, cause="in_use").status_code == 403
    assert house.ask("fleet_operator", "DELETE", "/v1/nodes/g1/mig").status_code == 200
    assert shown(house)["mode"] == "maintenance"


def test_what_cannot_be_is_refused(house: HttpHouse, node: dict[str, str]) -> None:
    assert change(house, gpus=[]).status_code == 422
    assert change(house, profiles=["half"]).status_code == 422
    assert change(house, gpus=[7]).status_code == 409
    assert change(house).status_code == 200
    assert change(house).status_code == 409
    assert house.ask(OPERATOR, "POST", "/v1/nodes/g1/open").status_code == 409
