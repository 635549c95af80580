"""Slurm as an app on a real server with agents, its operator beside it: for tests and the bench."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bailiwick.operators.kit.packing import PROGRAM, digest_of
from bailiwick.operators.slurm.__main__ import pack
from bailiwick.operators.slurm.manifest import PERMISSIONS, SlurmOffer, pack_member
from bailiwick.operators.slurm.wanted import CONTROLLER
from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, running
from tests.processes.node_agents import Agent, enrol
from tests.processes.test_node_agents import inside
from tests.support.tools import need
from tests.support.waiting import WAIT_S, until

HOME = {"tenant": "main", "project": "default"}
PROJECT = "/v1/tenants/main/projects/default"
ALL = f"{PROJECT}/instances"
FIRST, LATER = "1.0.0", "1.1.0"
APP = (sys.executable, "-m", "bailiwick.operators.slurm")


def another_program() -> bytes:
    """One of another version: it does the same, under another digest."""
    packed = io.BytesIO(pack_member())
    with zipfile.ZipFile(packed, "a") as archive:
        archive.comment = b"another version"
    return packed.getvalue()


def publish(caller: HttpCaller, folder: Path) -> None:
    """The app is there and may be used; the second of its versions has smaller workers."""
    offer = SlurmOffer(cpus=1, mem="1000MiB", controller_cpus=0.2, controller_mem="2GiB")
    later = replace(offer, version=LATER, mem="900MiB", upgrades_from=(FIRST,))
    for each, program in ((offer, pack_member()), (later, another_program())):
        packed, digest = folder / f"packed-{each.version}", digest_of(program)
        pack(packed, each, program=program)
        source = {"source": "slurm", "kind": "blob", "address": f"file://{packed}"}
        caller.ask("PUT", "/v1/artifact-sources", source, key=f"source-{each.version}")
        new = {"digest": digest, "kind": "blob", "source": "slurm"}
        caller.ask("POST", "/v1/artifacts", new, key=f"register-{each.version}")
        verify = {"digest": digest}
        caller.ask("POST", "/v1/artifacts/verify", verify, key=f"verify-{each.version}")
        document = (packed / "manifest.json").read_text()
        caller.ask("POST", "/v1/apps", {"document": document}, key=f"publish-{each.version}")
    caller.ask("PATCH", "/v1/apps/slurm", {"visibility": "public"}, key="public")
    line = {"app": "slurm", "tenant": "main", "is_enabled": True}
    caller.ask("PUT", "/v1/entitlements", line, key="line")


class Operator:
    """The operator's process, with a token that carries what the manifest names and no more."""

    def __init__(
        self, server: Server, caller: HttpCaller, folder: Path, *, options: tuple[str, ...] = ()
    ) -> None:
        self.address, self._options = server.address, options
        self.log, self.keys, token = folder / "operator.log", folder / "keys", folder / "token"
        caller.ask("POST", "/v1/service-accounts", {"account": "robot", **HOME}, key="account")
        role = {"member": "robot", "role": "project_admin"}
        caller.ask("PUT", f"{PROJECT}/members", role, key="role")
        wish = {"principal": "robot", "kind": "service_account", "keys": list(PERMISSIONS)}
        token.touch(mode=0o600)
        token.write_text(caller.ask("POST", "/v1/tokens", wish)["token"])
        self.server, self.token = server, token
        self._environ = {
            **os.environ,
            "BAILIWICK_SERVER": server.address,
            "BAILIWICK_TENANT": "main",
            "BAILIWICK_PROJECT": "default",
            "BAILIWICK_TOKEN_FILE": str(token),
        }
        self._packed = str(folder / f"packed-{LATER}")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words = ["run", "--alone", "--keys", str(self.keys), "--packed", self._packed]
        words += self._options
        with self.log.open("ab") as log:
            self._process = subprocess.Popen([*APP, *words], env=self._environ, stderr=log)

    def command(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        """One of its other commands, to its end."""
        return subprocess.run(
            [*APP, *words], env=self._environ, capture_output=True, timeout=WAIT_S, check=False
        )

    def send(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def end(self, number: signal.Signals) -> int:
        self.send(number)
        assert self._process is not None
        return self._process.wait(WAIT_S)


@contextmanager
def trusting(
    server: Server, folder: Path, *, caller: HttpCaller, nodes: int, labels: tuple[str, ...] = ()
) -> Iterator[list[Agent]]:
    """Agents of some nodes, which run members as their own user."""
    options = ("--trust-jobs", *(word for label in labels for word in ("--label", label)))
    found = []
    try:
        for number in range(1, nodes + 1):
            found.append(enrol(caller, folder, f"n{number}", server))
            found[-1].start(options=options)
        until(lambda: len(caller.ask("GET", "/v1/nodes")["items"]) == nodes, "all are known")
        yield found
    finally:
        for agent in found:
            agent.close()


@contextmanager
def house(
    nodes: int = 2, *, labels: tuple[str, ...] = (), options: tuple[str, ...] = ()
) -> Iterator[tuple[HttpCaller, list[Agent], Operator, Path]]:
    """A server, some nodes with these labels, and the operator of a published app."""
    need("slurm")
    # Slurm's sockets are below the members' folders, and the path of a socket is short.
    folder = Path(tempfile.mkdtemp(prefix="bw-o-"))
    server = Server(folder, "s", "--data-dir", str(folder / "d"))
    try:
        with (
            running(server),
            server.client() as caller,
            trusting(server, folder, caller=caller, nodes=nodes, labels=labels) as both,
        ):
            publish(caller, folder)
            operator = Operator(server, caller, folder, options=options)
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
    """Whether all of it is there, at its version, and its operator has seen jobs come back."""
    told = caller.ask("GET", path)
    is_seen = told["observed_generation"] == told["generation"]
    is_proved = told["reason"] == f"jobs run on all {workers} workers"
    rows = caller.ask("GET", f"{path}/members")["items"]
    is_one_each = len({row["component_key"] for row in rows}) == len(rows)
    kept = {row["component_key"] for row in rows if row["phase"] == "ready"}
    wanted = {CONTROLLER, *(f"worker-{number}" for number in range(workers))}
    is_running = is_one_each and told["phase"] == "running" and kept == wanted
    return bool(is_seen and is_proved and is_running)


def ask(caller: HttpCaller, path: str, *, member: str, **question: Any) -> dict[str, Any]:
    """What a member answers."""
    job = members(caller, path)[member]["job_id"]
    words = ("python3", "-I", PROGRAM, "ask")
    wrote, _ = inside(caller, job, *words, given=json.dumps(question).encode())
    answer: dict[str, Any] = json.loads(wrote["stdout"])
    return answer


def pid(caller: HttpCaller, path: str, *, member: str, daemon: str) -> int:
    """The process of a daemon; 0 if it has none."""
    found = ask(caller, path, member=member, do="facts")["daemons"]
    return int(found[daemon]["pid"] or 0)


def slurm(caller: HttpCaller, path: str, *argv: str) -> str:
    """What one of Slurm's programs says, asked inside the controller."""
    answer = ask(caller, path, member=CONTROLLER, do="slurm", argv=argv, wait_s=100)
    assert answer.get("code") == 0, answer
    return str(answer["out"])


def nothing_is_left(caller: HttpCaller, agents: list[Agent], *, operator_keys: Path) -> None:
    """Wait until the last instance is gone, and its leases, processes and keys with it."""
    until(lambda: not caller.ask("GET", ALL)["items"], "it is gone")
    until(lambda: not caller.ask("GET", "/v1/leases")["items"], "all leases are back")
    for agent in agents:
        until(lambda: not _left(agent.folder), f"no process of {agent.node} is left")  # noqa: B023
    assert list(operator_keys.iterdir()) == []


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
