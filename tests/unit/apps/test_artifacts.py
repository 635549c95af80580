"""Artifacts: what may be used, why not, and what an address may hold; the lives as tables."""

from __future__ import annotations

from itertools import product

import pytest

from bailiwick.apps.artifacts import (
    Artifact,
    ArtifactSource,
    Unusable,
    Usable,
    check_address,
    check_key,
    resolve,
)
from bailiwick.apps.life import check_move
from bailiwick.apps.manifest import ArtifactRef
from bailiwick.apps.overlays import EffectivePolicy, Overlay, PolicyLine, fold
from bailiwick.vocab.apps import (
    AppLifecycle,
    ArtifactKind,
    ArtifactLifecycle,
    ArtifactRefusal,
    ArtifactTrust,
    Channel,
    InstancePhase,
    MemberPhase,
    OperationPhase,
    PolicyAxis,
    SourceTier,
)
from bailiwick.vocab.errors import IllegalTransition, InvalidValue
from tests.support.app_manifests import DIGEST

# Written out a second time, by hand and in words.
TABLES = {
    AppLifecycle: """
draft -> published retired
published -> deprecated retired
deprecated -> published retired
retired ->
""",
    ArtifactLifecycle: """
published -> promoted deprecated retired
promoted -> deprecated retired
deprecated -> promoted retired
retired ->
""",
    ArtifactTrust: """
unverified -> verified failed_verification revoked
verified -> failed_verification revoked
failed_verification -> verified revoked
revoked ->
""",
    Channel: """
dev -> test
test -> staging
staging -> prod
prod ->
""",
    InstancePhase: """
requested -> provisioning failed deleting
provisioning -> running degraded failed deleting
running -> updating degraded failed deleting
updating -> running degraded failed deleting
degraded -> provisioning running updating failed deleting
failed -> provisioning running updating degraded deleting
deleting -> deleted
deleted ->
""",
    MemberPhase: """
requested -> joining ready draining removed failed
joining -> ready draining removed failed
ready -> joining draining removed failed
draining -> removed
failed -> removed
removed ->
""",
    OperationPhase: """
pending -> running succeeded failed
running -> succeeded failed
succeeded ->
failed ->
""",
}


@pytest.mark.parametrize("words", TABLES, ids=lambda words: words.__name__)
def test_each_life_has_exactly_the_edges_of_its_table(words: type) -> None:
    rows = (line.split(" ->") for line in TABLES[words].strip().splitlines())
    edges = {(row[0], to) for row in rows for to in row[1].split()}
    for one, other in product(words, repeat=2):
        if (one.value, other.value) in edges:
            check_move(one, other)
        else:
            with pytest.raises(IllegalTransition):
                check_move(one, other)


REF = ArtifactRef(ArtifactKind.OCI, DIGEST, "main")
MAIN = ArtifactSource("main", SourceTier.PLATFORM, ArtifactKind.OCI, "registry.example/apps")
ANYTHING = fold([])


def _policy(axis: PolicyAxis, *values: str) -> EffectivePolicy:
    return fold([PolicyLine("lab", True, Overlay({axis: values}))])


def _artifact(**changes: object) -> Artifact:
    fields: dict[str, object] = {"trust": ArtifactTrust.VERIFIED} | changes
    return Artifact(
        DIGEST, fields.pop("kind", ArtifactKind.OCI), fields.pop("source", "main"), **fields
    )  # type: ignore[arg-type]


WHY = ArtifactRefusal
CASES = [
    (None, MAIN, ANYTHING, WHY.NOT_REGISTERED),
    (_artifact(kind=ArtifactKind.BLOB), MAIN, ANYTHING, WHY.KIND_DIFFERS),
    (_artifact(source="other"), MAIN, ANYTHING, WHY.SOURCE_DIFFERS),
    (_artifact(), None, ANYTHING, WHY.SOURCE_UNKNOWN),
    (
        _artifact(),
        ArtifactSource("main", SourceTier.TENANT, ArtifactKind.OCI, "r.example", is_allowed=False),
        ANYTHING,
        WHY.SOURCE_UNKNOWN,
    ),
    (_artifact(), MAIN, _policy(PolicyAxis.SOURCES, "else"), WHY.SOURCE_NOT_ALLOWED),
    (_artifact(), MAIN, _policy(PolicyAxis.CHANNELS, "prod"), WHY.CHANNEL_NOT_ALLOWED),
    (_artifact(lifecycle=ArtifactLifecycle.RETIRED), MAIN, ANYTHING, WHY.RETIRED),
    (_artifact(trust=ArtifactTrust.UNVERIFIED), MAIN, ANYTHING, WHY.NOT_VERIFIED),
    (_artifact(trust=ArtifactTrust.FAILED_VERIFICATION), MAIN, ANYTHING, WHY.NOT_VERIFIED),
    (_artifact(trust=ArtifactTrust.REVOKED), MAIN, ANYTHING, WHY.NOT_VERIFIED),
]


@pytest.mark.parametrize(("artifact", "source", "policy", "why"), CASES)
def test_what_is_not_known_allowed_and_verified_is_not_used(
    artifact: Artifact | None,
    source: ArtifactSource | None,
    policy: EffectivePolicy,
    why: ArtifactRefusal,
) -> None:
    found = resolve(REF, artifact, source=source, policy=policy)
    assert isinstance(found, Unusable)
    assert found.reason is why
    assert [step.holds for step in found.steps][-1] is False
    assert all(step.holds for step in found.steps[:-1])


@pytest.mark.parametrize("lifecycle", sorted(set(ArtifactLifecycle) - {ArtifactLifecycle.RETIRED}))
def test_a_verified_artifact_of_an_allowed_source_is_used_with_every_step_told(
    lifecycle: ArtifactLifecycle,
) -> None:
    policy = _policy(PolicyAxis.SOURCES, "main")
    found = resolve(REF, _artifact(lifecycle=lifecycle), source=MAIN, policy=policy)
    assert isinstance(found, Usable)
    assert [step.asked for step in found.steps] == list(ArtifactRefusal)


@pytest.mark.parametrize(
    ("kind", "address"),
    [
        (ArtifactKind.OCI, "https://registry.example/apps"),
        (ArtifactKind.OCI, "me:pw@registry.example/apps"),
        (ArtifactKind.OCI, "registry.example/apps:latest"),
        (ArtifactKind.OCI, ""),
        (ArtifactKind.BLOB, "http://store.example/x"),
        (ArtifactKind.BLOB, "https://store.example/x?token=1"),
        (ArtifactKind.BLOB, "https://u@store.example/x"),
        (ArtifactKind.BLOB, "/etc/passwd"),
    ],
)
def test_an_address_with_a_secret_or_of_another_kind_is_refused_and_not_repeated(
    kind: ArtifactKind, address: str
) -> None:
    with pytest.raises(InvalidValue) as refused:
        check_address(kind, address)
    assert not address or address not in str(refused.value)


@pytest.mark.parametrize("address", ["https://store.example/a/b", "file:///srv/apps"])
def test_good_addresses_of_blobs_pass(address: str) -> None:
    assert check_address(ArtifactKind.BLOB, address) == address


def test_a_key_is_a_public_one_of_minisign() -> None:
    assert check_key("RW" + "Q" * 54)
    with pytest.raises(InvalidValue):
        check_key("untrusted comment")
