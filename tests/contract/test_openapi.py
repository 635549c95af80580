"""The contract is written down: the committed document is the one that is served.

It is everybody's: valid by the standard's own validator, and written for people.
"""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Iterator
from dataclasses import fields
from importlib.metadata import metadata
from pathlib import Path
from typing import Any, get_args

import openapi_spec_validator
import pytest
from openapi_spec_validator.validation.exceptions import OpenAPIValidationError

from bailiwick.billing.charges import ChargeCause
from bailiwick.iam import Permission, PrincipalKind, Role
from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.views import EstimateBasis
from bailiwick.metering.owners import Stage, UnavailableCause
from bailiwick.runtime.replica import Replica
from bailiwick.runtime.runner import Runner, SystemClock
from bailiwick.scheduler.decision import DenialDetail
from bailiwick.server.http.app import create_app
from bailiwick.server.http.routes import HANDLERS
from bailiwick.server.problems import PROBLEMS, STATUSES
from bailiwick.server.process import ProcessOptions
from bailiwick.services import authority as auth
from bailiwick.services import watching
from bailiwick.store import open_store
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.remedies import RemedyWord
from bailiwick.wire import people, words
from bailiwick.wire.actions.action import NOTHING, Action, Where
from bailiwick.wire.actions.table import ACTIONS, OPEN
from bailiwick.wire.actions.tags import TAGS
from bailiwick.wire.answers import Done

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "openapi.json"
# "Rename, close or open a tenant": two words or more, one capital, no dot.
SUMMARY = re.compile(r"[A-Z][a-z-]+,?(?: [a-z][a-z'-]*,?)* [a-z][a-z'-]*")
OPERATION_ID = re.compile(r"[a-z]+(_[a-z]+)*")


def operations_of(document: Any) -> Iterator[tuple[str, Any]]:
    """Every operation, with its method and path."""
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield f"{method.upper()} {path}", operation


def refused_summaries(summaries: list[str]) -> set[str]:
    """Those that no person would have written, or that two operations share."""
    return {each for each in summaries if not SUMMARY.fullmatch(each) or summaries.count(each) > 1}


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Any:
    store = open_store(str(tmp_path_factory.mktemp("openapi")))
    runner = Runner(Replica(store, SystemClock(), name="one"))
    key = auth.Authority.from_pem(auth.Authority.new_key())
    try:
        return create_app(runner, key, clock=SystemClock(), ids=lambda: "id").openapi()
    finally:
        store.close()


def test_the_committed_document_is_the_one_that_is_served(document: Any) -> None:
    """``WRITE_OPENAPI=1 pytest tests/contract/test_openapi.py`` writes it anew."""
    spelled = json.dumps(document, indent=1, sort_keys=True) + "\n"
    if os.environ.get("WRITE_OPENAPI"):
        DOCUMENT.write_text(spelled)
    assert DOCUMENT.read_text() == spelled


def test_the_document_is_valid_by_the_standard(document: Any) -> None:
    assert document["openapi"].startswith("3.1.")
    openapi_spec_validator.validate(document)


def test_a_word_that_the_standard_does_not_have_is_found(document: Any) -> None:
    broken = copy.deepcopy(document)
    stream = broken["paths"]["/v1/watch"]["get"]["responses"]["200"]["content"]
    stream["text/event-stream"]["itemSchema"] = {"type": "object"}
    with pytest.raises(OpenAPIValidationError, match="itemSchema"):
        openapi_spec_validator.validate(broken)


def test_the_document_says_what_it_is_and_where(document: Any) -> None:
    info, package = document["info"], metadata("bailiwick")
    assert info["version"] == package["Version"]
    assert info["license"]["identifier"] == package["License-Expression"]
    assert info["title"] == "Bailiwick"
    assert info["description"]
    here, default = document["servers"]
    assert here["url"] == "/"
    port = next(each.default for each in fields(ProcessOptions) if each.name == "port")
    assert default["url"] == f"http://127.0.0.1:{port}"


def test_every_summary_is_one_that_a_person_would_write(document: Any) -> None:
    summaries = [operation["summary"] for _, operation in operations_of(document)]
    assert not refused_summaries(summaries)


@pytest.mark.parametrize(
    "summary",
    ["", "Tenant.List", "Tenant List", "list tenants", "LIST TENANTS", "List tenants.", "List"],
)
def test_a_summary_that_no_person_would_write_is_refused(summary: str) -> None:
    assert refused_summaries([summary]) == {summary}


def test_a_summary_that_two_operations_share_is_refused() -> None:
    assert refused_summaries(["List nodes", "List nodes"]) == {"List nodes"}
    assert not refused_summaries(["List nodes", "Rename, close or open a tenant"])


def test_every_operation_says_what_it_does_and_what_it_needs(document: Any) -> None:
    for action in ACTIONS.values():
        told = document["paths"][action.path][action.method.lower()]["description"]
        said, _, needs = told.rpartition("\n\n")
        assert said.endswith("."), action
        assert needs.startswith("Needs ")
        assert (action.permission is None) == ("no permission" in needs)
        assert action.permission is None or f"`{action.permission.value}`" in needs
    for row in OPEN.values():
        operation = document["paths"][row.path][row.method.lower()]
        assert operation["description"].endswith(".")
        assert "security" not in operation


def test_every_operation_has_a_name_of_its_own_for_generated_clients(document: Any) -> None:
    names = [operation["operationId"] for _, operation in operations_of(document)]
    assert len(names) == len(set(names))
    assert [name for name in names if not OPERATION_ID.fullmatch(name)] == []


def test_every_operation_is_in_one_group_and_every_group_is_described(document: Any) -> None:
    groups = {tag["name"]: tag["description"] for tag in document["tags"]}
    assert all(told.endswith(".") for told in groups.values())
    used = [operation["tags"] for _, operation in operations_of(document)]
    assert all(len(tags) == 1 for tags in used)
    assert {tag for tags in used for tag in tags} == groups.keys()


def test_every_noun_has_one_group() -> None:
    nouns = [noun for tag in TAGS for noun in tag.nouns]
    assert len(nouns) == len(set(nouns))
    assert {row.noun for row in (*ACTIONS.values(), *OPEN.values())} == {*nouns}
    with pytest.raises(InvalidValue, match="noun"):
        Action("gadget.list", "List gadgets", "GET", "/v1/gadgets", None, Where.SELF, NOTHING, Done)


def test_the_way_to_log_in_is_described(document: Any) -> None:
    (scheme,) = document["components"]["securitySchemes"].values()
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    assert "POST /v1/login" in scheme["description"]


def test_every_operation_declares_every_error(document: Any) -> None:
    for name, operation in operations_of(document):
        for status in STATUSES:
            shared = {"$ref": f"#/components/responses/Error{status}"}
            assert operation["responses"][str(status)] == shared, name


def test_every_error_is_described_once_with_all_its_codes(document: Any) -> None:
    errors = document["components"]["responses"]
    assert errors.keys() == {f"Error{status}" for status in STATUSES}
    for code, row in PROBLEMS.items():
        error = errors[f"Error{row.status}"]
        assert f"`{code.value}`: {row.meaning}." in error["description"]
        told = error["content"]["application/json"]["schema"]
        assert told == {"$ref": "#/components/schemas/Problem"}


def takes_wait_s(document: Any, operation: Any) -> bool:
    """Whether its query or its body says for how long the answer may be held back."""
    named = {each.get("name") for each in operation.get("parameters", ())}
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    model = body.get("schema", {}).get("$ref", "").rpartition("/")[2]
    taken = document["components"]["schemas"].get(model, {}).get("properties", {})
    return "wait_s" in named | {*taken}


def test_an_action_waits_if_it_may_be_asked_to(document: Any) -> None:
    asked = {op["operationId"] for _, op in operations_of(document) if takes_wait_s(document, op)}
    assert asked == {each.operation_id for each in ACTIONS.values() if each.waits}
    lasting = {each.name for each in ACTIONS.values() if each.lasts}
    assert lasting >= {"node.work", "record.watch", "instance_endpoint.get"}
    assert not lasting & {"lease.request", "node.beat", "instance_endpoint.list"}


def test_the_stream_says_which_events_it_carries(document: Any) -> None:
    ok = document["paths"]["/v1/watch"]["get"]["responses"]["200"]
    stream, schemas = ok["content"]["text/event-stream"], document["components"]["schemas"]
    assert stream["schema"]["type"] == "string"
    assert stream["x-itemSchema"] == {"$ref": "#/components/schemas/WatchEvent"}
    record, end = schemas["WatchRecord"]["properties"], schemas["WatchEnd"]["properties"]
    assert record["event"]["enum"] == [kind.value for kind in RecordKind]
    assert record["data"]["contentSchema"] == {"$ref": "#/components/schemas/JournalRecord"}
    reasons = end["data"]["contentSchema"]["properties"]["reason"]["enum"]
    assert reasons == list(get_args(words.WatchEndWord)) == list(get_args(watching.WatchEndWord))


def test_every_action_is_a_route_and_every_route_an_action(document: Any) -> None:
    routes = {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method in operations
    }
    rows = [(row.method, row.path) for row in (*ACTIONS.values(), *OPEN.values())]
    assert len(rows) == len(set(rows))
    assert routes == set(rows)
    assert HANDLERS.keys() == ACTIONS.keys() | OPEN.keys()


def test_every_action_says_that_it_needs_a_login(document: Any) -> None:
    for action in ACTIONS.values():
        assert document["paths"][action.path][action.method.lower()]["security"], action


def test_an_action_without_a_permission_cannot_exist() -> None:
    key = Permission.NODE_READ
    with pytest.raises(InvalidValue, match="permission"):
        Action("node.x", "Try a node", "GET", "/v1/x", None, Where.FLEET, NOTHING, Done)
    with pytest.raises(InvalidValue, match="permission"):
        Action("node.x", "Try a node", "GET", "/v1/x", key, Where.SELF, NOTHING, Done)


@pytest.mark.parametrize(
    ("spelled", "enum"),
    [
        (words.RoleWord, Role),
        (words.PermissionWord, Permission),
        (words.PrincipalWord, PrincipalKind),
        (words.EstimateWord, EstimateBasis),
        (words.RemedyWord, RemedyWord),
        (words.StageWord, Stage),
        (words.UnavailableWord, UnavailableCause),
        (words.CauseWord, ChargeCause),
    ],
)
def test_words_are_spelled_as_where_they_are_decided(spelled: Any, enum: Any) -> None:
    assert list(get_args(spelled)) == [word.value for word in enum]


def test_bounds_are_those_of_the_authority() -> None:
    assert people.TTL_S_MAX == auth.TTL_S_MAX
    assert people.TOKEN_CHARS_MAX == auth.TOKEN_CHARS_MAX


def test_integer_bounds_stand_in_the_document(document: Any) -> None:
    body = document["components"]["schemas"]["LeaseRequest"]["properties"]
    assert body["gang_size"]["maximum"] == 4096
    assert body["ttl_ms"]["minimum"] == 1
    assert document["components"]["schemas"]["LeaseRequest"]["additionalProperties"] is False


def test_unions_are_told_apart_by_their_word(document: Any) -> None:
    denied = document["components"]["schemas"]["Refused"]["properties"]["denied"]
    assert denied["discriminator"]["propertyName"] == "detail"
    assert len(denied["discriminator"]["mapping"]) == len(get_args(DenialDetail))
