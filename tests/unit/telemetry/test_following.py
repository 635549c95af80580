"""Telemetry follows the journal: counters from its end, the index from where it was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bailiwick.ports import Leader
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


class LedStore(FailingStore):
    """A store that lets somebody lead or not, as it is told."""

    leader: Leader | None = None

    def lead(self, name: str, address: str) -> Leader | None:
        return self.leader


def failovers(telemetry: Telemetry) -> tuple[float, float]:
    value = telemetry.metrics.registry.get_sample_value
    name = "bailiwick_failover_seconds"
    return value(f"{name}_count") or 0, value(f"{name}_sum") or 0


def test_a_failover_is_measured_by_who_takes_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    telemetry, inner, now = Telemetry.open(tmp_path), LedStore(), [100.0]
    monkeypatch.setattr("bailiwick.telemetry.telemetry.time.perf_counter", lambda: now[0])
    store = WatchedStore(inner, telemetry.metrics)  # type: ignore[arg-type]
    assert store.lead("two", "") is None  # another leads
    now[0] = 104.0
    assert store.lead("two", "") is None
    inner.leader, now[0] = Leader(5, "two", ""), 110.0
    assert store.lead("two", "") is not None
    assert failovers(telemetry) == (0, 0), "nothing is decided yet"
    now[0] = 111.0
    store.append(5, 0, [b"elected"])
    assert failovers(telemetry) == (1, 7)
    now[0] = 115.0
    store.append(5, 1, [])
    assert failovers(telemetry) == (1, 7), "it leads already"
    with pytest.raises(Unavailable):
        store.append(0, 1, [b"lost"])
    now[0] = 135.0
    assert store.lead("two", "") is not None
    store.append(6, 1, [b"elected"])
    assert failovers(telemetry) == (2, 27), "it lost the store, and nobody else led meanwhile"
    telemetry.close()


def test_the_first_leader_of_all_took_over_from_nobody(tmp_path: Path) -> None:
    telemetry, inner = Telemetry.open(tmp_path), LedStore()
    store = WatchedStore(inner, telemetry.metrics)  # type: ignore[arg-type]
    inner.leader = Leader(1, "one", "")
    assert store.lead("one", "") is not None
    store.append(1, 0, [b"elected"])
    assert failovers(telemetry) == (0, 0)
    telemetry.close()


def test_drops_are_told(tmp_path: Path) -> None:
    telemetry = Telemetry.open(tmp_path)
    telemetry.table.dropped = 3
    for _ in range(2):
        telemetry.expose(Gauges())
    value = telemetry.metrics.registry.get_sample_value
    assert value("bailiwick_telemetry_dropped_total") == 3
    telemetry.close()
