"""Calls of shared runtimes over HTTP: for which project, whose queue, answered by whom alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bailiwick.iam import Permission, PrincipalKind, Role, ScopeLevel
from bailiwick.kernel.apps.instance_commands import ChangeMember, MoveMember, ReportInstance
from bailiwick.kernel.people.commands import CreateAccount, CreateProject, SetMember, SetRole
from bailiwick.vocab.apps import MemberAction, MemberPhase
from tests.support.http_house import FOREIGN, HttpHouse, add_instances, http_house
from tests.support.shared_runtimes import add_runtimes, attach

ONE = "/v1/tenants/lab/runtimes/main"
MEMBER, VIEWER, STRANGER = "project_member@lab", "project_viewer@lab", f"project_member@{FOREIGN}"
TINA, QUE = "tenant_admin@lab", "quentin"
SECRET = "s3cr3t-in-a-script"
ASKED: dict[str, Any] = {"argv": ["run", "--now"], "stdin": SECRET, "wait_s": 0}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("data")) as house:
        add_instances(house)
        add_runtimes(house)
        for project in ("q", "r"):
            house.do(CreateProject("lab", project))
        attach(house, "lab", "q")
        house.do(SetMember(QUE, Role.PROJECT_MEMBER, "lab", "q"))
        house.do(SetMember("rita", Role.PROJECT_MEMBER, "lab", "r"))
        for name, key in (("sub", Permission.QUEUE_SUBMIT), ("can", Permission.QUEUE_CANCEL)):
            house.do(SetRole(f"only-{name}", ScopeLevel.PROJECT, (key,), "lab"))
            house.do(SetMember(name, None, "lab", "p", custom=f"only-{name}"))
        for account, project in (("bot-p", "p"), ("bot-q", "q")):
            house.do(CreateAccount(account, "lab", project))
            house.do(SetMember(account, Role.PROJECT_ADMIN, "lab", project))
        house.do(CreateAccount("op-lab", "lab", None))
        house.do(SetMember("op-lab", Role.PROJECT_ADMIN, "lab", "p"))
        _run(house)
        yield house


def _run(house: HttpHouse) -> None:
    number = _behind(house)
    of: dict[str, Any] = {"tenant": "lab", "project": "p", "instance_id": number}
    add = {"action": MemberAction.ADD, "component_key": "worker-0", "role": "worker"}
    house.do(ChangeMember(**of, **add, key="setup"))
    book = house.runner.read(lambda view: view.state.apps.instances)
    for member in [*book.held[number].members]:
        house.do(MoveMember(**of, member_id=member, phase=MemberPhase.READY))
    i = house.runner.read(lambda view: view.state.apps.instances.held[number].instance)
    house.do(ReportInstance(**of, revision=i.revision, observed_generation=i.generation))


def _behind(house: HttpHouse, tenant: str = "lab") -> int:
    return house.runner.read(
        lambda view: view.state.apps.shared.get(tenant, "main").runtime.instance_id
    )


def calls(house: HttpHouse) -> str:
    return f"/v1/tenants/lab/projects/p/instances/{_behind(house)}/calls"


def operator(house: HttpHouse, tenant: str = "lab") -> dict[str, str]:
    path = f"/v1/tenants/{tenant}/runtimes/main/operator-token"
    made = house.ask(f"tenant_admin@{tenant}", "POST", path, json={"ttl_s": 600}).json()
    return {"Authorization": f"Bearer {made['token']}"}


def robot(house: HttpHouse, name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {house.token(name, kind=PrincipalKind.SERVICE_ACCOUNT)}"}


def ask(house: HttpHouse, who: str = MEMBER, verb: str = "submit", **more: Any) -> Any:
    project, key = more.pop("project", "p"), more.pop("key", None)
    headers = {} if key is None else {"Idempotency-Key": key}
    path = f"{ONE}/projects/{project}/calls/{verb}"
    return house.ask(who, "POST", path, json=ASKED | more, headers=headers)


def take(house: HttpHouse, headers: dict[str, str]) -> Any:
    return house.client.post(f"{calls(house)}/take", headers=headers, json={"wait_s": 0})


def answer(house: HttpHouse, number: int, headers: dict[str, str]) -> Any:
    body = {"exit_code": 0, "stdout": "done", "stderr": ""}
    return house.client.put(f"{calls(house)}/{number}/answer", headers=headers, json=body)


def reason(found: Any) -> str:
    return str(found.json()["details"]["reason"])


def empty(house: HttpHouse) -> None:
    mine = operator(house)
    while take(house, mine).json()["call"]:
        pass


def test_the_runtimes_operator_is_told_for_whom_and_who_asked_gets_the_answer(
    house: HttpHouse,
) -> None:
    found = ask(house, key="k1")
    assert found.status_code == 200, found.text
    call, mine = found.json()["call"], operator(house)
    told = take(house, mine).json()["call"]
    assert told["part"] == {"project": "p", "owner": "p", "queue": None}
    assert (told["principal"], told["verb"], told["stdin"]) == (MEMBER, "submit", SECRET)
    assert answer(house, call["call_id"], mine).status_code == 200
    assert ask(house, key="k1").json()["call"]["reply"]["stdout"] == "done"
    assert take(house, mine).json()["call"] is None, "it was asked once"
    sealed = house.records("app_instance_called")[-1]
    assert (sealed["instance_id"], sealed["verb"]) == (_behind(house), "submit")


@pytest.mark.parametrize(
    ("who", "may"),
    [
        (MEMBER, {"submit", "read", "cancel"}),
        (VIEWER, {"read"}),
        ("sub", {"submit"}),
        ("can", {"cancel"}),
        (TINA, set()),
        (QUE, set()),
        (STRANGER, set()),
    ],
)
def test_each_verb_takes_its_key_by_a_role_at_the_project_itself(
    house: HttpHouse, who: str, may: set[str]
) -> None:
    found = {verb: ask(house, who, verb) for verb in ("submit", "read", "cancel")}
    assert {verb for verb, each in found.items() if each.status_code == 200} == may
    assert all(each.status_code in (200, 403, 404) for each in found.values())
    if who == TINA:  # she may everywhere, and is of no project for it
        assert {reason(each) for each in found.values()} == {"needs_own_role"}
    empty(house)


def test_for_a_project_without_a_part_nothing_is_asked(house: HttpHouse) -> None:
    for verb in ("submit", "read", "cancel"):
        found = ask(house, "rita", verb, project="r")
        assert (found.status_code, found.json()["code"]) == (409, "shared_runtime_refused")
        assert reason(found) == "not_attached"
    assert take(house, operator(house)).json()["call"] is None


def test_another_projects_queue_is_closed_until_that_project_opens_it(house: HttpHouse) -> None:
    wish = {"project": "q", "owner": "p", "queue": "day"}
    found = ask(house, QUE, **wish)
    assert (found.status_code, reason(found)) == (409, "no_policy")
    told = {"owner": "p", "queue": "day"}
    path = f"{ONE}/projects/q/may-submit"
    assert house.ask(QUE, "POST", path, json=told).json()["denied"] == "no_policy"
    policy = f"{ONE}/projects/p/policies/day"
    grant = {"queue": "day", "until_ms": 2**50, "grantee_project": "q"}
    assert house.ask("project_admin@lab", "PUT", policy, json=grant).status_code == 200
    assert ask(house, QUE, **wish).status_code == 200
    part = take(house, operator(house)).json()["call"]["part"]
    assert part == {"project": "q", "owner": "p", "queue": "day"}
    assert reason(ask(house, QUE, **wish | {"queue": "night"})) == "no_policy"
    assert ask(house, QUE, project="q", owner="p").status_code == 422, "and which queue?"
    for verb in ("read", "cancel"):  # these are about one's own project
        assert ask(house, QUE, verb, **wish).status_code == 422
    house.ask("project_admin@lab", "DELETE", policy)
    assert reason(ask(house, QUE, **wish)) == "no_policy"


def test_only_the_runtimes_own_operator_takes_and_answers(house: HttpHouse) -> None:
    number = ask(house).json()["call"]["call_id"]
    mine = operator(house)
    others = [robot(house, "bot-p"), robot(house, "bot-q"), operator(house, FOREIGN)]
    others += [{"Authorization": f"Bearer {house.token(who)}"} for who in (MEMBER, TINA)]
    for headers in others:
        for found in (take(house, headers), answer(house, number, headers)):
            assert found.status_code in (403, 404), found.text
            assert SECRET not in found.text
    assert reason(take(house, robot(house, "bot-p"))) == "needs_runtime_operator"
    for headers in (mine, operator(house, FOREIGN)):  # nor does an operator ask
        path = f"{ONE}/projects/p/calls/read"
        assert house.client.post(path, headers=headers, json=ASKED).status_code == 404
    assert take(house, mine).json()["call"]["call_id"] == number


def test_a_service_account_asks_for_its_own_project_alone(house: HttpHouse) -> None:
    path = f"{ONE}/projects/p/calls/submit"
    assert house.client.post(path, headers=robot(house, "bot-p"), json=ASKED).status_code == 200
    assert house.client.post(path, headers=robot(house, "bot-q"), json=ASKED).status_code == 404
    found = house.client.post(path, headers=robot(house, "op-lab"), json=ASKED)
    assert (found.status_code, reason(found)) == (403, "foreign_project")
    empty(house)


def test_what_is_behind_a_runtime_is_not_asked_as_the_owner_records_own(house: HttpHouse) -> None:
    found = house.ask(MEMBER, "POST", f"{calls(house)}/submit", json=ASKED)
    assert (found.status_code, reason(found)) == (409, "backs_a_runtime")
    number = ask(house, QUE, project="q").json()["call"]["call_id"]
    mine = operator(house)
    assert take(house, mine).json()["call"]["call_id"] == number
    assert answer(house, number, mine).status_code == 200
    # Its answer is of another project, so whoever may read the owner record's queue has no part.
    assert house.ask(MEMBER, "GET", f"{calls(house)}/{number}").status_code == 404


def test_a_dry_run_asks_nothing(house: HttpHouse) -> None:
    path = f"{ONE}/projects/p/calls/submit?dry_run=true"
    assert house.ask(MEMBER, "POST", path, json=ASKED).json()["call"] is None
    assert take(house, operator(house)).json()["call"] is None
