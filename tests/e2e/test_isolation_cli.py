"""``bailiwick isolation``: a policy's text and placements from files, as people type it.

What the manual shows is what happens: its policies are canonical texts, and its sessions are run.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.language.spelling import format_text
from tests.support.command_line import Ended, call, run

MANUAL = (Path(__file__).resolve().parents[2] / "docs" / "isolation.md").read_text("utf-8")
MISTAKES = "dedicated hots for tenant bank\nnever share host amongst tenants\n"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", MANUAL, flags=re.S)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "policy.txt").write_text(blocks("policy")[0])
    (tmp_path / "placements.json").write_text(blocks("json")[0])
    (tmp_path / "mistakes.txt").write_text(MISTAKES)
    return tmp_path


def isolation(folder: Path, *arguments: object, given: str = "", columns: int = 100) -> Ended:
    return call("isolation", *arguments, given=given, cwd=folder, COLUMNS=str(columns))


@pytest.mark.parametrize("text", blocks("policy"))
def test_every_policy_of_the_manual_is_one_in_its_canonical_form(text: str) -> None:
    assert parse_policy(text).rules
    assert format_text(text) == text


@pytest.mark.parametrize("session", blocks("console"))
def test_every_session_of_the_manual_is_what_happens(session: str, folder: Path) -> None:
    command, _, shown = session.partition("\n")
    words = command.removeprefix("$ bailiwick ").split()
    ended = call(*words, cwd=folder, COLUMNS="100")
    printed = [line.rstrip() for line in (ended.stdout + ended.stderr).splitlines()]
    assert printed == shown.splitlines()


def test_formatting_prints_checks_and_writes(folder: Path) -> None:
    rough = folder / "rough.txt"
    rough.write_text("dedicated  host\n for tenant bank#why\n")
    rough.chmod(0o640)
    ended = isolation(folder, "fmt", "rough.txt")
    assert (ended.returncode, ended.stdout) == (0, "dedicated host for tenant bank  # why\n")
    assert isolation(folder, "fmt", "-", given=rough.read_text()).stdout == ended.stdout
    checked = isolation(folder, "fmt", "--check", "rough.txt")
    assert (checked.returncode, checked.stdout) == (3, "")
    assert checked.stderr == "bailiwick: rough.txt is not in its canonical form\n"
    assert isolation(folder, "fmt", "--write", "rough.txt").returncode == 0
    assert rough.read_text() == ended.stdout
    assert rough.stat().st_mode & 0o777 == 0o640
    assert isolation(folder, "fmt", "--check", "rough.txt").returncode == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "mistakes.txt",
        "placements.json",
        "policy.txt",
        "rough.txt",
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("fmt", "--write", "-"), "a file to write into"),
        (("fmt", "--write", "--check", "policy.txt"), "one of them"),
        (("fmt", "nowhere.txt"), "a file to read (No such file or directory)"),
        (("explain", "-", "-"), "the policy is read from stdin already"),
        (("explain", "policy.txt", "policy.txt"), "policy.txt: placements: expected JSON"),
        (("lint", "policy.txt", "--at", "yesterday"), "--at: expected"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(
    folder: Path, arguments: tuple[str, ...], told: str
) -> None:
    ended = isolation(folder, *arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert told in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_text_that_is_no_policy_ends_with_2_everywhere(folder: Path) -> None:
    for arguments in (("fmt",), ("lint",), ("explain",)):
        rest = ("placements.json",) if arguments == ("explain",) else ()
        ended = isolation(folder, *arguments, "mistakes.txt", *rest)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert ended.stderr.count("did you mean") == 2
    ended = isolation(folder, "lint", "mistakes.txt", "-o", "json")
    assert ended.returncode == 2
    problem = json.loads(ended.stdout)["problems"][0]
    assert (problem["line"], problem["column"], problem["nearest"]) == (1, 11, "host")


def test_lint_tells_what_the_fleet_and_the_tenants_show(folder: Path) -> None:
    known = [word for name in ("acme", "bank", "partner") for word in ("--tenant", name)]
    options = ("--fleet", "placements.json", *known, "--at", "2027-01-20")
    ended = isolation(folder, "lint", "policy.txt", *options, "-o", "json")
    assert ended.returncode == 3
    found = {(each["code"], each["rule"]) for each in json.loads(ended.stdout)["findings"]}
    assert found == {
        ("unknown_tenant", "rivals"),
        ("unreachable", "rule-1"),
        ("unsatisfiable", "rule-4"),
        ("exception_ends_soon", "rule-6"),
        ("not_forbidden", None),
    }
    drawn = isolation(folder, "lint", "policy.txt", *options, columns=50)
    assert drawn.returncode == 3
    assert "fix: did you mean" not in drawn.stdout
    assert "unsatisfiable" in drawn.stdout


def test_explain_is_the_same_for_programs_and_in_a_process_of_its_own(folder: Path) -> None:
    ended = run("isolation", "explain", "policy.txt", "placements.json", "-o", "json", cwd=folder)
    assert ended.returncode == 3
    vault = next(r for r in json.loads(ended.stdout)["rules"] if r["rule"] == "vault")
    assert vault["verdict"] == "broken"
    assert vault["meetings"][0] == {"kind": "rack", "domain": "r1", "who": ["job-1", "job-3"]}
