"""Tables keep what they are told, at any width; times say where they are told."""

from __future__ import annotations

import time
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from bailiwick.cli.shared.screen import FOLD_MIN, Whole, print_table, table_of
from bailiwick.phrases.times import clock

WORD = st.text("abcdefghij0123456789-", min_size=1, max_size=40)
TEXT = st.lists(WORD, max_size=12).map(" ".join)
ROWS = st.lists(st.tuples(WORD, TEXT, WORD), min_size=1, max_size=5)


def printed(rows: list[tuple[str, str, str]], width: int) -> list[str]:
    file = StringIO()
    console = Console(file=file, width=width, highlight=False)
    print_table(console, table_of(("id", "text*", "amount"), rows, numbers=("amount",)))
    return file.getvalue().splitlines()


@given(ROWS, st.integers(10, 200))
def test_no_cell_is_cut_and_none_is_left_away(rows: list[tuple[str, str, str]], width: int) -> None:
    lines = printed(rows, width)
    begins = [line for line in lines[2:] if line[:1].strip()]
    assert [line.split()[0] for line in begins] == [row[0] for row in rows]
    assert [line.split()[-1] for line in begins] == [row[2] for row in rows]
    told = "".join("".join(lines[2:]).split())
    assert len(told) == sum(len(cell.replace(" ", "")) for row in rows for cell in row)


@given(ROWS, st.integers(10, 200))
def test_a_table_is_wider_than_the_screen_only_if_it_must_be(
    rows: list[tuple[str, str, str]], width: int
) -> None:
    widest = [max(len(row[at]) for row in rows) for at in range(3)]
    least = max(widest[0], 2) + min(max(widest[1], 4), FOLD_MIN) + max(widest[2], 6) + 6
    assert max(len(line) for line in printed(rows, width)) <= max(width, least)


def test_a_live_table_is_as_wide_as_the_screen() -> None:
    console = Console(file=StringIO(), width=30)
    table = Whole(table_of(("id", "text*"), [("a" * 36, "some words " * 9)]))
    lines = console.render_lines(table)
    assert {sum(segment.cell_length for segment in line) for line in lines} == {30}


@pytest.mark.parametrize(
    ("zone", "told"),
    [("UTC", "2026-11-15 10:01:06Z"), ("XYZ-1:30", "2026-11-15 11:31:06+01:30")],
)
def test_a_time_is_told_with_its_distance_from_utc(
    zone: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as there:
        there.setenv("TZ", zone)
        time.tzset()
        assert clock(1_794_736_866_000) == told
    time.tzset()
