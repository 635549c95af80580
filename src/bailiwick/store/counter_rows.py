"""What nodes counted, taken exactly once and in order, and what is still to be compared.

Rules:

- An event's effect and its source's position are committed together; only then is it acknowledged.
  What comes early is not kept: it was not acknowledged, so its source sends it again.
- A row is all that was counted for one lease on one node. A newer counter is merged into it.
- The same event with another content is a conflict: it is kept to be reported, once a day for each
  source, and changes nothing.
- A row is due when something new was counted, or when it was not looked at for a while; once it is
  settled, only something new makes it due again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, assert_never

from sqlalchemy import Connection, and_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from bailiwick.metering.counters import Counter, merge_counters, parse_counter, spell_counter
from bailiwick.metering.sources import (
    Conflicting,
    Due,
    Duplicate,
    Fenced,
    Forgotten,
    HeldBack,
    Position,
    RememberedEpoch,
    SourceEvent,
    Sources,
    TooFarAhead,
)
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import counter_conflicts, counter_sources, counters
from bailiwick.vocab.errors import Damaged, InvalidValue, NotFound
from bailiwick.vocab.values import check_integer

BATCH_MAX: Final = 256
"""Events that are taken at once."""
REMEMBERED: Final = 2 * BATCH_MAX
"""Events of each source that are remembered, to know a repeat from a conflict."""
DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class CounterEvent:
    """A counter as its source numbered it."""

    epoch: int
    sequence: int
    counter: Counter


@dataclass(frozen=True, slots=True)
class Receipt:
    """How far a source may forget: every event of this epoch with a number below is kept."""

    epoch: int
    acknowledged: int
    conflicts: int


@dataclass(frozen=True, slots=True)
class CounterRow:
    """What was counted for one lease on one node, and when that was last heard."""

    counter: Counter
    taken_ms: int


@dataclass(frozen=True, slots=True)
class ConflictRow:
    """An event that a source sent with two contents; their digests."""

    source: str
    day: int
    epoch: int
    sequence: int
    known: str
    offered: str


class CounterBook:
    """The counters of one store; any thread may ask."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def take(self, source: str, events: Sequence[CounterEvent], *, now_ms: int) -> Receipt:
        """Take what a source sent, and say how far it is kept."""
        if len(events) > BATCH_MAX:
            raise InvalidValue("counters", len(events), f"at most {BATCH_MAX} at once")
        foreign = [each.counter.node for each in events if each.counter.node != source]
        if foreign:
            raise InvalidValue("node", foreign[0], f"{source}, which counts for itself alone")
        conflicts = 0
        with self._store.changing() as connection:
            sources = Sources(_claim(connection, source), remembered_max=REMEMBERED)
            for each in events:
                payload = spell_counter(each.counter)
                answer = sources.offer(SourceEvent(source, each.epoch, each.sequence, payload))
                match answer:
                    case Due():
                        _keep(connection, answer.events, now_ms=now_ms)
                    case Conflicting():
                        conflicts += 1
                        _keep_conflict(connection, source, answer, day=now_ms // DAY_MS)
                    case Duplicate() | Forgotten() | Fenced() | HeldBack() | TooFarAhead():
                        pass  # known, or it comes again once it may be taken
                    case _:
                        assert_never(answer)
            moved = sources.uncommitted()
            for position in moved:
                _put_position(connection, position)
        sources.commit(moved)  # the transaction is over: now it is durable
        try:
            acknowledged = sources.acknowledged_up_to(source)
        except NotFound:  # nothing of it was ever taken
            return Receipt(0, 0, conflicts)
        return Receipt(sources.epoch_of(source), acknowledged, conflicts)

    def standing(self, source: str) -> Receipt:
        """How far a source may forget now."""
        query = select(counter_sources.c.position).where(counter_sources.c.source == source)
        with self._store.reading() as connection:
            body = connection.scalar(query)
        if not body:
            return Receipt(0, 0, 0)
        position = _read_position(source, body)
        return Receipt(position.epoch, position.next_sequence, 0)

    def due(self, *, now_ms: int, again_ms: int, limit: int) -> list[CounterRow]:
        """What is to be compared: news first, then what was not looked at for so long."""
        check_integer("limit", limit, low=1, high=10_000)
        c = counters.c
        is_due = and_(c.is_settled.is_(False), c.checked_ms <= max(0, now_ms - again_ms))
        query = select(counters).where(is_due).order_by(c.checked_ms, c.lease_id)
        with self._store.reading() as connection:
            rows = connection.execute(query.limit(limit)).all()
        return [CounterRow(_counter(row), row.taken_ms) for row in rows]

    def note(self, row: CounterRow, *, now_ms: int, is_settled: bool) -> None:
        """It was compared; something that was counted meanwhile makes it due again."""
        which = and_(
            counters.c.lease_id == row.counter.lease_id, counters.c.node == row.counter.node
        )
        values = {"checked_ms": max(now_ms, 1), "is_settled": is_settled}
        with self._store.changing() as connection:
            same = counters.c.taken_ms == row.taken_ms
            connection.execute(update(counters).where(which, same).values(values))

    def of_lease(self, lease_id: int) -> list[CounterRow]:
        """What was counted for one lease, node by node."""
        query = select(counters).where(counters.c.lease_id == lease_id).order_by(counters.c.node)
        with self._store.reading() as connection:
            rows = connection.execute(query).all()
        return [CounterRow(_counter(row), row.taken_ms) for row in rows]

    def conflicts(self, limit: int) -> list[ConflictRow]:
        """Conflicts that were not reported yet."""
        c = counter_conflicts.c
        query = select(counter_conflicts).where(c.is_settled.is_(False)).order_by(c.source, c.day)
        with self._store.reading() as connection:
            rows = connection.execute(query.limit(limit)).all()
        return [ConflictRow(*row[:6]) for row in rows]

    def settle_conflict(self, row: ConflictRow) -> None:
        """It is reported."""
        c = counter_conflicts.c
        which = and_(c.source == row.source, c.day == row.day)
        with self._store.changing() as connection:
            connection.execute(update(counter_conflicts).where(which).values(is_settled=True))


def _claim(connection: Connection, source: str) -> Iterable[Position]:
    """Where the source stands; until the transaction ends, nobody else moves it."""
    fresh: dict[str, Any] = {"source": source, "position": b""}
    connection.execute(_or_nothing(connection, counter_sources).values(fresh))
    query = select(counter_sources.c.position).where(counter_sources.c.source == source)
    body: bytes = connection.execute(query.with_for_update()).scalar_one()
    return (_read_position(source, body),) if body else ()


def _or_nothing(connection: Connection, table: Any) -> Any:
    # Either database has the clause, each in a dialect of its own.
    own = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    return own(table).on_conflict_do_nothing()


def _keep(connection: Connection, events: Iterable[SourceEvent], *, now_ms: int) -> None:
    for event in events:
        new = parse_counter(event.payload)
        which = and_(counters.c.lease_id == new.lease_id, counters.c.node == new.node)
        row = connection.execute(select(counters).where(which)).one_or_none()
        if row is None:
            values = {"lease_id": new.lease_id, "node": new.node, "taken_ms": now_ms}
            values |= {"body": event.payload, "checked_ms": 0, "is_settled": False}
            connection.execute(counters.insert().values(values))
            continue
        known = _counter(row)
        merged = merge_counters(known, new)
        if merged != known:
            # A later time at any rate: whoever compares the row as it was must not settle this.
            values = {"body": spell_counter(merged), "taken_ms": max(now_ms, row.taken_ms + 1)}
            values |= {"checked_ms": 0, "is_settled": False}
            connection.execute(update(counters).where(which).values(values))


def _keep_conflict(connection: Connection, source: str, found: Conflicting, *, day: int) -> None:
    values = {"source": source, "day": day, "epoch": found.epoch, "sequence": found.sequence}
    values |= {"known": found.known.hex(), "offered": found.offered.hex(), "is_settled": False}
    connection.execute(_or_nothing(connection, counter_conflicts).values(values))


def _counter(row: Any) -> Counter:
    try:
        return parse_counter(bytes(row.body))
    except InvalidValue as error:
        raise Damaged("counters", f"lease {row.lease_id}", error) from error


# -- positions -------------------------------------------------------------------------------


def _put_position(connection: Connection, position: Position) -> None:
    runs = [
        [run.epoch, run.first_sequence, b"".join(run.digests).hex()] for run in position.remembered
    ]
    plain = [position.epoch, position.next_sequence, runs]
    body = json.dumps(plain, separators=(",", ":")).encode("ascii")
    which = counter_sources.c.source == position.source
    connection.execute(update(counter_sources).where(which).values(position=body))


def _read_position(source: str, body: bytes) -> Position:
    try:
        epoch, sequence, runs = json.loads(body)
        remembered = tuple(
            RememberedEpoch(of, first, _digests(bytes.fromhex(text))) for of, first, text in runs
        )
        return Position(source, epoch, sequence, remembered)
    except (ValueError, TypeError) as error:
        raise Damaged("counter_sources", source, error) from error


def _digests(data: bytes) -> tuple[bytes, ...]:
    return tuple(data[at : at + 32] for at in range(0, len(data), 32))
