"""A stranger installs the wheel into an empty environment, far from these sources, and uses it."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.package.building import Dist, install, run
from tests.support.waiting import WAIT_S


@dataclass
class Stranger:
    """Somebody with an environment, an empty folder and an empty home."""

    venv: Path
    folder: Path
    servers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def env(self) -> dict[str, str]:
        """Nothing of the environment that the tests run in."""
        path = f"{self.venv / 'bin'}:/usr/local/bin:/usr/bin:/bin"
        return {"HOME": str(self.folder), "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb"}

    def type(self, *words: str) -> str:
        """A command that works; what it printed."""
        done = run([str(self.venv / "bin" / words[0]), *words[1:]], cwd=self.folder, env=self.env)
        assert done.returncode == 0
        return done.stdout

    def start(self) -> str:
        """``bailiwick up`` in the background; the address and the login it prints."""
        out, err = self.folder / "out", self.folder / "err"
        command = [str(self.venv / "bin/bailiwick"), "up", "--port", "0"]
        with out.open("wb") as told, err.open("wb") as complained:
            server = subprocess.Popen(
                command, cwd=self.folder, env=self.env, stdout=told, stderr=complained
            )
        self.servers.append(server)
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            found = re.search(r"^ +bailiwick (login .*)$", out.read_text(), re.MULTILINE)
            if found:
                return found[1]
            assert server.poll() is None, err.read_text()
            time.sleep(0.1)
        raise AssertionError(f"no login was printed:\n{err.read_text()}")

    def stop(self) -> None:
        """End the server as Ctrl-C does."""
        server = self.servers.pop()
        server.terminate()
        assert server.wait(WAIT_S) == 0, (self.folder / "err").read_text()


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[Stranger]:
    folder = tmp_path / "work"
    folder.mkdir()
    someone = Stranger(tmp_path / "venv", folder)
    yield someone
    for server in someone.servers:
        server.kill()
        server.wait()


def test_the_installed_server_comes_up_runs_a_job_and_goes_on_after_a_second_start(
    dist: Dist, stranger: Stranger
) -> None:
    install(stranger.venv, f"{dist.best}[server]", lock="server.txt")
    where = stranger.type("python", "-c", "import bailiwick; print(bailiwick.__file__)")
    assert Path(where.strip()).is_relative_to(stranger.venv)
    engine = "pure" if dist.platform is None else "compiled"
    assert f"({engine} engine)" in stranger.type("bailiwick", "--version")

    stranger.type("bailiwick", *stranger.start().split())
    ran = stranger.type("bailiwick", "submit", "--follow", "--", "echo", "hello from a wheel")
    assert ran == "hello from a wheel\n"
    stranger.stop()

    stranger.type("bailiwick", *stranger.start().split())
    assert re.search(r"^job-1 ", stranger.type("bailiwick", "job", "list"), re.MULTILINE)
    again = stranger.type("bailiwick", "submit", "--follow", "--", "echo", "and again")
    assert again == "and again\n"
    assert "records are as sealed" in stranger.type(
        "bailiwick", "journal", "verify", "bailiwick-data"
    )
    stranger.stop()


def test_plain_pip_and_the_pure_wheel_give_a_client_and_a_library_but_no_server(
    dist: Dist, stranger: Stranger
) -> None:
    install(stranger.venv, str(dist.pure), lock="runtime.txt", by_pip=True)
    assert "(pure engine)" in stranger.type("bailiwick", "--version")
    some_lines = """
from bailiwick import *
ledger = CapacityLedger(quotas=QuotaManager())
ledger.register_node("node-1", NodeCapacity(cpu_cores=96, mem_bytes=2**40))
print(AdmissionController(ledger).admit(PlacementRequest(tenant="lab", cpu_cores=8)).node)
"""
    assert stranger.type("python", "-c", some_lines) == "node-1\n"

    up = [str(stranger.venv / "bin/bailiwick"), "up"]
    done = run(up, cwd=stranger.folder, env=stranger.env)
    told = "bailiwick: this needs the Python package joserfc (pip install 'bailiwick[server]')\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)
    assert list(stranger.folder.iterdir()) == []
