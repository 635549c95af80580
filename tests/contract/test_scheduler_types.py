"""A request may name the word of a scheduler; labels of the platform nobody else gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bailiwick.kernel.apps.commands import PublishApp, SetEntitlement
from bailiwick.kernel.apps.instance_commands import RequestInstance
from tests.support.app_manifests import service
from tests.support.http_house import HttpHouse, add_instances, http_house

LEASES, JOBS = "/v1/leases", "/v1/jobs"
ASKED = {"tenant": "lab", "project": "p", "resources": {"cpu_milli": 1}, "wait": True}
MEMBER = "project_member@lab"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("house")) as house:
        add_instances(house)
        for tenant in ("lab", "rival"):
            manifest = service(app="sched", scheduler_types=("hello",) if tenant == "lab" else ())
            house.do(PublishApp(manifest.canonical, tenant))
            house.do(SetEntitlement(f"{tenant}.sched", True, tenant=tenant))
        yield house


def ask(house: HttpHouse, path: str = LEASES, **more: Any) -> Any:
    body = ASKED | ({"command": ["true"]} if path == JOBS else {}) | more
    return house.ask(MEMBER, "POST", path, json=body)


@pytest.mark.parametrize("path", [LEASES, JOBS])
def test_a_label_of_the_platform_is_refused(house: HttpHouse, path: str) -> None:
    for label in ("bailiwick.instance=1", "bailiwick.scheduler=hello", "bailiwick.part=workload"):
        found = ask(house, path, job_labels=[label])
        assert (found.status_code, found.json()["code"]) == (422, "invalid_value")


def test_a_word_needs_an_instance_that_answers_to_it(house: HttpHouse) -> None:
    for path in (LEASES, JOBS):
        found = ask(house, path, scheduler_type="hello")
        assert (found.status_code, found.json()["code"]) == (404, "not_found")
    assert ask(house, scheduler_type="Not a word").status_code == 422
    own = {"tenant": "lab", "project": "p"}
    house.do(RequestInstance(**own, name="sched", app="lab.sched", version="1.0.0"))
    found = ask(house, scheduler_type="hello")
    assert found.status_code in (201, 202)
    told = [*house.records("admission_approved"), *house.records("request_queued")]
    assert "bailiwick.scheduler=hello" in told[-1]["job_labels"]
    assert ask(house, scheduler_type="other").status_code == 404
    foreign = {"tenant": "rival", "project": "p", "scheduler_type": "hello"}
    who = "project_member@rival"
    assert house.ask(who, "POST", LEASES, json=ASKED | foreign).status_code == 404
    house.do(SetEntitlement("lab.sched", False, tenant="lab"))
    assert ask(house, scheduler_type="hello").status_code == 404
