"""How far each webhook was sent events, and what became of those that were."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the tables; before them there were no webhooks."""
    owner = [sa.Column(name, sa.String, primary_key=True) for name in ("tenant", "project")]
    op.create_table(
        "webhook_cursors",
        *owner,
        sa.Column("webhook", sa.String, primary_key=True),
        sa.Column("since_seq", sa.BigInteger, nullable=False),
        sa.Column("next_seq", sa.BigInteger, nullable=False),
    )
    owner = [sa.Column(name, sa.String, primary_key=True) for name in ("tenant", "project")]
    op.create_table(
        "webhook_letters",
        *owner,
        sa.Column("webhook", sa.String, primary_key=True),
        sa.Column("seq", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("status", sa.Integer),
        sa.Column("fault", sa.String),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("next_try_ms", sa.BigInteger),
    )
    op.create_index("webhook_letters_by_state", "webhook_letters", ["state"])
