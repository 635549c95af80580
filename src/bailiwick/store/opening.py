"""Chooses the store that a path or an address means, and loads only that one's packages.

Rules:

- A path or ``sqlite:///path`` is a data directory (or the database file in it): SQLite. As in every
  SQLAlchemy address, a fourth slash begins an absolute path.
- ``postgresql://user@host/database`` is PostgreSQL. A password is never shown in an error.
- A store that is opened to write brings the tables up to date first. One that is opened
  ``read_only`` changes nothing at all, and can never lead.
"""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.store.sql_store import SqlStore

DATABASE_NAME = "bailiwick.db"
"""The name of the one SQLite file in a data directory."""

_EXPECTED = "a data directory, sqlite:///directory, or postgresql://user@host/database"
_POSTGRES = ("postgresql", "postgresql+psycopg", "postgres")


def open_store(where: str | PathLike[str], *, read_only: bool = False) -> SqlStore:
    """The store at a path or address, ready to use."""
    text = fspath(where)
    scheme, found, rest = text.partition("://")
    if not found:
        return _open_sqlite(text, read_only)
    if scheme == "sqlite" and rest.startswith("/") and "?" not in rest:
        return _open_sqlite(unquote(rest[1:]), read_only)
    if scheme in _POSTGRES:
        from bailiwick.store.postgres_store import PostgresStore

        return PostgresStore(text, read_only=read_only)
    # Not the whole text: it may hold a password.
    raise InvalidValue("store", f"{scheme}://...", _EXPECTED)


def _open_sqlite(path: str, read_only: bool) -> SqlStore:
    if not path:
        raise InvalidValue("store", path, _EXPECTED)
    from bailiwick.store.sqlite_store import SqliteStore

    folder = Path(path)
    if folder.name == DATABASE_NAME and not folder.is_dir():
        folder = folder.parent
    return SqliteStore(folder, read_only=read_only)
