"""Handlers for jobs: submitted, looked at, cancelled, and what they print.

Rules:

- To submit answers as to ask for a lease does: 201 (has its lease), 202 (waits), 409 (refused, with
  the decision), and 200 with the plan for a dry run.
- A job of another is not there: same status, same words.
- What a job printed lies on the machine that ran it; another's server says so.
- Nothing here waits in the replica's thread, and none of the waiting costs a thread.
"""

from __future__ import annotations

import asyncio
import base64
from typing import Annotated

from fastapi import Query
from fastapi.responses import JSONResponse

from bailiwick.executors.port import Executor, JobSpec
from bailiwick.executors.registry import DEFAULT, find_executor
from bailiwick.fleet.node import EXECUTOR_LABEL
from bailiwick.iam import FLEET, Scope
from bailiwick.kernel import Refused, Submit
from bailiwick.kernel.codec import encode_answer, encode_command
from bailiwick.ports import JobRow
from bailiwick.runtime.replica import View
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here
from bailiwick.server.http.params import Limit, NumberCursor, PathNumber
from bailiwick.server.http.parsing import submit_of
from bailiwick.server.http.spelling import spell_plan
from bailiwick.server.problems import Trouble
from bailiwick.services.jobs import JobDraft, Jobs
from bailiwick.services.plans import plan_request
from bailiwick.vocab.errors import InvalidValue, NotFound, Unavailable
from bailiwick.vocab.jobs import JobPhase
from bailiwick.wire import answers as told
from bailiwick.wire import jobs as wire
from bailiwick.wire.base import INTEGER_MAX, Page
from bailiwick.wire.problem import EdgeCode

POLL_S = 0.2
"""How often a job's output is looked at for whoever waits for more of it."""


Offset = Annotated[int, Query(ge=0, le=INTEGER_MAX, description="The first byte wanted.")]
Bytes = Annotated[int, Query(ge=1, le=1 << 20, description="Bytes in one answer, at most.")]
WaitS = Annotated[int, Query(ge=0, le=20, description="How long to wait for something new.")]


@answers("job.submit")
async def submit_job(asked: Changing, body: wire.NewJob) -> JSONResponse:
    """Run a command now or, with ``wait``, as soon as there is room."""
    scope = Scope.of(body.tenant, body.project)
    asked.require(scope)
    await asked.read(lambda view: view.state.directory.check_scope(scope))
    command = _checked(body)
    if asked.dry_run:
        plan = spell_plan(await plan_request(asked, command))
        return JSONResponse(plan.model_dump(mode="json"), 200)
    draft = JobDraft(
        tenant=body.tenant,
        project=body.project,
        name=body.name,
        tag=body.tag,
        request=encode_command(command),
        command=tuple(body.command),
        env=body.env,
        cwd=body.cwd,
    )
    found = await asyncio.to_thread(
        _jobs(asked).submit,
        draft,
        principal=asked.principal,
        correlation_id=asked.correlation_id,
        key=asked.key,
    )
    if found.job.phase is JobPhase.REFUSED:
        raise _refused(found.job, found.answer)
    status = 202 if found.job.phase is JobPhase.WAITING else 201
    return JSONResponse((await _spell(asked, [found.job]))[0].model_dump(mode="json"), status)


@answers("job.list")
async def list_jobs(
    asked: Here, *, cursor: NumberCursor = None, limit: Limit = 100
) -> Page[wire.Job]:
    """The jobs that the caller may see, newest first."""
    asked.require_within(FLEET)
    scopes: list[tuple[str, str | None]] | None = None
    if not asked.may(FLEET):
        own = [scope for scope in asked.principal.roles if asked.may(scope)]
        scopes = [(each.tenant, each.project) for each in own if each.tenant is not None]
    before = None if cursor is None else int(cursor)
    rows = await asyncio.to_thread(_jobs(asked).book.page, scopes, before=before, limit=limit + 1)
    following = str(rows[limit - 1].job_id) if len(rows) > limit else None
    return Page(items=await _spell(asked, rows[:limit]), next=following)


@answers("job.read")
async def read_job(asked: Here, job_id: PathNumber) -> wire.Job:
    """One job."""
    job = await _require_job(asked, job_id)
    return (await _spell(asked, [job]))[0]


@answers("job.cancel")
async def cancel_job(asked: Changing, job_id: PathNumber) -> told.Done:
    """End a job, or take it out of the queue; what runs is torn down soon after."""
    await _require_job(asked, job_id)
    jobs = _jobs(asked)
    if asked.dry_run:
        await asyncio.to_thread(jobs.check_cancel, job_id)
        return told.Done(answer="done", seq=None)
    word = asked.correlation_id
    await asyncio.to_thread(jobs.cancel, job_id, actor=asked.principal.name, correlation_id=word)
    return told.Done(answer="done", seq=None)


@answers("job.output")
async def read_output(
    asked: Here,
    job_id: PathNumber,
    *,
    offset: Offset = 0,
    limit: Bytes = 65_536,
    wait_s: WaitS = 0,
) -> wire.JobOutput:
    """A piece of what a job printed; ``wait_s`` holds the answer back until there is more."""
    job = await _require_job(asked, job_id)
    until = asyncio.get_running_loop().time() + wait_s
    ending = asked.house.parts.ending
    while True:  # bounded by ``wait_s``, and by the server's own ending
        found = await asyncio.to_thread(_read, asked, job, offset=offset, limit=limit)
        is_ending = ending is not None and ending.is_set()
        is_late = is_ending or asyncio.get_running_loop().time() >= until
        if found.data or found.is_over or is_late:
            return found
        await asyncio.sleep(POLL_S)
        job = await asyncio.to_thread(_jobs(asked).get, job_id)


def _read(asked: Asked, job: JobRow, *, offset: int, limit: int) -> wire.JobOutput:
    # The phase was read before the output: a job that was over then prints nothing more.
    data, is_truncated = b"", False
    if job.started_ms is not None and job.lease_id is not None:
        if job.is_forgotten:
            raise NotFound("output of job", job.job_id, hint="it was removed, being old")
        try:
            part = _executor(asked, job).read_output(job.lease_id, offset, limit=limit)
        except NotFound:
            raise NotFound("output of job", job.job_id, hint="its folder is gone") from None
        data, is_truncated = part.data, part.is_truncated
    return wire.JobOutput(
        job_id=job.job_id,
        offset=offset,
        next_offset=offset + len(data),
        data=base64.b64encode(data).decode(),
        is_truncated=is_truncated,
        is_over=job.phase.is_over and len(data) < limit,
    )


def _checked(body: wire.NewJob) -> Submit:
    """The request of a job that could be run, as far as that can be told beforehand."""
    if body.gang_size != 1:
        raise InvalidValue("gang_size", body.gang_size, "1: a job runs on one machine")
    named = [label.partition("=") for label in body.labels]
    executors = {find_executor(value).label for key, _, value in named if key == EXECUTOR_LABEL}
    JobSpec(1, argv=tuple(body.command), token="-", env=body.env)
    if body.cwd is not None and "\0" in body.cwd:
        raise InvalidValue("cwd", body.cwd, "a path without NUL")
    labels = sorted({*body.labels, *(executors or {DEFAULT.label})})
    return submit_of(body.model_copy(update={"labels": labels}))


def _refused(job: JobRow, answer: object) -> Trouble:
    if not isinstance(answer, Refused):  # asked again under the same key: only the word is kept
        return Trouble(EdgeCode.REFUSED, f"refused: {job.reason}")
    decision = told.Refused.model_validate(encode_answer(answer))
    reason = answer.denied.reason
    message = f"refused: {reason.value}, {decision.denied.detail}"
    return Trouble(EdgeCode.REFUSED, message, decision=decision, retryable=reason.is_transient)


async def _require_job(asked: Asked, job_id: int) -> JobRow:
    jobs = _jobs(asked)
    job = await asyncio.to_thread(jobs.book.get, job_id)
    scope = None if job is None else Scope(job.tenant, job.project)
    asked.require(await asked.locate(lambda view: scope))
    assert job is not None  # it was located
    return job


async def _spell(asked: Asked, rows: list[JobRow]) -> list[wire.Job]:
    """Jobs as they are told; those that wait, with what is in their way now."""
    entries = [job.entry_id for job in rows if job.phase is JobPhase.WAITING and job.entry_id]

    def read(view: View) -> dict[int, str]:
        blocked = view.state.blocked
        return {i: told.reason.value for i in entries if (told := blocked.get(i)) is not None}

    reasons = await asked.read(read) if entries else {}
    return [_job(job, reasons.get(job.entry_id or 0)) for job in rows]


def _job(job: JobRow, reason: str | None) -> wire.Job:
    return wire.Job(
        job_id=job.job_id,
        tenant=job.tenant,
        project=job.project,
        name=job.name,
        command=list(job.command),
        tag=job.tag,
        submitter=job.submitter,
        phase=job.phase,
        reason=reason or job.reason,
        submitted_ms=job.submitted_ms,
        entry_id=job.entry_id,
        lease_id=job.lease_id,
        node=job.node,
        started_ms=job.started_ms,
        ended_ms=job.ended_ms,
        exit_code=job.exit_code,
        signal=job.signal,
    )


def _jobs(asked: Asked) -> Jobs:
    found = asked.house.parts.jobs
    if found is None:
        raise Unavailable("jobs", "this server keeps none")
    return found


def _executor(asked: Asked, job: JobRow) -> Executor:
    found = asked.house.parts.executor
    if found is None or job.node != _jobs(asked).node:
        raise Unavailable(f"the output of job {job.job_id}", f"it lies on node {job.node}")
    return found
