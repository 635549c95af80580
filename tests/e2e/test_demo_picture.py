"""The README's picture of the demo shows what the demo prints.

``WRITE_PICTURES=1 pytest tests/e2e/test_demo_picture.py`` draws it anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from rich.text import Text

from tests.support.demo_picture import COLUMNS, PROMPT, draw, excerpt, printed_by_the_demo, text_of

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "demo.svg"


def test_the_picture_shows_what_the_demo_prints_and_says_what_it_leaves_out() -> None:
    printed = printed_by_the_demo()
    lines = excerpt(printed)
    if os.environ.get("WRITE_PICTURES"):
        PICTURE.write_text(draw(lines), "utf-8")
    shown = text_of(PICTURE)
    assert shown == [line.plain for line in lines]
    _is_the_beginning_and_the_end(
        shown, [Text.from_ansi(line).plain.rstrip() for line in printed.splitlines()]
    )


def _is_the_beginning_and_the_end(shown: list[str], printed: list[str]) -> None:
    """Found without the excerpt's own rules: only a prompt and the note in brackets are added."""
    gap = next(at for at, line in enumerate(shown) if line.startswith("["))
    resumed = gap + shown[gap:].index("") + 1
    before, after = shown[1:gap], shown[resumed:]
    assert shown[0] == PROMPT
    assert before == printed[: len(before)]
    assert after == printed[-len(after) :]
    # The empty line between what was left out and what follows is in the picture.
    left_out = len(printed) - len(before) - len(after) - 1
    assert shown[gap].startswith(f"[{left_out} lines left out here: ")


def test_the_picture_points_nowhere() -> None:
    text = PICTURE.read_text("utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|url\(|@font-face|href|<script", text)


def test_what_is_drawn_can_be_read_back_as_it_was(tmp_path: Path) -> None:
    lines = [Text("a <b> & c"), Text(), Text("  two  ", style="bold").append("three", "cyan")]
    lines.append(Text("█" * COLUMNS))
    drawn = tmp_path / "drawn.svg"
    drawn.write_text(draw(lines), "utf-8")
    assert text_of(drawn) == [line.plain for line in lines]
