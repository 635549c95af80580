"""The CUDA driver's library, called by ``ctypes``: every answer is looked at, all is given back.

Rules:

- A call that the driver refuses is :class:`CudaRefused`, with the call and CUDA's own number.
- A context, a module and memory live in a ``with``: they are given back on every way out. A refusal
  to take them back counts only if nothing else went wrong before.
- No library is no error: :func:`load_cuda` says so with nothing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

LIBRARY: Final = "libcuda.so.1"
OUT_OF_MEMORY, NO_DEVICE, DEVICE_UNAVAILABLE = 2, 100, 46
LAUNCH_TIMEOUT, UNKNOWN = 702, 999
_PROCESSORS: Final = 16
"""``CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT``."""

Argument = ctypes.c_uint32 | ctypes.c_uint64


class CudaRefused(Exception):
    """The driver refuses a call; ``code`` is CUDA's own number."""

    def __init__(self, call: str, code: int) -> None:
        super().__init__(f"{call}: CUDA error {code}")
        self.call, self.code = call, code


def load_cuda() -> Any:
    """The driver's library; nothing if there is none here."""
    try:
        return ctypes.CDLL(LIBRARY)
    except OSError:
        return None


class Cuda:
    """One process's way to the driver; ``library`` has the functions of ``libcuda``."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self.call("cuInit", ctypes.c_uint(0))

    def call(self, name: str, *given: Any) -> None:
        """Call a function; refused unless it answers that all is well."""
        code = int(getattr(self._library, name)(*given))
        if code:
            raise CudaRefused(name, code)

    def find(self, uuid: str) -> int | None:
        """The device with this UUID; nothing if the driver has none such."""
        count = ctypes.c_int()
        self.call("cuDeviceGetCount", ctypes.byref(count))
        for number in range(min(count.value, 64)):
            device, raw = ctypes.c_int(), (ctypes.c_ubyte * 16)()
            self.call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(number))
            self.call("cuDeviceGetUuid", ctypes.byref(raw), device)
            if spell_uuid(bytes(raw)) == uuid:
                return device.value
        return None

    def processors(self, device: int) -> int:
        """How many multiprocessors a device has."""
        count, asked = ctypes.c_int(), ctypes.c_int(_PROCESSORS)
        self.call("cuDeviceGetAttribute", ctypes.byref(count), asked, ctypes.c_int(device))
        return max(1, count.value)

    def free_bytes(self) -> int:
        """How much of the device's memory nobody has."""
        free, whole = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(whole))
        return int(free.value)

    @contextmanager
    def context(self, device: int) -> Iterator[None]:
        """A context on a device, current in this thread."""
        made = ctypes.c_void_p()
        self.call("cuCtxCreate_v2", ctypes.byref(made), ctypes.c_uint(0), ctypes.c_int(device))
        with self._given_back("cuCtxDestroy_v2", made):
            yield

    @contextmanager
    def module(self, ptx: str) -> Iterator[ctypes.c_void_p]:
        """Code, translated for the device."""
        made = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(made), ctypes.c_char_p(ptx.encode()))
        with self._given_back("cuModuleUnload", made):
            yield made

    @contextmanager
    def memory(self, size: int) -> Iterator[ctypes.c_uint64]:
        """So many bytes of the device's memory."""
        made = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(made), ctypes.c_size_t(size))
        with self._given_back("cuMemFree_v2", made):
            yield made

    @contextmanager
    def _given_back(self, name: str, made: Any) -> Iterator[None]:
        try:
            yield
        except BaseException:
            with suppress(CudaRefused):  # what went wrong first is what is told
                self.call(name, made)
            raise
        self.call(name, made)

    def function(self, module: ctypes.c_void_p, name: str) -> ctypes.c_void_p:
        """One entry of a module."""
        found = ctypes.c_void_p()
        self.call(
            "cuModuleGetFunction", ctypes.byref(found), module, ctypes.c_char_p(name.encode())
        )
        return found

    def launch(
        self, function: ctypes.c_void_p, given: Sequence[Argument], *, blocks: int, threads: int
    ) -> None:
        """Run an entry on so many threads, and wait until they are done."""
        places = (ctypes.c_void_p * len(given))(
            *(ctypes.cast(ctypes.pointer(each), ctypes.c_void_p) for each in given)
        )
        one, none = ctypes.c_uint(1), ctypes.c_uint(0)
        grid = ctypes.c_uint(blocks), one, one
        block = ctypes.c_uint(threads), one, one
        nothing = ctypes.c_void_p()
        self.call("cuLaunchKernel", function, *grid, *block, none, nothing, places, nothing)
        self.call("cuCtxSynchronize")

    def write(self, memory: ctypes.c_uint64, words: Sequence[int]) -> None:
        """Put 32-bit words at the beginning of memory."""
        buffer = (ctypes.c_uint32 * len(words))(*words)
        size = ctypes.c_size_t(ctypes.sizeof(buffer))
        self.call("cuMemcpyHtoD_v2", memory, ctypes.byref(buffer), size)

    def read(self, memory: ctypes.c_uint64, count: int, *, start: int = 0) -> list[int]:
        """So many 32-bit words of memory, from one on."""
        buffer = (ctypes.c_uint32 * count)()
        size, place = ctypes.c_size_t(4 * count), ctypes.c_uint64(memory.value + 4 * start)
        self.call("cuMemcpyDtoH_v2", ctypes.byref(buffer), place, size)
        return list(buffer)


def spell_uuid(raw: bytes) -> str:
    """Sixteen bytes as NVML spells them.

    >>> spell_uuid(bytes(range(16)))
    'GPU-00010203-0405-0607-0809-0a0b0c0d0e0f'
    """
    text = raw.hex()
    return f"GPU-{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
