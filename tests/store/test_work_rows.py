"""Work of nodes as rows: versions in order, secrets wiped, output taken once, one agent counts."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from bailiwick.executors.node.executor import NodeExecutor, statuses_of
from bailiwick.executors.node.work import (
    ITEMS_MAX,
    PIECE_BYTES_MAX,
    Seen,
    Wish,
    parse_spec,
    spell_spec,
)
from bailiwick.executors.port import Exited, JobSpec, JobStatus, Limits, Running, Starting
from bailiwick.store.tables import work
from bailiwick.store.work_rows import WorkBook
from bailiwick.vocab.errors import Conflict, InvalidValue, NotFound
from tests.store.conftest import Place

SECRET = "hunter2-in-the-environment"
SPEC = JobSpec(
    7, argv=("true", "ä"), token="t", env={"A": SECRET}, limits=Limits(5, cores=(1, 2)), server="s"
)
RUNS = Running(2, 3, "b")


def test_a_specification_is_read_back_as_it_was() -> None:
    assert parse_spec(spell_spec(SPEC)) == SPEC


def test_a_lease_is_ordered_once_and_only_its_node_is_told(place: Place) -> None:
    book = WorkBook(place.open())
    book.order("n1", 7, spec=spell_spec(SPEC), now_ms=1)
    with pytest.raises(Conflict):
        book.order("n2", 7, spec="{}", now_ms=1)
    version, (row,) = WorkBook(place.open()).due("n1", after=0)
    assert (version, row.lease_id, row.wish) == (1, 7, Wish.RUN)
    assert book.due("n2", after=0)[1] == []
    assert book.due("n1", after=version) == (1, [])
    book.observe("n2", [Seen(7, RUNS)])
    found = book.get(7)
    assert found is not None
    assert found.seen is None, "another node's word counts nothing"


def test_many_are_told_at_once_as_they_are_one_by_one(place: Place) -> None:
    book = WorkBook(place.open())
    for lease_id in range(1, 9):
        book.order(f"n{lease_id % 2}", lease_id, spec=spell_spec(SPEC), now_ms=1)
    book.observe("n0", [Seen(2, RUNS), Seen(4, Exited(3, None, 9, True), True)])
    book.wish(6, Wish.FORGET, now_ms=2)
    asked = {lease_id: f"n{lease_id % 2}" for lease_id in range(1, 12)} | {8: "n1"}

    def alone(lease_id: int, node: str) -> JobStatus | None:
        try:
            return NodeExecutor(book, node, now_ms=lambda: 3).status(lease_id)
        except NotFound:
            return None

    assert statuses_of(book, asked) == {each: alone(each, node) for each, node in asked.items()}
    assert statuses_of(book, {}) == {}


def test_what_is_to_be_so_only_goes_forward_and_each_change_is_told_once(place: Place) -> None:
    book = WorkBook(place.open())
    for lease_id in range(1, 6):
        book.order("n1", lease_id, spec="{}", now_ms=1)
    version, rows = book.due("n1", after=0, limit=2)
    assert (version, [row.lease_id for row in rows]) == (2, [1, 2])
    version, rows = book.due("n1", after=version)
    assert (version, [row.lease_id for row in rows]) == (5, [3, 4, 5])
    book.wish(2, Wish.END, now_ms=9)
    book.wish(2, Wish.RUN, now_ms=10)
    book.wish(2, Wish.END, now_ms=11)
    assert book.warn(3, 100)
    assert book.warn(3, 100)
    assert not book.warn(99, 100)
    version, rows = book.due("n1", after=version)
    assert [(row.lease_id, row.wish, row.warn_until_ms) for row in rows] == [
        (2, Wish.END, None),
        (3, Wish.RUN, 100),
    ]
    assert rows[0].wished_ms == 9


def test_secrets_are_wiped_once_the_agent_says_what_became_of_the_job(place: Place) -> None:
    store = place.open()
    book = WorkBook(store)
    book.order("n1", 7, spec=spell_spec(SPEC), now_ms=1)
    assert SECRET not in repr(book.get(7))
    book.observe("n1", [Seen(7, Starting())])
    assert SECRET in kept(store)
    book.observe("n1", [Seen(7, RUNS)])
    assert SECRET not in kept(store)


def kept(store: object) -> str:
    with store.reading() as connection:  # type: ignore[attr-defined]
        return str(connection.execute(sa.select(work)).all())


def test_a_job_is_forgotten_with_all_it_printed(place: Place) -> None:
    book = WorkBook(place.open())
    book.order("n1", 7, spec="{}", now_ms=1)
    assert book.append_output("n1", 7, offset=0, data=b"abc", is_truncated=False) == 3
    ended = Seen(7, Exited(0, None, 5, True), True)
    book.observe("n1", [ended])
    book.wish(7, Wish.FORGET, now_ms=2)
    assert book.of_node("n1") == []
    assert book.read_output(7, 0, limit=9).data == b""
    assert book.append_output("n1", 7, offset=3, data=b"d", is_truncated=False) is None
    gone = Seen(7, Exited(0, None, 5, True), True, is_forgotten=True)
    book.observe("n1", [gone])
    assert book.get(7) is None


def test_output_is_taken_where_the_last_piece_ended_and_once(place: Place) -> None:
    book = WorkBook(place.open())
    book.order("n1", 7, spec="{}", now_ms=1)
    take = book.append_output
    assert take("n1", 7, offset=0, data=b"abc", is_truncated=False) == 3
    assert take("n1", 7, offset=0, data=b"abc", is_truncated=False) == 3
    assert take("n1", 7, offset=9, data=b"zzz", is_truncated=False) == 3
    assert take("n2", 7, offset=3, data=b"zzz", is_truncated=False) is None
    assert take("n1", 7, offset=3, data=b"defg", is_truncated=False) == 7
    for offset in range(9):
        for limit in range(1, 9):
            part = book.read_output(7, offset, limit=limit)
            assert part.data == b"abcdefg"[offset : offset + limit]
            assert part.next_offset == offset + len(part.data)
    assert take("n1", 7, offset=7, data=b"", is_truncated=True) == 7
    assert book.read_output(7, 0, limit=9).is_truncated


def test_what_is_taken_is_bounded(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    book = WorkBook(place.open())
    book.order("n1", 7, spec="{}", now_ms=1)
    monkeypatch.setattr("bailiwick.store.work_rows.OUTPUT_KEPT_BYTES", 5)
    assert book.append_output("n1", 7, offset=0, data=b"abcdefg", is_truncated=False) is None
    part = book.read_output(7, 0, limit=9)
    assert (part.data, part.is_truncated) == (b"abcde", True)
    with pytest.raises(InvalidValue):
        book.append_output("n1", 7, offset=0, data=bytes(PIECE_BYTES_MAX + 1), is_truncated=False)
    with pytest.raises(InvalidValue):
        book.observe("n1", [Seen(7, RUNS)] * (ITEMS_MAX + 1))


def test_of_two_agents_of_a_node_the_later_counts(place: Place) -> None:
    book = WorkBook(place.open())
    book.enter("n1", 5)
    book.enter("n1", 5)
    book.enter("n1", 8)
    with pytest.raises(Conflict):
        book.enter("n1", 5)
    book.enter("n2", 1)
