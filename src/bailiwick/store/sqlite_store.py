"""The journal in one SQLite file: for a single machine, with nothing to install.

Rules:

- Durable: write-ahead log and ``synchronous=FULL``, so a commit is on the disk when it returns.
- Every writing transaction begins with ``BEGIN IMMEDIATE``. With the driver's own transactions, a
  read before the first write would be outside, and two writers would overwrite each other.
- Leading takes a lock on a file in the data directory. The kernel lets go of it when the process
  dies, however it dies. The epoch in the table refuses whoever leads no more but does not know.
- The tables are changed only under that lock: no process leads meanwhile.
- A snapshot is written in many short transactions with pauses, because SQLite has one writer.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, repeat
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event, select, update

from bailiwick.ports import Leader
from bailiwick.store.group_commit import GroupCommit
from bailiwick.store.migrations import HEAD, migrate, revision_of
from bailiwick.store.opening import DATABASE_NAME
from bailiwick.store.snapshot_rows import Step
from bailiwick.store.sql_store import SqlStore, check_lines, first_line
from bailiwick.store.tables import writer
from bailiwick.vocab.errors import BailiwickError, Damaged, NotFound, Unavailable

LOCK_NAME = "bailiwick.lock"
"""The file whose lock the leader holds."""

BUSY_S = 5.0
"""How long to wait for another writer before giving up."""

T = TypeVar("T")

_TRY_EVERY_S = 0.02
_PAUSE_S = 0.002
_CLAIM = "UPDATE writer SET size = size + ? WHERE id = 1 AND epoch = ? AND size = ?"
_INSERT = "INSERT INTO journal (seq, epoch, line) VALUES (?, ?, ?)"
_STAMP = "INSERT INTO stamps (size, epoch, mark) VALUES (?, ?, ?)"
_MEANS_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class SqliteStore(SqlStore):
    """A journal store in a data directory."""

    driver_error = sqlite3.Error

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self._folder = folder
        self._path = folder / DATABASE_NAME
        super().__init__(_make_engine(self._connect), str(self._path), read_only=read_only)
        self._writes = self._engine.execution_options(begin="BEGIN IMMEDIATE")
        self._together = GroupCommit(self.changing, self._writing)
        self._lock = _FileLock(folder / LOCK_NAME)
        self._session: sqlite3.Connection | None = None
        try:
            self._prepare()
        except BaseException:
            self._engine.dispose()
            raise

    def lead(self, name: str, address: str) -> Leader | None:
        """Try to become the writer, with a new epoch; ``None`` while somebody else is."""
        self._check_open(to_write=True)
        with self._writing:
            if not self._take_lock():
                return None
            try:
                with self.changing() as connection:
                    term = {"epoch": writer.c.epoch + 1, "name": name, "address": address}
                    connection.execute(update(writer).values(term))
                    epoch: int = connection.execute(select(writer.c.epoch)).scalar_one()
            except BaseException:
                self.resign()
                raise
            self._leads = True
            return Leader(epoch, name, address)

    def resign(self) -> None:
        """Let another lead; a store that does not lead does nothing."""
        with self._writing:
            self._leads = False
            self._drop_session()
            self._lock.release()

    def append(
        self, epoch: int, first: int, lines: Sequence[bytes], *, stamp: bytes | None = None
    ) -> None:
        """Keep these records, the first being number ``first``. A line ends in a newline."""
        check_lines(first, lines)
        self._check_open(to_write=True)
        with self._writing, self._failures():
            if not (self._leads and self._append(epoch, first, lines, stamp=stamp)):
                raise self._deposed(epoch)

    def _append(
        self, epoch: int, first: int, lines: Sequence[bytes], *, stamp: bytes | None
    ) -> bool:
        """Whether the batch was this epoch's and began where the journal ends."""
        try:
            session = self._session = self._session or self._connect()
            session.execute("BEGIN IMMEDIATE")
            claimed = session.execute(_CLAIM, (len(lines), epoch, first)).rowcount == 1
            if claimed:
                session.executemany(_INSERT, zip(count(first), repeat(epoch), lines, strict=False))
            if claimed and stamp is not None:
                session.execute(_STAMP, (first + len(lines), epoch, stamp))
            session.execute("COMMIT")
        except BaseException:
            # Whatever was half done goes with the session; the next call has a new one.
            self._drop_session()
            raise
        return claimed

    @contextmanager
    def changing(self) -> Iterator[Connection]:
        """A transaction that may write; no other can write before it ends."""
        self._check_open(to_write=True)
        # Waiting here is fairer than SQLite's own waiting, which sleeps and tries again.
        with self._writing, self._failures(), self._writes.begin() as connection:
            yield connection

    def change_together(self, act: Callable[[Connection], T]) -> T:
        """Carry out a small change, in one transaction with those that wait when its turn comes."""
        return self._together.run(act)

    def _run_steps(self, steps: Iterator[Step]) -> None:
        for step in steps:
            with self.changing() as connection:
                step(connection)
            time.sleep(_PAUSE_S)

    def _told(self, error: Exception) -> BailiwickError | None:
        # An extended code has the plain one in its lowest byte.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _MEANS_DAMAGED or isinstance(error, sqlite3.IntegrityError):
            hint = "restore a copy; do not write to this file"
            return Damaged("database", self._path, first_line(error), hint=hint)
        if isinstance(error, sqlite3.OperationalError):
            return Unavailable(self._where, first_line(error))
        return None

    def _connect(self) -> sqlite3.Connection:
        mode = "ro" if self._read_only else "rwc"
        address = f"file:{quote(str(self._path.absolute()))}?mode={mode}"
        # No isolation level: the driver must not begin transactions of its own.
        connection = sqlite3.connect(
            address, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous = FULL")
        # Only macOS needs it: there, a plain fsync does not reach the disk.
        connection.execute("PRAGMA fullfsync = ON")
        if self._read_only:
            connection.execute("PRAGMA query_only = ON")
        return connection

    def _drop_session(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()  # and so rolls back

    def _take_lock(self) -> bool:
        try:
            return self._lock.acquire()
        except OSError as error:
            raise Unavailable(self._where, error) from error

    def _prepare(self) -> None:
        """See that the tables are those of this version; make them if we may."""
        if self._read_only:
            if not self._path.is_file():
                raise NotFound("database", DATABASE_NAME, hint=f"looked in {self._folder}")
            self._ask(self._refuse_old_tables)
            return
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # The folder may have been there, open to all. One that is there keeps its mode, and the
            # log beside it gets the same.
            self._path.touch(mode=0o600)
        except OSError as error:
            raise Unavailable(self._where, error) from error
        for _ in range(int(BUSY_S / _TRY_EVERY_S)):
            if self._ask(_is_ready):
                return
            if self._take_lock():
                try:
                    self._make_ready()
                finally:
                    self._lock.release()
            else:
                time.sleep(_TRY_EVERY_S)
        raise Unavailable(self._where, "its tables are out of date while another process leads")

    def _make_ready(self) -> None:
        with self._failures():
            connection = self._connect()
            try:
                (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            finally:
                connection.close()
        if mode != "wal":
            why = f"no write-ahead log here (it says {mode}); is it a network file system?"
            raise Unavailable(self._where, why)
        with self.changing() as changing:
            migrate(changing)


class _FileLock:
    """A lock that belongs to whoever has the file open, and ends with the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def acquire(self) -> bool:
        """Whether the lock is ours now; never waits."""
        if self._handle is not None:
            return True
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return False
        except OSError:
            os.close(handle)
            raise
        self._handle = handle
        return True

    def release(self) -> None:
        """Let go, if it was ours."""
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)


def _make_engine(connect: object) -> Engine:
    engine = create_engine(
        "sqlite://", creator=connect, poolclass=QueuePool, pool_size=4, max_overflow=12
    )
    event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: Connection) -> None:
    begin: str = connection.get_execution_options().get("begin", "BEGIN")
    connection.exec_driver_sql(begin)


def _is_ready(connection: Connection) -> bool:
    mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
    return mode == "wal" and revision_of(connection) == HEAD
