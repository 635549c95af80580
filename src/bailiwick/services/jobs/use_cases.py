"""What may be asked of jobs: to submit, list, read and cancel them.

Rules:

- A job of another is not there: same answer, same words.
- A filter narrows what the caller may see and never widens it.
- What nobody who may run a job could honour is refused before a lease is asked for.
- A dry run of a job is a plan of its request; nothing is written down.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from bailiwick.iam import FLEET, Permission, Scope
from bailiwick.kernel import Done
from bailiwick.ports import AfterJob, JobAttempt, JobFilter, JobRow
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.jobs.costs import JobCost, read_cost
from bailiwick.services.jobs.jobs import JobDraft, Jobs, Submitted
from bailiwick.services.jobs.landing import WorkAsked, require_landing, require_own
from bailiwick.services.leases import check_scheduler, check_scope
from bailiwick.services.pages import Rows, cut
from bailiwick.services.plans import PricedPlan, plan_request
from bailiwick.store.meter_rows import MeterBook
from bailiwick.vocab.errors import InvalidValue, Unavailable
from bailiwick.vocab.job_addresses import After, JobAddress
from bailiwick.vocab.job_members import MemberRow
from bailiwick.vocab.jobs import JobPhase

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JobStanding:
    """A job, and in a word what is in its way now or why it ended."""

    job: JobRow
    reason: str | None
    members: tuple[MemberRow, ...] = ()
    """Those of a gang, where one job is read alone."""
    attempts: Sequence[JobAttempt] = ()
    """Those that are over."""
    cost: JobCost | None = None
    """What it has cost so far, where one job is read alone."""


async def read_file(caller: Caller, scope: Scope, *, read: Deferred[T]) -> T:
    """What a job file says, for who may submit there; reading takes a while."""
    caller.require(scope)
    return await asyncio.to_thread(read)


async def submit_job(
    caller: Caller,
    jobs: Jobs | None,
    *,
    scope: Scope,
    ask: Deferred[JobDraft],
    after: Deferred[Sequence[After]] = tuple,
) -> PricedPlan | Submitted:
    """Run a command now or, if it may wait, as soon as there is room; a dry run is a plan.

    ``after`` are the jobs that must be over before; the caller must be able to see them.
    """
    await check_scope(caller, scope)
    per_core = await caller.read(lambda view: view.state.settings.job_mem_bytes_per_core)
    before = await _resolve(caller, jobs, after())
    draft = replace(ask(), mem_bytes_per_core=per_core, after=before)
    await check_scheduler(caller, draft.request)
    await require_landing(caller, [WorkAsked(draft.request.request, draft.image)])
    if draft.interactive:
        await require_own(caller, draft.request.request)
    if caller.dry_run:
        return await plan_request(caller, draft.submit)
    submit, word = kept_jobs(jobs).submit, caller.correlation_id
    return await asyncio.to_thread(
        submit, draft, principal=caller.principal, correlation_id=word, key=caller.key
    )


async def _resolve(
    caller: Caller, jobs: Jobs | None, after: Sequence[After]
) -> tuple[AfterJob, ...]:
    """The jobs that are meant; one that the caller may not see is not there."""
    found: list[AfterJob] = []
    for each in after:
        row = await asyncio.to_thread(_find, kept_jobs(jobs), each.address)
        at = None if row is None else Scope(row.tenant, row.project)
        if row is None or at is None or not caller.holds(Permission.QUEUE_READ, at):
            raise InvalidValue("after", str(each), "a job that is there and that you may see")
        is_array = each.address.index is None and row.array_id == row.job_id
        found.append(AfterJob(row.job_id, is_array, each.need))
    return tuple(found)


def _find(jobs: Jobs, address: JobAddress) -> JobRow | None:
    if address.index is None:
        return jobs.book.get(address.number)
    which = JobFilter(array_id=address.number, array_index=address.index)
    return next(iter(jobs.book.page(None, which=which, limit=1)), None)


async def list_jobs(
    caller: Caller, jobs: Jobs | None, *, which: JobFilter, before: int | None, limit: int
) -> Rows[JobStanding]:
    """The jobs that the caller may see and that a filter names, newest first."""
    caller.require_within(FLEET)
    scopes: list[tuple[str, str | None]] | None = None
    if not caller.may(FLEET):
        own = [scope for scope in caller.principal.roles if caller.may(scope)]
        scopes = [(each.tenant, each.project) for each in own if each.tenant is not None]
    page = kept_jobs(jobs).book.page
    rows = await asyncio.to_thread(page, scopes, which=which, before=before, limit=limit + 1)
    kept, following = cut(rows, limit, key=lambda job: job.job_id)
    return await tell_standing(caller, kept, jobs=jobs), following


async def read_job(
    caller: Caller, jobs: Jobs | None, *, job_id: int, meter: MeterBook | None
) -> JobStanding:
    """One job; with what it costs, where there is a meter."""
    found = kept_jobs(jobs)
    job = await require_job(caller, found, job_id=job_id)
    (standing,) = await tell_standing(caller, [job], jobs=jobs)
    cost = None if meter is None else await read_cost(caller, found, job=job, meter=meter)
    members = tuple(await asyncio.to_thread(found.members_of, job))
    return replace(standing, members=members, cost=cost)


async def cancel_job(caller: Caller, jobs: Jobs | None, *, job_id: int) -> Done:
    """End a job, or take it out of the queue; what runs is torn down soon after."""
    found = kept_jobs(jobs)
    await require_job(caller, found, job_id=job_id)
    if caller.dry_run:
        await asyncio.to_thread(found.check_cancel, job_id)
    else:
        who, word = caller.principal.name, caller.correlation_id
        await asyncio.to_thread(found.cancel, job_id, actor=who, correlation_id=word)
    return Done(None)


async def tell_standing(
    caller: Caller, rows: list[JobRow], *, jobs: Jobs | None
) -> list[JobStanding]:
    """How jobs stand; those that wait, with what is in their way now."""
    again = [job.job_id for job in rows if job.attempt > 1]
    attempts: dict[int, list[JobAttempt]] = {}
    if again:
        attempts = await asyncio.to_thread(kept_jobs(jobs).book.held.attempts, again)
    entries = [job.entry_id for job in rows if job.phase is JobPhase.WAITING and job.entry_id]

    def read(view: View) -> dict[int, str]:
        blocked = view.state.blocked
        return {i: told.reason.value for i in entries if (told := blocked.get(i)) is not None}

    reasons = await caller.read(read) if entries else {}
    return [
        JobStanding(
            job,
            reasons.get(job.entry_id or 0) or job.reason,
            attempts=attempts.get(job.job_id, ()),
        )
        for job in rows
    ]


async def require_job(caller: Caller, jobs: Jobs, *, job_id: int) -> JobRow:
    """That job, if the caller may have the action done to it."""
    job = await asyncio.to_thread(jobs.book.get, job_id)
    at = None if job is None else Scope(job.tenant, job.project)
    caller.require(await caller.locate(lambda view: at))
    assert job is not None  # it was located
    return job


def kept_jobs(jobs: Jobs | None) -> Jobs:
    """The jobs of this server; one that keeps none says so."""
    if jobs is None:
        raise Unavailable("jobs", "this server keeps none")
    return jobs
