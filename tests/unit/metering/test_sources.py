"""Each event of each source counts once, in order, and is acknowledged once it is durable."""

from __future__ import annotations

import pytest

from bailiwick.metering import sources as module
from bailiwick.metering.sources import (
    HELD_MAX,
    REMEMBERED_LIMIT,
    REMEMBERED_MAX,
    Conflicting,
    Due,
    Duplicate,
    Fenced,
    Forgotten,
    HeldBack,
    Position,
    RememberedEpoch,
    SourceEvent,
    Sources,
    TooFarAhead,
)
from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached, NotFound

DIGEST = bytes(32)


def event(sequence: int, payload: bytes | None = None, *, epoch: int = 1) -> SourceEvent:
    return SourceEvent("node-1", epoch, sequence, payload or f"event {epoch}/{sequence}".encode())


def taken(count: int, *, epoch: int = 1, sources: Sources | None = None) -> Sources:
    """The first events of an epoch, one by one."""
    sources = sources or Sources()
    for number in range(count):
        assert sources.offer(event(number, epoch=epoch)) == Due((event(number, epoch=epoch),))
    return sources


def test_events_in_order_are_due_one_by_one() -> None:
    taken(3)


def test_events_out_of_order_are_held_back_and_then_due_in_order() -> None:
    sources = Sources()
    assert sources.offer(event(2)) == HeldBack(1, 0)
    assert sources.offer(event(1)) == HeldBack(1, 0)
    assert sources.offer(event(0)) == Due((event(0), event(1), event(2)))


def test_an_event_that_came_before_is_absorbed_whether_applied_or_held_back() -> None:
    sources = taken(1)
    sources.offer(event(2))
    for _ in range(2):
        assert sources.offer(event(0)) == Duplicate(1, 0)
        assert sources.offer(event(2)) == HeldBack(1, 1)
    assert sources.offer(event(1)) == Due((event(1), event(2)))


def test_the_same_number_with_another_payload_is_a_conflict_and_the_first_stands() -> None:
    sources = taken(1)
    sources.offer(event(2))
    for number in (0, 2):
        other = event(number, b"other")
        assert sources.offer(other) == Conflicting(1, number, event(number).digest, other.digest)
    assert sources.offer(event(1)) == Due((event(1), event(2)))


def test_a_conflict_is_known_after_a_restart_from_what_was_committed() -> None:
    sources = taken(1, epoch=2, sources=taken(1))
    restarted = Sources(sources.uncommitted())
    for epoch in (1, 2):
        assert isinstance(restarted.offer(event(0, b"other", epoch=epoch)), Conflicting)
        assert restarted.offer(event(0, epoch=epoch)) == Duplicate(epoch, 0)


def test_an_event_too_old_to_compare_is_not_applied_again() -> None:
    last = 3 * REMEMBERED_MAX
    sources = taken(last)
    first = last - REMEMBERED_MAX
    assert sources.offer(event(first - 1, b"other")) == Forgotten(1, first - 1)
    assert sources.offer(event(first)) == Duplicate(1, first)
    (run,) = sources.position("node-1").remembered
    assert (run.epoch, run.first_sequence, len(run.digests)) == (1, first, REMEMBERED_MAX)


def test_how_much_is_remembered_can_be_chosen_and_is_of_all_epochs_together() -> None:
    sources = taken(2, epoch=2, sources=taken(3, sources=Sources(remembered_max=4)))
    assert sources.offer(event(0)) == Forgotten(1, 0)
    assert sources.offer(event(1)) == Duplicate(1, 1)
    restarted = Sources(sources.uncommitted(), remembered_max=1)
    assert restarted.offer(event(1)) == Fenced(2)
    assert restarted.offer(event(0, epoch=2)) == Forgotten(2, 0)
    assert restarted.offer(event(1, epoch=2)) == Duplicate(2, 1)


def test_what_is_held_back_has_a_bound() -> None:
    sources = Sources()
    assert sources.offer(event(HELD_MAX)) == TooFarAhead(1, 0, HELD_MAX)
    assert sources.offer(event(HELD_MAX - 1)) == HeldBack(1, 0)
    sources.offer(event(0))
    assert sources.offer(event(HELD_MAX)) == HeldBack(1, 1)


def test_what_is_held_back_of_all_epochs_together_has_the_same_bound() -> None:
    sources = Sources(held_max=2)
    assert sources.offer(event(1, epoch=5)) == HeldBack(5, 0)
    assert sources.offer(event(1, epoch=6)) == HeldBack(6, 0)
    assert sources.offer(event(1, epoch=7)) == TooFarAhead(7, 0, 2)
    assert sources.offer(event(1, epoch=6)) == HeldBack(6, 0)
    assert sources.offer(event(0, epoch=1)) == Due((event(0, epoch=1),))


def test_the_first_event_of_a_newer_epoch_begins_it_and_the_numbers_begin_again() -> None:
    sources = taken(3)
    assert sources.offer(event(1, epoch=4)) == HeldBack(4, 0)
    first, second = event(0, epoch=4), event(1, epoch=4)
    assert sources.offer(first) == Due((first, second))
    assert sources.position("node-1").next_sequence == 2


def test_nothing_new_of_an_older_epoch_counts_but_what_is_known_is_known() -> None:
    sources = taken(1, epoch=2, sources=taken(1))
    assert sources.offer(event(1)) == Fenced(2)
    assert sources.offer(event(0)) == Duplicate(1, 0)
    assert isinstance(sources.offer(event(0, b"other")), Conflicting)
    assert taken(1, epoch=2).offer(event(0)) == Fenced(2)


def test_a_newer_epoch_drops_what_was_held_back_of_the_older_but_not_of_the_newest() -> None:
    sources = taken(1)
    sources.offer(event(2, b"never acknowledged"))
    sources.offer(event(1, epoch=3))
    sources.offer(event(0, epoch=2))
    assert sources.offer(event(2)) == Fenced(2)
    assert sources.offer(event(0, epoch=3)) == Due((event(0, epoch=3), event(1, epoch=3)))


def test_nothing_is_acknowledged_before_it_is_committed() -> None:
    sources = taken(2)
    assert (sources.acknowledged_up_to("node-1"), sources.epoch_of("node-1")) == (0, 0)
    positions = sources.uncommitted()
    sources.offer(event(2))
    sources.commit(positions)
    assert (sources.acknowledged_up_to("node-1"), sources.epoch_of("node-1")) == (2, 1)
    assert [each.next_sequence for each in sources.uncommitted()] == [3]
    sources.commit(sources.uncommitted())
    assert sources.uncommitted() == ()


def test_an_older_commit_told_after_a_newer_one_takes_nothing_back() -> None:
    sources = taken(2)
    older = sources.uncommitted()
    taken(1, epoch=2, sources=sources)
    sources.commit(sources.uncommitted())
    sources.commit(older)
    assert (sources.epoch_of("node-1"), sources.acknowledged_up_to("node-1")) == (2, 1)


@pytest.mark.parametrize("position", [Position("node-1", 1, 2), Position("node-1", 2, 1)])
def test_what_was_never_handed_out_cannot_be_committed(position: Position) -> None:
    sources = taken(1)
    with pytest.raises(Conflict, match="ahead"):
        sources.commit([position])


def test_a_crash_before_the_commit_loses_only_what_nobody_was_told() -> None:
    sources = taken(1)
    kept = sources.uncommitted()
    sources.commit(kept)
    sources.offer(event(1))
    restarted = Sources(kept)
    assert restarted.acknowledged_up_to("node-1") == 1
    assert restarted.uncommitted() == ()
    assert restarted.offer(event(1)) == Due((event(1),))


def test_sources_do_not_get_in_each_others_way() -> None:
    sources = taken(1)
    other = SourceEvent("node-2", 7, 0, b"x")
    assert sources.offer(other) == Due((other,))
    assert sources.offer(event(1)) == Due((event(1),))


def test_a_source_of_which_nothing_was_taken_is_not_found() -> None:
    sources = Sources()
    sources.offer(event(1))
    for source in ("node-1", "node-2"):
        with pytest.raises(NotFound, match="none of its events"):
            sources.acknowledged_up_to(source)


def test_the_number_of_sources_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SOURCES_MAX", 1)
    sources = taken(1)
    with pytest.raises(LimitReached):
        sources.offer(SourceEvent("node-2", 1, 0, b"x"))


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


def test_positions_name_each_source_once() -> None:
    with pytest.raises(InvalidValue, match="once"):
        Sources([Position("a", 1, 1), Position("a", 2, 1)])


@pytest.mark.parametrize(
    ("expected", "runs"),
    [
        ("position itself", [(1, 0, 2)]),
        ("position itself", [(1, 0, 1), (2, 0, 3)]),
        ("oldest first", [(2, 0, 1), (1, 0, 1)]),
        ("at most", [(1, 0, REMEMBERED_LIMIT), (2, 0, 1)]),
    ],
)
def test_a_position_remembers_what_led_to_it_and_no_more(
    expected: str, runs: list[tuple[int, int, int]]
) -> None:
    remembered = tuple(RememberedEpoch(*where, (DIGEST,) * count) for *where, count in runs)
    with pytest.raises(InvalidValue, match=expected):
        Position("a", 1, 1, remembered)


def test_a_digest_has_one_length() -> None:
    with pytest.raises(InvalidValue, match="32 bytes"):
        RememberedEpoch(1, 0, (b"x",))
