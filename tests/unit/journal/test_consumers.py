"""A bad batch moves nothing and shows nothing; a tenant sees its own records and no others."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from bailiwick.journal import (
    GENESIS,
    Batch,
    Chain,
    Changed,
    Collector,
    Context,
    DashboardSnapshot,
    RecordKind,
    RecordRefused,
    Removed,
    RevokeStep,
    TenantDashboard,
    Truncated,
    verify_batch,
)
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.words import PreemptionReason
from tests.unit.journal.makers import checkpoint_of, make_log

WALK = ["active", "revoke_warning", "grace_running", "forced_teardown", "torndown"]


class Fleet:
    """Seals what a small fleet with two tenants would."""

    def __init__(self) -> None:
        self.chain = Chain()
        self.lines: list[bytes] = []

    def tell(self, kind: RecordKind, tenant: str | None, **body: Any) -> None:
        who = Context("scheduler", f"req-{self.chain.size}", tenant)
        at_ms = 1_000 + self.chain.size
        self.lines.append(self.chain.seal(kind, who, at_ms=at_ms, body=body).line)

    def admit(self, tenant: str, lease_id: int, *, node: str = "n1") -> None:
        self.tell(
            RecordKind.ADMISSION_APPROVED,
            tenant,
            lease_ids=[lease_id],
            nodes=[node],
            resources={"gpu_milli": 1000},
            priority="normal",
            lease_class="spot",
        )

    def revoke(self, tenant: str, lease_id: int) -> None:
        for before, after in pairwise(WALK):
            self.tell(
                RecordKind.LEASE_REVOKED,
                tenant,
                lease_id=lease_id,
                before=before,
                after=after,
                reason="priority_preemption",
            )


def two_tenants() -> Fleet:
    fleet = Fleet()
    fleet.tell(RecordKind.NODE_REGISTERED, None, node="n1", resources={"gpu_milli": 8000})
    fleet.admit("acme", 1)
    fleet.admit("globex", 2, node="globex-secret-node")
    fleet.revoke("globex", 2)
    fleet.revoke("acme", 1)
    return fleet


def test_a_batch_gives_its_records_and_the_next_anchor() -> None:
    chain, lines = make_log(6)
    first = verify_batch(GENESIS, lines[:4])
    assert isinstance(first, Batch)
    assert [record.seq for record in first.records] == [0, 1, 2, 3]
    second = verify_batch(first.anchor, lines[4:], checkpoints=[checkpoint_of(chain)])
    assert isinstance(second, Batch)
    assert second.anchor == chain.anchor()


def test_a_collector_moves_only_over_good_batches() -> None:
    chain, lines = make_log(9)
    collector = Collector()
    assert isinstance(collector.ingest(lines[:3]), Batch)
    kept = collector.anchor
    assert collector.ingest(lines[4:]) == Removed(3, 4)
    damaged = lines[4].replace(b'"generation":2', b'"generation":3')
    assert collector.ingest([lines[3], damaged, *lines[5:]]) == Changed(4)
    assert collector.ingest(lines[3:7], checkpoints=[checkpoint_of(chain)]) == Truncated(7, 9)
    assert collector.anchor == kept
    assert isinstance(collector.ingest(lines[3:]), Batch)
    assert collector.anchor == chain.anchor()


def test_a_collector_takes_up_again_from_a_kept_anchor() -> None:
    chain, lines = make_log(9)
    collector = Collector()
    collector.ingest(lines[:5])
    again = Collector(collector.anchor)
    assert isinstance(again.ingest(lines[5:]), Batch)
    assert again.anchor == chain.anchor()


def test_a_tenant_sees_counts_walks_and_admissions_of_its_own() -> None:
    fleet = two_tenants()
    snapshot = TenantDashboard("acme").ingest(fleet.lines)
    assert isinstance(snapshot, DashboardSnapshot)
    assert snapshot.counts_by_kind == {
        RecordKind.ADMISSION_APPROVED: 1,
        RecordKind.LEASE_REVOKED: 4,
    }
    assert [step.after for step in snapshot.revoke_walks[1]] == WALK[1:]
    assert snapshot.revoke_walks[1][0] == RevokeStep(
        7,
        1_007,
        RevokeState.ACTIVE,
        RevokeState.REVOKE_WARNING,
        PreemptionReason.PRIORITY_PREEMPTION,
    )
    assert [record.body["lease_ids"] for record in snapshot.recent_admissions] == [(1,)]


def test_a_walk_that_was_taken_back_is_seen_as_such() -> None:
    fleet = Fleet()
    fleet.admit("acme", 1)
    told = {"lease_id": 1, "reason": "priority_preemption"}
    for before, after in (("active", "revoke_warning"), ("revoke_warning", "grace_running")):
        fleet.tell(RecordKind.LEASE_REVOKED, "acme", **told, before=before, after=after)
    fleet.tell(RecordKind.LEASE_RESTORED, "acme", lease_id=1, generation=2, expires_ms=9_000)
    snapshot = TenantDashboard("acme").ingest(fleet.lines)
    assert isinstance(snapshot, DashboardSnapshot)
    walk = [(str(step.before), str(step.after)) for step in snapshot.revoke_walks[1]]
    assert walk[-1] == ("grace_running", "active")
    assert snapshot.revoke_walks[1][-1].reason is None


def test_nothing_of_another_tenant_is_in_the_view() -> None:
    snapshot = TenantDashboard("acme").ingest(two_tenants().lines)
    assert isinstance(snapshot, DashboardSnapshot)
    assert "globex" not in repr(snapshot)
    assert set(snapshot.revoke_walks) == {1}


@pytest.mark.parametrize("tenant", ["acm", "acme2", "cme", "Acme", "globe"])
def test_a_tenant_with_a_similar_name_sees_nothing(tenant: str) -> None:
    snapshot = TenantDashboard(tenant).ingest(two_tenants().lines)
    assert snapshot == DashboardSnapshot({}, {}, (), 0)


def test_a_record_of_another_tenant_that_was_changed_stops_the_view_too() -> None:
    fleet = two_tenants()
    dashboard = TenantDashboard("acme")
    dashboard.ingest(fleet.lines[:2])
    before = dashboard.snapshot()
    damaged = list(fleet.lines)
    damaged[2] = damaged[2].replace(b"globex-secret-node", b"globex-forged-node")
    assert dashboard.ingest(damaged[2:]) == Changed(2)
    assert dashboard.snapshot() == before
    assert dashboard.anchor.size == 2
    assert isinstance(dashboard.ingest(fleet.lines[2:]), DashboardSnapshot)


def test_recent_admissions_and_walks_are_capped() -> None:
    fleet = Fleet()
    for lease_id in range(7):
        fleet.admit("acme", lease_id)
        fleet.revoke("acme", lease_id)
    snapshot = TenantDashboard("acme", recent_max=3, walks_max=2).ingest(fleet.lines)
    assert isinstance(snapshot, DashboardSnapshot)
    assert [record.body["lease_ids"] for record in snapshot.recent_admissions] == [(4,), (5,), (6,)]
    assert (list(snapshot.revoke_walks), snapshot.walks_forgotten) == ([5, 6], 5)
    assert snapshot.counts_by_kind[RecordKind.ADMISSION_APPROVED] == 7


def test_a_walk_without_a_reason_is_an_expiry() -> None:
    fleet = Fleet()
    fleet.tell(RecordKind.LEASE_REVOKED, "acme", lease_id=1, before="active", after="expired")
    snapshot = TenantDashboard("acme").ingest(fleet.lines)
    assert isinstance(snapshot, DashboardSnapshot)
    assert snapshot.revoke_walks[1][0].reason is None


def test_a_view_needs_a_proper_tenant_and_cap() -> None:
    with pytest.raises(InvalidValue):
        TenantDashboard('x"}')
    with pytest.raises(InvalidValue):
        TenantDashboard("acme", recent_max=0)
    with pytest.raises(RecordRefused):
        Context("scheduler", "req", 'acme"}')
