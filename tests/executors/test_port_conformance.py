"""Every executor that this machine can open keeps the promises of the port."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.node.executor import NodeExecutor
from bailiwick.store.work_rows import WorkBook
from tests.executors.conftest import HASTY
from tests.support.executor_conformance import CHECKS, Rig
from tests.support.fresh_store import open_fresh
from tests.support.node_work import DirectServer, end_all, running_agent
from tests.support.waiting import WAIT_S


@contextmanager
def local(folder: Path) -> Iterator[Rig]:
    """Jobs of this machine."""

    def reopen() -> LocalExecutor:
        return LocalExecutor(folder / "jobs", waits=HASTY)

    yield Rig(reopen(), reopen)
    for found in reopen().adopt():
        reopen().tear_down(found.lease_id)


@contextmanager
def node(folder: Path) -> Iterator[Rig]:
    """Jobs of a machine with an agent, over rows."""
    store = open_fresh(folder / "data")
    book = WorkBook(store)

    def reopen() -> NodeExecutor:
        return NodeExecutor(book, "n1", now_ms=lambda: 0, wait_s=WAIT_S)

    try:
        with running_agent(folder / "jobs", DirectServer(book, "n1")):
            yield Rig(reopen(), reopen)
    finally:
        end_all(folder / "jobs")
        store.close()


RIGS: dict[str, Callable[[Path], AbstractContextManager[Rig]]] = {
    "local": local,
    "node": node,
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("name", RIGS)
def test_an_executor_keeps_the_promises_of_the_port(
    name: str,
    check: Callable[[Rig], None],
    *,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_SERVER", "leak")
    with RIGS[name](tmp_path) as rig:
        check(rig)
