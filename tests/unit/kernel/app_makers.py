"""Commands and events about apps, for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bailiwick.apps.artifacts import ArtifactSource
from bailiwick.apps.overlays import Overlay
from bailiwick.apps.readiness.judge import OperatorStanding, judge
from bailiwick.iam import Scope
from bailiwick.kernel.apps import commands as cmd
from bailiwick.kernel.apps import events as ev
from bailiwick.kernel.apps.book import PullCredential
from bailiwick.kernel.apps.checks.commands import RecordAppCheck
from bailiwick.kernel.apps.checks.events import AppChecked
from bailiwick.kernel.apps.webhooks.commands import DeleteWebhook, SetWebhook
from bailiwick.kernel.apps.webhooks.events import AppWebhookSet
from bailiwick.kernel.owner import Owner
from bailiwick.vocab.apps import (
    AppLifecycle,
    AppVisibility,
    ArtifactChange,
    ArtifactKind,
    ArtifactLifecycle,
    ArtifactTrust,
    Channel,
    PolicyAxis,
    PolicyLimit,
    SourceTier,
    VerificationReason,
    WebhookChange,
)
from bailiwick.vocab.readiness import Readiness
from tests.support.app_manifests import SLUGS, VERSIONS, WORDS, manifests
from tests.support.readiness import checked_manifest, evidences
from tests.unit.journal.makers import names

_CHECKED = checked_manifest()


def _any(kind: type[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from(list(kind))


apps = SLUGS | st.builds("{}.{}".format, names, SLUGS)
owners = st.just(Owner()) | st.builds(Owner, names, st.none() | names)
homes = st.just({}) | st.fixed_dictionaries({"tenant": names})
homes |= st.fixed_dictionaries({"tenant": names, "project": names})
digests = st.integers(0, 2**200).map(lambda number: f"sha256:{number:064x}")
counts = st.integers(0, 2**50)
values = {
    PolicyAxis.VERSIONS: VERSIONS,
    PolicyAxis.REGIONS: names,
    PolicyAxis.SKUS: names,
    PolicyAxis.SOURCES: WORDS,
    PolicyAxis.CHANNELS: _any(Channel),
    PolicyAxis.OPERATING_MODES: st.just("tenant_dedicated"),
}
lists = st.fixed_dictionaries(
    {}, optional={axis: st.lists(each, max_size=3).map(tuple) for axis, each in values.items()}
)
limits = st.dictionaries(_any(PolicyLimit), st.integers(0, 1_000))
overlays = st.builds(Overlay, lists, lists, limits)
SIGNER = "RW" + "Q" * 54
keys = st.sampled_from([(), ("RW" + "Q" * 54,), ("RW" + "a/" * 27, "RW" + "b+" * 27)])
addresses = {
    ArtifactKind.OCI: st.sampled_from(["registry.example", "r.example:5000/a/b-c"]),
    ArtifactKind.BLOB: st.sampled_from(["https://store.example/a", "file:///srv/apps"]),
}
published = st.sampled_from([AppLifecycle.DRAFT, AppLifecycle.PUBLISHED])
canonicals = manifests().map(lambda found: found.canonical)


@st.composite
def _sources(draw: st.DrawFn) -> cmd.SetArtifactSource:
    kind = draw(_any(ArtifactKind))
    told = (kind, draw(addresses[kind]), draw(keys), draw(st.booleans()))
    return cmd.SetArtifactSource(draw(WORDS), *told, draw(st.none() | names))


urls = st.sampled_from(["https://hooks.example/in?a=1", "http://127.0.0.1:8080", "https://[::1]/"])
wishes = st.lists(
    st.sampled_from(["apps.*", "apps.instance.*", "apps.member.failed"]), unique=True
).map(tuple)


def _placed(make: Any, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(lambda home, **rest: make(**rest, **home), homes, **fields)


def _source_set(owner: Owner, tier: SourceTier, told: cmd.SetArtifactSource) -> Any:
    fields = (told.kind, told.address, told.keys, told.is_allowed)
    return ev.ArtifactSourceSet(owner, ArtifactSource(told.source, tier, *fields))


EVENTS: dict[type[Any], st.SearchStrategy[Any]] = {
    ev.AppPublished: st.builds(
        ev.AppPublished, owners, apps, VERSIONS, canonicals, published, _any(AppVisibility)
    ),
    ev.AppChanged: st.builds(
        ev.AppChanged,
        owners,
        apps,
        st.sampled_from(["lifecycle", "visibility", "host_granted"]),
        names,
        names,
        st.none() | VERSIONS,
    ),
    ev.AppEntitlementSet: st.builds(
        ev.AppEntitlementSet, owners, apps, st.booleans(), overlays, counts
    ),
    ev.ArtifactSourceSet: st.builds(_source_set, owners, _any(SourceTier), _sources()),
    ev.ArtifactChanged: st.builds(
        ev.ArtifactChanged,
        owners,
        digests,
        _any(ArtifactChange),
        _any(ArtifactKind),
        WORDS,
        _any(ArtifactLifecycle),
        _any(ArtifactTrust),
        _any(Channel),
        st.none() | names,
        st.none() | _any(VerificationReason),
        st.none() | st.just(SIGNER),
    ),
    ev.ArtifactCredentialIssued: st.builds(
        lambda app, held: ev.ArtifactCredentialIssued(Owner(*held.scope), app, held),
        apps,
        st.builds(
            PullCredential,
            credential_id=names,
            scope=st.builds(Scope, names, names),
            instance_id=counts,
            operation_id=counts,
            digest=digests,
            audience=names,
            expires_ms=counts,
        ),
    ),
    AppChecked: st.builds(
        lambda owner, app, found: AppChecked(
            owner,
            app,
            found.version,
            found.claims.digest,
            Readiness.UNDECIDED,
            judge(found, _CHECKED, standing=OperatorStanding(True, True)).findings,
            found.canonical,
        ),
        owners.filter(lambda owner: owner.project is None),
        apps,
        evidences(_CHECKED.digest),
    ),
    AppWebhookSet: st.builds(
        AppWebhookSet,
        owners.filter(lambda owner: owner.tenant is not None),
        names,
        _any(WebhookChange),
        urls,
        wishes,
        st.booleans(),
        names,
        counts,
    ),
}
_CREDENTIALS = st.builds(
    cmd.IssueArtifactCredential,
    tenant=names,
    project=names,
    instance_id=st.integers(1, 9),
    operation_id=st.integers(1, 9),
    digest=digests,
    audience=names,
    credential_id=names,
    expires_ms=st.integers(1, 2**50),
)
COMMANDS: dict[type[Any], st.SearchStrategy[Any]] = {
    cmd.PublishApp: st.builds(
        cmd.PublishApp, canonicals, st.none() | names, _any(AppVisibility), published
    ),
    cmd.ChangeApp: st.builds(
        cmd.ChangeApp, apps, VERSIONS, st.none() | _any(AppLifecycle), host_granted=st.booleans()
    )
    | st.builds(cmd.ChangeApp, apps, visibility=_any(AppVisibility), revision=counts),
    cmd.SetEntitlement: _placed(
        cmd.SetEntitlement,
        app=apps,
        enabled=st.booleans(),
        overlay=overlays,
        revision=st.none() | counts,
    ),
    cmd.SetArtifactSource: _sources(),
    cmd.IssueArtifactCredential: _CREDENTIALS,
    cmd.RegisterArtifact: _placed(
        cmd.RegisterArtifact, digest=digests, kind=_any(ArtifactKind), source=WORDS
    ),
    cmd.ChangeArtifact: _placed(
        cmd.ChangeArtifact,
        digest=digests,
        lifecycle=st.none() | _any(ArtifactLifecycle),
        trust=st.none() | _any(ArtifactTrust),
        channel=st.none() | _any(Channel),
        revision=st.none() | counts,
    )
    | _placed(
        cmd.ChangeArtifact,
        digest=digests,
        trust=st.just(ArtifactTrust.VERIFIED),
        reason=st.just(VerificationReason.SIGNATURE_VALID),
        key=st.just(SIGNER),
    ),
    SetWebhook: st.builds(
        SetWebhook,
        names,
        names,
        urls,
        st.none() | names,
        wishes,
        st.booleans(),
        st.none() | names,
        st.none() | counts,
    ),
    RecordAppCheck: st.builds(
        lambda app, found: RecordAppCheck(app, found.version, found.canonical),
        apps,
        evidences(_CHECKED.digest),
    ),
    DeleteWebhook: st.builds(DeleteWebhook, names, names, st.none() | names, st.none() | counts),
}
