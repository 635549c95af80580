"""Watching the journal: what is told, to whom, from where on, and how it ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bailiwick.iam import Permission, Role
from bailiwick.kernel.answers import Done
from bailiwick.kernel.people import commands as cmd
from bailiwick.runtime.runner import SystemClock
from bailiwick.server.http.edge import Bounds, Edge
from bailiwick.services import authority as auth
from bailiwick.services.watching import TooManyWatchers, Watchers
from tests.support.http_house import FOREIGN, OWN, HttpHouse, http_house, make_app, make_parts
from tests.support.sse_stream import Stream


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    folder: Path = tmp_path_factory.mktemp("watch")
    with http_house(folder) as made:
        yield made


def app_of(house: HttpHouse, **more: Any) -> Any:
    """Another application over the same replica, with parts of its own."""
    return make_app(
        house.runner,
        house.authority,
        clock=SystemClock(),
        ids=lambda: "id",
        parts=make_parts(**more),
    )


def change(house: HttpHouse, tenant: str, name: str) -> int:
    """One more record of a tenant; its number."""
    answer = house.do(cmd.ChangeTenant(tenant, display_name=name))
    assert isinstance(answer, Done)
    assert answer.seq is not None
    return answer.seq


def size(house: HttpHouse) -> int:
    return house.runner.replica.journal.size


async def end_of(stream: Stream) -> str:
    """Why a stream ended, whatever came before."""
    while (found := await stream.event()) is not None:
        if found["event"] == "end":
            assert await stream.next() is None
            return str(json.loads(found["data"])["reason"])
    raise AssertionError("it ended without a word")


def test_every_event_is_as_the_document_says(house: HttpHouse) -> None:
    document = house.app.openapi()
    schemas = document["components"]["schemas"]

    def check(value: Any, schema: Any) -> None:
        jsonschema.validate(value, {**schema, "components": document["components"]})

    async def play() -> None:
        seen = []
        token = house.token("fleet_admin")
        async with Stream(house.app, "/v1/watch?after=0&follow=false", token=token) as stream:
            while (event := await stream.event()) is not None:
                seen.append(event["event"])
                check(event, schemas["WatchEvent"])
                name = "WatchEnd" if event["event"] == "end" else "WatchRecord"
                check(event, schemas[name])
                content = schemas[name]["properties"]["data"]["contentSchema"]
                check(json.loads(event["data"]), content)
        assert "tenant_created" in seen
        assert seen[-1] == "end"

    asyncio.run(play())


def test_a_record_is_told_when_it_is_made(house: HttpHouse) -> None:
    async def play() -> None:
        token = house.token("fleet_admin")
        async with Stream(house.app, "/v1/watch", token=token) as stream:
            first = await stream.next()
            assert first is not None
            assert stream.status == 200
            assert stream.headers["content-type"].startswith("text/event-stream")
            assert first == {"comment": "beat", "id": str(size(house) - 1)}
            await asyncio.to_thread(change, house, OWN, "told at once")
            found = await stream.event()
            assert found is not None
            assert found["event"] == "tenant_changed"
            told = json.loads(found["data"])
            assert found["id"] == str(told["seq"])
            assert (told["tenant"], told["body"]["after"]) == (OWN, "told at once")

    asyncio.run(play())


@pytest.mark.parametrize("by_header", [True, False])
def test_a_watch_goes_on_after_what_was_seen(house: HttpHouse, by_header: bool) -> None:
    # Not the journal's size before it: the kernel writes by itself too, whenever it ticks.
    before = change(house, OWN, f"one {by_header}")
    change(house, OWN, f"two {by_header}")

    async def play() -> None:
        token, seen = house.token("fleet_admin"), str(before)
        headers = {"Last_Event_ID": seen} if by_header else {}
        # What the browser itself says of where it is counts more than the address.
        after = "0" if by_header else seen
        path = f"/v1/watch?kinds=tenant_changed&after={after}&follow=false"
        async with Stream(house.app, path, token=token, **headers) as stream:
            found = await stream.event()
            assert found is not None
            assert json.loads(found["data"])["body"]["after"] == f"two {by_header}"
            assert await end_of(stream) == "complete"

    asyncio.run(play())


def test_what_memory_no_longer_has_is_read_from_the_store_in_pages(house: HttpHouse) -> None:
    feed = house.runner.replica.journal
    with feed._lock:
        feed._lines.clear()
    app = app_of(house, watchers=Watchers(page=7))

    async def play() -> list[int]:
        token = house.token("fleet_admin")
        path = "/v1/watch?after=0&follow=false"
        numbers = []
        async with Stream(app, path, token=token) as stream:
            while (found := await stream.event()) is not None and found["event"] != "end":
                numbers.append(int(found["id"]))
        return numbers

    numbers = asyncio.run(play())
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= size(house) - 2


def test_each_sees_only_what_is_his(house: HttpHouse) -> None:
    change(house, OWN, "ours")
    change(house, FOREIGN, "theirs")

    async def tell(who: str, query: str = "") -> list[dict[str, Any]]:
        token = await asyncio.to_thread(house.token, who)
        path = f"/v1/watch?after=0&follow=false{query}"
        rows = []
        async with Stream(house.app, path, token=token) as stream:
            while (found := await stream.event()) is not None and found["event"] != "end":
                rows.append(json.loads(found["data"]))
        return rows

    mine = asyncio.run(tell(f"tenant_auditor@{OWN}"))
    assert {row["tenant"] for row in mine} == {OWN}
    everything = asyncio.run(tell("fleet_auditor"))
    assert {OWN, FOREIGN, None} == {row["tenant"] for row in everything}
    issued = [row for row in everything if row["kind"] == "access_token_issued"]
    assert issued
    assert not any("digest" in row["body"] for row in issued)
    listed = house.ask(f"tenant_auditor@{OWN}", "GET", f"/v1/tenants/{OWN}/records?limit=500")
    told = {row["seq"]: row for row in mine}
    assert [told[row["seq"]] for row in listed.json()["items"]] == listed.json()["items"]
    only = asyncio.run(
        tell("fleet_auditor", f"&tenant={FOREIGN}&kinds=tenant_changed,tenant_created")
    )
    assert {(row["tenant"], row["kind"]) for row in only} == {
        (FOREIGN, "tenant_changed"),
        (FOREIGN, "tenant_created"),
    }


@pytest.mark.parametrize(
    ("who", "query", "status"),
    [
        (f"project_member@{OWN}", "", 403),
        (f"tenant_auditor@{OWN}", f"?tenant={FOREIGN}", 404),
        ("fleet_auditor", "?kinds=no_such_kind", 422),
        ("fleet_auditor", "?after=x", 422),
        ("fleet_auditor", "?every_s=0", 422),
        ("fleet_auditor", "?every_s=1&follow=false", 422),
        ("fleet_auditor", "?unheard=of", 422),
    ],
)
def test_a_watch_that_cannot_be_is_a_problem(
    house: HttpHouse, who: str, query: str, status: int
) -> None:
    response = house.ask(who, "GET", f"/v1/watch{query}")
    assert response.status_code == status
    assert response.json()["correlation_id"]


def test_a_heartbeat_moves_past_what_is_not_ones_own(house: HttpHouse) -> None:
    app = app_of(house, watchers=Watchers(beat_s=0.01))

    async def play() -> None:
        token = house.token(f"tenant_auditor@{OWN}")
        async with Stream(app, "/v1/watch", token=token) as stream:
            first = await stream.next()
            assert first is not None
            await asyncio.to_thread(change, house, FOREIGN, "not for you")
            while (found := await stream.next()) is not None and found["id"] == first["id"]:
                assert found.keys() == {"comment", "id"}
            assert found is not None
            assert "event" not in found

    asyncio.run(play())


def test_a_revoked_token_ends_the_watch(house: HttpHouse) -> None:
    app = app_of(house, watchers=Watchers(beat_s=0.01, check_s=0.0))

    async def play() -> None:
        token = house.token("fleet_auditor")
        token_id = house.runner.read(lambda view: list(view.state.directory.tokens)[-1])
        async with Stream(app, "/v1/watch", token=token) as stream:
            await stream.next()
            await asyncio.to_thread(house.do, cmd.RevokeToken(token_id))
            assert await end_of(stream) == "token_ended"

    asyncio.run(play())


def test_a_role_that_was_taken_away_ends_the_watch(house: HttpHouse) -> None:
    app = app_of(house, watchers=Watchers(beat_s=0.01, check_s=0.0))
    house.do(cmd.SetMember("brief", Role.TENANT_AUDITOR, OWN))

    async def play() -> None:
        token = house.token("brief")
        async with Stream(app, "/v1/watch", token=token) as stream:
            await stream.next()
            await asyncio.to_thread(house.do, cmd.SetMember("brief", None, OWN))
            assert await end_of(stream) == "forbidden"

    asyncio.run(play())


def test_a_narrowed_token_sees_no_more_than_it_carries(house: HttpHouse) -> None:
    terms = auth.Terms(keys=(Permission.QUEUE_READ,))
    token = house.token("fleet_admin", terms=terms)
    headers = {"Authorization": f"Bearer {token}"}
    assert house.client.get("/v1/watch", headers=headers).status_code == 403


def test_a_server_that_ends_lets_its_watchers_go(house: HttpHouse) -> None:
    async def play() -> None:
        ending = asyncio.Event()
        app = app_of(house, ending=ending)
        async with Stream(app, "/v1/watch", token=house.token("fleet_auditor")) as stream:
            await stream.next()
            ending.set()
            assert await end_of(stream) == "server_ending"

    asyncio.run(play())


@pytest.mark.parametrize(
    ("kind", "status", "pieces"),
    [("text/event-stream", 200, 2), ("text/event-stream; charset=utf-8", 200, 2)],
)
def test_the_time_of_a_request_does_not_cut_a_stream(kind: str, status: int, pieces: int) -> None:
    assert asyncio.run(through_the_edge(kind, slow_start=False)) == (status, pieces)


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
def test_a_request_is_cut_before_it_begins(kind: str) -> None:
    assert asyncio.run(through_the_edge(kind, slow_start=True)) == (503, 1)


def test_any_other_answer_is_cut_while_it_lasts() -> None:
    with pytest.raises(TimeoutError):
        asyncio.run(through_the_edge("application/json", slow_start=False))


async def through_the_edge(kind: str, *, slow_start: bool) -> tuple[int, int]:
    """The status and the pieces of an answer that takes longer than a request may."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if slow_start:
            await asyncio.sleep(1)
        headers = [(b"content-type", kind.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        await asyncio.sleep(0.1)
        await send({"type": "http.response.body", "body": b"b"})

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    edge = Edge(app, ids=lambda: "id", bounds=Bounds(request_s=0.01))
    await edge({"type": "http", "path": "/v1/records", "headers": []}, receive, send)
    return sent[0]["status"], len(sent) - 1


def test_places_are_bounded_and_given_back(house: HttpHouse) -> None:
    watchers = Watchers(most=2)
    listeners = len(house.runner.replica.journal._wakes)
    app = app_of(house, watchers=watchers)

    async def play() -> None:
        token = house.token("fleet_auditor")
        async with Stream(app, "/v1/watch", token=token) as one:
            await one.next()
            async with Stream(app, "/v1/watch", token=token) as two:
                await two.next()
                assert watchers.count == 2
                async with Stream(app, "/v1/watch", token=token) as three:
                    problem = json.loads(await three.body())
                    assert (three.status, problem["code"]) == (429, "rate_limited")
            assert watchers.count == 1
        assert watchers.count == 0

    asyncio.run(play())
    assert len(house.runner.replica.journal._wakes) == listeners


def test_one_principal_does_not_take_all_places() -> None:
    watchers = Watchers(most=3, most_each=2)
    leave = watchers.take("ann")
    watchers.take("ann")
    with pytest.raises(TooManyWatchers):
        watchers.take("ann")
    watchers.take("bob")
    with pytest.raises(TooManyWatchers):
        watchers.take("cid")
    leave()
    leave()
    assert watchers.count == 2
    watchers.take("cid")
