"""``bailiwick journal at``: the state at any time, from a file, a directory and a database."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bailiwick.journal import Context, RecordKind, SeedSigner
from bailiwick.kernel import Kernel, digest_of
from bailiwick.kernel.snapshot import FORMAT_NUMBER
from bailiwick.store import JournalWriter, open_store
from tests.support.command_line import Ended, call, run
from tests.support.kernel_histories import HOUR, START_MS, Campus, busy_journal, small_journal

SIGNER = SeedSigner("log.example/fleet", bytes(range(32)))
MANUAL = Path(__file__).resolve().parents[2] / "docs/journal.md"


def bailiwick(*arguments: object, columns: int = 80) -> Ended:
    return call("journal", "at", *arguments, COLUMNS=str(columns))


@pytest.fixture(scope="module")
def campus() -> Campus:
    return small_journal()


@pytest.fixture(scope="module")
def journal(campus: Campus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return campus.write(tmp_path_factory.mktemp("at") / "campus.jsonl")


def told(*arguments: object) -> dict[str, object]:
    done = bailiwick(*arguments, "-o", "json")
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def replayed(campus: Campus, size: int) -> str:
    kernel = Kernel()
    kernel.replay(campus.records[:size])
    return digest_of(kernel.state)


@pytest.mark.parametrize("seq", [0, 5, 17, 38])
def test_the_digest_is_that_of_an_independent_replay(
    campus: Campus, journal: Path, seq: int
) -> None:
    found = told(f"seq:{seq}", journal)
    assert found["seq"] == seq
    assert found["digest"] == replayed(campus, seq + 1)


def test_every_way_to_say_a_time_means_it(campus: Campus, journal: Path) -> None:
    at = START_MS + 2 * HOUR
    size = sum(record.at_ms <= at for record in campus.records)
    end_ms = campus.records[-1].at_ms
    for text in (
        str(at),
        "2026-11-15T02:00:00Z",
        "2026-11-15T02:00",
        "2026-11-15 03:00:00+01:00",
        f"-{(end_ms - at) // 60_000}m",
    ):
        found = told(text, journal)
        assert (found["at_ms"], found["seq"]) == (at, size - 1), text
    for text in ("now", "end", f"seq:{len(campus.lines) - 1}", "2030-01-01"):
        assert told(text, journal)["digest"] == replayed(campus, len(campus.lines)), text


def test_a_directory_and_a_database_tell_the_same_as_a_file(
    campus: Campus, journal: Path, tmp_path: Path
) -> None:
    with JournalWriter(tmp_path / "log", SIGNER) as writer:
        for record in campus.records:
            body = json.loads(record.canonical)["body"]
            writer.append(record.kind, record.context, at_ms=record.at_ms, body=body)
        writer.commit()
    with open_store(tmp_path / "data") as store:
        leader = store.lead("test", "")
        assert leader is not None
        store.append(leader.epoch, 0, campus.lines)
    expected = told("-2h", journal)
    for target in (tmp_path / "log", tmp_path / "data", f"sqlite:///{tmp_path}/data"):
        found = told("-2h", target)
        assert {**found, "journal": None} == {**expected, "journal": None}


def test_a_journal_that_is_not_as_sealed_ends_with_3(campus: Campus, tmp_path: Path) -> None:
    lines = list(campus.lines)
    lines[20] = lines[20].replace(b"physics", b"biology")
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b"".join(lines))
    done = bailiwick("end", path)
    assert done.returncode == 3
    assert done.stdout == ""
    assert "record 20" in done.stderr
    with open_store(tmp_path / "data") as store:
        leader = store.lead("test", "")
        assert leader is not None
        store.append(leader.epoch, 0, lines)
    done = bailiwick("end", tmp_path / "data")
    assert done.returncode == 3
    assert "record 2" in done.stderr  # the link breaks at 20 or is found at 21


@pytest.mark.parametrize(
    ("time", "says"),
    [
        ("yesterday", "ISO 8601"),
        ("seq:9999", "0 to 38"),
        ("12", "2026-11-15 00:00:00"),
        ("-9d", "not before the journal begins"),
    ],
)
def test_a_time_that_means_nothing_is_a_mistake_of_use(journal: Path, time: str, says: str) -> None:
    done = bailiwick(time, journal)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_place_without_a_journal_and_a_foreign_journal_are_told(tmp_path: Path) -> None:
    assert bailiwick("end", tmp_path / "none").returncode == 2
    assert bailiwick("end", tmp_path).returncode == 2
    with JournalWriter(tmp_path / "foreign", SIGNER) as log:  # a state that no kernel had
        body = {"digest": "0" * 64, "leases": 0, "waiting": 0, "format": FORMAT_NUMBER}
        log.append(RecordKind.STATE_CHECKPOINT, Context("x", "req-1"), at_ms=1, body=body)
        log.commit()
    done = bailiwick("end", tmp_path / "foreign")
    assert done.returncode == 2
    assert "a journal of the kernel" in done.stderr


def test_checkpoints_of_another_format_are_not_compared_and_that_is_told(
    journal: Path, tmp_path: Path
) -> None:
    with JournalWriter(tmp_path / "older", SIGNER) as log:
        body = {"digest": "0" * 64, "leases": 0, "waiting": 0, "format": FORMAT_NUMBER - 1}
        for seq in range(2):
            log.append(RecordKind.STATE_CHECKPOINT, Context("x", "r"), at_ms=1 + seq, body=body)
        log.commit()
    line = "checkpoints not compared: 2, because another version wrote them its way"
    assert line in bailiwick("end", tmp_path / "older").stdout
    assert "checkpoints not compared: 1," in bailiwick("seq:0", tmp_path / "older").stdout
    found = told("end", tmp_path / "older")["journal"]
    assert isinstance(found, dict)
    assert found["checkpoints_not_compared"] == 2
    assert "not compared" not in bailiwick("end", journal).stdout


def test_the_journal_of_a_demo_is_one_of_the_kernel(tmp_path: Path) -> None:
    made = tmp_path / "demo.jsonl"
    assert call("demo", "--days", 1, "-q", "--journal", made).returncode == 0
    assert bailiwick("end", made).returncode == 0


def test_a_torn_last_line_is_told_and_the_rest_shown(campus: Campus, tmp_path: Path) -> None:
    path = tmp_path / "torn.jsonl"
    path.write_bytes(b"".join(campus.lines)[:-40])
    done = bailiwick("-1h", path, "-o", "json")
    assert done.returncode == 0
    assert "torn" in done.stderr
    assert json.loads(done.stdout)["journal"]["records"] == len(campus.lines) - 1


@pytest.mark.parametrize("columns", [80, 120])
def test_the_screen_fits_and_tells_all_parts(tmp_path: Path, columns: int) -> None:
    path = busy_journal(5).write(tmp_path / "busy.jsonl")
    done = bailiwick("seq:600", path, columns=columns)
    assert done.returncode == 0, done.stderr
    assert max(len(line) for line in done.stdout.splitlines()) <= columns
    found = told("seq:600", path)
    assert found["leases_total"]
    assert found["waiting_total"]
    totals = f"Leases: {found['leases_total']}", f"Waiting: {found['waiting_total']}"
    for part in ("digest", "Fleet: 5 nodes", "nvidia_hopper", "Tenants: 3", *totals):
        assert part in done.stdout
    assert "waiting_for_quota" in done.stdout


def test_the_manual_shows_what_is_really_printed(journal: Path) -> None:
    text = MANUAL.read_text("utf-8")
    found = re.search(r"```\n\$ bailiwick journal at (\S+) (\S+)\n(.*?)```", text, re.DOTALL)
    assert found is not None
    done = run("journal", "at", found[1], found[2], cwd=journal.parent, COLUMNS="80")
    printed = [_without_digest(line.rstrip()) for line in done.stdout.rstrip().splitlines()]
    assert [_without_digest(line) for line in found[3].rstrip().splitlines()] == printed


def _without_digest(line: str) -> str:
    return "digest" if line.startswith("digest ") else line
