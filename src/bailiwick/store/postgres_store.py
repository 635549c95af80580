"""The journal in PostgreSQL: for several machines, of which one leads and the others follow.

Rules:

- The leader holds an advisory lock on one session, and appends over that very session: when the
  session dies, by whatever cause, so does the lock, and nothing can be appended over it.
- A batch is one statement that claims its numbers on the writer's row and inserts the lines. It is
  a transaction of its own: one round trip, all or nothing, and the claim fails for an old epoch.
- The row stays locked until the commit, so records become visible in the order of their numbers,
  and a follower that reads on from the last one skips none.
- Every wait has an end: to connect, for a lock, for a statement, for a peer that is gone. A leader
  that stands still (stopped, swapped out, cut off) loses its session, and so the lock.
- After a lost session the store leads no more, until ``lead`` says so again.

A pooler that hands one server session to many clients cannot stand between: session locks would
belong to nobody in particular.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, cast

import psycopg
from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from bailiwick.ports import Leader
from bailiwick.store.migrations import HEAD, migrate, revision_of
from bailiwick.store.snapshot_rows import Step
from bailiwick.store.sql_store import SqlStore, check_lines, first_line
from bailiwick.vocab.errors import BailiwickError, Damaged, InvalidValue, Unavailable

APPLICATION = "bailiwick"
LEADER_APPLICATION = "bailiwick-leader"
"""What the database calls the session that leads, or waits to lead."""

# The class of our advisory locks ("BAIL"); the second number tells one schema from another.
_LOCK_CLASS = 0x4241494C
_LEAD = f"SELECT pg_try_advisory_lock({_LOCK_CLASS}, hashtext(current_schema()))"
_MIGRATE = f"SELECT pg_advisory_xact_lock({_LOCK_CLASS} + 1, hashtext(current_schema()))"
_NEW_EPOCH = """
UPDATE writer SET epoch = epoch + 1, name = %s, address = %s WHERE id = 1 RETURNING epoch
"""
_APPEND = """
WITH claimed AS (
  UPDATE writer SET size = size + %(count)s
  WHERE id = 1 AND epoch = %(epoch)s AND size = %(first)s
  RETURNING epoch
), stamped AS (
  INSERT INTO stamps (size, epoch, mark)
  SELECT %(first)s::bigint + %(count)s, claimed.epoch, %(stamp)b::bytea
  FROM claimed WHERE %(stamp)b::bytea IS NOT NULL
)
INSERT INTO journal (seq, epoch, line)
SELECT %(first)s::bigint + given.n - 1, claimed.epoch, given.line
FROM claimed, unnest(%(lines)b::bytea[]) WITH ORDINALITY AS given (line, n)
"""
_MAY_APPEND = "SELECT 1 FROM writer WHERE id = 1 AND epoch = %s AND size = %s"
_KEEP_DURABLE = """
SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') = 'off'
"""
_CLOCK = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
# A stopped process keeps its connection, so nothing else would end its leadership. A leader that
# works says something twice a second. PostgreSQL has this limit since version 14.
_LET_GO_WHEN_IDLE = """
SELECT set_config('idle_session_timeout', '6s', false)
WHERE current_setting('server_version_num')::int >= 140000
"""

# Ours, then the server's side of the same connection: both must notice a peer that is gone.
_CONNECT: Mapping[str, int | str] = {
    "connect_timeout": 5,
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
_SETTINGS: Mapping[str, int | str] = {
    "statement_timeout": 15_000,
    "lock_timeout": 5_000,
    "idle_in_transaction_session_timeout": 60_000,
    "tcp_keepalives_idle": 5,
    "tcp_keepalives_interval": 2,
    "tcp_keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "default_transaction_isolation": r"read\ committed",
}
_DATA_CORRUPTED = ("XX001", "XX002")
_NOT_ALLOWED = "42501"


class PostgresStore(SqlStore):
    """A journal store in a PostgreSQL database."""

    driver_error = psycopg.Error

    def __init__(self, address: str, *, read_only: bool = False) -> None:
        url = _parse(address)
        extra = {"default_transaction_read_only": "on"} if read_only else {}
        pool = {"pool_size": 4, "max_overflow": 12, "pool_timeout": 10}
        engine = _make_engine(url, APPLICATION, extra, **pool)
        shown = url.set(drivername="postgresql").render_as_string(hide_password=True)
        super().__init__(engine, shown, read_only=read_only)
        self._sessions = _make_engine(url, LEADER_APPLICATION, extra, poolclass=NullPool)
        self._session: psycopg.Connection[tuple[Any, ...]] | None = None
        try:
            self._prepare()
        except BaseException:
            self._engine.dispose()
            raise

    def lead(self, name: str, address: str) -> Leader | None:
        """Try to become the writer, with a new epoch; ``None`` while somebody else is."""
        self._check_open(to_write=True)
        with self._writing, self._failures():
            self._leads = False
            try:
                session = self._session = self._session or self._open_session()
                if not _one(session.execute(_LEAD)):
                    return None
                epoch: int | None = _one(session.execute(_NEW_EPOCH, (name, address)))
            except BaseException:
                # Closing the session is the only sure way to let go of the lock.
                self._drop_session()
                raise
            if epoch is None:
                self._drop_session()
                raise self._no_writer_row()
            self._leads = True
            return Leader(epoch, name, address)

    def clock_ms(self) -> int | None:
        """What time it is on the server's machine."""
        found = self._ask(lambda connection: connection.exec_driver_sql(_CLOCK).scalar_one())
        return int(found)

    def resign(self) -> None:
        """Let another lead; a store that does not lead does nothing."""
        with self._writing:
            self._leads = False
            if self._session is not None:
                # The server notices a closed session a little later; the lock must be free now.
                with suppress(psycopg.Error):
                    self._session.execute("SELECT pg_advisory_unlock_all()")
            self._drop_session()

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
        session = self._session
        if session is None:
            return False
        try:
            if not lines:
                return _one(session.execute(_MAY_APPEND, (epoch, first))) is not None
            given: dict[str, Any] = {"count": len(lines), "epoch": epoch, "first": first}
            given |= {"lines": list(lines), "stamp": stamp}
            return session.execute(_APPEND, given).rowcount == len(lines)
        except BaseException:
            if session.closed or not _is_idle(session):
                self._leads = False
                self._drop_session()
            raise

    @contextmanager
    def changing(self) -> Iterator[Connection]:
        """A transaction that may write; rows it reads for update are its own until it ends."""
        self._check_open(to_write=True)
        with self._failures(), self._engine.begin() as connection:
            yield connection

    def _run_steps(self, steps: Iterator[Step]) -> None:
        with self.changing() as connection:
            for step in steps:
                step(connection)

    def _told(self, error: Exception) -> BailiwickError | None:
        state = getattr(error, "sqlstate", None)
        if state in _DATA_CORRUPTED or isinstance(error, psycopg.IntegrityError):
            return Damaged("database", self._where, first_line(error))
        ours = (psycopg.ProgrammingError, psycopg.DataError, psycopg.NotSupportedError)
        if isinstance(error, ours) and state != _NOT_ALLOWED:
            return None
        return Unavailable(self._where, first_line(error))

    def _open_session(self) -> psycopg.Connection[tuple[Any, ...]]:
        pooled = self._sessions.raw_connection()
        session = cast("psycopg.Connection[tuple[Any, ...]]", pooled.driver_connection)
        pooled.detach()
        session.autocommit = True
        session.execute(_LET_GO_WHEN_IDLE)
        return session

    def _drop_session(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with suppress(psycopg.Error):
                session.close()

    def _prepare(self) -> None:
        """See that the tables are those of this version; make them if we may."""
        if self._read_only:
            self._ask(self._refuse_old_tables)
        elif self._ask(revision_of) != HEAD:
            with self.changing() as connection:
                connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
                connection.exec_driver_sql("SET LOCAL lock_timeout = '60s'")
                connection.exec_driver_sql(_MIGRATE)
                migrate(connection)


def _parse(address: str) -> URL:
    try:
        url = make_url(address)
    except (ArgumentError, ValueError) as error:
        raise InvalidValue("store", "postgresql://...", "an address as libpq reads it") from error
    return url.set(drivername="postgresql+psycopg")


def _make_engine(
    url: URL, application: str, settings: Mapping[str, int | str], **pool: Any
) -> Engine:
    """An engine with our limits; what the address itself says goes first."""
    own = " ".join(f"-c {name}={value}" for name, value in {**_SETTINGS, **settings}.items())
    said = url.query.get("options", "")
    options = " ".join([own, *([said] if isinstance(said, str) else said)]).strip()
    arguments = {"application_name": application, **_CONNECT}
    arguments = {name: value for name, value in arguments.items() if name not in url.query}
    engine = create_engine(
        url.difference_update_query(["options"]),
        connect_args={**arguments, "options": options},
        **pool,
    )
    event.listen(engine, "connect", _keep_durable)
    return engine


def _keep_durable(connection: psycopg.Connection[tuple[Any, ...]], record: object) -> None:
    """A server may be set to forget the last commits in a crash; we promise that it does not."""
    del record
    connection.execute(_KEEP_DURABLE)
    connection.commit()


def _one(cursor: psycopg.Cursor[tuple[Any, ...]]) -> Any:
    row = cursor.fetchone()
    return None if row is None else row[0]


def _is_idle(session: psycopg.Connection[tuple[Any, ...]]) -> bool:
    return session.info.transaction_status is psycopg.pq.TransactionStatus.IDLE
