"""Calls of instances: which instance can be asked, and that the asking is sealed.

Rules:

- Only an instance that is up is asked: one that is not made yet, failed or is going has nobody who
  could answer.
- The record has the verb and a digest. The question itself is kept elsewhere, for minutes.
- Nothing of a call is kept in the state: its number is that of its record.
- Through a shared runtime an instance is asked for a project that has a part in it, and its record
  is that project's. Who has none is refused; so is who would submit to another project's queue
  without a policy of that one. It is the one decision that tells people where they may submit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

from bailiwick.apps.shared.submitting import SubmitAllowed, SubmitDenied, SubmitWish, may_submit
from bailiwick.kernel.apps.calls.commands import CallInstance
from bailiwick.kernel.apps.calls.events import AppInstanceCalled
from bailiwick.kernel.apps.instances import AppInstance
from bailiwick.kernel.events import Event
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.vocab.apps import CallRefusal, InstancePhase
from bailiwick.vocab.errors import InstanceRefused, NotFound, SharedRuntimeRefused

ASKABLE: Final = (InstancePhase.RUNNING, InstancePhase.UPDATING, InstancePhase.DEGRADED)


def decide(state: State, command: CallInstance, *, now_ms: int) -> Iterator[Event]:
    """The record that follows, or why the instance cannot be asked."""
    number, project = command.instance_id, command.project
    if command.runtime is not None:
        project = _check_part(state, command, now_ms=now_ms)
    told = state.apps.instances.get(command.tenant, project, instance_id=number).instance
    check_askable(told)
    what = command.verb, command.digest, command.within_ms
    owner = Owner(command.tenant, command.project)
    yield AppInstanceCalled(owner, number, told.app, *what)


def _check_part(state: State, command: CallInstance, *, now_ms: int) -> str:
    """Refuse who may not ask this runtime for this project; whose the instance behind it is."""
    held = state.apps.shared.get(command.tenant, command.runtime or "")
    if held.runtime.instance_id != command.instance_id:
        raise NotFound("instance", command.instance_id)
    owner = command.owner or command.project
    wish = SubmitWish(command.by or "", command.project, owner, command.queue or "")
    match may_submit(held.facts, wish, now_ms=now_ms):
        case SubmitAllowed():
            return held.runtime.project
        case SubmitDenied(reason):
            told = {"project": command.project, "owner": owner}
            raise SharedRuntimeRefused(reason, held.runtime.name, **told)
        case never:
            assert_never(never)


def check_askable(told: AppInstance) -> None:
    """Refuse an instance in which nobody could answer."""
    if told.phase not in ASKABLE:
        raise InstanceRefused(CallRefusal.NOT_RUNNING, told.name, phase=told.phase.value)


def apply(state: State, event: AppInstanceCalled, at_ms: int) -> None:
    """Nothing is kept of it."""
    del state, event, at_ms
