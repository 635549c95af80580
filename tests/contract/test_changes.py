"""What became old: who is told of what, from where on, how it ends, and what it never tells."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

from bailiwick.iam import Role
from bailiwick.kernel import SetQuota
from bailiwick.kernel.answers import Done
from bailiwick.kernel.people import commands as cmd
from bailiwick.runtime.runner import SystemClock
from bailiwick.scheduler.quota_policy import Quota
from bailiwick.services.changes import effort
from bailiwick.services.changes.book import BLOCK, ChangeBook
from bailiwick.services.changes.nouns import KEY_OF, ChangeNoun
from bailiwick.services.watching import Watchers
from bailiwick.wire.words import ChangeNounWord
from tests.support.http_house import (
    FOREIGN,
    OWN,
    HttpHouse,
    MovedClock,
    http_house,
    make_app,
    make_parts,
)
from tests.support.sse_stream import Stream

PATH = "/v1/changes"
QUICK = {"tick_s": 0.02}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    folder: Path = tmp_path_factory.mktemp("changes")
    with http_house(folder) as made:
        yield made


def app_of(house: HttpHouse, *, clock: SystemClock | None = None, **more: Any) -> Any:
    """Another application over the same replica, with parts of its own."""
    return make_app(
        house.runner,
        house.authority,
        clock=clock or SystemClock(),
        ids=lambda: "id",
        parts=make_parts(**{"watchers": Watchers(**QUICK), **more}),
    )


def change(house: HttpHouse, tenant: str, name: str) -> None:
    """One more record of a tenant."""
    assert isinstance(house.do(cmd.ChangeTenant(tenant, display_name=name)), Done)


def change_project(house: HttpHouse, tenant: str, name: str) -> None:
    """One more record of a tenant's project."""
    assert isinstance(house.do(cmd.ChangeProject(tenant, "p", display_name=name)), Done)


async def beat_of(stream: Stream) -> str:
    """The first word: that the caller is let in, and where it is."""
    found = await stream.next()
    assert found is not None
    assert found["comment"] == "beat"
    return str(found["id"])


async def told(stream: Stream) -> dict[str, Any]:
    found = await stream.event()
    assert found is not None
    assert found["event"] == "change"
    read: dict[str, Any] = json.loads(found["data"])
    return read | {"id": found["id"]}


async def end_of(stream: Stream) -> str:
    found = await stream.event()
    assert found is not None
    assert found["event"] == "end", found
    assert await stream.next() is None
    return str(json.loads(found["data"])["reason"])


def test_the_nouns_of_the_contract_are_those_that_are_decided() -> None:
    assert set(get_args(ChangeNounWord)) == {noun.value for noun in ChangeNoun} == KEY_OF.keys()


def test_who_may_not_read_the_journal_is_told_what_became_old(house: HttpHouse) -> None:
    async def play() -> None:
        token = house.token(f"project_member@{OWN}")
        async with Stream(app_of(house), PATH, token=token) as stream:
            await beat_of(stream)
            await asyncio.to_thread(change_project, house, OWN, "told")
            found = await told(stream)
            assert found["nouns"] == ["tenants"]  # and not "records": it may not read those
            assert not found["missed"]

    asyncio.run(play())


def test_a_tenant_hears_nothing_of_another_and_its_place_tells_no_count(house: HttpHouse) -> None:
    async def play() -> None:
        own, foreign = (house.token(f"tenant_admin@{each}") for each in (OWN, FOREIGN))
        app = app_of(house)
        async with Stream(app, PATH, token=own) as one, Stream(app, PATH, token=foreign) as two:
            first = await beat_of(one)
            await beat_of(two)
            for number in range(3):
                await asyncio.to_thread(change, house, FOREIGN, f"theirs {number}")
            assert (await told(two))["nouns"] == ["records", "tenants"]
            await asyncio.to_thread(change, house, OWN, "ours")
            found = await told(one)  # the very first that it hears is its own
            assert found["nouns"] == ["records", "tenants"]
            book, name = ChangeBook(), "anybody"
            assert book.number(found["id"], name) is None
            assert len({first, found["id"]}) == 2
            assert not first.startswith("0000")

    asyncio.run(play())


def test_while_the_server_is_busy_pages_wait_for_their_turn_and_the_line_lives(
    house: HttpHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effort, "WORDS_PER_S", 1e-6)  # so far away that no test waits for it
    clocks = {"now": 0.0, "used": 0.0, "share": 1.0}

    def read() -> tuple[float, float]:
        clocks["now"] += 10
        clocks["used"] += 10 * clocks["share"]
        return clocks["now"], clocks["used"]

    async def play() -> None:
        book = ChangeBook(effort=effort.Effort(read))
        app = app_of(house, changes=book, watchers=Watchers(**QUICK, beat_s=0.05))
        token = house.token(f"project_member@{OWN}")
        async with Stream(app, PATH, token=token) as stream:
            first = await beat_of(stream)
            assert (await beat_of(stream)) == first  # the first look is over
            await asyncio.to_thread(change_project, house, OWN, "unheard yet")
            assert {await beat_of(stream) for _ in range(5)} == {first}
            clocks["share"] = 0.1
            while (found := await stream.next()) is not None and "event" not in found:
                pass
            assert found is not None
            assert json.loads(found["data"])["nouns"] == ["tenants"]

    asyncio.run(play())


def test_what_others_do_gives_a_watcher_no_sign_of_life(house: HttpHouse) -> None:
    """A beat has its own time: it does not come sooner because somebody else was busy."""

    async def play() -> None:
        token = house.token(f"project_viewer@{OWN}")
        app = app_of(house, watchers=Watchers(**QUICK, beat_s=3600))
        async with Stream(app, PATH, token=token) as stream:
            await beat_of(stream)
            for number in range(5):
                await asyncio.to_thread(change_project, house, FOREIGN, f"busy {number}")
            await asyncio.to_thread(change_project, house, OWN, "at last")
            assert (await told(stream))["nouns"] == ["tenants"]

    asyncio.run(play())


def test_a_lost_connection_goes_on_where_it_was(house: HttpHouse) -> None:
    async def play() -> None:
        app, token = app_of(house), house.token(f"project_member@{OWN}")
        async with Stream(app, PATH, token=token) as stream:
            place = await beat_of(stream)
        await asyncio.to_thread(change_project, house, OWN, "meanwhile")
        path = f"{PATH}?follow=false"
        async with Stream(app, path, token=token, Last_Event_ID=place) as stream:
            await beat_of(stream)
            found = await told(stream)
            assert (found["nouns"], found["missed"]) == (["tenants"], False)
            assert await end_of(stream) == "complete"
        async with Stream(app, path, token=token, Last_Event_ID=found["id"]) as stream:
            await beat_of(stream)
            assert await end_of(stream) == "complete"

    asyncio.run(play())


def to_a_block(house: HttpHouse) -> None:
    """Records of somebody else, until the next one begins a block."""
    while house.runner.replica.journal.size % BLOCK:
        change(house, FOREIGN, f"filler {house.runner.replica.journal.size}")


def test_who_was_away_for_long_is_told_of_every_block(house: HttpHouse) -> None:
    """Each is summed up once, and told to the next who comes as to the first."""

    async def play() -> None:
        app, token = app_of(house), house.token(f"tenant_admin@{OWN}")
        await asyncio.to_thread(to_a_block, house)
        async with Stream(app, PATH, token=token) as stream:
            place = await beat_of(stream)
        change(house, OWN, "first")
        house.do(cmd.SetMember("newcomer", Role.TENANT_AUDITOR, OWN))
        for number in range(BLOCK + 9):
            change(house, FOREIGN, f"long {number}")
        house.do(SetQuota(OWN, Quota()))
        for _ in range(2):
            path = f"{PATH}?follow=false"
            async with Stream(app, path, token=token, Last_Event_ID=place) as stream:
                await beat_of(stream)
                found = await told(stream)
                assert {"members", "queue", "tenants"} <= {*found["nouns"]}
                assert await end_of(stream) == "complete"

    asyncio.run(play())


def test_a_block_that_still_grows_is_not_taken_for_whole(house: HttpHouse) -> None:
    async def play() -> None:
        app, token = app_of(house), house.token(f"tenant_admin@{OWN}")
        await asyncio.to_thread(to_a_block, house)
        async with Stream(app, PATH, token=token) as stream:
            place = await beat_of(stream)
            change(house, OWN, "grows")
            assert (await told(stream))["nouns"] == ["records", "tenants"]
        house.do(cmd.SetMember("latecomer", Role.TENANT_AUDITOR, OWN))
        path = f"{PATH}?follow=false"
        async with Stream(app, path, token=token, Last_Event_ID=place) as stream:
            await beat_of(stream)
            assert "members" in (await told(stream))["nouns"]

    asyncio.run(play())


@pytest.mark.parametrize("whose", ["anothers", "of_another_process", "of_another_journal"])
def test_a_place_that_is_not_known_makes_all_old(house: HttpHouse, whose: str) -> None:
    async def play() -> None:
        book = ChangeBook()
        app, name = app_of(house, changes=book), f"project_member@{OWN}"
        places = {
            "anothers": book.place(1, "somebody"),
            "of_another_process": ChangeBook().place(1, name),
            "of_another_journal": book.place(house.runner.replica.journal.size + 9_999, name),
        }
        async with Stream(
            app, f"{PATH}?follow=false&after={places[whose]}", token=house.token(name)
        ) as stream:
            found = await told(stream)
            assert found["missed"]
            assert set(found["nouns"]) == set(ChangeNoun)
            assert await end_of(stream) == "complete"

    asyncio.run(play())


def test_a_stream_looks_at_its_token_again_and_again(house: HttpHouse) -> None:
    """A token ends by time with no record of it, so only the look at it can tell."""

    async def play() -> None:
        token = house.token(f"project_member@{OWN}")
        clock, pace = MovedClock(), Watchers(**QUICK, beat_s=0.01, check_s=0.0)
        app = app_of(house, clock=clock, watchers=pace)
        async with Stream(app, PATH, token=token) as stream:
            await beat_of(stream)
            clock.ahead_ms = 2 * 3_600_000
            assert await end_of(stream) == "token_ended"

    asyncio.run(play())


def test_a_revoked_tokens_stream_ends_at_once(house: HttpHouse) -> None:
    async def play() -> None:
        token = house.token(f"project_member@{OWN}")
        token_id = house.runner.read(lambda view: list(view.state.directory.tokens)[-1])
        # By the journal's word: the token itself is looked at again in an hour.
        app = app_of(house, watchers=Watchers(**QUICK, check_s=3_600))
        async with Stream(app, PATH, token=token) as stream:
            await beat_of(stream)
            await asyncio.to_thread(house.do, cmd.RevokeToken(token_id))
            assert await end_of(stream) == "token_ended"

    asyncio.run(play())


def test_one_person_has_so_many_places_and_gives_them_back(house: HttpHouse) -> None:
    async def play() -> None:
        pace = Watchers(**QUICK, most_each=1)
        app, token = app_of(house, watchers=pace), house.token(f"project_member@{OWN}")
        async with Stream(app, PATH, token=token) as stream:
            await beat_of(stream)
            async with Stream(app, PATH, token=token) as second:
                await second.next()
                assert second.status == 429
        assert pace.count == 0

    asyncio.run(play())


def test_every_event_is_as_the_document_says(house: HttpHouse) -> None:
    document = house.app.openapi()
    schema = document["components"]["schemas"]["ChangeEvent"]

    async def play() -> None:
        token = house.token("fleet_admin")
        after = "0" * 32
        path = f"{PATH}?follow=false&after={after}"
        async with Stream(house.app, path, token=token) as stream:
            seen = []
            while (event := await stream.event()) is not None:
                seen.append(event["event"])
                jsonschema.validate(event, {**schema, "components": document["components"]})
        assert seen == ["change", "end"]

    asyncio.run(play())
