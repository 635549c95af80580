"""Divides a GPU into MIG instances, or makes it whole again, through NVML.

Rules:

- What is there already as it is wanted is left as it is: an order that is carried out twice does
  nothing the second time.
- A profile that the GPU does not have is told before anything on it is touched, where the driver
  tells profiles of a whole GPU; else before any instance is made, and the mode is as it was.
- Each GPU instance has one compute instance, over all of it.
- The largest instances are made first. Whatever the driver refuses on the way (to take an instance
  away, to make one, to end the mode), what was there before is made again as far as the driver lets
  it (a GPU that was whole is whole again), and the failure is told all the same.
- What stayed through a refusal is left as it is: it is in use, and would refuse a second time.
- A mode that counts only after a reset is told as that: nothing here resets a GPU.
- Whatever the driver says comes out as one word, never as an exception.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bailiwick.agent.machine.nvml import (
    BINDING_FAULT,
    NO_PERMISSION,
    NOT_SUPPORTED,
    RESET_REQUIRED,
    open_session,
)
from bailiwick.vocab.mig import MigFailure

INVALID_ARGUMENT, NOT_FOUND, IN_USE, INSUFFICIENT_RESOURCES = 2, 6, 19, 23
PROFILES_ASKED: Final = 0x12
"""How many profiles NVML numbers; of those a GPU has some."""

COMPUTE_PROFILES_ASKED: Final = 0x9
_SHARED_ENGINES: Final = 0
_PREFIX: Final = "MIG "
_FAILURES: Final = {
    NOT_SUPPORTED: MigFailure.NOT_SUPPORTED,
    NO_PERMISSION: MigFailure.NOT_PERMITTED,
    RESET_REQUIRED: MigFailure.RESET_REQUIRED,
    IN_USE: MigFailure.IN_USE,
    INSUFFICIENT_RESOURCES: MigFailure.DOES_NOT_FIT,
}


class MigRefused(Exception):
    """The driver refuses; ``code`` is NVML's own number, ``failure`` the word for it."""

    def __init__(self, failure: MigFailure, code: int = 0) -> None:
        super().__init__(f"{failure.value} (NVML {code})" if code else failure.value)
        self.failure, self.code = failure, code


@dataclass(frozen=True, slots=True)
class MigProfile:
    """A kind of instance that a GPU can have."""

    id: int
    name: str
    slices: int
    memory_mb: int
    most: int
    """How many of it there can be at once."""


class MigDevice:
    """One GPU, as far as dividing it goes; ``library`` is ``pynvml`` or has its shape."""

    def __init__(self, library: Any, index: int) -> None:
        self._nvml = library
        self._handle = self._ask(library.nvmlDeviceGetHandleByIndex, index)

    def _ask(self, call: Callable[..., Any], *given: Any) -> Any:
        try:
            return call(*given)
        except Exception as error:  # the binding is C under Python: anything may come out of it
            code = getattr(error, "value", None)
            raise _refused(code if type(code) is int else BINDING_FAULT) from error

    def modes(self) -> tuple[bool, bool]:
        """Whether it is divided now, and whether it will be after its next reset."""
        now, pending = self._ask(self._nvml.nvmlDeviceGetMigMode, self._handle)
        return bool(now), bool(pending)

    def set_mode(self, *, divided: bool) -> None:
        """Let it be divided from now on, or whole; refused where that would take a reset."""
        status = self._ask(self._nvml.nvmlDeviceSetMigMode, self._handle, int(divided))
        if status:
            raise _refused(int(status))
        if self.modes() != (divided, divided):
            raise _refused(RESET_REQUIRED)

    def profiles(self) -> tuple[MigProfile, ...]:
        """The kinds of instances that it can have; none, if the driver tells none of it now."""
        found = (self._profile(number) for number in range(PROFILES_ASKED))
        return tuple(each for each in found if each is not None)

    def _profile(self, number: int) -> MigProfile | None:
        ask = self._nvml.nvmlDeviceGetGpuInstanceProfileInfo
        try:
            told = self._ask(ask, self._handle, number)
        except MigRefused as refused:
            if refused.code in (NOT_SUPPORTED, INVALID_ARGUMENT, NOT_FOUND):
                return None
            raise
        name = told.name.decode() if isinstance(told.name, bytes) else str(told.name)
        sizes = int(told.sliceCount), int(told.memorySizeMB), int(told.instanceCount)
        return MigProfile(int(told.id), name.removeprefix(_PREFIX), *sizes)

    def room(self, profile: MigProfile) -> int:
        """How many more of these there can be now."""
        ask = self._nvml.nvmlDeviceGetGpuInstanceRemainingCapacity
        return int(self._ask(ask, self._handle, profile.id))

    def instances(self, profile: MigProfile) -> list[Any]:
        """The instances of one kind that there are, as the driver's handles."""
        nvml, most = self._nvml, max(profile.most, 1)
        rows, count = (nvml.c_nvmlGpuInstance_t * most)(), ctypes.c_uint()
        ask = nvml.nvmlDeviceGetGpuInstances
        self._ask(ask, self._handle, profile.id, rows, ctypes.pointer(count))
        return [rows[at] for at in range(min(count.value, most))]

    def layout(self) -> list[str]:
        """The names of the instances that there are, in order; unfinished ones are not named."""
        found: list[str] = []
        for profile in self.profiles():
            ready = [one for one in self.instances(profile) if self._computes(one)]
            found.extend(profile.name for _ in ready)
        return sorted(found)

    def make(self, profile: MigProfile) -> None:
        """One more instance, with a compute instance over all of it."""
        made = self._ask(self._nvml.nvmlDeviceCreateGpuInstance, self._handle, profile.id)
        self._fill(made, profile)

    def make_again(self, profile: MigProfile) -> None:
        """One more that is ready: one that has only lost its compute instance is given it back."""
        bare = (one for one in self.instances(profile) if not self._computes(one))
        found = next(bare, None)
        if found is None:
            self.make(profile)
        else:
            self._fill(found, profile)

    def _fill(self, instance: Any, profile: MigProfile) -> None:
        whole = self._whole(instance, profile.slices)
        self._ask(self._nvml.nvmlGpuInstanceCreateComputeInstance, instance, whole)

    def _whole(self, instance: Any, slices: int) -> int:
        """The compute profile that takes all of an instance."""
        for told in self._compute_profiles(instance):
            if int(told.sliceCount) == slices:
                return int(told.id)
        raise _refused(NOT_FOUND)

    def _compute_profiles(self, instance: Any) -> list[Any]:
        found: list[Any] = []
        ask = self._nvml.nvmlGpuInstanceGetComputeInstanceProfileInfo
        for number in range(COMPUTE_PROFILES_ASKED):
            with contextlib.suppress(MigRefused):  # this kind of instance has no such profile
                found.append(self._ask(ask, instance, number, _SHARED_ENGINES))
        return found

    def _computes(self, instance: Any) -> list[Any]:
        nvml = self._nvml
        found: list[Any] = []
        for told in self._compute_profiles(instance):
            most = max(int(told.instanceCount), 1)
            rows, count = (nvml.c_nvmlComputeInstance_t * most)(), ctypes.c_uint()
            ask, name = nvml.nvmlGpuInstanceGetComputeInstances, int(told.id)
            self._ask(ask, instance, name, rows, ctypes.pointer(count))
            found.extend(rows[at] for at in range(min(count.value, most)))
        return found

    def clear(self) -> None:
        """Take every instance away; refused where something runs on one."""
        nvml = self._nvml
        for profile in self.profiles():
            for instance in self.instances(profile):
                for compute in self._computes(instance):
                    self._ask(nvml.nvmlComputeInstanceDestroy, compute)
                self._ask(nvml.nvmlGpuInstanceDestroy, instance)


def repartition(
    indices: Sequence[int], profiles: Sequence[str], *, library: Any = None
) -> MigFailure | None:
    """Make of each GPU exactly these instances, or (of none) one whole; nothing, if it is done."""
    session, _ = open_session(library)
    if session is None:
        return MigFailure.NO_NVML
    try:
        for index in indices:
            shape_gpu(MigDevice(session.library, index), profiles)
    except MigRefused as refused:
        return refused.failure
    finally:
        session.close()
    return None


def shape_gpu(device: MigDevice, profiles: Sequence[str]) -> None:
    """Bring one GPU to these profiles; :class:`MigRefused` says what is in the way."""
    now, _ = device.modes()
    if not profiles:
        _make_whole(device, divided=now)
        return
    _check_known(device.profiles(), profiles, if_any=True)
    if device.modes() != (True, True):
        device.set_mode(divided=True)
    try:
        _divide(device, profiles)
    except MigRefused:
        if not now:
            with contextlib.suppress(MigRefused):  # the first refusal is what is to be told
                device.clear()
                device.set_mode(divided=False)
        raise


def _make_whole(device: MigDevice, *, divided: bool) -> None:
    """End the mode; refused, the GPU has the instances of before."""
    before = device.layout() if divided else []
    try:
        if divided:
            device.clear()
        if device.modes() != (False, False):
            device.set_mode(divided=False)
    except MigRefused:
        _make_again(device, before)
        raise


def _divide(device: MigDevice, profiles: Sequence[str]) -> None:
    """Give a GPU whose mode is on these instances; refused, it has those of before."""
    _check_known(device.profiles(), profiles)
    before = device.layout()
    if before == sorted(profiles):
        return
    try:
        device.clear()
    except MigRefused:
        _make_again(device, before)
        raise
    try:
        _lay_out(device, profiles)
    except MigRefused:
        with contextlib.suppress(MigRefused):  # the first refusal is what is to be told
            device.clear()  # all of it was made just now
        _make_again(device, before)
        raise


def _make_again(device: MigDevice, before: Sequence[str]) -> None:
    """Make what is missing of what was there, each as far as the driver lets it."""
    with contextlib.suppress(MigRefused):  # the first refusal is what is to be told
        missing = Counter(before) - Counter(device.layout())
        for profile in _largest_first(device, missing.elements()):
            with contextlib.suppress(MigRefused):
                device.make_again(profile)


def _check_known(
    known: Sequence[MigProfile], wanted: Iterable[str], *, if_any: bool = False
) -> None:
    names = {each.name for each in known}
    if (names or not if_any) and not names.issuperset(wanted):
        raise MigRefused(MigFailure.PROFILE_UNKNOWN)


def _lay_out(device: MigDevice, names: Iterable[str]) -> None:
    for profile in _largest_first(device, names):
        device.make(profile)


def _largest_first(device: MigDevice, names: Iterable[str]) -> list[MigProfile]:
    known = {each.name: each for each in device.profiles()}
    return sorted((known[n] for n in names), key=lambda each: (-each.slices, -each.memory_mb))


def _refused(code: int) -> MigRefused:
    return MigRefused(_FAILURES.get(code, MigFailure.REFUSED_BY_DRIVER), code)
