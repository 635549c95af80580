"""The program of the Slurm app's members, with the real daemons: up, changed, healed, gone."""

from __future__ import annotations

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bailiwick.operators.slurm.orders import order_for
from bailiwick.operators.slurm.rendering import render
from bailiwick.operators.slurm.wanted import CONTROLLER
from tests.support.slurm_members import MemberRefused, SlurmMembers, slurm_members
from tests.support.waiting import until

PROBE = ("-t1", "--mem=1")


def test_members_become_a_cluster_that_changes_heals_and_leaves_nothing(tmp_path: Path) -> None:
    warning = tmp_path / "PREEMPTION"
    with slurm_members() as members:
        members.begin(CONTROLLER)
        members.begin("worker-0")
        members.begin("worker-1", BAILIWICK_PREEMPTION_FILE=str(warning))
        members.be("worker-0", "worker-1")
        jobs_run_on_every_worker_by_both_ways(members, "worker-0", "worker-1")
        what_the_policy_does_not_allow_is_refused(members)
        a_bad_configuration_is_found_before_it_is_used(members)
        one_more_worker_joins_while_people_submit_and_jobs_go_on(members)
        what_is_killed_is_there_again_and_jobs_go_on(members)
        another_key_is_taken_by_all_and_jobs_go_on(members)
        a_worker_whose_lease_is_to_end_sends_its_jobs_elsewhere(members, warning)
        nothing_is_left_of_members_that_end(members)


def jobs_run_on_every_worker_by_both_ways(members: SlurmMembers, *workers: str) -> None:
    for key in workers:
        seen = members.slurm("srun", "-w", key, *PROBE, "printenv", "SLURM_CONF").strip()
        assert seen == str(members.folder / key / "etc/slurm.conf"), "its own, not the controller's"
        batch = ("sbatch", "--wait", "-w", key, *PROBE, "-o", "/dev/null", "--wrap", "srun true")
        members.slurm(*batch)
    gpu = ("srun", "-w", "worker-1", "--gpus=hopper:1", *PROBE)
    assert members.slurm(*gpu, "printenv", "CUDA_VISIBLE_DEVICES").strip() == "2"
    told = members.slurm("sinfo", "-hN", "-n", workers[0], "-o", "%c %m %G %f")
    assert told.split() == ["2", "500", "gpu:hopper:2", "hopper,rack-1"]


def what_the_policy_does_not_allow_is_refused(members: SlurmMembers) -> None:
    assert "name the kind of GPU" in members.slurm("srun", "--gpus=1", "true", code=1)
    assert "of the account vision" in members.slurm("srun", "-A", "other", "true", code=1)


def a_bad_configuration_is_found_before_it_is_used(members: SlurmMembers) -> None:
    files = render(members.cluster("worker-0", "worker-1"))
    conf = files["slurm.conf"]
    members.slurm("sbatch", "-o", "/dev/null", "--hold", *PROBE, "--wrap", "true")
    cases = {
        "": files,
        "Unable to process configuration": {**files, "slurm.conf": conf + "NoSuchKey=1\n"},
        "Invalid node names": {**files, "slurm.conf": conf.replace("Nodes=ALL", "Nodes=other")},
        "Invalid partition": {**files, "slurm.conf": conf.replace("Name=main", "Name=other")},
        "job_submit/lua": {**files, "job_submit.lua": "local x ="},
    }
    before = members.pid(CONTROLLER, "slurmctld")
    for why, candidate in cases.items():
        refused = members.ask(CONTROLLER, do="check", files=candidate)["refused"]
        assert why in refused
        assert bool(why) == bool(refused), refused
    assert members.pid(CONTROLLER, "slurmctld") == before
    assert "worker-0" in members.slurm("sinfo", "-hN", "-o", "%N")
    members.slurm("scancel", "--state=PENDING", "-A", "vision")


def one_more_worker_joins_while_people_submit_and_jobs_go_on(members: SlurmMembers) -> None:
    """The controller begins again; who asks meanwhile waits, and no number is given twice."""
    held = ("sbatch", "--parsable", "-o", "/dev/null", "--hold", *PROBE, "--wrap", "true")
    runs = members.slurm(*held[:4], "--mem=1", "-w", "worker-0", "--wrap", "sleep 600").strip()
    running = ("squeue", "-h", "-j", runs, "-o", "%T %r %S")
    until(lambda: "RUNNING" in members.slurm(*running), "it runs")
    before, began = members.pid(CONTROLLER, "slurmctld"), members.slurm(*running)
    members.begin("worker-2")
    with ThreadPoolExecutor(1) as pool:
        joining = pool.submit(members.be, "worker-0", "worker-1", "worker-2")
        numbers = [int(runs)]
        while not joining.done():  # bounded by its own waits
            numbers.append(int(members.slurm(*held)))
        joining.result()
    assert members.pid(CONTROLLER, "slurmctld") != before
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    members.slurm("scancel", "--state=PENDING", "-A", "vision")
    members.slurm("srun", "-N3", *PROBE, "true")
    assert members.slurm(*running) == began, "it was not begun again"
    members.slurm("scancel", runs)


def what_is_killed_is_there_again_and_jobs_go_on(members: SlurmMembers) -> None:
    job = members.slurm(
        *("sbatch", "--parsable", "-o", "/dev/null", "-w", "worker-0", "--mem=1"),
        *("--wrap", "sleep 600"),
    ).strip()
    running = ("squeue", "-h", "-j", job, "-o", "%T")
    until(lambda: members.slurm(*running).strip() == "RUNNING", "it runs")
    time.sleep(6)  # Slurm saves its state at most every five seconds; this is its promise, not ours
    for key, daemon in (
        *((CONTROLLER, "slurmctld"), (CONTROLLER, "slurmdbd"), (CONTROLLER, "munged")),
        *((CONTROLLER, "mariadbd"), ("worker-0", "slurmd"), ("worker-0", "munged")),
    ):
        is_killed_and_healed(members, key, daemon=daemon)
    until(lambda: members.slurm(*running).strip() == "RUNNING", "its job goes on")
    members.slurm("srun", "-w", "worker-0", *PROBE, "true")
    members.slurm("scancel", job)


def is_killed_and_healed(members: SlurmMembers, key: str, *, daemon: str) -> None:
    before = members.pid(key, daemon)
    os.kill(before, signal.SIGKILL)
    until(lambda: members.pid(key, daemon) not in (0, before), f"{daemon} is begun")
    until(lambda: members.is_well(key), f"{daemon} is there again")


def another_key_is_taken_by_all_and_jobs_go_on(members: SlurmMembers) -> None:
    workers = ("worker-0", "worker-1", "worker-2")
    before = members.pid(CONTROLLER, "slurmctld"), members.pid("worker-1", "slurmd")
    munged = members.pid("worker-1", "munged")
    members.munge_key = bytes(reversed(members.munge_key))
    members.be(*workers)
    for key in workers:
        members.slurm("srun", "-w", key, *PROBE, "true")
    assert (members.pid(CONTROLLER, "slurmctld"), members.pid("worker-1", "slurmd")) == before
    assert members.pid("worker-1", "munged") != munged


def a_worker_whose_lease_is_to_end_sends_its_jobs_elsewhere(
    members: SlurmMembers, warning: Path
) -> None:
    job = members.slurm(
        *("sbatch", "--parsable", "-o", "/dev/null", "-w", "worker-1", "--mem=1"),
        *("--wrap", "sleep 600"),
    ).strip()
    shown = ("squeue", "-h", "-j", job, "-o", "%T")
    until(lambda: members.slurm(*shown).strip() == "RUNNING", "it runs")
    warning.write_text(json.dumps({"lease_id": 1, "until_ms": int(time.time() * 1000) + 3_000}))
    state = ("sinfo", "-hN", "-n", "worker-1", "-o", "%T")
    until(lambda: members.slurm(*state).strip() == "drained", "it is drained")
    assert members.slurm(*shown).strip() == "PENDING"
    warning.unlink()
    until(lambda: "drain" not in members.slurm(*state), "it may stay after all")
    members.slurm("scancel", job)


def nothing_is_left_of_members_that_end(members: SlurmMembers) -> None:
    members.slurm("sbatch", "-o", "/dev/null", *PROBE, "--wrap", "trap '' TERM; sleep 600 & wait")
    until(lambda: members.slurm("squeue", "-h", "-t", "R").strip(), "a rude job runs")
    for key in ("worker-2", "worker-1", "worker-0"):
        assert members.end(key) == 0
    shown = members.slurm("sinfo", "-hN", "-o", "%T").split()
    assert {each.rstrip("*") for each in shown} == {"down"}, "it was told at once"
    assert members.end(CONTROLLER) == 0
    assert members.left() == []


def test_a_member_refuses_what_is_no_order_and_goes_on() -> None:
    with slurm_members() as members:
        members.begin(CONTROLLER)
        cluster = members.cluster("worker-0")
        order = order_for(cluster, CONTROLLER, munge_key=members.munge_key)
        bad = (
            {"do": "other"},
            {"do": "slurm", "argv": ["sh", "-c", "true"]},
            {**order, "munge_key": "AAAA"},
            {**order, "files": {"../x": ""}},
        )
        for question in bad:
            with pytest.raises(MemberRefused):
                members.ask(CONTROLLER, **question)
        assert members.ask(CONTROLLER, do="facts")["daemons"] == {}
        assert members.end(CONTROLLER) == 0
