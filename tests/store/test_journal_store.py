"""What a journal store promises, on both databases."""

from __future__ import annotations

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from bailiwick.ports import JournalStore, Leader
from bailiwick.store.sql_store import SqlStore
from bailiwick.vocab.errors import Damaged, Deposed, InvalidValue, Unavailable
from tests.store.conftest import Place
from tests.support.waiting import WAIT_S


def make_lines(first: int, count: int, *, who: str = "") -> list[bytes]:
    """Lines that say their own number."""
    return [f"{number} {who}\n".encode() for number in range(first, first + count)]


def led(store: SqlStore, name: str = "one") -> Leader:
    """Make the store lead, which must succeed."""
    leader = store.lead(name, f"http://{name}")
    assert leader is not None
    return leader


def test_an_empty_store_has_no_records_no_leader_and_no_snapshots(place: Place) -> None:
    store: JournalStore = place.open()
    assert (store.size(), store.read(0, 10), store.leader(), store.snapshots()) == (0, [], None, [])
    assert store.load_snapshot(0) is None


def test_a_database_tells_the_time_and_a_file_has_no_clock(place: Place) -> None:
    told = place.open().clock_ms()
    if place.is_sqlite:
        assert told is None
    else:  # the server runs on this machine
        assert told is not None
        assert abs(told - time.time_ns() // 1_000_000) < 3_600_000


def test_what_was_appended_is_there_after_the_store_is_opened_again(place: Place) -> None:
    store = place.open()
    leader = led(store)
    store.append(leader.epoch, 0, make_lines(0, 3))
    store.append(leader.epoch, 3, make_lines(3, 2))
    store.close()
    again = place.open()
    assert again.size() == 5
    assert again.read(0, 10) == make_lines(0, 5)
    assert again.leader() == Leader(1, "one", "http://one")


def test_any_bytes_come_back_as_they_were(place: Place) -> None:
    store = place.open()
    lines = [bytes(range(256)) + b"\n", b"\n", b"x" * 70_000 + b"\n"]
    store.append(led(store).epoch, 0, lines)
    assert store.read(0, 3) == lines


@pytest.mark.parametrize(
    ("first", "limit", "expected"),
    [
        (0, 4, range(4)),
        (4, 4, range(4, 8)),
        (8, 4, range(8, 10)),
        (10, 4, ()),
        (99, 1, ()),
        (3, 0, ()),
    ],
)
def test_reading_is_by_pages(place: Place, first: int, limit: int, expected: range) -> None:
    store = place.open()
    store.append(led(store).epoch, 0, make_lines(0, 10))
    assert store.read(first, limit) == [f"{number} \n".encode() for number in expected]


def test_a_negative_page_is_refused(place: Place) -> None:
    store = place.open()
    with pytest.raises(InvalidValue, match="first"):
        store.read(-1, 1)
    with pytest.raises(InvalidValue, match="limit"):
        store.read(0, -1)


def test_a_line_without_its_newline_is_refused_and_nothing_is_kept(place: Place) -> None:
    store = place.open()
    leader = led(store)
    with pytest.raises(InvalidValue, match="newline"):
        store.append(leader.epoch, 0, [b"good\n", b"bad"])
    assert store.size() == 0


def test_only_one_leads_and_each_term_has_a_new_epoch(place: Place) -> None:
    one, two = place.open(), place.open()
    assert led(one).epoch == 1
    assert two.lead("two", "") is None
    one.resign()
    assert led(two, "two").epoch == 2
    assert one.lead("one", "") is None
    assert one.leader() == Leader(2, "two", "http://two")
    two.close()
    assert led(one).epoch == 3


def test_leading_again_gives_a_new_epoch_and_ends_the_old_one(place: Place) -> None:
    store = place.open()
    first, second = led(store), led(store)
    assert second.epoch == first.epoch + 1
    with pytest.raises(Deposed):
        store.append(first.epoch, 0, make_lines(0, 1))
    store.append(second.epoch, 0, make_lines(0, 1))
    store.resign()
    assert place.open().lead("two", "") is not None


def test_whoever_never_led_or_has_resigned_cannot_append(place: Place) -> None:
    store, other = place.open(), place.open()
    with pytest.raises(Deposed):
        store.append(0, 0, make_lines(0, 1))
    leader = led(store)
    with pytest.raises(Deposed):
        other.append(leader.epoch, 0, make_lines(0, 1))
    store.resign()
    with pytest.raises(Deposed) as raised:
        store.append(leader.epoch, 0, make_lines(0, 1))
    assert (raised.value.epoch, raised.value.current) == (1, 1)
    assert store.size() == 0


def test_a_deposed_leader_that_does_not_know_it_cannot_append(place: Place) -> None:
    old, new = place.open(), place.open()
    before = led(old, "old")
    old.append(before.epoch, 0, make_lines(0, 1))
    # As if its lock had been lost unnoticed: only the epoch is left to stop it.
    with new.changing() as connection:
        connection.exec_driver_sql("UPDATE writer SET epoch = epoch + 1, name = 'new'")
    with pytest.raises(Deposed) as raised:
        old.append(before.epoch, 1, make_lines(1, 1))
    assert (raised.value.epoch, raised.value.current) == (1, 2)
    assert new.read(0, 9) == make_lines(0, 1)


def test_a_gap_and_the_same_batch_twice_are_refused(place: Place) -> None:
    store = place.open()
    epoch = led(store).epoch
    store.append(epoch, 0, make_lines(0, 4))
    for first in (0, 3, 5, 400):
        with pytest.raises(Deposed):
            store.append(epoch, first, make_lines(first, 4))
    store.append(epoch, 4, make_lines(4, 1))
    assert store.read(0, 99) == make_lines(0, 5)


def test_an_empty_batch_asks_only_whether_one_may_append(place: Place) -> None:
    store = place.open()
    epoch = led(store).epoch
    store.append(epoch, 0, [])
    with pytest.raises(Deposed):
        store.append(epoch, 1, [])
    with pytest.raises(Deposed):
        store.append(epoch - 1, 0, [])
    assert store.size() == 0


def test_all_of_a_batch_is_kept_or_none_of_it(place: Place) -> None:
    store, other = place.open(), place.open()
    epoch = led(store).epoch
    store.append(epoch, 0, make_lines(0, 2))
    # A record that nobody claimed stands in the way of the third line of the next batch.
    with other.changing() as connection:
        connection.exec_driver_sql("INSERT INTO journal (seq, epoch, line) VALUES (4, 1, 'x')")
    with pytest.raises(Damaged):
        store.append(epoch, 2, make_lines(2, 5))
    assert store.size() == 2
    assert store.read(0, 99) == make_lines(0, 2)
    with other.changing() as connection:
        connection.exec_driver_sql("DELETE FROM journal WHERE seq = 4")
    store.append(epoch, 2, make_lines(2, 5))
    assert store.read(0, 99) == make_lines(0, 7)


def test_a_missing_record_is_damage_and_not_a_shorter_answer(place: Place) -> None:
    store = place.open()
    store.append(led(store).epoch, 0, make_lines(0, 9))
    with store.changing() as connection:
        connection.exec_driver_sql("DELETE FROM journal WHERE seq IN (4, 8)")
    assert store.read(0, 4) == make_lines(0, 4)
    with pytest.raises(Damaged, match="record 4"):
        store.read(0, 9)
    with pytest.raises(Damaged, match="record 8"):
        store.read(5, 9)


def test_a_closed_store_is_unavailable(place: Place) -> None:
    store = place.open()
    led(store)
    store.close()
    store.close()
    calls = [store.size, store.leader, store.snapshots, lambda: store.lead("a", "b")]
    for call in calls:
        with pytest.raises(Unavailable, match="closed"):
            call()
    assert place.open().lead("two", "") is not None


def test_a_store_opened_only_to_read_follows_and_never_writes(place: Place) -> None:
    store = place.open()
    epoch = led(store).epoch
    store.append(epoch, 0, make_lines(0, 2))
    reader = place.open(read_only=True)
    assert reader.read(0, 9) == make_lines(0, 2)
    store.append(epoch, 2, make_lines(2, 1))
    assert reader.size() == 3
    for call in (lambda: reader.lead("r", ""), lambda: reader.append(epoch, 3, make_lines(3, 1))):
        with pytest.raises(Unavailable, match="only to read"):
            call()
    store.close()
    assert reader.size() == 3


# --- races ---------------------------------------------------------------------------------------


def test_of_many_that_append_at_once_each_number_is_given_once(place: Place) -> None:
    """The lost update: everybody reads the size, then writes behind it."""
    store = place.open()
    epoch = led(store).epoch
    wanted = 25

    def work(who: int) -> int:
        done = 0
        while done < wanted:
            first = store.size()
            try:
                store.append(epoch, first, make_lines(first, 3, who=str(who)))
            except Deposed:
                continue  # somebody else was there first
            done += 1
        return done

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(work, range(6))) == 6 * wanted
    lines = store.read(0, 10_000)
    assert [int(line.split()[0]) for line in lines] == list(range(6 * wanted * 3))
    owners = [line.split()[1] for line in lines]
    batches = [owners[start : start + 3] for start in range(0, len(owners), 3)]
    assert all(len(set(batch)) == 1 for batch in batches)


def test_of_many_that_lead_and_append_at_once_no_number_is_lost_or_doubled(place: Place) -> None:
    stores = [place.open() for _ in range(4)]
    written: list[bytes] = []
    epochs: list[int] = []
    guard = threading.Lock()

    def work(number: int) -> None:
        store = stores[number]
        terms = 0
        while terms < 5:  # as long as the test may take
            leader = store.lead(str(number), "")
            if leader is None:
                time.sleep(0.001)
                continue
            terms += 1
            for _ in range(4):
                first = store.size()
                lines = make_lines(first, 2, who=f"{number}-{leader.epoch}")
                store.append(leader.epoch, first, lines)
                with guard:
                    written.extend(lines)
            with guard:
                epochs.append(leader.epoch)
            store.resign()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert sorted(epochs) == list(range(1, 21))
    kept = stores[0].read(0, 10_000)
    assert [int(line.split()[0]) for line in kept] == list(range(4 * 5 * 4 * 2))
    assert sorted(kept) == sorted(written)
    terms_in_order = [int(line.rsplit(b"-", 1)[1]) for line in kept]
    assert terms_in_order == sorted(terms_in_order)


def test_a_lost_update_through_a_plain_transaction_does_not_happen(place: Place) -> None:
    """Read, then write: on either database the row read for update is ours until the end."""
    stores = [place.open() for _ in range(2)]
    rounds = 30

    def work(number: int) -> None:
        from sqlalchemy import select, update

        from bailiwick.store.tables import projection_state as state

        for _ in range(rounds):
            with stores[number % 2].changing() as connection:
                size = connection.scalar(select(state.c.size).with_for_update())
                connection.execute(update(state).values(size=size + 1))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    with stores[0].reading() as connection:
        found = connection.exec_driver_sql("SELECT size FROM projection_state").scalar()
    assert found == 6 * rounds


def test_a_follower_that_reads_on_from_the_last_record_skips_none(place: Place) -> None:
    total, batch = 600, 3
    leader_store, follower = place.open(), place.open(read_only=True)
    epoch = led(leader_store).epoch
    seen: list[bytes] = []
    sizes: list[int] = []

    def follow() -> None:
        while len(seen) < total:
            sizes.append(follower.size())
            seen.extend(follower.read(len(seen), 50))

    with ThreadPoolExecutor(2) as pool:
        following = pool.submit(follow)
        for first in range(0, total, batch):
            leader_store.append(epoch, first, make_lines(first, batch))
        following.result(timeout=WAIT_S)
    assert seen == make_lines(0, total)
    assert all(size % batch == 0 for size in sizes), "half a batch was visible"
    assert all(one <= next_one for one, next_one in itertools.pairwise(sizes))
