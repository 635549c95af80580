"""Jobs that are held: those that come after others, tasks of arrays, and further attempts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the columns; a job that the version before writes down is one that was asked for."""
    op.add_column("jobs", sa.Column("asked_ms", sa.BigInteger, server_default="0"))
    for name, value in (("asks", "1"), ("attempt", "1"), ("retries", "0")):
        column = sa.Column(name, sa.Integer, nullable=False, server_default=value)
        op.add_column("jobs", column)
    for name in ("retry_at_ms", "array_id"):
        op.add_column("jobs", sa.Column(name, sa.BigInteger))
    for name in ("after", "array", "retry_on", "checkpoint"):
        op.add_column("jobs", sa.Column(name, sa.String))
    op.add_column("jobs", sa.Column("array_index", sa.Integer))
    op.create_index("jobs_by_array", "jobs", ["array_id", "array_index"])
    op.create_table(
        "job_attempts",
        sa.Column("job_id", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("attempt", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("phase", sa.String, nullable=False),
        sa.Column("reason", sa.String),
        sa.Column("lease_id", sa.BigInteger),
        sa.Column("node", sa.String),
        sa.Column("started_ms", sa.BigInteger),
        sa.Column("ended_ms", sa.BigInteger, nullable=False),
        sa.Column("exit_code", sa.Integer),
        sa.Column("signal", sa.Integer),
        sa.Column("is_forgotten", sa.Boolean, nullable=False),
    )
    op.create_index("job_attempts_by_lease", "job_attempts", ["lease_id"])
