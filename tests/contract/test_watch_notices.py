"""Notices for who draws pages: what changed, at most so often, for the same on a busy server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bailiwick.kernel.people import commands as cmd
from bailiwick.services.watching import Watchers
from tests.contract.test_watch import app_of, change, end_of
from tests.support.http_house import FOREIGN, OWN, HttpHouse, http_house
from tests.support.sse_stream import Stream

PATH = "/v1/watch?every_s=1"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    folder: Path = tmp_path_factory.mktemp("notices")
    with http_house(folder) as made:
        yield made


async def notice_of(stream: Stream) -> dict[str, Any]:
    """The next notice; heartbeats are none."""
    while (found := await stream.next()) is not None:
        if "event" in found:
            return found
    raise AssertionError("it ended without a word")


def test_a_notice_names_the_kinds_that_there_were_and_many_records_are_one(
    house: HttpHouse,
) -> None:
    document = house.app.openapi()
    schema = document["components"]["schemas"]["WatchChanged"]
    app = app_of(house, watchers=Watchers(noticed=3))

    async def play() -> None:
        async with Stream(app, PATH, token=house.token("fleet_auditor")) as stream:
            await stream.next()
            for name in ("one", "two"):
                last = await asyncio.to_thread(change, house, OWN, name)
            told = await notice_of(stream)
            jsonschema.validate(told, {**schema, "components": document["components"]})
            assert (told["event"], told["id"]) == ("changed", str(last))
            assert json.loads(told["data"]) == {"kinds": ["tenant_changed"]}
            for number in range(4):
                last = await asyncio.to_thread(change, house, OWN, f"many {number}")
            told = await notice_of(stream)
            assert (told["id"], json.loads(told["data"])) == (str(last), {"kinds": None})

    asyncio.run(play())


def test_nobody_is_told_of_what_is_not_his(house: HttpHouse) -> None:
    async def play() -> None:
        token = house.token(f"tenant_auditor@{OWN}")
        async with Stream(house.app, PATH, token=token) as stream:
            await stream.next()
            await asyncio.to_thread(change, house, FOREIGN, "not for you")
            await asyncio.sleep(1.5)  # past the one at which it would be told
            mine = await asyncio.to_thread(change, house, OWN, "for you")
            assert (await notice_of(stream))["id"] == str(mine)

    asyncio.run(play())


def test_a_token_that_is_revoked_ends_them(house: HttpHouse) -> None:
    async def play() -> None:
        token = house.token("fleet_auditor")
        token_id = house.runner.read(lambda view: list(view.state.directory.tokens)[-1])
        async with Stream(house.app, PATH, token=token) as stream:
            await stream.next()
            await asyncio.to_thread(house.do, cmd.RevokeToken(token_id))
            assert await end_of(stream) == "token_ended"

    asyncio.run(play())


def test_a_server_that_ends_does_not_wait_for_the_next_one(house: HttpHouse) -> None:
    async def play() -> None:
        ending = asyncio.Event()
        app = app_of(house, ending=ending)
        async with Stream(
            app, "/v1/watch?every_s=60", token=house.token("fleet_auditor")
        ) as stream:
            await stream.next()
            ending.set()
            assert await end_of(stream) == "server_ending"

    asyncio.run(play())


def test_the_more_watch_the_rarer_each_is_told() -> None:
    watchers = Watchers(most=1000, most_each=1000, notices_per_s=10)
    assert watchers.notice_s(1.0) == 1.0
    for _ in range(200):
        watchers.take("somebody")
    assert watchers.notice_s(1.0) == 20.0
    assert watchers.notice_s(60.0) == 60.0
