"""A program inside a job of this machine, as whoever wanted it holds it: its files, and its door.

The other side is :mod:`bailiwick.executors.local.door`. Rules:

- What comes through the door is not believed beyond its shape; a far end of a terminal is one only
  if it is a terminal.
- All is bounded: how long a start may take, how much is read at a time.
- From any thread: one reads while another writes.
"""

from __future__ import annotations

import array
import contextlib
import errno
import fcntl
import json
import os
import select
import socket
import struct
import sys
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bailiwick.executors.execs import CHUNK_BYTES
from bailiwick.executors.local.door import NAME
from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached, NotFound, Unavailable
from bailiwick.vocab.execs import ExecEnd, ExecOutcome, ExecStream, ExecWish, Terminal

MESSAGE_BYTES_MAX: Final = 4096
LOOK_S: Final = 0.02
DRAIN_CHUNKS: Final = 64
"""Pieces that are read after the program has ended: more than its pipes hold."""

_EXPECTED: Final = {
    "argv[0]": ("command", "a program that can be run there"),
    "cwd": ("cwd", "the job's directory, which is gone"),
    "limits": ("limits", "the job's own limits, which leave no room"),
    "owner": ("job", "a job that can be entered"),
    "attach": ("attach", "a job that waits for somebody to be attached"),
    "terminal": ("terminal", "a terminal, which cannot be had there"),
}


class LocalInside:
    """One program inside a job of this machine."""

    def __init__(
        self, door: socket.socket, source: int, outputs: dict[int, ExecStream], *, is_terminal: bool
    ) -> None:
        self._door, self._source, self._is_terminal = door, source, is_terminal
        self._outputs = outputs
        self._outcome: ExecOutcome | None = None
        self._is_drained = False
        self._lock = threading.Lock()
        self._is_left = False
        for fd in {source, *outputs}:
            os.set_blocking(fd, False)

    @property
    def outcome(self) -> ExecOutcome | None:
        """How it ended, once it has and all that it wrote was read."""
        return self._outcome if self._is_drained else None

    def write(self, data: bytes, *, wait_s: float) -> int:
        """Give it something to read; how much of it there was room for."""
        with self._lock:
            if self._is_left or self._source < 0:
                return len(data)  # nobody reads it any more
            fd = os.dup(self._source)
        try:
            ready = select.poll()
            ready.register(fd, select.POLLOUT)
            if not ready.poll(wait_s * 1000):
                return 0
            return os.write(fd, data[:CHUNK_BYTES])
        except BlockingIOError:
            return 0
        except OSError as error:
            if error.errno in (errno.EPIPE, errno.EIO):
                return len(data)
            raise
        finally:
            os.close(fd)

    def end_input(self) -> None:
        """Nothing more will come; on a terminal that is what Ctrl-D says."""
        if self._is_terminal:
            self.write(b"\x04", wait_s=LOOK_S)
            return
        with self._lock:
            if self._source >= 0:
                os.close(self._source)
            self._source = -1

    def resize(self, terminal: Terminal) -> None:
        """Its terminal has another size now."""
        with self._lock:
            if self._is_terminal and not self._is_left:
                set_size(self._source, terminal)

    def read(self, *, wait_s: float) -> list[tuple[ExecStream, bytes]]:
        """What it wrote; nothing if it wrote nothing for so long."""
        if self._outcome is not None:
            return self._drain()
        ready = select.poll()
        for fd in self._outputs:
            ready.register(fd, select.POLLIN)
        ready.register(self._door, select.POLLIN)
        found: list[tuple[ExecStream, bytes]] = []
        for fd, _ in ready.poll(wait_s * 1000):
            if fd != self._door.fileno():
                found += self._take(fd)
        if not found and select.select([self._door], [], [], 0)[0]:
            self._hear()
        return found

    def leave(self) -> None:
        """End it, if it has not ended."""
        with self._lock:
            if self._is_left:
                return
            self._is_left = True
            self._door.close()
            for fd in {self._source, *self._outputs} - {-1}:
                os.close(fd)
            self._outputs = {}
        if self._outcome is None:
            self._outcome, self._is_drained = ExecOutcome(ExecEnd.ENDED), True

    def _take(self, fd: int) -> list[tuple[ExecStream, bytes]]:
        try:
            data = os.read(fd, CHUNK_BYTES)
        except BlockingIOError:
            return []
        except OSError:
            data = b""  # of a terminal that nobody has open any more
        if data:
            return [(self._outputs[fd], data)]
        stream = self._outputs.pop(fd)
        del stream
        if fd != self._source:
            os.close(fd)
        return []

    def _hear(self) -> None:
        told = hear(self._door)[0]
        code, number = told.get("code"), told.get("signal")
        if not told:
            self._outcome = ExecOutcome(ExecEnd.LOST)
        elif told.get("job_over"):
            self._outcome = ExecOutcome(ExecEnd.JOB_OVER)
        elif isinstance(code, int):
            self._outcome = ExecOutcome(ExecEnd.EXITED, code=code)
        elif isinstance(number, int):
            self._outcome = ExecOutcome(ExecEnd.SIGNALLED, signal=number)

    def _drain(self) -> list[tuple[ExecStream, bytes]]:
        """What is left in the pipes; whoever else has them open is not waited for."""
        found: list[tuple[ExecStream, bytes]] = []
        for fd in list(self._outputs):
            for _ in range(DRAIN_CHUNKS):
                piece = self._take(fd)
                found += piece
                if not piece:
                    break
        self._is_drained = True
        return found


def enter(folder: Path, wish: ExecWish, *, wait_s: float, runs: Callable[[], bool]) -> LocalInside:
    """Have a program started inside the job of this folder, if it runs."""
    until = time.monotonic() + wait_s
    door = _reach(folder, until, runs)
    theirs: list[int] = []
    ours: list[int] = []
    try:
        if wish.terminal is None:
            for is_input in (True, False, False):
                read, write = os.pipe()
                theirs.append(read if is_input else write)
                ours.append(write if is_input else read)
        _send(door, wish, theirs)
        for fd in theirs:
            os.close(fd)
        theirs = []
        ours += _await_begin(door, until, wish)
    except BaseException:
        door.close()
        for fd in (*theirs, *ours):
            os.close(fd)
        raise
    if wish.terminal is not None:
        return LocalInside(door, ours[0], {ours[0]: ExecStream.STDOUT}, is_terminal=True)
    outputs = {ours[1]: ExecStream.STDOUT, ours[2]: ExecStream.STDERR}
    return LocalInside(door, ours[0], outputs, is_terminal=False)


def set_size(fd: int, terminal: Terminal) -> None:
    """Give a terminal its size; whoever runs on it is told by the kernel."""
    size = struct.pack("HHHH", terminal.rows, terminal.columns, 0, 0)
    with contextlib.suppress(OSError):  # it may have ended
        fcntl.ioctl(fd, termios.TIOCSWINSZ, size)


def hear(door: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """One message and the files that came with it; nothing if the door was closed."""
    files = array.array("i")
    flags = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
    try:
        data, parts, _, _ = door.recvmsg(MESSAGE_BYTES_MAX, socket.CMSG_SPACE(4), flags)
    except OSError:
        return {}, []
    for _, kind, piece in parts:
        if kind == socket.SCM_RIGHTS:
            files.frombytes(piece[: len(piece) - len(piece) % files.itemsize])
    try:
        told = json.loads(data) if data else {}
    except ValueError:
        told = {}
    return told if isinstance(told, dict) else {}, list(files)


def _reach(folder: Path, until: float, runs: Callable[[], bool]) -> socket.socket:
    """A connection to the job's door; one that has just begun may not have it yet."""
    if sys.platform != "linux":
        raise Unavailable("the job's door", "only on Linux")
    try:
        at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        raise NotFound("job of lease", folder.name) from None
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        while runs() and time.monotonic() < until:
            with contextlib.suppress(OSError):
                door.connect(f"/proc/self/fd/{at}/{NAME}")
                return door
            time.sleep(LOOK_S)
        why = "cannot be entered" if runs() else "does not run"
        raise Conflict("job of lease", folder.name, why)
    except BaseException:
        door.close()
        raise
    finally:
        os.close(at)


def _send(door: socket.socket, wish: ExecWish, files: list[int]) -> None:
    told: dict[str, Any] = {"argv": list(wish.argv), "terminal": None, "attach": wish.is_attach}
    if wish.copy is not None:
        told["copy"] = {"direction": wish.copy.direction.value, "path": wish.copy.path}
    if wish.connect is not None:
        told["connect"] = {"port": wish.connect.port, "file": wish.connect.file}
    if wish.terminal is not None:
        own = wish.terminal
        told["terminal"] = {"rows": own.rows, "columns": own.columns, "term": own.term}
    parts = []
    if files:
        parts = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))]
    with contextlib.suppress(OSError):  # what is heard then tells why
        door.sendmsg([json.dumps(told).encode()], parts)


def _await_begin(door: socket.socket, until: float, wish: ExecWish) -> list[int]:
    """Wait until the program runs; the far end of its terminal, if it has one."""
    kept: list[int] = []
    try:
        while True:  # bounded by ``until``
            left_s = until - time.monotonic()
            if left_s <= 0 or not select.select([door], [], [], left_s)[0]:
                raise Unavailable("the job's door", "it did not tell whether the program began")
            told, files = hear(door)
            kept += files
            if "began" in told:
                break
            if "fault" in told:
                raise _refusal(told, wish)
            if not told:
                raise Unavailable("the job's door", "it was closed: the job has ended")
        if wish.terminal is not None and (len(kept) != 1 or not os.isatty(kept[0])):
            raise Unavailable("the job's door", "it gave no terminal")
        return kept
    except BaseException:
        for fd in kept:
            os.close(fd)
        raise


def _refusal(told: dict[str, Any], wish: ExecWish) -> InvalidValue | LimitReached:
    from bailiwick.executors.local.door import GUESTS_MAX

    word, number = str(told["fault"]), told.get("errno")
    if word == "limit":
        return LimitReached("programs inside one job", GUESTS_MAX)
    field, expected = _EXPECTED.get(word, _EXPECTED["owner"])
    why = os.strerror(number) if isinstance(number, int) and number else "it was refused"
    value = wish.argv[0] if word == "argv[0]" else "(the job's)"
    return InvalidValue(field, value, f"{expected} ({why})")
