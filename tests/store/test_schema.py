"""The tables: made on both databases, only by those who may, and never by an older version."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from bailiwick.store import open_store, sqlite_store
from bailiwick.store.calls.tables import instance_calls
from bailiwick.store.graph_tables import graphs
from bailiwick.store.members.tables import job_members
from bailiwick.store.migrations import HEAD, REVISIONS, load_scripts, migrate, revision_of
from bailiwick.store.notices.tables import notice_letters
from bailiwick.store.webhooks.tables import webhook_letters
from bailiwick.vocab.errors import InvalidValue, NotFound, Unavailable, UnsupportedSchema
from tests.store.conftest import Place
from tests.support.waiting import WAIT_S

metadata = graphs.metadata
assert job_members.metadata is metadata
assert instance_calls.metadata is metadata
assert notice_letters.metadata is metadata
assert webhook_letters.metadata is metadata
LINES = [b"first\n", b"second\n"]


def make_old_database(place: Place) -> None:
    """As an older version would have left it, with two records."""
    if place.is_sqlite:
        Path(place.url).mkdir()
        engine = sa.create_engine(f"sqlite:///{place.url}/bailiwick.db")
    else:
        engine = sa.create_engine(place.url)
    with engine.begin() as connection:
        migrate(connection, to=REVISIONS[0])
        for seq, line in enumerate(LINES):
            row = {"seq": seq, "epoch": 1, "line": line}
            connection.execute(sa.insert(metadata.tables["journal"]).values(row))
        connection.execute(sa.update(metadata.tables["writer"]).values(epoch=1, size=len(LINES)))
    engine.dispose()


def test_the_revisions_named_in_code_are_those_of_the_scripts() -> None:
    scripts = list(load_scripts().walk_revisions())
    assert tuple(script.revision for script in reversed(scripts)) == REVISIONS
    assert load_scripts().get_current_head() == HEAD


def test_migrations_from_nothing_make_the_tables_that_the_queries_expect(
    empty_place: Place,
) -> None:
    with empty_place.open().reading() as connection:
        assert revision_of(connection) == HEAD
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_opening_and_migrating_again_changes_nothing(empty_place: Place) -> None:
    store = empty_place.open()
    leader = store.lead("one", "")
    assert leader is not None
    store.append(leader.epoch, 0, LINES)
    with store.changing() as connection:
        migrate(connection)
        migrate(connection)
    store.close()
    assert empty_place.open().read(0, 9) == LINES


def test_an_older_database_is_brought_up_to_date_with_its_records(empty_place: Place) -> None:
    make_old_database(empty_place)
    store = empty_place.open()
    assert store.read(0, 9) == LINES
    with store.reading() as connection:
        assert revision_of(connection) == HEAD
        begin = connection.scalar(sa.text("SELECT next_seq FROM notice_reading"))
        assert begin == len(LINES), "nobody is told old news"
        assert connection.exec_driver_sql("SELECT size FROM projection_state").scalar() == 0


def test_a_reader_does_not_bring_an_older_database_up_to_date(empty_place: Place) -> None:
    make_old_database(empty_place)
    with pytest.raises(Unavailable, match=REVISIONS[0]):
        empty_place.open(read_only=True)
    empty_place.open()
    assert empty_place.open(read_only=True).size() == len(LINES)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_database_of_a_newer_version_is_refused(empty_place: Place, read_only: bool) -> None:
    store = empty_place.open()
    with store.changing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    store.close()
    with pytest.raises(UnsupportedSchema) as raised:
        empty_place.open(read_only=read_only)
    assert (raised.value.found, raised.value.known) == ("9999", HEAD)


def test_of_many_that_open_an_empty_place_at_once_each_finds_the_tables(empty_place: Place) -> None:
    with ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(lambda _: empty_place.open(), range(6)))
    assert {store.size() for store in stores} == {0}


def test_tables_are_not_changed_under_a_process_that_leads(
    sqlite_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_tables = {"journal", "writer", "snapshot", "snapshot_chunk"}
    store = sqlite_place.open()
    leader = store.lead("old", "")
    assert leader is not None
    with store.changing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
        for name in metadata.tables.keys() - first_tables:
            connection.exec_driver_sql(f"DROP TABLE {name}")
    monkeypatch.setattr(sqlite_store, "BUSY_S", 0.2)
    with pytest.raises(Unavailable, match="out of date"):
        sqlite_place.open()
    store.append(leader.epoch, 0, LINES)
    store.resign()
    assert sqlite_place.open().read(0, 9) == LINES


def test_a_reader_needs_a_database_that_is_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"bailiwick\.db"):
        open_store(tmp_path, read_only=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["{0}", "{0}/bailiwick.db", "sqlite:///{0}"])
def test_a_data_directory_has_several_spellings(tmp_path: Path, form: str) -> None:
    folder = tmp_path / "a folder, 100% new"
    # A percent sign in an address is spelled out; in a path it stands for itself.
    named = str(folder).replace("%", "%25") if "://" in form else str(folder)
    with open_store(form.format(named)) as store:
        assert store.where == str(folder / "bailiwick.db")
    assert (folder / "bailiwick.db").is_file()


@pytest.mark.parametrize(
    "where",
    ["", "mysql://u:secret@h/d", "sqlite://", "sqlite:///a?mode=ro", "postgresql://u:secret@h:x/d"],
)
def test_what_is_no_place_for_a_store_is_refused_without_showing_a_password(where: str) -> None:
    with pytest.raises(InvalidValue, match="store") as raised:
        open_store(where)
    assert "secret" not in str(raised.value)


def test_importing_the_package_loads_no_database_package() -> None:
    code = "import sys, bailiwick.store as s; s.open_store; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=WAIT_S
    )
    assert {"sqlalchemy", "alembic", "psycopg", "sqlite3"} & set(done.stdout.split()) == set()


def test_a_database_in_a_folder_that_all_can_enter_is_its_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o755)
    store = open_store(str(tmp_path / "data"))
    try:
        store.lead("one", "")
        modes = {path.name: path.stat().st_mode & 0o077 for path in (tmp_path / "data").iterdir()}
    finally:
        store.close()
    assert "bailiwick.db-wal" in modes
    assert set(modes.values()) == {0}
