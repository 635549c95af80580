"""Jobs: parse, call one service, spell the answer.

To submit answers as to ask for a lease does: 201 (has its lease), 202 (waits), 409 (refused, with
the decision), and 200 with the plan for a dry run.
"""

from __future__ import annotations

import base64
from dataclasses import asdict, replace
from typing import Annotated, NamedTuple

from fastapi import Depends, Query
from fastapi.responses import JSONResponse

from bailiwick.executors.port import JobSpec
from bailiwick.executors.registry import labels_for
from bailiwick.iam import Scope
from bailiwick.kernel import Refused, Submit, decode_command
from bailiwick.kernel.owner import MEMBERS_MAX
from bailiwick.ports import AfterJob, JobFilter, JobRow
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import Limit, NumberCursor, PathNumber, number_in, spell_page
from bailiwick.server.http.parsing import labels_of, scope_of, submit_of
from bailiwick.server.http.spelling import (
    spell_asked,
    spell_done,
    spell_kept_denial,
    spell_plan,
    trouble_of_refusal,
)
from bailiwick.server.problems import Trouble
from bailiwick.services.jobs import JobDraft, Submitted, output, use_cases
from bailiwick.services.jobs.costs import JobCost
from bailiwick.services.jobs.jobs import RETRIES_MAX, RETRY_ON
from bailiwick.services.jobs.output import OutputWish
from bailiwick.services.jobs.use_cases import JobStanding
from bailiwick.services.plans import PricedPlan
from bailiwick.tools.job_files.job import job_of_file
from bailiwick.vocab.errors import BailiwickError, InvalidValue
from bailiwick.vocab.job_addresses import After, JobAddress, parse_after
from bailiwick.vocab.job_arrays import parse_array
from bailiwick.vocab.jobs import JobPhase
from bailiwick.wire import jobs as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import INTEGER_MAX, Page
from bailiwick.wire.problem import EdgeCode
from bailiwick.wire.work import Asked

Offset = Annotated[int, Query(ge=0, le=INTEGER_MAX, description="The first byte wanted.")]
Bytes = Annotated[int, Query(ge=1, le=1 << 20, description="Bytes in one answer, at most.")]
Rank = Annotated[int, Query(ge=0, le=MEMBERS_MAX, description="Whose output, of a gang.")]
Attempt = Annotated[
    int | None, Query(ge=1, le=RETRIES_MAX + 1, description="Of this attempt; else the last one.")
]
SinceMs = Annotated[
    int, Query(ge=0, le=INTEGER_MAX, description="Only what came at this time or later.")
]
WaitS = Annotated[int, Query(ge=0, le=20, description="How long to wait for something new.")]


Mine = Annotated[bool, Query(description="Only those that the caller submitted.")]
_PHASES = "|".join(phase.value for phase in JobPhase)
Phases = Annotated[
    str | None,
    Query(
        pattern=f"^({_PHASES})(,({_PHASES}))*$",
        max_length=200,
        description="Only those in one of these phases, with commas between them.",
    ),
]
Word = Annotated[str | None, Query(max_length=63, description="Only those with exactly this.")]
Number = Annotated[
    int | None, Query(ge=0, le=INTEGER_MAX, description="Only tasks of this array, or index.")
]


def filter_of(
    tenant: Word = None,
    project: Word = None,
    *,
    name: Word = None,
    phase: Phases = None,
    array_id: Number = None,
    array_index: Number = None,
) -> JobFilter:
    """Which jobs are asked for."""
    phases = None if phase is None else tuple(map(JobPhase, phase.split(",")))
    return JobFilter(
        tenant=tenant,
        project=project,
        name=name,
        phases=phases,
        array_id=array_id,
        array_index=array_index,
    )


@answers("job.file")
async def read_file(asked: Here, body: wire.JobFile) -> wire.JobFileRead:
    """The job that a job file asks for, or what is wrong in it; nothing is submitted."""
    return await use_cases.read_file(
        asked, Scope.of(body.tenant, body.project), read=lambda: job_of_file(body)
    )


@answers("job.submit")
async def submit_job(asked: Changing, body: wire.NewJob) -> JSONResponse:
    """Run a command now or, with ``wait``, as soon as there is room."""
    kept = asked.house.parts.jobs
    found = await use_cases.submit_job(
        asked,
        kept,
        scope=scope_of(body),
        ask=lambda: _draft(body),
        after=lambda: [parse_after(each) for each in body.after],
    )
    if isinstance(found, PricedPlan):
        return JSONResponse(spell_plan(found).model_dump(mode="json"), 200)
    if found.job.phase is JobPhase.REFUSED:
        raise _refused(found)
    status = 202 if found.job.phase is JobPhase.WAITING else 201
    (standing,) = await use_cases.tell_standing(asked, [found.job], jobs=kept)
    return JSONResponse(_job(standing).model_dump(mode="json"), status)


@answers("job.list")
async def list_jobs(
    asked: Here,
    which: Annotated[JobFilter, Depends(filter_of)],
    *,
    mine: Mine = False,
    cursor: NumberCursor = None,
    limit: Limit = 100,
) -> Page[wire.Job]:
    """The jobs that the caller may see and that were asked for, newest first."""
    kept, before = asked.house.parts.jobs, number_in(cursor)
    if mine:
        which = replace(which, submitter=asked.principal.name)
    rows = await use_cases.list_jobs(asked, kept, which=which, before=before, limit=limit)
    return spell_page(rows, _job)


@answers("job.read")
async def read_job(asked: Here, job_id: PathNumber) -> wire.Job:
    """One job."""
    parts = asked.house.parts
    meter = None if parts.tables is None else parts.tables.meter
    return _job(await use_cases.read_job(asked, parts.jobs, job_id=job_id, meter=meter))


@answers("job.cancel")
async def cancel_job(asked: Changing, job_id: PathNumber) -> Done:
    """End a job, or take it out of the queue; what runs is torn down soon after."""
    return spell_done(await use_cases.cancel_job(asked, asked.house.parts.jobs, job_id=job_id))


class WhichOutput(NamedTuple):
    """Whose output, and of when."""

    member: int
    attempt: int | None
    since_ms: int


def which_output(
    member: Rank = 0, attempt: Attempt = None, *, since_ms: SinceMs = 0
) -> WhichOutput:
    """Whose output is asked for, and of when."""
    return WhichOutput(member, attempt, since_ms)


@answers("job.output")
async def read_output(
    asked: Here,
    job_id: PathNumber,
    *,
    offset: Offset = 0,
    limit: Bytes = 65_536,
    wait_s: WaitS = 0,
    which: Annotated[WhichOutput, Depends(which_output)],
) -> wire.JobOutput:
    """A piece of what a job printed; ``wait_s`` holds the answer back until there is more."""
    parts = asked.house.parts
    wish = OutputWish(job_id=job_id, offset=offset, limit=limit, wait_s=wait_s, **which._asdict())
    found = await output.read_output(
        asked, parts.jobs, wish=wish, executor_of=parts.executor_of, ending=parts.ending
    )
    return wire.JobOutput(
        job_id=job_id,
        offset=found.offset,
        next_offset=found.offset + len(found.data),
        data=base64.b64encode(found.data).decode(),
        is_truncated=found.is_truncated,
        is_over=found.is_over,
    )


def _draft(body: wire.NewJob) -> JobDraft:
    """A job that could be run, as far as that can be told beforehand."""
    if body.gang_size > MEMBERS_MAX:
        raise InvalidValue("gang_size", body.gang_size, f"at most {MEMBERS_MAX} members of a job")
    JobSpec(1, argv=tuple(body.command), token="-", env=body.env)
    if body.cwd is not None and "\0" in body.cwd:
        raise InvalidValue("cwd", body.cwd, "a path without NUL")
    if body.checkpoint is not None and "\0" in body.checkpoint:
        raise InvalidValue("checkpoint", body.checkpoint, "a path without NUL")
    labels = [f"{k}={v}" for k, v in sorted(labels_for(body.on, labels_of(body.labels)).items())]
    return JobDraft(
        tenant=body.tenant,
        project=body.project,
        name=body.name,
        tag=body.tag,
        request=submit_of(body.model_copy(update={"labels": labels})),
        command=tuple(body.command),
        env=body.env,
        cwd=body.cwd,
        image=body.image,
        interactive=body.interactive,
        array=None if body.array is None else parse_array(body.array),
        retries=body.retries,
        retry_on=RETRY_ON if body.retry_on is None else tuple(dict.fromkeys(body.retry_on)),
        checkpoint=body.checkpoint,
    )


def _refused(found: Submitted) -> Trouble:
    if isinstance(found.answer, Refused):
        return trouble_of_refusal(found.answer)
    # Asked again under the same key: only the word is kept.
    return Trouble(EdgeCode.REFUSED, f"refused: {found.job.reason}")


def _memory(job: JobRow) -> int:
    """What the kernel was asked for; read from the row as it is, whatever wrote it."""
    asked = job.request.get("request")
    held = asked.get("resources") if isinstance(asked, dict) else None
    found = held.get("mem_bytes") if isinstance(held, dict) else None
    return found if isinstance(found, int) else 0


def _asked(job: JobRow) -> Asked | None:
    """What it asked for; nothing of a row that this version cannot read."""
    try:
        command = decode_command(dict(job.request))
    except BailiwickError:
        return None
    return spell_asked(command.request) if isinstance(command, Submit) else None


def _after(each: AfterJob) -> str:
    return str(After(JobAddress(each.job_id), each.need))


def _cost(found: JobCost | None) -> wire.JobCost | None:
    if found is None:
        return None
    return wire.JobCost(
        currency=found.currency,
        cost_micros=min(found.cost_micros, INTEGER_MAX),
        micros_per_hour=found.micros_per_hour,
        is_upper_bound=found.is_upper_bound,
    )


def _job(found: JobStanding) -> wire.Job:
    job = found.job
    return wire.Job(
        job_id=job.job_id,
        tenant=job.tenant,
        project=job.project,
        name=job.name,
        command=list(job.command),
        mem_bytes=_memory(job),
        tag=job.tag,
        submitter=job.submitter,
        phase=job.phase,
        reason=found.reason,
        submitted_ms=job.submitted_ms,
        entry_id=job.entry_id,
        lease_id=job.lease_id,
        node=job.node,
        started_ms=job.started_ms,
        ended_ms=job.ended_ms,
        exit_code=job.exit_code,
        signal=job.signal,
        request=_asked(job),
        denied=None if job.denial is None else spell_kept_denial(job.denial),
        image=job.image,
        interactive=job.interactive,
        members=[
            wire.JobMember(
                rank=each.rank,
                lease_id=each.lease_id,
                node=each.node,
                ended_ms=each.ended_ms,
                exit_code=each.exit_code,
                signal=each.signal,
            )
            for each in found.members
        ],
        is_held=job.is_held,
        after=[_after(each) for each in job.after],
        array_id=job.array_id,
        array_index=job.array_index,
        array=job.array,
        attempt=job.attempt,
        retries=job.retries,
        retry_on=list(job.retry_on),
        checkpoint=job.checkpoint,
        attempts=[wire.JobAttempt(**asdict(each)) for each in found.attempts],
        cost=_cost(found.cost),
    )
