"""The tables, as the queries of this package see them.

Rules:

- The truth is ``journal`` and ``writer``; ``stamps`` has what proves who wrote each batch, by how
  many records there were then. ``snapshot`` and ``snapshot_chunk`` are a cache;
  ``lease_history``, ``decision_history``, ``record_index``, ``node_gpus``, ``usage_by_tenant`` and
  ``usage_by_group`` are folds of the journal that can be thrown away, and ``projection_state`` says
  how far they have come.
- ``meter_segments`` is a fold too: every stretch of time that was charged, as the meter numbers
  shares, accounts and holders; ``meter_state`` is the meter after so many records, with which they
  were committed.
- ``counters`` and ``counter_sources`` are no folds: what nodes counted, and how far each source of
  that has come, committed together. ``counter_conflicts`` is what a source said twice, differently.
- ``findings`` is a fold of the journal's findings; ``finding_state`` says how far it has come.
- ``invoices`` is no fold: what a bill says, under the digest that the journal has of it.
- ``jobs`` is no fold: what a job was told to run may be secret and is in no journal. It has one row
  for each job, and the journal knows the job's request by the key ``job-ID``; ``job_attempts`` has
  one for each attempt that is over of a job that was tried again.
- Graphs of tasks are no folds either; their tables stand in :mod:`.graph_tables`. The members of
  jobs that run on several leases stand in :mod:`.members.tables`.
- ``work`` is no fold: what is to run on a node and what its agent saw, by lease; ``work_nodes``
  counts its versions, ``work_output`` is what jobs printed there.
- ``writer`` has one row. Its ``size`` is the number of the next record, and whoever appends holds
  that row until the batch is committed: numbers are visible in the order they were given.
- These definitions follow the migrations, which make the tables; a test holds the two together.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    false,
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

stamps = Table(
    "stamps",
    metadata,
    Column("size", NUMBER, primary_key=True, autoincrement=False),
    Column("epoch", BigInteger, nullable=False),
    Column("mark", LargeBinary, nullable=False),
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
    Column("gpu_generation", String),
    Column("entry_id", BigInteger),
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
    Column("correlation_id", String),
    Column("entry_id", BigInteger),
    Column("lease_id", BigInteger),
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

# Which records name a lease or an entry of the queue; renewals, most of a journal, are left out.
record_index = Table(
    "record_index",
    metadata,
    Column("subject", String, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
)

# The generation of each device of a node, in order, with commas between.
node_gpus = Table(
    "node_gpus",
    metadata,
    Column("node", String, primary_key=True),
    Column("generations", String, nullable=False),
)

# Bytes times milliseconds outgrow every integer column: these sums are decimal digits. A word
# that is not there (no project, no tag, no GPU) stands as the empty one.
usage_by_group = Table(
    "usage_by_group",
    metadata,
    Column("tenant", String, primary_key=True),
    Column("project", String, primary_key=True),
    Column("tag", String, primary_key=True),
    Column("gpu_generation", String, primary_key=True),
    Column("lease_class", String, primary_key=True),
    Column("cpu_milli_ms", String, nullable=False),
    Column("mem_byte_ms", String, nullable=False),
    Column("block_byte_ms", String, nullable=False),
    Column("gpu_milli_ms", String, nullable=False),
    Column("leases_ended", BigInteger, nullable=False),
)

projection_state = Table(
    "projection_state",
    metadata,
    Column("name", String, primary_key=True),
    Column("size", BigInteger, nullable=False),
)

meter_state = Table(
    "meter_state",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("size", BigInteger, nullable=False),
    Column("segments", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    CheckConstraint("id = 1", name="meter_is_one"),
)

meter_segments = Table(
    "meter_segments",
    metadata,
    Column("number", NUMBER, primary_key=True, autoincrement=False),
    Column("pool", BigInteger, nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("account", BigInteger, nullable=False),
    Column("holder", BigInteger, nullable=False),
    Column("from_ms", BigInteger, nullable=False),
    Column("to_ms", BigInteger, nullable=False),
    Column("from_seq", BigInteger, nullable=False),
    Column("to_seq", BigInteger, nullable=False),
    Index("meter_segments_by_account", "account", "to_ms"),
    Index("meter_segments_by_holder", "holder"),
)

# ``body`` is the counter's one spelling. ``checked_ms`` is when it was last compared with the
# journal (0: never), and ``is_settled`` that nothing more can come of that.
counters = Table(
    "counters",
    metadata,
    Column("lease_id", NUMBER, primary_key=True, autoincrement=False),
    Column("node", String, primary_key=True),
    Column("taken_ms", BigInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("checked_ms", BigInteger, nullable=False),
    Column("is_settled", Boolean, nullable=False),
    Index("counters_by_check", "is_settled", "checked_ms"),
)

counter_sources = Table(
    "counter_sources",
    metadata,
    Column("source", String, primary_key=True),
    Column("position", LargeBinary, nullable=False),
)

# One row for each source and day: whoever contradicts himself often is told of once a day.
counter_conflicts = Table(
    "counter_conflicts",
    metadata,
    Column("source", String, primary_key=True),
    Column("day", BigInteger, primary_key=True, autoincrement=False),
    Column("epoch", BigInteger, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("known", String, nullable=False),
    Column("offered", String, nullable=False),
    Column("is_settled", Boolean, nullable=False),
)

findings = Table(
    "findings",
    metadata,
    Column("seq", NUMBER, primary_key=True, autoincrement=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("tenant", String),
    Column("project", String),
    Column("finding", String, nullable=False),
    Column("severity", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("evidence", String),
    Column("note", String),
    Index("findings_by_subject", "subject", "finding"),
    Index("findings_by_tenant", "tenant", "seq"),
)

finding_state = Table(
    "finding_state",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("size", BigInteger, nullable=False),
    CheckConstraint("id = 1", name="finding_state_is_one"),
)

invoices = Table(
    "invoices",
    metadata,
    Column("number", NUMBER, primary_key=True, autoincrement=True),
    Column("invoice", String, nullable=False),
    Column("digest", String, nullable=False),
    Column("tenant", String, nullable=False),
    Column("project", String),
    Column("body", LargeBinary, nullable=False),
    Index("invoices_by_digest", "invoice", "digest", unique=True),
    Index("invoices_by_tenant", "tenant", "number"),
)

# ``env`` is emptied as soon as it is not needed any more.
jobs = Table(
    "jobs",
    metadata,
    Column("job_id", NUMBER, primary_key=True, autoincrement=True),
    Column("tenant", String, nullable=False),
    Column("project", String),
    Column("name", String),
    Column("submitter", String, nullable=False),
    Column("submitter_kind", String, nullable=False),
    Column("submitter_keys", String),
    Column("correlation_id", String, nullable=False),
    Column("key", String),
    Column("digest", String, nullable=False),
    Column("request", String, nullable=False),
    Column("command", String, nullable=False),
    Column("env", String, nullable=False),
    Column("cwd", String),
    Column("tag", String),
    Column("phase", String, nullable=False),
    Column("reason", String),
    Column("cancel_asked", Boolean, nullable=False),
    Column("submitted_ms", BigInteger, nullable=False),
    Column("since_seq", BigInteger, nullable=False),
    Column("entry_id", BigInteger),
    Column("lease_id", BigInteger),
    Column("node", String),
    Column("token_id", String),
    Column("started_ms", BigInteger),
    Column("ended_ms", BigInteger),
    Column("exit_code", Integer),
    Column("signal", Integer),
    Column("is_forgotten", Boolean, nullable=False),
    Column("denial", String),
    Column("image", String),
    Column("asked_ms", BigInteger, server_default="0"),
    Column("asks", Integer, nullable=False, server_default="1"),
    Column("attempt", Integer, nullable=False, server_default="1"),
    Column("retry_at_ms", BigInteger),
    Column("after", String),
    Column("array_id", BigInteger),
    Column("array", String),
    Column("array_index", Integer),
    Column("retries", Integer, nullable=False, server_default="0"),
    Column("retry_on", String),
    Column("checkpoint", String),
    Column("interactive", Boolean, nullable=False, server_default=false()),
    Column("is_told", Boolean, nullable=False, server_default=false()),
    Index("jobs_by_told", "is_told", "phase"),
    Index("jobs_by_tenant", "tenant", "job_id"),
    Index("jobs_by_array", "array_id", "array_index"),
    Index("jobs_by_lease", "lease_id"),
    Index("jobs_by_phase", "phase", "job_id"),
    Index("jobs_by_key", "submitter", "key", unique=True),
    sqlite_autoincrement=True,
)

job_attempts = Table(
    "job_attempts",
    metadata,
    Column("job_id", NUMBER, primary_key=True, autoincrement=False),
    Column("attempt", NUMBER, primary_key=True, autoincrement=False),
    Column("phase", String, nullable=False),
    Column("reason", String),
    Column("lease_id", BigInteger),
    Column("node", String),
    Column("started_ms", BigInteger),
    Column("ended_ms", BigInteger, nullable=False),
    Column("exit_code", Integer),
    Column("signal", Integer),
    Column("is_forgotten", Boolean, nullable=False),
    Index("job_attempts_by_lease", "lease_id"),
)

work_nodes = Table(
    "work_nodes",
    metadata,
    Column("node", String, primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("life", BigInteger, nullable=False),
    Column("agent", String),
)

work = Table(
    "work",
    metadata,
    Column("lease_id", NUMBER, primary_key=True, autoincrement=False),
    Column("node", String, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("wish", String, nullable=False),
    Column("wished_ms", BigInteger, nullable=False),
    Column("spec", String),
    Column("warn_until_ms", BigInteger),
    Column("seen", String),
    Column("output_bytes", BigInteger, nullable=False),
    Column("is_truncated", Boolean, nullable=False),
    Index("work_by_node", "node", "version"),
)

work_output = Table(
    "work_output",
    metadata,
    Column("lease_id", NUMBER, primary_key=True, autoincrement=False),
    Column("first_byte", NUMBER, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
    Column("at_ms", NUMBER),
)
