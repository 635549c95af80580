"""Shared runtimes on the wire: an app that a tenant runs for several of its projects."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue

from bailiwick.vocab.apps import InstancePhase, MemberPart, MemberPhase
from bailiwick.vocab.shared import (
    AttachmentPhase,
    ContributionPhase,
    SubmitDenial,
    WorkerAction,
)
from bailiwick.vocab.words import DomainKind
from bailiwick.wire.answers import Done
from bailiwick.wire.apps import AppName, Version, Word
from bailiwick.wire.base import Amount, Model, Name, Number, PrincipalName, Within
from bailiwick.wire.instances import NewCall

WITHDRAW_MS_MAX = 86_400_000
TTL_S_MAX = 12 * 3600
_Counts = Annotated[dict[Word, Annotated[int, Within(0, 1_000)]], Field(max_length=16)]
_Labels = Annotated[dict[Name, Name], Field(max_length=8)]
_Limits = Annotated[dict[Name, Annotated[int, Within(0, 10**12)]], Field(max_length=8)]
_Withdraw = Annotated[int, Within(0, WITHDRAW_MS_MAX)]
_Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_Rates = Annotated[dict[Word, Annotated[int, Within(1, 10**9)]], Field(max_length=8)]
USE_ROWS_MAX = 256


class SharedRuntimeWish(Model):
    """A runtime that a tenant wants to share, and who is to pay for what steers it."""

    runtime: Name
    environment: Name
    project: Name
    """The owner record: it pays for what steers the runtime and for what is reserved in it."""
    app: AppName
    version: Version
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    counts: _Counts = Field(default_factory=dict)
    """Members that the tenant reserves, by role; a role that is not named has its least."""
    controller: _Labels = Field(default_factory=dict)
    """Labels of nodes on which what steers it may run, as the tenant chose; none: any."""
    withdraw_within_ms: _Withdraw = 300_000
    """Within which time a project has a worker back that it withdraws."""
    rates: _Rates = Field(default_factory=dict)
    """Micros that a project owes another for one of a unit on its workers; none: not settled."""


class NewSharedRuntime(SharedRuntimeWish):
    """The same, with the digest of the plan that was accepted."""

    accepted_digest: _Digest


class SharedReservation(Model):
    """Members that the owner record pays for."""

    role: str
    part: Annotated[MemberPart, Field(strict=False)]
    count: int
    shape: dict[str, JsonValue]
    payer: str
    micros_per_hour: int
    """Of all of them, at the prices of now, which are no part of the rule."""
    is_upper_bound: bool
    """Whether it is not known which GPUs they get: then the dearest count."""


class ContributedPrice(Model):
    """What one worker of a role would cost the project that contributes it."""

    role: str
    micros_per_hour: int
    is_upper_bound: bool


class SharedPlan(Model):
    """Who would pay for what; ``digest`` is what a creation has to accept."""

    rule: str
    """The one spelling of the rule, as it would be sealed."""
    digest: str
    reserved: list[SharedReservation]
    contributable: list[str]
    """Roles of which projects may contribute workers, each at its own cost."""
    withdraw_within_ms: int
    currency: str
    contributed: list[ContributedPrice]
    """What one worker of each of those roles would cost its project."""
    rates: dict[str, int]
    """Micros that a project would owe another for one of a unit on its workers."""


class SharedRuntimeRow(Model):
    """A runtime of a tenant."""

    runtime: str
    runtime_id: int
    tenant: str
    environment: str
    owner_project: str
    app: str
    version: str
    phase: Annotated[InstancePhase, Field(strict=False)]
    instance_id: int
    controller: dict[str, str]
    withdraw_within_ms: int
    billing_digest: str
    accepted_by: str
    is_leaving: bool
    created_ms: int
    seq: int
    """The record that this follows from, here as everywhere below."""


class SharedAttachment(Model):
    """A project's part in a runtime, and who consented to it."""

    project: str
    phase: Annotated[AttachmentPhase, Field(strict=False)]
    allowed_by: str | None
    """Who consented for the tenant."""
    accepted_by: str | None
    """Who consented for the project."""
    since_ms: int
    seq: int


class SharedWorker(Model):
    """A worker that a project contributed: on its lease, and at its cost."""

    project: str
    member_id: int
    component_key: str
    role: str
    phase: Annotated[ContributionPhase, Field(strict=False)]
    lease_id: int | None
    deadline_ms: int | None
    """By when it has ended, once it is drained."""
    since_ms: int
    seq: int


class SubmitRight(Model):
    """Who may submit to whose queues, and why; all else is denied."""

    owner: str
    """Whose queues."""
    project: str | None
    person: str | None
    queue: str | None
    """Only this one; none: all of them."""
    policy: str | None
    """None: it is the project's own."""
    limits: dict[str, int]
    until_ms: int | None
    seq: int


class SharedPerson(Model):
    """Somebody who may submit for attached projects, by a role at each of them."""

    principal: str
    projects: list[str]


class SharedParting(Model):
    """Two attached projects that the isolation policy keeps apart, and on what."""

    projects: list[str]
    kinds: list[Annotated[DomainKind, Field(strict=False)]]


class SharedSettlement(Model):
    """What a project owes another for use of its workers."""

    rates: dict[str, int]
    """Micros for one of a unit; what is not named is not settled."""
    accepted_by: str
    since_ms: int
    seq: int


class SharedRuntimeView(Model):
    """A runtime with all that the caller may see of it."""

    runtime: SharedRuntimeRow
    billing_rule: str
    attachments: list[SharedAttachment]
    workers: list[SharedWorker]
    submit_rights: list[SubmitRight]
    people: list[SharedPerson] = Field(default_factory=list)
    """Who may submit for which attached project; the runtime's operator alone is told."""
    parted: list[SharedParting] = Field(default_factory=list)
    """Which projects may not meet where, inside the app too; its operator alone is told."""
    used_until_ms: int | None = None
    """Up to when it was told who used whose workers; null: nothing of it yet."""
    settlement: SharedSettlement | None = None
    """What use of another's workers is worth; null: it is told, and not settled."""


class SharedRuntimeDone(Done):
    """A runtime was made, and which instance is behind it."""

    instance_id: int | None


class WorkerChange(Model):
    """A worker that a project gives, drains or takes back."""

    action: Annotated[WorkerAction, Field(strict=False)]
    component_key: Name
    role: Word | None = None
    """Of a worker to contribute."""
    within_ms: _Withdraw | None = None
    """Until a withdrawn worker ends, if sooner than was agreed."""


class NewSubmitPolicy(Model):
    """Who may use a queue of the project, and until when: a project or a person."""

    queue: Name
    until_ms: Number
    grantee_project: Name | None = None
    grantee_person: PrincipalName | None = None
    limits: _Limits = Field(default_factory=dict)


class SubmitQuestion(Model):
    """Whether the caller may submit to a queue of a project, which may be his own."""

    owner: Name
    queue: Name


class SubmitVerdict(Model):
    """Whether he may, and from which record that follows."""

    is_allowed: bool
    denied: Annotated[SubmitDenial, Field(strict=False)] | None
    policy: str | None
    limits: dict[str, int]
    seq: int | None


class NewSharedSubmit(NewCall):
    """What a shared runtime is asked to take, and into whose queue."""

    owner: Name | None = None
    """Whose queue: another project's takes a policy of that one. Else the caller's project's."""
    queue: Name | None = None
    """Which; else the first. One of another project is named."""


class NewSettlement(Model):
    """What use of another's workers is to be worth; no rates: nothing.

    Without ``accepted_digest`` it is only asked what the rule would be.
    """

    rates: _Rates = Field(default_factory=dict)


class AcceptedSettlement(NewSettlement):
    """The same, with the digest of the rule that was accepted."""

    accepted_digest: _Digest


class SettlementPlan(Model):
    """The rule as it would be; ``digest`` is what has to be accepted."""

    rule: str
    digest: str
    rates: dict[str, int]
    currency: str


class SharedUseEntry(Model):
    """So much of a unit did a project use on workers of a project."""

    user: Name
    source: Name
    unit: Word
    quantity: Annotated[int, Within(1, 10**12)]


class NewSharedUse(Model):
    """All that was used on whose workers in a time that is over; what is not there was not."""

    from_ms: Amount
    to_ms: Number
    rows: Annotated[list[SharedUseEntry], Field(max_length=USE_ROWS_MAX)]


class SharedUseSum(Model):
    """What a project used on a project's workers in a period, and what that comes to."""

    user: str
    source: str
    """Whose the workers are: theirs is the lease, and they pay for it."""
    unit: str
    quantity: int
    beyond: int
    """How much of it is more than those workers held, and so does not count."""
    owed_micros: int
    """What ``user`` owes ``source`` for it; 0 where nothing is settled."""
    reports: int
    seqs: list[int]
    """The records that tell it: the first hundred."""
    first_seq: int
    last_seq: int
    rule_seqs: list[int]
    """The records by which it is worth that."""


class PlacementStep(Model):
    """A record about a lease before it was placed, and the one that placed it."""

    seq: int
    at_ms: int
    kind: str
    reason: str | None
    """Why it was not placed yet, if it was not."""
    detail: str | None


class SharedPlacement(Model):
    """A member of a runtime: where it is, whose lease it has, and by which decisions."""

    member_id: int
    component_key: str
    role: str
    part: Annotated[MemberPart, Field(strict=False)]
    phase: Annotated[MemberPhase, Field(strict=False)]
    project: str
    """Whose the lease is: who contributed it, or the owner record."""
    is_contributed: bool
    lease_id: int | None
    node: str | None
    placed_seq: int | None
    """The record that placed it."""
    steps: list[PlacementStep]
    """What was decided, in order: the last one placed it."""


class SharedBalance(Model):
    """What a project owes in all: less than nothing is what it is owed."""

    project: str
    owed_micros: int


class SharedUsage(Model):
    """Who used what on whose workers of a runtime in a period."""

    runtime: str
    runtime_id: int
    from_ms: int
    to_ms: int
    told_until_ms: int | None
    currency: str
    journal_size: int
    settlement: SharedSettlement | None
    rows: list[SharedUseSum]
    balances: list[SharedBalance]
    """Of the caller's projects; of all projects together they are 0."""


class CredentialUse(Model):
    """That a credential of a runtime was used, and what for; never the credential."""

    credential: Name
    purpose: Name


class NewOperatorToken(Model):
    """For how long the operator of a runtime is let in."""

    ttl_s: Annotated[int, Within(1, TTL_S_MAX)] = 3_600


class OperatorToken(Model):
    """A token that is good for one runtime and the instance behind it; shown this once."""

    token: str | None
    token_id: str
    principal: str
    expires_ms: Amount
