"""An address that waits for its code beside the one that counts, and two secrets for a while."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"

_WAITS = "UPDATE notice_people SET pending_email = email, email = NULL WHERE NOT is_verified"


def upgrade() -> None:
    """Add the columns; an address that was not shown yet waits on beside none."""
    op.add_column("notice_people", sa.Column("pending_email", sa.String))
    op.execute(_WAITS)
    op.drop_column("notice_people", "is_verified")
    op.add_column("notice_people", sa.Column("old_secret_id", sa.String))
    rotated = sa.Column("rotated_ms", sa.BigInteger, nullable=False, server_default="0")
    op.add_column("notice_people", rotated)
