"""What a reader of records knows so far: of a command whose records still come, and of a lease."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from bailiwick.kernel import commands as cmd
from bailiwick.kernel import trust_commands as tc
from bailiwick.kernel import trust_events as te
from bailiwick.kernel.fleet_events import LeaderElected, QuotaChanged, ShareChanged
from bailiwick.kernel.history import Action, EvictMembers, Member
from bailiwick.kernel.trust_events import TrustEvent
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import PreemptionReason


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
            return cmd.ChangeMode(self.node, self.mode, self.reason, self.grace_ms)
        return cmd.Quarantine(self.node, str(self.trust), self.grace_ms)


def rule_action(event: QuotaChanged | ShareChanged | LeaderElected) -> Action:
    """The command that such an event answers."""
    tenant, project = str(event.owner.tenant), event.owner.project
    match event:
        case QuotaChanged():
            return cmd.SetQuota(tenant, event.quota, project)
        case ShareChanged():
            return cmd.SetShare(tenant, event.share, project)
        case LeaderElected():
            return cmd.Elect(event.epoch, event.leader, event.address)
        case _:
            assert_never(event)


def trust_action(event: TrustEvent) -> Action | None:
    """The command that such an event answers; ``None`` if it is time that brought it about."""
    match event:
        case te.TrustPolicyChanged():
            return tc.SetTrustPolicy(event.policy.text)
        case te.NodeEnrolled():
            keys = dict(event.keys)
            return tc.EnrolNode(event.node, event.evidence_kind, keys, event.identity)
        case te.EnrolmentWithdrawn():
            return tc.WithdrawEnrolment(event.node, event.evidence_kind)
        case te.VerdictSealed(is_lapse=True):
            return None
        case te.VerdictSealed():
            return tc.RecordVerdict(
                event.node,
                event.evidence_kind,
                event.verdict,
                event.evidence,
                event.reason,
                event.valid_until_ms,
                dict(event.claims),
            )
        case _:
            assert_never(event)


@dataclass(slots=True)
class Held:
    """What the reader knows of a lease."""

    member: Member
    expires_ms: int
    noticed: bool = False
    graced: tuple[int, str, str] | None = None
    tearing: tuple[int, int] | None = None
