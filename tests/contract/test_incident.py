"""One incident, followed by its correlation id: the error, the log, the trace, the events."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from bailiwick.iam import Role
from bailiwick.telemetry.logs import configure_logs
from tests.support.http_house import OWN, HttpHouse, add_instances, http_house, person
from tests.support.sse_stream import Stream

INSTANCE = f"/v1/tenants/{OWN}/projects/p/instances/1"
ID = "incident-4711"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("incident")) as made:
        add_instances(made)
        yield made


def ask(house: HttpHouse, method: str, path: str, **more: Any) -> Any:
    headers = {"X-Correlation-Id": ID, **more.pop("headers", {})}
    return house.ask(person(Role.PROJECT_ADMIN), method, path, headers=headers, **more)


@pytest.fixture
def log(house: HttpHouse) -> Iterator[io.StringIO]:
    """What the server writes to its log, as it writes it for programs."""
    stream = io.StringIO()
    handler = configure_logs(stream, keep=house.telemetry.table.put, pretty=False)
    yield stream
    logging.getLogger().removeHandler(handler)


def test_one_id_leads_from_the_error_to_the_log_the_trace_and_the_events(
    house: HttpHouse, log: io.StringIO
) -> None:
    read = house.ask(person(Role.PROJECT_ADMIN), "GET", INSTANCE)
    tag = {"If-Match": read.headers["etag"]}
    changed = ask(house, "PATCH", INSTANCE, json={"counts": {"worker": 2}}, headers=tag)
    assert changed.status_code == 200, changed.text
    # Somebody acts on what he read before: this is the error that is looked into.
    refused = ask(house, "PATCH", INSTANCE, json={"counts": {"worker": 3}}, headers=tag)
    problem = refused.json()
    assert refused.status_code == 412
    assert problem["correlation_id"] == ID == refused.headers["x-correlation-id"]
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    (line,) = [each for each in lines if "answered with 412" in each["event"]]
    assert (line["correlation_id"], line["trace_id"]) == (ID, problem["trace_id"])

    trace = house.ask("fleet_admin", "GET", f"/v1/traces/{ID}").json()["entries"]
    kinds = {entry["source"] for entry in trace}
    assert {"request", "span", "log"} <= kinds
    assert any("412" in json.dumps(entry) for entry in trace if entry["source"] == "log")
    shown = [each for each in trace if problem["trace_id"] in json.dumps(each)]
    assert shown, "the error's own trace is in it"

    events = house.ask("fleet_admin", "GET", f"/v1/events?correlation={ID}&limit=500").json()
    told = events["items"]
    types = [event["type"] for event in told]
    assert types[0] == "apps.instance.changed"
    assert {event["appinstanceid"] for event in told} == {"1"}
    assert {event["appslug"] for event in told} == {f"{OWN}.svc"}
    names = ("correlation_id", "org_id", "project_id", "app_slug", "app_instance_id")
    for event in told:
        assert [event["data"][name] for name in names] == [ID, OWN, "p", f"{OWN}.svc", "1"]
    numbers = {entry["details"].get("seq") for entry in trace if entry["source"] != "log"}
    assert {int(event["id"]) for event in told} <= numbers


def test_an_instance_is_followed_alone_by_those_of_its_project(house: HttpHouse) -> None:
    asked = "/v1/events?instance=1&types=apps.instance.*,apps.member.*,apps.operation.*&limit=500"
    found = house.ask(person(Role.PROJECT_VIEWER), "GET", asked).json()["items"]
    types = [event["type"] for event in found]
    assert types[0] == "apps.instance.requested"
    assert {"apps.member.requested", "apps.operation.running"} <= {*types}
    subjects = {event["subject"].split("/")[0] for event in found}
    assert subjects == {"instances"}
    theirs = asked.replace("instance=1", "instance=2")
    assert house.ask(person(Role.PROJECT_VIEWER), "GET", theirs).json()["items"] == []


def test_a_watch_of_one_instance_hears_of_no_other(house: HttpHouse) -> None:
    async def play() -> None:
        path = "/v1/events/watch?follow=false&after=0&instance=2"
        async with Stream(house.app, path, token=house.token("fleet_admin")) as stream:
            seen = []
            while (event := await stream.event()) is not None:
                seen.append(event)
        told = [json.loads(event["data"]) for event in seen[:-1]]
        assert told
        assert {event["appinstanceid"] for event in told} == {"2"}
        assert seen[-1]["event"] == "end"

    asyncio.run(play())
