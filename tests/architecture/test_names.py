"""A class name has one meaning; the twins that are left are listed, and the list only shrinks.

Models of the API (``wire``) are left out: one that is named like a value of the domain spells just
that value.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "bailiwick"

SPELLINGS = ("wire/",)

TWINS_BY_COUNT: dict[str, int] = {
    "Checkpoint": 2,
    "Follower": 2,
    "Parts": 2,
    "Refusal": 2,
    "Role": 2,
    # What the library's users match on when they mint and check tokens of leases.
    "Denied": 2,
    "Issued": 2,
    "Refused": 2,
    "Use": 2,
}
"""Names that several modules define, and how many: none may be added, none may grow."""

# File names that say how we speak, where the field has a word that a stranger would search for.
OUR_OWN_WORDS = frozenset(
    ("asked", "asking", "holds", "line", "looks", "past", "placing", "planning", "seen", "standing")
)
STILL_OURS: frozenset[str] = frozenset()
"""Modules that are still called so; it only shrinks."""


def _classes(path: Path) -> list[str]:
    body = ast.parse(path.read_text("utf-8")).body
    names = [node.name for node in body if isinstance(node, ast.ClassDef)]
    return [name for name in names if not name.startswith("_")]


def _twins(homes: dict[str, list[str]]) -> dict[str, int]:
    return {name: len(paths) for name, paths in sorted(homes.items()) if len(paths) > 1}


def test_a_class_name_has_one_meaning() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        where = path.relative_to(PACKAGE).as_posix()
        if not where.startswith(SPELLINGS):
            for name in _classes(path):
                homes[name].append(where)
    found = _twins(homes)
    new = {name: homes[name] for name in found if found[name] > TWINS_BY_COUNT.get(name, 1)}
    assert new == {}, "call it by what tells it from its twin"
    gone = {name for name, count in TWINS_BY_COUNT.items() if found.get(name, 1) < count}
    assert gone == set(), "take it from the list, so that it does not come back"


def test_files_are_called_as_a_stranger_would_search_for_them() -> None:
    ours = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if path.stem in OUR_OWN_WORDS
    }
    assert ours - STILL_OURS == set(), "the field has a word for it"
    assert STILL_OURS - ours == set(), "take it from the list, so that it does not come back"


def test_two_classes_of_one_name_are_noticed() -> None:
    assert _twins({"Plan": ["a.py", "b.py"], "Grant": ["a.py"]}) == {"Plan": 2}
