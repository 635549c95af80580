"""What both databases have in common: reading, snapshots, and errors that tell what to do.

Rules:

- ``append`` and ``lead`` go over one session of the writer. Everything else has connections of its
  own, so a follower reads while a leader writes.
- A driver's error never leaves: ``Unavailable`` if trying again may help, ``Damaged`` if the stored
  data contradicts itself. Afterwards the store works again by itself, on a new connection.
- ``read`` answers only what lies below the writer's size, and counts what it got: a missing record
  is ``Damaged``, not a shorter answer.
- A store may be used by several threads at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import Lock, RLock
from typing import ClassVar, TypeVar

from sqlalchemy import Connection, Engine, delete, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from bailiwick.ports import Leader, StoredSnapshot, StoredStamp
from bailiwick.store import snapshot_rows
from bailiwick.store.migrations import HEAD, revision_of
from bailiwick.store.tables import journal, stamps, writer
from bailiwick.vocab.errors import BailiwickError, Damaged, Deposed, InvalidValue, Unavailable

T = TypeVar("T")


class SqlStore(ABC):
    """A journal store made of SQL; see :class:`bailiwick.ports.JournalStore` for its promises."""

    driver_error: ClassVar[type[Exception]]
    """The root of the driver's own errors."""

    def __init__(self, engine: Engine, where: str, *, read_only: bool) -> None:
        self._engine = engine
        self._where = where
        self._read_only = read_only
        self._writing = RLock()
        self._saving = Lock()
        self._leads = False
        self._closed = False

    @property
    def where(self) -> str:
        """The file or address, without a password: for a person."""
        return self._where

    # --- what each database does in its own way ---

    @abstractmethod
    def lead(self, name: str, address: str) -> Leader | None:
        """Try to become the writer, with a new epoch; ``None`` while somebody else is."""

    @abstractmethod
    def resign(self) -> None:
        """Let another lead; a store that does not lead does nothing."""

    @abstractmethod
    def append(
        self, epoch: int, first: int, lines: Sequence[bytes], *, stamp: bytes | None = None
    ) -> None:
        """Keep these records, the first being number ``first``. A line ends in a newline."""

    @abstractmethod
    def changing(self) -> AbstractContextManager[Connection]:
        """A transaction that may write, alone on the rows it has read for update."""

    def change_together(self, act: Callable[[Connection], T]) -> T:
        """Carry out a small change, durable when it is answered; others may share its commit."""
        with self.changing() as connection:
            return act(connection)

    @abstractmethod
    def _run_steps(self, steps: Iterator[snapshot_rows.Step]) -> None:
        """Carry out the steps of saving a snapshot without holding up ``append``."""

    @abstractmethod
    def _told(self, error: Exception) -> BailiwickError | None:
        """What a driver's error means; ``None`` if it can only be our own mistake."""

    # --- reading ---

    def leader(self) -> Leader | None:
        """The last leader that was made, reachable or not; ``None`` if there never was one."""
        query = select(writer.c.epoch, writer.c.name, writer.c.address)
        row = self._ask(lambda connection: connection.execute(query).one_or_none())
        if row is None:
            raise self._no_writer_row()
        return Leader(row.epoch, row.name, row.address) if row.epoch else None

    def clock_ms(self) -> int | None:
        """None: a file has no clock of its own."""
        self._check_open()
        return None

    def size(self) -> int:
        """How many records there are."""
        return self._ask(self._size)

    def read(self, first: int, limit: int) -> list[bytes]:
        """Up to ``limit`` lines from number ``first`` on, in order and without a gap."""
        for field, value in (("first", first), ("limit", limit)):
            if value < 0:
                raise InvalidValue(field, value, "0 or more")
        return self._ask(lambda connection: self.read_with(connection, first, limit=limit))

    def read_with(self, connection: Connection, first: int, *, limit: int) -> list[bytes]:
        """As ``read``, inside a transaction that the caller has open."""
        # The size first: it only grows, so every record below it must be in the second answer.
        count = max(0, min(limit, self._size(connection) - first))
        if count == 0:
            return []
        span = journal.c.seq.between(first, first + count - 1)
        query = select(journal.c.line).where(span).order_by(journal.c.seq)
        lines = list(connection.scalars(query))
        if len(lines) != count:
            found = set(connection.scalars(select(journal.c.seq).where(span)))
            missing = next(seq for seq in range(first, first + count) if seq not in found)
            raise Damaged("journal", f"record {missing} of {self._where}", "it is missing")
        for seq, line in enumerate(lines, first):
            if type(line) is not bytes:  # SQLite keeps whatever somebody has put there by hand
                raise Damaged("journal", f"record {seq} of {self._where}", "it is not bytes")
        return lines

    def last_stamp(self, size: int) -> StoredStamp | None:
        """The newest stamp of a batch that ended with at most so many records; or ``None``."""
        query = select(stamps).where(stamps.c.size <= size).order_by(stamps.c.size.desc()).limit(1)
        row = self._ask(lambda connection: connection.execute(query).one_or_none())
        return None if row is None else StoredStamp(row.size, row.epoch, bytes(row.mark))

    def cut(self, size: int) -> None:
        """Keep only so many records; for whoever leads, to take out what no leader wrote."""
        with self._writing:
            if not self._leads:
                raise self._deposed(0)
            with self.changing() as connection:
                connection.execute(delete(journal).where(journal.c.seq >= size))
                connection.execute(delete(stamps).where(stamps.c.size > size))
                connection.execute(update(writer).values(size=size))

    # --- snapshots ---

    def save_snapshot(self, snapshot: StoredSnapshot) -> None:
        """Keep this snapshot, and forget older ones but the last few."""
        self._check_open(to_write=True)
        with self._saving, self._failures():
            self._run_steps(snapshot_rows.saving_steps(snapshot))

    def snapshots(self) -> list[int]:
        """Sizes of the snapshots that are kept, newest first."""
        return self._ask(snapshot_rows.sizes)

    def load_snapshot(self, size: int) -> StoredSnapshot | None:
        """That snapshot, or ``None`` if it is gone."""
        return self._ask(lambda connection: snapshot_rows.load(connection, size))

    # --- for the other modules of this package ---

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads."""
        self._check_open()
        with self._failures(), self._engine.connect() as connection:
            yield connection

    def close(self) -> None:
        """Let go of everything; leadership ends."""
        with self._writing:
            if not self._closed:
                self.resign()
                self._closed = True
                self._engine.dispose()

    def __enter__(self) -> SqlStore:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    # --- what the two databases build on ---

    def _ask(self, question: Callable[[Connection], T]) -> T:
        """Ask once more if the connection turns out to have been lost while nobody used it."""
        self._check_open()
        with self._failures():
            try:
                with self._engine.connect() as connection:
                    return question(connection)
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
            with self._engine.connect() as connection:
                return question(connection)

    def _size(self, connection: Connection) -> int:
        size: int | None = connection.scalar(select(writer.c.size))
        if size is None:
            raise self._no_writer_row()
        return size

    def _no_writer_row(self) -> Damaged:
        return Damaged("journal", self._where, "the table of the writer is empty")

    def _deposed(self, epoch: int) -> Deposed:
        current = self.leader()
        return Deposed(epoch, current.epoch if current else 0)

    def _check_open(self, *, to_write: bool = False) -> None:
        if self._closed:
            raise Unavailable(self._where, "the store was closed")
        if to_write and self._read_only:
            raise Unavailable(self._where, "it was opened only to read")

    def _refuse_old_tables(self, connection: Connection) -> None:
        """A reader cannot bring tables up to date; a newer revision is refused in any case."""
        found = revision_of(connection)
        if found != HEAD:
            why = f"its tables are at {found or 'nothing'}, not at {HEAD}: open it to write once"
            raise Unavailable(self._where, why)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Tell a driver's error in our words."""
        try:
            yield
        except DBAPIError as error:
            told = self._told(error.orig) if isinstance(error.orig, Exception) else None
            if told is None:
                raise
            raise told from error
        except PoolTimeout as error:
            raise Unavailable(self._where, "every connection is busy") from error
        except self.driver_error as error:
            told = self._told(error)
            if told is None:
                raise
            raise told from error


def check_lines(first: int, lines: Sequence[bytes]) -> None:
    """Refuse a batch that could not be read back line by line."""
    if first < 0:
        raise InvalidValue("first", first, "0 or more")
    for line in lines:
        if not line.endswith(b"\n"):
            raise InvalidValue("lines", line, "lines that end in a newline")


def first_line(error: Exception) -> str:
    """What a driver says, without the lines it adds for a screen."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
