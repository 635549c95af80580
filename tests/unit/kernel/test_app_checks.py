"""Checks in the kernel: it judges by itself, seals what it says, and knows what is claimed."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.apps.readiness.evidence import PolicyTry, RunbookTry, read_evidence
from bailiwick.iam import Role
from bailiwick.kernel import State, decode, digest_of, encode
from bailiwick.kernel.apps.checks.commands import RecordAppCheck
from bailiwick.kernel.apps.commands import PublishApp
from bailiwick.kernel.people.commands import CreateAccount, SetMember
from bailiwick.vocab.errors import EvidenceContradicted, InvalidValue, NotFound
from bailiwick.vocab.readiness import EvidenceFault, Readiness
from tests.support.app_house import OWN, AppHouse
from tests.support.readiness import checked_manifest, good_evidence


@pytest.fixture
def house() -> AppHouse:
    house = AppHouse(versions=("2.0.0",))
    for version in ("1.0.0", "1.1.0"):
        house.do(PublishApp(checked_manifest(version=version).canonical))
    house.do(CreateAccount("bot", **OWN))
    house.do(SetMember("bot", Role.PROJECT_ADMIN, **OWN))
    return house


def digest(house: AppHouse, version: str = "1.0.0") -> str:
    return house.book.version("hello", version).digest


def check(house: AppHouse, **changes: Any) -> RecordAppCheck:
    found = good_evidence(changes.pop("digest", digest(house)), **changes)
    return RecordAppCheck("hello", "1.0.0", found.canonical)


def test_what_is_sealed_is_what_the_kernel_says_with_all_of_the_evidence(house: AppHouse) -> None:
    command = check(house)
    ((kind, body),) = house.do(command)
    assert (kind, body["verdict"], body["app"]) == ("app_checked", "ready", "hello")
    assert "".join(body["evidence"]) == command.evidence
    assert body["evidence_digest"] == read_evidence(command.evidence).digest
    assert body["digest"] == digest(house).removeprefix("sha256:")
    held = house.book.checks["hello", "1.0.0"]
    assert (held.verdict, held.evidence_digest) == (Readiness.READY, body["evidence_digest"])
    assert ("hello", "1.1.0") not in house.book.checks


def test_the_last_check_counts(house: AppHouse) -> None:
    house.do(check(house))
    house.do(check(house, strangers=1))
    assert house.book.checks["hello", "1.0.0"].verdict is Readiness.NOT_READY


def test_a_check_of_one_version_is_none_of_another(house: AppHouse) -> None:
    with pytest.raises(EvidenceContradicted) as refused:
        house.do(check(house, digest=digest(house, "1.1.0")))
    assert refused.value.reason is EvidenceFault.OTHER_DIGEST
    with pytest.raises(InvalidValue):
        RecordAppCheck("hello", "1.1.0", good_evidence(digest(house)).canonical)
    with pytest.raises(NotFound):
        house.do(RecordAppCheck("other", "1.0.0", good_evidence(digest(house)).canonical))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"project": "nowhere"}, EvidenceFault.NO_SUCH_INSTANCE),
        ({"operator": "mk_secret"}, EvidenceFault.UNKNOWN_OPERATOR),
        ({"policy": PolicyTry("secret", 80, None)}, EvidenceFault.NOT_THAT_POLICY),
        ({"runbook": RunbookTry(2, 0)}, EvidenceFault.OTHER_RUNBOOK),
    ],
)
def test_names_that_are_not_known_here_are_not_sealed(
    house: AppHouse, changes: dict[str, Any], fault: EvidenceFault
) -> None:
    with pytest.raises(EvidenceContradicted) as refused:
        house.do(check(house, **changes))
    assert refused.value.reason is fault
    assert house.book.checks == {}


def test_what_the_directory_says_of_the_account_counts(house: AppHouse) -> None:
    house.do(CreateAccount("roamer", "lab"))
    ((_, body),) = house.do(check(house, operator="roamer"))
    assert "service_account=not_an_account" in body["reasons"]


def test_a_snapshot_keeps_checks(house: AppHouse) -> None:
    house.do(check(house))
    state = house.kernel.state
    loaded: State = decode(encode(state), digest_of(state))
    assert loaded.apps.checks == state.apps.checks
    assert digest_of(loaded) == digest_of(state)
