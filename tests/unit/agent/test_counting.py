"""The agent's counting and its outbox: numbered, bounded, sent again until it is acknowledged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.agent.counting import LeaseCount, LeaseCounting
from bailiwick.agent.heartbeat import Away
from bailiwick.agent.machine.accounting import GpuTime, NvmlAccounting
from bailiwick.agent.outbox import BATCH, WAITING_MAX, Outbox
from bailiwick.metering.sources import Due, SourceEvent, Sources
from tests.support.simulated_nvml import SimulatedGpu, SimulatedNvml
from tests.unit.agent.test_accounting import BEGAN_US, RUNNING
from tests.unit.agent.test_counters import Tree

NOW = BEGAN_US // 1000 + 4_000
Events = Sequence[tuple[int, LeaseCount]]


class Book:
    """Takes what it is told, once; or not, if it is told to be away."""

    def __init__(self) -> None:
        self.kept: list[LeaseCount] = []
        self.epoch, self.next = 0, 0
        self.is_away = False

    def count(self, node: str, epoch: int, *, events: Events) -> tuple[int, int]:
        assert node == "gpu-1"
        if self.is_away:
            raise Away("nobody there")
        if epoch > self.epoch:
            self.epoch, self.next = epoch, 0
        for number, each in events:
            if epoch == self.epoch and number == self.next:
                self.kept.append(each)
                self.next += 1
        return self.epoch, self.next


class Counting:
    def __init__(self, tree: Tree, *gpus: SimulatedGpu) -> None:
        self.now_ms, self.said, self.book = NOW, list[str](), Book()
        self.counting = LeaseCounting(
            lambda: self.now_ms,
            self.said.append,
            machine=tree.machine,
            accounting=NvmlAccounting(SimulatedNvml(*gpus)),
        )

    def turn(self) -> None:
        try:
            self.counting.turn("gpu-1", self.book)
        finally:
            self.now_ms += 10_000


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_every_lease_with_a_process_is_told_with_its_sums_and_its_highest_peak(tree: Tree) -> None:
    house = Counting(tree)
    tree.process(10, lease="7", times=(100, 0, 0, 0), anon_kib=99)
    house.turn()
    tree.process(10, lease="7", times=(300, 0, 0, 0), anon_kib=9)
    house.turn()
    assert [(c.lease_id, c.cpu_ms, c.mem_peak_bytes) for c in house.book.kept] == [
        (7, 1_000, 100 * 1024),
        (7, 3_000, 100 * 1024),
    ]
    assert house.said == []


def test_gpu_time_is_told_by_device_where_the_driver_accounts(tree: Tree) -> None:
    on = SimulatedGpu.numbered(1, accounting_mode=1, accounted={10: RUNNING})
    house = Counting(tree, on, SimulatedGpu.numbered(2))
    tree.process(10, lease="7")
    house.turn()
    (told,) = house.book.kept
    assert told.gpus == (GpuTime(0, 4_000, 1_160, NOW),)
    assert house.said == ["GPUs on which GPU time is not counted (accounting is off): 1"]
    house.turn()
    assert len(house.said) == 1


def test_what_was_not_acknowledged_is_sent_again_and_kept_once(tree: Tree) -> None:
    house = Counting(tree)
    tree.process(10, lease="7", times=(100, 0, 0, 0))
    house.book.is_away = True
    for _ in range(3):
        with pytest.raises(Away):
            house.turn()
    house.book.is_away = False
    house.turn()
    assert [each.at_ms for each in house.book.kept] == [NOW + 10_000 * n for n in range(4)]


def test_a_server_that_knows_a_newer_epoch_has_a_still_newer_one_begun(tree: Tree) -> None:
    house = Counting(tree)
    tree.process(10, lease="7", times=(100, 0, 0, 0))
    house.book.epoch = NOW + 99
    house.turn()
    assert house.book.kept == []
    house.turn()
    assert [each.cpu_ms for each in house.book.kept] == [1_000]
    assert house.book.epoch == NOW + 100


def test_a_machine_that_tells_nonsense_is_said_and_the_agent_goes_on(tree: Tree) -> None:
    house = Counting(tree)
    tree.write("proc/10/stat", "10 nonsense")
    house.turn()
    assert "cannot be counted now" in house.said[0]


def test_a_lease_that_is_gone_is_told_of_no_more(tree: Tree) -> None:
    house = Counting(tree)
    tree.process(10, lease="7", anon_kib=5)
    house.turn()
    tree.process(10, lease=None)
    house.turn()
    assert len(house.book.kept) == 1


# --- the outbox ---------------------------------------------------------------------------------


def test_an_outbox_is_bounded_and_forgets_only_what_was_acknowledged() -> None:
    outbox: Outbox[int] = Outbox(1)
    assert all(outbox.add(n) for n in range(WAITING_MAX))
    assert not outbox.add(-1)
    assert len(outbox.batch()) == BATCH
    outbox.settle(epoch=1, acknowledged=3)
    assert outbox.batch()[0] == (3, 3)
    outbox.settle(epoch=1, acknowledged=2)  # told late: it takes nothing back
    outbox.settle(epoch=0, acknowledged=0)  # nothing of it was ever taken
    assert outbox.batch()[0] == (3, 3)
    assert outbox.add(-1)


@given(st.lists(st.sampled_from(["add", "send", "lose", "crash"]), max_size=60))
def test_whatever_is_lost_each_event_arrives_once_and_in_order(steps: list[str]) -> None:
    """Against the server's own protocol: a lost answer, a source that starts again."""
    sources, arrived, told, epoch = Sources(), list[int](), 0, 1
    outbox: Outbox[int] = Outbox(epoch)
    lost: set[int] = set()
    for step in steps:
        if step == "add":
            outbox.add(told)
            told += 1
            continue
        if step == "crash":
            lost |= {each for _, each in outbox.batch()}
            epoch += 1
            outbox = Outbox(epoch)
            continue
        for number, each in outbox.batch():
            answer = sources.offer(SourceEvent("n", outbox.epoch, number, b"%d" % each))
            if isinstance(answer, Due):
                arrived += [int(event.payload) for event in answer.events]
        sources.commit(sources.uncommitted())
        if step == "send" and arrived:
            outbox.settle(epoch=sources.epoch_of("n"), acknowledged=sources.acknowledged_up_to("n"))
    assert arrived == sorted(set(arrived))
    waiting = {each for _, each in outbox.batch()}
    assert set(range(told)) <= set(arrived) | waiting | lost
