"""Published cases yield their verdicts, and so do the cases one would think of next."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from bailiwick.journal import (
    CaseReason,
    CaseVerdict,
    Checkpoint,
    Frontier,
    JudgedCase,
    SeedSigner,
    TileWriter,
    VerifierKey,
    encode_bundle,
    judge_case,
    leaf_hash,
    parse_bundle,
    sign_checkpoint,
)
from bailiwick.vocab.errors import InvalidValue, NotFound
from tests.unit.journal.makers import ORIGIN, SIGNER

Files = dict[str, bytes]
VKEY = str(VerifierKey.of(SIGNER))
CASE: dict[str, Any] = {
    "id": "x",
    "kind": "tlog",
    "log": "log",
    "vkey": VKEY,
    "checkpoint": "log/checkpoint",
    "hash_chain": "prev",
}
PAIR: dict[str, Any] = {
    "id": "x",
    "kind": "consistency",
    "log": "log",
    "vkey": VKEY,
    "old": "log/checkpoint.100",
    "new": "log/checkpoint",
}


def linked_entries(count: int, *, broken_at: int = -1, salt: str = "") -> list[bytes]:
    entries: list[bytes] = []
    before = "0" * 64
    for number in range(count):
        prev = "f" * 64 if number == broken_at else before
        entries.append(json.dumps({"seq": number, "prev": prev, "salt": salt}).encode())
        before = sha256(entries[-1]).hexdigest()
    return entries


def make_log(entries: list[bytes], *, signed_at: tuple[int, ...] = ()) -> Files:
    files, writer, tree = {}, TileWriter(), Frontier()
    for number, entry in enumerate(entries, 1):
        tree.append(leaf_hash(entry))
        made = writer.append(entry)
        if number == len(entries) or number in signed_at:
            made += writer.partial()
            note = sign_checkpoint(Checkpoint(ORIGIN, number, tree.root()), SIGNER)
            files[f"log/checkpoint.{number}"] = files["log/checkpoint"] = note
        files |= {f"log/{file.path}": file.data for file in made}
    return files


ENTRIES = linked_entries(600)
LOG = make_log(ENTRIES, signed_at=(100, 256, 300))


def reason(files: Files, case: dict[str, Any] = CASE) -> CaseReason | None:
    judged = judge_case(case, files.get)
    assert (judged.verdict is CaseVerdict.VALID) == (judged.reason is None)
    return judged.reason


def with_edit(path: str, position: int) -> Files:
    data = LOG[path]
    return LOG | {
        path: data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :],
    }


def test_every_shared_case_yields_the_verdict_written_there(shared_dir: Path) -> None:
    folder = shared_dir / "vectors" / "tlog"
    cases = json.loads((folder / "cases.json").read_text())["cases"]

    def read(path: str) -> bytes | None:
        return (folder / path).read_bytes() if (folder / path).is_file() else None

    assert len(cases) >= 11
    for case in cases:
        expected = (case["expect"], case["reason"])
        judged = judge_case(case, read)
        assert (judged.verdict, judged.reason) == expected, case["id"]


def test_every_checkpoint_of_the_other_implementation_is_valid(shared_dir: Path) -> None:
    folder = shared_dir / "vectors" / "tlog"
    cases = json.loads((folder / "cases.json").read_text())["cases"]
    vkey = next(case["vkey"] for case in cases if case["id"] == "tessera-15")
    for size in range(16):
        case = CASE | {"log": "tessera", "vkey": vkey, "hash_chain": None}
        case["checkpoint"] = f"tessera/checkpoint.{size}"
        judged = judge_case(case, _reader(folder))
        assert judged.verdict is CaseVerdict.VALID, size


def _reader(folder: Path) -> Any:
    return lambda path: (folder / path).read_bytes() if (folder / path).is_file() else None


@pytest.mark.parametrize("size", [100, 256, 300, 600])
def test_our_own_log_is_valid_at_every_signed_size(size: int) -> None:
    assert reason(LOG, CASE | {"checkpoint": f"log/checkpoint.{size}"}) is None
    assert reason(LOG, PAIR | {"new": f"log/checkpoint.{size}"}) is None


def test_an_empty_log_is_valid() -> None:
    note = sign_checkpoint(Checkpoint(ORIGIN, 0, sha256(b"").digest()), SIGNER)
    assert reason({"log/checkpoint": note}) is None
    wrong = sign_checkpoint(Checkpoint(ORIGIN, 0, bytes(32)), SIGNER)
    assert reason({"log/checkpoint": wrong}) is CaseReason.ROOT_MISMATCH


@pytest.mark.parametrize("path", ["tile/0/000", "tile/0/001", "tile/0/002.p/88", "tile/1/000.p/2"])
def test_an_edited_tile_gives_another_root(path: str) -> None:
    assert reason(with_edit(f"log/{path}", 40)) is CaseReason.ROOT_MISMATCH
    cut = LOG | {f"log/{path}": LOG[f"log/{path}"][:-1]}
    assert reason(cut) is CaseReason.ROOT_MISMATCH


@pytest.mark.parametrize("path", ["tile/entries/000", "tile/entries/002.p/88"])
def test_an_edited_entry_does_not_hash_to_its_leaf(path: str) -> None:
    assert reason(with_edit(f"log/{path}", 12)) is CaseReason.ENTRY_HASH
    cut = LOG | {f"log/{path}": LOG[f"log/{path}"][:-1]}
    assert reason(cut) is CaseReason.ENTRY_HASH


def test_swapped_and_missing_entries_do_not_hash_to_their_leaves() -> None:
    entries = list(parse_bundle(LOG["log/tile/entries/000"], width=256))
    entries[3], entries[4] = entries[4], entries[3]
    swapped = LOG | {"log/tile/entries/000": encode_bundle(entries)}
    assert reason(swapped) is CaseReason.ENTRY_HASH
    fewer = LOG | {"log/tile/entries/000": encode_bundle(entries[:-1])}
    assert reason(fewer) is CaseReason.ENTRY_HASH


@pytest.mark.parametrize("broken_at", [0, 7, 256, 599])
def test_a_log_signed_over_a_broken_chain_is_invalid(broken_at: int) -> None:
    files = make_log(linked_entries(600, broken_at=broken_at))
    assert reason(files) is CaseReason.HASH_CHAIN
    unlinked = {name: value for name, value in CASE.items() if name != "hash_chain"}
    assert reason(files, unlinked) is None


def test_entries_that_cannot_be_linked_break_the_chain() -> None:
    for entry in (b"not json", b"[1]", b'{"prev":7}', b"{}", b"\xff", b"[" * 60_000):
        assert reason(make_log([entry])) is CaseReason.HASH_CHAIN


@pytest.mark.parametrize("path", ["tile/0/001", "tile/1/000.p/2", "tile/entries/001"])
def test_a_missing_file_is_told(path: str) -> None:
    files = {name: data for name, data in LOG.items() if name != f"log/{path}"}
    assert reason(files) is CaseReason.MISSING_FILE


def test_a_forked_log_is_inconsistent() -> None:
    fork = make_log(linked_entries(100, salt="fork"))
    files = LOG | {"log/checkpoint.100": fork["log/checkpoint"]}
    assert reason(files, PAIR) is CaseReason.INCONSISTENT
    assert reason(LOG, PAIR | {"old": PAIR["new"], "new": PAIR["old"]}) is CaseReason.INCONSISTENT
    same_size = make_log(linked_entries(600, salt="fork"))["log/checkpoint"]
    files = LOG | {"log/other": same_size}
    assert reason(files, PAIR | {"old": "log/other"}) is CaseReason.INCONSISTENT


def test_tiles_that_are_not_those_of_the_new_checkpoint_are_told() -> None:
    assert reason(with_edit("log/tile/1/000.p/2", 40), PAIR) is CaseReason.ROOT_MISMATCH
    files = {name: data for name, data in LOG.items() if not name.endswith("p/88")}
    assert reason(files, PAIR) is CaseReason.MISSING_FILE


def test_signatures_and_keys_are_judged_first() -> None:
    for case in (CASE, PAIR):
        assert reason(with_edit("log/checkpoint", 20), case) is CaseReason.BAD_SIGNATURE
        other = str(VerifierKey.of(SeedSigner(ORIGIN, bytes(32))))
        assert reason(LOG, case | {"vkey": other}) is CaseReason.UNKNOWN_KEY
        assert reason(LOG, case | {"vkey": VKEY + "="}) is CaseReason.MALFORMED
    zero = "log.example/fleet+{}+AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    assert reason(LOG, CASE | {"vkey": zero.format("00000000")}) is CaseReason.WEAK_KEY
    note = LOG["log/checkpoint"].replace(b"\n\n", b"\n")
    assert reason(LOG | {"log/checkpoint": note}) is CaseReason.MALFORMED


def test_a_case_that_is_none_is_an_error_and_not_a_verdict() -> None:
    for wrong in (
        {"kind": "inclusionn"},
        {"kind": None},
        {"id": 7},
        {"vkey": None},
        {"log": ""},
        {"log": "../log"},
        {"log": "/log"},
        {"checkpoint": "log/../../x"},
        {"hash_chain": 3},
    ):
        with pytest.raises(InvalidValue):
            judge_case(CASE | wrong, LOG.get)
    with pytest.raises(NotFound):
        judge_case(CASE | {"checkpoint": "nowhere"}, LOG.get)


def test_fields_that_no_check_uses_are_told() -> None:
    judged = judge_case(CASE | {"note": "n", "expect": "valid", "colour": 1}, LOG.get)
    assert judged == JudgedCase("x", CaseVerdict.VALID, None, ("colour",))
