"""An agent's jobs over a cut link, its own death, and another that takes its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.executors.node.executor import PATIENCE_MS, NodeExecutor
from bailiwick.executors.port import Exited, Running, Starting
from bailiwick.store import open_store
from bailiwick.store.work_rows import WorkBook
from bailiwick.vocab.errors import NotFound, Unavailable
from tests.support.executor_conformance import FOR_EVER, ended, runs, said, shell
from tests.support.node_work import DirectServer, end_all, running_agent
from tests.support.waiting import WAIT_S, until


@pytest.fixture
def book(tmp_path: Path) -> Iterator[WorkBook]:
    store = open_store(str(tmp_path / "data"))
    yield WorkBook(store)
    end_all(tmp_path / "jobs")
    store.close()


def executor_of(book: WorkBook, *, now_ms: int = 0, wait_s: float = WAIT_S) -> NodeExecutor:
    return NodeExecutor(book, "n1", now_ms=lambda: now_ms, wait_s=wait_s)


def test_a_job_goes_on_while_the_server_is_away_and_all_is_told_later(
    book: WorkBook, tmp_path: Path
) -> None:
    server, mark = DirectServer(book, "n1"), tmp_path / "mark"
    executor = executor_of(book)
    with running_agent(tmp_path / "jobs", server):
        executor.start(shell(1, f"echo one; until [ -e {mark}.go ]; do sleep 0.05; done; echo two"))
        said(executor, 1, "one")
        server.is_away = True
        (tmp_path / "mark.go").touch()
        assert isinstance(executor.status(1), Running)
        server.is_away = False
        assert ended(executor, 1).code == 0
        assert said(executor, 1, "two") == "one\ntwo\n"


def test_an_agent_that_begins_again_starts_nothing_twice_and_ends_what_is_to_end(
    book: WorkBook, tmp_path: Path
) -> None:
    mark, jobs = tmp_path / "mark", tmp_path / "jobs"
    executor = executor_of(book)
    with running_agent(jobs, DirectServer(book, "n1", life=1)):
        executor.start(shell(1, f"echo x >> {mark}; {FOR_EVER}"))
        until(mark.exists, "its effect is there")
    with running_agent(jobs, DirectServer(book, "n1", life=2)):
        runs(executor, 1)
        executor.start(shell(2, f"echo y >> {mark}"))
        ended(executor, 2)
        assert executor.tear_down(1)
        assert isinstance(executor.status(1), Exited)
        executor.forget(1)
        until(lambda: book.get(1) is None, "the agent has forgotten it")
    assert mark.read_text() == "x\ny\n"
    assert not (jobs / "1").exists()


def test_a_start_that_was_confirmed_is_not_done_again_where_its_folder_is_gone(
    book: WorkBook, tmp_path: Path
) -> None:
    mark, executor = tmp_path / "mark", executor_of(book)
    with running_agent(tmp_path / "jobs", DirectServer(book, "n1", life=1)):
        executor.start(shell(1, f"echo x >> {mark}"))
        ended(executor, 1)
    with running_agent(tmp_path / "other", DirectServer(book, "n1", life=2)):
        executor.start(shell(2, f"echo y >> {mark}"))
        ended(executor, 2)
    assert mark.read_text() == "x\ny\n"


def test_the_older_of_two_agents_stops_and_leaves_the_jobs_to_the_other(
    book: WorkBook, tmp_path: Path
) -> None:
    words: list[str] = []
    with running_agent(tmp_path / "jobs", DirectServer(book, "n1", life=1), say=words.append):
        book.enter("n1", 2)
        until(lambda: any("another agent" in word for word in words), "the older has stopped")


def test_what_the_server_does_not_know_is_ended(book: WorkBook, tmp_path: Path) -> None:
    from bailiwick.executors.local.executor import LocalExecutor

    stray = LocalExecutor(tmp_path / "jobs")
    stray.start(shell(9, FOR_EVER))
    with running_agent(tmp_path / "jobs", DirectServer(book, "n1")):
        until(lambda: isinstance(stray.status(9), Exited), "it is ended")


def test_an_end_that_nobody_confirms_is_not_known_and_after_patience_not_clean(
    book: WorkBook,
) -> None:
    executor_of(book).start(shell(1, FOR_EVER))
    assert executor_of(book).status(1) == Starting()
    with pytest.raises(Unavailable):
        executor_of(book, wait_s=0).tear_down(1)
    with pytest.raises(Unavailable):
        executor_of(book, wait_s=0, now_ms=PATIENCE_MS - 1).tear_down(1)
    assert not executor_of(book, wait_s=0, now_ms=PATIENCE_MS).tear_down(1)


def test_a_job_that_was_to_end_before_its_agent_came_never_runs(
    book: WorkBook, tmp_path: Path
) -> None:
    executor, mark = executor_of(book), tmp_path / "mark"
    executor.start(shell(1, f"touch {mark}"))
    with pytest.raises(Unavailable):
        executor_of(book, wait_s=0).tear_down(1)
    with running_agent(tmp_path / "jobs", DirectServer(book, "n1")):
        assert executor.tear_down(1)
    assert not mark.exists()
    with pytest.raises(NotFound):
        NodeExecutor(book, "n2", now_ms=lambda: 0).status(1)
