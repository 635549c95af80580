"""A journal whose time was poisoned is set right by one record, and all goes on from there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from bailiwick.billing.budgets import Budget
from bailiwick.billing.rates import LIST_PRICES
from bailiwick.iam import PrincipalKind
from bailiwick.journal import Changed, TimeWentBack, Verified, parse_record, verify_lines
from bailiwick.journal.chain import Chain
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.record import Context
from bailiwick.kernel import Elect, Envelope, Kernel, Submit, Tick, decode, digest_of, encode
from bailiwick.kernel.commands import Command
from bailiwick.kernel.money.commands import SetBudget, SetRateCard
from bailiwick.kernel.people.commands import IssueToken
from bailiwick.metering.core import new_core
from bailiwick.metering.fold import JournalMeter
from bailiwick.metering.meter import Meter
from bailiwick.metering.records import MeterFindingWord
from bailiwick.metering.snapshot import read_meter, write_meter
from bailiwick.ports import Leader
from bailiwick.runtime.indexes import Indexes, scan_leases
from bailiwick.runtime.rebuild import rebuild
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.tools.repairs import AskedRepair, repair_clock
from bailiwick.vocab.clock_repair import ClockRepair
from bailiwick.vocab.errors import BailiwickError, Conflict, InvalidValue, InvariantBroken
from bailiwick.vocab.values import TenantId
from tests.support import kernel_histories as histories
from tests.support.kernel_histories import busy_journal
from tests.support.memory_store import MemoryStore
from tests.support.naive_kernel import fold

DAY = 86_400_000


def _poisoned(seed: int) -> tuple[Kernel, list[bytes], int]:
    """A kernel after a busy history whose clock then went 400 days ahead for a while."""
    campus = busy_journal(seed, steps=150, guarded=True)
    campus.do(SetRateCard(LIST_PRICES))
    campus.do(SetBudget(Budget("lab-a", limit_micros=10**15)))
    honest_ms = campus.now_ms
    campus.now_ms += 400 * DAY
    chance = Random(seed)
    for number in range(60):
        campus.now_ms += chance.choice((0, 500, 5_000))
        for command in _late(number, campus.now_ms):
            with suppress(BailiwickError):
                campus.do(command)
        for act in (histories._act, histories._guard):
            with suppress(BailiwickError):
                act(campus, chance)
    return campus.kernel, campus.lines, honest_ms


def _late(number: int, now_ms: int) -> Iterator[Command]:
    lab = TenantId("lab-a")
    name = f"{number:032x}"
    yield IssueToken(name, "ann", PrincipalKind.HUMAN, 2 * name, now_ms + 3_600_000)
    yield Submit(PlacementRequest(tenant=lab, cpu_cores=1, gpu_count=number % 9))
    if number % 20 == 0:
        yield Tick()


def _times(value: Any, low_ms: int) -> Iterator[int]:
    """Every number in a snapshot that is as large as a time."""
    if isinstance(value, dict):
        for each in value.values():
            yield from _times(each, low_ms)
    elif isinstance(value, list):
        for each in value:
            yield from _times(each, low_ms)
    elif isinstance(value, int) and low_ms < value < low_ms + 10_000 * DAY:
        yield value


@pytest.mark.parametrize("seed", [1, 3, 7])
def test_after_a_repair_no_time_is_left_that_has_not_come(seed: int) -> None:
    kernel, lines, honest_ms = _poisoned(seed)
    told = _times(json.loads(encode(kernel.state).split(b"\n")[0]), honest_ms + 300 * DAY)
    assert set(told), "the history left no time in the future: it tests nothing"
    lines += kernel.repair_clock(honest_ms, actor="operator", why="the clock was wrong").lines
    assert kernel.state.clock_ms == honest_ms
    plain = json.loads(encode(kernel.state).split(b"\n")[0])
    plain.pop("answers")  # they say what was said
    assert plain["money"].pop("cards")  # they say from when on they hold
    assert plain["money"].pop("times")  # records are of the time that they were of
    for row in plain["waiting"]:
        row[4].pop("deadline_ms", None)  # the asker's own, by his own clock
        row[5] = None  # why it waited when it was looked at last
    assert not set(_times(plain, honest_ms + 300 * DAY))
    for lease_id in kernel.state.leases:
        fields = kernel.state.fields(lease_id)
        assert fields.granted_ms <= honest_ms
        assert fields.checkpoint_ms <= honest_ms
        assert fields.expires_ms < honest_ms + 300 * DAY
    replayed = Kernel(simulated=True)
    replayed.replay(parse_record(line[:-1]) for line in lines)
    assert digest_of(replayed.state) == digest_of(kernel.state)
    fold([parse_record(line[:-1]) for line in lines]).compare(kernel.state)
    again = decode(encode(kernel.state), digest_of(kernel.state))
    assert digest_of(again) == digest_of(kernel.state)
    assert isinstance(verify_lines(lines), Verified)


@pytest.mark.parametrize("seed", [1, 7])
def test_after_a_repair_everything_goes_on(seed: int) -> None:
    kernel, lines, honest_ms = _poisoned(seed)
    lines += kernel.repair_clock(honest_ms, actor="operator", why="the clock was wrong").lines
    twin = Kernel(decode(encode(kernel.state), digest_of(kernel.state)), kernel.chain.anchor())
    twin = Kernel(twin.state, kernel.chain.anchor(), simulated=True)
    request = PlacementRequest(tenant=TenantId("lab-b"), cpu_cores=1, ttl_ms=60_000)
    for step in range(1, 40):
        command = Submit(request) if step % 3 else Tick()
        at_ms = honest_ms + step * 30_000
        found = [each.execute(Envelope(command), at_ms).lines for each in (kernel, twin)]
        assert found[0] == found[1]
        lines += found[0]
    kernel.execute(Envelope(Tick()), honest_ms + 100 * DAY)
    assert kernel.state.clock_ms <= honest_ms + 100 * DAY
    over = [i for i in kernel.state.leases if kernel.state.fields(i).expires_ms < honest_ms]
    assert not [i for i in over if kernel.state.phase(i).value == "active"]


@pytest.mark.parametrize("core", ["pure", "auto"])
@pytest.mark.parametrize("seed", [4, 5])
def test_the_meter_goes_on_from_the_repaired_time(seed: int, core: str) -> None:
    kernel, lines, honest_ms = _poisoned(seed)
    lines += kernel.repair_clock(honest_ms, actor="operator", why="the clock was wrong").lines
    meter = JournalMeter(Meter(core=new_core(which=core)))
    for line in lines:
        meter.add(parse_record(line[:-1]))
        meter.check()
    assert meter.clock_ms == honest_ms
    assert not meter.counts[MeterFindingWord.TIME_WENT_BACK]
    before = meter.meter.totals(honest_ms)
    after = meter.meter.totals(honest_ms + 1_000)
    grown = sum(after.values()) - sum(before.values())
    assert grown == 1_000 * sum(pool.capacity for pool in meter.meter.pools())
    again = read_meter(json.loads(json.dumps(write_meter(meter))))
    again.check()
    assert again.meter.totals(honest_ms + 1_000) == after
    for line in _go_on(kernel, honest_ms):
        for each in (meter, again):
            each.add(parse_record(line[:-1]))
            each.check()
    assert meter.meter.totals(kernel.state.clock_ms) == again.meter.totals(kernel.state.clock_ms)


def _go_on(kernel: Kernel, from_ms: int) -> list[bytes]:
    lines: list[bytes] = []
    request = PlacementRequest(tenant=TenantId("lab-b"), cpu_cores=1, ttl_ms=60_000)
    for step in range(1, 40):
        command = Submit(request) if step % 3 else Tick()
        lines += kernel.execute(Envelope(command), from_ms + step * 30_000).lines
    return lines


def test_a_stopped_store_is_repaired_and_a_server_goes_on_from_there() -> None:
    kernel, lines, honest_ms = _poisoned(3)
    store = MemoryStore(lines=list(lines), known=Leader(1, "replica-1", ""))
    store.lets_lead = False
    asked = AskedRepair(honest_ms, "ann", "the clock was wrong")
    with pytest.raises(Conflict, match="stop every server"):
        repair_clock(store, asked, warn=print)
    store.lets_lead = True
    tried = repair_clock(store, replace(asked, dry_run=True), warn=print)
    assert (tried.seq, store.lines) == (None, lines)
    done = repair_clock(store, asked, warn=print)
    assert (done.before_ms, done.after_ms) == (kernel.state.clock_ms, honest_ms)
    assert parse_record(store.lines[-1][:-1]).actor == "ann"
    assert done.seq == len(store.lines) - 1
    again, _ = rebuild(store, read_max=100, warn=print)
    assert again.state.clock_ms == honest_ms
    Indexes(again.state)
    outcome = again.execute(Envelope(Elect(9, "replica-2")), honest_ms + 5_000)
    assert outcome.lines


def test_indexes_notice_that_a_state_was_made_anew() -> None:
    kernel, _, honest_ms = _poisoned(3)
    indexes = Indexes(kernel.state)
    kernel.repair_clock(honest_ms, actor="operator", why="the clock was wrong")
    indexes.note()
    kernel.execute(Envelope(Tick()), honest_ms + DAY)
    indexes.note()
    found = scan_leases(kernel.state).page(None, after=0, limit=10**6)
    assert indexes.leases.page(None, after=0, limit=10**6) == found


def test_time_goes_back_by_this_record_alone() -> None:
    kernel, lines, honest_ms = _poisoned(3)
    anchor, last_ms = kernel.chain.anchor(), kernel.state.clock_ms
    body = {"before_ms": last_ms - 1, "after_ms": honest_ms, "why": "a lie"}
    with pytest.raises(InvalidValue):
        Chain(anchor).seal(RecordKind.CLOCK_REPAIRED, Context("x", "y"), at_ms=honest_ms, body=body)
    good = kernel.repair_clock(honest_ms, actor="operator", why="it was wrong").lines[0]
    assert isinstance(verify_lines([*lines, good]), Verified)
    lie = good.replace(str(last_ms).encode(), str(last_ms - 1).encode())
    found = verify_lines([*lines, lie])
    assert isinstance(found, TimeWentBack | Changed)


def test_a_repair_that_does_not_fit_the_journal_is_refused() -> None:
    kernel, lines, honest_ms = _poisoned(3)
    record = parse_record(
        kernel.repair_clock(honest_ms, actor="operator", why="it was wrong").lines[0][:-1]
    )
    other = Kernel(simulated=True)
    other.replay(parse_record(line[:-1]) for line in lines[:-2])
    if other.state.clock_ms != record.body["before_ms"]:
        with pytest.raises(InvariantBroken):
            other.replay([record])
    with pytest.raises(InvalidValue):
        kernel.repair_clock(honest_ms, actor="operator", why="there is nothing to repair")
    with pytest.raises(InvalidValue):
        Kernel().repair_clock(5, actor="operator", why="there is nothing")


def test_an_outage_longer_than_is_believed_is_bridged_by_a_repair_forward() -> None:
    kernel, _, honest_ms = _poisoned(3)
    before = {i: kernel.state.fields(i).expires_ms for i in kernel.state.leases}
    after_ms = kernel.state.clock_ms + 90 * DAY
    kernel.repair_clock(after_ms, actor="operator", why="the hall was without power")
    assert kernel.state.clock_ms == after_ms > honest_ms
    assert before == {i: kernel.state.fields(i).expires_ms for i in kernel.state.leases}


@pytest.mark.parametrize(
    ("at_ms", "past", "end"),
    [(100, 100, 100), (500, 500, 500), (501, 500, 500), (900, 500, 500), (901, 500, 501)],
)
def test_what_was_counts_as_of_now_and_what_is_to_end_keeps_what_it_had_left(
    at_ms: int, past: int, end: int
) -> None:
    repair = ClockRepair(before_ms=900, after_ms=500)
    assert (repair.past(at_ms), repair.end(at_ms)) == (past, end)
