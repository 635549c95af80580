"""Reads from a second state: beside the writer, never behind what the caller was answered."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from bailiwick import NodeCapacity, PlacementRequest, TenantId
from bailiwick.kernel import Envelope, Granted, RegisterNode, Release, Submit, digest_of
from bailiwick.runtime import read_model
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.indexes import scan_leases, scan_waiting
from bailiwick.runtime.replica import Pace, Replica, Role, View
from bailiwick.runtime.runner import Runner, SystemClock
from bailiwick.vocab.errors import Unavailable
from tests.support.memory_store import MemoryStore
from tests.support.waiting import WAIT_S, until

NODE = RegisterNode("node-1", NodeCapacity(cpu_cores=640, mem_bytes=2**40))


def ask(number: int, *, cores: int = 1, wait: bool = False) -> Envelope:
    request = PlacementRequest(tenant=TenantId(f"lab-{number % 3}"), cpu_cores=cores)
    return Envelope(Submit(request, wait=wait), "tester", f"r-{number}", key=f"k-{number}")


def start(store: MemoryStore, pace: Pace | None = None) -> Runner:
    runner = Runner(
        Replica(store, SystemClock(), name="one", pace=pace or Pace(lead_ms=50)), wait_s=WAIT_S
    )
    runner.start()
    return runner


def until_read(runner: Runner) -> None:
    """Until the read model answers, and not the replica for it."""
    until(lambda: runner.read(lambda view: view.indexes is not None), "the read model is there")


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def runner(store: MemoryStore) -> Iterator[Runner]:
    found = start(store)
    assert found.wait_for(Role.LEADING, wait_s=WAIT_S)
    found.execute(Envelope(NODE))
    until_read(found)
    yield found
    store.gate.set()
    found.stop()


def thread_of(view: View) -> str:
    return threading.current_thread().name


def test_reads_have_a_thread_of_their_own(runner: Runner) -> None:
    assert runner.read(thread_of) == "reads"
    gateway = Gateway(runner, wait_s=WAIT_S)
    assert asyncio.run(gateway.read(thread_of)) == "reads"
    assert asyncio.run(gateway.lookup(thread_of)) == "reads"


def test_a_writer_that_is_blocked_keeps_nobody_from_reading(
    runner: Runner, store: MemoryStore
) -> None:
    runner.execute(ask(1))
    store.hold_next()
    with ThreadPoolExecutor(1) as pool:
        try:
            blocked = pool.submit(runner.execute, ask(2))
            until(lambda: runner.replica.waiting == 1, "it waits behind the commit")
            first = runner.read(lambda view: view.age_ms, wait_s=WAIT_S)
            assert runner.read(lambda view: len(view.state.leases), wait_s=WAIT_S) == 1
            assert not blocked.done()
            threading.Event().wait(0.05)
            assert runner.read(lambda view: view.age_ms, wait_s=WAIT_S) >= first + 50
        finally:
            store.gate.set()
        assert isinstance(blocked.result(WAIT_S), Granted)
    assert runner.read(lambda view: len(view.state.leases)) == 2


def test_whoever_was_answered_sees_what_he_did(runner: Runner) -> None:
    for number in range(60):
        answer = runner.execute(ask(number))
        assert isinstance(answer, Granted)
        (lease_id,) = answer.lease_ids
        assert runner.read(lambda view, lease_id=lease_id: lease_id in view.state.leases)
        if number % 2:
            runner.execute(Envelope(Release(lease_id)))
            assert runner.read(lambda view, lease_id=lease_id: lease_id not in view.state.leases)


def test_also_when_the_model_is_many_batches_behind(runner: Runner) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def long(view: View) -> None:
        begun.set()
        go_on.wait(WAIT_S)

    runner.model._follower.batch = 1
    runner.read_soon(long)
    assert begun.wait(WAIT_S)
    try:
        for number in range(10):
            runner.execute(ask(number))
        with ThreadPoolExecutor(2) as pool:
            page = pool.submit(runner.read, lambda view: len(view.state.leases))
            until(lambda: len(runner.model._others) == 1, "it waits its turn")
            go_on.set()
            assert page.result(WAIT_S) == 10
    finally:
        go_on.set()


def test_from_an_event_loop_as_well(runner: Runner) -> None:
    async def both() -> None:
        gateway = Gateway(runner, wait_s=WAIT_S)
        for number in range(40):
            answer = await gateway.execute(ask(number))
            assert isinstance(answer, Granted)
            found = await gateway.lookup(lambda view: sorted(view.state.leases))
            assert found[-1] == answer.lease_ids[0]
            known = await gateway.read(
                lambda view, number=number: view.state.answers.get("tester", f"k-{number}")
            )
            assert known is not None
            assert known.answer == answer

    asyncio.run(both())


def test_a_read_waits_until_what_it_wants_is_taken_up_and_no_longer(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, begun, model = threading.Event(), threading.Event(), runner.model
    advance = model._follower.advance

    def slow() -> bool:
        begun.set()
        held.wait(WAIT_S)
        return advance()

    monkeypatch.setattr(model._follower, "advance", slow)
    assert begun.wait(WAIT_S)
    runner.execute(ask(1))
    with pytest.raises(Unavailable, match="no answer"):
        runner.read(lambda view: 0, wait_s=0.1)
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(runner.read, lambda view: len(view.state.leases))
        held.set()
        assert found.result(WAIT_S) == 1


def test_the_age_is_that_of_the_journal_as_it_was_last_known(store: MemoryStore) -> None:
    @dataclass
    class Clock(SystemClock):
        ahead_ms: int = 0

        def elapsed_ms(self) -> int:
            return super().elapsed_ms() + self.ahead_ms

    store.lets_lead, clock = False, Clock()
    runner = Runner(Replica(store, clock, name="two", pace=Pace(follow_ms=10**8)), wait_s=WAIT_S)
    runner.start()
    try:
        assert runner.wait_for(Role.FOLLOWING, wait_s=WAIT_S)
        before = runner.read(lambda view: view.age_ms)
        clock.ahead_ms += 5_000
        after = runner.read(lambda view: (view.age_ms, view.role))
        assert 0 <= before < 5_000 <= after[0]
        assert after[1] is Role.FOLLOWING
    finally:
        runner.stop()


def test_what_takes_a_moment_goes_before_what_takes_longer(runner: Runner) -> None:
    order: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def first(view: View) -> None:
        begun.set()
        go_on.wait(WAIT_S)

    done = threading.Event()
    runner.read_soon(first)
    assert begun.wait(WAIT_S)
    for number in range(3):
        runner.read_soon(lambda view, number=number: order.append(f"list {number}"))
    runner.read_soon(lambda view: done.set())
    runner.read_soon(lambda view: order.append("key"), urgent=True)
    go_on.set()
    assert done.wait(WAIT_S)
    assert order[0] == "key"
    assert order[1:] == ["list 0", "list 1", "list 2"]


def test_it_is_the_state_that_decided(runner: Runner) -> None:
    for number in range(40):
        runner.execute(ask(number, cores=1 + number % 9 * 10, wait=True))
    for lease_id in runner.read(lambda view: list(view.state.leases))[::2]:
        runner.execute(Envelope(Release(lease_id)))
    until(
        lambda: runner.read(lambda view: digest_of(view.state)) == _digest_of_writer(runner),
        "both are the same",
    )


def _digest_of_writer(runner: Runner) -> str:
    """Asked in the writer's own thread, which changes the state at its ticks."""
    told: list[str] = []
    done = threading.Event()

    def look(view: View) -> None:
        told.append(digest_of(view.state))
        done.set()

    runner.replica.read_soon(look)
    assert done.wait(WAIT_S)
    return told[0]


def test_a_model_that_fails_is_read_again_from_the_store(
    runner: Runner, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    runner.replica.warn = told.append
    runner.execute(ask(1))
    take = read_model.take_step
    fails = [True]

    def breaks(*arguments: object) -> None:
        take(*arguments)  # type: ignore[arg-type]
        if fails:
            fails.pop()
            raise RuntimeError("as the test asked")

    monkeypatch.setattr(read_model, "take_step", breaks)
    runner.execute(ask(2))
    assert runner.read(lambda view: sorted(view.state.leases)) == [1, 2]
    until_read(runner)
    assert runner.read(lambda view: (thread_of(view), sorted(view.state.leases))) == (
        "reads",
        [1, 2],
    )
    assert any("begins again from the store" in line for line in told)
    assert runner.replica.role is Role.LEADING


def test_it_follows_a_follower_and_the_leader_that_it_becomes(store: MemoryStore) -> None:
    first = start(store)
    assert first.wait_for(Role.LEADING, wait_s=WAIT_S)
    first.execute(Envelope(NODE))
    other = MemoryStore(lines=store.lines, known=store.known, lets_lead=False)
    second = start(other, Pace(follow_ms=5, lead_ms=20))
    try:
        assert second.wait_for(Role.FOLLOWING, wait_s=WAIT_S)
        until_read(second)
        for number in range(20):
            first.execute(ask(number))
        until(lambda: second.read(lambda view: len(view.state.leases)) == 20, "it has followed")
        first.stop()
        other.known, other.lets_lead = store.known, True
        assert second.wait_for(Role.LEADING, wait_s=WAIT_S)
        second.execute(ask(99))
        assert second.read(lambda view: (len(view.state.leases), thread_of(view))) == (21, "reads")
    finally:
        second.stop()


def test_a_restart_reads_the_same_from_a_snapshot(store: MemoryStore) -> None:
    pace = Pace(lead_ms=50, snapshot_every=10)
    runner = start(store, pace)
    assert runner.wait_for(Role.LEADING, wait_s=WAIT_S)
    runner.execute(Envelope(NODE))
    for number in range(30):
        runner.execute(ask(number))
    until(lambda: len(store.kept) > 0, "there is a snapshot")
    before = runner.read(lambda view: view.leases.page(None, after=0, limit=100))
    runner.stop()
    again = start(store, pace)
    try:
        until_read(again)
        assert again.read(lambda view: view.leases.page(None, after=0, limit=100)) == before
    finally:
        again.stop()


def test_a_store_that_was_lost_is_read_again_before_anybody_reads(
    runner: Runner, store: MemoryStore
) -> None:
    store.keeps_when_failing, store.fails = True, 1
    with pytest.raises(Unavailable):
        runner.execute(ask(1))
    assert runner.wait_for(Role.LEADING, wait_s=WAIT_S)
    assert runner.read(lambda view: len(view.state.leases)) == 1  # it was durable after all


def test_pages_are_those_of_a_scan_while_leases_come_and_go(runner: Runner) -> None:
    def same(view: View) -> bool:
        assert view.indexes is not None
        for sees in (None, lambda owner: owner.tenant != "lab-1"):
            for after in (0, 7, 50):
                pages = view.leases.page(sees, after=after, limit=12)
                assert pages == scan_leases(view.state).page(sees, after=after, limit=12)
                waiting = view.waiting.page(sees, after=after, limit=12)
                assert waiting == scan_waiting(view.state).page(sees, after=after, limit=12)
        return True

    for number in range(60):
        runner.execute(ask(number, cores=40, wait=True))
        if number % 4 == 3:
            (lease_id, *_) = runner.read(lambda view: view.leases.page(None, after=0, limit=1))
            runner.execute(Envelope(Release(lease_id)))
        assert runner.read(same)
    assert runner.read(lambda view: len(view.state.line.entries)) > 10
