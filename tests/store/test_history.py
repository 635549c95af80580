"""Leases, decisions and usage, folded from the journal: the same however they are folded."""

from __future__ import annotations

import random
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select, update

from bailiwick.journal import Chain, Context, RecordKind, parse_record
from bailiwick.store.history import fold, rows
from bailiwick.store.history.fold import advance_projections, rebuild_projections
from bailiwick.store.history.questions import (
    DecisionRow,
    LeaseRow,
    UsageRow,
    decisions_of,
    lease_of,
    leases_of,
    projected_size,
    records_about,
    usage_groups,
    usage_of,
)
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import (
    decision_history,
    journal,
    lease_history,
    node_gpus,
    projection_state,
    record_index,
    usage_by_group,
    usage_by_tenant,
)
from bailiwick.vocab.errors import Damaged, InvalidValue
from tests.store.conftest import Place

RESOURCES = {"cpu_milli": 2_000, "gpu_milli": 500}
TABLES = (
    *(lease_history, decision_history, usage_by_tenant, projection_state),
    *(node_gpus, record_index, usage_by_group),
)


class Log:
    """A chain that writes to a store, one record after the other, a second apart."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._chain = Chain()
        leader = store.lead("one", "")
        assert leader is not None
        self._epoch = leader.epoch

    def add(
        self, kind: RecordKind, body: Mapping[str, Any], *, tenant: str | None = "acme"
    ) -> None:
        project = "vision" if tenant == "acme" else None
        who = Context("scheduler", "req-1", tenant=tenant, project=project)
        first = self._chain.size
        sealed = self._chain.seal(kind, who, at_ms=1_000 * first, body=body)
        self._store.append(self._epoch, first, [sealed.line])

    def approve(self, *lease_ids: int, tenant: str = "acme") -> None:
        body = {
            "lease_ids": list(lease_ids),
            "nodes": [f"node-{lease_id}" for lease_id in lease_ids],
            "resources": RESOURCES,
            "priority": "high",
            "lease_class": "spot",
            "tag": "night-run",
        }
        self.add(RecordKind.ADMISSION_APPROVED, body, tenant=tenant)

    def deny(self, *, tenant: str = "acme") -> None:
        body = {
            "reason": "waiting_for_capacity",
            "detail": "not_enough_free",
            "resources": RESOURCES,
            "priority": "low",
            "lease_class": "standard",
        }
        self.add(RecordKind.ADMISSION_DENIED, body, tenant=tenant)

    def end(self, kind: RecordKind, lease_id: int, *, tenant: str = "acme") -> None:
        body: dict[str, Any] = {"lease_id": lease_id}
        if kind is RecordKind.LEASE_PREEMPTED:
            body |= {"reason": "quota_rebalance", "victim": "acme", "preemptor": "globex"}
            body |= {"freed": RESOURCES}
        else:
            body |= {"node": f"node-{lease_id}", "resources": RESOURCES}
        if kind is RecordKind.LEASE_FENCED:
            body |= {"reason": "operator_drain"}
        self.add(kind, body, tenant=tenant)


def all_rows(store: SqlStore) -> list[list[tuple[Any, ...]]]:
    with store.reading() as connection:
        return [
            sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
            for table in TABLES
        ]


def fill(log: Log) -> None:
    """Every way a lease can begin and end, and ends that mean nothing."""
    log.approve(1, 2)
    log.deny()
    log.approve(3, tenant="globex")
    renewed = {"lease_id": 1, "generation": 2, "expires_ms": 9_000}
    log.add(RecordKind.LEASE_RENEWED, renewed)
    log.end(RecordKind.LEASE_RELEASED, 1)
    log.end(RecordKind.LEASE_PREEMPTED, 2)
    log.end(RecordKind.LEASE_RELEASED, 2)
    log.end(RecordKind.LEASE_EXPIRED, 77)
    log.approve(4, 5, 6)
    log.end(RecordKind.LEASE_EXPIRED, 4)
    log.end(RecordKind.LEASE_FENCED, 5)
    gone = {"node": "node-3", "lease_ids": [3, 6, 99]}
    log.add(RecordKind.NODE_DEPARTED, gone, tenant=None)
    log.approve(7)
    log.deny(tenant="globex")


def test_leases_are_told_from_grant_to_end(place: Place) -> None:
    store = place.open()
    fill(Log(store))
    assert rebuild_projections(store) == 14
    assert projected_size(store) == 14
    found = {row.lease_id: row for row in leases_of(store, "acme")}
    assert list(found) == [7, 6, 5, 4, 2, 1]
    assert found[2] == LeaseRow(
        lease_id=2,
        tenant="acme",
        project="vision",
        node="node-2",
        cpu_milli=2_000,
        mem_bytes=0,
        block_bytes=0,
        gpu_milli=500,
        priority="high",
        lease_class="spot",
        tag="night-run",
        granted_ms=0,
        ended_ms=5_000,
        end_cause="preempted",
        end_reason="quota_rebalance",
        gpu_generation=None,
        entry_id=None,
    )
    ends = {key: (row.ended_ms, row.end_cause, row.end_reason) for key, row in found.items()}
    assert ends == {
        7: (None, None, None),
        6: (11_000, "node_departed", None),
        5: (10_000, "fenced", "operator_drain"),
        4: (9_000, "expired", None),
        2: (5_000, "preempted", "quota_rebalance"),
        1: (4_000, "released", None),
    }
    assert [row.lease_id for row in leases_of(store, "globex")] == [3]
    assert leases_of(store, "nobody") == []


def test_what_is_lost_with_its_node_ends_at_the_last_proof_of_life(place: Place) -> None:
    store = place.open()
    log = Log(store)
    log.approve(1)
    log.deny()
    log.deny()
    log.approve(2)
    gone = {"node": "node-1", "lease_ids": [1, 2], "last_seen_ms": 1_500}
    log.add(RecordKind.NODE_DEPARTED, gone, tenant=None)
    rebuild_projections(store)
    ends = {row.lease_id: (row.granted_ms, row.ended_ms) for row in leases_of(store, "acme")}
    assert ends == {1: (0, 1_500), 2: (3_000, 3_000)}
    (used,) = usage_of(store, "acme")
    assert used.cpu_milli_ms == 2_000 * 1_500


def test_decisions_are_told_newest_first_and_only_of_the_tenant(place: Place) -> None:
    store = place.open()
    fill(Log(store))
    rebuild_projections(store)
    assert decisions_of(store, "globex") == [
        DecisionRow(
            seq=13,
            at_ms=13_000,
            tenant="globex",
            project=None,
            kind="admission_denied",
            reason="waiting_for_capacity",
            detail="not_enough_free",
            correlation_id="req-1",
            entry_id=None,
            lease_id=None,
        ),
        DecisionRow(
            seq=2,
            at_ms=2_000,
            tenant="globex",
            project=None,
            kind="admission_approved",
            reason=None,
            detail=None,
            correlation_id="req-1",
            entry_id=None,
            lease_id=3,
        ),
    ]
    kinds = [row.kind for row in decisions_of(store, "acme")]
    assert "lease_renewed" not in kinds
    assert kinds.count("admission_approved") == 3
    assert [row.seq for row in decisions_of(store, "acme", kind="admission_denied")] == [1]


def test_usage_is_resources_times_the_time_they_were_held(place: Place) -> None:
    store = place.open()
    fill(Log(store))
    rebuild_projections(store)
    # 1: 4 s, 2: 5 s, 4: 1 s, 5: 2 s, 6: 3 s; 7 is held still.
    held_ms = 15_000
    used = UsageRow("acme", "vision", 500 * held_ms, 2_000 * held_ms, 5)
    assert usage_of(store, "acme") == [used]
    assert usage_of(store, "globex") == [UsageRow("globex", None, 500 * 9_000, 2_000 * 9_000, 1)]


def test_pages_follow_each_other_without_a_gap(place: Place) -> None:
    store = place.open()
    fill(Log(store))
    rebuild_projections(store)
    pages, before = [], None
    for _ in range(4):
        page = leases_of(store, "acme", before=before, limit=2)
        pages.append([row.lease_id for row in page])
        before = page[-1].lease_id if page else before
    assert pages == [[7, 6], [5, 4], [2, 1], []]
    assert [row.lease_id for row in leases_of(store, "acme", held=True)] == [7]
    assert [row.lease_id for row in leases_of(store, "acme", held=False, limit=1)] == [6]
    assert leases_of(store, "acme", project="audio") == []
    assert len(leases_of(store, "acme", project="vision")) == 6
    for limit in (0, 1_001):
        with pytest.raises(InvalidValue):
            decisions_of(store, "acme", limit=limit)


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 1_000])
def test_advancing_in_any_steps_equals_rebuilding(place: Place, limit: int) -> None:
    store = place.open()
    fill(Log(store))
    while advance_projections(store, limit):
        pass
    advanced = all_rows(store)
    rebuild_projections(store)
    assert all_rows(store) == advanced
    rebuild_projections(store, batch=4)
    assert all_rows(store) == advanced


def test_any_order_of_events_folds_alike(sqlite_place: Place) -> None:
    store = sqlite_place.open()
    log = Log(store)
    chance = random.Random(7)
    kinds = [kind for kind in rows.ENDS if kind is not RecordKind.NODE_DEPARTED]
    for _ in range(150):
        ids = chance.sample(range(40), chance.randint(1, 3))
        match chance.randrange(4):
            case 0:
                log.approve(*ids, tenant=chance.choice(["acme", "globex"]))
            case 1:
                log.add(RecordKind.NODE_DEPARTED, {"node": "n", "lease_ids": ids}, tenant=None)
            case 2:
                log.deny()
            case _:
                log.end(chance.choice(kinds), ids[0])
        if chance.random() < 0.3:
            advance_projections(store, chance.randint(1, 9))
    while advance_projections(store, 7):
        pass
    advanced = all_rows(store)
    assert len(advanced[0]) > 20
    rebuild_projections(store)
    assert all_rows(store) == advanced


def test_of_many_that_advance_at_once_no_record_is_folded_twice(place: Place) -> None:
    stores = [place.open() for _ in range(3)]
    fill(Log(stores[0]))

    def work(number: int) -> None:
        while advance_projections(stores[number % 3], 2):
            pass

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    advanced = all_rows(stores[0])
    rebuild_projections(stores[1])
    assert all_rows(stores[2]) == advanced


def test_a_fold_that_fails_half_way_changes_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = place.open()
    fill(Log(store))
    advance_projections(store, 4)
    before = all_rows(store)

    def fail(*_: object) -> None:
        raise RuntimeError("the power went out")

    monkeypatch.setattr(fold, "_add_usage", fail)
    with pytest.raises(RuntimeError):
        advance_projections(store, 9)
    assert all_rows(store) == before
    monkeypatch.undo()
    assert advance_projections(store, 99) == 10
    assert advance_projections(store, 99) == 0


def test_a_sum_too_large_for_its_column_stops_at_the_largest_number(place: Place) -> None:
    store = place.open()
    log = Log(store)
    log.approve(1)
    advance_projections(store)
    with store.changing() as connection:
        connection.execute(update(lease_history).values(gpu_milli=2**62))
    log.end(RecordKind.LEASE_RELEASED, 1)
    advance_projections(store)
    assert usage_of(store, "acme")[0].gpu_milli_ms == 2**63 - 1


def test_a_line_that_is_no_record_is_damage_that_names_its_place(place: Place) -> None:
    store = place.open()
    fill(Log(store))
    with store.changing() as connection:
        connection.execute(update(journal).where(journal.c.seq == 3).values(line=b"{}\n"))
    with pytest.raises(Damaged, match="record 3"):
        rebuild_projections(store)
    with store.reading() as connection:
        second = connection.scalar(select(journal.c.line).where(journal.c.seq == 2))
    with store.changing() as connection:
        connection.execute(update(journal).where(journal.c.seq == 3).values(line=second))
    with pytest.raises(Damaged, match="record 3"):
        rebuild_projections(store)


HOPPER, ADA = "nvidia_hopper", "nvidia_ada"


def fill_groups(log: Log) -> None:
    """Leases from the queue and past it, on GPUs that were named and on GPUs that were not."""
    node = {"node": "n1", "resources": RESOURCES, "gpu_generations": [ADA, HOPPER]}
    log.add(RecordKind.NODE_REGISTERED, node, tenant=None)
    terms = {"resources": RESOURCES, "priority": "high", "lease_class": "spot"}
    queued = {"entry_id": 5, "reason": "not_yet_looked_at", **terms}
    log.add(RecordKind.REQUEST_QUEUED, queued)
    grant = {"lease_ids": [1], "nodes": ["n1"], "devices": [2], "entry_id": 5, **terms}
    log.add(RecordKind.ADMISSION_APPROVED, grant)
    named = {"lease_ids": [2], "nodes": ["n1"], "devices": [1], "gpu_generation": ADA, **terms}
    log.add(RecordKind.ADMISSION_APPROVED, {**named, "tag": "night"})
    log.add(RecordKind.LEASE_RENEWED, {"lease_id": 1, "generation": 2, "expires_ms": 9_000})
    log.end(RecordKind.LEASE_RELEASED, 1)
    log.end(RecordKind.LEASE_EXPIRED, 2)


@pytest.mark.parametrize("limit", [1, 3, 1_000])
def test_usage_is_told_by_project_tag_generation_and_class(place: Place, limit: int) -> None:
    store = place.open()
    fill_groups(Log(store))
    while advance_projections(store, limit):
        pass
    rows, size = usage_groups(store, "acme")
    assert size == 7
    assert [(r.tag, r.gpu_generation, r.gpu_milli_ms, r.leases_ended) for r in rows] == [
        (None, HOPPER, 500 * 3_000, 1),
        ("night", ADA, 500 * 3_000, 1),
    ]
    assert usage_groups(store, "acme", projects=["audio"])[0] == []
    assert usage_groups(store, "globex")[0] == []


def test_a_sum_of_bytes_and_time_is_exact_however_large(place: Place) -> None:
    store = place.open()
    log = Log(store)
    for lease_id in (1, 2):
        log.approve(lease_id)
        advance_projections(store)
        with store.changing() as connection:
            held = lease_history.c.lease_id == lease_id
            connection.execute(update(lease_history).where(held).values(mem_bytes=2**62))
        log.end(RecordKind.LEASE_RELEASED, lease_id)
        advance_projections(store)
    assert usage_groups(store, "acme")[0][0].mem_byte_ms == 2 * 1_000 * 2**62


def test_the_records_about_a_lease_are_found_from_its_entry_to_its_end(place: Place) -> None:
    store = place.open()
    fill_groups(Log(store))
    rebuild_projections(store)
    lease = lease_of(store, 1)
    assert lease is not None
    assert (lease.entry_id, lease.gpu_generation) == (5, HOPPER)
    lines = records_about(store, lease, after=-1, limit=9)
    assert [parse_record(line[:-1]).kind for line in lines] == [
        RecordKind.REQUEST_QUEUED,
        RecordKind.ADMISSION_APPROVED,
        RecordKind.LEASE_RELEASED,
    ]
    assert records_about(store, lease, after=1, limit=1) == lines[1:2]
    assert lease_of(store, 77) is None
