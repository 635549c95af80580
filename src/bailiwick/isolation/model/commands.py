"""What is asked of a model: how far to look, and each question with the answer it must have.

>>> parse_scope("steps=8")
CheckScope(jobs=3, steps=8, fault_steps=8)
"""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.isolation.model.faults import Fault
from bailiwick.vocab.errors import InvalidValue

JOBS_MAX = 6
STEPS_MAX = 20


@dataclass(frozen=True, slots=True)
class CheckScope:
    """How far a check looks: so many jobs, and states one after the other."""

    jobs: int = 3
    steps: int = 4
    fault_steps: int = 7
    """A fault is looked for in longer stories than the checks are: it is there, and found soon."""

    def __post_init__(self) -> None:
        for name, value, low, high in (
            ("jobs", self.jobs, 1, JOBS_MAX),
            ("steps", self.steps, 1, STEPS_MAX),
        ):
            if not low <= value <= high:
                raise InvalidValue(f"scope: {name}", value, f"{low} to {high}")


def parse_scope(text: str) -> CheckScope:
    """A scope as typed, such as ``jobs=3,steps=8``."""
    found: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.strip().partition("=")
        if name not in ("jobs", "steps"):
            raise InvalidValue("scope", name, "jobs or steps")
        if not number.isascii() or not number.isdigit() or len(number) > 2:
            raise InvalidValue(f"scope: {name}", number, "a small whole number")
        found[name] = int(number)
    steps = found.get("steps", CheckScope().steps)
    return CheckScope(
        found.get("jobs", CheckScope().jobs), steps, max(steps, CheckScope().fault_steps)
    )


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a model: what it shows, and what must come of it."""

    name: str
    is_check: bool
    expects: bool
    """Whether Alloy must find something."""
    says: str
    rule: str | None = None
    fault: Fault | None = None
    body: str = ""
    steps: str = ""
