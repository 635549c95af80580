"""Why a job was refused, with the numbers: its row kept only the word."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the column; of jobs that were refused before, only the word is known."""
    op.add_column("jobs", sa.Column("denial", sa.String))
