"""What can be seen of a request afterwards, and by whom; and the metrics."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.port import JobSpec
from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.kernel import (
    ChangeSettings,
    ClearFence,
    Evict,
    RegisterNode,
    Release,
    ReportTeardown,
    Tick,
)
from bailiwick.reconcile.watched_executor import WatchedExecutor
from bailiwick.runtime.gateway import Gateway
from bailiwick.server.http.context import Parts
from bailiwick.server.http.gauges import GaugeReader
from bailiwick.services import authority as auth
from bailiwick.vocab.values import GIB
from bailiwick.vocab.words import HardwareGeneration, PreemptionReason
from tests.support.http_house import FOREIGN, OWN, HttpHouse, http_house
from tests.support.waiting import WAIT_S

MEMBER, RIVAL = f"project_member@{OWN}", f"project_member@{FOREIGN}"
HOPPER, AMPERE = HardwareGeneration.NVIDIA_HOPPER, HardwareGeneration.NVIDIA_AMPERE
REQUEST = {"tenant": OWN, "project": "p", "resources": {"cpu_milli": 1000}}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("seen")) as made:
        yield made


def ask_lease(house: HttpHouse, who: str, correlation: str, **more: Any) -> Any:
    headers = {"X-Correlation-Id": correlation, **more.pop("headers", {})}
    return house.ask(who, "POST", "/v1/leases", json=REQUEST | more, headers=headers)


def trace(house: HttpHouse, who: str, correlation: str) -> Any:
    return house.ask(who, "GET", f"/v1/traces/{correlation}")


def sources(response: Any) -> list[str]:
    assert response.status_code == 200, response.text
    return [each["source"] for each in response.json()["entries"]]


def test_a_request_its_spans_and_its_records_are_one_timeline(house: HttpHouse) -> None:
    answer = ask_lease(house, MEMBER, "seen-1")
    assert answer.status_code in (201, 202), answer.text
    found = trace(house, MEMBER, "seen-1").json()
    entries = found["entries"]
    assert found["correlation_id"] == "seen-1"
    request = next(each for each in entries if each["source"] == "request")
    assert request["name"] == "lease.request"
    assert request["duration_ms"] > 0
    assert request["details"]["principal"] == MEMBER
    assert request["details"]["tenant"] == OWN
    assert request["details"]["http.response.status_code"] == answer.status_code
    assert "kernel.call" in [each["name"] for each in entries if each["source"] == "span"]
    assert any(each["source"] == "decision" for each in entries)
    assert [each["at_ms"] for each in entries] == sorted(each["at_ms"] for each in entries)


def test_an_error_names_its_trace_and_leaves_a_log_line(
    house: HttpHouse, caplog: pytest.LogCaptureFixture
) -> None:
    caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with caplog.at_level("INFO", "bailiwick.http"):
        refused = house.ask(
            MEMBER,
            "GET",
            "/v1/leases/999999",
            headers={"X-Correlation-Id": "seen-2", "traceparent": caller},
        )
    assert refused.status_code == 404
    assert refused.json()["trace_id"] == "0af7651916cd43dd8448eb211c80319c"
    assert "lease.read was answered with 404" in caplog.text


def test_what_the_edge_itself_refuses_is_seen_too(house: HttpHouse) -> None:
    large = {"content-length": str(10**9), "X-Correlation-Id": "seen-3"}
    refused = house.client.post("/v1/leases", content=b"{}", headers=large)
    assert refused.status_code == 413
    assert refused.json()["trace_id"] is not None
    assert sources(trace(house, "fleet_admin", "seen-3")) == ["request"]


def test_a_bad_traceparent_does_no_harm(house: HttpHouse) -> None:
    for bad in ("", "00-zz-yy-01", "x" * 5000):
        answer = house.client.get("/healthz", headers={"traceparent": bad})
        assert answer.status_code == 200


def test_another_tenants_request_looks_as_if_it_never_was(house: HttpHouse) -> None:
    ask_lease(house, MEMBER, "seen-4")
    hidden = trace(house, RIVAL, "seen-4")
    never = trace(house, RIVAL, "seen-never")
    assert hidden.status_code == never.status_code == 404
    assert hidden.json()["message"] == never.json()["message"]
    assert set(sources(trace(house, f"project_viewer@{OWN}", "seen-4"))) >= {"request", "span"}


def test_who_uses_the_same_id_sees_his_own_request_only(house: HttpHouse) -> None:
    parent = {"traceparent": "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203331-01"}
    ask_lease(house, MEMBER, "seen-5", headers=parent)
    ask_lease(house, RIVAL, "seen-5", headers=parent, tenant=FOREIGN)
    for who, tenant in ((MEMBER, OWN), (RIVAL, FOREIGN)):
        response = trace(house, who, "seen-5")
        entries = response.json()["entries"]
        requests = [each for each in entries if each["source"] == "request"]
        assert [each["details"]["principal"] for each in requests] == [who]
        roots = {each["details"]["span_id"] for each in requests}
        for each in entries:
            if each["source"] == "span":
                assert each["details"]["parent_id"] in roots
            if each["source"] in ("decision", "event"):
                assert each["details"]["tenant"] == tenant
        other = FOREIGN if tenant == OWN else OWN
        assert other not in response.text
    # Somebody else of the tenant sees its records, but no request: not all records are his to see.
    viewer = sources(trace(house, f"project_viewer@{OWN}", "seen-5"))
    assert viewer
    assert "request" not in viewer
    assert "span" not in viewer
    everything = trace(house, "fleet_auditor", "seen-5").json()["entries"]
    assert len([each for each in everything if each["source"] == "request"]) == 2


def test_a_read_of_another_without_records_is_hidden(house: HttpHouse) -> None:
    """No record at all must not count as "every record is mine to see"."""
    headers = {"X-Correlation-Id": "seen-6"}
    assert house.ask("fleet_admin", "GET", "/v1/nodes", headers=headers).status_code == 200
    assert trace(house, MEMBER, "seen-6").status_code == 404
    assert sources(trace(house, "fleet_operator", "seen-6"))[0] == "request"


def test_metrics_need_the_key(house: HttpHouse) -> None:
    assert house.client.get("/metrics").status_code == 401
    assert house.ask(MEMBER, "GET", "/metrics").status_code == 403
    told = house.ask("fleet_operator", "GET", "/metrics")
    assert told.status_code == 200
    assert told.headers["content-type"].startswith("text/plain")


def test_metrics_say_what_happened(house: HttpHouse) -> None:
    ask_lease(house, MEMBER, "seen-7")
    house.telemetry.find("seen-7")  # waits until the journal's end is counted
    text = house.ask("fleet_admin", "GET", "/metrics").text
    for row in (
        rf'bailiwick_admissions_total{{outcome="\w+",priority="normal",tenant="{OWN}"}} [1-9]',
        r'bailiwick_request_seconds_count{action="lease.request",status_class="2xx"} [1-9]',
        rf'bailiwick_tenant_usage{{dimension="cpu_milli",tenant="{OWN}"}} [1-9]',
        r'bailiwick_nodes{mode="accepting"} 1.0',
        r'bailiwick_leases{lease_class="standard",lease_state="active"} [1-9]',
        r'bailiwick_waiting_requests{pending_reason="waiting_for_capacity"} [1-9]',
        r'bailiwick_replica_role{role="leading"} 1.0',
        r"bailiwick_journal_append_seconds_count [1-9]",
        r'bailiwick_kernel_wait_seconds_count{wait="call"} [1-9]',
        r"bailiwick_telemetry_dropped_total 0.0",
        r"bailiwick_watchers 0.0",
        r"bailiwick_placement_score_ratio_count",
    ):
        assert re.search(row, text), row
    assert not re.search(r"^bailiwick_\w+(\{.*\})? NaN$", text, re.MULTILINE), "all of it was read"


def test_on_loopback_metrics_may_be_open(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("open")
    with http_house(folder, parts=Parts(metrics_open=True)) as house:
        assert "bailiwick_nodes" in house.client.get("/metrics").text


def test_a_narrowed_token_scrapes(house: HttpHouse) -> None:
    from bailiwick.iam import Permission

    terms = auth.Terms(keys=(Permission.METRICS_READ,))
    token = house.token("fleet_operator", terms=terms)
    headers = {"Authorization": f"Bearer {token}"}
    assert house.client.get("/metrics", headers=headers).status_code == 200
    assert house.client.get("/v1/nodes", headers=headers).status_code == 403


def test_what_an_executor_does_is_in_the_timeline_of_the_request(
    house: HttpHouse, tmp_path: Path
) -> None:
    inventory = {"resources": {"cpu_milli": 10**6, "mem_bytes": 2**36}}
    house.plain("register_node", node="n8", inventory=inventory)
    granted = ask_lease(house, MEMBER, "seen-8", priority="high")
    assert granted.status_code == 201, granted.text
    lease_id = granted.json()["lease_ids"][0]
    house.telemetry.find("seen-8")  # waits until the journal's end is followed
    executor = WatchedExecutor(LocalExecutor(tmp_path / "jobs"), house.telemetry)
    executor.start(
        JobSpec(lease_id=lease_id, argv=("/bin/true",), token="not-told", cwd=None, env={})
    )
    assert executor.tear_down(lease_id)
    assert executor.adopt()
    executor.forget(lease_id)
    response = trace(house, f"project_viewer@{OWN}", "seen-8")
    spans = {e["name"]: e["details"] for e in response.json()["entries"] if e["source"] == "span"}
    assert spans["executor.start"]["lease_id"] == lease_id
    assert spans["executor.tear_down"]["is_gone"] is True
    assert "not-told" not in response.text


def test_who_looked_for_what_is_not_his_is_not_shown_to_the_owner(house: HttpHouse) -> None:
    assert ask_lease(house, RIVAL, "seen-9").status_code == 404
    assert trace(house, f"tenant_admin@{OWN}", "seen-9").status_code == 404
    assert sources(trace(house, RIVAL, "seen-9"))[0] == "request"
    seen = trace(house, "fleet_auditor", "seen-9")
    assert {"request", "decision"} <= {*sources(seen)}  # the refusal is sealed


def gpus_of(house: HttpHouse) -> dict[tuple[str, ...], float]:
    """What the metrics say of the house's GPUs, but for what there is none of."""
    reader = GaugeReader(Gateway(house.runner, wait_s=WAIT_S), wait_s=WAIT_S)
    found = asyncio.run(reader.read(None)).values["bailiwick_gpus"]
    return {labels: gpus for labels, gpus in found.items() if gpus}


def test_every_gpu_is_told_once_as_leased_free_or_why_nobody_can_have_it(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with http_house(tmp_path_factory.mktemp("gpus")) as fresh:
        told = partial(gpus_of, fresh)
        for name, kind in (("g1", HOPPER), ("g2", HOPPER), ("g3", AMPERE)):
            gpus = (GpuDevice(kind, 80 * GIB),) * 4
            fresh.do(RegisterNode(name, NodeCapacity(cpu_cores=8, mem_bytes=8 * GIB, gpus=gpus)))
        assert told() == {(HOPPER, "free"): 8, (AMPERE, "free"): 4}
        half = {"resources": {}, "gpu_milli": 500, "gpu_generation": AMPERE}
        assert ask_lease(fresh, MEMBER, "half", **half).status_code == 202
        fresh.do(Tick())
        assert told()[AMPERE, "leased"] == 0.5
        body = {"reason": "looks-wrong"}
        for node in ("g2", "g3"):
            path = f"/v1/nodes/{node}/quarantine"
            assert fresh.ask("fleet_admin", "PUT", path, json=body).status_code == 200
        assert told() == {
            (HOPPER, "free"): 4,
            (HOPPER, "quarantined"): 4,
            (AMPERE, "leased"): 0.5,
            (AMPERE, "quarantined"): 3.5,
        }


def test_a_gpu_that_is_claimed_or_fenced_is_not_told_as_leased(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with http_house(tmp_path_factory.mktemp("fenced")) as fresh:
        settings = fresh.runner.read(lambda view: view.state.settings)
        slow = replace(settings, confirm_teardown=True, grace_ms=3_600_000, teardown_ms=3_600_000)
        fresh.do(ChangeSettings(slow))
        gpus = (GpuDevice(HOPPER, 80 * GIB),) * 4
        fresh.do(RegisterNode("g1", NodeCapacity(cpu_cores=8, mem_bytes=8 * GIB, gpus=gpus)))
        low = {"resources": {}, "gpu_count": 1, "gpu_generation": HOPPER, "priority": "low"}
        for number in (1, 2):
            assert ask_lease(fresh, MEMBER, f"low-{number}", **low).status_code == 202
        fresh.do(Tick())
        assert gpus_of(fresh) == {(HOPPER, "leased"): 2, (HOPPER, "free"): 2}

        first, second = fresh.runner.read(lambda view: view.state.leases_on("g1"))
        fresh.do(Evict((first,), PreemptionReason.OPERATOR_DRAIN, grace_ms=0))
        fresh.do(ReportTeardown(first, clean=False))
        now = {(HOPPER, "fenced"): 1, (HOPPER, "leased"): 1, (HOPPER, "free"): 2}
        assert gpus_of(fresh) == now

        high = {**low, "gpu_count": 3, "priority": "high"}
        assert ask_lease(fresh, MEMBER, "high", **high).status_code == 202
        now = {(HOPPER, "fenced"): 1, (HOPPER, "leased"): 1, (HOPPER, "claimed"): 2}
        fresh.do(Tick())
        assert gpus_of(fresh) == now, "the second leaves for it, and what is free is kept"

        fresh.do(Release(second))
        fresh.do(Tick())
        assert gpus_of(fresh) == {(HOPPER, "fenced"): 1, (HOPPER, "leased"): 3}
        fresh.do(ClearFence(first))
        assert gpus_of(fresh) == {(HOPPER, "free"): 1, (HOPPER, "leased"): 3}


def test_a_kernel_that_does_not_answer_is_told_by_what_there_is(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with http_house(tmp_path_factory.mktemp("stuck")) as house:
        runner = house.runner
    reader = GaugeReader(Gateway(runner, wait_s=WAIT_S), wait_s=0.05)
    gauges = asyncio.run(reader.read(None))
    assert gauges.values["bailiwick_kernel_queue_length"] == {(): 0}
    assert "bailiwick_nodes" not in gauges.values


def test_who_was_evicted_does_not_find_the_request_that_did_it(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with http_house(tmp_path_factory.mktemp("evicted")) as fresh:
        everything = {"resources": {"cpu_milli": 64_000}, "priority": "high"}
        asked = {"tenant": FOREIGN, "project": "p", **everything}
        headers = {"X-Correlation-Id": "ours-alone"}
        answer = fresh.ask(RIVAL, "POST", "/v1/leases", json=asked, headers=headers)
        assert answer.status_code == 202, answer.text
        evicted = [b for b in fresh.records("lease_revoked") if b["lease_id"] == 1]
        assert evicted, "the other tenant's lease had to go"
        assert trace(fresh, "tenant_admin@" + OWN, "ours-alone").status_code == 404
        assert trace(fresh, "fleet_admin", "ours-alone").status_code == 200
        mine = trace(fresh, RIVAL, "ours-alone")
        assert "decision" in sources(mine)
        assert all(each["details"].get("tenant") != OWN for each in mine.json()["entries"])
