"""What Alloy answers: the states of one history, read strictly from its XML.

Rules:

- Elements and attributes only; a document type or an entity is refused, and size, depth and counts
  are bounded. Nothing else of the document is believed than which atoms are in which relation.
- A history that goes on for ever comes back to one of its states; here it ends with the last.

>>> raw = b'<alloy><instance><sig label="this/Job"><atom label="Job$0"/></sig></instance></alloy>'
>>> read_answer(raw)
({'Job': frozenset({('Job$0',)})},)
"""

from __future__ import annotations

from typing import TypeAlias
from xml.parsers import expat

from bailiwick.vocab.errors import InvalidValue

BYTES_MAX = 16 * 2**20
ELEMENTS_MAX = 400_000
DEPTH_MAX = 12

Relations: TypeAlias = dict[str, frozenset[tuple[str, ...]]]
"""Tuples of atoms by the name of a sig or a field; single atoms of a sig."""


class _Reading:
    """What the parser's calls add up to."""

    def __init__(self) -> None:
        self.states: list[dict[str, set[tuple[str, ...]]]] = []
        self._relation: set[tuple[str, ...]] | None = None
        self._tuple: list[str] | None = None
        self._count = self._depth = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        self._depth += 1
        if self._count > ELEMENTS_MAX or self._depth > DEPTH_MAX:
            raise InvalidValue("Alloy's answer", tag, "fewer elements, and not so deep")
        label = attributes.get("label", "")
        if tag == "instance":
            self.states.append({})
        elif tag in ("sig", "field") and self.states:
            self._relation = self.states[-1].setdefault(label.removeprefix("this/"), set())
        elif tag == "tuple":
            self._tuple = []
        elif tag == "atom" and self._relation is not None:
            if self._tuple is None:
                self._relation.add((label,))
            else:
                self._tuple.append(label)

    def end(self, tag: str) -> None:
        self._depth -= 1
        if tag == "tuple" and self._tuple is not None:
            if self._relation is not None:
                self._relation.add(tuple(self._tuple))
            self._tuple = None
        elif tag in ("sig", "field", "skolem"):
            self._relation = None


def read_answer(raw: bytes) -> tuple[Relations, ...]:
    """The states of the history; :class:`~bailiwick.vocab.errors.InvalidValue` if it is none."""
    if len(raw) > BYTES_MAX:
        raise InvalidValue("Alloy's answer", f"{len(raw)} bytes", f"at most {BYTES_MAX}")
    reading = _Reading()
    parser = expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise InvalidValue("Alloy's answer", "a declaration", "elements and attributes alone")

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        raise InvalidValue("Alloy's answer", str(error), "well-formed XML") from None
    if not reading.states:
        raise InvalidValue("Alloy's answer", "no instance", "at least one")
    return tuple(
        {name: frozenset(rows) for name, rows in state.items()} for state in reading.states
    )
