"""A journal on disk: what is durable, what a crash leaves, and what is refused."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from bailiwick.journal import (
    Changed,
    Context,
    Malformed,
    RecordKind,
    RefusedCheckpoint,
    SeedSigner,
    Truncated,
    Verified,
    VerifierKey,
    parse_vkey,
)
from bailiwick.store import (
    JournalDamaged,
    JournalDirectory,
    JournalWriter,
    Proven,
    TileDiffers,
    Unproven,
    check_proof,
    describe,
    load_or_create_key,
    parse_proof,
    prove_record,
    read_anchor,
    read_lines,
    verify_directory,
    verify_file,
)
from bailiwick.store.journal import writer
from bailiwick.vocab.errors import Conflict, InvalidValue

SIGNER = SeedSigner("log.example/fleet", bytes(range(32)))
WHO = Context("scheduler", "req-7", tenant="acme")


def add(journal: JournalWriter, count: int, *, salt: int = 0) -> None:
    for _ in range(count):
        seq = journal.size
        body = {"lease_id": seq + salt, "generation": 2, "expires_ms": 9_000}
        journal.append(RecordKind.LEASE_RENEWED, WHO, at_ms=1_000 + seq, body=body)
    journal.commit()


def make(path: Path, count: int, *, salt: int = 0, **options: Any) -> JournalDirectory:
    with JournalWriter(path, SIGNER, **options) as journal:
        add(journal, count, salt=salt)
    return JournalDirectory(path)


def crash(journal: JournalWriter) -> None:
    """Let go without committing or signing anything, as a killed process does."""
    journal._let_go()


def judge(places: JournalDirectory) -> object:
    return verify_directory(places, read_lines(places.journal))


def test_what_was_written_verifies_and_is_covered_by_the_checkpoint(tmp_path: Path) -> None:
    places = make(tmp_path, 600)
    verdict = judge(places)
    assert isinstance(verdict, Verified)
    assert (verdict.count, verdict.signed_size) == (600, 600)
    assert verdict.anchor == read_anchor(places.anchor)
    assert parse_vkey(places.vkey.read_text().strip()) == VerifierKey.of(SIGNER)


def test_writing_goes_on_over_many_openings_as_if_it_were_one(tmp_path: Path) -> None:
    for count in (1, 254, 1, 1, 300, 0, 43):
        with JournalWriter(tmp_path / "many", SIGNER) as journal:
            add(journal, count)
    one, many = make(tmp_path / "one", 600), JournalDirectory(tmp_path / "many")
    assert isinstance(judge(many), Verified)
    for name in ("journal.jsonl", "checkpoint", "anchor", "tile/0/001", "tile/entries/000"):
        assert many.read(name) == one.read(name), name


def test_nothing_is_in_the_file_before_commit_and_discard_forgets(tmp_path: Path) -> None:
    with JournalWriter(tmp_path, SIGNER) as journal:
        body = {"lease_id": 1, "generation": 2, "expires_ms": 9_000}
        journal.append(RecordKind.LEASE_RENEWED, WHO, at_ms=5, body=body)
        assert (tmp_path / "journal.jsonl").read_bytes() == b""
        journal.discard()
        assert journal.commit() == 0
        journal.append(RecordKind.LEASE_RENEWED, WHO, at_ms=5, body=body)
        assert journal.commit() == 1


def test_an_error_in_the_block_forgets_the_batch_but_not_what_was_committed(tmp_path: Path) -> None:
    def fail() -> None:
        with JournalWriter(tmp_path, SIGNER) as journal:
            add(journal, 3)
            body = {"lease_id": 1, "generation": 2, "expires_ms": 9_000}
            journal.append(RecordKind.LEASE_RENEWED, WHO, at_ms=5_000, body=body)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert len(list(read_lines(tmp_path / "journal.jsonl"))) == 3


def test_one_commit_is_one_write_and_one_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = JournalWriter(tmp_path, SIGNER)
    calls = []
    real_write, real_sync = os.write, os.fdatasync
    monkeypatch.setattr(
        os, "write", lambda file, data: calls.append("write") or real_write(file, data)
    )
    monkeypatch.setattr(os, "fdatasync", lambda file: calls.append("sync") or real_sync(file))
    add(journal, 64)
    assert calls == ["write", "sync"]
    journal.close()


def test_a_write_that_fails_takes_the_batch_back_and_ends_the_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = JournalWriter(tmp_path, SIGNER)
    add(journal, 3)
    before = (tmp_path / "journal.jsonl").read_bytes()

    def fail(_: int) -> None:
        raise OSError(28, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", fail)
        with pytest.raises(OSError, match="no space"):
            add(journal, 2)
    assert (tmp_path / "journal.jsonl").read_bytes() == before
    with pytest.raises(Conflict, match="open it again"):
        add(journal, 1)
    journal.close()
    assert make(tmp_path, 1).journal.read_bytes().startswith(before)


def test_a_second_writer_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    first = JournalWriter(tmp_path, SIGNER)
    with pytest.raises(Conflict, match="another writer"):
        JournalWriter(tmp_path, SIGNER)
    first.close()
    JournalWriter(tmp_path, SIGNER).close()


def test_a_checkpoint_is_written_every_so_many_records(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path, SIGNER, checkpoint_every=10)
    add(journal, 9)
    assert journal.signed_size == 0
    add(journal, 3)
    assert journal.signed_size == 12
    crash(journal)


# --- after a crash -----------------------------------------------------------------------------


def test_a_torn_last_line_is_cut_off_at_every_byte_and_no_record_is_lost(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "a", SIGNER)
    add(journal, 3)
    crash(journal)
    whole = (tmp_path / "a" / "journal.jsonl").read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    for end in range(start, len(whole) + 1):
        path = tmp_path / f"b{end}"
        path.mkdir()
        (path / "journal.jsonl").write_bytes(whole[:end])
        reopened = JournalWriter(path, SIGNER)
        is_whole = end == len(whole)
        assert reopened.recovery.size == (3 if is_whole else 2)
        assert reopened.recovery.torn_bytes == (0 if is_whole else end - start)
        add(reopened, 1)
        crash(reopened)
        assert isinstance(verify_file(read_lines(path / "journal.jsonl")), Verified)


@pytest.mark.parametrize(
    "tail", [b"\0" * 5_000, b'{"actor":"s\0\0\0\n', b"\0\n\0\n{", b"x" * 99_999]
)
def test_a_tail_that_a_file_system_left_is_cut_off(tmp_path: Path, tail: bytes) -> None:
    places = make(tmp_path, 5)
    whole = places.journal.read_bytes()
    places.journal.write_bytes(whole + tail)
    journal = JournalWriter(tmp_path, SIGNER)
    assert (journal.recovery.size, journal.recovery.torn_bytes) == (5, len(tail))
    journal.close()
    assert places.journal.read_bytes() == whole


def test_a_checkpointed_record_that_is_torn_is_refused_not_cut(tmp_path: Path) -> None:
    places = make(tmp_path, 5)
    torn = places.journal.read_bytes()[:-1]
    places.journal.write_bytes(torn)
    with pytest.raises(JournalDamaged) as refused:
        JournalWriter(tmp_path, SIGNER)
    assert refused.value.finding == Truncated(4, 5)
    assert places.journal.read_bytes() == torn


def test_a_malformed_line_that_was_whole_is_refused(tmp_path: Path) -> None:
    places = make(tmp_path, 5)
    with places.journal.open("ab") as file:
        file.write(b"{}\n")
    with pytest.raises(JournalDamaged) as refused:
        JournalWriter(tmp_path, SIGNER)
    assert isinstance(refused.value.finding, Malformed)
    assert "record 5" in str(refused.value)


def test_damage_before_a_torn_tail_is_refused_and_nothing_is_cut(tmp_path: Path) -> None:
    places = make(tmp_path, 5)
    data = places.journal.read_bytes().replace(b'"lease_id":2', b'"lease_id":7') + b'{"act'
    places.journal.write_bytes(data)
    with pytest.raises(JournalDamaged) as refused:
        JournalWriter(tmp_path, SIGNER)
    assert refused.value.finding == Changed(2)
    assert places.journal.read_bytes() == data


STEPS = ("tiles", "anchor", "checkpoint")


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_at_any_step_of_a_checkpoint_is_recovered(
    tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, 300)
    journal = JournalWriter(tmp_path, SIGNER)
    add(journal, 300)
    real_tiles, real_replace = writer._write_tiles, writer.replace_file

    def tiles(places: JournalDirectory, files: Any) -> None:
        kept = list(files)
        real_tiles(places, kept[: len(kept) // 2] if step == "tiles" else kept)
        if step == "tiles":
            raise KeyboardInterrupt

    def replace(path: Path, data: bytes, **options: Any) -> None:
        if path.name == step:
            raise KeyboardInterrupt
        real_replace(path, data, **options)

    with monkeypatch.context() as patch:
        patch.setattr(writer, "_write_tiles", tiles)
        patch.setattr(writer, "replace_file", replace)
        with pytest.raises(KeyboardInterrupt):
            journal.checkpoint()
    crash(journal)
    assert isinstance(judge(JournalDirectory(tmp_path)), Verified)
    with JournalWriter(tmp_path, SIGNER) as again:
        assert again.recovery.size == 600
    verdict = judge(JournalDirectory(tmp_path))
    assert isinstance(verdict, Verified)
    assert verdict.signed_size == 600


def test_no_size_is_signed_with_two_roots(tmp_path: Path) -> None:
    """The anchor was written, then the journal was swapped for one of the same length."""
    places = make(tmp_path / "a", 20)
    other = make(tmp_path / "b", 20, salt=1)
    places.checkpoint.unlink()
    shutil.copy(other.journal, places.journal)
    with pytest.raises(JournalDamaged, match="checkpoint mismatch"):
        JournalWriter(tmp_path / "a", SIGNER)
    assert not places.checkpoint.exists()


@pytest.mark.parametrize("name", ["0/000", "entries/000", "0/001.p/44", "entries/001.p/44"])
@pytest.mark.parametrize("left", [None, b"", b"junk"])
def test_tiles_that_do_not_fit_are_laid_out_again(
    tmp_path: Path, name: str, left: bytes | None
) -> None:
    places = make(tmp_path, 300)
    expected = {path: path.read_bytes() for path in tmp_path.glob("tile/**/*") if path.is_file()}
    path = tmp_path / "tile" / name
    path.unlink()
    if left is not None:
        path.write_bytes(left)
    assert isinstance(judge(places), TileDiffers)
    with JournalWriter(tmp_path, SIGNER) as journal:
        assert journal.recovery.tiles_rebuilt
        add(journal, 1)
    assert isinstance(judge(places), Verified)
    assert (tmp_path / "tile/0/000").read_bytes() == expected[tmp_path / "tile/0/000"]


def test_another_key_than_the_one_that_signed_is_refused(tmp_path: Path) -> None:
    make(tmp_path, 3)
    with pytest.raises(JournalDamaged) as refused:
        JournalWriter(tmp_path, SeedSigner(SIGNER.name, bytes(32)))
    assert isinstance(refused.value.finding, RefusedCheckpoint)


# --- reading, tiles, keys, proofs --------------------------------------------------------------


def test_a_line_longer_than_any_record_costs_no_memory_and_is_refused(tmp_path: Path) -> None:
    places = make(tmp_path, 2)
    with places.journal.open("ab") as file:
        file.write(b"x" * 300_000 + b"\n")
    lines = list(read_lines(places.journal))
    assert [len(line) < 70_000 for line in lines] == [True] * 3
    assert isinstance(verify_file(lines), Malformed)


@pytest.mark.parametrize("name", ["tile/0/000", "tile/entries/001", "tile/1/000.p/2"])
@pytest.mark.parametrize("is_missing", [True, False])
def test_a_tile_that_is_missing_or_differs_is_named(
    tmp_path: Path, name: str, is_missing: bool
) -> None:
    places = make(tmp_path, 520)
    path = tmp_path / name
    data = bytearray(path.read_bytes())
    data[3] ^= 1
    path.unlink()
    if not is_missing:
        path.write_bytes(data)
    verdict = judge(places)
    assert isinstance(verdict, TileDiffers)
    assert (verdict.path, verdict.is_missing) == (name, is_missing)
    assert name in describe(verdict)


def test_partial_tiles_are_removed_once_the_full_one_is_published(tmp_path: Path) -> None:
    make(tmp_path, 100)
    assert (tmp_path / "tile/0/000.p/100").exists()
    make(tmp_path, 200)
    assert not (tmp_path / "tile/0/000.p").exists()
    assert (tmp_path / "tile/0/000").exists()


def test_a_log_that_was_cut_and_one_that_was_rewritten_differ_from_a_kept_anchor(
    tmp_path: Path,
) -> None:
    places = make(tmp_path / "a", 20)
    anchor = read_anchor(places.anchor)
    lines = list(read_lines(places.journal))
    rewritten = list(read_lines(make(tmp_path / "b", 20, salt=1).journal))
    longer = list(read_lines(make(tmp_path / "a", 5).journal))
    assert verify_file(lines[:15]) == verify_file(lines[:15], None)
    assert verify_file(lines[:15], anchor) == Truncated(15, 20)
    assert not isinstance(verify_file(rewritten, anchor), Verified)
    assert isinstance(verify_file(longer, anchor), Verified)
    resumed = verify_file(longer[20:], anchor)
    assert isinstance(resumed, Verified)
    assert resumed.count == 5


def test_a_key_file_is_its_owners_alone_and_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "log.key"
    made = load_or_create_key(path, "log.example/fleet")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]
    assert load_or_create_key(path, "log.example/fleet").public_key == made.public_key
    with pytest.raises(InvalidValue, match="named other"):
        load_or_create_key(path, "other")
    path.chmod(0o640)
    with pytest.raises(InvalidValue, match="0o600"):
        load_or_create_key(path, "log.example/fleet")


@pytest.mark.parametrize("text", ["", "PRIVATE+KEY+log+00000000+AAAA", "x" * 100])
def test_a_file_that_is_no_key_is_refused_without_quoting_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.key"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(InvalidValue) as refused:
        load_or_create_key(path, "log")
    assert text == "" or text not in str(refused.value)


@pytest.mark.parametrize("seq", [0, 255, 256, 519])
def test_a_proof_goes_through_its_file_and_holds(tmp_path: Path, seq: int) -> None:
    key = VerifierKey.of(SIGNER)
    text = prove_record(make(tmp_path, 520), seq, key=key).text
    proof = parse_proof(text)
    assert proof.text == text
    result = check_proof(proof, key)
    assert isinstance(result, Proven)
    assert (result.record.seq, result.checkpoint.size) == (seq, 520)


def test_a_proof_of_another_log_a_changed_record_or_place_proves_nothing(tmp_path: Path) -> None:
    key = VerifierKey.of(SIGNER)
    one = prove_record(make(tmp_path / "a", 40), 7, key=key)
    two = prove_record(make(tmp_path / "b", 40, salt=1), 7, key=key)
    crossed = [
        one.text.replace(one.checkpoint, two.checkpoint),
        one.text.replace(b"index 7", b"index 8"),
        one.text.replace(one.text.split(b"\n")[1], two.text.split(b"\n")[1]),
    ]
    for text in crossed:
        assert text != one.text
        assert isinstance(check_proof(parse_proof(text), key), Unproven)
    stranger = VerifierKey.of(SeedSigner(SIGNER.name, bytes(32)))
    assert check_proof(one, stranger).word == "unknown_key"  # type: ignore[union-attr]


@pytest.mark.parametrize("text", [b"", b"c2sp.org/tlog-proof@v1\n", b"\xff\n\n", b"x" * 10_000])
def test_what_is_no_proof_is_refused(text: bytes) -> None:
    with pytest.raises(InvalidValue):
        parse_proof(text)
