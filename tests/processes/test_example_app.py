"""The example app on a real server and its node, with its operator as a process that is killed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, running
from tests.processes.test_jobs_survive import no_process_left_behind
from tests.support.ports import free_port
from tests.support.waiting import WAIT_S, until

EXAMPLE = Path(__file__).parents[2] / "examples" / "app"
PROJECT = "/v1/tenants/main/projects/default"
ALL = f"{PROJECT}/instances"
KEYS = ["scheduler.instance.read", "scheduler.instance.update"]


def digest_of_service() -> str:
    return hashlib.sha256((EXAMPLE / "service.py").read_bytes()).hexdigest()


def test_the_manifest_names_the_service_beside_it_and_asks_for_no_more_than_it_uses() -> None:
    manifest = (EXAMPLE / "manifest.yaml").read_text()
    assert f"sha256:{digest_of_service()}" in manifest
    assert f"permissions: [{', '.join(KEYS)}]" in manifest
    imports = re.findall(r"^from (bailiwick\S*)", (EXAMPLE / "hello_operator.py").read_text(), re.M)
    assert set(imports) == {"bailiwick.operators.kit", "bailiwick.vocab.apps"} | {
        "bailiwick.wire.instances"
    }


def document_of(version: str) -> str:
    """The manifest, for what is installed here."""
    text = (EXAMPLE / "manifest.yaml").read_text()
    text = text.replace("/opt/hello", str(EXAMPLE)).replace("[python3,", f"[{sys.executable},")
    return text.replace("within: 2s", "within: 1s").replace("version: 1.0.0", f"version: {version}")


def publish(caller: HttpCaller, folder: Path) -> None:
    """Both versions are there, verified, and may be used."""
    digits = digest_of_service()
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    shutil.copy(EXAMPLE / "service.py", blobs / digits)
    source = {"source": "hello", "kind": "blob", "address": f"file://{folder / 'blobs'}"}
    caller.ask("PUT", "/v1/artifact-sources", source, key="source")
    artifact = {"digest": f"sha256:{digits}"}
    new = artifact | {"kind": "blob", "source": "hello"}
    caller.ask("POST", "/v1/artifacts", new, key="register")
    caller.ask("POST", "/v1/artifacts/verify", artifact, key="verify")
    later = document_of("1.1.0") + "upgrades: [{from: 1.0.0, to: 1.1.0}]\n"
    for number, document in enumerate((document_of("1.0.0"), later)):
        caller.ask("POST", "/v1/apps", {"document": document}, key=f"publish-{number}")
    caller.ask("PATCH", "/v1/apps/hello", {"visibility": "public"}, key="public")
    line = {"app": "hello", "tenant": "main", "is_enabled": True}
    caller.ask("PUT", "/v1/entitlements", line, key="line")


class Operator:
    """The operator's process."""

    def __init__(self, server: Server, folder: Path) -> None:
        self._log, token = folder / "operator.log", folder / "token"
        with server.client() as caller:
            own = {"tenant": "main", "project": "default"}
            caller.ask("POST", "/v1/service-accounts", {"account": "robot", **own}, key="account")
            role = {"member": "robot", "role": "project_admin"}
            caller.ask("PUT", f"{PROJECT}/members", role, key="role")
            wish = {"principal": "robot", "kind": "service_account", "keys": KEYS}
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
        words = [sys.executable, str(EXAMPLE / "hello_operator.py"), "hello", "--alone"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(words, env=self._environ, stderr=log)

    def end(self, number: signal.Signals) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait(WAIT_S)

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._log.read_text().splitlines()]


@contextmanager
def started(operator: Operator) -> Iterator[None]:
    operator.start()
    try:
        yield
    finally:
        operator.end(signal.SIGKILL)


def runs(caller: HttpCaller, path: str, *, version: str, workers: int) -> bool:
    """Whether it runs as wanted, its operator has seen to it, and nobody else is left."""
    told = caller.ask("GET", path)
    found = caller.ask("GET", f"{path}/members")["items"]
    kept = {(each["version"], each["phase"]) for each in found}
    is_seen = told["observed_generation"] == told["generation"]
    is_whole = kept == {(version, "ready")} and len(found) == workers + 1
    return is_seen and is_whole and told["phase"] == "running" and told["version"] == version


def has_begun(caller: HttpCaller, path: str, *, version: str) -> bool:
    """Whether some member is of a version."""
    return any(e["version"] == version for e in caller.ask("GET", f"{path}/members")["items"])


def counts(port: int, *, version: str, workers: int) -> bool:
    """Whether the controller itself says so."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
            told = json.load(answer)
    except OSError:
        return False
    names = {f"worker-{n}": version for n in range(workers)}
    return (told["version"], told["greeting"], told["workers"]) == (version, "ahoy", names)


def test_it_is_run_scaled_upgraded_under_a_kill_rolled_back_and_deleted(tmp_path: Path) -> None:
    data, port = tmp_path / "data", free_port()
    server = Server(tmp_path, "one", "--data-dir", str(data), "--trust-jobs", is_node=True)
    with no_process_left_behind(tmp_path), running(server):
        server.wait_for_its_node()
        operator = Operator(server, tmp_path)
        with server.client() as caller, started(operator):
            publish(caller, tmp_path)
            told = {"port": port, "greeting": "ahoy"}
            wish = {"name": "demo", "app": "hello", "version": "1.0.0", "parameters": told}
            number = caller.ask("POST", ALL, wish | {"counts": {"worker": 2}}, key="make")
            path = f"{ALL}/{number['instance_id']}"
            until(lambda: runs(caller, path, version="1.0.0", workers=2), "it runs")
            until(lambda: counts(port, version="1.0.0", workers=2), "the workers have joined")

            caller.ask("PATCH", path, {"counts": {"worker": 3}}, key="scale")
            until(lambda: runs(caller, path, version="1.0.0", workers=3), "there is one more")

            operator.end(signal.SIGKILL)
            caller.ask("PATCH", path, {"version": "1.1.0"}, key="try")
            until(lambda: has_begun(caller, path, version="1.1.0"), "an upgrade is under way")
            caller.ask("PATCH", path, {"rollback": True}, key="back")
            operator.start()
            until(lambda: runs(caller, path, version="1.0.0", workers=3), "it is rolled back")

            caller.ask("PATCH", path, {"version": "1.1.0"}, key="upgrade")
            until(lambda: has_begun(caller, path, version="1.1.0"), "one more is under way")
            operator.end(signal.SIGKILL)
            operator.start()
            until(lambda: runs(caller, path, version="1.1.0", workers=3), "it is upgraded")
            until(lambda: counts(port, version="1.1.0", workers=3), "all of it")
            done = caller.ask("GET", f"{path}/operations?phase=succeeded")["items"]
            tasks = [each["title"] for each in done if each["kind"] == "task"]
            assert tasks.count("roll out 1.1.0") == 1, "the one from before the kill"

            caller.ask("DELETE", path, key="delete")
            operator.end(signal.SIGKILL)
            operator.start()
            until(lambda: not caller.ask("GET", ALL)["items"], "it is gone")
            until(lambda: not caller.ask("GET", "/v1/leases")["items"], "all leases are back")
            assert operator.end(signal.SIGTERM) == 0
            operator.start()
        assert "Traceback" not in server.errors
    reports = [line for line in operator.lines if line["message"] == "reported"]
    assert reports
    assert all("correlation_id" in line for line in reports)
