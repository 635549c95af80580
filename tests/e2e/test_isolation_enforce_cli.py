"""An audit that enforces, over a real server: a policy file stricter than the one that is set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.test_client_cli import Cli, be, cli, one_line
from tests.support.http_house import HttpHouse, http_house
from tests.support.http_server import Served

__all__ = ["cli"]
STRICT = "few: at most 1 of tenant lab per host\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    return made


@pytest.fixture
def house(folder: Path) -> Iterator[HttpHouse]:
    with http_house(folder) as made:
        for entry_id in (1, 2):
            made.plain("cancel", entry_id=entry_id)
        made.plain("set_isolation_policy", text="many: at most 9 of tenant lab per host")
        yield made


@pytest.fixture
def served(house: HttpHouse) -> Iterator[Served]:
    found = Served(house.app, house.token)
    found.open()
    try:
        yield found
    finally:
        found.close()


@pytest.fixture
def strict(tmp_path: Path) -> Path:
    file = tmp_path / "strict.txt"
    file.write_text(STRICT)
    return file


def submit(house: HttpHouse) -> int:
    body = {"tenant": "lab", "project": "p", "resources": {"cpu_milli": 500}}
    return int(
        house.ask("project_member@lab", "POST", "/v1/leases", json=body).json()["lease_ids"][0]
    )


def state_of(house: HttpHouse, lease_id: int) -> str:
    got = house.ask("project_member@lab", "GET", f"/v1/leases/{lease_id}")
    return str(got.json()["state"])


def test_what_breaks_a_stricter_file_is_evicted_once_and_the_policy_stays(
    house: HttpHouse,
    served: Served,
    folder: Path,
    cli: Cli,
    strict: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    later = submit(house)
    audit = ("isolation", "audit", "bailiwick", "--policy", str(strict), "--once")
    audit += ("--store", str(folder))
    be(served, "fleet_operator", monkeypatch)
    only = cli(*audit)
    assert (only.code, "evicted" in only.out) == (3, False), only
    assert state_of(house, later) == "active"

    did = cli(*audit, "--enforce", "-o", "json")
    assert did.code == 3, did
    lines = [json.loads(line) for line in did.out.splitlines()]
    gone = {each["lease_id"]: each for each in lines if each["state"] == "evicted"}
    assert (gone[later]["rule"], gone[later]["kind"]) == ("few", "host")
    assert gone[later]["domain"] == "n1"
    assert gone[later]["partners"]
    assert not {*gone[later]["partners"]} & gone.keys()
    assert state_of(house, later) == "grace_running"
    (sealed,) = house.records("isolation_enforced")
    assert "".join(sealed["document"]) == STRICT
    reasons = [
        each["reason"] for each in house.records("lease_revoked") if each.get("rule") == "few"
    ]
    assert {*reasons} == {"policy_violation_recovery"}

    again = cli(*audit, "--enforce")
    assert again.code == 3, again
    assert "nobody was told to go: who may not stay is leaving" in again.out
    assert len(house.records("isolation_enforced")) == 1
    assert house.ask("fleet_operator", "GET", "/v1/isolation/policy").json()["version"] == 1


def test_who_may_not_set_a_policy_evicts_nobody(
    house: HttpHouse,
    served: Served,
    folder: Path,
    cli: Cli,
    strict: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    later = submit(house)
    be(served, "fleet_auditor", monkeypatch)
    audit = ("isolation", "audit", "bailiwick", "--policy", str(strict), "--once")
    found = cli(*audit, "--store", str(folder), "--enforce")
    assert found.code != 0
    assert "scheduler.isolation.set is needed" in found.err
    assert state_of(house, later) == "active"


@pytest.mark.parametrize("target", ["slurm", "kubernetes"])
def test_a_cluster_of_somebody_else_is_never_changed(cli: Cli, strict: Path, target: str) -> None:
    found = cli("isolation", "audit", target, "--policy", str(strict), "--once", "--enforce")
    one_line(found, 2, "--enforce", target, "never changed")
