"""Brings a database to the tables of this version, on SQLite and on PostgreSQL alike.

Rules:

- A database whose revision is not in :data:`REVISIONS` was written by a newer version, and is
  refused with ``UnsupportedSchema`` before anything is read from it or written to it.
- All steps run in one transaction, which the caller opens and has to itself: a crash leaves the
  old tables, and of two that open an empty database at once one makes the tables.
- While replicas are replaced one by one, the version before works on the new tables. So a
  migration adds; what it would take away, the version after next takes away.
- Scripts stand in ``versions`` and do not use :mod:`bailiwick.store.tables`, which moves on.
"""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from sqlalchemy import inspect, text

from bailiwick.vocab.errors import UnsupportedSchema

if TYPE_CHECKING:
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory
    from sqlalchemy import Connection

REVISIONS = (
    *("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "0010"),
    *("0011", "0012", "0013", "0014", "0015", "0016", "0017", "0018", "0019", "0020"),
    *("0021", "0022", "0023", "0024"),
)
"""Every revision this version can start from, oldest first. A test holds them to the scripts."""

HEAD = REVISIONS[-1]

# Alembic's ``op`` stands for one migration at a time in the whole process.
_ONE_AT_A_TIME = Lock()


def load_scripts() -> ScriptDirectory:
    """The migrations, as Alembic reads them."""
    from alembic.script import ScriptDirectory

    return ScriptDirectory(Path(__file__).parent)


def revision_of(connection: Connection) -> str | None:
    """The revision of a database; ``None`` if nothing was ever made in it."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: list[str] = list(connection.scalars(text("SELECT version_num FROM alembic_version")))
    if any(revision not in REVISIONS for revision in found):
        raise UnsupportedSchema(", ".join(sorted(found)), HEAD)
    return found[0] if found else None


def migrate(connection: Connection, *, to: str = HEAD) -> None:
    """Run what is missing, inside the caller's transaction; at ``to`` already, nothing happens."""
    if revision_of(connection) == to:
        return
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext

    scripts = load_scripts()

    def steps(current: str, context: MigrationContext) -> object:
        del context
        return scripts._upgrade_revs(to, current)

    with _ONE_AT_A_TIME, EnvironmentContext(Config(), scripts, fn=steps) as environment:
        # The caller's transaction, whatever Alembic believes of a database's DDL.
        environment.configure(connection=connection, transactional_ddl=True)
        environment.run_migrations()
