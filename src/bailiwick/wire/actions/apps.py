"""Apps and their versions, who may use them how, and what they are made of."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, PROJECT, Action, Blob, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.apps import (
    App,
    AppChange,
    AppVersion,
    AppVersionChange,
    AppVersionDetail,
    Artifact,
    ArtifactChange,
    ArtifactFetched,
    ArtifactPlace,
    ArtifactQuestion,
    ArtifactResolutions,
    ArtifactSource,
    ArtifactSourceChange,
    ArtifactVerdict,
    EffectivePolicy,
    Entitlement,
    EntitlementChange,
    EntitlementPlace,
    HostGrant,
    NewApp,
    NewArtifact,
    NewPullCredential,
    PullCredential,
)
from bailiwick.wire.base import Page
from bailiwick.wire.readiness import AppCheck, NewAppCheck

_P, _W = Permission, Where
_APP = "/v1/apps/{app}"
_VERSION = _APP + "/versions/{version}"

# fmt: off
APP_LIST = Action(
    "app.list", "List apps", "GET", "/v1/apps",
    _P.CATALOG_READ, _W.ROWS, NOTHING, Page[App])
APP_PUBLISH = Action(
    "app.publish", "Publish a version of an app", "POST", "/v1/apps",
    _P.CATALOG_PUBLISH, _W.BODY, NewApp, Done)
APP_READ = Action(
    "app.read", "Read an app", "GET", _APP,
    _P.CATALOG_READ, _W.APP, NOTHING, App)
APP_CHANGE = Action(
    "app.change", "Deprecate, retire, show or hide an app", "PATCH", _APP,
    _P.CATALOG_PUBLISH, _W.APP, AppChange, Done)
APP_VERSION_LIST = Action(
    "app_version.list", "List an app's versions", "GET", _APP + "/versions",
    _P.CATALOG_READ, _W.APP, NOTHING, Page[AppVersion])
APP_VERSION_READ = Action(
    "app_version.read", "Read a version with its manifest", "GET", _VERSION,
    _P.CATALOG_READ, _W.APP, NOTHING, AppVersionDetail)
APP_VERSION_CHANGE = Action(
    "app_version.change", "Publish a draft, deprecate or retire a version", "PATCH", _VERSION,
    _P.CATALOG_PUBLISH, _W.APP, AppVersionChange, Done)
APP_VERSION_CHECK = Action(
    "app_version.check", "Seal a check of a version", "POST", _VERSION + "/checks",
    _P.CATALOG_PUBLISH, _W.APP, NewAppCheck, AppCheck)
APP_VERSION_GRANT = Action(
    "app_version.grant", "Grant a version the host, or take it back", "PUT", _VERSION + "/host",
    _P.HOST_GRANT, _W.FLEET, HostGrant, Done)
ENTITLEMENT_LIST = Action(
    "entitlement.list", "List who may use which apps", "GET", "/v1/entitlements",
    _P.CATALOG_READ, _W.ROWS, NOTHING, Page[Entitlement])
ENTITLEMENT_SET = Action(
    "entitlement.set", "Say who may use an app how", "PUT", "/v1/entitlements",
    _P.ENTITLEMENT_SET, _W.BODY, EntitlementChange, Done)
ENTITLEMENT_EXPLAIN = Action(
    "entitlement.explain", "Explain what counts for an app", "POST", "/v1/entitlements/explain",
    _P.CATALOG_READ, _W.BODY, EntitlementPlace, EffectivePolicy, is_question=True)
ARTIFACT_SOURCE_LIST = Action(
    "artifact_source.list", "List artifact sources", "GET", "/v1/artifact-sources",
    _P.CATALOG_READ, _W.ROWS, NOTHING, Page[ArtifactSource])
ARTIFACT_SOURCE_SET = Action(
    "artifact_source.set", "Set an artifact source", "PUT", "/v1/artifact-sources",
    _P.ARTIFACT_MANAGE, _W.BODY, ArtifactSourceChange, Done)
ARTIFACT_LIST = Action(
    "artifact.list", "List artifacts", "GET", "/v1/artifacts",
    _P.CATALOG_READ, _W.ROWS, NOTHING, Page[Artifact])
ARTIFACT_REGISTER = Action(
    "artifact.register", "Register an artifact by digest", "POST", "/v1/artifacts",
    _P.ARTIFACT_MANAGE, _W.BODY, NewArtifact, Done)
ARTIFACT_CHANGE = Action(
    "artifact.change", "Promote, deprecate, retire, verify or revoke an artifact",
    "PATCH", "/v1/artifacts",
    _P.ARTIFACT_MANAGE, _W.BODY, ArtifactChange, Done)
ARTIFACT_RESOLVE = Action(
    "artifact.resolve", "Explain whether artifacts may be used", "POST", "/v1/artifacts/resolve",
    _P.CATALOG_READ, _W.BODY, ArtifactQuestion, ArtifactResolutions, is_question=True)
ARTIFACT_FETCH = Action(
    "artifact.fetch", "Fetch an artifact to the server", "POST", "/v1/artifacts/fetch",
    _P.ARTIFACT_MANAGE, _W.BODY, ArtifactPlace, ArtifactFetched)
ARTIFACT_VERIFY = Action(
    "artifact.verify", "Fetch an artifact and find out who signed it",
    "POST", "/v1/artifacts/verify",
    _P.ARTIFACT_MANAGE, _W.BODY, ArtifactPlace, ArtifactVerdict)
ARTIFACT_LET_PULL = Action(
    "artifact.let_pull", "Issue a credential for a pull", "POST", PROJECT + "/pull-credentials",
    _P.INSTANCE_UPDATE, _W.PROJECT, NewPullCredential, PullCredential, once=True)
ARTIFACT_PULL = Action(
    "artifact.pull", "Pull an artifact with a credential", "GET", "/v1/artifacts/{digest}/content",
    None, _W.SELF, NOTHING, Blob)
# fmt: on
