"""The tables of notices."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Integer,
    String,
    Table,
)

from bailiwick.store.tables import NUMBER, metadata


def _told() -> list[Column[Any]]:
    return [
        Column("principal", String, nullable=False),
        Column("message", String, nullable=False),
        Column("kind", String, nullable=False),
        Column("at_ms", BigInteger, nullable=False),
        Column("tenant", String),
        Column("project", String),
        Column("facts", String, nullable=False),
    ]


notice_reading = Table(
    "notice_reading",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("next_seq", BigInteger, nullable=False),
    CheckConstraint("id = 1", name="notice_reading_is_one"),
)
notice_people = Table(
    "notice_people",
    metadata,
    Column("principal", String, primary_key=True),
    Column("choices", String, nullable=False),
    Column("email", String),
    Column("pending_email", String),
    Column("code_digest", String),
    Column("webhook_url", String),
    Column("secret_id", String),
    Column("old_secret_id", String),
    *(
        Column(name, BigInteger, nullable=False, server_default="0")
        for name in (
            *("code_expires_ms", "code_tries", "code_hour_ms", "codes"),
            *("hour_ms", "sent", "urgent", "withheld", "dropped", "rotated_ms"),
            *("test_hour_ms", "tests", "login_ms"),
        )
    ),
)
notice_budgets = Table(
    "notice_budgets",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("project", String, primary_key=True),
    Column("terms", String, nullable=False),
    Column("level", Integer, nullable=False),
)
notices = Table(
    "notices",
    metadata,
    Column("notice_id", NUMBER, primary_key=True, autoincrement=True),
    *_told(),
    Column("read_ms", BigInteger),
    Index("notices_by_message", "principal", "message", unique=True),
    Index("notices_by_person", "principal", "notice_id"),
    sqlite_autoincrement=True,
)
notice_letters = Table(
    "notice_letters",
    metadata,
    Column("letter_id", NUMBER, primary_key=True, autoincrement=True),
    *_told(),
    Column("rest", String),
    Column("withheld", BigInteger, nullable=False, server_default="0"),
    Column("channel", String, nullable=False),
    Column("state", String, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("status", Integer),
    Column("fault", String),
    Column("tried_ms", BigInteger),
    Column("next_try_ms", BigInteger),
    Index("notice_letters_by_message", "principal", "message", "channel", unique=True),
    Index("notice_letters_by_state", "state", "next_try_ms"),
    sqlite_autoincrement=True,
)
