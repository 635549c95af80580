"""Strict readers of the small formats that the kernel and the driver write.

Rules:

- The whole text must match, but for one newline at its end; a number has bounds.
- Anything else is :class:`Unreadable`, which names the file. Nothing is guessed or repaired.

>>> parse_cpus("cpulist", "0-2,8\\n")
(0, 1, 2, 8)
>>> parse_bus_id("bus_id", "00000000:1B:00.0")
'0000:1b:00.0'
"""

from __future__ import annotations

import re

from bailiwick.agent.words import Unreadable
from bailiwick.vocab.values import KIB

CPUS_MAX = 8192
"""The most CPUs that a Linux kernel can be built for."""

BYTES_MAX = 2**53 - 1
"""The largest amount that a record of the journal can tell."""

_INTEGER = re.compile(r"-?[0-9]{1,20}\Z")
_RANGE = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?\Z")
_SIZE = re.compile(r"([0-9]{1,12})([KMG]?)\Z")
_MEMORY = re.compile(r"(?:Node [0-9]+ )?MemTotal: +([0-9]{1,15}) kB")
_BUS_ID = re.compile(r"([0-9a-f]{4,8}):([0-9a-f]{2}):([01][0-9a-f])\.([0-7])\Z")
_UNITS = {"": 1, "K": KIB, "M": KIB**2, "G": KIB**3}


def parse_integer(field: str, text: str, *, low: int, high: int) -> int:
    """A decimal number within bounds."""
    bare = text.removesuffix("\n")
    if bare.isascii() and _INTEGER.match(bare) and low <= int(bare) <= high:
        return int(bare)
    raise Unreadable(field, text, f"a number from {low} to {high}")


def parse_cpus(field: str, text: str) -> tuple[int, ...]:
    """A list of CPUs as the kernel prints it: ``0-3,8``, ascending, possibly empty."""
    bare = text.removesuffix("\n")
    if not bare.strip():
        return ()
    cpus: list[int] = []
    for part in bare.split(","):
        match = _RANGE.match(part) if part.isascii() else None
        if match is None:
            raise Unreadable(field, text, "CPUs like 0-3,8")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last >= CPUS_MAX or (cpus and first <= cpus[-1]):
            raise Unreadable(field, text, f"ascending CPUs below {CPUS_MAX}")
        cpus.extend(range(first, last + 1))
    return tuple(cpus)


def spell_cpus(cpus: tuple[int, ...]) -> str:
    """Ascending CPUs as the kernel would print them.

    >>> spell_cpus((0, 1, 2, 8))
    '0-2,8'
    """
    parts: list[list[int]] = []
    for cpu in cpus:
        if parts and cpu == parts[-1][1] + 1:
            parts[-1][1] = cpu
        else:
            parts.append([cpu, cpu])
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in parts)


def parse_size(field: str, text: str) -> int:
    """The size of a cache in bytes: ``32768K``."""
    match = _SIZE.match(text.removesuffix("\n")) if text.isascii() else None
    if match is None or int(match[1]) * _UNITS[match[2]] > BYTES_MAX:
        raise Unreadable(field, text, "a size like 32768K")
    return int(match[1]) * _UNITS[match[2]]


def parse_memory(field: str, text: str) -> int:
    """The ``MemTotal`` of a ``meminfo`` file, in bytes."""
    for line in text.split("\n"):
        match = _MEMORY.fullmatch(line.strip()) if line.isascii() else None
        if match is not None and int(match[1]) * KIB <= BYTES_MAX:
            return int(match[1]) * KIB
    raise Unreadable(field, text[:80], "a line with MemTotal")


def parse_bus_id(field: str, text: object) -> str:
    """The address of a PCI device, spelled as sysfs spells it."""
    low = text.lower() if isinstance(text, str) else ""
    match = _BUS_ID.match(low) if low.isascii() else None
    if match is None:
        raise Unreadable(field, text, "a PCI address like 00000000:1B:00.0")
    return f"{int(match[1], 16):04x}:{match[2]}:{match[3]}.{match[4]}"
