"""The executor of a real Slurm cluster keeps the promises of the port, and loses no submit."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bailiwick.executors.slurm.executor as slurm_executor
from bailiwick.executors.port import JobSpec, Limits, Lost, LostReason, Running, Starting, UsedInAll
from bailiwick.executors.slurm.executor import SlurmExecutor, SlurmWaits
from bailiwick.executors.slurm.programs import SlurmPrograms, Submission
from bailiwick.vocab.errors import InvalidValue, Unavailable
from tests.support.executor_conformance import CHECKS, FOR_EVER, Rig, ended, runs, said, shell
from tests.support.slurm_cluster import SlurmCluster, slurm_cluster
from tests.support.waiting import until

PATIENT = SlurmWaits(term_s=2.0, kill_s=60.0)


@pytest.fixture(scope="module")
def cluster() -> Iterator[SlurmCluster]:
    with slurm_cluster() as found:
        found.run("sacctmgr", "-iQ", "add", "account", "uni")
        found.run("sacctmgr", "-iQ", "add", "user", "root", "account=uni")
        yield found


def open_at(cluster: SlurmCluster, folder: Path) -> SlurmExecutor:
    return SlurmExecutor(folder, programs=SlurmPrograms(cluster.env), waits=PATIENT)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_a_cluster_keeps_the_promises_of_the_port(
    cluster: SlurmCluster,
    tmp_path: Path,
    *,
    check: Callable[[Rig], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_SERVER", "leak")
    folder = tmp_path / "jobs"
    opened = open_at(cluster, folder)
    rig = Rig(opened, lambda: open_at(cluster, folder), devices="0,1", keeps_times=False)
    try:
        check(rig)
    finally:
        for lease_id in rig.executor.leases():
            rig.executor.tear_down(lease_id)


class Deaf(SlurmPrograms):
    """A cluster whose answer to a submit is lost on the way, whether or not it heard."""

    def __init__(self, cluster: SlurmCluster, *, has_heard: bool) -> None:
        super().__init__(cluster.env)
        self.has_heard = has_heard

    def submit(self, asked: Submission) -> int:
        """Nobody ever learns the number."""
        if self.has_heard:
            super().submit(asked)
        raise Unavailable("the cluster", "timed out")


def test_a_submit_whose_answer_was_lost_is_found_by_its_name_and_runs_once(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    executor = SlurmExecutor(tmp_path, programs=Deaf(cluster, has_heard=True), waits=PATIENT)
    executor.start(shell(1, f"echo x >> {tmp_path}/effect; echo done"))
    assert ended(executor, 1).code == 0
    assert (tmp_path / "effect").read_text() == "x\n"


def test_a_submit_that_the_cluster_lost_is_told_as_never_started(
    cluster: SlurmCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm_executor, "LOST_AFTER_S", 0.5)
    executor = SlurmExecutor(tmp_path, programs=Deaf(cluster, has_heard=False), waits=PATIENT)
    executor.start(shell(1, "true"))
    lost = Lost(LostReason.NEVER_STARTED)
    until(lambda: executor.status(1) == lost, "it is told as never started")
    executor.forget(1)
    again = open_at(cluster, tmp_path)
    again.start(shell(1, "exit 4"))
    assert ended(again, 1).code == 4


def test_a_submission_that_was_replaced_does_nothing_when_it_comes_back(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    executor = open_at(cluster, tmp_path)
    held = SlurmExecutor(tmp_path, programs=Held(cluster), waits=PATIENT)
    held.start(shell(1, f"echo old >> {tmp_path}/effect"))
    (old,) = [name for name in held._queue(is_fresh=True) if name.split("-")[1] == held._owner]
    shutil.rmtree(tmp_path / "1")
    executor.start(shell(1, f"echo new >> {tmp_path}/effect"))
    cluster.run("scontrol", "release", str(executor._queue(is_fresh=True)[old].job_id))
    assert ended(executor, 1).code == 0
    until(lambda: executor._queue(is_fresh=True)[old].state == "FAILED", "the old one has ended")
    assert (tmp_path / "effect").read_text() == "new\n"


class Held(SlurmPrograms):
    """A cluster that holds what is submitted until somebody releases it."""

    def __init__(self, cluster: SlurmCluster) -> None:
        super().__init__(cluster.env | {"SBATCH_HOLD": "1"})


def test_limits_become_what_the_cluster_gives_and_what_it_cannot_give_is_refused(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    executor = open_at(cluster, tmp_path)
    limits = Limits(cpu_milli=2000, mem_bytes=300 * 2**20)
    spec = shell(1, FOR_EVER, node="a1", device_indices=(0, 1, 2), limits=limits)
    executor.start(spec)
    number = runs(executor, 1).pid
    told = cluster.run("scontrol", "-o", "show", "job", str(number))
    assert "NodeList=a1 " in told
    assert "cpu=2,mem=300M" in told
    assert "gres/gpu:ampere=3" in told
    assert executor.tear_down(1)
    with pytest.raises(InvalidValue, match="whole cores"):
        executor.start(JobSpec(2, argv=("true",), token="t", limits=Limits(cpu_milli=500)))
    with pytest.raises(InvalidValue, match="what the cluster accepts"):
        executor.start(JobSpec(3, argv=("true",), token="t", node="nowhere"))
    assert executor.leases() == (1,)


def test_what_a_job_used_is_told_by_the_clusters_accounts(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    executor = open_at(cluster, tmp_path)
    assert_over = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
    executor.start(shell(1, assert_over))
    ended(executor, 1)
    used = until(lambda: executor.usage(1), "the accounts tell")
    assert isinstance(used, UsedInAll)
    assert used.began_ms <= used.emptied_ms


def test_a_job_whose_node_is_lost_is_lost(cluster: SlurmCluster, tmp_path: Path) -> None:
    executor = open_at(cluster, tmp_path)
    executor.start(shell(1, "echo up; " + FOR_EVER, node="h2"))
    said(executor, 1, "up")
    cluster.kill_node("h2", str(runs(executor, 1).pid))
    cluster.run("scontrol", "update", "nodename=h2", "state=down", "reason=test")
    until(lambda: isinstance(executor.status(1), Lost), "it is told as lost")
    assert executor.tear_down(1)


def test_a_job_that_the_controller_runs_again_after_a_crash_does_nothing_twice(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    executor = open_at(cluster, tmp_path)
    cluster.await_saved()  # so that what follows is not in the state that is found again
    executor.start(shell(1, f"echo x >> {tmp_path}/effect; echo up; {FOR_EVER}"))
    said(executor, 1, "up")
    cluster.kill("slurmctld")
    assert isinstance(executor.status(1), Running)  # nobody answers: the last that was seen
    assert not executor.tear_down(1)
    cluster.start_controller()
    # Whether the controller knows it as running, runs it again or has forgotten it is a matter of
    # what it had saved: in each case the program ran once, and what became of it is told.
    until(lambda: executor.tear_down(1), "nothing of it is left")
    assert (tmp_path / "effect").read_text() == "x\n"
    assert not isinstance(executor.status(1), Running | Starting)
