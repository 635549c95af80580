"""What a replica that follows says by itself: how old it may be, and what it cannot know yet."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
from starlette.testclient import TestClient

from bailiwick.iam import PrincipalKind
from bailiwick.runtime import replica as rep
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.runner import Runner, SystemClock
from bailiwick.server.http.context import Parts
from bailiwick.server.http.forward import Peers
from bailiwick.server.http.gauges import GaugeReader
from bailiwick.services.tables import StoreTables
from bailiwick.telemetry.metrics import Metrics
from bailiwick.telemetry.telemetry import Telemetry, WatchedStore
from tests.support.fresh_store import open_fresh
from tests.support.http_house import INVOICE, OWN, HttpHouse, http_house, make_app
from tests.support.waiting import WAIT_S, until


class Passing(NamedTuple):
    """A follower that passes on, and what it counts."""

    client: TestClient
    telemetry: Telemetry
    peers: Peers


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


def test_what_only_a_leader_finds_is_not_told_by_who_followed_since(
    house: HttpHouse, follower: TestClient
) -> None:
    name = "bailiwick_booking_series_unbooked"
    runner = follower.app.state.house.gateway.runner  # type: ignore[attr-defined]
    told = asyncio.run(GaugeReader(Gateway(runner, wait_s=WAIT_S)).read(None))
    assert told.values[name] == {(): 0}
    assert told.values["bailiwick_replica_role"]["following",] == 1
    leads = asyncio.run(GaugeReader(Gateway(house.runner, wait_s=WAIT_S)).read(None))
    assert name not in leads.values, "it tells what it found last"


class Near(Peers):
    """The other replicas, in this process: the leader is asked without a network."""

    def leader(self) -> str | None:
        return "http://leader"


@pytest.fixture
def passing(house: HttpHouse, follower: TestClient, tmp_path: Path) -> Iterator[Passing]:
    """A follower that passes changes on to the house, with telemetry of its own."""
    runner = follower.app.state.house.gateway.runner  # type: ignore[attr-defined]
    telemetry = Telemetry.open(tmp_path)
    peers = Near(runner, house.authority, SystemClock())
    peers._client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=house.app))
    ids = (f"passed-{n}" for n in count())
    parts = Parts(telemetry=telemetry, peers=peers)
    app = make_app(runner, house.authority, clock=SystemClock(), ids=lambda: next(ids), parts=parts)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield Passing(client, telemetry, peers)
    telemetry.close()


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


def seen(telemetry: Telemetry, name: str, **labels: str) -> float:
    """The sum of a metric's series with these labels."""
    return sum(
        sample.value
        for metric in telemetry.metrics.registry.collect()
        for sample in metric.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


def test_a_request_that_was_passed_on_is_counted_once(house: HttpHouse, passing: Passing) -> None:
    requests, errors = "bailiwick_request_seconds_count", "bailiwick_request_errors_total"
    token = bearer(house.token("fleet_admin"))

    def told() -> list[float]:
        both = (house.telemetry, passing.telemetry)
        return [seen(each, name) for each in both for name in (requests, errors)]

    before = told()
    made = passing.client.post("/v1/tenants", json={"tenant": "passed-on"}, headers=token)
    assert made.status_code == 200, made.text
    again = passing.client.post("/v1/tenants", json={"tenant": "passed-on"}, headers=token)
    assert again.status_code == 409, again.text
    assert told() == [before[0] + 2, before[1] + 1, 0, 0]
    spans = passing.telemetry.find(made.headers["x-correlation-id"]).spans
    assert spans, "where it went is still told"


def test_a_request_whose_leader_did_not_answer_is_counted_where_it_was_asked(
    house: HttpHouse, passing: Passing
) -> None:
    def is_away(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("nobody there", request=request)

    passing.peers._client = httpx2.AsyncClient(transport=httpx2.MockTransport(is_away))
    token = bearer(house.token("fleet_admin"))
    told = passing.client.post("/v1/tenants", json={"tenant": "lost"}, headers=token)
    assert told.status_code == 503
    assert seen(passing.telemetry, "bailiwick_request_errors_total", status="503") == 1
    assert seen(passing.telemetry, "bailiwick_request_seconds_count", status_class="5xx") == 1


def test_who_takes_over_from_another_counts_the_failover_once(tmp_path: Path) -> None:
    metrics = [Metrics(), Metrics()]
    runners = [
        Runner(
            rep.Replica(WatchedStore(open_fresh(tmp_path), each), SystemClock(), name=f"r{number}"),
            wait_s=WAIT_S,
        )
        for number, each in enumerate(metrics)
    ]

    def counted() -> list[float | None]:
        name = "bailiwick_failover_seconds_count"
        return [each.registry.get_sample_value(name) for each in metrics]

    first, second = runners
    try:
        first.start()
        assert first.wait_for(rep.Role.LEADING, wait_s=WAIT_S)
        second.start()
        until(lambda: second.replica.leader is not None, "the second is refused the lead")
        assert counted() == [0, 0]
    finally:
        first.stop()
    try:
        assert second.wait_for(rep.Role.LEADING, wait_s=WAIT_S)
        assert counted() == [0, 1]
    finally:
        second.stop()
