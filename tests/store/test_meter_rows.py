"""The meter in a database: kept piece by piece, it is what folding the whole journal gives."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence

import pytest
from sqlalchemy import func, select, update

from bailiwick.journal import Record
from bailiwick.metering import Account, JournalMeter, Meter
from bailiwick.metering.values import Use
from bailiwick.metering.windows import windows_of
from bailiwick.store import meter_rows
from bailiwick.store.meter_rows import MeterBook
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import meter_segments, meter_state
from bailiwick.vocab.errors import Damaged, InvariantBroken
from tests.store.conftest import Place
from tests.support.kernel_histories import HOUR, START_MS, busy_journal

JOURNAL = busy_journal(3, steps=220, executors=1)
RECORDS = JOURNAL.records
END_MS = RECORDS[-1].at_ms
EDGES = (START_MS, START_MS + HOUR // 7, END_MS - HOUR // 7, END_MS + 5_000)
WINDOWS = windows_of(EDGES)


def append(store: SqlStore, records: Sequence[Record]) -> None:
    leader = store.lead("one", "")
    assert leader is not None
    first = records[0].seq
    store.append(leader.epoch, first, JOURNAL.lines[first : first + len(records)])
    store.resign()


def folded(records: Sequence[Record]) -> list[Use]:
    """What everybody used in the windows, from the records alone."""
    meter = JournalMeter(Meter(EDGES))
    for record in records:
        meter.add(record)
    meter.check()
    uses = meter.meter.uses(EDGES[-1])
    return [use for use in uses if EDGES[0] <= use.from_ms and use.to_ms <= EDGES[-1]]


def anybody(account: Account) -> bool:
    return bool(account.tenant)


def used_in_all(store: SqlStore) -> int:
    rows = select(meter_segments.c.amount, meter_segments.c.from_ms, meter_segments.c.to_ms)
    with store.reading() as connection:
        return sum(row[0] * (row[2] - row[1]) for row in connection.execute(rows))


def test_what_is_kept_in_pieces_is_what_the_whole_journal_gives(place: Place) -> None:
    store = place.open()
    book = MeterBook(store)
    for start in range(0, len(RECORDS), 97):
        append(store, RECORDS[start : start + 97])
        records, rows = book.keep()
        assert records == len(RECORDS[start : start + 97])
        assert rows
    found = book.uses(anybody, WINDOWS)
    assert found.size == len(RECORDS)
    assert sorted(found.uses, key=str) == sorted(folded(RECORDS), key=str)


def test_asking_needs_nothing_kept_and_keeps_nothing(place: Place) -> None:
    store = place.open()
    append(store, RECORDS)
    reader = MeterBook(place.open(read_only=True))
    found = reader.uses(anybody, WINDOWS)
    assert found.size == len(RECORDS)
    assert sorted(found.uses, key=str) == sorted(folded(RECORDS), key=str)
    assert used_in_all(store) == 0


def test_after_a_crash_the_fold_goes_on_from_what_was_kept(place: Place) -> None:
    store = place.open()
    append(store, RECORDS[:150])
    first = MeterBook(store)
    first.keep()
    append(store, RECORDS[150:300])
    with first.current() as meter:  # folded, told nobody, and then it dies
        assert meter.size == 300
    kept = used_in_all(store)
    second = MeterBook(place.open())
    assert second.keep()[0] == 150
    assert used_in_all(store) > kept
    with second.current() as meter:
        charged = sum(meter.meter.core.measured())
    assert used_in_all(store) == charged
    assert sorted(second.uses(anybody, WINDOWS).uses, key=str) == sorted(
        folded(RECORDS[:300]), key=str
    )


def test_of_two_that_keep_the_same_records_one_does(place: Place) -> None:
    store = place.open()
    books = [MeterBook(store), MeterBook(place.open())]
    append(store, RECORDS[:200])
    for book in books:
        with book.current():
            pass
    assert [book.keep()[0] for book in books] == [200, 0]
    append(store, RECORDS[200:])
    assert [book.keep()[0] for book in reversed(books)] == [len(RECORDS) - 200, 0]
    with store.reading() as connection:
        count = connection.scalar(select(func.count()).select_from(meter_segments))
        assert connection.scalar(select(meter_state.c.segments)) == count
    wanted = sorted(folded(RECORDS), key=str)
    assert all(sorted(b.uses(anybody, WINDOWS).uses, key=str) == wanted for b in books)


def test_one_who_only_asks_does_not_count_twice_what_another_keeps(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meter_rows, "PENDING_MAX", 100)
    store = place.open()
    keeper, reader = MeterBook(store), MeterBook(place.open(read_only=True))
    for start in range(0, len(RECORDS), 61):
        append(store, RECORDS[start : start + 61])
        reader.uses(anybody, WINDOWS)
        keeper.keep()
    assert sorted(reader.uses(anybody, WINDOWS).uses, key=str) == sorted(folded(RECORDS), key=str)


@pytest.mark.parametrize("body", [b"not a meter", b"x\x9c\xab\xae\x05\x00\x01u\x00\xf9"])
def test_a_meter_that_cannot_be_read_is_folded_again(place: Place, body: bytes) -> None:
    store = place.open()
    append(store, RECORDS)
    MeterBook(store).keep()
    whole = used_in_all(store)
    with store.changing() as connection:
        connection.execute(update(meter_state).values(body=body))
    again = MeterBook(place.open())
    assert sorted(again.uses(anybody, WINDOWS).uses, key=str) == sorted(folded(RECORDS), key=str)
    assert again.keep()[0] == len(RECORDS)
    assert used_in_all(store) == whole


def test_a_meter_that_does_not_add_up_is_neither_kept_nor_told_and_no_invoice_is_made_of_it(
    place: Place,
) -> None:
    store = place.open()
    append(store, RECORDS[:150])
    book = MeterBook(store)
    book.keep()
    append(store, RECORDS[150:])
    kept = used_in_all(store)
    with book.current() as meter:
        meter.meter.pools()[0].capacity += 1
    for asked in (book.keep, lambda: book.uses(anybody, WINDOWS)):
        with pytest.raises(InvariantBroken, match="not its capacity"):
            asked()
    assert used_in_all(store) == kept
    # Whoever begins again from what was kept has one that is right.
    assert MeterBook(place.open()).keep()[0] == len(RECORDS) - 150


def test_a_stretch_that_is_missing_or_told_twice_is_not_kept(place: Place) -> None:
    store = place.open()
    append(store, RECORDS[:150])
    book = MeterBook(store)
    book.keep()
    append(store, RECORDS[150:])
    with book.current() as meter:
        log = meter.meter.core.log
        assert log
        last = log.pop()
    with pytest.raises(InvariantBroken, match="the stretches of"):
        book.keep()
    log += [last, last]
    with pytest.raises(InvariantBroken, match="the stretches of"):
        book.keep()
    log.pop()
    assert book.keep()[0] == len(RECORDS) - 150


def test_a_kept_meter_that_does_not_add_up_is_folded_again(place: Place) -> None:
    store = place.open()
    append(store, RECORDS)
    MeterBook(store).keep()
    whole = used_in_all(store)
    with store.changing() as connection:
        body = json.loads(zlib.decompress(connection.scalar(select(meter_state.c.body))))
        body["measured"][0] += 1
        changed = zlib.compress(json.dumps(body).encode())
        connection.execute(update(meter_state).values(body=changed))
    again = MeterBook(place.open())
    assert sorted(again.uses(anybody, WINDOWS).uses, key=str) == sorted(folded(RECORDS), key=str)
    assert again.keep()[0] == len(RECORDS)
    assert used_in_all(store) == whole


def test_a_line_is_traced_to_the_records_that_began_and_ended_each_stretch(place: Place) -> None:
    store = place.open()
    append(store, RECORDS)
    book = MeterBook(store)
    book.keep()
    uses = book.uses(anybody, WINDOWS[:1]).uses
    account = max(uses, key=lambda use: use.segments).account
    segments = book.trace(lambda each: each == account, WINDOWS[0], limit=1_000)
    total = sum(use.used for use in uses if use.account == account)
    from_ms, to_ms = WINDOWS[0]
    clipped = [s.amount * (min(s.to_ms, to_ms) - max(s.from_ms, from_ms)) for s in segments]
    assert sum(clipped) == total
    starts = {RECORDS[segment.from_seq].kind.value for segment in segments}
    assert starts <= {"admission_approved", "lease_revoked", "lease_expired", "lease_preempted"}
    assert len(book.trace(lambda each: each == account, WINDOWS[0], limit=1)) == 1


def test_a_record_that_is_damaged_is_told_with_its_place(place: Place) -> None:
    store = place.open()
    append(store, RECORDS[:3])
    leader = store.lead("one", "")
    assert leader is not None
    store.append(leader.epoch, 3, [b"{}\n"])
    with pytest.raises(Damaged, match="record 3"):
        MeterBook(store).keep()
