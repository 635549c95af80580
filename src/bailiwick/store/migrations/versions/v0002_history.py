"""What queries read: leases, decisions and usage, folded from the journal."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables, empty: they are filled from the journal."""
    op.create_table(
        "lease_history",
        sa.Column("lease_id", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("project", sa.String),
        sa.Column("node", sa.String),
        sa.Column("cpu_milli", sa.BigInteger, nullable=False),
        sa.Column("mem_bytes", sa.BigInteger, nullable=False),
        sa.Column("block_bytes", sa.BigInteger, nullable=False),
        sa.Column("gpu_milli", sa.BigInteger, nullable=False),
        sa.Column("priority", sa.String, nullable=False),
        sa.Column("lease_class", sa.String, nullable=False),
        sa.Column("tag", sa.String),
        sa.Column("granted_ms", sa.BigInteger, nullable=False),
        sa.Column("ended_ms", sa.BigInteger),
        sa.Column("end_cause", sa.String),
        sa.Column("end_reason", sa.String),
    )
    op.create_index("lease_history_by_tenant", "lease_history", ["tenant", "lease_id"])
    op.create_table(
        "decision_history",
        sa.Column("seq", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("project", sa.String),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("reason", sa.String),
        sa.Column("detail", sa.String),
    )
    op.create_index("decision_history_by_tenant", "decision_history", ["tenant", "seq"])
    op.create_table(
        "usage_by_tenant",
        sa.Column("tenant", sa.String, primary_key=True),
        sa.Column("project", sa.String, primary_key=True),
        sa.Column("gpu_milli_ms", sa.BigInteger, nullable=False),
        sa.Column("cpu_milli_ms", sa.BigInteger, nullable=False),
        sa.Column("leases_ended", sa.BigInteger, nullable=False),
    )
    state = op.create_table(
        "projection_state",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("size", sa.BigInteger, nullable=False),
    )
    op.bulk_insert(state, [{"name": "history", "size": 0}])
