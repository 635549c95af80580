"""Each way a log can depart from what was sealed is noticed, and called by its name."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest

from bailiwick.journal import (
    GENESIS,
    Added,
    Chain,
    Changed,
    Checkpoint,
    CheckpointMismatch,
    Context,
    Finding,
    FindingWord,
    Malformed,
    Record,
    RecordFault,
    RecordKind,
    Removed,
    Reordered,
    TimeWentBack,
    Torn,
    Truncated,
    Verified,
    Verifier,
    parse_record,
    verify_lines,
)
from bailiwick.vocab.errors import InvalidValue
from tests.unit.journal.makers import (
    LEASE_BODY,
    ORIGIN,
    checkpoint_of,
    make_log,
    make_record,
    seal_one,
)

COUNT = 12
CHAIN, LINES = make_log(COUNT)
OTHER = make_log(COUNT, salt=1_000)[1]
HEAD = checkpoint_of(CHAIN)


def edited(line: bytes, old: bytes, new: bytes) -> bytes:
    assert line.count(old) == 1
    return line.replace(old, new)


def found(lines: list[bytes], *checkpoints: Checkpoint) -> Finding:
    result = verify_lines(lines, checkpoints=checkpoints)
    assert not isinstance(result, Verified)
    return result


def change(lines: list[bytes], number: int) -> list[bytes]:
    """The log with the body of one record changed, canonically."""
    new = edited(lines[number], b'"generation":2', b'"generation":3')
    return [*lines[:number], new, *lines[number + 1 :]]


# --- good logs ---------------------------------------------------------------------------------


def test_a_good_log_is_verified_to_its_root() -> None:
    result = verify_lines(LINES, checkpoints=[HEAD])
    assert result == Verified(COUNT, CHAIN.anchor(), CHAIN.root(), COUNT)


def test_an_empty_log_is_good() -> None:
    assert verify_lines([]) == Verified(0, GENESIS, GENESIS.root, 0)


def test_verification_resumes_at_any_anchor_and_in_any_pieces() -> None:
    for cut in range(COUNT + 1):
        first = verify_lines(LINES[:cut])
        assert isinstance(first, Verified)
        rest = verify_lines(LINES[cut:], first.anchor, checkpoints=[HEAD])
        assert rest == Verified(COUNT - cut, CHAIN.anchor(), CHAIN.root(), COUNT)
        verifier = Verifier()
        verifier.feed(LINES[:cut])
        assert verifier.count == cut
        verifier.feed(iter(LINES[cut:]))
        assert verifier.finish() == Verified(COUNT, CHAIN.anchor(), CHAIN.root(), 0)


def test_every_checkpoint_on_the_way_is_compared() -> None:
    chain = Chain()
    checkpoints = [checkpoint_of(chain)]
    for number in range(COUNT):
        seal_one(chain, number)
        checkpoints.append(checkpoint_of(chain))
    result = verify_lines(LINES, checkpoints=reversed(checkpoints))
    assert isinstance(result, Verified)
    assert result.signed_size == COUNT


def test_what_no_checkpoint_covers_is_told() -> None:
    result = verify_lines(LINES, checkpoints=[checkpoint_of(make_log(5)[0])])
    assert isinstance(result, Verified)
    assert (result.count, result.signed_size) == (COUNT, 5)


# --- changed -----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(COUNT - 1))
def test_a_changed_record_is_named(number: int) -> None:
    assert found(change(LINES, number)) == Changed(number)
    assert found(change(LINES, number), HEAD) == Changed(number)


def test_a_changed_last_record_is_noticed_by_the_checkpoint() -> None:
    lines = change(LINES, COUNT - 1)
    assert isinstance(verify_lines(lines), Verified)
    finding = found(lines, checkpoint_of(make_log(5)[0]), HEAD)
    assert isinstance(finding, CheckpointMismatch)
    assert (finding.seq, finding.size, finding.signed_root) == (5, COUNT, CHAIN.root())


def test_a_change_just_below_a_checkpoint_is_named_and_not_only_bounded() -> None:
    assert found(change(LINES, 4), checkpoint_of(make_log(5)[0]), HEAD) == Changed(4)


@pytest.mark.parametrize("number", range(COUNT - 1))
def test_a_changed_link_is_a_change_of_that_record(number: int) -> None:
    record = parse_record(LINES[number][:-1])
    line = edited(LINES[number], record.prev_hash.encode(), b"f" * 64)
    assert found([*LINES[:number], line, *LINES[number + 1 :]]) == Changed(number)


@pytest.mark.parametrize("number", range(COUNT))
@pytest.mark.parametrize("claimed", [0, 3, 11, 500])
def test_a_changed_number_is_a_change_of_that_record(number: int, claimed: int) -> None:
    line = edited(LINES[number], b'"seq":%d,' % number, b'"seq":%d,' % claimed)
    if claimed != number:
        assert found([*LINES[:number], line, *LINES[number + 1 :]]) == Changed(number)


def test_a_record_replaced_by_one_of_another_log_is_a_change() -> None:
    assert found([*LINES[:6], OTHER[6], *LINES[7:]]) == Changed(6)
    assert found([*LINES[:6], OTHER[9], *LINES[7:]]) == Changed(6)
    assert found([*LINES[:6], LINES[2], *LINES[7:]]) == Changed(6)


def test_a_log_continued_by_another_breaks_at_the_seam() -> None:
    # From the records alone it is the one before the seam that its successor does not know.
    assert found(LINES[:6] + OTHER[6:]) == Changed(5)
    anchor = make_log(6)[0].anchor()
    assert verify_lines(OTHER[6:], anchor) == Changed(6)


# --- removed, added, reordered -----------------------------------------------------------------


@pytest.mark.parametrize("start", range(COUNT - 1))
@pytest.mark.parametrize("count", [1, 2, 5])
def test_removed_records_are_named_and_counted(start: int, count: int) -> None:
    if start + count < COUNT:
        finding = found(LINES[:start] + LINES[start + count :])
        assert finding == Removed(start, start + count)
        assert isinstance(finding, Removed)
        assert finding.count == count


def test_a_removal_that_was_linked_over_is_a_removal() -> None:
    chain = Chain(make_log(5)[0].anchor())
    kept = parse_record(LINES[7][:-1])
    relinked = _renumbered(kept, seq=7, prev_hash=chain.anchor().hash)
    after = _renumbered(kept, seq=8, prev_hash=relinked.hash)
    lines = [*LINES[:5], relinked.canonical + b"\n", after.canonical + b"\n"]
    assert found(lines) == Removed(5, 7)


def _renumbered(record: Record, *, seq: int, prev_hash: str) -> Record:
    return make_record(seq=seq, prev_hash=prev_hash, at_ms=record.at_ms)


@pytest.mark.parametrize("place", range(COUNT + 1))
@pytest.mark.parametrize("copied", [0, 5, COUNT - 1])
def test_a_replayed_record_is_added(place: int, copied: int) -> None:
    if place != copied:
        lines = [*LINES[:place], LINES[copied], *LINES[place:]]
        assert found(lines) == Added(place, copied)


def test_a_replayed_stretch_is_added() -> None:
    assert found(LINES[:9] + LINES[4:]) == Added(9, 4)
    anchor = make_log(9)[0].anchor()
    assert verify_lines(LINES[4:], anchor) == Added(9, 4)


@pytest.mark.parametrize("place", range(COUNT))
def test_a_record_of_another_log_is_added(place: int) -> None:
    lines = [*LINES[:place], OTHER[5], *LINES[place:]]
    assert found(lines) == Added(place, 5)
    lines = [*LINES[:place], OTHER[place], *LINES[place:]]
    assert found(lines) == Added(place, place)


@pytest.mark.parametrize("place", range(COUNT))
def test_a_forged_record_with_the_right_link_is_added(place: int) -> None:
    forger = Chain(make_log(place)[0].anchor())
    forged = seal_one(forger, place, salt=77)
    lines = [*LINES[:place], forged, *LINES[place:]]
    assert found(lines) == Added(place, place)
    signed = checkpoint_of(make_log(place + 1)[0])
    assert found(lines, signed) == Added(place, place)


def test_of_two_rivals_the_next_record_tells_which_was_added() -> None:
    forged = seal_one(Chain(make_log(4)[0].anchor()), 4, salt=77)
    assert found([*LINES[:4], forged, *LINES[4:]]) == Added(4, 4)
    assert found([*LINES[:5], forged, *LINES[5:]]) == Added(5, 4)
    assert found([*LINES[:5], forged]) == Added(4, 4)


@pytest.mark.parametrize("place", range(COUNT))
def test_a_line_of_rubbish_is_added_or_malformed(place: int) -> None:
    assert found([*LINES[:place], b"rubbish\n", *LINES[place:]]) == Added(place, None)
    replaced = [*LINES[:place], b"rubbish\n", *LINES[place + 1 :]]
    assert found(replaced) == Malformed(place, RecordFault.NOT_JSON)


def test_records_appended_by_whoever_can_link_need_a_checkpoint_to_show() -> None:
    forger = Chain(CHAIN.anchor())
    result = verify_lines([*LINES, seal_one(forger, COUNT)], checkpoints=[HEAD])
    assert isinstance(result, Verified)
    assert (result.count, result.signed_size) == (COUNT + 1, COUNT)


@pytest.mark.parametrize("first", range(COUNT))
@pytest.mark.parametrize("second", range(COUNT))
def test_swapped_records_are_reordered(first: int, second: int) -> None:
    if first < second:
        lines = list(LINES)
        lines[first], lines[second] = lines[second], lines[first]
        assert found(lines) == Reordered(first, second)


@pytest.mark.parametrize("start", range(COUNT))
@pytest.mark.parametrize("end", range(COUNT))
def test_a_moved_record_is_reordered(start: int, end: int) -> None:
    if start != end:
        lines = list(LINES)
        lines.insert(end, lines.pop(start))
        first = min(start, end)
        assert found(lines) == Reordered(first, start if end < start else start + 1)


def test_a_reversed_log_is_reordered() -> None:
    assert found(LINES[::-1]) == Reordered(0, COUNT - 1)


# --- truncated, torn, malformed ----------------------------------------------------------------


@pytest.mark.parametrize("size", range(COUNT))
def test_a_log_shorter_than_its_checkpoint_is_truncated(size: int) -> None:
    assert found(LINES[:size], HEAD) == Truncated(size, COUNT)
    torn = [*LINES[:size], LINES[size][:50]]
    assert found(torn, HEAD) == Truncated(size, COUNT)


@pytest.mark.parametrize("size", range(COUNT))
def test_a_last_line_that_breaks_off_is_torn(size: int) -> None:
    for length in (0, 1, 50, len(LINES[size]) - 1):
        piece = LINES[size][:length]
        if piece:
            assert found([*LINES[:size], piece]) == Torn(size, length)
            covered = checkpoint_of(make_log(size)[0])
            assert found([*LINES[:size], piece], covered) == Torn(size, length)


def test_a_line_without_its_newline_in_the_middle_is_malformed() -> None:
    lines = [*LINES[:4], LINES[4][:-1], *LINES[5:]]
    assert found(lines) == Malformed(4, RecordFault.NO_NEWLINE)
    merged = [*LINES[:4], LINES[4][:-1] + LINES[5], *LINES[6:]]
    assert found(merged) == Malformed(4, RecordFault.TRAILING_DATA)


def test_white_space_and_other_spellings_are_malformed() -> None:
    spaced = edited(LINES[4], b'"seq":4', b'"seq": 4')
    assert found([*LINES[:4], spaced, *LINES[5:]]) == Malformed(4, RecordFault.NOT_CANONICAL)
    carriage = LINES[4][:-1] + b"\r\n"
    assert found([*LINES[:4], carriage, *LINES[5:]]) == Malformed(4, RecordFault.TRAILING_DATA)


# --- time and checkpoints ----------------------------------------------------------------------


def test_time_that_went_back_is_named() -> None:
    record = make_record(seq=COUNT, prev_hash=CHAIN.anchor().hash, at_ms=1)
    after = make_record(seq=COUNT + 1, prev_hash=record.hash, at_ms=1)
    back = TimeWentBack(COUNT, 1, 1_000 + COUNT - 1)
    assert found([*LINES, record.canonical + b"\n"]) == back
    assert found([*LINES, record.canonical + b"\n", after.canonical + b"\n"]) == back


def test_a_time_edited_backwards_is_a_change() -> None:
    line = edited(LINES[4], b'"at_ms":1004', b'"at_ms":4')
    assert found([*LINES[:4], line, *LINES[5:]]) == Changed(4)


def test_a_log_sealed_anew_from_some_point_is_caught_by_its_checkpoint() -> None:
    forger = Chain(make_log(7)[0].anchor())
    forged = LINES[:7] + [seal_one(forger, number, salt=5) for number in range(7, COUNT)]
    assert isinstance(verify_lines(forged), Verified)
    early = checkpoint_of(make_log(6)[0])
    finding = found(forged, early, HEAD)
    assert isinstance(finding, CheckpointMismatch)
    assert (finding.seq, finding.size) == (6, COUNT)
    assert finding.found_root == forger.root()


def test_two_checkpoints_of_one_size_cannot_both_be_true() -> None:
    split = Checkpoint(ORIGIN, COUNT, bytes(32))
    assert found(LINES, HEAD, split).code is FindingWord.CHECKPOINT_MISMATCH
    assert found(LINES, split, HEAD).code is FindingWord.CHECKPOINT_MISMATCH


def test_an_anchor_that_differs_from_its_checkpoint_is_a_mismatch() -> None:
    anchor = make_log(6)[0].anchor()
    other = checkpoint_of(make_log(6, salt=3)[0])
    for lines in ([], LINES[6:], OTHER[6:]):
        result = verify_lines(lines, anchor, checkpoints=[other])
        assert isinstance(result, CheckpointMismatch)
        assert (result.seq, result.size) == (6, 6)


def test_a_checkpoint_below_the_anchor_cannot_be_compared() -> None:
    with pytest.raises(InvalidValue):
        Verifier(CHAIN.anchor(), checkpoints=[checkpoint_of(make_log(5)[0])])


# --- the verifier itself -----------------------------------------------------------------------


def test_nothing_after_the_first_fault_is_vouched_for() -> None:
    verifier = Verifier()
    verifier.feed(LINES[:3])
    assert not verifier.is_suspicious
    verifier.feed(LINES[4:])
    assert verifier.is_suspicious
    assert verifier.count == 3
    assert verifier.finish() == Removed(3, 4)


def test_more_lines_help_to_name_what_was_found() -> None:
    verifier = Verifier()
    verifier.feed([*LINES[:3], LINES[4]])
    assert verifier.finish() == Removed(3, 4)
    verifier.feed([LINES[3], *LINES[5:]])
    assert verifier.finish() == Reordered(3, 4)


def test_records_of_every_unusual_spelling_are_verified_too() -> None:
    chain = Chain()
    who = Context("scheduler", "req-7", "acme")
    lines = []
    for note in ("plain", "naïve", 'a "quote"', "tab\t", "x" * 1024, "é" * 1024, "\u2028"):
        body = {"lease_id": 2**53 - 1, "node": "n", "note": note}
        lines.append(chain.seal(RecordKind.FENCE_CLEARED, who, at_ms=2**53 - 1, body=body).line)
    assert verify_lines(lines) == Verified(len(lines), chain.anchor(), chain.root(), 0)


def test_memory_does_not_grow_with_the_log() -> None:
    def stream(count: int) -> Iterator[bytes]:
        chain = Chain()
        who = Context("scheduler", "req-7", "acme")
        for _ in range(count):
            yield chain.seal(RecordKind.LEASE_RENEWED, who, at_ms=1, body=LEASE_BODY).line

    def peak(count: int) -> int:
        tracemalloc.start()
        try:
            assert isinstance(verify_lines(stream(count)), Verified)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(100)
    assert peak(4_000) < peak(300) + 16_384
