"""Who used whose workers, over HTTP: told by the operator alone, read by whom it concerns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bailiwick.fleet.node import NodeCapacity
from bailiwick.iam import Role
from bailiwick.kernel import RegisterNode, Submit, Tick
from bailiwick.kernel.apps.commands import PublishApp, SetEntitlement
from bailiwick.kernel.apps.instance_commands import MoveMember
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.kernel.people.commands import CreateProject, SetMember
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.services.apps.member_jobs import use_of
from bailiwick.vocab.app_uses import INSTANCE_LABEL
from bailiwick.vocab.apps import ControlPlaneScope, MemberPhase
from bailiwick.vocab.shared import ConsentSide, WorkerAction
from bailiwick.vocab.values import GIB, ProjectId, TenantId
from tests.support.app_manifests import service
from tests.support.http_house import HttpHouse, MovedClock, add_instances, http_house

ALL = "/v1/tenants/lab/runtimes"
ONE = f"{ALL}/hub"
USE, SETTLE = f"{ONE}/usage", f"{ONE}/settlement"
TINA, PIA, QUE, RIA = "tenant_admin@lab", "project_admin@lab", "quentin", "ria"
WISH = {"runtime": "hub", "environment": "prod", "project": "p", "app": "lab.hub"}
SECOND = 1_000
RATE = 250


@pytest.fixture(scope="module")
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, clock: MovedClock) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("data"), clock=clock) as house:
        add_instances(house)
        scopes = (ControlPlaneScope.PROJECT, ControlPlaneScope.TENANT)
        units = ("cpu_second", "gpu_second", "request")
        app = service(app="hub", control_plane_scopes=scopes, billing_units=units)
        house.do(PublishApp(app.canonical, "lab"))
        house.do(SetEntitlement("lab.hub", True, tenant="lab"))
        for project, person in (("q", QUE), ("r", RIA)):
            house.do(CreateProject("lab", project))
            house.do(SetMember(person, Role.PROJECT_ADMIN, "lab", project))
        wish = WISH | {"version": "1.0.0"}
        plan = house.ask(TINA, "POST", "/v1/tenants/lab/runtime-plans", json=wish).json()
        assert plan["rates"] == {}
        made = house.ask(TINA, "POST", ALL, json=wish | {"accepted_digest": plan["digest"]})
        assert made.status_code == 200, made.text
        for project in ("p", "q", "r"):
            of: dict[str, Any] = {"tenant": "lab", "runtime": "hub", "project": project}
            house.do(cmd.ConsentAttachment(**of, side=ConsentSide.TENANT, by="tina"))
            house.do(cmd.ConsentAttachment(**of, side=ConsentSide.PROJECT, by="pia"))
        yield house


def operator(house: HttpHouse) -> dict[str, str]:
    made = house.ask(TINA, "POST", f"{ONE}/operator-token", json={"ttl_s": 60})
    return {"Authorization": f"Bearer {made.json()['token']}"}


def tell(house: HttpHouse, clock: MovedClock, *rows: tuple[str, str, str, int]) -> Any:
    """Of the second that now begins, once it is over."""
    now_ms = clock.now_ms()
    clock.ahead_ms += SECOND
    names = ("user", "source", "unit", "quantity")
    told = [dict(zip(names, row, strict=True)) for row in rows]
    body = {"from_ms": now_ms, "to_ms": now_ms + SECOND, "rows": told}
    return house.client.post(USE, headers=operator(house), json=body), body


def usage(house: HttpHouse, who: str) -> Any:
    found = house.ask(who, "GET", f"{USE}?from_ms=1")
    assert found.status_code == 200, found.text
    return found.json()


def test_the_operator_alone_tells_it_and_once(house: HttpHouse, clock: MovedClock) -> None:
    found, body = tell(house, clock, ("q", "p", "cpu_second", 4), ("p", "p", "cpu_second", 1))
    assert found.status_code == 200, found.text
    sealed = house.records("shared_use_told")[-1]
    assert sealed["users"] == ["p", "q"]
    assert sealed["told_by"].startswith("runtime:")
    again = house.client.post(USE, headers=operator(house), json=body)
    assert again.status_code == 200
    assert len(house.records("shared_use_told")) == 1
    body["rows"][0]["quantity"] = 5
    other = house.client.post(USE, headers=operator(house), json=body)
    assert (other.status_code, other.json()["details"]["reason"]) == (409, "window_overlaps")
    for who in (TINA, "fleet_admin"):
        refused = house.ask(who, "POST", USE, json=body)
        assert (refused.status_code, refused.json()["details"]["reason"]) == (
            403,
            "needs_runtime_operator",
        )
    assert house.ask(PIA, "POST", USE, json=body).status_code in (403, 404)
    read = house.client.get(ONE, headers=operator(house)).json()
    assert read["used_until_ms"] == body["to_ms"]


def test_it_is_read_by_whom_it_concerns_with_the_records(
    house: HttpHouse, clock: MovedClock
) -> None:
    done, _ = tell(house, clock, ("q", "r", "gpu_second", 7), ("r", "p", "cpu_second", 2))
    whole = usage(house, TINA)
    pairs = {(row["user"], row["source"], row["unit"]) for row in whole["rows"]}
    assert {("q", "r", "gpu_second"), ("r", "p", "cpu_second"), ("q", "p", "cpu_second")} <= pairs
    (row,) = [row for row in whole["rows"] if (row["user"], row["source"]) == ("q", "r")]
    assert (row["quantity"], row["seqs"]) == (7, [done.json()["seq"]])
    assert row["beyond"] == 7, "r has no worker there, and so held nothing"
    seen = {(row["user"], row["source"]) for row in usage(house, QUE)["rows"]}
    assert seen == {("q", "p"), ("q", "r")}
    seen = {(row["user"], row["source"]) for row in usage(house, RIA)["rows"]}
    assert seen == {("q", "r"), ("r", "p")}
    assert house.ask("tenant_admin@rival", "GET", USE).status_code == 404


def test_use_is_settled_once_a_person_of_the_tenant_accepted_the_rule(
    house: HttpHouse, clock: MovedClock
) -> None:
    assert usage(house, TINA)["settlement"] is None
    wish = {"rates": {"cpu_second": RATE}}
    plan = house.ask(TINA, "POST", f"{ONE}/settlement-plans", json=wish).json()
    assert f'"cpu_second":{RATE}' in plan["rule"]
    wrong = house.ask(TINA, "PUT", SETTLE, json=wish | {"accepted_digest": "0" * 64})
    assert wrong.json()["details"]["reason"] == "billing_rule_not_accepted"
    body = wish | {"accepted_digest": plan["digest"]}
    assert house.ask(PIA, "PUT", SETTLE, json=body).status_code == 403
    done = house.ask(TINA, "PUT", SETTLE, json=body)
    assert done.status_code == 200, done.text
    view = house.ask(PIA, "GET", ONE).json()
    assert view["settlement"]["rates"] == wish["rates"]
    assert (view["settlement"]["accepted_by"], view["settlement"]["seq"]) == (
        TINA,
        done.json()["seq"],
    )
    assert view["billing_rule"] == plan["rule"]
    unit = house.ask(TINA, "POST", f"{ONE}/settlement-plans", json={"rates": {"request": 1}})
    assert unit.json()["details"]["reason"] == "unit_not_time"


def test_what_is_settled_is_on_invoices_and_for_the_tenant_nothing(
    house: HttpHouse, clock: MovedClock
) -> None:
    member, lease = lend(house, "q")
    row = placements(house, TINA)[member]
    sealed = house.records("admission_approved")[-1]
    assert (row["project"], row["is_contributed"], row["lease_id"]) == ("q", True, lease)
    assert (row["node"], row["part"]) == (sealed["nodes"][0], "workload")
    assert [step["kind"] for step in row["steps"]][:: len(row["steps"]) - 1] == [
        "request_queued",
        "admission_approved",
    ]
    assert row["placed_seq"] == row["steps"][-1]["seq"]
    assert member in placements(house, QUE)
    assert member not in placements(house, RIA)
    clock.ahead_ms += SECOND
    before = {row["project"]: row["owed_micros"] for row in usage(house, TINA)["balances"]}
    found, _ = tell(house, clock, ("r", "q", "cpu_second", 1), ("q", "q", "cpu_second", 1))
    assert found.status_code == 200, found.text
    whole = usage(house, TINA)
    (row,) = [r for r in whole["rows"] if (r["user"], r["source"]) == ("r", "q")]
    assert (row["quantity"], row["owed_micros"]) == (1, 0), "half of two told in one core's second"
    found, _ = tell(house, clock, ("r", "q", "cpu_second", 1))
    after = {row["project"]: row["owed_micros"] for row in usage(house, TINA)["balances"]}
    assert after["r"] - before.get("r", 0) == RATE
    assert after["q"] - before.get("q", 0) == -RATE
    assert sum(after.values()) == 0
    (mine,) = [row for row in usage(house, RIA)["balances"] if row["project"] == "r"]
    assert mine["owed_micros"] == after["r"]
    clock.ahead_ms += SECOND
    draft = "/v1/tenants/lab/invoice-draft?from_ms=1"
    tenant = house.ask(TINA, "GET", draft).json()["body"]
    sides = {(row["project"], row["side"], row["cost_micros"]) for row in tenant["settled_lines"]}
    assert sides == {("r", "used", RATE), ("q", "lent", -RATE)}
    own = house.ask(RIA, "GET", f"{draft}&project=r").json()["body"]
    assert [row["side"] for row in own["settled_lines"]] == ["used"]
    assert own["total_micros"] == RATE


def placements(house: HttpHouse, who: str) -> dict[str, Any]:
    found = house.ask(who, "GET", f"{ONE}/placements")
    assert found.status_code == 200, found.text
    return {row["component_key"]: row for row in found.json()["items"]}


def lend(house: HttpHouse, project: str) -> tuple[str, int]:
    """A worker of a project, on a lease of its own."""
    name, own = f"{project}-0", {"tenant": "lab", "project": project}
    give = {"component_key": name, "role": "worker", "key": "give"}
    house.do(cmd.ChangeContribution(**own, runtime="hub", **give, action=WorkerAction.CONTRIBUTE))
    state = house.runner.read(lambda view: view.state)
    held = state.apps.instances.held[state.apps.shared.get("lab", "hub").runtime.instance_id]
    manifest = state.apps.version("lab.hub", "1.0.0").manifest
    labels = use_of(held.instance, manifest.roles["worker"]).labels()
    ids = {"tenant": TenantId("lab"), "project": ProjectId(project)}
    wish = PlacementRequest(**ids, cpu_cores=1, ttl_ms=3_600_000, job_labels=labels)
    house.do(Submit(wish))  # it waits, until there is a node for it
    house.do(RegisterNode("n9", NodeCapacity(cpu_cores=64, mem_bytes=64 * GIB)))
    house.do(Tick())
    granted = house.records("admission_approved")[-1]
    assert f"{INSTANCE_LABEL}={held.instance.id}" in granted["job_labels"]
    lease_id = granted["lease_ids"][0]
    where = {"tenant": "lab", "project": "p", "instance_id": held.instance.id}
    number = held.components[name]
    house.do(MoveMember(**where, member_id=number, phase=MemberPhase.JOINING, lease_id=lease_id))
    return name, lease_id
