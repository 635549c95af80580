"""When output came, against a list of every byte: nothing later is left out, little else told."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.executors import output_times
from bailiwick.executors.output_times import SLOT_MS, OutputTimes, begin_of, load_rows

steps = st.lists(
    st.tuples(st.sampled_from((-500, 0, 1, 300, 999, 1000, 5_000, 90_000)), st.integers(1, 50)),
    max_size=80,
)


def kept(found: list[tuple[int, int]], *, rows_max: int) -> tuple[OutputTimes, list[int]]:
    """The index of these pieces, and when each byte came."""
    output_times.ROWS_MAX, before = rows_max, output_times.ROWS_MAX
    try:
        with tempfile.TemporaryDirectory() as folder:
            times, came = OutputTimes(f"{folder}/x"), list[int]()
            now_ms = 10_000
            for step_ms, count in found:
                now_ms += step_ms
                came += [now_ms] * count
                times.note(len(came), now_ms)
            assert load_rows(f"{folder}/x") == times.rows
            return times, came
    finally:
        output_times.ROWS_MAX = before


@settings(max_examples=300)
@given(steps, st.integers(0, 400_000), st.sampled_from((4, 8, 1_000)))
def test_nothing_that_came_since_is_left_out(
    found: list[tuple[int, int]], since_ms: int, rows_max: int
) -> None:
    times, came = kept(found, rows_max=rows_max)
    begin = begin_of(times.rows, since_ms)
    assert all(at_ms < since_ms for at_ms in came[:begin])
    assert len(times.rows) <= rows_max


@settings(max_examples=300)
@given(steps, st.integers(0, 400_000))
def test_only_a_second_of_what_came_before_is_told_with_it(
    found: list[tuple[int, int]], since_ms: int
) -> None:
    forward = [(max(0, step_ms), count) for step_ms, count in found]
    times, came = kept(forward, rows_max=1_000)
    begin = begin_of(times.rows, since_ms)
    assert all(at_ms >= since_ms - SLOT_MS for at_ms in came[begin:])


def test_a_disk_that_is_full_ends_the_index_and_nothing_else(tmp_path: Path) -> None:
    times = OutputTimes(str(tmp_path / "gone" / "x"))
    times.note(5, 1_000)
    assert load_rows(str(tmp_path / "gone" / "x")) is None
