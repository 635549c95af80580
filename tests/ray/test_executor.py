"""The executor of a real Ray cluster keeps the promises of the port, and runs nothing twice.

A cluster takes long to start, and most of a job's time on it is waiting for one process after the
other. So there is one cluster and one test: the port's checks and the stories below are begun
together, and each tells how it went.
"""

from __future__ import annotations

import base64
import json
import os
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bailiwick.executors.port import (
    JobOrdered,
    JobSpec,
    Limits,
    Lost,
    LostReason,
    Running,
    Starting,
    UsedInAll,
    fault_of,
)
from bailiwick.executors.ray.executor import RayExecutor, RayWaits
from bailiwick.executors.ray.jobs_api import RayCluster
from bailiwick.vocab.errors import InvalidValue, Unavailable
from bailiwick.vocab.jobs import JobFault
from tests.ray.graph_survives import a_graph_outlives_the_node_that_runs_it
from tests.ray.server import RayServer
from tests.support.executor_conformance import CHECKS, FOR_EVER, Rig, ended, runs, said, shell
from tests.support.ray_cluster import DOOMED, GPUS, HEAD, PYTHON, SPARE, TestCluster, ray_cluster
from tests.support.waiting import WAIT_S, until

PATIENT = RayWaits(term_s=2.0, kill_s=WAIT_S)
HASTY = RayWaits(term_s=0.0, kill_s=0.0, lost_s=0.0)
AT_ONCE = 6


class Pinned(RayExecutor):
    """Nobody gets a place by chance on the node that is to be lost."""

    def start(self, spec: JobSpec) -> JobOrdered:
        """On the head, unless the job says otherwise."""
        return super().start(replace(spec, node=spec.node or HEAD))


def open_at(folder: Path, api: RayCluster, waits: RayWaits = PATIENT) -> RayExecutor:
    return Pinned(folder, api, python=str(PYTHON), waits=waits)


class Deaf(RayCluster):
    """A cluster whose answer to a submit is lost on the way, however often it heard it."""

    def __init__(self, cluster: TestCluster, *, heard: int) -> None:
        super().__init__(cluster.address)
        self.heard = heard

    def submit(self, name: str, entrypoint: str, *, about: Mapping[str, str]) -> None:
        """Nobody ever learns whether it was heard."""
        for _ in range(self.heard):
            super().submit(name, entrypoint, about=about)
        raise Unavailable("the cluster", "timed out")


# -- stories: once -------------------------------------------------------------------------------


def a_submit_whose_answer_was_lost_is_found_by_its_name_and_runs_once(
    cluster: TestCluster, folder: Path
) -> None:
    executor = open_at(folder / "jobs", Deaf(cluster, heard=2))  # asked again: not run again
    executor.start(shell(1, f"echo x >> {folder}/effect; echo done"))
    assert ended(executor, 1).code == 0
    assert (folder / "effect").read_text() == "x\n"
    used = executor.usage(1)
    assert isinstance(used, UsedInAll)
    assert 0 < used.began_ms <= used.emptied_ms


def a_submit_that_nobody_heard_is_told_as_never_started_and_cannot_begin_any_more(
    cluster: TestCluster, folder: Path
) -> None:
    effect, place = folder / "effect", folder / "jobs/1"
    executor = open_at(folder / "jobs", Deaf(cluster, heard=0))
    executor.start(shell(1, f"echo old >> {effect}"))
    assert executor.status(1) == Starting()
    hasty = open_at(folder / "jobs", Deaf(cluster, heard=0), HASTY)
    until(lambda: hasty.status(1) == Lost(LostReason.NEVER_STARTED), "it is told")
    (permit,) = place.glob("permit-*")
    hasty.forget(1)
    again = open_at(folder / "jobs", cluster.api())
    again.start(shell(1, f"echo new >> {effect}"))
    # Now the cluster runs what it had heard all the same: it finds that it has no permit.
    late = permit.name.removeprefix("permit-")
    cluster.api().submit(late, f"exec {PYTHON} {place}/driver.py {place} {late}", about={})
    assert ended(again, 1).code == 0
    until(lambda: cluster.api().jobs()[late].state.is_over, "the late one has come and gone")
    assert effect.read_text() == "new\n"


def a_job_called_back_before_it_had_a_place_never_runs_and_a_silent_cluster_decides_nothing(
    cluster: TestCluster, folder: Path
) -> None:
    executor = open_at(folder / "jobs", cluster.api())
    gpus = tuple(range(GPUS))
    executor.start(shell(1, "echo up $CUDA_VISIBLE_DEVICES; " + FOR_EVER, device_indices=gpus))
    assert said(executor, 1, "up") == "up 0,1,2,3\n"
    ask = json.loads((folder / "jobs/1/ask.json").read_text())
    assert ask["bundle"] == {"CPU": 1.0, "GPU": GPUS, "GEN_hopper": GPUS}
    executor.start(shell(2, f"echo x >> {folder}/effect", device_indices=(0,)))
    assert executor.status(2) == Starting()
    assert executor.tear_down(2)  # its proof is the permit: nobody needs to be asked
    silent = open_at(folder / "jobs", RayCluster("http://127.0.0.1:9"))
    assert isinstance(silent.status(1), Running)  # nobody answers: the last that was seen
    with pytest.raises(Unavailable):
        silent.start(shell(3, "true"))
    assert silent.tear_down(1)  # by the keeper's own word
    assert not isinstance(silent.status(1), Running)
    name = json.loads((folder / "jobs/2/state.json").read_text())["name"]
    until(lambda: cluster.api().jobs()[name].state.is_over, "the cluster gave it up, too")
    assert not (folder / "effect").exists()
    assert executor.leases() == (1, 2)


# -- stories: what goes wrong --------------------------------------------------------------------


def a_job_whose_node_is_lost_is_told_as_that_and_nothing_of_it_is_left(
    cluster: TestCluster, folder: Path
) -> None:
    def has_spare() -> bool:
        return SPARE in {node.name for node in cluster.api().nodes()}

    executor = open_at(folder, cluster.api())
    until(has_spare, "the node is there")
    executor.start(shell(1, "echo up; " + FOR_EVER, node=SPARE))
    said(executor, 1, "up")
    pid = runs(executor, 1).pid
    cluster.kill_raylet(SPARE)
    until(lambda: executor.status(1) == Lost(LostReason.NODE_LOST), "it is told as lost")
    assert executor.tear_down(1)
    assert not Path(f"/proc/{pid}").exists()
    until(lambda: not has_spare(), "the node is gone")
    with pytest.raises(Unavailable, match="does not have it now"):
        executor.start(shell(2, "true", node=SPARE))


def a_job_whose_keeper_was_killed_is_lost_and_its_teardown_is_not_confirmed(
    cluster: TestCluster, folder: Path
) -> None:
    executor = open_at(folder, cluster.api(), HASTY)
    executor.start(shell(1, "echo up $PPID; " + FOR_EVER))
    keeper = int(said(executor, 1, "up").split()[1])
    left = runs(executor, 1).pid
    try:
        os.kill(keeper, signal.SIGKILL)
        lost = Lost(LostReason.SUPERVISOR_GONE)
        until(lambda: executor.status(1) == lost, "it is told as lost")
        assert not executor.tear_down(1)
    finally:
        os.kill(left, signal.SIGKILL)


def what_the_cluster_cannot_honour_is_refused_before_it_is_asked(
    cluster: TestCluster, folder: Path
) -> None:
    (folder / "tenant.json").write_text('{"tenant": "uni"}')
    executor = open_at(folder, Deaf(cluster, heard=1))
    asked: tuple[tuple[dict[str, Any], JobFault], ...] = (
        ({"limits": Limits(cores=(0,))}, JobFault.LIMITS_NOT_POSSIBLE),
        ({"limits": Limits(pids_max=5)}, JobFault.LIMITS_NOT_POSSIBLE),
        ({"limits": Limits(cpu_milli=17_000)}, JobFault.LIMITS_NOT_POSSIBLE),
        ({"device_indices": tuple(range(GPUS + 1))}, JobFault.LIMITS_NOT_POSSIBLE),
        ({"owner": "other/p"}, JobFault.NOT_KEPT_APART),
    )
    for more, fault in asked:
        with pytest.raises(InvalidValue) as refused:
            executor.start(shell(1, "true", **more))
        assert fault_of(refused.value) is fault
    assert executor.leases() == ()


def a_server_runs_jobs_on_the_clusters_nodes_and_its_death_ends_and_repeats_nothing(
    cluster: TestCluster, folder: Path
) -> None:
    server = RayServer(cluster, folder)

    def submit(key: str, text: str) -> int:
        body = {
            "tenant": "main",
            "project": "default",
            "command": ["/bin/sh", "-c", text],
            "resources": {"cpu_milli": 500, "mem_bytes": 2**28},
            "gpu_count": 1,
            "gpu_generation": "nvidia_hopper",
            "labels": ["executor=ray", f"site={HEAD}"],
            "ttl_ms": 600_000,
        }
        return int(caller.ask("POST", "/v1/jobs", body, key=key)["job_id"])

    def phase(job_id: int, wanted: str) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            found: dict[str, Any] = caller.ask("GET", f"/v1/jobs/{job_id}")
            return found if found["phase"] == wanted else None

        return until(look, f"job {job_id} is {wanted}")

    try:
        server.start()
        with server.client() as caller:

            def nodes() -> set[str]:
                return {node["node"] for node in caller.ask("GET", "/v1/nodes")["items"]}

            until(lambda: HEAD in nodes(), "the node takes part")
            wait = f"until [ -e {folder}/go ]; do sleep 0.1; done"
            first = submit(
                "first", f"echo x >> {folder}/effect; {wait}; echo $CUDA_VISIBLE_DEVICES"
            )
            second = submit("second", FOR_EVER)
            phase(first, "running")
            phase(second, "running")
            server.kill9()
            server.start()
            caller.ask("DELETE", f"/v1/jobs/{second}", key="cancel")
            phase(second, "cancelled")
            (folder / "go").touch()
            assert phase(first, "succeeded")["node"] == HEAD
            told = caller.ask("GET", f"/v1/jobs/{first}/output")
            assert base64.b64decode(told["data"]).strip().isdigit()
            assert (folder / "effect").read_text() == "x\n"
    except BaseException:
        print(server.errors)
        raise
    finally:
        server.kill9()


Story = Callable[[TestCluster, Path], None]
STORIES: tuple[Story, ...] = (
    a_graph_outlives_the_node_that_runs_it,
    a_server_runs_jobs_on_the_clusters_nodes_and_its_death_ends_and_repeats_nothing,
    a_job_whose_node_is_lost_is_told_as_that_and_nothing_of_it_is_left,
    a_submit_that_nobody_heard_is_told_as_never_started_and_cannot_begin_any_more,
    a_job_called_back_before_it_had_a_place_never_runs_and_a_silent_cluster_decides_nothing,
    a_job_whose_keeper_was_killed_is_lost_and_its_teardown_is_not_confirmed,
    a_submit_whose_answer_was_lost_is_found_by_its_name_and_runs_once,
    what_the_cluster_cannot_honour_is_refused_before_it_is_asked,
)


def story_of(check: Callable[[Rig], None]) -> Story:
    """A check of the port on this cluster."""

    def run(cluster: TestCluster, folder: Path) -> None:
        api = cluster.api()
        rig = Rig(open_at(folder, api), lambda: open_at(folder, api), devices=r"(\d),(?!\1)\d")
        try:
            check(rig)
        finally:
            for lease_id in rig.executor.leases():
                rig.executor.tear_down(lease_id)

    return run


# -- the test ------------------------------------------------------------------------------------


def test_a_cluster_keeps_the_promises_of_the_port_and_runs_nothing_twice(
    subtests: pytest.Subtests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_SERVER", "leak")
    stories = {story.__name__: story for story in STORIES}
    stories |= {check.__name__: story_of(check) for check in CHECKS}
    with ray_cluster(SPARE, DOOMED) as cluster, ThreadPoolExecutor(AT_ONCE) as pool:
        begun = dict[str, Future[None]]()
        for number, (name, story) in enumerate(stories.items()):
            folder = tmp_path / str(number)
            folder.mkdir()
            begun[name] = pool.submit(story, cluster, folder)
        for name, future in begun.items():
            with subtests.test(name):
                future.result()


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_a_graph_of_a_thousand_tasks_outlives_a_node(tmp_path: Path) -> None:
    with ray_cluster(DOOMED) as cluster:
        a_graph_outlives_the_node_that_runs_it(cluster, tmp_path, elements=1_000)
