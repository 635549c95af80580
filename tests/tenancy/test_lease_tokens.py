"""Nobody gets a token for what another holds, by whatever way he asks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.iam import Role, ScopeLevel
from tests.contract.test_operating import as_node
from tests.support.http_house import FOREIGN, OWN, HttpHouse, http_house, person

WISH = {"operations": ["mem_read", "mem_write", "lease_renew"]}
LOCAL = [role for role in Role if role.level is not ScopeLevel.FLEET]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    folder: Path = tmp_path_factory.mktemp("tokens")
    with http_house(folder) as made:
        yield made


def told(answer: Any) -> Any:
    return {k: v for k, v in answer.json().items() if k not in ("correlation_id", "trace_id")}


@pytest.mark.parametrize("role", LOCAL)
def test_a_lease_of_another_tenant_has_no_tokens_and_does_not_exist(
    house: HttpHouse, role: Role
) -> None:
    who = person(role, FOREIGN)
    foreign = house.ask(who, "POST", "/v1/leases/1/tokens", json=WISH)
    absent = house.ask(who, "POST", "/v1/leases/99/tokens", json=WISH)
    assert foreign.status_code == 404
    assert told(foreign) == told(absent)
    assert not any(body["lease_id"] == 1 for body in house.records("token_issued"))


@pytest.mark.parametrize("role", [Role.TENANT_AUDITOR, Role.PROJECT_VIEWER])
def test_who_only_looks_holds_nothing(house: HttpHouse, role: Role) -> None:
    answer = house.ask(person(role, OWN), "POST", "/v1/leases/1/tokens", json=WISH)
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize("role", [r for r in Role if r.level is ScopeLevel.FLEET])
def test_over_the_fleet_only_who_may_hold_leases_gets_one(house: HttpHouse, role: Role) -> None:
    answer = house.ask(role.value, "POST", "/v1/leases/1/tokens?dry_run=true", json=WISH)
    assert answer.status_code == (201 if role is Role.FLEET_ADMIN else 403)


def test_a_node_gets_leave_for_its_own_leases_and_never_a_token(house: HttpHouse) -> None:
    body = WISH | {"lease_id": 1}
    mine = house.client.post("/v1/nodes/n1/lease-tokens", json=body, headers=as_node(house, "n1"))
    assert (mine.status_code, mine.json()["token"]) == (200, "")
    other = as_node(house, "n9")
    assert (
        house.client.post("/v1/nodes/n1/lease-tokens", json=body, headers=other).status_code == 403
    )
    nowhere = house.client.post("/v1/nodes/n9/lease-tokens", json=body, headers=other)
    assert nowhere.status_code == 404


def test_what_everybody_may_read_names_no_tenant(house: HttpHouse) -> None:
    house.ask(
        person(Role.PROJECT_MEMBER, OWN), "POST", "/v1/leases/1/renew", json={"ttl_ms": 10**7}
    )
    for path in ("keys", "revocations"):
        answer = house.ask(person(Role.PROJECT_VIEWER, FOREIGN), "GET", f"/v1/capabilities/{path}")
        assert answer.status_code == 200
        assert OWN not in answer.text.replace('"shared"', "")
