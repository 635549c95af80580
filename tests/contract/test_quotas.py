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
