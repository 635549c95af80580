"""When each person last came in through his provider: so long his groups count for what is sent."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Add the column; nobody is known to have come in before."""
    login = sa.Column("login_ms", sa.BigInteger, nullable=False, server_default="0")
    op.add_column("notice_people", login)
