"""The API behind a real port on loopback, for clients that are real too."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from bailiwick.executors.local.modes import JobMode
from bailiwick.iam import PrincipalKind, Role
from bailiwick.kernel.people.commands import CreateTenant, SetMember
from bailiwick.reconcile.graphs import GraphLoop
from bailiwick.runtime.runner import SystemClock
from bailiwick.services.graphs import Graphs
from bailiwick.services.jobs.exec_desk import ExecDesk
from bailiwick.services.tables import StoreTables
from bailiwick.store.graph_rows import GraphBook
from bailiwick.store.sql_store import SqlStore
from tests.jobs.house import job_house
from tests.support.http_house import http_house, make_app, make_parts
from tests.support.ports import free_port
from tests.support.waiting import WAIT_S, until
from tests.support.wide_open import wide_settings


class Served:
    """An application, and the address under which it is served; can be closed and opened again."""

    def __init__(self, app: FastAPI, token: Callable[[str], str]) -> None:
        self.token = token
        """A token of somebody."""
        self.port = free_port()
        self._app = app
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def open(self) -> None:
        """Serve; on the same port every time."""
        config = uvicorn.Config(
            self._app,
            host="127.0.0.1",
            port=self.port,
            log_level="error",
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        server = self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=server.run, daemon=True)
        self._thread.start()
        until(lambda: server.started, "the server listens")

    def close(self) -> None:
        """Serve no more; the house goes on."""
        assert self._server is not None
        assert self._thread is not None
        self._server.should_exit = True
        self._thread.join(WAIT_S)


@contextmanager
def served_house(folder: Path) -> Iterator[Served]:
    """The house of two tenants, served."""
    with http_house(folder) as house:
        served = Served(house.app, house.token)
        served.open()
        try:
            yield served
        finally:
            served.close()


@contextmanager
def served_jobs(folder: Path, *, mode: JobMode = JobMode.TRUSTED) -> Iterator[Served]:
    """A house where jobs really run, on the node ``here``: tenant ``lab`` with its admin ``ann``.

    Another tenant, ``rival``, has the admin ``bob``.
    """
    (folder / "data").mkdir(parents=True)
    with job_house(folder, settings=wide_settings(grace_ms=500), mode=mode) as house:
        store, clock = house.runner.replica.store, SystemClock()
        assert isinstance(store, SqlStore)
        graphs = Graphs(GraphBook(store), house.jobs, clock=clock)
        parts = make_parts(
            tables=StoreTables.of(store),
            jobs=house.jobs,
            graphs=graphs,
            executor=house.executor,
            execs=ExecDesk(house.runner),
        )
        ids = (f"id-{n}" for n in count(1))
        app = make_app(
            house.runner, house.authority, clock=clock, ids=lambda: next(ids), parts=parts
        )
        issued = count(1)

        def token(name: str) -> str:
            minted = house.authority.mint(
                name,
                PrincipalKind.HUMAN,
                token_id=f"setup-{next(issued)}",
                now_ms=clock.now_ms(),
                ttl_s=3600,
            )
            house.do(minted.command)
            return minted.token

        stop = threading.Event()
        house.do(CreateTenant("rival"))
        house.do(SetMember("bob", Role.TENANT_ADMIN, "rival", None))
        graph_loop = GraphLoop(graphs, house.runner, clock=clock)
        runs = house.loop.run, graph_loop.run, house.held.run
        loops = [threading.Thread(target=run, args=(stop,)) for run in runs]
        served = Served(app, token)
        served.open()
        for loop in loops:
            loop.start()
        try:
            yield served
        finally:
            stop.set()
            for loop in loops:
                loop.join(WAIT_S)
            served.close()
