"""The tables of graphs, as the queries of this package see them; the others are in :mod:`.tables`.

Rules:

- ``graphs`` and ``graph_tasks`` are no folds: what a task was told to run may be secret and is in
  no journal. A task without a row has not begun.
- ``graph_reports`` is what attempts said of themselves: outputs and checkpoints.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, String, Table, false

from bailiwick.store.tables import NUMBER, metadata

graphs = Table(
    "graphs",
    metadata,
    Column("graph_id", NUMBER, primary_key=True, autoincrement=True),
    Column("tenant", String, nullable=False),
    Column("project", String),
    Column("name", String),
    Column("submitter", String, nullable=False),
    Column("submitter_kind", String, nullable=False),
    Column("submitter_keys", String),
    Column("correlation_id", String, nullable=False),
    Column("key", String),
    Column("digest", String, nullable=False),
    Column("document", String, nullable=False),
    Column("executor", String),
    Column("reuses", BigInteger),
    Column("tasks", Integer, nullable=False),
    Column("phase", String, nullable=False),
    Column("cancel_asked", Boolean, nullable=False),
    Column("rerun_asked", String),
    Column("version", BigInteger, nullable=False),
    Column("submitted_ms", BigInteger, nullable=False),
    Column("ended_ms", BigInteger),
    Column("is_told", Boolean, nullable=False, server_default=false()),
    Index("graphs_by_told", "is_told", "phase"),
    Index("graphs_by_tenant", "tenant", "graph_id"),
    Index("graphs_by_phase", "phase", "graph_id"),
    Index("graphs_by_key", "submitter", "key", unique=True),
    sqlite_autoincrement=True,
)

graph_tasks = Table(
    "graph_tasks",
    metadata,
    Column("graph_id", NUMBER, primary_key=True, autoincrement=False),
    Column("number", NUMBER, primary_key=True, autoincrement=False),
    Column("name", String, nullable=False),
    Column("phase", String, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("category", String),
    Column("reason", String),
    Column("exit_code", Integer),
    Column("due_ms", BigInteger),
    Column("digest", String),
    Column("outputs", String, nullable=False),
    Column("checkpoint", String),
    Column("reported", String),
    Column("failures", String, nullable=False),
    Column("job_id", BigInteger),
)

graph_reports = Table(
    "graph_reports",
    metadata,
    Column("graph_id", NUMBER, primary_key=True, autoincrement=False),
    Column("number", NUMBER, primary_key=True, autoincrement=False),
    Column("attempt", NUMBER, primary_key=True, autoincrement=False),
    Column("outputs", String, nullable=False),
    Column("checkpoint", String),
)
