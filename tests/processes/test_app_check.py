"""``bailiwick app check`` on a real server: the example app is ready, and nothing is left of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, running
from tests.processes.test_example_app import ALL, EXAMPLE, publish
from tests.processes.test_jobs_survive import no_process_left_behind
from tests.support.ports import free_port
from tests.support.waiting import WAIT_S

OPERATOR = f"{sys.executable} {EXAMPLE / 'hello_operator.py'} hello --alone"


@dataclass(frozen=True)
class House:
    """A server with the example app in its catalog."""

    server: Server
    folder: Path

    def caller(self) -> HttpCaller:
        return self.server.client()

    def begin(self, *words: str, version: str = "1.1.0") -> subprocess.Popen[str]:
        """Begin a check, as the administrator."""
        environ = {
            **os.environ,
            "BAILIWICK_SERVER": self.server.address,
            "BAILIWICK_TOKEN": self.server.token,
            "BAILIWICK_TENANT": "main",
            "BAILIWICK_PROJECT": "default",
        }
        command = [sys.executable, "-m", "bailiwick.cli.main", "app", "check", "hello"]
        command += ["--version", version, "--set", f"port={free_port()}", "-o", "json", *words]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=environ, text=True, stdout=pipe, stderr=pipe)

    def check(self, *words: str, version: str = "1.1.0") -> tuple[int, dict[str, Any]]:
        """How a check ended, and what it found, by condition."""
        process = self.begin(*words, version=version)
        out, told = process.communicate(timeout=2 * WAIT_S)
        assert out, told
        found = json.loads(out)
        return process.returncode, found | {row["condition"]: row for row in found["conditions"]}

    def gone(self) -> None:
        """Nothing that a check made is left."""
        with self.caller() as caller:
            assert caller.ask("GET", ALL)["items"] == []
            for account in caller.ask("GET", "/v1/service-accounts")["items"]:
                assert not account["is_enabled"] or account["account"] == "robot"
            projects = caller.ask("GET", "/v1/tenants/main/projects")["items"]
            assert {each["project"] for each in projects if each["is_open"]} == {"default"}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("check")
    data = folder / "data"
    server = Server(folder, "one", "--data-dir", str(data), "--trust-jobs", is_node=True)
    with no_process_left_behind(folder), running(server):
        server.wait_for_its_node()
        with server.client() as caller:
            publish(caller, folder)
        yield House(server, folder)
        assert "Traceback" not in server.errors


def test_the_example_app_is_ready_and_that_is_sealed(house: House) -> None:
    code, found = house.check("--operator", OPERATOR)
    assert (code, found["verdict"]) == (0, "ready"), found
    assert found["survives_kill"]["numbers"] == {"steps": 3, "kills": 4}
    house.gone()
    with house.caller() as caller:
        shown = caller.ask("GET", "/v1/apps/hello/versions/1.1.0")["check"]
        assert (shown["verdict"], shown["checked_ms"]) == ("ready", found["checked_ms"])
        assert caller.ask("GET", "/v1/apps/hello/versions/1.0.0")["check"] is None
