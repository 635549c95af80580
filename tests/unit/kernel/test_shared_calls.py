"""Calls of shared runtimes in the kernel: for whom one is asked, whose record it is, who is not."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.kernel.apps.calls.commands import CallInstance
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.vocab.apps import CallRefusal, CallVerb, MemberPhase
from bailiwick.vocab.errors import InstanceRefused, InvalidValue, NotFound, SharedRuntimeRefused
from bailiwick.vocab.shared import SubmitDenial
from tests.support.shared_house import OF, SharedHouse
from tests.unit.kernel.test_shared_parts import report

DIGEST = "ab" * 32


def call(project: str = "audio", **more: Any) -> CallInstance:
    told: dict[str, Any] = {"by": "ann", "verb": CallVerb.SUBMIT, "digest": DIGEST}
    told |= {"within_ms": 60_000, "instance_id": 1} | more
    return CallInstance(**(OF | {"project": project} | told))


def denied(house: SharedHouse, command: CallInstance) -> SubmitDenial:
    before = house.kernel.state.size
    with pytest.raises(SharedRuntimeRefused) as found:
        house.do(command)
    assert house.kernel.state.size == before, "nothing is sealed of it"
    assert isinstance(found.value.reason, SubmitDenial)
    return found.value.reason


@pytest.fixture
def house() -> SharedHouse:
    found = SharedHouse()
    found.create()
    for project in ("audio", "text"):
        found.attach(project)
    found.add_own()
    found.add("worker", "worker-0")
    for member in ("controller-0", "worker-0"):
        found.phase(member, MemberPhase.READY)
    report(found)
    return found


def test_a_call_is_a_record_of_the_project_for_which_it_was_asked(house: SharedHouse) -> None:
    for verb in CallVerb:
        [(kind, body)] = house.do(call(verb=verb))
        assert kind == "app_instance_called"
        assert body == {
            "instance_id": 1,
            "app": "hello",
            "verb": verb.value,
            "digest": DIGEST,
            "within_ms": 60_000,
        }
        assert (house.records[-1].tenant, house.records[-1].project) == ("lab", "audio")


def test_who_has_no_part_asks_nothing(house: SharedHouse) -> None:
    for verb in CallVerb:  # vision is the owner record, and that alone is no part
        assert denied(house, call("vision", verb=verb)) is SubmitDenial.NOT_ATTACHED
    house.detach("text")
    for verb in CallVerb:
        assert denied(house, call("text", verb=verb)) is SubmitDenial.NOT_ATTACHED


def test_another_projects_queue_takes_a_policy_of_that_project(house: SharedHouse) -> None:
    asked = call("text", owner="audio", queue="day")
    assert denied(house, asked) is SubmitDenial.NO_POLICY
    until_ms = house.now_ms + 60_000
    policy = {"queue": "day", "until_ms": until_ms, "grantee_person": "ann"}
    house.do(cmd.SetSubmitPolicy(**OF, project="audio", policy="guests", **policy))
    house.do(asked)
    assert house.records[-1].project == "text", "the work is of who asks, not of whose queue it is"
    assert denied(house, call("text", owner="audio", queue="night")) is SubmitDenial.NO_POLICY
    eve = call("text", owner="audio", queue="day", by="eve")
    assert denied(house, eve) is SubmitDenial.NO_POLICY
    other = call("text", owner="vision", queue="day")
    assert denied(house, other) is SubmitDenial.OWNER_NOT_ATTACHED
    house.now_ms = until_ms
    assert denied(house, asked) is SubmitDenial.POLICY_ENDED


def test_a_runtime_that_goes_or_is_not_up_is_not_asked(house: SharedHouse) -> None:
    with pytest.raises(NotFound):
        house.do(call(runtime="none"))
    house.request("two")
    with pytest.raises(NotFound):  # it is not behind the runtime
        house.do(call(instance_id=2))
    house.do(cmd.DeleteSharedRuntime(**OF))
    assert denied(house, call()) is SubmitDenial.RUNTIME_LEAVING
    young = SharedHouse()
    young.create()
    young.attach("audio")
    with pytest.raises(InstanceRefused) as refused:
        young.do(call())
    assert refused.value.reason is CallRefusal.NOT_RUNNING


@pytest.mark.parametrize(
    "wrong",
    [
        {"within_ms": 0},
        {"digest": "no"},
        {"verb": "submit"},
        {"owner": "text"},  # and which queue of it?
        {"owner": "text", "queue": "day", "verb": CallVerb.READ},
        {"owner": "text", "queue": "day", "verb": CallVerb.CANCEL},
        {"by": None},
        {"runtime": None},
        {"runtime": None, "by": None, "queue": "day"},
    ],
)
def test_what_no_such_call_can_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        call(**wrong)
