"""`make run` on good and bad machines: it installs what running needs, or says one line and goes.

Each test has a copy of this tree's files (as git knows them) and a machine of its own: an empty
home, and a PATH with nothing on it but what the README asks for.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What a bare machine has: no compiler, no apt, no sudo, no uv.
PROGRAMS = ("bash", "sh", "env", "make", "git", "dirname", "grep", "sed", "expand", "uname", "cat")
WAIT_S = 600
NOWHERE = "http://127.0.0.1:9"
"""Nobody listens there, and the machine itself says so at once."""


@dataclass
class Machine:
    """A copy of the tree and the little that surrounds it."""

    folder: Path
    environment: dict[str, str]

    def run(self, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the copy."""
        return subprocess.run(
            words,
            cwd=self.folder,
            env=self.environment | settings,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=False,
        )

    def set_up(self, **settings: str) -> subprocess.CompletedProcess[str]:
        """What `make run` does before it runs."""
        return self.run("make", "environment", **settings)


def copy_tree(to: Path) -> None:
    """What a clone would hold, with what is not committed yet."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
    for name in map(os.fsdecode, filter(None, names)):
        if name.startswith(("tests/", "docs/", "proofs/", "bench/")) or not (ROOT / name).is_file():
            continue
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to / name)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A bare machine; its folder's name has a space in it, as people's folders do."""
    folder, programs, home = tmp_path / "my clone", tmp_path / "bin", tmp_path / "home"
    for each in (folder, programs, home):
        each.mkdir()
    copy_tree(folder)
    for name in PROGRAMS:
        found = shutil.which(name)
        assert found, name
        (programs / name).symlink_to(found)
    base = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
    (programs / "python3").write_text(f'#!/bin/sh\nexec "{base}" "$@"\n')
    (programs / "python3").chmod(0o755)
    kept = ("SSL_CERT_FILE", "PIP_CERT", "PIP_INDEX_URL", "UV_DEFAULT_INDEX", "HTTPS_PROXY")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    # What other tests downloaded is kept, so that this asks the index for as little as possible.
    cache = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv")
    environment |= {"PATH": str(programs), "HOME": str(home), "UV_CACHE_DIR": cache}
    return Machine(folder, environment | {"LANG": "C.UTF-8"})


def one_line(ran: subprocess.CompletedProcess[str]) -> str:
    """The only thing said about a fault; make adds its own line about the target."""
    said = [each for each in ran.stderr.splitlines() if each and not each.startswith("make")]
    assert len(said) == 1, ran.stderr
    return said[0]


def is_untouched(machine: Machine) -> bool:
    return not (machine.folder / ".venv").exists()


def blocked(machine: Machine, *modules: str) -> str:
    """A folder for PYTHONPATH in which these modules cannot be imported."""
    folder = machine.folder.parent / "blocked"
    for name in modules:
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(f"raise ImportError('no {name} here')\n")
    return str(folder)


@contextlib.contextmanager
def running(machine: Machine, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A process that is ended with the test, with all that it started."""
    process = subprocess.Popen(
        words,
        cwd=machine.folder,
        env=machine.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    guard = threading.Timer(WAIT_S, lambda: os.killpg(process.pid, signal.SIGKILL))
    guard.start()
    try:
        yield process
    finally:
        guard.cancel()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(WAIT_S)
        assert process.stdout is not None
        process.stdout.close()


def test_make_run_gives_a_login_on_a_machine_without_compiler_apt_or_root(machine: Machine) -> None:
    said = []
    with running(machine, "make", "run", "ARGS=--port 0") as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            if "bailiwick login" in line:
                break
    text = "".join(said)
    assert "bailiwick login" in text, text
    assert "pure-Python" in text  # no compiler: a line says so
    assert re.search(r"\d+ packages of requirements/server.txt \([\d.]+ MB to download", text)


def test_running_installs_its_own_lock_files_and_nothing_else(machine: Machine) -> None:
    link_uv(machine)
    ran = machine.set_up()
    assert ran.returncode == 0, ran.stderr
    listed = machine.run("uv", "pip", "list", "--format", "freeze")
    there = {line.partition("==")[0] for line in listed.stdout.splitlines()}
    locks = [ROOT / "requirements" / name for name in ("build.txt", "server.txt", "uv.txt")]
    locked = {
        name for lock in locks for name in re.findall(r"^([\w.-]+)==", lock.read_text(), re.M)
    }
    assert there - locked == {"bailiwick"}
    assert {"fastapi", "psutil", "hatchling"} <= there
    again = machine.set_up()
    assert again.returncode == 0
    assert "installing" not in again.stdout


def test_a_moved_folder_is_set_up_anew(machine: Machine) -> None:
    link_uv(machine)
    assert machine.set_up().returncode == 0
    moved = machine.folder.with_name("moved")
    machine.folder.rename(moved)
    machine.folder = moved
    assert "making .venv" in machine.set_up().stdout
    assert machine.run(".venv/bin/bailiwick", "--version").returncode == 0


def test_without_a_module_for_environments_the_package_is_named(machine: Machine) -> None:
    ran = machine.set_up(PYTHONPATH=blocked(machine, "venv", "ensurepip", "pip"))
    assert ran.returncode != 0
    assert f"install python3.{sys.version_info.minor}-venv" in one_line(ran)
    assert is_untouched(machine)


def test_without_ensurepip_the_pip_of_the_machine_serves(machine: Machine) -> None:
    ran = machine.set_up(PYTHONPATH=blocked(machine, "ensurepip"))
    assert ran.returncode == 0, ran.stderr


def test_a_pip_too_old_to_serve_is_told(machine: Machine) -> None:
    path = blocked(machine, "ensurepip")
    old = Path(path, "pip")
    old.mkdir()
    (old / "__init__.py").touch()
    (old / "__main__.py").write_text("print('pip 9.0.1 from /usr/lib (python 3.11)')\n")
    ran = machine.set_up(PYTHONPATH=path)
    assert ran.returncode != 0
    assert "pip 9.0.1 is too old" in one_line(ran)
    assert is_untouched(machine)


@pytest.mark.parametrize("when", ["while uv is installed", "while the rest is installed"])
def test_without_a_network_one_line_says_so_and_nothing_is_left(
    machine: Machine, when: str
) -> None:
    settings = {"UV_CACHE_DIR": str(machine.folder.parent / "empty"), "PIP_NO_CACHE_DIR": "1"}
    if when == "while the rest is installed":
        link_uv(machine)
    settings |= {"PIP_INDEX_URL": f"{NOWHERE}/simple", "PIP_RETRIES": "0"}
    ran = machine.set_up(**settings, UV_DEFAULT_INDEX=f"{NOWHERE}/simple")
    assert ran.returncode != 0
    assert "the package index cannot be reached: check the network" in one_line(ran)
    assert is_untouched(machine)


def test_a_proxy_that_does_not_answer_is_named_without_its_password(machine: Machine) -> None:
    link_uv(machine)
    settings = {"UV_CACHE_DIR": str(machine.folder.parent / "empty")}
    proxy = NOWHERE.replace("//", "//somebody:hunter2@")
    ran = machine.set_up(**settings, HTTPS_PROXY=proxy)
    assert ran.returncode != 0
    said = one_line(ran)
    assert "through the proxy http://...@127.0.0.1:9" in said
    assert "hunter2" not in ran.stdout + ran.stderr
    assert is_untouched(machine)


def test_a_home_that_cannot_be_written_is_no_hindrance(machine: Machine) -> None:
    link_uv(machine)
    # Root may write everywhere, but nobody may make a folder inside a file.
    machine.environment["HOME"] = "/dev/null/home"
    del machine.environment["UV_CACHE_DIR"]
    ran = machine.set_up()
    assert ran.returncode == 0, ran.stderr
    assert machine.run(".venv/bin/bailiwick", "--version").returncode == 0


def test_a_package_that_is_not_the_locked_one_is_refused(machine: Machine) -> None:
    link_uv(machine)
    lock = machine.folder / "requirements" / "build.txt"
    lock.write_text(re.sub(r"sha256:[0-9a-f]{8}", "sha256:00000000", lock.read_text()))
    ran = machine.set_up(UV_CACHE_DIR=str(machine.folder.parent / "empty"))
    assert ran.returncode != 0
    assert "is not the one that was locked" in one_line(ran)
    assert is_untouched(machine)


def test_what_was_interrupted_is_begun_anew(machine: Machine) -> None:
    link_uv(machine)
    uv = machine.folder.parent / "bin" / "uv"
    real = uv.readlink()
    uv.unlink()
    # One that never gets to its end: a warm cache is faster than an interrupting hand.
    uv.write_text(f'#!/bin/sh\n[ "$1" = pip ] && exec sleep 3600\nexec "{real}" "$@"\n')
    uv.chmod(0o755)
    with running(machine, "make", "environment") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "installing" in line:
                os.killpg(process.pid, signal.SIGINT)
                break
        said = process.stdout.read()
        assert process.wait(WAIT_S) != 0
    assert is_untouched(machine), said
    uv.unlink()
    uv.symlink_to(real)
    assert machine.set_up().returncode == 0


def test_an_interpreter_that_is_too_old_is_told(machine: Machine) -> None:
    python = machine.folder.parent / "bin" / "python3"
    python.write_text("#!/bin/sh\nexit 1\n")
    ran = machine.set_up()
    assert ran.returncode != 0
    assert "needs Python 3.11 or newer" in one_line(ran)


def link_uv(machine: Machine) -> None:
    """A machine that has uv already."""
    uv = ROOT / ".venv" / "bin" / "uv"
    found = uv if uv.exists() else Path(shutil.which("uv") or "uv is missing")
    (machine.folder.parent / "bin" / "uv").symlink_to(found)
