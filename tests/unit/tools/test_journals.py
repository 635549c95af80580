"""Tools read journals for programs: they tell a reporter, raise, and print nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bailiwick.journal import Context, RecordKind, SeedSigner, Verified, VerifierKey
from bailiwick.store import JournalWriter
from bailiwick.tools import journals
from bailiwick.tools.errors import NotAsSealed
from bailiwick.tools.record_source import open_source, parse_moment
from bailiwick.tools.reporter import Reporter, Step
from bailiwick.vocab.errors import InvalidValue, NotFound

SIGNER = SeedSigner("log.example/fleet", bytes(range(32)))
TOOLS = Path(journals.__file__).parent


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    with JournalWriter(tmp_path / "journal", SIGNER) as log:
        for seq in range(20):
            who = Context("scheduler", f"req-{seq}", tenant=("acme", "globex")[seq % 2])
            body = {"lease_id": seq, "generation": 2, "expires_ms": 9_000}
            log.append(RecordKind.LEASE_RENEWED, who, at_ms=1_000 * seq, body=body)
        log.commit()
    return tmp_path / "journal"


def test_a_sound_journal_is_read_whole_and_in_silence(
    journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_source(str(journal)) as source:
        assert [record.seq for record in source.records()] == [*range(20)]
        assert source.end_ms == 19_000
        assert parse_moment("-2s", source).at_ms == 17_000
    assert isinstance(journals.judge(journal), Verified)
    assert capsys.readouterr() == ("", "")


def test_a_damaged_journal_is_raised_with_its_place(journal: Path) -> None:
    file = journal / "journal.jsonl"
    file.write_bytes(file.read_bytes().replace(b"req-7", b"req-8"))
    with pytest.raises(NotAsSealed, match=r"journal: "), open_source(str(journal)):
        pass
    with pytest.raises(NotAsSealed):
        next(journals.verified_records(journal))


def test_a_torn_line_is_warned_of_and_what_comes_before_is_given_out(journal: Path) -> None:
    with (journal / "journal.jsonl").open("ab") as file:
        file.write(b'{"half')
    warned: list[str] = []
    with open_source(str(journal), Reporter(warn=warned.append)) as source:
        assert source.size == 20
    assert len(warned) == 1
    assert warned[0].startswith(f"{journal}: ")


def test_a_reporter_is_told_how_far_the_reading_is(journal: Path) -> None:
    told: list[tuple[str, int]] = []

    @contextmanager
    def progress(what: str, total: int) -> Iterator[Step]:
        told.append((what, total))
        yield lambda done: None

    from bailiwick.tools.invoices import read_money

    with open_source(str(journal), Reporter(progress=progress)) as source:
        read_money(source)
    assert told == [("reading prices", 20)]


def test_only_wanted_records_are_kept_and_all_of_them_counted(journal: Path) -> None:
    wanted = journals.Wanted(tenant="acme")
    kept, count = journals.last_records(journal, wanted, limit=3)
    assert [record.seq for record in kept] == [14, 16, 18]
    assert count == 10
    assert journals.last_records(journal, journals.Wanted(lease=7), limit=3)[1] == 1
    with pytest.raises(InvalidValue, match="kind"):
        journals.Wanted(kind="nonsense")


def test_a_proof_is_checked_by_whoever_has_the_key(journal: Path, tmp_path: Path) -> None:
    proof, _ = journals.prove(journal, 5)
    file = tmp_path / "proof"
    file.write_bytes(proof.text)
    found, key = journals.check_proof(file, str(VerifierKey.of(SIGNER)))
    assert (found.record.seq, key.name) == (5, "log.example/fleet")
    file.write_bytes(proof.text.replace(b"index 5", b"index 6"))
    with pytest.raises(NotAsSealed):
        journals.check_proof(file, str(VerifierKey.of(SIGNER)))


def test_a_place_without_a_journal_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound), open_source(str(tmp_path)):
        pass


def test_no_tool_prints() -> None:
    called = {
        f"{path.name}:{node.lineno}"
        for path in TOOLS.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("print", "sys.stdout.write")
    }
    assert not called
