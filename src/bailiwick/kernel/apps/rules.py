"""Apps: what follows from publishing, changing, allowing, and from what is said of artifacts.

Rules:

- A version is published once. What its upgrades add must not make a circle with those of versions
  that are there already.
- Lives move by their tables alone. A version moves by itself; of an app that is retired no version
  is published any more.
- A line about an app is refused if it would allow what a wider one does not.
- The host is granted to one version, and only to one that asks for it.
- An artifact is promoted only if it is verified. To say again what is so already is a conflict.
- Every dictionary has a bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from json import loads
from typing import assert_never, get_args

from bailiwick.apps.artifacts import Artifact, ArtifactSource
from bailiwick.apps.life import check_move
from bailiwick.apps.overlays import find_broadening
from bailiwick.apps.reading import read_canonical
from bailiwick.apps.upgrades import find_cycle
from bailiwick.iam import Scope
from bailiwick.kernel.apps import commands as cmd
from bailiwick.kernel.apps import events as ev
from bailiwick.kernel.apps import pulls
from bailiwick.kernel.apps.book import (
    APPS_MAX,
    ARTIFACTS_MAX,
    ENTITLEMENTS_MAX,
    SOURCES_MAX,
    VERSIONS_MAX,
    AppBook,
    CatalogApp,
    CatalogVersion,
    Entitlement,
)
from bailiwick.kernel.apps.calls import rules as call_rules
from bailiwick.kernel.apps.calls.commands import CallInstance
from bailiwick.kernel.apps.calls.events import AppInstanceCalled
from bailiwick.kernel.apps.checks import rules as check_rules
from bailiwick.kernel.apps.checks.commands import RecordAppCheck
from bailiwick.kernel.apps.checks.events import AppChecked
from bailiwick.kernel.apps.endpoints import rules as endpoint_rules
from bailiwick.kernel.apps.endpoints.commands import EndpointCommand
from bailiwick.kernel.apps.endpoints.events import EndpointEvent
from bailiwick.kernel.apps.guard import stand_guard
from bailiwick.kernel.apps.instance_apply import apply_instance
from bailiwick.kernel.apps.instance_commands import DeleteInstance, LifeCommand, MemberCommand
from bailiwick.kernel.apps.instance_events import InstanceEvent
from bailiwick.kernel.apps.instance_rules import decide_instance
from bailiwick.kernel.apps.member_rules import decide_member
from bailiwick.kernel.apps.names import app_name, check_app
from bailiwick.kernel.apps.shared import apply as shared_apply
from bailiwick.kernel.apps.shared import rules as shared_rules
from bailiwick.kernel.apps.shared.commands import SharedCommand
from bailiwick.kernel.apps.shared.events import SharedEvent
from bailiwick.kernel.apps.shared.following import follow
from bailiwick.kernel.apps.units import rules as unit_rules
from bailiwick.kernel.apps.units.commands import ReportAppUsage
from bailiwick.kernel.apps.units.events import AppUsageReported
from bailiwick.kernel.apps.webhooks import rules as webhook_rules
from bailiwick.kernel.apps.webhooks.commands import WebhookCommand
from bailiwick.kernel.apps.webhooks.events import AppWebhookSet
from bailiwick.kernel.events import Event
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.slice import Apply
from bailiwick.kernel.state import State
from bailiwick.vocab.apps import (
    AppLifecycle,
    AppVisibility,
    ArtifactChange,
    ArtifactLifecycle,
    ArtifactTrust,
    Channel,
    SourceTier,
)
from bailiwick.vocab.errors import (
    Conflict,
    LimitReached,
    NotFound,
    OverlayBroadens,
    Stale,
)

AS_IT_IS = "is like that already"


def decide(state: State, command: cmd.AppCommand, now_ms: int) -> Iterator[Event]:
    """The events that follow from such a command."""
    if isinstance(command, LifeCommand):
        if isinstance(command, DeleteInstance):
            shared_rules.check_not_shared(state, command)
        return follow(state, decide_instance(state, command, now_ms=now_ms))
    if isinstance(command, MemberCommand):
        return follow(state, decide_member(state, command, now_ms=now_ms))
    if isinstance(command, SharedCommand):
        return shared_rules.decide(state, command, now_ms=now_ms)
    if isinstance(command, WebhookCommand):
        return webhook_rules.decide(state, command)
    if isinstance(command, RecordAppCheck):
        return check_rules.decide(state, command)
    if isinstance(command, ReportAppUsage):
        return unit_rules.decide(state, command, now_ms=now_ms)
    if isinstance(command, CallInstance):
        return call_rules.decide(state, command, now_ms=now_ms)
    if isinstance(command, EndpointCommand):
        return endpoint_rules.decide(state, command)
    return _decide_catalog(state, command, now_ms=now_ms)


def _decide_catalog(state: State, command: cmd.CatalogCommand, *, now_ms: int) -> Iterator[Event]:
    match command:
        case cmd.PublishApp():
            return _publish(state, command)
        case cmd.ChangeApp():
            return _change(state.apps, command)
        case cmd.SetEntitlement():
            return _entitle(state, command)
        case cmd.SetArtifactSource():
            return _set_source(state, command)
        case cmd.RegisterArtifact():
            return _register(state, command)
        case cmd.ChangeArtifact():
            return _change_artifact(state.apps, command)
        case cmd.IssueArtifactCredential():
            return pulls.decide(state.apps, command, now_ms=now_ms)
        case _:
            assert_never(command)


def _publish(state: State, command: cmd.PublishApp) -> Iterator[Event]:
    book, manifest = state.apps, read_canonical(command.manifest)
    state.directory.check_scope(Scope(command.tenant))
    name = app_name(manifest.app, command.tenant)
    check_app(name)
    known, versions = book.apps.get(name), book.versions.get(name, {})
    if known is None and len(book.apps) >= APPS_MAX:
        raise LimitReached("apps", APPS_MAX)
    if known is not None and known.lifecycle is AppLifecycle.RETIRED:
        raise Conflict("app", name, "is retired")
    if manifest.version in versions:
        hint = "a version stays what it is; publish another"
        raise Conflict("version", f"{name} {manifest.version}", "exists already", hint=hint)
    if len(versions) >= VERSIONS_MAX:
        raise LimitReached(f"versions of {name}", VERSIONS_MAX)
    paths = [path for each in versions.values() for path in each.upgrades]
    cycle = find_cycle([*paths, *manifest.upgrades])
    if cycle:
        raise Conflict("app", name, "upgrades in a circle: " + " -> ".join(cycle))
    visibility = command.visibility if known is None else known.visibility
    told = (name, manifest.version, command.manifest, command.lifecycle, visibility)
    yield ev.AppPublished(Owner(command.tenant), *told)


def _change(book: AppBook, command: cmd.ChangeApp) -> Iterator[Event]:
    app = book.app(command.app)
    if command.revision is not None and command.revision != app.revision:
        raise Stale("app", app.name, held=command.revision, current=app.revision)
    changes = list[tuple[str, str, str]]()
    current = app.lifecycle
    if command.version is not None:
        version = book.version(app.name, command.version)
        current = version.lifecycle
        changes += _host_change(version, command.host_granted)
    if command.lifecycle not in (None, current):
        assert command.lifecycle is not None  # for the type checker
        check_move(current, command.lifecycle)
        changes.append(("lifecycle", current.value, command.lifecycle.value))
    if command.visibility not in (None, app.visibility):
        assert command.visibility is not None
        changes.append(("visibility", app.visibility.value, command.visibility.value))
    if not changes:
        raise Conflict("app", app.name, AS_IT_IS)
    for change in changes:
        yield ev.AppChanged(Owner(*app.publisher), app.name, *change, command.version)


def _host_change(version: CatalogVersion, granted: bool | None) -> list[tuple[str, str, str]]:
    if granted is None or granted == version.host_granted:
        return []
    if granted and not version.manifest.asks_host:
        raise Conflict("version", version.version, "no role of it asks for the host")
    return [("host_granted", _yes(version.host_granted), _yes(granted))]


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _entitle(state: State, command: cmd.SetEntitlement) -> Iterator[Event]:
    book, scope = state.apps, Scope(command.tenant, command.project)
    app = book.app(command.app)
    state.directory.check_scope(scope)
    if not app.is_seen_by(scope):  # as if it were not there
        raise NotFound("app", command.app)
    known = book.entitlements.get((app.name, scope))
    current = 0 if known is None else known.revision
    if command.revision is not None and command.revision != current:
        raise Stale("entitlement", app.name, held=command.revision, current=current)
    if known is None and len(book.entitlements) >= ENTITLEMENTS_MAX:
        raise LimitReached("entitlements", ENTITLEMENTS_MAX)
    above = [line for each in scope.around[1:2] for line in book.lines(app.name, each)]
    broader = find_broadening(above, command.overlay, enabled=command.enabled)
    if broader is not None:
        raise OverlayBroadens(broader.what, broader.value, source=broader.source)
    told = (app.name, command.enabled, command.overlay, current + 1)
    yield ev.AppEntitlementSet(Owner(*scope), *told)


def _set_source(state: State, command: cmd.SetArtifactSource) -> Iterator[Event]:
    book, scope = state.apps, Scope(command.tenant)
    state.directory.check_scope(scope)
    tier = SourceTier.PLATFORM if command.tenant is None else SourceTier.TENANT
    told = (command.kind, command.address, command.keys, command.is_allowed)
    source = ArtifactSource(command.source, tier, *told)
    known = book.sources.get((scope, command.source))
    if known == source:
        raise Conflict("artifact source", command.source, AS_IT_IS)
    if known is None and len(book.sources) >= SOURCES_MAX:
        raise LimitReached("artifact sources", SOURCES_MAX)
    if known is not None and known.kind is not source.kind:
        raise Conflict("artifact source", command.source, f"holds {known.kind} artifacts")
    yield ev.ArtifactSourceSet(Owner(*scope), source)


def _register(state: State, command: cmd.RegisterArtifact) -> Iterator[Event]:
    book, scope = state.apps, Scope(command.tenant, command.project)
    state.directory.check_scope(scope)
    if (scope, command.digest) in book.artifacts:
        raise Conflict("artifact", command.digest, "is registered already")
    if len(book.artifacts) >= ARTIFACTS_MAX:
        raise LimitReached("artifacts", ARTIFACTS_MAX)
    source = book.source(command.source, scope)
    if source is None or not source.is_allowed:
        raise NotFound("artifact source", command.source, hint="artifact sources lists them")
    if source.kind is not command.kind:
        raise Conflict("artifact source", source.name, f"holds {source.kind} artifacts")
    artifact = Artifact(command.digest, command.kind, command.source)
    yield ev.ArtifactChanged.of(
        Owner(*scope), artifact, change=ArtifactChange.REGISTERED, before=""
    )


def _change_artifact(book: AppBook, command: cmd.ChangeArtifact) -> Iterator[Event]:
    scope = Scope(command.tenant, command.project)
    found = book.artifacts.get((scope, command.digest))
    if found is None:
        raise NotFound("artifact", command.digest)
    if command.revision is not None and command.revision != found.revision:
        raise Stale("artifact", command.digest, held=command.revision, current=found.revision)
    owner, told = Owner(*scope), list[Event]()
    is_signed_anew = command.key is not None and command.key != found.key
    if command.trust is not None and (command.trust is not found.trust or is_signed_anew):
        if command.trust is not found.trust:
            check_move(found.trust, command.trust)
        before, found = found.trust.value, replace(found, trust=command.trust)
        _check_signer(book, found, command)
        event = ev.ArtifactChanged.of(owner, found, change=ArtifactChange.TRUST, before=before)
        told.append(replace(event, reason=command.reason, key=command.key))
    if command.lifecycle not in (None, found.lifecycle):
        assert command.lifecycle is not None
        check_move(found.lifecycle, command.lifecycle)
        _check_promotion(found, command.lifecycle is ArtifactLifecycle.PROMOTED)
        before, found = found.lifecycle.value, replace(found, lifecycle=command.lifecycle)
        told.append(
            ev.ArtifactChanged.of(owner, found, change=ArtifactChange.LIFECYCLE, before=before)
        )
    if command.channel not in (None, found.channel):
        assert command.channel is not None
        check_move(found.channel, command.channel)
        _check_promotion(found, True)
        before, found = found.channel.value, replace(found, channel=command.channel)
        told.append(
            ev.ArtifactChanged.of(owner, found, change=ArtifactChange.CHANNEL, before=before)
        )
    if not told:
        raise Conflict("artifact", command.digest, AS_IT_IS)
    yield from told


def _check_signer(book: AppBook, found: Artifact, command: cmd.ChangeArtifact) -> None:
    """Refuse a key that the source does not name: it may have been taken from it meanwhile."""
    if command.key is None:
        return
    source = book.source(found.source, Scope(command.tenant, command.project))
    if source is None or command.key not in source.keys:
        raise Conflict("artifact", found.digest, "is signed by a key that its source does not name")


def _check_promotion(found: Artifact, is_promotion: bool) -> None:
    if is_promotion and found.trust is not ArtifactTrust.VERIFIED:
        raise Conflict("artifact", found.digest, f"is {found.trust}; only verified ones go on")
    if is_promotion and found.lifecycle is ArtifactLifecycle.RETIRED:
        raise Conflict("artifact", found.digest, "is retired")


# -- applying --------------------------------------------------------------------------------


def _apply(state: State, event: ev.CatalogEvent, at_ms: int) -> None:
    """The book after one more record."""
    book = state.apps
    match event:
        case ev.AppPublished():
            _put_version(book, event, at_ms=at_ms)
        case ev.AppChanged():
            _put_change(book, event)
        case ev.AppEntitlementSet():
            line = Entitlement(event.enabled, event.overlay, event.revision)
            book.put_line(event.app, Scope(*event.owner), line=line)
            stand_guard(state)
        case ev.ArtifactSourceSet():
            book.sources[Scope(*event.owner), event.source.name] = event.source
        case ev.ArtifactChanged():
            _put_artifact(book, event)
        case ev.ArtifactCredentialIssued():
            pulls.put_credential(book, event.credential, at_ms=at_ms)
        case _:
            assert_never(event)


def _put_version(book: AppBook, event: ev.AppPublished, *, at_ms: int) -> None:
    # Not judged again: what was published stays so, should the rules for manifests change.
    told = loads(event.manifest).get("upgrades", ())
    upgrades = tuple((each["from"], each["to"]) for each in told)
    version = CatalogVersion(
        event.version, event.digest, event.manifest, event.lifecycle, at_ms, upgrades
    )
    book.versions.setdefault(event.app, {})[event.version] = version
    known = book.apps.get(event.app)
    if known is None:
        book.apps[event.app] = CatalogApp(event.app, event.visibility, event.lifecycle)
    else:
        book.apps[event.app] = replace(known, revision=known.revision + 1)


def _put_change(book: AppBook, event: ev.AppChanged) -> None:
    app = book.apps[event.app]
    app = replace(app, revision=app.revision + 1)
    if event.field == "visibility":
        app = replace(app, visibility=AppVisibility(event.after))
    elif event.version is None:
        app = replace(app, lifecycle=AppLifecycle(event.after))
    book.apps[event.app] = app
    if event.version is not None:
        version = book.versions[event.app][event.version]
        if event.field == "host_granted":
            version = replace(version, host_granted=event.after == "yes")
        else:
            version = replace(version, lifecycle=AppLifecycle(event.after))
        book.versions[event.app][event.version] = version


def _put_artifact(book: AppBook, event: ev.ArtifactChanged) -> None:
    key = (Scope(*event.owner), event.digest)
    known = book.artifacts.get(key)
    told = (event.digest, event.artifact_kind, event.source, event.lifecycle, event.trust)
    revision = 1 if known is None else known.revision + 1
    signer = None if known is None else known.key
    if event.change is ArtifactChange.TRUST:
        signer = event.key
    book.artifacts[key] = Artifact(*told, Channel(event.channel), revision, signer)


def _apply_instance(state: State, event: InstanceEvent, at_ms: int) -> None:
    before = len(state.apps.instances.held)
    apply_instance(state.apps, event, at_ms=at_ms)
    if len(state.apps.instances.held) != before:
        stand_guard(state)


APPLY: Mapping[type, Apply] = {
    **dict.fromkeys(get_args(ev.CatalogEvent), _apply),
    **dict.fromkeys(get_args(InstanceEvent), _apply_instance),
    AppWebhookSet: webhook_rules.apply,
    AppChecked: check_rules.apply,
    AppUsageReported: unit_rules.apply,
    AppInstanceCalled: call_rules.apply,
    **dict.fromkeys(get_args(EndpointEvent), endpoint_rules.apply),
    **dict.fromkeys(get_args(SharedEvent), shared_apply.apply),
}
TOLD_ONLY = get_args(ev.AppEvent)
"""No placement follows from what the catalog says."""
