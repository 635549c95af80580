"""Letters that tell of several things, and of how many they do not; bounds of their own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Add the columns; a letter that is under way tells of one thing, as it did."""
    op.add_column("notice_letters", sa.Column("rest", sa.String))
    for table, name in (
        ("notice_letters", "withheld"),
        ("notice_people", "urgent"),
        ("notice_people", "test_hour_ms"),
        ("notice_people", "tests"),
    ):
        number = sa.Column(name, sa.BigInteger, nullable=False, server_default="0")
        op.add_column(table, number)
