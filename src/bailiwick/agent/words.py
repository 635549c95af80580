"""The closed words of the agent: where a reading comes from, how it went, what is wrong with a GPU.

A source that is not there is no error: the report names it with one of these words.

>>> SourceState.DRIVER_MISSING.human_summary()
'no NVIDIA driver answers on this machine'
"""

from __future__ import annotations

from enum import StrEnum

from bailiwick.vocab.errors import BailiwickError, ErrorCode, InvalidValue


class Unreadable(InvalidValue):
    """The machine told something that its format does not allow; ``field`` names where."""


class CannotAttest(BailiwickError):
    """The machine cannot prove itself now, or not at all: what is missing, and what would help."""

    code = ErrorCode.UNAVAILABLE
    retryable = True


class InventorySource(StrEnum):
    """Who was asked."""

    PSUTIL = "psutil"
    CGROUP = "cgroup"
    NUMA = "numa"
    CACHE = "cache"
    PCI = "pci"
    NVML = "nvml"


class SourceState(StrEnum):
    """How asking a source went."""

    READ = "read"
    ABSENT = "absent"
    PACKAGE_MISSING = "package_missing"
    DRIVER_MISSING = "driver_missing"
    NO_DEVICES = "no_devices"
    NOT_PERMITTED = "not_permitted"
    MALFORMED = "malformed"
    FAILED = "failed"

    def human_summary(self) -> str:
        """What it means, for a person."""
        return _STATE_SUMMARY[self]


_STATE_SUMMARY = {
    SourceState.READ: "read",
    SourceState.ABSENT: "this machine's kernel does not tell it",
    SourceState.PACKAGE_MISSING: "its Python package is not installed (bailiwick[agent] has it)",
    SourceState.DRIVER_MISSING: "no NVIDIA driver answers on this machine",
    SourceState.NO_DEVICES: "it answers, and there is nothing to tell of",
    SourceState.NOT_PERMITTED: "this user may not ask it",
    SourceState.MALFORMED: "what it says cannot be understood, so it is left out",
    SourceState.FAILED: "it answers with an error",
}


class GpuFault(StrEnum):
    """Why a GPU that the driver counts is not part of what the machine offers."""

    GPU_LOST = "gpu_lost"
    RESET_REQUIRED = "reset_required"
    NOT_PERMITTED = "not_permitted"
    MALFORMED = "malformed"
    BEYOND_LIMIT = "beyond_limit"
    FAILED = "failed"

    def human_summary(self) -> str:
        """What it means, for a person."""
        return _FAULT_SUMMARY[self]


_FAULT_SUMMARY = {
    GpuFault.GPU_LOST: "it has fallen off the bus",
    GpuFault.RESET_REQUIRED: "it must be reset first",
    GpuFault.NOT_PERMITTED: "this user may not ask it",
    GpuFault.MALFORMED: "what the driver says of it cannot be understood",
    GpuFault.BEYOND_LIMIT: "one node can offer no more devices",
    GpuFault.FAILED: "the driver answers with an error",
}


class MigMode(StrEnum):
    """Whether a GPU is divided into instances (MIG)."""

    UNSUPPORTED = "unsupported"
    DISABLED = "disabled"
    ENABLED = "enabled"
    UNKNOWN = "unknown"
