"""Cordons, ways back, notes, holders and labels to choose by, over the API: who may, who sees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.kernel import Tick
from tests.support.http_house import HttpHouse, http_house

OPERATOR, AUDITOR, MEMBER = "fleet_operator", "fleet_auditor", "project_member@lab"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as made:
        yield made


def mode(house: HttpHouse, wanted: str, query: str = "", *, node: str = "n1", **more: Any) -> Any:
    body = {"mode": wanted, **more}
    return house.ask(OPERATOR, "PUT", f"/v1/nodes/{node}/mode{query}", json=body)


def open_again(house: HttpHouse, who: str = OPERATOR, query: str = "", *, node: str = "n1") -> Any:
    return house.ask(who, "POST", f"/v1/nodes/{node}/open{query}")


def node(house: HttpHouse, who: str = OPERATOR, *, name: str = "n1") -> Any:
    return house.ask(who, "GET", f"/v1/nodes/{name}").json()


def add(house: HttpHouse, name: str, *labels: str) -> None:
    body = {"node": name, "resources": {"cpu_milli": 1000}, "labels": list(labels)}
    assert house.ask("fleet_admin", "POST", "/v1/nodes", json=body).status_code == 200


# --- modes --------------------------------------------------------------------------------------


def test_a_cordon_ends_nothing_and_looks_different_from_a_drain(house: HttpHouse) -> None:
    before = node(house)["leases"]
    assert before > 0
    told = mode(house, "cordoned", "?dry_run=true").json()["consequence"]
    assert (told["leaving"], told["staying"]) == (0, before)
    assert node(house)["mode"] == "accepting"
    assert mode(house, "cordoned").status_code == 200
    found = node(house)
    assert (found["mode"], found["takes_leases"], found["leases"]) == ("cordoned", False, before)


def test_a_node_is_opened_from_wherever_it_is_and_each_edge_is_sealed(house: HttpHouse) -> None:
    add(house, "m1")
    for wanted in ("draining", "maintenance"):
        assert mode(house, wanted, node="m1").status_code == 200
    told = open_again(house, query="?dry_run=true", node="m1").json()
    assert told["consequence"]["leaving"] == 0
    assert node(house, name="m1")["mode"] == "maintenance"
    assert open_again(house, node="m1").status_code == 200
    edges = [(r["before"], r["after"]) for r in house.records("node_mode_changed")]
    assert edges[-2:] == [("maintenance", "returning"), ("returning", "accepting")]
    refused = open_again(house, node="m1")
    assert (refused.status_code, refused.json()["code"]) == (409, "illegal_transition")


def test_a_quarantined_node_is_not_opened(house: HttpHouse) -> None:
    add(house, "m1")
    mode(house, "cordoned", node="m1")
    body = {"reason": "odd"}
    house.ask(OPERATOR, "PUT", "/v1/nodes/m1/quarantine", json=body)
    refused = open_again(house, node="m1")
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert "quarantined" in refused.json()["message"]


def test_nobody_of_a_tenant_opens_a_node(house: HttpHouse) -> None:
    for who in ("tenant_admin@lab", "project_admin@lab", AUDITOR):
        assert open_again(house, who).status_code == 403


# --- notes --------------------------------------------------------------------------------------


def note(house: HttpHouse, text: str, who: str = OPERATOR, query: str = "") -> Any:
    body = {"text": text, "ttl_ms": 60_000}
    return house.ask(who, "POST", f"/v1/nodes/n1/notes{query}", json=body)


def test_a_note_names_who_wrote_it_and_is_ended_by_its_number(house: HttpHouse) -> None:
    note(house, "tried", query="?dry_run=true")
    assert node(house)["notes"] == []
    number = note(house, "fan 2 is loud").json()["seq"]
    (told,) = node(house)["notes"]
    assert (told["note_id"], told["text"], told["author"]) == (number, "fan 2 is loud", OPERATOR)
    assert told["until_ms"] - told["since_ms"] == 60_000
    ended = house.ask("fleet_admin", "DELETE", f"/v1/nodes/n1/notes/{number}")
    assert ended.status_code == 200
    assert node(house)["notes"] == []
    assert house.ask(OPERATOR, "DELETE", f"/v1/nodes/n1/notes/{number}").status_code == 404


def test_notes_are_of_those_who_run_the_fleet_for_each_other(house: HttpHouse) -> None:
    note(house, "lab broke it")
    assert len(node(house, AUDITOR)["notes"]) == 1
    assert node(house, MEMBER)["notes"] == []
    rows = house.ask("tenant_admin@lab", "GET", "/v1/nodes").json()["items"]
    assert all(row["notes"] == [] for row in rows)
    for who in ("tenant_admin@lab", AUDITOR):
        assert note(house, "mine", who).status_code == 403


@pytest.mark.parametrize("text", ["", "   ", "a\nb", "x" * 241, "\x1b[31m"])
def test_what_is_not_one_line_is_no_note(house: HttpHouse, text: str) -> None:
    assert note(house, text).status_code == 422


# --- holders ------------------------------------------------------------------------------------


def test_who_runs_the_fleet_sees_every_holder_and_a_tenant_its_own(house: HttpHouse) -> None:
    everything = node(house)
    tenants = {held["tenant"] for held in everything["holders"]}
    assert {"lab", "rival"} <= tenants
    assert everything["leases"] == len(everything["holders"])
    own = node(house, "tenant_admin@lab")
    assert {held["tenant"] for held in own["holders"]} == {"lab"}
    assert 0 < own["leases"] < everything["leases"]
    mine = [held for held in everything["holders"] if held["tenant"] == "lab"]
    assert own["holders"] == mine
    listed = house.ask("tenant_admin@lab", "GET", "/v1/nodes").json()["items"]
    assert all(held["tenant"] == "lab" for row in listed for held in row["holders"])


def test_of_each_device_it_is_told_what_is_held(house: HttpHouse) -> None:
    body = {
        "node": "g1",
        "resources": {"cpu_milli": 8000, "mem_bytes": 2**34},
        "gpus": [{"generation": "nvidia_hopper"}] * 2,
        "labels": ["zone=g"],
    }
    house.ask("fleet_admin", "POST", "/v1/nodes", json=body)
    asked = {"tenant": "lab", "project": "p", "gpu_count": 1, "labels": ["zone=g"]}
    asked |= {"resources": {"cpu_milli": 1000}}
    got = house.ask(MEMBER, "POST", "/v1/leases", json=asked)
    assert got.status_code == 202, got.text  # others wait before it, for another node
    house.do(Tick())
    found = node(house, name="g1")
    assert sorted(found["gpus_held_milli"]) == [0, 1000]
    (held,) = found["holders"]
    assert (held["tenant"], held["project"], held["device_milli"]) == ("lab", "p", 1000)
    assert found["gpus_held_milli"][held["devices"][0]] == 1000
    other = node(house, "tenant_admin@rival", name="g1")
    assert (other["gpus_held_milli"], other["holders"], other["leases"]) == ([0, 0], [], 0)


# --- chosen by label ----------------------------------------------------------------------------


def names(house: HttpHouse, query: str) -> list[str]:
    return [row["node"] for row in house.ask(OPERATOR, "GET", f"/v1/nodes{query}").json()["items"]]


def test_nodes_are_listed_by_all_the_labels_that_are_asked_for(house: HttpHouse) -> None:
    for name, rack in (("a1", "r7"), ("a2", "r7"), ("b1", "r8")):
        add(house, name, f"rack={rack}")
    body = {"put": ["pool=fast"]}
    house.ask(OPERATOR, "PATCH", "/v1/nodes/a2/labels", json=body)
    assert names(house, "?label=rack%3Dr7") == ["a1", "a2"]
    assert names(house, "?label=rack%3Dr7&limit=1") == ["a1"]
    assert names(house, "?label=rack%3Dr7&limit=1&cursor=a1") == ["a2"]
    assert names(house, "?label=rack%3Dr7&label=pool%3Dfast") == ["a2"]
    assert names(house, "?label=node-name%3Db1") == ["b1"]
    assert names(house, "?label=rack%3Dr9") == []
    for wrong in ("?label=rack", "?label=a%3Db&label=a%3Dc", "?" + "label=a%3Db&" * 17):
        assert house.ask(OPERATOR, "GET", f"/v1/nodes{wrong}").status_code == 422, wrong
