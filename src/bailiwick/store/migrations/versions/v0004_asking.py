"""What explanations and usage ask for: who is named where, hardware, and sums for each group.

The folded tables are emptied here and filled again from the journal, because rows that were folded
before lack the new columns. While replicas are replaced one by one, only a leader folds; what an
older version's command line folds meanwhile is put right by ``bailiwick history rebuild``.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add columns and tables, and have everything folded anew."""
    op.add_column("lease_history", sa.Column("gpu_generation", sa.String))
    op.add_column("lease_history", sa.Column("entry_id", sa.BigInteger))
    op.add_column("decision_history", sa.Column("correlation_id", sa.String))
    op.add_column("decision_history", sa.Column("entry_id", sa.BigInteger))
    op.add_column("decision_history", sa.Column("lease_id", sa.BigInteger))
    op.create_table(
        "record_index",
        sa.Column("subject", sa.String, primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    )
    op.create_table(
        "node_gpus",
        sa.Column("node", sa.String, primary_key=True),
        sa.Column("generations", sa.String, nullable=False),
    )
    op.create_table(
        "usage_by_group",
        sa.Column("tenant", sa.String, primary_key=True),
        sa.Column("project", sa.String, primary_key=True),
        sa.Column("tag", sa.String, primary_key=True),
        sa.Column("gpu_generation", sa.String, primary_key=True),
        sa.Column("lease_class", sa.String, primary_key=True),
        sa.Column("cpu_milli_ms", sa.String, nullable=False),
        sa.Column("mem_byte_ms", sa.String, nullable=False),
        sa.Column("block_byte_ms", sa.String, nullable=False),
        sa.Column("gpu_milli_ms", sa.String, nullable=False),
        sa.Column("leases_ended", sa.BigInteger, nullable=False),
    )
    for table in ("lease_history", "decision_history", "usage_by_tenant"):
        op.execute(sa.text(f"DELETE FROM {table}"))
    op.execute(sa.text("UPDATE projection_state SET size = 0 WHERE name = 'history'"))
