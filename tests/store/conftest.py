"""Every test here that asks for ``place`` runs twice: on SQLite and on PostgreSQL.

And every test has a product that waits for what lags.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.store import open_store
from bailiwick.store.sql_store import SqlStore
from tests.support.fresh_store import lay_tables
from tests.support.patience import patient_product
from tests.support.postgres import PostgresServer, start_or_skip

__all__ = ["patient_product"]


class Place:
    """Somewhere a store can be; what was opened here is closed when the test ends."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._opened: list[SqlStore] = []

    @property
    def is_sqlite(self) -> bool:
        """Whether the store is a file here."""
        return "://" not in self.url

    def open(self, *, read_only: bool = False) -> SqlStore:
        """One more store at this place, as another process would have it."""
        store = open_store(self.url, read_only=read_only)
        self._opened.append(store)
        return store

    def close(self) -> None:
        """Close whatever a test has left open."""
        for store in self._opened:
            store.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One private server for each worker of the test run."""
    with start_or_skip() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_tables(postgres: PostgresServer) -> str:
    """A PostgreSQL database with empty tables, for others to be made like it."""
    url = postgres.new_database()
    open_store(url).close()
    return url


@pytest.fixture
def postgres_place(postgres: PostgresServer, postgres_tables: str) -> Iterator[Place]:
    """A PostgreSQL database with empty tables."""
    yield from _postgres_place(postgres, postgres.new_database(like=postgres_tables))


@pytest.fixture
def sqlite_place(tmp_path: Path) -> Iterator[Place]:
    """A data directory with empty tables."""
    lay_tables(tmp_path / "data")
    yield from _sqlite_place(tmp_path)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest) -> Place:
    """Both databases with empty tables, one after the other."""
    name = "sqlite_place" if request.param == "sqlite" else "postgres_place"
    found: Place = request.getfixturevalue(name)
    return found


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Both databases before anything was made there: the data directory does not exist yet."""
    if request.param == "sqlite":
        yield from _sqlite_place(tmp_path)
    else:
        postgres: PostgresServer = request.getfixturevalue("postgres")
        yield from _postgres_place(postgres, postgres.new_database())


def _sqlite_place(folder: Path) -> Iterator[Place]:
    place = Place(str(folder / "data"))
    yield place
    place.close()


def _postgres_place(postgres: PostgresServer, url: str) -> Iterator[Place]:
    place = Place(url)
    yield place
    place.close()
    postgres.drop_database(url)
