"""The machine's own numbers through psutil, as plain values: nothing is judged here.

Rules:

- A CPU counts only if this process may run on it (its affinity, which a container narrows).
- Block storage is what is free for ordinary users under one path.
"""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

from bailiwick.vocab.errors import InvalidValue, NotFound

Plain = dict[str, Any]


def read_host(block_path: Path) -> Plain:
    """Names, CPUs, memory and free block storage of this machine."""
    try:
        import psutil
    except ImportError:
        hint = "install it with: pip install 'bailiwick[agent]'"
        raise NotFound("Python package", "psutil", hint=hint) from None
    try:
        free = psutil.disk_usage(str(block_path)).free
    except (OSError, ValueError) as error:
        expected = f"a folder we can look at ({error})"
        raise InvalidValue("block path", str(block_path), expected) from None
    process = psutil.Process()
    logical = psutil.cpu_count() or 1
    allowed = process.cpu_affinity() if hasattr(process, "cpu_affinity") else range(logical)
    return {
        "name": platform.node(),
        "system": platform.system(),
        "kernel": platform.release(),
        "arch": platform.machine(),
        "cpus": logical,
        "cpus_allowed": sorted(allowed),
        "mem_bytes": psutil.virtual_memory().total,
        "block_path": str(block_path),
        "block_free_bytes": free,
    }
