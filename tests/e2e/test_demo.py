"""``bailiwick demo`` as a person starts it: the command in its own process."""

from __future__ import annotations

import re

import pytest

from bailiwick import PreemptionReason
from tests.support.command_line import run

STYLE = re.compile(r"\x1b\[[0-9;]*m")


def demo(*arguments: str, **settings: str) -> str:
    done = run("demo", *arguments, PYTHONIOENCODING="utf-8", **settings)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def three_days() -> str:
    return demo("--days", "3", "--seed", "7", COLUMNS="100")


def test_three_days_show_all_nine_reasons_and_a_node_that_departed(three_days: str) -> None:
    for reason in PreemptionReason:
        assert reason in three_days
    assert "node_departed" in three_days


def test_a_file_gets_one_line_a_day_and_then_the_report(three_days: str) -> None:
    lines = three_days.splitlines()
    assert [line[:3] for line in lines[:3]] == ["Mon", "Tue", "Wed"]
    assert lines[4].startswith("9 tenants shared 60 nodes and 248 GPUs for 3 days.")


def test_the_report_has_its_sections_in_order(three_days: str) -> None:
    titles = re.findall(r"^(\w[^─\n]*) ─{10}", three_days, re.M)
    assert titles == [
        "Who got what",
        "On which GPUs",
        "GPUs leased over time",
        "What happened",
        "Who was denied, and why",
        "Who evicted whom",
        "What became of the nodes",
        "Why does it wait?",
    ]


def test_colours_are_left_out_when_asked_and_nothing_else_changes() -> None:
    forced = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "80"}
    coloured = demo("--days", "1", "--quiet", **forced)
    # Another process with another order of hashes: the same report all the same.
    plain = demo("--days", "1", "--quiet", NO_COLOR="1", PYTHONHASHSEED="1", **forced)
    assert "\x1b[36m" in coloured
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", plain)
    assert STYLE.sub("", coloured) == STYLE.sub("", plain)
