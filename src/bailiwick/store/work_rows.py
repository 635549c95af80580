"""Work of nodes as rows, on either database; see :mod:`bailiwick.executors.node.work`.

Rules:

- A version is given under the lock of its node's row, in the transaction of the change: versions
  are visible in the order they were given.
- What an agent saw replaces what it saw before, and wipes the specification unless the job is still
  to be started.
- A piece of output is taken only where the last one ended. The same piece again changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from bailiwick.executors.folder import timeless
from bailiwick.executors.node.agents import AgentWord, parse_word, spell_word
from bailiwick.executors.node.work import (
    ITEMS_MAX,
    OUTPUT_KEPT_BYTES,
    PIECE_BYTES_MAX,
    Seen,
    Wish,
    WorkRow,
    parse_seen,
    spell_seen,
)
from bailiwick.executors.port import OutputPart, Starting
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import work, work_nodes, work_output
from bailiwick.vocab.errors import Conflict, Damaged, InvalidValue

_ORDER = tuple(Wish)


class WorkBook:
    """The work of all nodes of one database."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    # -- what is to be so --------------------------------------------------------------------

    def order(self, node: str, lease_id: int, *, spec: str, now_ms: int) -> None:
        """Have a job run; a lease that was ordered before is a ``Conflict``."""

        def act(connection: Connection) -> None:
            values = {"lease_id": lease_id, "node": node, "version": _next(connection, node)}
            values |= {"wish": Wish.RUN.value, "wished_ms": now_ms, "spec": spec}
            values |= {"output_bytes": 0, "is_truncated": False}
            statement = _or_nothing(connection, work).values(values)
            if connection.scalar(statement.returning(work.c.lease_id)) is None:
                raise Conflict("job of lease", lease_id, "was started before")

        self._store.change_together(act)

    def wish(self, lease_id: int, wish: Wish, *, now_ms: int) -> WorkRow | None:
        """Have it end, or be forgotten; the row as it is then."""
        with self._store.changing() as connection:
            row = _get(connection, lease_id)
            if row is None or _ORDER.index(wish) <= _ORDER.index(row.wish):
                return row
            values: dict[str, Any] = {"wish": wish.value, "wished_ms": now_ms}
            if wish is Wish.FORGET:
                connection.execute(delete(work_output).where(work_output.c.lease_id == lease_id))
                values["spec"] = None
            _put(connection, row, values)
            return _get(connection, lease_id)

    def warn(self, lease_id: int, until_ms: int | None) -> bool:
        """Have it warned, or (``None``) the warning called off; whether there is such a job."""
        with self._store.changing() as connection:
            row = _get(connection, lease_id)
            if row is None:
                return False
            if row.warn_until_ms != until_ms:
                _put(connection, row, {"warn_until_ms": until_ms})
            return True

    def get(self, lease_id: int) -> WorkRow | None:
        """That lease."""
        with self._store.reading() as connection:
            return _get(connection, lease_id)

    def find(self, lease_ids: Sequence[int]) -> list[WorkRow]:
        """These leases, as far as they are there; without what is to be run."""
        found: list[WorkRow] = []
        with self._store.reading() as connection:
            for first in range(0, len(lease_ids), 500):
                some = list(lease_ids[first : first + 500])
                query = select(work).where(work.c.lease_id.in_(some)).order_by(work.c.lease_id)
                found += [_row(row) for row in connection.execute(query)]
        return found

    def of_node(self, node: str) -> list[int]:
        """The leases of a node that are not to be forgotten."""
        which = and_(work.c.node == node, work.c.wish != Wish.FORGET.value)
        query = select(work.c.lease_id).where(which).order_by(work.c.lease_id)
        with self._store.reading() as connection:
            return list(connection.scalars(query))

    # -- the agent's side --------------------------------------------------------------------

    def due(self, node: str, *, after: int, limit: int = ITEMS_MAX) -> tuple[int, list[WorkRow]]:
        """What changed for a node after a version, the oldest first; and up to which version."""
        with self._store.reading() as connection:
            version = connection.scalar(
                select(work_nodes.c.version).where(work_nodes.c.node == node)
            )
            if version is None or version <= after:
                return version or 0, []
            span = work.c.version.between(after + 1, version)
            query = select(work).where(work.c.node == node, span).order_by(work.c.version)
            rows = [_row(row) for row in connection.execute(query.limit(limit + 1))]
        if len(rows) > limit:
            return rows[limit - 1].version, rows[:limit]
        return version, rows

    def enter(self, node: str, life: int, *, says: AgentWord | None = None) -> None:
        """An agent that began at ``life`` speaks for the node; an older one is a ``Conflict``.

        What it says of itself is kept, if it does now.
        """
        which = work_nodes.c.node == node
        query: Select[Any] = select(work_nodes.c.life, work_nodes.c.agent).where(which)
        word = None if says is None else spell_word(says)

        def is_news(known: Row[Any] | None) -> bool:
            if known is None or known.life < life:
                return True
            return known.life == life and word not in (None, known.agent)

        with self._store.reading() as connection:
            known = connection.execute(query).one_or_none()
        if is_news(known):
            with self._store.changing() as connection:
                _claim(connection, node)
                known = connection.execute(query).one()
                if is_news(known):
                    told = {"life": life} | ({} if word is None else {"agent": word})
                    connection.execute(update(work_nodes).where(which).values(told))
        if known is not None and known.life > life:
            raise Conflict("agent of node", node, "another began later: it counts")

    def agents(self, nodes: Sequence[str] | None = None) -> dict[str, AgentWord]:
        """What the agents of these nodes, or of all, last said of themselves."""
        query = select(work_nodes.c.node, work_nodes.c.agent).where(work_nodes.c.agent.is_not(None))
        if nodes is not None:
            query = query.where(work_nodes.c.node.in_(list(nodes)))
        with self._store.reading() as connection:
            return {row.node: parse_word(row.agent) for row in connection.execute(query)}

    def observe(self, node: str, seen: Sequence[Seen]) -> None:
        """Keep what the agent saw of the node's leases; of others, nothing."""
        if len(seen) > ITEMS_MAX:
            raise InvalidValue("seen", len(seen), f"at most {ITEMS_MAX} at once")

        def act(connection: Connection) -> None:
            for each in seen:
                which = and_(work.c.lease_id == each.lease_id, work.c.node == node)
                if each.is_forgotten:
                    gone = and_(which, work.c.wish == Wish.FORGET.value)
                    connection.execute(delete(work).where(gone))
                    continue
                values: dict[str, Any] = {"seen": json.dumps(spell_seen(each))}
                if not isinstance(each.status, Starting):
                    values["spec"] = None
                connection.execute(update(work).where(which).values(values))

        self._store.change_together(act)

    def append_output(
        self,
        node: str,
        lease_id: int,
        *,
        offset: int,
        data: bytes,
        is_truncated: bool,
        at_ms: int | None = None,
    ) -> int | None:
        """Keep a piece of output that came now; where to go on, or ``None`` if none is wanted."""
        if len(data) > PIECE_BYTES_MAX:
            raise InvalidValue("data", len(data), f"at most {PIECE_BYTES_MAX} bytes")
        with self._store.changing() as connection:
            which = and_(work.c.lease_id == lease_id, work.c.node == node)
            query = select(work).where(which).with_for_update()
            found = connection.execute(query).one_or_none()
            if found is None or found.wish == Wish.FORGET.value:
                return None
            if offset != found.output_bytes:
                return int(found.output_bytes)
            kept = data[: max(0, OUTPUT_KEPT_BYTES - offset)]
            if kept:
                row = {"lease_id": lease_id, "first_byte": offset, "data": kept, "at_ms": at_ms}
                connection.execute(work_output.insert().values(row))
            is_cut = is_truncated or len(kept) < len(data)
            if kept or is_cut != found.is_truncated:
                changed = {"output_bytes": offset + len(kept), "is_truncated": is_cut}
                connection.execute(update(work).where(which).values(changed))
            return None if len(kept) < len(data) else offset + len(kept)

    def read_output(
        self, lease_id: int, offset: int, *, limit: int, since_ms: int = 0
    ) -> OutputPart:
        """A piece of the output, as far as it has come; with ``since_ms``, of what came since."""
        c = work_output.c
        mine = c.lease_id == lease_id
        with self._store.reading() as connection:
            if since_ms:
                offset = max(offset, _begin_since(connection, lease_id, since_ms))
            cut = select(work.c.is_truncated).where(work.c.lease_id == lease_id)
            is_cut = bool(connection.scalar(cut))
            last = select(func.max(c.first_byte)).where(mine, c.first_byte <= offset)
            first = connection.scalar(last)
            if first is None:
                return OutputPart(b"", offset, is_cut)
            span = c.first_byte.between(first, offset + limit)
            query = select(c.data).where(mine, span).order_by(c.first_byte)
            data = b"".join(connection.scalars(query))
        data = data[offset - first :][:limit]
        return OutputPart(data, offset + len(data), is_cut)


def _begin_since(connection: Connection, lease_id: int, since_ms: int) -> int:
    """Where the output begins that came at that time or later."""
    c = work_output.c
    mine = c.lease_id == lease_id
    if connection.scalar(select(c.lease_id).where(mine, c.at_ms.is_(None)).limit(1)) is not None:
        raise timeless(lease_id)  # it came before times were kept
    first = select(func.min(c.first_byte)).where(mine, c.at_ms >= since_ms)
    size = select(work.c.output_bytes).where(work.c.lease_id == lease_id)
    found: int | None = connection.scalar(first)
    return (connection.scalar(size) or 0) if found is None else found


def _or_nothing(connection: Connection, table: Any) -> Any:
    # Either database has the clause, each in a dialect of its own.
    own = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    return own(table).on_conflict_do_nothing()


def _claim(connection: Connection, node: str) -> None:
    fresh = {"node": node, "version": 0, "life": 0}
    connection.execute(_or_nothing(connection, work_nodes).values(fresh))
    which = work_nodes.c.node == node
    connection.execute(select(work_nodes.c.version).where(which).with_for_update())


def _next(connection: Connection, node: str) -> int:
    """The node's next version; until the transaction ends, nobody else gets one."""
    _claim(connection, node)
    number = work_nodes.c.version
    moved = update(work_nodes).where(work_nodes.c.node == node).values(version=number + 1)
    found: int = connection.execute(moved.returning(number)).scalar_one()
    return found


def _put(connection: Connection, row: WorkRow, values: dict[str, Any]) -> None:
    values = values | {"version": _next(connection, row.node)}
    connection.execute(update(work).where(work.c.lease_id == row.lease_id).values(values))


def _get(connection: Connection, lease_id: int) -> WorkRow | None:
    found = connection.execute(select(work).where(work.c.lease_id == lease_id)).one_or_none()
    return None if found is None else _row(found)


def _row(row: Row[Any]) -> WorkRow:
    try:
        seen = None if row.seen is None else parse_seen(json.loads(row.seen))
        wish = Wish(row.wish)
    except (ValueError, TypeError) as error:
        raise Damaged("work", f"lease {row.lease_id}", error) from error
    return WorkRow(
        lease_id=row.lease_id,
        node=row.node,
        version=row.version,
        wish=wish,
        wished_ms=row.wished_ms,
        spec=row.spec,
        warn_until_ms=row.warn_until_ms,
        seen=seen,
        output_bytes=row.output_bytes,
        is_truncated=row.is_truncated,
    )
