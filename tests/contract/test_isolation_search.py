"""A search for a way around the isolation policy: in a process of its own, told as it goes."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

from bailiwick.isolation.model.history import Phase
from bailiwick.isolation.model.ways import JOBS_MAX, STEPS_MAX, WayQuestion
from bailiwick.isolation.trace import TraceWord
from bailiwick.kernel.people import commands as cmd
from bailiwick.runtime.runner import SystemClock
from bailiwick.services.searches.desk import PROGRAM, SearchDesk
from bailiwick.services.searches.isolation import SearchEndWord
from bailiwick.services.watching import Watchers
from bailiwick.tools.isolation.searcher import NICE
from bailiwick.wire import isolation as wire
from tests.support.http_house import HttpHouse, http_house, make_app, make_parts
from tests.support.sse_stream import Stream
from tests.support.waiting import until

PATH, POLICY = "/v1/isolation/search", "/v1/isolation/policy"
AUDITOR, OPERATOR = "fleet_auditor", "fleet_operator"
TIGHT = "vault: dedicated host for tenant bank"
LEAKY = (
    "apart: never share host between tenant bank and tenant press\n"
    "# one afternoon only\n"
    "visit: allow host between tenant bank and tenant press owner ann until 2030-01-01 "
    'because "an audit"'
)
Told = list[tuple[str, dict[str, Any]]]
"""Events with their data."""
LONG = "never share cache, rack, host among tenants\ntenant bank only on nodes with zone=in"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    folder: Path = tmp_path_factory.mktemp("search")
    with http_house(folder) as made:
        yield made


def app_of(house: HttpHouse, **more: Any) -> Any:
    """Another application over the same replica, with parts of its own."""
    parts = make_parts(**more)
    return make_app(
        house.runner, house.authority, clock=SystemClock(), ids=lambda: "id", parts=parts
    )


def wish(text: str | None, **more: Any) -> dict[str, Any]:
    return {"text": text, "jobs": 2, **more}


async def told(stream: Stream) -> Told:
    """Every event of a stream."""
    found = []
    while (event := await stream.event()) is not None:
        found.append((event["event"], json.loads(event["data"])))
    assert stream.status == 200, await stream.body()
    return found


def searched(house: HttpHouse, body: dict[str, Any], app: Any = None) -> Told:
    async def play() -> Told:
        token = house.token(AUDITOR)
        size = house.runner.replica.journal.size
        desk = SearchDesk(time_s=600.0)  # however busy the machine is
        own = app or app_of(house, searches=desk)
        async with Stream(own, PATH, token=token, body=body) as stream:
            found = await told(stream)
        assert house.runner.replica.journal.size == size, "nothing is written"
        return found

    return asyncio.run(play())


def is_alive(pid: int) -> bool:
    """Whether it still computes; a process that nobody has waited for yet does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.fixture(scope="module")
def tight(house: HttpHouse) -> Told:
    """What is told of a policy with no way around it."""
    return searched(house, wish(TIGHT))


@pytest.fixture(scope="module")
def leaky(house: HttpHouse) -> Told:
    """What is told of a policy that lets somebody in."""
    return searched(house, wish(LEAKY))


def test_nothing_is_found_in_a_tight_policy_and_how_far_was_looked_is_told(tight: Told) -> None:
    found = tight
    words = [event for event, _ in found]
    assert words[-2:] == ["nothing", "ended"]
    assert set(words[:-2]) == {"progress"}
    nothing, end = found[-2][1], found[-1][1]
    assert (end["reason"], end["ways"]) == ("complete", 0)
    by_question = {each["question"]: each for each in nothing["rounds"]}
    assert by_question["rules"]["is_whole"]
    assert not by_question["rules"]["is_found"]
    assert all(each["is_found"] for each in nothing["rounds"] if each["question"] == "fault")
    assert nothing["states"] == sum(each["states"] for each in nothing["rounds"]) > 500
    assert "every scheduler that is wrong on purpose was" in end["sentence"]


def test_the_story_of_a_leaky_policy_names_the_steps_the_rule_and_the_line(leaky: Told) -> None:
    found = leaky
    stories = [data for event, data in found if event == "found"]
    assert found[-1][1]["ways"] == len(stories) == 1
    assert "nothing" not in [event for event, _ in found]
    story = stories[0]
    assert story["excuse"] == {"rule": "visit", "line": 3}
    assert "visit allows it (line 3)" in story["sentence"]
    assert {job["tenant"] for job in story["jobs"]} == {"bank", "press"}
    assert [step["do"] for step in story["steps"]] == ["arrive", "place", "arrive", "place"]
    assert [step["number"] for step in story["steps"]] == [1, 2, 3, 4]
    last = story["steps"][-1]
    assert last["who"] in ("bank", "press")
    assert last["node"] == story["broken"][0]["domain"]
    assert {place["node"] for place in last["places"]} == {last["node"]}
    assert {place["phase"] for place in last["places"]} == {"running"}
    (broken,) = story["broken"]
    assert (broken["rule"], broken["line"], broken["kind"]) == ("apart", 1, "host")
    assert "share host" in broken["sentence"]


def test_hours_of_a_rule_are_a_way_around_it(house: HttpHouse) -> None:
    found = searched(house, wish(f"{TIGHT} between 08:00 and 18:00"))
    (story,) = [data for event, data in found if event == "found"]
    assert story["excuse"] == {"rule": "vault", "line": 1}
    assert "only between 08:00 and 18:00" in story["sentence"]


def test_every_event_is_as_the_document_says(house: HttpHouse, tight: Told, leaky: Told) -> None:
    document = house.app.openapi()
    schemas = document["components"]["schemas"]
    for event, data in (*leaky, *tight):
        told = {"event": event, "data": json.dumps(data)}
        schema = schemas[f"IsolationSearch{event.capitalize()}Event"]
        content = schema["properties"]["data"]["contentSchema"]
        for value, each in ((told, schemas["IsolationSearchEvent"]), (data, content)):
            jsonschema.validate(value, {**each, "components": document["components"]})


def test_words_of_the_contract_are_the_words_of_the_search() -> None:
    assert get_args(wire.StoryWord) == tuple(TraceWord)
    assert get_args(wire.StoryPhase) == tuple(Phase)
    assert get_args(wire.SearchQuestion) == tuple(WayQuestion)
    assert get_args(wire.SearchEndWord) == get_args(SearchEndWord)
    fields = wire.IsolationSearchWish.model_json_schema()["properties"]
    assert (fields["jobs"]["maximum"], fields["steps"]["maximum"]) == (JOBS_MAX, STEPS_MAX)


def test_without_a_text_the_policy_in_force_is_searched(tmp_path: Path) -> None:
    with http_house(tmp_path) as house:
        empty = house.ask(AUDITOR, "POST", PATH, json={})
        assert (empty.status_code, empty.json()["code"]) == (422, "invalid_value")
        house.ask(OPERATOR, "PUT", POLICY, json={"text": TIGHT}, headers={"If-Match": '"0"'})
        assert searched(house, {"jobs": 1})[-1][1]["reason"] == "complete"


def test_a_text_that_is_no_policy_starts_nothing(house: HttpHouse) -> None:
    response = house.ask(AUDITOR, "POST", PATH, json=wish("vault: dedicatet host for tenant bank"))
    assert response.status_code == 422
    assert "dedicatet" in response.text
    far = house.ask(AUDITOR, "POST", PATH, json=wish(TIGHT, jobs=4))
    assert far.status_code == 422


@pytest.mark.parametrize("who", ["project_member@lab", "tenant_admin@lab"])
def test_who_does_not_hold_the_key_for_the_fleet_starts_nothing(house: HttpHouse, who: str) -> None:
    desk = SearchDesk()
    app = app_of(house, searches=desk)

    async def play() -> None:
        async with Stream(app, PATH, token=house.token(who), body=wish(TIGHT)) as stream:
            told = json.loads(await stream.body())
            assert stream.status == 403
            assert told["details"]["permission"] == "scheduler.isolation.read"
            assert not desk.is_taken

    asyncio.run(play())


def test_one_searches_at_a_time_in_a_process_that_gives_way_and_ends_with_its_asker(
    house: HttpHouse,
) -> None:
    desk = SearchDesk()
    app, token = app_of(house, searches=desk), house.token(AUDITOR)
    body = wish(LONG, jobs=3, steps=12)

    async def play() -> None:
        async with Stream(app, PATH, token=token, body=body) as stream:
            first = await stream.event()
            assert first is not None
            assert first["event"] == "progress"
            pid = desk.pid
            assert pid is not None
            assert pid != os.getpid()
            assert os.getpriority(os.PRIO_PROCESS, pid) == NICE
            async with Stream(app, PATH, token=house.token(OPERATOR), body=body) as second:
                refused = json.loads(await second.body())
                assert (second.status, refused["code"]) == (429, "rate_limited")
                assert "one search at a time" in refused["message"]
            assert is_alive(pid), "who was refused ends nobody else's"
        # While the server goes on: one that has ended ends every process.
        gone = "the process ends when its asker leaves"
        await asyncio.to_thread(until, lambda: not is_alive(pid), gone)

    asyncio.run(play())
    assert not desk.is_taken
    assert searched(house, wish(TIGHT, jobs=1), app)[-1][1]["reason"] == "complete"


def test_the_time_of_a_search_is_bounded_and_says_so(house: HttpHouse) -> None:
    app = app_of(house, searches=SearchDesk(time_s=0.1))
    found = searched(house, wish(LONG, jobs=3, steps=12), app)
    assert [event for event, _ in found[-2:]] == ["nothing", "ended"]
    assert found[-1][1]["reason"] == "time_over"
    assert "a part was not searched" in found[-2][1]["sentence"]


def test_the_states_of_a_round_are_bounded_and_that_is_told(house: HttpHouse) -> None:
    app = app_of(house, searches=SearchDesk(states_max=40))
    found = searched(house, wish(TIGHT), app)
    (rules,) = [each for each in found[-2][1]["rounds"] if each["question"] == "rules"]
    assert rules["states"] < 120
    assert not rules["is_whole"]


def test_a_search_ends_with_the_server(house: HttpHouse) -> None:
    async def play() -> None:
        ending, desk = asyncio.Event(), SearchDesk()
        app = app_of(house, searches=desk, ending=ending)
        body = wish(LONG, jobs=3, steps=12)
        async with Stream(app, PATH, token=house.token(AUDITOR), body=body) as stream:
            await stream.event()
            pid = desk.pid
            assert pid is not None
            ending.set()
            event, data = (await told(stream))[-1]
            assert (event, data["reason"]) == ("ended", "server_ending")
        gone = "the process ends with the server"
        await asyncio.to_thread(until, lambda: not is_alive(pid), gone)

    asyncio.run(play())


def test_a_token_that_ended_ends_the_search(house: HttpHouse) -> None:
    async def play() -> None:
        desk = SearchDesk()
        pace = Watchers(beat_s=0.05, check_s=0.05)
        app = app_of(house, searches=desk, watchers=pace)
        token = house.token(AUDITOR)
        token_id = house.runner.read(lambda view: list(view.state.directory.tokens)[-1])
        body = wish(LONG, jobs=3, steps=12)
        async with Stream(app, PATH, token=token, body=body) as stream:
            await stream.event()
            await asyncio.to_thread(house.do, cmd.RevokeToken(token_id))
            assert (await told(stream))[-1][1]["reason"] == "token_ended"
        assert not desk.is_taken

    asyncio.run(play())


def test_the_process_ends_when_the_server_is_killed_and_nobody_says_so() -> None:
    line = {"text": LONG, "jobs": 3, "steps": 12, "states_max": 40_000, "time_s": 600}
    words = [sys.executable, *PROGRAM]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(line).encode() + b"\n")
        process.stdin.flush()
        assert b'"progress"' in process.stdout.readline()
        process.stdin.close()  # all that is left of a server that was killed
        until(lambda: process.poll() is not None, "it has noticed")
        assert process.returncode == 0
