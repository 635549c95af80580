"""Endpoints of instances in the kernel: what is sealed when one is opened, and what is none."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.apps.endpoints.spec import EndpointSpec
from bailiwick.kernel.apps.endpoints.commands import NoteEndpointClosed, OpenEndpoint
from bailiwick.kernel.apps.instance_commands import DeleteInstance
from bailiwick.vocab.apps import CallRefusal, EndpointEnd
from bailiwick.vocab.errors import InstanceRefused, InvalidValue, NotFound
from tests.support.app_house import OWN, AppHouse

WEB = {"web": EndpointSpec(role="controller", title="The page", port=8_080)}


def opening(**more: Any) -> OpenEndpoint:
    told: dict[str, Any] = {**OWN, "instance_id": 1, "endpoint": "web", "session_id": "s-1"}
    return OpenEndpoint(**(told | {"member_id": 1} | more))


@pytest.fixture
def house() -> AppHouse:
    found = AppHouse(endpoints=WEB)
    found.run()
    found.report()
    return found


def member(house: AppHouse, role: str) -> int:
    return next(each.id for each in house.held().members.values() if each.role == role)


def test_that_somebody_opens_one_is_a_record_with_who_serves_it(house: AppHouse) -> None:
    serves = member(house, "controller")
    [(kind, body)] = house.do(opening(member_id=serves))
    assert kind == "app_endpoint_opened"
    assert body == {
        "instance_id": 1,
        "app": "hello",
        "endpoint": "web",
        "member_id": serves,
        "session_id": "s-1",
    }


def test_that_it_is_over_is_a_record_whatever_became_of_the_instance(house: AppHouse) -> None:
    told = {**OWN, "instance_id": 1, "app": "hello", "endpoint": "web", "session_id": "s-1"}
    house.do(DeleteInstance(**OWN, instance_id=1))
    over = NoteEndpointClosed(**told, end=EndpointEnd.IDLE, requests=12)  # type: ignore[arg-type]
    [(kind, body)] = house.do(over)
    assert kind == "app_endpoint_closed"
    assert (body["end"], body["requests"], body["session_id"]) == ("idle", 12, "s-1")


def test_another_projects_instance_is_not_there(house: AppHouse) -> None:
    for whose in ({"project": "other"}, {"tenant": "firm"}):
        with pytest.raises(NotFound):
            house.do(opening(member_id=member(house, "controller"), **whose))


def test_only_what_is_declared_of_that_role_is_opened(house: AppHouse) -> None:
    house.add("worker", "worker-7")
    for wrong in (
        {"endpoint": "other", "member_id": member(house, "controller")},
        {"member_id": member(house, "worker")},
        {"member_id": 99},
    ):
        with pytest.raises(NotFound):
            house.do(opening(**wrong))


def test_of_an_instance_that_is_not_up_nothing_is_opened(house: AppHouse) -> None:
    serves = member(house, "controller")
    house.do(DeleteInstance(**OWN, instance_id=1))
    with pytest.raises(InstanceRefused) as refused:
        house.do(opening(member_id=serves))
    assert refused.value.reason is CallRefusal.NOT_RUNNING


@pytest.mark.parametrize("wrong", [{"endpoint": "../x"}, {"member_id": 0}, {"session_id": ""}])
def test_what_cannot_be_opened_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        opening(**wrong)


def test_nothing_of_it_stays_in_the_state(house: AppHouse) -> None:
    before = house.kernel.state.size
    house.do(opening(member_id=member(house, "controller")))
    assert house.kernel.state.size == before + 1  # the record itself is counted
