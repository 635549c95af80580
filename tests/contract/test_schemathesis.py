"""Random requests by the contract's own schema meet nothing that the contract does not say."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, assume, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from tests.support.http_house import HttpHouse, http_house, make_parts

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    ending = asyncio.Event()
    ending.set()  # so that nobody who watches stays
    parts = make_parts(ending=ending)
    with http_house(tmp_path_factory.mktemp("schemathesis"), parts=parts) as made:
        yield made


@pytest.fixture  # one for each operation: one of them ends the session
def token(house: HttpHouse) -> str:
    return house.token("fleet_admin", ttl_s=12 * 3600)


@pytest.fixture(scope="module")
def api(house: HttpHouse) -> Any:
    loaded = schemathesis.openapi.from_asgi("/openapi.json", house.app)
    # OpenAPI 3.1 has no word for the events of a stream. This reader takes `schema` for that of
    # each event; for others, and in our document, it is that of the whole text.
    watched = loaded.raw_schema["paths"]["/v1/watch"]["get"]["responses"]["200"]
    stream = watched["content"]["text/event-stream"]
    stream["schema"] = stream["x-itemSchema"]
    # Hundreds of fixed cases for each operation take minutes; random ones find the same.
    loaded.config.phases.coverage.enabled = False
    # What is larger than any body may be is refused before it is read.
    rejection = loaded.config.checks.negative_data_rejection
    rejection.expected_statuses = [*rejection.expected_statuses, "413"]
    return loaded


schema = schemathesis.pytest.from_fixture("api")


def is_sent_whole(case: Any) -> bool:
    """Whether the query arrives as it was drawn: a URL holds text, and a name can be repeated.

    What is empty leaves no trace there, of an object the names of its fields arrive, and a list of
    one is that one. A request that is wrong by that alone is right when it arrives, and nobody can
    refuse it. The tool knows this of simple types, and not of those that may be left out.
    """
    values = (case.query or {}).values()
    return not any(
        value in (None, [], {})
        or isinstance(value, dict)
        or (isinstance(value, list) and len(value) == 1)
        for value in values
    )


@schema.parametrize()
@settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_as_the_contract_says(case: Any, token: str) -> None:
    assume(is_sent_whole(case))
    case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=CHECKS)
