"""What a job printed, a piece at a time.

Rules:

- It lies on the machine that ran the job, or came from its agent; else that is said.
- Whoever waits for more holds no thread: the output is looked at now and then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from bailiwick.executors.port import Executor
from bailiwick.ports import JobRow
from bailiwick.services.caller import Caller
from bailiwick.services.jobs.jobs import Jobs
from bailiwick.services.jobs.use_cases import kept_jobs, require_job
from bailiwick.vocab.errors import NotFound, Unavailable

POLL_S = 0.2
"""How often a job's output is looked at for whoever waits for more of it."""


@dataclass(frozen=True, slots=True)
class OutputPiece:
    """A piece of what a job printed."""

    offset: int
    data: bytes
    is_truncated: bool
    """Whether the job printed more than was kept."""
    is_over: bool
    """Whether the job is over and this was the last piece."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputWish:
    """Which piece of the output is wanted, and how long to wait for something new."""

    job_id: int
    offset: int
    limit: int
    wait_s: int
    member: int = 0
    """Whose, of a gang."""
    attempt: int | None = None
    """Of which attempt; ``None``: the last one."""
    since_ms: int = 0
    """Only what came at that time or later."""


async def read_output(
    caller: Caller,
    jobs: Jobs | None,
    *,
    wish: OutputWish,
    executor_of: Callable[[str], Executor | None],
    ending: asyncio.Event | None,
) -> OutputPiece:
    """A piece of what a job printed; the answer is held back until there is more."""
    found = kept_jobs(jobs)
    job = await require_job(caller, found, job_id=wish.job_id)
    until = asyncio.get_running_loop().time() + wish.wait_s
    while True:  # bounded by ``wait_s``, and by the server's own ending
        job = await asyncio.to_thread(_as_wished, found, job, wish)
        by = None if job.node is None else executor_of(job.node)
        piece = await asyncio.to_thread(_read, job, by, wish=wish, own=found.node)
        is_late = asyncio.get_running_loop().time() >= until
        if piece.data or piece.is_over or is_late or (ending is not None and ending.is_set()):
            return piece
        await asyncio.sleep(POLL_S)
        job = await asyncio.to_thread(found.get, wish.job_id)


def _as_wished(jobs: Jobs, job: JobRow, wish: OutputWish) -> JobRow:
    """The job as that attempt, and that member of it, had it."""
    if wish.attempt not in (None, job.attempt):
        job = _as_attempt(jobs, job, wish.attempt or 0)
    if job.gang_size > 1 or wish.member:
        job = as_member(jobs, job, rank=wish.member)
    return job


def _as_attempt(jobs: Jobs, job: JobRow, attempt: int) -> JobRow:
    """The job as it was when this attempt of it ended."""
    for ended in jobs.book.held.attempts([job.job_id]).get(job.job_id, ()):
        if ended.attempt == attempt:
            return replace(
                job,
                phase=ended.phase,
                lease_id=ended.lease_id,
                node=ended.node,
                started_ms=ended.started_ms,
                is_forgotten=False,
            )
    raise NotFound("attempt of the job", attempt, hint=f"it is at its attempt {job.attempt}")


def as_member(jobs: Jobs, job: JobRow, *, rank: int) -> JobRow:
    """The job as this member of it has it: under its own lease, on its own node."""
    if job.gang_size > 1 and job.lease_id is None:
        return job  # nobody has printed anything yet
    # By lease: of the attempts that came later, members have later ones.
    for row in sorted(jobs.members_of(job), key=lambda each: each.lease_id):
        if row.rank == rank:
            return replace(job, lease_id=row.lease_id, node=row.node)
    if job.gang_size == 1 and not rank:
        return job
    raise NotFound("member of the job", rank, hint=f"it has {job.gang_size}, counted from 0")


def _read(job: JobRow, by: Executor | None, *, wish: OutputWish, own: str | None) -> OutputPiece:
    # The phase was read before the output: a job that was over then prints nothing more.
    data, is_truncated, offset = b"", False, wish.offset
    if job.started_ms is not None and job.lease_id is not None:
        if job.is_forgotten:
            raise NotFound("output of job", job.job_id, hint="it was removed, being old")
        away = Unavailable(f"the output of job {job.job_id}", f"it lies on node {job.node}")
        try:
            if by is None:
                raise away
            part = by.read_output(
                job.lease_id, wish.offset, limit=wish.limit, since_ms=wish.since_ms
            )
        except NotFound:
            gone = NotFound("output of job", job.job_id, hint="its folder is gone")
            raise (gone if job.node == own else away) from None
        data, is_truncated = part.data, part.is_truncated
        offset = part.next_offset - len(data)
    is_over = job.phase.is_over and len(data) < wish.limit
    return OutputPiece(offset, data, is_truncated, is_over)
