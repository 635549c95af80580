"""What a job's supervisor does with its control groups: put processes in, and read the counts.

Loaded by its path from the supervisor, so it imports nothing of Bailiwick. Rules:

- A job has one group (version 2) or one for each controller (version 1): their paths are one
  text, with ``:`` between them. Without any nothing is known.
- What the kernel does not tell is left out; nothing here fails because of it.
"""

from __future__ import annotations

import contextlib
import os


def join(cgroup: str, pid: int) -> None:
    """Put a process into all of them."""
    for path in _paths(cgroup):
        with open(os.path.join(path, "cgroup.procs"), "w") as procs:
            procs.write(str(pid))


def killed_for_memory(cgroup: str) -> int:
    """How many processes the kernel has ended because of the groups' limit of memory.

    Without a group who was ended by whom is not known: a SIGKILL alone proves nothing.
    """
    for path in _paths(cgroup):
        for name in ("memory.events", "memory.oom_control"):
            with contextlib.suppress(OSError, ValueError):
                return int(_table(path, name).get("oom_kill", "0"))
    return 0


def counts(cgroup: str) -> dict[str, int]:
    """Processor time and the most memory, as far as the groups tell."""
    found: dict[str, int] = {}
    for path in _paths(cgroup):
        with contextlib.suppress(OSError, ValueError):
            found["cpu_ms"] = int(_table(path, "cpu.stat").get("usage_usec", "")) // 1000
        with contextlib.suppress(OSError, ValueError):
            found["cpu_ms"] = int(_text(path, "cpuacct.usage")) // 1_000_000
        for name in ("memory.peak", "memory.max_usage_in_bytes"):
            with contextlib.suppress(OSError, ValueError):
                found["mem_peak_bytes"] = int(_text(path, name))
    return found


def _paths(cgroup: str) -> list[str]:
    return [path for path in cgroup.split(":") if path]


def _text(path: str, name: str) -> str:
    with open(os.path.join(path, name)) as file:
        return file.read(65536)


def _table(path: str, name: str) -> dict[str, str]:
    lines = [line.split(" ", 1) for line in _text(path, name).splitlines()]
    return {line[0]: line[-1] for line in lines}
