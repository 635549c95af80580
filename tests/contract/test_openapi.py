"""The contract is written down: the committed document is the one that is served."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, get_args

import pytest

from bailiwick.billing.charges import ChargeCause
from bailiwick.iam import Permission, PrincipalKind, Role
from bailiwick.kernel.views import EstimateBasis
from bailiwick.metering.owners import Stage, UnavailableCause
from bailiwick.scheduler.explain import RemedyWord
from bailiwick.server.http.actions import ACTIONS, Action, Where
from bailiwick.server.http.app import create_app
from bailiwick.server.http.handlers import HANDLERS
from bailiwick.server.problems import STATUSES
from bailiwick.services import authority as auth
from bailiwick.services.replica import Replica
from bailiwick.services.runner import Runner, SystemClock
from bailiwick.store import open_store
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire import people, words

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "openapi.json"


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


def test_every_operation_declares_every_error(document: Any) -> None:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            missing = {str(status) for status in STATUSES} - operation["responses"].keys()
            assert not missing, (method, path, missing)


def test_every_action_is_a_route_and_every_route_an_action(document: Any) -> None:
    routes = {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method in operations
    }
    open_routes = {("GET", "/healthz"), ("GET", "/readyz"), ("POST", "/v1/login")}
    assert routes == {(a.method, a.path) for a in ACTIONS.values()} | open_routes
    assert HANDLERS.keys() == ACTIONS.keys()


def test_every_action_says_that_it_needs_a_login(document: Any) -> None:
    for action in ACTIONS.values():
        assert document["paths"][action.path][action.method.lower()]["security"], action


def test_an_action_without_a_permission_cannot_exist() -> None:
    with pytest.raises(InvalidValue, match="permission"):
        Action("x", "GET", "/v1/x", None, Where.FLEET)
    with pytest.raises(InvalidValue, match="permission"):
        Action("x", "GET", "/v1/x", Permission.NODE_READ, Where.SELF)


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
    assert len(denied["discriminator"]["mapping"]) == 14
