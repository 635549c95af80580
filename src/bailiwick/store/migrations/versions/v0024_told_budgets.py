"""How far each budget was told of, so that a line it passes again is no news."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    """Add the table; of no budget it is known what was told before."""
    op.create_table(
        "notice_budgets",
        sa.Column("tenant", sa.String, primary_key=True),
        sa.Column("project", sa.String, primary_key=True),
        sa.Column("terms", sa.String, nullable=False),
        sa.Column("level", sa.Integer, nullable=False),
    )
