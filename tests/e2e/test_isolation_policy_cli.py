"""The isolation policy on the command line, over a real server: shown, tried, set, scrubbed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.test_client_cli import Cli, be, cli, done
from tests.support.http_house import HttpHouse, http_house
from tests.support.http_server import Served

__all__ = ["cli"]
MANUAL = (Path(__file__).resolve().parents[2] / "docs" / "isolation.md").read_text("utf-8")
POLICY = """\
inner: tenant lab only on nodes with zone=inner
ash: keep host for label team=red until scrubbed
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("isolation")) as made:
        for entry_id in (1, 2):
            made.plain("cancel", entry_id=entry_id)
        yield made


@pytest.fixture(scope="module")
def served(house: HttpHouse) -> Iterator[Served]:
    found = Served(house.app, house.token)
    found.open()
    try:
        yield found
    finally:
        found.close()


@pytest.fixture
def operator(served: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    be(served, "fleet_operator", monkeypatch)
    return cli


def test_a_policy_is_tried_set_and_what_was_left_is_scrubbed(
    house: HttpHouse, operator: Cli, tmp_path: Path
) -> None:
    assert "nothing is forbidden" in done(operator("isolation", "show"))
    file = tmp_path / "policy.txt"
    file.write_text("ash: keep host for label team=red until scrubbed\n")
    told = done(operator("isolation", "set", str(file), "-y"))
    assert "1 rule; all that runs now may stay" in told
    assert "version 1 of the policy is in force" in told
    body = {"tenant": "lab", "project": "p", "resources": {"cpu_milli": 500}}
    body |= {"job_labels": ["team=red"]}  # type: ignore[dict-item]
    got = house.ask("project_member@lab", "POST", "/v1/leases", json=body).json()
    lease = got["lease_ids"][0]
    file.write_text(POLICY)
    tried = done(operator("isolation", "set", str(file), "--dry-run"))
    assert f"lease-{lease}" in tried
    assert "n1 has not the labels" in " ".join(tried.split())
    found = json.loads(done(operator("isolation", "set", str(file), "--dry-run", "-o", "json")))
    assert lease in [each["lease_id"] for each in found["leavers"]]
    assert "version 1" in done(operator("isolation", "show"))
    house.ask("project_member@lab", "DELETE", f"/v1/leases/{lease}")
    shown = done(operator("isolation", "show"))
    assert "Kept for those who left" in shown
    assert "scrubbed" in shown
    body = {"tenant": "lab", "project": "p", "resources": {"cpu_milli": 500}}
    why = house.ask("project_member@lab", "POST", "/v1/leases/explain", json=body).json()
    assert why["rules"] == [{"rule": "ash", "nodes": 1}]
    assert why["rules_more"] == 0
    assert "for everybody again" in done(operator("isolation", "scrub", "host", "n1", "-y"))
    assert "Kept for" not in done(operator("isolation", "show"))


def test_every_mistake_of_a_text_is_told_and_nothing_is_set(operator: Cli, tmp_path: Path) -> None:
    file = tmp_path / "policy.txt"
    file.write_text("dedicated hots for tenant bank\nnever share\n")
    found = operator("isolation", "set", str(file), "-y")
    assert found.code == 2
    assert ":1:11" in found.err
    assert ":2:" in found.err


def session(command: str) -> list[str]:
    """What the manual shows of a command."""
    shown = MANUAL.partition(f"$ {command}\n")[2].partition("```")[0]
    assert shown, f"the manual shows no {command}"
    return shown.rstrip("\n").split("\n")


def test_a_way_around_a_policy_is_told_as_the_manual_tells_it(
    operator: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "policy.txt"
    chapter = MANUAL.partition("## A way around it")[2]
    file.write_text(chapter.partition("```policy\n")[2].partition("```")[0])
    ended = operator("isolation", "search", str(file), "--scope", "jobs=2")
    assert ended.code == 1
    shown = session("bailiwick isolation search policy.txt --scope jobs=2")
    assert ended.out.splitlines() == shown
    assert "[1/" in ended.err, "how far it is goes beside what is found"


def test_a_search_that_finds_nothing_ends_with_0_and_is_a_document_for_each_event(
    operator: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "tight.txt"
    file.write_text("vault: dedicated host for tenant bank\n")
    told = done(operator("isolation", "search", str(file), "--scope", "jobs=2"))
    assert "2 jobs, any number of steps: nothing in 792 states, all that can be" in told
    lines = done(operator("isolation", "search", str(file), "--scope", "jobs=2", "-o", "json"))
    events = [json.loads(line) for line in lines.splitlines()]
    assert [each["event"] for each in events[-2:]] == ["nothing", "ended"]
    assert events[-1]["data"]["reason"] == "complete"
    refused = operator("isolation", "search", str(file), "-o", "yaml")
    assert refused.code == 2
