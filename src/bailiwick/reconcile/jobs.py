"""The loop that runs jobs, of this node and of those with an agent: look, choose, do.

Rules:

- Level-triggered: each round starts from the rows, the kernel's state and the processes as they
  are. Nothing that a round remembers is needed by the next, a restart included.
- The loop never waits for a job. Acts run in threads, one at a time for each job or lease; whoever
  is under way is left alone until it was seen to be done.
- An act that fails is tried again after a pause that grows. Our own faults end the loop.
- Rows are read before the state: a lease that a row names is then there, or gone for good.
- A lease without a job is not reported while there is a row that may not have learnt of it yet: the
  row would then never know how its lease ended.
- What is looked at of the kernel's state is said in :mod:`bailiwick.reconcile.job_sight`; what is
  chosen for a gang, in :mod:`bailiwick.reconcile.gangs.steps`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import assert_never

from bailiwick.ports import JobRow
from bailiwick.reconcile import job_steps as js
from bailiwick.reconcile.duties import breath_s
from bailiwick.reconcile.gangs import steps as gs
from bailiwick.reconcile.gangs.running import Gangs
from bailiwick.reconcile.job_actions import ACTOR, JobActions, JobTools
from bailiwick.reconcile.job_journal import read_outcomes
from bailiwick.reconcile.job_sight import JobSight, SeenLeases
from bailiwick.vocab.errors import BailiwickError, InvariantBroken, Unavailable
from bailiwick.vocab.jobs import JobPhase
from bailiwick.vocab.values import check_integer

POLL_S, IDLE_S = 0.2, 1.0
"""How long to sleep while jobs run, and while none does, if nobody wakes the loop."""

FORGET_EVERY_S = 60.0
THREADS = 16
STRAY_TRIES = 3
_PAUSE_S, _PAUSE_MOST_S = 0.2, 5.0
_FORGETTING = 0
"""The key of the act that removes what is old; leases have their number, jobs less than none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How much is kept of jobs that are over, their output among it."""

    jobs_max: int = 1_000
    age_ms_max: int = 7 * 86_400_000

    def __post_init__(self) -> None:
        check_integer("jobs_max", self.jobs_max, low=0, high=10**6)
        check_integer("age_ms_max", self.age_ms_max, low=0, high=2**52)


class JobLoop:
    """Runs the jobs of one node, with one executor."""

    def __init__(self, tools: JobTools, *, retention: Retention | None = None) -> None:
        self.node = tools.jobs.node
        self.tools, self._acts = tools, JobActions(tools)
        self._book = tools.jobs.book
        self._retention = retention or Retention()
        self._wake = threading.Event()
        self._pool: ThreadPoolExecutor | None = None
        self._busy: dict[int, Future[None]] = {}
        self._pauses: dict[int, tuple[float, float]] = {}
        self._warned: set[tuple[int, int]] = set()
        self._in_line_at: dict[int, int] = {}
        self._strays: dict[int, int] | None = None
        self._sight = JobSight(tools)
        self._gangs = Gangs(tools, self._acts)
        self._forget_at = 0.0

    @property
    def name(self) -> str:
        """What it is called in the log."""
        return "jobs"

    @property
    def is_busy(self) -> bool:
        """Whether an act is under way."""
        return bool(self._busy)

    def run(self, stop: threading.Event) -> None:
        """Go on until told to stop; the jobs themselves go on after that."""
        self._strays = None
        self._sight.begin_anew()  # another may have run jobs since the last time
        end = self.tools.runner.replica.journal.listen(self._wake.set)
        try:
            with self.tools.jobs.listening(self._wake.set):
                while not stop.is_set():  # until told to stop
                    self._wake.clear()
                    began = time.monotonic()
                    running = self.once()
                    breath = breath_s(time.monotonic() - began)
                    self._wake.wait(POLL_S if running or self._busy else IDLE_S)
                    stop.wait(breath)
        finally:
            end()
            self.close()

    def forget_soon(self) -> None:
        """Have the next round see to what is old, without waiting for its time."""
        self._forget_at = 0.0

    def close(self) -> None:
        """Wait for the acts under way; what they leave undone, the next life does."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = None
        self._busy.clear()

    def once(self) -> int:
        """One round: the next step of every job and lease that nobody is at; how many live."""
        self._reap()
        if self._strays is None:
            self._strays = dict.fromkeys(self._adopt(), 0)
        live = self._book.live()
        waiting = [job for job in live if job.phase is JobPhase.WAITING]
        begun = [job for job in live if job.phase is not JobPhase.WAITING]
        self._gangs.read(begun)
        held = {job.lease_id: job.node for job in begun if job.lease_id and job.node}
        entries = [job.entry_id for job in waiting if job.entry_id is not None]
        seen = self._sight.look(entries, held | self._gangs.leases)
        unlearnt = self._plan_waiting(waiting, seen)
        here = [job for job in begun if not self._nodes_of(job) & seen.elsewhere]
        self._plan_leases(here, seen, unlearnt=unlearnt)
        self._forget_old(seen)
        return len(here)

    # -- looking -----------------------------------------------------------------------------

    def _adopt(self) -> list[int]:
        """All leases of which this machine's executor keeps anything."""
        if self.tools.executor is None:
            return []
        try:
            return [found.lease_id for found in self.tools.executor.adopt()]
        except OSError as error:
            raise Unavailable("the executor", error.strerror) from error

    def _plan_waiting(self, waiting: list[JobRow], seen: SeenLeases) -> set[int]:
        """The next step of those without a lease; the leases that may be theirs all the same."""
        left = {
            job.entry_id: max(job.since_seq, self._in_line_at.get(job.entry_id, 0))
            for job in waiting
            if job.entry_id is not None and job.entry_id not in seen.in_line
        }
        self._in_line_at = left | dict.fromkeys(seen.in_line, seen.size)
        outcomes = read_outcomes(self.tools.runner, left, size=seen.size)
        unlearnt = set[int]()
        for job in waiting:
            entry: js.ObservedEntry | None = None
            if not job.is_unsubmitted:
                entry = outcomes.get(job.entry_id or 0, js.InQueue())
            step = js.plan_entry(job, entry)
            if isinstance(step, js.LearnLease):
                unlearnt.update((step.lease_id, *(i for i, _ in step.others)))
            elif self.tools.jobs.was_cut_short(job):
                unlearnt.update(seen.leases)  # any of them, as far as can be known yet
            self._do(-job.job_id, job, None, step=step, seen=seen)
        return unlearnt

    def _plan_leases(self, here: list[JobRow], seen: SeenLeases, *, unlearnt: set[int]) -> None:
        assert self._strays is not None
        jobs: dict[int | None, JobRow] = {job.lease_id: job for job in here}
        jobs |= {j.lease_id: j for j in self._book.of_leases(list(seen.leases.keys() - jobs))}
        jobs |= self._jobs_of_members([i for i in seen.leases if i not in jobs])
        keys = {*seen.leases, *self._strays, *(job.lease_id or 0 for job in here)}
        keys -= self._busy.keys() | self._plan_gangs(here, seen)
        statuses = self._acts.statuses(self._sight.places_of(keys, jobs, seen=seen))
        for lease_id in sorted(keys):
            job, lease = jobs.get(lease_id), seen.leases.get(lease_id)
            if job is not None and job.gang_size > 1 and not job.phase.is_over:
                continue  # it has its leases, and learns of them just now
            if job is None and lease_id in unlearnt:
                continue  # reported now, it would be gone before its job knows how it ended
            status = statuses.get(lease_id)
            warned = lease is not None and (lease_id, lease.expires_ms) in self._warned
            step = js.plan_job(job, lease, status=status, is_warned=warned)
            if lease is None and isinstance(step, js.Rest):
                self._strays.pop(lease_id, None)
            self._do(lease_id, job, lease, step=step, seen=seen)

    def _plan_gangs(self, here: list[JobRow], seen: SeenLeases) -> set[int]:
        """The next steps of gangs that live; all their leases."""
        for job in (job for job in here if job.gang_size > 1):
            own = {row.lease_id for row in self._gangs.members[job.job_id]}
            if self._busy.keys() & {-job.job_id, *own}:
                continue  # what is seen while one is being started or ended may not last
            members, plan = self._gangs.plan(job, seen.leases, warned=self._warned)
            for member, step in zip(members, plan.members, strict=True):
                self._do_alone(member.row.lease_id, self._act_of_member(job, member, step))
            self._do_alone(-job.job_id, self._act_of_whole(job, plan.whole))
        return set(self._gangs.leases)

    def _jobs_of_members(self, lease_ids: list[int]) -> dict[int | None, JobRow]:
        """The jobs of gangs' further leases; those of an earlier attempt, as over."""
        found: dict[int | None, JobRow] = {}
        for row in self._book.members.of_leases(lease_ids):
            job = self._book.get(row.job_id)
            if job is not None:
                is_old = row.ended_ms is not None and not job.phase.is_over
                found[row.lease_id] = replace(job, phase=JobPhase.LOST) if is_old else job
        return found

    def _nodes_of(self, job: JobRow) -> set[str | None]:
        return {job.node, *(row.node for row in self._gangs.members.get(job.job_id, ()))}

    # -- doing -------------------------------------------------------------------------------

    def _do(
        self,
        key: int,
        job: JobRow | None,
        lease: js.ObservedLease | None,
        *,
        step: js.Step,
        seen: SeenLeases,
    ) -> None:
        if not isinstance(step, js.Rest):
            self._do_alone(key, self._act_of(key, job, lease, step=step, seen=seen))

    def _do_alone(self, key: int, act: Callable[[], None] | None) -> None:
        """Begin an act, unless one is under way there or failed just now."""
        is_paused = self._pauses.get(key, (0.0, 0.0))[0] > time.monotonic()
        if act is not None and key not in self._busy and not is_paused:
            self._begin(key, act)

    def _act_of_member(
        self, job: JobRow, member: gs.SeenMember, step: gs.MemberStep
    ) -> Callable[[], None] | None:
        match step:
            case js.Rest():
                return None
            case gs.EndMember():
                return lambda: self._gangs.end_member(job, member.row)
            case js.Start():
                return lambda: self._gangs.start(job, member, afresh=step.afresh)
            case js.Warn() | js.CallOff():
                return self._act_under_lease(job, member.lease, step)
            case _:
                assert_never(step)

    def _act_of_whole(self, job: JobRow, step: gs.WholeStep) -> Callable[[], None] | None:
        match step:
            case js.Rest():
                return None
            case js.NoteRunning():
                return lambda: self._acts.note_running(job)
            case gs.BeginEnd():
                return lambda: self._gangs.begin_end(job, step)
            case js.End():
                return lambda: self._gangs.end(job, step.verdict)
            case _:
                assert_never(step)

    def _begin(self, key: int, act: Callable[[], None]) -> None:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="job")
        self._busy[key] = self._pool.submit(self._try, key, act)

    def _act_of(
        self,
        key: int,
        job: JobRow | None,
        lease: js.ObservedLease | None,
        *,
        step: js.Step,
        seen: SeenLeases,
    ) -> Callable[[], None]:
        acts, jobs = self._acts, self.tools.jobs
        if isinstance(step, js.ReportGone):
            correlation = ACTOR if job is None else job.correlation_id
            node = self._sight.node_of(job, lease)
            return lambda: acts.report(node, key, correlation_id=correlation)
        if isinstance(step, js.ClearStray):
            return lambda: self._clear_stray(self._sight.node_of(job, lease), key)
        if job is None:
            raise InvariantBroken(f"{step} was chosen for lease {key}, which has no job")
        if isinstance(step, js.Start | js.Warn | js.CallOff):
            return self._act_under_lease(job, lease, step)
        match step:
            case js.Resubmit():
                return lambda: jobs.resubmit(job, keys_ms=seen.keys_ms)
            case js.CancelEntry():
                word = job.correlation_id
                return lambda: jobs.cancel_entry(job, actor=job.submitter, correlation_id=word)
            case js.LearnLease():
                return lambda: self._learn(job, step)
            case js.NoteRunning():
                return lambda: acts.note_running(job)
            case js.TearDown():
                return lambda: acts.tear_down(job, key, verdict=step.verdict, lease=lease)
            case js.End():
                return lambda: acts.end(job, verdict=step.verdict)
            case js.GiveBack():
                return lambda: acts.give_back(job, key)
            case js.Rest():
                raise InvariantBroken("to rest is no act")
            case _:
                assert_never(step)

    def _act_under_lease(
        self, job: JobRow, lease: js.ObservedLease | None, step: js.Start | js.Warn | js.CallOff
    ) -> Callable[[], None]:
        if lease is None:
            raise InvariantBroken(f"{step} was chosen for job {job.job_id}, whose lease is gone")
        match step:
            case js.Start():
                return lambda: self._acts.start(job, lease, afresh=step.afresh)
            case js.Warn():
                return lambda: self._warn(lease, step.until_ms)
            case js.CallOff():
                return lambda: self._call_off(lease)

    def _try(self, key: int, act: Callable[[], None]) -> None:
        try:
            act()
            self._pauses.pop(key, None)
        except InvariantBroken:
            raise
        except (BailiwickError, OSError) as error:
            _, pause = self._pauses.get(key, (0.0, _PAUSE_S / 2))
            pause = min(2 * pause, _PAUSE_MOST_S)
            self._pauses[key] = (time.monotonic() + pause, pause)
            self.tools.say(f"jobs: tried again in {pause:g} s: {error}")
        finally:
            self._wake.set()

    def _reap(self) -> None:
        """Forget acts that are done; an error that was none of the expected ends the loop."""
        for key, future in list(self._busy.items()):
            if future.done():
                del self._busy[key]
                future.result()

    def _learn(self, job: JobRow, step: js.LearnLease) -> None:
        self.tools.jobs.learn_leases(job, ((step.lease_id, step.node), *step.others))

    def _warn(self, lease: js.ObservedLease, until_ms: int) -> None:
        self._acts.warn(lease, until_ms)
        self._warned.add((lease.lease_id, until_ms))

    def _call_off(self, lease: js.ObservedLease) -> None:
        self._acts.call_off(lease)
        # Who is told to go again is warned again, even if it is by the same time.
        self._warned = {each for each in self._warned if each[0] != lease.lease_id}

    def _clear_stray(self, node: str, lease_id: int) -> None:
        assert self._strays is not None
        if self._acts.clear_stray(node, lease_id):
            self._strays.pop(lease_id, None)
            return
        tries = self._strays.get(lease_id, 0) + 1
        self._strays[lease_id] = tries
        if tries >= STRAY_TRIES:
            del self._strays[lease_id]
            self.tools.say(f"something of lease {lease_id} could not be ended: look at it")

    def _forget_old(self, seen: SeenLeases) -> None:
        """Now and then, remove what is kept of old jobs."""
        now = time.monotonic()
        if now < self._forget_at:
            return
        self._forget_at = now + FORGET_EVERY_S
        self._warned = {each for each in self._warned if each[0] in seen.leases}
        keep = self._retention
        before_ms = self.tools.clock.now_ms() - keep.age_ms_max
        whose: list[str | None] = [] if self.node is None else [self.node]
        whose += [] if self.tools.remote is None else [None]
        old = [
            job
            for node in whose
            for job in self._book.forgettable(node, kept_max=keep.jobs_max, before_ms=before_ms)
            if job.lease_id not in seen.leases and job.lease_id not in self._busy
        ]
        if old and _FORGETTING not in self._busy:
            self._begin(_FORGETTING, lambda: self._acts.forget(old))
