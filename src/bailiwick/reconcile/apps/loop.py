"""The loop that runs the members of instances: it looks, has the next steps chosen, and does them.

Rules:

- Level-triggered: a round starts from the kernel's state and the rows of jobs. What a round
  remembers makes the next one quicker, or lets it wait; a restart may lose it.
- A job is written down under its member's key before the member learns of it. Whoever dies between
  asks again, and gets the same job.
- Leases of members that are wanted are renewed; one that may not be held longer runs out, and its
  member fails with that reason.
- A component that fails again and again is tried again after a pause that grows.
- A job whose member is gone is ended, whatever cut its member off from it: now and then all are
  looked at. Rows are read before the state: a member that a row names was there before the row.
- One instance that cannot be helped now does not keep the others waiting; nor does a member that
  another project contributed keep the rest of its instance waiting.
- What is done for somebody's request is sealed under its correlation id (:mod:`.courses`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, assert_never

from bailiwick.apps.status import InstanceFacts, MemberPlan, plan_members
from bailiwick.kernel import Command, Envelope, Renew
from bailiwick.kernel.apps import instance_commands as cmd
from bailiwick.kernel.apps.instances import AppInstance, AppMember, HeldInstance
from bailiwick.ports import Clock
from bailiwick.reconcile.apps import steps as st
from bailiwick.reconcile.apps.courses import InstanceCourses
from bailiwick.reconcile.apps.detaching import parts_to_end
from bailiwick.reconcile.apps.sight import SeenInstance, is_same, look
from bailiwick.reconcile.apps.starting import MemberStarter
from bailiwick.reconcile.duties import breath_s
from bailiwick.reconcile.job_steps import Rest
from bailiwick.runtime.runner import Runner
from bailiwick.services.apps.member_jobs import TERM_MS, correlation_of, key_of
from bailiwick.services.jobs import Jobs
from bailiwick.store.members.app_jobs import AppJob, AppJobs
from bailiwick.vocab.apps import MemberAction, MemberPhase
from bailiwick.vocab.errors import (
    BailiwickError,
    Conflict,
    Damaged,
    InstanceRefused,
    InvariantBroken,
    LimitReached,
    NotFound,
)

ACTOR: Final = "apps"
"""Who the kernel is told does this."""

POLL_S, IDLE_S, SWEEP_S = 0.2, 1.0, 10.0
_RENEW_AGAIN_MS: Final = 10_000
_SHRINKS: Final = (MemberAction.REMOVE, MemberAction.DRAIN)


class AppLoop:
    """Runs the members of all instances; only while its replica leads."""

    def __init__(
        self,
        jobs: Jobs,
        standings: AppJobs,
        runner: Runner,
        *,
        clock: Clock,
        say: Callable[[str], None] = lambda message: None,
    ) -> None:
        self._jobs, self._standings, self._runner = jobs, standings, runner
        self._clock, self._say = clock, say
        self._courses = InstanceCourses(runner)
        self._starter = MemberStarter(jobs, runner, self._courses)
        self._still: dict[int, tuple[AppInstance, tuple[AppMember, ...]]] = {}
        self._failures: dict[tuple[int, str], int] = {}
        self._renew_at: dict[int, int] = {}
        self._told: dict[int, str] = {}
        self._sweep_at = 0.0
        self._wake = threading.Event()

    @property
    def name(self) -> str:
        """What it is called in the log."""
        return "apps"

    def run(self, stop: threading.Event) -> None:
        """Go on until told to stop; the members go on after that."""
        self._still.clear()
        self._sweep_at = 0.0
        end = self._runner.replica.journal.listen(self._wake.set)
        try:
            with self._jobs.listening(self._wake.set):
                while not stop.is_set():  # until told to stop
                    self._wake.clear()
                    began = time.monotonic()
                    is_busy = self.once()
                    took_s = time.monotonic() - began
                    self._wake.wait(POLL_S if is_busy else IDLE_S)
                    # A look at all instances is taken in the writer's thread: most of that is his.
                    stop.wait(min(max(breath_s(took_s), 10 * took_s), IDLE_S))
        finally:
            end()

    def once(self) -> bool:
        """One round over all instances; whether any is under way."""
        orphans = self._rows_now_and_then()
        found = self._runner.read(look)
        self._end_orphans(orphans, found)
        self._end_parts()
        if not found:
            return False
        asked = {
            member.job_id
            for each in found
            for member in each.members
            if member.job_id is not None and not each.is_held(member)
        }
        jobs = self._standings.standings(asked)
        is_busy = False
        for each in found:
            try:
                is_busy |= self._advance(each, jobs)
            except BailiwickError as error:
                self._still.pop(each.instance.id, None)
                if isinstance(error, InvariantBroken | Damaged):
                    raise
                is_busy = True
                self._complain(each.instance.id, str(error))
        there = {each.instance.id for each in found}
        self._still = {i: was for i, was in self._still.items() if i in there}
        self._failures = {i: n for i, n in self._failures.items() if i[0] in there}
        self._told = {i: text for i, text in self._told.items() if i in there}
        held = {lease_id for each in found for lease_id in each.leases}
        self._renew_at = {i: at for i, at in self._renew_at.items() if i in held}
        return is_busy

    def _end_parts(self) -> None:
        """Have parts in shared runtimes end that nobody else ends."""
        now_ms = self._clock.now_ms()
        for command in self._runner.read(lambda view: parts_to_end(view.state, now_ms)):
            self._call(command, f"shared-runtime-{command.runtime}")

    def _rows_now_and_then(self) -> dict[int, str]:
        """The jobs of members that live, if it is time to look at them all."""
        if time.monotonic() < self._sweep_at:
            return {}
        self._sweep_at = time.monotonic() + SWEEP_S
        return self._standings.live()

    def _end_orphans(self, rows: dict[int, str], found: list[SeenInstance]) -> None:
        """End the jobs of members that are no more."""
        there = {key_of(member.id) for each in found for member in each.members} if rows else set()
        for job_id, key in rows.items():
            if key not in there:
                self._say(f"job {job_id} is ended: {key} is no more")
                self._stop(job_id, correlation_id=ACTOR)

    def _complain(self, instance_id: int, text: str) -> None:
        """Say what is in the way, once: it may be so for long, or another was only quicker."""
        if self._told.get(instance_id) != text:
            self._say(f"instance {instance_id} is looked at again: {text}")
        self._told[instance_id] = text

    # -- one instance ------------------------------------------------------------------------

    def _advance(self, seen: SeenInstance, jobs: dict[int, AppJob]) -> bool:
        """The next steps of an instance; whether something is under way."""
        now_ms = self._clock.now_ms()
        self._renew(seen, now_ms)
        known = self._still.get(seen.instance.id)
        if known is not None and seen.is_alive and is_same(known, seen):
            return False
        terms = _terms(seen.instance, now_ms)
        has_moved = False
        for member in seen.members:
            if not seen.is_held(member):
                job = None if member.job_id is None else jobs.get(member.job_id)
                step = st.plan_member(member, job, terms=terms)
                has_moved |= self._try(seen.instance, member, step)
        if has_moved:
            return True  # what is planned next is planned from what is so then
        if seen.instance.is_leaving:
            return self._delete(seen, now_ms)
        has_moved = self._fill(seen, now_ms)
        if not has_moved and seen.is_alive:
            self._still[seen.instance.id] = seen.instance, seen.members
            self._forgive(seen, now_ms)
        return has_moved or not seen.is_alive

    def _try(self, instance: AppInstance, member: AppMember, step: st.MemberStep) -> bool:
        """Carry out a step; what fails of another project's member is that project's trouble."""
        try:
            return self._do(instance, member, step)
        except BailiwickError as error:
            if member.source is None or isinstance(error, InvariantBroken | Damaged):
                raise
            self._complain(instance.id, f"{member.component_key} of {member.source}: {error}")
            return False

    def _do(self, instance: AppInstance, member: AppMember, step: st.MemberStep) -> bool:
        """Carry out a step; whether there was one."""
        match step:
            case Rest():
                return False
            case st.StartJob():
                found = self._starter.start(instance, member)
                if found is None:
                    return False
                self._move(instance, member, found)
            case st.StopJob():
                course = self._courses.of(instance, member.id)
                self._stop(step.job_id, correlation_id=course)
            case st.Move():
                self._move(instance, member, step)
            case _:
                assert_never(step)
        return True

    def _move(self, instance: AppInstance, member: AppMember, step: st.Move) -> None:
        which = instance.id, member.component_key
        if step.phase is MemberPhase.FAILED:
            self._failures[which] = self._failures.get(which, 0) + 1
            self._say(f"member {member.component_key} of instance {instance.id}: {step.reason}")
        command = cmd.MoveMember(
            tenant=instance.tenant,
            project=instance.project,
            instance_id=instance.id,
            member_id=member.id,
            phase=step.phase,
            lease_id=step.lease_id,
            job_id=step.job_id,
            reason=step.reason,
        )
        self._call(command, self._courses.of(instance, member.id))

    def _stop(self, job_id: int, *, correlation_id: str) -> None:
        try:
            self._jobs.cancel(job_id, actor=ACTOR, correlation_id=correlation_id)
        except (Conflict, NotFound):
            return  # it is over

    def _renew(self, seen: SeenInstance, now_ms: int) -> None:
        """Hold on to the leases of members that are wanted, in time."""
        for member in seen.members:
            until_ms = None if member.lease_id is None else seen.leases.get(member.lease_id)
            if until_ms is None or member.lease_id is None or member.phase is MemberPhase.FAILED:
                continue
            is_due = until_ms - now_ms < TERM_MS // 2
            if not is_due or self._renew_at.get(member.lease_id, 0) > now_ms:
                continue
            self._renew_at[member.lease_id] = now_ms + _RENEW_AGAIN_MS
            try:
                self._call(Renew(member.lease_id, TERM_MS), correlation_of(seen.instance.id))
            except (Conflict, NotFound):
                continue  # it is on its way out, and its job tells how

    # -- all members of one ------------------------------------------------------------------

    def _fill(self, seen: SeenInstance, now_ms: int) -> bool:
        """Have as many members as are wanted, of the version that is; whether something was to do.

        What failed just now is left for a while.
        """
        instance = seen.instance
        plan = MemberPlan() if instance.paused else plan_members(_facts(seen))
        by_key = {each.component_key: each for each in seen.members}
        serial, acted = seen.serial, False
        for role, component in plan.add:
            acted |= self._member(instance, MemberAction.ADD, component, serial=serial, role=role)
        for component in plan.replace:
            member = by_key[component]
            if not self._is_early(instance, member, now_ms):
                acted |= self._member(instance, MemberAction.REPLACE, component, serial=serial)
        for component in plan.remove:
            acted |= self._member(instance, MemberAction.REMOVE, component, serial=serial)
        for component in plan.drain:
            acted |= self._member(instance, MemberAction.DRAIN, component, serial=serial)
        return acted or self._renew_contributed(seen, plan, now_ms)

    def _renew_contributed(self, seen: SeenInstance, plan: MemberPlan, now_ms: int) -> bool:
        """Replace members that others contributed, after all else; whether any could be."""
        instance, acted = seen.instance, False
        newest = {each.component_key: each for each in seen.members if each.source is not None}
        for component in plan.renew:
            if self._is_early(instance, newest[component], now_ms):
                continue
            try:
                acted |= self._member(instance, MemberAction.REPLACE, component, serial=seen.serial)
            except (InstanceRefused, Conflict, LimitReached) as error:
                self._complain(instance.id, f"{component}: {error}")
        return acted

    def _forgive(self, seen: SeenInstance, now_ms: int) -> None:
        """Forget how often those failed that have been well for long."""
        for member in seen.members:
            if now_ms - member.changed_ms > st.PAUSE_MS_MAX:
                self._failures.pop((seen.instance.id, member.component_key), None)

    def _is_early(self, instance: AppInstance, member: AppMember, now_ms: int) -> bool:
        if member.phase is not MemberPhase.FAILED:
            return False
        failures = self._failures.setdefault((instance.id, member.component_key), 1)
        return now_ms < member.changed_ms + st.pause_ms(failures)

    def _member(
        self,
        instance: AppInstance,
        action: MemberAction,
        component: str,
        *,
        serial: int,
        role: str | None = None,
    ) -> bool:
        command = cmd.ChangeMember(
            tenant=instance.tenant,
            project=instance.project,
            instance_id=instance.id,
            action=action,
            component_key=component,
            role=role,
            # From the state alone: asked twice of the same state it is done once.
            key=f"{ACTOR}-{action.value}-{instance.generation}-{serial}",
        )
        course = self._courses.of(instance, shrinks=action in _SHRINKS)
        self._call(command, course)
        return True

    def _delete(self, seen: SeenInstance, now_ms: int) -> bool:
        """Have an instance go whose members are gone; what takes too long is told, once."""
        instance = seen.instance
        own = {"tenant": instance.tenant, "project": instance.project}
        if not seen.members and instance.observed_generation in (0, instance.generation):
            finish = cmd.FinishDeletion(**own, instance_id=instance.id)
            self._call(finish, self._courses.of(instance))
            return True
        if not instance.is_overdue and now_ms > (instance.deadline_ms or 0):
            late = cmd.NoteDeletionOverdue(**own, instance_id=instance.id)
            self._call(late, self._courses.of(instance))
        return bool(seen.members)

    def _call(self, command: Command, correlation_id: str) -> None:
        self._runner.execute(Envelope(command, ACTOR, correlation_id))


def _terms(instance: AppInstance, now_ms: int) -> st.MemberTerms:
    is_seen = instance.observed_generation in (0, instance.generation)
    is_late = instance.deadline_ms is not None and now_ms > instance.deadline_ms
    return st.MemberTerms(
        now_ms=now_ms,
        may_begin=not instance.paused and not instance.is_leaving,
        has_operator=instance.observed_generation > 0,
        ends_all=instance.is_leaving and (is_seen or is_late),
    )


def _facts(seen: SeenInstance) -> InstanceFacts:
    held = HeldInstance(seen.instance, {each.id: each for each in seen.members})
    return held.facts
