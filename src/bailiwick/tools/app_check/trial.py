"""The life of one instance, lived so that everything can be seen: made, failed, upgraded, gone.

Rules:

- Before something is asked for, the operator is stopped; then it is killed and begun again. So it
  was there when the change came, saw nothing of it, and has to take it up. Under an upgrade it is
  killed once more, at the first thing that it does.
- What is waited for is what the records say, read as the server will read it.
- What does not come in time ends the trial: the rest is not tried.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from bailiwick.apps.readiness.evidence import CheckFacts, OperatorKill
from bailiwick.apps.readiness.timeline import ToldRow, tell_facts
from bailiwick.client import Client, Refusal
from bailiwick.tools.app_check.listener import EventListener
from bailiwick.tools.app_check.operator_process import OperatorProcess
from bailiwick.tools.app_check.plan import FAILURE_S, CheckPlan
from bailiwick.vocab.apps import InstancePhase
from bailiwick.vocab.readiness import LifecycleEvent, LifeStep
from bailiwick.wire.actions.instances import (
    INSTANCE_CHANGE,
    INSTANCE_CREATE,
    INSTANCE_DELETE,
    INSTANCE_MEMBER_LIST,
)
from bailiwick.wire.actions.jobs import JOB_CANCEL
from bailiwick.wire.instances import InstanceChange, NewInstance

Tell = Callable[[str], None]
ACT_S: Final = 30.0
"""How long an operator that was begun again may take until it does something."""


class Stalled(Exception):
    """Something did not come to be in time; the rest is not tried."""


@dataclass(slots=True)
class InstanceTrial:
    """One instance, and what is done to it."""

    client: Client
    plan: CheckPlan
    listener: EventListener
    operator: OperatorProcess | None
    principal: str | None
    tell: Tell
    instance_id: int = 0
    kills: list[OperatorKill] = field(default_factory=list)

    @property
    def place(self) -> dict[str, str | int]:
        """The project."""
        return {"tenant": self.plan.tenant, "project": self.plan.project}

    @property
    def path(self) -> dict[str, str | int]:
        """The instance."""
        return {**self.place, "instance_id": self.instance_id}

    @property
    def facts(self) -> CheckFacts:
        """What was heard of it so far."""
        return self._read(self.listener.rows(self.instance_id))

    def _read(self, rows: list[ToldRow]) -> CheckFacts:
        version = self.plan.version
        return tell_facts(rows, version=version, operator=self.principal, kills=self.kills)

    def live(self) -> None:
        """All of it, as far as it comes."""
        self.create()
        self.provoke_failure()
        if self.plan.target is not None:
            self.tell(f"upgrading from {self.plan.start} to {self.plan.target}")
            change = InstanceChange(version=self.plan.target)
            self._step(LifeStep.UPGRADE, lambda: self._change(change), again=True)
            self.tell(f"rolling back to {self.plan.start}")
            self._step(LifeStep.ROLLBACK, lambda: self._change(InstanceChange(rollback=True)))
        self.tell("deleting")
        self._step(LifeStep.DELETE, self._delete)

    def create(self) -> None:
        """Have an instance, and wait until it runs."""
        plan = self.plan
        self.tell(f"running {plan.app} {plan.start}")
        body = NewInstance(
            name=plan.name,
            app=plan.app,
            version=plan.start,
            parameters=dict(plan.parameters),
            counts=dict(plan.counts),
        )
        number = self.client.send(INSTANCE_CREATE, path=self.place, body=body).instance_id
        assert number is not None  # it was no dry run
        self.instance_id = number
        if self.operator is not None:
            self.operator.start()
        self._wait(self._is_seen_running, "it did not run")

    def provoke_failure(self) -> None:
        """End all of its members while nothing new is begun, and let it come back."""
        self.tell("provoking a failure")
        self._change(InstanceChange(is_paused=True))
        members = self.client.pages(INSTANCE_MEMBER_LIST, path=self.path).items
        for job_id in [each.job_id for each in members if each.job_id is not None]:
            with suppress(Refusal):  # it may have ended, or be another's to cancel
                self.client.send(JOB_CANCEL, path={"job_id": job_id})

        def has_failed(rows: list[ToldRow]) -> bool:
            return any(e.event is LifecycleEvent.FAILED for e in self._read(rows).reached)

        limit_s = min(FAILURE_S, self.plan.timeout_s)
        self.listener.wait(self.instance_id, has_failed, timeout_s=limit_s)
        self._change(InstanceChange(is_paused=False))
        self._wait(self._is_seen_running, "it did not come back")

    def _is_seen_running(self, rows: list[ToldRow]) -> bool:
        """It runs as is wanted now, and its operator (if there is one) said so, as whomever."""
        moves = [row for row in rows if row.kind == "app_instance_moved"]
        changes = [row for row in rows if row.kind == "app_instance_changed"]
        generation = max([1, *(row.body["generation"] for row in changes)])
        if not moves or moves[-1].body["phase"] != InstancePhase.RUNNING:
            return False
        facts = self._read(rows)
        is_seen = self.operator is None or facts.acts + facts.strangers > 0
        return is_seen and moves[-1].body["generation"] == generation

    # -- under kill -9 -----------------------------------------------------------------------

    def _step(self, step: LifeStep, ask: Callable[[], int], *, again: bool = False) -> None:
        if self.operator is not None:
            self.operator.stop()
        asked = ask()
        if self.operator is not None:
            self._kill(step, asked)
            if again:
                self._kill_at_work(step)

        def has_ended(rows: list[ToldRow]) -> bool:
            return any(e.step is step and e.ended_seq for e in self._read(rows).steps)

        self._wait(has_ended, f"its {step} did not end")

    def _kill(self, step: LifeStep, asked: int) -> None:
        assert self.operator is not None
        self.operator.kill()
        rows = self.listener.rows(self.instance_id)
        self.kills.append(OperatorKill(step, max(asked, *(row.seq for row in rows))))
        self.operator.start()

    def _kill_at_work(self, step: LifeStep) -> None:
        """OperatorKill it at the first thing that it does, unless all is done by then."""
        since = self.kills[-1].seq

        def has_acted(rows: list[ToldRow]) -> bool:
            return any(row.seq > since and row.actor == self.principal for row in rows)

        limit_s = min(ACT_S, self.plan.timeout_s)
        if self.listener.wait(self.instance_id, has_acted, timeout_s=limit_s):
            self._kill(step, since)

    def _wait(self, until: Callable[[list[ToldRow]], bool], told: str) -> None:
        limit_s = self.plan.timeout_s
        if not self.listener.wait(self.instance_id, until, timeout_s=limit_s):
            ended = self.operator is not None and self.operator.has_ended
            why = "; its operator has ended by itself" if ended else ""
            raise Stalled(f"{told} within {limit_s:.0f} s{why}")

    def _change(self, change: InstanceChange) -> int:
        done = self.client.send(INSTANCE_CHANGE, path=self.path, body=change)
        return done.seq or 0

    def _delete(self) -> int:
        return self.client.send(INSTANCE_DELETE, path=self.path).seq or 0
