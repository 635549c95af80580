"""Judges how a machine is: readings and limits in, findings out, and what to remember for the next.

Rules:

- It asks nothing but its arguments; the same look after the same looks gives the same findings.
- A GPU is known by its UUID and told by its place in the node's inventory. One that was there and
  is not, or does not answer, is a finding of the driver. So are those that only the node's
  inventory still knows, because the agent began without them: they are told as a number.
- A finding stays as long as its cause does. An XID is over in a moment: it counts for a while.
- Heat and a link that is down fail a machine only if they last; until then they warn.
- What a job can do to a disk (fill it, keep it busy) only warns: else whoever runs a job could
  have the machine taken out of service. It fails only where the agent's own small file cannot be
  written, it lasts, and surely nothing of any job is left there to blame.
- A number that cannot be true is left out, as is what the driver does not tell: never guessed.
- No more findings than can be told, the gravest first.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Final, TypeGuard

from bailiwick.agent.health.limits import HealthLimits
from bailiwick.agent.health.xids import level_of
from bailiwick.agent.machine.nvml import GPU_IS_LOST, RESET_REQUIRED
from bailiwick.agent.words import SourceState
from bailiwick.vocab.health import (
    FINDINGS_MAX,
    GPU_MAX,
    NUMBER_MAX,
    HealthCheck,
    HealthFinding,
    HealthLevel,
)

HW_THERMAL, SW_THERMAL = 0x40, 0x20
UNKNOWN, GPU_NOT_FOUND, IRQ_ISSUE, OPERATING_SYSTEM = 999, 28, 11, 17
XIDS_REMEMBERED: Final = 256
_GONE: Final = (GPU_IS_LOST, RESET_REQUIRED, GPU_NOT_FOUND)
_SICK: Final = (IRQ_ISSUE, OPERATING_SYSTEM, UNKNOWN)
_FABRIC_STARTING, _FABRIC_DONE = 2, 3
_FAIL, _WARN = HealthLevel.FAIL, HealthLevel.WARN
_JOBS_CAN: Final = frozenset(
    (
        *(errno.ENOSPC, errno.EDQUOT, errno.ETIMEDOUT),
        *(errno.ENOMEM, errno.ENFILE, errno.EMFILE, errno.EAGAIN),
    )
)
"""Errors of writing that a job alone can cause, on a disk that is sound."""
_DISK: Final = ("", "disk")


class EccCode(IntEnum):
    """What of a GPU's memory is wrong."""

    UNCORRECTED = 0
    REMAP_FAILED = 1
    REMAP_PENDING = 2
    PAGES_RETIRED = 3
    RETIRE_PENDING = 4


class FabricCode(IntEnum):
    """What of a GPU's links is wrong."""

    LINK_DOWN = 1
    LINK_ERRORS = 2
    MANAGER = 3
    ROUTES = 4


class DiskCode(IntEnum):
    """Of what a disk has too little; an error of writing has its own number (``errno``)."""

    BYTES = 0
    FILES = 1_000


@dataclass(frozen=True, slots=True)
class HealthReadings:
    """One look at a machine, before anything is believed."""

    gpus: Mapping[str, Any]
    disks: Sequence[Mapping[str, Any]] = ()
    clock: Mapping[str, Any] | None = None
    """How far its clock is from the server's (``offset_ms``), give or take ``error_ms``."""
    at_ms: int = 0
    jobs: int | None = None
    """Of how many jobs something is on the disks; nothing where nobody can say, as where a job
    can leave files outside its folder."""
    missing: int = 0
    """GPUs that the node is known with, and that the machine was not reported with."""


@dataclass(frozen=True, slots=True)
class HealthMemory:
    """What earlier looks leave to the next."""

    places: tuple[str, ...] = ()
    """The UUIDs of the GPUs that were there, in the order of the inventory."""
    xids: Mapping[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    """By GPU and number, how many there were and when the last one was."""
    lasting: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """By GPU (none is the machine) and trouble, for how many looks it goes on."""
    links: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """By GPU, the links that were up."""
    link_errors: Mapping[str, int] = field(default_factory=dict)
    """By GPU, the errors that its links had counted."""

    def forget_xids(self) -> HealthMemory:
        """The same without XIDs: a test begins, and looks for itself."""
        return replace(self, xids={})


def judge_health(
    readings: HealthReadings, limits: HealthLimits, *, memory: HealthMemory
) -> tuple[tuple[HealthFinding, ...], HealthMemory]:
    """What is wrong with the machine now, and what to remember."""
    look = _Look(readings, limits, memory)
    found = [
        *look.driver(),
        *look.xids(),
        *(each for device in look.devices.values() for each in look.gpu(device)),
        *look.disks(),
        *_clock(readings.clock, limits),
    ]
    once = {
        (each.check, each.gpu, each.code): each
        for each in sorted(found, key=lambda each: each.order, reverse=True)
    }
    told = sorted(once.values(), key=lambda each: each.order)
    return tuple(told[:FINDINGS_MAX]), look.memory()


class _Look:
    """One look, with what follows from it."""

    def __init__(
        self, readings: HealthReadings, limits: HealthLimits, before: HealthMemory
    ) -> None:
        self._readings, self._limits, self._before = readings, limits, before
        self._is_read = readings.gpus.get("state") == SourceState.READ.value
        listed = _listed(readings.gpus.get("devices")) if self._is_read else ()
        told = [each for each in listed if isinstance(each, Mapping)]
        self.devices = {each["uuid"]: each for each in told if isinstance(each.get("uuid"), str)}
        self._mute = [each for each in told if not isinstance(each.get("uuid"), str)]
        new = tuple(uuid for uuid in self.devices if uuid not in before.places)
        self._places = (before.places + new)[: GPU_MAX + 1]
        self._lasting: dict[tuple[str, str], int] = {}
        self._links = dict(before.links)
        self._link_errors = dict(before.link_errors)
        self._xids = self._remembered()

    def memory(self) -> HealthMemory:
        """What is left to the next look."""
        return HealthMemory(self._places, self._xids, self._lasting, self._links, self._link_errors)

    def _place(self, uuid: str) -> int | None:
        return self._places.index(uuid) if uuid in self._places else None

    # -- driver and XIDs ------------------------------------------------------------------------

    def driver(self) -> Iterator[HealthFinding]:
        """GPUs that were there and do not answer, and those that cannot tell how they are."""
        silent = tuple(self._silent())
        yield from silent
        others = self._readings.missing - sum(each.value for each in silent)
        if others > 0:  # the agent has never seen them
            yield HealthFinding(HealthCheck.DRIVER, _FAIL, value=others)
        for uuid, device in self.devices.items():
            errors = _mapping(device.get("errors"))
            gone = [code for code in _GONE if code in errors.values()]
            if gone:
                yield _driver(_FAIL, self._place(uuid), gone[0])
            elif errors.get("temperature") in _SICK:  # what every GPU can tell
                yield _driver(_WARN, self._place(uuid), errors["temperature"])

    def _silent(self) -> Iterator[HealthFinding]:
        """GPUs that were there and are not listed, or have no name any more."""
        known = len(self._before.places)
        if not self._is_read:
            if known:
                code = _code(self._readings.gpus.get("code"))
                yield HealthFinding(HealthCheck.DRIVER, _FAIL, value=known, code=code)
            return
        codes = [_code(_first(each.get("errors"))) for each in self._mute]
        missing = [uuid for uuid in self._places if uuid not in self.devices]
        for number, uuid in enumerate(missing):
            code = codes[number] if number < len(codes) else 0
            yield _driver(_FAIL, self._place(uuid), code)
        strange = codes[len(missing) :]
        if strange:  # counted by the driver, and never known
            yield HealthFinding(HealthCheck.DRIVER, _FAIL, value=len(strange), code=strange[0])

    def _remembered(self) -> dict[tuple[str, int], tuple[int, int]]:
        now, since = self._readings.at_ms, self._readings.at_ms - self._limits.xid_hold_ms
        kept = {key: (n, at) for key, (n, at) in self._before.xids.items() if at > since}
        for event in _listed(self._readings.gpus.get("xids")):
            uuid, number = (
                event if isinstance(event, list | tuple) and len(event) == 2 else ("", -1)
            )
            if type(number) is int and 0 <= number <= NUMBER_MAX and level_of(number) is not None:
                key = (uuid if isinstance(uuid, str) else "", number)
                kept[key] = (kept.get(key, (0, 0))[0] + 1, now)
        latest = sorted(kept, key=lambda key: (-kept[key][1], key))[:XIDS_REMEMBERED]
        return {key: kept[key] for key in latest}

    def xids(self) -> Iterator[HealthFinding]:
        """What the driver reported, as long as it counts."""
        counts: dict[tuple[int | None, int], int] = {}
        for (uuid, number), (count, _) in self._xids.items():
            key = (self._place(uuid), number)
            counts[key] = counts.get(key, 0) + count
        for (place, number), count in counts.items():
            level = level_of(number) or _WARN
            value = min(count, NUMBER_MAX)
            yield HealthFinding(HealthCheck.XID, level, gpu=place, value=value, code=number)

    # -- one GPU --------------------------------------------------------------------------------

    def gpu(self, device: Mapping[str, Any]) -> Iterator[HealthFinding]:
        """What is wrong with a GPU that answers."""
        place = self._place(device["uuid"])
        yield from self._ecc(device, place)
        yield from self._thermal(device, place)
        yield from self._fabric(device, place)

    def _ecc(self, device: Mapping[str, Any], place: int | None) -> Iterator[HealthFinding]:
        limits = self._limits
        rows = device.get("remapped")
        _, _, pending, failed = rows if _is_numbers(rows, 4) else (0, 0, 0, 0)
        numbers = (
            (EccCode.UNCORRECTED, _FAIL, device.get("ecc_uncorrected"), limits.ecc_uncorrected),
            (EccCode.REMAP_FAILED, _FAIL, failed, 0),
            (EccCode.REMAP_PENDING, _WARN, pending, 0),
            (EccCode.PAGES_RETIRED, _FAIL, device.get("retired_pages"), limits.retired_pages),
            (EccCode.RETIRE_PENDING, _WARN, device.get("retire_pending"), 0),
        )
        for code, level, value, limit in numbers:
            if _is_number(value) and value > limit:
                yield HealthFinding(HealthCheck.ECC, level, place, value, limit, code.value)

    def _thermal(self, device: Mapping[str, Any], place: int | None) -> Iterator[HealthFinding]:
        names = ("temperature", "slowdown", "throttle")
        value, slow, bits = (_number(device.get(name)) for name in names)
        limit = 0
        is_hot = bool(bits & HW_THERMAL)
        if slow > self._limits.thermal_margin_c:
            limit = slow - self._limits.thermal_margin_c
            is_hot = is_hot or value >= slow
        level = self._level(device["uuid"], "hot", is_so=is_hot)
        if limit and value > limit:
            yield HealthFinding(
                HealthCheck.THERMAL, level if is_hot else _WARN, place, value, limit
            )
        for bit, worst in ((HW_THERMAL, level), (SW_THERMAL, _WARN)):
            if bits & bit:
                yield HealthFinding(HealthCheck.THERMAL, worst, place, value, limit, bit)

    def _fabric(self, device: Mapping[str, Any], place: int | None) -> Iterator[HealthFinding]:
        if not _is_divided(device):  # a divided GPU has its links switched off
            yield from self._fabric_links(device, place)
        fabric = _mapping(device.get("fabric"))
        state, status, mask = (_number(fabric.get(name)) for name in ("state", "status", "mask"))
        if state == _FABRIC_DONE and status:
            yield _fabric(_FAIL, place, FabricCode.MANAGER, value=status)
        elif state == _FABRIC_STARTING:
            yield _fabric(_WARN, place, FabricCode.MANAGER, value=state)
        level = _routes(mask)
        if level is not None:
            yield _fabric(level, place, FabricCode.ROUTES, value=mask)

    def _fabric_links(
        self, device: Mapping[str, Any], place: int | None
    ) -> Iterator[HealthFinding]:
        uuid, up, down, errors = device["uuid"], set[int](), set[int](), 0
        for link in _listed(device.get("links")):
            told = _mapping(link)
            if _is_number(number := told.get("link")):
                (up if told.get("active") == 1 else down).add(number)
                counts = (told.get(name) for name in ("replay", "recovery", "crc_flit", "crc_data"))
                errors += sum(count for count in counts if _is_number(count))
        lost = down & self._links.get(uuid, frozenset())
        self._links[uuid] = self._links.get(uuid, frozenset()) | up
        level = self._level(uuid, "down", is_so=bool(lost))
        if lost:
            yield _fabric(level, place, FabricCode.LINK_DOWN, value=len(lost))
        more = errors - self._link_errors.get(uuid, errors)
        self._link_errors[uuid] = errors
        if more > self._limits.link_errors:
            limit = self._limits.link_errors
            yield _fabric(_WARN, place, FabricCode.LINK_ERRORS, value=more, limit=limit)

    # -- disks ----------------------------------------------------------------------------------

    def disks(self) -> Iterator[HealthFinding]:
        """Of all disks the worst for each trouble."""
        disks, limit = self._readings.disks, self._limits.disk_warn_milli
        for code, name in ((DiskCode.BYTES, "bytes"), (DiskCode.FILES, "files")):
            used = max((_used_milli(disk.get(name)) for disk in disks), default=0)
            if used > limit:
                yield HealthFinding(HealthCheck.DISK, _WARN, None, used, limit, code.value)
        told = [disk.get("write_error") for disk in disks]
        errors = [error for error in told if _is_number(error) and error]
        is_nobodys = self._readings.jobs == 0 and not _JOBS_CAN.isdisjoint(errors)
        level = self._level(*_DISK, is_so=is_nobodys)
        for error in sorted({*errors}):
            worst = level if error in _JOBS_CAN else _FAIL
            yield HealthFinding(HealthCheck.DISK, worst, None, errors.count(error), 0, error)

    def _level(self, uuid: str, trouble: str, *, is_so: bool) -> HealthLevel:
        """Whether trouble lasts long enough to be more than a warning."""
        if not is_so:
            return _WARN
        looks = self._before.lasting.get((uuid, trouble), 0) + 1
        self._lasting[uuid, trouble] = looks
        return _FAIL if looks >= self._limits.lasting_looks else _WARN


def _driver(level: HealthLevel, place: int | None, code: int) -> HealthFinding:
    return HealthFinding(HealthCheck.DRIVER, level, place, 1, 0, code)


def _fabric(
    level: HealthLevel, place: int | None, code: FabricCode, *, value: int, limit: int = 0
) -> HealthFinding:
    return HealthFinding(
        HealthCheck.FABRIC, level, place, min(value, NUMBER_MAX), limit, code.value
    )


def _routes(mask: int) -> HealthLevel | None:
    """What the fabric's own mask says: unhealthy routes and a wrong setup fail, the rest warns."""
    slower, unhealthy, late = (mask >> shift & 3 for shift in (0, 4, 6))
    if unhealthy == 1 or mask >> 8 & 0xF > 1:
        return _FAIL
    return _WARN if 1 in (slower, late) else None


def _used_milli(room: object) -> int:
    """How much is used, in thousandths; 0 where it is not told (some disks count no files)."""
    if not _is_numbers(room, 2) or room[1] == 0:
        return 0
    free, whole = room
    return max(0, whole - free) * 1000 // whole


def _clock(clock: Mapping[str, Any] | None, limits: HealthLimits) -> Iterator[HealthFinding]:
    """How far the clock is off at least: what may be the way of the message does not count."""
    told = _mapping(clock)
    offset, error = told.get("offset_ms"), told.get("error_ms")
    if type(offset) is not int or not _is_number(error):
        return
    sure = min(abs(offset) - error, NUMBER_MAX)
    if sure > limits.clock_fail_ms:
        yield HealthFinding(HealthCheck.CLOCK, _FAIL, None, sure, limits.clock_fail_ms)
    elif sure > limits.clock_warn_ms:
        yield HealthFinding(HealthCheck.CLOCK, _WARN, None, sure, limits.clock_warn_ms)


def _listed(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _is_divided(device: Mapping[str, Any]) -> bool:
    modes = device.get("mig")
    return isinstance(modes, list | tuple) and bool(modes) and modes[0] == 1


def _is_number(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= NUMBER_MAX


def _number(value: object) -> int:
    """The number; 0 where it is none."""
    return value if _is_number(value) else 0


def _is_numbers(values: object, count: int) -> TypeGuard[Sequence[int]]:
    return (
        isinstance(values, list | tuple)
        and len(values) == count
        and all(_is_number(each) for each in values)
    )


def _code(value: object) -> int:
    """NVML's own number; what is none is unknown."""
    return value if type(value) is int and 0 <= value <= UNKNOWN else UNKNOWN


def _first(errors: object) -> object:
    return next(iter(_mapping(errors).values()), None)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
