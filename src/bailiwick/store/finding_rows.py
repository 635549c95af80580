"""The journal's findings, as rows that can be asked for.

Rules:

- A fold of the journal: a batch of records and how far the fold has come are committed together.
  Thrown away and folded again, the rows are the same.
- Lines of other kinds are not parsed: nearly all are.
- Pages are newest first. What belongs to no tenant is the fleet's alone to see.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import and_, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from bailiwick.journal import Record, RecordKind, RecordRefused, parse_record
from bailiwick.runtime.feed import StoredLines
from bailiwick.runtime.follower import Follower
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import finding_state, findings
from bailiwick.vocab.errors import Damaged
from bailiwick.vocab.values import check_integer

BATCH: Final = 2_000
ROUNDS_MAX: Final = 1_000
FOLD_S: Final = 600.0
PAGE_MAX: Final = 1_000
_ASK_MAX = 400
_MARK = f'"{RecordKind.FINDING_REPORTED.value}"'.encode("ascii")


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One finding, and where in the journal it stands."""

    seq: int
    at_ms: int
    tenant: str | None
    project: str | None
    finding: str
    severity: str
    subject: str
    evidence: str | None
    note: str | None


class FindingBook:
    """The findings of one store."""

    def __init__(self, store: SqlStore) -> None:
        self._store, self._taken = store, 0
        lines = StoredLines(store)
        self._follower = Follower(self, lines, name="findings", batch=BATCH, shared=True)

    def advance(self) -> int:
        """Fold what is new, a bounded number of records; how many findings that were."""
        before = self._taken
        self._follower.catch_up(FOLD_S, rounds=ROUNDS_MAX)
        return self._taken - before

    def begin(self, size: int) -> int:
        """How far the fold has come."""
        del size
        with self._store.reading() as connection:
            return connection.scalar(select(finding_state.c.size)) or 0

    def take(self, first: int, lines: Sequence[bytes]) -> int:
        """Fold these in one transaction, unless another was there before."""
        rows = [self._row(seq, line) for seq, line in enumerate(lines, first) if _MARK in line]
        kept = [row for row in rows if row is not None]
        with self._store.changing() as connection:
            # Either database has the clause, each in a dialect of its own.
            own = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
            connection.execute(own(finding_state).on_conflict_do_nothing().values(id=1, size=0))
            state = select(finding_state.c.size).with_for_update()
            size: int = connection.execute(state).scalar_one()
            if size != first:
                return size
            if kept:
                connection.execute(insert(findings), kept)
            connection.execute(update(finding_state).values(size=first + len(lines)))
        self._taken += len(kept)
        return first + len(lines)

    def _row(self, seq: int, line: bytes) -> dict[str, Any] | None:
        try:
            record = parse_record(line.removesuffix(b"\n"))
        except RecordRefused as error:
            raise Damaged("journal", f"record {seq} of {self._store.where}", error) from error
        return _told(record) if record.kind is RecordKind.FINDING_REPORTED else None

    def known(self, pairs: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
        """Those of these (finding, subject) that are sealed, as far as was folded."""
        wanted, c = sorted(set(pairs)), findings.c
        found: set[tuple[str, str]] = set()
        for start in range(0, len(wanted), _ASK_MAX):
            subjects = {subject for _, subject in wanted[start : start + _ASK_MAX]}
            query = select(c.finding, c.subject).where(c.subject.in_(sorted(subjects)))
            with self._store.reading() as connection:
                found |= {(row.finding, row.subject) for row in connection.execute(query)}
        return found & set(wanted)

    def page(
        self,
        scopes: Sequence[tuple[str, str | None]] | None,
        *,
        finding: str | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> list[FindingRow]:
        """Findings of these tenants and projects (``None``: all there are), the newest first."""
        check_integer("limit", limit, low=1, high=PAGE_MAX)
        query = select(findings).order_by(findings.c.seq.desc()).limit(limit)
        if finding is not None:
            query = query.where(findings.c.finding == finding)
        if before is not None:
            query = query.where(findings.c.seq < before)
        if scopes is not None:
            if not scopes:
                return []
            query = query.where(or_(*(_within(tenant, project) for tenant, project in scopes)))
        with self._store.reading() as connection:
            return [FindingRow(**row) for row in connection.execute(query).mappings()]


def _within(tenant: str, project: str | None) -> Any:
    if project is None:
        return findings.c.tenant == tenant
    return and_(findings.c.tenant == tenant, findings.c.project == project)


def _told(record: Record) -> dict[str, Any]:
    body = record.body
    told = {name: body[name] for name in ("finding", "severity", "subject")}
    more = {name: body.get(name) for name in ("evidence", "note")}
    place = {"seq": record.seq, "at_ms": record.at_ms}
    return {**place, "tenant": record.tenant, "project": record.project, **told, **more}
