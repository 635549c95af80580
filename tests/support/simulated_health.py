"""Drivers of GPUs that do not exist, as far as health goes: as ``pynvml`` and ``libcuda``.

The first tells temperatures, errors, links and XIDs as a test sets them. The second has memory, and
runs the three entries of :mod:`bailiwick.agent.health.kernels` in Python; it can be made to compute
wrongly, to forget a bit, or to refuse any call. :mod:`tests.support.health_contract` holds both to
the real ones.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any

from bailiwick.agent.health.burn import THREADS
from bailiwick.agent.health.kernels import CLASSES, PASSES_APART, PTX, compute, word_at
from tests.support.simulated_nvml import (
    NOT_SUPPORTED,
    FabricInfo,
    NvmlError,
    SimulatedGpu,
    SimulatedNvml,
)

TIMEOUT, NOT_FOUND = 10, 6
INVALID_IMAGE, INVALID_PTX, NAME_NOT_FOUND, ILLEGAL_ADDRESS, OUT_OF_MEMORY = 200, 218, 500, 700, 2


@dataclass
class CheckedGpu(SimulatedGpu):
    """One GPU whose health can be anything; ``None`` is what it does not tell."""

    temperature: Any = 41
    slowdown: Any = 89
    throttle: Any = 1
    uncorrected: Any = 0
    remapped: Any = (0, 0, 0, 0)
    retired: Any = None
    fabric_state: int = 3
    fabric_status: int = 0
    down: set[int] = field(default_factory=set)
    """Of its links, those that are down."""
    link_counts: dict[tuple[int, int], int] = field(default_factory=dict)
    computing: list[int] = field(default_factory=list)
    """The processes on it."""


class SimulatedHealth(SimulatedNvml):
    """The library, with the functions that tell how GPUs are."""

    c_nvmlGpuFabricInfo_v3_t = FabricInfo

    def __init__(self, *gpus: SimulatedGpu, **answers: Any) -> None:
        super().__init__(*gpus, **answers)
        self.opened = 0
        self._sets: dict[int, set[int]] = {}
        self._waiting: dict[int, list[tuple[Any, int]]] = {}
        self._serial = 0

    def nvmlInit(self) -> None:
        super().nvmlInit()
        self.opened += 1

    def nvmlShutdown(self) -> None:
        self.opened -= 1
        self.is_open = self.opened > 0

    @property
    def sets(self) -> int:
        """How many sets of events are not given back."""
        return len(self._sets)

    def report_xid(self, gpu: SimulatedGpu, number: int) -> None:
        """The driver reports a fault to whoever watches that GPU."""
        for name, watched in self._sets.items():
            if id(gpu) in watched:
                self._waiting[name].append((gpu, number))

    def nvmlDeviceGetHandleByUUID(self, uuid: bytes) -> Any:
        for gpu in self.gpus:
            if gpu.uuid == uuid.decode():
                return gpu
        raise NvmlError(NOT_FOUND)

    def nvmlEventSetCreate(self) -> int:
        self._answer(self.answers, "event_set", None)
        self._serial += 1
        self._sets[self._serial], self._waiting[self._serial] = set(), []
        return self._serial

    def nvmlDeviceRegisterEvents(self, gpu: SimulatedGpu, types: int, events: int) -> None:
        assert types == 8
        self._answer(gpu.answers, "register", None)
        self._sets[events].add(id(gpu))

    def nvmlEventSetWait(self, events: int, timeout_ms: int) -> Any:
        assert timeout_ms == 0, "nobody waits for faults"
        self._answer(self.answers, "wait", None)
        if not self._waiting[events]:
            raise NvmlError(TIMEOUT)
        gpu, number = self._waiting[events].pop(0)
        return SimpleNamespace(device=gpu, eventType=8, eventData=number)

    def nvmlEventSetFree(self, events: int) -> None:
        del self._sets[events], self._waiting[events]

    def nvmlDeviceGetTemperature(self, gpu: CheckedGpu, sensor: int) -> Any:
        assert sensor == 0
        return self._answer(gpu.answers, "temperature", gpu.temperature)

    def nvmlDeviceGetTemperatureThreshold(self, gpu: CheckedGpu, threshold: int) -> Any:
        assert threshold == 1
        return self._answer(gpu.answers, "slowdown", gpu.slowdown)

    def nvmlDeviceGetCurrentClocksEventReasons(self, gpu: CheckedGpu) -> Any:
        return self._answer(gpu.answers, "event_reasons", gpu.throttle)

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, gpu: CheckedGpu) -> Any:
        return self._answer(gpu.answers, "throttle", gpu.throttle)

    def nvmlDeviceGetTotalEccErrors(self, gpu: CheckedGpu, kind: int, counter: int) -> Any:
        assert (kind, counter) == (1, 0)
        return self._answer(gpu.answers, "uncorrected", gpu.uncorrected)

    def nvmlDeviceGetRemappedRows(self, gpu: CheckedGpu) -> Any:
        return self._answer(gpu.answers, "remapped", gpu.remapped)

    def nvmlDeviceGetRetiredPages(self, gpu: CheckedGpu, cause: int) -> Any:
        pages = self._answer(gpu.answers, "retired", gpu.retired)
        return list(range(pages)) if cause == 0 else []

    def nvmlDeviceGetRetiredPagesPendingStatus(self, gpu: CheckedGpu) -> Any:
        self._answer(gpu.answers, "retired", gpu.retired)
        return 0

    def nvmlDeviceGetGpuFabricInfoV(self, gpu: Any, info: Any) -> None:
        super().nvmlDeviceGetGpuFabricInfoV(gpu, info)
        info.contents.state, info.contents.status = gpu.fabric_state, gpu.fabric_status

    def nvmlDeviceGetNvLinkState(self, gpu: Any, link: int) -> Any:
        up = super().nvmlDeviceGetNvLinkState(gpu, link)
        return 0 if link in gpu.down else up

    def nvmlDeviceGetNvLinkErrorCounter(self, gpu: CheckedGpu, link: int, counter: int) -> int:
        return gpu.link_counts.get((link, counter), 0)

    def nvmlDeviceGetComputeRunningProcesses(self, gpu: CheckedGpu) -> Any:
        return self._answer(gpu.answers, "processes", list(gpu.computing))

    def _answer(self, answers: dict[str, Any], name: str, usual: Any) -> Any:
        told = answers.get(name, usual)
        if isinstance(told, Exception):
            raise told
        if told is None and name not in ("event_set", "register", "wait"):
            raise NvmlError(NOT_SUPPORTED)
        return told


@cache
def pattern(words: int, salt: int, flip: int) -> array[int]:
    """What memory is filled with; nobody may change it."""
    return array("I", (word_at(at, salt=salt, flip=flip) for at in range(words)))


class SimulatedCuda:
    """``libcuda`` with one device for each UUID."""

    def __init__(self, *uuids: str, free_bytes: int = 1 << 24, **refusals: int) -> None:
        self.uuids, self.free, self.refusals = uuids, free_bytes, refusals
        self.held: list[str] = []
        """What was taken and not given back."""
        self.memory: dict[int, array[int]] = {}
        self.wrong_chains: set[int] = set()
        """Chains that come out wrong on this GPU."""
        self.stuck: int | None = None
        """A word of memory whose lowest bit is always set."""
        self._serial = 4_096
        self._computed: dict[tuple[int, int], int] = {}

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            raise AttributeError(name)
        function = getattr(self, "_" + name.removesuffix("_v2"))
        refused = self.refusals.get(name.removesuffix("_v2"), 0)
        return (lambda *given: refused) if refused else function

    def _next(self) -> int:
        self._serial += 1 << 32
        return self._serial

    def _cuInit(self, flags: Any) -> int:
        return 0

    def _cuDeviceGetCount(self, count: Any) -> int:
        count._obj.value = len(self.uuids)
        return 0

    def _cuDeviceGet(self, device: Any, number: Any) -> int:
        device._obj.value = number.value
        return 0

    def _cuDeviceGetUuid(self, raw: Any, device: Any) -> int:
        text = self.uuids[device.value].removeprefix("GPU-").replace("-", "")
        raw._obj[:] = list(bytes.fromhex(text))
        return 0

    def _cuDeviceGetAttribute(self, count: Any, asked: Any, device: Any) -> int:
        assert asked.value == 16
        count._obj.value = 1
        return 0

    def _cuMemGetInfo(self, free: Any, whole: Any) -> int:
        free._obj.value = self.free
        whole._obj.value = self.free
        return 0

    def _cuCtxCreate(self, made: Any, flags: Any, device: Any) -> int:
        made._obj.value = self._next()
        self.held.append("context")
        return 0

    def _cuCtxDestroy(self, made: Any) -> int:
        self.held.remove("context")
        return 0

    def _cuModuleLoadData(self, made: Any, text: Any) -> int:
        if not text.value.strip().startswith(b".version"):
            return INVALID_IMAGE
        if text.value.decode() != PTX:  # the only code that it understands
            return INVALID_PTX
        made._obj.value = self._next()
        self.held.append("module")
        return 0

    def _cuModuleUnload(self, made: Any) -> int:
        self.held.remove("module")
        return 0

    def _cuModuleGetFunction(self, found: Any, module: Any, name: Any) -> int:
        entries = (b"bw_compute", b"bw_fill", b"bw_check")
        if name.value not in entries:
            return NAME_NOT_FOUND
        found._obj.value = 1 + entries.index(name.value)
        return 0

    def _cuMemAlloc(self, made: Any, size: Any) -> int:
        if size.value > self.free:
            return OUT_OF_MEMORY
        made._obj.value = self._next()
        self.memory[made._obj.value] = array("I", bytes(size.value))
        self.held.append("memory")
        return 0

    def _cuMemFree(self, made: Any) -> int:
        del self.memory[made.value]
        self.held.remove("memory")
        return 0

    def _at(self, place: int) -> tuple[array[int], int]:
        for start, words in self.memory.items():
            if start <= place < start + 4 * len(words):
                return words, (place - start) // 4
        raise KeyError(place)

    def _cuMemcpyHtoD(self, place: Any, source: Any, size: Any) -> int:
        words, at = self._at(place.value)
        words[at : at + size.value // 4] = array("I", bytes(source._obj))
        return 0

    def _cuMemcpyDtoH(self, target: Any, place: Any, size: Any) -> int:
        words, at = self._at(place.value)
        target._obj[:] = list(words[at : at + size.value // 4])
        return 0

    def _cuCtxSynchronize(self) -> int:
        return 0

    def _cuLaunchKernel(self, function: Any, *given: Any) -> int:
        blocks, threads, places = given[0].value, given[3].value, given[8]
        number = function.value
        kinds: Sequence[Any] = {
            1: (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint32),
            2: (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint32),
            3: (ctypes.c_uint64,) * 2 + (ctypes.c_uint32,) * 2 + (ctypes.c_uint64,),
        }[number]
        values = [
            ctypes.cast(place, ctypes.POINTER(kind)).contents.value
            for place, kind in zip(places, kinds, strict=True)
        ]
        assert threads == THREADS
        try:
            (self._compute, self._fill, self._check)[number - 1](blocks * threads, *values)
        except KeyError:
            return ILLEGAL_ADDRESS
        return 0

    def _compute(
        self, threads: int, expected: int, counters: int, passes: int, rounds: int
    ) -> None:
        right, _ = self._at(expected)
        wrong = 0
        for number in range(passes):
            for lane in range(CLASSES):
                chain = number % PASSES_APART * CLASSES + lane
                wrong += (self._chain(chain, rounds) != right[chain]) * (threads // CLASSES)
        self._count(counters, wrong, threads)

    def _chain(self, chain: int, rounds: int) -> int:
        key = (chain, rounds)
        if key not in self._computed:
            self._computed[key] = compute(chain, rounds=rounds)
        return self._computed[key] ^ (chain in self.wrong_chains)

    def _fill(self, threads: int, memory: int, words: int, salt: int, flip: int) -> None:
        held, _ = self._at(memory)
        held[:words] = pattern(words, salt, flip)
        if self.stuck is not None and self.stuck < words:
            held[self.stuck] |= 1

    def _check(
        self, threads: int, memory: int, words: int, salt: int, flip: int, counters: int
    ) -> None:
        held, _ = self._at(memory)
        right = pattern(words, salt, flip)
        wrong = 0 if held == right else sum(a != b for a, b in zip(held, right, strict=True))
        self._count(counters, wrong, threads)

    def _count(self, counters: int, wrong: int, threads: int) -> None:
        held, at = self._at(counters)
        low, high, ended, more = held[at : at + 4]
        wrong, ended = wrong + low + (high << 32), threads + ended + (more << 32)
        held[at : at + 4] = array("I", [wrong & 0xFFFFFFFF, wrong >> 32, ended & 0xFFFFFFFF, 0])
