"""A new user with an empty folder and an empty home follows the README, word for word."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECTION = "Five minutes"
WAIT_S = 60.0


def commands() -> list[str]:
    """Every command of the section, as it stands."""
    text = (ROOT / "README.md").read_text().split(f"## {SECTION}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"```console\n(.*?)```", text, re.S)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    return [line[2:].split("    # ")[0].split("  # ")[0].strip() for line in lines]


@dataclass
class User:
    """Somebody at a terminal."""

    folder: Path
    env: dict[str, str]
    server: subprocess.Popen[bytes] | None = None

    def begin(self, command: str) -> None:
        """Start the server in the first terminal."""
        with (self.folder / "out").open("wb") as out, (self.folder / "err").open("wb") as err:
            self.server = subprocess.Popen(
                shlex.split(command), cwd=self.folder, env=self.env, stdout=out, stderr=err
            )

    def login(self) -> str:
        """The command with the login, as the server prints it."""
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            found = re.search(r"^ +(bailiwick login .*)$", (self.folder / "out").read_text(), re.M)
            if found:
                return found[1]
            assert self.server is not None
            assert self.server.poll() is None, (self.folder / "err").read_text()
            time.sleep(0.1)
        raise AssertionError("no login was printed")

    def type(self, command: str) -> subprocess.CompletedProcess[str]:
        """One command in the second terminal."""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=False,
        )
        print(f"$ {command}\n{done.stdout}{done.stderr}[{done.returncode}]")
        return done


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "work").mkdir()
    found = shutil.which("bailiwick", path=str(ROOT / ".venv/bin"))
    assert found is not None, "make setup puts the command there"
    env = {
        "HOME": str(home),
        "PATH": f"{Path(found).parent}:{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
    }
    someone = User(tmp_path / "work", env)
    yield someone
    if someone.server is not None:
        someone.server.terminate()
        assert someone.server.wait(WAIT_S) == 0, (someone.folder / "err").read_text()


def test_a_new_user_follows_the_readme(user: User) -> None:
    up, login, *rest = commands()
    assert up == "bailiwick up"
    # The usual port may be taken on this machine; nothing else is changed.
    user.begin(f"{up} --port 0")
    printed = user.login()
    assert re.fullmatch(login.replace("CODE", r"--server \S+ \S+"), printed)
    assert user.type(printed).returncode == 0
    told: dict[str, subprocess.CompletedProcess[str]] = {}
    cores = "?"
    for command in rest:
        done = told[command] = user.type(command.replace("CORES", cores))
        if command == "bailiwick node list":
            found = re.search(r"^\S+ +accepting .*?([\d.]+) +[\d.]+ [KMGT]iB", done.stdout, re.M)
            assert found is not None, done.stdout
            cores = found[1]
    _check(rest, told)


def _check(order: list[str], told: dict[str, subprocess.CompletedProcess[str]]) -> None:
    """A job ran, one was denied, one was preempted; why, for how much, and all of it sealed."""
    hello, denied, _, long, plan, urgent, explain, usage, verify = (told[c] for c in order[1:])
    assert hello.stdout == "hello from a lease\n"
    assert denied.returncode == 3
    assert "1,000 cores asked" in denied.stderr
    assert long.returncode == 0
    assert re.search(r"lease-2 +main +low +spot", plan.stdout)
    assert "credit" in plan.stdout
    assert urgent.stdout == "more urgent\n"
    assert "priority_preemption" in explain.stdout
    assert "more urgent work" in explain.stdout
    spot = re.search(r"spot .* ([\d.]+)\n", usage.stdout)
    assert spot is not None
    assert float(spot[1]) > 0, "what was held has a price"
    assert "records are as sealed" in verify.stdout
    codes = {command: done.returncode for command, done in told.items()}
    assert sorted(set(codes.values())) == [0, 3]
    assert [command for command, code in codes.items() if code == 3] == [order[2]]
