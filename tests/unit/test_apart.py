"""A policy over ledgers that no kernel keeps, and the examples that the manuals give of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bailiwick import (
    AdmissionController,
    Approved,
    CapacityLedger,
    Conflict,
    Denied,
    FairShares,
    GpuDevice,
    HardwareGeneration,
    Isolation,
    LeaseRevoker,
    NodeCapacity,
    NodesForbidden,
    NodesKeptApart,
    PendingReason,
    PlacementRequest,
    PlacementScorer,
    Preemptable,
    PreemptionManager,
    PreemptionReason,
    Priority,
    WaitingQueue,
)
from bailiwick.fleet.topology import DomainKind

ROOT = Path(__file__).parents[2]
GENERATION = HardwareGeneration.NVIDIA_HOPPER
VAULT = "vault: dedicated host for tenant bank"


def door(text: str, *nodes: NodeCapacity) -> AdmissionController:
    ledger = CapacityLedger()
    for number, node in enumerate(nodes, start=1):
        ledger.register_node(f"n{number}", node)
    scorer = PlacementScorer(filters=[Isolation.reading(text).over(ledger)])
    return AdmissionController(ledger, scorer=scorer)


def machine(*fabrics: str, **labels: str) -> NodeCapacity:
    gpus = [GpuDevice(GENERATION, fabric=fabric) for fabric in fabrics]
    return NodeCapacity(cpu_cores=8, mem_bytes=0, gpus=gpus, labels=labels)


def ask(tenant: str, **terms: object) -> PlacementRequest:
    return PlacementRequest(tenant=tenant, cpu_cores=1, **terms)  # type: ignore[arg-type]


def admitted(admission: AdmissionController, request: PlacementRequest, now_ms: int = 0) -> int:
    decision = admission.admit(request, now_ms=now_ms)
    assert isinstance(decision, Approved), decision
    return decision.leases[0].id


@pytest.mark.parametrize("manual", ["library.md", "isolation.md"])
def test_the_example_of_the_manual_does_what_it_says(manual: str) -> None:
    text = (ROOT / "docs" / manual).read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (example,) = [block for block in blocks if "Isolation.reading" in block]
    exec(example, {})


def test_who_is_kept_out_by_what_runs_waits_and_by_what_lasts_does_not() -> None:
    admission = door(f"{VAULT}\nin: tenant lab only on nodes with zone=inner", machine())
    admitted(admission, ask("bank"))
    denied = admission.admit(ask("guest"))
    assert isinstance(denied, Denied)
    assert denied.reason is PendingReason.WAITING_FOR_CAPACITY
    assert denied.detail == NodesKeptApart(1, "vault")
    never = admission.admit(ask("lab"))
    assert isinstance(never, Denied)
    assert isinstance(never.detail, NodesForbidden)
    assert dict(admission.explain(ask("lab")).rules.told) == {"vault": 1, "in": 1}


def test_where_no_node_is_no_policy_is_to_blame() -> None:
    denied = door(VAULT).admit(ask("bank"))
    assert isinstance(denied, Denied)
    assert not isinstance(denied.detail, NodesKeptApart)


def test_of_a_node_with_two_fabrics_the_open_one_is_given() -> None:
    layouts = [("x", "x", "y"), ("y", "x", "x"), ("x", "x", "y", "y"), ("x", "y", "x", "y")]
    for fabrics in layouts:
        admission = door("never share fabric among tenants", machine(*fabrics))
        wanted = {"gpu_count": 1, "generation": GENERATION}
        held: dict[str, set[str]] = {"a": set(), "b": set()}
        for tenant in ("a", "b", "a", "b"):
            decision = admission.admit(ask(tenant, **wanted))
            for lease in decision.leases if isinstance(decision, Approved) else ():
                held[tenant] |= {fabrics[at] for at in lease.devices}
        assert sorted(map(len, held.values())) == [1, 1], "each has one of its own"
        assert not held["a"] & held["b"]


def test_a_fenced_hold_still_keeps_others_out_until_it_is_cleared() -> None:
    admission = door(VAULT, machine())
    revoker = LeaseRevoker(admission.ledger, teardown=lambda _: False)
    lease_id = admitted(admission, ask("bank"))
    revoker.revoke(lease_id, PreemptionReason.OPERATOR_DRAIN, now_ms=1)
    assert admission.ledger.is_pinned(lease_id)
    assert isinstance(admission.admit(ask("lab"), now_ms=2), Denied)
    revoker.clear_fence(lease_id, now_ms=3)
    admitted(admission, ask("lab"), now_ms=4)


def test_a_stay_that_would_break_a_rule_is_refused_and_nothing_changes() -> None:
    night = "never share host among tenants between 08:00 and 09:00"
    admission, hour_ms = door(night, machine()), 3_600_000
    lease_id = admitted(admission, ask("a", ttl_ms=hour_ms))
    admitted(admission, ask("b", ttl_ms=hour_ms))
    before = admission.ledger.lease(lease_id)
    with pytest.raises(Conflict, match="by the rule rule-1"):
        admission.ledger.renew(lease_id, ttl_ms=9 * hour_ms, now_ms=1)
    assert admission.ledger.lease(lease_id) == before
    admission.ledger.renew(lease_id, ttl_ms=2 * hour_ms, now_ms=1)


def test_what_was_left_behind_is_theirs_until_its_time_is_over_or_it_is_scrubbed() -> None:
    admission = door("keep host for tenant bank 10m after it left", machine())
    (policy,) = admission.kept_apart.found
    for now_ms in (1_000, 2_000_000):
        lease_id = admitted(admission, ask("bank"), now_ms)
        admission.ledger.release(lease_id)  # no time is told: as of when it was last asked
        assert isinstance(admission.admit(ask("lab"), now_ms=now_ms + 1), Denied)
        assert isinstance(admission.evaluate(ask("lab"), now_ms=now_ms + 600_000), Approved)
        admission.evaluate(ask("bank"), now_ms=now_ms + 600_000)
    lease_id = admitted(admission, ask("bank"), 3_000_000)
    admission.ledger.release(lease_id, now_ms=3_000_000)
    assert isinstance(admission.admit(ask("lab"), now_ms=3_000_001), Denied)
    policy.isolation.scrub(DomainKind.HOST, "n1")  # type: ignore[attr-defined]
    admitted(admission, ask("lab"), 3_000_002)


def test_a_gang_is_spread_and_the_queue_starts_who_may() -> None:
    admission = door("at most 1 of tenant a per host", machine(), machine())
    queue = WaitingQueue(admission, FairShares(half_life_ms=1_000))
    for size, tenant in ((2, "a"), (1, "a"), (1, "b")):
        queue.submit(ask(tenant, gang_size=size), now_ms=0)
    result = queue.schedule(now_ms=0, limit=10)
    assert [len(each.approved.leases) for each in result.started] == [2, 1]
    assert len({*result.started[0].approved.nodes}) == 2
    assert [each.denied.detail for each in result.waiting] == [NodesKeptApart(2, "rule-1")]


def test_nobody_has_to_go_from_what_would_stay_theirs() -> None:
    big = {"cpu_cores": 8, "mem_bytes": 0}
    admission = door("keep host for tenant bank until scrubbed", machine(), machine())
    low = {"priority": Priority.LOW, **big}
    for tenant in ("bank", "lab"):
        admission.admit(PlacementRequest(tenant=tenant, **low), now_ms=0)  # type: ignore[arg-type]
    urgent = PlacementRequest(tenant="acme", priority=Priority.CRITICAL, **big)
    filters, manager = admission.scorer.filters, PreemptionManager()
    found = manager.find_victims(admission.ledger, urgent, now_ms=1, filters=filters)
    assert isinstance(found, Preemptable)
    assert [str(victim.lease.tenant) for victim in found.victims] == ["lab"]
    admission.ledger.release(found.victims[0].lease_id, now_ms=1)
    admission.admit(PlacementRequest(tenant="bank", **low), now_ms=2)  # type: ignore[arg-type]
    none = manager.find_victims(admission.ledger, urgent, now_ms=3, filters=filters)
    assert not isinstance(none, Preemptable)


def test_the_queue_keeps_room_for_who_is_kept_out() -> None:
    admission = door("never share host between tenant a and tenant b", machine())
    queue = WaitingQueue(admission, FairShares(half_life_ms=1_000))
    admitted(admission, ask("a", ttl_ms=100))
    entry = queue.submit(ask("b", ttl_ms=50), now_ms=0)
    for now_ms in range(0, 400, 40):
        admission.ledger.expire(now_ms)
        queue.submit(ask("a", ttl_ms=100), now_ms)
        queue.schedule(now_ms, limit=10)
        if entry.id not in queue:
            break
    assert now_ms == 120


def test_a_ledger_joins_before_its_first_lease_and_each_cell_has_a_name() -> None:
    admission = door(VAULT, machine())
    admitted(admission, ask("bank"))
    isolation = Isolation.reading(VAULT)
    with pytest.raises(Conflict, match="has leases"):
        isolation.over(admission.ledger)
    isolation.over(CapacityLedger())
    with pytest.raises(Conflict, match="already"):
        isolation.over(CapacityLedger())
