"""``bailiwick whatif``: what a person sees, what a program reads, and how it ends."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bailiwick.kernel import SetQuota
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.store import open_store
from tests.support.command_line import Ended, call, run
from tests.support.kernel_histories import Campus, busy_journal, small_journal

MANUAL = Path(__file__).resolve().parents[2] / "docs/journal.md"


def bailiwick(*arguments: object, columns: int = 80) -> Ended:
    return call("whatif", *arguments, COLUMNS=str(columns))


@pytest.fixture(scope="module")
def campus() -> Campus:
    return small_journal()


@pytest.fixture(scope="module")
def journal(campus: Campus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return campus.write(tmp_path_factory.mktemp("whatif") / "campus.jsonl")


def told(*arguments: object) -> dict[str, object]:
    done = bailiwick(*arguments, "-o", "json")
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_the_manual_shows_what_is_really_printed(journal: Path) -> None:
    text = MANUAL.read_text("utf-8")
    found = re.search(r"```\n\$ bailiwick whatif (.*?)\n(.*?)```", text, re.DOTALL)
    assert found is not None
    done = run("whatif", *shlex.split(found[1]), cwd=journal.parent, COLUMNS="80")
    assert done.returncode == 0, done.stderr
    printed = [line.rstrip() for line in done.stdout.rstrip().splitlines()]
    assert found[2].rstrip().splitlines() == printed


def test_the_numbers_are_whole_and_add_up(journal: Path) -> None:
    found = told("-j", journal, "--set", "quota.physics.gpu_count=8", "--price", "2.50")
    control, columns = found["control"], found["columns"]
    assert isinstance(control, dict)
    assert isinstance(columns, dict)
    assert control["exact"] is True
    assert columns["journal"] == columns["control"]
    for column in columns.values():
        tenants = column["tenants"].values()
        assert column["gpu_milli_ms"] == sum(each["gpu_milli_ms"] for each in tenants)
        for each in tenants:
            assert type(each["cost_micros"]) is int
            exact = each["gpu_milli_ms"] * 2_500_000 / 3_600_000_000
            assert abs(each["cost_micros"] - exact) <= 0.5
    assert found["tenants_affected"] == ["physics", "biology"]
    assert len(found["assumptions"]) >= 5  # type: ignore[arg-type]


def test_the_same_question_prints_the_same_bytes(tmp_path: Path) -> None:
    path = busy_journal(9, steps=150).write(tmp_path / "busy.jsonl")
    asked = ("-j", path, "--set", "grace_ms=0", "--set", "nodes.node-1=absent")
    assert bailiwick(*asked).stdout == bailiwick(*asked).stdout


def test_a_database_is_read_as_well(campus: Campus, journal: Path, tmp_path: Path) -> None:
    with open_store(tmp_path / "data") as store:
        leader = store.lead("test", "")
        assert leader is not None
        store.append(leader.epoch, 0, campus.lines)
    asked = ("--set", "strategy=best_fit", "--from", "-4h", "--to", "-1h")
    one, two = told("-j", journal, *asked), told("-j", tmp_path / "data", *asked)
    assert {**one, "journal_name": ""} == {**two, "journal_name": ""}


@pytest.mark.parametrize("columns", [80, 120])
def test_the_screen_fits(tmp_path: Path, columns: int) -> None:
    path = busy_journal(5).write(tmp_path / "busy.jsonl")
    asked = ("--set", "grace_ms=0", "--set", "nodes.node-2=absent", "--price", "3")
    done = bailiwick("-j", path, *asked, columns=columns)
    assert done.returncode == 0, done.stderr
    assert max(len(line) for line in done.stdout.splitlines()) <= columns
    assert "replays the journal exactly" in done.stdout
    assert "Assumed" in done.stdout


def test_a_change_that_changes_nothing_says_so(journal: Path) -> None:
    done = bailiwick("-j", journal, "--set", "strategy=fragmentation_aware")
    assert done.returncode == 0
    assert "strategy=fragmentation_aware changes nothing" in done.stdout
    assert "makes no difference" in done.stdout


def test_a_control_that_is_not_the_journal_is_not_passed_off_as_one(
    campus: Campus, tmp_path: Path
) -> None:
    """A holder that acts on what it sees cannot be known; here the ticks are what is not known."""
    other = small_journal()
    other.now_ms += 77
    other.do(SetQuota("biology", Quota((ResourceLimit.gpu_count(9),))))
    for gap in (333, 101, 998):
        other.now_ms += gap
        other.submit("biology", gpu_count=9, gang_size=1, ttl_ms=250)
        other.submit("biology", gpu_count=8, ttl_ms=250)
        other.pass_time(500, tick_ms=251)
    path = other.write(tmp_path / "odd.jsonl")
    done = bailiwick("-j", path, "--set", "strategy=best_fit")
    assert done.returncode == 0, done.stderr
    assert "does not replay the journal exactly" in done.stdout
    assert "irregular times" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--set", "nonsense=1"), "one of strategy"),
        (("--set", "quota.chemistry.gpu_count=1"), "biology, physics"),
        (("--set", "quota.physics.gpus=1"), "gpu_count"),
        (("--set", "strategy=best_fit", "--price", "cheap"), "2.50"),
        (("--set", "strategy=best_fit", "--from", "end"), "before the journal's end"),
        (("--set", "strategy=best_fit", "--from", "-1h", "--to", "-2h"), "records between"),
        (("--set", "half_life_ms=1h", "--from", "-1h"), "half_life_ms"),
        (("--set", "strategy=weighted"), "weights"),
    ],
)
def test_a_mistake_is_one_line_and_code_2(
    journal: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = bailiwick("-j", journal, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_damaged_journal_is_not_used(campus: Campus, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b"".join(campus.lines[:9] + campus.lines[10:]))
    done = bailiwick("-j", path, "--set", "strategy=best_fit")
    assert (done.returncode, done.stdout) == (3, "")


def test_help_loads_no_kernel_and_no_store_so_that_it_starts_fast() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "bailiwick.cli.main", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "whatif" in done.stdout
    assert "bailiwick.kernel" not in done.stderr
    assert "sqlalchemy" not in done.stderr
