"""A database on the simulated disk, and the store that one replica reaches it with.

Rules:

- The log is a file of frames: magic, length, CRC-32, epoch, first number, lines. A commit is one
  frame, written and synced before anybody hears of it. On opening, the log ends at the first bad
  frame: nobody was told of that one. A good frame behind a bad one is damage, and is said so.
- A failed fsync takes the database down: what the cache shows then proves nothing.
- The advisory lock belongs to a session and goes with it. The epoch guards what the lock cannot.
- A *bound* store appends over the session that leads, as on PostgreSQL. One that is not bound
  appends over any connection, as the port allows: there only epoch and size refuse a late batch.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar
from zlib import crc32

from bailiwick.ports import Leader, StoredSnapshot
from bailiwick.vocab.errors import Damaged, Deposed, Unavailable
from tests.simulation.disk import DiskError, SimDisk

LOG = "journal"
SNAPSHOTS_KEPT = 3
_MAGIC = b"\xf5\x9aBWfr\x00\x01"
_HEAD = struct.Struct("<8sIIQQ")
_LEADS = 2**64 - 1
"""In place of a first number: this frame makes a leader."""

T = TypeVar("T")


class DatabaseDown(Exception):
    """Nobody answers at the other end."""


@dataclass(slots=True)
class Session:
    """The server's end of one connection that may lead."""

    owner: str
    alive: bool = True
    late: list[Callable[[], None]] = field(default_factory=list)
    """What was sent, has not been carried out yet, and whose sender no longer waits."""


class Watcher(Protocol):
    """Who is told of everything that became durable."""

    def led(self, epoch: int) -> None:
        """This is the last epoch that was made."""

    def committed(self, epoch: int, lines: Sequence[bytes]) -> None:
        """These lines are the journal's newest, and durable."""

    def recovered(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """The database came up again with this journal: epoch and line of each record."""

    def at_risk(self, where: str) -> bool:
        """Whether the database dies right here."""


class SimDatabase:
    """The one place where the journal lasts."""

    def __init__(self, disk: SimDisk, watcher: Watcher) -> None:
        self.disk, self._watcher = disk, watcher
        self.up = True
        self.sessions: list[Session] = []
        self.lock: Session | None = None
        self.epoch = 0
        self.leader: Leader | None = None
        self.rows: list[tuple[int, bytes]] = []
        self._end = 0

    # -- sessions ------------------------------------------------------------------------------

    def connect(self, owner: str) -> Session:
        """A new session."""
        self.check_up()
        session = Session(owner)
        self.sessions.append(session)
        return session

    def cut(self, session: Session) -> None:
        """The session is over, and the lock and whatever it had not begun with it."""
        session.alive = False
        session.late.clear()
        if session in self.sessions:
            self.sessions.remove(session)
        if self.lock is session:
            self.lock = None

    def check_up(self) -> None:
        """Nobody answers while the database is down."""
        if not self.up:
            raise DatabaseDown

    # -- the journal ---------------------------------------------------------------------------

    def lead(self, session: Session, name: str, *, address: str) -> Leader | None:
        """Take the lock and a new epoch, if the lock is free."""
        self.check_up()
        if not session.alive or self.lock not in (None, session):
            return None
        self.lock = session
        made = Leader(self.epoch + 1, name, address)
        self._commit(made.epoch, _LEADS, f"{name}\n{address}".encode())
        self.epoch, self.leader = made.epoch, made
        self._watcher.led(made.epoch)
        return made

    def append(
        self, epoch: int, first: int, lines: Sequence[bytes], *, stamp: bytes | None = None
    ) -> None:
        """Keep a batch, if its epoch is the last one made and it begins at the journal's end."""
        del stamp
        self.check_up()
        if not self.may_append(epoch, first):
            raise Deposed(epoch, self.epoch)
        if lines:
            self._commit(epoch, first, b"".join(lines))
            self.rows.extend((epoch, line) for line in lines)
            self._watcher.committed(epoch, lines)
            self._die_maybe("after the commit")

    def may_append(self, epoch: int, first: int) -> bool:
        """The check that keeps a deposed leader out."""
        return epoch == self.epoch and first == len(self.rows)

    def _commit(self, epoch: int, first: int, payload: bytes) -> None:
        self._die_maybe("before the commit")
        check = crc32(struct.pack("<QQ", epoch, first) + payload)
        frame = _HEAD.pack(_MAGIC, len(payload), check, epoch, first) + payload
        try:
            self.disk.write(LOG, self._end, frame)
        except DiskError as error:
            self.disk.truncate(LOG, self._end)
            raise Unavailable("database", error) from error
        self._die_maybe("between write and fsync")
        self.make_durable()
        self._end += len(frame)

    def make_durable(self) -> None:
        """Sync the log; a log that cannot be synced takes the database down."""
        try:
            self.disk.fsync(LOG)
        except DiskError as error:
            self.crash()
            raise DatabaseDown from error

    def _die_maybe(self, where: str) -> None:
        if self._watcher.at_risk(where):
            self.crash()
            raise DatabaseDown

    # -- dying and coming back -----------------------------------------------------------------

    def crash(self) -> None:
        """The machine goes down; what was not synced may be lost or torn."""
        self.up, self.lock = False, None
        for session in list(self.sessions):
            self.cut(session)
        self.disk.crash()

    def start(self) -> None:
        """Read the log back, and cut off what no commit ever finished."""
        self.rows, self.epoch, self.leader = [], 0, None
        log, at = self.disk.read(LOG), 0
        frame = _frame_at(log, at)
        while frame is not None:  # bounded: every frame is longer than nothing
            epoch, first, payload, at = frame
            if first == _LEADS:
                name, address = payload.decode().split("\n")
                self.epoch, self.leader = epoch, Leader(epoch, name, address)
            elif first != len(self.rows):
                raise Damaged("database", f"byte {at}", f"record {len(self.rows)} is missing")
            else:
                self.rows.extend((epoch, line) for line in payload.splitlines(keepends=True))
            frame = _frame_at(log, at)
        after = log.find(_MAGIC, at + 1)
        while after >= 0:  # bounded: it moves on through the tail
            if _frame_at(log, after) is not None:
                raise Damaged("database", f"byte {at}", "a bad frame with a good one behind it")
            after = log.find(_MAGIC, after + 1)
        self.disk.truncate(LOG, at)
        self._end, self.up = at, True
        self._watcher.recovered(self.rows)
        self._watcher.led(self.epoch)

    # -- snapshots -----------------------------------------------------------------------------

    def save_snapshot(self, snapshot: StoredSnapshot) -> None:
        """Keep it; only the newest few stay."""
        self.check_up()
        name = snapshot_name(snapshot.size)
        head = f"{snapshot.size}\n{snapshot.anchor}\n{snapshot.digest}\n".encode()
        self.disk.remove(name)
        try:
            self.disk.write(name, 0, head + snapshot.data)
            self.disk.fsync(name)
        except DiskError as error:
            self.disk.remove(name)
            raise Unavailable("database", error) from error
        for size in self.snapshots()[SNAPSHOTS_KEPT:]:
            self.disk.remove(snapshot_name(size))

    def snapshots(self) -> list[int]:
        """Sizes, newest first."""
        self.check_up()
        found = (n.partition("-") for n in self.disk.names())
        return sorted((int(size) for kind, _, size in found if kind == "snapshot"), reverse=True)

    def load_snapshot(self, size: int) -> StoredSnapshot | None:
        """What is left of it."""
        self.check_up()
        data = self.disk.read(snapshot_name(size))
        if not data:
            return None
        parts = data.split(b"\n", 3)
        try:
            told, anchor, digest = (part.decode() for part in parts[:3])
            return StoredSnapshot(int(told), anchor, digest, parts[3])
        except (ValueError, IndexError) as error:
            raise Damaged("snapshot", size, error) from error


def snapshot_name(size: int) -> str:
    """The file that holds the snapshot of this size."""
    return f"snapshot-{size}"


def _frame_at(log: bytes, at: int) -> tuple[int, int, bytes, int] | None:
    """Epoch, first number, payload and the frame's end, if a whole good frame begins here."""
    if len(log) - at < _HEAD.size:
        return None
    magic, length, check, epoch, first = _HEAD.unpack_from(log, at)
    end = at + _HEAD.size + length
    payload = log[at + _HEAD.size : end]
    if magic != _MAGIC or len(payload) != length:
        return None
    if crc32(struct.pack("<QQ", epoch, first) + payload) != check:
        return None
    return epoch, first, payload, end


class Network(Protocol):
    """What may happen to a request on its way to the database and to its answer."""

    def on_the_way(self, name: str, *, back: bool) -> None:
        """Let time pass, others act, the caller die; or lose the message (``Unavailable``)."""

    def true_ms(self) -> int:
        """What a clock that is right shows."""

    def comes_late(self) -> bool:
        """Whether a batch arrives only after its sender has given up."""

    def abandon(self, session: Session) -> None:
        """The client is gone; the server notices in its own time."""


class SimStore:
    """One replica's way to the database."""

    def __init__(self, database: SimDatabase, network: Network, *, name: str, bound: bool) -> None:
        self._database, self._network = database, network
        self._name, self._bound = name, bound
        self._session: Session | None = None
        self._leads = False

    def lead(self, name: str, address: str) -> Leader | None:
        """Try to become the writer."""
        self._leads = False
        session = self._leading_session()
        try:
            found = self._ask(lambda: self._database.lead(session, name, address=address))
        except BaseException:
            self._drop_session()
            raise
        self._leads = found is not None
        return found

    def leader(self) -> Leader | None:
        """The last leader that was made."""

        def ask() -> Leader | None:
            self._database.check_up()
            return self._database.leader

        return self._ask(ask)

    def clock_ms(self) -> int | None:
        """The database's machine has a good clock."""
        return self._ask(self._database_clock)

    def _database_clock(self) -> int:
        self._database.check_up()
        return self._network.true_ms()

    def resign(self) -> None:
        """Let another lead; if the word does not arrive, the server finds out by itself."""
        self._leads = False
        session = self._session
        if session is None:
            return
        try:
            self._ask(lambda: self._database.cut(session))
        finally:
            self._drop_session()

    def append(
        self, epoch: int, first: int, lines: Sequence[bytes], *, stamp: bytes | None = None
    ) -> None:
        """Keep these records; replicas here put no stamps."""
        del stamp
        database, session = self._database, self._session
        if not self._leads:
            raise Deposed(epoch, database.epoch)
        if self._bound and (session is None or not session.alive):
            self._leads = False
            self._drop_session()
            raise Unavailable("database", "the session was lost")
        kept = list(lines)
        if session is not None and self._network.comes_late():
            session.late.append(lambda: database.append(epoch, first, kept))
            self._leads = False
            self._drop_session()
            raise Unavailable("database", "no answer in time")
        try:
            self._ask(lambda: self._append(session, epoch, first=first, lines=kept))
        except Unavailable:
            self._leads = False
            self._drop_session()
            raise

    def _append(
        self, session: Session | None, epoch: int, *, first: int, lines: list[bytes]
    ) -> None:
        # The session may have been cut while the batch was on its way.
        if self._bound and (session is None or not session.alive):
            raise DatabaseDown
        self._database.append(epoch, first, lines)

    def size(self) -> int:
        """How many records there are."""
        return len(self.read(0, 2**31))

    def read(self, first: int, limit: int) -> list[bytes]:
        """Lines from this number on."""

        def ask() -> list[bytes]:
            self._database.check_up()
            return [line for _, line in self._database.rows[first : first + limit]]

        return self._ask(ask)

    def last_stamp(self, size: int) -> None:
        """None."""
        del size

    def save_snapshot(self, snapshot: StoredSnapshot) -> None:
        """Keep this snapshot."""
        self._ask(lambda: self._database.save_snapshot(snapshot))

    def snapshots(self) -> list[int]:
        """Sizes of the snapshots that are kept, newest first."""
        return self._ask(self._database.snapshots)

    def load_snapshot(self, size: int) -> StoredSnapshot | None:
        """That snapshot, or ``None`` if it is gone."""
        return self._ask(lambda: self._database.load_snapshot(size))

    def close(self) -> None:
        """Let go of everything."""
        self._leads = False
        self._drop_session()

    def _ask(self, question: Callable[[], T]) -> T:
        """There and back; the answer may be lost when all is done."""
        self._network.on_the_way(self._name, back=False)
        try:
            answer = question()
        except DatabaseDown as error:
            raise Unavailable("database", "nobody answers") from error
        self._network.on_the_way(self._name, back=True)
        return answer

    def _leading_session(self) -> Session:
        if self._session is None or not self._session.alive:
            try:
                self._session = self._database.connect(self._name)
            except DatabaseDown as error:
                raise Unavailable("database", "nobody answers") from error
        return self._session

    def _drop_session(self) -> None:
        session, self._session = self._session, None
        if session is not None and session.alive:
            self._network.abandon(session)
