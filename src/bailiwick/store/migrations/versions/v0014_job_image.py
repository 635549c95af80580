"""In which image a job runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Add the column; a job of before sees the machine's own system."""
    op.add_column("jobs", sa.Column("image", sa.String))
