"""Inboxes: what somebody was told in the web and on the command line.

Rules:

- Each question is of one person. Whether he may still know is judged by who asks.
- Pages are newest first.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import and_, select, update

from bailiwick.store.notices.tables import notices
from bailiwick.store.notices.told import InboxRow, tiding_of
from bailiwick.store.sql_store import SqlStore

_N = notices.c


class Inbox:
    """The inboxes of one database."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def page(
        self, principal: str, *, before: int | None, limit: int, unread: bool = False
    ) -> list[InboxRow]:
        """Some notices, the newest first."""
        which = [_N.principal == principal]
        if before is not None:
            which.append(_N.notice_id < before)
        if unread:
            which.append(_N.read_ms.is_(None))
        query = select(notices).where(*which).order_by(_N.notice_id.desc()).limit(limit)
        with self._store.reading() as connection:
            return [
                InboxRow(notice_id=row.notice_id, tiding=tiding_of(row), read_ms=row.read_ms)
                for row in connection.execute(query)
            ]

    def mark_read(self, principal: str, ids: Sequence[int], *, now_ms: int) -> int:
        """Have these be read; how many were not."""
        which = and_(_N.principal == principal, _N.read_ms.is_(None), _N.notice_id.in_(ids))
        statement = update(notices).where(which).values(read_ms=now_ms)
        return self._store.change_together(lambda c: int(c.execute(statement).rowcount))
