"""What a Ray cluster answers is read strictly: what is not an answer decides nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bailiwick.executors.ray.jobs_api import RayCluster, RayState, parse_jobs, parse_nodes
from bailiwick.vocab.errors import InvalidValue, Unavailable
from bailiwick.vocab.words import HardwareGeneration

OURS = "bw-0123abcd-7-0123456789ab"


def node(**more: Any) -> dict[str, Any]:
    return {
        "state": "ALIVE",
        "node_id": "ab",
        "node_ip": "10.0.0.1",
        "node_name": "10.0.0.1",
        "resources_total": {"CPU": 8.0, "GPU": 4.0, "GEN_hopper": 4.0},
        "labels": {"bailiwick-node": "h1"},
        **more,
    }


def answer(*nodes: dict[str, Any]) -> dict[str, Any]:
    return {"data": {"result": {"result": list(nodes)}}}


def test_only_our_own_jobs_are_read() -> None:
    others = [{"submission_id": None}, {"submission_id": f"{OURS}\n"}, {"status": "?"}, 7]
    told = [*others, {"submission_id": OURS, "status": "FAILED", "message": "a\nb\n"}]
    found = parse_jobs(told)
    assert found.keys() == {OURS}
    assert (found[OURS].state, found[OURS].message) == (RayState.FAILED, "b")


@pytest.mark.parametrize(
    "told", [None, {}, "[]", [{"submission_id": OURS, "status": "ODD"}], [{"submission_id": OURS}]]
)
def test_what_is_no_list_of_jobs_is_no_answer(told: Any) -> None:
    with pytest.raises(Unavailable):
        parse_jobs(told)


def test_a_node_is_ours_by_its_label_and_else_by_its_name_and_the_dead_are_none() -> None:
    named = parse_nodes(answer(node(), node(labels={}), node(state="DEAD")))
    assert [each.name for each in named] == ["h1", "10.0.0.1"]
    assert named[0].generations == ("GEN_hopper",)
    assert named[0].lacks({"CPU": 8.0, "GPU": 4}) is None
    assert named[0].lacks({"CPU": 8.0, "GPU": 5}) == "GPU"
    assert named[0].lacks({"GEN_ampere": 1}) == "GEN_ampere"


@pytest.mark.parametrize("word", ["GEN_hopper", "GEN_nvidia_hopper", "GEN_h100", "GEN_H100"])
def test_a_node_is_an_inventory_with_the_generation_that_its_resource_names(word: str) -> None:
    has = {"CPU": 7.5, "memory": 2.0**34, "GPU": 3.0, word: 2.0}
    labels = {"bailiwick-node": "h1", "site": "a", "ray.io/node-id": "ab", "executor": "local"}
    labels["attested.x"] = "y"
    (found,) = parse_nodes(answer(node(resources_total=has, labels=labels)))
    capacity = found.capacity()
    assert (capacity.cpu_milli, capacity.mem_bytes) == (7500, 2**34)
    hopper, other = HardwareGeneration.NVIDIA_HOPPER, HardwareGeneration.OTHER
    assert [gpu.generation for gpu in capacity.gpus] == [hopper, hopper, other]
    assert dict(capacity.labels) == {"site": "a"}


@pytest.mark.parametrize("told", [None, {}, {"data": None}, answer({"state": "ALIVE"})])
def test_what_is_no_list_of_nodes_is_no_answer(told: Any) -> None:
    with pytest.raises(Unavailable):
        parse_nodes(told)


@pytest.mark.parametrize("address", ["head:8265", "ftp://head", "http://", ""])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(InvalidValue):
        RayCluster(address)


def test_a_token_goes_over_tls_only_or_to_this_machine(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="https for a token"):
        RayCluster("http://head:8265", token_file=tmp_path)
    RayCluster("https://head:8265", token_file=tmp_path)
    RayCluster("http://127.0.0.1:8265", token_file=tmp_path)
