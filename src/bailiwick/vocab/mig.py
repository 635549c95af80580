"""Words of repartitioning: how far a change of MIG profiles has come, and why one failed.

>>> check_profile("3g.71gb")
'3g.71gb'
>>> MigFailure.IN_USE.human_summary()
'something still runs on the GPU'
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from bailiwick.vocab.errors import InvalidValue

PROFILES_MAX: Final = 8
"""Instances of one GPU: no driver makes more."""

_PROFILE = re.compile(r"[0-9]{1,2}g\.[0-9]{1,4}gb(?:[+-][a-z]{1,8}(?:\.[a-z]{1,8})?)?\Z", re.ASCII)


class MigPhase(StrEnum):
    """How far a change of MIG profiles has come."""

    DRAINING = "draining"
    """Nothing new starts on the node, and what runs there has to go."""
    REPARTITIONING = "repartitioning"
    """The node is empty, and its agent is told what to make of its GPUs."""
    FAILED = "failed"
    """It came to nothing. The node stays closed until somebody has looked."""


class MigOutcome(StrEnum):
    """How a change of MIG profiles ended."""

    DONE = "done"
    FAILED = "failed"


class MigFailure(StrEnum):
    """Why a change of MIG profiles failed."""

    REFUSED_BY_DRIVER = "refused_by_driver"
    NOT_PERMITTED = "not_permitted"
    NOT_SUPPORTED = "not_supported"
    IN_USE = "in_use"
    RESET_REQUIRED = "reset_required"
    NO_NVML = "no_nvml"
    PROFILE_UNKNOWN = "profile_unknown"
    DOES_NOT_FIT = "does_not_fit"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    FENCE_LOST = "fence_lost"
    DEPARTED = "departed"

    def human_summary(self) -> str:
        """What it means, for a person."""
        return _SUMMARY[self]


_SUMMARY: Final = {
    MigFailure.REFUSED_BY_DRIVER: "the driver answers with an error",
    MigFailure.NOT_PERMITTED: "the agent's user may not divide GPUs",
    MigFailure.NOT_SUPPORTED: "the GPU cannot be divided",
    MigFailure.IN_USE: "something still runs on the GPU",
    MigFailure.RESET_REQUIRED: "the GPU has to be reset before its mode counts",
    MigFailure.NO_NVML: "no NVIDIA driver answers on the machine",
    MigFailure.PROFILE_UNKNOWN: "the GPU has no such profile",
    MigFailure.DOES_NOT_FIT: "the GPU has no room for all of these instances",
    MigFailure.TIMED_OUT: "the node's agent did not answer in time",
    MigFailure.CANCELLED: "an operator called it off",
    MigFailure.FENCE_LOST: "a teardown on the node was never confirmed",
    MigFailure.DEPARTED: "the machine went away meanwhile",
}

BY_AGENT: Final = frozenset(
    (
        MigFailure.REFUSED_BY_DRIVER,
        MigFailure.NOT_PERMITTED,
        MigFailure.NOT_SUPPORTED,
        MigFailure.IN_USE,
        MigFailure.RESET_REQUIRED,
        MigFailure.NO_NVML,
        MigFailure.PROFILE_UNKNOWN,
        MigFailure.DOES_NOT_FIT,
    )
)
"""The causes that only the machine itself can tell; the others follow from commands and time."""


def check_profile(value: object) -> str:
    """A profile as the driver names it, without the word ``MIG`` before it."""
    if not isinstance(value, str) or not _PROFILE.match(value):
        raise InvalidValue("profiles", value, "the name of a MIG profile, such as 3g.71gb")
    return value
