"""What is read of a Kubernetes cluster: pods on nodes, and known violations in a dump made by hand.

The objects follow the public schema of ``v1`` pods and nodes.
"""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.adapters.cluster import ClusterReading, SubjectWords
from bailiwick.isolation.adapters.kubernetes import read_kubernetes
from bailiwick.isolation.judge import violations
from bailiwick.isolation.policy import Dedicated, Distrust, EachTenant, OfTenant, OnlyOn, Policy
from bailiwick.vocab.errors import InvalidValue


def node(name: str, *, gpus: int = 0, **labels: str) -> dict[str, Any]:
    zone = {"topology.kubernetes.io/zone": "z1", "kubernetes.io/hostname": name}
    capacity = {"cpu": "64", "memory": "263856Mi", "pods": "110"}
    if gpus:
        capacity["nvidia.com/gpu"] = str(gpus)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**zone, **labels}},
        "status": {"capacity": capacity},
    }


def pod(
    name: str,
    where: str | None,
    *,
    space: str = "acme",
    phase: str = "Running",
    gpus: int = 0,
    labels: dict[str, str] | None = None,
) -> dict[str, Any]:
    resources: dict[str, Any] = {"requests": {"cpu": "2"}}
    if gpus:
        resources["limits"] = {"nvidia.com/gpu": str(gpus)}
    spec: dict[str, Any] = {"containers": [{"name": "main", "resources": resources}]}
    if where is not None:
        spec["nodeName"] = where
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": space, "labels": labels or {}},
        "spec": spec,
        "status": {"phase": phase},
    }


def read(*documents: object, tenant: str = "namespace") -> ClusterReading:
    return read_kubernetes(list(documents), naming=SubjectWords(tenant), known={})


def test_known_violations_are_found_in_a_dump() -> None:
    dump = {
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            node("n1", gpus=4),
            node("n2", secure="yes"),
            pod("train", "n1", gpus=2),
            pod("vault", "n1", space="bank", gpus=1),
            pod("report", "n2", space="bank"),
            pod("web", "n2", space="lab", phase="Succeeded"),
            pod("later", None, space="lab", phase="Pending"),
        ],
    }
    found = read(dump)
    policy = Policy(
        (
            Dedicated("vault", DomainKind.HOST, OfTenant("bank")),
            Distrust("fabrics", (DomainKind.FABRIC,), EachTenant()),
            OnlyOn("secure", OfTenant("bank"), (("secure", "yes"),)),
        )
    )
    told = {(v.rule, v.domain, v.who) for v in violations(policy, found.placements, now_ms=0)}
    assert told == {
        ("vault", "n1", ("acme/train", "bank/vault")),
        ("fabrics", "n1/gpus", ("acme/train", "bank/vault")),
        ("secure", "n1", ("bank/vault",)),
    }


def test_lists_of_one_kind_need_not_name_the_kind_of_each() -> None:
    pods = {"kind": "PodList", "items": [{k: v for k, v in pod("a", "n1").items() if k != "kind"}]}
    nodes = {"kind": "NodeList", "items": [node("n1")]}
    found = read(pods, nodes)
    assert [each.id for each in found.placements] == ["acme/a"]
    assert set(found.sites) == {"n1"}


def test_a_pod_counts_from_its_binding_to_its_end() -> None:
    phases = ("Pending", "Running", "Unknown", "Succeeded", "Failed")
    pods = [pod(phase.lower(), "n1", phase=phase) for phase in phases]
    ids = [each.id for each in read(node("n1"), *pods).placements]
    assert ids == ["acme/pending", "acme/running", "acme/unknown"]


def test_zone_and_region_are_segment_and_region() -> None:
    east = {
        **node("n1"),
        "metadata": {"name": "n1", "labels": {"topology.kubernetes.io/region": "e"}},
    }
    (placed,) = read(east, pod("a", "n1")).placements
    assert placed.domains[DomainKind.REGION] == {"e"}
    (other,) = read(node("n1"), pod("a", "n1")).placements
    assert other.domains[DomainKind.SEGMENT] == {"z1"}


def test_a_tenant_may_be_a_label_and_who_lacks_it_is_alone() -> None:
    labelled, bare = pod("a", "n1", labels={"team": "red"}), pod("b", "n1")
    found = read(node("n1"), labelled, bare, tenant="team")
    assert [each.subject.tenant for each in found.placements] == ["red", "pod-acme/b"]
    assert any("no label team" in each for each in found.unseen)


def test_a_pod_with_gpus_is_on_every_fabric_of_its_node_and_one_without_on_none() -> None:
    found = read(node("n1", gpus=8), pod("a", "n1", gpus=1), pod("b", "n1"))
    assert [bool(each.domains[DomainKind.FABRIC]) for each in found.placements] == [True, False]
    claimed = pod("c", "n1")
    claimed["spec"]["resourceClaims"] = [{"name": "gpu"}]
    (placed,) = read(node("n1", gpus=8), claimed).placements
    assert placed.domains[DomainKind.FABRIC]


def test_what_could_not_be_seen_is_said() -> None:
    found = read(node("n1"), pod("a", "elsewhere"), {"kind": "Service", "metadata": {}})
    assert any("node elsewhere" in each for each in found.unseen)
    assert any("kind Service" in each for each in found.unseen)
    assert any("which cores and GPUs" in each for each in found.unseen)


@pytest.mark.parametrize(
    "broken",
    ["pods", {"kind": "PodList", "items": {}}, {"kind": "Pod"}, {"kind": "Node", "metadata": []}],
)
def test_what_is_malformed_is_refused(broken: object) -> None:
    with pytest.raises(InvalidValue):
        read(broken)
