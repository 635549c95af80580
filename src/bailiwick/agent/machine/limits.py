"""What a control group leaves this process of the machine: CPU time and memory.

Rules:

- The narrowest limit on the way from the process's own group up to the root holds.
- Both hierarchies are understood: the unified one (v2) and the older one per resource (v1).
- Inside a container the group's own folder may not be visible: then the root of what is mounted
  holds, which is the container's group there.

>>> from bailiwick.agent.machine.files import RecordedFiles
>>> texts = {"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "150000 100000\\n"}
>>> read_limits(RecordedFiles(texts, {})).cpu_milli
1500
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bailiwick.agent.machine.files import MachineFiles
from bailiwick.agent.machine.parse import BYTES_MAX, parse_integer
from bailiwick.agent.words import SourceState, Unreadable
from bailiwick.vocab.values import MILLI

DEPTH_MAX = 32
_ROOT = "sys/fs/cgroup"
_COUNT_MAX = 2**64 - 1
_PERIOD_US_MAX = 10_000_000
_CPU_HOMES_V1 = ("cpu", "cpu,cpuacct", "cpuacct,cpu")


@dataclass(frozen=True, slots=True)
class MachineLimits:
    """The narrowest limits found; ``None`` where there is none."""

    cpu_milli: int | None
    mem_bytes: int | None
    state: SourceState


def read_limits(files: MachineFiles) -> MachineLimits:
    """What the control groups of this process leave it."""
    try:
        groups = _groups(files.text("proc/self/cgroup"))
        if not groups:
            return MachineLimits(None, None, SourceState.ABSENT)
        cpu = [*_found(files, _ROOT, groups.get("", "/"), read=_cpu_v2)]
        mem = [*_found(files, _ROOT, groups.get("", "/"), read=_mem_v2)]
        for home in _CPU_HOMES_V1:
            cpu += _found(files, f"{_ROOT}/{home}", groups.get("cpu", "/"), read=_cpu_v1)
        mem += _found(files, f"{_ROOT}/memory", groups.get("memory", "/"), read=_mem_v1)
    except Unreadable:
        return MachineLimits(None, None, SourceState.MALFORMED)
    state = SourceState.READ if cpu or mem else SourceState.ABSENT
    return MachineLimits(_narrowest(cpu), _narrowest(mem), state)


def _narrowest(found: list[int | None]) -> int | None:
    return min((limit for limit in found if limit is not None), default=None)


def _groups(text: str | None) -> dict[str, str]:
    """The process's group for each controller; the unified hierarchy has the name ``""``."""
    groups: dict[str, str] = {}
    for line in (text or "").splitlines():
        parts = line.split(":", 2)
        if len(parts) != 3 or not parts[2].startswith("/"):
            raise Unreadable("proc/self/cgroup", line, "a line like 0::/user.slice")
        for controller in parts[1].split(","):
            groups[controller] = parts[2]
    return groups


Reader = Callable[[MachineFiles, str], "tuple[bool, int | None]"]


def _found(files: MachineFiles, root: str, group: str, *, read: Reader) -> Iterator[int | None]:
    """What each group says, from the own one up; nothing for one that has no such file."""
    parts = [part for part in group.split("/") if part]
    if len(parts) > DEPTH_MAX or ".." in parts:
        parts = []  # a group outside of what this process can see: only the root is its own
    for depth in range(len(parts), -1, -1):
        there, limit = read(files, "/".join([root, *parts[:depth]]))
        if there:
            yield limit


def _cpu_v2(files: MachineFiles, folder: str) -> tuple[bool, int | None]:
    text = files.text(f"{folder}/cpu.max")
    if text is None:
        return False, None
    words = text.split()
    if len(words) != 2:
        raise Unreadable(f"{folder}/cpu.max", text, "two words like: max 100000")
    if words[0] == "max":
        return True, None
    return True, _share(f"{folder}/cpu.max", words[0], period=words[1])


def _cpu_v1(files: MachineFiles, folder: str) -> tuple[bool, int | None]:
    quota = files.text(f"{folder}/cpu.cfs_quota_us")
    period = files.text(f"{folder}/cpu.cfs_period_us")
    if quota is None or period is None:
        return False, None
    if quota.strip() == "-1":
        return True, None
    return True, _share(f"{folder}/cpu.cfs_quota_us", quota, period=period)


def _share(field: str, quota: str, *, period: str) -> int:
    whole = parse_integer(field, quota, low=1, high=_COUNT_MAX) * MILLI
    return max(1, whole // parse_integer(field, period, low=1, high=_PERIOD_US_MAX))


def _mem_v2(files: MachineFiles, folder: str) -> tuple[bool, int | None]:
    text = files.text(f"{folder}/memory.max")
    if text is None:
        return False, None
    if text.strip() == "max":
        return True, None
    return True, _bytes(f"{folder}/memory.max", text)


def _mem_v1(files: MachineFiles, folder: str) -> tuple[bool, int | None]:
    text = files.text(f"{folder}/memory.limit_in_bytes")
    if text is None:
        return False, None
    return True, _bytes(f"{folder}/memory.limit_in_bytes", text)


def _bytes(field: str, text: str) -> int | None:
    """A limit in bytes; the older hierarchy says "none" with a number beyond any memory."""
    limit = parse_integer(field, text, low=0, high=_COUNT_MAX)
    return limit if limit <= BYTES_MAX else None
