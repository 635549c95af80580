"""What jobs used, told by an operator that is killed, restarted and has an odd clock.

The reports go to the real kernel. Whatever happens, what was told is what the books have: no second
twice, and none left out.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.kernel.apps.commands import PublishApp
from bailiwick.kernel.apps.units.commands import ReportAppUsage
from bailiwick.operators.slurm.queue.use import (
    UNITS,
    BookedRun,
    TellingPlan,
    reports,
    used_in,
)
from bailiwick.vocab.apps import UsageRefusal
from bailiwick.vocab.errors import InstanceRefused
from tests.support.app_house import OWN, AppHouse, clustered

PLAN = TellingPlan(every_s=600, window_s_max=700, settle_s=20)
BORN_S = 5

runs = st.builds(
    lambda start, length, cpus, gpus: BookedRun("1", start, start + length, cpus, gpus),
    st.integers(0, 5_000),
    st.integers(0, 3_000),
    st.integers(1, 64),
    st.integers(0, 8),
)
passes = st.lists(
    st.tuples(
        st.integers(0, 1_500),  # so long after the one before
        st.sampled_from((0, 0, 0, 15, -15, 4_000, -4_000)),  # what the operator's clock is off by
        st.integers(0, 12),  # so many reports later it is killed
    ),
    max_size=8,
)


class Teller:
    """An operator that keeps nothing between two passes, before the real rules."""

    def __init__(self, books: list[BookedRun]) -> None:
        self.books, self.now_s = books, BORN_S + 1
        self.house = AppHouse()
        self.house.do(PublishApp(clustered("1.2.0", billing_units=UNITS)))
        self.house.now_ms = BORN_S * 1_000 - 500
        self.house.request(version="1.2.0")
        self.born_s = -(-self.house.instance().created_ms // 1_000)

    def until_s(self) -> dict[str, int]:
        series = self.house.held().told.series
        return {unit: known.until_ms // 1_000 for (unit, _), known in series.items()}

    def seen(self) -> list[BookedRun]:
        """What the books say now: what began, and of what ended when."""
        found = []
        for each in self.books:
            assert each.start_s is not None  # all of them begin, and end
            assert each.end_s is not None
            if each.start_s < self.now_s:
                found.append(each if each.end_s <= self.now_s else each._replace(end_s=None))
        return found

    def look(self, *, off_s: int, most: int, is_last: bool = False) -> None:
        for _ in range(30):
            told, now_s = self.until_s(), self.now_s + off_s
            window = PLAN.window(told, born_s=self.born_s, now_s=now_s, is_last=is_last)
            if window is None:
                return
            for unit, quantity, span in reports(self.seen(), window, told_until_s=told):
                if most <= 0:
                    return
                most -= 1
                self.tell(unit, quantity, span)

    def tell(self, unit: str, quantity: int, span: tuple[int, int]) -> None:
        tail = self.house.held().told.sources.get("op")
        own: dict[str, Any] = {**OWN, "instance_id": 1, "source": "op", "unit": unit}
        own |= {"sequence": (tail.last if tail else 0) + 1, "quantity": quantity}
        self.house.now_ms = max(self.house.now_ms, self.now_s * 1_000)
        self.house.do(ReportAppUsage(**own, from_ms=span[0] * 1_000, to_ms=span[1] * 1_000))

    def total(self) -> dict[str, int]:
        return {unit: known.quantity for (unit, _), known in self.house.held().told.series.items()}


@given(st.lists(runs, max_size=6), passes)
def test_what_was_told_is_what_the_books_have_whatever_happened_to_the_operator(
    books: list[BookedRun], history: list[tuple[int, int, int]]
) -> None:
    teller = Teller(books)
    for after_s, off_s, most in history:
        teller.now_s += after_s
        try:
            teller.look(off_s=off_s, most=most)
        except InstanceRefused as refused:
            if refused.reason is not UsageRefusal.WINDOW_NOT_OVER:  # its clock is ahead
                raise
    teller.now_s += 60
    teller.look(off_s=0, most=1_000, is_last=True)
    assert set(teller.until_s().values()) == {teller.now_s}
    assert teller.total() == used_in(books, from_s=teller.born_s, to_s=teller.now_s)


@given(st.lists(runs, max_size=6), st.lists(st.integers(0, 8_000), min_size=2, max_size=6))
def test_however_time_is_cut_the_sum_is_the_same(books: list[BookedRun], cuts: list[int]) -> None:
    edges = sorted(cuts)
    parts = [used_in(books, from_s=a, to_s=b) for a, b in pairwise(edges)]
    whole = used_in(books, from_s=edges[0], to_s=edges[-1])
    assert {unit: sum(part[unit] for part in parts) for unit in UNITS} == whole


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.booleans())
def test_a_window_is_never_longer_than_wished_nor_of_time_that_is_not_over(
    told_s: int, now_s: int, is_last: bool
) -> None:
    window = PLAN.window(dict.fromkeys(UNITS, told_s), born_s=BORN_S, now_s=now_s, is_last=is_last)
    if window is None:
        return
    begin, end = window
    assert max(told_s, BORN_S) <= begin or begin == now_s - PLAN.late_s_max
    assert 0 < end - begin <= PLAN.window_s_max
    assert end <= now_s - (0 if is_last else PLAN.settle_s)
    assert begin >= now_s - PLAN.late_s_max


def test_what_is_too_long_ago_is_left_out_and_the_rest_is_told() -> None:
    plan = replace(PLAN, late_s_max=1_000)
    assert plan.window({}, born_s=0, now_s=10_000) == (9_000, 9_700)
