"""What a tenant is told as free is what it could be given now, and tells no more of others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_house import FOREIGN, OWN, HttpHouse, http_house

ME, OTHER = f"project_member@{OWN}", f"project_member@{FOREIGN}"
GPUS = [{"generation": "nvidia_hopper", "vram_bytes": 2**36}] * 8


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as made:
        for entry_id in (1, 2):  # those that wait would take what is free meanwhile
            made.plain("cancel", entry_id=entry_id)
        for node, zone in (("g1", "outer"), ("g2", "inner")):
            body = {"resources": {"cpu_milli": 64_000, "mem_bytes": 2**40}, "gpus": GPUS}
            body |= {"node": node, "labels": [f"zone={zone}"]}
            assert made.ask("fleet_admin", "POST", "/v1/nodes", json=body).status_code == 200
        yield made


def take(house: HttpHouse, who: str, count: int) -> Any:
    tenant = who.partition("@")[2]
    body = {"tenant": tenant, "project": "p", "resources": {}, "gpu_count": count}
    body |= {"gpu_generation": "nvidia_hopper", "priority": "high"}
    return house.ask(who, "POST", "/v1/leases", json=body)


def taken(house: HttpHouse, who: str, count: int) -> None:
    got = take(house, who, count)
    assert got.status_code == 201, got.text


def free(house: HttpHouse, who: str) -> dict[str, int]:
    rows = house.ask(who, "GET", "/v1/nodes").json()["items"]
    found = {row["node"]: row["free"]["gpu_milli"] // 1000 for row in rows if row["gpus"]}
    for row in rows:
        one = house.ask(who, "GET", f"/v1/nodes/{row['node']}").json()
        assert (one["free"], one["gpus_free_milli"]) == (row["free"], row["gpus_free_milli"])
        assert sum(row["gpus_free_milli"]) == row["free"]["gpu_milli"]
    return found


def test_what_another_tenant_holds_is_free_for_nobody(house: HttpHouse) -> None:
    assert free(house, ME) == {"g1": 8, "g2": 8}
    taken(house, OTHER, 5)
    for who in (ME, OTHER, "fleet_operator", f"tenant_admin@{OWN}"):
        assert sum(free(house, who).values()) == 11
    taken(house, ME, 2)
    assert sum(free(house, ME).values()) == 9


def test_all_that_is_told_as_free_can_be_had_and_not_one_more(house: HttpHouse) -> None:
    taken(house, OTHER, 5)
    for _ in range(sum(free(house, ME).values())):
        taken(house, ME, 1)
    assert sum(free(house, ME).values()) == 0
    assert take(house, ME, 1).status_code != 201


def test_nobody_is_told_who_holds_what_is_not_free(house: HttpHouse) -> None:
    taken(house, OTHER, 5)
    before = house.ask(ME, "GET", "/v1/nodes").json()
    assert FOREIGN not in json.dumps(before)
    taken(house, ME, 1)
    mine = house.ask(ME, "GET", "/v1/leases").json()["items"]
    assert all(row["tenant"] == OWN for row in mine)


def test_a_machine_that_a_policy_closes_looks_like_a_full_one(house: HttpHouse) -> None:
    text = f"apart: tenant {OWN} only on nodes with zone=inner"
    put = house.ask("fleet_operator", "PUT", "/v1/isolation/policy", json={"text": text})
    assert put.status_code == 200, put.text
    assert free(house, ME) == {"g1": 0, "g2": 8}
    assert free(house, OTHER) == {"g1": 8, "g2": 8}
    assert free(house, "fleet_operator") == {"g1": 8, "g2": 8}
    closed = house.ask(ME, "GET", "/v1/nodes/g1").json()
    assert closed["free"] == dict.fromkeys(closed["free"], 0)
    for _ in range(8):
        taken(house, ME, 1)
    full = house.ask(ME, "GET", "/v1/nodes/g2").json()
    assert full["gpus_free_milli"] == closed["gpus_free_milli"] == [0] * 8


def test_who_works_for_two_tenants_is_told_what_either_could_be_given(house: HttpHouse) -> None:
    text = f"a: tenant {OWN} only on nodes with zone=inner\n"
    text += f"b: tenant {FOREIGN} only on nodes with zone=outer"
    put = house.ask("fleet_operator", "PUT", "/v1/isolation/policy", json={"text": text})
    assert put.status_code == 200, put.text
    for tenant in (OWN, FOREIGN):
        house.plain("set_member", member="both", role="project_viewer", tenant=tenant, project="p")
    assert free(house, ME) == {"g1": 0, "g2": 8}
    assert free(house, "both") == {"g1": 8, "g2": 8}


def test_a_closed_machine_gives_nothing_and_a_closed_project_gets_nothing(house: HttpHouse) -> None:
    mode = {"mode": "draining", "evict": False}
    assert house.ask("fleet_operator", "PUT", "/v1/nodes/g1/mode", json=mode).status_code == 200
    assert free(house, ME) == {"g1": 0, "g2": 8}
    house.plain("change_project", tenant=OWN, project="p", is_open=False)
    assert free(house, ME) == {"g1": 0, "g2": 0}
