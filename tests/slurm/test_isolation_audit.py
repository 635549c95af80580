"""``bailiwick isolation audit slurm`` on a real cluster of two tenants, watched from outside."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.slurm_cluster import SlurmCluster, slurm_cluster
from tests.support.waiting import WAIT_S, until

POLICY = """\
apart: never share host among tenants
gpus: never share fabric between tenant acme and tenant bank
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[SlurmCluster]:
    with slurm_cluster() as found:
        me = found.run("id", "-un").strip()
        for account in ("acme", "bank"):
            found.run("sacctmgr", "-iQ", "add", "account", account)
            found.run("sacctmgr", "-iQ", "add", "user", me, f"account={account}")
        yield found


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.txt"
    path.write_text(POLICY)
    return path


def audit(cluster: SlurmCluster, *words: str) -> subprocess.Popen[str]:
    command = (sys.executable, "-m", "bailiwick.cli.main", "isolation", "audit", "slurm")
    return subprocess.Popen(
        (*command, "-o", "json", *words),
        env=cluster.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def look_once(cluster: SlurmCluster, *words: str) -> tuple[int, list[dict[str, Any]], str]:
    with audit(cluster, "--once", *words) as process:
        out, err = process.communicate(timeout=WAIT_S)
    return process.returncode, [json.loads(line) for line in out.splitlines()], err


def is_running(cluster: SlurmCluster, job_id: str) -> bool:
    return "RUNNING" in cluster.run("squeue", "-h", "-j", job_id, "-o", "%T")


def start(cluster: SlurmCluster, account: str, *words: str) -> str:
    job_id = cluster.submit("-A", account, *words)
    until(lambda: is_running(cluster, job_id), f"job {job_id} runs")
    return job_id


def end(cluster: SlurmCluster, *job_ids: str) -> None:
    cluster.run("scancel", "-f", *job_ids)
    until(lambda: not cluster.run("squeue", "-h").strip(), "all jobs are gone")


def test_two_tenants_on_one_machine_are_found_with_both_jobs_the_machine_and_the_rule(
    cluster: SlurmCluster, policy: Path, tmp_path: Path
) -> None:
    mine = start(cluster, "acme", "-w", "h1", "--gres=gpu:1")
    code, found, err = look_once(cluster, "--policy", str(policy))
    assert (code, found) == (0, []), err
    theirs = start(cluster, "bank", "-w", "h1", "--gres=gpu:1")
    sealed = ("--findings", str(tmp_path / "log"), "--key", str(tmp_path / "key"))
    code, found, err = look_once(cluster, "--policy", str(policy), *sealed)
    end(cluster, mine, theirs)
    assert code == 3, err
    told = {(each["rule"], each["domain"]) for each in found}
    assert told == {("apart", "h1"), ("gpus", "h1/gpus")}
    for each in found:
        assert [job["id"] for job in each["jobs"]] == sorted((f"{mine}@h1", f"{theirs}@h1"))
        assert {job["tenant"] for job in each["jobs"]} == {"acme", "bank"}
    assert "which GPUs a fabric joins" in err
    verify = ("journal", "verify", str(tmp_path / "log"))
    done = subprocess.run(
        (sys.executable, "-m", "bailiwick.cli.main", *verify),
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    records = [
        json.loads(line)
        for line in (tmp_path / "log/journal.jsonl").read_text().split("\n")
        if line
    ]
    assert {each["kind"] for each in records} == {"isolation_finding"}


def test_a_watch_tells_a_meeting_when_it_begins_and_when_it_is_over(
    cluster: SlurmCluster, policy: Path
) -> None:
    mine = start(cluster, "acme", "-w", "h2")
    process = audit(cluster, "--every", "0.5", "--policy", str(policy))
    assert process.stdout is not None
    try:
        theirs = start(cluster, "bank", "-w", "h2")
        found = json.loads(process.stdout.readline())
        assert (found["state"], found["domain"]) == ("found", "h2")
        end(cluster, theirs, mine)
        over = json.loads(process.stdout.readline())
        assert (over["state"], over["jobs"]) == ("over", found["jobs"])
    finally:
        process.kill()
        process.communicate()


def test_different_machines_are_apart_and_a_silent_cluster_is_no_calm_one(
    cluster: SlurmCluster, policy: Path, tmp_path: Path
) -> None:
    jobs = [start(cluster, "acme", "-w", "h1"), start(cluster, "bank", "-w", "h2")]
    code, found, _ = look_once(cluster, "--policy", str(policy))
    end(cluster, *jobs)
    assert (code, found) == (0, [])
    empty = SlurmCluster(tmp_path, cluster.ports)  # nobody answers there
    code, found, err = look_once(empty, "--policy", str(policy))
    assert (code, found) == (5, []), err
