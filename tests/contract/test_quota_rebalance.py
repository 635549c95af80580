"""Coming back inside a quota over HTTP: the plan first, then the leases that it named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_house import HttpHouse, http_house

ADMIN, OWNER, MEMBER = "fleet_admin", "tenant_admin@lab", "project_member@lab"
TENANT = "/v1/tenants/lab/quota"
DRY = "?dry_run=true"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    """A lease of lab's runs, of one core, and a request of its waits."""
    with http_house(tmp_path) as made:
        yield made


def project_of(house: HttpHouse) -> str:
    leases = house.ask(ADMIN, "GET", "/v1/leases").json()["items"]
    return str(next(each["project"] for each in leases if each["tenant"] == "lab"))


def lower(house: HttpHouse, path: str = TENANT) -> None:
    found = house.ask(ADMIN, "PUT", path, json={"limits": {"cpu_milli": 500}})
    assert found.status_code == 200, found.text


def rebalance(house: HttpHouse, who: str, path: str, **body: Any) -> Any:
    return house.ask(who, "POST", path, json=body)


def test_the_plan_is_told_and_then_carried_out(house: HttpHouse) -> None:
    lower(house)
    records = len(house.records("lease_revoked"))
    tried = rebalance(house, ADMIN, f"{TENANT}/rebalance{DRY}", grace_ms=60_000).json()
    told = tried["consequence"]
    assert (tried["seq"], told["leaving"], told["gangs"]) == (None, 1, 0)
    assert told["over"] == {"cpu_milli": {"over": 500, "over_after": 0}}
    (lease,) = told["leases"]
    assert (lease["tenant"], lease["node"], lease["held"]["cpu_milli"]) == ("lab", "n1", 1000)
    assert told["cost"] == lease["cost"] > 0
    assert len(house.records("lease_revoked")) == records
    done = rebalance(house, ADMIN, f"{TENANT}/rebalance", grace_ms=60_000).json()
    assert (done["seq"] is not None, done["consequence"]) == (True, None)
    (found,) = [
        each
        for each in house.ask(ADMIN, "GET", "/v1/leases").json()["items"]
        if each["state"] == "grace_running"
    ]
    assert found["lease_id"] == lease["lease_id"]


def test_who_is_within_its_quota_is_a_conflict_also_in_a_dry_run(house: HttpHouse) -> None:
    for suffix in ("", DRY):
        found = rebalance(house, ADMIN, f"{TENANT}/rebalance{suffix}")
        assert found.status_code == 409
        assert "not above its quota" in found.text


def test_a_tenant_s_administrator_does_it_for_its_projects_and_for_nobody_else(
    house: HttpHouse,
) -> None:
    project = f"/v1/tenants/lab/projects/{project_of(house)}/quota"
    lower(house, project)
    assert rebalance(house, MEMBER, f"{project}/rebalance").status_code == 403
    assert rebalance(house, OWNER, f"{TENANT}/rebalance").status_code == 403
    assert rebalance(house, OWNER, "/v1/tenants/rival/quota/rebalance").status_code in (403, 404)
    tried = rebalance(house, OWNER, f"{project}/rebalance{DRY}")
    assert tried.json()["consequence"]["leaving"] == 1
    assert rebalance(house, OWNER, f"{project}/rebalance").status_code == 200
