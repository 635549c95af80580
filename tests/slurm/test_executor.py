"""The executor of a real Slurm cluster keeps the promises of the port, and loses no submit.

Most of a job's time on a cluster is waiting for its daemons. So the port's checks and the stories
that leave the cluster as it is are begun together, and each tells how it went; what breaks the
cluster comes after them.
"""

from __future__ import annotations

import base64
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from bailiwick.executors.clusters import NodeGate
from bailiwick.executors.port import (
    JobSpec,
    Limits,
    Lost,
    LostReason,
    Running,
    Starting,
    UsedInAll,
    fault_of,
)
from bailiwick.executors.slurm.executor import SlurmExecutor, SlurmWaits
from bailiwick.executors.slurm.folder import load_kept
from bailiwick.executors.slurm.programs import SlurmPrograms, Submission
from bailiwick.vocab.errors import InvalidValue, Unavailable
from bailiwick.vocab.jobs import JobFault
from tests.processes.caller import CallFailed
from tests.slurm.graph_survives import a_graph_outlives_the_controller_and_a_node
from tests.support.cluster_server import ClusterServer
from tests.support.executor_conformance import CHECKS, FOR_EVER, Rig, ended, runs, said, shell
from tests.support.graph_story import HOW_MANY
from tests.support.slurm_cluster import SlurmCluster, slurm_cluster
from tests.support.waiting import until

PATIENT = SlurmWaits(term_s=2.0, kill_s=60.0)
AT_ONCE = 8
FAR = {"b1": ("ampere", 2), "b2": ("ampere", 2)}
"""The nodes of the other cluster."""


@pytest.fixture(scope="module")
def clusters() -> Iterator[tuple[SlurmCluster, SlurmCluster]]:
    """A cluster, and a small one beside it that keeps no accounts."""
    with slurm_cluster() as found, slurm_cluster(nodes=FAR, has_accounts=False) as far:
        add_accounts(found)
        yield found, far


def add_accounts(cluster: SlurmCluster) -> None:
    """Those that jobs are submitted under."""
    for account in ("uni", "default"):
        cluster.run("sacctmgr", "-iQ", "add", "account", account)
        cluster.run("sacctmgr", "-iQ", "add", "user", "root", f"account={account}")


@pytest.fixture(scope="module")
def cluster(clusters: tuple[SlurmCluster, SlurmCluster]) -> SlurmCluster:
    return clusters[0]


def open_at(cluster: SlurmCluster, folder: Path) -> SlurmExecutor:
    return SlurmExecutor(folder, programs=SlurmPrograms(cluster.env), waits=PATIENT)


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


def a_submit_whose_answer_was_lost_is_found_by_its_name_and_runs_once(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    executor = SlurmExecutor(tmp_path, programs=Deaf(cluster, has_heard=True), waits=PATIENT)
    executor.start(shell(1, f"echo x >> {tmp_path}/effect; echo done"))
    assert ended(executor, 1).code == 0
    assert (tmp_path / "effect").read_text() == "x\n"


def a_submit_that_the_cluster_lost_is_told_as_never_started(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    waits = replace(PATIENT, lost_s=0.5)
    executor = SlurmExecutor(tmp_path, programs=Deaf(cluster, has_heard=False), waits=waits)
    executor.start(shell(1, "true"))
    lost = Lost(LostReason.NEVER_STARTED)
    until(lambda: executor.status(1) == lost, "it is told as never started")
    executor.forget(1)
    again = open_at(cluster, tmp_path)
    again.start(shell(1, "exit 4"))
    assert ended(again, 1).code == 4


def a_submission_that_was_replaced_does_nothing_when_it_comes_back(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    executor = open_at(cluster, tmp_path)
    held = SlurmExecutor(tmp_path, programs=Held(cluster.env), waits=PATIENT)
    held.start(shell(1, f"echo old >> {tmp_path}/effect"))
    (old,) = [name for name in held._queue(is_fresh=True) if name.split("-")[1] == held._owner]
    assert held._queue()[old].reason == "JobHeldUser"
    shutil.rmtree(tmp_path / "1")
    executor.start(shell(1, f"echo new >> {tmp_path}/effect"))
    cluster.run("scontrol", "release", str(executor._queue(is_fresh=True)[old].job_id))
    assert ended(executor, 1).code == 0
    until(lambda: executor._queue(is_fresh=True)[old].state == "FAILED", "the old one has ended")
    assert (tmp_path / "effect").read_text() == "new\n"


class Held(SlurmPrograms):
    """A cluster that holds what is submitted until somebody releases it."""

    def _call(self, words: Sequence[str], *, given: bytes = b"") -> CompletedProcess[bytes]:
        held = ("--hold",) if words[0] == "sbatch" else ()
        return super()._call((*words, *held), given=given)


def limits_become_what_the_cluster_gives_and_what_it_cannot_give_is_refused(
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


def what_a_job_used_is_told_by_the_clusters_accounts(cluster: SlurmCluster, tmp_path: Path) -> None:
    executor = open_at(cluster, tmp_path)
    assert_over = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
    executor.start(shell(1, assert_over))
    ended(executor, 1)
    used = until(lambda: executor.usage(1), "the accounts tell")
    assert isinstance(used, UsedInAll)
    assert used.began_ms <= used.emptied_ms


def what_the_cluster_takes_back_is_told_as_that_and_does_nothing_the_next_time(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    executor = open_at(cluster, tmp_path)
    executor.start(shell(1, f"echo x >> {tmp_path}/effect; echo up; {FOR_EVER}"))
    said(executor, 1, "up")
    requeue(cluster, runs(executor, 1).pid)
    until(lambda: executor.status(1) == Lost(LostReason.PLACE_TAKEN), "it is told")
    assert executor.tear_down(1)
    assert executor.status(1) == Lost(LostReason.PLACE_TAKEN)
    assert (tmp_path / "effect").read_text() == "x\n"


def what_the_cluster_ran_again_before_anybody_looked_is_told_as_taken_back(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    executor = open_at(cluster, tmp_path)
    executor.start(shell(1, f"echo x >> {tmp_path}/effect; echo up; {FOR_EVER}", node="h1"))
    said(executor, 1, "up")
    number = str(runs(executor, 1).pid)
    requeue(cluster, int(number))

    def is_over() -> bool:
        # At once, and elsewhere: where it was it may not begin again for some minutes.
        now = ("scontrol", "update", f"jobid={number}", "reqnodelist=h2", "starttime=now")
        cluster.run(*now, is_checked=False)
        return "FAILED" in cluster.run("squeue", "-h", "-t", "all", "-j", number, "-o", "%T")

    until(is_over, "it was run again")
    assert executor.status(1) == Lost(LostReason.PLACE_TAKEN)
    assert (tmp_path / "effect").read_text() == "x\n"


def a_number_that_the_cluster_gave_away_again_ends_nobody_else(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    executor, programs = open_at(cluster, tmp_path), SlurmPrograms(cluster.env)
    executor.start(shell(1, FOR_EVER))
    number, name = runs(executor, 1).pid, load_kept(tmp_path / "1").name
    programs.cancel(number, name=name.replace("-1-", "-2-"))
    programs.cancel(number, "--signal=KILL", "--full", name=name.replace("-1-", "-2-"))
    assert programs.queue()[name].state == "RUNNING"
    programs.cancel(number, name=name)
    assert ended(executor, 1).signal == 15


def requeue(cluster: SlurmCluster, number: int) -> None:
    """Have the cluster put a job into its queue again, as its operators can."""
    cluster.run("scontrol", "update", f"jobid={number}", "requeue=1")
    cluster.run("scontrol", "requeue", str(number))


def jobs_of_a_second_tenant_are_refused_before_they_are_submitted(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    executor = open_at(cluster, tmp_path)
    executor.start(shell(1, "true", owner="one/p"))
    with pytest.raises(InvalidValue) as refused:
        executor.start(shell(2, "true", owner="two/p"))
    assert fault_of(refused.value) is JobFault.NOT_KEPT_APART
    assert executor.leases() == (1,)


Story = Callable[[SlurmCluster, Path], None]
STORIES: tuple[Story, ...] = (
    what_a_job_used_is_told_by_the_clusters_accounts,
    a_submit_whose_answer_was_lost_is_found_by_its_name_and_runs_once,
    a_submit_that_the_cluster_lost_is_told_as_never_started,
    a_submission_that_was_replaced_does_nothing_when_it_comes_back,
    limits_become_what_the_cluster_gives_and_what_it_cannot_give_is_refused,
    what_the_cluster_takes_back_is_told_as_that_and_does_nothing_the_next_time,
    what_the_cluster_ran_again_before_anybody_looked_is_told_as_taken_back,
    a_number_that_the_cluster_gave_away_again_ends_nobody_else,
    jobs_of_a_second_tenant_are_refused_before_they_are_submitted,
)


def story_of(check: Callable[[Rig], None]) -> Story:
    """A check of the port on this cluster."""

    def run(cluster: SlurmCluster, folder: Path) -> None:
        again = lambda: open_at(cluster, folder)  # noqa: E731
        rig = Rig(again(), again, devices=r"(\d),(?!\1)\d", keeps_times=False)
        try:
            check(rig)
        finally:
            for lease_id in rig.executor.leases():
                rig.executor.tear_down(lease_id)

    return run


# -- a server ------------------------------------------------------------------------------------


class Jobs:
    """What a user of a server does, through its API."""

    def __init__(self, server: ClusterServer) -> None:
        self.call = server.client().ask

    def body(self, text: str, on: str, **more: Any) -> dict[str, Any]:
        wanted = {"cpu_milli": 1000, "mem_bytes": 2**28}
        command = ["/bin/sh", "-c", text]
        named = {"tenant": "main", "project": "default", "on": on, "command": command}
        return named | {"resources": wanted, "ttl_ms": 600_000} | more

    def submit(self, key: str, text: str, on: str, **more: Any) -> int:
        body = self.body(text, on, **more)
        return int(self.call("POST", "/v1/jobs", body, key=key)["job_id"])

    def phase(self, job_id: int, wanted: str) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            found = self.call("GET", f"/v1/jobs/{job_id}")
            return found if found["phase"] == wanted else None

        return until(look, f"job {job_id} is {wanted}")

    def mode(self, node: str) -> str:
        return str(self.call("GET", f"/v1/nodes/{node}")["mode"])

    def nodes(self) -> set[str]:
        return {node["node"] for node in self.call("GET", "/v1/nodes")["items"]}

    def clusters(self) -> list[tuple[str, int]]:
        told = self.call("GET", "/v1/replica")["clusters"]
        return [(each["state"], each["nodes"]) for each in told]

    def says(self, job_id: int) -> str:
        told = self.call("GET", f"/v1/jobs/{job_id}/output")
        return base64.b64decode(told["data"]).decode()


def number_of(cluster: SlurmCluster, lease_id: int) -> int | None:
    """The number that a cluster has for the job of a lease, and has it under the right account."""
    for line in cluster.run("squeue", "-h", "-o", "%i|%j|%a").splitlines():
        number, name, account = line.split("|")
        if name.startswith("bw-") and name.split("-")[2] == str(lease_id) and account == "default":
            return int(number)
    return None


def a_server_runs_jobs_on_two_clusters_and_through_its_own_death(
    near: SlurmCluster, far: SlurmCluster, folder: Path
) -> None:
    places = [
        f"slurm@{each.env['SLURM_CONF']}={folder / name}"
        for each, name in ((near, "near"), (far, "far"))
    ]
    server = ClusterServer(folder, *places, env={"BAILIWICK_SLURM_ACCOUNT": "{project}"})
    try:
        server.start()
        jobs = Jobs(server)
        until(lambda: {"h1", "a1", "b1", "b2"} <= jobs.nodes(), "the nodes take part")
        gpu = {"gpu_count": 1, "gpu_generation": "nvidia_hopper"}
        wait = f"until [ -e {folder}/go ]; do sleep 0.1; done"
        text = f"echo x >> {folder}/effect; {wait}; echo $CUDA_VISIBLE_DEVICES"
        first = jobs.submit("first", text, "slurm", **gpu)
        long = jobs.submit("long", FOR_EVER, "slurm")
        there = jobs.submit("far", "echo $SLURMD_NODENAME", "b1")
        again = f"[ $BAILIWICK_ATTEMPT = 2 ] && exit; {FOR_EVER}"
        taken = jobs.submit("taken", again, "a1", retries=1)
        what_it_cannot_honour_is_refused_before_a_lease(jobs)
        leases = {each: jobs.phase(each, "running")["lease_id"] for each in (first, long, taken)}
        numbers = {each: number_of(near, lease) for each, lease in leases.items()}
        requeue(near, numbers[taken] or 0)
        assert jobs.phase(there, "succeeded")["node"] == "b1"
        assert jobs.says(there) == "b1\n"
        far.run("scontrol", "update", "nodename=b1", "state=drain", "reason=disk")
        jobs.call("PUT", "/v1/nodes/b2/mode", {"mode": "draining"}, key="drain")
        server.kill9()
        server.start()
        jobs.call("DELETE", f"/v1/jobs/{long}", key="cancel")
        (folder / "go").touch()
        told = jobs.phase(taken, "succeeded")
        ends = [(each["phase"], each["reason"]) for each in told["attempts"]]
        assert ends == [("preempted", "place_taken")]
        jobs.phase(long, "cancelled")
        until(lambda: number_of(near, leases[long]) is None, "the cluster has it no more")
        jobs.phase(first, "succeeded")
        assert jobs.says(first).strip().isdigit()
        assert (folder / "effect").read_text() == "x\n"
        what_was_held_is_metered_and_explained(jobs, leases[first])
        both_sides_of_a_node_agree(jobs, far)
        both = [("reachable", 3), ("reachable", 2)]
        until(lambda: jobs.clusters() == both, "both clusters are told as reachable")
    except BaseException:
        print(server.errors)
        raise
    finally:
        server.kill9()


def what_it_cannot_honour_is_refused_before_a_lease(jobs: Jobs) -> None:
    for more, what in (
        ({"gpu_milli": 500}, "gpu_share"),
        ({"resources": {"cpu_milli": 500, "mem_bytes": 1}}, "core_share"),
        ({"image": "tool"}, "image"),
    ):
        with pytest.raises(CallFailed, match=f"slurm cannot honour {what}") as refused:
            jobs.submit(f"no-{what}", "true", "slurm", **more)
        assert refused.value.code == "not_honoured"
    known = jobs.call("GET", "/v1/jobs")["items"]
    assert {each["phase"] for each in known}.isdisjoint({"refused", "failed"})


def what_was_held_is_metered_and_explained(jobs: Jobs, lease_id: int) -> None:
    def metered() -> bool:
        rows = jobs.call("GET", "/v1/tenants/main/usage")["rows"]
        return any(r["generation"] == "nvidia_hopper" and r["gpu_micro_seconds"] for r in rows)

    until(metered, "its GPU time is metered")
    told = jobs.call("GET", f"/v1/leases/{lease_id}/explain")["items"]
    assert any(each["kind"] == "admission_approved" for each in told), [
        each["kind"] for each in told
    ]


def both_sides_of_a_node_agree(jobs: Jobs, far: SlurmCluster) -> None:
    def state(node: str) -> str:
        return far.run("sinfo", "-hN", "-n", node, "-O", "statecomplete:").strip()

    until(lambda: jobs.mode("b1") == "cordoned", "what is closed there is closed here")
    until(lambda: "drain" in state("b2"), "what is closed here is closed there")
    far.run("scontrol", "update", "nodename=b1", "state=resume")
    if jobs.mode("b2") == "drained":
        jobs.call("PUT", "/v1/nodes/b2/mode", {"mode": "returning"}, key="returns")
    jobs.call("PUT", "/v1/nodes/b2/mode", {"mode": "accepting"}, key="opens")
    until(lambda: jobs.mode("b1") == "accepting", "what is opened there is opened here")
    until(lambda: "drain" not in state("b2"), "what is opened here is opened there")


# -- the tests -----------------------------------------------------------------------------------


def test_clusters_keep_the_promises_of_the_port_and_serve_a_server(
    clusters: tuple[SlurmCluster, SlurmCluster],
    subtests: pytest.Subtests,
    tmp_path: Path,
    *,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_SERVER", "leak")
    near, far = clusters
    stories = {story.__name__: story for story in STORIES}
    stories |= {check.__name__: story_of(check) for check in CHECKS}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        serving = a_server_runs_jobs_on_two_clusters_and_through_its_own_death
        folder = tmp_path / "server"
        folder.mkdir()
        begun: dict[str, Future[None]] = {
            serving.__name__: pool.submit(serving, near, far, folder),
        }
        for number, (name, story) in enumerate(stories.items()):
            folder = tmp_path / str(number)
            folder.mkdir()
            begun[name] = pool.submit(story, near, folder)
        for name, future in begun.items():
            with subtests.test(name):
                future.result()


def test_a_node_is_told_with_what_it_has_and_a_drain_of_others_is_not_ours(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    executor = open_at(cluster, tmp_path)
    found = executor.nodes()
    assert {name: len(node.capacity.gpus) for name, node in found.items()} == {
        "h1": 4,
        "h2": 4,
        "a1": 8,
    }
    assert executor.set_open("h1", is_open=False)
    assert executor.nodes()["h1"].gate is NodeGate.CLOSED_BY_US
    assert executor.set_open("h1", is_open=True)
    assert executor.nodes()["h1"].gate is NodeGate.OPEN
    cluster.run("scontrol", "update", "nodename=h1", "state=drain", "reason=disk")
    assert executor.nodes()["h1"].gate is NodeGate.CLOSED
    cluster.run("scontrol", "update", "nodename=h1", "state=resume")


def test_a_job_whose_node_is_lost_is_lost(cluster: SlurmCluster, tmp_path: Path) -> None:
    executor = open_at(cluster, tmp_path)
    executor.start(shell(1, "echo up; " + FOR_EVER, node="h2"))
    said(executor, 1, "up")
    cluster.kill_node("h2", str(runs(executor, 1).pid))
    cluster.run("scontrol", "update", "nodename=h2", "state=down", "reason=test")
    until(lambda: isinstance(executor.status(1), Lost), "it is told as lost")
    assert executor.tear_down(1)
    cluster.start_node("h2")


def test_a_job_that_the_controller_runs_again_after_a_crash_does_nothing_twice(
    cluster: SlurmCluster, tmp_path: Path
) -> None:
    executor = open_at(cluster, tmp_path)
    cluster.await_jobs_saved()  # so that what follows is not in the state that is found again
    executor.start(shell(1, f"echo x >> {tmp_path}/effect; echo up; {FOR_EVER}"))
    said(executor, 1, "up")
    cluster.kill("slurmctld")
    hasty = SlurmExecutor(tmp_path, programs=SlurmPrograms(cluster.hasty_env), waits=PATIENT)
    assert isinstance(hasty.status(1), Running)  # nobody answers: the last that was seen
    assert not hasty.tear_down(1)
    cluster.start_controller()
    # Whether the controller knows it as running, runs it again or has forgotten it is a matter of
    # what it had saved: in each case the program ran once, and what became of it is told.
    until(lambda: executor.tear_down(1), "nothing of it is left")
    assert (tmp_path / "effect").read_text() == "x\n"
    assert not isinstance(executor.status(1), Running | Starting)


@pytest.mark.parametrize("elements", HOW_MANY)
def test_a_graph_outlives_the_controller_and_a_node(
    cluster: SlurmCluster, tmp_path: Path, elements: int
) -> None:
    a_graph_outlives_the_controller_and_a_node(cluster, tmp_path, elements=elements)
