"""When records were written, as far as the kernel needs it: to tell which prefix holds a period.

Rules:

- A mark is the number and time of a record whose time is not that of the record before it.
- The newest marks are all kept. Older ones lie apart by at most a sixteenth of their age, so their
  number grows with the logarithm of time and not with the journal.
- What is told of a time is never too few records: where marks were let go, it is told as if all
  records up to the next mark were of before it.
- A time that was set back keeps its mark; only what came after that counts then.

>>> times = RecordTimes()
>>> for seq, at_ms in enumerate((100, 100, 250, 300)):
...     times.note(seq, at_ms)
>>> times.size_by(250, size=4), times.size_by(251, size=4), times.size_by(301, size=4)
(2, 3, 4)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

NEWEST: Final = 256
"""Marks that are never let go."""
MARKS_MAX: Final = 1_024
"""When there are so many, those that are not needed are let go."""
_FINENESS: Final = 16

RecordMark: TypeAlias = tuple[int, int]
"""A record's number, and the time that it was from there on: noted with every decision, so bare."""


class RecordTimes:
    """The marks of one journal."""

    def __init__(self, marks: Iterable[RecordMark] = ()) -> None:
        self.marks = list(marks)

    def note(self, seq: int, at_ms: int) -> None:
        """This record is of this time."""
        marks = self.marks
        if marks and marks[-1][1] == at_ms:
            return
        marks.append((seq, at_ms))
        if len(marks) > MARKS_MAX:
            self.marks = [*_thinned(marks[:-NEWEST], marks[-NEWEST]), *marks[-NEWEST:]]

    def size_by(self, at_ms: int, *, size: int) -> int:
        """How many records a prefix needs at least, to hold all that are of before this time.

        ``size`` is how many there are, all of which are of before then if none is told to be later.
        """
        least = size
        for seq, marked_ms in reversed(self.marks):
            if marked_ms < at_ms:
                break
            least = seq
        return least


def _thinned(marks: list[RecordMark], after: RecordMark) -> list[RecordMark]:
    """Those that stay: the first, where time was set back, and one for each step of age."""
    kept, kept_ms = marks[:1], marks[0][1]
    now_ms = after[1]
    for mark, (_, next_ms) in zip(marks[1:], [*marks[2:], after], strict=True):
        at_ms = mark[1]
        is_needed = next_ms - kept_ms > (now_ms - next_ms) // _FINENESS
        if is_needed or at_ms < kept_ms or next_ms < at_ms:
            kept.append(mark)
            kept_ms = at_ms
    return kept
