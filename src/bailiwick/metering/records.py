"""What the meter's fold reads of a journal, and what it says of records that do not fit.

Rules:

- A record is anything with the fields of :class:`FoldedRecord`; bodies are plain mappings. So
  the meter needs nothing of the journal, and other sources can be folded by the same table.
- Every record says whether it moves a share: to say nothing is a meaning too.
- What does not fit is a finding with its numbers, never a guess.

>>> device_generations({"resources": {"gpu_milli": 1000}, "gpu_generation": "nvidia_hopper"})
(<HardwareGeneration.NVIDIA_HOPPER: 'nvidia_hopper'>,)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from bailiwick.vocab.values import MILLI
from bailiwick.vocab.words import HardwareGeneration, ResourceKind


class MeterFindingWord(StrEnum):
    """What does not fit in the records that were folded."""

    TIME_WENT_BACK = "time_went_back"
    LATE = "late"
    """It says since when, and somebody was charged for some of that time already."""
    OVERCOMMITTED = "overcommitted"
    """More was granted than is free: this lease is not metered, it overlaps with others."""
    ALREADY_HELD = "already_held"
    UNKNOWN_LEASE = "unknown_lease"
    ALREADY_REGISTERED = "already_registered"
    UNKNOWN_NODE = "unknown_node"
    TOLD_BEYOND_HELD = "told_beyond_held"
    """An app told more of a unit of time than its members held then."""


@dataclass(frozen=True, slots=True)
class MeterFinding:
    """One record that does not fit, and by how much."""

    word: MeterFindingWord
    seq: int
    subject: str
    late_ms: int = 0
    wanted: int = 0
    found: int = 0


class FoldedRecord(Protocol):
    """What the fold reads of a record."""

    @property
    def seq(self) -> int:
        """Its number in the journal."""

    @property
    def at_ms(self) -> int:
        """When it was written."""

    @property
    def kind(self) -> str:
        """Which kind it is of."""

    @property
    def moves_shares(self) -> bool:
        """Whether it moves a share to another owner; the fold must have a meaning for it then."""

    @property
    def tenant(self) -> str | None:
        """Whose it is."""

    @property
    def project(self) -> str | None:
        """Of which project of the tenant."""

    @property
    def body(self) -> Mapping[str, Any]:
        """What it tells."""


def device_generations(body: Mapping[str, Any]) -> tuple[HardwareGeneration, ...]:
    """The generation of each of a node's devices, in the order of their indices."""
    words = body.get("gpu_generations")
    if words is None:
        word = body.get("gpu_generation", HardwareGeneration.OTHER)
        words = (word,) * (body["resources"].get(ResourceKind.GPU_MILLI, 0) // MILLI)
    return tuple(HardwareGeneration(word) for word in words)
