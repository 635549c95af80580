"""Counters and findings over HTTP: who may tell and see them, and what an answer promises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.iam import Role
from bailiwick.journal.words import Severity
from bailiwick.kernel import ReportFinding
from bailiwick.reconcile.usage_check import UsageBooks, UsageCheck
from bailiwick.runtime.runner import SystemClock
from bailiwick.server.http.context import House
from tests.contract.test_operating import as_node
from tests.support.http_house import FOREIGN, OWN, HttpHouse, http_house, person

PATH = "/v1/nodes/n1/counters"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as made:
        yield made


def counter(sequence: int, lease_id: int = 1, **more: Any) -> dict[str, Any]:
    return {"sequence": sequence, "lease_id": lease_id, "at_ms": 9, "from_ms": 5} | more


def report(*counters: dict[str, Any], epoch: int = 1) -> dict[str, Any]:
    return {"epoch": epoch, "counters": list(counters)}


def tell(house: HttpHouse, body: dict[str, Any], **more: Any) -> Any:
    return house.client.post(PATH, json=body, headers=as_node(house, "n1"), **more)


def check(house: HttpHouse) -> int:
    """What the leader's duty would do now."""
    told: House = house.app.state.house
    tables = told.parts.tables
    assert tables is not None
    books = UsageBooks(counters=tables.counters, meter=tables.meter, findings=tables.findings)
    return UsageCheck(house.runner, books, clock=SystemClock()).once()


def test_a_node_tells_counters_and_is_told_how_far_they_are_kept(house: HttpHouse) -> None:
    gpus = [{"index": 0, "active_ms": 3, "busy_ms": 2, "until_ms": 9}]
    first = report(counter(0, cpu_ms=4, mem_peak_bytes=5, gpus=gpus), counter(1, 2, to_ms=8))
    kept = {"node": "n1", "epoch": 1, "acknowledged": 2}
    for _ in range(2):  # the answer may have been lost
        answer = tell(house, first)
        assert (answer.status_code, answer.json()) == (200, kept)
    early = tell(house, report(counter(3)))
    assert early.json() == kept
    assert tell(house, report(counter(2), counter(3))).json()["acknowledged"] == 4
    assert tell(house, report(counter(0), epoch=2)).json() == kept | {
        "epoch": 2,
        "acknowledged": 1,
    }
    assert tell(house, report(counter(4))).json()["epoch"] == 2  # its numbering is over


def test_a_dry_run_takes_nothing(house: HttpHouse) -> None:
    answer = tell(house, report(counter(0)), params={"dry_run": "true"})
    assert answer.json() == {"node": "n1", "epoch": 0, "acknowledged": 0}
    assert tell(house, report(counter(0))).json()["acknowledged"] == 1


def test_a_node_tells_for_itself_alone_and_only_if_it_is_known(house: HttpHouse) -> None:
    other = as_node(house, "n2")
    assert house.client.post(PATH, json=report(), headers=other).status_code == 403
    unknown = house.client.post("/v1/nodes/n2/counters", json=report(), headers=other)
    assert unknown.status_code == 404
    assert house.ask("fleet_auditor", "POST", PATH, json=report()).status_code == 403
    assert house.ask(person(Role.TENANT_ADMIN), "POST", PATH, json=report()).status_code == 403


@pytest.mark.parametrize(
    "body",
    [
        {},
        report(counter(0), epoch=0),
        report(counter(-1)),
        report(counter(0, 0)),
        report(counter(0, cpu_ms=1.5)),
        report(counter(0, cpu_ms="1")),
        report(counter(0, at_ms=2**53)),
        report(counter(0, from_ms=10)),
        report(counter(0, to_ms=10)),
        report(counter(0, node="n2")),
        report(counter(0, gpus=[{"index": 64, "active_ms": 0, "busy_ms": 0, "until_ms": 0}])),
        report(counter(0, gpus=[{"index": 0, "active_ms": 0, "busy_ms": 0, "until_ms": 0}] * 2)),
        report(*[counter(n) for n in range(257)]),
    ],
)
def test_what_is_no_report_is_refused_whole(house: HttpHouse, body: dict[str, Any]) -> None:
    assert tell(house, body).status_code == 422
    assert tell(house, report(counter(0))).json()["acknowledged"] == 1


def test_what_differs_is_sealed_and_seen_by_its_tenant_and_the_fleet_alone(
    house: HttpHouse,
) -> None:
    lease = house.ask("fleet_admin", "GET", "/v1/leases/1").json()
    now_ms = SystemClock().now_ms()
    body = counter(0, from_ms=now_ms - 1, at_ms=now_ms, cpu_ms=10**9)
    tell(house, report(body, counter(1, 999)))
    assert check(house) == 2
    mine = house.ask(person(Role.TENANT_ADMIN), "GET", "/v1/findings").json()["items"]
    assert [(row["finding"], row["subject"]) for row in mine] == [
        ("quota_evasion", "lease:1/n1/cpu_time")
    ]
    assert (mine[0]["tenant"], mine[0]["project"]) == (OWN, lease["project"])
    assert mine[0]["severity"] == "high"
    assert "granted" in mine[0]["note"]
    assert house.ask(person(Role.TENANT_ADMIN, FOREIGN), "GET", "/v1/findings").json() == {
        "items": [],
        "next": None,
    }
    fleet = house.ask("fleet_auditor", "GET", "/v1/findings").json()["items"]
    assert {row["finding"] for row in fleet} == {"quota_evasion", "attribution_drift"}
    (record,) = [r for r in house.records("finding_reported") if r["finding"] == "quota_evasion"]
    assert record["subject"] == "lease:1/n1/cpu_time"


def test_a_conflict_is_sealed(house: HttpHouse) -> None:
    tell(house, report(counter(0, cpu_ms=1)))
    answer = tell(house, report(counter(0, cpu_ms=2)))
    assert (answer.status_code, answer.json()["acknowledged"]) == (200, 1)
    check(house)
    fleet = house.ask("fleet_auditor", "GET", "/v1/findings?finding=counter_conflict").json()
    assert len(fleet["items"]) == 1


def test_findings_come_in_pages_newest_first_and_by_word(house: HttpHouse) -> None:
    for number in range(5):
        word = "quota_evasion" if number % 2 else "attribution_drift"
        house.do(ReportFinding(word, Severity.LOW, f"lease:{number}", tenant=OWN, project="p"))
    viewer = person(Role.PROJECT_VIEWER)
    seen, cursor = [], ""
    for _ in range(3):
        page = house.ask(viewer, "GET", f"/v1/findings?limit=2{cursor}").json()
        seen += [row["subject"] for row in page["items"]]
        cursor = f"&cursor={page['next']}"
    assert seen == [f"lease:{number}" for number in (4, 3, 2, 1, 0)]
    assert page["next"] is None
    odd = house.ask(viewer, "GET", "/v1/findings?finding=quota_evasion").json()["items"]
    assert [row["subject"] for row in odd] == ["lease:3", "lease:1"]
