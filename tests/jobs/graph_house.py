"""A job house that runs graphs; as a program it runs one until it is killed."""

from __future__ import annotations

import signal
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from bailiwick.journal.record import Record, parse_record
from bailiwick.reconcile.graphs import GraphLoop
from bailiwick.runtime.runner import SystemClock
from bailiwick.services.graphs import GraphDraft, Graphs
from bailiwick.store.graph_rows import GraphBook, GraphRow, TaskRow
from bailiwick.vocab.graphs import GraphPhase, TaskPhase
from tests.jobs.house import ANN, TENANT, JobHouse, job_house
from tests.support.waiting import until

MAPPED = 28
KEY = "night"


@dataclass
class GraphHouse:
    """A house, and what runs graphs in it."""

    house: JobHouse
    graphs: Graphs
    loop: GraphLoop

    @classmethod
    def of(cls, house: JobHouse) -> GraphHouse:
        """The same house, with graphs."""
        clock, book = SystemClock(), GraphBook(house.runner.replica.store)  # type: ignore[arg-type]
        graphs = Graphs(book, house.jobs, clock=clock)
        return cls(house, graphs, GraphLoop(graphs, house.runner, clock=clock, say=print))

    def submit(
        self, document: str, *, key: str | None = None, reuses: int | None = None
    ) -> GraphRow:
        """A graph of ann's."""
        draft = GraphDraft.read(document, tenant=TENANT, project=None, reuses=reuses)
        return self.graphs.submit(draft, principal=ANN, correlation_id="c-1", key=key)

    def rounds(self) -> None:
        """One round of each loop."""
        self.loop.once()
        self.house.loop.once()

    def until(self, row: GraphRow, *phases: GraphPhase) -> dict[str, TaskRow]:
        """The tasks that have begun, by name, once the graph is in one of these phases."""

        def look() -> bool:
            self.rounds()
            return self.graphs.get(row.graph_id).phase in phases

        until(look, f"graph {row.graph_id} is {' or '.join(phases)}")
        return self.tasks(row)

    def tasks(self, row: GraphRow) -> dict[str, TaskRow]:
        """The tasks that have begun, by name."""
        return {task.name: task for task in self.graphs.book.tasks_of(row.graph_id)}

    def phases(self, row: GraphRow) -> dict[str, TaskPhase]:
        """How far they have come."""
        return {name: task.state.phase for name, task in self.tasks(row).items()}

    def records(self, *kinds: str) -> list[Record]:
        """The records of these kinds, in order."""
        runner = self.house.runner
        lines = runner.read(lambda view: runner.replica.store.read(0, view.state.size))
        found = [parse_record(line.rstrip(b"\n")) for line in lines]
        return [record for record in found if record.kind.value in kinds]


def many(mark: Path) -> str:
    """Thirty tasks: one, a map after it, one after that; one element fails at first."""
    effect = f'echo "$TASK_KEY $TASK_ATTEMPT" >> {mark}'
    flaky = f'{effect}; [ "$TASK_ITEM" != 3 ] || [ "$TASK_ATTEMPT" != 1 ] || exit 75'
    return f"""
tasks:
  prep: {{command: [/bin/sh, -c, '{effect}']}}
  work:
    command: [/bin/sh, -c, '{flaky}']
    map: {MAPPED}
    after: [prep]
    retry: {{exit_code: 1, exit_codes: [75], pause: 10ms}}
  report: {{command: [/bin/sh, -c, '{effect}'], after: [work]}}
"""


def _be_killed(folder: Path) -> None:
    with job_house(folder) as house:
        own = GraphHouse.of(house)
        for loop in (house.loop, own.loop):
            run = threading.Thread(target=loop.run, args=(threading.Event(),), daemon=True)
            run.start()
        own.submit(many(folder / "mark"), key=KEY)
        print("started", flush=True)
        signal.pause()


if __name__ == "__main__":
    _be_killed(Path(sys.argv[1]))
