"""Calls from threads and from an event loop: durable before answered, bounded, told the truth."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from bailiwick import Conflict, InvariantBroken, NodeCapacity, PlacementRequest, TenantId
from bailiwick.kernel import (
    Answer,
    Envelope,
    Granted,
    RegisterNode,
    Release,
    SetShare,
    Submit,
    digest_of,
)
from bailiwick.ports import StoredSnapshot
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.rebuild import rebuild
from bailiwick.runtime.replica import Pace, Replica, Role, View
from bailiwick.runtime.runner import Runner, SystemClock
from bailiwick.vocab.errors import Damaged, NotLeader, Unavailable
from tests.support.memory_store import MemoryStore
from tests.support.waiting import WAIT_S, until

NODE = RegisterNode("node-1", NodeCapacity(cpu_cores=64, mem_bytes=2**40))


def ask(number: int) -> Envelope:
    request = PlacementRequest(tenant=TenantId("lab"), cpu_cores=1)
    return Envelope(Submit(request), "tester", f"r-{number}", key=f"k-{number}")


def start(store: MemoryStore, pace: Pace | None = None) -> Runner:
    replica = Replica(store, SystemClock(), name="one", pace=pace or Pace(lead_ms=50))
    runner = Runner(replica, wait_s=WAIT_S)
    runner.start()
    return runner


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def runner(store: MemoryStore) -> Iterator[Runner]:
    found = start(store)
    assert found.wait_for(Role.LEADING, wait_s=WAIT_S)
    found.execute(Envelope(NODE))
    yield found
    store.gate.set()
    found.stop()
    assert store.closed


def in_background(pool: ThreadPoolExecutor, runner: Runner, count: int) -> list[Answer]:
    return [
        each.result(WAIT_S) for each in [pool.submit(runner.execute, ask(n)) for n in range(count)]
    ]


def test_commands_that_arrive_during_a_commit_share_the_next_one(
    runner: Runner, store: MemoryStore
) -> None:
    with ThreadPoolExecutor(40) as pool:
        store.hold_next()
        before = len(store.batches)
        futures = [pool.submit(runner.execute, ask(n)) for n in range(40)]
        until(lambda: runner.replica.waiting == 40, "all of them wait")
        store.gate.set()
        answers = [future.result(WAIT_S) for future in futures]
    assert all(isinstance(answer, Granted) for answer in answers)
    assert len(store.batches) - before <= 4
    assert max(store.batches) >= 30


def test_nothing_is_answered_before_it_is_durable(runner: Runner, store: MemoryStore) -> None:
    with ThreadPoolExecutor(1) as pool:
        store.gate.clear()
        future = pool.submit(runner.execute, ask(1))
        with pytest.raises(TimeoutError):
            future.result(0.3)
        store.gate.set()
        answer = future.result(WAIT_S)
    assert isinstance(answer, Granted)
    assert any(b'"key":"k-1"' in line for line in store.lines)


@pytest.mark.parametrize("kept", [False, True])
def test_a_commit_of_unknown_outcome_is_told_so_and_the_key_tells_it(
    runner: Runner, store: MemoryStore, kept: bool
) -> None:
    store.keeps_when_failing, store.fails = kept, 1
    with pytest.raises(Unavailable):
        runner.execute(ask(1))
    assert runner.wait_for(Role.LEADING, wait_s=WAIT_S)
    answer = runner.execute(ask(1))
    assert answer == runner.execute(ask(1))
    granted = [line for line in store.lines if b"admission_approved" in line]
    assert len(granted) == 1
    kernel, _ = rebuild(store, read_max=100, warn=print)
    assert digest_of(kernel.state) == runner.read(lambda view: digest_of(view.state))


def test_a_store_that_stays_away_is_waited_for(runner: Runner, store: MemoryStore) -> None:
    store.fails = -1
    with pytest.raises(Unavailable):
        runner.execute(ask(1))
    until(lambda: runner.replica.role is not Role.LEADING, "it has noticed")
    store.fails = 0
    assert runner.wait_for(Role.LEADING, wait_s=WAIT_S)
    assert isinstance(runner.execute(ask(1)), Granted)


def test_a_leader_whose_store_goes_away_notices_without_being_asked(
    runner: Runner, store: MemoryStore
) -> None:
    store.is_away = True
    until(lambda: runner.replica.role is not Role.LEADING, "it has noticed")
    store.is_away = False
    assert runner.wait_for(Role.LEADING, wait_s=WAIT_S)
    assert isinstance(runner.execute(ask(1)), Granted)


def test_an_error_is_the_callers_own_and_others_go_on(runner: Runner) -> None:
    with pytest.raises(Conflict):
        runner.execute(Envelope(NODE))
    with ThreadPoolExecutor(8) as pool:
        assert len(in_background(pool, runner, 8)) == 8


def test_a_call_without_an_answer_in_time_leaves_its_outcome_open(
    runner: Runner, store: MemoryStore
) -> None:
    store.gate.clear()
    with pytest.raises(Unavailable, match="no answer"):
        runner.execute(ask(1), wait_s=0.1)
    store.gate.set()
    assert isinstance(runner.execute(ask(1)), Granted)


def test_a_read_sees_what_is_durable_and_its_error_is_the_readers(runner: Runner) -> None:
    runner.execute(ask(1))
    seen = runner.read(lambda view: (len(view.state.leases), view.role, view.age_ms >= 0))
    assert seen == (1, Role.LEADING, True)

    def fails(view: View) -> None:
        raise ValueError(f"not with {len(view.state.leases)} leases")

    with pytest.raises(ValueError, match="not with 1"):
        runner.read(fails)


def test_a_follower_refuses_commands_and_answers_reads() -> None:
    store = MemoryStore(lets_lead=False)
    runner = start(store)
    try:
        assert runner.wait_for(Role.FOLLOWING, wait_s=WAIT_S)
        with pytest.raises(NotLeader):
            runner.execute(ask(1))
        assert runner.read(lambda view: view.role) is Role.FOLLOWING
    finally:
        runner.stop()


def test_a_damaged_journal_stops_everything_and_says_where(store: MemoryStore) -> None:
    first = start(store)
    assert first.wait_for(Role.LEADING, wait_s=WAIT_S)
    first.execute(Envelope(NODE))
    first.stop()
    store.lines[1] = store.lines[1].replace(b"kernel", b"kernal")
    second = start(store)
    with pytest.raises(Damaged, match="record 1"):
        second.wait_for(Role.LEADING, wait_s=WAIT_S)
    with pytest.raises(Damaged):
        second.execute(ask(1))
    second.stop()


def test_what_breaks_an_invariant_is_told_to_everybody_from_then_on(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object) -> None:
        raise InvariantBroken("as the test asked")

    assert runner.replica.kernel is not None
    monkeypatch.setattr(runner.replica.kernel, "execute", breaks)
    with pytest.raises(InvariantBroken):
        runner.execute(ask(1))
    with pytest.raises(InvariantBroken):
        runner.execute(ask(2))
    assert isinstance(runner.failed, InvariantBroken)


def test_who_calls_a_stopped_runner_is_told(store: MemoryStore) -> None:
    runner = start(store)
    assert runner.wait_for(Role.LEADING, wait_s=WAIT_S)
    runner.stop()
    with pytest.raises(Unavailable, match="stopped"):
        runner.execute(ask(1))


def test_snapshots_are_kept_beside_the_work_and_restart_from_them(store: MemoryStore) -> None:
    runner = start(store, Pace(lead_ms=50, snapshot_every=5))
    assert runner.wait_for(Role.LEADING, wait_s=WAIT_S)
    runner.execute(Envelope(NODE))
    for number in range(12):
        runner.execute(ask(number))
    digest = runner.read(lambda view: digest_of(view.state))
    runner.stop()
    assert store.kept
    kernel, size = rebuild(store, read_max=100, warn=print)
    assert size == max(store.kept)
    assert digest_of(kernel.state) == digest


def test_a_snapshot_that_cannot_be_kept_is_a_warning(store: MemoryStore) -> None:
    told: list[str] = []
    saved = threading.Event()
    replica = Replica(store, SystemClock(), name="one", pace=Pace(lead_ms=50, snapshot_every=2))
    replica.warn = told.append

    def fails(snapshot: StoredSnapshot) -> None:
        saved.set()
        raise Unavailable("the store", f"no room for {snapshot.size}")

    replica.save = fails
    runner = Runner(replica, wait_s=WAIT_S)
    runner.start()
    assert runner.wait_for(Role.LEADING, wait_s=WAIT_S)
    runner.execute(Envelope(NODE))
    assert saved.wait(WAIT_S)
    assert isinstance(runner.execute(ask(1)), Granted)
    runner.stop()
    assert any("was not kept" in line for line in told)


@pytest.mark.parametrize("damage", ["data", "digest", "anchor"])
def test_a_damaged_snapshot_is_passed_over_with_a_warning(store: MemoryStore, damage: str) -> None:
    runner = start(store, Pace(lead_ms=50, snapshot_every=3))
    assert runner.wait_for(Role.LEADING, wait_s=WAIT_S)
    runner.execute(Envelope(NODE))
    for number in range(6):
        runner.execute(ask(number))
    digest = runner.read(lambda view: digest_of(view.state))
    runner.stop()
    newest = max(store.kept)
    good = store.kept[newest]
    other: bytes | str = good.data[:-1] + b"?" if damage == "data" else "0" * 64
    store.kept[newest] = replace(good, **{damage: other})  # type: ignore[arg-type]
    told: list[str] = []
    kernel, size = rebuild(store, read_max=100, warn=told.append)
    assert size < newest
    assert digest_of(kernel.state) == digest
    assert any(f"snapshot {newest} is passed over" in line for line in told)


# --- from an event loop -------------------------------------------------------------------------


def test_callers_in_an_event_loop_share_commits_and_get_their_own_answers(
    runner: Runner, store: MemoryStore
) -> None:
    def open_when_all_wait() -> None:
        until(lambda: runner.replica.waiting == 40, "all of them wait")
        store.gate.set()

    async def together() -> list[Answer]:
        gateway = Gateway(runner, wait_s=WAIT_S)
        opening = asyncio.to_thread(open_when_all_wait)
        *answers, _ = await asyncio.gather(*(gateway.execute(ask(n)) for n in range(40)), opening)
        return answers

    store.hold_next()
    before = len(store.batches)
    answers = asyncio.run(together())
    ids = [answer.lease_ids[0] for answer in answers if isinstance(answer, Granted)]
    assert sorted(ids) == list(range(1, 41))
    assert len(store.batches) - before <= 4


def test_an_error_reaches_the_caller_in_the_loop_that_caused_it(runner: Runner) -> None:
    async def both() -> list[object]:
        gateway = Gateway(runner, wait_s=WAIT_S)
        wrong, right = (
            gateway.execute(Envelope(Release(99))),
            gateway.execute(Envelope(SetShare("lab", 2))),
        )
        return list(await asyncio.gather(wrong, right, return_exceptions=True))

    wrong, right = asyncio.run(both())
    assert isinstance(wrong, LookupError)
    assert not isinstance(right, BaseException)


def test_a_call_in_the_loop_is_given_up_when_its_time_is_over(
    runner: Runner, store: MemoryStore
) -> None:
    async def waits() -> Answer:
        gateway = Gateway(runner, wait_s=WAIT_S)
        with pytest.raises(Unavailable, match="in time"):
            await gateway.execute(ask(1), wait_s=0.05)
        store.gate.set()
        return await gateway.execute(ask(1))

    store.gate.clear()
    assert isinstance(asyncio.run(waits()), Granted)


def test_a_call_that_is_cancelled_leaves_nothing_behind(runner: Runner, store: MemoryStore) -> None:
    async def cancels() -> Answer:
        gateway = Gateway(runner, wait_s=WAIT_S)
        task = asyncio.create_task(gateway.execute(ask(1)))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        store.gate.set()
        return await gateway.execute(ask(1))

    store.gate.clear()
    assert isinstance(asyncio.run(cancels()), Granted)
