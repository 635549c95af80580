"""Members of gangs as rows, on either database; see :mod:`bailiwick.vocab.job_members`.

Rules:

- A lease has one member, and keeps it: written down again it changes nothing.
- How a member ended is written once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import Row, and_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from bailiwick.store.members.tables import job_members
from bailiwick.store.sql_store import SqlStore
from bailiwick.vocab.job_members import MemberEnd, MemberRow

_NAMES = tuple(field.name for field in fields(MemberRow))


class MemberBook:
    """The members of one database."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def add(self, job_id: int, leases: Sequence[tuple[int, str]]) -> None:
        """Write down the leases of a job and their nodes, in the order of their ranks."""
        rows = [
            {"lease_id": lease_id, "job_id": job_id, "rank": rank, "node": node}
            for rank, (lease_id, node) in enumerate(leases)
        ]
        with self._store.changing() as connection:
            own = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
            connection.execute(own(job_members).on_conflict_do_nothing(), rows)

    def of_jobs(self, job_ids: Sequence[int]) -> list[MemberRow]:
        """The members of these jobs, of all their attempts, by rank."""
        return self._find(job_members.c.job_id.in_(job_ids)) if job_ids else []

    def of_leases(self, lease_ids: Sequence[int]) -> list[MemberRow]:
        """The members that have these leases."""
        return self._find(job_members.c.lease_id.in_(lease_ids)) if lease_ids else []

    def note_token(self, lease_id: int, token_id: str) -> None:
        """A member was given a token."""
        which = job_members.c.lease_id == lease_id
        with self._store.changing() as connection:
            connection.execute(update(job_members).where(which).values(token_id=token_id))

    def end(self, lease_id: int, how: MemberEnd) -> None:
        """Write down that a member is over, and how."""
        which = and_(job_members.c.lease_id == lease_id, job_members.c.ended_ms.is_(None))
        values = asdict(how)
        with self._store.changing() as connection:
            connection.execute(update(job_members).where(which).values(values))

    def _find(self, which: Any) -> list[MemberRow]:
        order = (job_members.c.job_id, job_members.c.lease_id)
        query = select(job_members).where(which).order_by(*order)
        with self._store.reading() as connection:
            return [_member(row) for row in connection.execute(query)]


def _member(row: Row[Any]) -> MemberRow:
    return MemberRow(**{name: getattr(row, name) for name in _NAMES})
