"""The table of calls of instances: questions and answers, for minutes."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, String, Table, Text

from bailiwick.store.tables import NUMBER, metadata

instance_calls = Table(
    "instance_calls",
    metadata,
    Column("call_id", NUMBER, primary_key=True, autoincrement=False),
    Column("tenant", String, nullable=False),
    Column("project", String, nullable=False),
    Column("instance_id", BigInteger, nullable=False),
    Column("verb", String, nullable=False),
    Column("principal", String, nullable=False),
    Column("correlation_id", String, nullable=False),
    Column("question", Text, nullable=False),
    Column("asked_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),
    Column("taken_ms", BigInteger),
    Column("taken_by", String),
    Column("answered_ms", BigInteger),
    Column("exit_code", Integer),
    Column("stdout", Text),
    Column("stderr", Text),
    Column("is_truncated", Boolean),
    Index("instance_calls_by_instance", "instance_id", "call_id"),
    Index("instance_calls_by_end", "expires_ms"),
)
