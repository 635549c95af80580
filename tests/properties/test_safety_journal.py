"""Safety of the journal: no change goes unnoticed, no other bytes pass, no foreign proof holds."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import rfc8785
from hypothesis import assume, given
from hypothesis import strategies as st

from bailiwick.journal import (
    Added,
    Batch,
    Changed,
    CheckpointMismatch,
    Collector,
    Finding,
    Frontier,
    MemoryTree,
    ProofFails,
    ProofHolds,
    Record,
    RecordKind,
    RecordRefused,
    Removed,
    Reordered,
    Truncated,
    Verified,
    leaf_hash,
    parse_record,
    prove_consistency,
    prove_inclusion,
    root_of,
    verify_consistency,
    verify_inclusion,
    verify_lines,
)
from bailiwick.journal.record import encode_json
from bailiwick.journal.shapes import glance
from tests.unit.journal.makers import checkpoint_of, make_log, records

COUNT = 40
LOGS = [make_log(COUNT), make_log(COUNT, salt=1_000)]
(CHAIN, LINES), (_, OTHER) = LOGS
HEAD = checkpoint_of(CHAIN)
MIDDLE = checkpoint_of(make_log(17)[0])
places = st.integers(0, COUNT - 1)

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(st.characters(max_codepoint=127)), inner, max_size=5)
    ),
    max_leaves=20,
)


# --- canonical bytes ---------------------------------------------------------------------------


@given(json_values)
def test_our_encoder_agrees_with_an_independent_rfc8785_on_any_value(value: Any) -> None:
    assert encode_json(value).encode() == rfc8785.dumps(value)


@given(records())
def test_canonical_bytes_of_any_record_agree_with_an_independent_rfc8785(record: Record) -> None:
    values: dict[str, Any] = {
        "seq": record.seq,
        "at_ms": record.at_ms,
        "kind": str(record.kind),
        "tenant": record.tenant,
        "project": record.project,
        "actor": record.actor,
        "correlation_id": record.correlation_id,
        "body": {name: _plain(value) for name, value in record.body.items()},
        "prev_hash": record.prev_hash,
    }
    assert record.canonical == rfc8785.dumps(values)
    assert parse_record(record.canonical) == record


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return value
    return {str(key): amount for key, amount in value.items()}


@given(records())
def test_a_shape_sees_in_a_record_what_parsing_sees(record: Record) -> None:
    seen = glance(record.canonical)
    assert seen is None or seen == record.link


@given(records())
def test_ordinary_records_are_recognised_by_their_shape(record: Record) -> None:
    raw = record.canonical
    unusual = b"\\" in raw or any(len(digits) > 15 for digits in _numbers(raw))
    assert unusual or glance(raw) is not None


def _numbers(raw: bytes) -> list[bytes]:
    for char in (b":", b",", b"[", b"]", b"}", b"-"):
        raw = raw.replace(char, b" ")
    return [word for word in raw.split() if word.isdigit()]


@given(records(), st.data())
def test_whatever_a_shape_recognises_parsing_accepts(record: Record, data: Any) -> None:
    raw = _mutate(bytearray(record.canonical), data)
    seen = glance(raw)
    try:
        parsed = parse_record(raw)
    except RecordRefused:
        assert seen is None
        return
    assert parsed.canonical == raw
    assert seen is None or seen == parsed.link


_PIECES = [b'"', b"{", b"}", b",", b":", b"0", b"-", b"\\", b" ", b"null", b"{}", b"[]", b"\xc3"]
_PIECES += [f'"{name}":'.encode() for kind in RecordKind for name in kind.body.required]


def _mutate(raw: bytearray, data: Any) -> bytes:
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.integers(0, len(raw)))
        length = data.draw(st.integers(0, 12))
        raw[place : place + length] = data.draw(
            st.sampled_from(_PIECES) | st.binary(max_size=2) | st.just(bytes(raw[:0]))
        )
    return bytes(raw)


# --- one mutation of a log, and its name -------------------------------------------------------


def find(lines: list[bytes]) -> Finding:
    """What verification says of a damaged log; that it is good is never an answer."""
    result = verify_lines(lines, checkpoints=[MIDDLE, HEAD])
    assert not isinstance(result, Verified)
    assert result.seq <= COUNT
    return result


@given(places, st.data())
def test_a_flipped_bit_is_detected_and_its_record_named(number: int, data: Any) -> None:
    line = LINES[number]
    place = data.draw(st.integers(0, len(line) - 1))
    bit = 1 << data.draw(st.integers(0, 7))
    flipped = line[:place] + bytes([line[place] ^ bit]) + line[place + 1 :]
    finding = find(_cut_into_lines(b"".join([*LINES[:number], flipped, *LINES[number + 1 :]])))
    if isinstance(finding, CheckpointMismatch):
        assert finding.seq <= number < finding.size
    elif number == COUNT - 1:
        # The last record's link has no witness but the record before it.
        assert finding.seq in (number - 1, number)
    else:
        assert finding.seq == number


def _cut_into_lines(data: bytes) -> list[bytes]:
    """What iterating over a file of these bytes gives."""
    whole, _, last = data.rpartition(b"\n")
    return [part + b"\n" for part in whole.split(b"\n")] + ([last] if last else [])


@given(places, st.integers(1, COUNT))
def test_a_cut_is_named_with_what_is_missing(start: int, count: int) -> None:
    finding = find(LINES[:start] + LINES[start + count :])
    if start + count >= COUNT:
        assert finding == Truncated(start, COUNT)
    else:
        assert finding == Removed(start, start + count)


@given(places, places)
def test_a_swap_is_reordering(first: int, second: int) -> None:
    assume(first < second)
    lines = list(LINES)
    lines[first], lines[second] = lines[second], lines[first]
    assert find(lines) == Reordered(first, second)


@given(places, places)
def test_an_inserted_record_of_another_log_is_added(place: int, number: int) -> None:
    assert find([*LINES[:place], OTHER[number], *LINES[place:]]) == Added(place, number)


@given(places, st.binary(max_size=80))
def test_an_inserted_line_of_anything_is_added(place: int, junk: bytes) -> None:
    line = junk.replace(b"\n", b"") + b"\n"
    assert find([*LINES[:place], line, *LINES[place:]]) == Added(place, None)


@given(places, places, st.integers(1, 10))
def test_a_replayed_stretch_is_added(place: int, start: int, count: int) -> None:
    assume(start < place)
    stretch = LINES[start : min(start + count, place)]
    assert find(LINES[:place] + stretch + LINES[place:]) == Added(place, start)


@given(places, st.integers(0, 400))
def test_a_truncated_log_is_named_even_within_a_line(size: int, length: int) -> None:
    piece = LINES[size][: min(length, len(LINES[size]) - 1)]
    assert find([*LINES[:size], *([piece] if piece else [])]) == Truncated(size, COUNT)


@given(st.integers(1, COUNT - 1), st.integers(1, COUNT - 1))
def test_two_logs_spliced_are_found_at_the_seam(cut: int, resumed: int) -> None:
    finding = find(LINES[:cut] + OTHER[resumed:])
    if cut == resumed:
        # A checkpoint that agreed vouches for what is below the seam; else the successor decides.
        assert finding == Changed(cut if cut == MIDDLE.size else cut - 1)
    elif resumed > cut:
        assert finding == Removed(cut, resumed)
    else:
        assert finding == Added(cut, resumed)


@given(st.data())
def test_no_sequence_of_edits_passes_as_the_log(data: Any) -> None:
    lines = list(LINES)
    for _ in range(data.draw(st.integers(1, 6))):
        data.draw(st.sampled_from(EDITS))(lines, data)
    assume(lines != LINES)
    result = verify_lines(lines, checkpoints=[HEAD])
    if isinstance(result, Verified):
        # Only records after everything that was signed can have been added.
        assert lines[:COUNT] == LINES
        assert result.signed_size == COUNT
    else:
        agreeing = next(
            (i for i, (a, b) in enumerate(zip(lines, LINES, strict=False)) if a != b),
            min(len(lines), COUNT),
        )
        # Nothing before the finding is bad; two neighbours changed may hide the earlier.
        assert result.seq <= agreeing + 1


def _drop(lines: list[bytes], data: Any) -> None:
    if lines:
        del lines[data.draw(st.integers(0, len(lines) - 1))]


def _insert(lines: list[bytes], data: Any) -> None:
    line = data.draw(st.sampled_from(LINES + OTHER + [b"\n", b"{}\n"]))
    lines.insert(data.draw(st.integers(0, len(lines))), line)


def _swap(lines: list[bytes], data: Any) -> None:
    if lines:
        index = st.integers(0, len(lines) - 1)
        a, b = data.draw(index), data.draw(index)
        lines[a], lines[b] = lines[b], lines[a]


def _replace(lines: list[bytes], data: Any) -> None:
    if lines:
        lines[data.draw(st.integers(0, len(lines) - 1))] = data.draw(st.sampled_from(OTHER))


EDITS: list[Callable[[list[bytes], Any], None]] = [_drop, _insert, _swap, _replace]


@given(st.data())
def test_a_collector_never_moves_over_a_bad_batch(data: Any) -> None:
    collector = Collector()
    for _ in range(data.draw(st.integers(1, 5))):
        size = collector.anchor.size
        batch = LINES[size : size + data.draw(st.integers(0, 12))]
        edited = list(batch)
        data.draw(st.sampled_from([*EDITS, lambda lines, data: None]))(edited, data)
        before = collector.anchor
        result = collector.ingest(edited)
        if isinstance(result, Batch):
            assert [r.canonical + b"\n" for r in result.records] == edited
            assert collector.anchor.size == before.size + len(edited)
            # Unsigned, the chain cannot tell a shorter batch or a last record replaced by a twin.
            assert edited[:-1] == LINES[size : size + len(edited)][:-1]
            break
        assert collector.anchor == before


# --- the tree ----------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=8), min_size=1, max_size=70), st.data())
def test_proofs_hold_in_their_own_log_and_in_no_other(entries: list[bytes], data: Any) -> None:
    leaves = [leaf_hash(entry) for entry in entries]
    tree = MemoryTree(leaves)
    size = data.draw(st.integers(1, len(entries)))
    index = data.draw(st.integers(0, size - 1))
    changed = data.draw(st.integers(0, size - 1))
    other_leaves = list(leaves)
    other_leaves[changed] = sha256(b"another").digest()
    other = MemoryTree(other_leaves)
    proof = prove_inclusion(tree, index, size=size)
    root, other_root = root_of(tree, size), root_of(other, size)
    assert root != other_root
    assert verify_inclusion(leaves[index], proof, root=root) == ProofHolds(size)
    assert isinstance(verify_inclusion(leaves[index], proof, root=other_root), ProofFails)
    consistency = prove_consistency(tree, size, new_size=len(entries))
    new_root = root_of(tree, len(entries))
    assert verify_consistency(consistency, old_root=root, new_root=new_root) == ProofHolds(
        len(entries)
    )
    forked = verify_consistency(consistency, old_root=other_root, new_root=new_root)
    assert isinstance(forked, ProofFails)


@given(st.lists(st.binary(min_size=32, max_size=32), max_size=300), st.data())
def test_a_frontier_can_be_put_away_and_taken_up_anywhere(leaves: list[bytes], data: Any) -> None:
    tree = Frontier()
    stop = data.draw(st.integers(0, len(leaves)))
    for leaf in leaves[:stop]:
        tree.append(leaf)
    tree = Frontier(tree.size, tree.hashes)
    for leaf in leaves[stop:]:
        tree.append(leaf)
    assert tree.root() == root_of(MemoryTree(leaves), len(leaves))
