"""Webhooks' cursors and letters as rows, on either database.

Rules:

- A letter says what became of one event at one webhook: its number, never its text, which the
  journal has. It and the cursor that moves past it are written together: whoever dies between a
  receiver's answer and that sends the same message once more, under the same id.
- Of what was delivered the newest few are kept, of dead letters many; both are bounded.
- A webhook that was deleted and made again is another one: it begins where it was made, and has
  none of the letters of its namesake.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from bailiwick.iam import Scope
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.webhooks.tables import webhook_cursors, webhook_letters
from bailiwick.vocab.apps import DeliveryFault, DeliveryState

DELIVERED_KEPT: Final = 100
DEAD_KEPT: Final = 1_000
"""Letters of one webhook."""


class HookKey(NamedTuple):
    """Which webhook."""

    scope: Scope
    webhook: str

    @property
    def columns(self) -> dict[str, str]:
        """As its rows have it."""
        tenant, project = self.scope
        return {"tenant": tenant or "", "project": project or "", "webhook": self.webhook}


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """What became of one event at one webhook."""

    seq: int
    state: DeliveryState
    tries: int
    at_ms: int
    """When it was tried last."""
    status: int | None = None
    fault: DeliveryFault | None = None
    next_try_ms: int | None = None


class WebhookBook:
    """The cursors and letters of one database."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def begin(self, key: HookKey, *, since_seq: int) -> int:
        """The number of the record to go on with; a new webhook begins after what made it."""
        which = _of(webhook_cursors, key)
        with self._store.changing() as connection:
            row = connection.execute(select(webhook_cursors).where(which)).one_or_none()
            if row is not None and row.since_seq == since_seq:
                return int(row.next_seq)
            connection.execute(delete(webhook_letters).where(_of(webhook_letters, key)))
            next_seq = since_seq + 1
            _put(connection, webhook_cursors, key, since_seq=since_seq, next_seq=next_seq)
            return next_seq

    def pass_by(self, places: Mapping[HookKey, int]) -> None:
        """Move cursors past what was not for these webhooks."""
        with self._store.changing() as connection:
            for key, next_seq in places.items():
                which = and_(_of(webhook_cursors, key), webhook_cursors.c.next_seq < next_seq)
                connection.execute(update(webhook_cursors).where(which).values(next_seq=next_seq))

    def settle(self, key: HookKey, letter: Letter, *, next_seq: int | None = None) -> None:
        """Write down what became of an event, and where to go on, if that is settled."""
        told = {
            "seq": letter.seq,
            "state": letter.state.value,
            "tries": letter.tries,
            "status": letter.status,
            "fault": None if letter.fault is None else letter.fault.value,
            "at_ms": letter.at_ms,
            "next_try_ms": letter.next_try_ms,
        }
        with self._store.changing() as connection:
            _put(connection, webhook_letters, key, **told)
            if next_seq is not None:
                which = _of(webhook_cursors, key)
                connection.execute(update(webhook_cursors).where(which).values(next_seq=next_seq))
            _trim(connection, key, letter.state)

    def letter(self, key: HookKey, seq: int) -> Letter | None:
        """What became of one event, if anything did."""
        which = and_(_of(webhook_letters, key), webhook_letters.c.seq == seq)
        with self._store.reading() as connection:
            row = connection.execute(select(webhook_letters).where(which)).one_or_none()
            return None if row is None else _letter(row)

    def page(
        self, key: HookKey, *, state: DeliveryState | None, before: int | None, limit: int
    ) -> list[Letter]:
        """Letters, the newest event first."""
        which = [_of(webhook_letters, key)]
        if state is not None:
            which.append(webhook_letters.c.state == state.value)
        if before is not None:
            which.append(webhook_letters.c.seq < before)
        order = webhook_letters.c.seq.desc()
        query = select(webhook_letters).where(*which).order_by(order).limit(limit)
        with self._store.reading() as connection:
            return [_letter(row) for row in connection.execute(query)]

    def replay(self, key: HookKey, *, seq: int | None, now_ms: int) -> int:
        """Have one event, or all dead letters, sent again; how many."""
        which = [_of(webhook_letters, key)]
        if seq is None:
            which.append(webhook_letters.c.state == DeliveryState.DEAD.value)
        else:
            done = (DeliveryState.DEAD.value, DeliveryState.DELIVERED.value)
            which += [webhook_letters.c.seq == seq, webhook_letters.c.state.in_(done)]
        values = {"state": DeliveryState.REPLAYING.value, "tries": 0, "next_try_ms": now_ms}
        with self._store.changing() as connection:
            found = connection.execute(update(webhook_letters).where(*which).values(values))
            return int(found.rowcount)

    def replaying(self) -> dict[HookKey, Letter]:
        """Of each webhook the oldest event that is to be sent again."""
        table = webhook_letters
        which = table.c.state == DeliveryState.REPLAYING.value
        query = select(table).where(which).order_by(table.c.seq.desc()).limit(10_000)
        with self._store.reading() as connection:
            return {_key(row): _letter(row) for row in connection.execute(query)}

    def forget_others(self, kept: Iterable[HookKey]) -> None:
        """Drop the rows of webhooks that are no more."""
        held = set(kept)
        with self._store.changing() as connection:
            gone = [_key(row) for row in connection.execute(select(webhook_cursors))]
            for key in (each for each in gone if each not in held):
                for table in (webhook_letters, webhook_cursors):
                    connection.execute(delete(table).where(_of(table, key)))


def _of(table: Table, key: HookKey) -> ColumnElement[bool]:
    return and_(*(table.c[name] == value for name, value in key.columns.items()))


def _key(row: Row[Any]) -> HookKey:
    return HookKey(Scope(row.tenant or None, row.project or None), row.webhook)


def _put(connection: Connection, table: Table, key: HookKey, **values: Any) -> None:
    own = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    keys = [column.name for column in table.primary_key]
    changed = {name: value for name, value in values.items() if name not in keys}
    statement = own(table).values(**key.columns, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=changed))


def _trim(connection: Connection, key: HookKey, state: DeliveryState) -> None:
    """Forget the oldest letters of a state that is kept in part."""
    kept = {DeliveryState.DELIVERED: DELIVERED_KEPT, DeliveryState.DEAD: DEAD_KEPT}.get(state)
    if kept is None:
        return
    table = webhook_letters
    which = and_(_of(table, key), table.c.state == state.value)
    newest = select(table.c.seq).where(which).order_by(table.c.seq.desc())
    oldest = connection.scalar(newest.offset(kept).limit(1))
    if oldest is not None:
        connection.execute(delete(table).where(which, table.c.seq <= oldest))


def _letter(row: Row[Any]) -> Letter:
    return Letter(
        seq=row.seq,
        state=DeliveryState(row.state),
        tries=row.tries,
        at_ms=row.at_ms,
        status=row.status,
        fault=None if row.fault is None else DeliveryFault(row.fault),
        next_try_ms=row.next_try_ms,
    )
