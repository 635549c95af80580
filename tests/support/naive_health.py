"""What is wrong with a machine, from the whole history of looks at it: slow, and with no memory.

The reference for :mod:`bailiwick.agent.health.judge`, for readings that are well-formed.
"""

from __future__ import annotations

from typing import Any

from bailiwick.agent.health.judge import HealthReadings
from bailiwick.agent.health.limits import HealthLimits
from bailiwick.agent.health.xids import XIDS

Row = tuple[str, str, int | None, int, int, int]
COUNTERS = ("replay", "recovery", "crc_flit", "crc_data")


def naive_findings(history: list[HealthReadings], limits: HealthLimits) -> set[Row]:
    """Everything that is wrong after these looks, as (level, check, gpu, value, limit, code)."""
    last = history[-1]
    order = places(history)
    found = {
        *driver(history),
        *xids(history, limits),
        *disks(history, limits),
        *clock(last, limits),
    }
    for place, uuid in enumerate(order):
        past = [device_of(look, uuid) for look in history]
        if past[-1] is not None:
            rows = (*ecc(past[-1], limits), *thermal(past, limits), *fabric(past, limits))
            found |= {(level, check, place, *numbers) for level, check, *numbers in rows}
    return found


def devices(look: HealthReadings) -> list[dict[str, Any]]:
    return look.gpus.get("devices", []) if look.gpus["state"] == "read" else []


def device_of(look: HealthReadings, uuid: str) -> dict[str, Any] | None:
    return next((each for each in devices(look) if each.get("uuid") == uuid), None)


def places(history: list[HealthReadings]) -> list[str]:
    named = [each["uuid"] for look in history for each in devices(look) if "uuid" in each]
    return list(dict.fromkeys(named))


def driver(history: list[HealthReadings]) -> set[Row]:
    last, before = history[-1], places(history[:-1])
    if last.gpus["state"] != "read":
        return {("fail", "driver", None, len(before), 0, last.gpus["code"])} if before else set()
    order = places(history)
    codes = [each["errors"]["handle"] for each in devices(last) if "uuid" not in each]
    missing = [uuid for uuid in order if device_of(last, uuid) is None]
    found: set[Row] = set()
    for uuid in missing:
        code = codes.pop(0) if codes else 0
        found.add(("fail", "driver", order.index(uuid), 1, 0, code))
    if codes:
        found.add(("fail", "driver", None, len(codes), 0, codes[0]))
    for uuid in order:
        errors = (device_of(last, uuid) or {}).get("errors", {})
        gone = [code for code in (15, 16, 28) if code in errors.values()]
        if gone:
            found.add(("fail", "driver", order.index(uuid), 1, 0, gone[0]))
        elif errors.get("temperature") in (11, 17, 999):
            found.add(("warn", "driver", order.index(uuid), 1, 0, errors["temperature"]))
    return found


def xids(history: list[HealthReadings], limits: HealthLimits) -> set[Row]:
    order, now = places(history), history[-1].at_ms
    counts: dict[tuple[str, int | None, int], int] = {}
    told = [
        (uuid, number, look.at_ms) for look in history for uuid, number in look.gpus.get("xids", [])
    ]
    for uuid, number in {(uuid, number) for uuid, number, _ in told}:
        level = XIDS[number].level if number in XIDS else "warn"
        times = [at for a, b, at in told if (a, b) == (uuid, number)]
        if level is None or times[-1] <= now - limits.xid_hold_ms:
            continue
        count = 0
        for at, previous in zip(times, [times[0], *times], strict=False):
            count = count + 1 if previous > at - limits.xid_hold_ms else 1
        place = order.index(uuid) if uuid in order else None
        key = (str(level), place, number)
        counts[key] = counts.get(key, 0) + count
    return {(level, "xid", place, count, 0, n) for (level, place, n), count in counts.items()}


def ecc(device: dict[str, Any], limits: HealthLimits) -> list[Any]:
    found: list[Any] = []
    if device["ecc_uncorrected"] > limits.ecc_uncorrected:
        found.append(("fail", "ecc", device["ecc_uncorrected"], limits.ecc_uncorrected, 0))
    if device["remapped"][3]:
        found.append(("fail", "ecc", 1, 0, 1))
    if device["remapped"][2]:
        found.append(("warn", "ecc", 1, 0, 2))
    return found


def thermal(past: list[dict[str, Any] | None], limits: HealthLimits) -> list[Any]:
    def is_hot(device: dict[str, Any] | None) -> bool:
        if device is None:
            return False
        return device["temperature"] >= device["slowdown"] or bool(device["throttle"] & 64)

    device = past[-1]
    assert device is not None
    level = "fail" if trailing([is_hot(each) for each in past]) >= limits.lasting_looks else "warn"
    limit, value = device["slowdown"] - limits.thermal_margin_c, device["temperature"]
    found: list[Any] = []
    if value > limit:
        found.append((level if is_hot(device) else "warn", "thermal", value, limit, 0))
    if device["throttle"] & 64:
        found.append((level, "thermal", value, limit, 64))
    if device["throttle"] & 32:
        found.append(("warn", "thermal", value, limit, 32))
    return found


def fabric(past: list[dict[str, Any] | None], limits: HealthLimits) -> list[Any]:
    device, found = past[-1], list[Any]()
    assert device is not None
    state, status = device["fabric"]["state"], device["fabric"]["status"]
    if state == 3 and status:
        found.append(("fail", "fabric", status, 0, 3))
    if state == 2:
        found.append(("warn", "fabric", 2, 0, 3))
    if device["mig"][0] == 1:
        return found

    def whole(each: dict[str, Any] | None) -> bool:
        return each is not None and each["mig"][0] == 0

    def lost(at: int) -> int:
        now = past[at]
        if now is None or not whole(now):
            return 0
        ever = {
            link["link"]
            for each in past[:at]
            if each is not None and whole(each)
            for link in each["links"]
            if link["active"]
        }
        return sum(link["link"] in ever and not link["active"] for link in now["links"])

    if lost(len(past) - 1):
        looks = trailing([lost(at) > 0 for at in range(len(past))])
        level = "fail" if looks >= limits.lasting_looks else "warn"
        found.append((level, "fabric", lost(len(past) - 1), 0, 1))
    sums = [
        sum(link.get(name, 0) for link in each["links"] for name in COUNTERS)
        for each in past
        if each is not None and whole(each)
    ]
    if len(sums) > 1 and sums[-1] - sums[-2] > limits.link_errors:
        found.append(("warn", "fabric", sums[-1] - sums[-2], limits.link_errors, 2))
    return found


def disks(history: list[HealthReadings], limits: HealthLimits) -> set[Row]:
    look = history[-1]
    found: set[Row] = set()
    for name, code in (("bytes", 0), ("files", 1000)):
        rooms = [disk[name] for disk in look.disks if name in disk and disk[name][1]]
        used = max(((whole - free) * 1000 // whole for free, whole in rooms), default=0)
        if used > limits.disk_warn_milli:
            found.add(("warn", "disk", None, used, limits.disk_warn_milli, code))
    errors = [disk.get("write_error", 0) for disk in look.disks]
    full = [
        each.jobs == 0 and any(disk.get("write_error") in (28, 110) for disk in each.disks)
        for each in history
    ]
    for error in errors:
        is_sure = error not in (28, 110) or trailing(full) >= limits.lasting_looks
        if error:
            level = "fail" if is_sure else "warn"
            found.add((level, "disk", None, errors.count(error), 0, error))
    return found


def clock(look: HealthReadings, limits: HealthLimits) -> set[Row]:
    if look.clock is None:
        return set()
    sure = abs(look.clock["offset_ms"]) - look.clock["error_ms"]
    for level, limit in (("fail", limits.clock_fail_ms), ("warn", limits.clock_warn_ms)):
        if sure > limit:
            return {(level, "clock", None, sure, limit, 0)}
    return set()


def trailing(truths: list[bool]) -> int:
    """How many of the last are true in a row."""
    return next((at for at, each in enumerate(reversed(truths)) if not each), len(truths))
