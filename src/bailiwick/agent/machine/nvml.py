"""GPUs as the NVIDIA driver tells them, as plain values: nothing is judged here.

Rules:

- No package, no driver, no GPU: each is a word in ``state``, never an exception.
- One value that the driver refuses is an entry in the device's ``errors`` (NVML's own number, or
  ``BINDING_FAULT`` where the Python binding itself failed); the others are still read.
- The number of devices and of links looked at is bounded.

The plain values can be written as JSON and read again by :class:`RecordedGpus`, so whatever a
machine said can be played back elsewhere.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from bailiwick.agent.words import SourceState

Plain = dict[str, Any]

BINDING_FAULT = -1
DEVICES_ASKED_MAX = 64
LINKS_MAX = 36
"""As many links as NVML numbers (``NVML_NVLINK_MAX_LINKS``)."""

NOT_SUPPORTED, NO_PERMISSION, GPU_IS_LOST, RESET_REQUIRED = 3, 4, 15, 16
_INIT_STATES = {
    4: SourceState.NOT_PERMITTED,
    9: SourceState.DRIVER_MISSING,
    12: SourceState.DRIVER_MISSING,
}


class GpuSource(Protocol):
    """Where raw readings of GPUs come from."""

    def read(self) -> Mapping[str, Any]:
        """The readings: ``state``, versions, and one mapping for each device."""


class RecordedGpus:
    """What another machine's driver said."""

    def __init__(self, recorded: Mapping[str, Any]) -> None:
        self._recorded = recorded

    def read(self) -> Mapping[str, Any]:
        """The readings as they were recorded."""
        return self._recorded


class NvmlGpus:
    """Asks the driver through ``pynvml``, or through a module of the same shape."""

    def __init__(self, library: Any = None) -> None:
        self._library = library

    def read(self) -> Mapping[str, Any]:
        """The readings: ``state``, versions, and one mapping for each device."""
        session, why_not = open_session(self._library)
        if session is None:
            return why_not
        try:
            return session.read()
        finally:
            session.close()


def open_session(library: Any = None) -> tuple[NvmlSession | None, Plain]:
    """The driver, to be asked; or nothing, and the word (and number) that says why."""
    library = library or _import_pynvml()
    if library is None:
        return None, {"state": SourceState.PACKAGE_MISSING.value}
    session = NvmlSession(library)
    if session.ask("init", library.nvmlInit):
        return session, {}
    code = session.errors["init"]
    state = _INIT_STATES.get(code, SourceState.FAILED)
    return None, {"state": state.value, "code": code}


def _import_pynvml() -> Any:
    try:
        import pynvml
    except ImportError:
        return None
    return pynvml


class NvmlSession:
    """One opened library; ``values`` and ``errors`` are what was answered so far."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.values: Plain = {}
        self.errors: dict[str, int] = {}

    def ask(self, name: str, call: Callable[[], Any]) -> bool:
        """Keep what the call answers under the name, or the number of its error."""
        try:
            self.values[name] = call()
        except Exception as error:  # the binding is C under Python: anything may come out of it
            code = getattr(error, "value", None)
            self.errors[name] = code if type(code) is int else BINDING_FAULT
            return False
        return True

    def close(self) -> None:
        """Let go of the library."""
        self.ask("shutdown", self.library.nvmlShutdown)

    def read(self) -> Plain:
        """Everything, once the library is open."""
        nvml = self.library
        self.values.clear()
        self.ask("driver", lambda: _text(nvml.nvmlSystemGetDriverVersion()))
        self.ask("cuda", lambda: int(nvml.nvmlSystemGetCudaDriverVersion_v2()))
        self.ask("nvml", lambda: _text(nvml.nvmlSystemGetNVMLVersion()))
        if not self.ask("count", lambda: int(nvml.nvmlDeviceGetCount())):
            return {"state": SourceState.FAILED.value, **self.values, "errors": self.errors}
        count = self.values["count"]
        state = SourceState.READ if count > 0 else SourceState.NO_DEVICES
        devices = [_device(nvml, index) for index in range(min(count, DEVICES_ASKED_MAX))]
        plain = {"state": state.value, **self.values, "devices": devices}
        return plain | {"errors": self.errors} if self.errors else plain


def _device(nvml: Any, index: int) -> Plain:
    asked = NvmlSession(nvml)
    ask = asked.ask
    if not ask("handle", lambda: nvml.nvmlDeviceGetHandleByIndex(index)):
        return {"index": index, "errors": asked.errors}
    handle = asked.values.pop("handle")
    ask("name", lambda: _text(nvml.nvmlDeviceGetName(handle)))
    ask("uuid", lambda: _text(nvml.nvmlDeviceGetUUID(handle)))
    ask("vram_bytes", lambda: int(nvml.nvmlDeviceGetMemoryInfo(handle).total))
    ask("bus_id", lambda: _text(nvml.nvmlDeviceGetPciInfo(handle).busId))
    ask("mig", lambda: [int(mode) for mode in nvml.nvmlDeviceGetMigMode(handle)])
    ask("capability", lambda: [int(n) for n in nvml.nvmlDeviceGetCudaComputeCapability(handle)])
    ask("fabric", lambda: _fabric(nvml, handle))
    links = _links(nvml, handle)
    return {"index": index, **asked.values, "links": links, "errors": asked.errors}


def _fabric(nvml: Any, handle: Any) -> Plain:
    info = nvml.c_nvmlGpuFabricInfoV_t()
    nvml.nvmlDeviceGetGpuFabricInfoV(handle, ctypes.pointer(info))
    return {
        "state": int(info.state),
        "status": int(info.status),
        "cluster": bytes(info.clusterUuid).hex(),
        "clique": int(info.cliqueId),
    }


def _links(nvml: Any, handle: Any) -> list[Plain]:
    """The NVLinks of a device; a number that the driver refuses is no link."""
    asked = (_link(nvml, handle, number) for number in range(LINKS_MAX))
    return [link for link in asked if "active" in link]


def _link(nvml: Any, handle: Any, number: int) -> Plain:
    asked = NvmlSession(nvml)
    asked.ask("active", lambda: int(nvml.nvmlDeviceGetNvLinkState(handle, number)))
    if asked.values.get("active") == 1:
        asked.ask(
            "remote_type", lambda: int(nvml.nvmlDeviceGetNvLinkRemoteDeviceType(handle, number))
        )
        asked.ask(
            "remote_bus_id",
            lambda: _text(nvml.nvmlDeviceGetNvLinkRemotePciInfo(handle, number).busId),
        )
    return {"link": number, **asked.values, "errors": asked.errors}


def _text(value: Any) -> str:
    """Text, which older bindings and structures give as bytes."""
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)
