"""Words of a machine's health: what is looked at, how bad it is, and how a test ended.

Rules:

- A finding is a check, a level and its numbers; sentences about it are made where people read them.
- ``warn`` is told, and changes nothing. ``fail`` closes the node to new work and has it drained.
- Which machine's readings lead to which finding is its agent's to judge; what follows is decided by
  the kernel.

>>> HealthFinding(HealthCheck.ECC, HealthLevel.FAIL, gpu=3, value=2, limit=0).check.human_summary()
'memory errors that could not be corrected'
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer, check_kind

FINDINGS_MAX: Final = 64
"""Findings of one node; the gravest come first, and what is beyond is left out."""

NUMBER_MAX: Final = 10**15 - 1
"""Fifteen digits, which every record can tell."""

GPU_MAX: Final = 63


class HealthCheck(StrEnum):
    """What is looked at."""

    DRIVER = "driver"
    XID = "xid"
    ECC = "ecc"
    THERMAL = "thermal"
    FABRIC = "fabric"
    DISK = "disk"
    CLOCK = "clock"
    BURN_IN = "burn_in"

    def human_summary(self) -> str:
        """What was found, for a person."""
        return _SUMMARY[self]


_SUMMARY: Final = {
    HealthCheck.DRIVER: "the driver does not answer for a GPU that was there",
    HealthCheck.XID: "the driver reported a fault of a GPU",
    HealthCheck.ECC: "memory errors that could not be corrected",
    HealthCheck.THERMAL: "a GPU is too hot, or slowed down by heat",
    HealthCheck.FABRIC: "a link between GPUs is down or faulty",
    HealthCheck.DISK: "a disk is full, or cannot be written",
    HealthCheck.CLOCK: "the machine's clock is wrong",
    HealthCheck.BURN_IN: "a GPU computed wrongly, or could not compute",
}


EVICTED_BY: Final = "health"
"""Who makes leases go from a machine that failed a check; the rule beside it is that check."""


class HealthLevel(StrEnum):
    """How bad a finding is."""

    WARN = "warn"
    FAIL = "fail"


class NodeTestCause(StrEnum):
    """Why a node is tested."""

    RETURNING = "returning"
    """It is to take work again."""
    IDLE = "idle"
    """It had nothing to do, and was not tested for long."""
    ASKED = "asked"
    """Somebody wants to know."""


class NodeTestOutcome(StrEnum):
    """How a node's test ended."""

    PASSED = "passed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """One thing that is wrong with a machine, with its numbers.

    ``gpu`` is counted as in the node's inventory; ``None`` is the machine itself. ``value`` was
    found where no more than ``limit`` was to be; ``code`` is the driver's own number, if any.
    """

    check: HealthCheck
    level: HealthLevel
    gpu: int | None = None
    value: int = 0
    limit: int = 0
    code: int = 0

    def __post_init__(self) -> None:
        check_kind("check", self.check, HealthCheck)
        check_kind("level", self.level, HealthLevel)
        if self.gpu is not None:
            check_integer("gpu", self.gpu, low=0, high=GPU_MAX)
        for field in ("value", "limit", "code"):
            check_integer(field, getattr(self, field), low=0, high=NUMBER_MAX)

    @property
    def order(self) -> tuple[bool, str, int, int]:
        """By which findings are told: the gravest first."""
        gpu = -1 if self.gpu is None else self.gpu
        return self.level is not HealthLevel.FAIL, self.check.value, gpu, self.code


def check_findings(field: str, findings: tuple[HealthFinding, ...]) -> tuple[HealthFinding, ...]:
    """Findings in their order, none twice and not too many; else an error that names the field."""
    for each in findings:
        check_kind(field, each, HealthFinding)
    keys = [(each.check, each.gpu, each.code) for each in findings]
    if len(findings) > FINDINGS_MAX or len({*keys}) < len(keys):
        raise InvalidValue(field, len(findings), f"at most {FINDINGS_MAX}, and none twice")
    return tuple(sorted(findings, key=lambda each: each.order))


class HealthAction(StrEnum):
    """What is done with a node for what was found on it."""

    NONE = "none"
    """Nothing: it is told, and the node is as it was."""
    DRAIN = "drain"
    """It is closed, and what runs there has to go."""
    HOLD_BACK = "hold_back"
    """It is closed to new work only: too many are drained for their health already."""


def has_failed(findings: tuple[HealthFinding, ...]) -> bool:
    """Whether one of them closes a node."""
    return any(each.level is HealthLevel.FAIL for each in findings)
