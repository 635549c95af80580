"""The book of apps in a snapshot; where there is none, nothing is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple
from typing import Any

from bailiwick.apps.artifacts import Artifact, ArtifactSource
from bailiwick.apps.webhooks import Webhook
from bailiwick.iam import Scope
from bailiwick.kernel.apps.book import (
    AppBook,
    AppCheck,
    CatalogApp,
    CatalogVersion,
    Entitlement,
    PullCredential,
)
from bailiwick.kernel.apps.checks.events import findings_body, findings_from
from bailiwick.kernel.apps.guard import stand_guard
from bailiwick.kernel.apps.instance_dump import dump_instances, load_instances, repair_instances
from bailiwick.kernel.apps.instances import InstanceBook
from bailiwick.kernel.apps.shared.book import SharedBook
from bailiwick.kernel.apps.shared.dump import dump_shared, load_shared, repair_shared
from bailiwick.kernel.apps.spelling import overlay_body, overlay_from
from bailiwick.kernel.slice import Plain
from bailiwick.kernel.state import State
from bailiwick.vocab.apps import (
    AppLifecycle,
    AppVisibility,
    ArtifactKind,
    ArtifactLifecycle,
    ArtifactTrust,
    Channel,
    SourceTier,
)
from bailiwick.vocab.clock_repair import ClockRepair
from bailiwick.vocab.readiness import Readiness


def dump(state: State) -> Plain:
    """What is known of apps; of a journal without any, nothing, as before there were apps."""
    book = state.apps
    if book == AppBook():
        return {}
    versions = [
        [
            *(name, each.version, each.digest, each.canonical, each.lifecycle.value),
            *(each.published_ms, [[*path] for path in each.upgrades], int(each.host_granted)),
        ]
        for name, held in book.versions.items()
        for each in held.values()
    ]
    dumped: dict[str, Any] = {
        "apps": [
            [a.name, a.visibility.value, a.lifecycle.value, a.revision] for a in book.apps.values()
        ],
        "versions": versions,
        "entitlements": [
            [app, *scope, int(line.enabled), overlay_body(line.overlay), line.revision]
            for (app, scope), line in book.entitlements.items()
        ],
        "sources": [_source_row(scope, each) for (scope, _), each in book.sources.items()],
        "artifacts": [_artifact_row(scope, each) for (scope, _), each in book.artifacts.items()],
    }
    if book.webhooks:
        rows = book.webhooks.items()
        dumped["webhooks"] = [[*scope, *astuple(each)] for (scope, _), each in rows]
    if book.instances != InstanceBook():
        dumped["instances"] = dump_instances(book.instances)
    if book.shared != SharedBook():
        dumped["shared"] = dump_shared(book.shared)
    if book.credentials:
        dumped["credentials"] = [_credential_row(each) for each in book.credentials.values()]
    if book.checks:
        dumped["checks"] = [_check_row(*key, check=each) for key, each in book.checks.items()]
    return {"apps": dumped}


def _source_row(scope: Scope, source: ArtifactSource) -> list[Any]:
    told = (source.name, source.tier.value, source.kind.value, source.address)
    return [scope.tenant, *told, list(source.keys), int(source.is_allowed)]


def _artifact_row(scope: Scope, a: Artifact) -> list[Any]:
    words = (a.kind.value, a.source, a.lifecycle.value, a.trust.value, a.channel.value)
    return [*scope, a.digest, *words, a.revision, *([] if a.key is None else [a.key])]


def _check_row(app: str, version: str, *, check: AppCheck) -> list[Any]:
    told = findings_body(check.findings)
    return [app, version, check.verdict.value, told, check.evidence_digest, check.at_ms]


def _credential_row(c: PullCredential) -> list[Any]:
    told = (c.instance_id, c.operation_id, c.digest, c.audience, c.expires_ms)
    return [c.credential_id, *c.scope, *told]


def load(state: State, plain: Plain) -> None:
    """Take up what :func:`dump` told."""
    book, dumped = state.apps, plain.get("apps")
    if dumped is None:
        return
    for name, visibility, lifecycle, revision in dumped["apps"]:
        words = (AppVisibility(visibility), AppLifecycle(lifecycle))
        book.apps[name] = CatalogApp(name, *words, revision)
    for name, version, digest, canonical, lifecycle, at_ms, paths, granted in dumped["versions"]:
        upgrades = tuple((start, end) for start, end in paths)
        told = (version, digest, canonical, AppLifecycle(lifecycle), at_ms, upgrades)
        book.versions.setdefault(name, {})[version] = CatalogVersion(*told, bool(granted))
    for app, tenant, project, enabled, overlay, revision in dumped["entitlements"]:
        line = Entitlement(bool(enabled), overlay_from(overlay), revision)
        book.put_line(app, Scope(tenant, project), line=line)
    for tenant, name, tier, kind, address, keys, allowed in dumped["sources"]:
        book.sources[Scope(tenant), name] = ArtifactSource(
            name, SourceTier(tier), ArtifactKind(kind), address, tuple(keys), bool(allowed)
        )
    for row in dumped["artifacts"]:
        tenant, project, digest, kind, source, lifecycle, trust, channel, revision, *more = row
        known = (ArtifactLifecycle(lifecycle), ArtifactTrust(trust), Channel(channel))
        found = Artifact(digest, ArtifactKind(kind), source, *known, revision, *more)
        book.artifacts[Scope(tenant, project), digest] = found
    for app, version, verdict, findings, digest, at_ms in dumped.get("checks", ()):
        found_out = findings_from(findings)
        book.checks[app, version] = AppCheck(Readiness(verdict), found_out, digest, at_ms)
    for tenant, project, name, url, types, *rest in dumped.get("webhooks", ()):
        book.webhooks[Scope(tenant, project), name] = Webhook(name, url, tuple(types), *rest)
    if "instances" in dumped:
        load_instances(book, dumped["instances"])
    if "shared" in dumped:
        load_shared(book.shared, dumped["shared"])
    _load_credentials(book, dumped.get("credentials", ()))
    stand_guard(state)


def _load_credentials(book: AppBook, rows: Iterable[list[Any]]) -> None:
    for name, tenant, project, instance_id, operation_id, digest, audience, expires_ms in rows:
        book.credentials[name] = PullCredential(
            credential_id=name,
            scope=Scope(tenant, project),
            instance_id=instance_id,
            operation_id=operation_id,
            digest=digest,
            audience=audience,
            expires_ms=expires_ms,
        )


def repair(plain: Plain, clock: ClockRepair) -> None:
    """What was done, and by when things are due, is as the clock that counts says."""
    for row in plain.get("apps", {}).get("versions", ()):
        row[5] = clock.past(row[5])
    for row in plain.get("apps", {}).get("checks", ()):
        row[5] = clock.past(row[5])
    for row in plain.get("apps", {}).get("webhooks", ()):
        row[8] = None if row[8] is None else clock.past(row[8])
    if "instances" in plain.get("apps", {}):
        repair_instances(plain["apps"]["instances"], clock)
    if "shared" in plain.get("apps", {}):
        repair_shared(plain["apps"]["shared"], clock)
    for row in plain.get("apps", {}).get("credentials", ()):
        row[7] = clock.end(row[7])
