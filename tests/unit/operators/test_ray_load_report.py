"""What a cluster says of itself is believed as far as it has the shape of it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.operators.ray.load_report import LoadReport, RayMember, Unclear, parse_load

json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=12,
)


def told(nodes: Any, report: Any) -> dict[str, Any]:
    """As Ray 2.60 answers."""
    status = {"data": {"clusterStatus": {"loadMetricsReport": report}}}
    return {"nodes": {"data": {"result": {"result": nodes}}}, "status": status}


def node(number: str, *, state: str = "ALIVE", cpus: float = 2.0) -> dict[str, Any]:
    labels = {"bailiwick-member": number, "ray.io/node-id": f"id-{number}"}
    has = {"CPU": cpus, "memory": 100.0, "node:127.64.0.2": 1.0}
    return {"node_id": f"id-{number}", "state": state, "labels": labels, "resources_total": has}


def test_members_are_those_that_are_alive_and_say_so() -> None:
    usage = {
        "id-2": {"CPU": [1.0, 2.0], "memory": [0.0, 100.0]},
        "id-3": {"CPU": [0.0, 2.0], "objectStoreMemory": [5.0, 9.0]},
    }
    rows = [node("2"), node("3"), node("4", state="DEAD"), {**node("5"), "labels": {}}]
    found = parse_load(told(rows, {"usageByNode": usage}))
    has = {"CPU": 2.0, "memory": 100.0, "node:127.64.0.2": 1.0}
    assert found == LoadReport({2: RayMember(2, has, True), 3: RayMember(3, has, False)})


def test_what_waits_is_tasks_and_the_bundles_of_placement_groups() -> None:
    group = {"strategy": "PACK", "bundles": [[{"GPU": 1.0}, 2]]}
    report = {"resourceDemand": [[{"CPU": 1.0}, 2]], "pgDemand": [[group, 3]]}
    assert parse_load(told([], report)).demand == (({"CPU": 1.0}, 2), ({"GPU": 1.0}, 6))


def test_a_cluster_that_has_reported_nothing_yet_has_nothing() -> None:
    answer = told([], None)
    assert parse_load(answer) == LoadReport()
    answer["status"]["data"]["clusterStatus"] = None
    assert parse_load(answer) == LoadReport()


@given(json, json)
def test_anything_else_is_unclear_and_nothing_worse(nodes: Any, report: Any) -> None:
    for answer in (told(nodes, report), {"nodes": nodes, "status": report}):
        try:
            found = parse_load(answer)
        except Unclear:
            continue
        assert all(count >= 0 for _, count in found.demand)
