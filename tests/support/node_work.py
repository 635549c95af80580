"""An agent's jobs beside the book they come from, in one process: no wire between the two."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bailiwick.agent.heartbeat import Away
from bailiwick.agent.work.jobs import JobAgent
from bailiwick.agent.work.wishes import PrintedPiece, PulledWork, Superseded, WorkItem
from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.teardown import TeardownWaits
from bailiwick.executors.node.work import Seen
from bailiwick.executors.port import Unstarted
from bailiwick.store.work_rows import WorkBook
from bailiwick.vocab.errors import Conflict, Unavailable
from tests.support.waiting import WAIT_S

HASTY = TeardownWaits(start_s=WAIT_S, term_s=0.2, kill_s=WAIT_S)


@dataclass
class DirectServer:
    """The server as an agent sees it; ``is_away`` cuts the link."""

    book: WorkBook
    node: str
    life: int = 1
    is_away: bool = False
    terms: dict[int, int] = field(default_factory=dict)
    is_term_told: threading.Event = field(default_factory=threading.Event)

    def _reach(self) -> None:
        if self.is_away:
            raise Away("the link is cut")
        try:
            self.book.enter(self.node, self.life)
        except Conflict:
            raise Superseded from None
        except Unavailable as error:
            raise Away(str(error)) from None

    def work(self, *, after: int, wait_s: int) -> PulledWork:
        self._reach()
        end = time.monotonic() + min(wait_s, 1)
        while True:  # bounded by the end
            self._reach()
            version, rows = self.book.due(self.node, after=after)
            if rows or time.monotonic() > end:
                break
            time.sleep(0.01)
        items = [
            WorkItem(
                row.lease_id,
                row.wish,
                row.spec,
                row.warn_until_ms,
                row.output_bytes,
                row.seen is not None and isinstance(row.seen.status, Unstarted),
            )
            for row in rows
        ]
        terms = dict(self.terms)
        if terms:
            self.is_term_told.set()
        return PulledWork(version, items, terms)

    def observe(self, seen: Sequence[Seen]) -> None:
        self._reach()
        self.book.observe(self.node, seen)

    def send_output(self, pieces: Sequence[PrintedPiece]) -> dict[int, int | None]:
        self._reach()
        return {
            each.lease_id: self.book.append_output(
                self.node,
                each.lease_id,
                offset=each.offset,
                data=each.data,
                is_truncated=each.is_truncated,
                at_ms=time.time_ns() // 1_000_000,
            )
            for each in pieces
        }


@contextmanager
def running_agent(
    folder: Path,
    server: DirectServer,
    *,
    say: Callable[[str], None] = lambda text: None,
    over_s: float = 1000.0,
) -> Iterator[JobAgent]:
    """An agent at work; when it ends, its jobs go on."""
    executor = LocalExecutor(folder, waits=HASTY)
    agent = JobAgent(executor, server, address="http://127.0.0.1:1", say=say, over_s=over_s)
    stop = threading.Event()
    thread = threading.Thread(target=agent.run, args=(stop, server), daemon=True)
    thread.start()
    try:
        yield agent
    finally:
        stop.set()
        thread.join(WAIT_S)
        agent.join(WAIT_S)


def end_all(folder: Path) -> None:
    """Leave no job running."""
    executor = LocalExecutor(folder, waits=HASTY)
    for found in executor.adopt():
        executor.tear_down(found.lease_id)
