"""A graph on a cluster, one of whose nodes ends without warning and comes back."""

from __future__ import annotations

from pathlib import Path

from tests.processes.caller import HttpCaller
from tests.ray.server import RayServer
from tests.support.graph_story import STUCK, check, graph, node_of, submit, until_done, until_over
from tests.support.ray_cluster import DOOMED, TestCluster
from tests.support.waiting import until


def a_graph_outlives_the_node_that_runs_it(
    cluster: TestCluster, folder: Path, *, elements: int = 8
) -> None:
    """What was lost with the node is tried again, and told as that; nothing happens twice."""
    server = RayServer(cluster, folder)
    mark = folder / "mark"
    needs = f"cpus: 1, mem: 64MiB, labels: {{site: {DOOMED}}}"
    try:
        server.start()
        with server.client() as caller:
            until(lambda: _has_node(caller), "the node takes part")
            # Few at once: each job takes the cluster seconds of a core to begin.
            document = graph(str(mark), elements, stuck=True, needs=needs, at_once=4)
            graph_id = submit(caller, document, "ray")
            until_done(caller, graph_id, elements // 2)
            until(lambda: node_of(caller, graph_id, f"work[{STUCK}]"), "the stuck one runs")
            cluster.kill_raylet(DOOMED)
            cluster.start_node(DOOMED)
            again = check(until_over(caller, graph_id, elements), [mark])
            assert again.pop("exit_code") == 1
            assert again.pop("node_lost") >= 1, "what was lost with its node was tried again"
            assert not again
    except BaseException:
        print((folder / "err").read_text()[-3000:])
        raise
    finally:
        server.kill9()


def _has_node(caller: HttpCaller) -> bool:
    return any(node["node"] == DOOMED for node in caller.ask("GET", "/v1/nodes")["items"])
