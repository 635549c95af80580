"""A replica that was read back from a snapshot tells the same, in the same order, as the leader."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from bailiwick.runtime import replica as rep
from bailiwick.runtime.runner import Runner, SystemClock
from bailiwick.services.apps.calls import CallDesk
from bailiwick.store import open_store
from bailiwick.store.calls.rows import CallBook
from bailiwick.wire.actions.table import ACTIONS
from tests.support.http_actions import aim
from tests.support.http_house import (
    FOREIGN,
    OWN,
    HttpHouse,
    add_instances,
    http_house,
    make_app,
    make_parts,
    price_list,
)
from tests.support.shared_runtimes import add_runtimes
from tests.support.waiting import WAIT_S, until

ELSEWHERE = frozenset(
    {
        *("replica.read", "metrics.read", "trace.read", "self.read", "record.watch", "node.list"),
        *("self.watch", "decision.story"),
        "session.read",
        *("lease.explain", "job.list", "job.read", "job.output", "decision.list", "finding.list"),
        *("usage.read", "usage.fleet", "capability.revocations", "checkpoint.read", "node.work"),
        *("checkpoint.key", "checkpoint.compare", "invoice.export"),
        *("invoice.draft", "invoice.list", "invoice.read", "invoice.trace"),
        *("graph.list", "graph.read", "artifact.pull", "shared_use.read"),
        *("shared_worker.list", "instance_endpoint.get", "self.may"),
        *("notice.read", "inbox.list"),
    }
)
"""Not answered from the state alone: what a process says of itself, what is in tables, and what an
app says."""
MOVES = frozenset(
    {
        *("as_of_ms", "starts_ms", "estimate", "spent_micros", "left_micros", "projected_micros"),
        *("usage_gpu_milli_ms", "usage_per_share"),
    }
)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HttpHouse, TestClient]]:
    folder = tmp_path_factory.mktemp("read-back")
    with http_house(folder) as house:
        _fill(house)
        add_instances(house)
        add_runtimes(house)
        kernel = house.runner.replica.kernel
        assert kernel is not None
        house.runner.replica.pace = rep.Pace(snapshot_every=1)
        until(house.runner.replica.store.snapshots, "there is a snapshot")
        house.runner.replica.pace = rep.Pace()
        with _second(house, folder) as client:
            yield house, client


def _fill(house: HttpHouse) -> None:
    """Prices, members, projects and nodes, none of them in the order of their names."""
    headers = {"Authorization": f"Bearer {house.token('fleet_admin')}"}

    def put(name: str, tenant: str, body: dict[str, Any]) -> None:
        action = ACTIONS[name]
        path, _ = aim(action, tenant)
        told = house.client.request(action.method, path, json=body, headers=headers)
        assert told.status_code < 300, told.text

    for node in ("zz", "mm", "aa"):
        put("node.register", OWN, {"node": node, "resources": {"cpu_milli": 1000}})
    for tenant in ("zeta", "mid", "alpha"):
        put("tenant.create", OWN, {"tenant": tenant})
        for project in ("q9", "q1"):
            put("project.create", tenant, {"project": project})
    for member in ("zoe", "ann", "max"):
        put("tenant_member.set", OWN, {"member": member, "role": "tenant_auditor"})
    put("rates.set", OWN, turned(price_list()))


def turned(told: dict[str, Any]) -> dict[str, Any]:
    """The same, with every object's keys the other way round."""
    found = reversed(told.items())
    return {key: turned(value) if isinstance(value, dict) else value for key, value in found}


class _second:
    """A replica over the same store, made from its snapshot."""

    def __init__(self, house: HttpHouse, folder: Path) -> None:
        self._house, self._store = house, open_store(str(folder))
        replica = rep.Replica(self._store, SystemClock(), name="two")
        self._runner = Runner(replica, wait_s=WAIT_S)

    def __enter__(self) -> TestClient:
        self._runner.start()
        assert self._runner.wait_for(rep.Role.FOLLOWING, wait_s=WAIT_S)
        app = make_app(
            self._runner,
            self._house.authority,
            clock=SystemClock(),
            ids=lambda: "id",
            parts=make_parts(SystemClock(), calls=CallDesk(CallBook(self._store))),
        )
        return TestClient(app, raise_server_exceptions=False)

    def __exit__(self, *raised: object) -> None:
        self._runner.stop()


def _still(told: Any) -> Any:
    """Without what moves by itself."""
    if isinstance(told, dict):
        return {key: _still(value) for key, value in told.items() if key not in MOVES}
    return [_still(each) for each in told] if isinstance(told, list) else told


@pytest.mark.parametrize(
    "name", [n for n, a in ACTIONS.items() if a.method == "GET" and n not in ELSEWHERE]
)
@pytest.mark.parametrize("tenant", [OWN, FOREIGN])
def test_a_read_is_the_same(both: tuple[HttpHouse, TestClient], name: str, tenant: str) -> None:
    house, second = both
    path, _ = aim(ACTIONS[name], tenant)
    headers = {"Authorization": f"Bearer {house.token('fleet_admin')}"}

    def known() -> bool:
        return second.get("/v1/whoami", headers=headers).status_code == 200

    until(known, "it knows the token")
    first, other = (client.get(path, headers=headers) for client in (house.client, second))
    assert first.status_code == other.status_code, other.text
    if first.headers["content-type"].startswith("application/json"):
        # As text: in the same order too.
        assert json.dumps(_still(first.json())) == json.dumps(_still(other.json()))
