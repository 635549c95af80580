"""Counters: one spelling, strict reading, and a merge that nothing can confuse."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.metering.counters import (
    LINE_BYTES_MAX,
    Counter,
    GpuCount,
    counter_of,
    merge_counters,
    parse_counter,
    spell_counter,
)
from bailiwick.vocab.errors import InvalidValue

numbers = st.integers(0, 10**6)
maybe = st.none() | numbers


@st.composite
def counters(draw: st.DrawFn) -> Counter:
    from_ms, span, more = draw(numbers), draw(numbers), draw(numbers)
    to_ms = draw(st.sampled_from([None, from_ms + span]))
    indices = sorted(draw(st.sets(st.integers(0, 3))))
    gpus = tuple(GpuCount(i, draw(numbers), draw(numbers), draw(numbers)) for i in indices)
    at_ms = from_ms + span + more
    return Counter(
        7, "n", at_ms, from_ms, to_ms, draw(maybe), draw(maybe), gpu_ms=draw(maybe), gpus=gpus
    )


@given(counters())
def test_what_is_spelled_is_read_again_as_it_was(counter: Counter) -> None:
    assert parse_counter(spell_counter(counter)) == counter


@given(counters(), counters(), counters())
def test_merging_does_not_depend_on_the_order_nor_on_repeats(
    one: Counter, two: Counter, three: Counter
) -> None:
    found = {merge_counters(merge_counters(a, b), c) for a, b, c in permutations((one, two, three))}
    assert len(found) == 1
    (whole,) = found
    assert merge_counters(whole, two) == whole
    assert merge_counters(one, one) == one


@given(counters(), counters())
def test_merging_loses_nothing_and_adds_nothing(one: Counter, two: Counter) -> None:
    whole = merge_counters(one, two)
    for name in ("cpu_ms", "mem_peak_bytes", "gpu_ms"):
        told = [v for v in (getattr(one, name), getattr(two, name)) if v is not None]
        assert getattr(whole, name) == max(told, default=None)
    assert {gpu.index for gpu in whole.gpus} == {gpu.index for gpu in (*one.gpus, *two.gpus)}


def test_what_runs_again_after_it_was_said_to_be_over_is_not_over() -> None:
    over = Counter(7, "n", 20, 10, to_ms=20, cpu_ms=3)
    again = Counter(7, "n", 30, 10, cpu_ms=4)
    assert merge_counters(over, again).to_ms is None
    assert merge_counters(again, replace(over, at_ms=31)).to_ms == 20


def test_counters_of_two_leases_or_nodes_are_never_added_up() -> None:
    one = Counter(7, "n", 20, 10)
    for other in (Counter(8, "n", 20, 10), Counter(7, "m", 20, 10)):
        with pytest.raises(InvalidValue):
            merge_counters(one, other)


GOOD: dict[str, Any] = {"lease_id": 7, "node": "n", "at_ms": 9, "from_ms": 3}
GPU = {"index": 0, "active_ms": 1, "busy_ms": 1, "until_ms": 9}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"lease_id": 0}, "lease_id"),
        ({"lease_id": True}, "lease_id"),
        ({"lease_id": 2**53}, "lease_id"),
        ({"node": "a/b"}, "node"),
        ({"at_ms": -1}, "at_ms"),
        ({"from_ms": 10}, "from_ms"),
        ({"to_ms": 2}, "to_ms"),
        ({"to_ms": 10}, "to_ms"),
        ({"cpu_ms": 1.5}, "cpu_ms"),
        ({"cpu_ms": "1"}, "cpu_ms"),
        ({"mem_peak_bytes": -1}, "mem_peak_bytes"),
        ({"cpu": 1}, "counter"),
        ({"gpus": {}}, "gpus"),
        ({"gpus": [GPU] * 65}, "gpus"),
        ({"gpus": [GPU, GPU]}, "gpus"),
        ({"gpus": [{**GPU, "index": 64}]}, "gpus.index"),
        ({"gpus": [{"index": 0}]}, "gpus"),
        ({"gpus": [7]}, "gpus"),
    ],
)
def test_what_cannot_be_a_counter_is_refused_by_its_field(
    change: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidValue) as raised:
        counter_of(GOOD | change)
    assert raised.value.field == field


@pytest.mark.parametrize("line", [b"", b"[]", b"{", b"\xff", b"7", b"[" * 10_000])
def test_a_line_that_is_none_is_refused_with_its_place(line: bytes) -> None:
    with pytest.raises(InvalidValue, match="line 3"):
        parse_counter(line, where="line 3")


def test_a_line_is_bounded() -> None:
    line = json.dumps(GOOD).encode() + b" " * LINE_BYTES_MAX
    with pytest.raises(InvalidValue, match="at most"):
        parse_counter(line)


@pytest.mark.parametrize("name", ["lease_id", "node", "at_ms", "from_ms"])
def test_what_a_counter_needs_must_be_there(name: str) -> None:
    plain = {key: value for key, value in GOOD.items() if key != name}
    with pytest.raises(InvalidValue, match=name):
        counter_of(plain)
