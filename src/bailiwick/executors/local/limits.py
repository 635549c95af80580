"""How a job is held to its limits: by a cgroup of its own where permitted, else by rlimits.

Rules:

- A cgroup is used only below one that was named, or that was delegated to us (systemd's mark
  ``user.delegate`` or ``trusted.delegate``): being able to write somewhere is no permission.
- It must offer cpu, memory and pids and know ``cgroup.kill``; half a cgroup is none.
- Memory by rlimit is ``RLIMIT_DATA``: what a process may write privately. ``RLIMIT_AS`` would
  count the address space that CUDA reserves without using it, and ``RLIMIT_RSS`` does nothing on
  Linux. It holds each process, not their sum.
- ``RLIMIT_NPROC`` counts all threads of the user, so those there already are added to the limit;
  it does not hold root.
- What was asked for and is held by nothing is told, in the words of the request.

>>> plan_rlimits(Limits(mem_bytes=1024, cpu_milli=500), others=0, is_root=False)
((('RLIMIT_CORE', 0), ('RLIMIT_DATA', 1024)), ('cpu_milli',))
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from bailiwick.executors.port import LimitedBy, Limits

CONTROLLERS = frozenset({"cpu", "memory", "pids"})

PERIOD_US = 100_000
_REMOVE_TRIES = 50
_MARKS = ("user.delegate", "trusted.delegate")


@dataclass(frozen=True, slots=True)
class Cgroup:
    """A cgroup that holds one job."""

    path: Path
    limited_by: ClassVar = LimitedBy.CGROUP_V2

    @property
    def text(self) -> str:
        """It as it is written down."""
        return str(self.path)

    def make(self) -> None:
        """Have it exist, and be empty."""
        self.path.mkdir(exist_ok=True)
        if self.is_populated():
            raise FileExistsError(f"{self.path} is in use")

    def apply_limits(self, limits: Limits) -> None:
        """Hold whoever is in it to these."""
        if limits.mem_bytes is not None:
            self._write("memory.max", str(limits.mem_bytes))
            if (self.path / "memory.swap.max").exists():
                self._write("memory.swap.max", "0")
            if (self.path / "memory.oom.group").exists():
                self._write("memory.oom.group", "1")
        if limits.cpu_milli is not None:
            quota = max(1000, limits.cpu_milli * PERIOD_US // 1000)
            self._write("cpu.max", f"{quota} {PERIOD_US}")
        if limits.pids_max is not None:
            self._write("pids.max", str(limits.pids_max))

    def kill(self) -> None:
        """End everything in it and below it, at once."""
        self._write("cgroup.kill", "1")

    def is_populated(self) -> bool:
        """Whether anything lives in it or below it."""
        try:
            words = (self.path / "cgroup.events").read_text(encoding="ascii").split()
        except FileNotFoundError:
            return False
        return "populated" not in words or words[words.index("populated") + 1] != "0"

    def remove(self) -> None:
        """Give it back once it is empty; one that will not go stays, and holds nothing."""
        for _ in range(_REMOVE_TRIES):
            try:
                return self.path.rmdir()
            except FileNotFoundError:
                return None
            except OSError:
                time.sleep(0.01)
        return None

    def _write(self, name: str, text: str) -> None:
        fd = os.open(self.path / name, os.O_WRONLY)
        try:
            os.write(fd, text.encode("ascii"))
        finally:
            os.close(fd)


def find_cgroup(named: Path | None) -> Path | None:
    """A cgroup below which jobs may have their own, or ``None`` if none is permitted."""
    for candidate in [named] if named is not None else _delegated():
        if _is_usable(candidate):
            return candidate
    return None


def plan_rlimits(
    limits: Limits, *, others: int, is_root: bool
) -> tuple[tuple[tuple[str, int], ...], tuple[str, ...]]:
    """The rlimits to set in place of a cgroup, and the limits that these cannot hold."""
    plan, unenforced = list(common_rlimits(limits)), []
    if limits.mem_bytes is not None:
        plan.append(("RLIMIT_DATA", limits.mem_bytes))
    if limits.pids_max is not None:
        plan.append(("RLIMIT_NPROC", others + limits.pids_max))
        if is_root:
            unenforced.append("pids_max")
    if limits.cpu_milli is not None and not limits.cores:
        unenforced.append("cpu_milli")
    return tuple(plan), tuple(unenforced)


def common_rlimits(limits: Limits) -> tuple[tuple[str, int], ...]:
    """What is set with a cgroup too: no core files, and processor time if that was asked."""
    cpu = (("RLIMIT_CPU", limits.cpu_s),) if limits.cpu_s is not None else ()
    return (("RLIMIT_CORE", 0), *cpu)


def _delegated() -> list[Path]:
    """Our own cgroup and the one above, as far as somebody gave them to us."""
    found: list[Path] = []
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
        own = next(line[3:] for line in lines if line.startswith("0::"))
    except (OSError, StopIteration):
        return found
    here = Path("/sys/fs/cgroup") / own.lstrip("/")
    for path in (here, here.parent):
        if path.is_relative_to("/sys/fs/cgroup") and has_mark(path):
            found.append(path)
    return found


def has_mark(path: Path) -> bool:
    """Whether somebody delegated this group to us."""
    if sys.platform != "linux":  # nobody else has control groups
        return False
    for mark in _MARKS:
        try:
            if os.getxattr(path, mark) == b"1":
                return True
        except OSError:
            continue
    return False


def _is_usable(path: Path) -> bool:
    """Whether jobs get all controllers below this cgroup; tried, not guessed."""
    try:
        offered = set((path / "cgroup.controllers").read_text(encoding="ascii").split())
        control = path / "cgroup.subtree_control"
        given = set(control.read_text(encoding="ascii").split())
        if not offered >= CONTROLLERS:
            return False
        if missing := sorted(CONTROLLERS - given):
            control.write_text(" ".join(f"+{name}" for name in missing), encoding="ascii")
        trial = path / f"probe-{os.getpid()}"
        trial.mkdir()
        try:
            return (trial / "cgroup.kill").exists() and (trial / "memory.max").exists()
        finally:
            trial.rmdir()
    except OSError:
        return False
