"""`bailiwick isolation check` as a person runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bailiwick.isolation.trace import read_trace
from tests.support.tools import need

POLICY = "vault: dedicated host for tenant bank\n"


def run(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bailiwick.cli.main", "isolation", "check", *words],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "policy.txt").write_text(POLICY)
    return tmp_path


def test_a_seeded_fault_is_told_drawn_and_kept(folder: Path) -> None:
    need("alloy")
    words = ("--fault", "forgets_host", "--svg", "story.svg", "--trace", "story.json")
    done = run("policy.txt", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "share host" in done.stdout
    assert (folder / "story.svg").read_text().startswith("<svg ")
    trace = read_trace((folder / "story.json").read_bytes())
    assert (trace.policy, trace.fault) == (POLICY, "forgets_host")


def test_a_rule_that_cannot_bite_proves_nothing(folder: Path) -> None:
    need("alloy")
    done = run(
        "policy.txt", "--shape", "seats=1", "--scope", "jobs=2,steps=2", "-o", "json", cwd=folder
    )
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert told["verdict"] == "proves_nothing"
    assert [each["name"] for each in told["commands"] if each["found"] != each["expected"]] == [
        "bites_vault"
    ]


@pytest.mark.parametrize(
    ("environment", "fix"),
    [
        ({"PATH": "/nowhere"}, "apt-get install default-jre-headless"),
        ({"BAILIWICK_ALLOY_JAR": "/nowhere.jar"}, "/nowhere.jar, which is no file"),
    ],
)
def test_what_is_missing_is_named_with_the_fix(
    folder: Path, environment: dict[str, str], fix: str
) -> None:
    if "PATH" not in environment:
        need("alloy")
    done = run("policy.txt", cwd=folder, **environment)
    assert done.returncode == 2
    assert fix in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_model_is_written_without_running_anything(folder: Path) -> None:
    done = run("policy.txt", "--model", "policy.als", cwd=folder, PATH="/nowhere")
    assert done.returncode == 0, done.stderr
    assert "check holds" in (folder / "policy.als").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ("--shape", "towers=2"),
        ("--scope", "jobs=99"),
        ("--fault", "forgets_rack"),
        ("--fleet", "none.json"),
    ],
)
def test_a_mistake_in_what_was_typed_ends_with_2(folder: Path, words: tuple[str, str]) -> None:
    done = run("policy.txt", *words, cwd=folder)
    assert done.returncode == 2
    assert words[0].strip("-") in done.stderr
