"""Graphs over the API: taken up, listed, shown without secrets, planned, reported about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from bailiwick.batch.task_state import TaskState
from bailiwick.iam import Permission, Role
from bailiwick.services.authority import Terms
from bailiwick.store.graph_rows import GraphChange, TaskRow
from bailiwick.vocab.graphs import GraphPhase, TaskPhase
from tests.support.http_house import FOREIGN, OWN, HttpHouse, http_house, person

SECRET = "hunter2-in-the-environment"
GRAPH = f"""
name: night
tasks:
  prep: {{command: ['true'], ttl: 10m, env: {{KEY: {SECRET}}}, outputs: [data]}}
  train: {{command: ['true'], map: 3, ttl: 1h, inputs: {{data: prep/data}}}}
  report: {{command: ['true'], after: [train]}}
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("graphs")) as made:
        yield made


def body(document: str = GRAPH, **more: Any) -> dict[str, Any]:
    return {"tenant": OWN, "project": "p", "document": document, **more}


def as_member(house: HttpHouse) -> dict[str, str]:
    token = house.token(person(Role.PROJECT_MEMBER, OWN))
    return {"authorization": f"Bearer {token}"}


def test_a_graph_is_taken_up_and_shown_without_what_it_runs(house: HttpHouse) -> None:
    headers = as_member(house)
    made = house.client.post("/v1/graphs", json=body(), headers=headers)
    assert made.status_code == 201, made.text
    graph = made.json()
    assert (graph["name"], graph["tasks"], graph["phase"]) == ("night", 5, "running")
    assert graph["counts"] == {"blocked": 5}
    shown = house.client.get(f"/v1/graphs/{graph['graph_id']}", headers=headers)
    assert SECRET not in shown.text
    assert [stage["after"] for stage in shown.json()["stages"]] == [[], ["prep"], ["train"]]
    assert len(shown.json()["tasks"]) == 5
    listed = house.client.get("/v1/graphs", headers=headers).json()["items"]
    assert {row["tenant"] for row in listed} == {OWN}


def test_the_same_key_gives_the_same_graph(house: HttpHouse) -> None:
    headers = as_member(house) | {"idempotency-key": "once"}
    first, again = (
        house.client.post("/v1/graphs", json=body(), headers=headers).json() for _ in "12"
    )
    assert first["graph_id"] == again["graph_id"]
    other = house.client.post(
        "/v1/graphs", json=body("tasks: {a: {command: [ls]}}"), headers=headers
    )
    assert other.status_code == 409


def test_a_mistake_is_told_with_its_line(house: HttpHouse) -> None:
    wrong = body("tasks:\n  a: {command: [ls], after: [b]}\n")
    found = house.client.post("/v1/graphs", json=wrong, headers=as_member(house))
    assert found.status_code == 422
    assert re.search(r"line 2, column \d+: no task 'b'", found.text)


def test_a_plan_tells_the_longest_path_and_what_it_costs(house: HttpHouse) -> None:
    plan = house.client.post("/v1/graphs/plan", json=body(), headers=as_member(house)).json()
    assert plan["critical_path"] == ["prep", "train[0]", "report"]
    assert plan["critical_ms"] == 600_000 + 2 * 3_600_000
    assert [stage["starts_ms"] for stage in plan["stages"]] == [0, 600_000, 4_200_000]
    prices = [stage["plan"]["price"]["micros_total"] for stage in plan["stages"]]
    assert plan["micros_total"] == prices[0] + 3 * prices[1] + prices[2]


def test_a_foreign_graph_is_not_there(house: HttpHouse) -> None:
    headers, foreign = as_member(house), 2
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/retry")):
        sent = {"json": {}} if method == "POST" else {}
        found = house.client.request(method, f"/v1/graphs/{foreign}{path}", headers=headers, **sent)
        assert (found.status_code, FOREIGN in found.text) == (404, False)


def test_what_an_attempt_says_is_kept_and_an_unknown_task_is_refused(house: HttpHouse) -> None:
    headers = as_member(house)
    report = {"task": "a", "attempt": 1, "outputs": {"x": "sha256:" + "0" * 64}}
    path = "/v1/graphs/1/reports"
    assert house.client.post(path, json=report, headers=headers).status_code == 409
    book = house.app.state.house.parts.graphs.book
    begun = TaskState(0)
    begun.phase, begun.attempt = TaskPhase.SUBMITTED, 1
    change = GraphChange(
        phase=GraphPhase.RUNNING, tasks=[TaskRow(0, "a", begun, None)], ended_ms=None
    )
    book.change(book.get(1), change)
    admin = {"authorization": f"Bearer {house.token(person(Role.TENANT_ADMIN, OWN))}"}
    assert house.client.post(path, json=report, headers=admin).status_code == 409
    good = house.client.post("/v1/graphs/1/reports", json=report, headers=headers)
    assert good.status_code == 200, good.text
    bad = house.client.post("/v1/graphs/1/reports", json=report | {"task": "z"}, headers=headers)
    assert bad.status_code == 404
    # The token of a job has no other keys.
    terms = Terms(keys=(Permission.LEASE_HOLD, Permission.LEASE_READ))
    token = house.token(person(Role.PROJECT_MEMBER, OWN), terms=terms)
    own = {"authorization": f"Bearer {token}"}
    assert house.client.post("/v1/graphs/1/reports", json=report, headers=own).status_code == 200
    assert house.client.get("/v1/graphs/1", headers=own).status_code == 403
