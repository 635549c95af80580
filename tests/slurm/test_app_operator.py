"""Slurm as an app, from the request to the deletion: a real server, agents, operator and Slurm.

It has not been seen to pass as a whole yet, so it is ``long``: `make graphs` runs it, `make test`
does not. Seen to hold, in one run that was ended from outside: two workers came up and jobs came
back from both, a worker that was lost was replaced and proved, and an operator that was killed went
on and had a third; that was before it used the kit's ``run_inside``. Not seen yet: that a
worker is drained before it goes, and the deletion.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bailiwick.operators.kit.packing import PROGRAM, digest_of
from bailiwick.operators.slurm.__main__ import pack
from bailiwick.operators.slurm.manifest import PERMISSIONS, SlurmOffer, pack_member
from bailiwick.operators.slurm.wanted import CONTROLLER, PORTS
from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, running
from tests.processes.node_agents import Agent, enrol
from tests.processes.test_node_agents import inside
from tests.support.ports import free_ports
from tests.support.tools import need
from tests.support.waiting import WAIT_S, until

HOME = {"tenant": "main", "project": "default"}
PROJECT = "/v1/tenants/main/projects/default"
ALL = f"{PROJECT}/instances"


def publish(caller: HttpCaller, folder: Path) -> None:
    """The app is there, verified, and may be used."""
    offer = SlurmOffer(cpus=1, mem="1000MiB", controller_cpus=0.2, controller_mem="2GiB")
    pack(folder / "packed", offer)
    source = {"source": "slurm", "kind": "blob", "address": f"file://{folder / 'packed'}"}
    caller.ask("PUT", "/v1/artifact-sources", source, key="source")
    artifact = {"digest": digest_of(pack_member())}
    new = artifact | {"kind": "blob", "source": "slurm"}
    caller.ask("POST", "/v1/artifacts", new, key="register")
    caller.ask("POST", "/v1/artifacts/verify", artifact, key="verify")
    document = (folder / "packed/manifest.json").read_text()
    caller.ask("POST", "/v1/apps", {"document": document}, key="publish")
    caller.ask("PATCH", "/v1/apps/slurm", {"visibility": "public"}, key="public")
    line = {"app": "slurm", "tenant": "main", "is_enabled": True}
    caller.ask("PUT", "/v1/entitlements", line, key="line")


class Operator:
    """The operator's process, with a token that carries what the manifest names and no more."""

    def __init__(self, server: Server, caller: HttpCaller, folder: Path) -> None:
        self.log, self.keys, token = folder / "operator.log", folder / "keys", folder / "token"
        caller.ask("POST", "/v1/service-accounts", {"account": "robot", **HOME}, key="account")
        role = {"member": "robot", "role": "project_admin"}
        caller.ask("PUT", f"{PROJECT}/members", role, key="role")
        wish = {"principal": "robot", "kind": "service_account", "keys": list(PERMISSIONS)}
        token.touch(mode=0o600)
        token.write_text(caller.ask("POST", "/v1/tokens", wish)["token"])
        self._environ = {
            **os.environ,
            "BAILIWICK_SERVER": server.address,
            "BAILIWICK_TENANT": "main",
            "BAILIWICK_PROJECT": "default",
            "BAILIWICK_TOKEN_FILE": str(token),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words = [sys.executable, "-m", "bailiwick.operators.slurm", "run", "--alone"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*words, "--keys", str(self.keys)], env=self._environ, stderr=log
            )

    def end(self, number: signal.Signals) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait(WAIT_S)


@contextmanager
def trusting(server: Server, folder: Path, caller: HttpCaller) -> Iterator[list[Agent]]:
    """Agents of two nodes, which run members as their own user."""
    found = []
    try:
        for node in ("n1", "n2"):
            found.append(enrol(caller, folder, node, server))
            found[-1].start(options=("--trust-jobs",))
        until(lambda: len(caller.ask("GET", "/v1/nodes")["items"]) == 2, "both are known")
        yield found
    finally:
        for agent in found:
            agent.close()


@contextmanager
def house() -> Iterator[tuple[HttpCaller, list[Agent], Operator, Path]]:
    """A server, two nodes, and the operator of a published app."""
    need("slurm")
    # Slurm's sockets are below the members' folders, and the path of a socket is short.
    folder = Path(tempfile.mkdtemp(prefix="bw-o-"))
    server = Server(folder, "s", "--data-dir", str(folder / "d"))
    try:
        with (
            running(server),
            server.client() as caller,
            trusting(server, folder, caller) as both,
        ):
            publish(caller, folder)
            operator = Operator(server, caller, folder)
            operator.start()
            try:
                yield caller, both, operator, folder
            except BaseException:
                print(operator.log.read_text()[-6_000:])
                print(server.errors[-3_000:])
                raise
            finally:
                operator.end(signal.SIGKILL)
    finally:
        shutil.rmtree(folder)


def members(caller: HttpCaller, path: str) -> dict[str, dict[str, Any]]:
    """The members of an instance that have not failed, by key."""
    found = caller.ask("GET", f"{path}/members")["items"]
    return {each["component_key"]: each for each in found if each["phase"] != "failed"}


def runs(caller: HttpCaller, path: str, *, workers: int) -> bool:
    """Whether all of it is there, and its operator has seen jobs come back."""
    told = caller.ask("GET", path)
    is_seen = told["observed_generation"] == told["generation"]
    is_proved = told["reason"] == f"jobs run on all {workers} workers"
    kept = {key for key, each in members(caller, path).items() if each["phase"] == "ready"}
    wanted = {CONTROLLER, *(f"worker-{number}" for number in range(workers))}
    return bool(is_seen and is_proved and told["phase"] == "running" and kept == wanted)


def slurm(caller: HttpCaller, path: str, *argv: str) -> str:
    """What one of Slurm's programs says, asked inside the controller."""
    job = members(caller, path)[CONTROLLER]["job_id"]
    question = {"do": "slurm", "argv": argv, "wait_s": 100}
    ask = ("python3", "-I", PROGRAM, "ask")
    wrote, _ = inside(caller, job, *ask, given=json.dumps(question).encode())
    answer = json.loads(wrote["stdout"])
    assert answer.get("code") == 0, answer
    return str(answer["out"])


@pytest.mark.long
def test_a_cluster_is_created_scaled_healed_and_deleted() -> None:
    with house() as (caller, both, operator, folder):
        parameters = {"port": free_ports(PORTS)[0], "kill_wait_s": 2}
        wish = {"name": "c", "app": "slurm", "version": "1.0.0", "parameters": parameters}
        made = caller.ask("POST", ALL, wish | {"counts": {"worker": 2}}, key="make")
        path = f"{ALL}/{made['instance_id']}"
        until(lambda: runs(caller, path, workers=2), "jobs came back from both workers")
        it_takes_jobs_of_its_project(caller, path)
        its_key_is_nowhere_else(folder, operator, made["instance_id"])
        a_worker_that_is_lost_is_replaced_and_proved(caller, path)
        it_grows_though_its_operator_was_killed(caller, path, operator)
        a_worker_that_goes_is_drained_first(caller, path)
        caller.ask("DELETE", path, key="delete")
        until(lambda: not caller.ask("GET", ALL)["items"], "it is gone")
        until(lambda: not caller.ask("GET", "/v1/leases")["items"], "all leases are back")
        nothing_is_left(both, operator)


def it_takes_jobs_of_its_project(caller: HttpCaller, path: str) -> None:
    assert slurm(caller, path, "srun", "-N2", "--mem=1", "-t1", "echo", "ran") == "ran\nran\n"
    rows = slurm(caller, path, "sacct", "-aXnP", "-o", "account,admincomment,state").splitlines()
    assert {row.split("|")[0] for row in rows} == {"default"}
    shown = slurm(caller, path, "sinfo", "-hN", "-o", "%c %m").splitlines()
    assert shown == ["1 1000", "1 1000"], "what the leases hold, not what the machine has"


def its_key_is_nowhere_else(folder: Path, operator: Operator, instance_id: int) -> None:
    key = (operator.keys / f"instance-{instance_id}.munge").read_text()
    kept = [path for path in (folder / "d").rglob("*") if path.is_file()]
    assert kept
    for path in [*kept, operator.log]:
        assert key.encode() not in path.read_bytes(), path


def a_worker_that_is_lost_is_replaced_and_proved(caller: HttpCaller, path: str) -> None:
    before = members(caller, path)["worker-1"]
    caller.ask("DELETE", f"/v1/jobs/{before['job_id']}", key="lose")
    until(
        lambda: members(caller, path).get("worker-1", before)["member_id"] != before["member_id"],
        "another is in its place",
    )
    until(lambda: runs(caller, path, workers=2), "jobs came back from it")
    assert slurm(caller, path, "srun", "-w", "worker-1", "--mem=1", "echo", "ran") == "ran\n"


def it_grows_though_its_operator_was_killed(
    caller: HttpCaller, path: str, operator: Operator
) -> None:
    operator.end(signal.SIGKILL)
    caller.ask("PATCH", path, {"counts": {"worker": 3}}, key="grow")
    operator.start()
    until(lambda: runs(caller, path, workers=3), "jobs came back from the third too")


def a_worker_that_goes_is_drained_first(caller: HttpCaller, path: str) -> None:
    job = slurm(
        *(caller, path, "sbatch", "--parsable", "-o", "/dev/null", "-w", "worker-2", "--mem=1"),
        *("--wrap", "sleep 8"),
    ).strip()
    state = ("scontrol", "-o", "show", "job", job)
    until(lambda: "JobState=RUNNING" in slurm(caller, path, *state), "a job runs there")
    # Whom a smaller count takes is the platform's choice; this one is named.
    leave = {"action": "drain", "component_key": "worker-2"}
    caller.ask("POST", f"{path}/members", leave, key="shrink")
    until(lambda: "worker-2" not in members(caller, path), "it is smaller")
    assert "JobState=COMPLETED" in slurm(caller, path, *state), "it was waited for"
    until(lambda: "worker-2" not in slurm(caller, path, "sinfo", "-hN"), "Slurm knows it no more")
    until(lambda: runs(caller, path, workers=2), "the others are as they were")


def nothing_is_left(both: list[Agent], operator: Operator) -> None:
    for agent in both:
        until(lambda: not _left(agent.folder), f"no process of {agent.node} is left")  # noqa: B023
    assert list(operator.keys.iterdir()) == []


def _left(folder: Path) -> list[str]:
    """Processes of Slurm that belong to a folder."""
    mark, found = f"SLURM_CONF={folder}".encode(), []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark in (entry / "environ").read_bytes():
                    found.append(entry.name)
            except OSError:
                continue
    return found
