"""The journal, its one writer, and snapshots."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables, and the row that says that nobody has ever led."""
    op.create_table(
        "journal",
        sa.Column("seq", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("line", sa.LargeBinary, nullable=False),
    )
    writer = op.create_table(
        "writer",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("address", sa.String, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.CheckConstraint("id = 1", name="writer_is_one"),
    )
    op.bulk_insert(writer, [{"id": 1, "epoch": 0, "name": "", "address": "", "size": 0}])
    op.create_table(
        "snapshot",
        sa.Column("size", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("anchor", sa.String, nullable=False),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("parts", sa.Integer, nullable=False),
        sa.Column("upload", sa.String, nullable=False),
    )
    op.create_table(
        "snapshot_chunk",
        sa.Column("upload", sa.String, primary_key=True),
        sa.Column("part", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    if op.get_bind().dialect.name == "postgresql":
        # Chunks are compressed already; to try again would only cost time.
        op.execute("ALTER TABLE snapshot_chunk ALTER COLUMN data SET STORAGE EXTERNAL")
