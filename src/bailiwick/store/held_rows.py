"""Held jobs and attempts that are over, on either database; see :class:`bailiwick.ports.HeldStore`.

Rules:

- A job is held while it waits and ``asked_ms`` is empty. Letting it go, ending it and keeping it
  back again are one statement each, which says from where it may come: of a server that is being
  replaced and of its successor, one does it.
- An attempt that ended and the row that waits for the next one are written together.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Row, func, insert, select, update

from bailiwick.ports import AfterJob, HeldFacts, HeldJob, JobAttempt
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import job_attempts, jobs
from bailiwick.vocab.errors import Damaged
from bailiwick.vocab.job_addresses import AfterNeed
from bailiwick.vocab.jobs import LIVE_PHASES, JobPhase

_LIVE = tuple(phase.value for phase in LIVE_PHASES)
_WAITING = JobPhase.WAITING.value
_CHUNK = 500
"""Numbers that one statement names."""


class HeldBook:
    """The held jobs of one database."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def held(self) -> list[HeldJob]:
        """All of them, the oldest first."""
        names = (
            *("job_id", "tenant", "project", "after", "array_id", "array"),
            *("retry_at_ms", "cancel_asked", "reason"),
        )
        columns = [jobs.c[name] for name in names]
        query = select(*columns).where(*_HELD).order_by(jobs.c.job_id)
        with self._store.reading() as connection:
            return [_held(row) for row in connection.execute(query)]

    def facts(self, held: Sequence[HeldJob]) -> HeldFacts:
        """What they wait for, as it is now."""
        before = [each for job in held for each in job.after]
        single = sorted({each.job_id for each in before if not each.is_array})
        whole = sorted({each.job_id for each in before if each.is_array})
        bound = sorted({job.array_id for job in held if job.limit and job.array_id is not None})
        phases: dict[int, JobPhase] = {}
        arrays: dict[int, set[JobPhase]] = defaultdict(set)
        under_way: dict[int, int] = {}
        with self._store.reading() as connection:
            for part in _chunks(single):
                query = select(jobs.c.job_id, jobs.c.phase).where(jobs.c.job_id.in_(part))
                phases |= {row.job_id: JobPhase(row.phase) for row in connection.execute(query)}
            for part in _chunks(whole):
                found = select(jobs.c.array_id, jobs.c.phase).where(jobs.c.array_id.in_(part))
                for row in connection.execute(found.distinct()):
                    arrays[row.array_id].add(JobPhase(row.phase))
            for part in _chunks(bound):
                which = (
                    jobs.c.array_id.in_(part),
                    jobs.c.phase.in_(_LIVE),
                    jobs.c.asked_ms.is_not(None),
                )
                count = select(jobs.c.array_id, func.count().label("count")).where(*which)
                for row in connection.execute(count.group_by(jobs.c.array_id)):
                    under_way[row.array_id] = row.count  # type: ignore[assignment]
        return HeldFacts(phases, {i: frozenset(found) for i, found in arrays.items()}, under_way)

    def release(self, job_id: int, *, now_ms: int, since_seq: int) -> bool:
        """Let one go: from here on the kernel is asked. Whether it was still held."""
        values = {
            "asked_ms": now_ms,
            "asks": jobs.c.asks + 1,
            "since_seq": since_seq,
            "retry_at_ms": None,
            "reason": None,
        }
        which = (jobs.c.job_id == job_id, *_HELD, jobs.c.cancel_asked.is_(False))
        with self._store.changing() as connection:
            return connection.execute(update(jobs).where(*which).values(values)).rowcount == 1

    def hold(self, job_id: int, *, asks: int, reason: str | None) -> bool:
        """Keep one back again of which the kernel surely knows nothing under this ask."""
        which = (
            jobs.c.job_id == job_id,
            jobs.c.phase == _WAITING,
            jobs.c.asks == asks,
            jobs.c.entry_id.is_(None),
            jobs.c.lease_id.is_(None),
        )
        values = {"asked_ms": None, "reason": reason}
        with self._store.changing() as connection:
            return connection.execute(update(jobs).where(*which).values(values)).rowcount == 1

    def end(self, job_id: int, *, phase: JobPhase, reason: str | None, now_ms: int) -> bool:
        """Write down how a held job ended; whether it was held."""
        values = {"phase": phase.value, "reason": reason, "ended_ms": now_ms, "env": "{}"}
        which = (jobs.c.job_id == job_id, *_HELD)
        with self._store.changing() as connection:
            return connection.execute(update(jobs).where(*which).values(values)).rowcount == 1

    def tell(self, job_id: int, reason: str) -> None:
        """Write down why a job is held."""
        which = (jobs.c.job_id == job_id, *_HELD)
        with self._store.changing() as connection:
            connection.execute(update(jobs).where(*which).values(reason=reason))

    def requeue(self, job_id: int, *, ended: JobAttempt, retry_at_ms: int, reason: str) -> bool:
        """End this attempt and hold the job for the next one, unless somebody wants it ended."""
        which = (
            jobs.c.job_id == job_id,
            jobs.c.phase.in_(_LIVE),
            jobs.c.attempt == ended.attempt,
            jobs.c.asked_ms.is_not(None),
            jobs.c.cancel_asked.is_(False),
        )
        gone: tuple[str, ...] = (
            "asked_ms",
            "entry_id",
            "lease_id",
            "node",
            "token_id",
            "started_ms",
        )
        gone += ("exit_code", "signal")  # a gang's are written down when its end begins
        values: dict[str, Any] = {
            **dict.fromkeys(gone),
            "phase": _WAITING,
            "reason": reason,
            "attempt": ended.attempt + 1,
            "retry_at_ms": retry_at_ms,
        }
        told = {name: getattr(ended, name) for name in JobAttempt.__slots__}
        told |= {"job_id": job_id, "phase": ended.phase.value, "is_forgotten": False}
        with self._store.changing() as connection:
            if connection.execute(update(jobs).where(*which).values(values)).rowcount != 1:
                return False
            connection.execute(insert(job_attempts).values(told))
            return True

    def attempts(self, job_ids: Sequence[int]) -> dict[int, list[JobAttempt]]:
        """The attempts of these jobs that are over, in order."""
        found: dict[int, list[JobAttempt]] = defaultdict(list)
        with self._store.reading() as connection:
            for part in _chunks(job_ids):
                query = select(job_attempts).where(job_attempts.c.job_id.in_(part))
                ordered = query.order_by(job_attempts.c.job_id, job_attempts.c.attempt)
                for row in connection.execute(ordered):
                    found[row.job_id].append(_attempt(row))
        return dict(found)


_HELD = (jobs.c.phase == _WAITING, jobs.c.asked_ms.is_(None))


def _chunks(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    return (numbers[at : at + _CHUNK] for at in range(0, len(numbers), _CHUNK))


def _held(row: Any) -> HeldJob:
    limit = "" if row.array is None else row.array.partition("%")[2]
    return HeldJob(
        job_id=row.job_id,
        tenant=row.tenant,
        project=row.project,
        after=parse_after_cell(row.after),
        array_id=row.array_id,
        limit=int(limit) if limit else None,
        retry_at_ms=row.retry_at_ms,
        cancel_asked=row.cancel_asked,
        reason=row.reason,
    )


@lru_cache(maxsize=1024)  # the tasks of an array come after the same jobs
def parse_after_cell(text: str | None) -> tuple[AfterJob, ...]:
    """What a job comes after, as its row has it."""
    if text is None:
        return ()
    try:
        told = json.loads(text)
        return tuple(AfterJob(int(i), bool(whole), AfterNeed(need)) for i, whole, need in told)
    except (ValueError, TypeError) as error:
        raise Damaged("jobs", "what a job comes after", error) from error


def spell_after_cell(after: Sequence[AfterJob]) -> str | None:
    """The same, as it is kept."""
    told = [(each.job_id, each.is_array, each.need.value) for each in after]
    return json.dumps(told) if told else None


def _attempt(row: Row[Any]) -> JobAttempt:
    told = {name: getattr(row, name) for name in JobAttempt.__slots__}
    return JobAttempt(**{**told, "phase": JobPhase(row.phase)})
