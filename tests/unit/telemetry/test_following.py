"""Telemetry follows the journal: counters from its end, the index from where it was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bailiwick.runtime.feed import DurableLines
from bailiwick.telemetry.metrics import Gauges
from bailiwick.telemetry.telemetry import BACKLOG_MAX, Telemetry, WatchedStore
from bailiwick.vocab.errors import Unavailable
from tests.support.following import GrownJournal, line, telemetry_follows


def departures(telemetry: Telemetry) -> Any:
    telemetry.expose(Gauges())
    registry = telemetry.metrics.registry
    return registry.get_sample_value("bailiwick_node_departures_total")


def test_counters_begin_at_the_end_and_the_index_where_it_was(tmp_path: Path) -> None:
    journal = GrownJournal(kept_max=10_000)
    journal.grow(4)
    telemetry = Telemetry.open(tmp_path)
    telemetry_follows(telemetry, journal.durable)
    assert telemetry.find("c-3").records[0].seq == 3
    journal.grow(2)
    assert telemetry.find("c-5").records[0].seq == 5
    assert departures(telemetry) == 2
    telemetry.close()
    journal.grow(3)
    again = Telemetry.open(tmp_path)
    telemetry_follows(again, journal.durable)
    assert again.find("c-7").records[0].seq == 7  # what came while nobody looked
    assert departures(again) == 0
    again.close()


def test_a_new_table_does_not_read_the_whole_journal(tmp_path: Path) -> None:
    journal = GrownJournal()
    journal.lines = [b""] * (BACKLOG_MAX + 10)
    journal.lines += [line(len(journal.lines) + n) for n in range(3)]
    size = len(journal.lines)
    read: list[int] = []

    def read_store(first: int, limit: int) -> Sequence[bytes]:
        read.append(first)
        return [line(first + n) for n in range(min(limit, size - first))]

    journal.feed.publish(size)
    telemetry = Telemetry.open(tmp_path)
    telemetry_follows(telemetry, DurableLines(journal.feed, read_store))
    telemetry.find("c-0")
    telemetry.close()
    assert read[0] == size - BACKLOG_MAX


class FailingStore:
    """A store that keeps nothing."""

    name = "beyond the port"

    def append(
        self, epoch: int, first: int, lines: Sequence[bytes], *, stamp: bytes | None = None
    ) -> None:
        del stamp
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
