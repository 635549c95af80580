"""Configurations of a real Slurm that are meant to keep two tenants apart: which do, which leak."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.judge import Violation
from bailiwick.isolation.placements import Site
from bailiwick.isolation.policy import Subject
from bailiwick.isolation.trace import (
    IsolationTrace,
    TraceJob,
    TraceSeat,
    TraceStep,
    TraceWord,
    spell_trace,
)
from tests.support.slurm_cluster import SlurmCluster, slurm_cluster
from tests.support.waiting import WAIT_S

HOST = "apart: never share host between tenant acme and tenant bank\n"
CACHE = "caches: never share cache between tenant acme and tenant bank\n"
SOCKETS = "Sockets=2 CoresPerSocket=2 ThreadsPerCore=1"
ALL = "PartitionName=all Nodes=ALL Default=YES State=UP"
OWN = """\
PartitionName=acme Nodes=h1 AllowAccounts=acme State=UP
PartitionName=bank Nodes={bank} AllowAccounts=bank State=UP
"""


@dataclass(frozen=True)
class Configured:
    """A configuration, the policy it is meant for, and whether it keeps it."""

    name: str
    holds: bool
    partitions: str = ALL
    settings: dict[str, str] = field(default_factory=dict)
    policy: str = HOST


CONFIGURATIONS = (
    # Features choose where work that asks for them may run; they keep nobody out.
    Configured("features_only", holds=False),
    Configured("overlapping_partitions", holds=False, partitions=OWN.format(bank="h1,h2")),
    Configured("default_partition_over_all", holds=False, partitions=OWN.format(bank="h2") + ALL),
    Configured("exclusive_left_to_users", holds=False, partitions=f"{ALL} OverSubscribe=NO"),
    Configured("cores_under_one_cache", holds=False, policy=CACHE),
    Configured("disjoint_partitions", holds=True, partitions=OWN.format(bank="h2")),
    Configured("exclusive_nodes", holds=True, partitions=f"{ALL} OverSubscribe=EXCLUSIVE"),
    Configured(
        "labels_by_account",
        holds=True,
        settings={"MCSPlugin": "mcs/account", "MCSParameters": "enforced,select"},
    ),
    Configured(
        "whole_sockets",
        holds=True,
        settings={"SelectTypeParameters": "CR_Socket_Memory"},
        policy=CACHE,
    ),
)
PLAIN = {
    "MCSPlugin": "",
    "MCSParameters": "",
    "SelectTypeParameters": "CR_Core_Memory",
    "EnforcePartLimits": "ALL",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[SlurmCluster]:
    features = {"h1": "acme", "h2": "bank", "a1": "spare"}
    words = {node: f"{SOCKETS} Feature={feature}" for node, feature in features.items()}
    with slurm_cluster(words) as found:
        me = found.run("id", "-un").strip()
        for account in ("acme", "bank"):
            found.run("sacctmgr", "-iQ", "add", "account", account)
            found.run("sacctmgr", "-iQ", "add", "user", me, f"account={account}")
        yield found


def conformance(
    cluster: SlurmCluster, folder: Path, policy: str, *more: str
) -> subprocess.CompletedProcess[str]:
    (folder / "policy.txt").write_text(policy)
    words = ("--target", "slurm", "--policy", str(folder / "policy.txt"), "-y", "-o", "json")
    return subprocess.run(
        (sys.executable, "-m", "bailiwick.cli.main", "isolation", "conformance", *words, *more),
        env=cluster.env,
        capture_output=True,
        text=True,
        timeout=4 * WAIT_S,
        check=False,
    )


@pytest.mark.parametrize("configured", CONFIGURATIONS, ids=lambda each: each.name)
def test_a_leaky_configuration_is_caught_and_the_mended_one_holds(
    cluster: SlurmCluster, configured: Configured, tmp_path: Path
) -> None:
    cluster.configure_controller({**PLAIN, **configured.settings}, partitions=configured.partitions)
    only = ("--only", "ask-1.1", "--only", "rest-1.1", "--only", "turn-1.2")
    done = conformance(cluster, tmp_path, configured.policy, *only)
    found = [json.loads(line)["outcome"] for line in done.stdout.splitlines()]
    assert done.returncode == (0 if configured.holds else 3), (done.stdout, done.stderr)
    assert ("broken" in found) is not configured.holds, done.stdout
    assert "held" in found if configured.holds else True
    assert not cluster.run("squeue", "-h").strip(), "nothing of the trials is left"


def test_a_history_takes_a_node_down_and_up_only_if_it_may(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    cluster.configure_controller(PLAIN, partitions=ALL)
    kept = "after: keep host for tenant acme until scrubbed\n"
    jobs = (TraceJob("A", Subject("acme")), TraceJob("B", Subject("bank")))
    steps = (
        TraceStep(TraceWord.PLACE, "A", ("s1",)),
        TraceStep(TraceWord.LOSE, node="h1"),
        TraceStep(TraceWord.REGAIN, node="h1"),
        TraceStep(TraceWord.PLACE, "B", ("s2",)),
    )
    seats = (TraceSeat("s1", "h1", 0), TraceSeat("s2", "h1", 0))
    broken = Violation("after", DomainKind.HOST, "h1", ("B",))
    trace = IsolationTrace(kept, (Site("h1"),), seats, jobs, steps, (broken,))
    (tmp_path / "trace.json").write_text(spell_trace(trace))
    words = ("--trace", str(tmp_path / "trace.json"))
    refused = conformance(cluster, tmp_path, kept, *words)
    assert refused.returncode == 4, (refused.stdout, refused.stderr)
    assert json.loads(refused.stdout)["told"] == "step 2: taking nodes down is not allowed here"
    done = conformance(cluster, tmp_path, kept, *words, "--may-lose-nodes")
    assert done.returncode == 3, (done.stdout, done.stderr)
    assert "by step 4: B of bank in host h1 (rule after)" in json.loads(done.stdout)["told"]
    assert not cluster.run("squeue", "-h").strip(), "nothing of the trial is left"
    assert {*cluster.run("sinfo", "-hN", "-o", "%T").split()} == {"idle"}
