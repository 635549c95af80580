"""An agent's jobs over a cut link, its own death, and another that takes its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.node.agents import FIRST, AgentWord, own_word
from bailiwick.executors.node.executor import PATIENCE_MS, NodeExecutor
from bailiwick.executors.node.work import Wish, parse_spec, spell_spec
from bailiwick.executors.port import Exited, Running, Starting, fault_of
from bailiwick.store.work_rows import WorkBook
from bailiwick.vocab.errors import Conflict, InvalidValue, NotFound, Unavailable
from bailiwick.vocab.jobs import JobFault
from tests.support.executor_conformance import FOR_EVER, ended, runs, said, shell
from tests.support.fresh_store import open_fresh
from tests.support.node_work import DirectServer, end_all, running_agent
from tests.support.waiting import WAIT_S, until


@pytest.fixture
def book(tmp_path: Path) -> Iterator[WorkBook]:
    store = open_fresh(tmp_path / "data")
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
        runs(executor, 1)
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


# -- terms and devices -----------------------------------------------------------------------


def test_a_job_ends_with_its_term_though_the_server_is_away(book: WorkBook, tmp_path: Path) -> None:
    server, executor = DirectServer(book, "n1"), executor_of(book)
    with running_agent(tmp_path / "jobs", server, over_s=0.1):
        for lease_id in (1, 2):
            executor.start(shell(lease_id, f"echo up; {FOR_EVER}"))
            runs(executor, lease_id)
        server.terms = {1: 1_500, 2: 3_600_000}
        server.is_term_told.wait(WAIT_S)
        server.is_away = True
        here = LocalExecutor(tmp_path / "jobs")
        until(lambda: isinstance(here.status(1), Exited), "it is ended by its own agent")
        assert isinstance(here.status(2), Running), "the other's term is not over"
        server.is_away = False
        assert ended(executor, 1).signal is not None, "and that is told"
        assert isinstance(executor.status(2), Running)


def test_what_comes_waits_until_what_is_to_be_gone_has_left_its_devices(
    book: WorkBook, tmp_path: Path
) -> None:
    lock, executor = tmp_path / "lock", executor_of(book)
    # It does not go at the first word: the two would meet if the second were begun at once.
    stays = f"exec 9>{lock}; flock -n 9 || exit 9; trap '' TERM; echo up; {FOR_EVER}"
    alone = f"exec 9>{lock}; flock -n 9 || exit 9"
    with running_agent(tmp_path / "jobs", DirectServer(book, "n1")):
        executor.start(replace(shell(1, stays), device_indices=(0, 1)))
        said(executor, 1, "up")
        book.wish(1, Wish.END, now_ms=0)
        executor.start(replace(shell(2, alone), device_indices=(1,)))
        executor.start(replace(shell(3, "true"), device_indices=(2,)))
        assert ended(executor, 2).code == 0, "two were on one device"
        assert ended(executor, 3).code == 0


def test_of_what_an_earlier_agent_began_any_device_may_be_in_use(
    book: WorkBook, tmp_path: Path
) -> None:
    lock, executor = tmp_path / "lock", executor_of(book)
    stays = f"exec 9>{lock}; flock -n 9 || exit 9; trap '' TERM; echo up; {FOR_EVER}"
    with running_agent(tmp_path / "jobs", DirectServer(book, "n1", life=1)):
        executor.start(replace(shell(1, stays), device_indices=(0,)))
        said(executor, 1, "up")
    book.wish(1, Wish.END, now_ms=0)
    executor.start(replace(shell(2, f"exec 9>{lock}; flock -n 9"), device_indices=(3,)))
    with running_agent(tmp_path / "jobs", DirectServer(book, "n1", life=2)):
        assert ended(executor, 2).code == 0


# -- what agents say of themselves -----------------------------------------------------------


def test_an_agent_of_before_gets_what_it_understands_and_no_more(book: WorkBook) -> None:
    executor = executor_of(book)
    book.enter("n1", 1, says=AgentWord())
    executor.start(shell(1, "true"))
    row = book.get(1)
    assert row is not None
    assert {*json.loads(row.spec or "")} <= FIRST
    newer = replace(shell(2, "true"), told={"BAILIWICK_JOB_ID": "7"})
    with pytest.raises(InvalidValue, match="understands told: install") as refused:
        executor.start(newer)
    assert fault_of(refused.value) is JobFault.AGENT_TOO_OLD
    assert book.get(2) is None, "it was never ordered"
    book.enter("n1", 2, says=AgentWord("0.1", "users", FIRST | {"told"}))
    executor.start(newer)
    with pytest.raises(InvalidValue, match=r"image.*got '?0\.1"):
        executor.start(replace(shell(3, "true"), image="base"))
    book.enter("n1", 3, says=own_word("sandbox"))
    executor.start(replace(shell(3, "true"), image="base"))
    assert book.agents(["n1", "n2"]) == {"n1": own_word("sandbox")}


def test_a_word_that_an_agent_does_not_know_is_told_as_that() -> None:
    plain = json.loads(spell_spec(shell(1, "true")))
    for newer in (plain | {"rack": 3}, plain | {"limits": {"watts": 5}}):
        with pytest.raises(InvalidValue, match="agent: expected one that understands") as refused:
            parse_spec(json.dumps(newer))
        assert fault_of(refused.value) is JobFault.AGENT_TOO_OLD


def test_where_nothing_keeps_jobs_apart_none_is_ordered(book: WorkBook) -> None:
    book.enter("n1", 1, says=own_word("closed"))
    with pytest.raises(InvalidValue, match="owner") as refused:
        executor_of(book).start(shell(1, "true"))
    assert fault_of(refused.value) is JobFault.NOT_KEPT_APART
    assert book.get(1) is None


def test_the_later_agent_is_believed(book: WorkBook) -> None:
    book.enter("n1", 2, says=own_word("sandbox"))
    with pytest.raises(Conflict):
        book.enter("n1", 1, says=AgentWord())
    book.enter("n1", 2)  # what it saw, it tells without saying again who it is
    assert book.agents() == {"n1": own_word("sandbox")}
