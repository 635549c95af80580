"""Room that a job's supervisor keeps back, so that it can tell how the job ended on a full disk.

Loaded by its path from the supervisor, so it imports nothing of Bailiwick. Rules:

- The room is taken before the job begins: files as long as what will be told. Later they are
  written over in place and renamed, which takes no room, and no file that is not there yet.
- Without spares, or where a file system takes room even to write over a file, it is written anew:
  again and again for a bounded time, for a full disk may have room again.
- A file is written whole and durably, or the former one stays.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import time
from typing import Any

_ROOM_BYTES = 4096
_EXITS = 2  # the end of the job itself, and of all that it started
_WRITE_TRIES = 30


def save_atomically(path: str, content: dict[str, Any]) -> None:
    """The whole of it, durable, under that name; or what was there before."""
    scratch = f"{path}.{os.getpid()}.new"
    try:
        _write(scratch, content, os.O_CREAT | os.O_TRUNC)
        _rename(scratch, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(scratch)
        raise


class Spares:
    """Those of one job: for how it ended, and for the mark that its output is cut short."""

    def __init__(self, end: str, mark: str) -> None:
        self._end, self._mark, self._spare_mark = end, mark, f"{mark}.spare"
        self._spare_ends = [f"{end}.spare{number}" for number in range(_EXITS)]
        for path in self._spare_ends:
            _keep_room(path, _ROOM_BYTES)
        _keep_room(self._spare_mark, 0)

    def save_end(self, content: dict[str, Any]) -> None:
        """Write down how the job ended."""
        while self._spare_ends:
            spare = self._spare_ends.pop()
            with contextlib.suppress(OSError):
                _write(spare, content, 0)
                return _rename(spare, self._end)
        for _ in range(_WRITE_TRIES):  # a full disk may have room again
            try:
                return save_atomically(self._end, content)
            except OSError:
                time.sleep(1)
        return None

    def mark_cut(self) -> None:
        """Say that the job printed more than is kept."""
        try:
            os.rename(self._spare_mark, self._mark)
        except OSError:
            with contextlib.suppress(OSError):  # better no mark than no supervisor
                os.close(os.open(self._mark, os.O_WRONLY | os.O_CREAT, 0o600))

    def drop(self) -> None:
        """Give back what was not needed."""
        for path in (*self._spare_ends, self._spare_mark):
            with contextlib.suppress(OSError):
                os.unlink(path)


def _keep_room(path: str, size: int) -> None:
    """A file of that length, if there is room for it."""
    with contextlib.suppress(OSError):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            if sys.platform == "darwin":  # which has no call for it
                os.write(fd, bytes(size))
            elif size:
                os.posix_fallocate(fd, 0, size)
        finally:
            os.close(fd)


def _write(path: str, content: dict[str, Any], how: int) -> None:
    data = json.dumps(content, sort_keys=True).encode()
    fd = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | how, 0o600)
    try:
        if os.write(fd, data) < len(data):  # cut short by a disk that is full now
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.ftruncate(fd, len(data))
        os.fsync(fd)
    finally:
        os.close(fd)


def _rename(scratch: str, path: str) -> None:
    os.rename(scratch, path)
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
