"""``bailiwick app check`` on a real server: the example app is ready, and who cheats is found out.

All of them are checked on one server, one after the other; nothing is left of any.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, running
from tests.processes.test_example_app import ALL, EXAMPLE, document_of, publish
from tests.processes.test_jobs_survive import no_process_left_behind
from tests.support.ports import free_port
from tests.support.waiting import WAIT_S, until

OPERATOR = f"{sys.executable} {EXAMPLE / 'hello_operator.py'} hello --alone"
CHEAT = Path(__file__).with_name("cheating_operator.py")
SINGLE = "2.0.0"
"""A version to and from which no upgrade leads: a check of it is short."""


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

    def catch(self, rule: str) -> dict[str, Any]:
        """What a check found of who breaks a rule; it is not ready, and nothing is left of it."""
        command = f"{sys.executable} {CHEAT} {rule} {self.folder}"
        code, found = self.check("--operator", command, version=SINGLE)
        assert (code, found["verdict"]) == (3, "not_ready"), found
        self.gone()
        return found

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
            single = {"document": document_of(SINGLE)}
            caller.ask("POST", "/v1/apps", single, key="publish-single")
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


def broken(found: dict[str, Any]) -> dict[str, str]:
    """The conditions that are not met, and why."""
    rows = found["conditions"]
    return {row["condition"]: row["reason"] for row in rows if row["state"] == "not_met"}


@pytest.mark.skipif(sys.platform != "linux", reason="connections are told on Linux only")
def test_an_operator_that_talks_to_another_is_not_ready(house: House) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        (house.folder / "port").write_text(str(other.getsockname()[1]))
        found = house.catch("connects")
    assert broken(found) == {"contracts_only": "other_connections"}
    assert found["contracts_only"]["numbers"]["connections"] == 1


def test_an_operator_that_acts_as_a_person_is_not_ready(house: House) -> None:
    borrowed = house.folder / "borrowed"
    borrowed.touch(mode=0o600)
    borrowed.write_text(house.server.token)
    found = house.catch("borrows")
    assert found["service_account"]["reason"] == "acted_as_others"
    assert broken(found).keys() <= {"service_account", "survives_kill"}, "nothing else is wrong"


def test_an_operator_that_forgets_what_it_had_before_a_kill_is_not_ready(house: House) -> None:
    found = house.catch("forgets")
    assert found["survives_kill"]["reason"] == "not_resumed"
    assert found["service_account"]["state"] == "met", "before that it did what it should"


def test_a_check_that_is_interrupted_leaves_nothing_behind(house: House) -> None:
    process = house.begin("--operator", OPERATOR, version=SINGLE)

    def is_taken_on() -> bool:
        assert process.poll() is None, process.communicate()
        with house.caller() as caller:
            return any(each["observed_generation"] for each in caller.ask("GET", ALL)["items"])

    until(is_taken_on, "its operator has reported")
    # Who was started beside a shell cannot be interrupted; what ends it is then the other one.
    is_deaf = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    process.send_signal(signal.SIGTERM if is_deaf else signal.SIGINT)
    out, told = process.communicate(timeout=2 * WAIT_S)
    assert process.returncode, told
    assert not out
    house.gone()
    with house.caller() as caller:
        until(lambda: not caller.ask("GET", "/v1/leases")["items"], "all leases are back")
