"""A story on a real cluster: everything that can happen to a job, and what the test knows of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.slurm_cluster import SlurmCluster, slurm_cluster
from tests.support.waiting import until


@dataclass(frozen=True)
class Ran:
    """A job that was run, and when it really began and ended by its own clock."""

    job_id: str
    gpus: int
    began_ms: int
    ended_ms: int


@dataclass(frozen=True)
class Story:
    """The cluster after everything has happened, and what the test itself knows about it."""

    cluster: SlurmCluster
    jobs: dict[str, Ran]
    from_s: int
    saved: Path
    answer_ms: int
    """How long this machine takes for one of Slurm's own questions: how slow it is."""


ACCOUNTS = (
    ("add", "account", "acme"),
    ("add", "account", "vision", "parent=acme"),
    ("add", "account", "nlp", "parent=acme"),
    ("add", "account", "uni"),
    ("add", "qos", "spot", "PreemptMode=cancel"),
    ("add", "qos", "gold", "Priority=100", "Preempt=spot"),
    ("modify", "account", "acme", "set", "qos=normal,gold"),
    ("modify", "account", "uni", "set", "qos=normal,spot"),
)


@contextmanager
def tell_story(saved: Path) -> Iterator[Story]:
    """Jobs that finish, fail, are preempted, lose their node, and end unseen."""
    from_s = int(time.time()) - 1
    with slurm_cluster() as cluster:
        me = cluster.run("whoami").strip()
        for words in (*ACCOUNTS, *(("add", "user", me, f"account={a}") for a in TEAMS)):
            cluster.run("sacctmgr", "-iQ", *words)
        jobs = dict(_run_everything(cluster))
        yield Story(cluster, jobs, from_s, saved, max(_answers_ms(cluster)))


def _answers_ms(cluster: SlurmCluster) -> Iterator[int]:
    for _ in range(5):
        began = time.monotonic()
        cluster.run("squeue")
        yield int(1000 * (time.monotonic() - began))


AWAY_S = 7
TEAMS = ("vision", "nlp", "uni")
GPUS = {
    "finished": 2,
    "failed": 3,
    "preempted": 4,
    "preemptor": 4,
    "spread": 2,
    "lost": 2,
    "away": 2,
}


def _run_everything(cluster: SlurmCluster) -> Iterator[tuple[str, Ran]]:
    vision, nlp, uni = ("-A", "vision"), ("-A", "nlp"), ("-A", "uni")
    h1, h2, a1 = ("-N1", "-w", "h1"), ("-N1", "-w", "h2"), ("-N1", "-w", "a1")
    ids: dict[str, str] = {}
    ids["finished"] = cluster.submit(
        *vision, *h1, "--qos=gold", "--gres=gpu:hopper:2", "--comment=exp-7", seconds=3
    )
    ids["failed"] = cluster.submit(*nlp, *a1, "--gres=gpu:ampere:3", seconds=3, exit_code=7)
    ids["preempted"] = cluster.submit(*uni, *h2, "--qos=spot", "--gres=gpu:hopper:4", seconds=600)
    ids["lost"] = cluster.submit(*uni, *h1, "--gres=gpu:hopper:2", "--no-requeue", seconds=600)
    _await_told(cluster, ids, "began")
    _await_told(cluster, {"finished": ids["finished"]}, "ended")  # the victim has run for a while
    ids["preemptor"] = cluster.submit(*vision, *h2, "--qos=gold", "--gres=gpu:hopper:4", seconds=3)
    _await_told(cluster, ids, "ended", but=("lost",))
    lost_ms = cluster.kill_node("h1", ids["lost"])
    cluster.run("scontrol", "update", "nodename=h1", "state=down", "reason=lost by the test")
    ids["spread"] = cluster.submit(
        *vision, "-N2", "-w", "h2,a1", "--gres=gpu:1", "--qos=gold", seconds=2
    )
    _await_told(cluster, {"spread": ids["spread"]}, "ended")
    for name, job_id in ids.items():
        until(lambda n=name, j=job_id: cluster.state(j) == STATES[n], f"{name} ended")
    ids["away"] = cluster.submit(*nlp, *a1, "--gres=gpu:ampere:2")
    _await_told(cluster, {"away": ids["away"]}, "began")
    # What is not saved when the controller dies it forgets; only the end is to be missed.
    cluster.await_saved()
    cluster.kill("slurmctld")
    cluster.open_gate()
    _await_told(cluster, {"away": ids["away"]}, "ended")
    time.sleep(AWAY_S)  # time that passes is what the job is charged for
    cluster.start_controller()
    until(lambda: cluster.state(ids["away"]) == "COMPLETED", "the end is known")
    for name, job_id in ids.items():
        began, ended = cluster.told(job_id, "began"), cluster.told(job_id, "ended")
        assert began is not None
        yield name, Ran(job_id, GPUS[name], began, lost_ms if name == "lost" else ended or 0)


STATES = {
    "finished": "COMPLETED",
    "failed": "FAILED",
    "preempted": "PREEMPTED",
    "preemptor": "COMPLETED",
    "spread": "COMPLETED",
    "lost": "NODE_FAIL",
    "away": "COMPLETED",
}


def _await_told(
    cluster: SlurmCluster, ids: dict[str, str], what: str, *, but: tuple[str, ...] = ()
) -> None:
    for name, job_id in ids.items():
        if name not in but:
            until(lambda j=job_id: cluster.told(j, what) is not None, f"{name} {what}")
