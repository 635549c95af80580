"""The gap log says what is so: every test, decision and command that it names is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
KINDS = (
    "Missing primitive in core",
    "Leaky scheduler-specific coupling in core",
    "Missing policy key or permission action",
    "Missing event for operational triage",
    "Missing billing attribution hook",
)


class Gap(NamedTuple):
    """One row of the log."""

    kind: str
    gap: str
    found_by: str
    state: str
    where: str


def read(text: str) -> list[Gap]:
    """Every row, under the heading that it stands below."""
    found, kind = list[Gap](), ""
    for line in text.splitlines():
        if line.startswith("## "):
            kind = line[3:]
        elif line.startswith("| ") and not line.startswith(("| gap |", "| --- |")):
            found.append(Gap(kind, *(cell.strip() for cell in line.strip("|").split("|"))))
    return found


ROWS = read((ROOT / "docs" / "gap-log.md").read_text("utf-8"))


def wrong_in(row: Gap) -> list[str]:
    """What of a row is not so."""
    told = []
    if row.state not in ("open", "closed"):
        told.append(f"state {row.state}")
    for path, name in re.findall(r"`(tests/[^`:]+)::(\w+)`", row.where):
        file = ROOT / path
        if not file.exists() or f"def {name}(" not in file.read_text("utf-8"):
            told.append(f"{path}::{name}")
    for number in re.findall(r"ADR (\d+)", row.where):
        if not [*(ROOT / "docs" / "adr").glob(f"{int(number):04}-*.md")]:
            told.append(f"ADR {number}")
    manual = (ROOT / "docs" / "cli.md").read_text("utf-8")
    for command in re.findall(r"`bailiwick ([a-z -]+)`", row.where):
        if f"| `{command}` |" not in manual:
            told.append(f"bailiwick {command}")
    named = re.search(r"`tests/|ADR \d|`bailiwick ", row.where)
    if row.state == "closed" and not named:
        told.append("closed by nothing")
    return told


def test_every_kind_of_the_guide_has_its_rows_and_there_is_no_other() -> None:
    assert list(dict.fromkeys(row.kind for row in ROWS)) == list(KINDS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.gap[:40])
def test_what_a_row_names_is_there(row: Gap) -> None:
    assert wrong_in(row) == []


def test_what_is_not_there_is_noticed() -> None:
    none = "`tests/architecture/test_gap_log.py::test_none`, ADR 999, `bailiwick no such word`"
    row = Gap(KINDS[0], "a gap", "somebody", "maybe", none)
    assert len(wrong_in(row)) == 4
    assert wrong_in(Gap(KINDS[0], "a gap", "somebody", "closed", "soon")) == ["closed by nothing"]
