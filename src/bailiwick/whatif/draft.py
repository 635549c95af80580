"""What a reader of records knows so far: of a command whose records still come, and of a lease."""

from __future__ import annotations

from dataclasses import dataclass, field

from bailiwick.kernel.fleet.commands import ChangeMode
from bailiwick.kernel.trust.commands import Quarantine
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import PreemptionReason
from bailiwick.whatif.history import Action, EvictMembers, Member


@dataclass(slots=True)
class Draft:
    """A command whose records are still coming: whom it evicts, why, and with what grace."""

    at: tuple[int, int]
    node: str | None = None
    mode: NodeMode | None = None
    trust: str | None = None
    members: list[Member] = field(default_factory=list)
    reason: PreemptionReason = PreemptionReason.OPERATOR_DRAIN
    grace_ms: int | None = None

    def may_evict_for(self, reason: PreemptionReason) -> bool:
        """Whether an eviction right behind can be one more of this command."""
        if self.trust is not None:
            return reason is PreemptionReason.POLICY_VIOLATION_RECOVERY
        if self.mode is None or self.members:
            return reason is self.reason
        return not reason.spares_guaranteed

    def graced(self, grace_ms: int, *, capped: bool, usual_ms: int) -> None:
        """A lease got so much grace; if its term cut that short, it may have been more."""
        if grace_ms > usual_ms or (grace_ms < usual_ms and not capped):
            self.grace_ms = max(grace_ms, self.grace_ms or 0)

    def action(self) -> Action:
        """The command as it must have been."""
        if self.node is None:
            return EvictMembers(tuple(self.members), self.reason, self.grace_ms)
        if self.mode is not None:
            return ChangeMode(self.node, self.mode, self.reason, self.grace_ms)
        return Quarantine(self.node, str(self.trust), self.grace_ms)


@dataclass(slots=True)
class DraftLease:
    """What the reader knows of a lease."""

    member: Member
    expires_ms: int
    noticed: bool = False
    graced: tuple[int, str, str] | None = None
    tearing: tuple[int, int] | None = None
