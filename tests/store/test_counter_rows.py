"""Counters in a database: taken once whatever the network does, and due until they are settled."""

from __future__ import annotations

import threading
from dataclasses import replace
from random import Random

import pytest
from sqlalchemy import update

from bailiwick.metering.counters import Counter, merge_counters
from bailiwick.store.counter_rows import BATCH_MAX, CounterBook, CounterEvent, Receipt
from bailiwick.store.tables import counter_sources, counters
from bailiwick.vocab.errors import Damaged, InvalidValue
from tests.store.conftest import Place
from tests.support.waiting import WAIT_S

NOW = 10**12
DAY = 86_400_000


def counter(lease_id: int = 7, cpu_ms: int = 5, **more: int | None) -> Counter:
    given = {"at_ms": 100 + cpu_ms, "from_ms": 50, "cpu_ms": cpu_ms} | more
    return Counter(lease_id, "n", **given)  # type: ignore[arg-type]


def event(sequence: int, counted: Counter, *, epoch: int = 1) -> CounterEvent:
    return CounterEvent(epoch, sequence, counted)


def cpu_of(book: CounterBook, lease_id: int = 7) -> list[int | None]:
    return [row.counter.cpu_ms for row in book.of_lease(lease_id)]


def due(book: CounterBook, now_ms: int = NOW) -> list[int]:
    rows = book.due(now_ms=now_ms, again_ms=1_000, limit=100)
    return [row.counter.lease_id for row in rows]


def test_what_is_taken_is_kept_with_its_position_and_then_acknowledged(place: Place) -> None:
    book = CounterBook(place.open())
    assert book.standing("n") == Receipt(0, 0, 0)
    events = [event(0, counter(7)), event(1, counter(8, 9))]
    assert book.take("n", events, now_ms=NOW) == Receipt(1, 2, 0)
    again = CounterBook(place.open())
    assert again.standing("n") == Receipt(1, 2, 0)
    assert (cpu_of(again), cpu_of(again, 8)) == ([5], [9])


def test_repeats_and_lost_answers_change_nothing_and_are_acknowledged_again(place: Place) -> None:
    book = CounterBook(place.open())
    events = [event(0, counter(cpu_ms=5)), event(1, counter(cpu_ms=6))]
    for _ in range(3):
        assert book.take("n", events, now_ms=NOW) == Receipt(1, 2, 0)
    assert cpu_of(book) == [6]


def test_what_comes_early_is_not_acknowledged_and_comes_again(place: Place) -> None:
    book = CounterBook(place.open())
    late, early = event(0, counter(cpu_ms=5)), event(1, counter(cpu_ms=6))
    assert book.take("n", [early], now_ms=NOW) == Receipt(0, 0, 0)
    assert cpu_of(book) == []
    assert book.take("n", [early, late], now_ms=NOW) == Receipt(1, 2, 0)  # in one call it waits
    assert cpu_of(book) == [6]


def test_a_newer_epoch_fences_the_older_one(place: Place) -> None:
    book = CounterBook(place.open())
    book.take("n", [event(0, counter(cpu_ms=5), epoch=3)], now_ms=NOW)
    assert book.take("n", [event(0, counter(8), epoch=2)], now_ms=NOW) == Receipt(3, 1, 0)
    assert cpu_of(book, 8) == []
    assert book.take("n", [event(0, counter(cpu_ms=9), epoch=4)], now_ms=NOW) == Receipt(4, 1, 0)
    assert cpu_of(book) == [9]


def test_the_same_event_with_another_content_is_a_conflict_told_once_a_day(place: Place) -> None:
    book = CounterBook(place.open())
    book.take("n", [event(0, counter(cpu_ms=5)), event(1, counter(cpu_ms=6))], now_ms=NOW)
    lies = [event(0, counter(cpu_ms=500)), event(1, counter(cpu_ms=600))]
    assert book.take("n", lies, now_ms=NOW) == Receipt(1, 2, 2)
    assert cpu_of(book) == [6]
    (found,) = book.conflicts(10)
    assert (found.source, found.day, found.epoch, found.sequence) == ("n", NOW // DAY, 1, 0)
    assert found.known != found.offered
    book.settle_conflict(found)
    book.take("n", lies, now_ms=NOW)
    assert book.conflicts(10) == []
    book.take("n", lies, now_ms=NOW + DAY)
    assert len(book.conflicts(10)) == 1


def test_a_crash_before_the_commit_leaves_nothing_and_nobody_was_told(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bailiwick.store import counter_rows

    book = CounterBook(place.open())

    def fail(*_: object) -> None:
        raise RuntimeError("the power went")

    with monkeypatch.context() as patch:
        patch.setattr(counter_rows, "_put_position", fail)
        with pytest.raises(RuntimeError):
            book.take("n", [event(0, counter())], now_ms=NOW)
    assert (cpu_of(book), book.standing("n")) == ([], Receipt(0, 0, 0))
    assert book.take("n", [event(0, counter())], now_ms=NOW) == Receipt(1, 1, 0)
    assert cpu_of(book) == [5]


def test_any_schedule_of_repeats_losses_and_restarts_ends_with_each_event_once(
    place: Place,
) -> None:
    chance = Random(6)
    lives: list[list[CounterEvent]] = []
    for epoch in (1, 2, 3):
        sums = [chance.randrange(1, 50) for _ in range(12)]
        lives.append(
            [event(n, counter(chance.choice((7, 8)), s), epoch=epoch) for n, s in enumerate(sums)]
        )
    taken: list[CounterEvent] = []
    book = CounterBook(place.open())
    for life in lives:
        kept = 0
        while kept < len(life) - 2:  # the last two of each life are lost with it
            first = chance.randrange(0, kept + 1)
            some = life[first : first + chance.randrange(1, 5)]
            chance.shuffle(some)
            if chance.random() < 0.2:
                book = CounterBook(place.open())
            receipt = book.take("n", some, now_ms=NOW)
            if receipt.epoch == life[0].epoch and chance.random() < 0.8:  # else the answer is lost
                kept = receipt.acknowledged
        taken += life[: book.standing("n").acknowledged]
    for lease_id in (7, 8):
        own = [each.counter for each in taken if each.counter.lease_id == lease_id]
        whole = own[0]
        for each in own[1:]:
            whole = merge_counters(whole, each)
        assert [row.counter for row in book.of_lease(lease_id)] == [whole]
    assert book.conflicts(10) == []


def test_two_that_tell_at_once_are_taken_one_after_the_other(place: Place) -> None:
    events = [event(n, counter(cpu_ms=n)) for n in range(40)]
    failed: list[BaseException] = []

    def tell(start: int) -> None:
        try:
            book = CounterBook(place.open())
            for at in range(0, 40, 8):
                book.take("n", events[: at + 8] if start else events[at : at + 8], now_ms=NOW)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=tell, args=(n,)) for n in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert failed == []
    book = CounterBook(place.open())
    assert (book.standing("n"), cpu_of(book)) == (Receipt(1, 40, 0), [39])


def test_a_source_tells_of_itself_and_a_bounded_number_at_once(place: Place) -> None:
    book = CounterBook(place.open())
    with pytest.raises(InvalidValue, match="for itself alone"):
        book.take("m", [event(0, counter())], now_ms=NOW)
    with pytest.raises(InvalidValue, match="at once"):
        book.take("n", [event(n, counter()) for n in range(BATCH_MAX + 1)], now_ms=NOW)


def test_a_row_is_due_until_it_is_settled_and_again_when_more_was_counted(place: Place) -> None:
    book = CounterBook(place.open())
    book.take("n", [event(0, counter(7)), event(1, counter(8))], now_ms=NOW)
    assert due(book) == [7, 8]
    seven, eight = book.due(now_ms=NOW, again_ms=1_000, limit=9)
    book.note(seven, now_ms=NOW, is_settled=True)
    book.note(eight, now_ms=NOW, is_settled=False)
    assert due(book, NOW + 999) == []
    assert due(book, NOW + 1_000) == [8]
    book.take("n", [event(2, counter(7, 6))], now_ms=NOW)
    assert due(book) == [7]


def test_what_was_counted_while_a_row_was_compared_is_compared_too(place: Place) -> None:
    book = CounterBook(place.open())
    book.take("n", [event(0, counter(7))], now_ms=NOW)
    (row,) = book.due(now_ms=NOW, again_ms=1_000, limit=9)
    book.take("n", [event(1, counter(7, 6))], now_ms=NOW)
    book.note(row, now_ms=NOW, is_settled=True)
    assert due(book) == [7]


def test_a_clock_that_goes_back_hides_nothing(place: Place) -> None:
    book = CounterBook(place.open())
    book.take("n", [event(0, counter(7))], now_ms=NOW)
    (row,) = book.due(now_ms=NOW, again_ms=1_000, limit=9)
    book.note(row, now_ms=NOW + 10**6, is_settled=True)
    book.take("n", [event(1, counter(7, 6))], now_ms=NOW - 10**6)
    assert due(book, NOW - 10**6) == [7]


def test_nothing_new_in_a_counter_makes_nothing_due(place: Place) -> None:
    book = CounterBook(place.open())
    book.take("n", [event(0, counter(7))], now_ms=NOW)
    (row,) = book.due(now_ms=NOW, again_ms=1_000, limit=9)
    book.note(row, now_ms=NOW, is_settled=True)
    book.take("n", [event(0, counter(7), epoch=2)], now_ms=NOW + 5)
    assert due(book, NOW + 10**9) == []


@pytest.mark.parametrize("body", [b"x", b"[1]", b'[1,2,[[1,0,"zz"]]]', b'[1,5,[[1,0,""]]]'])
def test_a_position_that_cannot_be_read_is_damage_not_a_beginning(
    sqlite_place: Place, body: bytes
) -> None:
    store = sqlite_place.open()
    book = CounterBook(store)
    book.take("n", [event(0, counter())], now_ms=NOW)
    with store.changing() as connection:
        connection.execute(update(counter_sources).values(position=body))
    with pytest.raises(Damaged):
        book.take("n", [event(1, counter())], now_ms=NOW)


def test_a_row_that_cannot_be_read_is_damage(sqlite_place: Place) -> None:
    store = sqlite_place.open()
    book = CounterBook(store)
    book.take("n", [event(0, counter())], now_ms=NOW)
    with store.changing() as connection:
        connection.execute(update(counters).values(body=b"{}"))
    with pytest.raises(Damaged, match="lease 7"):
        book.of_lease(7)


def test_a_final_counter_stays_final_when_it_is_told_again(place: Place) -> None:
    book = CounterBook(place.open())
    final = replace(counter(), to_ms=105)
    book.take("n", [event(0, final)], now_ms=NOW)
    book.take("n", [event(0, final, epoch=2)], now_ms=NOW)
    (row,) = book.of_lease(7)
    assert row.counter == final
