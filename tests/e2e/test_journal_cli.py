"""The journal's commands as a person meets them: what they print, and how they end."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bailiwick.journal import Context, RecordKind, SeedSigner, VerifierKey
from bailiwick.store import JournalWriter, siem_page
from tests.support.command_line import Ended, call, run

SIGNER = SeedSigner("log.example/fleet", bytes(range(32)))
VKEY = str(VerifierKey.of(SIGNER))
COUNT = 300


def bailiwick(*arguments: object) -> Ended:
    return call("journal", *arguments)


def write(path: Path, *, count: int = COUNT, salt: int = 0) -> Path:
    with JournalWriter(path, SIGNER) as journal:
        for seq in range(count):
            who = Context("scheduler", f"req-{seq // 3}", tenant=("acme", "globex")[seq % 2])
            body: dict[str, object] = {"lease_id": seq // 3 + salt}
            kind = RecordKind.LEASE_RENEWED
            if seq % 10 == 4:
                kind = RecordKind.LEASE_PREEMPTED
                body |= {"reason": "burst_credit_exhausted", "victim": "acme"}
                body |= {"preemptor": "req-9", "freed": {"gpu_milli": 1000}}
            else:
                body |= {"generation": 2, "expires_ms": 9_000}
            journal.append(kind, who, at_ms=1_794_700_000_000 + seq, body=body)
        journal.commit()
    return path


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("sound") / "journal")


@pytest.fixture
def journal(sound: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return shutil.copytree(sound, tmp_path / "journal")


def assert_damaged(done: Ended, *words: str) -> None:
    assert done.returncode == 3, done.stdout + done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("bailiwick: ")
    assert done.stderr.count("\n") == 1
    assert all(word in done.stderr for word in words), done.stderr


def test_a_sound_journal_verifies_as_directory_and_as_file(sound: Path) -> None:
    done = run("journal", "verify", sound, "--vkey", VKEY)
    assert done.returncode == 0, done.stderr
    assert "300 records are as sealed, 300 of them under a signed checkpoint" in done.stdout
    done = bailiwick("verify", sound / "journal.jsonl", "--anchor", sound / "anchor")
    assert done.returncode == 0
    assert "no signed checkpoint covers them" in done.stdout


def swap(lines: list[bytes]) -> list[bytes]:
    return [*lines[:7], lines[8], lines[7], *lines[9:]]


def flip(lines: list[bytes]) -> list[bytes]:
    return [*lines[:7], lines[7].replace(b'"req-2"', b'"req-3"'), *lines[8:]]


DAMAGE: dict[str, tuple[Callable[[list[bytes]], list[bytes]], tuple[str, str]]] = {
    "flip": (flip, ("changed", "record 7:")),
    "garbage": (lambda x: [*x[:7], b"x\n", *x[8:]], ("malformed", "record 7:")),
    "cut": (lambda x: [*x[:7], *x[9:]], ("removed", "record 7:")),
    "swap": (swap, ("reordered", "record 7:")),
    "replay": (lambda x: [*x[:7], x[3], *x[7:]], ("added", "record 7:")),
    "truncate": (lambda x: x[:280], ("truncated", "record 280:")),
    "tear": (lambda x: [*x[:-1], x[-1][:50]], ("truncated", "record 299:")),
    "empty": (lambda _: [], ("truncated", "record 0:")),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_ends_with_three_and_says_where_and_what(journal: Path, name: str) -> None:
    damage, words = DAMAGE[name]
    path = journal / "journal.jsonl"
    path.write_bytes(b"".join(damage(path.read_bytes().splitlines(keepends=True))))
    assert_damaged(bailiwick("verify", journal), *words)
    if name in ("flip", "truncate"):
        assert_damaged(bailiwick("show", journal), *words)
        assert_damaged(bailiwick("export", journal), *words)


def test_a_damaged_tile_or_signature_ends_with_three(journal: Path) -> None:
    tile = journal / "tile/0/000"
    data = bytearray(tile.read_bytes())
    data[32 * 7] ^= 1
    tile.write_bytes(data)
    assert_damaged(bailiwick("verify", journal), "tile/0/000 differs")
    assert_damaged(bailiwick("prove", 3, journal), "record 3")
    checkpoint = journal / "checkpoint"
    checkpoint.write_text(checkpoint.read_text("utf-8").replace("\n300\n", "\n299\n"), "utf-8")
    assert_damaged(bailiwick("verify", journal), "bad_signature")


def test_an_anchor_kept_elsewhere_shows_a_rewritten_log(sound: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    assert bailiwick("verify", sound, "--save-anchor", kept).returncode == 0
    rewritten = write(tmp_path / "other", salt=5)
    assert bailiwick("verify", rewritten).returncode == 0
    assert_damaged(bailiwick("verify", rewritten, "--anchor", kept), "checkpoint mismatch")


def test_a_torn_last_line_beyond_the_checkpoint_is_told_and_the_rest_is_shown(
    journal: Path,
) -> None:
    with (journal / "journal.jsonl").open("ab") as file:
        file.write(b'{"actor"')
    assert_damaged(bailiwick("verify", journal), "torn at record 300")
    done = bailiwick("export", journal)
    assert done.returncode == 0
    assert done.stdout.count("\n") == 300
    assert "torn at record 300" in done.stderr


def test_show_filters_and_agrees_in_table_and_json(sound: Path) -> None:
    filters = ("--reason", "burst_credit_exhausted", "--tenant", "acme", "--limit", "4")
    done = bailiwick("show", sound, *filters, "-o", "json")
    found = json.loads(done.stdout)
    assert [record["seq"] for record in found] == [264, 274, 284, 294]
    done = bailiwick("show", sound, *filters)
    assert "4 of 30 matching records" in done.stderr
    assert all(word in done.stdout for word in ("lease_preempted", "264", "294", "req-98"))
    for option, value in (("--lease", 7), ("--correlation-id", "req-7")):
        rows = json.loads(bailiwick("show", sound, option, value, "-o", "json").stdout)
        assert [row["seq"] for row in rows] == [21, 22, 23]
    rows = json.loads(bailiwick("show", sound, "--kind", "lease_preempted", "-o", "json").stdout)
    assert {row["kind"] for row in rows} == {"lease_preempted"}


def test_an_unknown_kind_is_a_usage_error_that_lists_the_kinds(sound: Path) -> None:
    done = bailiwick("show", sound, "--kind", "lease_lost")
    assert done.returncode == 2
    assert "lease_preempted" in done.stderr


def test_a_proof_goes_from_one_hand_to_the_other(sound: Path, tmp_path: Path) -> None:
    proof = tmp_path / "one.tlog-proof"
    assert bailiwick("prove", 42, sound, "-o", proof).returncode == 0
    done = bailiwick("check-proof", proof, "--vkey", VKEY)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["seq"] == 42
    assert bailiwick("prove", 42, sound).stdout == proof.read_text("utf-8")


def test_a_proof_from_another_log_is_refused(sound: Path, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    other = write(tmp_path / "other", count=50, salt=1)
    assert bailiwick("prove", 42, sound, "-o", ours).returncode == 0
    assert bailiwick("prove", 42, other, "-o", theirs).returncode == 0
    head, _, _ = theirs.read_bytes().partition(b"\n\n")
    _, _, note = ours.read_bytes().partition(b"\n\n")
    theirs.write_bytes(head + b"\n\n" + note)
    assert_damaged(bailiwick("check-proof", theirs, "--vkey", VKEY), "does not prove record 42")
    stranger = str(VerifierKey.of(SeedSigner(SIGNER.name, bytes(32))))
    assert_damaged(bailiwick("check-proof", ours, "--vkey", stranger), "unknown_key")
    ours.write_bytes(b"nonsense")
    assert_damaged(bailiwick("check-proof", ours, "--vkey", VKEY), "proves nothing")


def test_a_place_that_cannot_be_written_is_a_usage_error(sound: Path, tmp_path: Path) -> None:
    for command in (("prove", 4, sound, "-o"), ("verify", sound, "--save-anchor")):
        done = bailiwick(*command, tmp_path / "no" / "such")
        assert done.returncode == 2
        assert "FILE: expected a place to write" in done.stderr


def test_a_proof_beyond_the_checkpoint_is_a_usage_error(sound: Path) -> None:
    assert bailiwick("prove", 300, sound).returncode == 2


@pytest.mark.parametrize("form", ["jsonl", "ocsf"])
def test_export_goes_on_exactly_where_it_ended(sound: Path, form: str) -> None:
    whole = bailiwick("export", sound, "--format", form).stdout
    assert whole.count("\n") == COUNT
    first = bailiwick("export", sound, "--format", form, "--limit", 117)
    assert first.stderr == "next: --after 116\n"
    rest = bailiwick("export", sound, "--format", form, "--after", 116)
    assert first.stdout + rest.stdout == whole
    nothing = bailiwick("export", sound, "--format", form, "--after", 299)
    assert (nothing.stdout, nothing.stderr) == ("", "next: --after 299\n")
    if form == "jsonl":
        assert whole == (sound / "journal.jsonl").read_text("utf-8")


def test_the_shared_cases_are_judged_as_expected(shared_dir: Path) -> None:
    done = bailiwick("check-cases", shared_dir / "vectors" / "tlog", "-o", "json")
    assert done.returncode == 0, done.stdout
    rows = json.loads(done.stdout)
    assert len(rows) >= 11
    assert all(row["matches"] == "yes" for row in rows)


def write_case(folder: Path, **changes: object) -> Path:
    case = {"id": "one", "kind": "tlog", "log": ".", "vkey": VKEY, "checkpoint": "checkpoint"}
    whole = {"format": "attestation-lab/tlog/1", "cases": [{**case, **changes}]}
    (folder / "cases.json").write_text(json.dumps(whole))
    return folder


def test_our_own_journal_is_a_valid_case_and_a_wrong_expectation_ends_with_three(
    journal: Path,
) -> None:
    folder = write_case(journal, expect="valid", hash_chain="prev_hash")
    assert bailiwick("check-cases", folder).returncode == 0
    for wrong in ({"expect": "invalid", "reason": "entry_hash"}, {"kind": "unheard"}):
        done = bailiwick("check-cases", write_case(journal, **{"expect": "valid", **wrong}))
        assert done.returncode == 3
        assert "NO" in done.stdout
        assert "1 cases, 0 as expected, 1 not" in done.stderr


def test_a_folder_without_cases_is_a_usage_error(tmp_path: Path) -> None:
    done = bailiwick("check-cases", tmp_path)
    assert done.returncode == 2
    assert "cases.json" in done.stderr


def test_words_prints_the_page(tmp_path: Path) -> None:
    assert bailiwick("words").stdout == siem_page()


def test_a_folder_without_a_journal_is_a_usage_error(tmp_path: Path) -> None:
    done = bailiwick("verify", tmp_path)
    assert done.returncode == 2
    assert "journal.jsonl" in done.stderr


ENDLESS = """
import sys
from pathlib import Path
from bailiwick.journal import Context, RecordKind, SeedSigner
from bailiwick.store import JournalWriter

journal = JournalWriter(
    Path(sys.argv[1]), SeedSigner("log.example/fleet", bytes(range(32))), checkpoint_every=100
)
who = Context("scheduler", "req-7", tenant="acme")
while journal.size < 1_000_000:
    for _ in range(64):
        body = {"lease_id": journal.size, "generation": 2, "expires_ms": 9_000}
        journal.append(RecordKind.LEASE_RENEWED, who, at_ms=journal.size, body=body)
    print(journal.commit(), flush=True)
"""


def test_a_killed_writer_loses_nothing_that_it_had_answered(tmp_path: Path) -> None:
    answered = 0
    for turn in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", ENDLESS, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        for _ in range(7 + turn):
            answered = int(writer.stdout.readline())
        writer.kill()
        rest = writer.stdout.read().splitlines()
        writer.wait()
        answered = int(rest[-1]) if rest and rest[-1].isdigit() else answered
        with JournalWriter(tmp_path, SIGNER) as journal:
            assert journal.recovery.size >= answered
    assert bailiwick("verify", tmp_path, "--vkey", VKEY).returncode == 0
