"""Folds the journal into tables that answer questions about the past.

Rules:

- The tables hold nothing that the journal does not say; thrown away and folded again, they are the
  same, row by row.
- A batch of records and the number up to which the fold has come are committed together. A crash
  leaves the tables as they are after some record, and the next call goes on from there. Two that
  advance at once do not fold a record twice: the second sees that the first was there.
- What a record makes of the rows is decided in :mod:`.rows`.

:mod:`.questions` asks these tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Table,
    and_,
    bindparam,
    delete,
    insert,
    select,
    update,
)

from bailiwick.journal import Record, RecordKind, RecordRefused, parse_record
from bailiwick.runtime.feed import StoredLines
from bailiwick.runtime.follower import Follower
from bailiwick.store.history.rows import (
    GROUP,
    SUMS,
    USED,
    Group,
    HistoryRows,
    Owner,
    Row,
    lease_ids_of,
)
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import (
    decision_history,
    lease_history,
    node_gpus,
    projection_state,
    record_index,
    usage_by_group,
    usage_by_tenant,
)
from bailiwick.vocab.errors import Damaged, InvalidValue

BATCH = 1_000
"""How many records one transaction folds, unless told otherwise."""

_NAME = "history"
_NUMBER_MAX = 2**63 - 1
_ASK_MAX = 500


def rebuild_projections(store: SqlStore, *, batch: int = BATCH) -> int:
    """Empty the tables and fold the whole journal again; says how many records that were."""
    with store.changing() as connection:
        _lock_state(connection, store)
        _empty(connection)
        connection.execute(update(projection_state).values(size=0))
    follower = history_follower(store, batch=batch)
    while follower.advance():  # bounded by the journal
        pass
    return follower.position


def advance_projections(store: SqlStore, limit: int = BATCH) -> int:
    """Fold up to ``limit`` records more, in one transaction; 0 if there are no more."""
    if limit < 1:
        raise InvalidValue("limit", limit, "1 or more")
    follower = history_follower(store, batch=limit)
    before = follower.fold.begin(0)
    follower.advance()
    return max(0, follower.position - before)


def history_follower(store: SqlStore, *, batch: int = BATCH) -> Follower[HistoryFold]:
    """What brings these tables up to date."""
    lines = StoredLines(store)
    return Follower(HistoryFold(store), lines, name="the history", batch=batch, shared=True)


class HistoryFold:
    """The tables as a fold: how far they have come is committed with what they say."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def begin(self, size: int) -> int:
        """How far they have come."""
        del size
        with self._store.reading() as connection:
            return connection.scalar(_STATE) or 0

    def take(self, first: int, lines: Sequence[bytes]) -> int:
        """Fold these in one transaction, unless another was there before."""
        store = self._store
        # Parsed before anything is locked: on SQLite, nobody could append meanwhile.
        records = [_parse(line, first + number, store) for number, line in enumerate(lines)]
        with store.changing() as connection:
            found = _lock_state(connection, store)
            if found != first:
                return found
            _fold_into(connection, records)
            connection.execute(update(projection_state).values(size=first + len(records)))
        return first + len(records)


_STATE = select(projection_state.c.size).where(projection_state.c.name == _NAME)


def _empty(connection: Connection) -> None:
    tables = (
        *(lease_history, decision_history, record_index),
        *(node_gpus, usage_by_tenant, usage_by_group),
    )
    if connection.dialect.name == "postgresql":
        # To delete millions of rows one by one takes longer than a statement may.
        connection.exec_driver_sql("TRUNCATE " + ", ".join(table.name for table in tables))
        return
    for table in tables:
        connection.execute(delete(table))


def _lock_state(connection: Connection, store: SqlStore) -> int:
    """How far the fold has come; until the transaction ends, nobody else can move it."""
    size: int | None = connection.scalar(_STATE.with_for_update())
    if size is None:
        raise Damaged("history", store.where, "it does not say how far it has come")
    return size


def _parse(line: bytes, seq: int, store: SqlStore) -> Record:
    try:
        record = parse_record(line.removesuffix(b"\n"))
    except RecordRefused as error:
        raise Damaged("journal", f"record {seq} of {store.where}", error) from error
    if record.seq != seq:
        raise Damaged("journal", f"record {seq} of {store.where}", f"it says {record.seq}")
    return record


def _fold_into(connection: Connection, records: Sequence[Record]) -> None:
    fold = HistoryRows(_known_leases(connection, records), _known_nodes(connection, records))
    for record in records:
        fold.add(record)
    _insert(connection, lease_history, [fold.leases[lease_id] for lease_id in fold.granted])
    new = set(fold.granted)
    _end_leases(connection, [fold.leases[key] for key in fold.ended if key not in new])
    _insert(connection, decision_history, fold.decisions)
    _insert(connection, record_index, fold.named)
    _keep_nodes(connection, fold.registered)
    _add_usage(connection, fold.usage())
    _add_groups(connection, fold.groups())


def _known_leases(connection: Connection, records: Iterable[Record]) -> dict[int, Row]:
    named = {lease_id for record in records for lease_id in lease_ids_of(record)}
    rows = _select_in(connection, lease_history.c.lease_id, sorted(named))
    return {row["lease_id"]: row for row in rows}


def _known_nodes(connection: Connection, records: Iterable[Record]) -> dict[str, str]:
    kinds = (RecordKind.ADMISSION_APPROVED,)
    named = {str(n) for r in records if r.kind in kinds for n in _names(r.body.get("nodes"))}
    rows = _select_in(connection, node_gpus.c.node, sorted(named))
    return {row["node"]: row["generations"] for row in rows}


def _names(value: Any) -> Sequence[Any]:
    return value or ()


def _keep_nodes(connection: Connection, nodes: Mapping[str, str]) -> None:
    names = sorted(nodes)
    for start in range(0, len(names), _ASK_MAX):
        part = names[start : start + _ASK_MAX]
        connection.execute(delete(node_gpus).where(node_gpus.c.node.in_(part)))
    _insert(connection, node_gpus, [{"node": n, "generations": nodes[n]} for n in names])


def _select_in(connection: Connection, column: Column[Any], keys: Sequence[Any]) -> list[Row]:
    """The rows with these keys. A statement has a limited number of parameters: so in portions."""
    found: list[Row] = []
    for start in range(0, len(keys), _ASK_MAX):
        query = select(column.table).where(column.in_(keys[start : start + _ASK_MAX]))
        found.extend(dict(row) for row in connection.execute(query).mappings())
    return found


def _insert(connection: Connection, table: Table, rows: list[Row]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def _end_leases(connection: Connection, leases: list[Row]) -> None:
    if not leases:
        return
    names = ("ended_ms", "end_cause", "end_reason")
    statement = (
        update(lease_history)
        .where(lease_history.c.lease_id == bindparam("key"))
        .values({name: bindparam(f"new_{name}") for name in names})
    )
    rows = [
        {"key": row["lease_id"], **{f"new_{name}": row[name] for name in names}} for row in leases
    ]
    connection.execute(statement, rows)


def _add_usage(connection: Connection, sums: Mapping[Owner, Row]) -> None:
    table = usage_by_tenant
    for owner, added in sorted(sums.items()):
        this = and_(table.c.tenant == owner[0], table.c.project == owner[1])
        before = connection.execute(select(table).where(this)).mappings().one_or_none()
        # A sum too large for the column stops at its largest number: history goes on.
        sums_now = {
            name: min(added[name] + (before[name] if before else 0), _NUMBER_MAX) for name in USED
        }
        if before is None:
            connection.execute(insert(table).values(tenant=owner[0], project=owner[1], **sums_now))
        else:
            connection.execute(update(table).where(this).values(sums_now))


def _add_groups(connection: Connection, sums: Mapping[Group, Row]) -> None:
    table = usage_by_group
    for group, added in sorted(sums.items()):
        words = dict(zip(GROUP, group, strict=True))
        this = and_(*(table.c[name] == word for name, word in words.items()))
        before = connection.execute(select(table).where(this)).mappings().one_or_none()
        now: Row = {name: str(added[name] + (int(before[name]) if before else 0)) for name in SUMS}
        now["leases_ended"] = added["leases_ended"] + (before["leases_ended"] if before else 0)
        if before is None:
            connection.execute(insert(table).values(**words, **now))
        else:
            connection.execute(update(table).where(this).values(now))
