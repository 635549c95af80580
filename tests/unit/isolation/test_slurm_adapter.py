"""What is read of a Slurm cluster: jobs on nodes, in sockets, on GPUs; and what is not told."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from bailiwick.fleet.topology import CacheDomain, DomainKind, NodeTopology
from bailiwick.isolation.adapters.cluster import ClusterReading, SubjectWords
from bailiwick.isolation.adapters.slurm import read_slurm
from bailiwick.isolation.placements import Site
from bailiwick.vocab.errors import InvalidValue

WORDS = SubjectWords("account", "user_name", "comment")

JOB: dict[str, Any] = {
    "account": "acme",
    "comment": "level=red, urgent",
    "start_time": 1_794_849_474,
    "end_time": 1_826_385_474,
    "gres_detail": ["gpu:ampere:1(IDX:1)"],
    "job_id": 7,
    "job_resources": {
        "nodes": "a1",
        "allocated_cores": 2,
        "allocated_hosts": 1,
        "allocated_nodes": [
            {"sockets": {"1": {"cores": {"0": "allocated"}}}, "nodename": "a1", "cpus_used": 0}
        ],
    },
    "job_state": "RUNNING",
    "nodes": "a1",
    "tres_alloc_str": "cpu=2,mem=200M,node=1,billing=2,gres/gpu=1,gres/gpu:ampere=1",
    "user_name": "ann",
    "billable_tres": 2.0,
}
NODE: dict[str, Any] = {
    "name": "a1",
    "sockets": 2,
    "cores": 8,
    "threads": 1,
    "active_features": "rack=r1,infiniband",
    "gres": "gpu:ampere:2",
    "state": "mixed",
}


def job(**other: Any) -> dict[str, Any]:
    return {**copy.deepcopy(JOB), **other}


def read(
    *jobs: dict[str, Any], nodes: list[dict[str, Any]] | None = None, known: Site | None = None
) -> ClusterReading:
    told = {"nodes": [NODE] if nodes is None else nodes}
    sites = {} if known is None else {known.node: known}
    return read_slurm({"jobs": list(jobs)}, told, naming=WORDS, known=sites)


def test_a_job_is_where_slurm_says_in_the_sockets_and_on_the_gpus_it_was_given() -> None:
    (placed,) = read(job()).placements
    assert (placed.id, placed.node, placed.from_ms) == ("7@a1", "a1", 1_794_849_474_000)
    assert (placed.subject.tenant, placed.subject.project) == ("acme", "ann")
    assert placed.subject.labels == {"level": "red"}
    assert placed.domains[DomainKind.CACHE] == {"a1/cache1"}
    assert placed.domains[DomainKind.FABRIC] == {"a1/gpus"}
    assert placed.domains[DomainKind.RACK] == {"r1"}
    assert placed.labels == {"rack": "r1", "infiniband": "yes"}


@pytest.mark.parametrize("state", ["PENDING", "COMPLETED", "CANCELLED", "TIMEOUT", "PREEMPTED"])
def test_who_waits_or_has_gone_is_nowhere(state: str) -> None:
    assert read(job(job_state=state)).placements == ()


@pytest.mark.parametrize("state", ["RUNNING", "SUSPENDED", "STOPPED", "COMPLETING", "CONFIGURING"])
def test_who_has_not_left_counts(state: str) -> None:
    assert len(read(job(job_state=state)).placements) == 1


def test_a_job_that_completes_counts_though_it_was_cancelled() -> None:
    assert len(read(job(job_state=["CANCELLED", "COMPLETING"])).placements) == 1
    assert read(job(job_state=["CANCELLED"])).placements == ()


def test_newer_releases_write_the_same_otherwise() -> None:
    nodes = {"allocation": [{"name": "a1", "sockets": [{"index": 1, "cores": []}]}]}
    newer = job(
        job_state=["RUNNING"],
        job_id=7,
        start_time={"set": True, "infinite": False, "number": 1_794_849_474},
        job_resources={"nodes": nodes},
    )
    assert read(newer).placements == read(job()).placements


def test_what_slurm_does_not_tell_is_taken_for_all_and_said() -> None:
    given = [{"nodename": "a1"}]
    found = read(job(job_resources={"allocated_nodes": given}, gres_detail=[]))
    (placed,) = found.placements
    assert placed.domains[DomainKind.CACHE] == {"a1/cache0", "a1/cache1"}
    assert placed.domains[DomainKind.FABRIC] == {"a1/gpus"}
    assert any("which cores of a1 job 7 has" in each for each in found.unseen)
    assert any("which GPUs a fabric joins" in each for each in found.unseen)


def test_a_job_without_gpus_is_on_no_fabric() -> None:
    (placed,) = read(job(gres_detail=[], tres_alloc_str="cpu=2,mem=200M,node=1")).placements
    assert placed.domains[DomainKind.FABRIC] == frozenset()


def test_the_operator_knows_fabrics_and_caches_better() -> None:
    caches = NodeTopology(tuple(CacheDomain(2_000) for _ in range(8)))
    known = Site("a1", caches, ("blue", "red"), {"rack": "r9"})
    (placed,) = read(job(), known=known).placements
    assert placed.domains[DomainKind.FABRIC] == {"red"}
    assert placed.domains[DomainKind.RACK] == {"r9"}
    assert len(placed.domains[DomainKind.CACHE]) == 8  # a socket is not one of these


def test_work_without_an_account_is_nobody_elses() -> None:
    found = read(job(account=""), job(account="", job_id=8))
    assert {each.subject.tenant for each in found.placements} == {"job-7", "job-8"}
    assert any("no account" in each for each in found.unseen)


def test_a_node_that_was_not_told_is_said() -> None:
    found = read(job(), nodes=[])
    assert len(found.placements) == 1
    assert any("node a1" in each for each in found.unseen)


@pytest.mark.parametrize(
    "broken",
    [
        {"job_resources": {}},
        {"job_id": "7"},
        {"account": 7},
        {"job_resources": {"allocated_nodes": "a1"}},
        {"gres_detail": ["gpu:ampere:1(IDX:x-y)"]},
    ],
)
def test_what_is_malformed_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        read(job(**broken))
