"""What happened to apps: published, changed, allowed; sources and artifacts."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import ClassVar, Self, TypeAlias

from bailiwick.apps.artifacts import Artifact, ArtifactSource
from bailiwick.apps.overlays import Overlay
from bailiwick.iam import Scope
from bailiwick.journal.fields import TEXT_MAX
from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.apps.book import PullCredential
from bailiwick.kernel.apps.calls.events import AppInstanceCalled
from bailiwick.kernel.apps.checks.events import AppChecked
from bailiwick.kernel.apps.endpoints.events import EndpointEvent
from bailiwick.kernel.apps.instance_events import InstanceEvent
from bailiwick.kernel.apps.shared.events import SharedEvent
from bailiwick.kernel.apps.spelling import (
    bare_digest,
    named_digest,
    overlay_body,
    overlay_from,
)
from bailiwick.kernel.apps.units.events import AppUsageReported
from bailiwick.kernel.apps.webhooks.events import AppWebhookSet
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import Body
from bailiwick.vocab.apps import (
    AppLifecycle,
    AppVisibility,
    ArtifactChange,
    ArtifactKind,
    ArtifactLifecycle,
    ArtifactTrust,
    Channel,
    SourceTier,
    VerificationReason,
)
from bailiwick.vocab.errors import InvalidValue


@dataclass(frozen=True, slots=True)
class AppPublished:
    """A version is in the catalog from now on."""

    kind: ClassVar = RecordKind.APP_PUBLISHED
    owner: Owner
    app: str
    version: str
    manifest: str
    """Its canonical form."""
    lifecycle: AppLifecycle
    visibility: AppVisibility

    @property
    def digest(self) -> str:
        """What the manifest is known by."""
        return named_digest(sha256(self.manifest.encode()).hexdigest())

    def body(self) -> Body:
        """The whole manifest, in pieces, and its digest."""
        text = self.manifest
        return {
            "app": self.app,
            "version": self.version,
            "digest": bare_digest(self.digest),
            "document": [text[at : at + TEXT_MAX] for at in range(0, len(text), TEXT_MAX)],
            "lifecycle": self.lifecycle.value,
            "visibility": self.visibility.value,
        }

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        words = (AppLifecycle(body["lifecycle"]), AppVisibility(body["visibility"]))
        found = cls(owner, body["app"], body["version"], "".join(body["document"]), *words)
        if bare_digest(found.digest) != body["digest"]:
            raise InvalidValue("digest", body["digest"], f"{found.digest}, the manifest's own")
        return found


@dataclass(frozen=True, slots=True)
class AppChanged:
    """One field of an app, or of a version of it, is another now."""

    kind: ClassVar = RecordKind.APP_CHANGED
    owner: Owner
    app: str
    field: str
    before: str
    after: str
    version: str | None = None

    def body(self) -> Body:
        """The field, and both values as text."""
        body: Body = {"app": self.app, "field": self.field}
        body |= {"before": self.before, "after": self.after}
        return body | ({} if self.version is None else {"version": self.version})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        told = (body["app"], body["field"], body.get("before", ""), body.get("after", ""))
        return cls(owner, *told, body.get("version"))


@dataclass(frozen=True, slots=True)
class AppEntitlementSet:
    """This is the line about an app at the owner's scope from now on."""

    kind: ClassVar = RecordKind.APP_ENTITLEMENT_SET
    owner: Owner
    app: str
    enabled: bool
    overlay: Overlay
    revision: int

    def body(self) -> Body:
        """The whole line."""
        body: Body = {"app": self.app, "enabled": int(self.enabled), "revision": self.revision}
        return body | overlay_body(self.overlay)

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        overlay = overlay_from(body)
        return cls(owner, body["app"], bool(body["enabled"]), overlay, body["revision"])


@dataclass(frozen=True, slots=True)
class ArtifactSourceSet:
    """Artifacts may, or may not any more, come from there."""

    kind: ClassVar = RecordKind.ARTIFACT_SOURCE_SET
    owner: Owner
    source: ArtifactSource

    def body(self) -> Body:
        """The whole source; its keys are public."""
        source = self.source
        body: Body = {
            "source": source.name,
            "tier": source.tier.value,
            "artifact_kind": source.kind.value,
            "address": source.address,
            "allowed": int(source.is_allowed),
        }
        return body | ({"keys": list(source.keys)} if source.keys else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        source = ArtifactSource(
            body["source"],
            SourceTier(body["tier"]),
            ArtifactKind(body["artifact_kind"]),
            body["address"],
            tuple(body.get("keys", ())),
            bool(body["allowed"]),
        )
        return cls(owner, source)


@dataclass(frozen=True, slots=True)
class ArtifactChanged:
    """An artifact as it is now, what was changed of it, and what that was before."""

    kind: ClassVar = RecordKind.ARTIFACT_CHANGED
    owner: Owner
    digest: str
    change: ArtifactChange
    artifact_kind: ArtifactKind
    source: str
    lifecycle: ArtifactLifecycle
    trust: ArtifactTrust
    channel: Channel
    before: str | None = None
    reason: VerificationReason | None = None
    """What was found of its bytes, if that is why."""
    key: str | None = None
    """The public key that signed it, if one did."""

    @classmethod
    def of(cls, owner: Owner, artifact: Artifact, *, change: ArtifactChange, before: str) -> Self:
        """What is told of an artifact."""
        a = artifact
        told = (a.kind, a.source, a.lifecycle, a.trust, a.channel)
        return cls(owner, a.digest, change, *told, before or None)

    def body(self) -> Body:
        """All of it, and the change."""
        body: Body = {
            "digest": bare_digest(self.digest),
            "change": self.change.value,
            "artifact_kind": self.artifact_kind.value,
            "source": self.source,
            "lifecycle": self.lifecycle.value,
            "trust": self.trust.value,
            "channel": self.channel.value,
        }
        more = {"before": self.before, "key": self.key}
        if self.reason is not None:
            body["reason"] = self.reason.value
        return body | {name: text for name, text in more.items() if text is not None}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        reason = body.get("reason")
        return cls(
            owner,
            named_digest(body["digest"]),
            ArtifactChange(body["change"]),
            ArtifactKind(body["artifact_kind"]),
            body["source"],
            ArtifactLifecycle(body["lifecycle"]),
            ArtifactTrust(body["trust"]),
            Channel(body["channel"]),
            body.get("before"),
            None if reason is None else VerificationReason(reason),
            body.get("key"),
        )


@dataclass(frozen=True, slots=True)
class ArtifactCredentialIssued:
    """Somebody may pull an artifact for a while; what he shows for it is not here."""

    kind: ClassVar = RecordKind.ARTIFACT_CREDENTIAL_ISSUED
    owner: Owner
    app: str
    credential: PullCredential

    def body(self) -> Body:
        """For whom, for what, for which operation, and until when."""
        held = self.credential
        return {
            "instance_id": held.instance_id,
            "app": self.app,
            "credential_id": held.credential_id,
            "operation_id": held.operation_id,
            "digest": bare_digest(held.digest),
            "audience": held.audience,
            "expires_ms": held.expires_ms,
        }

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        credential = PullCredential(
            credential_id=body["credential_id"],
            scope=Scope(*owner),
            instance_id=body["instance_id"],
            operation_id=body["operation_id"],
            digest=named_digest(body["digest"]),
            audience=body["audience"],
            expires_ms=body["expires_ms"],
        )
        return cls(owner, body["app"], credential)


CatalogEvent: TypeAlias = (
    AppPublished
    | AppChanged
    | AppEntitlementSet
    | ArtifactSourceSet
    | ArtifactChanged
    | ArtifactCredentialIssued
)
AppEvent: TypeAlias = (
    CatalogEvent
    | InstanceEvent
    | AppWebhookSet
    | AppUsageReported
    | AppChecked
    | AppInstanceCalled
    | EndpointEvent
    | SharedEvent
)
