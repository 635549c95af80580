"""A graph on a cluster whose controller and one of whose nodes end without warning."""

from __future__ import annotations

from pathlib import Path

from tests.processes.caller import HttpCaller
from tests.support.cluster_server import ClusterServer
from tests.support.graph_story import STUCK, check, graph, node_of, submit, until_done, until_over
from tests.support.slurm_cluster import SlurmCluster
from tests.support.waiting import until


def a_graph_outlives_the_controller_and_a_node(
    cluster: SlurmCluster, folder: Path, *, elements: int
) -> None:
    """What was lost is tried again and told as that; nothing happens twice."""
    mark, stuck = folder / "mark", f"work[{STUCK}]"
    place = f"slurm@{cluster.env['SLURM_CONF']}={folder / 'jobs'}"
    server = ClusterServer(folder, place, env={"BAILIWICK_SLURM_ACCOUNT": "{project}"})
    try:
        server.start()
        with server.client() as caller:
            until(lambda: caller.ask("GET", "/v1/nodes")["items"], "the nodes take part")
            needs = "cpus: 1, mem: 64MiB"
            graph_id = submit(caller, graph(str(mark), elements, stuck=True, needs=needs), "slurm")
            until_done(caller, graph_id, elements // 3)
            cluster.kill("slurmctld")
            cluster.start_controller()
            until_done(caller, graph_id, elements // 2)
            node = until(lambda: node_of(caller, graph_id, stuck), "the stuck one runs")
            cluster.kill_node(node, until(lambda: number_of(caller, cluster), "it is known there"))
            cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
            cluster.start_node(node)
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


def number_of(caller: HttpCaller, cluster: SlurmCluster) -> str | None:
    """The number that the cluster has for the job of the stuck one."""
    rows = caller.ask("GET", "/v1/jobs?phase=running")["items"]
    leases = {str(row["lease_id"]) for row in rows if row["name"] == f"work[{STUCK}]"}
    for line in cluster.run("squeue", "-h", "-t", "R", "-o", "%i|%j").splitlines():
        number, name = line.split("|")
        if name.startswith("bw-") and name.split("-")[2] in leases:
            return number
    return None
