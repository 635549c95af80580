"""One operation moves time from owner to owner, and never loses or doubles any of it."""

from __future__ import annotations

import pytest

from bailiwick.metering.core import Core
from bailiwick.metering.meter import Meter
from bailiwick.metering.owners import (
    IDLE,
    UNAVAILABLE,
    Account,
    Leased,
    Owner,
    UnavailableCapacity,
    UnavailableCause,
    free_owner,
)
from bailiwick.metering.share import ANY, REFUSED, Parts, charged_ms
from bailiwick.metering.values import GuardRefused, Line, Segment, Share, Short, Switched, Taken
from bailiwick.vocab.errors import Conflict, InvalidValue, InvariantBroken, NotFound
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, ResourceKind

HOPPER = HardwareGeneration.NVIDIA_HOPPER
GPU = Share("node-1", ResourceKind.GPU_MILLI, 0, HOPPER)
LAB = Account("lab", "vision", "t", LeaseClass.STANDARD, HOPPER)
FENCED = UNAVAILABLE[UnavailableCause.FENCED]


def lease(number: int, account: Account = LAB) -> Leased:
    return Leased(number, account)


class Metered:
    """A meter with one device, and what it emitted."""

    def __init__(self) -> None:
        self.parts = Parts()
        self.meter = Meter(core=Core(logs=True, parts=self.parts))
        self.gpu = self.meter.open(GPU, 1000, owner=IDLE, at_ms=0)
        self._segments: list[Segment] = []

    @property
    def segments(self) -> list[Segment]:
        self._segments += self.meter.drain()
        return self._segments

    def take(self, amount: int, owner: Owner, at_ms: int) -> int:
        taken = self.meter.take(self.gpu, amount, owner=owner, at_ms=at_ms)
        assert isinstance(taken, Taken)
        return taken.part

    def used(self, owner: Owner) -> int:
        return sum(each.used for each in self.segments if each.owner == owner)


# --- owners ------------------------------------------------------------------------------------


def test_what_a_node_in_another_mode_than_accepting_has_free_is_unavailable_by_that_word() -> None:
    for mode in NodeMode:
        owner = free_owner(mode, quarantined=False)
        if mode is NodeMode.ACCEPTING:
            assert owner == IDLE
        else:
            assert isinstance(owner, UnavailableCapacity)
            assert owner.cause.value == mode.value


def test_quarantine_comes_before_the_mode() -> None:
    for mode in NodeMode:
        owner = free_owner(mode, quarantined=True)
        assert owner == UNAVAILABLE[UnavailableCause.QUARANTINED]


# --- the core ----------------------------------------------------------------------------------


def test_a_time_at_or_before_the_cursor_charges_nothing() -> None:
    assert [charged_ms(5, at) for at in (0, 4, 5, 6, 9)] == [0, 0, 0, 1, 4]


def test_parts_are_joined_only_if_nothing_but_their_amounts_differs() -> None:
    parts = Parts()
    parts.accounts.extend([0, 0])
    first = parts.open(10, holder=1, account=0, at_ms=0)
    other = parts.cut(first, 4)
    stranger = parts.open(4, holder=1, account=0, at_ms=0)
    assert not parts.join(first, first)
    assert not parts.join(first, stranger)
    for holder, account, at_ms in ((2, 0, 0), (1, 1, 0), (1, 0, 5)):
        parts.switch(other, ANY, holder=holder, account=account, at_ms=at_ms)
        assert not parts.join(first, other)
        assert (parts.amount[first], parts.amount[other]) == (6, 4)
    parts.switch(first, ANY, holder=1, account=0, at_ms=5)
    assert parts.join(first, other)
    assert parts.amount[first] == 10
    assert parts.switch(other, 1, holder=3, account=0, at_ms=9) == REFUSED


# --- switching ---------------------------------------------------------------------------------


def test_a_device_is_shared_by_several_leases_to_the_last_micro_second() -> None:
    metered = Metered()
    metered.take(333, lease(1), 7)
    metered.take(333, lease(2), 11)
    metered.take(334, lease(3), 13)
    metered.meter.close(metered.gpu, 101)
    assert metered.used(lease(1)) == 333 * 94
    assert metered.used(lease(2)) == 333 * 90
    assert metered.used(lease(3)) == 334 * 88
    assert sum(each.used for each in metered.segments) == 1000 * 101


def test_a_switch_that_expects_another_owner_changes_nothing_and_says_whose_it_is() -> None:
    metered = Metered()
    part = metered.take(400, lease(1), 5)
    before = metered.meter.parts_of(metered.gpu)
    answer = metered.meter.switch(part, lease(2), owner=IDLE, at_ms=9)
    assert answer == GuardRefused(part, lease(2), lease(1))
    assert metered.meter.parts_of(metered.gpu) == before
    assert metered.used(lease(1)) == 0


def test_the_end_of_a_lease_told_twice_is_charged_once() -> None:
    metered = Metered()
    part = metered.take(1000, lease(1), 5)
    assert metered.meter.switch(part, lease(1), owner=FENCED, at_ms=9) == Switched(4, 0)
    again = metered.meter.switch(part, lease(1), owner=FENCED, at_ms=12)
    assert again == GuardRefused(part, lease(1), FENCED)
    assert metered.used(lease(1)) == 4000


def test_what_was_given_back_cannot_be_given_back_again() -> None:
    metered = Metered()
    part = metered.take(1000, lease(1), 5)
    assert metered.meter.give(part, lease(2), at_ms=9) == GuardRefused(part, lease(2), lease(1))
    assert metered.meter.give(part, lease(1), at_ms=9) == Switched(4, 0)
    with pytest.raises(NotFound, match="part"):
        metered.meter.give(part, lease(1), at_ms=12)
    with pytest.raises(Conflict, match="free already"):
        metered.meter.give(metered.gpu.free, IDLE, at_ms=12)
    assert metered.used(lease(1)) == 4000


def test_another_lease_of_the_same_account_is_another_owner() -> None:
    metered = Metered()
    part = metered.take(1000, lease(2), 5)
    assert isinstance(metered.meter.switch(part, lease(1), owner=IDLE, at_ms=9), GuardRefused)


def test_a_switch_that_expects_nobody_in_particular_always_happens() -> None:
    metered = Metered()
    part = metered.take(1000, lease(1), 5)
    assert metered.meter.switch(part, None, owner=FENCED, at_ms=9) == Switched(4, 0)
    assert metered.used(lease(1)) == 4000


def test_a_late_time_is_clamped_and_takes_nothing_back() -> None:
    metered = Metered()
    part = metered.take(1000, lease(1), 50)
    answer = metered.meter.switch(part, lease(1), owner=IDLE, at_ms=20)
    assert answer == Switched(0, late_ms=30)
    assert metered.used(lease(1)) == 0
    assert metered.used(IDLE) == 50_000
    metered.meter.check(50)


def test_a_part_given_back_late_is_charged_no_further_and_joins_what_is_free() -> None:
    metered = Metered()
    part = metered.take(400, lease(1), 5)
    other = metered.take(100, lease(2), 30)
    assert metered.meter.give(part, lease(1), at_ms=20) == Switched(15, 0)
    assert metered.used(lease(1)) == 400 * 15
    assert metered.meter.give(other, lease(2), at_ms=10) == Switched(0, 20)
    assert metered.used(IDLE) == 30_000 - 400 * 15
    metered.meter.check(30)


def test_more_than_is_free_cannot_be_taken() -> None:
    metered = Metered()
    metered.take(700, lease(1), 5)
    answer = metered.meter.take(metered.gpu, 301, owner=lease(2), at_ms=6)
    assert answer == Short(301, 300)
    assert {part.owner for part in metered.meter.parts_of(metered.gpu)} == {IDLE, lease(1)}
    with pytest.raises(InvalidValue, match="amount"):
        metered.meter.take(metered.gpu, 0, owner=lease(2), at_ms=6)


def test_what_many_leases_gave_back_is_one_part_and_the_time_of_each_stays_its_own() -> None:
    metered = Metered()
    taken = [metered.take(100, lease(n), n) for n in range(1, 11)]
    for n, part in enumerate(taken, 1):
        metered.meter.give(part, lease(n), at_ms=20 + n)
    assert len(metered.meter.parts_of(metered.gpu)) == 1
    assert [metered.used(lease(n)) for n in range(1, 11)] == [2_000] * 10
    metered.meter.check(40)


def test_a_stretch_names_the_records_that_began_and_ended_it() -> None:
    metered = Metered()
    for seq, act in enumerate((metered.take, metered.meter.give), 3):
        metered.meter.seq = seq
        if act == metered.take:
            part = metered.take(400, lease(1), 5)
        else:
            metered.meter.give(part, lease(1), at_ms=9)
    (held,) = (each for each in metered.segments if each.owner == lease(1))
    assert (held.from_seq, held.to_seq) == (3, 4)


def test_a_part_that_does_not_exist_is_not_found() -> None:
    metered = Metered()
    for part in (-1, 1, 99):
        with pytest.raises(NotFound, match="part"):
            metered.meter.switch(part, None, owner=IDLE, at_ms=3)
    metered.meter.close(metered.gpu, 9)
    with pytest.raises(NotFound, match="part"):
        metered.meter.switch(0, None, owner=IDLE, at_ms=12)


# --- shares ------------------------------------------------------------------------------------


def test_a_share_is_open_once_and_may_be_opened_again_after_it_was_closed() -> None:
    metered = Metered()
    with pytest.raises(Conflict, match="close it first"):
        metered.meter.open(GPU, 1000, owner=IDLE, at_ms=4)
    metered.meter.close(metered.gpu, 10)
    with pytest.raises(NotFound, match="open share"):
        metered.meter.close(metered.gpu, 11)
    again = metered.meter.open(GPU, 1000, owner=IDLE, at_ms=30)
    metered.meter.check(35)
    (balance,) = metered.meter.balances(35)
    assert balance.owned == balance.capacity == 1000 * 15
    assert metered.meter.pools() == (again,)


@pytest.mark.parametrize("capacity", [0, -1, 2**62, True])
def test_a_share_has_some_capacity(capacity: int) -> None:
    with pytest.raises(InvalidValue, match="capacity"):
        Meter().open(GPU, capacity, owner=IDLE, at_ms=0)


def test_a_share_closed_too_late_was_open_until_all_of_it_is_charged() -> None:
    metered = Metered()
    metered.take(400, lease(1), 50)
    assert metered.meter.close(metered.gpu, 20) == 30
    (balance,) = metered.meter.balances(50)
    assert balance.owned == balance.capacity == 50_000


def test_memory_and_cores_are_metered_by_the_same_operation() -> None:
    meter = Meter()
    memory = meter.open(Share("n", ResourceKind.MEM_BYTES), 2**40, owner=IDLE, at_ms=0)
    cores = meter.open(Share("n", ResourceKind.CPU_MILLI), 64_000, owner=IDLE, at_ms=0)
    for pool, amount in ((memory, 2**33 + 1), (cores, 1_500)):
        meter.take(pool, amount, owner=lease(1), at_ms=1_000)
    totals = meter.totals(4_000)
    assert totals[Line(ResourceKind.MEM_BYTES, None, LAB)] == (2**33 + 1) * 3_000
    assert totals[Line(ResourceKind.CPU_MILLI, None, LAB)] == 1_500 * 3_000
    assert all(balance.owned == balance.capacity for balance in meter.balances(4_000))


def test_reading_changes_nothing() -> None:
    metered = Metered()
    metered.take(400, lease(1), 5)
    first = metered.meter.totals(50)
    metered.meter.totals(80)
    assert metered.meter.totals(50) == first
    assert len(metered.segments) == 1


# --- the checker can fail ----------------------------------------------------------------------


def _two_parts() -> Metered:
    metered = Metered()
    metered.take(400, lease(1), 5)
    metered.meter.check(9)
    return metered


def test_the_check_sees_an_amount_that_is_gone() -> None:
    metered = _two_parts()
    metered.parts.amount[1] -= 1
    with pytest.raises(InvariantBroken, match="not its capacity"):
        metered.meter.check(9)


def test_the_check_sees_a_part_of_less_than_nothing() -> None:
    metered = _two_parts()
    metered.parts.amount[0] += 401
    metered.parts.amount[1] -= 401
    with pytest.raises(InvariantBroken, match="less than nothing"):
        metered.meter.check(9)


def test_the_check_sees_time_that_nobody_was_charged_for() -> None:
    metered = _two_parts()
    metered.parts.cursor_ms[1] += 1
    with pytest.raises(InvariantBroken, match="capacity x time"):
        metered.meter.check(9)


def test_the_check_sees_a_sum_that_was_changed() -> None:
    metered = _two_parts()
    metered.parts.measured[0] += 1
    with pytest.raises(InvariantBroken, match="capacity x time"):
        metered.meter.check(9)
    metered.parts.measured.append(-1)  # of a share that was closed
    metered.parts.measured[0] -= 1
    with pytest.raises(InvariantBroken, match="do not sum"):
        metered.meter.check(9)


def test_the_check_is_not_of_the_past() -> None:
    with pytest.raises(InvalidValue, match="at_ms"):
        _two_parts().meter.check(4)


def test_sums_are_not_told_of_the_past() -> None:
    metered = Metered()
    metered.meter.close(metered.gpu, 30)
    with pytest.raises(InvalidValue, match="from 30 on"):
        metered.meter.totals(29)
    with pytest.raises(InvalidValue, match="from 30 on"):
        metered.meter.balances(29)
