"""Calls of instances: which instance can be asked, and that the asking is sealed.

Rules:

- Only an instance that is up is asked: one that is not made yet, failed or is going has nobody who
  could answer.
- The record has the verb and a digest. The question itself is kept elsewhere, for minutes.
- Nothing of a call is kept in the state: its number is that of its record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bailiwick.kernel.apps.calls.commands import CallInstance
from bailiwick.kernel.apps.calls.events import AppInstanceCalled
from bailiwick.kernel.events import Event
from bailiwick.kernel.state import State
from bailiwick.vocab.apps import CallRefusal, InstancePhase
from bailiwick.vocab.errors import InstanceRefused

ASKABLE: Final = (InstancePhase.RUNNING, InstancePhase.UPDATING, InstancePhase.DEGRADED)


def decide(state: State, command: CallInstance) -> Iterator[Event]:
    """The record that follows, or why the instance cannot be asked."""
    instances, number = state.apps.instances, command.instance_id
    told = instances.get(command.tenant, command.project, instance_id=number).instance
    if told.phase not in ASKABLE:
        raise InstanceRefused(CallRefusal.NOT_RUNNING, told.name, phase=told.phase.value)
    what = command.verb, command.digest, command.within_ms
    yield AppInstanceCalled(told.owner, number, told.app, *what)


def apply(state: State, event: AppInstanceCalled, at_ms: int) -> None:
    """Nothing is kept of it."""
    del state, event, at_ms
