"""The picture of the demo in the README: which lines it shows, and how they are drawn.

- It is made from what the command prints in a terminal of 100 columns, colours and all.
- It shows the beginning and the end; one line in between says what was left out.
- Nothing in the file points anywhere: a reader's own monospace font is used.
- The text can be read back, so that a test can hold it to what the demo prints today.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

COLUMNS = 100
PROMPT = "$ bailiwick demo"
LEFT_OUT_FROM, LEFT_OUT_TO = "On which GPUs", "Why does it wait?"
TITLE = re.compile(r"^(\w[^─]*) ─{10}")
FONT_SIZE, LINE_SIZE = 20, 24.4
"""What rich draws with."""

FONT_WIDTH = 0.602
"""Of one column, as a part of the font's size: what most monospace fonts have."""

THEME = TerminalTheme(
    background=(22, 27, 34),
    foreground=(214, 222, 230),
    # black, red, green, yellow, blue, magenta, cyan, white
    normal=[
        (72, 79, 88),
        (248, 122, 114),
        (86, 196, 110),
        (224, 175, 82),
        (110, 170, 250),
        (196, 152, 250),
        (90, 200, 212),
        (214, 222, 230),
    ],
)

# The names in braces are filled in by rich; a doubled brace is one brace of the file.
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>What bailiwick demo prints</title>
<style>
.{unique_id}-matrix {{
  font: {char_height}px/{line_height}px "DejaVu Sans Mono", Menlo, Consolas, monospace;
}}
.{unique_id}-title {{ font: bold 18px "DejaVu Sans", Helvetica, Arial, sans-serif; }}
{styles}
</style>
{chrome}
<g class="{unique_id}-matrix" transform="translate({terminal_x}, {terminal_y})">
{backgrounds}{matrix}
</g>
</svg>
"""
_ELEMENT = "{http://www.w3.org/2000/svg}"


def printed_by_the_demo() -> str:
    """What a person sees once the command has ended, with the terminal's codes for colours."""
    done = subprocess.run(
        [sys.executable, "-m", "bailiwick.cli.main", "demo", "--quiet"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=240,
        check=True,
        env={
            **{name: value for name, value in os.environ.items() if name != "NO_COLOR"},
            "COLUMNS": str(COLUMNS),
            "FORCE_COLOR": "1",
            "PYTHONIOENCODING": "utf-8",
            "TERM": "xterm-256color",
        },
    )
    return done.stdout


def excerpt(printed: str) -> list[Text]:
    """The lines of the picture: the beginning, what was left out in one line, and the end."""
    lines = [Text.from_ansi(line) for line in printed.splitlines()]
    titles = {found[1]: at for at, line in enumerate(lines) if (found := TITLE.match(line.plain))}
    first, last = titles[LEFT_OUT_FROM], titles[LEFT_OUT_TO]
    names = ", ".join(name for name, at in titles.items() if first <= at < last)
    gap = Text(f"[{last - first - 1} lines left out here: {names}]", style="italic dim")
    shown = [Text(PROMPT), *lines[:first], *gap.wrap(Console(), COLUMNS), Text(), *lines[last:]]
    for line in shown:
        line.rstrip()
    return shown


def draw(lines: list[Text]) -> str:
    """The lines as a picture of a terminal."""
    console = Console(
        file=io.StringIO(),
        width=COLUMNS,
        record=True,
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
    )
    for line in lines:
        console.print(line, no_wrap=True)
    picture = console.export_svg(
        title="bailiwick demo",
        theme=THEME,
        code_format=SVG,
        font_aspect_ratio=FONT_WIDTH,
        unique_id="demo",
    )
    picture = re.sub(r' clip-path="[^"]*"', "", picture)  # no line is cut, so none needs a frame
    picture = re.sub(r"<text [^>]*>\s*</text>", "", picture)  # the ends of lines
    picture = picture.replace("</text>", "</text>\n")
    return "".join(f"{line.strip()}\n" for line in picture.splitlines() if line.strip())


def text_of(path: Path) -> list[str]:
    """The lines that a picture shows, read back from where its words stand."""
    rows: defaultdict[float, list[tuple[float, str]]] = defaultdict(list)
    matrix = ElementTree.parse(path).getroot().find(f"./{_ELEMENT}g[@class='demo-matrix']")
    assert matrix is not None
    for word in matrix.iter(f"{_ELEMENT}text"):
        rows[float(word.attrib["y"])].append((float(word.attrib["x"]), word.text or ""))
    lines: list[str] = []
    for y in sorted(rows):
        lines += [""] * (round((y - FONT_SIZE) / LINE_SIZE) - len(lines))
        line = ""
        for x, said in sorted(rows[y]):
            line = line.ljust(round(x / (FONT_SIZE * FONT_WIDTH))) + said.replace("\xa0", " ")
        lines.append(line.rstrip())
    return lines
