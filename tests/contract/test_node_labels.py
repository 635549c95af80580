"""Labels that operators give nodes, over the API: who may, what is shown, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_house import HttpHouse, http_house

OPERATOR = "fleet_operator"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as made:
        yield made


def label(house: HttpHouse, who: str, query: str = "", **change: Any) -> Any:
    return house.ask(who, "PATCH", f"/v1/nodes/n1/labels{query}", json=change)


def node(house: HttpHouse) -> Any:
    return house.ask(OPERATOR, "GET", "/v1/nodes/n1").json()


def test_an_operator_gives_and_takes_labels_and_each_change_is_sealed(house: HttpHouse) -> None:
    own = node(house)["labels"]
    assert label(house, OPERATOR, "?dry_run=true", put=["pool=fast"]).status_code == 200
    assert node(house)["labels"] == own
    assert label(house, OPERATOR, put=["pool=fast", "tier=1"]).status_code == 200
    assert node(house)["labels_given"] == ["pool=fast", "tier=1"]
    assert node(house)["labels"] == sorted([*own, "pool=fast", "tier=1"])
    assert label(house, OPERATOR, put=["pool=slow"], drop=["tier"]).status_code == 200
    assert node(house)["labels_given"] == ["pool=slow"]
    told = [(row["labels_before"], row["labels"]) for row in house.records("node_labelled")]
    assert told == [([], ["pool=fast", "tier=1"]), (["pool=fast", "tier=1"], ["pool=slow"])]


def test_a_request_is_taken_once_a_node_has_the_label_that_it_asks_for(house: HttpHouse) -> None:
    asked = {"tenant": "lab", "project": "p", "resources": {"cpu_milli": 1_000}}
    asked["labels"] = ["pool=fast"]
    before = house.ask("project_member@lab", "POST", "/v1/leases", json=asked)
    assert before.status_code == 409
    label(house, OPERATOR, put=["pool=fast"])
    # It is taken, though one that asked for nearly all of the machine goes first.
    after = house.ask("project_member@lab", "POST", "/v1/leases", json=asked)
    assert after.status_code == 202


@pytest.mark.parametrize(
    "key", ["node-name", "runs-jobs", "executor", "job-mode", "heartbeat", "host-members", "rack"]
)
def test_keys_of_the_platform_and_of_the_machine_are_no_operators(
    house: HttpHouse, key: str
) -> None:
    refused = label(house, "fleet_admin", put=[f"{key}=yes"])
    assert refused.status_code == 422
    assert key in refused.json()["message"]
    assert label(house, "fleet_admin", put=[f"attested.{key}=yes"]).status_code == 422
    assert label(house, "fleet_admin", put=[f"bailiwick.{key}=yes"]).status_code == 422
    assert node(house)["labels_given"] == []


def test_nobody_of_a_tenant_labels_a_node(house: HttpHouse) -> None:
    for who in ("tenant_admin@lab", "project_admin@lab", "fleet_auditor"):
        assert label(house, who, put=["pool=mine"]).status_code == 403
    assert node(house)["labels_given"] == []


def test_what_changes_nothing_or_is_not_there_is_told(house: HttpHouse) -> None:
    assert label(house, OPERATOR).status_code == 422
    assert (
        house.ask(OPERATOR, "PATCH", "/v1/nodes/n7/labels", json={"put": ["a=b"]}).status_code
        == 404
    )


def test_the_same_labels_again_change_nothing_and_are_not_recorded(house: HttpHouse) -> None:
    first = label(house, OPERATOR, put=["pool=a"])
    assert first.json()["labels"] == [{"key": "pool", "was": None, "now": "a"}]
    for query in ("", "?dry_run=true"):
        again = label(house, OPERATOR, query, put=["pool=a"])
        assert (again.status_code, again.json()["seq"]) == (200, None), again.text
        assert again.json()["labels"] == [{"key": "pool", "was": "a", "now": "a"}]
    taken = label(house, OPERATOR, put=["pool=b"], drop=["tier"])
    assert taken.json()["labels"][0] == {"key": "pool", "was": "a", "now": "b"}
    for _ in range(2):
        assert label(house, OPERATOR, drop=["pool"]).status_code == 200
    assert len(house.records("node_labelled")) == 3
    assert label(house, OPERATOR, put=["pool=b"]).json()["seq"] is not None


def test_a_node_that_is_cordoned_already_is_left_without_a_record(house: HttpHouse) -> None:
    def cordon(query: str = "") -> Any:
        return house.ask(OPERATOR, "PUT", f"/v1/nodes/n1/mode{query}", json={"mode": "cordoned"})

    assert cordon().json()["seq"] is not None
    before = len(house.records("node_mode_changed"))
    again = cordon()
    assert (again.status_code, again.json()["seq"]) == (200, None), again.text
    assert cordon("?dry_run=true").status_code == 200
    assert len(house.records("node_mode_changed")) == before
    refused = house.ask("fleet_auditor", "PUT", "/v1/nodes/n1/mode", json={"mode": "cordoned"})
    assert refused.status_code == 403
