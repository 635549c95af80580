"""Routes for apps: the catalog, and who may use what how."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Response

from bailiwick.apps.overlays import Overlay
from bailiwick.apps.readiness.evidence import CheckClaims, read_claims
from bailiwick.iam import Scope
from bailiwick.kernel.apps.book import AppCheck as BookCheck
from bailiwick.kernel.apps.spelling import OVERLAY_WORDS, overlay_body, overlay_from
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import (
    IfMatch,
    IfMatchVersion,
    Limit,
    NameCursor,
    RowCursor,
    revision_of,
    spell_page,
)
from bailiwick.server.http.spelling import spell_done
from bailiwick.services.apps import catalog, checks, entitlements
from bailiwick.wire import apps as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.readiness import AppCheck, ConditionFinding, NewAppCheck

PathApp = Annotated[str, Path(pattern=wire.APP_PATTERN)]
PathVersion = Annotated[str, Path(pattern=wire.VERSION_PATTERN)]

# -- catalog ---------------------------------------------------------------------------------


@answers("app.list")
async def list_apps(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.App]:
    """The apps that the caller may see."""
    return spell_page(await catalog.page_apps(asked, after=cursor, limit=limit), _app)


@answers("app.publish")
async def publish_app(asked: Changing, body: wire.NewApp) -> Done:
    """Publish a version from its manifest (YAML or JSON); a version stays what it is.

    The first version makes the app. A mistake in the manifest is told with its line and column.
    """
    done = await catalog.publish(
        asked,
        body.document,
        tenant=body.tenant,
        visibility=body.visibility,
        is_draft=body.is_draft,
    )
    return spell_done(done)


@answers("app.read")
async def read_app(asked: Here, app: PathApp, *, response: Response) -> wire.App:
    """One app; its revision is the ``ETag``."""
    found = await catalog.read_app(asked, app)
    response.headers["etag"] = f'"{found.app.revision}"'
    return _app(found)


@answers("app.change")
async def change_app(
    asked: Changing, app: PathApp, *, body: wire.AppChange, if_match: IfMatch = None
) -> Done:
    """Change how far an app has come, or who sees it."""
    terms = catalog.AppChangeTerms(body.lifecycle, body.visibility, revision_of(if_match))
    return spell_done(await catalog.change_app(asked, app, terms=terms))


@answers("app_version.list")
async def list_versions(
    asked: Here, app: PathApp, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.AppVersion]:
    """The versions of an app, by their spelling."""
    found = await catalog.page_versions(asked, app, after=cursor, limit=limit)
    return spell_page(found, _version)


@answers("app_version.read")
async def read_version(asked: Here, app: PathApp, *, version: PathVersion) -> wire.AppVersionDetail:
    """One version with its manifest, in the form whose SHA-256 is its digest."""
    found = await catalog.read_version(asked, app, version=version)
    told = _version(found).model_dump()
    return wire.AppVersionDetail(**told, manifest=found.version.canonical)


@answers("app_version.change")
async def change_version(
    asked: Changing, app: PathApp, *, version: PathVersion, body: wire.AppVersionChange
) -> Done:
    """Change how far one version has come: published, deprecated, retired."""
    return spell_done(
        await catalog.change_version(asked, app, version=version, lifecycle=body.lifecycle)
    )


@answers("app_version.check")
async def seal_check(
    asked: Changing, app: PathApp, *, version: PathVersion, body: NewAppCheck
) -> AppCheck:
    """Have what a check saw judged and sealed; needs the rights of the app's publisher.

    What the journal knows of it is read there and not believed: a claim that contradicts it is
    refused with ``evidence_contradicted``. ``bailiwick app check`` makes such a check.
    """
    found = await checks.seal_check(asked, app, version=version, claims=lambda: _claims(body))
    return _check(found)


@answers("app_version.grant")
async def grant_host(
    asked: Changing, app: PathApp, *, version: PathVersion, body: wire.HostGrant
) -> Done:
    """Let members of a version do more on their nodes than a sandbox lets them; people only."""
    return spell_done(
        await catalog.grant_host(asked, app, version=version, is_granted=body.is_granted)
    )


# -- entitlements ----------------------------------------------------------------------------


@answers("entitlement.list")
async def list_entitlements(
    asked: Here, *, cursor: RowCursor = None, limit: Limit = 100
) -> Page[wire.Entitlement]:
    """The lines about apps at scopes that the caller may see."""
    found = await entitlements.page_entitlements(asked, after=cursor, limit=limit)
    return spell_page(found, _entitlement)


@answers("entitlement.set")
async def set_entitlement(
    asked: Changing, body: wire.EntitlementChange, *, if_match: IfMatchVersion = None
) -> Done:
    """Replace the line about an app at a project, a tenant or the fleet; people only.

    A line only narrows those above it; one that would broaden is refused. ``If-Match`` names the
    revision of the line that was read, 0 for none.
    """
    done = await entitlements.set_entitlement(
        asked,
        body.app,
        scope=Scope.of(body.tenant, body.project),
        is_enabled=body.is_enabled,
        overlay=lambda: _overlay(body.overlay),
        revision=revision_of(if_match),
    )
    return spell_done(done)


@answers("entitlement.explain")
async def explain_entitlement(asked: Here, body: wire.EntitlementPlace) -> wire.EffectivePolicy:
    """What the lines of the fleet, the tenant and the project say together, with their sources."""
    scope = Scope.of(body.tenant, body.project)
    found = await entitlements.explain(asked, body.app, scope=scope)
    return wire.EffectivePolicy(
        app=found.app,
        tenant=scope.tenant,
        project=scope.project,
        is_enabled=found.policy.is_enabled,
        revision=found.revision,
        lines=[
            wire.EffectiveLine(
                rule=each.rule.value,
                what=each.what,
                values=None if each.values is None else list(each.values),
                sources=list(each.sources),
            )
            for each in found.policy.explain()
        ],
        host_granted=list(found.host_granted),
    )


# -- spelling --------------------------------------------------------------------------------


def _app(found: catalog.AppRow) -> wire.App:
    return wire.App(
        app=found.app.name,
        tenant=found.app.publisher.tenant,
        title=found.title,
        visibility=found.app.visibility,
        lifecycle=found.app.lifecycle,
        newest=found.newest,
        versions=found.versions,
        revision=found.app.revision,
    )


def _version(found: catalog.VersionRow) -> wire.AppVersion:
    version = found.version
    return wire.AppVersion(
        app=found.app,
        version=version.version,
        digest=version.digest,
        lifecycle=version.lifecycle,
        host_asked=version.manifest.asks_host,
        host_granted=version.host_granted,
        published_ms=version.published_ms,
        check=None if found.check is None else _check(found.check),
    )


def _check(found: BookCheck) -> AppCheck:
    return AppCheck(
        verdict=found.verdict,
        conditions=[
            ConditionFinding(
                condition=each.condition,
                state=each.state,
                reason=each.reason,
                numbers=dict(each.numbers),
            )
            for each in found.findings
        ],
        evidence_digest=found.evidence_digest,
        checked_ms=found.at_ms,
    )


def _claims(body: NewAppCheck) -> CheckClaims:
    return read_claims(body.model_dump(mode="json"))


def _overlay(body: wire.Overlay) -> Overlay:
    told = {word: getattr(body, word) for word in OVERLAY_WORDS}
    return overlay_from({word: value for word, value in told.items() if value is not None})


def _entitlement(found: entitlements.EntitlementRow) -> wire.Entitlement:
    return wire.Entitlement(
        app=found.app,
        tenant=found.scope.tenant,
        project=found.scope.project,
        is_enabled=found.line.enabled,
        overlay=wire.Overlay.model_validate(overlay_body(found.line.overlay)),
        revision=found.line.revision,
    )
