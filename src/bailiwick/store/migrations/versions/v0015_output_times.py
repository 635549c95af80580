"""When each piece of a job's output came from its agent."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the column; of what came before nobody knows when."""
    op.add_column("work_output", sa.Column("at_ms", NUMBER))
