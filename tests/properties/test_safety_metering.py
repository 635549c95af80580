"""Every tick of every share has exactly one owner, whatever is switched when: against a reference
that writes down each tick of each unit.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from bailiwick.metering.meter import Meter, Pool
from bailiwick.metering.owners import IDLE, UNAVAILABLE, Account, Leased, Owner, Payer
from bailiwick.metering.values import Refused, Segment, Share, Short, Switched, Taken
from bailiwick.vocab.words import LeaseClass, ResourceKind
from tests.support.naive_meter import NaiveMeter

# Three leases, two of them of one account; shares so small that they get in each other's way.
ACCOUNTS = [Account(name, None, None, LeaseClass.STANDARD, None) for name in ("a", "b")]
OWNERS: list[Owner] = [
    IDLE,
    *list(UNAVAILABLE.values())[-3:],
    *(Leased(number, ACCOUNTS[number // 2]) for number in range(3)),
]
SHARES = [
    Share("node-1", ResourceKind.GPU_MILLI, 0),
    Share("node-1", ResourceKind.GPU_MILLI, 1),
    Share("node-2", ResourceKind.MEM_BYTES),
]
owners = st.sampled_from(OWNERS)
# Mostly forwards, often at the same instant, sometimes back: clocks step.
steps = st.sampled_from([0, 0, 1, 2, 5, -1, -7])


class MeterMachine(RuleBasedStateMachine):
    """The meter and the reference are told the same, and must say the same."""

    def __init__(self) -> None:
        super().__init__()
        self.segments: list[Segment] = []
        self.meter = Meter(self.segments.append)
        self.naive = NaiveMeter()
        self.clock_ms = 10

    def time(self, step: int) -> int:
        at_ms = max(0, self.clock_ms + step)
        self.clock_ms = max(self.clock_ms, at_ms)
        return at_ms

    def pool(self, data: Any) -> Pool:
        pool: Pool = data.draw(st.sampled_from(self.meter.pools()))
        return pool

    @rule(share=st.sampled_from(SHARES), capacity=st.integers(1, 6), owner=owners, step=steps)
    def open(self, share: Share, capacity: int, owner: Owner, step: int) -> None:
        if any(pool.share == share for pool in self.meter.pools()):
            return
        at_ms = self.time(step)
        pool = self.meter.open(share, capacity, owner=owner, at_ms=at_ms)
        (part,) = self.meter.parts_of(pool)
        self.naive.open(part.number, share, capacity=capacity, owner=owner, at_ms=at_ms)

    @precondition(lambda self: self.meter.pools())
    @rule(data=st.data(), amount=st.integers(1, 6), owner=owners, new=owners, step=steps)
    def take(self, data: Any, amount: int, owner: Owner, new: Owner, step: int) -> None:
        pool, at_ms = self.pool(data), self.time(step)
        before = {part.number: part for part in self.meter.parts_of(pool)}
        found = sum(part.amount for part in before.values() if part.owner == owner)
        answer = self.meter.take(pool, amount, expected=owner, owner=new, at_ms=at_ms)
        if amount > found:
            assert answer == Short(amount, found)
            assert {part.number: part for part in self.meter.parts_of(pool)} == before
            return
        assert isinstance(answer, Taken)
        after = {part.number: part for part in self.meter.parts_of(pool)}
        assert sum(after[number].amount for number in answer.parts) == amount
        for number in set(after) - set(before):
            (cut,) = (n for n in before if before[n].amount > after[n].amount)
            self.naive.cut(cut, number, after[number].amount)
        for number in answer.parts:
            assert self.naive.parts[number][0].owner == owner
            self.naive.switch(number, new, at_ms)

    @precondition(lambda self: self.meter.pools())
    @rule(data=st.data(), expected=st.none() | owners, new=owners, step=steps)
    def switch(self, data: Any, expected: Owner | None, new: Owner, step: int) -> None:
        number, at_ms = data.draw(st.sampled_from(sorted(self.naive.parts))), self.time(step)
        unit = self.naive.parts[number][0]
        late_ms, cursor_ms = max(0, unit.cursor_ms - at_ms), unit.cursor_ms
        answer = self.meter.switch(number, expected, owner=new, at_ms=at_ms)
        if expected is not None and expected != unit.owner:
            assert answer == Refused(number, expected, unit.owner)
            return
        assert answer == Switched(max(0, at_ms - cursor_ms), late_ms)
        self.naive.switch(number, new, at_ms)

    @precondition(lambda self: self.meter.pools())
    @rule(data=st.data())
    def gather(self, data: Any) -> None:
        pool = self.pool(data)
        owner = data.draw(st.sampled_from([part.owner for part in self.meter.parts_of(pool)]))
        self.meter.gather(pool, owner, parts_max=0)
        (part,) = self.meter.parts_of(pool, owner)
        self.naive.gather(part.number)

    @precondition(lambda self: self.meter.pools())
    @rule(data=st.data(), step=steps)
    def close(self, data: Any, step: int) -> None:
        pool, at_ms = self.pool(data), self.time(step)
        self.meter.close(pool, at_ms)
        self.naive.close(pool.share, at_ms)

    @invariant()
    def every_part_is_what_the_reference_has(self) -> None:
        parts = [part for pool in self.meter.pools() for part in self.meter.parts_of(pool)]
        told = {part.number: part for part in parts}
        assert set(told) == set(self.naive.parts)
        for number, units in self.naive.parts.items():
            part = told[number]
            assert part.amount == len(units)
            for unit in units:
                assert (part.owner, part.cursor_ms) == (unit.owner, unit.cursor_ms)

    @invariant()
    def every_tick_that_is_charged_has_the_owner_that_the_reference_has(self) -> None:
        painted: Counter[tuple[Share, int, Owner]] = Counter()
        for share, amount, owner, from_ms, to_ms in self.segments:
            assert amount > 0
            assert from_ms < to_ms
            for tick in range(from_ms, to_ms):
                painted[share, tick, owner] += amount
        assert painted == self.naive.ticks()

    @invariant()
    def every_sum_is_exact_now_and_later(self) -> None:
        for now_ms in (self.clock_ms, self.clock_ms + 13):
            self.meter.check(now_ms)
            kinds: Counter[tuple[ResourceKind, Payer]] = Counter()
            for (share, payer), used in self.naive.used(now_ms).items():
                kinds[share.kind, payer] += used
            told = {(line.kind, line.payer): n for line, n in self.meter.totals(now_ms).items()}
            assert {key: used for key, used in told.items() if used} == dict(kinds)
            assert all(each.owned == each.capacity for each in self.meter.balances(now_ms))


TestMeter = MeterMachine.TestCase
