"""What a replica that follows says by itself: how old it may be, and what it cannot know yet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from bailiwick.iam import PrincipalKind
from bailiwick.runtime import replica as rep
from bailiwick.runtime.runner import Runner, SystemClock
from bailiwick.server.http.context import Parts
from bailiwick.services.tables import StoreTables
from tests.support.fresh_store import open_fresh
from tests.support.http_house import INVOICE, OWN, HttpHouse, http_house, make_app
from tests.support.waiting import WAIT_S, until


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("followed")


@pytest.fixture(scope="module")
def house(folder: Path) -> Iterator[HttpHouse]:
    with http_house(folder) as made:
        yield made


@pytest.fixture(scope="module")
def follower(house: HttpHouse, folder: Path) -> Iterator[TestClient]:
    store = open_fresh(folder)
    runner = Runner(rep.Replica(store, SystemClock(), name="two"), wait_s=WAIT_S)
    runner.start()
    try:
        assert runner.wait_for(rep.Role.FOLLOWING, wait_s=WAIT_S)
        parts = Parts(tables=StoreTables.of(store))
        app = make_app(runner, house.authority, clock=SystemClock(), ids=lambda: "id", parts=parts)
        with TestClient(app, raise_server_exceptions=False) as client:
            yield client
    finally:
        runner.stop()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def unsaid(house: HttpHouse) -> str:
    """A token with our signature of which the journal knows nothing, or nothing yet."""
    return house.authority.mint(
        "fleet_admin",
        PrincipalKind.HUMAN,
        token_id="unsaid",
        now_ms=SystemClock().now_ms(),
        ttl_s=60,
    ).token


def test_a_token_that_it_does_not_know_yet_may_be_shown_again(
    house: HttpHouse, follower: TestClient
) -> None:
    told = follower.get("/v1/leases", headers=bearer(unsaid(house)))
    assert (told.status_code, told.json()["retryable"]) == (503, True)
    assert house.client.get("/v1/leases", headers=bearer(unsaid(house))).status_code == 401


def test_what_nobody_signed_is_refused_for_good(house: HttpHouse, follower: TestClient) -> None:
    forged = unsaid(house)[:-8] + "AAAAAAAA"
    for token in (forged, "a.b.c", "some.code"):
        assert follower.get("/v1/leases", headers=bearer(token)).status_code == 401


def known(follower: TestClient, path: str, token: str) -> Any:
    """What it says once it has heard of the token."""

    def look() -> Any:
        told = follower.get(path, headers=bearer(token))
        return told if told.status_code == 200 else None

    return until(look, f"{path} is answered")


def test_its_reads_say_how_old_they_may_be(house: HttpHouse, follower: TestClient) -> None:
    token = house.token("fleet_admin")
    told = known(follower, "/v1/replica", token)
    assert told.json()["role"] == "following"
    assert int(told.headers["x-age-ms"]) >= 0


def test_it_meters_and_shows_bills_as_the_leader_does(
    house: HttpHouse, follower: TestClient
) -> None:
    secret = house.token("tenant_auditor@lab")
    known(follower, "/v1/whoami", secret)
    token = bearer(secret)
    now_ms = house.runner.read(lambda view: view.state.clock_ms)
    for path in (
        f"/v1/tenants/lab/usage?from_ms=1&to_ms={now_ms}",
        f"/v1/tenants/lab/invoice-draft?from_ms=1&to_ms={now_ms}",
        f"/v1/tenants/lab/invoices/{INVOICE[OWN]}",
        "/v1/tenants/lab/invoices",
    ):

        def is_the_same(path: str = path) -> bool:
            """Asked again only if a record was written between the two questions."""
            told = [client.get(path, headers=token) for client in (house.client, follower)]
            assert [each.status_code for each in told] == [200, 200], told[1].text
            bodies = [each.json() for each in told]
            for body in bodies:
                body.pop("as_of_ms", None)
            sizes = {body.get("body", {}).get("journal_size") for body in bodies}
            assert len(sizes) > 1 or bodies[0] == bodies[1]
            return len(sizes) == 1

        until(is_the_same, f"both tell of the same journal at {path}")


def test_without_a_leader_to_ask_a_change_may_be_tried_again(
    house: HttpHouse, follower: TestClient
) -> None:
    token = house.token("fleet_admin")

    def is_known() -> bool:
        told = follower.post("/v1/tenants", json={"tenant": "x"}, headers=bearer(token))
        assert (told.status_code, told.json()["retryable"]) == (503, True)
        return bool(told.json()["code"] == "not_leader")

    until(is_known, "the follower knows the token")
