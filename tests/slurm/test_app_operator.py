"""Slurm as an app, from the request to the deletion: a real server, agents, operator and Slurm.

To start a cluster is dear, so there are two. The first is used: jobs, a lost worker, more workers
and fewer. What people do to the second later takes longer, and is ``long``: parameters are refused
and applied, a lease is taken, the key is rotated, the controller is lost and comes back, the
accounting is saved and restored, the version goes up and back. At last nothing is left of either.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bailiwick.operators.slurm.wanted import CONTROLLER, PORTS
from tests.processes.caller import HttpCaller
from tests.processes.node_agents import Agent
from tests.support.ports import free_ports
from tests.support.slurm_app import (
    ALL,
    FIRST,
    LATER,
    Operator,
    ask,
    house,
    members,
    nothing_is_left,
    pid,
    runs,
    slurm,
)
from tests.support.waiting import WAIT_S, until


def submit(caller: HttpCaller, path: str, *, worker: str, script: str) -> str:
    """A job that has begun on a worker."""
    words = ("--parsable", "-o", "/dev/null", "-w", worker, "--mem=1", "--wrap", script)
    job = slurm(caller, path, "sbatch", *words).strip()
    until(lambda: is_in(caller, path, job, state="RUNNING"), "a job runs there")
    return job


def is_in(caller: HttpCaller, path: str, job: str, *, state: str) -> bool:
    """Whether a job is in a state."""
    return f"JobState={state} " in slurm(caller, path, "scontrol", "-o", "show", "job", job)


def jobs_of(caller: HttpCaller, path: str) -> set[str]:
    """All jobs that the accounting knows."""
    return set(slurm(caller, path, "sacct", "-aXnP", "-o", "jobid").split())


def another_is_in_the_place_of(caller: HttpCaller, path: str, before: dict[str, Any]) -> None:
    key, number = before["component_key"], before["member_id"]
    until(
        lambda: members(caller, path).get(key, before)["member_id"] != number,
        "another is in its place",
    )
    until(lambda: runs(caller, path, workers=2), "jobs came back from all")


@contextmanager
def cluster(caller: HttpCaller, folder: Path, both: list[Agent]) -> Iterator[str]:
    """A cluster of two workers that runs, by its address; at the end it is deleted."""
    storage = folder / "storage"
    storage.mkdir()
    parameters = {"port": free_ports(PORTS)[0], "kill_wait_s": 2, "storage": str(storage)}
    wish = {"name": "c", "app": "slurm", "version": FIRST, "parameters": parameters}
    made = caller.ask("POST", ALL, wish | {"counts": {"worker": 2}}, key="make")
    path = f"{ALL}/{made['instance_id']}"
    until(lambda: runs(caller, path, workers=2), "jobs came back from both workers")
    yield path
    caller.ask("DELETE", path, key="delete")
    nothing_is_left(caller, both, operator_keys=folder / "keys")
    until(lambda: not list(storage.iterdir()), "nothing is left on its storage")


def test_a_cluster_is_created_scaled_healed_and_deleted() -> None:
    with house() as (caller, both, operator, folder), cluster(caller, folder, both) as path:
        it_takes_jobs_of_its_project(caller, path)
        its_key_is_nowhere_else(folder, operator)
        a_worker_that_is_lost_is_replaced_and_proved(caller, path)
        it_grows_though_its_operator_was_killed(caller, path, operator)
        a_worker_that_goes_is_drained_first(caller, path)


@pytest.mark.long
def test_a_cluster_is_changed_moved_saved_and_upgraded() -> None:
    with house() as (caller, both, operator, folder), cluster(caller, folder, both) as path:
        what_slurm_would_not_start_with_is_not_applied(caller, path)
        a_worker_whose_lease_is_taken_sends_its_jobs_elsewhere_first(caller, path)
        a_key_that_differs_is_found_and_another_is_taken_by_all(caller, path, operator, folder)
        a_controller_that_is_lost_comes_back_with_jobs_and_accounts(caller, path)
        its_accounting_is_saved_and_restored(caller, path, operator, folder)
        it_goes_to_another_version_and_back(caller, path)


def it_takes_jobs_of_its_project(caller: HttpCaller, path: str) -> None:
    assert slurm(caller, path, "srun", "-N2", "--mem=1", "-t1", "echo", "ran") == "ran\nran\n"
    until(lambda: jobs_of(caller, path), "the accounting has heard of it")
    assert set(slurm(caller, path, "sacct", "-aXnP", "-o", "account").split()) == {"default"}
    shown = slurm(caller, path, "sinfo", "-hN", "-o", "%c %m").splitlines()
    assert shown == ["1 1000", "1 1000"], "what the leases hold, not what the machine has"


def its_key_is_nowhere_else(folder: Path, operator: Operator) -> None:
    (key,) = (path.read_text() for path in operator.keys.iterdir())
    kept = [path for path in (folder / "d").rglob("*") if path.is_file()]
    assert kept
    for path in [*kept, operator.log]:
        assert key.encode() not in path.read_bytes(), path


def a_worker_that_is_lost_is_replaced_and_proved(caller: HttpCaller, path: str) -> None:
    before = members(caller, path)["worker-1"]
    caller.ask("DELETE", f"/v1/jobs/{before['job_id']}", key="lose")
    another_is_in_the_place_of(caller, path, before)
    assert slurm(caller, path, "srun", "-w", "worker-1", "--mem=1", "echo", "ran") == "ran\n"


def it_grows_though_its_operator_was_killed(
    caller: HttpCaller, path: str, operator: Operator
) -> None:
    operator.end(signal.SIGKILL)
    caller.ask("PATCH", path, {"counts": {"worker": 3}}, key="grow")
    operator.start()
    until(lambda: runs(caller, path, workers=3), "jobs came back from the third too")


def a_worker_that_goes_is_drained_first(caller: HttpCaller, path: str) -> None:
    job = submit(caller, path, worker="worker-2", script="sleep 8")
    # Whom a smaller count takes is the platform's choice; this one is named.
    leave = {"action": "drain", "component_key": "worker-2"}
    caller.ask("POST", f"{path}/members", leave, key="shrink")
    until(lambda: "worker-2" not in members(caller, path), "it is smaller")
    assert is_in(caller, path, job, state="COMPLETED"), "it was waited for"
    until(lambda: "worker-2" not in slurm(caller, path, "sinfo", "-hN"), "Slurm knows it no more")
    until(lambda: runs(caller, path, workers=2), "the others are as they were")


def what_slurm_would_not_start_with_is_not_applied(caller: HttpCaller, path: str) -> None:
    parameters = caller.ask("GET", path)["parameters"]
    words = ("--parsable", "-o", "/dev/null", "--hold", "--mem=1", "--wrap", "true")
    held = slurm(caller, path, "sbatch", *words).strip()
    before = pid(caller, path, member=CONTROLLER, daemon="slurmctld")
    # The job that waits would have no partition any more.
    caller.ask("PATCH", path, {"parameters": {**parameters, "partition": "other"}}, key="bad")
    until(lambda: "not applied: " in str(caller.ask("GET", path)["reason"]), "it was refused")
    told = caller.ask("GET", path)
    assert told["phase"] == "degraded"
    assert told["observed_generation"] == told["generation"]
    assert slurm(caller, path, "sinfo", "-h", "-o", "%P").split() == ["main*"]
    assert slurm(caller, path, "srun", "-N2", "--mem=1", "-t1", "echo", "ran") == "ran\nran\n"
    assert pid(caller, path, member=CONTROLLER, daemon="slurmctld") == before, "it was not touched"
    caller.ask("PATCH", path, {"parameters": {**parameters, "storage": "/srv"}}, key="moved")
    until(lambda: "storage stays" in str(caller.ask("GET", path)["reason"]), "it does not move")
    caller.ask("PATCH", path, {"parameters": {**parameters, "kill_wait_s": 3}}, key="good")
    until(lambda: runs(caller, path, workers=2), "another change is applied")
    shown = slurm(caller, path, "scontrol", "show", "config").splitlines()
    assert [row.split()[2] for row in shown if row.startswith("KillWait ")] == ["3"]
    assert is_in(caller, path, held, state="PENDING")
    slurm(caller, path, "scancel", held)


def a_worker_whose_lease_is_taken_sends_its_jobs_elsewhere_first(
    caller: HttpCaller, path: str
) -> None:
    job = submit(caller, path, worker="worker-1", script="sleep 600")
    before = members(caller, path)["worker-1"]
    taken = {"reason": "operator_drain", "grace_ms": 20_000}
    caller.ask("POST", f"/v1/leases/{before['lease_id']}/evict", taken, key="evict")
    another_is_in_the_place_of(caller, path, before)
    rows = slurm(caller, path, "sacct", "-DXnP", "-j", job, "-o", "state").split()
    assert "REQUEUED" in rows, "within its grace, and not because a node fell silent"
    assert "NODE_FAIL" not in rows
    slurm(caller, path, "scancel", job)


def a_key_that_differs_is_found_and_another_is_taken_by_all(
    caller: HttpCaller, path: str, operator: Operator, folder: Path
) -> None:
    """As the runbook has it: found by the triage, mended by another key for all."""
    all_of_them = (CONTROLLER, "worker-0", "worker-1")
    (key,) = (each.read_text() for each in operator.keys.iterdir())
    before = pid(caller, path, member=CONTROLLER, daemon="slurmctld")
    job = submit(caller, path, worker="worker-0", script="sleep 600")
    well = operator.command("triage", "c")
    assert (well.returncode, well.stderr) == (0, b""), well.stdout
    lease = members(caller, path)["worker-1"]["lease_id"]
    (held,) = folder.glob(f"n?/jobs/{lease}/work/keys/munge.key")
    held.write_bytes(b"x" * 128)
    os.kill(pid(caller, path, member="worker-1", daemon="munged"), signal.SIGKILL)
    ill = operator.command("triage", "c")
    assert ill.returncode == 1
    assert b"correlation app-instance-1\n" in ill.stdout
    assert b"\nmunge_key_differs worker-1 " in ill.stdout, ill.stdout
    munged = {e: pid(caller, path, member=e, daemon="munged") for e in all_of_them}
    parameters = caller.ask("GET", path)["parameters"]
    caller.ask("PATCH", path, {"parameters": {**parameters, "key_generation": 2}}, key="rotate")
    until(lambda: runs(caller, path, workers=2), "jobs came back from all of them")
    for each, process in munged.items():
        assert pid(caller, path, member=each, daemon="munged") not in (0, process)
    assert pid(caller, path, member=CONTROLLER, daemon="slurmctld") == before
    assert is_in(caller, path, job, state="RUNNING")
    slurm(caller, path, "scancel", job)
    (other,) = (each.read_text() for each in operator.keys.iterdir())
    assert other != key
    its_key_is_nowhere_else(folder, operator)


def a_controller_that_is_lost_comes_back_with_jobs_and_accounts(
    caller: HttpCaller, path: str
) -> None:
    job = submit(caller, path, worker="worker-0", script="sleep 600")
    until(lambda: job in jobs_of(caller, path), "the accounting knows of it")
    time.sleep(6)  # Slurm saves its state at most every five seconds; this is its promise, not ours
    process = pid(caller, path, member=CONTROLLER, daemon="slurmctld")
    os.kill(process, signal.SIGKILL)
    until(
        lambda: pid(caller, path, member=CONTROLLER, daemon="slurmctld") not in (0, process),
        "the member has begun another",
    )
    ask(caller, path, member=CONTROLLER, do="wait", wait_s=100)
    assert is_in(caller, path, job, state="RUNNING")
    known, before = jobs_of(caller, path), members(caller, path)[CONTROLLER]
    caller.ask("DELETE", f"/v1/jobs/{before['job_id']}", key="lose-controller")
    another_is_in_the_place_of(caller, path, before)
    assert is_in(caller, path, job, state="RUNNING"), "it went on meanwhile"
    assert known <= jobs_of(caller, path)
    slurm(caller, path, "scancel", job)


def its_accounting_is_saved_and_restored(
    caller: HttpCaller, path: str, operator: Operator, folder: Path
) -> None:
    file, bad = folder / "accounting", folder / "bad"
    known = jobs_of(caller, path)
    assert operator.command("backup", "c", str(file)).returncode == 0
    assert file.stat().st_mode & 0o077 == 0
    slurm(caller, path, "sacctmgr", "-iQ", "add", "account", "extra", "cluster=bw1")
    bad.write_bytes(file.read_bytes()[:-100])
    refused = operator.command("restore", "c", str(bad))
    assert refused.returncode != 0
    assert b"no backup of an accounting" in refused.stderr
    accounts = ("sacctmgr", "-nP", "show", "account", "format=account")
    assert "extra" in slurm(caller, path, *accounts).split()
    done = operator.command("restore", "c", str(file))
    assert done.returncode == 0, done.stderr
    assert slurm(caller, path, *accounts).split() == ["default", "root"]
    assert known <= jobs_of(caller, path)
    assert slurm(caller, path, "srun", "-N2", "--mem=1", "-t1", "echo", "ran") == "ran\nran\n"


def it_goes_to_another_version_and_back(caller: HttpCaller, path: str) -> None:
    known = jobs_of(caller, path)
    for change, version, size in (
        ({"version": LATER}, LATER, "900"),
        ({"rollback": True}, FIRST, "1000"),
    ):
        caller.ask("PATCH", path, change, key=f"to-{version}")
        until(lambda: runs(caller, path, workers=2), f"it runs as {version}", wait_s=2 * WAIT_S)
        there = members(caller, path)
        assert {each["version"] for each in there.values()} == {version}
        assert slurm(caller, path, "sinfo", "-hN", "-o", "%m").split() == [size, size]
        assert known <= jobs_of(caller, path)
