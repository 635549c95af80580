"""The command lines of the image, run here: it prepares itself, serves, and says how it is."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.package.building import ROOT, run
from tests.support.ports import free_port
from tests.support.postgres import PASSWORD, USER, start_or_skip
from tests.support.waiting import WAIT_S, until

ENTRY = [sys.executable, "-I", str(ROOT / "ops/container.py")]


@dataclass
class Container:
    """What a container is to its server: a volume, an environment, and no more."""

    volume: Path
    settings: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def env(self) -> dict[str, str]:
        """Nothing but what is told."""
        return {"HOME": str(self.volume), "PATH": "/usr/bin:/bin", **self.settings}

    def start(self) -> None:
        """Run the entry point, and wait until the health check is content."""
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                ENTRY, env=self.env, cwd=self.volume, stdout=out, stderr=err
            )
        until(self._answers, "somebody listens")  # before that, each check is a process for nothing
        until(lambda: self.health().returncode == 0, "it becomes healthy")

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.err.read_text()
        with suppress(OSError):
            port = int(self.settings["BAILIWICK_PORT"])
            socket.create_connection(("127.0.0.1", port)).close()
            return True
        return False

    def health(self) -> subprocess.CompletedProcess[str]:
        """The health check of the image."""
        return run([*ENTRY, "health"], env=self.env, cwd=self.volume)

    def login(self) -> str:
        """The words after ``bailiwick``, as the server prints them at its first start."""
        return until(
            lambda: re.search(r"^ +bailiwick (login .*)$", self.out.read_text(), re.MULTILINE),
            "a login is printed",
        )[1]

    def stop(self) -> None:
        """End it as an engine does."""
        assert self.process is not None
        self.process.terminate()
        assert self.process.wait(WAIT_S) == 0, self.err.read_text()
        self.process = None

    @property
    def out(self) -> Path:
        return self.volume.with_name("out")

    @property
    def err(self) -> Path:
        return self.volume.with_name("err")


@pytest.fixture
def container(tmp_path: Path) -> Iterator[Container]:
    volume = tmp_path / "volume"
    volume.mkdir(mode=0o700)
    one = Container(volume, {"BAILIWICK_PORT": str(free_port())})
    yield one
    if one.process is not None:
        one.process.kill()
        one.process.wait()


def _bailiwick(container: Container, *words: str) -> subprocess.CompletedProcess[str]:
    """The command line of somebody outside, with a home of his own."""
    home = container.volume.with_name("home")
    home.mkdir(exist_ok=True)
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    return run([sys.executable, "-m", "bailiwick.cli.main", *words], env=env, cwd=home)


def _files(volume: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (volume / "tls").iterdir()}


def test_a_container_makes_its_certificate_once_serves_by_it_and_ends_in_good_order(
    container: Container,
) -> None:
    assert container.health().returncode == 1
    container.start()
    login = container.login().split()
    port = container.settings["BAILIWICK_PORT"]
    ca = str(container.volume / "tls/ca.pem")
    assert login[:-1] == ["login", "--server", f"https://localhost:{port}", "--ca-file", ca]
    assert _bailiwick(container, *login).returncode == 0
    assert "admin" in _bailiwick(container, "whoami").stdout
    # It is reached by others, so it runs no jobs.
    assert '"items": []' in _bailiwick(container, "node", "list", "-o", "json").stdout
    made = _files(container.volume)
    assert set(made) == {"ca.pem", "ca.key", "server.pem", "server.key"}
    for path in container.volume.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path
    container.stop()

    container.start()
    assert _files(container.volume) == made
    assert "admin" in _bailiwick(container, "whoami").stdout
    container.stop()


def test_new_names_are_a_new_certificate_of_the_same_authority(container: Container) -> None:
    container.start()
    before = _files(container.volume)
    container.stop()
    container.settings["BAILIWICK_NAMES"] = "127.0.0.1,gpu.example"
    container.start()
    after = _files(container.volume)
    assert {name for name in before if before[name] != after[name]} == {"server.pem", "server.key"}
    port = container.settings["BAILIWICK_PORT"]
    ca = str(container.volume / "tls/ca.pem")
    # By a name that only the second certificate begins with; the code is wrong, the name is not.
    told = _bailiwick(
        container, "login", "x.y", "--server", f"https://127.0.0.1:{port}", "--ca-file", ca
    )
    assert told.returncode == 3, "refused by the server, not by the certificate"
    container.stop()


def test_a_container_keeps_everything_in_postgresql_and_its_password_out_of_sight(
    container: Container, tmp_path: Path
) -> None:
    with start_or_skip() as database:
        name = database.new_database().rpartition("/")[2]
        file = tmp_path / "database_password"
        file.write_text(f"{PASSWORD}\n")
        address = f"postgresql://{USER}@127.0.0.1:{database.port}/{name}"
        container.settings |= {
            "BAILIWICK_DATABASE": address,
            "BAILIWICK_DATABASE_PASSWORD_FILE": str(file),
        }
        container.start()
        assert _bailiwick(container, *container.login().split()).returncode == 0
        assert container.process is not None
        arguments = Path(f"/proc/{container.process.pid}/cmdline").read_bytes()
        assert address.encode() in arguments
        assert PASSWORD.encode() not in arguments
        assert PASSWORD not in container.out.read_text() + container.err.read_text()
        assert not (container.volume / "bailiwick.db").exists()
        assert (container.volume / "authority.pem").exists()
        container.stop()
        container.start()
        assert "admin" in _bailiwick(container, "whoami").stdout
        container.stop()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"BAILIWICK_PORT": "http"}, "BAILIWICK_PORT: expected 1 to 65535, got 'http'"),
        ({"BAILIWICK_NAMES": "a name,b"}, "BAILIWICK_NAMES: expected names and addresses"),
        ({"BAILIWICK_NAMES": "https://a"}, "BAILIWICK_NAMES: expected names and addresses"),
        ({"BAILIWICK_TLS_CERT": "a.pem"}, "BAILIWICK_TLS_CERT and BAILIWICK_TLS_KEY go together"),
        ({"HOME": "MISSING"}, "cannot write to MISSING: give it a volume"),
        (
            {"BAILIWICK_DATABASE": "x", "BAILIWICK_DATABASE_PASSWORD_FILE": "MISSING"},
            "BAILIWICK_DATABASE_PASSWORD_FILE: [Errno 2] No such file",
        ),
        (
            {"BAILIWICK_DATABASE": "x", "BAILIWICK_DATABASE_PASSWORD_FILE": os.devnull},
            "BAILIWICK_DATABASE_PASSWORD_FILE: /dev/null is empty",
        ),
        (
            {"BAILIWICK_TLS_CERT": "MISSING", "BAILIWICK_TLS_KEY": "MISSING"},
            "--tls-cert, --tls-key: expected PEM files that belong together",
        ),
    ],
)
def test_a_wrong_setting_is_one_line_and_exit_code_2(
    container: Container, settings: dict[str, str], told: str
) -> None:
    missing = str(container.volume.with_name("missing"))
    given = {key: value.replace("MISSING", missing) for key, value in settings.items()}
    done = run(ENTRY, env=container.env | given, cwd=container.volume)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert told.replace("MISSING", missing) in done.stderr
    assert not (container.volume / "bailiwick.db").exists()


def test_a_server_that_is_not_there_is_not_healthy(container: Container) -> None:
    done = container.health()
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("bailiwick does not answer: ")
