"""Apps and their versions, who may use them how, and the artifacts that they are made of.

Rules:

- An app is known by its slug, one of a tenant by the tenant's name, a dot and its slug: two tenants
  may have apps of one name, and neither learns of the other's. No slug has a dot.
- A version stays what it is; only its life and what the fleet granted it change.
- An artifact is known by its digest at a scope: to register bytes tells nothing of who else did.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from bailiwick.apps.artifacts import Artifact, ArtifactSource, Resolution, Usable, resolve
from bailiwick.apps.manifest import Manifest
from bailiwick.apps.overlays import EffectivePolicy, Overlay, PolicyLine, fold
from bailiwick.apps.readiness.judge import ConditionFinding
from bailiwick.apps.reading import read_canonical
from bailiwick.apps.status import InstanceStatus, InstanceTimes, conditions, tally
from bailiwick.apps.webhooks import Webhook
from bailiwick.iam import Scope
from bailiwick.kernel.apps.instances import AppInstance, HeldInstance, InstanceBook
from bailiwick.kernel.apps.names import publisher_of
from bailiwick.kernel.apps.shared.book import SharedBook
from bailiwick.vocab.apps import (
    AppLifecycle,
    AppVisibility,
    ControlPlaneScope,
    PolicyAxis,
    PullFault,
)
from bailiwick.vocab.errors import NotFound
from bailiwick.vocab.readiness import Readiness

_A = PolicyAxis

APPS_MAX = 1_000
VERSIONS_MAX = 100
"""Of one app."""
ENTITLEMENTS_MAX = 100_000
SOURCES_MAX = 1_000
ARTIFACTS_MAX = 100_000
CREDENTIALS_MAX = 100_000
CREDENTIAL_TTL_MS_MAX = 900_000
"""No leave to pull lasts longer."""


_read = lru_cache(maxsize=256)(read_canonical)


@dataclass(frozen=True, slots=True)
class CatalogVersion:
    """One version of an app."""

    version: str
    digest: str
    canonical: str
    lifecycle: AppLifecycle
    published_ms: int
    upgrades: tuple[tuple[str, str], ...] = ()
    host_granted: bool = False
    """Whether the fleet lets its members do more than a sandbox lets them."""

    @property
    def manifest(self) -> Manifest:
        """What was published."""
        return _read(self.canonical)


@dataclass(frozen=True, slots=True)
class CatalogApp:
    """An app: who sees it, and how far it has come."""

    name: str
    visibility: AppVisibility
    lifecycle: AppLifecycle
    revision: int = 1

    @property
    def publisher(self) -> Scope:
        """Whose it is."""
        return Scope(publisher_of(self.name))

    def is_seen_by(self, scope: Scope) -> bool:
        """Whether the catalog of a scope has it; what is no more than a draft is its maker's."""
        if self.is_home_of(scope):
            return True
        return self.visibility is AppVisibility.PUBLIC and self.lifecycle is not AppLifecycle.DRAFT

    def is_home_of(self, scope: Scope) -> bool:
        """Whether a scope is its publisher's, or the fleet: drafts are for those alone."""
        tenant = self.publisher.tenant
        return scope.tenant is None or (tenant is not None and tenant == scope.tenant)


@dataclass(frozen=True, slots=True)
class Entitlement:
    """A line about an app at a scope."""

    enabled: bool
    overlay: Overlay
    revision: int = 1

    @property
    def narrows_places(self) -> bool:
        """Whether it says something of regions or SKUs."""
        lists = (self.overlay.allow, self.overlay.deny)
        return any(axis in each for each in lists for axis in (_A.REGIONS, _A.SKUS))


@dataclass(frozen=True, slots=True, kw_only=True)
class PullCredential:
    """Leave for somebody to pull one artifact while an operation goes on; not what he shows."""

    credential_id: str
    scope: Scope
    """The project of the instance."""
    instance_id: int
    operation_id: int
    digest: str
    audience: str
    expires_ms: int


@dataclass(frozen=True, slots=True)
class AppCheck:
    """What the last check of a version found."""

    verdict: Readiness
    findings: tuple[ConditionFinding, ...]
    evidence_digest: str
    at_ms: int


@dataclass(slots=True)
class AppBook:
    """What is known of apps; only ``apply`` changes it."""

    apps: dict[str, CatalogApp] = field(default_factory=dict)
    versions: dict[str, dict[str, CatalogVersion]] = field(default_factory=dict)
    entitlements: dict[tuple[str, Scope], Entitlement] = field(default_factory=dict)
    sources: dict[tuple[Scope, str], ArtifactSource] = field(default_factory=dict)
    artifacts: dict[tuple[Scope, str], Artifact] = field(default_factory=dict)
    webhooks: dict[tuple[Scope, str], Webhook] = field(default_factory=dict)
    instances: InstanceBook = field(default_factory=InstanceBook)
    credentials: dict[str, PullCredential] = field(default_factory=dict)
    """Those that have not run out; the oldest are forgotten when one is added."""
    checks: dict[tuple[str, str], AppCheck] = field(default_factory=dict)
    """The last of each app and version."""
    shared: SharedBook = field(default_factory=SharedBook)
    """What tenants run for several of their projects."""
    narrowing: int = 0
    """How many lines say something of regions or SKUs; it follows from the entitlements."""

    def app(self, name: str) -> CatalogApp:
        """The app by its name."""
        found = self.apps.get(name)
        if found is None:
            raise NotFound("app", name)
        return found

    def version(self, name: str, version: str) -> CatalogVersion:
        """One version of an app."""
        self.app(name)
        found = self.versions[name].get(version)
        if found is None:
            raise NotFound("version", f"{name} {version}")
        return found

    def versions_at(self, name: str, scope: Scope) -> dict[str, CatalogVersion]:
        """The versions of an app that a scope may see; of one that it may not, none is there."""
        app = self.apps.get(name)
        if app is None or not app.is_seen_by(scope):
            raise NotFound("app", name)
        return {
            version: each
            for version, each in self.versions[name].items()
            if each.lifecycle is not AppLifecycle.DRAFT or app.is_home_of(scope)
        }

    def put_line(self, app: str, scope: Scope, *, line: Entitlement) -> None:
        """This is the line about an app at a scope from now on."""
        known = self.entitlements.get((app, scope))
        self.narrowing += line.narrows_places - (known is not None and known.narrows_places)
        self.entitlements[app, scope] = line

    def lines(self, app: str, scope: Scope) -> Iterator[PolicyLine]:
        """The lines about an app that count at a scope, the widest first."""
        for each in reversed(scope.around):
            found = self.entitlements.get((app, each))
            if found is not None:
                is_fleet = each.tenant is None
                yield PolicyLine(str(each), found.enabled, found.overlay, is_fleet)

    def policy(self, app: str, scope: Scope) -> EffectivePolicy:
        """What counts for an app at a scope."""
        return fold([*self.lines(app, scope)])

    def source(self, name: str, scope: Scope) -> ArtifactSource | None:
        """The source of that name that counts at a scope: its tenant's own, or everybody's."""
        own = None if scope.tenant is None else self.sources.get((Scope(scope.tenant), name))
        return own or self.sources.get((Scope(), name))

    def artifact(self, digest: str, scope: Scope) -> Artifact | None:
        """What is known of bytes at a scope or around it, the nearest first."""
        found = (self.artifacts.get((each, digest)) for each in scope.around)
        return next((each for each in found if each is not None), None)

    def resolved(self, held: HeldInstance, digest: str) -> Resolution | None:
        """Whether an instance may use an artifact now; nothing if none of its versions names it.

        Those are the version that is wanted and the one to which it may go back.
        """
        i = held.instance
        scope = Scope(i.tenant, i.project)
        back = i.goes_back_to
        wanted = [i.version, *(() if back is None else (back.version,))]
        for version in wanted:
            refs = self.versions[i.app][version].manifest.artifacts.values()
            ref = next((each for each in refs if each.digest == digest), None)
            if ref is not None:
                source = self.source(ref.source, scope)
                policy = self.policy(i.app, scope)
                return resolve(ref, self.artifact(digest, scope), source=source, policy=policy)
        return None

    def find_fault(
        self, credential: PullCredential, *, audience: str, digest: str, now_ms: int
    ) -> PullFault | None:
        """Why a credential hands an artifact out to nobody now; nothing if it does."""
        if credential.expires_ms <= now_ms:
            return PullFault.EXPIRED
        if credential.audience != audience:
            return PullFault.WRONG_AUDIENCE
        if credential.digest != digest:
            return PullFault.WRONG_DIGEST
        held = self.instances.held.get(credential.instance_id)
        operation = None if held is None else held.operations.get(credential.operation_id)
        if held is None or operation is None or operation.phase.is_ended:
            return PullFault.OPERATION_ENDED
        is_enabled = self.policy(held.instance.app, credential.scope).is_enabled
        usable = isinstance(self.resolved(held, digest), Usable)
        return None if is_enabled and usable else PullFault.NOT_USABLE

    def status(self, held: HeldInstance, now_ms: int) -> InstanceStatus:
        """What is known of an instance at a time."""
        i, facts = held.instance, held.facts
        ready_ms = self.versions[i.app][i.version].manifest.ready_within_ms
        told = conditions(
            facts,
            InstanceTimes(now_ms, i.changed_ms + ready_ms, i.deadline_ms),
            is_paused=i.paused,
            is_entitled=self.policy(i.app, Scope(i.tenant, i.project)).is_enabled,
        )
        return InstanceStatus(i.phase, told, tally(facts))

    def answering(self, scheduler_type: str, tenant: str, *, project: str) -> AppInstance | None:
        """Who serves a project under a scheduler's word: the nearest, of those the oldest.

        What several projects share serves those that are attached to it, and nobody else. What a
        project made for a tenant by itself, behind no runtime, serves that project alone.
        """
        for scope in Scope(tenant, project).around:
            for number in self.instances.answers.get((scheduler_type, scope), ()):
                found = self.instances.held[number].instance
                own = Scope(found.tenant, found.project)
                is_wide = found.scope is ControlPlaneScope.TENANT and found.project != project
                if is_wide and self.shared.behind(number) is None:
                    continue  # nobody but its own project consented
                if not self.shared.serves(number, project):
                    continue  # attached to nothing unless somebody said so, twice
                if not found.is_leaving and self.policy(found.app, own).is_enabled:
                    return found
        return None
