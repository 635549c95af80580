"""What a page looks like, in so few numbers that fonts and machines do not change them.

A digest has two parts:

- a grid of mean colours, ``COLUMNS`` by ``ROWS`` over the window, each colour with three digits of
  hexadecimal. A letter is far smaller than a cell, so another font moves a cell by a little; a
  panel that is gone, a bar in another colour, an unstyled page, text over text move many by a lot.
- the boxes of landmarks (the frame's parts, headings, panels, tables), in pixels.

The picture is reduced by the browser itself (a canvas in a page of its own), so nothing is decoded
here. Two digests are compared with tolerances: a cell may differ by ``CELL_OFF`` of 15 in each
channel, ``CELLS_OFF`` of all cells may differ by more, and a landmark may move by ``BOX_OFF``
pixels: two lines of text that wrap where they did not. At the lower edge one may
come or go.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final

COLUMNS, ROWS = 64, 40
CELL_OFF, CELLS_OFF = 2, 0.04
BOX_OFF, BOXES_MAX = 40, 40
EDGE: Final = 900 - 2 * BOX_OFF
"""Below it in the window, one wrapped line decides whether a landmark is still in it."""

REDUCE = """async ([picture, columns, rows]) => {
  const image = await createImageBitmap(await (await fetch(picture)).blob());
  const canvas = new OffscreenCanvas(image.width, image.height);
  const pen = canvas.getContext('2d');
  pen.drawImage(image, 0, 0);
  const {data} = pen.getImageData(0, 0, image.width, image.height);
  const lines = [];
  for (let row = 0; row < rows; row += 1) {
    let line = '';
    const [top, bottom] = [row, row + 1].map(at => Math.round((at * image.height) / rows));
    for (let column = 0; column < columns; column += 1) {
      const [left, right] = [column, column + 1].map(at => Math.round(at * image.width / columns));
      const sum = [0, 0, 0];
      for (let y = top; y < bottom; y += 1)
        for (let x = left; x < right; x += 1)
          for (const part of [0, 1, 2]) sum[part] += data[(y * image.width + x) * 4 + part];
      const many = (bottom - top) * (right - left);
      line += sum.map(each => Math.round(each / many / 17).toString(16)).join('');
    }
    lines.push(line);
  }
  return lines;
}"""
LANDMARKS = """most => {
  const found = [];
  const wanted = 'header, aside, main, nav, h1, h2, .panel, table, [role=table], canvas, form';
  for (const each of document.querySelectorAll(wanted)) {
    const box = each.getBoundingClientRect();
    if (box.width === 0 || box.top >= innerHeight || found.length >= most) continue;
    const name = each.getAttribute('role') ?? each.tagName.toLowerCase();
    const wide = /^h[12]$/.test(name) ? 0 : box.width;
    const tall = /^h[12]$/.test(name) ? 0 : Math.min(box.bottom, innerHeight) - box.top;
    found.push([name, ...[box.left, box.top, wide, tall].map(Math.round)]);
  }
  return found;
}"""


@dataclass(frozen=True, slots=True)
class Digest:
    """What a page looks like."""

    cells: list[str]
    boxes: list[list[Any]]

    def told(self) -> dict[str, Any]:
        """As it is kept."""
        return {"cells": self.cells, "boxes": self.boxes}


def digest_of(page: Any, scratch: Any) -> Digest:
    """Of what is in the window now; ``scratch`` is a page under no policy, which does the sums."""
    page.evaluate("() => document.activeElement?.blur()")
    boxes = page.evaluate(LANDMARKS, BOXES_MAX)
    taken = page.screenshot(animations="disabled", caret="hide")
    picture = f"data:image/png;base64,{base64.b64encode(taken).decode()}"
    return Digest(scratch.evaluate(REDUCE, [picture, COLUMNS, ROWS]), boxes)


def differences(kept: Digest, seen: Digest) -> list[str]:
    """What is not as it was, in words; nothing if all is within the tolerance."""
    found = []
    off = _cells_off(kept.cells, seen.cells)
    if len(off) > CELLS_OFF * COLUMNS * ROWS:
        rows = sorted({row for row, _ in off})
        found.append(
            f"{len(off)} of {COLUMNS * ROWS} cells have another colour, rows {rows[0]}-{rows[-1]}"
        )
    return found + _boxes_off(kept.boxes, seen.boxes)


def _boxes_off(kept: list[list[Any]], seen: list[list[Any]]) -> list[str]:
    """The landmarks that moved, or are not in both; at the window's edge one may come or go."""
    names = [[box[0] for box in each] for each in (kept, seen)]
    found, off = [], []
    for word, a, b, c, d in SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        pairs = zip(kept[a:b], seen[c:d], strict=True) if word == "equal" else ()
        for old, new in pairs:
            if any(abs(m - n) > BOX_OFF for m, n in zip(old[1:], new[1:], strict=True)):
                found.append(f"{old[0]} was at {old[1:]}, and is at {new[1:]}")
        off += [] if word == "equal" else [*kept[a:b], *seen[c:d]]
    if any(top < EDGE for _, _, top, *_ in off):
        found.append(f"landmarks were {names[0]}, and are {names[1]}")
    return found


def _cells_off(kept: list[str], seen: list[str]) -> list[tuple[int, int]]:
    """The cells that differ by more than the tolerance."""
    return [
        (row, column)
        for row, (old, new) in enumerate(zip(kept, seen, strict=True))
        for column in range(COLUMNS)
        if any(
            abs(int(old[at], 16) - int(new[at], 16)) > CELL_OFF
            for at in range(3 * column, 3 * column + 3)
        )
    ]
