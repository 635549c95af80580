"""Arrays of jobs: which tasks there are, and how many of them may be under way at once.

Rules:

- Spelled as people know it: numbers and ranges with commas between them, a step behind a colon,
  and behind a percent sign how many at once.
- Each index once, in order; bounded in number and in size.

>>> parse_array("0-9:3,20%2")
ArraySpec(indices=(0, 3, 6, 9, 20), limit=2)
>>> str(parse_array("4,1-3"))
'1-4'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from bailiwick.vocab.errors import InvalidValue

TASKS_MAX: Final = 1_000
"""Tasks of one array."""

INDEX_MAX: Final = 999_999
_FIELD: Final = "array"
_TEXT_MAX: Final = 8_000
_PART: Final = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6})(?::([0-9]{1,6}))?)?")
_EXPECTED: Final = "indices such as 0-99, 0-9:3 or 1,4,7, and %10 for ten at once"


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """The tasks of an array; ``limit`` of them at once, or (``None``) all."""

    indices: tuple[int, ...]
    limit: int | None = None

    def __post_init__(self) -> None:
        if not self.indices or len(self.indices) > TASKS_MAX:
            raise InvalidValue(_FIELD, len(self.indices), f"1 to {TASKS_MAX:,} tasks")
        if list(self.indices) != sorted(set(self.indices)):
            raise InvalidValue(_FIELD, self.indices, "each index once, in order")
        if self.indices[0] < 0 or self.indices[-1] > INDEX_MAX:
            raise InvalidValue(_FIELD, self.indices[-1], f"indices from 0 to {INDEX_MAX:,}")
        if self.limit is not None and not 1 <= self.limit <= TASKS_MAX:
            raise InvalidValue(_FIELD, self.limit, f"from %1 to %{TASKS_MAX}")

    def __str__(self) -> str:
        """The same, as short as ranges make it."""
        ranges: list[list[int]] = []
        for index in self.indices:
            if ranges and ranges[-1][1] == index - 1:
                ranges[-1][1] = index
            else:
                ranges.append([index, index])
        text = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)
        return text if self.limit is None else f"{text}%{self.limit}"


def parse_array(text: str) -> ArraySpec:
    """The array that is spelled so."""
    listed, percent, most = text.partition("%")
    if len(text) > _TEXT_MAX or (percent and not re.fullmatch(r"[0-9]{1,6}", most)):
        raise InvalidValue(_FIELD, text[:80], _EXPECTED)
    found: set[int] = set()
    for part in listed.split(","):
        read = _PART.fullmatch(part)
        if read is None:
            raise InvalidValue(_FIELD, part[:80], _EXPECTED)
        first = int(read[1])
        last, step = int(read[2] or first), int(read[3] or 1)
        if last < first or not step:
            raise InvalidValue(_FIELD, part, "a range that goes up, by at least 1")
        # Counted before it is made: a short text may spell a long range.
        if (last - first) // step >= TASKS_MAX:
            raise InvalidValue(_FIELD, part, f"1 to {TASKS_MAX:,} tasks")
        found.update(range(first, last + 1, step))
    return ArraySpec(tuple(sorted(found)), int(most) if percent else None)
