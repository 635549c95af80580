"""A store on a new folder, without making its tables each time.

To bring a new database to the newest schema is most of what a house of tests costs, and it is
always the same file: the first one that was made here is laid into the next folder. What makes the
tables is tested by tests/store/test_schema.py, which does not come here.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from bailiwick.store import open_store
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.sqlite_store import DATABASE_NAME


def open_fresh(folder: Path) -> SqlStore:
    """The store of a folder; one that has no database gets one with empty tables first."""
    if not (folder / DATABASE_NAME).exists():
        lay_tables(folder)
    return open_store(str(folder))


def lay_tables(folder: Path) -> None:
    """A database with empty tables in a folder that has none."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(folder / DATABASE_NAME, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(_empty_database())


@cache
def _empty_database() -> bytes:
    with TemporaryDirectory(prefix="bw-empty-") as name:
        open_store(name).close()
        (found,) = Path(name).glob(f"{DATABASE_NAME}*")  # its log went into it when it was closed
        return found.read_bytes()
