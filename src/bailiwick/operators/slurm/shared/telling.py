"""Whose jobs ran on whose workers of a shared Slurm: told to the platform, hour by hour.

Rules:

- Up to when it was told is the platform's to say; nothing is kept here. A report has all of its
  time, so an operator that was killed, or another one, goes on where the last report ended.
- Whose a job is, is what the accounting says of it (:mod:`.attribution`); one that is nobody's is
  told for nobody. Whose a worker is follows from its lease: a name in Slurm is another's from the
  time on that another's lease has it.
- A job on workers that are gone, and whose nobody knows any more, is not told for them, and that is
  logged: no project is charged by a guess.
- Slurm's books have no figures for each node of a job. A job on several has on each the same part
  of its cores and GPUs; what is not whole goes to the first by name. Workers are of one shape.
- A worker that has gone is told of within a minute, not an hour: while it is known whose it was.

>>> owners = WorkerOwners()
>>> owners.see({"worker-0": ("vision", 100)})
>>> job = SharedRun("7", "audio", ("worker-0",), BookedRun("7", 120, 150, 4, 1))
>>> owners.used_in([job], window=(100, 140)).rows
{('audio', 'vision', 'cpu_second'): 80, ('audio', 'vision', 'gpu_second'): 20}
"""

from __future__ import annotations

import secrets
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from bailiwick.client import ClientError
from bailiwick.operators.kit import Outdated
from bailiwick.operators.slurm.questions import MemberAway
from bailiwick.operators.slurm.queue.telling import (
    OWN_CHARS_MAX,
    WINDOWS_MAX,
    Asking,
    check_whole,
    half_of,
    read_books,
)
from bailiwick.operators.slurm.queue.use import (
    UNITS,
    BookedRun,
    TellingPlan,
    count_of,
    read_rows,
    second_of,
)
from bailiwick.operators.slurm.scene import Scene
from bailiwick.operators.slurm.shared.attribution import JobAttributed, SacctRow, attribute
from bailiwick.operators.slurm.shared.findings import expand
from bailiwick.operators.slurm.shared.mapping import PROBE_ACCOUNT
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.values import MILLI
from bailiwick.wire.shared import USE_ROWS_MAX

FIELDS: Final = (
    *("jobid", "user", "account", "partition", "admincomment"),
    *("nodelist", "start", "end", "alloctres"),
)
"""What ``sacct -aXnPD -o`` is asked for; the last is Slurm's own."""
NOWHERE: Final = "None assigned"
"""Where a job was that was cancelled before it began; it has a time of beginning all the same."""
_AGAIN_S: Final = 60
_OWNERS_MAX: Final = 8
"""Of one name, that are known."""

Used = dict[tuple[str, str, str], int]


class SharedRun(NamedTuple):
    """One run of a job that is a project's, and where it was."""

    job_id: str
    project: str
    nodes: tuple[str, ...]
    run: BookedRun


@dataclass(frozen=True, slots=True)
class UsedWorkers:
    """Who used how much of what on whose workers, and which nodes were nobody's that is known."""

    rows: Used = field(default_factory=dict)
    unknown: tuple[str, ...] = ()


class WorkerOwners:
    """Whose each worker is and was, by its name in Slurm."""

    def __init__(self) -> None:
        self._known: dict[str, deque[tuple[str, int]]] = {}
        self._there: frozenset[str] = frozenset()
        self.left_s: int | None = None
        """When one was last seen to be gone."""

    def see(self, workers: Mapping[str, tuple[str, int]], *, now_s: int = 0) -> None:
        """Those that are there: whose each is, and since which second."""
        for name, (project, since_s) in workers.items():
            known = self._known.setdefault(name, deque(maxlen=_OWNERS_MAX))
            if not known or known[-1] != (project, since_s):
                known.append((project, since_s))
        if self._there - {*workers}:
            self.left_s = now_s
        self._there = frozenset(workers)

    def at(self, name: str, start_s: int) -> str | None:
        """Whose a worker was when a job began there."""
        found = [project for project, since_s in self._known.get(name, ()) if since_s <= start_s]
        return found[-1] if found else None

    def used_in(self, runs: Iterable[SharedRun], *, window: tuple[int, int]) -> UsedWorkers:
        """What these used in ``window[0] <= t < window[1]``, by user, source and unit."""
        found: Used = defaultdict(int)
        unknown: set[str] = set()
        for job in runs:
            ran_s = job.run.overlap_s(*window)
            if not ran_s or job.run.start_s is None:
                continue
            names = sorted(job.nodes)
            for at, name in enumerate(names):
                source = self.at(name, job.run.start_s)
                if source is None:
                    unknown.add(name)
                    continue
                cpus, gpus = (_part(count, at, of=len(names)) for count in job.run[3:5])
                found[job.project, source, "cpu_second"] += cpus * ran_s
                found[job.project, source, "gpu_second"] += gpus * ran_s
        rows = {key: quantity for key, quantity in sorted(found.items()) if quantity}
        return UsedWorkers(rows, tuple(sorted(unknown)))


def _part(count: int, at: int, *, of: int) -> int:
    """What one of several nodes has of a count."""
    return count // of + (at < count % of)


def parse_shared_runs(text: str, mark: str) -> list[SharedRun]:
    """What ``sacct`` wrote of :data:`FIELDS`: the runs that began and are somebody's."""
    found = []
    for *about, nodes, start, end, tres in read_rows(text, mark, fields=FIELDS):
        told, start_s = attribute(SacctRow(*about)), second_of(start)
        if start_s is None or nodes == NOWHERE or not isinstance(told, JobAttributed):
            continue
        if told.project == PROBE_ACCOUNT:
            continue
        held = dict(each.partition("=")[::2] for each in tres.split(",") if each)
        counts = (count_of(held.get(word, "0")) for word in ("cpu", "gres/gpu"))
        run = BookedRun(told.job_id, start_s, second_of(end), *counts)
        found.append(SharedRun(told.job_id, told.project, tuple(expand(nodes)), run))
    return found


def read_shared_runs(
    ask: Asking, window: tuple[int, int]
) -> tuple[list[SharedRun], tuple[int, int]]:
    """Every run of a window by Slurm's books, and the window: its first part if it has too many."""
    check_whole(ask)
    begin, end = window
    mark = secrets.token_hex(8)
    while True:  # bounded: it is halved each time
        told = read_books(ask, FIELDS, window=(begin, end), mark=mark, most=OWN_CHARS_MAX)
        if told is not None:
            return parse_shared_runs(told, mark), (begin, end)
        end = half_of(begin, end)


class SharedUseTeller:
    """Tells who used whose workers of one runtime."""

    def __init__(
        self, plan: TellingPlan | None = None, *, now: Callable[[], float] = time.time
    ) -> None:
        self._plan, self._now = plan or TellingPlan(), now
        self.owners = WorkerOwners()
        self._due = 0.0

    def tell(self, scene: Scene, *, is_last: bool = False) -> None:
        """Tell what is to be told by now, if it is time; at its end, all of it."""
        if not is_last and time.monotonic() < self._due:
            return
        self._due = time.monotonic() + min(_AGAIN_S, self._plan.every_s)
        try:
            self._tell_windows(scene, is_last=is_last)
        except (ClientError, BailiwickError, MemberAway, Outdated) as error:
            scene.kit.log.warning("use of workers cannot be told yet", error=str(error)[:300])

    def _tell_windows(self, scene: Scene, *, is_last: bool) -> None:
        view = scene.view
        assert view is not None  # as this operator's scenes are
        born_s = -(-view.runtime.created_ms // MILLI)
        until_s = -(-(view.used_until_ms or 0) // MILLI)
        for _ in range(WINDOWS_MAX):
            window = self._plan_for(until_s).window(
                dict.fromkeys(UNITS, max(until_s, born_s)),
                born_s=born_s,
                now_s=int(self._now()),
                is_last=is_last,
            )
            if window is None:
                return
            until_s = self._tell_window(scene, window)

    def _plan_for(self, until_s: int) -> TellingPlan:
        """Sooner while a worker that has gone was not told of to its end."""
        left_s = self.owners.left_s
        if left_s is None or until_s > left_s:
            return self._plan
        return replace(self._plan, every_s=min(self._plan.every_s, _AGAIN_S))

    def _tell_window(self, scene: Scene, window: tuple[int, int]) -> int:
        runs, window = read_shared_runs(scene.ask_controller, window)
        found = self.owners.used_in(runs, window=window)
        while len(found.rows) > USE_ROWS_MAX:  # bounded: it is halved each time
            window = window[0], half_of(*window)
            found = self.owners.used_in(runs, window=window)
        if found.unknown:
            shown = ", ".join(found.unknown[:8])
            scene.kit.log.warning("jobs ran on workers that are nobody's any more", nodes=shown)
        scene.kit.report_shared_use(found.rows, window=(window[0] * MILLI, window[1] * MILLI))
        return window[1]
