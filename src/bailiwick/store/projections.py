"""Folds the journal into tables that answer questions about the past.

Rules:

- The tables hold nothing that the journal does not say; thrown away and folded again, they are the
  same, row by row.
- A batch of records and the number up to which the fold has come are committed together. A crash
  leaves the tables as they are after some record, and the next call goes on from there. Two that
  advance at once do not fold a record twice: the second sees that the first was there.
- A lease begins with the first record that grants it, and ends with the first that ends it. The end
  of a lease that was never granted is passed over.
- A lease's GPUs are of the generation asked for, or else that its node was registered with.
- Usage is counted when a lease ends: resources times the milliseconds from grant to end. One that
  is lost with its node ended at the node's last proof of life, not when that was noticed. It is an
  overview; what is billed comes from metering, which also counts what still runs.

:mod:`bailiwick.store.history` asks these tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

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
from bailiwick.vocab.words import RESOURCE_KINDS

BATCH = 1_000
"""How many records one transaction folds, unless told otherwise."""

_NAME = "history"
_NUMBER_MAX = 2**63 - 1
_ASK_MAX = 500
_USED = ("gpu_milli_ms", "cpu_milli_ms", "leases_ended")
_GROUP = ("tenant", "project", "tag", "gpu_generation", "lease_class")
_SUMS = {
    "cpu_milli_ms": "cpu_milli",
    "mem_byte_ms": "mem_bytes",
    "block_byte_ms": "block_bytes",
    "gpu_milli_ms": "gpu_milli",
}

Row: TypeAlias = dict[str, Any]
Owner: TypeAlias = tuple[str, str]
Group: TypeAlias = tuple[str, ...]

ENDS: Mapping[RecordKind, str] = {
    RecordKind.LEASE_RELEASED: "released",
    RecordKind.LEASE_EXPIRED: "expired",
    RecordKind.LEASE_PREEMPTED: "preempted",
    RecordKind.LEASE_FENCED: "fenced",
    RecordKind.NODE_DEPARTED: "node_departed",
}
"""The kinds that end leases, and the cause each stands for."""

DECISIONS = frozenset(
    (
        RecordKind.ADMISSION_APPROVED,
        RecordKind.ADMISSION_DENIED,
        RecordKind.REQUEST_QUEUED,
        RecordKind.REQUEST_BLOCKED,
        RecordKind.REQUEST_CANCELLED,
        RecordKind.LEASE_RELEASED,
        RecordKind.LEASE_EXPIRED,
        RecordKind.LEASE_REVOKED,
        RecordKind.LEASE_PREEMPTED,
        RecordKind.LEASE_FENCED,
        RecordKind.QUOTA_CHANGED,
        RecordKind.TOKEN_REFUSED,
    )
)
"""What a tenant asks the history about. Renewals are left out: they are most of a journal."""


def rebuild_projections(store: SqlStore, *, batch: int = BATCH) -> int:
    """Empty the tables and fold the whole journal again; says how many records that were."""
    with store.changing() as connection:
        _lock_state(connection, store)
        _empty(connection)
        connection.execute(update(projection_state).values(size=0))
    folded, wanted = 0, store.size()
    while folded < wanted and (count := advance_projections(store, batch)):
        folded += count
    return folded


def advance_projections(store: SqlStore, limit: int = BATCH) -> int:
    """Fold up to ``limit`` records more, in one transaction; 0 if there are no more."""
    if limit < 1:
        raise InvalidValue("limit", limit, "1 or more")
    with store.reading() as connection:
        first = connection.scalar(_STATE) or 0
        lines = store.read_with(connection, first, limit=limit)
    if not lines:
        return 0
    # Parsed before anything is locked: on SQLite, nobody could append meanwhile.
    records = [_parse(line, first + number, store) for number, line in enumerate(lines)]
    with store.changing() as connection:
        if _lock_state(connection, store) == first:
            _fold_into(connection, records)
            connection.execute(update(projection_state).values(size=first + len(records)))
    return len(records)


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


@dataclass(slots=True)
class ProjectionFold:
    """What a batch of records makes of the rows it touches.

    ``leases`` are those known before, ``nodes`` the devices' generations on the nodes known before.
    """

    leases: dict[int, Row]
    nodes: dict[str, str] = field(default_factory=dict)
    granted: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    decisions: list[Row] = field(default_factory=list)
    registered: dict[str, str] = field(default_factory=dict)
    named: list[Row] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """Take one record in."""
        if record.kind is RecordKind.ADMISSION_APPROVED:
            self._grant(record)
        elif record.kind in ENDS:
            self._end(record)
        elif record.kind is RecordKind.NODE_REGISTERED:
            self._register(record)
        self._index(record)
        if record.kind in DECISIONS and record.tenant is not None:
            self.decisions.append(_decision(record))

    def _grant(self, record: Record) -> None:
        nodes: Any = record.body["nodes"]
        resources: Any = record.body["resources"]
        for number, lease_id in enumerate(lease_ids_of(record)):
            if lease_id in self.leases:
                continue
            self.granted.append(lease_id)
            self.leases[lease_id] = {
                "lease_id": lease_id,
                "tenant": record.tenant,
                "project": record.project,
                "node": nodes[number] if number < len(nodes) else None,
                **{str(kind): resources.get(kind, 0) for kind in RESOURCE_KINDS},
                "priority": str(record.body["priority"]),
                "lease_class": str(record.body["lease_class"]),
                "tag": record.body.get("tag"),
                "granted_ms": record.at_ms,
                "ended_ms": None,
                "end_cause": None,
                "end_reason": None,
                "gpu_generation": self._generation(record, number, nodes=nodes),
                "entry_id": record.body.get("entry_id"),
            }

    def _generation(self, record: Record, number: int, *, nodes: Sequence[Any]) -> str | None:
        """Of which generation a member's GPUs are: as asked for, or as its node has them."""
        devices: Any = record.body.get("devices") or ()
        if record.body.get("gpu_generation") is not None or number >= len(devices):
            return _word(record, "gpu_generation")
        has = self.nodes.get(nodes[number], "").split(",") if number < len(nodes) else [""]
        found = [word for i, word in enumerate(has) if word and devices[number] >> i & 1]
        return found[0] if found else None

    def _register(self, record: Record) -> None:
        words: Any = record.body.get("gpu_generations") or ()
        node = str(record.body["node"])
        self.nodes[node] = self.registered[node] = ",".join(map(str, words))

    def _index(self, record: Record) -> None:
        if record.kind is RecordKind.LEASE_RENEWED:
            return
        numbers = [("lease", lease_id) for lease_id in lease_ids_of(record)]
        entry_id: Any = record.body.get("entry_id")
        if entry_id is not None and not numbers:  # a grant is found by its leases
            numbers.append(("entry", entry_id))
        for subject, number in dict.fromkeys(numbers):
            self.named.append({"subject": subject, "number": number, "seq": record.seq})

    def _end(self, record: Record) -> None:
        for lease_id in lease_ids_of(record):
            lease = self.leases.get(lease_id)
            if lease is None or lease["ended_ms"] is not None:
                continue
            self.ended.append(lease_id)
            lease["ended_ms"] = max(lease["granted_ms"], _end_ms(record))
            lease["end_cause"] = ENDS[record.kind]
            lease["end_reason"] = _word(record, "reason")

    def usage(self) -> dict[Owner, Row]:
        """What the leases that ended in this batch have used, by owner."""
        sums: dict[Owner, Row] = {}
        for lease in (self.leases[lease_id] for lease_id in self.ended):
            owner = (lease["tenant"], lease["project"] or "")
            row = sums.setdefault(owner, dict.fromkeys(_USED, 0))
            span_ms = max(0, lease["ended_ms"] - lease["granted_ms"])
            row["gpu_milli_ms"] += lease["gpu_milli"] * span_ms
            row["cpu_milli_ms"] += lease["cpu_milli"] * span_ms
            row["leases_ended"] += 1
        return sums

    def groups(self) -> dict[Group, Row]:
        """The same by project, tag, generation and class, with every resource."""
        sums: dict[Group, Row] = {}
        for lease in (self.leases[lease_id] for lease_id in self.ended):
            group = tuple(lease[name] or "" for name in _GROUP)
            row = sums.setdefault(group, dict.fromkeys((*_SUMS, "leases_ended"), 0))
            span_ms = max(0, lease["ended_ms"] - lease["granted_ms"])
            for name, held in _SUMS.items():
                row[name] += lease[held] * span_ms
            row["leases_ended"] += 1
        return sums


def lease_ids_of(record: Record) -> tuple[int, ...]:
    """The leases a record names: one, several or none."""
    one: Any = record.body.get("lease_id")
    several: Any = record.body.get("lease_ids")
    return (one,) if one is not None else (several or ())


def _end_ms(record: Record) -> int:
    """When what a record ends was over: with its node, at the last proof that this lived."""
    seen: Any = record.body.get("last_seen_ms")
    return record.at_ms if seen is None else min(record.at_ms, seen)


def _word(record: Record, name: str) -> str | None:
    value = record.body.get(name)
    return None if value is None else str(value)


def _decision(record: Record) -> Row:
    return {
        "seq": record.seq,
        "at_ms": record.at_ms,
        "tenant": record.tenant,
        "project": record.project,
        "kind": str(record.kind),
        "reason": _word(record, "reason") or _word(record, "cause"),
        "detail": _word(record, "detail"),
        "correlation_id": record.correlation_id,
        "entry_id": record.body.get("entry_id"),
        "lease_id": next(iter(lease_ids_of(record)), None),
    }


def _fold_into(connection: Connection, records: Sequence[Record]) -> None:
    fold = ProjectionFold(_known_leases(connection, records), _known_nodes(connection, records))
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
            name: min(added[name] + (before[name] if before else 0), _NUMBER_MAX) for name in _USED
        }
        if before is None:
            connection.execute(insert(table).values(tenant=owner[0], project=owner[1], **sums_now))
        else:
            connection.execute(update(table).where(this).values(sums_now))


def _add_groups(connection: Connection, sums: Mapping[Group, Row]) -> None:
    table = usage_by_group
    for group, added in sorted(sums.items()):
        words = dict(zip(_GROUP, group, strict=True))
        this = and_(*(table.c[name] == word for name, word in words.items()))
        before = connection.execute(select(table).where(this)).mappings().one_or_none()
        now: Row = {name: str(added[name] + (int(before[name]) if before else 0)) for name in _SUMS}
        now["leases_ended"] = added["leases_ended"] + (before["leases_ended"] if before else 0)
        if before is None:
            connection.execute(insert(table).values(**words, **now))
        else:
            connection.execute(update(table).where(this).values(now))
