"""A driver whose GPUs can be divided: the functions of ``pynvml`` for that, on GPUs of no machine.

It models what NVML does and no more: modes with and without a reset, the profiles of a GPU,
placement in eight slices of memory and seven of compute, instances inside instances, and refusals
(not supported, no permission, in use, no room). :mod:`tests.support.mig_contract` holds it to the
real one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from tests.support.simulated_nvml import NOT_SUPPORTED, NvmlError, SimulatedGpu, SimulatedNvml

INVALID_ARGUMENT, NO_PERMISSION, RESET_REQUIRED, IN_USE, NO_ROOM = 2, 4, 16, 19, 23


@dataclass(frozen=True)
class Kind:
    """A profile: NVML's number for it, its id, and where in memory it can begin."""

    number: int
    id: int
    name: str
    slices: int
    memory: int  # in eighths of the GPU's memory
    starts: tuple[int, ...]
    memory_mb: int


H200 = (
    Kind(0, 19, "MIG 1g.18gb", 1, 1, (0, 1, 2, 3, 4, 5, 6), 16_384),
    Kind(7, 20, "MIG 1g.18gb+me", 1, 1, (0, 1, 2, 3, 4, 5, 6), 16_384),
    Kind(9, 15, "MIG 1g.35gb", 1, 2, (0, 2, 4, 6), 33_280),
    Kind(1, 14, "MIG 2g.35gb", 2, 2, (0, 2, 4), 33_280),
    Kind(2, 9, "MIG 3g.71gb", 3, 4, (0, 4), 71_424),
    Kind(3, 5, "MIG 4g.71gb", 4, 4, (0,), 71_424),
    Kind(4, 0, "MIG 7g.141gb", 7, 8, (0,), 142_848),
)
_COMPUTE = ((0, 0, 1), (1, 1, 2), (2, 2, 3), (3, 3, 4), (4, 4, 7))  # number, id, slices
_ME = 20
"""The one profile of which there can be one: it has the media engines."""


@dataclass
class Instance:
    """A GPU instance, and the compute instances in it."""

    kind: Kind
    start: int
    computes: dict[int, int] = field(default_factory=dict)  # by handle, its profile's id
    in_use: bool = False


@dataclass
class DivisibleGpu(SimulatedGpu):
    """One GPU that can be divided."""

    name: Any = "NVIDIA H200"
    mig: Any = (0, 0)
    kinds: tuple[Kind, ...] = H200
    needs_reset: bool = False
    """As GPUs of the Ampere generation: a mode counts only after a reset."""
    busy: bool = False
    """Whether a process uses the whole GPU."""
    permitted: bool = True
    made: dict[int, Instance] = field(default_factory=dict)  # by handle

    @property
    def layout(self) -> list[str]:
        """The names of its instances, in order."""
        return sorted(each.kind.name.removeprefix("MIG ") for each in self.made.values())

    def reset(self) -> None:
        """What the mode was to be, it is."""
        self.mig = (self.mig[1], self.mig[1])


class SimulatedMig(SimulatedNvml):
    """The library, with the functions that divide GPUs."""

    c_nvmlGpuInstance_t = ctypes.c_size_t
    c_nvmlComputeInstance_t = ctypes.c_size_t

    def __init__(self, *gpus: SimulatedGpu, **answers: Any) -> None:
        super().__init__(*gpus, **answers)
        self._serial = 0
        self.calls: list[str] = []
        """What was changed, by the names of the functions."""

    @contextmanager
    def in_use(self, index: int, used: int) -> Iterator[None]:
        """A program computes in one of a GPU's instances."""
        instance = list(self.nvmlDeviceGetHandleByIndex(index).made.values())[used]
        instance.in_use = True
        yield
        instance.in_use = False

    def _divided(self, gpu: DivisibleGpu) -> None:
        if gpu.mig is None or not gpu.mig[0]:
            raise NvmlError(NOT_SUPPORTED)

    def _change(self, gpu: DivisibleGpu, name: str) -> None:
        if not gpu.permitted:
            raise NvmlError(NO_PERMISSION)
        self.calls.append(name)

    def nvmlDeviceSetMigMode(self, gpu: DivisibleGpu, mode: int) -> int:
        if gpu.mig is None:
            raise NvmlError(NOT_SUPPORTED)
        self._change(gpu, "set_mode")
        if gpu.made or gpu.busy:
            return IN_USE
        gpu.mig = (gpu.mig[0] if gpu.needs_reset else mode, mode)
        return 0

    def nvmlDeviceGetGpuInstanceProfileInfo(self, gpu: DivisibleGpu, number: int) -> Any:
        if gpu.mig is None:
            raise NvmlError(NOT_SUPPORTED)
        for kind in gpu.kinds:
            if kind.number == number:
                most = 1 if kind.id == _ME else len(kind.starts)
                return SimpleNamespace(
                    id=kind.id,
                    name=kind.name.encode(),
                    sliceCount=kind.slices,
                    instanceCount=most,
                    memorySizeMB=kind.memory_mb,
                )
        raise NvmlError(NOT_SUPPORTED)

    def nvmlDeviceGetGpuInstanceRemainingCapacity(self, gpu: DivisibleGpu, profile: int) -> int:
        self._divided(gpu)
        kind = _kind(gpu, profile)
        count, trial = 0, dict(gpu.made)
        while (start := _place(trial, kind)) is not None:
            count += 1
            trial[-count] = Instance(kind, start)
        return count

    def nvmlDeviceCreateGpuInstance(self, gpu: DivisibleGpu, profile: int) -> int:
        self._divided(gpu)
        self._change(gpu, "create_instance")
        kind = _kind(gpu, profile)
        start = _place(gpu.made, kind)
        if start is None:
            raise NvmlError(NO_ROOM)
        self._serial += 1
        gpu.made[self._serial] = Instance(kind, start)
        return self._serial

    def nvmlDeviceGetGpuInstances(
        self, gpu: DivisibleGpu, profile: int, rows: Any, count: Any
    ) -> None:
        self._divided(gpu)
        kind = _kind(gpu, profile)
        found = [handle for handle, each in gpu.made.items() if each.kind == kind]
        _fill(rows, count, found)

    def nvmlGpuInstanceDestroy(self, handle: int) -> None:
        gpu, instance = self._find(lambda each: handle in each.made)
        self._change(gpu, "destroy_instance")
        if instance(handle).computes or instance(handle).in_use:
            raise NvmlError(IN_USE)
        del gpu.made[handle]

    def nvmlGpuInstanceGetComputeInstanceProfileInfo(
        self, handle: int, number: int, engines: int
    ) -> Any:
        _, instance = self._find(lambda each: handle in each.made)
        assert engines == 0
        for its, id_, slices in _COMPUTE:
            if its == number and slices <= instance(handle).kind.slices:
                most = instance(handle).kind.slices // slices
                return SimpleNamespace(id=id_, sliceCount=slices, instanceCount=most)
        raise NvmlError(NOT_SUPPORTED)

    def nvmlGpuInstanceCreateComputeInstance(self, handle: int, profile: int) -> int:
        gpu, instance = self._find(lambda each: handle in each.made)
        self._change(gpu, "create_compute")
        slices = {id_: count for _, id_, count in _COMPUTE}
        used = sum(slices[each] for each in instance(handle).computes.values())
        if used + slices[profile] > instance(handle).kind.slices:
            raise NvmlError(NO_ROOM)
        self._serial += 1
        instance(handle).computes[self._serial] = profile
        return self._serial

    def nvmlGpuInstanceGetComputeInstances(
        self, handle: int, profile: int, rows: Any, count: Any
    ) -> None:
        _, instance = self._find(lambda each: handle in each.made)
        found = [each for each, its in instance(handle).computes.items() if its == profile]
        _fill(rows, count, found)

    def nvmlComputeInstanceDestroy(self, handle: int) -> None:
        def inside(gpu: DivisibleGpu) -> bool:
            return any(handle in each.computes for each in gpu.made.values())

        gpu, _ = self._find(inside)
        self._change(gpu, "destroy_compute")
        (holder,) = (each for each in gpu.made.values() if handle in each.computes)
        if holder.in_use:
            raise NvmlError(IN_USE)
        del holder.computes[handle]

    def _find(
        self, holds: Callable[[DivisibleGpu], bool]
    ) -> tuple[DivisibleGpu, Callable[[int], Instance]]:
        for gpu in self.gpus:
            if isinstance(gpu, DivisibleGpu) and holds(gpu):
                return gpu, gpu.made.__getitem__
        raise NvmlError(INVALID_ARGUMENT)


def _kind(gpu: DivisibleGpu, profile: int) -> Kind:
    for kind in gpu.kinds:
        if kind.id == profile:
            return kind
    raise NvmlError(INVALID_ARGUMENT)


def _place(made: dict[int, Instance], kind: Kind) -> int | None:
    """Where in memory one more would begin; the last place first, as the driver does."""
    taken = {each.start + at for each in made.values() for at in range(each.kind.memory)}
    if sum(each.kind.slices for each in made.values()) + kind.slices > 7:
        return None
    if kind.id == _ME and any(each.kind.id == _ME for each in made.values()):
        return None
    for start in reversed(kind.starts):
        if not taken.intersection(range(start, start + kind.memory)):
            return start
    return None


def _fill(rows: Any, count: Any, found: list[int]) -> None:
    for at, handle in enumerate(found[: len(rows)]):
        rows[at] = handle
    count.contents.value = len(found)
