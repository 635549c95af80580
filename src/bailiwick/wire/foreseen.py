"""What a change would lead to, and what would become of a waiting request if things were otherwise.

A dry run of such a change has a ``consequence``; when it is really done there is none.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import BudgetState, Dimension, HardwareGeneration
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Amount, Model, Within
from bailiwick.wire.denials import Denial
from bailiwick.wire.fleet import Gpu, Held
from bailiwick.wire.work import QueueEntry

_Dimension = Annotated[Dimension, Field(strict=False)]
_Generation = Annotated[HardwareGeneration, Field(strict=False)]

NODES_MAX = 64
"""New nodes that may be supposed."""


class LeavingLease(Model):
    """A lease that would be ended, where it runs, and until when it may.

    Of one that the caller may not read, its number and its tenant's name are not told.
    """

    lease_id: int | None
    tenant: str
    node: str
    until_ms: int


class RoomLeft(Model):
    """Free milli-shares of a generation on nodes that take leases: now, and once all have gone."""

    generation: _Generation
    free_milli: int
    free_after_milli: int


class ModeConsequence(Model):
    """What a change of a node's mode would do."""

    leaving: int
    """Leases that would be ended, with members of their gangs that run elsewhere."""
    elsewhere: int
    """Of these, how many run on other nodes."""
    gangs: int
    """Gangs of which a member would be ended, and so all."""
    staying: int
    """Leases there that would go on until they end by themselves."""
    until_ms: int | None
    """When the last of those that would go has to be gone."""
    leases: list[LeavingLease]
    """The first of them."""
    room: list[RoomLeft]
    """Of the node's generations."""


class ModeSet(Done):
    """A node has another mode; or (dry run) what that would do.

    ``mode`` is told of a node that was opened, or (dry run) would be: ``returning`` is one that is
    tested before it takes work.
    """

    mode: Annotated[NodeMode, Field(strict=False)] | None = None
    consequence: ModeConsequence | None = None


class LabelMoved(Model):
    """What a label of a node said, and says now; null where there is none."""

    key: str
    was: str | None
    now: str | None


class LabelsSet(Done):
    """A node has these labels; or (dry run) would have. ``seq`` is null if it had them already."""

    labels: list[LabelMoved] = Field(default_factory=list)


class TouchedOnes(Model):
    """How many, and the numbers of the first; none are told to one who may not read them."""

    count: int
    first: list[int]


class AtOnce(Model):
    """What the scheduler would do as soon as the change counts."""

    starts: TouchedOnes
    """Waiting requests there that would start."""
    hopeless: TouchedOnes
    """Waiting requests there for which waiting would help no more."""
    ends: TouchedOnes
    """Leases there that would be ended."""
    others_end: int
    """Leases of others that would be ended, to make room."""
    looked: int
    """How many waiting requests were asked whether waiting can help: the oldest."""


class LimitChange(Model):
    """One limit before and after; null where there is none."""

    before: int | None
    after: int | None
    used: int
    over: int
    """What is held above the new limit: it goes on, but is not renewed, and nothing is added."""


class QuotaConsequence(Model):
    """What another quota would do."""

    limits: dict[_Dimension, LimitChange]
    """Those that there are before or after."""
    gpu_limits: dict[_Generation, LimitChange]
    at_once: AtOnce | None
    """Null if it could not be tried: the fleet is too large, or others are trying things."""


class QuotaSet(Done):
    """A tenant or project has another quota; or (dry run) what that would do."""

    consequence: QuotaConsequence | None = None


class SurplusLease(LeavingLease):
    """Such a lease, what it holds, and what its loss is reckoned at.

    A gang's loss is told with its first member.
    """

    project: str | None
    cost: int
    held: Held


class SurplusHeld(Model):
    """By how much one limit is passed, in milli-shares where it is of GPUs: now, and afterwards."""

    over: int
    over_after: int
    """More than nothing where only guaranteed leases are left, or too many would have to go."""


class RebalanceConsequence(Model):
    """Which leases would bring a tenant or project back inside its quota."""

    over: dict[_Dimension, SurplusHeld]
    gpu_over: dict[_Generation, SurplusHeld]
    leaving: int
    """Leases that would be ended, with all members of their gangs."""
    gangs: int
    cost: int
    """What the loss of all is reckoned at; lower priorities and spot leases are cheap."""
    until_ms: int
    """When the last of them has to be gone."""
    leases: list[SurplusLease]
    """The first of them."""


class QuotaRebalanced(Done):
    """Who holds more than its quota was told to give it back; or (dry run) what that would end."""

    consequence: RebalanceConsequence | None = None


class BudgetConsequence(Model):
    """What another budget would do."""

    currency: str
    before_micros: int | None
    """The limit that there is, if there is one."""
    after_micros: int | None
    spent_micros: int | None
    projected_micros: int | None
    """What is spent, and what all that runs would still cost until its terms end."""
    state: Annotated[BudgetState, Field(strict=False)] | None
    """How it would stand; null if there would be none."""
    used_up_ms: int | None
    """When what runs now has used it up; null if it never does within the budget's period."""
    at_once: AtOnce


class BudgetSet(Done):
    """A tenant or project has another budget; or (dry run) what that would do.

    The consequence is null in a dry run too if it could not be tried.
    """

    consequence: BudgetConsequence | None = None


# -- what if ---------------------------------------------------------------------------------


class Supposed(Model):
    """What is supposed about a waiting request: more quota, new nodes, another generation."""

    quota: Annotated[dict[_Dimension, Amount], Field(max_length=6)] = Field(default_factory=dict)
    """So much more than each limit that its project and tenant have."""
    nodes: Annotated[int, Within(0, NODES_MAX)] = 0
    """So many new nodes, each like one that could hold a member of it."""
    generation: _Generation | None = None
    """Asked for instead; then it stands where a new request would."""


class SupposedStart(Model):
    """It would start at once; so many of its members on new nodes."""

    outcome: Literal["starts"]
    members: int
    on_new_nodes: int


class SupposedWait(Model):
    """It would still wait, and why."""

    outcome: Literal["waits"]
    entry: QueueEntry


class SupposedRefusal(Model):
    """As another request it would be refused."""

    outcome: Literal["refused"]
    denied: Denial


class SupposedEnd(Model):
    """It would leave the queue without having run."""

    outcome: Literal["ends"]
    cause: str


SupposedOutcome: TypeAlias = Annotated[
    SupposedStart | SupposedWait | SupposedRefusal | SupposedEnd, Field(discriminator="outcome")
]


class NewNodeKind(Model):
    """What each new node was taken to have: the same as one that is there."""

    resources: Held
    gpus: list[Gpu]


class WhatIf(Model):
    """What would become of a waiting request now if what is supposed were so."""

    supposed: Supposed
    result: SupposedOutcome
    new_node: NewNodeKind | None
    """Null if none was supposed, or no machine of the fleet could hold a member of it."""
