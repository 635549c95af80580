"""No more of a unit of time than was held: against a count of every millisecond."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.metering.told.bounds import HeldSpan, beyond, held_in, span_of, weight_of

spans = st.lists(
    st.builds(
        lambda weight, start, length: HeldSpan(
            weight, start, None if length is None else start + length
        ),
        *(st.integers(1_000, 9_000), st.integers(0, 40), st.none() | st.integers(0, 30)),
    ),
    max_size=6,
)


@given(spans, st.integers(0, 50), st.integers(1, 30))
def test_what_was_held_is_what_counting_every_millisecond_gives(
    holds: list[HeldSpan], from_ms: int, length: int
) -> None:
    naive = 0
    for now_ms in range(from_ms, from_ms + length):
        for weight, start, end in holds:
            naive += weight if start <= now_ms and (end is None or now_ms < end) else 0
    assert held_in(holds, from_ms=from_ms, to_ms=from_ms + length) == naive


@given(st.sampled_from(["job_second", "gpu_minute", "job_hour"]), st.data())
def test_what_is_not_beyond_is_the_most_that_was_held(unit: str, data: st.DataObject) -> None:
    quantity, held = data.draw(st.integers(0, 99)), data.draw(st.integers(0, 10**11))
    span_ms = {"job_second": 1_000, "gpu_minute": 60_000, "job_hour": 3_600_000}[unit]
    right = max(n for n in range(quantity + 1) if n * span_ms * 1_000 <= held)
    assert quantity - beyond(unit, quantity, held=held) == right


def test_a_count_is_bounded_by_nothing_that_is_held() -> None:
    for unit in ("request", "hour", "seconds", "job_hours", "hour_job"):
        assert span_of(unit) is None
        assert beyond(unit, 10**12, held=0) == 0


def test_a_lease_counts_by_the_most_it_can_work_on_at_once() -> None:
    assert weight_of({}) == weight_of({"cpu_milli": 1, "gpu_milli": 500}) == 1_000
    assert weight_of({"cpu_milli": 64_000, "gpu_milli": 8_000}) == 64_000
    assert weight_of({"cpu_milli": 1_000, "gpu_milli": 8_000}) == 8_000
