"""Checks over HTTP: who may have one sealed, and what is held against the journal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bailiwick.iam import PrincipalKind, Role
from bailiwick.kernel.people.commands import CreateAccount, SetMember
from tests.support.http_house import HttpHouse, add_instances, http_house

PATH = "/v1/apps/lab.svc/versions/1.0.0"
OWNER = "tenant_admin@lab"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("data")) as house:
        add_instances(house)
        house.do(CreateAccount("bot", "lab", "p"))
        house.do(SetMember("bot", Role.PROJECT_ADMIN, "lab", "p"))
        yield house


def claims(house: HttpHouse, **changes: Any) -> dict[str, Any]:
    told = house.ask(OWNER, "GET", PATH).json()
    body = {"digest": told["digest"], "tenant": "lab", "project": "p", "instance_id": 1}
    size = house.runner.read(lambda view: view.state.size)
    return body | {"first_seq": 0, "last_seq": size - 1, "operator": "bot"} | changes


def post(house: HttpHouse, who: str, **changes: Any) -> Any:
    path = changes.pop("path", PATH)
    return house.ask(who, "POST", f"{path}/checks", json=claims(house, **changes))


def requested(house: HttpHouse) -> int:
    """The number of the record that says that the instance was asked for."""
    query = {"tenant": "lab", "types": "apps.instance.requested"}
    (event,) = house.ask(OWNER, "GET", "/v1/events", params=query).json()["items"]
    return int(event["id"])


def test_what_is_found_is_judged_sealed_and_shown_in_the_catalog(house: HttpHouse) -> None:
    heard = [{"event": "requested", "seq": requested(house)}]
    found = post(house, OWNER, heard=heard)
    assert found.status_code == 200, found.text
    told = found.json()
    assert told["verdict"] == "not_ready"
    assert told["checked_ms"] > 0
    words = {each["condition"]: each["reason"] for each in told["conditions"]}
    assert words["lifecycle_events"] == "never_reached"
    assert words["service_account"] in ("operator_silent", "acted_as_others")
    (record,) = house.records("app_checked")
    assert record["evidence_digest"] == told["evidence_digest"]
    shown = house.ask("project_viewer@lab", "GET", PATH).json()
    assert shown["check"] == told


def test_a_dry_run_judges_and_seals_nothing(house: HttpHouse) -> None:
    before = len(house.records("app_checked"))
    body = claims(house)
    found = house.ask(OWNER, "POST", f"{PATH}/checks", json=body, params={"dry_run": "true"})
    assert (found.status_code, found.json()["checked_ms"]) == (200, 0)
    assert len(house.records("app_checked")) == before


def test_only_the_publishers_administrators_have_it_sealed(house: HttpHouse) -> None:
    before = len(house.records("app_checked"))
    assert post(house, "project_admin@lab").status_code == 403
    assert (
        house.ask("tenant_admin@rival", "POST", f"{PATH}/checks", json=claims(house)).status_code
        == 404
    )
    token = house.token("bot", kind=PrincipalKind.SERVICE_ACCOUNT)
    own = house.client.request(
        "POST",
        f"{PATH}/checks",
        json=claims(house),
        headers={"Authorization": f"Bearer {token}"},
    )
    assert own.status_code == 403
    assert len(house.records("app_checked")) == before


def test_an_instance_of_another_tenant_is_no_evidence(house: HttpHouse) -> None:
    for change in ({"instance_id": 2}, {"instance_id": 99}):
        found = post(house, OWNER, **change)
        assert (found.status_code, found.json()["code"]) == (409, "evidence_contradicted")
        assert found.json()["details"]["reason"] == "no_such_instance"
    theirs = post(house, OWNER, tenant="rival", instance_id=2)
    assert theirs.status_code == 403


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"digest": "sha256:" + "0" * 64}, "other_digest"),
        ({"heard": [{"event": "deleted", "seq": 3}]}, "not_that_event"),
        (
            {"policy": {"source": "main", "seq": 3, "refusal": "artifact_unusable"}},
            "not_that_policy",
        ),
        ({"last_seq": 10**9}, "too_long"),
        ({"operator": "mk_token_of_mine"}, "unknown_operator"),
    ],
)
def test_a_claim_that_the_journal_contradicts_is_refused(
    house: HttpHouse, changes: dict[str, Any], reason: str
) -> None:
    before = len(house.records("app_checked"))
    found = post(house, OWNER, **changes)
    assert (found.status_code, found.json()["code"]) == (409, "evidence_contradicted"), found.text
    assert found.json()["details"]["reason"] == reason
    assert len(house.records("app_checked")) == before


def test_a_version_that_the_instance_never_was_to_be_is_not_sealed(house: HttpHouse) -> None:
    other = "/v1/apps/lab.hello/versions/1.0.0"
    digest = house.ask(OWNER, "GET", other).json()["digest"]
    found = post(house, OWNER, path=other, digest=digest)
    assert found.json()["details"]["reason"] == "no_such_instance"


@pytest.mark.parametrize(
    "changes",
    [
        {"note": "mk_secret"},
        {"heard": [{"event": "running", "seq": 1}] * 6},
        {"foreign": [{"scope": "other_project", "action": "instance.read", "status": 404}] * 65},
        {"connections": {"looks": 1, "others": ["token.example:443"]}},
        {"kills": [{"step": "upgrade", "seq": 1}] * 9},
    ],
)
def test_what_has_no_place_or_no_bound_is_refused(
    house: HttpHouse, changes: dict[str, Any]
) -> None:
    assert post(house, OWNER, **changes).status_code == 422
