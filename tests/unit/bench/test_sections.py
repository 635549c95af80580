"""What ``make bench`` runs: each section is in the manual; cells and upkeep do what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import cells, upkeep
from bench.__main__ import SECTIONS

MANUAL = Path(__file__).resolve().parents[3] / "docs/benchmarks.md"


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_has_a_row_in_the_manual(section: str) -> None:
    rows = [line for line in MANUAL.read_text().splitlines() if line.startswith(f"| `{section}` |")]
    assert len(rows) == 1


def test_each_part_of_a_request_between_planes_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cells, "NODES", 150)  # of eight GPUs, for requests of one each
    found = cells.plane_rates(3, 1_100)  # more than may wait at a time by default
    assert list(found) == ["decide", "offer", "send", "take"]


def test_upkeep_is_measured_with_all_that_is_planned() -> None:
    found = upkeep.run(quick=True)  # no limit refuses what its fleets are filled with
    assert [len(table.rows) for table in found.tables] == [3, 3, 3, 2]
    assert len(found.bars) == len(found.data)
