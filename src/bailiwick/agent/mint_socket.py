"""The socket on which work of this machine asks for tokens: one line in, one line out.

Rules:

- The file lies in the agent's own folder, for the agent's user and group alone; who is to ask is
  put into that group. So the group may go through that folder, and still read nothing in it.
- Who asks is told by the kernel (the number of the process when it connected), never by the caller.
  Once that process is gone nobody is answered: its number may be another's by then.
- Bounded: so many callers at a time and no more, a line of so many bytes, and so many seconds.
- Linux only: no other kernel tells who connected so that it can be held on to.
- A file that a dead agent left is taken over; one that answers is another agent's, and is refused.
"""

from __future__ import annotations

import json
import os
import select
import socket
import stat
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from bailiwick.agent.minting import LINE_BYTES_MAX, fault
from bailiwick.vocab.errors import Conflict, ErrorCode, InvalidValue

SOCKET_MODE: Final = 0o660
CALLERS_MAX: Final = 16
CALLER_S: Final = 5.0
_CREDENTIALS = struct.Struct("3i")
_WAKE_S = 0.5
_REST_MAX = 4

Answer = Callable[[bytes, int], bytes]
"""The answer to a line of the process with that number."""


class MintSocket:
    """Serves until it is closed; ``with`` it."""

    def __init__(self, path: Path, answer: Answer, *, say: Callable[[str], None]) -> None:
        _check_system(path)
        self._path, self._answer, self._say = path, answer, say
        self._stop = threading.Event()
        self._free = threading.BoundedSemaphore(CALLERS_MAX)
        self._pool = ThreadPoolExecutor(CALLERS_MAX, thread_name_prefix="mint")
        self._listener = _listen(path)
        self._thread = threading.Thread(target=self._run, name="mint", daemon=True)

    def __enter__(self) -> MintSocket:
        self._thread.start()
        self._say(f"tokens are minted for work that asks at {self._path}")
        return self

    def __exit__(self, *raised: object) -> None:
        self._stop.set()
        self._thread.join()
        self._pool.shutdown(cancel_futures=True)
        self._listener.close()
        self._path.unlink(missing_ok=True)

    def _run(self) -> None:
        while not self._stop.is_set():  # until it is closed
            try:
                caller, _ = self._listener.accept()
            except TimeoutError:
                continue
            except OSError as error:  # out of descriptors, for instance: that may pass
                self._say(f"a caller for a token could not be heard: {error}")
                self._stop.wait(_WAKE_S)
                continue
            if self._free.acquire(blocking=False):
                self._pool.submit(self._serve, caller)
            else:
                with caller, suppress(OSError):
                    caller.setblocking(False)
                    caller.sendall(_spell(ErrorCode.LIMIT_REACHED, f"{CALLERS_MAX} others ask"))

    def _serve(self, caller: socket.socket) -> None:
        try:
            with caller, _watching(pid := _pid_of(caller)) as watch:
                line = _line(caller, time.monotonic() + CALLER_S)
                if line is None:
                    told = f"wish: expected one line of at most {LINE_BYTES_MAX} bytes"
                    _refuse(caller, _spell(ErrorCode.INVALID_VALUE, told))
                else:
                    _check_there(watch)
                    found = self._answer(line, pid)
                    _check_there(watch)
                    caller.sendall(found)
        except OSError:
            pass  # it hung up, or was too slow
        except Exception as error:
            self._say(f"a token could not be minted, which is a bug: {type(error).__name__}")
        finally:
            self._free.release()


def _check_system(path: Path) -> None:
    if sys.platform != "linux":
        raise InvalidValue("mint socket", str(path), "Linux, whose kernel tells who asks")


def _listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.parent.mkdir(mode=0o710, parents=True, exist_ok=True)
        path.parent.chmod(path.parent.stat().st_mode | stat.S_IXGRP)
        if path.is_socket():
            _take_over(path)
        before = os.umask(0o777 & ~SOCKET_MODE)  # it never exists for others, not for a moment
        try:
            listener.bind(str(path))
        finally:
            os.umask(before)
        listener.listen(CALLERS_MAX)
        listener.settimeout(_WAKE_S)
    except OSError as error:
        listener.close()
        expected = f"a socket we can make there, with a short path ({error})"
        raise InvalidValue("mint socket", str(path), expected) from None
    except Conflict:
        listener.close()
        raise
    return listener


def _take_over(path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(CALLER_S)
        with suppress(ConnectionRefusedError):
            probe.connect(str(path))
            raise Conflict("mint socket", str(path), "another agent serves there")
    path.unlink()


def _pid_of(caller: socket.socket) -> int:
    if sys.platform != "linux":
        raise OSError("only on Linux")
    raw = caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid: int = _CREDENTIALS.unpack(raw)[0]
    return pid


@contextmanager
def _watching(pid: int) -> Iterator[int]:
    """A handle by which it is known whether that process is still there."""
    if sys.platform != "linux":
        raise OSError("only on Linux")
    watch = os.pidfd_open(pid)
    try:
        yield watch
    finally:
        os.close(watch)


def _check_there(watch: int) -> None:
    gone = select.poll()
    gone.register(watch, select.POLLIN)
    if gone.poll(0):
        raise ConnectionAbortedError("who connected is gone, and its number may be another's")


def _line(caller: socket.socket, end_s: float) -> bytes | None:
    """The first line; nothing if it does not end within the bound. Too slow is a timeout."""
    found = b""
    while b"\n" not in found:  # bounded by LINE_BYTES_MAX
        caller.settimeout(max(end_s - time.monotonic(), 0.001))
        some = caller.recv(LINE_BYTES_MAX + 1 - len(found))
        found += some
        if not some or (len(found) > LINE_BYTES_MAX and b"\n" not in found):
            return None
    caller.settimeout(CALLER_S)
    return found.partition(b"\n")[0]


def _refuse(caller: socket.socket, line: bytes) -> None:
    """Say so to a caller who may still be talking: what is not read would break off the answer."""
    with suppress(OSError):
        caller.settimeout(_WAKE_S)
        caller.sendall(line)
        caller.shutdown(socket.SHUT_WR)
        for _ in range(_REST_MAX):
            if not caller.recv(LINE_BYTES_MAX):
                return


def _spell(code: ErrorCode, message: str) -> bytes:
    return json.dumps(fault(code, message)).encode() + b"\n"
