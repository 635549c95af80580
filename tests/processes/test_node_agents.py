"""Two agents and a server as real processes: jobs run where they land, and each effect once.

What judges is not the product: jobs write down themselves that they ran.
"""

from __future__ import annotations

import base64
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, running
from tests.processes.node_agents import Agent, agents, enrol
from tests.support.waiting import until

ATTACKER = Path(__file__).parents[1] / "executors" / "attacker.py"
PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
TENANT = {"tenant": "main", "project": "default"}


def submit(caller: HttpCaller, node: str, text: str, *, key: str) -> int:
    body: dict[str, Any] = TENANT | {
        "command": ["/bin/sh", "-c", text],
        "resources": {"cpu_milli": 100, "mem_bytes": 2**28},
        "labels": ["executor=node", f"site={node}"],
        "ttl_ms": 600_000,
    }
    return int(caller.ask("POST", "/v1/jobs", body, key=key)["job_id"])


def phase(caller: HttpCaller, job_id: int, *wanted: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        found: dict[str, Any] = caller.ask("GET", f"/v1/jobs/{job_id}")
        return found if found["phase"] in wanted else None

    return until(look, f"job {job_id} is {' or '.join(wanted)}")


def output(caller: HttpCaller, job_id: int) -> str:
    found = caller.ask("GET", f"/v1/jobs/{job_id}/output")
    return base64.b64decode(found["data"]).decode()


def inside(
    caller: HttpCaller, job_id: int, *words: str, given: bytes = b""
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """What a program inside a job wrote, and how it ended."""
    path = f"/v1/jobs/{job_id}/execs"
    opened = caller.ask("POST", path, {"command": list(words)}, key=None)
    path += f"/{opened['exec_id']}"
    typed = {"offset": 0, "data": base64.b64encode(given).decode(), "is_closed": True}
    caller.ask("PUT", f"{path}/input", typed, key=None)
    wrote, offset = {"stdout": b"", "stderr": b""}, 0
    while True:  # until it is over, which the server sees to
        found = caller.ask("POST", f"{path}/output", {"offset": offset, "wait_s": 15}, key=None)
        offset = found["next_offset"]
        for piece in found["pieces"]:
            wrote[piece["stream"]] += base64.b64decode(piece["data"])
        if found["end"] is not None:
            return wrote, found


def work_of(agent: Agent, job: dict[str, Any]) -> Path:
    """The folder in which a job runs: what it leaves there can be seen from outside."""
    return agent.folder / "jobs" / str(job["lease_id"]) / "work"


def test_jobs_run_where_they_land_and_outlive_their_agent_and_the_server(tmp_path: Path) -> None:
    server = Server(tmp_path, "one", "--data-dir", str(tmp_path / "data"))
    wait = "until [ -e go ]; do sleep 0.05; done"
    trusts = ("--trust-jobs",)
    with (
        running(server),
        server.client() as caller,
        agents(server, tmp_path, caller, options=trusts) as both,
    ):
        first = submit(caller, "n1", f"echo one >> mark; echo begun; {wait}; echo done", key="a")
        other = submit(caller, "n2", "echo two >> mark; exit 3", key="b")
        stays = submit(caller, "n2", "echo three >> mark; sleep 1000", key="c")
        places = {"two": work_of(both[1], phase(caller, other, "failed"))}
        assert caller.ask("GET", f"/v1/jobs/{other}")["exit_code"] == 3
        begun = phase(caller, first, "running")
        assert begun["node"] == "n1"
        places["one"] = work_of(both[0], begun)
        until(lambda: "begun" in output(caller, first), "its output comes while it runs")
        text = "cat; echo $BAILIWICK_LEASE_ID >&2; exit 4"
        wrote, told = inside(caller, first, "sh", "-c", text, given=b"x" * 60_000)
        assert (told["end"], told["exit_code"]) == ("exited", 4)
        assert wrote == {"stdout": b"x" * 60_000, "stderr": b"%d\n" % begun["lease_id"]}
        assert inside(caller, first, "/no/such")[1]["end"] == "not_begun"
        places["three"] = work_of(both[1], phase(caller, stays, "running"))
        both[0].kill9()
        server.kill9()
        server.start()
        both[0].start()
        caller.ask("DELETE", f"/v1/jobs/{stays}", key="cancel")
        phase(caller, stays, "cancelled")
        (places["one"] / "go").touch()
        assert phase(caller, first, "succeeded")["exit_code"] == 0
        assert output(caller, first) == "begun\ndone\n"
        check_modes(caller, both)
        check_older_agent(caller, tmp_path, server)
        again = submit(caller, "n1", "echo $BAILIWICK_SERVER", key="d")
        phase(caller, again, "succeeded")
        assert output(caller, again) == f"{server.address}\n"
        for word, place in places.items():
            assert (place / "mark").read_text() == f"{word}\n", "its effect happened once"


def check_modes(caller: HttpCaller, both: list[Agent]) -> None:
    """What each says of itself is so: a hostile job gets at nothing, trust is one tenant's."""
    modes = [caller.ask("GET", f"/v1/nodes/{agent.node}")["job_mode"] for agent in both]
    assert modes[0] in ("sandbox", "users"), "root can always have one of these"
    assert modes[1] == "trusted"
    told = caller.ask("GET", "/v1/replica")["agents"]
    assert told == {modes[0]: 1, "trusted": 1}
    agent = both[0]
    assert agent.process is not None
    program = ATTACKER.read_text()
    words = [PYTHON, "-I", "-c", program, str(agent.folder), str(agent.process.pid), "none"]
    body: dict[str, Any] = TENANT | {
        "command": words,
        "resources": {"cpu_milli": 100, "mem_bytes": 2**28},
        "labels": ["executor=node", "site=n1"],
        "ttl_ms": 600_000,
    }
    hostile = int(caller.ask("POST", "/v1/jobs", body, key="hostile")["job_id"])
    phase(caller, hostile, "succeeded")
    found = json.loads(output(caller, hostile))
    assert found.pop("files") == [], "the agent's folder, its token and its other jobs"
    assert set(found.values()) == {False}, found
    del body["project"]
    body |= {"tenant": "lab", "command": ["/bin/true"], "labels": ["executor=node", "site=n2"]}
    other = int(caller.ask("POST", "/v1/jobs", body, key="other")["job_id"])
    assert phase(caller, other, "failed", "succeeded")["reason"] == "not_kept_apart"


def check_older_agent(caller: HttpCaller, folder: Path, server: Server) -> None:
    """One that says nothing of itself is not sent what it cannot understand."""
    token = (enrol(caller, folder, "n3", server).folder / "token").read_text()
    labels = ["executor=node", "site=n3"]
    resources = {"cpu_milli": 1000, "mem_bytes": 2**30, "block_bytes": 0}
    body = {"resources": resources, "gpus": [], "labels": labels}
    with HttpCaller([server.address], token) as agent:
        agent.ask("PUT", "/v1/nodes/n3/inventory", body, key="inventory")
        agent.ask("GET", "/v1/nodes/n3/work?life=1&agent=0.1&knows=argv,env,limits")
        job_id = submit(caller, "n3", "true", key="older")
        assert phase(caller, job_id, "failed")["reason"] == "agent_too_old"
        assert agent.ask("GET", "/v1/nodes/n3/work?life=1")["items"] == []
    assert "install" in server.errors, "the log names the fix"
    caller.ask("DELETE", "/v1/nodes/n3", key="gone")


def test_a_gang_over_two_nodes_meets_and_ends_as_one(tmp_path: Path) -> None:
    server = Server(tmp_path, "one", "--data-dir", str(tmp_path / "data"))
    # More than half of what a node has, each: the two members cannot share one.
    meet = (
        "import os, socket, sys, time\n"
        "rank, port = int(os.environ['RANK']), int(os.environ['MASTER_PORT'])\n"
        "place = (os.environ['MASTER_ADDR'], port)\n"
        "if rank == 0:\n"
        "    with socket.create_server(place) as door:\n"
        "        peer = door.accept()[0]\n"
        "        print('met', peer.recv(10).decode(), flush=True)\n"
        "    time.sleep(1000)\n"
        "while True:\n"
        "    try:\n"
        "        peer = socket.create_connection(place)\n"
        "        break\n"
        "    except OSError:\n"
        "        time.sleep(0.05)\n"
        "peer.sendall(b'rank %d' % rank)\n"
        "print('said it', flush=True)\n"
        "sys.exit(5)\n"
    )
    with running(server), server.client() as caller, agents(server, tmp_path, caller):
        nodes = {row["node"]: row for row in caller.ask("GET", "/v1/nodes")["items"]}
        assert "address=127.0.0.1" in nodes["n1"]["labels"]
        most = min(nodes[name]["resources"]["cpu_milli"] for name in ("n1", "n2"))
        body: dict[str, Any] = TENANT | {
            "command": ["/usr/bin/env", "python3", "-c", meet],
            "resources": {"cpu_milli": most // 2 + 100, "mem_bytes": 2**28},
            "labels": ["executor=node"],
            "ttl_ms": 600_000,
            "gang_size": 2,
        }
        job_id = int(caller.ask("POST", "/v1/jobs", body, key="gang")["job_id"])
        done = phase(caller, job_id, "failed")
        assert done["exit_code"] == 5
        assert {each["node"] for each in done["members"]} == {"n1", "n2"}
        told = [
            base64.b64decode(
                caller.ask("GET", f"/v1/jobs/{job_id}/output?member={rank}")["data"]
            ).decode()
            for rank in (0, 1)
        ]
        assert told == ["met rank 1\n", "said it\n"]
        until(lambda: not caller.ask("GET", "/v1/leases")["items"], "both leases are given back")
