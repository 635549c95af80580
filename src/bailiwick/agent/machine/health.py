"""How the machine's GPUs, disks and clock are, as plain values: nothing is judged here.

Rules:

- No package, no driver, no GPU: each is a word in ``state``, never an exception.
- What the driver refuses of a GPU is an entry in its ``errors``; the others are still read.
- XIDs are the driver's own events. They are watched from the first look on, kept by the driver in
  between, and each is told once. Watching holds the GPUs open: ``close`` lets go of them, and the
  next look begins anew.
- A disk is asked for its room; one that can only be read has none to run out of. Where the agent
  writes, one small file is written, read back and taken away. A disk that hangs does not hang
  whoever asks: the probe is left behind, and none is begun beside it.
- Everything that is counted is bounded: devices, links, events of one look.
"""

from __future__ import annotations

import ctypes
import errno
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from bailiwick.agent.machine.nvml import (
    BINDING_FAULT,
    DEVICES_ASKED_MAX,
    LINKS_MAX,
    NOT_SUPPORTED,
    NvmlSession,
    open_session,
)
from bailiwick.agent.words import SourceState

Plain = dict[str, Any]

XIDS_MAX: Final = 256
"""Events that are taken from the driver in one look; more wait for the next."""
PROBE_NAME: Final = ".bailiwick-probe"
PROBE_BYTES: Final = 4_096
PROBE_S: Final = 5.0
_XID_EVENT: Final = 8
_TIMEOUT, _FUNCTION_NOT_FOUND, _VERSION_MISMATCH = 10, 13, 25
_UNCORRECTED, _VOLATILE = 1, 0
_GPU_SENSOR, _SLOWDOWN = 0, 1
_SINGLE_BIT, _DOUBLE_BIT = 0, 1
_COUNTERS: Final = {"replay": 0, "recovery": 1, "crc_flit": 2, "crc_data": 3}


class HealthSource(Protocol):
    """Where raw readings of the GPUs' health come from."""

    def read(self) -> Mapping[str, Any]:
        """The readings: ``state``, one mapping for each device, and what was reported since."""

    def close(self) -> None:
        """Let go of the GPUs."""


class _Binding:
    """The library; a function that an older one lacks is one that this machine does not support."""

    def __init__(self, library: Any) -> None:
        self._library = library

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name, _lacking)


class _Lacking(Exception):
    """The library has no such function: as if the driver had said so."""

    value = NOT_SUPPORTED


def _lacking(*given: object) -> None:
    del given
    raise _Lacking


class NvmlHealth:
    """Asks the driver through ``pynvml``, or through a module of the same shape."""

    def __init__(self, library: Any = None) -> None:
        self._library = library
        self._session: NvmlSession | None = None
        self._events: Any = None

    def read(self) -> Mapping[str, Any]:
        """The readings of every device, and the XIDs since the last look."""
        if self._session is None:
            session, why_not = open_session(self._library)
            if session is None:
                return why_not
            session.library = _Binding(session.library)
            self._session = session
        session, nvml = self._session, self._session.library
        session.values.clear()
        session.errors.clear()
        if not session.ask("count", lambda: int(nvml.nvmlDeviceGetCount())):
            code = session.errors["count"]
            self.close()
            return {"state": SourceState.FAILED.value, "code": code}
        count = min(session.values["count"], DEVICES_ASKED_MAX)
        if self._events is None:
            self._watch(session, count)
        state = SourceState.READ if count > 0 else SourceState.NO_DEVICES
        devices = [_device(nvml, index) for index in range(count)]
        return {
            "state": state.value,
            "devices": devices,
            "xids": self._xids(session),
            "errors": dict(session.errors),
        }

    def busy(self, uuids: Sequence[str]) -> dict[str, int | None]:
        """How many processes compute on each GPU; nothing where the driver does not say."""
        found: dict[str, int | None] = dict.fromkeys(uuids)
        session, _ = open_session(self._library)
        if session is None:
            return found
        nvml = _Binding(session.library)
        for uuid in uuids:
            asked = NvmlSession(nvml)
            asked.ask("handle", partial(nvml.nvmlDeviceGetHandleByUUID, uuid.encode()))
            handle = asked.values.get("handle")
            compute = partial(nvml.nvmlDeviceGetComputeRunningProcesses, handle)
            if handle is not None and asked.ask("processes", compute):
                found[uuid] = len(asked.values["processes"])
        session.close()
        return found

    def close(self) -> None:
        """Let go of the GPUs and of the library."""
        session, events = self._session, self._events
        self._session = self._events = None
        if session is None:
            return
        if events is not None:
            session.ask("events_free", lambda: session.library.nvmlEventSetFree(events))
        session.close()

    def _watch(self, session: NvmlSession, count: int) -> None:
        """Have the driver keep XIDs for us from now on, of every device that can."""
        nvml = session.library
        if not session.ask("events", nvml.nvmlEventSetCreate):
            return
        self._events = events = session.values.pop("events")
        for index in range(count):
            asked = NvmlSession(nvml)
            if asked.ask("handle", partial(nvml.nvmlDeviceGetHandleByIndex, index)):
                handle = asked.values["handle"]
                asked.ask(
                    "watch", partial(nvml.nvmlDeviceRegisterEvents, handle, _XID_EVENT, events)
                )
            for code in asked.errors.values():
                session.errors[f"watch {index}"] = code

    def _xids(self, session: NvmlSession) -> list[list[Any]]:
        nvml, events = session.library, self._events
        found: list[list[Any]] = []
        for _ in range(XIDS_MAX if events is not None else 0):
            asked = NvmlSession(nvml)
            if not asked.ask("event", lambda: nvml.nvmlEventSetWait(events, 0)):
                if asked.errors["event"] != _TIMEOUT:  # the set is of no use any more
                    session.errors["events"] = asked.errors["event"]
                    session.ask("events_free", lambda: nvml.nvmlEventSetFree(events))
                    self._events = None
                break
            event = asked.values["event"]
            if int(event.eventType) == _XID_EVENT:
                asked.ask("uuid", partial(nvml.nvmlDeviceGetUUID, event.device))
                found.append([_uuid(asked.values.get("uuid", "")), int(event.eventData)])
        return found


def _device(nvml: Any, index: int) -> Plain:
    asked = NvmlSession(nvml)
    ask = asked.ask
    if not ask("handle", lambda: nvml.nvmlDeviceGetHandleByIndex(index)):
        return {"index": index, "errors": asked.errors}
    handle = asked.values.pop("handle")
    ask("uuid", lambda: _uuid(nvml.nvmlDeviceGetUUID(handle)))
    ask("mig", lambda: [int(mode) for mode in nvml.nvmlDeviceGetMigMode(handle)])
    ask("temperature", lambda: int(nvml.nvmlDeviceGetTemperature(handle, _GPU_SENSOR)))
    ask("slowdown", lambda: int(nvml.nvmlDeviceGetTemperatureThreshold(handle, _SLOWDOWN)))
    _either(
        asked,
        "throttle",
        new=lambda: int(nvml.nvmlDeviceGetCurrentClocksEventReasons(handle)),
        old=lambda: int(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),
    )
    ask(
        "ecc_uncorrected",
        lambda: int(nvml.nvmlDeviceGetTotalEccErrors(handle, _UNCORRECTED, _VOLATILE)),
    )
    ask("remapped", lambda: [int(each) for each in nvml.nvmlDeviceGetRemappedRows(handle)])
    ask("retired_pages", lambda: _retired(nvml, handle))
    ask("retire_pending", lambda: int(nvml.nvmlDeviceGetRetiredPagesPendingStatus(handle)))
    _either(
        asked,
        "fabric",
        new=lambda: _fabric(nvml, handle, nvml.c_nvmlGpuFabricInfo_v3_t()),
        old=lambda: _fabric(nvml, handle, nvml.c_nvmlGpuFabricInfoV_t()),
    )
    links = [link for number in range(LINKS_MAX) if (link := _link(nvml, handle, number))]
    return {"index": index, **asked.values, "links": links, "errors": asked.errors}


def _either(
    asked: NvmlSession, name: str, *, new: Callable[[], Any], old: Callable[[], Any]
) -> None:
    """Ask in the new way; in the old one where this driver or binding does not know the new."""
    unknown = (BINDING_FAULT, _FUNCTION_NOT_FOUND, _VERSION_MISMATCH)
    if not asked.ask(name, new) and asked.errors[name] in unknown:
        del asked.errors[name]
        asked.ask(name, old)


def _retired(nvml: Any, handle: Any) -> int:
    """Pages that were taken out of use, for either cause."""
    causes = (_SINGLE_BIT, _DOUBLE_BIT)
    return sum(len(nvml.nvmlDeviceGetRetiredPages(handle, cause)) for cause in causes)


def _fabric(nvml: Any, handle: Any, info: Any) -> Plain:
    nvml.nvmlDeviceGetGpuFabricInfoV(handle, ctypes.pointer(info))
    told = {"state": int(info.state), "status": int(info.status)}
    mask = getattr(info, "healthMask", None)
    return told if mask is None else {**told, "mask": int(mask)}


def _link(nvml: Any, handle: Any, number: int) -> Plain | None:
    """One NVLink with its counters of errors; nothing where there is none."""
    asked = NvmlSession(nvml)
    if not asked.ask("active", lambda: int(nvml.nvmlDeviceGetNvLinkState(handle, number))):
        return None
    if asked.values["active"] == 1:
        for name, counter in _COUNTERS.items():
            asked.ask(name, partial(nvml.nvmlDeviceGetNvLinkErrorCounter, handle, number, counter))
    return {"link": number, **asked.values}


def _uuid(value: Any) -> str:
    text = value.decode("ascii") if isinstance(value, bytes) else str(value)
    return text[:4] + text[4:].lower()


class DiskProbe:
    """Looks at the room of some folders, and whether those that are ``written`` still can be.

    One that was never made yet has nothing to be written; one that was there must not be gone.
    """

    def __init__(
        self, *folders: Path, written: Sequence[Path] = (), wait_s: float = PROBE_S
    ) -> None:
        self._folders, self._wait_s = tuple(dict.fromkeys((*folders, *written))), wait_s
        self._written, self._seen = frozenset(written), set[Path]()
        self._hung: dict[Path, threading.Thread] = {}

    def read(self) -> list[Plain]:
        """Of each folder its room in bytes and files, and the error of writing to it, if any."""
        return [self._folder(folder) for folder in self._folders]

    def _folder(self, folder: Path) -> Plain:
        before = self._hung.get(folder)
        if before is not None and before.is_alive():
            return {"path": str(folder), "write_error": errno.ETIMEDOUT}
        told: Plain = {}

        def look() -> None:
            with suppress(OSError):
                told.update(_room(os.statvfs(folder)))
            if folder.is_dir():
                self._seen.add(folder)
            if folder in self._written & self._seen:
                told["write_error"] = probe_folder(folder)

        thread = threading.Thread(target=look, name="disk-probe", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no room for one more thread, which a job alone can bring about
            return {"path": str(folder), "write_error": errno.EAGAIN}
        thread.join(self._wait_s)
        if thread.is_alive():
            self._hung[folder] = thread
            return {"path": str(folder), "write_error": errno.ETIMEDOUT}
        return {"path": str(folder), **told}


def _room(room: os.statvfs_result) -> Plain:
    if room.f_flag & os.ST_RDONLY:
        return {}
    whole = [room.f_bavail * room.f_frsize, room.f_blocks * room.f_frsize]
    return {"bytes": whole, "files": [room.f_favail, room.f_files]}


def probe_folder(folder: Path) -> int:
    """Write one small file, read it back and take it away; the number of the error, or 0."""
    path, text = folder / PROBE_NAME, os.urandom(PROBE_BYTES)
    flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        file = os.open(path, flags, 0o600)
        try:
            written = os.write(file, text)
            os.fsync(file)
            same = os.pread(file, PROBE_BYTES, 0) == text[:written]
        finally:
            os.close(file)
            os.unlink(path)
    except OSError as error:
        return error.errno or errno.EIO
    return 0 if same and written == PROBE_BYTES else errno.EIO
