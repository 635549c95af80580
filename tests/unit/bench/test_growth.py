"""What ``bench growth`` asks and tells, on small fleets; no time is ever asserted."""

from __future__ import annotations

import pytest

from bailiwick import InvalidValue
from bailiwick.bench.grown_fleet import (
    CAPPED,
    FEW_TENANTS,
    SPARE_CORES,
    WAITING_CORES,
    GrownFleet,
    Size,
    WaitingTenants,
)
from bailiwick.bench.growth import (
    Case,
    Curve,
    Point,
    as_objects,
    headings,
    measure,
    numbers_named,
    picture,
    row,
)
from bailiwick.kernel import Tick


def curve(*costs: float, longer: tuple[float, ...] = ()) -> Curve:
    """A curve with these costs by leases, and then by waiting."""
    points = [Point(Size(10**at, 1), us, us, 1) for at, us in enumerate(costs)]
    more = [Point(Size(10**6, 10**at), us, us, 1) for at, us in enumerate(longer, 1)]
    return Curve(Case.TICK, WaitingTenants.MANY, tuple(points), (points[-1], *more))


def test_every_case_is_measured_at_every_size_once() -> None:
    curves = measure((100, 200), (2, 3, 5), calls_max=2)
    found = [(each.waiting_tenants, each.case) for each in curves]
    assert found == [(tenants, case) for tenants in WaitingTenants for case in Case]
    sizes = [Size(100, 2), Size(200, 2), Size(200, 3), Size(200, 5)]
    for each in curves:
        assert [point.size for point in each.points] == sizes
        assert all(point.us > 0 and point.calls == 2 for point in each.points)
    assert len(as_objects(curves)) == 2 * len(Case) * len(sizes)
    assert headings(curves) == [
        *("case", "tenants", "100/2", "200/2", "200/3", "200/5"),
        *("curve", "leases", "waiting", "bars"),
    ]
    assert all(len(row(each)) == len(headings(curves)) for each in curves)


@pytest.mark.parametrize("engine", ["pure", "auto"])
def test_the_fleet_has_as_much_as_it_says_and_nothing_is_due(engine: str) -> None:
    fleet = GrownFleet(250, engine=engine)
    fleet.line_up(30)
    state = fleet.state
    assert len(state.leases) == 250
    assert len(state.ledger) == 2
    assert len(state.line.entries) == 30
    assert None not in state.blocked.values()
    assert len(state.spending.purses) == 25
    held = sum(state.owner_of(lease).tenant == CAPPED for lease in state.leases)
    assert 100 <= held <= 150
    for entry in state.ledger.entries.values():
        free_milli = state.ledger.engine.node(entry.handle)[2]
        assert free_milli == SPARE_CORES * 1000 < min(WAITING_CORES) * 1000
    size = state.size
    for _ in range(5):
        fleet.live()
    assert len(state.leases) == 250
    assert state.size > size
    assert all(state.fields(lease).expires_ms > fleet.now_ms for lease in fleet.leases)
    fleet.do(Tick())
    size = state.size
    fleet.pass_time()
    fleet.do(Tick())
    assert state.size == size


@pytest.mark.parametrize(("tenants", "at_least", "at_most"), [("many", 70, 200), ("few", 45, 50)])
def test_a_line_is_many_tenants_or_a_few(tenants: str, at_least: int, at_most: int) -> None:
    fleet = GrownFleet(2_000, waiting_tenants=WaitingTenants(tenants))
    fleet.line_up(200)
    owners = {entry.request.tenant for entry in fleet.state.line.entries.values()}
    assert at_least <= len(owners) <= at_most
    assert FEW_TENANTS == 50 < len({fleet.small().tenant for _ in range(500)})


def test_a_curve_is_flat_when_neither_ratio_nor_the_last_point_is_above_its_bar() -> None:
    assert curve(100, 150, 200, longer=(300, 600)).is_flat
    assert not curve(100, 150, 201).is_flat
    assert not curve(100, 100, 100, longer=(100, 201)).is_flat
    assert curve(500, 1000).is_flat
    assert not curve(501, 1001).is_flat


def test_the_ratio_over_waiting_is_that_of_the_last_step() -> None:
    assert curve(100, longer=(300, 900)).waiting_ratio == 3
    assert curve(100).waiting_ratio == 1


def test_a_picture_has_a_step_for_each_doubling() -> None:
    assert picture(curve(10, 19, 20, 40, 10**9)) == "▁▁▂▃█"


@pytest.mark.parametrize("text", ["", "0", "1,,2", "2,1", "1,1", "x", "-1", "1000001", "1.5"])
def test_sizes_are_rising_numbers(text: str) -> None:
    with pytest.raises(InvalidValue, match="leases"):
        numbers_named("leases", text)


def test_sizes_may_be_written_with_underscores() -> None:
    assert numbers_named("leases", "20,1_000", low=20) == (20, 1000)
    with pytest.raises(InvalidValue, match="21"):
        numbers_named("leases", "20,1_000", low=21)
