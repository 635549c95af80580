"""The members of a job that runs on several leases: a job's row knows the first alone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table, empty: so far no job ran on more than one."""
    op.create_table(
        "job_members",
        sa.Column("lease_id", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("job_id", sa.BigInteger, nullable=False),
        sa.Column("rank", sa.Integer, nullable=False),
        sa.Column("node", sa.String, nullable=False),
        sa.Column("token_id", sa.String),
        sa.Column("ended_ms", sa.BigInteger),
        sa.Column("exit_code", sa.Integer),
        sa.Column("signal", sa.Integer),
    )
    op.create_index("job_members_by_job", "job_members", ["job_id", "rank"])
