"""Amounts as people type them: what is spelled is read back, and doubt is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.units import (
    BYTES_MAX,
    SPAN_MS_MAX,
    parse_bytes,
    parse_cores,
    parse_gpus,
    parse_span,
    spell_bytes,
    spell_span,
)


@given(st.integers(0, BYTES_MAX))
def test_bytes_that_are_spelled_are_read_back(count: int) -> None:
    assert parse_bytes("mem", spell_bytes(count)) == count


@given(st.integers(0, 2**12), st.sampled_from(["KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "B"]))
def test_bytes_are_the_number_times_the_unit(count: int, unit: str) -> None:
    powers = {"K": 1, "M": 2, "G": 3, "T": 4}
    base = 1024 if unit.endswith("iB") else 1000
    size = 1 if unit == "B" else base ** powers[unit[0].upper()]
    assert parse_bytes("mem", f"{count}{unit}") == count * size
    assert parse_bytes("mem", f"{count} {unit.lower()}") == count * size


@given(st.integers(0, SPAN_MS_MAX))
def test_a_span_that_is_spelled_is_read_back(ms: int) -> None:
    assert parse_span("ttl", spell_span(ms)) == ms


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("2h", 7_200_000),
        ("1h30m", 5_400_000),
        ("90s", 90_000),
        ("1d 2h", 93_600_000),
        ("250ms", 250),
        ("1m500ms", 60_500),
        (" 0s ", 0),
    ],
)
def test_spans_as_people_write_them(text: str, ms: int) -> None:
    assert parse_span("ttl", text) == ms


@pytest.mark.parametrize("text", ["", "2", "h", "-1h", "30m1h", "1h1h", "1.5h", "2w", "99999999d"])
def test_a_span_in_doubt_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="ttl: expected a length of time"):
        parse_span("ttl", text)


@pytest.mark.parametrize("text", ["", "8", "8G", "16Gi", "-1GiB", "GiB", "1e3B", "8 Gi B", "1.5B"])
def test_bytes_in_doubt_are_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="mem: expected"):
        parse_bytes("mem", text)


def test_the_unit_of_another_tool_is_answered_with_ours() -> None:
    with pytest.raises(InvalidValue, match="expected 16GiB or another unit"):
        parse_bytes("mem", "16Gi")
    with pytest.raises(InvalidValue, match="expected 8GiB or another unit"):
        parse_bytes("mem", "8G")


def test_parts_of_a_unit_are_exact_or_refused() -> None:
    assert parse_bytes("mem", "1.5GiB") == 3 * 2**29
    with pytest.raises(InvalidValue, match="whole number of bytes"):
        parse_bytes("mem", "0.3KiB")
    with pytest.raises(InvalidValue, match="whole number of bytes"):
        parse_bytes("mem", "9999PiB")


@given(st.integers(0, 16))
def test_whole_gpus_are_devices(count: int) -> None:
    assert parse_gpus("gpus", str(count)) == (count, 0)


@given(st.integers(1, 999))
def test_a_share_of_a_gpu_is_milli_of_one(milli: int) -> None:
    assert parse_gpus("gpus", f"0.{milli:03}") == (0, milli)


@pytest.mark.parametrize("text", ["1.5", "17", "-1", "two", "0.0001", "", "1e1"])
def test_gpus_that_cannot_be_had_are_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="whole GPUs"):
        parse_gpus("gpus", text)


@given(st.integers(0, 10**9))
def test_cores_have_three_decimals(milli: int) -> None:
    assert parse_cores("cpus", f"{milli // 1000}.{milli % 1000:03}") == milli


@pytest.mark.parametrize("text", ["", "-1", "1.0001", "many", "1000001"])
def test_cores_that_cannot_be_had_are_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="cores"):
        parse_cores("cpus", text)
