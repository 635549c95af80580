"""Who may submit work to whose queues of a shared runtime, and from which record that follows.

Rules:

- Denied by default. Who belongs to an attached project submits to the queues of that project.
- To use the queues of another project takes a policy of that project: it names a project or a
  person, one queue, limits, and until when. Both projects have to be attached.
- A policy counts before its end, never at it. Of several that allow the same, the one that lasts
  longest is told; of those, the first by name.
- What a queue is called and what a limit means is the app's own; nothing here reads it.

>>> facts = SubmitFacts({"vision": 7, "audio": 9})
>>> may_submit(facts, SubmitWish("ann", "vision", "vision", "day"), now_ms=5)
SubmitAllowed(seq=7, policy=None, limits={})
>>> may_submit(facts, SubmitWish("ann", "vision", "audio", "day"), now_ms=5).reason.value
'no_policy'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from bailiwick.vocab.shared import SubmitDenial

_NO = SubmitDenial


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitPolicy:
    """A project lets others use one of its queues, until a time."""

    name: str
    project: str
    """Whose queue it is."""
    queue: str
    until_ms: int
    grantee_project: str | None = None
    grantee_person: str | None = None
    """A project or a person: one of the two."""
    limits: Mapping[str, int] = field(default_factory=dict)
    seq: int = 0
    """The record that set it."""

    def is_for(self, wish: SubmitWish) -> bool:
        """Whether it is about who asks, and about that queue."""
        if (self.project, self.queue) != (wish.owner, wish.queue):
            return False
        if self.grantee_person is not None:
            return self.grantee_person == wish.person
        return self.grantee_project == wish.project


class SubmitWish(NamedTuple):
    """Who would submit: a person of a project, to a queue of a project, which may be his own."""

    person: str
    project: str
    owner: str
    queue: str


@dataclass(frozen=True, slots=True)
class SubmitFacts:
    """What counts of a runtime."""

    attached: Mapping[str, int]
    """The attached projects, and the record that attached each."""
    policies: Iterable[SubmitPolicy] = ()
    is_leaving: bool = False


@dataclass(frozen=True, slots=True)
class SubmitAllowed:
    """Yes: the record it follows from, and the policy with its limits if it takes one."""

    seq: int
    policy: str | None = None
    limits: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SubmitDenied:
    """No: why, and the record that says so, if one does."""

    reason: SubmitDenial
    seq: int | None = None


SubmitAnswer: TypeAlias = SubmitAllowed | SubmitDenied


def may_submit(facts: SubmitFacts, wish: SubmitWish, *, now_ms: int) -> SubmitAnswer:
    """Whether somebody may submit there now."""
    if facts.is_leaving:
        return SubmitDenied(_NO.RUNTIME_LEAVING)
    own = facts.attached.get(wish.project)
    if own is None:
        return SubmitDenied(_NO.NOT_ATTACHED)
    if wish.owner == wish.project:
        return SubmitAllowed(own)
    if wish.owner not in facts.attached:
        return SubmitDenied(_NO.OWNER_NOT_ATTACHED)
    fitting = [each for each in facts.policies if each.is_for(wish)]
    found = min(fitting, key=lambda each: (-each.until_ms, each.name), default=None)
    if found is None:
        return SubmitDenied(_NO.NO_POLICY)
    if now_ms >= found.until_ms:
        return SubmitDenied(_NO.POLICY_ENDED, found.seq)
    return SubmitAllowed(found.seq, found.name, found.limits)
