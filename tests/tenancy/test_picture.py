"""The picture of the fleet: all of it for who may see all, and nobody else's for anybody else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.wire.fleet import Picture
from tests.support.http_house import FOREIGN, OWN, HttpHouse, http_house
from tests.tenancy.test_free_room import ME, OTHER, taken

PATH = "/v1/fleet/picture"
GPUS = [{"generation": "nvidia_hopper", "vram_bytes": 2**36}] * 8
OLD = [{"generation": "nvidia_ampere", "vram_bytes": 2**36}] * 2


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as made:
        for entry_id in (1, 2):  # those that wait would take what is free meanwhile
            made.plain("cancel", entry_id=entry_id)
        for node, gpus in (("g2", GPUS), ("g1", GPUS), ("g3", OLD)):
            body = {"resources": {"cpu_milli": 64_000, "mem_bytes": 2**40}, "gpus": gpus}
            told = made.ask("fleet_admin", "POST", "/v1/nodes", json=body | {"node": node})
            assert told.status_code == 200
        yield made


def seen(house: HttpHouse, who: str) -> Any:
    told = house.ask(who, "GET", PATH)
    assert told.status_code == 200, told.text
    Picture.model_validate_json(told.content)
    return told.json()


def rows(house: HttpHouse, who: str, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = house.ask(who, "GET", f"{path}?limit=500").json()["items"]
    return found


def as_nodes(drawn: Any) -> list[tuple[Any, ...]]:
    """The nodes of a picture, one by one."""
    nodes = drawn["nodes"]
    return [
        (
            nodes["node"][at],
            drawn["kinds"][nodes["kind"][at]],
            drawn["modes"][nodes["mode"][at]],
            bool(nodes["quarantined"][at]),
            bool(nodes["takes_leases"][at]),
            drawn["attestations"][nodes["attestation"][at]],
        )
        for at in range(len(nodes["node"]))
    ]


def as_leases(drawn: Any) -> list[tuple[Any, ...]]:
    """The leases of a picture, one by one."""
    held = drawn["held"]
    return [
        (
            held["lease_id"][at],
            drawn["nodes"]["node"][held["node"][at]],
            [device for device in range(16) if held["devices"][at] >> device & 1],
            drawn["tenants"][held["tenant"][at]],
            drawn["lease_classes"][held["lease_class"][at]],
            bool(held["ending"][at]),
        )
        for at in range(len(held["lease_id"]))
    ]


def listed_nodes(house: HttpHouse, who: str) -> list[tuple[Any, ...]]:
    names = ("mode", "quarantined", "takes_leases", "attestation")
    return [
        (row["node"], [gpu["generation"] for gpu in row["gpus"]], *(row[name] for name in names))
        for row in rows(house, who, "/v1/nodes")
    ]


def listed_leases(house: HttpHouse, who: str) -> list[tuple[Any, ...]]:
    names = ("lease_id", "node", "devices", "tenant", "lease_class")
    return [
        (*(row[name] for name in names), row["state"] != "active")
        for row in rows(house, who, "/v1/leases")
        if row["devices"]
    ]


def test_it_shows_what_the_lists_show_whatever_happened_before(house: HttpHouse) -> None:
    taken(house, OTHER, 5)
    taken(house, ME, 2)
    taken(house, ME, 1)
    taken(house, OTHER, 3)
    house.ask("fleet_operator", "PUT", "/v1/nodes/g3/mode", json={"mode": "draining"})
    house.ask("fleet_operator", "PUT", "/v1/nodes/g1/mode", json={"mode": "draining"})
    house.ask("fleet_operator", "PUT", "/v1/nodes/g2/quarantine", json={"reason": "doubt"})
    gone = rows(house, ME, "/v1/leases")[-1]["lease_id"]
    house.ask(ME, "DELETE", f"/v1/leases/{gone}")
    drawn = seen(house, "fleet_operator")
    assert as_nodes(drawn) == listed_nodes(house, "fleet_operator")
    assert as_leases(drawn) == listed_leases(house, "fleet_operator")
    assert any(ending for *_, ending in as_leases(drawn)), "some have to go"
    assert drawn["whole"] is True
    assert drawn["leases"] == len(rows(house, "fleet_operator", "/v1/leases"))
    assert drawn["waiting"] == house.runner.read(lambda view: len(view.state.line.entries))


def test_a_tenant_sees_its_own_and_of_others_only_that_it_is_not_free(house: HttpHouse) -> None:
    taken(house, OTHER, 5)
    taken(house, ME, 2)
    told = house.ask(ME, "GET", PATH)
    assert FOREIGN not in told.text
    drawn = told.json()
    assert as_leases(drawn) == listed_leases(house, ME)
    assert drawn["tenants"] == [OWN]
    assert (drawn["whole"], drawn["leases"], drawn["waiting"]) == (False, None, None)
    free = [row["gpus_free_milli"] for row in rows(house, ME, "/v1/nodes")]
    assert drawn["nodes"]["free_milli"] == free
    assert "free_milli" not in seen(house, "fleet_operator")["nodes"]


def test_what_others_do_elsewhere_does_not_move_a_tenants_picture(house: HttpHouse) -> None:
    taken(house, ME, 1)
    before = house.ask(ME, "GET", PATH)
    body = {"tenant": FOREIGN, "project": "p", "resources": {"cpu_milli": 500}}
    assert house.ask(OTHER, "POST", "/v1/leases", json=body).status_code == 201
    after = house.ask(ME, "GET", PATH)
    assert after.content == before.content
    assert after.headers["etag"] == before.headers["etag"]


def test_what_is_as_before_is_not_sent_again_and_what_changed_is(house: HttpHouse) -> None:
    for who in ("fleet_operator", ME):
        etag = house.ask(who, "GET", PATH).headers["etag"]
        same = house.ask(who, "GET", PATH, headers={"If-None-Match": etag})
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", etag)
        assert same.headers["cache-control"] == "no-store"
        taken(house, ME, 1)
        new = house.ask(who, "GET", PATH, headers={"If-None-Match": etag})
        assert new.status_code == 200
        assert new.headers["etag"] != etag
        assert as_leases(new.json())[-1] == listed_leases(house, who)[-1]


def test_a_tenant_cannot_ask_whether_the_whole_picture_is_as_he_guesses(house: HttpHouse) -> None:
    taken(house, OTHER, 5)
    whole = house.ask("fleet_operator", "GET", PATH).headers["etag"]
    assert house.ask(ME, "GET", PATH, headers={"If-None-Match": whole}).status_code == 200


def test_it_is_packed_for_who_takes_that_and_the_same_for_who_does_not(house: HttpHouse) -> None:
    taken(house, OTHER, 5)
    plain = house.ask("fleet_operator", "GET", PATH, headers={"Accept-Encoding": "identity"})
    packed = house.ask("fleet_operator", "GET", PATH, headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"])
    assert packed.content == plain.content  # the client unpacks it
