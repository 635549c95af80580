"""What the agent of each node says of itself."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Add the column; of an agent of before nothing is known."""
    op.add_column("work_nodes", sa.Column("agent", sa.String))
