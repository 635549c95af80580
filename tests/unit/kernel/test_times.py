"""Which prefix of a journal holds a period: never told too short, and not much too long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.kernel.money import times as timing
from bailiwick.kernel.money.times import RecordTimes

steps = st.lists(
    st.one_of(st.just(0), st.integers(0, 3), st.integers(0, 10**7)), min_size=1, max_size=400
)


@pytest.fixture(autouse=True, params=[(4, 12), (16, 200)])
def few_marks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    newest, most = request.param
    monkeypatch.setattr(timing, "NEWEST", newest)
    monkeypatch.setattr(timing, "MARKS_MAX", most)


def noted(times: list[int]) -> RecordTimes:
    found = RecordTimes()
    for seq, at_ms in enumerate(times):
        found.note(seq, at_ms)
    return found


def naive_size(times: list[int], at_ms: int) -> int:
    """One more than the last record of before this time."""
    return max((seq + 1 for seq, each in enumerate(times) if each < at_ms), default=0)


@given(steps, st.data())
def test_a_prefix_is_never_told_too_short_and_is_too_long_by_a_sixteenth_of_its_age(
    steps: list[int], data: st.DataObject
) -> None:
    times, clock = [], 0
    for step in steps:
        clock += step
        times.append(clock)
    found = noted(times)
    for _ in range(20):
        at_ms = data.draw(st.one_of(st.sampled_from(times), st.integers(0, clock + 1)))
        least = found.size_by(at_ms, size=len(times))
        assert least >= naive_size(times, at_ms)
        assert least <= naive_size(times, at_ms + max(0, clock - at_ms) // 16)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=120), st.integers(0, 60))
def test_where_time_was_set_back_only_what_came_after_it_counts(
    times: list[int], at_ms: int
) -> None:
    assert noted(times).size_by(at_ms, size=len(times)) >= naive_size(times, at_ms)


@given(steps)
def test_the_newest_moments_are_told_exactly(steps: list[int]) -> None:
    times, clock = [], 0
    for step in steps:
        clock += step
        times.append(clock)
    found = noted(times)
    for at_ms in sorted(set(times))[-timing.NEWEST :]:
        assert found.size_by(at_ms, size=len(times)) == naive_size(times, at_ms)


def test_marks_do_not_grow_with_the_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    found, clock, most = RecordTimes(), 0, 0
    for seq in range(50_000):
        clock += 1 + (seq * 2_654_435_761 >> 7) % 90_000
        found.note(seq, clock)
        most = max(most, len(found.marks))
    assert most == timing.MARKS_MAX
    assert len(found.marks) > timing.NEWEST
