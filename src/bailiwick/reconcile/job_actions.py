"""Doing what was chosen for one job: with the executor, the kernel and the job's row.

Rules:

- Each act can be cut short anywhere and done again: the next plan starts from what is there.
- A token is minted for each start, for whoever submitted the job, with no more keys than a holder
  needs and than it was submitted with, and for the one lease. It counts before the job has it, and
  is revoked when the job is over.
- A member of an app runs in its instance's name and gets no token.
- Whoever submitted a job and may not hold leases there any more has none of his jobs started.
- A job that cannot be run as asked fails with a word; an executor that is out of order for a moment
  is tried again, a bounded number of times.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import assert_never

from bailiwick.executors.port import (
    Executor,
    Exited,
    JobOrdered,
    JobSpec,
    JobStarted,
    JobStatus,
    Limits,
    fault_of,
)
from bailiwick.fleet.node import NODE_EXECUTOR
from bailiwick.iam import (
    APP_PREFIX,
    FLEET,
    Allowed,
    AnyRole,
    Permission,
    PrincipalKind,
    Scope,
    check_access,
)
from bailiwick.kernel import Command, Envelope, Release, ReportTeardown
from bailiwick.kernel.people.commands import RevokeToken
from bailiwick.ports import Clock, JobAttempt, JobChange, JobRow
from bailiwick.reconcile.held.steps import plan_retry
from bailiwick.reconcile.job_steps import JobVerdict, ObservedLease
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.services.apps.member_jobs import asked_of, runs_on_host
from bailiwick.services.authority import TTL_S_MAX, Authority, Terms
from bailiwick.services.jobs import Jobs
from bailiwick.vocab.errors import (
    BailiwickError,
    Conflict,
    InvalidValue,
    LimitReached,
    NotFound,
    Unavailable,
)
from bailiwick.vocab.job_arrays import parse_array
from bailiwick.vocab.jobs import HeldReason, JobFault, JobPhase
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.values import MILLI

ACTOR = "jobs"
"""Who the kernel is told does this."""

NO_LOGIN = "none"
"""What a member of an app has for a token: it cannot log in."""

STARTS_MAX = 5
"""How often a start is tried."""

_KEYS = (Permission.LEASE_HOLD, Permission.LEASE_READ)
_BEFORE_RUNNING = (JobPhase.WAITING, JobPhase.STARTING)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTools:
    """What jobs are run with."""

    jobs: Jobs
    runner: Runner
    executor: Executor | None
    """Runs the jobs of this machine, if it runs any."""
    authority: Authority
    clock: Clock
    server: str
    """Where a job reaches this server."""
    say: Callable[[str], None] = field(default=lambda message: None)
    remote: Callable[[str], Executor] | None = None
    """Runs the jobs of another node."""
    remote_statuses: Callable[[Mapping[int, str]], Mapping[int, JobStatus | None]] = field(
        default=lambda leases: {}
    )
    """What is known of leases on other nodes (each with its node), of all that can be told at once:
    the others are asked for one by one."""
    elsewhere: frozenset[str] = frozenset((NODE_EXECUTOR,))
    """The executors of other nodes that are run from here."""

    def executor_of(self, node: str) -> Executor:
        """Whoever runs the jobs of a node."""
        if self.executor is not None and node == self.jobs.node:
            return self.executor
        if self.remote is None:
            raise NotFound("executor of node", node)
        return self.remote(node)


class JobActions:
    """The acts; each takes as long as the executor takes."""

    def __init__(self, tools: JobTools) -> None:
        self._tools = tools
        self._book = tools.jobs.book
        self._tries: dict[int, int] = {}

    def status(self, node: str, lease_id: int) -> JobStatus | None:
        """What the executor sees of a lease's job; ``None`` if it knows of none."""
        try:
            return self._tools.executor_of(node).status(lease_id)
        except NotFound:
            return None

    def statuses(self, places: Mapping[int, str]) -> dict[int, JobStatus | None]:
        """The same of many leases, each on its node."""
        others = {each: node for each, node in places.items() if node != self._tools.jobs.node}
        found = dict(self._tools.remote_statuses(others)) if others else {}
        for lease_id in places.keys() - found.keys():
            found[lease_id] = self.status(places[lease_id], lease_id)
        return found

    def start(self, job: JobRow, lease: ObservedLease, *, afresh: bool) -> None:
        """Run the job's command."""
        executor = self._tools.executor_of(lease.node)
        if afresh:
            executor.forget(lease.lease_id)
        try:
            token = self._take_token(job, lease)
        except (Conflict, NotFound, InvalidValue, LimitReached) as error:
            self._fail(job, JobFault.TOKEN_REFUSED, error)
            return
        begun_ms = self._tools.clock.now_ms()  # before: a short job is over when start comes back
        try:
            begun = executor.start(self.spec_of(job, lease, token=token))
        except InvalidValue as error:
            self._fail(job, fault_of(error), error)
            return
        except Unavailable as error:
            tries = self._tries[job.job_id] = self._tries.get(job.job_id, 0) + 1
            if tries < STARTS_MAX:
                raise
            self._fail(job, JobFault.EXECUTOR_UNAVAILABLE, error)
            return
        match begun:
            case JobStarted():
                self.note_running(job, begun_ms=begun_ms)
            case JobOrdered():
                self._tries.pop(job.job_id, None)  # when it runs is seen by its status
            case _:
                assert_never(begun)

    def _take_token(self, job: JobRow, lease: ObservedLease) -> str:
        """A token that counts, and that its row tells of; a member of an app has none."""
        if job.submitter.startswith(APP_PREFIX):
            return NO_LOGIN
        token, token_id = self.mint_token(job, lease)
        self._book.change(job.job_id, JobChange(token_id=token_id))
        return token

    def note_running(self, job: JobRow, *, begun_ms: int | None = None) -> None:
        """Write down that the job runs; since now, if it is not known since when."""
        self._tries.pop(job.job_id, None)
        started_ms = self._tools.clock.now_ms() if begun_ms is None else begun_ms
        there = JobChange(phase=JobPhase.RUNNING, started_ms=started_ms)
        self._book.change(job.job_id, there, only_from=_BEFORE_RUNNING)

    def warn(self, lease: ObservedLease, until_ms: int) -> None:
        """Tell the job that it must be gone by then."""
        self._tools.executor_of(lease.node).warn(lease.lease_id, until_ms)

    def call_off(self, lease: ObservedLease) -> None:
        """Tell the job that it may go on."""
        self._tools.executor_of(lease.node).call_off(lease.lease_id)

    def tear_down(
        self, job: JobRow, lease_id: int, *, verdict: JobVerdict, lease: ObservedLease | None = None
    ) -> None:
        """End all that is left of the job, write down how it ended, and give its lease back."""
        node = job.node or ""
        status = self.status(node, lease_id)
        is_over = isinstance(status, Exited) and status.is_emptied
        if not is_over:
            # The reason is kept from here on: a lease that is fenced meanwhile has forgotten it.
            self._book.change(job.job_id, JobChange(phase=JobPhase.ENDING, reason=verdict.reason))
        is_clean = self.clear(node, lease_id)
        if not is_clean:
            self._tools.say(f"job {job.job_id} may still run: its teardown could not be confirmed")
        self.end(job, verdict=verdict, status=status if is_over else self.status(node, lease_id))
        if is_clean and lease is not None and lease.state is RevokeState.ACTIVE:
            # What the next rounds would do, at once; if another was quicker, they see to the rest.
            with suppress(Conflict):
                self.give_back(job, lease_id)
                self._report(lease_id, is_clean, job.correlation_id)

    def end(self, job: JobRow, *, verdict: JobVerdict, status: JobStatus | None = None) -> None:
        """Have the job's token count no more, then write down how it ended, or that it goes on."""
        # In this order: of a job that is over nobody would think again.
        found = self._book.get(job.job_id) or job
        if found.token_id is not None:
            self.revoke_token(found.token_id, job.correlation_id)
        now_ms = self._tools.clock.now_ms()
        change = JobChange(phase=verdict.phase, reason=verdict.reason, ended_ms=now_ms)
        if isinstance(status, Exited):
            if found.started_ms is None:  # it was over when it was first seen
                change = replace(change, started_ms=status.ended_ms)
            change = replace(
                change,
                ended_ms=max(status.ended_ms, found.started_ms or 0),
                exit_code=status.code,
                signal=status.signal,
            )
        again_ms = plan_retry(found, verdict, now_ms=now_ms)
        if again_ms is None or not self._requeue(found, change, again_ms):
            self._book.change(job.job_id, change)
        self._tries.pop(job.job_id, None)
        self._tools.jobs.wake()

    def _requeue(self, job: JobRow, change: JobChange, again_ms: int) -> bool:
        """Have the job wait for its next attempt; whether it does."""
        assert change.phase is not None
        ended = JobAttempt(
            attempt=job.attempt,
            phase=change.phase,
            reason=change.reason,
            lease_id=job.lease_id,
            node=job.node,
            started_ms=change.started_ms or job.started_ms,
            ended_ms=change.ended_ms or 0,
            exit_code=change.exit_code,
            signal=change.signal,
        )
        word = HeldReason.BETWEEN_ATTEMPTS.value
        return self._book.held.requeue(job.job_id, ended=ended, retry_at_ms=again_ms, reason=word)

    def give_back(self, job: JobRow, lease_id: int) -> None:
        """The job is over: its lease may go."""
        with suppress(NotFound):
            self._call(Release(lease_id), job.correlation_id)

    def report(self, node: str, lease_id: int, *, correlation_id: str) -> None:
        """See whether anything is left under a lease, and tell the kernel."""
        clean = self.clear(node, lease_id)
        if not clean:
            self._tools.say(f"something of lease {lease_id} may still run: it is fenced")
        self._report(lease_id, clean, correlation_id)

    def _report(self, lease_id: int, is_clean: bool, correlation_id: str) -> None:
        with suppress(NotFound):
            self._call(ReportTeardown(lease_id, is_clean), correlation_id)

    def clear_stray(self, node: str, lease_id: int) -> bool:
        """End what nobody speaks for; whether nothing of it is left."""
        self._tools.say(f"something of lease {lease_id}, which is gone, is being ended")
        return self.clear(node, lease_id)

    def forget(self, old: Iterable[JobRow]) -> None:
        """Remove what is kept of jobs that are over; of one that may still run, nothing."""
        for job in old:
            try:
                self._forget_places(job)
            except BailiwickError as error:
                self._tools.say(f"what is kept of job {job.job_id} stays: {error}")
                continue
            if job.lease_id is not None:
                self._book.forget(job.lease_id)

    def _forget_places(self, job: JobRow) -> None:
        for node, lease_id in self._places_of(job):
            with suppress(NotFound):
                self._tools.executor_of(node).forget(lease_id)

    def _places_of(self, job: JobRow) -> list[tuple[str, int]]:
        """Where something may be kept of a job: under its lease, or under each of its gang's."""
        if job.gang_size > 1:
            rows = self._book.members.of_jobs([job.job_id])
            return [(row.node, row.lease_id) for row in rows if row.ended_ms is not None]
        if job.lease_id is None or job.node is None:
            return []
        return [(job.node, job.lease_id)]

    def clear(self, node: str, lease_id: int) -> bool:
        """End what is under a lease; whether nothing of it is left."""
        try:
            return self._tools.executor_of(node).tear_down(lease_id)
        except NotFound:
            return True  # nothing was ever started under it

    def mint_token(self, job: JobRow, lease: ObservedLease) -> tuple[str, str]:
        """A token for a job under this lease, which counts from now on; and its number."""
        now_ms = self._tools.clock.now_ms()
        ttl_s = min(max((lease.expires_ms - now_ms) // 1000, 1), TTL_S_MAX)
        minted = self._tools.authority.mint(
            job.submitter,
            PrincipalKind(job.submitter_kind),
            token_id=f"job-{job.job_id}-{secrets.token_hex(8)}",
            now_ms=now_ms,
            ttl_s=ttl_s,
            terms=Terms(keys=_keys_of(job), within=self._bounds_of(job), lease_id=lease.lease_id),
        )
        self._call(minted.command, job.correlation_id)
        return minted.token, minted.command.token_id

    def revoke_token(self, token_id: str, correlation_id: str) -> None:
        """Have a token count no more."""
        with suppress(Conflict, NotFound):
            self._call(RevokeToken(token_id), correlation_id)

    def _bounds_of(self, job: JobRow) -> tuple[str, ...] | None:
        """Where a job's token counts: not beyond the role through which its submitter holds it.

        Who may not hold a lease there any more gets none, and the job does not start.
        """
        scope = Scope(job.tenant, job.project)

        def look(view: View) -> tuple[dict[Scope, AnyRole], bool]:
            directory = view.state.directory
            account = directory.accounts.get(job.submitter)
            is_off = account is not None and not account.is_enabled
            return dict(directory.roles.get(job.submitter, {})), is_off

        roles, is_off = self._tools.runner.read(look)
        found = check_access(roles, Permission.LEASE_HOLD, scope=scope)
        if is_off or not isinstance(found, Allowed):
            raise Conflict("submitter", job.submitter, f"may not hold leases in {scope} any more")
        return None if found.scope == FLEET else (str(found.scope),)

    def spec_of(self, job: JobRow, lease: ObservedLease, *, token: str) -> JobSpec:
        """What the executor is told to run under this lease."""
        read = self._tools.runner.read
        per_core = read(lambda view: view.state.settings.job_mem_bytes_per_core)
        return JobSpec(
            lease.lease_id,
            argv=job.command,
            token=token,
            cwd=None if job.cwd is None else Path(job.cwd),
            image=job.image,
            is_interactive=job.interactive,
            env=job.env,
            device_indices=lease.devices,
            limits=Limits(memory_of(lease, per_core), cpu_milli=lease.cpu_milli or None),
            server=self._tools.server,
            owner=str(Scope(job.tenant, job.project)),
            node=lease.node,
            told=told_of(job),
            on_host=read(lambda view: runs_on_host(view, job)),
            ask=read(lambda view: asked_of(view, job)),
        )

    def _fail(self, job: JobRow, fault: JobFault, error: BailiwickError) -> None:
        self._tools.say(f"job {job.job_id} cannot be run: {error}")
        self._tries.pop(job.job_id, None)
        self.end(job, verdict=JobVerdict(JobPhase.FAILED, fault.value))

    def _call(self, command: Command, correlation_id: str) -> None:
        self._tools.runner.execute(Envelope(command, ACTOR, correlation_id))


def _keys_of(job: JobRow) -> tuple[Permission, ...]:
    if job.submitter_keys is None:
        return _KEYS
    return tuple(key for key in _KEYS if key.value in job.submitter_keys)


def told_of(job: JobRow) -> dict[str, str]:
    """What a job is told of itself, beyond its lease."""
    told = {"BAILIWICK_JOB_ID": str(job.job_id), "BAILIWICK_ATTEMPT": str(job.attempt)}
    if job.checkpoint is not None:
        told["BAILIWICK_CHECKPOINT"] = job.checkpoint
    if job.array is not None:
        indices = parse_array(job.array).indices
        told |= {
            "BAILIWICK_ARRAY_ID": str(job.array_id),
            "BAILIWICK_ARRAY_INDEX": str(job.array_index),
            "BAILIWICK_ARRAY_COUNT": str(len(indices)),
            "BAILIWICK_ARRAY_MIN": str(indices[0]),
            "BAILIWICK_ARRAY_MAX": str(indices[-1]),
        }
    return told


def memory_of(lease: ObservedLease, per_core: int) -> int:
    """A lease of before jobs got memory that named none may have none: its job is bound too."""
    return lease.mem_bytes or max(1, -(-lease.cpu_milli // MILLI)) * per_core
