"""A series or a calendar that is set again: the same keeps what is ahead, another calls it off.

Whoever keeps them in a file and sets them every night must not call everything off every night.
"""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.kernel import CancelBooking, CancelWindow, PlanWindow, RegisterNode, SetCalendar
from bailiwick.kernel.bookings.foresight import foresee_series
from bailiwick.kernel.bookings.rules import series_of
from bailiwick.vocab.errors import Conflict
from tests.unit.kernel.desk import Desk, cores
from tests.unit.kernel.test_bookings import OWN, STARTS, book, check_copy, desk, series


def names(at: Desk) -> list[str]:
    return [each.id for each in at.state.bookings.in_order()]


def booked() -> Desk:
    """Three times of a series, one of them cancelled."""
    at = desk(1)
    at.do(series())
    for number in range(3):
        times = {"starts_ms": STARTS + number, "ends_ms": STARTS + number + 1}
        at.do(book(f"t{number}", series="s", **times))
    at.do(CancelBooking("t1", **OWN))
    return at


def test_the_same_series_set_again_seals_nothing() -> None:
    at = booked()
    before = at.digest
    at.do(series())
    assert at.kinds == []
    assert at.digest == before
    assert names(at) == ["t0", "t2"]


@pytest.mark.parametrize("more", [{"text": "set again"}, {"ahead_days": 3}])
def test_a_series_that_differs_in_its_text_or_days_alone_keeps_what_was_booked(
    more: dict[str, Any],
) -> None:
    at = booked()
    at.do(series(**more))
    assert at.kinds == ["series_set"]
    assert at.last[0].body["keeps"] == 1
    found = at.state.bookings.series["acme/class/s"]
    assert (found.text, found.ahead_days) == (more.get("text", ""), more.get("ahead_days", 28))
    assert names(at) == ["t0", "t2"]
    assert found.booked == (STARTS, STARTS + 1, STARTS + 2)
    again = {"starts_ms": STARTS + 1, "ends_ms": STARTS + 2}
    assert "was booked for" in at.refuses(Conflict, book("again", series="s", **again))
    check_copy(at)


@pytest.mark.parametrize("more", [{"rule": "daily"}, {"nodes": (), "count": 1}, {"wait_ms": 1}])
def test_a_series_that_books_otherwise_calls_off_what_is_ahead(more: dict[str, Any]) -> None:
    at = booked()
    at.do(series(**more))
    assert at.kinds == ["series_set", "booking_ended", "booking_ended"]
    assert "keeps" not in at.last[0].body
    assert at.state.bookings.series["acme/class/s"].booked == ()
    check_copy(at)


def test_the_same_series_is_foreseen_with_what_it_has_booked_and_without_what_was_cancelled() -> (
    None
):
    at = booked()
    at.do(RegisterNode("n2", cores(8, gpus=1)))
    times = [
        book(f"t{number}", starts_ms=STARTS + number, ends_ms=STARTS + number + 1)
        for number in range(4)
    ]
    for command, kept in ((series(), True), (series(rule="daily"), False)):
        after = series_of(command)
        told = [*foresee_series(at.state, after, times=times, now_ms=at.now_ms)]
        assert [bool(each.nodes) for each in told] == [True, not kept, True, True]


def calendar(**more: Any) -> SetCalendar:
    told: dict[str, Any] = {"nodes": ("n1",), "lead_ms": 100, **more}
    return SetCalendar("c", told.pop("rule", "weekly"), **told)


def planned() -> Desk:
    """Three windows by a calendar, the last of them cancelled."""
    at = desk(1)
    at.do(calendar())
    for number in range(3):
        starts_ms = STARTS + 1_000 * number
        at.do(PlanWindow(f"w{number}", ("n1",), starts_ms, starts_ms + 10, 100, "", "c"))
    at.do(CancelWindow("w2"))
    return at


def windows(at: Desk) -> list[str]:
    return [each.id for each in at.state.maintenance.in_order()]


def test_the_same_calendar_set_again_seals_nothing() -> None:
    at = planned()
    before = at.digest
    at.do(calendar())
    assert at.kinds == []
    assert (at.digest, windows(at)) == (before, ["w0", "w1"])


@pytest.mark.parametrize("more", [{"text": "set again"}, {"ahead_days": 3}])
def test_a_calendar_that_differs_in_its_text_or_days_alone_keeps_what_was_planned(
    more: dict[str, Any],
) -> None:
    at = planned()
    at.do(calendar(**more))
    assert at.kinds == ["calendar_set"]
    found = at.state.maintenance.calendars["c"]
    assert (found.text, found.ahead_days) == (more.get("text", ""), more.get("ahead_days", 28))
    assert (found.planned_ms, windows(at)) == (STARTS + 2_000, ["w0", "w1"])
    starts_ms = STARTS + 2_000
    again = PlanWindow("again", ("n1",), starts_ms, starts_ms + 10, 100, "", "c")
    assert "was planned beyond" in at.refuses(Conflict, again)
    check_copy(at)


@pytest.mark.parametrize(
    "more", [{"rule": "daily"}, {"nodes": (), "labels": ("a=b",)}, {"lead_ms": 1}]
)
def test_a_calendar_that_plans_otherwise_calls_off_what_is_ahead(more: dict[str, Any]) -> None:
    at = planned()
    at.do(calendar(**more))
    assert at.kinds == ["calendar_set", "window_ended", "window_ended"]
    assert at.state.maintenance.calendars["c"].planned_ms == at.now_ms
    check_copy(at)
