"""What happened to use that apps tell of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.apps.units.book import UsageClaim
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import Body


@dataclass(frozen=True, slots=True)
class AppUsageReported:
    """A source told that so much of a unit was used."""

    kind: ClassVar = RecordKind.APP_USAGE_REPORTED
    owner: Owner
    instance_id: int
    app: str
    source: str
    sequence: int
    claim: UsageClaim

    def body(self) -> Body:
        """All of it."""
        told: Body = {
            "instance_id": self.instance_id,
            "app": self.app,
            "usage_source": self.source,
            "sequence": self.sequence,
            "unit": self.claim.unit,
            "quantity": self.claim.quantity,
            "from_ms": self.claim.from_ms,
            "to_ms": self.claim.to_ms,
        }
        key = self.claim.component_key
        return told if key is None else told | {"component_key": key}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        window = body["from_ms"], body["to_ms"]
        claim = UsageClaim(body["unit"], body["quantity"], *window, body.get("component_key"))
        whose = body["instance_id"], body["app"]
        return cls(owner, *whose, body["usage_source"], body["sequence"], claim)
