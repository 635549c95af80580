"""What is sealed of a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import Body
from bailiwick.vocab.apps import CallVerb


@dataclass(frozen=True, slots=True)
class AppInstanceCalled:
    """An instance was asked something; who asked is the record's own principal."""

    kind: ClassVar = RecordKind.APP_INSTANCE_CALLED
    owner: Owner
    instance_id: int
    app: str
    verb: CallVerb
    digest: str
    within_ms: int

    def body(self) -> Body:
        """All of it; what was asked is nowhere."""
        return {
            "instance_id": self.instance_id,
            "app": self.app,
            "verb": self.verb.value,
            "digest": self.digest,
            "within_ms": self.within_ms,
        }

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        whose = body["instance_id"], body["app"]
        return cls(owner, *whose, CallVerb(body["verb"]), body["digest"], body["within_ms"])
