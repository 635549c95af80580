"""Asking first: what a request would lead to, why, what became of it, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.billing.rates import LIST_PRICES
from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.kernel import ChangeSettings, DepartNode, RegisterNode, Tick
from bailiwick.vocab.values import GIB
from bailiwick.vocab.words import HardwareGeneration, Priority
from tests.support.http_house import HttpHouse, MovedClock, http_house
from tests.support.wide_open import wide_settings

LEASE = {"tenant": "lab", "project": "p", "resources": {"cpu_milli": 500}}
HUGE = {**LEASE, "resources": {"cpu_milli": 10**6}}
FULL = {**LEASE, "resources": {"cpu_milli": 64_000}}
ME = "project_member@lab"
HOPPER = HardwareGeneration.NVIDIA_HOPPER


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as made:
        for entry_id in (1, 2):
            made.plain("cancel", entry_id=entry_id)
        yield made


def plan(house: HttpHouse, body: dict[str, Any], who: str = ME) -> Any:
    found = house.ask(who, "POST", "/v1/leases?dry_run=true", json=body)
    assert found.status_code == 200, found.text
    return found.json()


def explain(house: HttpHouse, body: dict[str, Any], who: str = ME) -> Any:
    found = house.ask(who, "POST", "/v1/leases/explain", json=body)
    assert found.status_code == 200, found.text
    return found.json()


def add_gpus(house: HttpHouse, name: str = "g1", devices: int = 2) -> None:
    gpus = (GpuDevice(HOPPER, 80 * GIB),) * devices
    house.do(RegisterNode(name, NodeCapacity(cpu_cores=16, mem_bytes=GIB, gpus=gpus)))


def test_what_the_work_is_said_to_be_is_told_with_its_lease_and_while_it_waits(
    house: HttpHouse,
) -> None:
    said = {"job_labels": ["team=red", "clearance=low"]}
    got = house.ask(ME, "POST", "/v1/leases", json={**LEASE, **said})
    lease = house.ask(ME, "GET", f"/v1/leases/{got.json()['lease_ids'][0]}").json()
    assert lease["job_labels"] == ["clearance=low", "team=red"]
    got = house.ask(ME, "POST", "/v1/leases", json={**FULL, **said})
    entry = house.ask(ME, "GET", f"/v1/queue/{got.json()['entry_id']}").json()
    assert entry["job_labels"] == ["clearance=low", "team=red"]


# -- plans -----------------------------------------------------------------------------------


def test_a_plan_says_where_it_would_run_and_what_it_costs(house: HttpHouse) -> None:
    found = plan(house, {**LEASE, "ttl_ms": 1_800_000})
    assert (found["plan"], found["nodes"]) == ("grant", ["n1"])
    assert found["price"] == {
        "currency": "credit",
        "micros_per_hour": 10_000,
        "micros_total": 5_000,
        "is_upper_bound": False,
    }
    spot = plan(house, {**LEASE, "lease_class": "spot", "gang_size": 2})
    assert spot["nodes"] == ["n1", "n1"]
    assert spot["price"]["micros_per_hour"] == 8_000


def test_gpus_are_priced_by_what_would_be_granted_or_else_by_the_dearest(house: HttpHouse) -> None:
    add_gpus(house)
    half = {**LEASE, "resources": {}, "gpu_milli": 500}
    granted = plan(house, half)["price"]
    assert (granted["micros_per_hour"], granted["is_upper_bound"]) == (1_200_000, False)
    waits = {**half, "gpu_milli": 0, "gpu_count": 2, "gang_size": 2}
    price = plan(house, waits)["price"]
    assert (price["micros_per_hour"], price["is_upper_bound"]) == (4 * 2_400_000, True)
    named = plan(house, {**waits, "gpu_generation": "nvidia_hopper"})["price"]
    assert (named["micros_per_hour"], named["is_upper_bound"]) == (4 * 2_400_000, False)


def test_a_plan_to_wait_says_when_and_one_to_refuse_says_why(house: HttpHouse) -> None:
    waits = plan(house, FULL)
    assert (waits["plan"], waits["denied"]["detail"]) == ("queue", "not_enough_free")
    assert waits["estimate"]["basis"] in ("reservation", "expiry", "beyond_horizon")
    refused = plan(house, {**FULL, "wait": False})
    assert (refused["plan"], refused["denied"]["detail"]) == ("refuse", "not_enough_free")
    never = plan(house, HUGE)
    assert (never["plan"], never["denied"]["detail"]) == ("refuse", "larger_than_any_node")
    assert never["price"]["micros_per_hour"] == 1_000 * 20_000


def test_victims_are_named_to_who_may_see_them_and_hidden_from_others(house: HttpHouse) -> None:
    let_evict(house, 30_000)
    urgent = {**FULL, "priority": "high"}
    found = plan(house, urgent)
    assert (found["plan"], found["nodes"]) == ("preempt", ["n1"])
    assert found["until_ms"] > 0
    assert found["loss_ratio_milli"] == 1000, "nobody cheaper would do"
    kept = {"priority": "normal", "lease_class": "standard"}
    assert sorted(found["victims"], key=lambda v: v["tenant"]) == [
        {"lease_id": None, "tenant": "another", **kept},
        {"lease_id": 1, "tenant": "lab", **kept},
    ]
    assert "rival" not in str(found)
    whole = plan(house, urgent, "fleet_admin")["victims"]
    assert {(v["lease_id"], v["tenant"]) for v in whole} == {(1, "lab"), (2, "rival")}


def let_evict(house: HttpHouse, grace_ms: int) -> None:
    settings = wide_settings(preempt_from=Priority.HIGH, grace_ms=grace_ms, min_run_ms=0)
    house.do(ChangeSettings(settings))


# -- explanations ----------------------------------------------------------------------------


def test_an_explanation_counts_the_nodes_and_says_what_would_help(house: HttpHouse) -> None:
    add_gpus(house)
    fits = explain(house, LEASE)
    assert (fits["blocker"], fits["blockers"]) == (None, [])
    assert (fits["fitting"], fits["nodes"], fits["fallen"]) == (2, 2, {})
    assert fits["remedy"]["remedy"] == "nothing_needed"
    assert fits["plan"]["plan"] == "grant"
    waits = explain(house, FULL)
    assert waits["blocker"]["detail"] == "fragmented"
    assert waits["fallen"] == {"cpu": 2}
    assert waits["remedy"]["remedy"] == "wait_or_preempt"
    assert waits["plan"]["plan"] == "queue"
    never = explain(house, HUGE)
    assert never["remedy"] == {
        "remedy": "change_request",
        "amount": 10**6 - 64_000,
        "unit": "cpu_milli",
        "lease_ids": [],
    }
    assert never["plan"]["plan"] == "refuse"


def test_all_blockers_are_told_the_first_one_first(house: HttpHouse) -> None:
    quota = {"limits": {"cpu_milli": 2_000}}
    path = "/v1/tenants/lab/quota"
    assert house.ask("fleet_admin", "PUT", path, json=quota).status_code == 200
    found = explain(house, FULL)
    details = [blocker["detail"] for blocker in found["blockers"]]
    assert set(details) == {"hard_limit_exceeded", "not_enough_free"}
    assert found["blocker"] == found["blockers"][0]
    assert found["remedy"]["remedy"] == "raise_quota"


def test_who_may_not_submit_may_still_ask_why(house: HttpHouse) -> None:
    assert explain(house, LEASE, "project_viewer@lab")["plan"]["plan"] == "grant"
    dry = house.ask("project_viewer@lab", "POST", "/v1/leases?dry_run=true", json=LEASE)
    assert dry.status_code == 403


def test_an_entry_says_how_the_nodes_fared_and_what_would_help(house: HttpHouse) -> None:
    (entry_id,) = [house.ask(ME, "POST", "/v1/leases", json=FULL).json()["entry_id"]]
    entry = house.ask(ME, "GET", f"/v1/queue/{entry_id}").json()
    assert (entry["fallen"], entry["fitting"]) == ({"cpu": 1}, 0)
    assert entry["remedy"] == {
        "remedy": "wait_or_preempt",
        "amount": 2_000,
        "unit": "cpu_milli",
        "lease_ids": [],
    }


# -- the past --------------------------------------------------------------------------------


def kinds(house: HttpHouse, lease_id: int, who: str = ME) -> list[str]:
    found = house.ask(who, "GET", f"/v1/leases/{lease_id}/explain")
    assert found.status_code == 200, found.text
    return [row["kind"] for row in found.json()["items"]]


def test_what_became_of_a_lease_is_told_from_the_queue_to_its_end(house: HttpHouse) -> None:
    house.plain("release", lease_id=2)
    waits = house.ask(ME, "POST", "/v1/leases", json=FULL).json()
    assert waits["answer"] == "queued"
    house.plain("release", lease_id=1)
    house.do(Tick())
    (lease_id,) = house.runner.read(lambda view: list(view.state.leases))
    assert kinds(house, lease_id)[0] == "request_queued"
    assert kinds(house, lease_id)[-1] == "admission_approved"
    house.plain("release", lease_id=lease_id)
    assert kinds(house, lease_id)[-1] == "lease_released"
    pages, cursor = [], ""
    while cursor is not None:
        path = f"/v1/leases/{lease_id}/explain?limit=1{cursor}"
        page = house.ask(ME, "GET", path).json()
        pages += [row["kind"] for row in page["items"]]
        cursor = None if page["next"] is None else f"&cursor={page['next']}"
    assert pages == kinds(house, lease_id)


def test_anothers_lease_is_absent_while_it_runs_and_when_it_has_ended(house: HttpHouse) -> None:
    for _ in range(2):
        path = "/v1/leases/{}/explain"
        foreign = house.ask(ME, "GET", path.format(2))
        nowhere = house.ask(ME, "GET", path.format(99))
        assert foreign.status_code == nowhere.status_code == 404
        assert foreign.json()["message"] == nowhere.json()["message"]
        if 2 in house.runner.read(lambda view: list(view.state.leases)):
            house.plain("release", lease_id=2)
    assert kinds(house, 2, "project_viewer@rival") == ["admission_approved", "lease_released"]


def test_who_went_for_whom_is_not_told(house: HttpHouse) -> None:
    let_evict(house, 0)
    urgent = {**FULL, "priority": "high"}
    made = house.ask(ME, "POST", "/v1/leases", json=urgent).json()
    assert made["answer"] == "granted"
    found = house.ask("project_viewer@rival", "GET", "/v1/leases/2/explain")
    assert found.json()["items"][-1]["body"]["preemptor"] == "another"
    assert "lab" not in found.text
    listed = house.ask("tenant_auditor@rival", "GET", "/v1/tenants/rival/records?limit=500")
    assert "project_member@lab" not in listed.text
    whole = house.ask("fleet_admin", "GET", "/v1/leases/2/explain")
    assert whole.json()["items"][-1]["body"]["preemptor"] == "lab"


def test_who_waits_is_traced_to_its_start_and_the_evicted_are_told_of_nobody(
    tmp_path: Path,
) -> None:
    clock = MovedClock()
    with http_house(tmp_path, clock=clock) as house:
        for entry_id in (1, 2):
            house.plain("cancel", entry_id=entry_id)
        let_evict(house, 60_000)
        urgent = {**FULL, "priority": "high"}
        headers = {"X-Correlation-Id": "urgent-1"}
        asked = house.ask(ME, "POST", "/v1/leases", json=urgent, headers=headers)
        assert asked.json()["answer"] == "queued", asked.text
        clock.ahead_ms = 120_000
        house.do(Tick(), correlation_id="tick")

        def story(who: str) -> list[tuple[str, str]]:
            found = house.ask(who, "GET", "/v1/traces/urgent-1").json()
            told = [e for e in found["entries"] if e["source"] in ("decision", "event")]
            return [(e["name"], e["details"]["tenant"]) for e in told]

        own = [("request_queued", "lab"), ("request_blocked", "lab")]
        own_end = [("lease_preempted", "lab"), ("admission_approved", "lab")]
        assert set(story("fleet_auditor")) >= {*own, *own_end, ("lease_preempted", "rival")}
        assert set(story(ME)) == {*own, ("lease_revoked", "lab"), *own_end}
        for path in ("/v1/leases/2/explain", "/v1/tenants/rival/records?limit=500"):
            found = house.ask("tenant_auditor@rival", "GET", path)
            assert found.status_code == 200
            assert "urgent-1" not in found.text
            assert '"lab"' not in found.text
        listed = house.ask("tenant_auditor@rival", "GET", "/v1/tenants/rival/decisions")
        assert "urgent-1" not in listed.text
        last = house.ask("project_viewer@rival", "GET", "/v1/leases/2/explain").json()["items"][-1]
        assert (last["kind"], last["body"]["preemptor"]) == ("lease_preempted", "another")
        assert not {"preemptor_entry_id", "preemptor_lease_id"} & last["body"].keys()


def test_who_gets_his_place_back_is_not_told_from_whom(house: HttpHouse) -> None:
    let_evict(house, 60_000)
    headers = {"X-Correlation-Id": "urgent-2"}
    urgent = {**FULL, "priority": "high"}
    asked = house.ask(ME, "POST", "/v1/leases", json=urgent, headers=headers).json()
    entry = asked["entry_id"]
    gone = house.ask(ME, "DELETE", f"/v1/queue/{entry}", headers=headers)
    assert gone.status_code == 200, gone.text
    for path in ("/v1/leases/2/explain", "/v1/tenants/rival/decisions"):
        found = house.ask("tenant_auditor@rival", "GET", path)
        assert "lease_restored" in found.text
        assert "urgent-2" not in found.text
        assert ME not in found.text
    kinds_ = [e["name"] for e in house.ask(ME, "GET", "/v1/traces/urgent-2").json()["entries"]]
    assert "lease_restored" in kinds_, "its own tenant's lease has its place back, too"


def test_a_departed_node_tells_each_owner_of_his_lease_alone(house: HttpHouse) -> None:
    house.do(DepartNode("n1"))
    for lease_id, tenant in ((1, "lab"), (2, "rival")):
        found = house.ask(f"project_viewer@{tenant}", "GET", f"/v1/leases/{lease_id}/explain")
        last = found.json()["items"][-1]
        assert (last["kind"], last["body"]["lease_ids"]) == ("node_departed", [lease_id])


def test_decisions_are_a_tenants_own_newest_first_and_a_projects_for_its_people(
    house: HttpHouse,
) -> None:
    house.ask(ME, "POST", "/v1/leases", json=HUGE)
    house.ask("tenant_admin@lab", "POST", "/v1/leases", json={**HUGE, "project": None})
    path = "/v1/tenants/lab/decisions"
    page = house.ask("tenant_auditor@lab", "GET", path).json()
    rows = page["items"]
    assert [row["seq"] for row in rows] == sorted((row["seq"] for row in rows), reverse=True)
    assert (rows[0]["kind"], rows[0]["detail"]) == ("admission_denied", "larger_than_any_node")
    assert rows[0]["project"] is None
    assert rows[-1]["lease_id"] == 1
    own = house.ask("project_viewer@lab", "GET", path).json()["items"]
    assert own == [row for row in rows if row["project"] == "p"]
    denied = house.ask(ME, "GET", f"{path}?kind=admission_denied&limit=1").json()
    assert [row["kind"] for row in denied["items"]] == ["admission_denied"]
    found, cursor = [], ""
    while cursor is not None:
        page = house.ask("tenant_auditor@lab", "GET", f"{path}?limit=2{cursor}").json()
        found += page["items"]
        cursor = None if page["next"] is None else f"&cursor={page['next']}"
    assert found == rows


# -- money -----------------------------------------------------------------------------------


def test_usage_counts_what_ended_and_what_runs(house: HttpHouse) -> None:
    add_gpus(house)
    work = {**LEASE, "tag": "night", "gpu_count": 1, "gpu_generation": "nvidia_hopper"}
    made = [house.ask(ME, "POST", "/v1/leases", json=work).json() for _ in range(2)]
    house.ask(ME, "DELETE", f"/v1/leases/{made[0]['lease_ids'][0]}")
    usage = house.ask("tenant_auditor@lab", "GET", "/v1/tenants/lab/usage").json()
    assert (usage["basis"], usage["currency"], usage["rows_left"]) == ("metered", "credit", 0)
    rows = {(row["tag"], row["generation"]): row for row in usage["rows"]}
    assert rows.keys() == {("night", "nvidia_hopper"), (None, None)}
    night = rows["night", "nvidia_hopper"]
    assert (night["project"], night["lease_class"]) == ("p", "standard")
    assert (night["leases"], night["running"]) == (2, 1)
    assert rows[None, None]["gpu_micro_seconds"] == 0
    assert usage["total"]["leases"] == 3
    assert usage["total"]["running"] == 2
    for name in ("cost_micros", "gpu_micro_seconds", "leases", "running"):
        assert sum(row[name] for row in usage["rows"]) == usage["total"][name]


def test_usage_is_seen_where_the_key_is_held(house: HttpHouse) -> None:
    house.plain(
        "submit",
        tenant="lab",
        request={
            "resources": {"cpu_milli": 1_000},
            "priority": "normal",
            "lease_class": "standard",
        },
    )
    path = "/v1/tenants/lab/usage"
    whole = house.ask("tenant_auditor@lab", "GET", path).json()
    assert {row["project"] for row in whole["rows"]} == {"p", None}
    part = house.ask("project_viewer@lab", "GET", path).json()
    assert {row["project"] for row in part["rows"]} == {"p"}
    assert part["total"]["leases"] == 1


def test_the_rate_card_is_told(house: HttpHouse) -> None:
    rates = house.ask("project_viewer@lab", "GET", "/v1/rates").json()
    assert rates["currency"] == LIST_PRICES.currency
    assert rates["gpu_micros_per_hour"]["nvidia_hopper"] == 2_400_000
    assert rates["gpu_micros_per_hour"].keys() == set(HardwareGeneration)
    assert rates["class_per_mille"] == {"guaranteed": 1_300, "standard": 1_000, "spot": 400}
