"""Graphs of tasks: what is to be run in which order, how far each has come, what attempts told."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables, empty."""
    op.create_table(
        "graphs",
        sa.Column("graph_id", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("project", sa.String),
        sa.Column("name", sa.String),
        sa.Column("submitter", sa.String, nullable=False),
        sa.Column("submitter_kind", sa.String, nullable=False),
        sa.Column("submitter_keys", sa.String),
        sa.Column("correlation_id", sa.String, nullable=False),
        sa.Column("key", sa.String),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("document", sa.String, nullable=False),
        sa.Column("executor", sa.String),
        sa.Column("reuses", sa.BigInteger),
        sa.Column("tasks", sa.Integer, nullable=False),
        sa.Column("phase", sa.String, nullable=False),
        sa.Column("cancel_asked", sa.Boolean, nullable=False),
        sa.Column("rerun_asked", sa.String),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("submitted_ms", sa.BigInteger, nullable=False),
        sa.Column("ended_ms", sa.BigInteger),
        sqlite_autoincrement=True,
    )
    op.create_index("graphs_by_tenant", "graphs", ["tenant", "graph_id"])
    op.create_index("graphs_by_phase", "graphs", ["phase", "graph_id"])
    op.create_index("graphs_by_key", "graphs", ["submitter", "key"], unique=True)
    _make_tasks()


def _make_tasks() -> None:
    op.create_table(
        "graph_tasks",
        sa.Column("graph_id", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("number", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("phase", sa.String, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("category", sa.String),
        sa.Column("reason", sa.String),
        sa.Column("exit_code", sa.Integer),
        sa.Column("due_ms", sa.BigInteger),
        sa.Column("digest", sa.String),
        sa.Column("outputs", sa.String, nullable=False),
        sa.Column("checkpoint", sa.String),
        sa.Column("reported", sa.String),
        sa.Column("failures", sa.String, nullable=False),
        sa.Column("job_id", sa.BigInteger),
    )
    op.create_table(
        "graph_reports",
        sa.Column("graph_id", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("number", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("attempt", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("outputs", sa.String, nullable=False),
        sa.Column("checkpoint", sa.String),
    )
