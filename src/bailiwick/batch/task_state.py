"""How far one task of a run has come: all of a run that has to outlast it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from bailiwick.vocab.graphs import FailureCategory, TaskPhase


class TaskState:
    """How far one task has come."""

    __slots__ = (
        "attempt",
        "category",
        "checkpoint",
        "digest",
        "due_ms",
        "exit_code",
        "failures",
        "outputs",
        "pending",
        "phase",
        "reason",
        "reported",
    )

    def __init__(self, pending: int) -> None:
        self.phase = TaskPhase.BLOCKED
        self.attempt = 0
        """The last that was started; 0 before the first."""
        self.pending = pending
        """How much of what it stands after is not over."""
        self.category: FailureCategory | None = None
        self.reason: str | None = None
        self.exit_code: int | None = None
        self.due_ms: int | None = None
        self.digest: str | None = None
        self.outputs: Mapping[str, str] = {}
        self.checkpoint: str | None = None
        """Where this attempt goes on; the same however often its start is told."""
        self.reported: str | None = None
        """Where the next one would."""
        self.failures: Counter[FailureCategory] | None = None
