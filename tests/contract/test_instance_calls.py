"""Calls of instances over HTTP: by whom, of which instance, answered by whom, and how often."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from bailiwick.iam import Permission, PrincipalKind, Role, ScopeLevel
from bailiwick.kernel.apps.instance_commands import MoveMember, ReportInstance
from bailiwick.kernel.people.commands import (
    CreateAccount,
    CreateProject,
    SetMember,
    SetRole,
)
from bailiwick.vocab.apps import MemberPhase
from tests.support.http_house import FOREIGN, HttpHouse, MovedClock, add_instances, http_house
from tests.support.waiting import WAIT_S

ONE = "/v1/tenants/lab/projects/p/instances/1/calls"
MEMBER, VIEWER, STRANGER = "project_member@lab", "project_viewer@lab", f"project_member@{FOREIGN}"
SECRET = "s3cr3t-in-a-script"
ASKED: dict[str, Any] = {"argv": ["run", "--now"], "stdin": SECRET, "wait_s": 0}


@pytest.fixture(scope="module")
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, clock: MovedClock) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("data"), clock=clock) as house:
        add_instances(house)
        of: dict[str, Any] = {"tenant": "lab", "project": "p", "instance_id": 1}
        house.do(MoveMember(**of, member_id=1, phase=MemberPhase.READY))
        revision = house.runner.read(
            lambda view: view.state.apps.instances.held[1].instance.revision
        )
        house.do(ReportInstance(**of, revision=revision, observed_generation=1))
        house.do(CreateProject("lab", "q"))
        for account, project in (("op-p", "p"), ("op-2", "p"), ("op-q", "q"), ("op-lab", None)):
            house.do(CreateAccount(account, "lab", project))
            role = Role.TENANT_ADMIN if project is None else Role.PROJECT_ADMIN
            house.do(SetMember(account, role, "lab", project))
        for name, key in (("sub", Permission.QUEUE_SUBMIT), ("can", Permission.QUEUE_CANCEL)):
            house.do(SetRole(f"only-{name}", ScopeLevel.PROJECT, (key,), "lab"))
            house.do(SetMember(name, None, "lab", "p", custom=f"only-{name}"))
        empty(house)
        yield house


def robot(house: HttpHouse, name: str, method: str, path: str, **more: Any) -> Any:
    headers = {"Authorization": f"Bearer {house.token(name, kind=PrincipalKind.SERVICE_ACCOUNT)}"}
    return house.client.request(method, ONE + path, headers=headers, **more)


def take(house: HttpHouse, name: str = "op-p", wait_s: int = 0) -> Any:
    return robot(house, name, "POST", "/take", json={"wait_s": wait_s})


def empty(house: HttpHouse) -> None:
    while take(house).json()["call"]:
        pass


def ask(house: HttpHouse, who: str = MEMBER, verb: str = "submit", **more: Any) -> Any:
    key = more.pop("key", None)
    headers = {} if key is None else {"Idempotency-Key": key}
    return house.ask(who, "POST", f"{ONE}/{verb}", json=ASKED | more, headers=headers)


def answer(house: HttpHouse, number: int, name: str = "op-p", **more: Any) -> Any:
    body = {"exit_code": 0, "stdout": "done", "stderr": ""} | more
    return robot(house, name, "PUT", f"/{number}/answer", json=body)


def test_the_operator_sees_who_asks_what_and_the_asker_gets_the_answer(house: HttpHouse) -> None:
    found = ask(house, key="k1")
    assert found.status_code == 200, found.text
    call = found.json()["call"]
    assert (call["phase"], call["reply"], call["principal"]) == ("open", None, MEMBER)
    told = take(house).json()["call"]
    assert told == {
        "call_id": call["call_id"],
        "tenant": "lab",
        "project": "p",
        "instance_id": 1,
        "verb": "submit",
        "principal": MEMBER,
        "correlation_id": call["correlation_id"],
        "argv": ["run", "--now"],
        "stdin": SECRET,
        "expires_ms": call["expires_ms"],
        "part": None,
    }
    assert ask(house, key="k1").json()["call"]["phase"] == "taken"
    assert answer(house, call["call_id"], exit_code=3).status_code == 200
    again = ask(house, key="k1").json()["call"]
    assert again["reply"] == {
        "exit_code": 3,
        "stdout": "done",
        "stderr": "",
        "is_truncated": False,
    }
    assert take(house).json()["call"] is None
    seen = house.ask(VIEWER, "GET", f"{ONE}/{call['call_id']}")
    assert seen.json() == again
    assert SECRET not in seen.text


def test_who_waits_is_told_at_once(house: HttpHouse) -> None:
    heard: list[Any] = []
    waiter = threading.Thread(target=lambda: heard.append(ask(house, wait_s=20)))
    waiter.start()
    told = take(house, wait_s=20).json()["call"]
    assert answer(house, told["call_id"]).status_code == 200
    waiter.join(WAIT_S)
    assert heard[0].json()["call"]["reply"]["stdout"] == "done"


def test_a_call_is_answered_once_by_who_took_it(house: HttpHouse) -> None:
    number = ask(house).json()["call"]["call_id"]
    early = answer(house, number)
    assert (early.status_code, early.json()["code"]) == (409, "conflict")
    assert take(house).json()["call"]["call_id"] == number
    assert take(house, "op-2").json()["call"] is None
    assert answer(house, number, "op-2").status_code == 409
    assert answer(house, number).status_code == 200
    assert answer(house, number, stdout="other").status_code == 409
    seen = house.ask(VIEWER, "GET", f"{ONE}/{number}").json()
    assert seen["reply"]["stdout"] == "done"


@pytest.mark.parametrize(
    ("who", "may"),
    [
        (MEMBER, {"submit", "read", "cancel"}),
        (VIEWER, {"read"}),
        ("sub", {"submit"}),
        ("can", {"cancel"}),
        (STRANGER, set()),
    ],
)
def test_each_verb_has_its_own_key(house: HttpHouse, who: str, may: set[str]) -> None:
    found = {verb: ask(house, who, verb) for verb in ("submit", "read", "cancel")}
    assert {verb for verb, each in found.items() if each.status_code == 200} == may
    for verb, each in found.items():
        if verb not in may:
            assert each.status_code == (404 if who == STRANGER else 403), each.text
    verbs = [take(house).json()["call"]["verb"] for _ in may]
    assert set(verbs) == may


def test_the_verb_that_was_checked_is_the_one_that_the_operator_is_told(house: HttpHouse) -> None:
    found = ask(house, VIEWER, "read", argv=["run"])
    assert found.status_code == 200
    assert take(house).json()["call"]["verb"] == "read"
    wrong = house.ask(VIEWER, "POST", f"{ONE}/read", json=ASKED | {"verb": "submit"})
    assert wrong.status_code == 422


def test_another_projects_account_neither_takes_nor_answers_nor_asks(house: HttpHouse) -> None:
    number = ask(house).json()["call"]["call_id"]
    for name in ("op-q", "op-lab", f"bot-{FOREIGN}"):
        for found in (take(house, name), answer(house, number, name)):
            assert found.status_code in (403, 404), found.text
            assert SECRET not in found.text
        assert robot(house, name, "POST", "/submit", json=ASKED).status_code in (403, 404)
    taken = take(house).json()["call"]
    assert taken["call_id"] == number


def test_a_person_takes_nothing_and_answers_nothing(house: HttpHouse) -> None:
    boss = "project_admin@lab"
    for method, path, body in (
        ("POST", "/take", {}),
        ("PUT", "/1/answer", {"exit_code": 0}),
    ):
        found = house.ask(boss, method, ONE + path, json=body)
        assert found.status_code == 403
        assert found.json()["details"]["reason"] == "needs_service_account"


def test_another_instances_call_is_not_there(house: HttpHouse) -> None:
    number = ask(house).json()["call"]["call_id"]
    other = ONE.replace("/instances/1/", "/instances/2/")
    assert house.ask(VIEWER, "GET", f"{other}/{number}").status_code == 404
    assert house.ask(STRANGER, "GET", f"{ONE}/{number}").status_code == 404
    assert house.ask("sub", "GET", f"{ONE}/{number}").status_code == 403
    empty(house)


def test_a_call_that_nobody_answers_in_its_time_is_told_so_and_not_asked_again(
    house: HttpHouse, clock: MovedClock
) -> None:
    for is_taken in (False, True):
        key = f"late-{is_taken}"
        number = ask(house, key=key, within_s=1).json()["call"]["call_id"]
        if is_taken:
            assert take(house).json()["call"]["call_id"] == number
        clock.ahead_ms += 1_000
        for _ in range(2):
            late = ask(house, key=key, within_s=1)
            assert (late.status_code, late.json()["code"]) == (409, "call_unanswered")
            assert late.json()["details"] == {"call_id": number, "was_taken": int(is_taken)}
        assert take(house).json()["call"] is None
        assert answer(house, number).status_code == 409
        assert house.ask(VIEWER, "GET", f"{ONE}/{number}").json()["phase"] == "unanswered"
    clock.ahead_ms += 700_000
    assert ask(house).status_code == 200  # rows that are too old go when others come
    empty(house)
    forgotten = ask(house, key=key, within_s=1)  # and still not asked again
    assert forgotten.json()["code"] == "call_unanswered"
    assert take(house).json()["call"] is None


def test_what_was_asked_and_answered_is_in_no_record(house: HttpHouse) -> None:
    number = ask(house).json()["call"]["call_id"]
    take(house)
    answer(house, number, stdout="an answer of words")
    store = house.runner.replica.store
    lines = b"".join(house.runner.read(lambda view: store.read(0, view.state.size)))
    assert b"app_instance_called" in lines
    for words in (SECRET, "--now", "an answer of words"):
        assert words.encode() not in lines


def test_another_question_under_the_same_key_is_refused(house: HttpHouse) -> None:
    assert ask(house, key="same").status_code == 200
    found = ask(house, key="same", stdin="another")
    assert found.status_code in (409, 422), found.text
    empty(house)


def test_what_is_no_question_is_refused_at_the_door_and_not_shown(house: HttpHouse) -> None:
    for wrong in (
        {"argv": []},
        {"argv": [""]},
        {"argv": [SECRET] * 129},
        {"argv": [SECRET + "x" * 4_096]},
        {"argv": [SECRET + "\0"]},
        {"stdin": SECRET + "é" * 131_000},
        {"within_s": 301},
        {"wait_s": 21},
    ):
        found = ask(house, **wrong)
        assert found.status_code == 422, found.text
        assert SECRET not in found.text
    assert take(house).json()["call"] is None


def test_a_dry_run_asks_nothing(house: HttpHouse) -> None:
    found = house.ask(MEMBER, "POST", f"{ONE}/submit?dry_run=true", json=ASKED)
    assert found.json()["call"] is None
    assert take(house).json()["call"] is None
