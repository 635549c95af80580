"""Each event of each source counts once, in order, and is acknowledged once it is durable."""

from __future__ import annotations

import pytest

from bailiwick.metering import sources as module
from bailiwick.metering.sources import (
    HELD_MAX,
    REMEMBERED_MAX,
    Begun,
    Conflicting,
    Due,
    Duplicate,
    Fenced,
    Forgotten,
    HeldBack,
    NotBegun,
    Position,
    SourceEvent,
    Sources,
    TooFarAhead,
)
from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached, NotFound


def event(sequence: int, payload: bytes | None = None, *, epoch: int = 1) -> SourceEvent:
    return SourceEvent("node-1", epoch, sequence, payload or f"event {sequence}".encode())


def begun(epoch: int = 1) -> Sources:
    sources = Sources()
    assert sources.begin("node-1", epoch) == Begun(epoch, 0)
    return sources


def test_events_in_order_are_due_one_by_one() -> None:
    sources = begun()
    for number in range(3):
        assert sources.offer(event(number)) == Due((event(number),))


def test_events_out_of_order_are_held_back_and_then_due_in_order() -> None:
    sources = begun()
    assert sources.offer(event(2)) == HeldBack(0)
    assert sources.offer(event(1)) == HeldBack(0)
    assert sources.offer(event(0)) == Due((event(0), event(1), event(2)))


def test_an_event_that_came_before_is_absorbed_whether_applied_or_held_back() -> None:
    sources = begun()
    sources.offer(event(0))
    sources.offer(event(2))
    for number in (0, 2, 0, 2):
        assert sources.offer(event(number)) == Duplicate(number)
    assert sources.offer(event(1)) == Due((event(1), event(2)))


def test_the_same_number_with_another_payload_is_a_conflict_and_the_first_stands() -> None:
    sources = begun()
    sources.offer(event(0))
    sources.offer(event(2))
    for number in (0, 2):
        other = event(number, b"other")
        assert sources.offer(other) == Conflicting(number, event(number).digest, other.digest)
    assert sources.offer(event(1)) == Due((event(1), event(2)))


def test_a_conflict_is_known_after_a_restart_from_what_was_committed() -> None:
    sources = begun()
    sources.offer(event(0))
    restarted = Sources(sources.uncommitted())
    assert isinstance(restarted.offer(event(0, b"other")), Conflicting)
    assert restarted.offer(event(0)) == Duplicate(0)


def test_an_event_too_old_to_compare_is_not_applied_again() -> None:
    sources = begun()
    last = 3 * REMEMBERED_MAX
    for number in range(last):
        sources.offer(event(number))
    first = last - REMEMBERED_MAX
    assert sources.offer(event(first - 1, b"other")) == Forgotten(first - 1, first)
    assert sources.offer(event(first)) == Duplicate(first)
    assert len(sources.position("node-1").remembered) == REMEMBERED_MAX


def test_what_is_held_back_has_a_bound() -> None:
    sources = begun()
    assert sources.offer(event(HELD_MAX)) == TooFarAhead(0, HELD_MAX)
    assert sources.offer(event(HELD_MAX - 1)) == HeldBack(0)
    sources.offer(event(0))
    assert sources.offer(event(HELD_MAX)) == HeldBack(1)


def test_an_epoch_must_begin_before_its_events_count() -> None:
    sources = Sources()
    assert sources.offer(event(0)) == NotBegun(0)
    sources.begin("node-1", 4)
    assert sources.offer(event(0, epoch=5)) == NotBegun(4)


def test_an_older_epoch_is_fenced() -> None:
    sources = begun(2)
    assert sources.offer(event(0, epoch=1)) == Fenced(2)
    assert sources.begin("node-1", 1) == Fenced(2)


def test_a_new_epoch_goes_on_with_the_numbers_and_drops_what_was_held_back() -> None:
    sources = begun()
    sources.offer(event(0))
    sources.offer(event(2, b"never acknowledged"))
    assert sources.begin("node-1", 2) == Begun(2, dropped=1)
    assert sources.begin("node-1", 2) == Begun(2, dropped=0)
    assert sources.offer(event(0, epoch=2)) == Duplicate(0)
    assert sources.offer(event(2, b"new", epoch=2)) == HeldBack(1)
    assert isinstance(sources.offer(event(1, b"new", epoch=2)), Due)


def test_nothing_is_acknowledged_before_it_is_committed() -> None:
    sources = begun()
    sources.offer(event(0))
    sources.offer(event(1))
    assert (sources.acknowledged_up_to("node-1"), sources.epoch_of("node-1")) == (0, 0)
    positions = sources.uncommitted()
    sources.offer(event(2))
    sources.commit(positions)
    assert (sources.acknowledged_up_to("node-1"), sources.epoch_of("node-1")) == (2, 1)
    assert [each.next_sequence for each in sources.uncommitted()] == [3]
    sources.commit(sources.uncommitted())
    assert sources.uncommitted() == ()


def test_an_older_commit_told_after_a_newer_one_takes_nothing_back() -> None:
    sources = begun()
    sources.offer(event(0))
    older = sources.uncommitted()
    sources.offer(event(1))
    sources.commit(sources.uncommitted())
    sources.commit(older)
    assert sources.acknowledged_up_to("node-1") == 2


@pytest.mark.parametrize("position", [Position("node-1", 1, 2), Position("node-1", 2, 0)])
def test_what_was_never_handed_out_cannot_be_committed(position: Position) -> None:
    sources = begun()
    sources.offer(event(0))
    with pytest.raises(Conflict, match="ahead"):
        sources.commit([position])


def test_a_crash_before_the_commit_loses_only_what_nobody_was_told() -> None:
    sources = begun()
    sources.offer(event(0))
    kept = sources.uncommitted()
    sources.commit(kept)
    sources.offer(event(1))
    restarted = Sources(kept)
    assert restarted.acknowledged_up_to("node-1") == 1
    assert restarted.uncommitted() == ()
    assert restarted.offer(event(1)) == Due((event(1),))


def test_sources_do_not_get_in_each_others_way() -> None:
    sources = begun()
    sources.begin("node-2", 7)
    other = SourceEvent("node-2", 7, 0, b"x")
    assert sources.offer(other) == Due((other,))
    assert sources.offer(event(0)) == Due((event(0),))


def test_a_source_that_is_not_known_is_not_found() -> None:
    with pytest.raises(NotFound, match="begun no epoch"):
        Sources().acknowledged_up_to("node-1")


def test_the_number_of_sources_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SOURCES_MAX", 1)
    sources = begun()
    with pytest.raises(LimitReached):
        sources.begin("node-2", 1)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("source", ("a b", 1, 0, b"")),
        ("epoch", ("a", 0, 0, b"")),
        ("sequence", ("a", 1, -1, b"")),
        ("payload", ("a", 1, 0, "text")),
    ],
)
def test_an_event_names_its_field_if_that_is_wrong(field: str, values: tuple[object, ...]) -> None:
    with pytest.raises(InvalidValue, match=field):
        SourceEvent(*values)  # type: ignore[arg-type]


def test_positions_name_each_source_once_and_remember_no_more_than_there_was() -> None:
    with pytest.raises(InvalidValue, match="once"):
        Sources([Position("a", 1, 0), Position("a", 2, 0)])
    with pytest.raises(InvalidValue, match="remembered"):
        Position("a", 1, 1, (b"x", b"y"))
