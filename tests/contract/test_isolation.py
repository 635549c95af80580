"""The isolation policy over HTTP: read, tried, set, and what was left behind is scrubbed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_house import HttpHouse, http_house

OPERATOR, AUDITOR, MEMBER = "fleet_operator", "fleet_auditor", "project_member@lab"
POLICY, PREVIEW, SCRUB = "/v1/isolation/policy", "/v1/isolation/preview", "/v1/isolation/scrub"
ENFORCE, LINT = "/v1/isolation/enforce", "/v1/isolation/lint"
LEASE = {"tenant": "lab", "project": "p", "resources": {"cpu_milli": 500}}
APART = "apart: tenant lab only on nodes with zone=inner\nkeep host for tenant lab until scrubbed"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as made:
        for entry_id in (1, 2):
            made.plain("cancel", entry_id=entry_id)
        yield made


def lease(house: HttpHouse, **more: Any) -> int:
    got = house.ask(MEMBER, "POST", "/v1/leases", json={**LEASE, **more})
    assert got.status_code == 201, got.text
    return int(got.json()["lease_ids"][0])


def put(house: HttpHouse, text: str, *, who: str = OPERATOR, **more: Any) -> Any:
    return house.ask(who, "PUT", POLICY, json={"text": text}, **more)


def test_a_policy_is_tried_then_set_and_what_the_preview_told_comes_true(house: HttpHouse) -> None:
    mine = lease(house)
    before = house.ask(AUDITOR, "GET", POLICY)
    assert (before.headers["etag"], before.json()["version"]) == ('"0"', 0)
    tried = house.ask(AUDITOR, "POST", PREVIEW, json={"text": APART}).json()
    told = next(each for each in tried["leavers"] if each["lease_id"] == mine)
    assert (told["rule"], told["kind"], told["domain"], told["partners"]) == (
        "apart",
        None,
        "n1",
        [],
    )
    assert (told["tenant"], told["project"], told["is_along"]) == ("lab", "p", False)
    assert tried["leaving"] == len(tried["leavers"])
    state = house.ask(MEMBER, "GET", f"/v1/leases/{mine}").json()["state"]
    assert state == "active"
    assert put(house, APART, headers={"If-Match": '"0"'}).status_code == 200
    state = house.ask(MEMBER, "GET", f"/v1/leases/{mine}").json()["state"]
    assert state == "grace_running"
    found = house.ask(OPERATOR, "GET", POLICY).json()
    assert (found["version"], found["text"], found["rules"]) == (1, APART, 2)


def test_who_saw_another_version_is_told_so(house: HttpHouse) -> None:
    assert put(house, "", headers={"If-Match": '"0"'}).status_code == 200
    assert put(house, "", headers={"If-Match": '"0"'}).status_code == 412


def test_a_dry_run_sets_nothing(house: HttpHouse) -> None:
    found = house.ask(OPERATOR, "PUT", POLICY + "?dry_run=true", json={"text": APART})
    assert found.status_code == 200
    assert house.ask(OPERATOR, "GET", POLICY).json()["version"] == 0


def test_a_text_that_is_no_policy_is_refused_with_its_place(house: HttpHouse) -> None:
    found = put(house, "dedicated hots for tenant bank")
    assert found.status_code == 422
    assert "line 1, column 11" in found.text


def test_every_mistake_of_a_text_is_told_at_its_character_and_a_right_one_is_linted(
    house: HttpHouse,
) -> None:
    def lint(text: str, who: str = AUDITOR) -> Any:
        return house.ask(who, "POST", LINT, json={"text": text})

    wrong = lint(
        "apart: tenant lab onli on nodes with zone=inner\n\n"
        "keep hosst for tenant lab until scrubbed"
    ).json()
    assert wrong["findings"] == []
    assert [(each["line"], each["found"]) for each in wrong["problems"]] == [
        (1, "onli"),
        (3, "hosst"),
    ]
    lines = ("apart: tenant lab onli", "keep hosst")
    for each, line in zip(wrong["problems"], lines, strict=True):
        assert line[each["column"] - 1 :] == each["found"]
    right = lint(APART.replace("lab", "nobody")).json()
    assert right["problems"] == []
    assert any("nobody" in each["sentence"] for each in right["findings"])
    assert lint(APART, MEMBER).status_code == 403


def test_only_the_fleets_people_see_it_and_an_auditor_does_not_set_it(house: HttpHouse) -> None:
    assert house.ask(MEMBER, "GET", POLICY).status_code == 403
    assert put(house, "", who=AUDITOR).status_code == 403


def test_what_was_left_behind_is_shown_until_it_is_scrubbed(house: HttpHouse) -> None:
    assert put(house, "ash: keep host for label team=red until scrubbed").status_code == 200
    mine = lease(house, job_labels=["team=red"])
    assert house.ask(AUDITOR, "GET", POLICY).json()["residues"] == []
    assert house.ask(MEMBER, "DELETE", f"/v1/leases/{mine}").status_code == 200
    (row,) = house.ask(AUDITOR, "GET", POLICY).json()["residues"]
    assert (row["rule"], row["kind"], row["domain"], row["until_ms"]) == ("ash", "host", "n1", None)
    body = {"kind": "host", "domain": "n1"}
    assert house.ask(OPERATOR, "POST", SCRUB, json=body).status_code == 200
    assert house.ask(AUDITOR, "GET", POLICY).json()["residues"] == []
    assert house.ask(OPERATOR, "POST", SCRUB, json=body).status_code == 409


def test_a_waiting_request_that_could_never_run_is_named(house: HttpHouse) -> None:
    whole = {**LEASE, "resources": {"cpu_milli": 64_000}}
    got = house.ask(MEMBER, "POST", "/v1/leases", json=whole)
    entry = got.json()["entry_id"]
    tried = house.ask(OPERATOR, "POST", PREVIEW, json={"text": APART}).json()
    assert {"entry_id": entry, "tenant": "lab", "project": "p", "rule": "apart"} in tried["never"]


def test_a_policy_is_enforced_without_being_set_and_a_repeated_call_does_it_once(
    house: HttpHouse,
) -> None:
    mine, text = lease(house), {"text": APART}
    tried = house.ask(OPERATOR, "POST", ENFORCE + "?dry_run=true", json=text).json()
    assert (tried["seq"], tried["recovered"]) == (None, [])
    assert house.ask(MEMBER, "GET", f"/v1/leases/{mine}").json()["state"] == "active"
    key = {"Idempotency-Key": "again"}
    done = house.ask(OPERATOR, "POST", ENFORCE, json=text, headers=key).json()
    assert tried["leases"] == done["leases"] == len(done["recovered"]) >= 1
    told = next(each for each in done["recovered"] if each["lease_id"] == mine)
    assert (told["rule"], told["kind"], told["domain"]) == ("apart", None, "n1")
    assert house.ask(MEMBER, "GET", f"/v1/leases/{mine}").json()["state"] == "grace_running"
    assert house.ask(OPERATOR, "GET", POLICY).json()["version"] == 0
    assert house.ask(OPERATOR, "POST", ENFORCE, json=text, headers=key).json() == done
    again = house.ask(OPERATOR, "POST", ENFORCE, json=text).json()
    assert again == {"seq": None, "violations": 0, "leases": 0, "recovered": []}
    assert len(house.records("isolation_enforced")) == 1


def test_who_may_not_set_a_policy_enforces_none(house: HttpHouse) -> None:
    mine = lease(house)
    for who in (AUDITOR, MEMBER):
        assert house.ask(who, "POST", ENFORCE, json={"text": APART}).status_code == 403
    assert house.ask(MEMBER, "GET", f"/v1/leases/{mine}").json()["state"] == "active"
    wrong = house.ask(OPERATOR, "POST", ENFORCE, json={"text": "dedicated hots"})
    assert wrong.status_code == 422
