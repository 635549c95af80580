"""Sentences for people, made here and only here, from the library's words and numbers.

A closed word is always shown as it is spelled; what stands beside it explains it.
"""

from __future__ import annotations

from bailiwick import (
    CapacityDenied,
    PlacementRequest,
    QuotaDenied,
    RightsDenied,
)
from bailiwick.demo.fleet import HOUR_MS
from bailiwick.phrases.amounts import gpus, short_amount
from bailiwick.phrases.denials import denial_numbers

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
GPU_HOUR = 1_000 * HOUR_MS
"""One GPU for one hour, in milli-shares times milliseconds."""


def moment(at_ms: int) -> str:
    """A simulated time: weekday and clock."""
    days, minutes = divmod(at_ms // 60_000, 1440)
    return f"{DAYS[days % 7]} {minutes // 60:02}:{minutes % 60:02}"


def duration(ms: int) -> str:
    """A length of time, as one would say it."""
    minutes = ms / 60_000
    if minutes < 1:
        return "at once"
    if minutes < 90:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.1f} h" if minutes < 2880 else f"{minutes / 1440:.1f} days"


def percent(part: float, whole: float = 1.0) -> str:
    """A part of a whole."""
    return f"{100 * part / whole:.0f}%" if whole else "·"


def gpu_hours(micros: int) -> str:
    """GPU time in hours; small amounts keep a decimal."""
    hours = micros / GPU_HOUR
    return f"{hours:,.0f}" if hours >= 100 or not micros else f"{hours:,.1f}"


def denial(detail: QuotaDenied | CapacityDenied | RightsDenied) -> str:
    """The numbers behind a denial, on the campus's clock."""
    return denial_numbers(detail, when=moment, late=duration)


def asks(request: PlacementRequest) -> str:
    """What a request is for, in one line."""
    each = f"{request.cpu_milli // 1000} cores, {short_amount('mem_bytes', request.mem_bytes)}"
    if request.device_count:
        family = request.generation or "GPU of any generation"
        each = f"{gpus(request.gpu_milli_total)} {family}, {each}"
    members = f"{request.gang_size} members, each " if request.gang_size > 1 else ""
    return f"{members}{each}; {request.priority}, {request.lease_class}"
