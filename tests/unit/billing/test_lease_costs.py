"""What single leases cost adds up to what the invoice of all of them says."""

from __future__ import annotations

from collections import defaultdict

import pytest

from bailiwick.billing import bills
from bailiwick.billing.lease_costs import lines_of, micros_per_hour
from bailiwick.billing.lines import LineKey, RatedLine
from bailiwick.billing.rates import HOUR_MS
from bailiwick.metering import JournalMeter, Leased, Meter, Segment
from tests.support.billed_campus import billed_campus
from tests.support.kernel_histories import MINUTE, START_MS, Campus


@pytest.fixture(scope="module")
def campus() -> Campus:
    return billed_campus().campus


def held_by(campus: Campus, until_ms: int) -> tuple[dict[int, list[Segment]], list[Segment]]:
    """Every stretch of each lease, and those that still run."""
    meter = JournalMeter(Meter(logs=True))
    found: list[Segment] = []
    for record in campus.records:
        meter.add(record)
        found += meter.meter.drain()
    running = [meter.meter.segment(row) for row in meter.meter.running(until_ms)]
    by_lease: dict[int, list[Segment]] = defaultdict(list)
    for each in found + running:
        if isinstance(each.owner, Leased):
            by_lease[each.owner.lease_id].append(each)
    return by_lease, [each for each in running if isinstance(each.owner, Leased)]


def bill_of(campus: Campus, until_ms: int) -> tuple[RatedLine, ...]:
    bill = bills.PeriodBill(bills.read_prices(campus.records), from_ms=START_MS, to_ms=until_ms)
    for record in campus.records:
        bill.add(record)
    return bill.lines()


def test_the_lines_of_all_leases_add_up_to_the_lines_of_the_bill(campus: Campus) -> None:
    until_ms = campus.records[-1].at_ms + MINUTE
    book = bills.read_prices(campus.records)
    leases, _ = held_by(campus, until_ms)
    assert len(leases) >= 5
    sums: dict[LineKey, int] = defaultdict(int)
    cost = 0
    for segments in leases.values():
        for line in lines_of(segments, book):
            sums[line.key] += line.used
            cost += line.cost_micros
    billed = bill_of(campus, until_ms)
    assert sums == {line.key: line.used for line in billed}
    # Each line of each lease is rounded once, and so is each line of the bill.
    assert abs(cost - sum(line.cost_micros for line in billed)) <= len(leases) * len(billed)


def test_of_one_lease_alone_the_lines_are_those_of_the_bill_to_the_last_micro(
    campus: Campus,
) -> None:
    """Where a key is one lease's, its line is the bill's own."""
    until_ms = campus.records[-1].at_ms + MINUTE
    book = bills.read_prices(campus.records)
    leases, _ = held_by(campus, until_ms)
    lines = [(line.key, line) for found in leases.values() for line in lines_of(found, book)]
    keys = [key for key, _ in lines]
    billed = {line.key: line for line in bill_of(campus, until_ms)}
    single = [(key, line) for key, line in lines if keys.count(key) == 1]
    assert len(single) > 10
    for key, line in single:
        assert (line.used, line.cost_micros) == (billed[key].used, billed[key].cost_micros)


def test_an_hour_more_costs_what_an_hour_was_said_to_cost(campus: Campus) -> None:
    now_ms = campus.records[-1].at_ms + MINUTE
    book = bills.read_prices(campus.records)
    now, running = held_by(campus, now_ms)
    later, _ = held_by(campus, now_ms + HOUR_MS)
    assert running
    for lease_id in {each.owner.lease_id for each in running if isinstance(each.owner, Leased)}:
        own = [each for each in running if each.owner == _owner(running, lease_id)]
        said = micros_per_hour(own, book, at_ms=now_ms)
        costs = [
            sum(line.cost_micros for line in lines_of(found[lease_id], book))
            for found in (now, later)
        ]
        assert abs(costs[1] - costs[0] - said) <= 8


def _owner(running: list[Segment], lease_id: int) -> Leased:
    for each in running:
        if isinstance(each.owner, Leased) and each.owner.lease_id == lease_id:
            return each.owner
    raise AssertionError(lease_id)
