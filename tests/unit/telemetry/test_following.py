"""Following the journal: every durable record once and in order, wherever it must be read from."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bailiwick.runtime.feed import Feed
from bailiwick.telemetry.following import Follower
from bailiwick.telemetry.metrics import Gauges
from bailiwick.telemetry.telemetry import BACKLOG_MAX, Telemetry, WatchedStore
from bailiwick.vocab.errors import Unavailable
from tests.support.waiting import WAIT_S


def line(seq: int, kind: str = "node_departed") -> bytes:
    fact = {
        "seq": seq,
        "at_ms": 10**12 * 2,
        "kind": kind,
        "tenant": None,
        "project": None,
        "correlation_id": f"c-{seq}",
        "body": {"node": "n1"},
    }
    return json.dumps(fact).encode() + b"\n"


class Journal:
    """A journal and its feed; the store can be away for a while."""

    def __init__(self, kept_max: int = 5) -> None:
        self.feed = Feed(kept_max=kept_max)
        self.lines: list[bytes] = []
        self.away = 0

    def grow(self, count: int, *, told: bool = True) -> None:
        first = len(self.lines)
        new = [line(first + n) for n in range(count)]
        self.lines += new
        if told:
            self.feed.publish(first, new)
        else:
            self.feed.publish(len(self.lines))

    def read(self, first: int, limit: int) -> Sequence[bytes]:
        if self.away:
            self.away -= 1
            raise Unavailable("the store", "it is away")
        return self.lines[first : first + limit]


@pytest.mark.parametrize("told", [True, False])
def test_every_record_is_handed_over_once_and_in_order(told: bool) -> None:
    journal, seen = Journal(), []
    follower = Follower(
        journal.feed,
        journal.read,
        begin=lambda size: 0,
        follow=lambda fact: seen.append(fact["seq"]),
    )
    try:
        for count in (1, 3, 20, 2500):
            journal.away = 1
            journal.grow(count, told=told)
            assert follower.catch_up(WAIT_S)
    finally:
        follower.close()
    assert seen == list(range(2524))


def test_it_begins_where_it_is_told_once_there_is_a_journal() -> None:
    journal, seen = Journal(), []
    begun = threading.Event()

    def begin(size: int) -> int:
        begun.set()
        return size - 2

    follower = Follower(
        journal.feed, journal.read, begin=begin, follow=lambda fact: seen.append(fact["seq"])
    )
    try:
        assert follower.catch_up(WAIT_S)
        assert not begun.is_set()
        journal.grow(10, told=False)
        assert follower.catch_up(WAIT_S)
        assert seen == [8, 9]
    finally:
        follower.close()


def departures(telemetry: Telemetry) -> Any:
    telemetry.expose(Gauges())
    registry = telemetry.metrics.registry
    return registry.get_sample_value("bailiwick_node_departures_total")


def test_counters_begin_at_the_end_and_the_index_where_it_was(tmp_path: Path) -> None:
    journal = Journal(kept_max=10_000)
    journal.grow(4)
    telemetry = Telemetry.open(tmp_path)
    telemetry.attach(journal.feed, journal.read)
    assert telemetry.find("c-3").records[0].seq == 3
    journal.grow(2)
    assert telemetry.find("c-5").records[0].seq == 5
    assert departures(telemetry) == 2
    telemetry.close()
    journal.grow(3)
    again = Telemetry.open(tmp_path)
    again.attach(journal.feed, journal.read)
    assert again.find("c-7").records[0].seq == 7  # what came while nobody looked
    assert departures(again) == 0
    again.close()


def test_a_new_table_does_not_read_the_whole_journal(tmp_path: Path) -> None:
    journal = Journal()
    journal.lines = [b""] * (BACKLOG_MAX + 10)
    journal.lines += [line(len(journal.lines) + n) for n in range(3)]
    size = len(journal.lines)
    read: list[int] = []

    def read_store(first: int, limit: int) -> Sequence[bytes]:
        read.append(first)
        return [line(first + n) for n in range(min(limit, size - first))]

    journal.feed.publish(size)
    telemetry = Telemetry.open(tmp_path)
    telemetry.attach(journal.feed, read_store)
    telemetry.find("c-0")
    telemetry.close()
    assert read[0] == size - BACKLOG_MAX


class FailingStore:
    """A store that keeps nothing."""

    name = "beyond the port"

    def append(self, epoch: int, first: int, lines: Sequence[bytes]) -> None:
        if epoch == 0:
            raise Unavailable("the store", "it is away")


def test_commits_are_timed_and_failures_counted(tmp_path: Path) -> None:
    telemetry = Telemetry.open(tmp_path)
    store = WatchedStore(FailingStore(), telemetry.metrics)  # type: ignore[arg-type]
    store.append(1, 0, [b"a", b"b"])
    store.append(1, 2, [])
    with pytest.raises(Unavailable):
        store.append(0, 2, [b"c"])
    value = telemetry.metrics.registry.get_sample_value
    assert value("bailiwick_journal_append_seconds_count") == 1
    assert value("bailiwick_journal_append_records_sum") == 2
    assert value("bailiwick_journal_append_failures_total") == 1
    assert store.name == "beyond the port"
    telemetry.close()


def test_drops_are_told(tmp_path: Path) -> None:
    telemetry = Telemetry.open(tmp_path)
    telemetry.table.dropped = 3
    for _ in range(2):
        telemetry.expose(Gauges())
    value = telemetry.metrics.registry.get_sample_value
    assert value("bailiwick_telemetry_dropped_total") == 3
    telemetry.close()
