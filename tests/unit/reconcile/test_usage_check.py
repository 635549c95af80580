"""The leader compares what was counted with the journal and seals each finding once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.kernel import (
    DepartNode,
    Envelope,
    RegisterNode,
    Release,
    Settings,
    decode_command,
)
from bailiwick.kernel.answers import Granted
from bailiwick.metering.counters import Counter, GpuCount
from bailiwick.reconcile.usage_check import AGAIN_MS, SETTLE_MS, UsageBooks, UsageCheck
from bailiwick.runtime.replica import Replica, Role
from bailiwick.runtime.runner import Runner
from bailiwick.store.counter_rows import CounterBook, CounterEvent
from bailiwick.store.finding_rows import FindingBook
from bailiwick.store.meter_rows import MeterBook
from bailiwick.vocab.words import HardwareGeneration
from tests.support.fresh_store import open_fresh
from tests.support.waiting import WAIT_S

GIB = 2**30


@dataclass
class HandClock:
    """Stands still until it is moved."""

    moment: int = 10**12

    def now_ms(self) -> int:
        return self.moment

    def elapsed_ms(self) -> int:
        return self.moment


class Cell:
    """A leading replica, a node with two GPUs, and the books beside the journal."""

    def __init__(self, folder: Path) -> None:
        self.clock = HandClock()
        store = open_fresh(folder)
        wide = Settings(clock_step_ms=30 * 86_400_000)  # days go by between two looks
        replica = Replica(store, self.clock, name="one", settings=wide)
        self.runner = Runner(replica, wait_s=WAIT_S)
        self.books = UsageBooks(
            counters=CounterBook(store), meter=MeterBook(store), findings=FindingBook(store)
        )
        self.check = UsageCheck(self.runner, self.books, clock=self.clock)
        self.sequence = 0

    def lead(self) -> None:
        self.runner.start()
        assert self.runner.wait_for(Role.LEADING, wait_s=WAIT_S)
        gpus = (GpuDevice(HardwareGeneration.NVIDIA_HOPPER, 80 * GIB, "H100"),) * 2
        for node in ("n", "m"):
            capacity = NodeCapacity(cpu_cores=8, mem_bytes=64 * GIB, gpus=gpus)
            self.runner.execute(Envelope(RegisterNode(node, capacity)))

    def do(self, **command: Any) -> Any:
        return self.runner.execute(Envelope(decode_command(command)))

    def grant(self, **more: Any) -> int:
        """A lease of one core, a GiB and one GPU, on the node ``n``."""
        request = {
            "resources": {"cpu_milli": 1_000, "mem_bytes": GIB},
            "gpu_count": 1,
            "gpu_generation": "nvidia_hopper",
            "priority": "normal",
            "lease_class": "standard",
            "ttl_ms": 3_600_000,
        }
        answer = self.do(command="submit", tenant="lab", project="p", request=request | more)
        assert isinstance(answer, Granted)
        (lease_id,) = answer.lease_ids
        return lease_id

    def release(self, lease_id: int) -> None:
        self.runner.execute(Envelope(Release(lease_id)))

    def tell(self, lease_id: int, node: str = "n", **told: Any) -> None:
        """What a node has counted so far, read now."""
        now_ms = self.clock.now_ms()
        given = {"at_ms": now_ms, "from_ms": now_ms} | told
        event = CounterEvent(1, self.sequence, Counter(lease_id, node, **given))
        self.sequence += 1
        self.books.counters.take(node, [event], now_ms=now_ms)

    def node_of(self, lease_id: int) -> str:
        return self.runner.read(lambda view: str(view.state.node_of(lease_id)))

    def sealed(self) -> list[dict[str, Any]]:
        store = self.runner.replica.store
        lines = self.runner.read(lambda view: store.read(0, view.state.size))
        found = [json.loads(line) for line in lines]
        return [each for each in found if each["kind"] == "finding_reported"]

    def subjects(self) -> list[str]:
        return [each["body"]["subject"] for each in self.sealed()]


@pytest.fixture
def cell(tmp_path: Path) -> Iterator[Cell]:
    made = Cell(tmp_path)
    made.lead()
    try:
        yield made
    finally:
        made.runner.stop()


def greedy(cell: Cell) -> tuple[int, str]:
    """A lease that ran for ten seconds and computed for thirty."""
    lease_id = cell.grant()
    node, from_ms = cell.node_of(lease_id), cell.clock.moment
    cell.clock.moment += 10_000
    cell.tell(lease_id, node, from_ms=from_ms, cpu_ms=30_000)
    return lease_id, node


def test_a_lease_that_used_more_than_it_held_is_sealed_once_however_often_it_is_seen(
    cell: Cell,
) -> None:
    lease_id, node = greedy(cell)
    assert (cell.check.once(), cell.check.once()) == (1, 0)
    (record,) = cell.sealed()
    assert (record["tenant"], record["project"]) == ("lab", "p")
    assert record["actor"] == "usage-check"
    body = record["body"]
    assert (body["finding"], body["severity"]) == ("quota_evasion", "high")
    assert body["subject"] == f"lease:{lease_id}/{node}/cpu_time"
    assert "30000000" in body["note"]
    assert "granted 10000000" in body["note"]
    assert len(body["evidence"]) == 64
    cell.tell(lease_id, node, from_ms=cell.clock.moment - 10_000, cpu_ms=90_000)
    cell.clock.moment += 10 * AGAIN_MS
    assert cell.check.once() == 0
    assert len(cell.sealed()) == 1


def test_an_honest_lease_is_compared_settled_and_never_sealed(cell: Cell) -> None:
    lease_id = cell.grant()
    node, from_ms = cell.node_of(lease_id), cell.clock.moment
    cell.clock.moment += 10_000
    told = {"from_ms": from_ms, "cpu_ms": 9_000, "mem_peak_bytes": GIB}
    cell.tell(lease_id, node, **told)
    assert cell.check.once() == 0
    cell.tell(lease_id, node, **told, to_ms=cell.clock.moment)
    cell.clock.moment += 1_000
    cell.release(lease_id)
    assert cell.check.once() == 0
    assert cell.sealed() == []
    later = cell.clock.moment + 10**9
    assert cell.books.counters.due(now_ms=later, again_ms=0, limit=9) == []


def test_a_lease_is_looked_at_again_when_it_ends_though_nothing_new_was_counted(
    cell: Cell,
) -> None:
    lease_id = cell.grant()
    node, from_ms = cell.node_of(lease_id), cell.clock.moment
    cell.clock.moment += 10_000
    cell.tell(lease_id, node, from_ms=from_ms, to_ms=cell.clock.moment)
    assert cell.check.once() == 0
    cell.clock.moment += AGAIN_MS
    cell.release(lease_id)
    assert cell.check.once() == 1
    (record,) = cell.sealed()
    assert record["body"]["finding"] == "attribution_drift"
    assert record["body"]["subject"] == f"lease:{lease_id}/{node}/held_longer"
    assert f"{AGAIN_MS} ms beyond" in record["body"]["note"]


def test_a_lease_of_which_nobody_says_that_it_is_over_is_settled_after_a_while(
    cell: Cell,
) -> None:
    lease_id = cell.grant()
    cell.tell(lease_id, cell.node_of(lease_id))
    cell.clock.moment += 1_000
    cell.release(lease_id)
    cell.clock.moment += SETTLE_MS
    cell.check.once()
    assert len(cell.books.counters.due(now_ms=cell.clock.moment, again_ms=0, limit=9)) == 1
    cell.clock.moment += AGAIN_MS
    cell.check.once()
    assert cell.books.counters.due(now_ms=cell.clock.moment, again_ms=0, limit=9) == []


def test_work_that_goes_on_after_its_node_was_given_up_is_drift(cell: Cell) -> None:
    lease_id = cell.grant()
    node, from_ms = cell.node_of(lease_id), cell.clock.moment
    cell.clock.moment += 60_000
    cell.runner.execute(Envelope(DepartNode(node, from_ms + 1_000)))
    cell.tell(lease_id, node, from_ms=from_ms, cpu_ms=10)
    assert cell.check.once() == 1
    assert cell.subjects() == [f"lease:{lease_id}/{node}/after_end"]


def test_a_gpu_that_is_not_the_leases_is_named(cell: Cell) -> None:
    lease_id = cell.grant()
    node, from_ms = cell.node_of(lease_id), cell.clock.moment
    devices = cell.runner.read(
        lambda view: view.state.ledger.told(view.state.handle(lease_id)).devices
    )
    (other,) = {0, 1} - set(devices)
    cell.clock.moment += 10_000
    used = (GpuCount(other, 9_000, 5_000, cell.clock.moment),)
    cell.tell(lease_id, node, from_ms=from_ms, gpus=used)
    assert cell.check.once() == 1
    assert cell.subjects() == [f"lease:{lease_id}/{node}/gpu_not_held:{other}"]


@pytest.mark.parametrize("crash", ["before", "after"])
def test_a_crash_around_the_seal_seals_it_once(
    cell: Cell, monkeypatch: pytest.MonkeyPatch, crash: str
) -> None:
    greedy(cell)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the power went")

    with monkeypatch.context() as patch:
        if crash == "before":
            patch.setattr(cell.runner, "execute", fail)
        else:
            patch.setattr(cell.books.counters, "note", fail)
        with pytest.raises(RuntimeError):
            cell.check.once()
    again = UsageCheck(cell.runner, cell.books, clock=cell.clock)
    assert again.once() == (1 if crash == "before" else 0)
    assert len(cell.sealed()) == 1


def test_the_key_seals_once_what_the_table_does_not_tell_yet(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease_id, node = greedy(cell)
    monkeypatch.setattr(cell.books.findings, "known", lambda pairs: set())
    assert cell.check.once() == 1
    cell.tell(lease_id, node, cpu_ms=90_000)
    assert cell.check.once() == 1  # it was found again, and asked for again
    assert len(cell.sealed()) == 1


def test_the_journal_remembers_what_the_key_has_forgotten(cell: Cell) -> None:
    lease_id, node = greedy(cell)
    assert cell.check.once() == 1
    cell.clock.moment += 3 * 86_400_000  # keys last for a day
    cell.tell(lease_id, node, cpu_ms=10**10)
    cell.check.once()
    assert cell.subjects() == [f"lease:{lease_id}/{node}/cpu_time"]


def test_what_a_node_says_of_foreign_leases_is_one_finding_a_day(cell: Cell) -> None:
    lease_id = cell.grant()
    other = {"n": "m", "m": "n"}[cell.node_of(lease_id)]
    for unknown in range(1_000, 1_050):
        cell.tell(unknown, other, cpu_ms=1)
    cell.tell(lease_id, other, cpu_ms=1)
    cell.check.once()
    day = cell.clock.moment // 86_400_000
    assert sorted(cell.subjects()) == [
        f"node:{other}/other_node/{day}",
        f"node:{other}/unknown_lease/{day}",
    ]
    assert all(each["tenant"] is None for each in cell.sealed())
    cell.clock.moment += 86_400_000
    cell.tell(2_000, other, cpu_ms=1)
    cell.check.once()
    assert len(cell.sealed()) == 3


def test_a_node_that_contradicts_itself_is_sealed_once_a_day(cell: Cell) -> None:
    lease_id = cell.grant()
    node, now_ms = cell.node_of(lease_id), cell.clock.moment
    for cpu_ms in (1, 2, 3):
        counter = Counter(lease_id, node, now_ms, now_ms, cpu_ms=cpu_ms)
        cell.books.counters.take(node, [CounterEvent(1, 0, counter)], now_ms=now_ms)
    assert (cell.check.once(), cell.check.once()) == (1, 0)
    (record,) = cell.sealed()
    assert record["body"]["finding"] == "counter_conflict"
    assert record["body"]["subject"] == f"node:{node}/{now_ms // 86_400_000}"
    assert "two contents" in record["body"]["note"]


def test_who_does_not_lead_compares_nothing(tmp_path: Path) -> None:
    cell = Cell(tmp_path)
    cell.books.counters.take(
        "n", [CounterEvent(1, 0, Counter(5, "n", 2, 1))], now_ms=cell.clock.moment
    )
    assert cell.check.once() == 0
    assert len(cell.books.counters.due(now_ms=cell.clock.moment, again_ms=0, limit=9)) == 1
    cell.runner.replica.store.close()


def test_a_bounded_number_is_compared_at_once_and_the_rest_the_next_time(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bailiwick.reconcile import usage_check

    monkeypatch.setattr(usage_check, "ROWS_MAX", 3)
    for number in range(7):
        cell.tell(500 + number, cpu_ms=1)
    left = []
    for _ in range(3):
        cell.check.once()
        left.append(len(cell.books.counters.due(now_ms=cell.clock.moment, again_ms=0, limit=99)))
    assert left == [4, 1, 0]
