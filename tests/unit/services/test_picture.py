"""One picture is made for all who ask at the same time, and none is older than the asking."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.fleet.node import NodeCapacity
from bailiwick.iam import Permission
from bailiwick.iam import Role as Duty
from bailiwick.kernel import RegisterNode
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.runner import SystemClock
from bailiwick.services.caller import Caller
from bailiwick.services.picture.kept import Picture, PictureBook
from tests.support.http_house import HttpHouse, http_house
from tests.support.kernel_gateway import caller_of
from tests.support.waiting import WAIT_S

MANY = 50


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as made:
        yield made


def watcher(gateway: Gateway, duty: Duty = Duty.FLEET_OPERATOR) -> Caller:
    return caller_of(gateway, SystemClock(), permission=Permission.NODE_READ, role=duty)


def test_who_asks_at_the_same_time_is_shown_the_same_one(house: HttpHouse) -> None:
    gateway, book = Gateway(house.runner, wait_s=WAIT_S), PictureBook()

    async def ask() -> list[Picture]:
        return await asyncio.gather(*(book.shown_to(watcher(gateway)) for _ in range(MANY)))

    async def whole() -> None:
        first = await ask()
        assert len({id(each) for each in first}) == 1
        assert await book.shown_to(watcher(gateway, Duty.FLEET_AUDITOR)) is first[0]
        house.do(RegisterNode("late", NodeCapacity(cpu_cores=1, mem_bytes=1)))
        second = await ask()
        assert len({id(each) for each in second}) == 1
        assert b'"late"' in second[0].content
        assert b'"late"' not in first[0].content

    asyncio.run(whole())


def test_one_who_leaves_while_it_is_made_keeps_nobody_else_from_it(house: HttpHouse) -> None:
    gateway, book = Gateway(house.runner, wait_s=WAIT_S), PictureBook()

    async def whole() -> None:
        tasks = [asyncio.create_task(book.shown_to(watcher(gateway))) for _ in range(3)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        found = await asyncio.gather(*tasks[1:])
        assert found[0] is found[1]

    asyncio.run(whole())


def test_a_book_is_used_by_one_loop_after_another(house: HttpHouse) -> None:
    gateway, book = Gateway(house.runner, wait_s=WAIT_S), PictureBook()
    found = [asyncio.run(book.shown_to(watcher(gateway))) for _ in range(2)]
    assert found[0].digest == found[1].digest
