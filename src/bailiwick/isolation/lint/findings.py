"""What is found about a policy: a closed word, how bad it is, which rule, a sentence and a fix."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LintSeverity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    """Some work can never run."""
    WARNING = "warning"
    """The text hardly says what was meant."""
    NOTE = "note"
    """Nothing is wrong: what to know about it."""


class LintCode(StrEnum):
    """What can be found."""

    CONTRADICTORY = "contradictory"
    UNSATISFIABLE = "unsatisfiable"
    NEVER_TOGETHER = "never_together"
    APART_FROM_ITSELF = "apart_from_itself"
    OVERLAPPING = "overlapping"
    SHADOWED = "shadowed"
    NO_EFFECT = "no_effect"
    UNREACHABLE = "unreachable"
    UNKNOWN_TENANT = "unknown_tenant"
    UNUSED_GROUP = "unused_group"
    EXCEPTION_EXPIRED = "exception_expired"
    EXCEPTION_ENDS_SOON = "exception_ends_soon"
    EXCEPTION_WITHOUT_EFFECT = "exception_without_effect"
    NOT_COMPARED = "not_compared"
    NOT_FORBIDDEN = "not_forbidden"


_ERRORS = (LintCode.CONTRADICTORY, LintCode.UNSATISFIABLE)
_NOTES = (LintCode.NOT_COMPARED, LintCode.NOT_FORBIDDEN)


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One thing to know about a policy."""

    code: LintCode
    rule: str
    """The rule, exception or group that it is about; empty for the policy as a whole."""
    sentence: str
    fix: str = ""
    line: int = 0
    """Where that begins in the text; 0 if it stands in none."""

    @property
    def severity(self) -> LintSeverity:
        """How bad it is."""
        if self.code in _ERRORS:
            return LintSeverity.ERROR
        return LintSeverity.NOTE if self.code in _NOTES else LintSeverity.WARNING
