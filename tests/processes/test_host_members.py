"""Members that are given the host, as real processes: where, by whose leave, and until when."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bailiwick.executors.local.modes import can_sandbox
from tests.processes.caller import CallFailed, HttpCaller
from tests.processes.harness import Server, running
from tests.processes.node_agents import agents
from tests.processes.test_apps_survive import ALL, is_ready, members
from tests.processes.test_jobs_survive import no_process_left_behind, processes_of
from tests.processes.test_node_agents import TENANT, output, phase
from tests.support.app_manifests import SERVICE_DIGEST, service
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(
    os.geteuid() == 0 and not can_sandbox(), reason="no process namespaces here"
)
HOST = "/v1/apps/svc/versions/1.0.0/host"


def prepare(caller: HttpCaller, folder: Path) -> None:
    """An app whose workers ask for the host, write down who they are, and leave a deaf daemon."""
    marks, anchor = folder / "marks", folder / "anchor/file"
    anchor.parent.mkdir()
    anchor.touch()
    deaf = f'trap "" TERM HUP INT; exec tail -f {anchor}'
    seen = f"$APP_COMPONENT_KEY $(id -u) $(ls -d $BAILIWICK_HOST_PROC/{os.getpid()})"
    script = f"setsid sh -c '{deaf}' & echo {seen} >> {marks}; exec tail -f {anchor}"
    plain = json.loads(service().canonical)
    plain["roles"]["controller"]["count"] = [0, 1]
    plain["roles"]["controller"]["command"] = ["sleep", "600"]
    plain["roles"]["worker"] |= {
        "count": [0, 3],
        "privileges": "host",
        "command": ["/bin/sh", "-c", script],
    }
    for artifact in plain["artifacts"].values():
        artifact["kind"] = "blob"
    source = {"source": "main", "kind": "blob", "address": "https://blobs.example/apps"}
    caller.ask("PUT", "/v1/artifact-sources", source, key="source")
    caller.ask("POST", "/v1/apps", {"document": json.dumps(plain)}, key="publish")
    artifact = {"digest": SERVICE_DIGEST}
    caller.ask("POST", "/v1/artifacts", artifact | {"kind": "blob", "source": "main"}, key="blob")
    caller.ask("PATCH", "/v1/artifacts", artifact | {"trust": "verified"}, key="trust")
    caller.ask("PATCH", "/v1/apps/svc", {"visibility": "public"}, key="public")
    line = {"app": "svc", "tenant": "main", "is_enabled": True}
    caller.ask("PUT", "/v1/entitlements", line, key="line")


def refused(caller: HttpCaller, method: str, path: str, body: object) -> CallFailed:
    with pytest.raises(CallFailed) as told:
        caller.ask_once(method, path, body, key=None)
    return told.value


def wish(**counts: int) -> dict[str, Any]:
    return {"name": "demo", "app": "svc", "version": "1.0.0", "counts": counts}


def leases_are_back(caller: HttpCaller) -> bool:
    return not caller.ask("GET", "/v1/leases")["items"]


def test_members_run_on_the_host_of_nodes_that_give_it_and_all_of_them_ends(
    tmp_path: Path,
) -> None:
    server = Server(tmp_path, "one", "--data-dir", str(tmp_path / "data"))
    with no_process_left_behind(tmp_path), running(server), server.client() as caller:
        prepare(caller, tmp_path)
        assert "host_not_granted" in str(refused(caller, "POST", ALL, wish(worker=1)))
        caller.ask("PUT", HOST, {"is_granted": True}, key="grant")
        nobody = refused(caller, "POST", ALL, wish(worker=1))
        assert nobody.code == "not_honoured", "no node gives the host"
        first = wish(controller=0, worker=0)
        number = int(caller.ask("POST", ALL, first, key="make")["instance_id"])
        more = {"counts": {"worker": 2}}
        assert refused(caller, "PATCH", f"{ALL}/{number}", more).code == "not_honoured"

        with agents(server, tmp_path, caller, options=("--host-members",)):
            nodes = {row["node"]: row for row in caller.ask("GET", "/v1/nodes")["items"]}
            assert [nodes[name]["host_members"] for name in ("n1", "n2")] == [False, True]
            caller.ask("PATCH", f"{ALL}/{number}", more, key="scale")
            wanted = {"worker-0", "worker-1"}
            found = until(lambda: is_ready(caller, number, wanted), "both members are ready")
            check_places(caller, found, marks=tmp_path / "marks")
            check_users(caller, found["worker-0"]["job_id"])

            caller.ask("PUT", HOST, {"is_granted": False}, key="withdraw")
            again = {"action": "add", "component_key": "late", "role": "worker"}
            told = refused(caller, "POST", f"{ALL}/{number}/members", again)
            assert "host_not_granted" in str(told)
            caller.ask("DELETE", f"/v1/jobs/{found['worker-1']['job_id']}", key="cancel")
            until(lambda: is_failed(caller, number, "worker-1"), "nobody takes its place")
            until(lambda: len(processes_of(tmp_path / "anchor")) == 2, "all of one is gone")

            caller.ask("DELETE", f"{ALL}/{number}", key="delete")
            until(lambda: not caller.ask("GET", ALL)["items"], "it is gone")
            until(lambda: leases_are_back(caller), "all leases are back")
            assert processes_of(tmp_path / "anchor") == []
        assert "Traceback" not in server.errors


def is_failed(caller: HttpCaller, number: int, key: str) -> bool:
    return members(caller, number)[key]["phase"] == "failed"


def check_places(caller: HttpCaller, found: dict[str, dict[str, Any]], *, marks: Path) -> None:
    """All are on the one node that gives the host, and saw the machine as its user does."""
    jobs = [caller.ask("GET", f"/v1/jobs/{row['job_id']}") for row in found.values()]
    assert {job["node"] for job in jobs} == {"n2"}
    lines = until(lambda: _all(marks, len(found)), "both have told who they are")
    for line in lines:
        _, uid, seen = line.split(" ")
        assert uid == str(os.getuid())
        assert seen.endswith(f"/{os.getpid()}")


def _all(marks: Path, count: int) -> list[str] | None:
    lines = marks.read_text().splitlines() if marks.exists() else []
    return lines if len(lines) == count else None


def check_users(caller: HttpCaller, member: int) -> None:
    """What people submit is never on the host, whatever it says, and nobody enters a member."""
    told = refused(caller, "POST", f"/v1/jobs/{member}/execs", {"command": ["id"]})
    assert "nobody is let in" in str(told)
    body = TENANT | {
        "command": ["/bin/sh", "-c", "ls -d ${BAILIWICK_HOST_PROC:-none}; id -u"],
        "resources": {"cpu_milli": 100, "mem_bytes": 2**28},
        "ttl_ms": 600_000,
    }
    for forged in ("bailiwick.instance=1", "bailiwick.host=yes"):
        assert "bailiwick." in str(
            refused(caller, "POST", "/v1/jobs", body | {"job_labels": [forged]})
        )
    assert refused(caller, "POST", "/v1/jobs", body | {"on_host": True}).code == "invalid_value"
    body |= {"labels": ["host-members=yes"]}
    job = int(caller.ask("POST", "/v1/jobs", body, key="beside")["job_id"])
    phase(caller, job, "succeeded", "failed")
    said = output(caller, job)
    assert "none" in said
    assert os.getuid() != 0 or said.splitlines()[-1] != "0", said


def test_a_server_gives_the_host_of_its_own_node_and_a_kill_leaves_nothing(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    server = Server(tmp_path, "one", "--data-dir", data, "--host-members", is_node=True)
    with no_process_left_behind(tmp_path), running(server):
        server.wait_for_its_node()
        with server.client() as caller:
            assert caller.status()["host_members"] is True
            prepare(caller, tmp_path)
            caller.ask("PUT", HOST, {"is_granted": True}, key="grant")
            made = caller.ask("POST", ALL, wish(controller=0, worker=1), key="make")
            number = int(made["instance_id"])
            until(lambda: is_ready(caller, number, {"worker-0"}), "it is ready")
            server.kill9()
            server.start()
            server.wait_for_its_node()
            assert until(lambda: is_ready(caller, number, {"worker-0"}), "it is still there")
            caller.ask("DELETE", f"{ALL}/{number}", key="delete")
            until(lambda: leases_are_back(caller), "its lease is back")
            assert processes_of(tmp_path / "anchor") == []
        assert "Traceback" not in server.errors
        assert server.stop() == 0
