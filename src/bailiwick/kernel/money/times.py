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
from typing import Final, NamedTuple

NEWEST: Final = 256
"""Marks that are never let go."""
MARKS_MAX: Final = 1_024
"""When there are so many, those that are not needed are let go."""
_FINENESS: Final = 16


class RecordMark(NamedTuple):
    """From this record on it was this time."""

    seq: int
    at_ms: int


class RecordTimes:
    """The marks of one journal."""

    def __init__(self, marks: Iterable[RecordMark] = ()) -> None:
        self.marks = list(marks)

    def note(self, seq: int, at_ms: int) -> None:
        """This record is of this time."""
        marks = self.marks
        if marks and marks[-1].at_ms == at_ms:
            return
        marks.append(RecordMark(seq, at_ms))
        if len(marks) > MARKS_MAX:
            self.marks = [*_thinned(marks[:-NEWEST], marks[-NEWEST]), *marks[-NEWEST:]]

    def size_by(self, at_ms: int, *, size: int) -> int:
        """How many records a prefix needs at least, to hold all that are of before this time.

        ``size`` is how many there are, all of which are of before then if none is told to be later.
        """
        least = size
        for mark in reversed(self.marks):
            if mark.at_ms < at_ms:
                break
            least = mark.seq
        return least


def _thinned(marks: list[RecordMark], after: RecordMark) -> list[RecordMark]:
    """Those that stay: the first, where time was set back, and one for each step of age."""
    kept = marks[:1]
    now_ms = after.at_ms
    for mark, following in zip(marks[1:], [*marks[2:], after], strict=True):
        is_set_back = mark.at_ms < kept[-1].at_ms or following.at_ms < mark.at_ms
        age_ms = now_ms - following.at_ms
        if is_set_back or following.at_ms - kept[-1].at_ms > age_ms // _FINENESS:
            kept.append(mark)
    return kept
