"""A mail server that hangs while somebody waits for a code: it holds up that and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from bailiwick.events.retrying import Answered, SendOutcome
from bailiwick.iam import Role
from bailiwick.kernel.people.commands import SetMember
from bailiwick.services.notices.desk import NoticeDesk
from bailiwick.services.notices.mail_room import PLACES
from tests.support.http_house import HttpHouse, http_house
from tests.support.waiting import WAIT_S, until

PEOPLE = [f"op-{number:02}" for number in range(4 * PLACES)]
"""More than the server has threads for its tables, so that all would stand still."""


class Hanging:
    """A mail server that answers nobody until it may."""

    def __init__(self) -> None:
        self.asked, self.goes_on = list[str](), threading.Event()

    def __call__(self, message: EmailMessage) -> SendOutcome:
        self.asked.append(message["to"])
        assert self.goes_on.wait(WAIT_S)
        return Answered(250)


@pytest.fixture
def mail() -> Hanging:
    return Hanging()


@pytest.fixture
def house(tmp_path: Path, mail: Hanging) -> Iterator[HttpHouse]:
    with http_house(tmp_path, mail=("fleet@gpu.example", mail)) as made:
        for name in PEOPLE:
            made.do(SetMember(name, Role.FLEET_OPERATOR))
        yield made


@contextmanager
def waiting(house: HttpHouse, mail: Hanging, people: list[str]) -> Iterator[list[Future[Any]]]:
    """All of them ask for a code at once, and the mail server answers none until this is over."""
    with ThreadPoolExecutor(len(people)) as pool:
        body = {"email": "new@lab.example"}
        try:
            yield [pool.submit(house.ask, n, "PUT", "/v1/notices", json=body) for n in people]
        finally:
            mail.goes_on.set()


def test_whoever_waits_for_a_code_that_hangs_holds_up_nobody_else(
    house: HttpHouse, mail: Hanging
) -> None:
    with waiting(house, mail, PEOPLE) as asked:
        until(lambda: len(mail.asked) == PLACES, "all places are taken")
        until(lambda: sum(each.done() for each in asked) == len(PEOPLE) - PLACES, "others are told")
        refused = [each.result() for each in asked if each.done()]
        assert {each.status_code for each in refused} == {503}
        assert all("ask again in a minute" in each.text for each in refused)
        # The tables are asked all the while.
        assert house.ask("fleet_admin", "GET", "/v1/inbox").status_code == 200
        assert house.ask("fleet_admin", "GET", "/v1/notices").status_code == 200
    assert sum(each.result().status_code == 200 for each in asked) == PLACES
    assert house.ask(PEOPLE[0], "PUT", "/v1/notices", json={"email": "n@lab.example"}).is_success


def test_one_person_waits_for_one_code_at_a_time(house: HttpHouse, mail: Hanging) -> None:
    with waiting(house, mail, PEOPLE[:1]):
        until(lambda: mail.asked, "the first one hangs")
        body = {"email": "other@lab.example"}
        assert house.ask(PEOPLE[0], "PUT", "/v1/notices", json=body).status_code == 503
    assert mail.asked == ["new@lab.example"]


def test_who_waits_is_told_in_the_end_and_nothing_was_changed(
    house: HttpHouse, mail: Hanging
) -> None:
    desk = house.app.state.house.parts.notices
    assert isinstance(desk, NoticeDesk)
    desk.room.wait_s = 0.01
    body = {"email": "new@lab.example", "webhook_url": "https://hooks.example/"}
    found = house.ask(PEOPLE[0], "PUT", "/v1/notices", json=body)
    mail.goes_on.set()
    assert (found.status_code, "timeout" in found.text) == (503, True)
    told = house.ask(PEOPLE[0], "GET", "/v1/notices").json()
    assert (told["pending_email"], told["webhook_url"]) == (None, None)
