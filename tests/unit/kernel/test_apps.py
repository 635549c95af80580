"""The catalog, who may use what how, and artifacts: what the kernel does and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.apps.manifest import RoleShape, RoleSpec
from bailiwick.apps.overlays import Overlay
from bailiwick.iam import Scope
from bailiwick.journal import parse_record
from bailiwick.kernel import Command, Envelope, Kernel, State, decode, digest_of, encode
from bailiwick.kernel.apps import book as bounds
from bailiwick.kernel.apps import rules
from bailiwick.kernel.apps.book import AppBook
from bailiwick.kernel.apps.commands import (
    ChangeApp,
    ChangeArtifact,
    PublishApp,
    RegisterArtifact,
    SetArtifactSource,
    SetEntitlement,
)
from bailiwick.kernel.people.commands import ChangeTenant, CreateProject, CreateTenant
from bailiwick.kernel.slices import apply, event_of
from bailiwick.vocab.apps import (
    AppLifecycle,
    AppVisibility,
    ArtifactKind,
    ArtifactLifecycle,
    ArtifactTrust,
    Channel,
    PolicyAxis,
    PolicyLimit,
    Privilege,
)
from bailiwick.vocab.errors import (
    Conflict,
    IllegalTransition,
    InvalidValue,
    LimitReached,
    NotFound,
    OverlayBroadens,
    Stale,
)
from tests.support.app_manifests import DIGEST, hello

REGIONS, PUBLIC = PolicyAxis.REGIONS, AppVisibility.PUBLIC


class Desk:
    """A kernel with two tenants, and the records that it wrote."""

    def __init__(self) -> None:
        self.kernel = Kernel(simulated=True)
        self.lines: list[bytes] = []
        self.now_ms = 0
        self.do(CreateTenant("lab"), CreateProject("lab", "vision"), CreateTenant("firm"))

    def do(self, *commands: Command) -> list[dict[str, Any]]:
        """What follows, as records tell it."""
        told = []
        for command in commands:
            self.now_ms += 1
            lines = self.kernel.execute(Envelope(command), self.now_ms).lines
            self.lines += lines
            told += [dict(parse_record(line.rstrip(b"\n")).body) for line in lines]
        return told

    @property
    def book(self) -> AppBook:
        return self.kernel.state.apps


@pytest.fixture
def desk() -> Desk:
    return Desk()


def publish(**changes: Any) -> PublishApp:
    tenant = changes.pop("tenant", None)
    return PublishApp(hello(**changes).canonical, tenant, PUBLIC)


def host(**changes: Any) -> PublishApp:
    shape = RoleShape(cpu_milli=1)
    role = RoleSpec(count=(1, 1), shape=shape, artifact="service", privileges=Privilege.HOST)
    return publish(roles={"worker": role}, **changes)


# -- catalog -----------------------------------------------------------------------------------


def test_a_version_is_published_once_and_stays_what_it_is(desk: Desk) -> None:
    (told,) = desk.do(publish())
    assert told["app"] == "hello"
    assert "sha256:" + told["digest"] == hello().digest
    assert desk.book.version("hello", "1.0.0").manifest == hello()
    with pytest.raises(Conflict, match="exists already"):
        desk.do(publish(title="Another"))
    desk.do(publish(version="1.1.0"))
    assert [*desk.book.versions["hello"]] == ["1.0.0", "1.1.0"]


def test_two_tenants_have_apps_of_one_name_and_neither_meets_the_other(desk: Desk) -> None:
    desk.do(publish(), publish(tenant="lab"), publish(tenant="firm"))
    assert [*desk.book.apps] == ["hello", "lab.hello", "firm.hello"]
    assert desk.book.app("lab.hello").publisher == Scope("lab")


def test_upgrades_in_a_circle_over_versions_are_refused(desk: Desk) -> None:
    desk.do(publish(version="1.0.0", upgrades=(("1.0.0", "1.1.0"),)))
    desk.do(publish(version="1.1.0", upgrades=(("1.1.0", "1.2.0"),)))
    with pytest.raises(Conflict, match=r"1\.0\.0 -> 1\.1\.0 -> 1\.2\.0 -> 1\.0\.0"):
        desk.do(publish(version="1.2.0", upgrades=(("1.2.0", "1.0.0"),)))


def test_a_manifest_in_another_spelling_is_refused() -> None:
    with pytest.raises(InvalidValue, match="canonical"):
        PublishApp(hello().canonical + " ")
    with pytest.raises(InvalidValue, match="at most"):
        PublishApp(hello(runbook=hello().runbook + "\n" * 40_000).canonical)


def test_lives_move_by_their_table_and_a_retired_app_takes_no_version(desk: Desk) -> None:
    desk.do(publish(), ChangeApp("hello", lifecycle=AppLifecycle.DEPRECATED))
    with pytest.raises(IllegalTransition):
        desk.do(ChangeApp("hello", lifecycle=AppLifecycle.DRAFT))
    desk.do(ChangeApp("hello", "1.0.0", AppLifecycle.RETIRED))
    assert desk.book.version("hello", "1.0.0").lifecycle is AppLifecycle.RETIRED
    assert desk.book.app("hello").lifecycle is AppLifecycle.DEPRECATED
    with pytest.raises(Conflict, match="like that already"):
        desk.do(ChangeApp("hello", lifecycle=AppLifecycle.DEPRECATED))
    desk.do(ChangeApp("hello", lifecycle=AppLifecycle.RETIRED))
    with pytest.raises(Conflict, match="is retired"):
        desk.do(publish(version="2.0.0"))


def test_who_holds_an_older_revision_of_an_app_is_stale(desk: Desk) -> None:
    desk.do(publish())
    command = ChangeApp("hello", visibility=AppVisibility.PRIVATE, revision=1)
    desk.do(command)
    with pytest.raises(Stale):
        desk.do(ChangeApp("hello", visibility=PUBLIC, revision=1))


def test_the_host_is_granted_to_a_version_that_asks_for_it_alone(desk: Desk) -> None:
    desk.do(publish(), host(version="2.0.0"))
    with pytest.raises(Conflict, match="asks for the host"):
        desk.do(ChangeApp("hello", "1.0.0", host_granted=True))
    (told,) = desk.do(ChangeApp("hello", "2.0.0", host_granted=True))
    assert (told["field"], told["before"], told["after"]) == ("host_granted", "no", "yes")
    assert desk.book.version("hello", "2.0.0").host_granted
    with pytest.raises(InvalidValue):
        ChangeApp("hello", host_granted=True)


def test_everything_is_bounded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (bounds.APPS_MAX, bounds.VERSIONS_MAX) == (1_000, 100)
    for name in ("APPS_MAX", "VERSIONS_MAX", "ENTITLEMENTS_MAX", "SOURCES_MAX", "ARTIFACTS_MAX"):
        monkeypatch.setattr(rules, name, 1)
    source = SetArtifactSource("main", ArtifactKind.OCI, "registry.example")
    artifact = RegisterArtifact(DIGEST, ArtifactKind.OCI, "main")
    desk.do(publish(), SetEntitlement("hello", True), source, artifact)
    for command in (
        publish(app="other"),
        publish(version="2.0.0"),
        SetEntitlement("hello", True, tenant="lab"),
        SetArtifactSource("other", ArtifactKind.OCI, "registry.example"),
        RegisterArtifact("sha256:" + "0" * 64, ArtifactKind.OCI, "main"),
    ):
        with pytest.raises(LimitReached):
            desk.do(command)


# -- entitlements ------------------------------------------------------------------------------


def line(where: str = "", *, enabled: bool = True, **fields: Any) -> SetEntitlement:
    tenant, _, project = where.partition("/")
    revision = fields.pop("revision", None)
    overlay = Overlay(**fields)
    return SetEntitlement("hello", enabled, overlay, tenant or None, project or None, revision)


def test_a_line_that_broadens_is_refused_with_the_line_it_breaks(desk: Desk) -> None:
    desk.do(
        publish(), line(allow={REGIONS: ("east", "west")}), line("lab", allow={REGIONS: ("east",)})
    )
    with pytest.raises(OverlayBroadens) as refused:
        desk.do(line("lab/vision", allow={REGIONS: ("west",)}))
    assert (refused.value.what, refused.value.value) == ("regions", "west")
    assert refused.value.source == "lab"
    with pytest.raises(OverlayBroadens) as refused:
        desk.do(line("lab/vision", allow={REGIONS: ("north",)}))
    assert refused.value.source == "fleet"


def test_a_number_may_only_get_smaller(desk: Desk) -> None:
    most = PolicyLimit.INSTANCES_MAX
    desk.do(publish(), line("lab", limits={most: 3}), line("lab/vision", limits={most: 2}))
    with pytest.raises(OverlayBroadens):
        desk.do(line("lab/vision", limits={most: 4}))
    assert desk.book.policy("hello", Scope("lab", "vision")).limit(most) == (2, "lab/vision")
    desk.do(line("lab", limits={most: 1}))  # one above may get narrower at any time
    assert desk.book.policy("hello", Scope("lab", "vision")).limit(most) == (1, "lab")


def test_what_the_fleet_denies_nobody_enables(desk: Desk) -> None:
    desk.do(publish(), line("lab/vision"))
    assert desk.book.policy("hello", Scope("lab", "vision")).is_enabled
    desk.do(line(enabled=False))
    assert not desk.book.policy("hello", Scope("lab", "vision")).is_enabled
    with pytest.raises(OverlayBroadens) as refused:
        desk.do(line("lab"))
    assert refused.value.source == "fleet"


def test_without_a_line_of_its_own_nobody_may_use_an_app(desk: Desk) -> None:
    desk.do(publish(), line())
    assert not desk.book.policy("hello", Scope("lab", "vision")).is_enabled


def test_who_holds_an_older_line_is_stale_and_none_is_zero(desk: Desk) -> None:
    desk.do(publish(), line("lab", revision=0))
    with pytest.raises(Stale):
        desk.do(line("lab", revision=0))
    desk.do(line("lab", revision=1))


def test_a_private_app_of_another_is_not_there(desk: Desk) -> None:
    desk.do(PublishApp(hello().canonical, "firm"))
    with pytest.raises(NotFound):
        desk.do(SetEntitlement("firm.hello", True, tenant="lab"))
    desk.do(SetEntitlement("firm.hello", True, tenant="firm"))


def test_a_closed_tenant_gets_nothing_new(desk: Desk) -> None:
    desk.do(publish(), ChangeTenant("lab", is_open=False))
    for command in (
        publish(tenant="lab"),
        line("lab"),
        SetArtifactSource("o", ArtifactKind.OCI, "r.example", tenant="lab"),
    ):
        with pytest.raises(Conflict, match="closed"):
            desk.do(command)


# -- artifacts ---------------------------------------------------------------------------------


@pytest.fixture
def stocked(desk: Desk) -> Desk:
    desk.do(
        SetArtifactSource("main", ArtifactKind.OCI, "registry.example/apps"),
        RegisterArtifact(DIGEST, ArtifactKind.OCI, "main", "lab"),
    )
    return desk


def change(**fields: Any) -> ChangeArtifact:
    return ChangeArtifact(DIGEST, "lab", **fields)


def test_what_is_registered_is_not_trusted_and_cannot_be_promoted(stocked: Desk) -> None:
    found = stocked.book.artifact(DIGEST, Scope("lab", "vision"))
    assert found is not None
    assert (found.trust, found.channel) == (ArtifactTrust.UNVERIFIED, Channel.DEV)
    for command in (change(lifecycle=ArtifactLifecycle.PROMOTED), change(channel=Channel.TEST)):
        with pytest.raises(Conflict, match="only verified"):
            stocked.do(command)


def test_a_promotion_is_told_with_what_was_before(stocked: Desk) -> None:
    told = stocked.do(
        change(
            trust=ArtifactTrust.VERIFIED,
            lifecycle=ArtifactLifecycle.PROMOTED,
            channel=Channel.TEST,
        )
    )
    assert [(each["change"], each["before"]) for each in told] == [
        ("trust", "unverified"),
        ("lifecycle", "published"),
        ("channel", "dev"),
    ]
    with pytest.raises(IllegalTransition):
        stocked.do(change(channel=Channel.PROD))
    stocked.do(change(trust=ArtifactTrust.REVOKED))
    with pytest.raises(IllegalTransition):
        stocked.do(change(trust=ArtifactTrust.VERIFIED))


def test_an_artifact_comes_from_a_source_that_is_there_and_holds_its_kind(stocked: Desk) -> None:
    other = "sha256:" + "0" * 64
    with pytest.raises(NotFound):
        stocked.do(RegisterArtifact(other, ArtifactKind.OCI, "nowhere"))
    with pytest.raises(Conflict, match="holds oci"):
        stocked.do(RegisterArtifact(other, ArtifactKind.BLOB, "main"))
    with pytest.raises(Conflict, match="registered already"):
        stocked.do(RegisterArtifact(DIGEST, ArtifactKind.OCI, "main", "lab"))
    stocked.do(SetArtifactSource("main", ArtifactKind.OCI, "r.example", is_allowed=False))
    with pytest.raises(NotFound):
        stocked.do(RegisterArtifact(other, ArtifactKind.OCI, "main"))


def test_what_one_tenant_registers_is_nothing_to_another(stocked: Desk) -> None:
    assert stocked.book.artifact(DIGEST, Scope("firm")) is None
    stocked.do(RegisterArtifact(DIGEST, ArtifactKind.OCI, "main", "firm"))
    own = SetArtifactSource("main", ArtifactKind.OCI, "own.example", tenant="firm")
    stocked.do(own)
    nearest = stocked.book.source("main", Scope("firm"))
    assert nearest is not None
    assert nearest.address == "own.example"
    shared = stocked.book.source("main", Scope("lab"))
    assert shared is not None
    assert shared.address == "registry.example/apps"


# -- as state ----------------------------------------------------------------------------------


def test_the_journal_alone_rebuilds_the_book_and_so_does_a_snapshot(stocked: Desk) -> None:
    stocked.do(host(upgrades=(("0.9.0", "1.0.0"),)), ChangeApp("hello", "1.0.0", host_granted=True))
    stocked.do(line("lab", allow={REGIONS: ("east",)}, deny={REGIONS: ("west",)}))
    state = State()
    for each in stocked.lines:
        record = parse_record(each.rstrip(b"\n"))
        apply(state, event_of(record), record.at_ms)
    assert state.apps == stocked.book
    data = encode(stocked.kernel.state)
    again = decode(data, digest_of(stocked.kernel.state))
    assert again.apps == stocked.book
    assert encode(again) == data


def test_a_state_without_apps_is_written_as_before_there_were_any(desk: Desk) -> None:
    assert b'"apps"' not in encode(desk.kernel.state)
