"""Calls of instances as rows, on either database.

Rules:

- A call is taken once and answered once, by whoever took it, and only in its time. What was taken
  is never handed out again: an operator that dies with it leaves it unanswered, for what was asked
  may have been done.
- Of an instance so many wait at most, and of those that are over the newest few are kept, for
  :data:`KEPT_MS`; of all instances together there are so many. Who comes when it is full is
  refused: nobody who waits is pushed out.
- A question is taken out of its row once it is answered: who reads answers reads no questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    delete,
    func,
    not_,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from bailiwick.apps.calls import CallAnswer, CallQuestion
from bailiwick.store.calls.tables import instance_calls
from bailiwick.store.sql_store import SqlStore
from bailiwick.vocab.apps import CallPhase, CallVerb
from bailiwick.vocab.errors import LimitReached

KEPT_MS: Final = 600_000
"""So long after its time an answer can still be read."""
WAITING_MAX: Final = 64
OVER_MAX: Final = 128
"""Calls of one instance."""
CALLS_MAX: Final = 10_000

_C = instance_calls.c


class CallPlace(NamedTuple):
    """Which instance."""

    tenant: str
    project: str
    instance_id: int

    @property
    def is_it(self) -> ColumnElement[bool]:
        """Its rows."""
        return and_(
            _C.instance_id == self.instance_id,
            _C.tenant == self.tenant,
            _C.project == self.project,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """A call: who asks what of which instance, and what was answered."""

    call_id: int
    place: CallPlace
    verb: CallVerb
    principal: str
    correlation_id: str
    question: CallQuestion | None
    """Gone once it is answered."""
    asked_ms: int
    expires_ms: int
    taken_ms: int | None = None
    taken_by: str | None = None
    answered_ms: int | None = None
    answer: CallAnswer | None = None

    def phase(self, now_ms: int) -> CallPhase:
        """How far it has come."""
        if self.answer is not None:
            return CallPhase.ANSWERED
        if now_ms >= self.expires_ms:
            return CallPhase.UNANSWERED
        return CallPhase.OPEN if self.taken_ms is None else CallPhase.TAKEN


class CallBook:
    """The calls of one database."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def check_room(self, place: CallPlace, *, now_ms: int) -> None:
        """Refuse one call more than there may be, before anything is sealed of it."""
        with self._store.changing() as connection:
            connection.execute(delete(instance_calls).where(_C.expires_ms <= now_ms - KEPT_MS))
            _trim(connection, place, now_ms)
            _check_room(connection, place, now_ms)

    def put(self, call: CallRow) -> None:
        """Keep a question; the same call again changes nothing."""
        assert call.question is not None
        with self._store.changing() as connection:
            _check_room(connection, call.place, call.asked_ms)
            own = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
            told = call.place._asdict() | {
                "call_id": call.call_id,
                "verb": call.verb.value,
                "principal": call.principal,
                "correlation_id": call.correlation_id,
                "question": call.question.canonical,
                "asked_ms": call.asked_ms,
                "expires_ms": call.expires_ms,
            }
            connection.execute(own(instance_calls).values(**told).on_conflict_do_nothing())

    def get(self, place: CallPlace, call_id: int, *, now_ms: int) -> CallRow | None:
        """One call of an instance, unless it is too long ago."""
        which = and_(place.is_it, _C.call_id == call_id, _C.expires_ms > now_ms - KEPT_MS)
        with self._store.reading() as connection:
            row = connection.execute(select(instance_calls).where(which)).one_or_none()
            return None if row is None else _call(row)

    def take(self, place: CallPlace, *, by: str, now_ms: int) -> CallRow | None:
        """The oldest question that nobody took; from now on it is his who took it."""
        is_open = and_(place.is_it, _C.taken_ms.is_(None), _C.expires_ms > now_ms)
        oldest = select(_C.call_id).where(is_open).order_by(_C.call_id).limit(1)
        with self._store.reading() as connection:  # most of the time there is none
            if connection.scalar(oldest) is None:
                return None
        with self._store.changing() as connection:
            number = connection.scalar(oldest)
            which = and_(_C.call_id == number, _C.taken_ms.is_(None))
            values = {"taken_ms": now_ms, "taken_by": by}
            found = connection.execute(update(instance_calls).where(which).values(values))
            if number is None or found.rowcount != 1:  # somebody else was quicker
                return None
            same = select(instance_calls).where(_C.call_id == number)
            return _call(connection.execute(same).one())

    def answer(
        self, place: CallPlace, call_id: int, *, by: str, answer: CallAnswer, now_ms: int
    ) -> bool:
        """Keep the answer of who took a call; whether it was his, in time, and the first."""
        which = and_(
            place.is_it,
            _C.call_id == call_id,
            _C.taken_by == by,
            _C.answered_ms.is_(None),
            _C.expires_ms > now_ms,
        )
        values = {
            "answered_ms": now_ms,
            "question": "",
            "exit_code": answer.exit_code,
            "stdout": answer.stdout,
            "stderr": answer.stderr,
            "is_truncated": answer.is_truncated,
        }
        with self._store.changing() as connection:
            found = connection.execute(update(instance_calls).where(which).values(values))
            return bool(found.rowcount == 1)


def _is_over(now_ms: int) -> ColumnElement[bool]:
    return or_(_C.answered_ms.is_not(None), _C.expires_ms <= now_ms)


def _trim(connection: Connection, place: CallPlace, now_ms: int) -> None:
    """Forget the oldest calls of an instance that are over."""
    which = and_(place.is_it, _is_over(now_ms))
    newest = select(_C.call_id).where(which).order_by(_C.call_id.desc())
    oldest = connection.scalar(newest.offset(OVER_MAX).limit(1))
    if oldest is not None:
        connection.execute(delete(instance_calls).where(which, _C.call_id <= oldest))


def _check_room(connection: Connection, place: CallPlace, now_ms: int) -> None:
    count = select(func.count()).select_from(instance_calls)
    waiting = and_(place.is_it, not_(_is_over(now_ms)))
    if int(connection.scalar(count.where(waiting)) or 0) >= WAITING_MAX:
        raise LimitReached("calls that an instance has to answer", WAITING_MAX)
    if int(connection.scalar(count) or 0) >= CALLS_MAX:
        raise LimitReached("calls of instances in some minutes", CALLS_MAX)


def _call(row: Row[Any]) -> CallRow:
    told = (row.exit_code, row.stdout, row.stderr, row.is_truncated)
    return CallRow(
        call_id=row.call_id,
        place=CallPlace(row.tenant, row.project, row.instance_id),
        verb=CallVerb(row.verb),
        principal=row.principal,
        correlation_id=row.correlation_id,
        question=CallQuestion.read(row.question) if row.question else None,
        asked_ms=row.asked_ms,
        expires_ms=row.expires_ms,
        taken_ms=row.taken_ms,
        taken_by=row.taken_by,
        answered_ms=row.answered_ms,
        answer=None if row.answered_ms is None else CallAnswer(*told),
    )
