"""The kit's hook for calls, over a real server: what is asked is answered, once, and not logged."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bailiwick.apps.calls import OUTPUT_BYTES_MAX
from bailiwick.client import Client, Refusal
from bailiwick.iam import PrincipalKind, Role
from bailiwick.kernel.apps.instance_commands import MoveMember, ReportInstance
from bailiwick.kernel.people.commands import CreateAccount, SetMember
from bailiwick.operators.kit import Kit, OnCall, OperatorSettings, Settled, reply
from bailiwick.operators.kit.logs import KitLog
from bailiwick.operators.kit.running import Operator
from bailiwick.operators.kit.secrets import SecretFile
from bailiwick.vocab.apps import MemberPhase
from bailiwick.vocab.errors import ErrorCode
from bailiwick.wire.actions.instances import INSTANCE_QUEUE_READ, INSTANCE_QUEUE_SUBMIT
from bailiwick.wire.instances import REPLY_BYTES_MAX, CallReply, InstanceCall, NewCall, TakenCall
from tests.support.http_house import HttpHouse, add_instances, http_house
from tests.support.http_server import Served
from tests.support.waiting import WAIT_S

PATH: dict[str, Any] = {"tenant": "lab", "project": "p", "instance_id": 1}
MEMBER = "project_member@lab"
SECRET = "s3cr3t-in-a-script"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("data")) as house:
        add_instances(house)
        house.do(MoveMember(**PATH, member_id=1, phase=MemberPhase.READY))
        revision = house.runner.read(
            lambda view: view.state.apps.instances.held[1].instance.revision
        )
        house.do(ReportInstance(**PATH, revision=revision, observed_generation=1))
        house.do(CreateAccount("op-p", "lab", "p"))
        house.do(SetMember("op-p", Role.PROJECT_ADMIN, "lab", "p"))
        yield house


@pytest.fixture(scope="module")
def served(house: HttpHouse) -> Iterator[Served]:
    found = Served(house.app, house.token)
    found.open()
    yield found
    found.close()


@pytest.fixture
def settings(house: HttpHouse, served: Served, tmp_path: Path) -> OperatorSettings:
    secret = SecretFile(tmp_path / "token")
    secret.replace(house.token("op-p", kind=PrincipalKind.SERVICE_ACCOUNT))
    where = {"server": served.url, "tenant": "lab", "project": "p", "app": "lab.svc"}
    return OperatorSettings(**where, token_file=secret.path, workers=1, name="one", term_s=0)


@contextmanager
def answering(settings: OperatorSettings, on_call: OnCall) -> Iterator[list[str]]:
    lines: list[str] = []
    log = KitLog(write=lines.append)
    operator = Operator(lambda instance, kit: Settled(), settings, on_call=on_call, log=log)
    stop = threading.Event()
    thread = threading.Thread(target=operator.run, args=(stop,), daemon=True)
    thread.start()
    try:
        yield lines
    finally:
        stop.set()
        thread.join(WAIT_S)
    assert not thread.is_alive()


def ask(client: Client, *argv: str, key: str, **more: Any) -> InstanceCall:
    """The call once it is over."""
    body = NewCall(argv=list(argv), stdin=SECRET, within_s=more.pop("within_s", 120))
    for _ in range(10):
        found = client.send_under(key, INSTANCE_QUEUE_SUBMIT, body=body, path=PATH).call
        assert found is not None
        if found.reply is not None:
            return found
    raise AssertionError("nobody answered")


def test_what_people_ask_is_answered_by_the_operators_function_once(
    house: HttpHouse, served: Served, settings: OperatorSettings
) -> None:
    seen: list[TakenCall] = []

    def on_call(call: TakenCall, kit: Kit) -> CallReply:
        seen.append(call)
        assert kit.instance.instance_id == call.instance_id
        told = f"{call.principal} {call.verb.value} {' '.join(call.argv)}"
        return reply(4, stdout=told, stderr="hm")

    who = house.token(MEMBER)
    with Client(served.url, who) as client, answering(settings, on_call) as lines:
        first = ask(client, "run", "it", key="one")
        ask(client, "run", "two", key="two")
        assert ask(client, "run", "it", key="one") == first
    assert first.reply is not None
    assert (first.reply.exit_code, first.reply.stderr) == (4, "hm")
    assert first.reply.stdout == f"{MEMBER} submit run it"
    asked = [call for call in seen if call.principal == MEMBER]
    assert [call.argv for call in asked] == [["run", "it"], ["run", "two"]]
    told = [json.loads(line) for line in lines]
    answered = [line for line in told if line["message"] == "answered"]
    assert {line["principal"] for line in answered} >= {MEMBER}
    assert not any(words in line for line in lines for words in (SECRET, "run it", 'hm"'))


def test_a_function_that_fails_is_an_answer_and_says_nothing_of_what_was_asked(
    house: HttpHouse, served: Served, settings: OperatorSettings
) -> None:
    def on_call(call: TakenCall, kit: Kit) -> CallReply:
        raise RuntimeError(call.stdin)

    who = house.token(MEMBER)
    with Client(served.url, who) as client, answering(settings, on_call) as lines:
        found = ask(client, "run", key="fails")
    assert found.reply is not None
    assert found.reply.exit_code == 70
    assert SECRET not in found.reply.stderr
    assert any("RuntimeError" in line for line in lines)
    assert not any(SECRET in line for line in lines)


def test_what_was_asked_while_no_operator_ran_is_answered_when_one_does(
    house: HttpHouse, served: Served, settings: OperatorSettings
) -> None:
    with Client(served.url, house.token(MEMBER)) as client:
        body = NewCall(argv=["list"], stdin=SECRET, within_s=120, wait_s=0)
        client.send_under("early", INSTANCE_QUEUE_SUBMIT, body=body, path=PATH)
        with answering(settings, lambda call, kit: reply(0, stdout="late")):
            waits = NewCall(argv=["list"], stdin=SECRET, within_s=120)
            for _ in range(10):
                told = client.send_under("early", INSTANCE_QUEUE_SUBMIT, body=waits, path=PATH)
                if told.call is not None and told.call.reply is not None:
                    break
    assert told.call is not None
    assert told.call.reply is not None
    assert told.call.reply.stdout == "late"


def test_without_an_operator_nobody_answers_and_that_has_its_own_word(
    house: HttpHouse, served: Served
) -> None:
    with Client(served.url, house.token(MEMBER)) as client:
        body = NewCall(argv=["list"], within_s=1)
        with pytest.raises(Refusal) as refused:
            client.send(INSTANCE_QUEUE_READ, body=body, path=PATH)
    assert refused.value.problem.code is ErrorCode.CALL_UNANSWERED


def test_an_answer_that_is_too_long_or_no_text_is_cut_and_says_so() -> None:
    found = reply(3, stdout="é" * REPLY_BYTES_MAX, stderr="a\0\udc80\x1b\tb\n")
    assert len(found.stdout.encode()) <= REPLY_BYTES_MAX == OUTPUT_BYTES_MAX
    assert (found.exit_code, found.stderr, found.is_truncated) == (3, "a???\tb\n", True)
    assert not reply(0, stdout="x").is_truncated
