"""GPU time of processes, as the NVIDIA driver accounts for it (NVML's accounting mode).

Rules:

- No package, no driver, no GPU, accounting switched off: each is told, never an exception. Then
  GPU time is not counted, which is another thing than none. An administrator switches it on with
  ``nvidia-smi --accounting-mode=1``; nothing is switched on here.
- While a process runs the driver tells when its context began, and how long it lasted only once it
  has ended; until then it has lasted from then to now.
- Utilisation is in whole per cents of that time, and the driver's own is low rather than high. So
  computing time is a lower bound.
- A process is its number and when its context began. What was last read of one that ended stays.
- The number of devices and of processes that are asked for is bounded.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from bailiwick.agent.machine.nvml import DEVICES_ASKED_MAX, NvmlSession, open_session
from bailiwick.agent.words import SourceState

PIDS_MAX: Final = 4_096
"""As many as a driver remembers for each device."""
_NUMBER_MAX = 2**53 - 1


@dataclass(frozen=True, slots=True)
class Accounted:
    """What the driver says of one process on one device."""

    index: int
    pid: int
    began_us: int
    lasted_ms: int
    """Nothing while it runs."""
    percent: int
    is_running: bool


@dataclass(frozen=True, slots=True)
class GpuAccounting:
    """One reading: how it went, the devices that do not account, and what the others say."""

    state: SourceState
    off: tuple[int, ...] = ()
    rows: tuple[Accounted, ...] = ()


class NvmlAccounting:
    """Asks the driver through ``pynvml``, or through a module of the same shape."""

    def __init__(self, library: Any = None) -> None:
        self._library = library

    def read(self, pids: Collection[int]) -> GpuAccounting:
        """What the driver accounts for these processes, living or ended."""
        session, why_not = open_session(self._library)
        if session is None:
            return GpuAccounting(SourceState(why_not["state"]))
        try:
            return self._read(session, sorted(set(pids))[:PIDS_MAX])
        finally:
            session.close()

    def _read(self, session: NvmlSession, pids: list[int]) -> GpuAccounting:
        nvml = session.library
        if not session.ask("count", lambda: int(nvml.nvmlDeviceGetCount())):
            return GpuAccounting(SourceState.FAILED)
        count = session.values["count"]
        if count <= 0:
            return GpuAccounting(SourceState.NO_DEVICES)
        off: list[int] = []
        rows: list[Accounted] = []
        for index in range(min(count, DEVICES_ASKED_MAX)):
            found = _device(session, index, pids)
            if found is None:
                off.append(index)
            else:
                rows += found
        state = SourceState.ABSENT if len(off) == count else SourceState.READ
        return GpuAccounting(state, tuple(off), tuple(rows))


def _device(session: NvmlSession, index: int, pids: list[int]) -> list[Accounted] | None:
    """What one device accounts for these processes; nothing at all if it does not account."""
    nvml, values = session.library, session.values
    if not session.ask("handle", lambda: nvml.nvmlDeviceGetHandleByIndex(index)):
        return None
    handle = values["handle"]
    is_read = session.ask("mode", lambda: int(nvml.nvmlDeviceGetAccountingMode(handle)))
    if not is_read or values["mode"] != 1:
        return None
    if not session.ask("pids", lambda: {int(n) for n in nvml.nvmlDeviceGetAccountingPids(handle)}):
        return None
    found = []
    for pid in pids:
        if pid not in values["pids"]:
            continue
        if session.ask("row", partial(nvml.nvmlDeviceGetAccountingStats, handle, pid)):
            row = _judged(index, pid, values["row"])
            if row is not None:
                found.append(row)
    return found


def _judged(index: int, pid: int, raw: Any) -> Accounted | None:
    """A row with numbers that can be true; any other is left out."""
    numbers = [getattr(raw, name, None) for name in ("startTime", "time", "gpuUtilization")]
    if not all(type(each) is int and 0 <= each <= _NUMBER_MAX for each in numbers):
        return None
    began_us, lasted_ms, percent = (each or 0 for each in numbers)
    if percent > 100:  # the driver's word for: not available
        percent = 0
    return Accounted(index, pid, began_us, lasted_ms, percent, bool(getattr(raw, "isRunning", 0)))


@dataclass(frozen=True, slots=True)
class GpuTime:
    """What one lease had of one device."""

    index: int
    active_ms: int
    busy_ms: int
    until_ms: int


class GpuTally:
    """The GPU time of leases, added up over their processes, living and ended."""

    def __init__(self) -> None:
        self._rows: dict[int, dict[tuple[int, int, int], tuple[int, int, int]]] = {}

    def pids(self, lease_id: int) -> set[int]:
        """The processes of a lease that had GPU time."""
        return {pid for _, pid, _ in self._rows.get(lease_id, {})}

    def note(self, lease_id: int, rows: Collection[Accounted], *, now_ms: int) -> None:
        """Take in what was read of a lease's processes."""
        kept = self._rows.setdefault(lease_id, {})
        for row in rows:
            began_ms = row.began_us // 1000
            active_ms = row.lasted_ms
            if row.is_running and not active_ms:
                active_ms = max(0, now_ms - began_ms)
            until_ms = now_ms if row.is_running else began_ms + active_ms
            key = (row.index, row.pid, row.began_us)
            kept[key] = (active_ms, active_ms * row.percent // 100, until_ms)

    def of(self, lease_id: int) -> tuple[GpuTime, ...]:
        """What a lease had, device by device."""
        sums: dict[int, tuple[int, int, int]] = {}
        for (index, _, _), (active_ms, busy_ms, until_ms) in self._rows.get(lease_id, {}).items():
            active, busy, until = sums.get(index, (0, 0, 0))
            sums[index] = active + active_ms, busy + busy_ms, max(until, until_ms)
        return tuple(GpuTime(index, *sums[index]) for index in sorted(sums))

    def forget(self, lease_id: int) -> None:
        """Nothing more comes of this lease."""
        self._rows.pop(lease_id, None)
