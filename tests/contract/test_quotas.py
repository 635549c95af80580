"""Quotas and shares over the API: who sees whose, who may set what, and how that stands."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_house import HttpHouse, http_house

ADMIN, OWN_ADMIN = "fleet_admin", "tenant_admin@lab"
BURST = {"dimension": "cpu_milli", "capacity": 36_000, "refill_per_s": 10, "ceiling": 2_000}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    """Of each tenant a lease of one core runs, and a request that wants nearly all waits."""
    with http_house(tmp_path) as made:
        yield made


def listed(house: HttpHouse, who: str, query: str = "") -> dict[str, Any]:
    found = house.ask(who, "GET", f"/v1/quotas{query}")
    assert found.status_code == 200, found.text
    return {f"{row['tenant']}/{row['project'] or ''}": row for row in found.json()["items"]}


def put(house: HttpHouse, who: str, path: str, body: dict[str, Any]) -> Any:
    return house.ask(who, "PUT", f"/v1/tenants/{path}", json=body)


# -- who sees whose --------------------------------------------------------------------------


def test_the_list_of_quotas_has_the_rows_that_are_ones_own_to_read(house: HttpHouse) -> None:
    assert [*listed(house, ADMIN)] == ["lab/", "lab/p", "rival/", "rival/p"]
    assert [*listed(house, OWN_ADMIN)] == ["lab/", "lab/p"]
    assert [*listed(house, "project_viewer@lab")] == ["lab/p"]
    assert [*listed(house, ADMIN, "?tenant=rival")] == ["rival/", "rival/p"]
    # Another's tenant has no rows, as one that is not there.
    assert listed(house, OWN_ADMIN, "?tenant=rival") == listed(house, OWN_ADMIN, "?tenant=nobody")


def test_the_list_is_turned_page_by_page_and_tells_what_each_read_tells(house: HttpHouse) -> None:
    whole, path, cursor = [], "/v1/quotas?limit=1", ""
    for _ in range(4):
        page = house.ask(ADMIN, "GET", path + cursor).json()
        whole += page["items"]
        cursor = f"&cursor={page['next']}"
    assert page["next"] is None
    one_by_one = [
        house.ask(ADMIN, "GET", f"/v1/tenants/{place}/quota").json()
        for place in ("lab", "lab/projects/p", "rival", "rival/projects/p")
    ]
    assert whole == one_by_one


def test_the_list_tells_use_and_what_is_left(house: HttpHouse) -> None:
    put(house, ADMIN, "lab/quota", {"limits": {"cpu_milli": 5_000}})
    put(house, ADMIN, "lab/projects/p/quota", {"limits": {"cpu_milli": 9_000}})
    rows = listed(house, OWN_ADMIN)
    assert rows["lab/"]["dimensions"]["cpu_milli"] == {"limit": 5_000, "used": 1_000, "left": 4_000}
    # A project is never left more than its tenant is.
    assert rows["lab/p"]["dimensions"]["cpu_milli"]["left"] == 4_000


# -- burst -----------------------------------------------------------------------------------


def test_burst_credit_is_full_at_first_and_drains_above_the_limit(house: HttpHouse) -> None:
    assert listed(house, OWN_ADMIN)["lab/"]["burst_left"] is None
    put(house, ADMIN, "lab/quota", {"limits": {"cpu_milli": 3_000}, "burst": BURST})
    assert listed(house, OWN_ADMIN)["lab/"]["burst_left"] == 36_000
    # One core is held: lowered beneath it, the limit is passed by what credit must pay for, and
    # each millisecond takes one of it.
    put(house, ADMIN, "lab/quota", {"limits": {"cpu_milli": 0}, "burst": BURST})
    time.sleep(0.01)
    assert 0 <= listed(house, OWN_ADMIN)["lab/"]["burst_left"] < 36_000


# -- a tenant's own people -------------------------------------------------------------------


def test_a_tenants_admin_sets_his_projects_quotas_within_the_tenants(house: HttpHouse) -> None:
    few, more = {"limits": {"gpu_count": 4}}, {"limits": {"gpu_count": 5}}
    assert put(house, OWN_ADMIN, "lab/quota", few).status_code == 403
    put(house, ADMIN, "lab/quota", few)
    assert put(house, OWN_ADMIN, "lab/projects/p/quota", few).status_code == 200
    refused = put(house, OWN_ADMIN, "lab/projects/p/quota", more)
    assert refused.status_code == 409
    assert "would allow 5 gpu_count, and its tenant has 4" in refused.json()["message"]
    # Who sets the tenant's may write it down; what counts is still the narrower of both.
    assert put(house, ADMIN, "lab/projects/p/quota", more).status_code == 200
    assert listed(house, ADMIN)["lab/p"]["dimensions"]["gpu_count"]["left"] == 4


def test_what_a_dry_run_says_of_too_large_a_quota_is_what_is_answered(house: HttpHouse) -> None:
    put(house, ADMIN, "lab/quota", {"limits": {"gpu_count": 4}})
    path, more = "lab/projects/p/quota?dry_run=true", {"limits": {"gpu_count": 5}}
    assert put(house, OWN_ADMIN, path, more).status_code == 409
    tried = put(house, OWN_ADMIN, path, {"limits": {"gpu_count": 3}})
    assert tried.json()["consequence"]["limits"]["gpu_count"]["after"] == 3
    assert listed(house, OWN_ADMIN)["lab/p"]["quota"]["limits"] == {}


def test_a_tenants_quota_that_is_lowered_leaves_its_projects_and_counts(house: HttpHouse) -> None:
    put(house, ADMIN, "lab/quota", {"limits": {"cpu_milli": 9_000}})
    put(house, OWN_ADMIN, "lab/projects/p/quota", {"limits": {"cpu_milli": 8_000}})
    put(house, ADMIN, "lab/quota", {"limits": {"cpu_milli": 3_000}})
    row = listed(house, OWN_ADMIN)["lab/p"]
    assert row["quota"]["limits"] == {"cpu_milli": 8_000}
    assert row["dimensions"]["cpu_milli"] == {"limit": 8_000, "used": 1_000, "left": 2_000}
    # To set it again, it has to be within what the tenant has now.
    again = put(house, OWN_ADMIN, "lab/projects/p/quota", {"limits": {"cpu_milli": 8_000}})
    assert again.status_code == 409


def test_nobody_else_of_a_tenant_sets_a_quota_and_no_admin_another_tenants(
    house: HttpHouse,
) -> None:
    few = {"limits": {"gpu_count": 1}}
    for who in ("project_admin@lab", "project_member@lab", "tenant_auditor@lab"):
        assert put(house, who, "lab/projects/p/quota", few).status_code == 403
        assert put(house, who, "lab/projects/p/share", {"share": 2}).status_code == 403
    hidden = put(house, OWN_ADMIN, "rival/projects/p/quota", few)
    absent = put(house, OWN_ADMIN, "nobody/projects/p/quota", few)
    assert hidden.status_code == absent.status_code == 404
    assert hidden.json()["message"] == absent.json()["message"]


# -- fair shares -----------------------------------------------------------------------------


def share_of(house: HttpHouse, who: str, place: str) -> Any:
    found = house.ask(who, "GET", f"/v1/tenants/{place}/share")
    return found.json() if found.status_code == 200 else found.status_code


def test_a_share_is_one_until_somebody_sets_it_and_the_change_is_sealed(house: HttpHouse) -> None:
    before = share_of(house, OWN_ADMIN, "lab")
    assert (before["share"], before["is_default"]) == (1, True)
    assert put(house, OWN_ADMIN, "lab/share", {"share": 9}).status_code == 403
    assert put(house, ADMIN, "lab/share?dry_run=true", {"share": 9}).status_code == 200
    assert share_of(house, OWN_ADMIN, "lab")["share"] == 1
    assert put(house, ADMIN, "lab/share", {"share": 4}).status_code == 200
    after = share_of(house, OWN_ADMIN, "lab")
    assert (after["share"], after["is_default"]) == (4, False)
    assert [row["share"] for row in house.records("share_changed")] == [4]


def test_what_was_used_is_weighed_against_the_share(house: HttpHouse) -> None:
    put(house, ADMIN, "lab/share", {"share": 4})
    time.sleep(0.01)  # of the lease that runs
    found = share_of(house, OWN_ADMIN, "lab")
    assert int(found["usage_gpu_milli_ms"]) > 0
    assert int(found["usage_per_share"]) == int(found["usage_gpu_milli_ms"]) // 4


def test_a_tenants_admin_weighs_his_projects_and_sees_no_other_tenant(house: HttpHouse) -> None:
    assert put(house, OWN_ADMIN, "lab/projects/p/share", {"share": 2}).status_code == 200
    assert share_of(house, OWN_ADMIN, "lab/projects/p")["share"] == 2
    assert share_of(house, OWN_ADMIN, "rival") == share_of(house, OWN_ADMIN, "nobody") == 404
    rows = house.ask(OWN_ADMIN, "GET", "/v1/shares").json()["items"]
    assert {row["tenant"] for row in rows} == {"lab"}
    every = house.ask(ADMIN, "GET", "/v1/shares").json()["items"]
    assert {row["tenant"] for row in every} == {"lab", "rival"}


def test_shares_are_whole_numbers_from_one(house: HttpHouse) -> None:
    for bad in (0, -1, 10**6 + 1, "3", None):
        assert put(house, ADMIN, "lab/share", {"share": bad}).status_code == 422
