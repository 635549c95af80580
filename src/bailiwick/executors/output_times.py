"""By when how much a job had printed: rows that are written as the output comes, and read later.

It stands alone and imports nothing of Bailiwick: whoever stands beside a job on its machine loads
it by its path.

Rules:

- A row says how much had come by when. In one second there is one row, the last: so what came at
  a time or later is never left out, and at most a second of what came before is told with it.
- There are at most ``ROWS_MAX`` rows. When they are too many, every second one of the older half
  goes: the past is told the less exactly the longer ago it is.
- A clock that was set back does not make what came later earlier.
- A full disk ends the writing, and nothing else: what has no row came after the last one.

>>> rows = [(10, 1_000), (25, 2_900), (30, 7_000)]
>>> [begin_of(rows, at) for at in (0, 1_000, 1_001, 2_900, 7_001)]
[0, 0, 10, 10, 30]
"""

from __future__ import annotations

import os
import struct

NAME = "output.times"
"""The file beside a job's output."""
SLOT_MS = 1_000
ROWS_MAX = 4_096
_ROW = struct.Struct(">QQ")


class OutputTimes:
    """Written by whoever receives what a job prints."""

    def __init__(self, path: str) -> None:
        self._path, self._file = path, -1
        self.rows: list[tuple[int, int]] = []
        self._save()

    def note(self, size: int, at_ms: int) -> None:
        """So many bytes have come by now."""
        if self._file < 0:
            return
        last_ms = self.rows[-1][1] if self.rows else -SLOT_MS
        row = (size, max(at_ms, last_ms))
        if row[1] // SLOT_MS == last_ms // SLOT_MS:
            self.rows[-1] = row
        else:
            self.rows.append(row)
        if len(self.rows) > ROWS_MAX:
            half = ROWS_MAX // 2
            self.rows[:half] = self.rows[1:half:2]
            self._save()
            return
        try:
            os.pwrite(self._file, _ROW.pack(*row), (len(self.rows) - 1) * _ROW.size)
        except OSError:
            self._end()

    def _save(self) -> None:
        """All rows, as a whole: a reader sees those of before, or these."""
        self._end()
        scratch = f"{self._path}.new"
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self._file = os.open(scratch, flags, 0o600)
            os.pwrite(self._file, b"".join(_ROW.pack(*row) for row in self.rows), 0)
            os.rename(scratch, self._path)
        except OSError:
            self._end()

    def _end(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


def load_rows(path: str) -> list[tuple[int, int]] | None:
    """The rows that were written; ``None`` if nobody wrote any down."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        data = os.pread(fd, (ROWS_MAX + 1) * _ROW.size, 0)
    except OSError:
        return None
    finally:
        os.close(fd)
    whole = len(data) - len(data) % _ROW.size
    return [(size, at_ms) for size, at_ms in _ROW.iter_unpack(data[:whole])]


def begin_of(rows: list[tuple[int, int]], since_ms: int) -> int:
    """Where the output begins that came at that time or later."""
    return max((size for size, at_ms in rows if at_ms < since_ms), default=0)
