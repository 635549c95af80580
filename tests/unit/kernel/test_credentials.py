"""Leave to pull: for one artifact of one instance, one operation, one who asks, and minutes."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.kernel import State, decode, digest_of, encode
from bailiwick.kernel.apps import pulls
from bailiwick.kernel.apps.book import CREDENTIAL_TTL_MS_MAX, PullCredential
from bailiwick.kernel.apps.commands import (
    ChangeArtifact,
    IssueArtifactCredential,
    SetEntitlement,
)
from bailiwick.kernel.apps.instance_commands import BeginOperation, FinishOperation
from bailiwick.vocab.apps import ArtifactTrust, PullFault
from bailiwick.vocab.errors import Conflict, InstanceRefused, LimitReached, NotFound
from tests.support.app_house import OWN, AppHouse
from tests.support.app_manifests import DIGEST

OTHER = "sha256:" + "0" * 64


@pytest.fixture
def house() -> AppHouse:
    house = AppHouse()
    house.request(counts={"worker": 1})
    return house


def issue(house: AppHouse, **changes: Any) -> PullCredential:
    fields: dict[str, Any] = {**OWN, "instance_id": 1, "operation_id": 1, "digest": DIGEST}
    fields |= {"audience": "bot", "credential_id": f"c-{len(house.records)}"}
    fields |= {"expires_ms": house.now_ms + 60_000}
    command = IssueArtifactCredential(**(fields | changes))
    ((kind, body),) = house.do(command)
    assert kind == "artifact_credential_issued"
    assert body["digest"] == DIGEST.removeprefix("sha256:")
    return house.book.credentials[command.credential_id]


def fault(house: AppHouse, held: PullCredential, **changes: Any) -> PullFault | None:
    asked: dict[str, Any] = {"audience": "bot", "digest": DIGEST, "now_ms": house.now_ms}
    return house.book.find_fault(held, **(asked | changes))


def test_it_is_good_for_who_it_is_for_and_what_it_is_for(house: AppHouse) -> None:
    held = issue(house)
    assert fault(house, held) is None
    assert fault(house, held, audience="tob") is PullFault.WRONG_AUDIENCE
    assert fault(house, held, digest=OTHER) is PullFault.WRONG_DIGEST
    assert fault(house, held, now_ms=held.expires_ms - 1) is None
    assert fault(house, held, now_ms=held.expires_ms) is PullFault.EXPIRED


def test_it_ends_with_its_operation(house: AppHouse) -> None:
    house.do(BeginOperation(**OWN, instance_id=1, key="t", title="look"))
    number = max(house.held().operations)
    held = issue(house, operation_id=number)
    done = FinishOperation(**OWN, instance_id=1, operation_id=number, succeeded=True)
    house.do(done)
    assert fault(house, held) is PullFault.OPERATION_ENDED
    with pytest.raises(Conflict):
        issue(house, operation_id=number)


def test_it_ends_with_trust_and_with_leave_to_use_the_app(house: AppHouse) -> None:
    held = issue(house)
    house.do(SetEntitlement("hello", False, tenant="lab", project="vision"))
    assert fault(house, held) is PullFault.NOT_USABLE
    with pytest.raises(InstanceRefused):
        issue(house)
    house.do(SetEntitlement("hello", True, tenant="lab", project="vision"))
    assert fault(house, held) is None
    house.do(ChangeArtifact(DIGEST, trust=ArtifactTrust.REVOKED))
    assert fault(house, held) is PullFault.NOT_USABLE
    with pytest.raises(InstanceRefused) as refused:
        issue(house)
    assert refused.value.numbers["why"] == "not_verified"


def test_what_is_anothers_or_not_the_instances_is_not_there(house: AppHouse) -> None:
    for changes in (
        {"tenant": "firm"},
        {"project": "other"},
        {"instance_id": 2},
        {"operation_id": 9},
        {"digest": OTHER},
    ):
        with pytest.raises(NotFound):
            issue(house, **changes)


def test_it_lasts_minutes_and_its_id_is_its_own(house: AppHouse) -> None:
    for ends in (house.now_ms, house.now_ms + CREDENTIAL_TTL_MS_MAX + 100):
        with pytest.raises(Conflict):
            issue(house, expires_ms=ends)
    held = issue(house)
    with pytest.raises(Conflict):
        issue(house, credential_id=held.credential_id)


def test_they_are_bounded_and_those_that_ran_out_are_forgotten(
    house: AppHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulls, "CREDENTIALS_MAX", 1)
    first = issue(house)
    with pytest.raises(LimitReached):
        issue(house)
    house.now_ms = first.expires_ms + 1
    second = issue(house)
    assert list(house.book.credentials) == [second.credential_id]


def test_a_snapshot_has_them(house: AppHouse) -> None:
    issue(house)
    state = house.kernel.state
    again: State = decode(encode(state), digest_of(state))
    assert again.apps.credentials == state.apps.credentials
    assert digest_of(again) == digest_of(state)
