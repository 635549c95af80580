"""The tables of webhooks; a webhook of a tenant has an empty project."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, String, Table

from bailiwick.store.tables import NUMBER, metadata

webhook_cursors = Table(
    "webhook_cursors",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("project", String, primary_key=True),
    Column("webhook", String, primary_key=True),
    Column("since_seq", BigInteger, nullable=False),
    Column("next_seq", BigInteger, nullable=False),
)
webhook_letters = Table(
    "webhook_letters",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("project", String, primary_key=True),
    Column("webhook", String, primary_key=True),
    Column("seq", NUMBER, primary_key=True, autoincrement=False),
    Column("state", String, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("status", Integer),
    Column("fault", String),
    Column("at_ms", BigInteger, nullable=False),
    Column("next_try_ms", BigInteger),
    Index("webhook_letters_by_state", "state"),
)
