"""Gangs in the loop that runs jobs: what is known of each, and the acts that only gangs have.

Rules:

- A member is a lease to the executor of its node, as any other: started, warned and torn down one
  by one. What is chosen is chosen for all of them together.
- Each member has a token of its own, which counts until the member was ended.
- A member that cannot be started as asked begins the end of all, with its word.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from bailiwick.executors.port import Exited, JobStatus, fault_of
from bailiwick.fleet.node import ADDRESS_LABEL
from bailiwick.ports import JobChange, JobRow, MemberRow
from bailiwick.reconcile.gangs import steps as gs
from bailiwick.reconcile.gangs.rendezvous import addresses_of, rendezvous_of
from bailiwick.reconcile.job_actions import STARTS_MAX, JobActions, JobTools
from bailiwick.reconcile.job_steps import JobVerdict, ObservedLease
from bailiwick.runtime.replica import View
from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached, NotFound, Unavailable
from bailiwick.vocab.jobs import JobFault, JobPhase


class Gangs:
    """The members of the gangs that live, as they were last read."""

    def __init__(self, tools: JobTools, acts: JobActions) -> None:
        self._tools, self._acts = tools, acts
        self._book = tools.jobs.book
        self._tries: dict[int, int] = {}
        self.members: dict[int, tuple[MemberRow, ...]] = {}
        """By job; of its present attempt alone."""

    def read(self, begun: Iterable[JobRow]) -> None:
        """Read the members of those that have their leases."""
        firsts = {job.job_id: job.lease_id or 0 for job in begun if job.gang_size > 1}
        found: dict[int, list[MemberRow]] = {}
        for row in self._book.members.of_jobs(list(firsts)):
            if row.lease_id >= firsts[row.job_id]:  # a lease's number only grows
                found.setdefault(row.job_id, []).append(row)
        self.members = {job_id: tuple(rows) for job_id, rows in found.items()}

    @property
    def leases(self) -> dict[int, str]:
        """Their leases, and the nodes of those."""
        return {row.lease_id: row.node for rows in self.members.values() for row in rows}

    def plan(
        self, job: JobRow, leases: Mapping[int, ObservedLease], *, warned: set[tuple[int, int]]
    ) -> tuple[tuple[gs.SeenMember, ...], gs.GangPlan]:
        """What is known of a gang's members, and what follows."""
        members = []
        for row in self.members[job.job_id]:
            lease = leases.get(row.lease_id)
            is_warned = lease is not None and (row.lease_id, lease.expires_ms) in warned
            status = self._acts.status(row.node, row.lease_id)
            members.append(gs.SeenMember(row=row, lease=lease, status=status, is_warned=is_warned))
        return tuple(members), gs.plan_gang(job, tuple(members))

    # -- acts --------------------------------------------------------------------------------

    def start(self, job: JobRow, member: gs.SeenMember, *, afresh: bool) -> None:
        """Run the command as this member."""
        lease, row = member.lease, member.row
        assert lease is not None
        executor = self._tools.executor_of(row.node)
        if afresh:
            executor.forget(row.lease_id)
        try:
            token, token_id = self._acts.mint_token(job, lease)
        except (Conflict, NotFound, InvalidValue, LimitReached):
            self._give_up(job, JobFault.TOKEN_REFUSED)
            return
        self._book.members.note_token(row.lease_id, token_id)
        spec = self._acts.spec_of(job, lease, token=token)
        told = {**self._rendezvous(job, row), **spec.env}
        try:
            executor.start(dataclasses.replace(spec, env=told))
        except InvalidValue as error:
            self._tools.say(f"job {job.job_id} cannot be run on {row.node}: {error}")
            self._give_up(job, fault_of(error))
        except Unavailable as error:
            tries = self._tries[row.lease_id] = self._tries.get(row.lease_id, 0) + 1
            if tries < STARTS_MAX:
                raise
            self._tools.say(f"job {job.job_id} cannot be run on {row.node}: {error}")
            self._give_up(job, JobFault.EXECUTOR_UNAVAILABLE)
        self._tries.pop(row.lease_id, None)

    def _give_up(self, job: JobRow, fault: JobFault) -> None:
        self.begin_end(job, gs.BeginEnd(JobVerdict(JobPhase.FAILED, fault.value)))

    def begin_end(self, job: JobRow, step: gs.BeginEnd) -> None:
        """Write down how the job ends, before anything of it is ended."""
        is_late = step.has_run and job.started_ms is None
        change = JobChange(
            phase=JobPhase.ENDING,
            reason=step.verdict.reason,
            exit_code=step.exit_code,
            signal=step.signal,
            started_ms=self._tools.clock.now_ms() if is_late else None,
            # Of a lease that was given back nobody knows any more, once it is gone.
            cancel_asked=True if step.verdict.phase is JobPhase.CANCELLED else None,
        )
        self._book.change(job.job_id, change, only_from=(JobPhase.STARTING, JobPhase.RUNNING))

    def end_member(self, job: JobRow, row: MemberRow) -> None:
        """End all that is left of a member, and write down that it is over."""
        if not self._acts.clear(row.node, row.lease_id):
            self._tools.say(
                f"job {job.job_id} may still run on {row.node}: its teardown could not be confirmed"
            )
        if row.token_id is not None:
            self._acts.revoke_token(row.token_id, job.correlation_id)
        status = self._acts.status(row.node, row.lease_id)
        code, signal = (status.code, status.signal) if isinstance(status, Exited) else (None, None)
        ended_ms = self._tools.clock.now_ms()
        self._book.members.end(row.lease_id, ended_ms=ended_ms, exit_code=code, signal=signal)

    def end(self, job: JobRow, verdict: JobVerdict) -> None:
        """All of its members are over: so is the job, as was written down when its end began."""
        status: JobStatus | None = None
        if job.exit_code is not None or job.signal is not None:
            now_ms = self._tools.clock.now_ms()
            status = Exited(job.exit_code, job.signal, now_ms, is_emptied=True)
        self._acts.end(job, verdict=verdict, status=status)

    def _rendezvous(self, job: JobRow, row: MemberRow) -> dict[str, str]:
        rows = self._tools.jobs.members_of(job)
        nodes = tuple(each.node for each in rows)

        def read(view: View) -> dict[str, str]:
            ledger = view.state.ledger
            there = [node for node in nodes if node in ledger]
            labels = {node: ledger.entry(node).capacity.labels for node in there}
            return {n: told[ADDRESS_LABEL] for n, told in labels.items() if ADDRESS_LABEL in told}

        known = self._tools.runner.read(read)
        own, here = self._tools.jobs.node, urlsplit(self._tools.server).hostname
        if own is not None and here:
            known.setdefault(own, here)
        return rendezvous_of(row.rank, addresses_of(nodes, known), lease_id=rows[0].lease_id)
