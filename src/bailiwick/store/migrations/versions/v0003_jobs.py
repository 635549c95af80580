"""Jobs: what was to be run under a lease, and what became of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table, empty. A number is given once: the journal knows a job by it."""
    op.create_table(
        "jobs",
        sa.Column("job_id", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("project", sa.String),
        sa.Column("name", sa.String),
        sa.Column("submitter", sa.String, nullable=False),
        sa.Column("submitter_kind", sa.String, nullable=False),
        sa.Column("submitter_keys", sa.String),
        sa.Column("correlation_id", sa.String, nullable=False),
        sa.Column("key", sa.String),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("request", sa.String, nullable=False),
        sa.Column("command", sa.String, nullable=False),
        sa.Column("env", sa.String, nullable=False),
        sa.Column("cwd", sa.String),
        sa.Column("tag", sa.String),
        sa.Column("phase", sa.String, nullable=False),
        sa.Column("reason", sa.String),
        sa.Column("cancel_asked", sa.Boolean, nullable=False),
        sa.Column("submitted_ms", sa.BigInteger, nullable=False),
        sa.Column("since_seq", sa.BigInteger, nullable=False),
        sa.Column("entry_id", sa.BigInteger),
        sa.Column("lease_id", sa.BigInteger),
        sa.Column("node", sa.String),
        sa.Column("token_id", sa.String),
        sa.Column("started_ms", sa.BigInteger),
        sa.Column("ended_ms", sa.BigInteger),
        sa.Column("exit_code", sa.Integer),
        sa.Column("signal", sa.Integer),
        sa.Column("is_forgotten", sa.Boolean, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("jobs_by_tenant", "jobs", ["tenant", "job_id"])
    op.create_index("jobs_by_lease", "jobs", ["lease_id"])
    op.create_index("jobs_by_phase", "jobs", ["phase", "job_id"])
    op.create_index("jobs_by_key", "jobs", ["submitter", "key"], unique=True)
