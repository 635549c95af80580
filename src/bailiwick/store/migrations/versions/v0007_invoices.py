"""Invoices: what every issued bill says, to the last byte.

The journal has who owes what for which period and the digest of the bill; the bill itself is here.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "invoices",
        sa.Column("number", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("invoice", sa.String, nullable=False),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("tenant", sa.String, nullable=False),
        sa.Column("project", sa.String),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("invoices_by_digest", "invoices", ["invoice", "digest"], unique=True)
    op.create_index("invoices_by_tenant", "invoices", ["tenant", "number"])
