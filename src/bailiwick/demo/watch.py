"""What is looked at while a run goes on: how busy the fleet is, and who waits for what."""

from __future__ import annotations

from collections.abc import Mapping

from bailiwick import Dimension
from bailiwick.demo.books import CampusBooks, Puzzle, Sample
from bailiwick.demo.fleet import HOUR_MS, LABS
from bailiwick.demo.traffic import Job
from bailiwick.kernel import State
from bailiwick.kernel.views import fleet, waiting_entry

RIDDLES_MAX = 8


def take_sample(
    state: State, books: CampusBooks, *, now_ms: int, running: int, waiting: int
) -> Sample:
    """The fleet now, and how much of its quota every tenant uses."""
    rows = fleet(state).generations
    for lab in LABS:
        room = state.quotas.headroom(lab.name).dimensions[Dimension.GPU_COUNT]
        use = room.used / room.limit if room.limit else 0.0
        books.tenants[lab.name].quota_use.append(use)
    sample = Sample(
        now_ms,
        {row.generation: row.leased_milli for row in rows},
        {row.generation: row.devices * 1_000 for row in rows},
        running,
        waiting,
    )
    books.samples.append(sample)
    return sample


def keep_puzzle(
    state: State, books: CampusBooks, *, waiting: Mapping[int, Job], now_ms: int
) -> None:
    """Keep the waiting request whose explanation has most to say."""
    riddles = [
        (entry_id, job)
        for entry_id, job in waiting.items()
        if HOUR_MS <= now_ms - job.arrives_ms <= 8 * HOUR_MS
    ]
    for entry_id, job in riddles[:RIDDLES_MAX]:
        told = waiting_entry(state, entry_id, now_ms=now_ms)
        found = Puzzle(job, now_ms, told, len(state.ledger), len(waiting))
        if books.puzzle is None or found.interest > books.puzzle.interest:
            books.puzzle = found
