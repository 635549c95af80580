"""What the kernel counted for the processes of a lease: CPU time and memory.

Rules:

- A control group that is the lease's alone (its name is ``lease-`` and the number) is believed
  before all else: nothing that was in it is missed. Both hierarchies are understood (v1, v2).
- Else the process tree is asked: the time of every living process and of all that each has waited
  for. What nobody waited for is missed: the sum is never too large, it may be too small.
- Memory of processes is what is theirs alone plus their part of what they share, without files:
  a file that is mapped may be dropped by the kernel at any time, so it is no use of memory.
- A process belongs to the lease that its environment names, or that of one it stems from.
- Formats are parsed strictly; a process that ends meanwhile, or may not be read, is passed over.

>>> parse_stat(b"7 (a ) b) S 1 7 7 0 -1 0 0 0 0 0 50 25 100 0 20 0 2 0 123 0 0", hz=100)
ProcessTime(pid=7, parent=1, own_ms=750, waited_ms=1000, start_ticks=123)
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bailiwick.agent.machine.parse import BYTES_MAX, parse_integer
from bailiwick.agent.words import Unreadable
from bailiwick.vocab.values import KIB

FILE_BYTES_MAX: Final = 256 * KIB
PROCESSES_MAX: Final = 65_536
LEASES_MAX: Final = 4_096
MARK: Final = b"BAILIWICK_LEASE_ID="
_COUNT_MAX = 2**63 - 1
_LEASE = re.compile(rb"[1-9][0-9]{0,15}\Z")
_GROUP = re.compile(r"lease-([1-9][0-9]{0,15})\Z", re.ASCII)
_ROLLUP = re.compile(rb"^(Pss_Anon|SwapPss): +([0-9]{1,15}) kB$", re.MULTILINE)
_CPU_HOMES_V1 = ("cpuacct", "cpu,cpuacct", "cpuacct,cpu")


@dataclass(frozen=True, slots=True)
class ProcessTime:
    """One process: how long it computed, and all that it has waited for together."""

    pid: int
    parent: int
    own_ms: int
    waited_ms: int
    start_ticks: int

    @property
    def cpu_ms(self) -> int:
        """Both."""
        return self.own_ms + self.waited_ms


@dataclass(frozen=True, slots=True)
class Counted:
    """What was counted for one lease so far; ``None`` where nobody counts it."""

    cpu_ms: int
    mem_bytes: int | None
    from_ms: int
    pids: tuple[int, ...]


def parse_stat(data: bytes, *, hz: int) -> ProcessTime:
    """What ``/proc/PID/stat`` says; the name in it may hold blanks, brackets and any byte."""
    head, bracket, tail = data.rpartition(b")")
    words = tail.split()
    try:
        if not bracket:
            raise ValueError("no name in brackets")
        times = [int(word) for word in words[11:15]]
        found = ProcessTime(
            int(head.partition(b" ")[0]),
            int(words[1]),
            sum(times[:2]) * 1000 // hz,
            sum(times[2:]) * 1000 // hz,
            int(words[19]),
        )
    except (ValueError, IndexError):
        raise Unreadable("stat", data[:80], "a line of the process table") from None
    if min(times) < 0 or found.cpu_ms > _COUNT_MAX:
        raise Unreadable("stat", data[:80], "times that can be")
    return found


class Machine:
    """The process table and the control groups below a root, ``/`` unless a test says otherwise."""

    def __init__(self, root: Path = Path("/"), *, hz: int | None = None) -> None:
        self._proc, self._groups = root / "proc", root / "sys/fs/cgroup"
        self._hz = os.sysconf("SC_CLK_TCK") if hz is None else hz

    def processes(self) -> dict[int, ProcessTime]:
        """Every process by its number."""
        names = [name for name in os.listdir(self._proc) if name.isdecimal() and name.isascii()]
        if len(names) > PROCESSES_MAX:
            raise Unreadable("proc", len(names), f"at most {PROCESSES_MAX} processes")
        found: dict[int, ProcessTime] = {}
        for name in names:
            data = self._read(self._proc / name / "stat")
            if data:
                found[int(name)] = parse_stat(data, hz=self._hz)
        return found

    def lease_of(self, pid: int) -> int | None:
        """The lease that a process was started under, as far as its environment tells us."""
        for entry in self._read(self._proc / str(pid) / "environ").split(b"\0"):
            if entry.startswith(MARK):
                number = entry.removeprefix(MARK)
                return int(number) if _LEASE.match(number) else None
        return None

    def work_of(self, pid: int) -> int | None:
        """The lease that a process works for: by its control group, which it cannot choose.

        Only where that is no lease's, by what its environment says.
        """
        text = self._read(self._proc / str(pid) / "cgroup").decode("utf-8", "replace")
        parts = [part for line in text.splitlines() for part in line.split(":", 2)[-1].split("/")]
        grouped = {int(match[1]) for match in map(_GROUP.match, parts) if match}
        if len(grouped) > 1:
            return None  # of two leases is of none
        return grouped.pop() if grouped else self.lease_of(pid)

    def memory_of(self, pids: Iterable[int]) -> int | None:
        """What these processes have of the machine's memory; ``None`` if none of them tells."""
        told = [self._read(self._proc / str(pid) / "smaps_rollup") for pid in pids]
        parts = [dict(_ROLLUP.findall(text)) for text in told]
        known = [each for each in parts if b"Pss_Anon" in each]
        if not known:
            return None
        return sum(int(kib) for each in known for kib in each.values()) * KIB

    def began_ms(self, start_ticks: int, *, now_ms: int) -> int:
        """When a process began, on the clock that told ``now_ms``."""
        text = self._read(self._proc / "uptime").partition(b" ")[0].decode("ascii", "replace")
        seconds, dot, part = text.partition(".")
        if not dot or len(part) != 2:
            raise Unreadable("proc/uptime", text, "seconds with two decimals")
        up_ms = parse_integer("proc/uptime", seconds + part, low=0, high=10**14) * 10
        return max(0, now_ms - max(0, up_ms - start_ticks * 1000 // self._hz))

    def group_of(self, pid: int, lease_id: int) -> dict[str, Path]:
        """The lease's own control groups, by controller (``""``: the unified hierarchy)."""
        text = self._read(self._proc / str(pid) / "cgroup").decode("utf-8", "replace")
        found: dict[str, Path] = {}
        for line in text.splitlines():
            _, _, rest = line.partition(":")
            controllers, _, path = rest.partition(":")
            parts = [part for part in path.split("/") if part]
            own = [n for n, part in enumerate(parts) if _is_group(part, lease_id)]
            if not own or ".." in parts:
                continue
            inside = "/".join(parts[: own[0] + 1])  # a job may have made groups of its own below
            for controller in controllers.split(","):
                homes = _CPU_HOMES_V1 if controller == "cpuacct" else (controller,)
                folders = [self._groups / home / inside for home in homes]
                found[controller] = next((f for f in folders if f.is_dir()), folders[0])
        return found

    def read_group(self, folders: Mapping[str, Path]) -> tuple[int | None, int | None]:
        """CPU milliseconds and the most memory of a group; ``None`` for what is not told."""
        unified = folders.get("")
        if unified is not None and (text := self._read(unified / "cpu.stat")):
            return _usage_v2(text), self._number(unified / "memory.peak")
        cpu_ns, mem = None, None
        if "cpuacct" in folders:
            cpu_ns = self._number(folders["cpuacct"] / "cpuacct.usage")
        if "memory" in folders:
            mem = self._number(folders["memory"] / "memory.max_usage_in_bytes")
        return None if cpu_ns is None else cpu_ns // 1_000_000, mem

    def _number(self, path: Path) -> int | None:
        text = self._read(path).decode("ascii", "replace")
        return parse_integer(path.name, text, low=0, high=_COUNT_MAX) if text else None

    def _read(self, path: Path) -> bytes:
        """What stands in a file of the kernel; nothing if it is gone or not ours to read."""
        try:
            with path.open("rb") as file:
                return file.read(FILE_BYTES_MAX)
        except OSError:
            return b""


def _is_group(name: str, lease_id: int) -> bool:
    match = _GROUP.match(name)
    return match is not None and int(match[1]) == lease_id


def _usage_v2(text: bytes) -> int:
    for line in text.splitlines():
        name, _, number = line.partition(b" ")
        if name == b"usage_usec":
            return parse_integer("cpu.stat", number.decode(), low=0, high=_COUNT_MAX) // 1000
    raise Unreadable("cpu.stat", text[:80], "a line with usage_usec")


def count_leases(machine: Machine, *, now_ms: int) -> dict[int, Counted]:
    """What was counted for every lease that has a process here which we may look at."""
    table = machine.processes()
    owners = _owners(table, {pid: machine.lease_of(pid) for pid in table})
    leases: dict[int, list[ProcessTime]] = {}
    for pid, lease_id in owners.items():
        if lease_id in leases or len(leases) < LEASES_MAX:
            leases.setdefault(lease_id, []).append(table[pid])
    return {
        lease_id: count_processes(machine, members, lease_id=lease_id, now_ms=now_ms)
        for lease_id, members in sorted(leases.items())
    }


def count_processes(
    machine: Machine,
    members: list[ProcessTime],
    *,
    lease_id: int,
    now_ms: int,
    waited_ms: int = 0,
) -> Counted:
    """What was counted for these processes of one lease, by its group if it has one.

    ``waited_ms`` is what one above them, which is not the lease's own, has waited for.
    """
    pids = tuple(sorted(each.pid for each in members))
    began = min((each.start_ticks for each in members), default=0)
    from_ms = machine.began_ms(began, now_ms=now_ms) if members else now_ms
    group = machine.group_of(pids[0], lease_id) if pids else {}
    cpu_ms, mem_bytes = machine.read_group(group)
    if cpu_ms is None:
        cpu_ms = waited_ms + sum(each.cpu_ms for each in members)
    if mem_bytes is None:
        mem_bytes = machine.memory_of(pids)
    if mem_bytes is not None:
        mem_bytes = min(mem_bytes, BYTES_MAX)
    return Counted(min(cpu_ms, BYTES_MAX), mem_bytes, from_ms, pids)


def _owners(table: Mapping[int, ProcessTime], marked: Mapping[int, int | None]) -> dict[int, int]:
    """The lease of each process: its own mark, or that of the nearest one above with a mark."""
    found: dict[int, int] = {}
    for pid in table:
        above, seen = pid, set()
        while above in table and above not in seen:  # upwards; the table may change meanwhile
            seen.add(above)
            lease_id = marked.get(above)
            if lease_id is not None:
                found[pid] = lease_id
                break
            above = table[above].parent
    return found


def descendants(table: Mapping[int, ProcessTime], root: int) -> list[ProcessTime]:
    """All that stem from a process, without it."""
    children: dict[int, list[ProcessTime]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process)
    found: list[ProcessTime] = []
    pending = [root]
    while pending:  # each process has one parent, so each is met once
        below = children.pop(pending.pop(), [])
        found += below
        pending += [process.pid for process in below]
    return found
