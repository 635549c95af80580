"""Pieces of Markdown that the generated pages share.

Rules:

- What comes from the code is written so that Markdown takes it for text: a bar does not end a cell,
  and no angle bracket becomes an element.
- The code writes names in double backticks, as reStructuredText does; here they are single ones.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from html import escape

_CODE = re.compile(r"(`[^`]*`)")


def text(words: object) -> str:
    """Prose from the code, on one line."""
    plain = " ".join(str(words).split()).replace("``", "`")
    plain = re.sub(r":(?:func|class|mod|meth|data):`~?([^`]+)`", r"`\1`", plain)
    parts = _CODE.split(plain)
    parts[::2] = [part.replace("<", "&lt;").replace("*", "\\*") for part in parts[::2]]
    return "".join(parts)


def code(words: object) -> str:
    """A word as it is typed; a bar in it would end the cell that it stands in."""
    if "|" in str(words):
        return f"<code>{escape(str(words)).replace('|', '&#124;')}</code>"
    return f"`{words}`"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; a cell may hold Markdown."""
    lines = [_row(head), _row(["---"] * len(head)), *(_row(row) for row in rows)]
    return "\n".join(lines)


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def anchor(title: str) -> str:
    """The anchor that a heading gets."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title.lower())).strip("-")


def first_sentence(thing: object) -> str:
    """The first paragraph of a docstring, on one line."""
    return text((inspect.getdoc(thing) or "").partition("\n\n")[0])


def meanings(enum: type[StrEnum]) -> dict[str, str]:
    """What the code says under each word of an enum, for those where it says something."""
    return notes(enum, {member.name: member.value for member in enum})


def notes(owner: type, names: dict[str, str]) -> dict[str, str]:
    """The strings that stand under the assignments of a class, by the name's value here."""
    body = ast.parse(inspect.getsource(owner).lstrip()).body[0]
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for before, after in zip(body.body, body.body[1:], strict=False):
        targets = before.targets if isinstance(before, ast.Assign) else [_target(before)]
        for target in targets:
            if isinstance(target, ast.Name) and target.id in names and _says(after):
                found[names[target.id]] = text(_says(after))
    return found


def _target(node: ast.stmt) -> ast.expr | None:
    return node.target if isinstance(node, ast.AnnAssign) else None


def _says(node: ast.stmt) -> str:
    is_string = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    value = node.value.value if is_string else ""  # type: ignore[attr-defined]
    return value if isinstance(value, str) else ""
