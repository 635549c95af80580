"""Work of nodes: what is to run there, what their agents saw, and what jobs printed there."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables, empty."""
    op.create_table(
        "work_nodes",
        sa.Column("node", sa.String, primary_key=True),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("life", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "work",
        sa.Column("lease_id", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("node", sa.String, nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("wish", sa.String, nullable=False),
        sa.Column("wished_ms", sa.BigInteger, nullable=False),
        sa.Column("spec", sa.String),
        sa.Column("warn_until_ms", sa.BigInteger),
        sa.Column("seen", sa.String),
        sa.Column("output_bytes", sa.BigInteger, nullable=False),
        sa.Column("is_truncated", sa.Boolean, nullable=False),
    )
    op.create_index("work_by_node", "work", ["node", "version"])
    op.create_table(
        "work_output",
        sa.Column("lease_id", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("first_byte", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
