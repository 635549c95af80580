"""A new user with an empty folder and an empty home follows the README, word for word."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.reader import ROOT, Reader, Typed, new_reader, read_steps

SECTION = "Five minutes"


def commands() -> list[str]:
    """Every command of the section, as it stands."""
    text = (ROOT / "README.md").read_text().split(f"## {SECTION}\n")[1].split("\n## ")[0]
    return [step.command for step in read_steps(text) if isinstance(step, Typed)]


@pytest.fixture
def user(tmp_path: Path) -> Iterator[Reader]:
    someone = new_reader(tmp_path)
    yield someone
    someone.leave()


def test_a_new_user_follows_the_readme(user: Reader) -> None:
    up, login, *rest = commands()
    assert up == "bailiwick up"
    user.begin(up)
    printed = re.search(r"^ +(bailiwick login .*)$", user.printed(), re.M)
    assert printed is not None
    assert re.fullmatch(login.replace("CODE", r"--server \S+ \S+"), printed[1])
    assert user.type(printed[1]).returncode == 0
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
