"""The tables, as the queries of this package see them.

Rules:

- The truth is ``journal`` and ``writer``. ``snapshot`` and ``snapshot_chunk`` are a cache;
  ``lease_history``, ``decision_history`` and ``usage_by_tenant`` are folds of the journal that can
  be thrown away, and ``projection_state`` says how far they have come.
- ``writer`` has one row. Its ``size`` is the number of the next record, and whoever appends holds
  that row until the batch is committed: numbers are visible in the order they were given.
- These definitions follow the migrations, which make the tables; a test holds the two together.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
)

# SQLite keeps rows in the order of a key that is spelled INTEGER, and of no other.
NUMBER = BigInteger().with_variant(Integer(), "sqlite")

metadata = MetaData()

journal = Table(
    "journal",
    metadata,
    Column("seq", NUMBER, primary_key=True, autoincrement=False),
    Column("epoch", BigInteger, nullable=False),
    Column("line", LargeBinary, nullable=False),
)

writer = Table(
    "writer",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("epoch", BigInteger, nullable=False),
    Column("name", String, nullable=False),
    Column("address", String, nullable=False),
    Column("size", BigInteger, nullable=False),
    CheckConstraint("id = 1", name="writer_is_one"),
)

# ``upload`` joins a snapshot to its chunks: chunks are written before anybody can see them.
snapshot = Table(
    "snapshot",
    metadata,
    Column("size", NUMBER, primary_key=True, autoincrement=False),
    Column("anchor", String, nullable=False),
    Column("digest", String, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("parts", Integer, nullable=False),
    Column("upload", String, nullable=False),
)

snapshot_chunk = Table(
    "snapshot_chunk",
    metadata,
    Column("upload", String, primary_key=True),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)

lease_history = Table(
    "lease_history",
    metadata,
    Column("lease_id", NUMBER, primary_key=True, autoincrement=False),
    Column("tenant", String, nullable=False),
    Column("project", String),
    Column("node", String),
    Column("cpu_milli", BigInteger, nullable=False),
    Column("mem_bytes", BigInteger, nullable=False),
    Column("block_bytes", BigInteger, nullable=False),
    Column("gpu_milli", BigInteger, nullable=False),
    Column("priority", String, nullable=False),
    Column("lease_class", String, nullable=False),
    Column("tag", String),
    Column("granted_ms", BigInteger, nullable=False),
    Column("ended_ms", BigInteger),
    Column("end_cause", String),
    Column("end_reason", String),
    Index("lease_history_by_tenant", "tenant", "lease_id"),
)

decision_history = Table(
    "decision_history",
    metadata,
    Column("seq", NUMBER, primary_key=True, autoincrement=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("tenant", String, nullable=False),
    Column("project", String),
    Column("kind", String, nullable=False),
    Column("reason", String),
    Column("detail", String),
    Index("decision_history_by_tenant", "tenant", "seq"),
)

# A key cannot be null: what a tenant used outside any project stands under the empty name.
usage_by_tenant = Table(
    "usage_by_tenant",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("project", String, primary_key=True),
    Column("gpu_milli_ms", BigInteger, nullable=False),
    Column("cpu_milli_ms", BigInteger, nullable=False),
    Column("leases_ended", BigInteger, nullable=False),
)

projection_state = Table(
    "projection_state",
    metadata,
    Column("name", String, primary_key=True),
    Column("size", BigInteger, nullable=False),
)
