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
- Of this node all leases are looked at. Of the others those of jobs that live or have just ended,
  and those on their way out: what a round costs follows the jobs and not the fleet. All of them are
  looked at once, when the loop begins.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import assert_never

from bailiwick.fleet.node import EXECUTOR_LABEL
from bailiwick.kernel.state import State
from bailiwick.ports import JobChange, JobRow
from bailiwick.reconcile import job_steps as js
from bailiwick.reconcile.duties import breath_s
from bailiwick.reconcile.job_actions import ACTOR, JobActions, JobTools
from bailiwick.reconcile.job_journal import read_outcomes
from bailiwick.runtime.replica import View
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


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the kernel's state says: the leases, who waits, and how far that goes."""

    leases: dict[int, js.ObservedLease]
    in_line: frozenset[int]
    size: int
    keys_ms: int
    elsewhere: frozenset[str] = frozenset()
    """Nodes whose jobs another server runs."""


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
        self._known: set[int] | None = None
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
        self._strays = self._known = None  # another may have run jobs since the last time
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
        seen = self._look(waiting, begun)
        unlearnt = self._plan_waiting(waiting, seen)
        here = [job for job in begun if job.node not in seen.elsewhere]
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

    def _look(self, waiting: Iterable[JobRow], begun: list[JobRow]) -> _Seen:
        entries = {job.entry_id for job in waiting if job.entry_id is not None}
        known = {job.lease_id for job in begun if job.lease_id is not None} | (self._known or set())
        others = {job.node for job in begun if job.node is not None} - {self.node}

        def read(view: View) -> _Seen:
            state, leases = view.state, dict[int, js.ObservedLease]()
            for lease_id in self._leases_in(state, known):
                handle = state.handle(lease_id)
                told = state.ledger.told(handle)
                leases[lease_id] = js.ObservedLease(
                    lease_id=lease_id,
                    node=str(state.node_of(lease_id)),
                    state=told.state,
                    expires_ms=told.expires_ms,
                    reason=state.ledger.revoking.get(handle),
                    is_released=state.is_released(lease_id),
                    devices=told.devices,
                    mem_bytes=told.resources.mem_bytes,
                    cpu_milli=told.resources.cpu_milli,
                )
            in_line = frozenset(entries & state.line.entries.keys())
            far = frozenset(node for node in others if self._is_elsewhere(state, node))
            return _Seen(leases, in_line, state.size, state.settings.keys_ms, far)

        seen = self.tools.runner.read(read)
        self._known = {i for i, lease in seen.leases.items() if lease.node != self.node}
        return seen

    def _is_elsewhere(self, state: State, node: str) -> bool:
        """Whether another server runs the jobs of a node; one that departed has nobody else."""
        if self.tools.remote is None:
            return True
        return node in state.ledger and not self._is_run_from_here(state, node)

    def _is_run_from_here(self, state: State, node: str) -> bool:
        """Whether another node's jobs are run from here: by its own agent, or by its cluster."""
        label = state.ledger.entry(node).capacity.labels.get(EXECUTOR_LABEL)
        return label in self.tools.elsewhere

    def _leases_in(self, state: State, known: Iterable[int]) -> Iterable[int]:
        """The leases to be looked at: see the module's rules."""
        own = (
            [] if self.node is None or self.node not in state.ledger else state.leases_on(self.node)
        )
        if self.tools.remote is None:
            return own
        others = state.leases if self._known is None else {*known, *state.leaving}
        found = [
            i
            for i in others
            if i in state.leases and self._is_run_from_here(state, str(state.node_of(i)))
        ]
        return {*own, *found}

    def _plan_waiting(self, waiting: list[JobRow], seen: _Seen) -> set[int]:
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
                unlearnt.add(step.lease_id)
            elif self.tools.jobs.was_cut_short(job):
                unlearnt.update(seen.leases)  # any of them, as far as can be known yet
            self._do(-job.job_id, job, None, step=step, seen=seen)
        return unlearnt

    def _plan_leases(self, here: list[JobRow], seen: _Seen, *, unlearnt: set[int]) -> None:
        assert self._strays is not None
        jobs = {job.lease_id: job for job in self._book.of_leases(list(seen.leases))}
        jobs |= {job.lease_id: job for job in here}
        keys = {*seen.leases, *self._strays, *(job.lease_id or 0 for job in here)}
        for lease_id in sorted(keys - self._busy.keys()):
            job, lease = jobs.get(lease_id), seen.leases.get(lease_id)
            if job is None and lease_id in unlearnt:
                continue  # reported now, it would be gone before its job knows how it ended
            is_idle = (job is None or job.phase.is_over) and lease is not None
            node = self._node_of(job, lease)
            status = None if is_idle else self._acts.status(node, lease_id)
            warned = lease is not None and (lease_id, lease.expires_ms) in self._warned
            step = js.plan_job(job, lease, status=status, is_warned=warned)
            if lease is None and isinstance(step, js.Rest):
                self._strays.pop(lease_id, None)
            self._do(lease_id, job, lease, step=step, seen=seen)

    # -- doing -------------------------------------------------------------------------------

    def _do(
        self,
        key: int,
        job: JobRow | None,
        lease: js.ObservedLease | None,
        *,
        step: js.Step,
        seen: _Seen,
    ) -> None:
        if isinstance(step, js.Rest) or key in self._busy:
            return
        if self._pauses.get(key, (0.0, 0.0))[0] > time.monotonic():
            return
        self._begin(key, self._act_of(key, job, lease, step=step, seen=seen))

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
        seen: _Seen,
    ) -> Callable[[], None]:
        acts, jobs = self._acts, self.tools.jobs
        if isinstance(step, js.ReportGone):
            correlation = ACTOR if job is None else job.correlation_id
            node = self._node_of(job, lease)
            return lambda: acts.report(node, key, correlation_id=correlation)
        if isinstance(step, js.ClearStray):
            return lambda: self._clear_stray(self._node_of(job, lease), key)
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
                return lambda: acts.tear_down(job, key, verdict=step.verdict)
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
        there = JobChange(phase=JobPhase.STARTING, lease_id=step.lease_id, node=step.node)
        self._book.change(job.job_id, there, only_from=(JobPhase.WAITING,))

    def _warn(self, lease: js.ObservedLease, until_ms: int) -> None:
        self._acts.warn(lease, until_ms)
        self._warned.add((lease.lease_id, until_ms))

    def _call_off(self, lease: js.ObservedLease) -> None:
        self._acts.call_off(lease)
        # Who is told to go again is warned again, even if it is by the same time.
        self._warned = {each for each in self._warned if each[0] != lease.lease_id}

    def _node_of(self, job: JobRow | None, lease: js.ObservedLease | None) -> str:
        """Where a lease is or was; what nobody else speaks for was found on this machine."""
        if lease is not None:
            return lease.node
        return (self.node or "") if job is None or job.node is None else job.node

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

    def _forget_old(self, seen: _Seen) -> None:
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
