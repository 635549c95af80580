"""Processes of a member: started so that none outlives it, ended so that none is left.

Rules:

- A daemon is a child in the foreground, and the kernel ends it when the member is gone.
- What a daemon leaves behind (jobs and their keepers outlive their node's daemon by design) becomes
  the member's own child, and is ended with it.
- How a program ended is told to who started it, and to nobody else: of its own the member lets the
  kernel forget none but orphans. A status that another takes reads as success.
- Every wait has an end.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from .home import Home, MemberError

_LIBC = ctypes.CDLL(None, use_errno=True)
_SUBREAPER: Final = 36
_LOOK_S: Final = 0.02
_SWEEP_S: Final = 20.0
OUTPUT_BYTES_MAX: Final = 2**20

_launching = threading.Lock()
_launched: dict[int, subprocess.Popen[bytes]] = {}
"""What this process started itself, by process; guarded by the lock from before it is there."""


def adopt_orphans() -> None:
    """Have what is orphaned below this process become its child."""
    _LIBC.prctl(_SUBREAPER, 1, 0, 0, 0)


def launch(argv: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a program whose end is this process's own to learn."""
    with _launching:
        process = subprocess.Popen(argv, **options)
        _launched[process.pid] = process
        return process


def start(home: Home, name: str, *, argv: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a daemon, with its words in a log of its own."""
    with (home.root / f"log/{name}.out").open("ab") as out:
        return launch(
            # The kernel ends it when the member is gone, however that ended.
            ("setpriv", "--pdeathsig", "KILL", *argv),
            env=home.env,
            cwd=home.root,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )


def stop(process: subprocess.Popen[bytes], *, wait_s: float) -> None:
    """Ask a daemon to end, and end it if it does not."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(wait_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def call(
    home: Home,
    argv: Sequence[str],
    *,
    data: bytes = b"",
    wait_s: float = 30.0,
    is_over: Callable[[], bool] = lambda: False,
    env: Mapping[str, str] = MappingProxyType({}),
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end; one that takes too long, or is not wanted any more, is ended."""
    try:
        process = launch(
            argv,
            env={**home.env, **env},
            cwd=home.root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except FileNotFoundError:
        raise MemberError(f"there is no program {argv[0]} on this machine") from None
    until, told = time.monotonic() + wait_s, data
    while True:  # bounded by ``until``
        try:
            out, err = process.communicate(told, timeout=0.2)
        except subprocess.TimeoutExpired:
            told = b""
            if time.monotonic() > until or is_over():
                process.kill()
            continue
        out, err = out[:OUTPUT_BYTES_MAX], err[:OUTPUT_BYTES_MAX]
        return subprocess.CompletedProcess(argv, process.returncode, out, err)


def descendants(root: int) -> dict[int, str]:
    """All processes below one, and their states."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError):
                words = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                parents[int(entry.name)] = int(words[1]), words[0]
    found: dict[int, str] = {}
    grown = {root}
    while grown:  # each process is found once
        grown = {pid for pid, (parent, _) in parents.items() if parent in grown} - found.keys()
        found |= {pid: parents[pid][1] for pid in grown}
    return found


def reap() -> None:
    """Let the kernel forget orphans that have ended."""
    with _launching:
        for pid, process in list(_launched.items()):
            if process.returncode is not None:
                del _launched[pid]
        found = descendants(os.getpid()).items()
        for pid in [pid for pid, state in found if state == "Z" and pid not in _launched]:
            _finish(pid, is_dead=True)


def _finish(pid: int, *, is_dead: bool) -> None:
    with suppress(OSError):  # it may be gone by now
        if is_dead:
            os.waitpid(pid, os.WNOHANG)
        else:
            os.kill(pid, signal.SIGKILL)


def sweep() -> list[int]:
    """End whatever is left below this process; what could not be ended."""
    until = time.monotonic() + _SWEEP_S
    while time.monotonic() < until:
        found = descendants(os.getpid())
        if not found:
            return []
        for pid, state in found.items():
            _finish(pid, is_dead=state == "Z")
        time.sleep(_LOOK_S)
    return sorted(descendants(os.getpid()))
