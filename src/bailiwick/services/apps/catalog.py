"""The catalog of apps: read by whoever may see them, changed by those who publish.

Rules:

- An app that nobody outside may see is as if it were not there: to those, and in lists. A version
  that is a draft is its publisher's alone.
- A tenant publishes under its own name. That everybody sees an app is the fleet's to say.
- What lets work out of its sandbox is granted by a person who runs the fleet, never by a program.
"""

from __future__ import annotations

from json import loads
from typing import NamedTuple

from bailiwick.apps.reading import load_manifest
from bailiwick.apps.semver import order
from bailiwick.iam import FLEET, Permission, PrincipalKind, Scope
from bailiwick.kernel import Done
from bailiwick.kernel.apps.book import AppBook, AppCheck, CatalogApp, CatalogVersion
from bailiwick.kernel.apps.commands import ChangeApp, PublishApp
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller
from bailiwick.services.pages import Rows, page_of
from bailiwick.vocab.apps import AppLifecycle, AppVisibility


class AppRow(NamedTuple):
    """An app, its newest version that the caller may see, and how many there are."""

    app: CatalogApp
    title: str
    newest: str
    versions: int


class VersionRow(NamedTuple):
    """A version of an app."""

    app: str
    version: CatalogVersion
    check: AppCheck | None
    """What its last check found."""


class AppChangeTerms(NamedTuple):
    """What to change of an app; with ``revision`` only if it is still at that one."""

    lifecycle: AppLifecycle | None
    visibility: AppVisibility | None
    revision: int | None


async def page_apps(caller: Caller, *, after: str | None, limit: int) -> Rows[AppRow]:
    """The apps that the caller may see."""
    caller.require_within(FLEET)

    def read(view: View) -> Rows[AppRow]:
        book = view.state.apps
        seen = (each for each in book.apps.values() if may_see(caller, each))
        rows, cursor = page_of(seen, after=after, limit=limit, key=lambda each: each.name)
        return [_row(caller, book, each) for each in rows], cursor

    return await caller.read(read)


async def read_app(caller: Caller, app: str) -> AppRow:
    """One app."""
    found = await _find(caller, app)
    return await caller.lookup(lambda view: _row(caller, view.state.apps, found))


async def page_versions(
    caller: Caller, app: str, *, after: str | None, limit: int
) -> Rows[VersionRow]:
    """The versions of an app that the caller may see."""
    found = await _find(caller, app)

    def read(view: View) -> Rows[VersionRow]:
        book = view.state.apps
        rows = (
            VersionRow(app, each, book.checks.get((app, each.version)))
            for each in _versions(caller, book, found)
        )
        return page_of(rows, after=after, limit=limit, key=lambda row: row.version.version)

    return await caller.read(read)


async def read_version(caller: Caller, app: str, *, version: str) -> VersionRow:
    """One version, with what was published."""
    found = await _find(caller, app)

    def look(view: View) -> VersionRow | None:
        seen = _versions(caller, view.state.apps, found)
        known = next((each for each in seen if each.version == version), None)
        check = view.state.apps.checks.get((app, version))
        return None if known is None else VersionRow(app, known, check)

    return await caller.locate(look)


async def publish(
    caller: Caller,
    document: str,
    *,
    tenant: str | None,
    visibility: AppVisibility,
    is_draft: bool,
) -> Done:
    """Publish a version; a mistake in its manifest is told with line and column."""
    caller.require(Scope.of(tenant))
    if visibility is AppVisibility.PUBLIC:
        _require_fleet(caller, tenant)
    lifecycle = AppLifecycle.DRAFT if is_draft else AppLifecycle.PUBLISHED
    manifest = load_manifest(document)
    return await caller.change(PublishApp(manifest.canonical, tenant, visibility, lifecycle))


async def change_app(caller: Caller, app: str, *, terms: AppChangeTerms) -> Done:
    """Change how far an app has come, or who sees it."""
    lifecycle, visibility, revision = terms
    command = ChangeApp(app, None, lifecycle, visibility, None, revision)
    await caller.require_at(lambda view: home_of(caller, view.state.apps, app=app), command)
    if visibility is AppVisibility.PUBLIC:
        _require_fleet(caller, app)
    return await caller.change(command)


async def change_version(
    caller: Caller, app: str, *, version: str, lifecycle: AppLifecycle
) -> Done:
    """Change how far one version has come."""
    command = ChangeApp(app, version, lifecycle)
    await caller.require_at(lambda view: home_of(caller, view.state.apps, app=app), command)
    return await caller.change(command)


async def grant_host(caller: Caller, app: str, *, version: str, is_granted: bool) -> Done:
    """Let members of a version do more than a sandbox lets them, or no longer."""
    caller.require(FLEET)
    require_human(caller)
    return await caller.change(ChangeApp(app, version, host_granted=is_granted))


def require_human(caller: Caller) -> None:
    """Go on only for a person: what is decided here, no program decides."""
    if caller.principal.kind is not PrincipalKind.HUMAN:
        message = "a person decides this: service accounts are refused"
        raise caller.refuse(message, reason="service_account_refused")


def may_see(caller: Caller, app: CatalogApp) -> bool:
    """Whether the catalog of a scope where the caller has the key has the app."""
    if caller.may(FLEET):
        return True
    return any(caller.may(scope) and app.is_seen_by(scope) for scope in caller.principal.roles)


def _require_fleet(caller: Caller, whose: str | None) -> None:
    if whose is not None and not caller.holds(Permission.CATALOG_PUBLISH, FLEET):
        message = "that everybody sees an app is the fleet's to say"
        raise caller.refuse(message, reason="public_needs_fleet")


async def _find(caller: Caller, app: str) -> CatalogApp:
    caller.require_within(FLEET)

    def look(view: View) -> CatalogApp | None:
        found = view.state.apps.apps.get(app)
        return found if found is not None and may_see(caller, found) else None

    return await caller.locate(look)


def home_of(caller: Caller, book: AppBook, *, app: str) -> Scope | None:
    """Where an app was published, unless it is hidden from the caller."""
    found = book.apps.get(app)
    if found is None:
        return None
    seen = any(found.is_seen_by(scope) for scope in caller.principal.roles)
    return found.publisher if seen else None


def _versions(caller: Caller, book: AppBook, app: CatalogApp) -> list[CatalogVersion]:
    """Those that the caller may see, the newest first."""
    home = app.publisher
    inside = home.tenant is not None and caller.may_within(home)
    sees_drafts = caller.may(FLEET) or inside
    seen = (
        each
        for each in book.versions[app.name].values()
        if sees_drafts or each.lifecycle is not AppLifecycle.DRAFT
    )
    return sorted(seen, key=lambda each: order(each.version), reverse=True)


def _row(caller: Caller, book: AppBook, app: CatalogApp) -> AppRow:
    seen = _versions(caller, book, app)
    if not seen:  # a public app whose only versions are drafts
        return AppRow(app, "", "", 0)
    return AppRow(app, loads(seen[0].canonical)["title"], seen[0].version, len(seen))
