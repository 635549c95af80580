"""Instances of apps over HTTP: what projects want, what operators say, and who may not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bailiwick.iam import PrincipalKind, Role
from bailiwick.kernel.apps.commands import ChangeApp, ChangeArtifact, SetEntitlement
from bailiwick.kernel.people.commands import CreateAccount, CreateProject, SetMember
from bailiwick.vocab.apps import ArtifactTrust
from tests.support.app_manifests import DIGEST
from tests.support.http_house import HttpHouse, MovedClock, add_instances, http_house

ALL = "/v1/tenants/lab/projects/p/instances"
ONE = f"{ALL}/1"
BOSS, VIEWER, ADMIN = "project_admin@lab", "project_viewer@lab", "fleet_admin"


@pytest.fixture(scope="module")
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, clock: MovedClock) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("data"), clock=clock) as house:
        add_instances(house)
        house.do(CreateProject("lab", "q"))
        for account, project in (("op-p", "p"), ("op-q", "q"), ("op-lab", None)):
            house.do(CreateAccount(account, "lab", project))
        for project in ("p", "q"):
            house.do(SetMember(f"op-{project}", Role.PROJECT_ADMIN, "lab", project))
        house.do(SetMember("op-lab", Role.TENANT_ADMIN, "lab"))
        house.do(SetMember("pat", Role.PROJECT_ADMIN, "lab", "q"))
        yield house


def robot(house: HttpHouse, name: str, method: str, path: str, **more: Any) -> Any:
    token = house.token(name, kind=PrincipalKind.SERVICE_ACCOUNT)
    headers = {"Authorization": f"Bearer {token}", **more.pop("headers", {})}
    return house.client.request(method, path, headers=headers, **more)


def make(house: HttpHouse, name: str, **more: Any) -> int:
    body = {"name": name, "app": "lab.svc", "version": "1.0.0", **more}
    made = house.ask(BOSS, "POST", ALL, json=body)
    assert made.status_code == 200, made.text
    return int(made.json()["instance_id"])


def test_one_is_made_listed_and_read(house: HttpHouse) -> None:
    body = {"name": "one", "app": "lab.svc", "version": "1.0.0", "counts": {"worker": 3}}
    dry = house.ask(BOSS, "POST", ALL, json=body, params={"dry_run": "true"}).json()
    assert dry == {"answer": "done", "seq": None, "instance_id": None}
    number = make(house, "one", counts={"worker": 3})
    found = house.ask(VIEWER, "GET", f"{ALL}/{number}")
    told = found.json()
    assert (told["name"], told["counts"]["worker"], told["generation"]) == ("one", 3, 1)
    assert found.headers["etag"] == f'"{told["revision"]}"'
    for query, names in (
        ({"name": "one"}, ["one"]),
        ({"app": "lab.none"}, []),
        ({"phase": "running,failed"}, []),
        ({"app": "lab.svc", "limit": 1}, ["demo"]),
    ):
        page = house.ask(VIEWER, "GET", ALL, params=query).json()
        assert [each["name"] for each in page["items"]] == names
    following = house.ask(VIEWER, "GET", ALL, params={"cursor": page["next"]}).json()
    assert "one" in [each["name"] for each in following["items"]]
    again = house.ask(BOSS, "POST", ALL, json=body)
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


def test_the_same_request_under_its_key_is_one_instance(house: HttpHouse) -> None:
    body = {"name": "keyed", "app": "lab.svc", "version": "1.0.0"}
    headers = {"Idempotency-Key": "make-keyed"}
    first, second = (house.ask(BOSS, "POST", ALL, json=body, headers=headers) for _ in range(2))
    assert first.status_code == 200
    assert first.json() == second.json()


def test_what_is_not_allowed_is_refused_with_its_word(house: HttpHouse) -> None:
    wish = {"name": "no", "app": "lab.svc", "version": "1.0.0"}
    for more, reason in (
        ({"counts": {"worker": 101}}, "count_out_of_range"),
        ({"parameters": {"a": []}, "app": "lab.hello"}, "not_enabled"),
        ({"operating_mode": "platform_managed"}, "mode_not_offered"),
    ):
        found = house.ask(BOSS, "POST", ALL, json=wish | more)
        assert (found.status_code, found.json()["code"]) == (409, "instance_refused"), found.text
        assert found.json()["details"]["reason"] == reason
    assert house.ask(VIEWER, "POST", ALL, json=wish).status_code == 403
    unknown = house.ask(BOSS, "POST", ALL, json=wish | {"app": "rival.svc"})
    assert unknown.status_code == 404


def test_members_who_want_the_host_are_refused_before_anything_is_made(house: HttpHouse) -> None:
    house.do(SetEntitlement("lab.hello", True, tenant="lab"))
    wish = {"name": "h", "app": "lab.hello", "version": "1.0.0"}
    first = house.ask(BOSS, "POST", ALL, json=wish)
    assert first.json()["details"]["reason"] == "host_not_granted"
    house.do(ChangeApp("lab.hello", "1.0.0", host_granted=True))
    house.do(ChangeArtifact(DIGEST, "lab", trust=ArtifactTrust.VERIFIED))
    found = house.ask(BOSS, "POST", ALL, json=wish)
    assert found.status_code == 409
    assert found.json()["code"] == "not_honoured"
    assert found.json()["details"]["what"] == "host_privileges"
    house.do(SetEntitlement("lab.hello", False, tenant="lab"))


def test_a_report_is_about_a_revision(house: HttpHouse) -> None:
    number = make(house, "watched")
    path, body = f"{ALL}/{number}/status", {"observed_generation": 1, "reason": "all is well"}
    bare = robot(house, "op-p", "PUT", path, json=body)
    assert (bare.status_code, bare.json()["code"]) == (428, "precondition_required")
    etag = house.ask(VIEWER, "GET", f"{ALL}/{number}").headers["etag"]
    stale = robot(house, "op-p", "PUT", path, json=body, headers={"If-Match": '"999"'})
    assert (stale.status_code, stale.json()["code"]) == (412, "stale")
    good = robot(house, "op-p", "PUT", path, json=body, headers={"If-Match": etag})
    assert good.status_code == 200, good.text
    told = house.ask(VIEWER, "GET", f"{ALL}/{number}").json()
    assert (told["observed_generation"], told["reason"]) == (1, "all is well")
    bad = robot(
        house, "op-p", "PUT", path, json=body | {"phase": "deleted"}, headers={"If-Match": etag}
    )
    assert bad.status_code == 422


CHANGES = [
    ("PATCH", "", {"counts": {"worker": 2}}),
    ("DELETE", "", None),
    ("PUT", "/status", {"observed_generation": 1}),
    ("POST", "/members", {"action": "remove", "component_key": "worker-0"}),
    ("POST", "/operations", {"title": "backup"}),
    ("PATCH", "/operations/3", {"progress": 1}),
    ("POST", "/operations/3/result", {"is_succeeded": False}),
]


@pytest.mark.parametrize(("method", "rest", "body"), CHANGES)
def test_an_account_of_another_project_touches_nothing(
    house: HttpHouse, method: str, rest: str, body: Any
) -> None:
    headers = {"If-Match": '"1"'}
    found = robot(house, "op-lab", method, ONE + rest, json=body, headers=headers)
    assert found.status_code == 403, found.text
    assert found.json()["details"] == {"reason": "foreign_project"}
    sealed = house.records("access_refused")[-1]
    assert (sealed["reason"], sealed["principal"]) == ("foreign_project", "op-lab")
    for who in ("op-q", "bot-rival"):
        hidden = robot(house, who, method, ONE + rest, json=body, headers=headers)
        assert (hidden.status_code, hidden.json()["code"]) == (404, "not_found")
    person = house.ask("pat", method, ONE + rest, json=body, headers=headers)
    assert person.status_code == 404
    # Its own project has no such instance, whatever number it names.
    elsewhere = (ONE + rest).replace("/p/", "/q/")
    found = robot(house, "op-q", method, elsewhere, json=body, headers=headers)
    assert (found.status_code, found.json()["code"]) == (404, "not_found")


def test_an_account_of_a_tenant_may_look_and_that_of_another_project_may_not(
    house: HttpHouse,
) -> None:
    for rest in ("", "/members", "/operations", "/operations/3"):
        assert robot(house, "op-lab", "GET", ONE + rest).status_code == 200
        assert robot(house, "op-q", "GET", ONE + rest).status_code == 404
        assert robot(house, "op-p", "GET", ONE + rest).status_code == 200
    create = {"name": "x", "app": "lab.svc", "version": "1.0.0"}
    assert robot(house, "op-q", "POST", ALL, json=create).status_code == 404
    assert robot(house, "op-lab", "POST", ALL, json=create).status_code == 403


def test_a_change_is_a_new_generation_and_an_old_revision_changes_nothing(
    house: HttpHouse,
) -> None:
    number = make(house, "growing")
    path = f"{ALL}/{number}"
    etag = house.ask(BOSS, "GET", path).headers["etag"]
    headers = {"If-Match": etag}
    body = {"counts": {"worker": 5}}
    assert house.ask(BOSS, "PATCH", path, json=body, headers=headers).status_code == 200
    assert house.ask(BOSS, "PATCH", path, json={"is_paused": True}).status_code == 200
    told = house.ask(BOSS, "GET", path).json()
    assert (told["counts"]["worker"], told["is_paused"]) == (5, True)
    assert told["generation"] > 1
    assert "paused" in told["conditions"]
    assert house.ask(BOSS, "DELETE", path, headers=headers).status_code == 412
    nowhere = house.ask(BOSS, "PATCH", path, json={"version": "9.0.0"})
    assert nowhere.status_code in (404, 409)
    back = house.ask(BOSS, "PATCH", path, json={"rollback": True})
    assert back.json()["details"]["reason"] == "nothing_to_roll_back"


def test_a_member_operation_happens_once_under_its_key(house: HttpHouse) -> None:
    number = make(house, "keys")
    path = f"{ALL}/{number}/members"
    body = {"action": "add", "component_key": "w", "role": "worker"}
    headers = {"Idempotency-Key": "add-w"}
    first, second = (
        robot(house, "op-p", "POST", path, json=body, headers=headers) for _ in range(2)
    )
    assert first.status_code == second.status_code == 200, first.text
    assert first.json()["operation_id"] == second.json()["operation_id"]
    # Another caller with the same key means the same operation.
    third = house.ask(BOSS, "POST", path, json=body, headers=headers)
    assert third.json() == {**first.json(), "seq": None}
    found = house.ask(VIEWER, "GET", path, params={"role": "worker"}).json()["items"]
    assert [each["component_key"] for each in found] == ["w"]
    bad = house.ask(BOSS, "POST", path, json={"action": "add", "component_key": "v"})
    assert bad.status_code == 422
    gone = house.ask(BOSS, "POST", path, json={"action": "drain", "component_key": "v"})
    assert gone.status_code == 404
    operation = house.ask(VIEWER, "GET", f"{ALL}/{number}/operations").json()["items"][0]
    assert (operation["kind"], operation["component_key"]) == ("member_add", "w")


def test_all_members_of_a_project_are_read_page_by_page(house: HttpHouse) -> None:
    for name in ("many-1", "many-2"):
        path = f"{ALL}/{make(house, name)}/members"
        for key in ("a", "b", "c"):
            body = {"action": "add", "component_key": key, "role": "worker"}
            assert house.ask(BOSS, "POST", path, json=body).status_code == 200
    path, found, cursor = ALL.replace("instances", "instance-members"), [], None
    for _ in range(50):  # bounded: there are not so many
        query = {"limit": 2} if cursor is None else {"limit": 2, "cursor": cursor}
        page = house.ask(VIEWER, "GET", path, params=query).json()
        found += [(each["instance_id"], each["member_id"]) for each in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    whole = house.ask(VIEWER, "GET", path, params={"limit": 500}).json()["items"]
    assert found == [(each["instance_id"], each["member_id"]) for each in whole]
    assert len(found) == len(set(found)) >= 7
    assert house.ask(VIEWER, "GET", path, params={"phase": "ready"}).json()["items"] == []
    assert house.ask(VIEWER, "GET", path, params={"cursor": "x"}).status_code == 422
    assert robot(house, "op-q", "GET", path).status_code == 404


def test_a_task_goes_on_and_ends_and_other_work_ends_by_itself(house: HttpHouse) -> None:
    number = make(house, "tasks")
    path = f"{ALL}/{number}/operations"
    begun = robot(house, "op-p", "POST", path, json={"title": "backup"}).json()["operation_id"]
    own = f"{path}/{begun}"
    body = {"progress": 40, "log": ["first part"]}
    assert robot(house, "op-p", "PATCH", own, json=body).status_code == 200
    back = robot(house, "op-p", "PATCH", own, json={"progress": 10})
    assert back.status_code == 409
    told = house.ask(VIEWER, "GET", own).json()
    assert (told["phase"], told["progress"], told["log"]) == ("running", 40, ["first part"])
    end = {"is_succeeded": True, "result": "42 files"}
    assert robot(house, "op-p", "POST", f"{own}/result", json=end).status_code == 200
    assert house.ask(VIEWER, "GET", own).json()["result"] == "42 files"
    running = house.ask(VIEWER, "GET", path, params={"phase": "running"}).json()["items"]
    (create,) = [each for each in running if each["kind"] == "create"]
    refused = robot(house, "op-p", "POST", f"{path}/{create['operation_id']}/result", json=end)
    assert refused.status_code == 409


def test_a_deletion_is_forced_by_people_of_the_fleet_after_its_deadline(
    house: HttpHouse, clock: MovedClock
) -> None:
    number = make(house, "stuck")
    path, why = f"{ALL}/{number}", {"reason": "its operator is gone for good"}
    members = {"action": "add", "component_key": "w", "role": "worker"}
    assert house.ask(BOSS, "POST", f"{path}/members", json=members).status_code == 200
    force = f"{path}/force-deletion"
    assert house.ask(ADMIN, "POST", force, json=why).status_code == 409
    assert house.ask(BOSS, "DELETE", path).status_code == 200
    told = house.ask(VIEWER, "GET", path).json()
    assert told["phase"] == "deleting"
    early = house.ask(ADMIN, "POST", force, json=why)
    assert early.status_code == 409
    assert not house.records("break_glass")  # what is refused breaks nothing
    clock.ahead_ms += 700_000  # the time to delete is ten minutes, unless the manifest says so
    assert "deletion_overdue" in house.ask(VIEWER, "GET", path).json()["conditions"]
    assert house.ask(BOSS, "POST", force, json=why).status_code == 403
    house.do(CreateAccount("robot"))
    house.do(SetMember("robot", Role.FLEET_ADMIN))
    refused = robot(house, "robot", "POST", force, json=why)
    assert refused.json()["details"] == {"reason": "service_account_refused"}
    short = house.ask(ADMIN, "POST", force, json={"reason": "why not"})
    assert short.status_code == 422
    headers = {"Idempotency-Key": "by-force"}
    done = house.ask(ADMIN, "POST", force, json=why, headers=headers)
    assert done.status_code == 200, done.text
    (glass,) = house.records("break_glass")
    assert glass["justification"] == why["reason"]
    moved = house.records("app_instance_moved")[-1]
    assert (moved["phase"], moved["forced"]) == ("deleted", 1)
    assert house.ask(VIEWER, "GET", path).status_code == 404
    again = house.ask(ADMIN, "POST", force, json=why, headers=headers)
    assert again.json() == done.json()
    assert len(house.records("break_glass")) == 1
