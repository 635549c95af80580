"""Commands about health: what a machine found, how its test went, and to have it tested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.vocab.health import HealthFinding, check_findings
from bailiwick.vocab.values import check_integer, check_kind, check_name

TOOK_MS_MAX = 86_400_000


def _ordered(command: ReportHealth | ReportTest) -> None:
    """One set of findings is one command, in whatever order they were told."""
    found = check_findings("findings", tuple(command.findings))
    object.__setattr__(command, "findings", found)


@dataclass(frozen=True, slots=True)
class ReportHealth:
    """A node's agent tells all that is wrong with its machine now, and whether it can test it."""

    node: str
    findings: tuple[HealthFinding, ...] = ()
    can_test: bool = False

    def __post_init__(self) -> None:
        check_name("node", self.node)
        check_kind("can_test", self.can_test, bool)
        _ordered(self)


@dataclass(frozen=True, slots=True)
class ReportTest:
    """A node's agent has carried a test out: all that it found, which may be nothing."""

    node: str
    test_id: int
    findings: tuple[HealthFinding, ...] = ()
    took_ms: int = 0

    def __post_init__(self) -> None:
        check_name("node", self.node)
        check_integer("test_id", self.test_id, low=0, high=INTEGER_MAX)
        check_integer("took_ms", self.took_ms, low=0, high=TOOK_MS_MAX)
        _ordered(self)


@dataclass(frozen=True, slots=True)
class BeginTest:
    """Have a node tested that is empty; one that takes work is closed for as long."""

    node: str

    def __post_init__(self) -> None:
        check_name("node", self.node)


HealthCommand: TypeAlias = ReportHealth | ReportTest | BeginTest
