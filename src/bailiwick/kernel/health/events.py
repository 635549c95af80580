"""What was found on machines, and what became of their tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.health.spelling import read_findings, spell_findings
from bailiwick.kernel.owner import Fields, OfFleet, Owner
from bailiwick.kernel.spelling import Body
from bailiwick.vocab.health import (
    HealthAction,
    HealthFinding,
    NodeTestCause,
    NodeTestOutcome,
)


@dataclass(frozen=True, slots=True)
class NodeHealthChanged(OfFleet):
    """A machine is as its agent tells now; what is done for it, the records that follow tell."""

    kind: ClassVar = RecordKind.NODE_HEALTH_CHANGED
    node: str
    findings: tuple[HealthFinding, ...]
    can_test: bool
    action: HealthAction = HealthAction.NONE

    def body(self) -> Body:
        """All that is wrong with the machine, whether it can be tested, and what is done."""
        body: Body = {"node": str(self.node), "findings": spell_findings(self.findings)}
        body["can_test"] = int(self.can_test)
        acts = self.action is not HealthAction.NONE
        return body | {"action": self.action.value} if acts else body

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        action = HealthAction(body.get("action", HealthAction.NONE.value))
        return cls(body["node"], read_findings(body["findings"]), bool(body["can_test"]), action)


@dataclass(frozen=True, slots=True)
class NodeTestBegun(OfFleet):
    """A node's agent is to test its machine; the test's number is this record's."""

    kind: ClassVar = RecordKind.NODE_TEST_BEGUN
    node: str
    test_id: int
    cause: NodeTestCause
    wait_ms: int

    def body(self) -> Body:
        """Why it is tested, and how long that may take."""
        body: Body = {"node": str(self.node), "test_id": self.test_id}
        return body | {"cause": self.cause.value, "wait_ms": self.wait_ms}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        cause = NodeTestCause(body["cause"])
        return cls(body["node"], body["test_id"], cause, body["wait_ms"])


@dataclass(frozen=True, slots=True)
class NodeTestEnded(OfFleet):
    """A test is over: passed, failed by what it found, not answered in time, or called off."""

    kind: ClassVar = RecordKind.NODE_TEST_ENDED
    node: str
    test_id: int
    outcome: NodeTestOutcome
    findings: tuple[HealthFinding, ...] = ()
    took_ms: int | None = None
    """How long the machine worked at it, if it answered."""

    def body(self) -> Body:
        """Which test, how it ended, and what it found."""
        body: Body = {"node": str(self.node), "test_id": self.test_id}
        body |= {"outcome": self.outcome.value, "findings": spell_findings(self.findings)}
        return body if self.took_ms is None else body | {"took_ms": self.took_ms}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        outcome, found = NodeTestOutcome(body["outcome"]), read_findings(body["findings"])
        return cls(body["node"], body["test_id"], outcome, found, body.get("took_ms"))


HealthEvent: TypeAlias = NodeHealthChanged | NodeTestBegun | NodeTestEnded
