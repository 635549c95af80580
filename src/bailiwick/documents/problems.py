"""What is wrong with a document, all of it, each with the place where it stands.

Rules:

- Every problem is told, up to a bound, and not only the first.
- What was built in Python has no lines: its problems name the words that lead to the place.

>>> DocumentProblem(("tasks", "train", "after"), "no task 'prp'", nearest="prep").sentence
"no task 'prp'; did you mean prep?"
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, TypeAlias

from bailiwick.vocab.errors import InvalidValue

PROBLEMS_MAX: Final = 50
NEAR_MAX: Final = 1_000
"""Names that are looked through for one that may have been meant."""

Place: TypeAlias = tuple[str | int, ...]
"""Where something stands in a document: the keys and numbers that lead to it."""


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """One thing that is wrong with a document."""

    place: Place
    text: str
    nearest: str = ""
    """What may have been meant; empty if nothing is near."""
    line: int | None = None
    column: int | None = None

    @property
    def sentence(self) -> str:
        """What is wrong, without the place."""
        return f"{self.text}; did you mean {self.nearest}?" if self.nearest else self.text

    @property
    def told(self) -> str:
        """What is wrong, and where."""
        if self.line is not None:
            return f"line {self.line}, column {self.column}: {self.sentence}"
        return f"{'.'.join(map(str, self.place))}: {self.sentence}" if self.place else self.sentence


class DocumentRefused(InvalidValue):
    """A document that cannot be taken; everything that is wrong with it."""

    what = "document"

    def __init__(self, problems: Iterable[DocumentProblem]) -> None:
        told = sorted(problems, key=lambda each: (each.line or 0, each.column or 0))
        self.problems: Final = tuple(told[:PROBLEMS_MAX])
        super().__init__(self.what, "this one", "no mistakes")
        self.args = ("\n".join(each.told for each in self.problems),)


def nearest_name(found: object, known: Iterable[str]) -> str:
    """The known name that is nearest to what was found; empty if none is near."""
    close = get_close_matches(str(found)[:64], [*known][:NEAR_MAX], 1)
    return close[0] if close else ""
