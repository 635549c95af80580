"""Jobs: commands to be run under a lease, from the wish to the row that tells how it ended.

Rules:

- The row is written first, then the kernel is asked under the key ``job-ID``, then the row learns
  what the kernel said. Whoever dies between leaves a row that :meth:`Jobs.resubmit` can finish: the
  same key gives the same answer.
- A job that comes after others, and a task of an array, is written down and held. Whoever lets it
  go writes that down first too, and each time asks under a key of its own.
- A held job has time: what only says "not now" holds it again, and does not end it.
- What the kernel surely did not do (it said so) ends the job as refused. What may have happened or
  not leaves the row waiting, to be asked again.
- No job runs without a bound on its memory: who names none gets some for each core.
- To cancel is to write down the wish, and to take a waiting request out of the queue. What runs is
  ended by the loop that runs it, which is woken and sees the wish.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from bailiwick.kernel import (
    Cancel,
    Envelope,
    Granted,
    Queued,
    Refused,
    Submit,
    decode_command,
    encode_command,
)
from bailiwick.kernel.spelling import denial_body
from bailiwick.ports import AfterJob, Clock, JobChange, JobRow, JobStore, NewJobRow
from bailiwick.runtime.runner import Runner
from bailiwick.scheduler.decision import Denied
from bailiwick.scheduler.request import with_memory
from bailiwick.scheduler.rights.denials import TooManyWaiting
from bailiwick.services.authority import Principal
from bailiwick.vocab.errors import (
    BailiwickError,
    Conflict,
    InvalidValue,
    InvariantBroken,
    LimitReached,
    NotFound,
    NotLeader,
)
from bailiwick.vocab.graphs import RETRYABLE, FailureCategory
from bailiwick.vocab.job_addresses import AFTER_MAX
from bailiwick.vocab.job_arrays import ArraySpec
from bailiwick.vocab.job_members import MemberRow
from bailiwick.vocab.jobs import HeldReason, JobFault, JobPhase
from bailiwick.vocab.values import check_integer

LIVE_MAX = 10_000
"""Jobs that may wait or run at a time."""

RETRIES_MAX = 100
ARRAY_TEXT_MAX = 65_536
"""Bytes of command and environment of an array: each of its tasks has a row with them."""

RETRY_ON = (FailureCategory.PREEMPTED, FailureCategory.NODE_LOST)
"""Why a job is tried again, unless it says otherwise."""

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
    image: str | None = None
    interactive: bool = False
    after: tuple[AfterJob, ...] = ()
    array: ArraySpec | None = None
    retries: int = 0
    retry_on: tuple[FailureCategory, ...] = RETRY_ON
    checkpoint: str | None = None

    def __post_init__(self) -> None:
        check_integer("retries", self.retries, low=0, high=RETRIES_MAX)
        if self.interactive and (
            self.is_held or self.retries or self.request.request.gang_size > 1
        ):
            expected = "false, for an array, a gang, or what is to run later or again"
            raise InvalidValue("interactive", True, expected)
        if len(self.after) > AFTER_MAX:
            raise InvalidValue("after", len(self.after), f"at most {AFTER_MAX} jobs")
        for each in self.retry_on:
            if each not in RETRYABLE:
                raise InvalidValue("retry_on", each.value, f"one of {', '.join(RETRYABLE)}")
        held = self.is_held or self.retries
        if held and not self.request.wait:
            raise InvalidValue("wait", False, "true, for a job that is to run later or again")
        if self.array is not None and self._text_bytes() > ARRAY_TEXT_MAX:
            expected = f"a command and an environment of {ARRAY_TEXT_MAX:,} bytes in an array"
            raise InvalidValue("command", "(not shown)", expected)

    def _text_bytes(self) -> int:
        words = (*self.command, *self.env, *self.env.values())
        return sum(len(word.encode()) for word in words)

    @property
    def is_held(self) -> bool:
        """Whether the kernel is not asked at once."""
        return bool(self.after) or self.array is not None

    @property
    def submit(self) -> Submit:
        """What the kernel is asked: a job that names no memory gets some for its cores."""
        asked = self.request
        return replace(asked, request=with_memory(asked.request, self.mem_bytes_per_core))

    def digest(self) -> str:
        """What tells this wish from another; of the environment, only the names."""
        told: list[Any] = [
            encode_command(self.request),
            self.command,
            sorted(self.env),
            self.cwd,
            self.name,
        ]
        after = [(each.job_id, each.is_array, each.need.value) for each in self.after]
        array = None if self.array is None else str(self.array)
        later = [after, array, self.retries, list(self.retry_on), self.checkpoint]
        if self.is_held or self.retries or self.checkpoint:
            told.append(later)  # so that what has none of it is the same as it ever was
        told += [] if self.image is None else [self.image]
        told += ["interactive"] if self.interactive else []
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
            image=draft.image,
            interactive=draft.interactive,
            tag=draft.tag,
            submitted_ms=self._clock.now_ms(),
            since_seq=self._runner.replica.journal.size,
            asked_ms=None if draft.is_held else self._clock.now_ms(),
            after=draft.after,
            array=None if draft.array is None else str(draft.array),
            retries=draft.retries,
            retry_on=draft.retry_on if draft.retries else (),
            checkpoint=draft.checkpoint,
        )
        # Whoever looks at the row before it is known to be under way may ask the kernel as well:
        # under the same key, so it is answered the same, and the first answer counts.
        job = self._insert(new, draft.array)
        if job.digest != new.digest:
            raise Conflict("idempotency key", key, "was used for another job", hint="use a new one")
        with self._lock:
            is_ours = job.is_unsubmitted and job.job_id not in self._submitting
            if is_ours:
                self._submitting.add(job.job_id)
        if not is_ours:
            self.wake()  # one that is held may be let go at once
            return Submitted(job, None)
        try:
            answer = self._ask(job)
        finally:
            self._submitting.discard(job.job_id)
        self.wake()
        return Submitted(self.get(job.job_id), answer)

    def _insert(self, new: NewJobRow, array: ArraySpec | None) -> JobRow:
        if array is None:
            return self.book.insert(new, live_max=self._live_max)
        return self.book.insert_array(new, indices=array.indices, live_max=self._live_max)

    def let_go(self, job_id: int) -> None:
        """Ask the kernel for a held job; one that is held no more is left alone."""
        with self._lock:
            self._submitting.add(job_id)
        try:
            now_ms, size = self._clock.now_ms(), self._runner.replica.journal.size
            if self.book.held.release(job_id, now_ms=now_ms, since_seq=size):
                self._ask(self.get(job_id), is_again=True)
        finally:
            self._submitting.discard(job_id)
        self.wake()

    def was_cut_short(self, job: JobRow) -> bool:
        """Whether its submission was begun in an earlier life: the kernel may have granted it."""
        return job.is_unsubmitted and job.job_id not in self._submitting

    def resubmit(self, job: JobRow, *, keys_ms: int) -> None:
        """Finish a submission that was cut short; too late, what became of it is not known."""
        if job.job_id in self._submitting:
            return
        now_ms = self._clock.now_ms()
        if now_ms - (job.asked_ms or job.submitted_ms) >= keys_ms:
            fault = JobFault.SUBMISSION_UNKNOWN.value
            end = JobChange(phase=JobPhase.LOST, reason=fault, ended_ms=now_ms)
            self.book.change(job.job_id, end, only_from=_WAITING)
            return
        self._ask(job, is_again=True)

    def get(self, job_id: int) -> JobRow:
        """That job; one that is not there is an error."""
        found = self.book.get(job_id)
        if found is None:
            raise NotFound("job", job_id)
        return found

    def members_of(self, job: JobRow) -> list[MemberRow]:
        """The members of a gang that has its leases, by rank; of any other job, none."""
        if job.gang_size == 1 or job.lease_id is None:
            return []
        rows = self.book.members.of_jobs([job.job_id])
        return [row for row in rows if row.lease_id >= job.lease_id]  # not of earlier attempts

    def check_cancel(self, job_id: int) -> JobRow:
        """The job, if it may still be cancelled or was; else the error."""
        job = self.get(job_id)
        if job.phase.is_over and job.phase is not JobPhase.CANCELLED:
            raise Conflict("job", job_id, f"is over: {job.phase}")
        return job

    def cancel(self, job_id: int, *, actor: str, correlation_id: str) -> JobRow:
        """Have a job end: at once if it waits, else as soon as it was torn down."""
        self.check_cancel(job_id)
        if self.book.change(job_id, JobChange(cancel_asked=True)):
            now_ms, over = self._clock.now_ms(), JobPhase.CANCELLED
            if not self.book.held.end(job_id, phase=over, reason=None, now_ms=now_ms):
                self.cancel_entry(self.get(job_id), actor=actor, correlation_id=correlation_id)
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

    def _ask(self, job: JobRow, *, is_again: bool = False) -> Granted | Queued | Refused:
        """Ask the kernel, and have the row learn what it said.

        Asked again, a replica that does not lead says nothing about what became of it before.
        """
        envelope = Envelope(
            decode_command(dict(job.request)), job.submitter, job.correlation_id, job.kernel_key
        )
        try:
            answer = self._runner.execute(envelope)
        except BailiwickError as error:
            if job.has_been_held and isinstance(error, LimitReached):
                self._hold(job)
            elif not error.retryable or (isinstance(error, NotLeader) and not is_again):
                self._refuse(job, error.code.value)  # surely nothing happened
            raise
        match answer:
            case Granted():
                self.learn_leases(job, tuple(zip(answer.lease_ids, answer.nodes, strict=True)))
            case Queued():
                self._learn(job, JobChange(entry_id=answer.entry_id, reason=answer.reason.value))
            case Refused(Denied(detail=TooManyWaiting())) if job.has_been_held:
                self._hold(job)
            case Refused():
                self._refuse(job, answer.denied.reason.value, denial=denial_body(answer.denied))
            case _:
                raise InvariantBroken(f"a job's request was answered with {answer}")
        return answer

    def learn_leases(self, job: JobRow, leases: tuple[tuple[int, str], ...]) -> None:
        """Write down what a job got: the first lease in its row, before that all as members."""
        if len(leases) > 1:
            self.book.members.add(job.job_id, leases)
        lease_id, node = leases[0]
        self._learn(job, JobChange(phase=JobPhase.STARTING, lease_id=lease_id, node=node))

    def _hold(self, job: JobRow) -> None:
        self.book.held.hold(job.job_id, asks=job.asks, reason=HeldReason.QUEUE_LIMIT.value)

    def _refuse(self, job: JobRow, reason: str, *, denial: dict[str, Any] | None = None) -> None:
        now_ms, over = self._clock.now_ms(), JobPhase.REFUSED
        self._learn(job, JobChange(phase=over, reason=reason, ended_ms=now_ms, denial=denial))

    def _learn(self, job: JobRow, change: JobChange) -> None:
        # Two may have asked under one key, and the faster one's job may be at its next attempt.
        self.book.change(job.job_id, change, only_from=_WAITING, only_ask=job.asks)
