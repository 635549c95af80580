"""What people are told: what each chose, each one's inbox, what is to be sent, how far was read."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_LIVE = "('waiting', 'starting', 'running', 'ending')"


def upgrade() -> None:
    """Add the tables; of what happened already, and jobs that are over, nobody is told."""
    op.create_table(
        "notice_reading",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("next_seq", sa.BigInteger, nullable=False),
        sa.CheckConstraint("id = 1", name="notice_reading_is_one"),
    )
    end = "(SELECT COALESCE(MAX(seq) + 1, 0) FROM journal)"
    op.execute(f"INSERT INTO notice_reading (id, next_seq) VALUES (1, {end})")
    op.create_table(
        "notice_people",
        sa.Column("principal", sa.String, primary_key=True),
        sa.Column("choices", sa.String, nullable=False),
        sa.Column("email", sa.String),
        sa.Column("is_verified", sa.Boolean, nullable=False),
        sa.Column("code_digest", sa.String),
        sa.Column("webhook_url", sa.String),
        sa.Column("secret_id", sa.String),
        *(
            sa.Column(name, sa.BigInteger, nullable=False, server_default="0")
            for name in (
                *("code_expires_ms", "code_tries", "code_hour_ms", "codes"),
                *("hour_ms", "sent", "withheld", "dropped"),
            )
        ),
    )
    op.create_table(
        "notices",
        sa.Column("notice_id", _NUMBER, primary_key=True, autoincrement=True),
        *_told(),
        sa.Column("read_ms", sa.BigInteger),
        sqlite_autoincrement=True,
    )
    op.create_index("notices_by_message", "notices", ["principal", "message"], unique=True)
    op.create_index("notices_by_person", "notices", ["principal", "notice_id"])
    op.create_table(
        "notice_letters",
        sa.Column("letter_id", _NUMBER, primary_key=True, autoincrement=True),
        *_told(),
        sa.Column("channel", sa.String, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("status", sa.Integer),
        sa.Column("fault", sa.String),
        sa.Column("tried_ms", sa.BigInteger),
        sa.Column("next_try_ms", sa.BigInteger),
        sqlite_autoincrement=True,
    )
    by_message = ["principal", "message", "channel"]
    op.create_index("notice_letters_by_message", "notice_letters", by_message, unique=True)
    op.create_index("notice_letters_by_state", "notice_letters", ["state", "next_try_ms"])
    told = sa.Column("is_told", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("jobs", told)
    op.execute(f"UPDATE jobs SET is_told = true WHERE phase NOT IN {_LIVE}")
    op.create_index("jobs_by_told", "jobs", ["is_told", "phase"])
    told = sa.Column("is_told", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("graphs", told)
    op.execute("UPDATE graphs SET is_told = true WHERE phase NOT IN ('running', 'cancelling')")
    op.create_index("graphs_by_told", "graphs", ["is_told", "phase"])


def _told() -> list[sa.Column[object]]:
    return [
        sa.Column("principal", sa.String, nullable=False),
        sa.Column("message", sa.String, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("tenant", sa.String),
        sa.Column("project", sa.String),
        sa.Column("facts", sa.String, nullable=False),
    ]
