"""What nodes counted, what was found by comparing it, and which stretches a lease held."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the tables, and an index to the meter's."""
    op.create_index("meter_segments_by_holder", "meter_segments", ["holder"])
    op.create_table(
        "counters",
        sa.Column("lease_id", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("node", sa.String, primary_key=True),
        sa.Column("taken_ms", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("checked_ms", sa.BigInteger, nullable=False),
        sa.Column("is_settled", sa.Boolean, nullable=False),
    )
    op.create_index("counters_by_check", "counters", ["is_settled", "checked_ms"])
    op.create_table(
        "counter_sources",
        sa.Column("source", sa.String, primary_key=True),
        sa.Column("position", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "counter_conflicts",
        sa.Column("source", sa.String, primary_key=True),
        sa.Column("day", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        sa.Column("known", sa.String, nullable=False),
        sa.Column("offered", sa.String, nullable=False),
        sa.Column("is_settled", sa.Boolean, nullable=False),
    )
    _add_findings()


def _add_findings() -> None:
    op.create_table(
        "findings",
        sa.Column("seq", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("tenant", sa.String),
        sa.Column("project", sa.String),
        sa.Column("finding", sa.String, nullable=False),
        sa.Column("severity", sa.String, nullable=False),
        sa.Column("subject", sa.String, nullable=False),
        sa.Column("evidence", sa.String),
        sa.Column("note", sa.String),
    )
    op.create_index("findings_by_subject", "findings", ["subject", "finding"])
    op.create_index("findings_by_tenant", "findings", ["tenant", "seq"])
    op.create_table(
        "finding_state",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.CheckConstraint("id = 1", name="finding_state_is_one"),
    )
