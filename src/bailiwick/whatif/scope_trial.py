"""What another quota or budget would do at once to those who wait and those who run.

Rules:

- The command is tried on a copy (:mod:`.trial`); then the kernel looks at its line, as it would.
- Told are the requests of the scope itself, by their numbers; of everybody else's leases that would
  have to make room, how many.
- Of the scope's waiting requests the oldest :data:`LOOKED_MAX` are asked whether waiting can still
  help; who would start is known of all of them.
- No more than :data:`TOLD_MAX` of each kind are told one by one; all are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from bailiwick.kernel.commands import Command
from bailiwick.kernel.events import Event
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.kernel.views import waiting_entries
from bailiwick.kernel.work.events import AdmissionApproved
from bailiwick.kernel.work.lease_events import LeaseRevoked
from bailiwick.scheduler.quota_policy import QuotaScope
from bailiwick.vocab.transitions import RevokeState
from bailiwick.whatif.trial import StateTrial

LOOKED_MAX = 50
"""Waiting requests that are asked whether waiting can help."""
TOLD_MAX = 20
"""Numbers that are told of each kind."""


@dataclass(frozen=True, slots=True)
class Some:
    """How many there are, and the numbers of the first of them."""

    count: int = 0
    first: tuple[int, ...] = ()

    @classmethod
    def of(cls, numbers: list[int]) -> Some:
        """These."""
        return cls(len(numbers), tuple(numbers[:TOLD_MAX]))


@dataclass(frozen=True, slots=True)
class ScopeTried:
    """What would come of the change at once."""

    starts: Some
    """Waiting requests of the scope that would start."""
    hopeless: Some
    """Those for which waiting would help no more, and does now."""
    ends: Some
    """Leases of the scope that would be ended."""
    others_end: int
    """Leases of others that would be ended, to make room."""
    looked: int
    """How many waiting requests were asked whether waiting can help."""


class ScopeTrial:
    """A command tried for one scope."""

    def __init__(self, trial: StateTrial, scope: QuotaScope) -> None:
        self.trial, self.scope = trial, scope
        self._asked = list(islice(_waiting(trial.state, scope), LOOKED_MAX))
        before = _hopeless(trial, self._asked)
        self._helped = [i for i in self._asked if i not in before]
        self._events: list[Event] = []

    def do(self, command: Command) -> None:
        """The command takes effect, and nothing else yet."""
        self._events += self.trial.do(command)

    def finish(self) -> ScopeTried:
        """What the kernel then does; the trial is used up."""
        events = [*self._events, *self.trial.look()]
        starts = [
            event.entry_id
            for event in events
            if isinstance(event, AdmissionApproved)
            and event.entry_id is not None
            and is_within(self.scope, event.owner)
            and not event.members_left
        ]
        warned = [
            event
            for event in events
            if isinstance(event, LeaseRevoked)
            and event.before is RevokeState.ACTIVE
            and event.reason is not None
        ]
        ends = [event.lease_id for event in warned if is_within(self.scope, event.owner)]
        left = [i for i in self._helped if i in self.trial.state.line.entries]
        hopeless = Some.of(_hopeless(self.trial, left))
        rest = len(warned) - len(ends)
        return ScopeTried(Some.of(starts), hopeless, Some.of(ends), rest, len(self._asked))


def try_on_scope(trial: StateTrial, command: Command, *, scope: QuotaScope) -> ScopeTried:
    """What the command would do to the scope; the trial is used up."""
    found = ScopeTrial(trial, scope)
    found.do(command)
    return found.finish()


def _hopeless(trial: StateTrial, entry_ids: list[int]) -> list[int]:
    found = waiting_entries(trial.state, entry_ids, now_ms=trial.now_ms)
    return [each.id for each in found if not each.reason.is_transient]


def _waiting(state: State, scope: QuotaScope) -> Iterator[int]:
    for entry in state.line.entries.values():
        if is_within(scope, Owner.of(entry.request)):
            yield entry.id


def is_within(scope: QuotaScope, owner: Owner) -> bool:
    """Whether somebody is the tenant, or is or works in the project."""
    return owner.tenant == scope.tenant and scope.project in (None, owner.project)
