"""Has one GPU compute for some seconds, and looks whether it did so rightly: a process of its own.

    python -m bailiwick.agent.health.burn UUID SECONDS MEMORY_BYTES

Rules:

- What it finds is one line of JSON (:class:`BurnReport`); it ends with 0 whatever it finds.
- It is bounded by itself: in time, after each launch; in memory, by what it was told and by half of
  what nobody has. Whoever starts it has a bound of its own, since a driver can hang for good.
- The first and the last words of memory are compared here, too: a GPU that cannot compare finds
  nothing wrong.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from bailiwick.agent.health.cuda import Argument, Cuda, CudaRefused, load_cuda
from bailiwick.agent.health.kernels import (
    CHAINS,
    PTX,
    ROUNDS,
    WORD,
    expected_chains,
    word_at,
)

THREADS: Final = 256
BLOCKS_EACH: Final = 4
"""Blocks for each multiprocessor, so that it has something to do while it waits."""
PASSES: Final = 64
"""How often each thread computes its chains in one launch: a fraction of a second."""
LAUNCHES_MAX: Final = 100_000
SAMPLE_WORDS: Final = 1_024
MEMORY_LEAST: Final = 1 << 20
MIB: Final = 1 << 20


class BurnState(StrEnum):
    """How far a burn-in came."""

    DONE = "done"
    NO_LIBRARY = "no_library"
    """There is no CUDA driver here."""
    NOT_FOUND = "not_found"
    """The driver has no such GPU."""
    REFUSED = "refused"
    """The driver refused a call."""


@dataclass(frozen=True, slots=True)
class BurnReport:
    """What a burn-in found: ``wrong`` results and words, of how many launches and bytes."""

    state: BurnState
    wrong: int = 0
    launches: int = 0
    memory_bytes: int = 0
    call: str = ""
    code: int = 0


def burn(
    library: Any, uuid: str, *, seconds: float, memory_bytes: int, clock: Callable[[], float]
) -> BurnReport:
    """Burn one GPU in; whatever the driver says comes out as a report."""
    if library is None:
        return BurnReport(BurnState.NO_LIBRARY)
    try:
        cuda = Cuda(library)
        device = cuda.find(uuid)
        if device is None:
            return BurnReport(BurnState.NOT_FOUND)
        with cuda.context(device), cuda.module(PTX) as module:
            run = _Run(cuda, module, blocks=BLOCKS_EACH * cuda.processors(device))
            checked = run.check_memory(memory_bytes)
            run.compute_until(clock() + seconds, clock)
    except CudaRefused as refused:
        return BurnReport(BurnState.REFUSED, call=refused.call, code=refused.code)
    return BurnReport(BurnState.DONE, run.wrong, run.launches, checked)


class _Run:
    """The launches on one device, and what they counted."""

    def __init__(self, cuda: Cuda, module: ctypes.c_void_p, *, blocks: int) -> None:
        self._cuda, self._module, self._blocks = cuda, module, blocks
        self.wrong = self.launches = 0

    def compute_until(self, end: float, clock: Callable[[], float]) -> None:
        """Compute again and again, once at least."""
        cuda, function = self._cuda, self._cuda.function(self._module, "bw_compute")
        with cuda.memory(4 * CHAINS) as expected, cuda.memory(16) as counters:
            cuda.write(expected, expected_chains())
            for _ in range(LAUNCHES_MAX):
                passes, rounds = ctypes.c_uint32(PASSES), ctypes.c_uint32(ROUNDS)
                self._count(function, [expected, counters, passes, rounds], counters=counters)
                if clock() >= end:
                    return

    def check_memory(self, most: int) -> int:
        """Fill memory with words and with their opposites, and read them; how many bytes."""
        cuda = self._cuda
        size = min(most, cuda.free_bytes() // 2) // MIB * MIB
        if size < MEMORY_LEAST:
            return 0
        fill, check = (cuda.function(self._module, name) for name in ("bw_fill", "bw_check"))
        words, salt = ctypes.c_uint64(size // 4), ctypes.c_uint32(size & WORD)
        with cuda.memory(size) as memory, cuda.memory(16) as counters:
            for pattern in (0, WORD):
                flip = ctypes.c_uint32(pattern)
                given: list[Argument] = [memory, words, salt, flip]
                cuda.launch(fill, given, blocks=self._blocks, threads=THREADS)
                self._count(check, [*given, counters], counters=counters)
                for start in (0, size // 4 - SAMPLE_WORDS):
                    found = cuda.read(memory, SAMPLE_WORDS, start=start)
                    right = (
                        word_at(start + at, salt=salt.value, flip=pattern)
                        for at in range(SAMPLE_WORDS)
                    )
                    self.wrong += sum(a != b for a, b in zip(found, right, strict=True))
        return size

    def _count(self, function: ctypes.c_void_p, given: Any, *, counters: ctypes.c_uint64) -> None:
        """Launch, and add what was counted; threads that did not come to their end are wrong."""
        cuda = self._cuda
        cuda.write(counters, [0, 0, 0, 0])
        cuda.launch(function, given, blocks=self._blocks, threads=THREADS)
        low, high, ended, more = cuda.read(counters, 4)
        self.wrong += (high << 32) + low + abs(self._blocks * THREADS - (more << 32) - ended)
        self.launches += 1


def main(given: list[str]) -> int:
    """One burn-in; its report is a line of JSON."""
    uuid, seconds, memory_bytes = given[0], float(given[1]), int(given[2])
    report = burn(
        load_cuda(), uuid, seconds=seconds, memory_bytes=memory_bytes, clock=time.monotonic
    )
    sys.stdout.write(json.dumps(asdict(report)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
