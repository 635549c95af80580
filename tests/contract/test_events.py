"""Events over HTTP: who is told what, from where on, and that each is a CloudEvent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from bailiwick.kernel.answers import Done
from bailiwick.kernel.apps.commands import SetEntitlement
from tests.support.http_house import FOREIGN, OWN, HttpHouse, http_house
from tests.support.sse_stream import Stream

SCHEMA: dict[str, Any] = {
    # What the standard's "JSON Event Format" schema asks, and its rule about names.
    "type": "object",
    "required": ["id", "source", "specversion", "type"],
    "properties": {
        "id": {"type": "string", "minLength": 1},
        "source": {"type": "string", "minLength": 1, "format": "uri-reference"},
        "specversion": {"const": "1.0"},
        "type": {"type": "string", "minLength": 1},
        "datacontenttype": {"type": "string", "pattern": "^[a-z]+/[a-z]+$"},
        "subject": {"type": "string", "minLength": 1},
        "time": {"type": "string", "format": "date-time", "pattern": "Z$"},
        "data": {"type": "object"},
    },
    "propertyNames": {"pattern": "^[a-z0-9]{1,20}$"},
    "additionalProperties": {"type": ["string", "integer", "boolean"]},
    "not": {"required": ["data", "data_base64"]},
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("events")) as made:
        yield made


def entitle(
    house: HttpHouse, tenant: str, *, project: str | None = None, correlation_id: str = "none"
) -> int:
    """One more event of a tenant or its project; the number of its record."""
    command = SetEntitlement(f"{tenant}.hello", True, tenant=tenant, project=project)
    answer = house.do(command, correlation_id=correlation_id)
    assert isinstance(answer, Done)
    assert answer.seq is not None
    return answer.seq


def listed(house: HttpHouse, who: str, query: str = "") -> list[dict[str, Any]]:
    """All events that somebody is told, page by page."""
    found, cursor = [], ""
    for _ in range(1_000):
        page = house.ask(who, "GET", f"/v1/events?limit=2&{query}{cursor}")
        assert page.status_code == 200, page.text
        found += page.json()["items"]
        if (following := page.json().get("next")) is None:
            return found
        cursor = f"&cursor={following}"
    raise AssertionError("pages without an end")


def test_every_event_is_a_cloud_event_as_the_standard_says(house: HttpHouse) -> None:
    entitle(house, OWN, project="p")
    events = listed(house, "fleet_admin")
    check = jsonschema.Draft202012Validator(SCHEMA)
    for event in events:
        check.validate(event)
    kinds = {event["type"] for event in events}
    assert {"apps.version.published", "apps.entitlement.set", "apps.artifact.registered"} <= kinds
    assert len({(event["source"], event["id"]) for event in events}) == len(events)
    numbers = [int(event["id"]) for event in events]
    assert numbers == sorted(numbers)


def test_everybody_is_told_of_what_is_within_his_roles_and_nothing_else(house: HttpHouse) -> None:
    mine, theirs = entitle(house, OWN, project="p"), entitle(house, FOREIGN, project="p")
    wide = entitle(house, OWN)
    told = {
        who: {int(event["id"]) for event in listed(house, who)}
        for who in (
            *(f"{role}@{OWN}" for role in ("project_viewer", "tenant_admin", "tenant_auditor")),
            *("fleet_admin", "fleet_operator"),
        )
    }
    assert mine in told[f"project_viewer@{OWN}"]
    assert told[f"project_viewer@{OWN}"].isdisjoint({theirs, wide})
    for who in (f"tenant_admin@{OWN}", f"tenant_auditor@{OWN}"):
        assert {mine, wide} <= told[who]
        assert theirs not in told[who]
    assert {mine, theirs, wide} <= told["fleet_admin"] & told["fleet_operator"]
    for event in listed(house, f"project_viewer@{OWN}"):
        assert (event["orgid"], event["projectid"]) == (OWN, "p")


@pytest.mark.parametrize("path", ["/v1/events?", "/v1/events/watch?follow=false&"])
@pytest.mark.parametrize("query", [f"tenant={FOREIGN}", f"tenant={FOREIGN}&project=p", "tenant=no"])
def test_a_foreign_scope_is_as_if_it_were_not_there(
    house: HttpHouse, path: str, query: str
) -> None:
    refused = house.ask(f"tenant_admin@{OWN}", "GET", path + query)
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")


def test_another_project_of_the_same_tenant_is_not_told(house: HttpHouse) -> None:
    asked = f"/v1/events?tenant={OWN}&project=other"
    assert house.ask(f"project_viewer@{OWN}", "GET", asked).status_code == 404


def test_a_node_and_nobody_are_told_nothing(house: HttpHouse) -> None:
    assert house.ask("node_agent", "GET", "/v1/events").status_code == 403
    assert house.ask(None, "GET", "/v1/events").status_code == 401


def test_events_are_found_by_type_scope_and_correlation(house: HttpHouse) -> None:
    wanted = entitle(house, OWN, project="p", correlation_id="incident-7")
    entitle(house, OWN, correlation_id="incident-8")
    found = listed(house, "fleet_admin", "correlation=incident-7")
    assert [int(event["id"]) for event in found] == [wanted]
    assert found[0]["correlationid"] == found[0]["data"]["correlation_id"] == "incident-7"
    some = listed(house, "fleet_admin", f"tenant={OWN}&types=apps.entitlement.*")
    assert {event["type"] for event in some} == {"apps.entitlement.set"}
    assert {event["orgid"] for event in some} == {OWN}
    assert listed(house, "fleet_admin", "instance=99") == []
    assert listed(house, "fleet_admin", "since_ms=9007199254740991") == []
    assert len(listed(house, "fleet_admin", "since_ms=0")) == len(listed(house, "fleet_admin"))


@pytest.mark.parametrize(
    "query",
    ["types=tenant_created", "types=*", "instance=x", "project=p", "since_ms=-1", "cursor=x"],
)
def test_a_question_that_makes_no_sense_is_refused(house: HttpHouse, query: str) -> None:
    refused = house.ask("fleet_admin", "GET", f"/v1/events?{query}")
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_value")


def test_a_watch_tells_events_as_they_happen_and_goes_on_where_it_was(house: HttpHouse) -> None:
    token = house.token(f"project_viewer@{OWN}")

    async def play() -> None:
        async with Stream(house.app, "/v1/events/watch", token=token) as stream:
            assert (await stream.next() or {})["comment"] == "beat"
            await asyncio.to_thread(entitle, house, FOREIGN, project="p")
            first = await asyncio.to_thread(entitle, house, OWN, project="p")
            found = await stream.event()
        assert found is not None
        event = json.loads(found["data"])
        assert (event["id"], found["event"]) == (str(first), event["type"])
        assert found["id"] == f"{first}.{event['source'].rpartition('/')[2]}"
        second = entitle(house, OWN, project="p")
        path = "/v1/events/watch?follow=false&after=0"
        async with Stream(house.app, path, token=token, Last_Event_ID=found["id"]) as stream:
            again = await stream.event()
            end = await stream.event()
        assert again is not None
        assert json.loads(again["data"])["id"] == str(second)
        assert end is not None
        assert json.loads(end["data"]) == {"reason": "complete"}

    asyncio.run(play())


@pytest.mark.parametrize("place", ["999999999", f"1.{'0' * 16}"])
@pytest.mark.parametrize("by_header", [True, False])
def test_a_place_of_another_journal_or_beyond_this_one_is_refused(
    house: HttpHouse, place: str, by_header: bool
) -> None:
    headers = {"Last-Event-ID": place} if by_header else {}
    query = "" if by_header else f"&after={place}"
    asked = f"/v1/events/watch?follow=false{query}"
    refused = house.ask("fleet_admin", "GET", asked, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_value")
    assert "of this journal" in refused.json()["message"]


def test_the_contract_says_what_is_streamed(house: HttpHouse) -> None:
    document = house.app.openapi()
    ok = document["paths"]["/v1/events/watch"]["get"]["responses"]["200"]
    item = ok["content"]["text/event-stream"]["x-itemSchema"]
    assert item == {"$ref": "#/components/schemas/EventStreamItem"}
    found = house.ask("fleet_admin", "GET", "/v1/events").json()["items"][0]
    schema = document["components"]["schemas"]["CloudEvent"]
    jsonschema.validate(found, {**schema, "components": document["components"]})
