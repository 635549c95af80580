"""Issued bills, kept beside the journal that vouches for them.

Rules:

- A row is written before its bill is sealed, so that no sealed bill lacks one. A row that nothing
  was sealed for says nothing: whoever asks names the digest that the journal has.
- What is read back has that digest, or is refused as damaged.
- The same bill is kept once, however often somebody tries to issue it.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.dialects import postgresql, sqlite

from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import invoices
from bailiwick.vocab.errors import Damaged

BYTES_MAX = 2**30
"""The largest bill that is read back."""


@dataclass(frozen=True, slots=True)
class InvoiceRow:
    """A bill as it is kept; ``body`` is its canonical spelling."""

    invoice: str
    digest: str
    tenant: str
    project: str | None
    body: bytes


class InvoiceBook:
    """The bills of one database."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def put(self, row: InvoiceRow) -> None:
        """Keep a bill that is about to be sealed."""
        values = {
            "invoice": row.invoice,
            "digest": row.digest,
            "tenant": row.tenant,
            "project": row.project,
            "body": zlib.compress(row.body, 6),
        }
        with self._store.changing() as connection:
            # Either database has the clause, each in a dialect of its own.
            own = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
            statement: Any = own(invoices).on_conflict_do_nothing()
            connection.execute(statement.values(values))

    def get(self, invoice: str, digest: str) -> InvoiceRow:
        """The bill of this name that was sealed with this digest."""
        c = invoices.c
        query = select(invoices).where(c.invoice == invoice, c.digest == digest)
        with self._store.reading() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            why = "the journal tells of it, and it is not kept here"
            hint = "bailiwick invoice recompute makes it again from an exported journal"
            raise Damaged("invoice", invoice, why, hint=hint)
        return _read(row)

    def page(
        self,
        tenant: str,
        *,
        projects: Collection[str] | None,
        before: int | None,
        limit: int,
    ) -> list[tuple[int, str, str]]:
        """Number, name and digest of a tenant's (or these projects') bills, the newest first."""
        c = invoices.c
        query = select(c.number, c.invoice, c.digest).where(c.tenant == tenant)
        if projects is not None:
            query = query.where(c.project.in_(sorted(projects)))
        if before is not None:
            query = query.where(c.number < before)
        with self._store.reading() as connection:
            rows = connection.execute(query.order_by(c.number.desc()).limit(limit))
            return [(row.number, row.invoice, row.digest) for row in rows]


def _read(row: Row[Any]) -> InvoiceRow:
    try:
        reader = zlib.decompressobj()
        body = reader.decompress(row.body, BYTES_MAX)
    except zlib.error as error:
        raise Damaged("invoice", row.invoice, error) from error
    if reader.unconsumed_tail or sha256(body).hexdigest() != row.digest:
        raise Damaged("invoice", row.invoice, "it is not the one that was sealed")
    return InvoiceRow(row.invoice, row.digest, row.tenant, row.project, body)
