"""Shared runtimes over HTTP: consents, workers, who may submit, and the operator's own token."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.iam import PrincipalKind, Role
from bailiwick.kernel.apps.shared.commands import ConsentAttachment
from bailiwick.kernel.isolation.commands import SetIsolationPolicy
from bailiwick.kernel.people.commands import CreateAccount, CreateProject, SetMember
from bailiwick.services.authority import Terms
from bailiwick.vocab.shared import ConsentSide
from bailiwick.wire.actions.action import Where
from bailiwick.wire.actions.table import ACTIONS
from tests.support.http_actions import aim
from tests.support.http_house import HttpHouse, add_instances, http_house
from tests.support.shared_runtimes import add_runtimes, attach, rule_digest, shared_wish

ALL = "/v1/tenants/lab/runtimes"
ONE = f"{ALL}/main"
TINA, PIA, QUE, VIEWER = "tenant_admin@lab", "project_admin@lab", "quentin", "project_viewer@lab"
KEYLESS = (Where.SELF, Where.EVERYBODY)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("data")) as house:
        add_instances(house)
        add_runtimes(house)
        house.do(CreateProject("lab", "q"))
        house.do(SetMember(QUE, Role.PROJECT_ADMIN, "lab", "q"))
        yield house


def reason(answer: Any) -> str:
    return str(answer.json()["details"]["reason"])


def part(project: str, rest: str = "attachment") -> str:
    return f"{ONE}/projects/{project}/{rest}"


def seen(house: HttpHouse, who: str = TINA) -> Any:
    return house.ask(who, "GET", ONE).json()


# -- making one -----------------------------------------------------------------------------------


def test_a_plan_says_who_would_pay_and_only_its_digest_lets_one_be_made(house: HttpHouse) -> None:
    wish = shared_wish("lab") | {"runtime": "two", "environment": "test", "counts": {"worker": 2}}
    plan = house.ask(TINA, "POST", "/v1/tenants/lab/runtime-plans", json=wish).json()
    payers = {(row["role"], row["part"], row["count"], row["payer"]) for row in plan["reserved"]}
    assert payers == {("controller", "control_plane", 0, "p"), ("worker", "workload", 2, "p")}
    assert plan["contributable"] == ["worker"]
    assert plan["digest"] == rule_digest(wish, "lab")
    for digest in ("0" * 64, seen(house)["runtime"]["billing_digest"]):
        found = house.ask(TINA, "POST", ALL, json={**wish, "accepted_digest": digest})
        assert (found.status_code, reason(found)) == (409, "billing_rule_not_accepted")
    assert house.ask(TINA, "POST", ALL, json=wish).status_code == 422
    made = house.ask(TINA, "POST", ALL, json={**wish, "accepted_digest": plan["digest"]})
    assert made.status_code == 200, made.text
    sealed = house.records("shared_runtime_created")[-1]
    assert (sealed["accepted_by"], sealed["billing_digest"]) == (TINA, plan["digest"])
    assert "".join(sealed["billing_rule"]) == plan["rule"]
    rows = house.ask(VIEWER, "GET", ALL).json()["items"]
    assert [row["runtime"] for row in rows] == ["main", "two"]
    again = {**wish, "accepted_digest": plan["digest"]}
    assert house.ask(PIA, "POST", ALL, json=again).status_code == 403
    gone = house.ask(TINA, "DELETE", f"{ALL}/two")
    assert gone.status_code == 200


def test_no_program_consents(house: HttpHouse) -> None:
    house.do(CreateAccount("bot-q", "lab", "q"))
    house.do(SetMember("bot-q", Role.PROJECT_ADMIN, "lab", "q"))
    token = house.token("bot-q", kind=PrincipalKind.SERVICE_ACCOUNT)
    headers = {"Authorization": f"Bearer {token}"}
    found = house.client.put(part("q"), headers=headers)
    assert (found.status_code, reason(found)) == (403, "service_account_refused")


# -- attachments ----------------------------------------------------------------------------------


def test_the_tenants_administrator_does_not_consent_for_a_project(house: HttpHouse) -> None:
    assert house.ask(TINA, "PUT", f"{ONE}/attachments/q").status_code == 200
    # He may do much in every project of the tenant, and this is not among it.
    found = house.ask(TINA, "PUT", part("q"))
    assert (found.status_code, reason(found)) == (403, "needs_own_role")
    # Nor does he when he takes a role there: a person consents once.
    house.do(SetMember(TINA, Role.PROJECT_ADMIN, "lab", "q"))
    found = house.ask(TINA, "PUT", part("q"))
    assert (found.status_code, reason(found)) == (409, "same_person")
    house.do(SetMember(TINA, None, "lab", "q"))
    rows = {row["project"]: row for row in seen(house)["attachments"]}
    assert (rows["q"]["phase"], rows["q"]["accepted_by"]) == ("requested", None)
    assert house.ask(PIA, "PUT", part("q")).status_code in (403, 404)
    assert house.ask(QUE, "PUT", part("q")).status_code == 200
    row = {row["project"]: row for row in seen(house)["attachments"]}["q"]
    assert (row["phase"], row["allowed_by"], row["accepted_by"]) == ("attached", TINA, QUE)
    assert house.ask(QUE, "DELETE", part("q")).status_code == 200
    assert "q" not in {row["project"] for row in seen(house)["attachments"]}


def test_a_project_alone_is_not_attached(house: HttpHouse) -> None:
    assert house.ask(QUE, "PUT", part("q")).status_code == 200
    body = {"action": "contribute", "component_key": "q-0", "role": "worker"}
    found = house.ask(QUE, "POST", part("q", "workers"), json=body)
    assert reason(found) == "not_attached"
    asked = house.ask(QUE, "POST", part("q", "may-submit"), json={"owner": "q", "queue": "day"})
    assert asked.json()["denied"] == "not_attached"
    assert house.ask(QUE, "PUT", f"{ONE}/attachments/q").status_code == 403
    assert house.ask(TINA, "DELETE", f"{ONE}/attachments/q").status_code == 200


# -- workers --------------------------------------------------------------------------------------


def test_a_worker_is_its_projects_to_give_and_to_take_back(house: HttpHouse) -> None:
    give = {"action": "contribute", "component_key": "p-1", "role": "worker"}
    # It costs the project: who only administers the tenant does not give it.
    found = house.ask(TINA, "POST", part("p", "workers"), json=give)
    assert (found.status_code, reason(found)) == (403, "needs_own_role")
    headers = {"Idempotency-Key": "give-p-1"}
    for _ in range(2):
        found = house.ask(PIA, "POST", part("p", "workers"), json=give, headers=headers)
        assert found.status_code == 200, found.text
    row = {row["component_key"]: row for row in seen(house)["workers"]}["p-1"]
    assert (row["project"], row["phase"], row["role"]) == ("p", "contributed", "worker")
    sealed = [r for r in house.records("app_member_changed") if r["component_key"] == "p-1"]
    assert {r["source_project"] for r in sealed} == {"p"}
    for who, project in ((QUE, "q"), (PIA, "q")):
        take = {"action": "withdraw", "component_key": "p-1"}
        found = house.ask(who, "POST", part(project, "workers"), json=take)
        assert found.status_code in (403, 404)
    take = {"action": "withdraw", "component_key": "p-1", "within_ms": 0}
    assert house.ask(PIA, "POST", part("p", "workers"), json=take).status_code == 200
    row = {row["component_key"]: row for row in seen(house)["workers"]}["p-1"]
    assert row["phase"] == "draining"
    assert row["deadline_ms"] is not None


# -- who may submit -------------------------------------------------------------------------------


def ask_submit(house: HttpHouse, who: str, project: str, owner: str, queue: str = "day") -> Any:
    body = {"owner": owner, "queue": queue}
    return house.ask(who, "POST", part(project, "may-submit"), json=body).json()


def test_nobody_submits_to_another_project_without_its_word(house: HttpHouse) -> None:
    attach(house, "lab", "q")
    own = ask_submit(house, QUE, "q", "q")
    rows = {row["project"]: row for row in seen(house)["attachments"]}
    assert (own["is_allowed"], own["seq"]) == (True, rows["q"]["seq"])
    assert ask_submit(house, QUE, "q", "p")["denied"] == "no_policy"
    policy = {"queue": "day", "until_ms": 2**50, "grantee_project": "q", "limits": {"gpus": 4}}
    path = part("p", "policies/day")
    assert house.ask(QUE, "PUT", path, json=policy).status_code in (403, 404)
    assert reason(house.ask(TINA, "PUT", path, json=policy)) == "needs_own_role"
    done = house.ask(PIA, "PUT", path, json=policy)
    assert done.status_code == 200, done.text
    told = ask_submit(house, QUE, "q", "p")
    assert told == {
        "is_allowed": True,
        "denied": None,
        "policy": "day",
        "limits": {"gpus": 4},
        "seq": done.json()["seq"],
    }
    assert ask_submit(house, QUE, "q", "p", "night")["denied"] == "no_policy"
    rights = {(r["owner"], r["project"], r["queue"]) for r in seen(house)["submit_rights"]}
    assert {("p", "p", None), ("q", "q", None), ("p", "q", "day")} <= rights
    assert house.ask(PIA, "DELETE", path).status_code == 200
    assert ask_submit(house, QUE, "q", "p")["denied"] == "no_policy"
    assert house.ask(QUE, "DELETE", part("q")).status_code == 200
    assert ask_submit(house, QUE, "q", "q")["denied"] == "not_attached"


def test_one_sees_of_parts_those_of_ones_own_projects(house: HttpHouse) -> None:
    whole, own, other = seen(house), seen(house, PIA), seen(house, QUE)
    assert {row["project"] for row in whole["workers"]} == {"p"}
    assert own["workers"] == whole["workers"]
    assert (other["workers"], other["attachments"], other["submit_rights"]) == ([], [], [])
    assert other["runtime"] == whole["runtime"]


# -- the operator ---------------------------------------------------------------------------------


def operator(house: HttpHouse, tenant: str = "lab") -> dict[str, str]:
    path = f"/v1/tenants/{tenant}/runtimes/main/operator-token"
    made = house.ask(f"tenant_admin@{tenant}", "POST", path, json={"ttl_s": 60})
    assert made.status_code == 200, made.text
    assert made.json()["principal"].startswith("runtime:")
    return {"Authorization": f"Bearer {made.json()['token']}"}


def test_an_operator_reads_its_runtime_and_acts_on_the_instance_behind_it(
    house: HttpHouse,
) -> None:
    headers = operator(house)
    found = house.client.get(ONE, headers=headers).json()
    assert found["workers"] == seen(house)["workers"]
    instance = found["runtime"]["instance_id"]
    behind = f"/v1/tenants/lab/projects/p/instances/{instance}"
    told = house.client.get(behind, headers=headers)
    assert (told.status_code, told.json()["control_plane_scope"]) == (200, "tenant")
    members = house.client.get(f"{behind}/members", headers=headers).json()["items"]
    assert {row["source_project"] for row in members} == {"p"}
    report = house.client.put(
        f"{behind}/status",
        headers={**headers, "If-Match": told.headers["etag"]},
        json={"observed_generation": told.json()["generation"]},
    )
    assert report.status_code == 200, report.text
    use = {"credential": "cluster-key", "purpose": "render"}
    assert house.client.post(f"{ONE}/credential-uses", headers=headers, json=use).status_code == 200
    sealed = house.records("shared_credential_used")[-1]
    assert (sealed["credential"], sealed["purpose"]) == ("cluster-key", "render")
    assert sealed["used_by"].startswith("runtime:")
    # Not even its own is deleted by it.
    assert house.client.delete(behind, headers=headers).status_code in (403, 404)


def test_an_operator_is_nobody_for_another_runtime_or_a_project(house: HttpHouse) -> None:
    own, foreign = operator(house), operator(house, "rival")
    assert house.client.get(ONE, headers=foreign).status_code == 404
    rival = "/v1/tenants/rival/runtimes/main"
    assert house.client.get(rival, headers=foreign).status_code == 200
    for path in (rival, f"{rival}/credential-uses"):
        method = "GET" if path == rival else "POST"
        body = None if path == rival else {"credential": "key", "purpose": "render"}
        found = house.client.request(method, path, headers=own, json=body)
        assert found.status_code == 404, found.text
    # Nor for another runtime of the same owner record, and what is behind that.
    wish = shared_wish("lab") | {"runtime": "three", "environment": "stage"}
    wish["accepted_digest"] = rule_digest(wish, "lab")
    made = house.ask(TINA, "POST", ALL, json=wish)
    number = made.json()["instance_id"]
    assert house.client.get(f"{ALL}/three", headers=own).status_code == 404
    beside = f"/v1/tenants/lab/projects/p/instances/{number}"
    assert house.client.get(beside, headers=own).status_code == 404
    assert house.client.get(f"{beside}/members", headers=own).status_code == 404
    # Instance 1 is of the very project that is the owner record, and not behind the runtime.
    assert (
        house.client.get("/v1/tenants/lab/projects/p/instances/1", headers=own).status_code == 404
    )


def test_the_operator_alone_is_told_which_projects_may_not_meet(tmp_path: Path) -> None:
    with http_house(tmp_path) as house:
        add_instances(house)
        add_runtimes(house)
        house.do(CreateProject("lab", "q"))
        for side, by in ((ConsentSide.TENANT, TINA), (ConsentSide.PROJECT, QUE)):
            house.do(ConsentAttachment(tenant="lab", runtime="main", project="q", side=side, by=by))
        assert house.client.get(ONE, headers=operator(house)).json()["parted"] == []
        house.do(SetIsolationPolicy("never share fabric, rack among projects"))
        apart = {"projects": ["p", "q"], "kinds": ["fabric", "rack"]}
        assert house.client.get(ONE, headers=operator(house)).json()["parted"] == [apart]
        assert seen(house)["parted"] == []


def test_the_operator_alone_is_told_who_may_submit_and_says_what_is_left(
    house: HttpHouse,
) -> None:
    people = house.client.get(ONE, headers=operator(house)).json()["people"]
    assert {"principal": PIA, "projects": ["p"]} in people
    # Who may by a role of the tenant, or may only look, is of no project for it.
    assert not {TINA, VIEWER} & {each["principal"] for each in people}
    assert seen(house)["people"] == []
    finish = f"{ONE}/attachments/p/finish"
    assert house.ask(PIA, "POST", finish).status_code == 403
    assert house.client.post(finish, headers=operator(house, "rival")).status_code == 404
    found = house.client.post(finish, headers=operator(house))
    assert (found.status_code, found.json()["code"]) == (409, "conflict")


MINE = {"shared_runtime.read", "shared_runtime.note_use", "shared_attachment.finish"}
MINE |= {"shared_use.report"}


@pytest.mark.parametrize(
    "name", [n for n, a in ACTIONS.items() if a.where not in KEYLESS and n not in MINE]
)
def test_an_operators_token_is_good_for_no_other_action(house: HttpHouse, name: str) -> None:
    path, body = aim(ACTIONS[name], "lab")
    found = house.client.request(ACTIONS[name].method, path, headers=_cached(house), json=body)
    assert found.status_code in (403, 404), (name, found.text)


_TOKENS: dict[int, dict[str, str]] = {}


def _cached(house: HttpHouse) -> dict[str, str]:
    if id(house) not in _TOKENS:
        _TOKENS[id(house)] = operator(house)
    return _TOKENS[id(house)]


def test_nobody_else_is_given_such_a_token(house: HttpHouse) -> None:
    for who in (PIA, VIEWER):
        found = house.ask(who, "POST", f"{ONE}/operator-token", json={})
        assert found.status_code == 403
    for kind in ("human", "service_account", "runtime_operator"):
        body = {"principal": "runtime:1", "kind": kind, "ttl_s": 60}
        found = house.ask("fleet_admin", "POST", "/v1/tokens", json=body)
        assert found.status_code == 422, found.text
    # A role under that name opens nothing: it has none but what its token says.
    house.do(SetMember("runtime:1", Role.FLEET_ADMIN))
    found = house.client.get("/v1/tenants", headers=_cached(house))
    assert found.status_code in (403, 404)
    token = house.token(
        "runtime:999", kind=PrincipalKind.RUNTIME_OPERATOR, terms=Terms(within=("lab/p",))
    )
    headers = {"Authorization": f"Bearer {token}"}
    assert house.client.get(ONE, headers=headers).status_code == 404


# -- the end --------------------------------------------------------------------------------------


def test_what_is_behind_a_runtime_goes_with_it_alone(house: HttpHouse) -> None:
    instance = seen(house)["runtime"]["instance_id"]
    behind = f"/v1/tenants/lab/projects/p/instances/{instance}"
    found = house.ask(PIA, "DELETE", behind)
    assert (found.status_code, reason(found)) == (409, "backs_a_runtime")
    assert house.ask(PIA, "DELETE", ONE).status_code == 403
    done = house.ask(TINA, "DELETE", ONE)
    assert done.status_code == 200
    told = seen(house)
    assert (told["runtime"]["is_leaving"], told["runtime"]["phase"]) == (True, "deleting")
    assert told["submit_rights"] == []
    assert {row["phase"] for row in told["attachments"]} <= {"detaching"}
    give = {"action": "contribute", "component_key": "p-9", "role": "worker"}
    assert reason(house.ask(PIA, "POST", part("p", "workers"), json=give)) == "runtime_leaving"
