"""What instances tell of their use over HTTP: by whom, how often, and what nobody may tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bailiwick.iam import PrincipalKind, Role
from bailiwick.kernel.apps.commands import PublishApp
from bailiwick.kernel.apps.instance_commands import RequestInstance
from bailiwick.kernel.people.commands import CreateAccount, CreateProject, SetMember
from tests.support.app_manifests import service
from tests.support.http_house import HttpHouse, MovedClock, add_instances, http_house

ONE = "/v1/tenants/lab/projects/p/instances/3/usage"
BOSS, VIEWER = "project_admin@lab", "project_viewer@lab"
SECOND = 1_000


@pytest.fixture(scope="module")
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, clock: MovedClock) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("data"), clock=clock) as house:
        add_instances(house)
        units = service(version="1.5.0", billing_units=("job_hour", "request"))
        house.do(PublishApp(units.canonical, "lab"))
        own = {"tenant": "lab", "project": "p", "name": "told"}
        house.do(RequestInstance(**own, app="lab.svc", version="1.5.0"))
        house.do(CreateProject("lab", "q"))
        for account, project in (("op-p", "p"), ("op-2", "p"), ("op-q", "q"), ("op-lab", None)):
            house.do(CreateAccount(account, "lab", project))
        for account, project in (("op-p", "p"), ("op-2", "p"), ("op-q", "q")):
            house.do(SetMember(account, Role.PROJECT_ADMIN, "lab", project))
        house.do(SetMember("op-lab", Role.TENANT_ADMIN, "lab"))
        yield house


def robot(house: HttpHouse, name: str, **body: Any) -> Any:
    headers = {"Authorization": f"Bearer {house.token(name, kind=PrincipalKind.SERVICE_ACCOUNT)}"}
    if not body:
        return house.client.get(ONE, headers=headers)
    return house.client.post(ONE, headers=headers, json=body)


def report(clock: MovedClock, number: int, **more: Any) -> dict[str, Any]:
    now_ms = clock.now_ms()
    window = {"from_ms": now_ms, "to_ms": now_ms + SECOND}
    clock.ahead_ms += SECOND
    return {"sequence": number, "unit": "job_hour", "quantity": 2, **window, **more}


def test_an_operator_tells_and_everybody_who_may_look_sees(
    house: HttpHouse, clock: MovedClock
) -> None:
    body = report(clock, 1)
    for _ in range(2):
        found = robot(house, "op-p", **body)
        assert found.status_code == 200, found.text
    told = house.ask(VIEWER, "GET", ONE).json()
    assert told == {
        "instance_id": 3,
        "app": "lab.svc",
        "units": [
            {
                "unit": "job_hour",
                "component_key": None,
                "quantity": 2,
                "reports": 1,
                "told_until_ms": body["to_ms"],
            }
        ],
        "sources": [{"principal": "op-p", "last_sequence": 1}],
        "next_sequence": 1,
    }
    assert robot(house, "op-p").json()["next_sequence"] == 2
    other = robot(house, "op-p", **(body | {"quantity": 3}))
    assert (other.status_code, other.json()["code"]) == (409, "instance_refused")
    assert other.json()["details"]["reason"] == "sequence_reused"
    again = robot(house, "op-2", **body)
    assert again.json()["details"]["reason"] == "window_overlaps"


def test_what_is_no_report_is_refused_at_the_door(house: HttpHouse, clock: MovedClock) -> None:
    for wrong in (
        {"quantity": -1},
        {"quantity": 10**12 + 1},
        {"quantity": 1.5},
        {"sequence": 0},
        {"unit": "Job Hour"},
        {"source": "somebody-else"},
    ):
        found = robot(house, "op-p", **report(clock, 2, **wrong))
        assert found.status_code == 422, found.text


def test_a_person_tells_nothing_and_that_is_sealed(house: HttpHouse, clock: MovedClock) -> None:
    found = house.ask(BOSS, "POST", ONE, json=report(clock, 1))
    assert found.status_code == 403
    assert found.json()["details"]["reason"] == "needs_service_account"
    assert house.ask(VIEWER, "POST", ONE, json=report(clock, 1)).status_code == 403


def test_an_operator_of_another_project_tells_nothing(house: HttpHouse, clock: MovedClock) -> None:
    body = report(clock, 1)
    assert robot(house, "op-q", **body).status_code == 404
    found = robot(house, "op-lab", **body)
    assert (found.status_code, found.json()["details"]["reason"]) == (403, "foreign_project")


def test_what_was_told_is_on_the_draft_of_an_invoice_at_its_price(
    house: HttpHouse, clock: MovedClock
) -> None:
    card = house.ask("fleet_admin", "GET", "/v1/rates").json()
    told = card | {"app_unit_micros": {"lab.svc/request": 250}}
    assert house.ask("fleet_admin", "PUT", "/v1/rates", json=told).status_code == 200
    number = robot(house, "op-2").json()["next_sequence"]
    for ahead, (unit, quantity) in enumerate((("job_hour", 2), ("request", 40))):
        body = report(clock, number + ahead, unit=unit, quantity=quantity)
        assert robot(house, "op-2", **body).status_code == 200
    clock.ahead_ms += SECOND
    found = house.ask(BOSS, "GET", "/v1/tenants/lab/invoice-draft?project=p&from_ms=1")
    assert found.status_code == 200, found.text
    lines = {line["unit"]: line for line in found.json()["body"]["unit_lines"]}
    assert (lines["request"]["quantity"], lines["request"]["cost_micros"]) == ("40", 10_000)
    # Without a price, and of an instance that held nothing.
    hours = lines["job_hour"]
    assert (hours["price_micros"], hours["cost_micros"]) == (None, 0)
    assert hours["disputed"] == hours["quantity"]
