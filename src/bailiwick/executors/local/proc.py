"""Which processes live, and which of them are provably a job's.

Rules:

- A process is its id *and* the moment it began, on one boot of the machine; an id alone is
  nothing, it is used again.
- A signal goes through a handle to the process (pidfd) whose moment of birth was compared after
  the handle was opened, so it cannot reach a stranger that took over the id.
- The dead that nobody has reaped yet hold nothing and do not count.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bailiwick.vocab.errors import Damaged

PROC = Path("/proc")

_GONE = (FileNotFoundError, ProcessLookupError, PermissionError)


@dataclass(frozen=True, slots=True)
class Process:
    """One line of the process table."""

    pid: int
    parent: int
    session: int
    state: str
    threads: int
    start_ticks: int

    @property
    def is_alive(self) -> bool:
        """Whether it still runs or waits: not a zombie."""
        return self.state not in "ZXx"


def parse_stat(data: bytes) -> Process:
    """What ``/proc/PID/stat`` says; the name in it may hold blanks and brackets.

    >>> parse_stat(b"7 (a ) b) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0 123 0 0").start_ticks
    123
    """
    head, bracket, tail = data.rpartition(b")")
    words = tail.split()
    try:
        if not bracket:
            raise ValueError("no name in brackets")
        return Process(
            pid=int(head.partition(b" ")[0]),
            parent=int(words[1]),
            session=int(words[3]),
            state=words[0].decode("ascii"),
            threads=int(words[17]),
            start_ticks=int(words[19]),
        )
    except (ValueError, IndexError) as error:
        raise Damaged("a line of the process table", "stat", error) from None


def _read(path: str) -> bytes:
    """A file of the process table, of which one look reads hundreds."""
    with open(path, "rb", buffering=0) as file:
        return file.read()


def load_process(pid: int) -> Process | None:
    """That process, or ``None`` if there is none."""
    try:
        return parse_stat(_read(f"{PROC}/{pid}/stat"))
    except _GONE:
        return None


def load_processes() -> dict[int, Process]:
    """Every process of this machine by its id."""
    found = (load_process(int(name)) for name in os.listdir(PROC) if name.isdigit())
    return {process.pid: process for process in found if process is not None}


def load_boot_id() -> str:
    """The name of this boot: process ids and start times of another one mean nothing."""
    return (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def is_same(pid: int, start_ticks: int) -> bool:
    """Whether the process with that id is the one that began then (it may be a zombie)."""
    process = load_process(pid)
    return process is not None and process.start_ticks == start_ticks


def descendants(processes: dict[int, Process], root: int) -> list[Process]:
    """All that stem from a process, without it."""
    children: dict[int, list[Process]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    pending = [root]
    while pending:  # each process has one parent, so each is met once
        below = children.pop(pending.pop(), [])
        found += below
        pending += [process.pid for process in below]
    return found


def carries(pid: int, mark: bytes) -> bool:
    """Whether a process was started with this entry in its environment (ours to read or not)."""
    try:
        return mark in _read(f"{PROC}/{pid}/environ").split(b"\0")
    except OSError:
        return False


def send(processes: Iterable[Process], number: signal.Signals) -> int:
    """Signal exactly these processes, and none that took over an id; how many were reached."""
    if sys.platform != "linux":  # others have no handles to processes
        raise OSError("only on Linux")
    reached = 0
    for process in processes:
        try:
            handle = os.pidfd_open(process.pid)
        except OSError:
            continue
        try:
            if is_same(process.pid, process.start_ticks):
                signal.pidfd_send_signal(handle, number)
                reached += 1
        except OSError:
            pass  # it ended by itself
        finally:
            os.close(handle)
    return reached


def count_threads(uid: int) -> int:
    """How many threads run as this user: what ``RLIMIT_NPROC`` counts against."""
    total = 0
    for process in load_processes().values():
        try:
            owner = (PROC / str(process.pid)).stat().st_uid
        except OSError:
            continue
        total += process.threads if owner == uid else 0
    return total
