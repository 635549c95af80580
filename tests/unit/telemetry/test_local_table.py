"""The local table: bounded, never waited for, and begun anew when it is damaged."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from bailiwick.telemetry.local_table import LocalTable, TableLimits
from bailiwick.telemetry.rows import LogRow, RecordRow, SpanRow
from tests.support.waiting import WAIT_S

NOW_US = time.time_ns() // 1000


def span(number: int, correlation: str = "c", at_us: int = NOW_US, details: str = "{}") -> SpanRow:
    name = f"{number:016x}"
    return SpanRow(correlation, at_us, 5, "x", "t", name, None, name, None, None, None, details)


def record(seq: int, correlation: str = "c", at_ms: int = NOW_US // 1000) -> RecordRow:
    return RecordRow(correlation, seq, at_ms, "lease_renewed", "lab", None)


@contextmanager
def opened(path: Path, limits: TableLimits | None = None) -> Iterator[LocalTable]:
    table = LocalTable(path, limits=limits)
    try:
        yield table
    finally:
        table.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "telemetry.db"


def test_what_is_put_is_found_by_its_correlation_id(path: Path) -> None:
    log = LogRow("c", NOW_US, "info", "hello", None, None, None, "{}")
    with opened(path) as table:
        for row in (span(1), span(2, "other"), log, record(7), record(8, "other")):
            table.put(row)
        assert table.flush(WAIT_S)
        found = table.find("c")
        assert (found.spans, found.logs, found.records) == ([span(1)], [log], [record(7)])
        assert not found.is_cut
        assert table.find("nobody") == ([], [], [], False)
    with opened(path) as again:
        assert again.find("c").records == [record(7)]
        assert again.last_seq == 8


def test_a_look_is_bounded_and_says_so(path: Path) -> None:
    with opened(path, TableLimits(rows_max=3)) as table:
        for number in range(5):
            table.put(span(number))
        assert table.flush(WAIT_S)
        found = table.find("c")
        assert [row.span_id for row in found.spans] == [f"{n:016x}" for n in range(3)]
        assert found.is_cut


def test_a_full_queue_drops_and_counts(path: Path) -> None:
    with opened(path, TableLimits(queue_max=10, write_s=1000)) as table:
        for number in range(25):
            table.put(span(number))
        assert table.dropped == 15
        assert table.flush(WAIT_S)
        assert len(table.find("c").spans) == 10


def test_what_is_too_old_goes(path: Path) -> None:
    with opened(path, TableLimits(keep_s=3600, prune_s=0)) as table:
        old = NOW_US - 7200 * 1_000_000
        table.put(span(1, at_us=old))
        table.put(record(1, at_ms=old // 1000))
        table.put(span(2))
        assert table.flush(WAIT_S)
        found = table.find("c")
        assert [row.span_id for row in found.spans] == [f"{2:016x}"]
        assert found.records == []


def test_what_is_too_much_goes_oldest_first(path: Path) -> None:
    with opened(path, TableLimits(bytes_max=200_000, prune_s=0, rows_max=10_000)) as table:
        for number in range(2000):
            table.put(span(number, details='{"x": "' + "y" * 300 + '"}'))
        assert table.flush(WAIT_S)
        kept = [int(row.span_id, 16) for row in table.find("c").spans]
        assert 0 < len(kept) < 2000
        assert kept == list(range(2000 - len(kept), 2000))
    assert path.stat().st_size <= 260_000


@pytest.mark.parametrize("content", [b"not a database at all, but long enough " * 50, None])
def test_a_damaged_or_foreign_file_is_put_aside(path: Path, content: bytes | None) -> None:
    if content is None:
        with closing(sqlite3.connect(path)) as newer:
            newer.execute("PRAGMA user_version=99")
    else:
        path.write_bytes(content)
    with opened(path) as table:
        table.put(span(1))
        assert table.flush(WAIT_S)
        assert len(table.find("c").spans) == 1
    assert path.with_name("telemetry.db.aside").exists()


@pytest.mark.parametrize("content", [b"no database at all" * 500, None], ids=["damaged", "deleted"])
def test_a_file_that_is_deleted_or_damaged_meanwhile_is_begun_anew(
    path: Path, content: bytes | None
) -> None:
    with opened(path) as table:
        table.put(record(1))
        assert table.flush(WAIT_S)
        if content is None:
            for each in path.parent.glob("telemetry.db*"):
                each.unlink()
        else:
            with closing(sqlite3.connect(path)) as other:
                other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            path.write_bytes(content)
        assert table.find("c").records == []
        table.put(record(2))
        assert table.flush(WAIT_S)
        assert [row.seq for row in table.find("c").records] == [2]


def test_a_disk_that_takes_no_file_stops_nobody(tmp_path: Path) -> None:
    folder = tmp_path / "absent"
    with opened(folder / "telemetry.db") as table:
        table.put(record(1))
        assert table.flush(WAIT_S)
        assert (table.dropped, table.find("c").records) == (1, [])
        folder.mkdir()
        table.put(record(2))
        assert table.flush(WAIT_S)
        assert [row.seq for row in table.find("c").records] == [2]


def test_nobody_else_reads_it(path: Path) -> None:
    with opened(path):
        assert path.stat().st_mode & 0o077 == 0


def test_a_table_that_cannot_be_written_costs_rows_and_nothing_else(path: Path) -> None:
    with opened(path) as table, closing(sqlite3.connect(path)) as other:
        other.execute("DROP TABLE spans")
        other.commit()
        table.put(span(1))
        table.put(record(1))
        assert table.flush(WAIT_S)
        assert table.dropped == 2
        assert table.written == 0


def test_what_is_put_after_the_end_is_dropped(path: Path) -> None:
    with opened(path) as table:
        pass
    table.put(span(1))
    assert table.dropped == 1
