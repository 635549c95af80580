"""What happened to shared runtimes.

Rules:

- What a runtime is stands in the tenant's records. What concerns one project stands in that
  project's: a project reads of its own part without reading the tenant's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

from bailiwick.apps.shared.submitting import SubmitPolicy
from bailiwick.journal.fields import TEXT_MAX
from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.apps.shared.book import SharedAttachment, SharedContribution, SharedRuntime
from bailiwick.kernel.apps.shared.use_events import SharedSettlementSet, SharedUseTold
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import Body
from bailiwick.vocab.shared import (
    AttachmentPhase,
    ConsentSide,
    ContributionPhase,
    SubmitPolicyChange,
)


def _pieces(text: str) -> list[str]:
    return [text[at : at + TEXT_MAX] for at in range(0, len(text), TEXT_MAX)]


def _pairs(labels: Mapping[str, str] | Mapping[str, int]) -> list[str]:
    return [f"{key}={value}" for key, value in labels.items()]


def _told(**fields: int | str | list[str] | None) -> Body:
    """Those that say something."""
    return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True)
class SharedRuntimeCreated:
    """A tenant has a runtime, and somebody accepted who pays for what of it."""

    kind: ClassVar = RecordKind.SHARED_RUNTIME_CREATED
    owner: Owner
    runtime: SharedRuntime

    def body(self) -> Body:
        """All of it, the rule that was accepted among it."""
        r = self.runtime
        return {
            "runtime_id": r.id,
            "runtime": r.name,
            "environment": r.environment,
            "owner_project": r.project,
            "app": r.app,
            "instance_id": r.instance_id,
            "controller": _pairs(r.controller),
            "withdraw_within_ms": r.withdraw_within_ms,
            "billing_rule": _pieces(r.billing_rule),
            "billing_digest": r.billing_digest,
            "accepted_by": r.accepted_by,
        }

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        runtime = SharedRuntime(
            id=body["runtime_id"],
            tenant=str(owner.tenant),
            name=body["runtime"],
            environment=body["environment"],
            project=body["owner_project"],
            app=body["app"],
            instance_id=body["instance_id"],
            controller=dict(each.split("=", 1) for each in body["controller"]),
            withdraw_within_ms=body["withdraw_within_ms"],
            billing_rule="".join(body["billing_rule"]),
            billing_digest=body["billing_digest"],
            accepted_by=body["accepted_by"],
        )
        return cls(owner, runtime)


@dataclass(frozen=True, slots=True)
class SharedRuntimeEnded:
    """A runtime is on its way out, or (``gone``) there is nothing left of it."""

    kind: ClassVar = RecordKind.SHARED_RUNTIME_ENDED
    owner: Owner
    runtime_id: int
    runtime: str
    app: str
    instance_id: int
    gone: bool

    def body(self) -> Body:
        """Which one, and how far."""
        return {
            "runtime_id": self.runtime_id,
            "runtime": self.runtime,
            "app": self.app,
            "instance_id": self.instance_id,
            "gone": int(self.gone),
        }

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        which = body["runtime_id"], body["runtime"], body["app"], body["instance_id"]
        return cls(owner, *which, bool(body["gone"]))


@dataclass(frozen=True, slots=True)
class SharedAttachmentChanged:
    """A project's part in a runtime, as it is now, and which side brought that about."""

    kind: ClassVar = RecordKind.SHARED_ATTACHMENT_CHANGED
    owner: Owner
    runtime_id: int
    runtime: str
    attachment: SharedAttachment
    before: AttachmentPhase | None = None
    """``None``: it is new."""
    side: ConsentSide | None = None
    """``None``: it followed from what happened."""

    def body(self) -> Body:
        """All of it."""
        a = self.attachment
        return _told(
            runtime_id=self.runtime_id,
            runtime=self.runtime,
            phase=a.phase.value,
            before=None if self.before is None else self.before.value,
            side=None if self.side is None else self.side.value,
            allowed_by=a.allowed_by,
            accepted_by=a.accepted_by,
        )

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells; when it was, the record says."""
        attachment = SharedAttachment(
            project=str(owner.project),
            phase=AttachmentPhase(body["phase"]),
            allowed_by=body.get("allowed_by"),
            accepted_by=body.get("accepted_by"),
        )
        before = AttachmentPhase(body["before"]) if "before" in body else None
        side = ConsentSide(body["side"]) if "side" in body else None
        return cls(owner, body["runtime_id"], body["runtime"], attachment, before, side)


@dataclass(frozen=True, slots=True)
class SharedContributionChanged:
    """A worker that a project gave, as it is now."""

    kind: ClassVar = RecordKind.SHARED_CONTRIBUTION_CHANGED
    owner: Owner
    runtime_id: int
    runtime: str
    app: str
    instance_id: int
    contribution: SharedContribution

    def body(self) -> Body:
        """All of it."""
        c = self.contribution
        return _told(
            runtime_id=self.runtime_id,
            runtime=self.runtime,
            app=self.app,
            instance_id=self.instance_id,
            member_id=c.member_id,
            component_key=c.component_key,
            role=c.role,
            phase=c.phase.value,
            deadline_ms=c.deadline_ms,
        )

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells; when it was, the record says."""
        contribution = SharedContribution(
            project=str(owner.project),
            member_id=body["member_id"],
            component_key=body["component_key"],
            role=body["role"],
            phase=ContributionPhase(body["phase"]),
            deadline_ms=body.get("deadline_ms"),
        )
        which = body["runtime_id"], body["runtime"], body["app"], body["instance_id"]
        return cls(owner, *which, contribution)


@dataclass(frozen=True, slots=True)
class SubmitPolicySet:
    """A project lets others use one of its queues, or does so no more."""

    kind: ClassVar = RecordKind.SUBMIT_POLICY_SET
    owner: Owner
    runtime_id: int
    runtime: str
    change: SubmitPolicyChange
    policy: SubmitPolicy

    def body(self) -> Body:
        """All of it."""
        p = self.policy
        return _told(
            runtime_id=self.runtime_id,
            runtime=self.runtime,
            change=self.change.value,
            policy=p.name,
            queue=p.queue,
            until_ms=p.until_ms,
            grantee_project=p.grantee_project,
            grantee_person=p.grantee_person,
            limits=_pairs(p.limits) or None,
        )

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        limits = (each.rsplit("=", 1) for each in body.get("limits", ()))
        policy = SubmitPolicy(
            name=body["policy"],
            project=str(owner.project),
            queue=body["queue"],
            until_ms=body["until_ms"],
            grantee_project=body.get("grantee_project"),
            grantee_person=body.get("grantee_person"),
            limits={name: int(limit) for name, limit in limits},
        )
        change = SubmitPolicyChange(body["change"])
        return cls(owner, body["runtime_id"], body["runtime"], change, policy)


@dataclass(frozen=True, slots=True)
class SharedCredentialUsed:
    """Somebody used a credential that the tenant keeps for a runtime; never the credential."""

    kind: ClassVar = RecordKind.SHARED_CREDENTIAL_USED
    owner: Owner
    runtime_id: int
    runtime: str
    credential: str
    purpose: str
    by: str

    def body(self) -> Body:
        """Which one, what for, and who."""
        return {
            "runtime_id": self.runtime_id,
            "runtime": self.runtime,
            "credential": self.credential,
            "purpose": self.purpose,
            "used_by": self.by,
        }

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        which = body["runtime_id"], body["runtime"]
        return cls(owner, *which, body["credential"], body["purpose"], body["used_by"])


SharedEvent: TypeAlias = (
    SharedRuntimeCreated
    | SharedRuntimeEnded
    | SharedAttachmentChanged
    | SharedContributionChanged
    | SubmitPolicySet
    | SharedCredentialUsed
    | SharedUseTold
    | SharedSettlementSet
)
