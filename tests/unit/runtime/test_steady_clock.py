"""Time that does not leap, whatever somebody does to a wall clock."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.fleet.node import NodeCapacity
from bailiwick.iam import PrincipalKind
from bailiwick.kernel import Envelope, Granted, RegisterNode, Submit
from bailiwick.kernel.commands import Command
from bailiwick.kernel.people.commands import IssueToken
from bailiwick.runtime.replica import Replica, Role, Ticket
from bailiwick.runtime.steady_clock import (
    Against,
    Agrees,
    Disagrees,
    SteadyClock,
    judge,
    steady_ms,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import ClockJumped
from bailiwick.vocab.values import TenantId
from tests.support.memory_store import MemoryStore

START_MS = 1_800_000_000_000
HOUR, DAY = 3_600_000, 86_400_000
LAB = TenantId("lab")


@dataclass
class TwoClocks:
    """A wall clock and a timer that a test moves."""

    wall: int = START_MS
    timer: int = 77

    def now_ms(self) -> int:
        return self.wall

    def elapsed_ms(self) -> int:
        return self.timer

    def pass_time(self, by_ms: int) -> None:
        self.wall += by_ms
        self.timer += by_ms


# -- the decisions ---------------------------------------------------------------------------------

times = st.integers(0, 20_000)


@given(wall=times, others=st.dictionaries(st.sampled_from(Against), times), drift=times)
def test_a_clock_leads_unless_it_is_too_far_ahead_of_anybody(
    wall: int, others: dict[Against, int], drift: int
) -> None:
    found = judge(wall, others, drift_ms=drift)
    may_lead = isinstance(found, Agrees) or not found.forbids_leading
    heeded = dict(others)
    if Against.STORE in others and abs(wall - others[Against.STORE]) <= drift:
        heeded.pop(Against.FOLLOWER, None)
    assert may_lead == all(wall - other <= drift for other in heeded.values())
    agrees = all(abs(wall - other) <= drift for other in others.values())
    assert isinstance(found, Agrees) == agrees
    if isinstance(found, Disagrees):
        assert found.other_ms == others[found.against]


@given(
    moves=st.lists(st.tuples(st.integers(0, 5_000), st.integers(-(2**45), 2**45)), max_size=30),
    drift=st.integers(1, 10_000),
)
def test_time_follows_the_timer_to_within_the_drift_and_never_goes_back(
    moves: list[tuple[int, int]], drift: int
) -> None:
    clocks = TwoClocks()
    steady, told, honest = SteadyClock(clocks), START_MS, START_MS
    steady.drift_ms = drift
    steady.go_on_from(START_MS)
    for by_ms, leap_ms in moves:
        clocks.pass_time(by_ms)
        honest += by_ms
        clocks.wall = honest + leap_ms
        now = steady.now_ms()
        assert abs(now - honest) <= drift
        steady.go_on_from(now)  # a record was written
        assert now >= told + by_ms, "it stood still"
        told = now


@given(wall=times, timer=times, floor=times, drift=times)
def test_what_is_told_is_the_wall_the_timer_or_what_was_told(
    wall: int, timer: int, floor: int, drift: int
) -> None:
    now = steady_ms(wall_ms=wall, witness_ms=timer, floor_ms=floor, drift_ms=drift)
    expected = timer if wall > timer + drift or wall < timer - drift else wall
    assert now == (expected if expected > floor else floor)


def test_a_journal_ahead_of_the_wall_clock_goes_on_by_the_timer() -> None:
    clocks = TwoClocks()
    steady = SteadyClock(clocks)
    steady.go_on_from(START_MS + DAY)
    clocks.pass_time(5_000)
    assert steady.now_ms() == START_MS + DAY + 5_000
    assert steady.agreement() == Agrees()


# -- a replica by such clocks ----------------------------------------------------------------------


class House:
    """One replica over a store in memory."""

    def __init__(self) -> None:
        self.clocks, self.store = TwoClocks(), MemoryStore()
        self.said: list[str] = []
        self.replica = self.start()

    def start(self) -> Replica:
        replica = Replica(self.store, self.clocks, name="one")
        replica.warn = self.said.append
        return replica

    def run(self, for_ms: int, *, every_ms: int = 250) -> None:
        for _ in range(max(for_ms // every_ms, 1)):
            self.clocks.pass_time(every_ms)
            self.replica.step()

    def ask(self, command: Command) -> Ticket:
        ticket = Ticket(Envelope(command, "somebody", "test"), lambda _: None)
        self.replica.submit(ticket)
        self.replica.step()
        return ticket

    def leases(self) -> int:
        assert self.replica.kernel is not None
        return len(self.replica.kernel.state.leases)


@pytest.fixture
def house() -> House:
    house = House()
    house.run(2_000)
    house.ask(RegisterNode("n1", NodeCapacity(cpu_cores=4, mem_bytes=0)))
    answer = house.ask(Submit(PlacementRequest(tenant=LAB, cpu_cores=1, ttl_ms=60_000))).answer
    assert isinstance(answer, Granted)
    return house


def test_a_wall_clock_400_days_ahead_for_two_seconds_ends_no_lease(house: House) -> None:
    house.clocks.wall += 400 * DAY
    house.run(2_000)
    assert house.replica.role is Role.FOLLOWING
    assert isinstance(
        house.ask(Submit(PlacementRequest(tenant=LAB, cpu_cores=1))).error, ClockJumped
    )
    assert any(f"is {400 * DAY} ms ahead of the timer" in text for text in house.said)
    house.clocks.wall -= 400 * DAY
    house.run(2_000)
    assert house.replica.role is Role.LEADING
    assert "the clock of one agrees with the others again" in house.said
    assert house.leases() == 1
    house.run(60_000)
    assert house.leases() == 0


def test_a_wall_clock_set_back_by_years_holds_up_nothing(house: House) -> None:
    house.clocks.wall -= 400 * DAY
    house.run(30_000)
    assert house.replica.role is Role.LEADING
    assert house.leases() == 1
    house.run(40_000)
    assert house.leases() == 0


def test_people_can_log_in_after_the_clock_was_set_back(house: House) -> None:
    house.clocks.wall -= 400 * DAY
    house.run(2_000)
    expires_ms = house.replica.clock.now_ms() + HOUR  # as services reckon it
    token = IssueToken("a" * 32, "ann", PrincipalKind.HUMAN, "b" * 64, expires_ms)
    assert house.ask(token).error is None


def test_no_command_of_the_round_in_which_the_clock_leaps_sees_the_leap(house: House) -> None:
    wall, leaps = house.clocks.now_ms, iter((0, 0, 1))
    house.clocks.now_ms = lambda: wall() + 400 * DAY * next(leaps, 1)  # type: ignore[method-assign]
    house.ask(Submit(PlacementRequest(tenant=LAB, cpu_cores=1)))
    house.run(1_000)
    assert house.replica.kernel is not None
    assert house.replica.kernel.state.clock_ms < START_MS + DAY


def test_a_leader_ahead_of_its_database_stands_aside(house: House) -> None:
    house.store.told_ms = house.clocks.wall - 2 * 60_000
    house.run(6_000)
    assert house.replica.role is Role.FOLLOWING
    assert any("ahead of the store" in text for text in house.said)
    house.store.told_ms = house.clocks.wall + 6_000
    house.run(7_000)
    assert house.replica.role is Role.LEADING


def test_a_leader_ahead_of_a_follower_stands_aside_unless_its_database_bears_it_out(
    house: House,
) -> None:
    def tell() -> None:
        clock = house.replica.clock
        told_ms = house.clocks.wall - 2 * 60_000
        clock.hear(Against.FOLLOWER, told_ms, asked_ms=clock.elapsed_ms())

    tell()
    house.run(1_000)
    assert house.replica.role is Role.FOLLOWING
    assert any("ahead of the follower" in text for text in house.said)
    house.store.told_ms = house.clocks.wall + 5_000
    house.run(6_000)
    tell()
    house.run(1_000)
    assert house.replica.role is Role.LEADING


def test_a_replica_that_was_stopped_for_hours_begins_anew(house: House) -> None:
    house.clocks.pass_time(5 * HOUR)
    house.run(3_000)
    assert house.replica.role is Role.LEADING
    assert house.leases() == 0


def test_after_an_outage_that_is_too_long_to_be_true_nobody_leads(house: House) -> None:
    house.clocks.pass_time(31 * DAY)
    house.replica = house.start()
    house.run(2_000)
    assert house.replica.role is Role.FOLLOWING
    assert any("ahead of the journal" in text for text in house.said)
    house.clocks.wall -= 2 * DAY
    house.run(2_000)
    assert house.replica.role is Role.LEADING
    assert house.replica.kernel is not None
    assert house.replica.kernel.state.clock_ms < START_MS + 30 * DAY


def test_a_replica_born_with_a_wrong_clock_leads_once_its_database_says_that_it_is_right(
    house: House,
) -> None:
    honest, house.clocks.wall = house.clocks.wall, house.clocks.wall + 20 * DAY
    house.store.told_ms = honest
    house.replica = house.start()
    house.run(2_000)
    assert house.replica.role is Role.FOLLOWING
    house.clocks.wall = honest + 5_000
    house.store.told_ms = honest + 5_000
    house.run(6_000)
    assert house.replica.role is Role.LEADING
    assert house.replica.kernel is not None
    assert house.replica.kernel.state.clock_ms < START_MS + DAY


@pytest.mark.parametrize("by_ms", [-400 * DAY, 20 * DAY])
def test_whose_clock_was_set_right_leads_at_the_next_try_not_at_the_next_comparison(
    house: House, by_ms: int
) -> None:
    def set_wall(off_ms: int) -> None:
        house.clocks.wall = house.store.told_ms = honest + off_ms

    honest = house.clocks.wall
    set_wall(0)
    house.clocks.wall += by_ms
    house.replica = house.start()
    house.run(1_000)
    set_wall(1_000)
    house.run(1_000)
    assert house.replica.role is Role.LEADING
    assert house.replica.watch.error is None


def test_a_replica_of_a_file_that_was_born_behind_leads_once_its_clock_is_right(
    house: House,
) -> None:
    honest = house.clocks.wall
    house.clocks.wall -= 400 * DAY
    house.replica = house.start()
    house.run(1_000)
    house.clocks.wall = honest + 1_000
    house.run(2_000)
    assert house.replica.role is Role.LEADING


def test_a_replica_of_a_file_that_was_born_behind_does_not_lead_by_a_clock_that_is_ahead(
    house: House,
) -> None:
    honest = house.clocks.wall
    house.clocks.wall -= 400 * DAY
    house.replica = house.start()
    house.run(1_000)
    house.clocks.wall = honest + HOUR
    house.run(2_000)
    assert house.replica.role is Role.FOLLOWING
    assert house.leases() == 1


@given(
    moves=st.lists(st.tuples(st.integers(0, 5_000), st.integers(-(2**45), 2**45)), max_size=30),
    behind=st.integers(0, 2**40),
)
def test_who_is_believed_for_the_journals_sake_is_led_on_by_one_drift_more_at_most(
    moves: list[tuple[int, int]], behind: int
) -> None:
    clocks, honest, drift = TwoClocks(START_MS - behind), START_MS, 1_000
    steady = SteadyClock(clocks)
    steady.drift_ms = drift
    steady.go_on_from(START_MS)
    for by_ms, leap_ms in moves:
        clocks.timer, honest = clocks.timer + by_ms, honest + by_ms
        clocks.wall = steady.now_ms() + leap_ms % (2 * drift) if leap_ms % 2 else honest + leap_ms
        steady.believe_journal()
        steady.go_on_from(steady.now_ms())
        assert honest <= steady.now_ms() <= honest + 2 * drift
