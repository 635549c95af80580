"""Judges the rows of the accounting database one by one: what can be metered, and what cannot be.

Rules:

- Each row is judged by itself; that rows fit each other on the devices is the sweep's.
- A row that ends before it starts, and one that goes on though the controller knows nothing of it,
  is named and not counted: nobody knows when it ended.
- A job is over when its batch script exits. Where the node's log tells that exit, a charge that
  goes on for more than ``PAST_END_MS`` is named with its exact length. Where it does not, a job
  that ended soon after the controller was started is named as in doubt: it may have ended at any
  time since the last thing that the controller before wrote down.
- A job of a node that did not respond any more was charged until that was noticed: in doubt, too.
- A batch script that ended on a node at a time that no row covers was charged to nobody, and so is
  a job that the controller runs and the database does not have.
- Slurm keeps whole seconds, so nothing below one second is ever called a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from bailiwick.clusters.slurm.parse import RUNNING
from bailiwick.clusters.slurm.rows import Outage, SlurmBooks, SlurmJob
from bailiwick.metering.report import Finding, ReportFindingWord

PAST_END_MS: Final = 2_000
"""So much later than its batch script a job may end in the books: a second, and a message."""

AFTER_BOOT_MS: Final = 120_000
"""For so long after its start, the controller hears of jobs that ended while it was away."""

WRITING_MS: Final = 60_000
"""For so long after its start, a job may not have reached the database yet."""

_NOT_RESPONDING: Final = "not responding"


@dataclass(frozen=True, slots=True)
class JobRun:
    """A row that can be metered, within the time that is asked about."""

    job: SlurmJob
    label: str
    from_ms: int
    to_ms: int


@dataclass(frozen=True, slots=True)
class JudgedBooks:
    """What can be metered, what was found, and how many rows hold no GPU time."""

    runs: tuple[JobRun, ...]
    findings: tuple[Finding, ...]
    without_gpus: int


def judge(books: SlurmBooks) -> JudgedBooks:
    """Judge every row."""
    judge_of = _Judge(books)
    runs: list[JobRun] = []
    findings: list[Finding] = []
    without = 0
    rows = _unique(books.jobs, findings)
    twice = _ambiguous(rows)
    for job in rows:
        label = _label(job, is_ambiguous=job.raw_id in twice)
        if not job.gpu_count:
            without += job.start_ms is not None
            continue
        found = list(judge_of.find(job, label))
        findings += found
        run = judge_of.run(job, label)
        if run is not None:
            runs.append(run)
    findings += judge_of.runaways(rows)
    findings += judge_of.uncharged(rows)
    findings += judge_of.unwritten(rows)
    return JudgedBooks(tuple(runs), tuple(findings), without)


class _Judge:
    def __init__(self, books: SlurmBooks) -> None:
        self.books = books
        self.down: dict[str, list[Outage]] = {}
        for outage in books.outages:
            if outage.is_down:
                self.down.setdefault(outage.node, []).append(outage)
        self.last_sign_ms = _last_sign_ms(books)

    def run(self, job: SlurmJob, label: str) -> JobRun | None:
        """The part of a row that lies in the time asked about; nothing if it cannot be counted."""
        end_ms = self._end_ms(job)
        if job.start_ms is None or end_ms is None:
            return None
        from_ms = max(job.start_ms, self.books.from_ms)
        to_ms = min(end_ms, self.books.to_ms)
        return JobRun(job, label, from_ms, to_ms) if from_ms < to_ms else None

    def find(self, job: SlurmJob, label: str) -> Iterator[Finding]:
        """All that is wrong or open about a row."""
        start_ms, end_ms = job.start_ms, self._end_ms(job)
        if start_ms is None:
            return
        if end_ms is None:
            yield replace(_about(ReportFindingWord.NEVER_ENDED, job, label), at_ms=start_ms)
            return
        if end_ms < start_ms:
            by_ms = start_ms - end_ms
            yield replace(
                _about(ReportFindingWord.TIME_WENT_BACK, job, label), at_ms=end_ms, by_ms=by_ms
            )
            return
        if job.end_ms is not None:
            yield from self._ended(job, label, end_ms)
        yield from self._on_down_nodes(job, label, start_ms, end_ms=end_ms)

    def _ended(self, job: SlurmJob, label: str, end_ms: int) -> Iterator[Finding]:
        span_ms = end_ms - (job.start_ms or 0) - job.suspended_ms
        if span_ms != job.elapsed_ms:
            yield replace(
                _about(ReportFindingWord.ELAPSED_DIFFERS, job, label),
                at_ms=end_ms,
                wanted=span_ms,
                found=job.elapsed_ms,
            )
        if job.suspended_ms:
            yield replace(
                _about(ReportFindingWord.SUSPENDED, job, label),
                at_ms=end_ms,
                by_ms=job.suspended_ms,
            )
        exit_ms = self._exit_ms(job, end_ms)
        if exit_ms is not None:
            if end_ms - exit_ms > PAST_END_MS:
                past = _about(ReportFindingWord.CHARGED_PAST_END, job, label)
                yield replace(past, at_ms=end_ms, by_ms=end_ms - exit_ms)
            return
        yield from self._doubts(job, label, end_ms)

    def _exit_ms(self, job: SlurmJob, end_ms: int) -> int | None:
        """When the batch script of this run ended, if its first node's log tells."""
        start_ms = job.start_ms or 0
        times = [
            at_ms
            for node in job.nodes
            for at_ms in self.books.exits.get((job.raw_id, node), ())
            if start_ms <= at_ms < end_ms + PAST_END_MS
        ]
        return max(times, default=None)

    def _doubts(self, job: SlurmJob, label: str, end_ms: int) -> Iterator[Finding]:
        boot_ms, start_ms = self.books.boot_ms, job.start_ms or 0
        if boot_ms is not None and start_ms < boot_ms <= end_ms <= boot_ms + AFTER_BOOT_MS:
            since_ms = max(start_ms, min(self.last_sign_ms, end_ms))
            yield replace(
                _about(ReportFindingWord.END_IN_DOUBT, job, label),
                at_ms=end_ms,
                by_ms=end_ms - since_ms,
                why="the controller was away",
            )
        elif job.state == "NODE_FAIL" and self._is_unresponsive(job, end_ms):
            yield replace(
                _about(ReportFindingWord.END_IN_DOUBT, job, label),
                at_ms=end_ms,
                why="its node did not respond any more, and that was noticed then",
            )

    def _is_unresponsive(self, job: SlurmJob, end_ms: int) -> bool:
        return any(
            outage.from_ms == end_ms and _NOT_RESPONDING in outage.reason.lower()
            for node in job.nodes
            for outage in self.down.get(node, ())
        )

    def _on_down_nodes(
        self, job: SlurmJob, label: str, start_ms: int, *, end_ms: int
    ) -> Iterator[Finding]:
        for node in job.nodes:
            for outage in self.down.get(node, ()):
                until_ms = self.books.to_ms if outage.to_ms is None else outage.to_ms
                by_ms = min(end_ms, until_ms) - max(start_ms, outage.from_ms)
                if by_ms > 0:
                    yield replace(
                        _about(ReportFindingWord.ON_UNAVAILABLE_NODE, job, label),
                        at_ms=max(start_ms, outage.from_ms),
                        by_ms=by_ms,
                        node=node,
                        why=outage.reason,
                    )

    def runaways(self, rows: Iterable[SlurmJob]) -> Iterator[Finding]:
        """What the database itself calls running, and the window of ``sacct`` leaves out."""
        told = {(job.raw_id, job.start_ms) for job in rows}
        for each in self.books.runaways:
            if (each.raw_id, each.start_ms) not in told:
                subject = str(each.raw_id)
                yield Finding(ReportFindingWord.NEVER_ENDED, subject, at_ms=each.start_ms)

    def uncharged(self, rows: Iterable[SlurmJob]) -> Iterator[Finding]:
        """What ended on a node, and stands in no row: the controller forgot that it ever ran."""
        spans: dict[tuple[int, str], list[tuple[int, int]]] = {}
        for job in rows:
            end_ms = self._end_ms(job)
            if job.start_ms is None or end_ms is None:
                continue
            for node in job.nodes:
                # A script may take its time to end after the job was told to.
                span_ms = (job.start_ms, end_ms + AFTER_BOOT_MS)
                spans.setdefault((job.raw_id, node), []).append(span_ms)
        first_ms = self.books.from_ms + AFTER_BOOT_MS
        for (raw_id, node), times in sorted(self.books.exits.items()):
            for at_ms in times:
                known = spans.get((raw_id, node), ())
                is_told = any(low <= at_ms <= high for low, high in known)
                if first_ms <= at_ms < self.books.to_ms and not is_told:
                    yield Finding(
                        ReportFindingWord.NOT_IN_BOOKS, str(raw_id), at_ms=at_ms, node=node
                    )

    def unwritten(self, rows: Iterable[SlurmJob]) -> Iterator[Finding]:
        """What the controller has been running for a while, and the database does not have."""
        told = {(job.raw_id, job.start_ms) for job in rows}
        for raw_id, active in sorted(self.books.active.items()):
            is_old = active.start_ms < self.books.to_ms - WRITING_MS
            if is_old and (raw_id, active.start_ms) not in told:
                yield Finding(
                    ReportFindingWord.NOT_IN_BOOKS,
                    str(raw_id),
                    at_ms=active.start_ms,
                    gpus=sum(len(devices) for devices in active.devices.values()),
                    why="the controller runs it",
                )

    def _end_ms(self, job: SlurmJob) -> int | None:
        """When it ended, or how far it is known to have run; nothing if nobody knows."""
        if job.end_ms is not None and job.state not in RUNNING:
            return job.end_ms
        active = self.books.active.get(job.raw_id)
        is_known = active is not None and active.start_ms == job.start_ms
        return self.books.to_ms if is_known else None


def _about(word: ReportFindingWord, job: SlurmJob, label: str) -> Finding:
    return Finding(word, label, gpus=job.gpu_count)


def _unique(jobs: Iterable[SlurmJob], findings: list[Finding]) -> list[SlurmJob]:
    """Each run once; the same one told differently is a finding, and the first one counts."""
    known: dict[tuple[int, int, int | None], SlurmJob] = {}
    for job in jobs:
        first = known.setdefault(job.key, job)
        if first is not job and _meaning(first) != _meaning(job):
            label = _label(job, is_ambiguous=True)
            findings.append(_about(ReportFindingWord.CONFLICT, job, label))
    return list(known.values())


def _meaning(job: SlurmJob) -> tuple[object, ...]:
    return job.end_ms, job.elapsed_ms, job.state, job.gpus, job.nodes, job.account, job.qos


def _ambiguous(rows: Iterable[SlurmJob]) -> set[int]:
    """The ids that stand for more than one run."""
    seen: set[int] = set()
    twice: set[int] = set()
    for job in rows:
        (twice if job.raw_id in seen else seen).add(job.raw_id)
    return twice


def _label(job: SlurmJob, *, is_ambiguous: bool) -> str:
    """What a person calls the run, with its submit time where the id alone is not enough."""
    if not is_ambiguous:
        return job.job_id
    submitted = datetime.fromtimestamp(job.submit_ms // 1000, UTC)
    return f"{job.job_id} (submitted {submitted:%Y-%m-%dT%H:%M:%SZ})"


def _last_sign_ms(books: SlurmBooks) -> int:
    """The last thing that was written down before the controller was started last."""
    if books.boot_ms is None:
        return books.from_ms
    times = [books.from_ms]
    for job in books.jobs:
        times += [each for each in (job.submit_ms, job.start_ms, job.end_ms) if each is not None]
    times += [outage.from_ms for outage in books.outages]
    return max((each for each in times if each < books.boot_ms), default=books.from_ms)
