"""Members of an app outlive the server that began them, and all of them are metered and cleared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, running
from tests.processes.test_jobs_survive import no_process_left_behind
from tests.support.app_manifests import SERVICE_DIGEST, service
from tests.support.waiting import until

PROJECT = "/v1/tenants/main/projects/default"
ALL = f"{PROJECT}/instances"


def prepare(caller: HttpCaller, marks: Path) -> None:
    """An app whose members write down who they are and go on; it is trusted, and may be used."""
    script = (
        f'echo "$APP_COMPONENT_KEY $APP_INSTANCE_ID $APP_PARAMETERS $BAILIWICK_LEASE_TOKEN"'
        f" >> {marks}; exec sleep 600"
    )
    plain = json.loads(service().canonical)
    for role in plain["roles"].values():
        role["command"] = ["/bin/sh", "-c", script]
    for artifact in plain["artifacts"].values():
        artifact["kind"] = "blob"
    plain["parameters"] = {"type": "object", "properties": {"word": {"type": "string"}}}
    source = {"source": "main", "kind": "blob", "address": "https://blobs.example/apps"}
    caller.ask("PUT", "/v1/artifact-sources", source, key="source")
    caller.ask("POST", "/v1/apps", {"document": json.dumps(plain)}, key="publish")
    artifact = {"digest": SERVICE_DIGEST}
    caller.ask("POST", "/v1/artifacts", artifact | {"kind": "blob", "source": "main"}, key="blob")
    caller.ask("PATCH", "/v1/artifacts", artifact | {"trust": "verified"}, key="trust")
    caller.ask("PATCH", "/v1/apps/svc", {"visibility": "public"}, key="public")
    line = {"app": "svc", "tenant": "main", "is_enabled": True}
    caller.ask("PUT", "/v1/entitlements", line, key="line")


def members(caller: HttpCaller, number: int) -> dict[str, dict[str, Any]]:
    rows = caller.ask("GET", f"{ALL}/{number}/members")["items"]
    return {row["component_key"]: row for row in rows}


def is_ready(caller: HttpCaller, number: int, wanted: set[str]) -> dict[str, dict[str, Any]] | None:
    """The members, once exactly these are there and ready, and the instance runs."""
    found = members(caller, number)
    phase = caller.ask("GET", f"{ALL}/{number}")["phase"]
    ready = {key for key, row in found.items() if row["phase"] == "ready"}
    return found if (ready, found.keys(), phase) == (wanted, wanted, "running") else None


def test_an_instance_is_run_scaled_drained_killed_over_and_deleted(tmp_path: Path) -> None:
    data, marks = tmp_path / "data", tmp_path / "marks"
    server = Server(tmp_path, "one", "--data-dir", str(data), "--trust-jobs", is_node=True)
    with no_process_left_behind(tmp_path), running(server):
        server.wait_for_its_node()
        with server.client() as caller:
            prepare(caller, marks)
            wish = {"name": "demo", "app": "svc", "version": "1.0.0"}
            wish |= {"counts": {"controller": 1, "worker": 2}, "parameters": {"word": "ahoy"}}
            number = int(caller.ask("POST", ALL, wish, key="make")["instance_id"])
            server.kill9()  # whatever was begun for it is begun once
            server.start()
            server.wait_for_its_node()
            first = {"controller-0", "worker-0", "worker-1"}
            before = until(lambda: is_ready(caller, number, first), "all members are ready")

            more = {"counts": {"worker": 3}}
            caller.ask("PATCH", f"{ALL}/{number}", more, key="scale")
            until(lambda: is_ready(caller, number, first | {"worker-2"}), "there is one more")
            drain = {"action": "drain", "component_key": "worker-1"}
            caller.ask("POST", f"{ALL}/{number}/members", drain, key="drain")
            left = {"controller-0", "worker-0", "worker-2"}
            until(lambda: is_ready(caller, number, left), "one is drained")

            victim = members(caller, number)["worker-0"]
            caller.ask("DELETE", f"/v1/jobs/{victim['job_id']}", key="cancel")
            until(lambda: _is_other(caller, number, victim), "who was ended is replaced")
            until(lambda: is_ready(caller, number, left), "all are ready again")

            server.kill9()
            server.start()
            server.wait_for_its_node()
            after = until(lambda: is_ready(caller, number, left), "all are still there")
            assert after["controller-0"]["job_id"] == before["controller-0"]["job_id"]

            caller.ask("DELETE", f"{ALL}/{number}", key="delete")
            server.kill9()
            server.start()
            until(lambda: not caller.ask("GET", ALL)["items"], "it is gone")
            until(lambda: not caller.ask("GET", "/v1/leases")["items"], "all leases are back")
            jobs = caller.ask("GET", "/v1/jobs?tenant=main&project=default")["items"]
            assert len(jobs) == 5, "each member had one job"
            assert {job["submitter"] for job in jobs} == {f"app:{number}"}
            check_usage(caller)
        assert "Traceback" not in server.errors
        assert server.stop() == 0
    check_marks(marks, number)


def _is_other(caller: HttpCaller, number: int, victim: dict[str, Any]) -> bool:
    found = members(caller, number).get("worker-0")
    return found is not None and found["member_id"] != victim["member_id"]


def check_usage(caller: HttpCaller) -> None:
    """What the members held is the project's, and nobody else's."""

    def look() -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = caller.ask("GET", "/v1/tenants/main/usage")["rows"]
        return rows

    rows = until(look, "it is metered")
    assert {row["project"] for row in rows} == {"default"}


def check_marks(marks: Path, number: int) -> None:
    """Each member ran once, was told who it is, and has nothing to log in with."""
    told = [line.split(" ") for line in marks.read_text().splitlines()]
    assert sorted(key for key, *_ in told) == [
        "controller-0",
        "worker-0",
        "worker-0",
        "worker-1",
        "worker-2",
    ]
    assert {tuple(rest) for _, *rest in told} == {(str(number), '{"word":"ahoy"}', "none")}
