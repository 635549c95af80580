"""Jobs: commands to be run under a lease, from the wish to the row that tells how it ended.

Rules:

- The row is written first, then the kernel is asked under the key ``job-ID``, then the row learns
  what the kernel said. Whoever dies between leaves a row that :meth:`Jobs.resubmit` can finish: the
  same key gives the same answer.
- What the kernel surely did not do (it said so) ends the job as refused. What may have happened or
  not leaves the row waiting, to be asked again.
- No job runs without a bound on its memory: who names none gets some for each core.
- A job of another is not there: same answer, same words.
- What a job printed lies on the machine that ran it, or came from its agent; else that is said.
- To cancel is to write down the wish, and to take a waiting request out of the queue. What runs is
  ended by the loop that runs it, which is woken and sees the wish.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from bailiwick.executors.port import Executor
from bailiwick.iam import FLEET, Scope
from bailiwick.kernel import (
    Cancel,
    Done,
    Envelope,
    Granted,
    Queued,
    Refused,
    Submit,
    decode_command,
    encode_command,
)
from bailiwick.kernel.spelling import denial_body
from bailiwick.ports import Clock, JobChange, JobRow, JobStore, NewJobRow
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.scheduler.request import with_memory
from bailiwick.services.authority import Principal
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.leases import check_scope
from bailiwick.services.pages import Rows, cut
from bailiwick.services.plans import PricedPlan, plan_request
from bailiwick.vocab.errors import (
    BailiwickError,
    Conflict,
    InvariantBroken,
    NotFound,
    NotLeader,
    Unavailable,
)
from bailiwick.vocab.jobs import JobFault, JobPhase

POLL_S = 0.2
"""How often a job's output is looked at for whoever waits for more of it."""

LIVE_MAX = 10_000
"""Jobs that may wait or run at a time."""

_WAITING = (JobPhase.WAITING,)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDraft:
    """What is to be run, and the request for what it runs on."""

    tenant: str
    project: str | None
    name: str | None
    tag: str | None
    request: Submit
    command: tuple[str, ...] = field(repr=False)
    env: Mapping[str, str] = field(repr=False)
    cwd: str | None
    mem_bytes_per_core: int = 0

    @property
    def submit(self) -> Submit:
        """What the kernel is asked: a job that names no memory gets some for its cores."""
        asked = self.request
        return replace(asked, request=with_memory(asked.request, self.mem_bytes_per_core))

    def digest(self) -> str:
        """What tells this wish from another; of the environment, only the names."""
        told = [encode_command(self.request), self.command, sorted(self.env), self.cwd, self.name]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Submitted:
    """The job, and what the kernel said; ``None`` if it was asked under the same key before."""

    job: JobRow
    answer: Granted | Queued | Refused | None


class Jobs:
    """The jobs of one replica; its calls wait for the kernel and may come from any thread."""

    def __init__(
        self,
        book: JobStore,
        runner: Runner,
        *,
        clock: Clock,
        node: str | None = None,
        live_max: int = LIVE_MAX,
    ) -> None:
        self.book = book
        self.node = node
        """The node whose jobs this process runs, if it runs any."""
        self._runner, self._clock, self._live_max = runner, clock, live_max
        self._lock = threading.Lock()
        self._submitting: set[int] = set()
        self._wakes: list[Callable[[], None]] = []

    def submit(
        self, draft: JobDraft, *, principal: Principal, correlation_id: str, key: str | None = None
    ) -> Submitted:
        """Write a job down and ask the kernel for what it needs."""
        new = NewJobRow(
            tenant=draft.tenant,
            project=draft.project,
            name=draft.name,
            submitter=principal.name,
            submitter_kind=principal.kind.value,
            submitter_keys=None if principal.keys is None else tuple(sorted(principal.keys)),
            correlation_id=correlation_id,
            key=key,
            digest=draft.digest(),
            request=encode_command(draft.submit),
            command=draft.command,
            env=draft.env,
            cwd=draft.cwd,
            tag=draft.tag,
            submitted_ms=self._clock.now_ms(),
            since_seq=self._runner.replica.journal.size,
        )
        with self._lock:  # nobody looks at the row before it is known to be under way
            job = self.book.insert(new, live_max=self._live_max)
            is_ours = job.is_unsubmitted and job.job_id not in self._submitting
            if is_ours:
                self._submitting.add(job.job_id)
        if job.digest != new.digest:
            raise Conflict("idempotency key", key, "was used for another job", hint="use a new one")
        if not is_ours:
            return Submitted(job, None)
        try:
            answer = self._ask(job)
        finally:
            self._submitting.discard(job.job_id)
        self.wake()
        return Submitted(self.get(job.job_id), answer)

    def was_cut_short(self, job: JobRow) -> bool:
        """Whether its submission was begun in an earlier life: the kernel may have granted it."""
        return job.is_unsubmitted and job.job_id not in self._submitting

    def resubmit(self, job: JobRow, *, keys_ms: int) -> None:
        """Finish a submission that was cut short; too late, what became of it is not known."""
        if job.job_id in self._submitting:
            return
        now_ms = self._clock.now_ms()
        if now_ms - job.submitted_ms >= keys_ms:
            fault = JobFault.SUBMISSION_UNKNOWN.value
            end = JobChange(phase=JobPhase.LOST, reason=fault, ended_ms=now_ms)
            self.book.change(job.job_id, end, only_from=_WAITING)
            return
        self._ask(job)

    def get(self, job_id: int) -> JobRow:
        """That job; one that is not there is an error."""
        found = self.book.get(job_id)
        if found is None:
            raise NotFound("job", job_id)
        return found

    def check_cancel(self, job_id: int) -> JobRow:
        """The job, if it may still be cancelled or was; else the error."""
        job = self.get(job_id)
        if job.phase.is_over and job.phase is not JobPhase.CANCELLED:
            raise Conflict("job", job_id, f"is over: {job.phase}")
        return job

    def cancel(self, job_id: int, *, actor: str, correlation_id: str) -> JobRow:
        """Have a job end: at once if it waits, else as soon as it was torn down."""
        job = self.check_cancel(job_id)
        if self.book.change(job_id, JobChange(cancel_asked=True)):
            self.cancel_entry(job, actor=actor, correlation_id=correlation_id)
            self.wake()
        return self.get(job_id)

    def cancel_entry(self, job: JobRow, *, actor: str, correlation_id: str) -> None:
        """Take a waiting job out of the queue; one that has just left it is left to the loop."""
        if job.phase is not JobPhase.WAITING or job.entry_id is None:
            return
        try:
            self._runner.execute(Envelope(Cancel(job.entry_id), actor, correlation_id))
        except NotFound:
            return
        end = JobChange(phase=JobPhase.CANCELLED, ended_ms=self._clock.now_ms())
        self.book.change(job.job_id, end, only_from=_WAITING)

    @contextmanager
    def listening(self, wake: Callable[[], None]) -> Iterator[None]:
        """Have ``wake`` called whenever there may be something to do for a job."""
        self._wakes.append(wake)
        try:
            yield
        finally:
            self._wakes.remove(wake)

    def wake(self) -> None:
        """There may be something to do."""
        for wake in tuple(self._wakes):
            wake()

    def _ask(self, job: JobRow) -> Granted | Queued | Refused:
        """Ask the kernel, and have the row learn what it said."""
        command = decode_command(dict(job.request))
        key = f"job-{job.job_id}"
        try:
            answer = self._runner.execute(Envelope(command, job.submitter, job.correlation_id, key))
        except BailiwickError as error:
            if not error.retryable or isinstance(error, NotLeader):  # surely nothing happened
                self._refuse(job, error.code.value)
            raise
        match answer:
            case Granted():
                lease_id, node = answer.lease_ids[0], answer.nodes[0]
                self._learn(job, JobChange(phase=JobPhase.STARTING, lease_id=lease_id, node=node))
            case Queued():
                self._learn(job, JobChange(entry_id=answer.entry_id, reason=answer.reason.value))
            case Refused():
                self._refuse(job, answer.denied.reason.value, denial=denial_body(answer.denied))
            case _:
                raise InvariantBroken(f"a job's request was answered with {answer}")
        return answer

    def _refuse(self, job: JobRow, reason: str, *, denial: dict[str, Any] | None = None) -> None:
        now_ms, over = self._clock.now_ms(), JobPhase.REFUSED
        self._learn(job, JobChange(phase=over, reason=reason, ended_ms=now_ms, denial=denial))

    def _learn(self, job: JobRow, change: JobChange) -> None:
        self.book.change(job.job_id, change, only_from=_WAITING)


# -- use cases -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class JobStanding:
    """A job, and in a word what is in its way now or why it ended."""

    job: JobRow
    reason: str | None


@dataclass(frozen=True, slots=True)
class OutputPiece:
    """A piece of what a job printed."""

    offset: int
    data: bytes
    is_truncated: bool
    """Whether the job printed more than was kept."""
    is_over: bool
    """Whether the job is over and this was the last piece."""


async def submit_job(
    caller: Caller, jobs: Jobs | None, *, scope: Scope, ask: Deferred[JobDraft]
) -> PricedPlan | Submitted:
    """Run a command now or, if it may wait, as soon as there is room; a dry run is a plan."""
    await check_scope(caller, scope)
    per_core = await caller.read(lambda view: view.state.settings.job_mem_bytes_per_core)
    draft = replace(ask(), mem_bytes_per_core=per_core)
    if caller.dry_run:
        return await plan_request(caller, draft.submit)
    submit, word = _kept(jobs).submit, caller.correlation_id
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
    page = _kept(jobs).book.page
    rows = await asyncio.to_thread(page, scopes, before=before, limit=limit + 1)
    kept, following = cut(rows, limit, key=lambda job: job.job_id)
    return await tell_standing(caller, kept), following


async def read_job(caller: Caller, jobs: Jobs | None, *, job_id: int) -> JobStanding:
    """One job."""
    job = await _require_job(caller, _kept(jobs), job_id=job_id)
    return (await tell_standing(caller, [job]))[0]


async def cancel_job(caller: Caller, jobs: Jobs | None, *, job_id: int) -> Done:
    """End a job, or take it out of the queue; what runs is torn down soon after."""
    found = _kept(jobs)
    await _require_job(caller, found, job_id=job_id)
    if caller.dry_run:
        await asyncio.to_thread(found.check_cancel, job_id)
    else:
        who, word = caller.principal.name, caller.correlation_id
        await asyncio.to_thread(found.cancel, job_id, actor=who, correlation_id=word)
    return Done(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputWish:
    """Which piece of the output is wanted, and how long to wait for something new."""

    job_id: int
    offset: int
    limit: int
    wait_s: int


async def read_output(
    caller: Caller,
    jobs: Jobs | None,
    *,
    wish: OutputWish,
    executor_of: Callable[[str], Executor | None],
    ending: asyncio.Event | None,
) -> OutputPiece:
    """A piece of what a job printed; the answer is held back until there is more."""
    found = _kept(jobs)
    job = await _require_job(caller, found, job_id=wish.job_id)
    until = asyncio.get_running_loop().time() + wish.wait_s
    while True:  # bounded by ``wait_s``, and by the server's own ending
        by = None if job.node is None else executor_of(job.node)
        piece = await asyncio.to_thread(_read, job, by, wish=wish, own=found.node)
        is_late = asyncio.get_running_loop().time() >= until
        if piece.data or piece.is_over or is_late or (ending is not None and ending.is_set()):
            return piece
        await asyncio.sleep(POLL_S)
        job = await asyncio.to_thread(found.get, wish.job_id)


def _read(job: JobRow, by: Executor | None, *, wish: OutputWish, own: str | None) -> OutputPiece:
    # The phase was read before the output: a job that was over then prints nothing more.
    data, is_truncated = b"", False
    if job.started_ms is not None and job.lease_id is not None:
        if job.is_forgotten:
            raise NotFound("output of job", job.job_id, hint="it was removed, being old")
        away = Unavailable(f"the output of job {job.job_id}", f"it lies on node {job.node}")
        try:
            if by is None:
                raise away
            part = by.read_output(job.lease_id, wish.offset, limit=wish.limit)
        except NotFound:
            gone = NotFound("output of job", job.job_id, hint="its folder is gone")
            raise (gone if job.node == own else away) from None
        data, is_truncated = part.data, part.is_truncated
    is_over = job.phase.is_over and len(data) < wish.limit
    return OutputPiece(wish.offset, data, is_truncated, is_over)


async def tell_standing(caller: Caller, rows: list[JobRow]) -> list[JobStanding]:
    """How jobs stand; those that wait, with what is in their way now."""
    entries = [job.entry_id for job in rows if job.phase is JobPhase.WAITING and job.entry_id]

    def read(view: View) -> dict[int, str]:
        blocked = view.state.blocked
        return {i: told.reason.value for i in entries if (told := blocked.get(i)) is not None}

    reasons = await caller.read(read) if entries else {}
    return [JobStanding(job, reasons.get(job.entry_id or 0) or job.reason) for job in rows]


async def _require_job(caller: Caller, jobs: Jobs, *, job_id: int) -> JobRow:
    job = await asyncio.to_thread(jobs.book.get, job_id)
    at = None if job is None else Scope(job.tenant, job.project)
    caller.require(await caller.locate(lambda view: at))
    assert job is not None  # it was located
    return job


def _kept(jobs: Jobs | None) -> Jobs:
    if jobs is None:
        raise Unavailable("jobs", "this server keeps none")
    return jobs
