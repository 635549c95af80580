"""Checks of apps on the wire: what who checked says, and what the server says of it.

No field is free text, and every list has a bound: nothing secret has a place here.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bailiwick.vocab.apps import InstanceRefusal
from bailiwick.vocab.readiness import (
    ConditionState,
    ForeignScope,
    LifecycleEvent,
    LifeStep,
    Readiness,
    ReadinessCondition,
    ReadinessReason,
)
from bailiwick.wire.base import Amount, Model, Name, Number, PrincipalName, Within

DIGEST_PATTERN = r"^sha256:[0-9a-f]{64}$"
WORD_PATTERN = r"^[a-z][a-z0-9_-]{0,30}$"
ENDPOINT_PATTERN = r"^[0-9a-f.:\[\]]{2,41}:[0-9]{1,5}$"
ACTION_PATTERN = r"^[a-z_]{1,31}\.[a-z_]{1,31}$"
_Step = Annotated[LifeStep, Field(strict=False)]
_Event = Annotated[LifecycleEvent, Field(strict=False)]
_Endpoint = Annotated[str, Field(pattern=ENDPOINT_PATTERN)]


class WatchedConnections(Model):
    """How often an operator's connections were looked at, and which were not to the server."""

    looks: Amount
    others: Annotated[list[_Endpoint], Field(max_length=16)] = Field(default_factory=list)


class ForeignAnswer(Model):
    """What the operator's account was answered where it has nothing to do."""

    scope: Annotated[ForeignScope, Field(strict=False)]
    action: Annotated[str, Field(pattern=ACTION_PATTERN)]
    status: Annotated[int, Within(100, 599)]


class PolicyAnswer(Model):
    """A line that denied a source, by its record, and what a deployment was answered then."""

    source: Annotated[str, Field(pattern=WORD_PATTERN)]
    seq: Amount
    refusal: Annotated[InstanceRefusal, Field(strict=False)] | None
    """``null``: it was deployed."""


class OperatorKill(Model):
    """The operator was ended with ``kill -9`` when ``seq`` was the newest record."""

    step: _Step
    seq: Amount


class HeardEvent(Model):
    """An event that came over the stream with all names by which it is followed."""

    event: _Event
    seq: Amount


class RunbookCommands(Model):
    """How many commands the runbook names, and how many of them the command line lacks."""

    commands: Annotated[int, Within(0, 64)]
    unknown: Annotated[int, Within(0, 64)]


class NewAppCheck(Model):
    """What who checked a version saw; what was not tried is left out."""

    digest: Annotated[str, Field(pattern=DIGEST_PATTERN)]
    """Of the manifest that was tried."""
    tenant: Name
    project: Name
    instance_id: Number
    first_seq: Amount
    """Between these records all of it happened."""
    last_seq: Amount
    operator: PrincipalName | None = None
    connections: WatchedConnections | None = None
    foreign: Annotated[list[ForeignAnswer], Field(max_length=64)] = Field(default_factory=list)
    heard: Annotated[list[HeardEvent], Field(max_length=5)] = Field(default_factory=list)
    policy: PolicyAnswer | None = None
    kills: Annotated[list[OperatorKill], Field(max_length=8)] = Field(default_factory=list)
    runbook: RunbookCommands | None = None


class ConditionFinding(Model):
    """How one condition stands, why, and the numbers that led to it."""

    condition: Annotated[ReadinessCondition, Field(strict=False)]
    state: Annotated[ConditionState, Field(strict=False)]
    reason: Annotated[ReadinessReason, Field(strict=False)]
    numbers: dict[str, int]


class AppCheck(Model):
    """What a check of a version found, as it is sealed."""

    verdict: Annotated[Readiness, Field(strict=False)]
    conditions: list[ConditionFinding]
    evidence_digest: str
    """SHA-256 of the evidence, which the journal has in full (``app_checked``)."""
    checked_ms: int
    """0: it is not sealed."""
