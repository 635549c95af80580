"""The table of the members of gangs: who has which lease of a job that runs on several."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, String, Table

from bailiwick.store.tables import NUMBER, metadata

job_members = Table(
    "job_members",
    metadata,
    Column("lease_id", NUMBER, primary_key=True, autoincrement=False),
    Column("job_id", BigInteger, nullable=False),
    Column("rank", Integer, nullable=False),
    Column("node", String, nullable=False),
    Column("token_id", String),
    Column("ended_ms", BigInteger),
    Column("exit_code", Integer),
    Column("signal", Integer),
    Index("job_members_by_job", "job_id", "rank"),
)
