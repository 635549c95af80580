"""The meter: every stretch of time that was charged, and where the fold stands.

The row that says where it stands is made by the first that folds. The journal is the truth: both
tables may be emptied, and are then folded again.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the two tables."""
    op.create_table(
        "meter_state",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("segments", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.CheckConstraint("id = 1", name="meter_is_one"),
    )
    op.create_table(
        "meter_segments",
        sa.Column("number", _NUMBER, primary_key=True, autoincrement=False),
        *(
            sa.Column(name, sa.BigInteger, nullable=False)
            for name in (
                *("pool", "amount", "account", "holder"),
                *("from_ms", "to_ms", "from_seq", "to_seq"),
            )
        ),
    )
    op.create_index("meter_segments_by_account", "meter_segments", ["account", "to_ms"])
