"""Calls of instances, while they wait for their answers and for whoever reads those."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table; before it nobody could ask an instance anything."""
    needed = [
        sa.Column(name, kind, nullable=False)
        for name, kind in (
            ("tenant", sa.String()),
            ("project", sa.String()),
            ("instance_id", sa.BigInteger()),
            ("verb", sa.String()),
            ("principal", sa.String()),
            ("correlation_id", sa.String()),
            ("question", sa.Text()),
            ("asked_ms", sa.BigInteger()),
            ("expires_ms", sa.BigInteger()),
        )
    ]
    op.create_table(
        "instance_calls",
        sa.Column("call_id", _NUMBER, primary_key=True, autoincrement=False),
        *needed,
        sa.Column("taken_ms", sa.BigInteger),
        sa.Column("taken_by", sa.String),
        sa.Column("answered_ms", sa.BigInteger),
        sa.Column("exit_code", sa.Integer),
        sa.Column("stdout", sa.Text),
        sa.Column("stderr", sa.Text),
        sa.Column("is_truncated", sa.Boolean),
    )
    op.create_index("instance_calls_by_instance", "instance_calls", ["instance_id", "call_id"])
    op.create_index("instance_calls_by_end", "instance_calls", ["expires_ms"])
