"""What is made once for all who see everything reaches nobody who does not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from bailiwick.kernel import Tick
from tests.support.http_house import FOREIGN, OWN, HttpHouse, http_house

WHO = ("fleet_admin", f"tenant_admin@{OWN}", f"tenant_admin@{FOREIGN}")
HUGE = {"resources": {"cpu_milli": 64_000}, "project": "p"}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    folder: Path = tmp_path_factory.mktemp("shared-answers")
    with http_house(folder) as made:
        for tenant in (OWN, FOREIGN, OWN):
            wait(made, tenant)
        yield made


def wait(house: HttpHouse, tenant: str) -> int:
    """Another request of a tenant that waits."""
    body = HUGE | {"tenant": tenant, "wait": True}
    told = house.ask(f"project_member@{tenant}", "POST", "/v1/leases", json=body)
    assert told.status_code == 202, told.text
    house.do(Tick())  # what there is to tell of it is told now, and not between two reads
    return int(told.json()["entry_id"])


@pytest.fixture(scope="module")
def tokens(house: HttpHouse) -> dict[str, str]:
    """One for each, had before: a token more is a record more, and nothing would be shared."""
    return {who: house.token(who) for who in WHO}


def read(house: HttpHouse, token: str, path: str) -> Any:
    told = house.client.get(path, headers={"Authorization": f"Bearer {token}"})
    assert told.status_code == 200, told.text
    return told.json()


def listed(house: HttpHouse, token: str) -> list[tuple[int, str]]:
    told = read(house, token, "/v1/queue?limit=50")["items"]
    return [(each["entry_id"], each["tenant"]) for each in told]


@pytest.mark.parametrize("order", list(permutations(WHO)))
def test_the_front_of_the_line_is_each_ones_own_whoever_asked_before(
    house: HttpHouse, tokens: dict[str, str], order: tuple[str, ...]
) -> None:
    found = {who: listed(house, tokens[who]) for who in (*order, *order)}
    everybody = found["fleet_admin"]
    assert {tenant for _, tenant in everybody} >= {OWN, FOREIGN}
    for tenant in (OWN, FOREIGN):
        own = [row for row in everybody if row[1] == tenant]
        assert found[f"tenant_admin@{tenant}"] == own


def test_who_lists_after_a_request_sees_it(house: HttpHouse, tokens: dict[str, str]) -> None:
    listed(house, tokens["fleet_admin"])
    entry_id = wait(house, FOREIGN)
    assert (entry_id, FOREIGN) in listed(house, tokens["fleet_admin"])


def test_a_later_page_is_not_the_first_again(house: HttpHouse, tokens: dict[str, str]) -> None:
    token = tokens["fleet_admin"]
    first = read(house, token, "/v1/queue?limit=1")
    second = read(house, token, f"/v1/queue?limit=1&cursor={first['next']}")
    assert first["items"][0]["entry_id"] < second["items"][0]["entry_id"]
