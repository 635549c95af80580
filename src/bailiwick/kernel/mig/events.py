"""What happened to changes of MIG profiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.owner import Fields, OfFleet, Owner
from bailiwick.kernel.spelling import Body
from bailiwick.vocab.mig import MigFailure, MigOutcome


@dataclass(frozen=True, slots=True)
class MigChangeBegun(OfFleet):
    """A node is emptied, so that its agent can divide these GPUs; its number is this record's."""

    kind: ClassVar = RecordKind.MIG_CHANGE_BEGUN
    node: str
    change_id: int
    gpus: tuple[int, ...]
    profiles: tuple[str, ...]
    wait_ms: int

    def body(self) -> Body:
        """What is to be made of which GPUs, and how long that may take."""
        wanted = {"gpus": list(self.gpus), "profiles": list(self.profiles)}
        return {"node": str(self.node), "change_id": self.change_id} | (
            wanted | {"wait_ms": self.wait_ms}
        )

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        wanted = tuple(body["gpus"]), tuple(body["profiles"])
        return cls(body["node"], body["change_id"], *wanted, body["wait_ms"])


@dataclass(frozen=True, slots=True)
class MigChangeEnded(OfFleet):
    """A change of MIG profiles is done, or failed of this cause."""

    kind: ClassVar = RecordKind.MIG_CHANGE_ENDED
    node: str
    change_id: int
    cause: MigFailure | None = None

    @property
    def outcome(self) -> MigOutcome:
        """How it ended."""
        return MigOutcome.DONE if self.cause is None else MigOutcome.FAILED

    def body(self) -> Body:
        """Which change, and how it ended."""
        body: Body = {"node": str(self.node), "change_id": self.change_id}
        body["outcome"] = self.outcome.value
        return body if self.cause is None else body | {"cause": self.cause.value}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        cause = body.get("cause")
        told = None if cause is None else MigFailure(cause)
        return cls(body["node"], body["change_id"], told)


MigEvent: TypeAlias = MigChangeBegun | MigChangeEnded
