"""The bill of a period from records alone: nothing of the fleet's time is lost or billed twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.billing.bills import PeriodBill, read_prices, windows_in
from bailiwick.billing.lines import LineKey, RatedLine
from bailiwick.billing.rates import LIST_PRICES, WHOLE, RateBook, RateCard
from bailiwick.journal import Record
from bailiwick.metering import JournalMeter, Leased, Meter
from bailiwick.metering.values import Segment
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import GIB, MILLI
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, ResourceKind
from tests.support.billed_campus import END_MS, billed_campus
from tests.support.kernel_histories import HOUR, MINUTE, START_MS
from tests.support.money_histories import Trouble

STEPS = 50
HOUR_MS = 3_600_000
seeds = st.integers(0, 2**32)
Group = tuple[ResourceKind, HardwareGeneration | None]


@cache
def records_of(seed: int) -> tuple[Record, ...]:
    trouble = Trouble(Random(seed))
    trouble.begin()
    for _ in trouble.steps(STEPS):
        pass
    return tuple(trouble.campus.records)


@st.composite
def periods(draw: Any) -> tuple[tuple[Record, ...], int, int]:
    """A history, and a part of its time or a little more."""
    records = records_of(draw(seeds))
    ends = st.integers(0, records[-1].at_ms + 40)
    from_ms, to_ms = sorted(draw(st.lists(ends, min_size=2, max_size=2, unique=True)))
    return records, from_ms, to_ms


def lines_of(
    records: tuple[Record, ...], from_ms: int, to_ms: int, *, book: RateBook | None = None
) -> tuple[RatedLine, ...]:
    bill = PeriodBill(book or read_prices(records), from_ms=from_ms, to_ms=to_ms)
    for record in records:
        bill.add(record)
    return bill.lines()


def sums(lines: tuple[RatedLine, ...]) -> dict[LineKey, int]:
    return {line.key: line.used for line in lines}


# --- everything there is --------------------------------------------------------------------


def segments(records: tuple[Record, ...], until_ms: int) -> Iterator[Segment]:
    """Every stretch of every share's time, whoever owned it."""
    meter = JournalMeter(Meter(logs=True))
    for record in records:
        meter.add(record)
    yield from meter.meter.drain()
    yield from map(meter.meter.segment, meter.meter.running(until_ms))


def capacity(records: tuple[Record, ...], from_ms: int, to_ms: int) -> dict[Group, int]:
    """Capacity x time, straight from when nodes came and went."""
    there: dict[str, tuple[int, dict[Group, int]]] = {}
    found: dict[Group, int] = {}

    def count(since_ms: int, until_ms: int, amounts: dict[Group, int]) -> None:
        span_ms = max(0, min(until_ms, to_ms) - max(since_ms, from_ms))
        for group, amount in amounts.items():
            found[group] = found.get(group, 0) + amount * span_ms

    for record in records:
        name = record.body.get("node", "")
        if record.kind == "node_registered":
            there[name] = record.at_ms, amounts_of(record)
        elif record.kind == "node_departed" and not record.body.get("leases_left"):
            since_ms, amounts = there.pop(name)
            count(since_ms, record.at_ms, amounts)
    for since_ms, amounts in there.values():
        count(since_ms, max(to_ms, records[-1].at_ms), amounts)
    return {group: spent for group, spent in found.items() if spent}


def amounts_of(record: Record) -> dict[Group, int]:
    resources = record.body["resources"]
    kinds = [kind for kind in ResourceKind if kind is not ResourceKind.GPU_MILLI]
    amounts: dict[Group, int] = {(kind, None): resources.get(kind.value, 0) for kind in kinds}
    words = record.body.get("gpu_generations")
    if words is None:
        count = resources.get("gpu_milli", 0) // MILLI
        words = [record.body.get("gpu_generation")] * count
    for word in words:
        group = ResourceKind.GPU_MILLI, HardwareGeneration(word)
        amounts[group] = amounts.get(group, 0) + MILLI
    return amounts


def flat(price: int) -> RateCard:
    """A card on which everything of a kind costs the same, whoever holds it."""
    return replace(
        LIST_PRICES,
        gpu_micros_per_hour=dict.fromkeys(HardwareGeneration, price),
        core_micros_per_hour=price,
        mem_micros_per_gib_hour=price,
        block_micros_per_gib_hour=price,
        class_per_mille=dict.fromkeys(LeaseClass, MILLI),
    )


def worth(kind: ResourceKind, used: int, price: int) -> int:
    """What this much would cost at a price, exactly: in micros times ``WHOLE``."""
    of_one = GIB if kind in (ResourceKind.MEM_BYTES, ResourceKind.BLOCK_BYTES) else MILLI
    return used * price * WHOLE // (of_one * HOUR_MS)


@given(periods(), st.integers(1, 10**9))
def test_all_lines_with_idle_and_unavailable_are_capacity_times_time_times_price(
    made: tuple[tuple[Record, ...], int, int], price: int
) -> None:
    records, from_ms, to_ms = made
    lines = lines_of(records, from_ms, to_ms, book=RateBook([flat(price)]))
    found: dict[ResourceKind, int] = dict.fromkeys(ResourceKind, 0)
    for line in lines:
        kind = line.key.kind
        exact = line.key.price.exact(kind, line.used)
        # What is not charged has the price 0 on its line, and is worth as much as the rest.
        found[kind] += exact if line.key.is_charged else worth(kind, line.used, price)
    for each in segments(records, max(to_ms, records[-1].at_ms)):
        span_ms = min(each.to_ms, to_ms) - max(each.from_ms, from_ms)
        if not isinstance(each.owner, Leased) and span_ms > 0:
            found[each.share.kind] += worth(each.share.kind, each.amount * span_ms, price)
    expected: dict[ResourceKind, int] = dict.fromkeys(ResourceKind, 0)
    for (kind, _), spent in capacity(records, from_ms, to_ms).items():
        expected[kind] += worth(kind, spent, price)
    assert found == expected


@given(periods(), st.data())
def test_two_halves_of_a_period_use_and_cost_what_the_whole_does(
    made: tuple[tuple[Record, ...], int, int], data: Any
) -> None:
    records, from_ms, to_ms = made
    if to_ms - from_ms < 2:
        return
    cut_ms = data.draw(st.integers(from_ms + 1, to_ms - 1))
    added = sums(lines_of(records, from_ms, cut_ms))
    for key, used in sums(lines_of(records, cut_ms, to_ms)).items():
        added[key] = added.get(key, 0) + used
    # A key says its price, so what adds up by key costs the same before it is rounded.
    assert added == sums(lines_of(records, from_ms, to_ms))


@given(periods(), st.data())
def test_reading_the_bill_under_way_changes_nothing(
    made: tuple[tuple[Record, ...], int, int], data: Any
) -> None:
    records, from_ms, to_ms = made
    stops = data.draw(st.sets(st.integers(0, len(records)), max_size=4))
    bill = PeriodBill(read_prices(records), from_ms=from_ms, to_ms=to_ms)
    for record in records:
        if record.seq in stops:
            bill.lines()
        bill.add(record)
    assert bill.size == len(records)
    assert bill.lines() == bill.lines() == lines_of(records, from_ms, to_ms)


@given(periods(), st.data())
def test_what_happens_after_the_period_does_not_touch_what_is_over(
    made: tuple[tuple[Record, ...], int, int], data: Any
) -> None:
    """Only a node's loss can tell more of the past, and then nothing is added."""
    records, from_ms, to_ms = made
    later = [n for n, record in enumerate(records) if record.at_ms > to_ms]
    if not later:
        return
    known = records[: later[0]]
    rest = records[later[0] : data.draw(st.integers(later[0], len(records)))]
    now = sums(lines_of(known, from_ms, to_ms))
    then = sums(lines_of((*known, *rest), from_ms, to_ms))
    if not any(each.kind == "node_departed" for each in rest):
        assert held(now) == held(then)
    assert sum(then.values()) <= sum(now.values())


def held(used: dict[LineKey, int]) -> dict[tuple[Any, ...], int]:
    """By whose it is and what: a stage is charged as such once it is sure."""
    found: dict[tuple[Any, ...], int] = {}
    for key, amount in used.items():
        whose = key.tenant, key.project, key.generation, key.tag, key.lease_class, key.kind
        found[whose] = found.get(whose, 0) + amount
    return found


# --- one story ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def story() -> tuple[Record, ...]:
    return tuple(billed_campus().campus.records)


def test_prices_are_read_off_the_records(story: tuple[Record, ...]) -> None:
    book = read_prices(story)
    names = [book.card_for("physics", START_MS + n * HOUR).name for n in (0, 2, 3, 5)]
    assert names == ["list", "autumn", "deal", "autumn"]
    assert windows_in(book, (START_MS, END_MS)) == [
        (START_MS + a * HOUR, START_MS + b * HOUR) for a, b in ((0, 2), (2, 3), (3, 5), (5, 6))
    ]


def test_each_price_has_a_line_of_its_own(story: tuple[Record, ...]) -> None:
    lines = [
        line
        for line in lines_of(story, START_MS, END_MS)
        if (line.key.project, line.key.kind) == ("quarks", ResourceKind.GPU_MILLI)
    ]
    told = [(line.key.card.name, line.quantity, line.cost_micros) for line in lines]
    six_gpus = 6 * 3600
    assert sorted(told) == [
        ("autumn", str(2 * six_gpus), 2 * 6 * 3_000_000),
        ("deal", str(2 * six_gpus), 2 * 6 * 2_400_000),
        ("list", str(2 * six_gpus), 2 * 6 * 2_400_000),
    ]


def test_a_bill_ends_with_its_period_however_much_follows(story: tuple[Record, ...]) -> None:
    to_ms = START_MS + 30 * MINUTE
    lines = [line for line in lines_of(story, START_MS, to_ms) if line.key.project == "quarks"]
    assert {line.quantity for line in lines} == {"10800", "3600", str(30 * 60 * 16)}
    assert {(line.from_ms, line.to_ms) for line in lines} == {(START_MS, to_ms)}


@pytest.mark.parametrize("period", [(5, 5), (6, 5), (-1, 5)])
def test_a_period_begins_before_it_ends(period: tuple[int, int]) -> None:
    with pytest.raises(InvalidValue, match="a begin before its end"):
        PeriodBill(RateBook(), from_ms=period[0], to_ms=period[1])
