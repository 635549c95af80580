"""Amounts of the four resources, added and subtracted as one value.

>>> Resources(cpu_milli=1000) + Resources(cpu_milli=500, gpu_milli=250)
Resources(cpu_milli=1500, mem_bytes=0, block_bytes=0, gpu_milli=250)
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resources:
    """CPU, memory, block storage and GPU shares."""

    cpu_milli: int = 0
    mem_bytes: int = 0
    block_bytes: int = 0
    gpu_milli: int = 0

    def __add__(self, other: Resources) -> Resources:
        return Resources(
            self.cpu_milli + other.cpu_milli,
            self.mem_bytes + other.mem_bytes,
            self.block_bytes + other.block_bytes,
            self.gpu_milli + other.gpu_milli,
        )

    def __sub__(self, other: Resources) -> Resources:
        return self + Resources(
            -other.cpu_milli, -other.mem_bytes, -other.block_bytes, -other.gpu_milli
        )

    def as_tuple(self) -> tuple[int, int, int, int]:
        """cpu, mem, block, gpu: the order every table uses."""
        return self.cpu_milli, self.mem_bytes, self.block_bytes, self.gpu_milli

    def covers(self, need: Resources) -> bool:
        """Whether there is at least this much of everything."""
        return all(a >= b for a, b in zip(self.as_tuple(), need.as_tuple(), strict=True))


NOTHING = Resources()
