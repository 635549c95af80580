"""Apps, their versions, who may use them how, and artifacts, on the wire."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bailiwick.vocab.apps import (
    AppLifecycle,
    AppVisibility,
    ArtifactKind,
    ArtifactLifecycle,
    ArtifactRefusal,
    ArtifactTrust,
    Channel,
    OperatingMode,
    SourceTier,
    VerificationReason,
)
from bailiwick.wire.base import PRINCIPAL_PATTERN, Model, Name, Within
from bailiwick.wire.readiness import AppCheck

MANIFEST_CHARS_MAX = 256 * 1024
APP_PATTERN = r"^([A-Za-z0-9][A-Za-z0-9._-]{0,62}\.)?[a-z]([a-z0-9-]{0,29}[a-z0-9])?$"
VERSION_PATTERN = r"^[0-9A-Za-z.-]{5,63}$"
WORD_PATTERN = r"^[a-z][a-z0-9_-]{0,30}$"
DIGEST_PATTERN = r"^sha256:[0-9a-f]{64}$"

AppName = Annotated[str, Field(pattern=APP_PATTERN)]
Version = Annotated[str, Field(pattern=VERSION_PATTERN)]
Word = Annotated[str, Field(pattern=WORD_PATTERN)]
Digest = Annotated[str, Field(pattern=DIGEST_PATTERN)]
_Lifecycle = Annotated[AppLifecycle, Field(strict=False)]
_Visibility = Annotated[AppVisibility, Field(strict=False)]
_Kind = Annotated[ArtifactKind, Field(strict=False)]
_ArtifactLife = Annotated[ArtifactLifecycle, Field(strict=False)]
_Trust = Annotated[ArtifactTrust, Field(strict=False)]
_Channel = Annotated[Channel, Field(strict=False)]
_Mode = Annotated[OperatingMode, Field(strict=False)]
_Tier = Annotated[SourceTier, Field(strict=False)]
_Names = Annotated[list[Name], Field(max_length=64)]
_Versions = Annotated[list[Version], Field(max_length=64)]
_Words = Annotated[list[Word], Field(max_length=64)]
_Channels = Annotated[list[_Channel], Field(max_length=4)]
_Modes = Annotated[list[_Mode], Field(max_length=2)]


# -- catalog ---------------------------------------------------------------------------------


class App(Model):
    """An app of the catalog; ``revision`` is also its ``ETag``."""

    app: str
    tenant: str | None
    """Who published it; ``null`` for the platform."""
    title: str
    visibility: _Visibility
    lifecycle: _Lifecycle
    newest: str
    versions: int
    revision: int


class NewApp(Model):
    """A version to be published: its manifest, and for a first one who is to see the app."""

    document: Annotated[str, Field(min_length=1, max_length=MANIFEST_CHARS_MAX)]
    tenant: Name | None = None
    visibility: _Visibility = AppVisibility.PRIVATE
    is_draft: bool = False


class AppChange(Model):
    """What to change of an app; what is left out stays."""

    lifecycle: _Lifecycle | None = None
    visibility: _Visibility | None = None


class AppVersion(Model):
    """One version of an app."""

    app: str
    version: str
    digest: str
    lifecycle: _Lifecycle
    host_asked: bool
    host_granted: bool
    published_ms: int
    check: AppCheck | None
    """What the last sealed check of it found."""


class AppVersionDetail(AppVersion):
    """A version with its manifest in canonical form, whose SHA-256 is the digest."""

    manifest: str


class AppVersionChange(Model):
    """How far a version is to have come."""

    lifecycle: _Lifecycle


class HostGrant(Model):
    """Whether members of a version may do more on their nodes than a sandbox lets them."""

    is_granted: bool


class ManifestChange(Model):
    """One place of a manifest, with what stands there in either version; empty: nothing."""

    place: str
    before: str
    after: str


class ManifestDiff(Model):
    """What is different between two versions of an app."""

    app: str
    before: str
    after: str
    changes: list[ManifestChange]


# -- entitlements ----------------------------------------------------------------------------


class Overlay(Model):
    """What a line narrows: lists of what is allowed, lists of what is denied, numbers.

    What is ``null`` is not narrowed; an empty list allows nothing.
    """

    versions: _Versions | None = None
    regions: _Names | None = None
    skus: _Names | None = None
    sources: _Words | None = None
    channels: _Channels | None = None
    operating_modes: _Modes | None = None
    deny_versions: _Versions | None = None
    deny_regions: _Names | None = None
    deny_skus: _Names | None = None
    deny_sources: _Words | None = None
    deny_channels: _Channels | None = None
    deny_operating_modes: _Modes | None = None
    instances_max: Annotated[int, Within(0, 10_000)] | None = None
    members_max: Annotated[int, Within(0, 1_000)] | None = None


class EntitlementPlace(Model):
    """An app, and where: at a project, a tenant, or (without a tenant) over the fleet."""

    app: AppName
    tenant: Name | None = None
    project: Name | None = None


class EntitlementChange(EntitlementPlace):
    """The line about an app that is to count there from now on, as a whole."""

    is_enabled: bool
    overlay: Overlay = Overlay()


class Entitlement(Model):
    """A line about an app; ``revision`` is what ``If-Match`` is held against."""

    app: str
    tenant: str | None
    project: str | None
    is_enabled: bool
    overlay: Overlay
    revision: int


class EffectiveLine(Model):
    """One line of what counts, and from where it comes."""

    rule: str
    """``enabled``, ``allow``, ``deny`` or ``limit``."""
    what: str
    values: list[str] | None
    """``null``: whatever there is."""
    sources: list[str]


class EffectivePolicy(Model):
    """What the lines of the fleet, the tenant and the project say together."""

    app: str
    tenant: str | None
    project: str | None
    is_enabled: bool
    revision: int
    """Of the line at this very place; 0 if there is none."""
    lines: list[EffectiveLine]
    host_granted: list[str]
    """Versions whose members may do more on their nodes than a sandbox lets them."""


# -- artifacts -------------------------------------------------------------------------------


class ArtifactSource(Model):
    """Where artifacts come from: everybody's, or a tenant's own."""

    source: str
    tenant: str | None
    tier: _Tier
    kind: _Kind
    address: str
    keys: list[str]
    is_allowed: bool


class ArtifactSourceChange(Model):
    """A source as it is to be from now on; without a tenant it is everybody's."""

    source: Word
    tenant: Name | None = None
    kind: _Kind
    address: Annotated[str, Field(min_length=1, max_length=512)]
    keys: Annotated[list[Annotated[str, Field(max_length=160)]], Field(max_length=8)] = Field(
        default_factory=list
    )
    is_allowed: bool = True


class Artifact(Model):
    """What is known of some bytes."""

    digest: str
    tenant: str | None
    project: str | None
    kind: _Kind
    source: str
    lifecycle: _ArtifactLife
    trust: _Trust
    channel: _Channel
    revision: int


class NewArtifact(Model):
    """Bytes that apps may be made of, by digest; nothing is known of their origin yet."""

    digest: Digest
    kind: _Kind
    source: Word
    tenant: Name | None = None
    project: Name | None = None


class ArtifactChange(Model):
    """What to change of an artifact; what is left out stays."""

    digest: Digest
    tenant: Name | None = None
    project: Name | None = None
    lifecycle: _ArtifactLife | None = None
    trust: _Trust | None = None
    channel: _Channel | None = None


class ArtifactPlace(Model):
    """An artifact, and where it is registered."""

    digest: Digest
    tenant: Name | None = None
    project: Name | None = None


class ArtifactFetched(Model):
    """An artifact that the server keeps: all its parts, itself first."""

    digest: str
    is_done: bool
    """Not while it is still being fetched: ask again."""
    size_bytes: int = 0
    """Of all parts; 0 in a dry run, which fetches nothing."""
    parts: list[str] = Field(default_factory=list)


class ArtifactVerdict(ArtifactFetched):
    """What was found of an artifact's bytes, and by which key it is trusted."""

    trust: _Trust | None = None
    """As it is sealed now; nothing while it is being fetched."""
    reason: Annotated[VerificationReason, Field(strict=False)] | None = None
    """Why; nothing in a dry run."""
    key: str | None = None


class NewPullCredential(Model):
    """Leave to pull an artifact of an instance while an operation on it goes on."""

    instance_id: Annotated[int, Field(ge=1)]
    operation_id: Annotated[int, Field(ge=1)]
    digest: Digest
    audience: Annotated[str, Field(pattern=PRINCIPAL_PATTERN)] | None = None
    """Who may use it; left out, whoever asks."""
    ttl_s: Annotated[int, Field(ge=1, le=900)] = 300


class PullCredential(Model):
    """A credential for a pull, shown this once."""

    credential_id: str
    credential: str
    """To be shown in ``Artifact-Credential`` by its audience; empty in a dry run."""
    digest: str
    audience: str
    instance_id: int
    operation_id: int
    expires_ms: int


class ArtifactQuestion(Model):
    """Whether what a version is made of may be used there."""

    app: AppName
    version: Version
    tenant: Name
    project: Name | None = None


class ArtifactStep(Model):
    """One thing that was asked of an artifact, and what was found."""

    asked: Annotated[ArtifactRefusal, Field(strict=False)]
    """The refusal that it would be."""
    holds: bool
    """Whether it may go on."""
    found: str


class ArtifactResolution(Model):
    """Whether one artifact of a version may be used, and everything that was asked."""

    name: str
    digest: str
    is_usable: bool
    reason: Annotated[ArtifactRefusal, Field(strict=False)] | None
    steps: list[ArtifactStep]


class ArtifactResolutions(Model):
    """The same for every artifact of a version."""

    app: str
    version: str
    is_usable: bool
    """Whether all of them are."""
    artifacts: list[ArtifactResolution]
