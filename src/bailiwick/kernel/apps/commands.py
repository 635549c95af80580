"""Commands about apps: publish one, change its life, say who may use it, name what it is made of.

Rules:

- A manifest comes in its canonical form; what it is was judged when it was read.
- A scope is told by plain names, as everywhere: no tenant means the fleet.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias

from bailiwick.apps.artifacts import KEYS_MAX, check_address, check_key
from bailiwick.apps.manifest import check_digest, check_word
from bailiwick.apps.overlays import Overlay
from bailiwick.apps.reading import read_canonical
from bailiwick.apps.semver import check_version
from bailiwick.iam import Scope
from bailiwick.journal.fields import INTEGER_MAX, NAME, PRINCIPAL
from bailiwick.journal.record import encode_json
from bailiwick.kernel.apps.calls.commands import CallInstance
from bailiwick.kernel.apps.checks.commands import RecordAppCheck
from bailiwick.kernel.apps.endpoints.commands import EndpointCommand
from bailiwick.kernel.apps.instance_commands import InstanceCommand
from bailiwick.kernel.apps.names import check_app
from bailiwick.kernel.apps.shared.commands import SharedCommand
from bailiwick.kernel.apps.units.commands import ReportAppUsage
from bailiwick.kernel.apps.webhooks.commands import DeleteWebhook, SetWebhook
from bailiwick.vocab.apps import (
    AppLifecycle,
    AppVisibility,
    ArtifactKind,
    ArtifactLifecycle,
    ArtifactTrust,
    Channel,
    VerificationReason,
)
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer, check_kind, check_name

SEALED_BYTES_MAX = 60_000
"""Of a manifest as a record writes it."""

_NO_TEXT = re.compile(r"[\ud800-\udfff]")


def _check_revision(revision: int | None) -> None:
    if revision is not None:
        check_integer("revision", revision, low=0, high=INTEGER_MAX)


@dataclass(frozen=True, slots=True)
class PublishApp:
    """A version of an app, of the platform or of a tenant; its first makes the app too."""

    manifest: str
    tenant: str | None = None
    visibility: AppVisibility = AppVisibility.PRIVATE
    lifecycle: AppLifecycle = AppLifecycle.PUBLISHED

    def __post_init__(self) -> None:
        check_kind("manifest", self.manifest, str)
        if _NO_TEXT.search(self.manifest):
            raise InvalidValue("manifest", "(not shown)", "text without lone surrogates")
        size = len(encode_json(self.manifest).encode())
        if size > SEALED_BYTES_MAX:
            expected = f"at most {SEALED_BYTES_MAX}, with quotes and line ends written out"
            raise InvalidValue("manifest", f"{size} bytes", expected)
        read_canonical(self.manifest)
        if self.tenant is not None:
            check_name("tenant", self.tenant)
        check_kind("visibility", self.visibility, AppVisibility)
        check_kind("lifecycle", self.lifecycle, AppLifecycle)
        if self.lifecycle not in (AppLifecycle.DRAFT, AppLifecycle.PUBLISHED):
            raise InvalidValue("lifecycle", self.lifecycle, "draft or published")


@dataclass(frozen=True, slots=True)
class ChangeApp:
    """Change how far an app or one version has come, who sees it, or what it is granted."""

    app: str
    version: str | None = None
    lifecycle: AppLifecycle | None = None
    visibility: AppVisibility | None = None
    host_granted: bool | None = None
    revision: int | None = None

    def __post_init__(self) -> None:
        check_app(self.app)
        if self.version is not None:
            check_version("version", self.version)
        if self.lifecycle is not None:
            check_kind("lifecycle", self.lifecycle, AppLifecycle)
        if self.visibility is not None:
            check_kind("visibility", self.visibility, AppVisibility)
            if self.version is not None:
                raise InvalidValue("visibility", self.visibility, "nothing of one version alone")
        if self.host_granted is not None:
            check_kind("host_granted", self.host_granted, bool)
            if self.version is None:
                raise InvalidValue("version", None, "the version that is granted the host")
        _check_revision(self.revision)


@dataclass(frozen=True, slots=True)
class SetEntitlement:
    """Replace the line about an app at a scope; ``revision`` 0 says that there is none yet."""

    app: str
    enabled: bool
    overlay: Overlay = field(default_factory=Overlay)
    tenant: str | None = None
    project: str | None = None
    revision: int | None = None

    def __post_init__(self) -> None:
        check_app(self.app)
        check_kind("enabled", self.enabled, bool)
        check_kind("overlay", self.overlay, Overlay)
        Scope.of(self.tenant, self.project)
        _check_revision(self.revision)


@dataclass(frozen=True, slots=True)
class SetArtifactSource:
    """Where artifacts may come from: everybody's source, or a tenant's own."""

    source: str
    kind: ArtifactKind
    address: str
    keys: tuple[str, ...] = ()
    is_allowed: bool = True
    tenant: str | None = None

    def __post_init__(self) -> None:
        check_word("source", self.source)
        check_kind("kind", self.kind, ArtifactKind)
        check_kind("address", self.address, str)
        check_address(self.kind, self.address)
        check_kind("is_allowed", self.is_allowed, bool)
        for key in self.keys:
            check_key(check_kind("keys", key, str))
        if len(set(self.keys)) < len(self.keys) or len(self.keys) > KEYS_MAX:
            raise InvalidValue("keys", len(self.keys), f"at most {KEYS_MAX}, each once")
        if self.tenant is not None:
            check_name("tenant", self.tenant)


@dataclass(frozen=True, slots=True)
class RegisterArtifact:
    """Bytes that apps of a scope may be made of; nothing is known of their origin yet."""

    digest: str
    kind: ArtifactKind
    source: str
    tenant: str | None = None
    project: str | None = None

    def __post_init__(self) -> None:
        check_digest("digest", self.digest)
        check_kind("kind", self.kind, ArtifactKind)
        check_word("source", self.source)
        Scope.of(self.tenant, self.project)


@dataclass(frozen=True, slots=True)
class ChangeArtifact:
    """Change an artifact's life, trust or channel; what is ``None`` stays."""

    digest: str
    tenant: str | None = None
    project: str | None = None
    lifecycle: ArtifactLifecycle | None = None
    trust: ArtifactTrust | None = None
    channel: Channel | None = None
    revision: int | None = None
    reason: VerificationReason | None = None
    """What was found of its bytes, where that is why it is trusted or not."""
    key: str | None = None
    """The public key by which it is trusted."""

    def __post_init__(self) -> None:
        check_digest("digest", self.digest)
        Scope.of(self.tenant, self.project)
        if self.reason is not None:
            check_kind("reason", self.reason, VerificationReason)
        if self.key is not None:
            check_key(check_kind("key", self.key, str))
        good = self.trust is ArtifactTrust.VERIFIED
        if (self.reason is not None and self.reason.is_good is not good) or (
            self.key is not None and self.reason is not VerificationReason.SIGNATURE_VALID
        ):
            raise InvalidValue("reason", self.reason, "one that says why it is trusted, or not")
        if self.lifecycle is not None:
            check_kind("lifecycle", self.lifecycle, ArtifactLifecycle)
        if self.trust is not None:
            check_kind("trust", self.trust, ArtifactTrust)
        if self.channel is not None:
            check_kind("channel", self.channel, Channel)
        _check_revision(self.revision)


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueArtifactCredential:
    """Somebody may pull one artifact of an instance while one operation on it goes on.

    The credential itself never comes here: it is made from these, and a key of the server's.
    """

    tenant: str
    project: str
    instance_id: int
    operation_id: int
    digest: str
    audience: str
    credential_id: str
    expires_ms: int

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        check_name("project", self.project)
        check_integer("instance_id", self.instance_id, low=1, high=INTEGER_MAX)
        check_integer("operation_id", self.operation_id, low=1, high=INTEGER_MAX)
        check_digest("digest", self.digest)
        PRINCIPAL.check("audience", self.audience)
        NAME.check("credential_id", self.credential_id)
        check_integer("expires_ms", self.expires_ms, low=1, high=INTEGER_MAX)


CatalogCommand: TypeAlias = (
    PublishApp
    | ChangeApp
    | SetEntitlement
    | SetArtifactSource
    | RegisterArtifact
    | ChangeArtifact
    | IssueArtifactCredential
)
AppCommand: TypeAlias = (
    CatalogCommand
    | InstanceCommand
    | SetWebhook
    | DeleteWebhook
    | ReportAppUsage
    | RecordAppCheck
    | CallInstance
    | EndpointCommand
    | SharedCommand
)
