"""The loop that lets held jobs go: it reads the rows, has the next steps chosen, and does them.

Rules:

- Level-triggered: a round starts from the rows, and remembers nothing.
- Whoever is let go is written down as such before the kernel is asked, under a key of its own. Who
  dies between leaves a submission that was cut short, which the loop of jobs finishes once.
- A job is let go for whoever submitted it, and only while he may submit there.
- No more are let go than may wait: a request that the queue does not take would be refused for
  good, and a held job has time.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import assert_never

from bailiwick.iam import Allowed, Permission, PrincipalKind, Scope, check_access
from bailiwick.kernel.state import State
from bailiwick.kernel.work.rights import ceilings_of
from bailiwick.ports import Clock, HeldJob, JobRow
from bailiwick.reconcile.held.steps import EndHeld, HeldStep, KeepHeld, LetGo, plan_held
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.scheduler.quota_policy import QuotaScope
from bailiwick.services.jobs import Jobs
from bailiwick.vocab.errors import BailiwickError, InvariantBroken
from bailiwick.vocab.jobs import HeldReason, JobFault, JobPhase
from bailiwick.vocab.values import ProjectId, TenantId

POLL_S, IDLE_S = 0.5, 2.0
BREATH_S = 0.05
THREADS = 8
LET_GO_MAX = 64
"""Jobs that one round lets go; the next follows at once."""


class HeldLoop:
    """Lets the held jobs of one store go; only while its replica leads."""

    def __init__(
        self,
        jobs: Jobs,
        runner: Runner,
        *,
        clock: Clock,
        say: Callable[[str], None] = lambda message: None,
    ) -> None:
        self._jobs, self._book = jobs, jobs.book.held
        self._runner, self._clock, self._say = runner, clock, say
        self._wake = threading.Event()

    @property
    def name(self) -> str:
        """What it is called in the log."""
        return "held jobs"

    def run(self, stop: threading.Event) -> None:
        """Go on until told to stop."""
        with self._jobs.listening(self._wake.set):
            while not stop.is_set():  # until told to stop
                self._wake.clear()
                is_busy = self.once()
                self._wake.wait(POLL_S if is_busy else IDLE_S)
                stop.wait(BREATH_S)

    def once(self) -> bool:
        """One round; whether any job is held."""
        held = self._book.held()
        if not held:
            return False
        steps = plan_held(held, self._book.facts(held), now_ms=self._clock.now_ms())
        told = {job.job_id: job for job in held}
        kept = self._runner.read(lambda view: _within_room(view.state, steps, told))
        for step in kept:
            self._settle(step, told[step.job_id])
        going = [step.job_id for step in kept if isinstance(step, LetGo)]
        if going:
            with ThreadPoolExecutor(min(THREADS, len(going)), thread_name_prefix="held") as pool:
                list(pool.map(self._let_go, going[:LET_GO_MAX]))
        if len(going) > LET_GO_MAX or any(isinstance(step, EndHeld) for step in kept):
            self._jobs.wake()  # who comes after them may be next
        return True

    def _settle(self, step: HeldStep, job: HeldJob) -> None:
        match step:
            case EndHeld():
                now_ms = self._clock.now_ms()
                self._book.end(job.job_id, phase=step.phase, reason=step.reason, now_ms=now_ms)
            case KeepHeld():
                if job.reason != step.reason.value:
                    self._book.tell(job.job_id, step.reason.value)
            case LetGo():
                pass
            case _:
                assert_never(step)

    def _let_go(self, job_id: int) -> None:
        try:
            job = self._jobs.get(job_id)
            if self._runner.read(lambda view: may_submit(view, job)):
                self._jobs.let_go(job_id)
                return
            now_ms, word = self._clock.now_ms(), JobFault.NOT_PERMITTED.value
            self._book.end(job_id, phase=JobPhase.REFUSED, reason=word, now_ms=now_ms)
        except InvariantBroken:
            raise
        except BailiwickError as error:  # its row tells the rest; the next round reads it
            self._say(f"job {job_id} is not let go: {error}")


def may_submit(view: View, job: JobRow) -> bool:
    """Whether who submitted a job may still submit there."""
    directory = view.state.directory
    account = directory.accounts.get(job.submitter)
    is_account = job.submitter_kind == PrincipalKind.SERVICE_ACCOUNT.value
    if is_account and (account is None or not account.is_enabled):
        return False
    roles, scope = directory.roles.get(job.submitter, {}), Scope(job.tenant, job.project)
    return isinstance(check_access(roles, Permission.QUEUE_SUBMIT, scope=scope), Allowed)


def _within_room(
    state: State, steps: Iterable[HeldStep], held: dict[int, HeldJob]
) -> Sequence[HeldStep]:
    """The same steps, but nobody is let go for whom there is no place in the queue."""
    going = Counter[tuple[str, str | None]]()
    in_all, most = len(state.line.entries), state.settings.queue_max
    found: list[HeldStep] = []
    for step in steps:
        if isinstance(step, LetGo):
            job = held[step.job_id]
            project = None if job.project is None else ProjectId(job.project)
            scope = QuotaScope(TenantId(job.tenant), project)
            binding = [
                (str(whose.tenant), whose.project, limit.waiting_max)
                for whose, limit in ceilings_of(state, scope)
            ]
            is_full = in_all >= most or any(
                state.waiting.get((TenantId(t), p), 0) + going[t, p] >= limit
                for t, p, limit in binding
            )
            if is_full:
                found.append(KeepHeld(step.job_id, HeldReason.QUEUE_LIMIT))
                continue
            in_all += 1
            going.update((t, p) for t, p, _ in binding)
        found.append(step)
    return found
