"""Every tick of every share has exactly one owner, whatever is switched when: against a reference
that writes down each tick of each unit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from bailiwick.metering.core import has_compiled, new_core
from bailiwick.metering.meter import Meter, SharePool
from bailiwick.metering.owners import IDLE, UNAVAILABLE, Account, Leased, Owner, Payer
from bailiwick.metering.values import GuardRefused, Segment, Share, Short, Switched, Taken
from bailiwick.vocab.words import LeaseClass, ResourceKind
from tests.support.naive_meter import NaiveMeter, Unit

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
EDGES = (15, 16, 40)


class MeterMachine(RuleBasedStateMachine):
    """The meter and the reference are told the same, and must say the same."""

    which = "pure"

    def __init__(self) -> None:
        super().__init__()
        self.meter = Meter(EDGES, core=new_core(EDGES, logs=True, which=self.which))
        self.segments: list[Segment] = []
        self.naive = NaiveMeter()
        self.clock_ms = 10

    def time(self, step: int) -> int:
        at_ms = max(0, self.clock_ms + step)
        self.clock_ms = max(self.clock_ms, at_ms)
        return at_ms

    def pool(self, data: Any) -> SharePool:
        pool: SharePool = data.draw(st.sampled_from(self.meter.pools()))
        return pool

    @rule(share=st.sampled_from(SHARES), capacity=st.integers(1, 6), owner=owners, step=steps)
    def open(self, share: Share, capacity: int, owner: Owner, step: int) -> None:
        if any(pool.share == share for pool in self.meter.pools()):
            return
        at_ms = self.time(step)
        pool = self.meter.open(share, capacity, owner=owner, at_ms=at_ms)
        self.naive.open(pool.free, share, capacity=capacity, owner=owner, at_ms=at_ms)

    @precondition(lambda self: self.meter.pools())
    @rule(data=st.data(), amount=st.integers(1, 6), new=owners, step=steps)
    def take(self, data: Any, amount: int, new: Owner, step: int) -> None:
        pool, at_ms = self.pool(data), self.time(step)
        before, free = self.meter.parts_of(pool), len(self.naive.parts[pool.free])
        answer = self.meter.take(pool, amount, owner=new, at_ms=at_ms)
        if amount > free:
            assert answer == Short(amount, free)
            assert self.meter.parts_of(pool) == before
            return
        assert isinstance(answer, Taken)
        self.naive.take(pool.free, answer.part, amount=amount, owner=new, at_ms=at_ms)

    @precondition(lambda self: any(self.naive.parts.values()))
    @rule(data=st.data(), expected=st.none() | owners, new=owners, step=steps)
    def switch(self, data: Any, expected: Owner | None, new: Owner, step: int) -> None:
        number, unit, at_ms = self.part(data, step)
        late_ms, cursor_ms = max(0, unit.cursor_ms - at_ms), unit.cursor_ms
        answer = self.meter.switch(number, expected, owner=new, at_ms=at_ms)
        if expected is not None and expected != unit.owner:
            assert answer == GuardRefused(number, expected, unit.owner)
            return
        assert answer == Switched(max(0, at_ms - cursor_ms), late_ms)
        self.naive.switch(number, new, at_ms)

    @precondition(lambda self: set(self.naive.parts) - set(self.naive.ghosts))
    @rule(data=st.data(), expected=st.none() | owners, step=steps)
    def give(self, data: Any, expected: Owner | None, step: int) -> None:
        number, unit, at_ms = self.part(data, step, is_free=False)
        cursor_ms, guard = unit.cursor_ms, unit.owner if expected is None else expected
        answer = self.meter.give(number, guard, at_ms=at_ms)
        if guard != unit.owner:
            assert answer == GuardRefused(number, guard, unit.owner)
            return
        assert answer == Switched(max(0, at_ms - cursor_ms), max(0, cursor_ms - at_ms))
        free = next(n for n, ghost in self.naive.ghosts.items() if ghost.share == unit.share)
        self.naive.give(number, free, at_ms)

    def part(self, data: Any, step: int, *, is_free: bool = True) -> tuple[int, Unit, int]:
        """Some part that is not empty, one of its units, and a time."""
        left = {n for n, units in self.naive.parts.items() if units}
        if not is_free:
            left -= set(self.naive.ghosts)
        number = data.draw(st.sampled_from(sorted(left)))
        return number, self.naive.parts[number][0], self.time(step)

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
        assert set(told) == {number for number, units in self.naive.parts.items() if units}
        for number, part in told.items():
            units = self.naive.parts[number]
            assert part.amount == len(units)
            for unit in units:
                assert (part.owner, part.cursor_ms) == (unit.owner, unit.cursor_ms)

    @invariant()
    def every_tick_that_is_charged_has_the_owner_that_the_reference_has(self) -> None:
        painted: Counter[tuple[Share, int, Owner]] = Counter()
        self.segments += self.meter.drain()
        for share, amount, owner, from_ms, to_ms, _, _ in self.segments:
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

    @invariant()
    def every_window_has_the_ticks_that_lie_in_it(self) -> None:
        now_ms = self.clock_ms + 13
        told: Counter[tuple[ResourceKind, Payer, int]] = Counter()
        for use in self.meter.uses(now_ms):
            told[use.kind, use.account, bisect_right(EDGES, use.from_ms)] += use.used
        counted: Counter[tuple[ResourceKind, Payer, int]] = Counter()
        for unit in self.naive.units():
            until_ms = unit.cursor_ms if unit in self.naive.closed else now_ms
            owners = [*unit.ticks, *[unit.owner] * (until_ms - unit.cursor_ms)]
            for tick, owner in enumerate(owners, unit.opened_ms):
                if isinstance(owner, Leased):
                    counted[unit.share.kind, owner.account, bisect_right(EDGES, tick)] += 1
        assert told == counted


class CompiledMachine(MeterMachine):
    """The same of the compiled core."""

    which = "compiled"


TestMeter = MeterMachine.TestCase
TestCompiledMeter = pytest.mark.skipif(not has_compiled(), reason="no compiled core was built")(
    CompiledMachine.TestCase
)
