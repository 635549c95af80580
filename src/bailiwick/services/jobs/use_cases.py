"""What may be asked of jobs: to submit, list, read and cancel them.

Rules:

- A job of another is not there: same answer, same words.
- A dry run of a job is a plan of its request; nothing is written down.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from bailiwick.iam import FLEET, Scope
from bailiwick.kernel import Done
from bailiwick.ports import JobRow, MemberRow
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.jobs.jobs import JobDraft, Jobs, Submitted
from bailiwick.services.leases import check_scope
from bailiwick.services.pages import Rows, cut
from bailiwick.services.plans import PricedPlan, plan_request
from bailiwick.vocab.errors import Unavailable
from bailiwick.vocab.jobs import JobPhase


@dataclass(frozen=True, slots=True)
class JobStanding:
    """A job, and in a word what is in its way now or why it ended."""

    job: JobRow
    reason: str | None
    members: tuple[MemberRow, ...] = ()
    """Those of a gang, where one job is read alone."""


async def submit_job(
    caller: Caller, jobs: Jobs | None, *, scope: Scope, ask: Deferred[JobDraft]
) -> PricedPlan | Submitted:
    """Run a command now or, if it may wait, as soon as there is room; a dry run is a plan."""
    await check_scope(caller, scope)
    per_core = await caller.read(lambda view: view.state.settings.job_mem_bytes_per_core)
    draft = replace(ask(), mem_bytes_per_core=per_core)
    if caller.dry_run:
        return await plan_request(caller, draft.submit)
    submit, word = kept_jobs(jobs).submit, caller.correlation_id
    return await asyncio.to_thread(
        submit, draft, principal=caller.principal, correlation_id=word, key=caller.key
    )


async def list_jobs(
    caller: Caller, jobs: Jobs | None, *, before: int | None, limit: int
) -> Rows[JobStanding]:
    """The jobs that the caller may see, newest first."""
    caller.require_within(FLEET)
    scopes: list[tuple[str, str | None]] | None = None
    if not caller.may(FLEET):
        own = [scope for scope in caller.principal.roles if caller.may(scope)]
        scopes = [(each.tenant, each.project) for each in own if each.tenant is not None]
    page = kept_jobs(jobs).book.page
    rows = await asyncio.to_thread(page, scopes, before=before, limit=limit + 1)
    kept, following = cut(rows, limit, key=lambda job: job.job_id)
    return await tell_standing(caller, kept), following


async def read_job(caller: Caller, jobs: Jobs | None, *, job_id: int) -> JobStanding:
    """One job."""
    found = kept_jobs(jobs)
    job = await require_job(caller, found, job_id=job_id)
    (standing,) = await tell_standing(caller, [job])
    return replace(standing, members=tuple(await asyncio.to_thread(found.members_of, job)))


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


async def tell_standing(caller: Caller, rows: list[JobRow]) -> list[JobStanding]:
    """How jobs stand; those that wait, with what is in their way now."""
    entries = [job.entry_id for job in rows if job.phase is JobPhase.WAITING and job.entry_id]

    def read(view: View) -> dict[int, str]:
        blocked = view.state.blocked
        return {i: told.reason.value for i in entries if (told := blocked.get(i)) is not None}

    reasons = await caller.read(read) if entries else {}
    return [JobStanding(job, reasons.get(job.entry_id or 0) or job.reason) for job in rows]


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
