"""What was seen lately, in a bounded file of its own: spans, log lines, and where records are.

Rules:

- Nobody waits for it. Rows are queued and one thread writes them, many at a time; when the queue is
  full a row is dropped and counted. A disk that fails costs rows, never a request.
- It is bounded by age and by size; the oldest goes first. It can be deleted at any time: the
  journal is the truth, this is only what makes it quick to look into.
- A file that is damaged, or of another version, is put aside and a new one is begun; also under a
  server that runs. Who looks meanwhile finds nothing.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import deque
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bailiwick.telemetry.rows import FoundRows, LogRow, RecordRow, Row, SpanRow

VERSION: Final = 1
_TABLES: Final[dict[type[Row], str]] = {SpanRow: "spans", LogRow: "log_lines", RecordRow: "records"}
_TIMES: Final = {"spans": "at_us / 1000", "log_lines": "at_us / 1000", "records": "at_ms"}
_TERMS: Final[dict[str, Any]] = {
    "isolation_level": None,
    "check_same_thread": False,
    "timeout": 5.0,
}
_SCHEMA: Final = """
CREATE TABLE spans (
  correlation_id TEXT NOT NULL, at_us INTEGER NOT NULL, duration_us INTEGER NOT NULL,
  name TEXT NOT NULL, trace_id TEXT NOT NULL, span_id TEXT NOT NULL, parent_id TEXT, root_id TEXT,
  principal TEXT, tenant TEXT, project TEXT, details TEXT NOT NULL);
CREATE TABLE log_lines (
  correlation_id TEXT NOT NULL, at_us INTEGER NOT NULL, level TEXT NOT NULL, event TEXT NOT NULL,
  root_id TEXT, tenant TEXT, project TEXT, details TEXT NOT NULL);
CREATE TABLE records (
  correlation_id TEXT NOT NULL, seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL,
  kind TEXT NOT NULL, tenant TEXT, project TEXT);
CREATE INDEX spans_by_correlation ON spans (correlation_id);
CREATE INDEX log_lines_by_correlation ON log_lines (correlation_id);
CREATE INDEX records_by_correlation ON records (correlation_id);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLimits:
    """How much is kept, and how much may wait to be written."""

    queue_max: int = 20_000
    keep_s: int = 7 * 24 * 3600
    bytes_max: int = 256 << 20
    write_s: float = 0.2
    """How often what has been queued is written."""
    prune_s: float = 60.0
    rows_max: int = 500
    """Rows of each sort that one look gives back."""


class LocalTable:
    """The file and the thread that writes it."""

    def __init__(self, path: Path, *, limits: TableLimits | None = None) -> None:
        self.path, self.limits = path, limits or TableLimits()
        self.dropped = 0
        self.written = 0
        self._queue: deque[Row | threading.Event] = deque()
        self._wake = threading.Event()
        self._ending = False
        self._pruned = time.monotonic()
        self._is_damaged = False
        self.last_seq = -1
        try:
            self._connection = _open(path)
            self._inode = path.stat().st_ino
            self.last_seq = _last_seq(self._connection)
        except (sqlite3.Error, OSError):  # a disk that is full or read-only: tried with each row
            self._connection, self._inode = sqlite3.connect(":memory:", **_TERMS), 0
        self._thread = threading.Thread(target=self._run, name="telemetry-table", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Rows that are not written yet."""
        return len(self._queue)

    def put(self, row: Row) -> None:
        """Keep a row, if there is room in the queue; from any thread."""
        if len(self._queue) >= self.limits.queue_max or self._ending:
            self.dropped += 1
            return
        self._queue.append(row)

    def flush(self, wait_s: float) -> bool:
        """Whether all that was put before is written within the time."""
        done = threading.Event()
        self._queue.append(done)
        self._wake.set()
        return done.wait(wait_s)

    def find(self, correlation_id: str) -> FoundRows:
        """What is kept under a correlation id, oldest first."""
        try:
            return self._find(correlation_id, self.limits.rows_max)
        except sqlite3.OperationalError:
            return FoundRows(
                [], [], [], False
            )  # it was deleted, and is made again with the next row
        except sqlite3.DatabaseError:
            self._is_damaged = True
            return FoundRows([], [], [], False)

    def close(self) -> None:
        """Write what is queued, and let go of the file."""
        self._ending = True
        self._wake.set()
        self._thread.join(10.0)

    def _find(self, correlation_id: str, most: int) -> FoundRows:
        with closing(sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)) as it:
            spans = [SpanRow(*row) for row in _rows(it, SpanRow, correlation_id, most=most)]
            logs = [LogRow(*row) for row in _rows(it, LogRow, correlation_id, most=most)]
            records = [RecordRow(*row) for row in _rows(it, RecordRow, correlation_id, most=most)]
        is_cut = max(len(spans), len(logs), len(records)) > most
        return FoundRows(spans[:most], logs[:most], records[:most], is_cut)

    # -- the writer's thread -----------------------------------------------------------------

    def _run(self) -> None:
        while not self._ending:  # until closed: this is the writer's own thread
            self._wake.wait(self.limits.write_s)
            self._wake.clear()
            self._write()
        self._write()
        with suppress(sqlite3.Error):
            self._connection.close()

    def _write(self) -> None:
        rows: dict[type[Row], list[Row]] = {kind: [] for kind in _TABLES}
        flushes: list[threading.Event] = []
        for _ in range(len(self._queue)):
            each = self._queue.popleft()
            if isinstance(each, threading.Event):
                flushes.append(each)
            else:
                rows[type(each)].append(each)
        count = sum(map(len, rows.values()))
        try:
            if count:
                self._hold_file()
                self._insert(rows)
                self.written += count
            if time.monotonic() - self._pruned >= self.limits.prune_s:
                self._pruned = time.monotonic()
                self._prune(time.time_ns() // 1_000_000)
        except (sqlite3.Error, OSError) as error:
            self.dropped += count  # a full disk; the next rows may fare better
            # Nothing more special than this is raised for a file that is no database any more.
            self._is_damaged = self._is_damaged or type(error) is sqlite3.DatabaseError
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
        for flush in flushes:
            flush.set()

    def _hold_file(self) -> None:
        """Begin anew if somebody has deleted, replaced or damaged the file."""
        with suppress(FileNotFoundError):
            if self.path.stat().st_ino == self._inode and not self._is_damaged:
                return
        with suppress(sqlite3.Error):
            self._connection.close()
        if self._is_damaged:
            _put_aside(self.path)
        self._connection = _open(self.path)
        self._inode, self._is_damaged = self.path.stat().st_ino, False

    def _insert(self, rows: dict[type[Row], list[Row]]) -> None:
        self._connection.execute("BEGIN")
        for kind, found in rows.items():
            if found:
                places = ",".join("?" * len(kind._fields))
                self._connection.executemany(
                    f"INSERT OR REPLACE INTO {_TABLES[kind]} VALUES ({places})", found
                )
        self._connection.execute("COMMIT")

    def _prune(self, now_ms: int) -> None:
        """Let go of what is too old, then of the oldest tenth while the file is too large."""
        it, before = self._connection, now_ms - 1000 * self.limits.keep_s
        for table, at in _TIMES.items():
            it.execute(f"DELETE FROM {table} WHERE {at} < ?", (before,))
        for _ in range(50):
            if _used(it) <= self.limits.bytes_max:
                break
            for table in _TIMES:
                _drop_oldest_tenth(it, table)
        # As a script, because `execute` would take one step only, and free one page.
        it.executescript("PRAGMA incremental_vacuum")
        it.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _rows(
    connection: sqlite3.Connection, kind: type[Row], correlation_id: str, *, most: int
) -> list[tuple[Any, ...]]:
    names, table = ", ".join(kind._fields), _TABLES[kind]
    return connection.execute(
        f"SELECT {names} FROM {table} WHERE correlation_id = ? ORDER BY rowid LIMIT ?",
        (correlation_id, most + 1),
    ).fetchall()


def _used(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _drop_oldest_tenth(connection: sqlite3.Connection, table: str) -> None:
    low, high = connection.execute(f"SELECT min(rowid), max(rowid) FROM {table}").fetchone()
    if low is not None:
        below = low + (high - low) // 10 + 1
        connection.execute(f"DELETE FROM {table} WHERE rowid < ?", (below,))


def _open(path: Path) -> sqlite3.Connection:
    try:
        return _connect(path)
    except sqlite3.OperationalError:
        raise  # it says something about the disk or about others, and nothing about the file
    except sqlite3.DatabaseError:
        _put_aside(path)
        return _connect(path)


def _connect(path: Path) -> sqlite3.Connection:
    path.touch(mode=0o600)  # before SQLite makes it, and its log after it, for all to read
    connection: sqlite3.Connection = sqlite3.connect(path, **_TERMS)
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        if version == 0:
            connection.executescript(_SCHEMA)
            connection.execute(f"PRAGMA user_version={VERSION}")
        elif version != VERSION:
            raise sqlite3.DatabaseError(f"version {version}")
        _last_seq(connection)
    except sqlite3.Error:
        connection.close()
        raise
    path.chmod(0o600)  # who asked for what is nobody else's business
    return connection


def _last_seq(connection: sqlite3.Connection) -> int:
    found = connection.execute("SELECT max(seq) FROM records").fetchone()[0]
    return -1 if found is None else int(found)


def _put_aside(path: Path) -> None:
    with suppress(FileNotFoundError):
        path.replace(path.with_name(path.name + ".aside"))
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
