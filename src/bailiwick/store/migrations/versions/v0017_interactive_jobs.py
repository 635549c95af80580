"""Whether a job begins only once somebody is attached to it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Add the column; no job of before is such a one."""
    column = sa.Column("interactive", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("jobs", column)
