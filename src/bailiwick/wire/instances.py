"""Instances of apps, their members, and the operations on them, on the wire."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue

from bailiwick.vocab.apps import (
    CallPhase,
    CallVerb,
    ControlPlaneScope,
    InstanceCondition,
    InstancePhase,
    MemberAction,
    MemberPhase,
    OperatingMode,
    OperationKind,
    OperationPhase,
)
from bailiwick.wire.answers import Done
from bailiwick.wire.apps import AppName, Version, Word
from bailiwick.wire.base import Amount, Model, Name, Number, Within

METADATA_CHARS_MAX = 4_096
REPLY_BYTES_MAX = 131_072
"""Of what a call is answered with: of each of both texts."""
ROLES_MAX = 16
_Mode = Annotated[OperatingMode, Field(strict=False)]
_Scope = Annotated[ControlPlaneScope, Field(strict=False)]
_Phase = Annotated[InstancePhase, Field(strict=False)]
_MemberPhase = Annotated[MemberPhase, Field(strict=False)]
_OperationPhase = Annotated[OperationPhase, Field(strict=False)]
_Verb = Annotated[CallVerb, Field(strict=False)]
_CallPhase = Annotated[CallPhase, Field(strict=False)]
_Counts = Annotated[dict[Word, Annotated[int, Within(0, 1_000)]], Field(max_length=ROLES_MAX)]
_Parameters = dict[str, JsonValue]
_Metadata = Annotated[str, Field(max_length=METADATA_CHARS_MAX)]
_Reason = Annotated[str, Field(max_length=256)]


# -- instances -------------------------------------------------------------------------------


class NewInstance(Model):
    """An app that a project wants to run: which version, with what, how large."""

    name: Name
    app: AppName
    version: Version
    parameters: _Parameters = Field(default_factory=dict)
    """As the version's schema says; what is left out has its default."""
    counts: _Counts = Field(default_factory=dict)
    """Members by role; a role that is not named has its least."""
    operating_mode: _Mode = OperatingMode.TENANT_DEDICATED
    control_plane_scope: _Scope = ControlPlaneScope.PROJECT
    metadata: _Metadata = ""
    """The operator's own; nobody else reads it."""


class Instance(Model):
    """An app that a project runs; ``revision`` is also its ``ETag``."""

    instance_id: int
    tenant: str
    project: str
    name: str
    app: str
    version: str
    parameters: _Parameters
    counts: dict[str, int]
    """Members that are wanted, by role."""
    ready: dict[str, int]
    """Members that are ready, by role."""
    operating_mode: _Mode
    control_plane_scope: _Scope
    runtime_backend: str
    phase: _Phase
    conditions: list[Annotated[InstanceCondition, Field(strict=False)]]
    """What is out of the ordinary."""
    reason: str | None
    """What its operator said of it last."""
    generation: int
    """How often what is wanted changed."""
    observed_generation: int
    """The newest that its operator has seen to."""
    rollback_version: str | None
    """Where a rollback leads: to what last ran or, if that is wanted, to the version before."""
    is_paused: bool
    deadline_ms: int | None
    """By when it is to be gone, if it is being deleted."""
    created_ms: int
    metadata: str
    revision: int


class InstanceChange(Model):
    """What is wanted from now on; what is left out stays.

    ``version`` upgrades along the paths of the manifest; ``rollback`` goes back to what last ran.
    """

    version: Version | None = None
    rollback: bool = False
    parameters: _Parameters | None = None
    counts: _Counts | None = None
    """Of the roles that are named."""
    is_paused: bool | None = None
    metadata: _Metadata | None = None


class InstanceReport(Model):
    """What the operator sees; ``null`` leaves it to the members."""

    observed_generation: Number
    phase: _Phase | None = None
    """``running``, ``degraded`` or ``failed``."""
    reason: _Reason | None = None
    metadata: _Metadata | None = None


class ForcedDeletion(Model):
    """Why an instance is to be gone although not all of it is known to be."""

    reason: Annotated[str, Field(min_length=10, max_length=256)]


class InstanceDone(Done):
    """It took effect; ``instance_id`` is ``null`` if it was a dry run."""

    instance_id: int | None


# -- what it says of its use -------------------------------------------------------------------


class InstanceUsageReport(Model):
    """So much of a unit was used in ``from_ms <= t < to_ms``; ``sequence`` counts from 1."""

    sequence: Number
    unit: Word
    """One of the version's ``billing_units``."""
    quantity: Annotated[int, Within(0, 10**12)]
    from_ms: Amount
    to_ms: Number
    component_key: Name | None = None
    """The member that used it; else the instance as a whole. A unit is told in one of both ways."""


class UnitTold(Model):
    """What was told of one unit: how much in all, in how many reports, and up to when."""

    unit: str
    component_key: str | None
    quantity: int
    reports: int
    told_until_ms: int


class UsageTeller(Model):
    """A source, and the number of its last report."""

    principal: str
    last_sequence: int


class InstanceUsage(Model):
    """What an instance's operator told of its use, in units of the app."""

    instance_id: int
    app: str
    units: list[UnitTold]
    sources: list[UsageTeller]
    next_sequence: int
    """Of the caller's own next report."""


# -- members ---------------------------------------------------------------------------------


class InstanceMember(Model):
    """One member of an instance: a lease, and a process on its node."""

    member_id: int
    instance_id: int
    role: str
    component_key: str
    """What its operator calls it; it stays when the member is replaced."""
    version: str
    phase: _MemberPhase
    lease_id: int | None
    job_id: int | None
    reason: str | None
    deadline_ms: int | None
    """By when it is to be gone, if it is being drained."""
    source_project: str | None = None
    """The project that contributed it to a shared runtime, and pays for it."""
    changed_ms: int


class InstanceMemberChange(Model):
    """One thing to do with the members of an instance."""

    action: Annotated[MemberAction, Field(strict=False)]
    component_key: Name | None = None
    """What the member is called, or is to be called."""
    role: Word | None = None
    """Of a member that is added."""
    member_id: Number | None = None
    """Instead of what it is called: just this member, and none that came in its place."""


class OperationDone(Done):
    """It took effect as this operation; ``null`` if it was a dry run."""

    operation_id: int | None


# -- operations ------------------------------------------------------------------------------


class InstanceOperation(Model):
    """Work on an instance that takes its time: how far it is, and what came of it."""

    operation_id: int
    instance_id: int
    kind: Annotated[OperationKind, Field(strict=False)]
    phase: _OperationPhase
    title: str
    component_key: str | None
    member_id: int | None
    generation: int | None
    progress: int
    """In hundredths."""
    log: list[str]
    """Its last lines."""
    result: str
    begun_ms: int
    ended_ms: int | None


class NewOperation(Model):
    """Work that the operator begins."""

    title: Annotated[str, Field(min_length=1, max_length=128)]


class OperationProgress(Model):
    """How far work is; never back."""

    progress: Annotated[int, Within(0, 100)] | None = None
    log: Annotated[list[Annotated[str, Field(max_length=256)]], Field(max_length=16)] = Field(
        default_factory=list
    )


class OperationResult(Model):
    """What came of work that the operator began."""

    is_succeeded: bool
    result: Annotated[str, Field(max_length=1_024)] = ""


# -- calls -----------------------------------------------------------------------------------


class NewCall(Model):
    """What an instance is asked: words as a program is given them, and what it reads."""

    argv: Annotated[
        list[Annotated[str, Field(max_length=4_096)]], Field(min_length=1, max_length=128)
    ]
    stdin: Annotated[str, Field(max_length=131_072)] = ""
    within_s: Annotated[int, Within(1, 300)] = 60
    """How long the answer may take."""
    wait_s: Annotated[int, Within(0, 20)] = 20
    """How long this request waits for it."""


class CallReply(Model):
    """What an instance's operator says to a call: how a program would end, and what it wrote."""

    exit_code: Annotated[int, Within(0, 255)]
    stdout: Annotated[str, Field(max_length=REPLY_BYTES_MAX)] = ""
    stderr: Annotated[str, Field(max_length=REPLY_BYTES_MAX)] = ""
    is_truncated: bool = False
    """Whether it wrote more."""


class InstanceCall(Model):
    """A call: who asked, which verb, how far it has come. What was asked is not told."""

    call_id: int
    instance_id: int
    verb: _Verb
    phase: _CallPhase
    principal: str
    correlation_id: str
    asked_ms: int
    expires_ms: int
    reply: CallReply | None


class CallDone(Done):
    """The call that was made; in a dry run none."""

    call: InstanceCall | None


class CallWait(Model):
    """How long to wait for a question."""

    wait_s: Annotated[int, Within(0, 20)] = 0


class CallPart(Model):
    """For which project a shared runtime is asked, and whose queue is meant."""

    project: str
    owner: str
    queue: str | None
    """None: the first of the owner's."""


class TakenCall(Model):
    """A question, for the operator that is to answer it: from whom, and what."""

    call_id: int
    tenant: str
    project: str
    instance_id: int
    verb: _Verb
    principal: str
    correlation_id: str
    argv: list[str]
    stdin: str
    expires_ms: int
    part: CallPart | None = None
    """Of a shared runtime; an instance of a project is asked without."""


class CallTaken(Model):
    """The question that was taken, if there was one."""

    call: TakenCall | None


class InstanceEndpoint(Model):
    """A page or an HTTP interface that members of an instance serve."""

    name: str
    title: str
    role: str
    component_key: str | None
    """Who serves it now; null: nobody is ready to."""


class InstanceEndpoints(Model):
    """Those of an instance, by name; each is below ``endpoints/NAME/``."""

    items: list[InstanceEndpoint]
