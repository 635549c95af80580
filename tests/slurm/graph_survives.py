"""A graph on a cluster whose controller and one of whose nodes end without warning.

A controller that crashes forgets what it was told within the last seconds, the stuck task among it
or not. So that task is stuck until its node was lost with it: whichever attempt that was.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.processes.caller import HttpCaller
from tests.support.cluster_server import ClusterServer
from tests.support.graph_story import FLAKY, STUCK, check, graph, submit, until_done, until_over
from tests.support.slurm_cluster import SlurmCluster
from tests.support.waiting import until


def a_graph_outlives_the_controller_and_a_node(
    cluster: SlurmCluster, folder: Path, *, elements: int
) -> None:
    """What was lost is tried again and told as that; nothing happens twice."""
    mark, go = folder / "mark", folder / "go"
    place = f"slurm@{cluster.env['SLURM_CONF']}={folder / 'jobs'}"
    server = ClusterServer(folder, place, env={"BAILIWICK_SLURM_ACCOUNT": "{project}"})
    document = graph(str(mark), elements, stuck=True, go=go, needs="cpus: 1, mem: 64MiB")
    try:
        with cluster.operated():
            server.start()
            caller = server.client()
            cluster.await_nodes()
            until(lambda: caller.ask("GET", "/v1/nodes")["items"], "the nodes take part")
            graph_id = submit(caller, document, "slurm")
            until_done(caller, graph_id, elements // 3)
            # What fails by its own doing is told as that; after the crash it might not be known.
            until(lambda: failures_of(caller, graph_id, f"work[{FLAKY}]"), "the flaky one failed")
            cluster.kill("slurmctld")
            cluster.start_controller()
            until_done(caller, graph_id, elements // 2)
            # What the controller takes back just then, after its crash, is not lost with its node.
            is_lost = lambda: lose_the_node(caller, cluster) == "node_lost"  # noqa: E731
            until(is_lost, "the stuck one is lost with its node, and told as that")
            go.touch()
            again = check(until_over(caller, graph_id, elements), [mark])
            assert again.pop("exit_code") == 1
            assert again.pop("node_lost") >= 1, "what was lost with its node was tried again"
            # What the controller takes back after its crash is tried again, too, and told so.
            assert again.keys() <= {"preempted"}
    except BaseException:
        print(server.errors)
        raise
    finally:
        server.kill9()


def failures_of(caller: HttpCaller, graph_id: int, name: str) -> dict[str, int]:
    """How often a task failed, by why."""
    tasks = caller.ask("GET", f"/v1/graphs/{graph_id}")["tasks"]
    (found,) = [dict(task["failures"]) for task in tasks if task["name"] == name]
    return found


def lose_the_node(caller: HttpCaller, cluster: SlurmCluster) -> str:
    """Have the node of the stuck one end and come back; what became of that attempt."""
    job, number = until(lambda: stuck_in(caller, cluster), "the stuck one runs there")
    node, path = job["node"], f"/v1/jobs/{job['job_id']}"
    cluster.kill_node(node, number)
    cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
    cluster.start_node(node)

    def ended() -> dict[str, Any] | None:
        found = caller.ask("GET", path)
        return found if found["ended_ms"] else None

    return str(until(ended, "that attempt is over")["reason"])


def stuck_in(caller: HttpCaller, cluster: SlurmCluster) -> tuple[dict[str, Any], str] | None:
    """The job of the stuck one and its number in the cluster, once both say that it runs."""
    rows = caller.ask("GET", "/v1/jobs?phase=running")["items"]
    jobs = {str(row["lease_id"]): row for row in rows if row["name"] == f"work[{STUCK}]"}
    for line in cluster.run("squeue", "-h", "-t", "R", "-o", "%i|%j").splitlines():
        number, name = line.split("|")
        if name.startswith("bw-") and name.split("-")[2] in jobs:
            return jobs[name.split("-")[2]], number
    return None
