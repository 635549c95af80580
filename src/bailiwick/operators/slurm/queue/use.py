"""What jobs used, by Slurm's own books, in units of the app.

Rules:

- A job counts from its start to its end, or for as long as it runs; what a window has of that is
  counted in that window. So however time is cut into windows, their sum is the same: nothing is
  counted twice, and nothing is left out.
- Slurm's books know whole seconds, and windows begin and end with one. So nothing is rounded.
- A job that never began used nothing. A run that was requeued is a row of its own.
- A row that is not understood is an error: nothing is told of what was guessed.

>>> runs = parse_runs("7|100|160|billing=2,cpu=2,gres/gpu=1,mem=1M,node=1\\n", "|")
>>> used_in(runs, from_s=0, to_s=130)
{'job_second': 30, 'cpu_second': 60, 'gpu_second': 30}
>>> used_in(runs, from_s=130, to_s=1000)
{'job_second': 30, 'cpu_second': 60, 'gpu_second': 30}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from bailiwick.operators.slurm.queue.marks import MarkedJob
from bailiwick.vocab.errors import InvalidValue

UNITS: Final = ("job_second", "cpu_second", "gpu_second")
"""In the order in which they are told."""
RUN_FIELDS: Final = ("jobid", "start", "end", "alloctres")
MARK_FIELDS: Final = ("jobid", "jobname", "admincomment", "account", "start", "elapsedraw")
"""What ``sacct -aXnPD -o`` is asked for; the last of each is Slurm's own."""
SETTLE_S: Final = 30
_NEVER: Final = ("Unknown", "None", "")
_JOB: Final = re.compile(r"[0-9]{1,10}(_([0-9]{1,10}|\[[0-9,%:-]{1,200}\]))?\Z")
_COUNT: Final = re.compile(r"[0-9]{1,9}\Z")
_SECONDS: Final = re.compile(r"[0-9]{1,12}\Z")


class BookedRun(NamedTuple):
    """One run of a job: ``start_s <= t < end_s``, with so many cores and GPUs."""

    job_id: str
    start_s: int | None
    """None while it has not begun."""
    end_s: int | None
    """None while it runs."""
    cpus: int = 1
    gpus: int = 0

    def overlap_s(self, from_s: int, to_s: int) -> int:
        """For how many seconds of a window it ran."""
        if self.start_s is None:
            return 0
        end_s = to_s if self.end_s is None else min(self.end_s, to_s)
        return max(end_s - max(self.start_s, from_s), 0)


def parse_runs(text: str, mark: str) -> list[BookedRun]:
    """What ``sacct`` wrote of :data:`RUN_FIELDS`, with times in seconds."""
    found = []
    for job_id, start, end, tres in read_rows(text, mark, fields=RUN_FIELDS):
        held = dict(each.partition("=")[::2] for each in tres.split(",") if each)
        counts = (count_of(held.get(word, "0")) for word in ("cpu", "gres/gpu"))
        found.append(BookedRun(job_id, second_of(start), second_of(end), *counts))
    return found


def parse_marked(text: str, mark: str) -> list[MarkedJob]:
    """What ``sacct`` wrote of :data:`MARK_FIELDS`; jobs that never began are left out."""
    return [
        MarkedJob(job_id, account, name, count_of(ran), told)
        for job_id, name, told, account, start, ran in read_rows(text, mark, fields=MARK_FIELDS)
        if second_of(start) is not None
    ]


def read_rows(text: str, mark: str, *, fields: tuple[str, ...]) -> Iterator[list[str]]:
    """What ``sacct -P --delimiter=MARK`` wrote.

    Whoever submits a job chooses its name and can write its comment. What he writes there is never
    taken for a field or a row: he does not know the mark, and the last field is Slurm's own.
    """
    first, *rest = text.split(mark)
    width = len(fields) - 1
    if len(rest) % width or (text and not rest):
        raise InvalidValue("sacct", text[:100], f"rows of {', '.join(fields)}")
    for at in range(0, len(rest), width):
        last, _, following = rest[at + width - 1].partition("\n")
        if not _JOB.match(first):
            raise InvalidValue("sacct", first[:40], "the number of a job")
        yield [first, *rest[at : at + width - 1], last]
        first = following


def used_in(runs: Iterable[BookedRun], *, from_s: int, to_s: int) -> dict[str, int]:
    """How much of each unit these runs used in ``from_s <= t < to_s``."""
    found = dict.fromkeys(UNITS, 0)
    for run in runs:
        ran_s = run.overlap_s(from_s, to_s)
        for unit, count in zip(UNITS, (1, run.cpus, run.gpus), strict=True):
            found[unit] += ran_s * count
    return found


def second_of(word: str) -> int | None:
    """A time as ``sacct`` writes it; none if it has not come."""
    if word in _NEVER:
        return None
    if not _SECONDS.match(word):
        raise InvalidValue("sacct", word[:40], "a time in seconds")
    return int(word)


def count_of(word: str) -> int:
    """A count as ``sacct`` writes it."""
    if not _COUNT.match(word):
        raise InvalidValue("sacct", word[:40], "a count")
    return int(word)


# -- which time is to be told ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TellingPlan:
    """When what is told."""

    every_s: int = 3_600
    """So often."""
    window_s_max: int = 3_600
    """No report is about a longer time."""
    settle_s: int = SETTLE_S
    """So long after it Slurm's books are whole."""
    late_s_max: int = 7 * 86_400 - 3_600
    """What is longer ago cannot be told any more; an hour less than the platform's bound."""

    def window(
        self, told_until_s: Mapping[str, int], *, born_s: int, now_s: int, is_last: bool = False
    ) -> tuple[int, int] | None:
        """The next window of which some unit is still to be told; none if it is not time yet."""
        begin = min(max(told_until_s.get(unit, born_s), born_s) for unit in UNITS)
        begin = max(begin, now_s - self.late_s_max)
        latest = now_s - (0 if is_last else self.settle_s)
        is_due = latest - begin >= (1 if is_last else self.every_s)
        return (begin, min(begin + self.window_s_max, latest)) if is_due else None


def reports(
    runs: Iterable[BookedRun], window: tuple[int, int], *, told_until_s: Mapping[str, int]
) -> Iterator[tuple[str, int, tuple[int, int]]]:
    """What is to be told of a window: unit, quantity, and the part of it not told yet."""
    rows = list(runs)
    begin, end = window
    for unit in UNITS:
        since = max(begin, told_until_s.get(unit, begin))
        if since < end:
            yield unit, used_in(rows, from_s=since, to_s=end)[unit], (since, end)
