"""Changes that are tried first: what they would lead to, and what would become of who waits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.iam import Permission, ScopeLevel
from bailiwick.kernel import RegisterNode
from bailiwick.kernel.people.commands import SetMember, SetRole
from bailiwick.runtime import state_copy
from bailiwick.vocab.values import GIB
from bailiwick.vocab.words import HardwareGeneration as Generation
from tests.support.http_house import HttpHouse, http_house

ADMIN, MEMBER, RIVAL = "fleet_admin", "project_member@lab", "project_member@rival"
DRY = "?dry_run=true"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    """Of each tenant a lease on ``n1`` runs, and a request that wants nearly all of it waits."""
    with http_house(tmp_path) as made:
        yield made


def put(house: HttpHouse, who: str, path: str, body: dict[str, Any]) -> Any:
    found = house.ask(who, "PUT", path, json=body)
    assert found.status_code == 200, found.text
    return found.json()


def what_if(house: HttpHouse, who: str, entry: int, **supposed: Any) -> Any:
    return house.ask(who, "POST", f"/v1/queue/{entry}/whatif", json=supposed)


def entries_of(house: HttpHouse, who: str) -> list[int]:
    found = house.ask(who, "GET", "/v1/queue").json()["items"]
    return [each["entry_id"] for each in found]


def seen_now(house: HttpHouse) -> list[Any]:
    paths = ("tenants/lab/quota", "tenants/lab/budget", "nodes", "leases", "tenants/lab/budgets")
    return [house.ask(ADMIN, "GET", f"/v1/{path}").json() for path in paths]


def settled(house: HttpHouse) -> list[Any]:
    """The same, without what time alone changes."""
    quota, budget, nodes, leases, budgets = seen_now(house)
    kinds = ("quota_changed", "budget_changed", "node_mode_changed", "node_registered")
    records = [len(house.records(kind)) for kind in kinds]
    return [quota, budget["budget"], nodes, leases, len(budgets["items"]), records]


def test_a_drain_tells_whom_it_would_end_and_then_ends_them(house: HttpHouse) -> None:
    change = {"mode": "draining", "grace_ms": 60_000}
    tried = put(house, ADMIN, f"/v1/nodes/n1/mode{DRY}", change)
    told = tried["consequence"]
    assert (tried["seq"], told["leaving"], told["staying"]) == (None, 2, 0)
    assert {each["tenant"] for each in told["leases"]} == {"lab", "rival"}
    done = put(house, ADMIN, "/v1/nodes/n1/mode", change)
    assert done["seq"] is not None
    assert done["consequence"] is None
    leases = house.ask(ADMIN, "GET", "/v1/leases").json()["items"]
    assert {each["lease_id"] for each in leases if each["state"] == "grace_running"} == {
        each["lease_id"] for each in told["leases"]
    }


def test_a_cordon_ends_nobody_and_says_so(house: HttpHouse) -> None:
    change = {"mode": "draining", "evict": False}
    told = put(house, ADMIN, f"/v1/nodes/n1/mode{DRY}", change)["consequence"]
    assert (told["leaving"], told["staying"], told["leases"]) == (0, 2, [])


def test_a_quota_tells_what_is_above_it_and_who_could_never_run(house: HttpHouse) -> None:
    tight = {"limits": {"cpu_milli": 500}}
    path = "/v1/tenants/lab/quota"
    told = put(house, ADMIN, path + DRY, tight)["consequence"]
    assert told["limits"]["cpu_milli"] == {
        "before": 10_000_000,
        "after": 500,
        "used": 1000,
        "over": 500,
    }
    (mine,) = entries_of(house, MEMBER)
    assert told["at_once"]["hopeless"] == {"count": 1, "first": [mine]}
    put(house, ADMIN, path, tight)
    (entry,) = house.ask(MEMBER, "GET", "/v1/queue").json()["items"]
    assert entry["estimate"]["basis"] == "waiting_does_not_help"
    wide = put(house, ADMIN, path + DRY, {"limits": {"cpu_milli": 64_000}})["consequence"]
    assert wide["limits"]["cpu_milli"]["before"] == 500
    assert wide["at_once"]["starts"]["count"] == 0, "it waits for room as well"


def test_a_budget_tells_how_it_would_stand_and_when_it_is_used_up(house: HttpHouse) -> None:
    path = "/v1/tenants/lab/budget"
    told = put(house, ADMIN, path + DRY, {"limit_micros": 1})["consequence"]
    assert told["before_micros"] is None or told["before_micros"] > 0
    assert told["after_micros"] == 1
    assert told["state"] is not None
    generous = put(house, ADMIN, path + DRY, {"limit_micros": 10**15})["consequence"]
    assert generous["used_up_ms"] is None
    assert generous["projected_micros"] >= generous["spent_micros"]


def test_trying_changes_nothing_and_writes_nothing(house: HttpHouse) -> None:
    (mine,) = entries_of(house, MEMBER)
    before = settled(house)
    put(house, ADMIN, f"/v1/tenants/lab/quota{DRY}", {"limits": {"cpu_milli": 500}})
    put(house, ADMIN, f"/v1/tenants/lab/budget{DRY}", {"limit_micros": 1})
    put(house, ADMIN, f"/v1/nodes/n1/mode{DRY}", {"mode": "draining"})
    assert what_if(house, MEMBER, mine, nodes=2).status_code == 200
    assert settled(house) == before


def test_new_nodes_let_a_request_start(house: HttpHouse) -> None:
    (mine,) = entries_of(house, MEMBER)
    as_it_is = what_if(house, MEMBER, mine).json()
    assert (as_it_is["result"]["outcome"], as_it_is["new_node"]) == ("waits", None)
    assert as_it_is["result"]["entry"]["entry_id"] == mine
    found = what_if(house, MEMBER, mine, nodes=2)  # the other tenant's may come first
    assert found.status_code == 200, found.text
    assert found.json()["result"] == {"outcome": "starts", "members": 1, "on_new_nodes": 1}
    assert found.json()["new_node"]["resources"]["cpu_milli"] == 64_000


def test_more_quota_lets_a_request_start_that_only_quota_holds(house: HttpHouse) -> None:
    (mine,) = entries_of(house, MEMBER)
    house.ask(ADMIN, "PUT", "/v1/tenants/lab/quota", json={"limits": {"cpu_milli": 2_000}})
    assert what_if(house, MEMBER, mine, nodes=2).json()["result"]["outcome"] == "waits"
    more = {"quota": {"cpu_milli": 62_000}, "nodes": 2}
    assert what_if(house, MEMBER, mine, **more).json()["result"]["outcome"] == "starts"


def test_another_generation_is_another_request(house: HttpHouse) -> None:
    for waiting in (1, 2):
        house.plain("cancel", entry_id=waiting)
    for name, kind in (("g1", Generation.NVIDIA_AMPERE), ("g2", Generation.NVIDIA_HOPPER)):
        gpus = (GpuDevice(kind, 80 * GIB),)
        house.do(RegisterNode(name, NodeCapacity(cpu_cores=16, mem_bytes=GIB, gpus=gpus)))
    body = {"tenant": "lab", "project": "p", "gpu_count": 1, "gpu_generation": "nvidia_ampere"}
    granted = house.ask(MEMBER, "POST", "/v1/leases", json=body)
    assert granted.status_code == 201, granted.text
    entry = house.ask(MEMBER, "POST", "/v1/leases", json=body).json()["entry_id"]
    found = what_if(house, MEMBER, entry, generation="nvidia_hopper").json()
    assert found["result"] == {"outcome": "starts", "members": 1, "on_new_nodes": 0}
    never = what_if(house, MEMBER, entry, generation="nvidia_blackwell").json()
    assert never["result"]["outcome"] == "refused"
    assert never["result"]["denied"]["detail"] == "no_such_hardware"


def test_a_generation_for_a_request_without_gpus_is_refused(house: HttpHouse) -> None:
    (mine,) = entries_of(house, MEMBER)
    assert what_if(house, MEMBER, mine, generation="nvidia_hopper").status_code == 422


@pytest.mark.parametrize(
    "supposed", [{"nodes": 65}, {"nodes": -1}, {"quota": {"cpu_milli": -1}}, {"more": 1}]
)
def test_what_is_supposed_is_bounded(house: HttpHouse, supposed: dict[str, Any]) -> None:
    (mine,) = entries_of(house, MEMBER)
    assert what_if(house, MEMBER, mine, **supposed).status_code == 422


def test_a_stranger_is_told_nothing_of_anothers_entry(house: HttpHouse) -> None:
    (mine,) = entries_of(house, MEMBER)
    foreign = what_if(house, RIVAL, mine, nodes=1)
    nowhere = what_if(house, RIVAL, 10**6, nodes=1)
    assert (foreign.status_code, nowhere.status_code) == (404, 404)
    shown = what_if(house, MEMBER, mine, nodes=1).text + what_if(house, MEMBER, mine).text
    assert "rival" not in shown


def test_who_sets_a_projects_budget_is_told_of_others_how_many_and_no_names(
    house: HttpHouse,
) -> None:
    path, wanted = f"/v1/tenants/lab/projects/p/budget{DRY}", {"limit_micros": 10**9}
    found = house.ask("tenant_admin@lab", "PUT", path, json=wanted)
    assert found.status_code == 200, found.text
    assert "rival" not in found.text
    assert isinstance(found.json()["consequence"]["at_once"]["others_end"], int)


def only(house: HttpHouse, name: str, *keys: Permission) -> str:
    """Somebody at the fleet who has just these keys."""
    house.do(SetRole(name, ScopeLevel.FLEET, keys))
    house.do(SetMember(f"{name}-one", None, custom=name))
    return f"{name}-one"


def test_who_drains_and_may_read_no_lease_is_told_how_many_and_of_none_whose(
    house: HttpHouse,
) -> None:
    who = only(house, "drainer", Permission.NODE_OPERATE)
    told = put(house, who, f"/v1/nodes/n1/mode{DRY}", {"mode": "draining"})["consequence"]
    assert told["leaving"] == 2
    assert {(each["lease_id"], each["tenant"]) for each in told["leases"]} == {(None, "another")}


def test_who_sets_quotas_and_may_read_no_queue_is_told_how_many_and_not_which(
    house: HttpHouse,
) -> None:
    who = only(house, "keeper", Permission.QUOTA_SET, Permission.LEASE_READ)
    change, path = {"limits": {"cpu_milli": 500}}, f"/v1/tenants/lab/quota{DRY}"
    told = put(house, who, path, change)["consequence"]["at_once"]
    whole = put(house, ADMIN, path, change)["consequence"]["at_once"]
    assert whole["hopeless"]["first"]
    assert told == whole | {"hopeless": whole["hopeless"] | {"first": []}}


def test_a_state_that_is_too_large_is_not_copied_and_the_rest_is_told(
    house: HttpHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_copy, "COPIED_MAX", 2)
    path = f"/v1/tenants/lab/quota{DRY}"
    told = put(house, ADMIN, path, {"limits": {"cpu_milli": 500}})["consequence"]
    assert told["at_once"] is None
    assert told["limits"]["cpu_milli"]["over"] == 500
    (mine,) = entries_of(house, MEMBER)
    assert what_if(house, MEMBER, mine, nodes=1).status_code in (409, 422, 429, 503)
