"""The health of machines on the wire: what an agent found, its tests, and what is known of both."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bailiwick.vocab.health import (
    FINDINGS_MAX,
    GPU_MAX,
    NUMBER_MAX,
    HealthAction,
    HealthCheck,
    HealthLevel,
    NodeTestCause,
    NodeTestOutcome,
)
from bailiwick.wire.base import Amount, Model, Within

_Number = Annotated[int, Within(0, NUMBER_MAX)]


class NodeFinding(Model):
    """One thing that is wrong with a machine: ``value`` was found where ``limit`` is the most.

    Without ``gpu`` it is the machine itself. ``code`` is the driver's own number.
    """

    check: Annotated[HealthCheck, Field(strict=False)]
    level: Annotated[HealthLevel, Field(strict=False)]
    gpu: Annotated[int, Within(0, GPU_MAX)] | None = None
    value: _Number = 0
    limit: _Number = 0
    code: _Number = 0


Findings = Annotated[list[NodeFinding], Field(max_length=FINDINGS_MAX)]


class HealthReport(Model):
    """All that is wrong with a machine now, and whether its agent can test it."""

    findings: Findings = Field(default_factory=list)
    can_test: bool = False


class NodeTestReport(Model):
    """What a test found; nothing that fails, and it is passed."""

    test_id: Amount
    findings: Findings = Field(default_factory=list)
    took_ms: Annotated[int, Within(0, 86_400_000)] = 0


class NodeTestOrder(Model):
    """The test that a node's agent is to carry out now; it answers with the same number."""

    test_id: int


class RunningTest(NodeTestOrder):
    """A test that goes on, why, and until when its agent has to answer."""

    cause: Annotated[NodeTestCause, Field(strict=False)]
    begun_ms: int
    due_ms: int


class PastTest(NodeTestOrder):
    """A test that is over; ``fails`` of its findings failed the node."""

    cause: Annotated[NodeTestCause, Field(strict=False)]
    outcome: Annotated[NodeTestOutcome, Field(strict=False)]
    ended_ms: int
    took_ms: int | None = None
    fails: int = 0


class HealthStanding(Model):
    """What is known of a machine's health: findings, the gravest first, and its last tests.

    ``failed_ms`` is since when something fails it, ``closed`` what was done with the node for that.
    """

    findings: list[NodeFinding]
    failed_ms: int | None = None
    can_test: bool = False
    closed: Annotated[HealthAction, Field(strict=False)] = HealthAction.NONE
    test: RunningTest | None = None
    tests: list[PastTest] = Field(default_factory=list)


class NodeTicket(Model):
    """A text for whoever repairs a machine: what was found, since when, and what to do next."""

    node: str
    title: str
    text: str
