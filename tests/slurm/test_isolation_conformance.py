"""Configurations of a real Slurm that are meant to keep two tenants apart: which do, which leak."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("configured", CONFIGURATIONS, ids=lambda each: each.name)
def test_a_leaky_configuration_is_caught_and_the_mended_one_holds(
    cluster: SlurmCluster, configured: Configured, tmp_path: Path
) -> None:
    cluster.configure_controller({**PLAIN, **configured.settings}, partitions=configured.partitions)
    policy = tmp_path / "policy.txt"
    policy.write_text(configured.policy)
    words = ("--target", "slurm", "--policy", str(policy), "-y", "-o", "json")
    only = ("--only", "ask-1.1", "--only", "rest-1.1", "--only", "turn-1.2")
    done = subprocess.run(
        (sys.executable, "-m", "bailiwick.cli.main", "isolation", "conformance", *words, *only),
        env=cluster.env,
        capture_output=True,
        text=True,
        timeout=4 * WAIT_S,
        check=False,
    )
    found = [json.loads(line)["outcome"] for line in done.stdout.splitlines()]
    assert done.returncode == (0 if configured.holds else 3), (done.stdout, done.stderr)
    assert ("broken" in found) is not configured.holds, done.stdout
    assert "held" in found if configured.holds else True
    assert not cluster.run("squeue", "-h").strip(), "nothing of the trials is left"
