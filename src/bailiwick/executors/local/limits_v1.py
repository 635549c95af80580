"""Control groups of version 1: a job has one for each controller, in hierarchies of their own.

Rules:

- Used only where version 2 is not, and below groups that were delegated to us: each bears systemd's
  mark, or our group of systemd's own hierarchy does.
- Memory, pids and cpu must all be there and writable; half of them is none. Processor time is
  counted too where it can be (cpuacct).
- Version 1 cannot end a group at once: its members are ended one by one, and looked for again.

>>> group_text((Path("/m/a"), Path("/p/a")))
'/m/a:/p/a'
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, TypeAlias

from bailiwick.executors.local.limits import PERIOD_US, Cgroup, find_cgroup, has_mark
from bailiwick.executors.port import LimitedBy, Limits

NEEDED: Final = ("memory", "pids", "cpu")
COUNTED: Final = "cpuacct"
ROOT: Final = Path("/sys/fs/cgroup")
_SYSTEMD: Final = "systemd"

Parent: TypeAlias = Path | tuple[Path, ...]
"""Below what jobs have their groups: one of version 2, or several of version 1."""


@dataclass(frozen=True, slots=True)
class CgroupsV1:
    """The groups that hold one job, one for each controller."""

    paths: tuple[Path, ...]
    limited_by: ClassVar = LimitedBy.CGROUP_V1

    @property
    def text(self) -> str:
        """All of them in one text."""
        return group_text(self.paths)

    def make(self) -> None:
        """Have them exist, and be empty."""
        for path in self.paths:
            path.mkdir(exist_ok=True)
        if self.is_populated():
            raise FileExistsError(f"{self.paths[0]} is in use")

    def apply_limits(self, limits: Limits) -> None:
        """Hold whoever is in them to these."""
        if limits.mem_bytes is not None:
            amount = str(limits.mem_bytes)
            self._write("memory.limit_in_bytes", amount)
            if self._find("memory.memsw.limit_in_bytes") is not None:
                self._write("memory.memsw.limit_in_bytes", amount)  # no swap beyond it
        if limits.cpu_milli is not None:
            quota = max(1000, limits.cpu_milli * PERIOD_US // 1000)
            self._write("cpu.cfs_period_us", str(PERIOD_US))
            self._write("cpu.cfs_quota_us", str(quota))
        if limits.pids_max is not None:
            self._write("pids.max", str(limits.pids_max))

    def kill(self) -> None:
        """End everything that is in them now."""
        if sys.platform != "linux":  # nobody else has control groups
            raise OSError("only on Linux")
        for pid in self._members():
            try:
                handle = os.pidfd_open(pid)
            except OSError:
                continue
            try:
                if pid in self._members():  # and not one that took over the id
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
            except OSError:
                pass  # it ended by itself
            finally:
                os.close(handle)

    def is_populated(self) -> bool:
        """Whether anything lives in them or below them."""
        return bool(self._members())

    def remove(self) -> None:
        """Give them back once they are empty; one that will not go stays, and holds nothing."""
        for path in self.paths:
            Cgroup(path).remove()

    def _members(self) -> set[int]:
        found: set[int] = set()
        for top in self.paths:
            for folder, _, _ in os.walk(top):
                try:
                    text = Path(folder, "cgroup.procs").read_text(encoding="ascii")
                except OSError:
                    continue
                found.update(int(word) for word in text.split())
        return found

    def _find(self, name: str) -> Path | None:
        return next((path / name for path in self.paths if (path / name).exists()), None)

    def _write(self, name: str, text: str) -> None:
        found = self._find(name)
        if found is None:
            raise FileNotFoundError(name)
        fd = os.open(found, os.O_WRONLY)
        try:
            os.write(fd, text.encode("ascii"))
        finally:
            os.close(fd)


JobCgroup: TypeAlias = Cgroup | CgroupsV1


def group_below(parent: Parent, name: str) -> JobCgroup:
    """The group of that name there."""
    if isinstance(parent, Path):
        return Cgroup(parent / name)
    return CgroupsV1(tuple(path / name for path in parent))


def group_named(text: str) -> JobCgroup | None:
    """The group that is written down so; none if none is."""
    if not text:
        return None
    words = text.split(":")
    return Cgroup(Path(text)) if len(words) == 1 else CgroupsV1(tuple(map(Path, words)))


def group_text(paths: Sequence[Path]) -> str:
    """Groups as they are written down."""
    return ":".join(str(path) for path in paths)


def find_parent(named: Path | None) -> Parent | None:
    """Below what jobs may have groups of their own, or ``None`` if that is not permitted."""
    found = find_cgroup(named)
    if found is not None or named is not None:
        return found
    return find_v1(_own_groups())


def find_v1(own: Mapping[str, Path]) -> tuple[Path, ...] | None:
    """Groups below which jobs may have theirs, if all that is needed was delegated."""
    if any(name not in own for name in NEEDED):
        return None
    systemd = own.get(_SYSTEMD)
    is_ours = systemd is not None and has_mark(systemd)
    if not is_ours and not all(has_mark(own[name]) for name in NEEDED):
        return None
    names = (*NEEDED, COUNTED) if COUNTED in own else NEEDED
    parents = tuple(dict.fromkeys(own[name] for name in names))
    return parents if _is_usable(parents) else None


def _own_groups() -> dict[str, Path]:
    """Our own groups of version 1, by controller."""
    found: dict[str, Path] = {}
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return found
    for line in lines:
        _, names, own = line.split(":", 2)
        for name in filter(None, names.split(",")):
            at = ROOT / names.removeprefix("name=") / own.lstrip("/")
            found[name.removeprefix("name=")] = at
    return found


def _is_usable(parents: tuple[Path, ...]) -> bool:
    """Whether groups can be made below all of these; tried, not guessed."""
    trial = CgroupsV1(tuple(path / f"probe-{os.getpid()}" for path in parents))
    try:
        trial.make()
        trial.apply_limits(Limits(mem_bytes=2**30, cpu_milli=1000, pids_max=100))
    except OSError:
        return False
    finally:
        trial.remove()
    return True
