"""What happened to use of workers between projects: it was told, or is worth something else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from bailiwick.journal.fields import TEXT_MAX
from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.apps.shared.use_commands import SharedUseRow
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import Body


@dataclass(frozen=True, slots=True)
class SharedUseTold:
    """Who used how much on whose workers in a time."""

    kind: ClassVar = RecordKind.SHARED_USE_TOLD
    owner: Owner
    runtime_id: int
    runtime: str
    app: str
    instance_id: int
    by: str
    window: tuple[int, int]
    rows: tuple[SharedUseRow, ...]

    def body(self) -> Body:
        """All of it, as lists beside one another."""
        return {
            "runtime_id": self.runtime_id,
            "runtime": self.runtime,
            "app": self.app,
            "instance_id": self.instance_id,
            "told_by": self.by,
            "from_ms": self.window[0],
            "to_ms": self.window[1],
            "users": [row.user for row in self.rows],
            "sources": [row.source for row in self.rows],
            "units": [row.unit for row in self.rows],
            "quantities": [row.quantity for row in self.rows],
        }

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        which = body["runtime_id"], body["runtime"], body["app"], body["instance_id"]
        lists = (body[name] for name in ("users", "sources", "units", "quantities"))
        rows = tuple(SharedUseRow(*row) for row in zip(*lists, strict=True))
        window = body["from_ms"], body["to_ms"]
        return cls(owner, *which, body["told_by"], window, rows)


@dataclass(frozen=True, slots=True)
class SharedSettlementSet:
    """What use of another's workers is worth from now on, and who accepted the rule for it."""

    kind: ClassVar = RecordKind.SHARED_SETTLEMENT_SET
    owner: Owner
    runtime_id: int
    runtime: str
    rates: Mapping[str, int]
    billing_rule: str
    billing_digest: str
    accepted_by: str

    def body(self) -> Body:
        """All of it, with the rule as it is now."""
        text = self.billing_rule
        return {
            "runtime_id": self.runtime_id,
            "runtime": self.runtime,
            "rates": [f"{unit}={micros}" for unit, micros in self.rates.items()],
            "billing_rule": [text[at : at + TEXT_MAX] for at in range(0, len(text), TEXT_MAX)],
            "billing_digest": self.billing_digest,
            "accepted_by": self.accepted_by,
        }

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        pairs = (each.split("=", 1) for each in body["rates"])
        rates = {unit: int(micros) for unit, micros in pairs}
        told = "".join(body["billing_rule"]), body["billing_digest"], body["accepted_by"]
        return cls(owner, body["runtime_id"], body["runtime"], rates, *told)
