"""Calls of instances in the kernel: what is sealed, of whom, and of which instance it is not."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.kernel.apps.calls.commands import CallInstance
from bailiwick.kernel.apps.instance_commands import DeleteInstance
from bailiwick.vocab.apps import CALL_MS_MAX, CallRefusal, CallVerb
from bailiwick.vocab.errors import InstanceRefused, InvalidValue, NotFound
from tests.support.app_house import OWN, AppHouse

DIGEST = "ab" * 32


def call(**more: Any) -> CallInstance:
    told: dict[str, Any] = {**OWN, "instance_id": 1, "verb": CallVerb.SUBMIT, "digest": DIGEST}
    return CallInstance(**(told | {"within_ms": 60_000} | more))


@pytest.fixture
def house() -> AppHouse:
    found = AppHouse()
    found.run()
    found.report()
    return found


def test_a_call_is_one_record_with_its_verb_and_a_digest(house: AppHouse) -> None:
    [(kind, body)] = house.do(call())
    assert kind == "app_instance_called"
    assert body == {
        "instance_id": 1,
        "app": "hello",
        "verb": "submit",
        "digest": DIGEST,
        "within_ms": 60_000,
    }


def test_another_projects_instance_is_not_there(house: AppHouse) -> None:
    for whose in ({"project": "other"}, {"tenant": "firm"}):
        with pytest.raises(NotFound):
            house.do(call(**whose))


def test_an_instance_that_is_not_up_is_not_asked(house: AppHouse) -> None:
    house.request("two")
    house.do(DeleteInstance(**OWN, instance_id=1))
    for number in (1, 2):
        with pytest.raises(InstanceRefused) as refused:
            house.do(call(instance_id=number))
        assert refused.value.reason is CallRefusal.NOT_RUNNING


@pytest.mark.parametrize(
    "wrong",
    [{"within_ms": 0}, {"within_ms": CALL_MS_MAX + 1}, {"digest": "no"}, {"verb": "submit it"}],
)
def test_what_no_call_can_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises((InvalidValue, ValueError)):
        call(**wrong)


def test_nothing_of_a_call_stays_in_the_state(house: AppHouse) -> None:
    before = house.kernel.state.size
    house.do(call())
    assert house.kernel.state.size == before + 1  # the record itself is counted
