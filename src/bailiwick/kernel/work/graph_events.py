"""What was decided about graphs of tasks; nothing about placement follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import Body
from bailiwick.kernel.work import graph_commands as cmd
from bailiwick.vocab.graphs import FailureCategory, GraphPhase


@dataclass(frozen=True, slots=True)
class GraphSubmitted:
    """A graph of so many tasks was taken up."""

    kind: ClassVar = RecordKind.GRAPH_SUBMITTED
    owner: Owner
    graph_id: int
    tasks: int
    name: str | None = None

    def body(self) -> Body:
        """Which graph, and how large."""
        body: Body = {"graph_id": self.graph_id, "tasks": self.tasks}
        return body if self.name is None else body | {"name": self.name}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["graph_id"], body["tasks"], body.get("name"))


@dataclass(frozen=True, slots=True)
class GraphTaskRetried:
    """An attempt failed, why, and after which pause the next one is made."""

    kind: ClassVar = RecordKind.GRAPH_TASK_RETRIED
    owner: Owner
    graph_id: int
    task: str
    attempt: int
    category: FailureCategory
    pause_ms: int
    exit_code: int | None = None
    reason: str | None = None
    job_id: int | None = None

    def body(self) -> Body:
        """The attempt, why it failed, and the pause."""
        body: Body = {"graph_id": self.graph_id, "task": self.task, "attempt": self.attempt}
        body |= {"category": self.category.value, "pause_ms": self.pause_ms}
        more = {name: getattr(self, name) for name in _MORE}
        return body | {name: value for name, value in more.items() if value is not None}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        more = body.get("exit_code"), body.get("reason"), body.get("job_id")
        told = body["graph_id"], body["task"], body["attempt"], FailureCategory(body["category"])
        return cls(owner, *told, body["pause_ms"], *more)


_MORE = ("exit_code", "reason", "job_id")


@dataclass(frozen=True, slots=True)
class GraphEnded:
    """Nothing is left of a graph."""

    kind: ClassVar = RecordKind.GRAPH_ENDED
    owner: Owner
    graph_id: int
    phase: GraphPhase
    tasks: int
    failed: int

    def body(self) -> Body:
        """How it ended, and how many of its tasks failed."""
        numbers = {"tasks": self.tasks, "failed": self.failed}
        return {"graph_id": self.graph_id, "phase": self.phase.value, **numbers}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        phase = GraphPhase(body["phase"])
        return cls(owner, body["graph_id"], phase, body["tasks"], body["failed"])


GraphEvent: TypeAlias = GraphSubmitted | GraphTaskRetried | GraphEnded


def event_of_graph(command: cmd.GraphCommand) -> GraphEvent:
    """What such a command has sealed."""
    owner = Owner(command.tenant, command.project)
    match command:
        case cmd.NoteGraphSubmitted():
            return GraphSubmitted(owner, command.graph_id, command.tasks, command.name)
        case cmd.NoteGraphTaskRetried():
            return GraphTaskRetried(
                owner,
                command.graph_id,
                command.task,
                command.attempt,
                command.category,
                command.pause_ms,
                command.exit_code,
                command.reason,
                command.job_id,
            )
        case cmd.NoteGraphEnded():
            told = command.phase, command.tasks, command.failed
            return GraphEnded(owner, command.graph_id, *told)
