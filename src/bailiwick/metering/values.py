"""What the meter is told and what it says: shares, segments, sums, and the answers to a switch.

Rules:

- Values only; what they mean is decided in :mod:`bailiwick.metering.meter`.
- Intervals are half-open, in integer milliseconds.
- Those that a switch makes by the million are named tuples, which cost a third of a frozen
  dataclass to make and can change as little.

>>> from bailiwick.metering.owners import IDLE
>>> Segment(Share("node-1", ResourceKind.GPU_MILLI), 500, IDLE, 1_000, 3_000, 7, 9).used
1000000
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from bailiwick.metering.owners import Account, Owner, Payer
from bailiwick.vocab.words import HardwareGeneration, ResourceKind


@dataclass(frozen=True, slots=True)
class Share:
    """One metered thing: a device of a node, or all of another resource of it."""

    node: str
    kind: ResourceKind
    index: int = 0
    generation: HardwareGeneration | None = None


class Segment(NamedTuple):
    """For ``from_ms <= t < to_ms``, this amount of the share was this owner's."""

    share: Share
    amount: int
    owner: Owner
    from_ms: int
    to_ms: int
    from_seq: int
    to_seq: int
    """The records that made it this owner's, and that ended this stretch."""

    @property
    def used(self) -> int:
        """Amount times milliseconds: of a GPU device, micro-GPU-seconds."""
        return self.amount * (self.to_ms - self.from_ms)


@dataclass(frozen=True, slots=True)
class Line:
    """What sums are kept by."""

    kind: ResourceKind
    generation: HardwareGeneration | None
    payer: Payer


class Use(NamedTuple):
    """What one account used of one kind of resource for ``from_ms <= t < to_ms``."""

    account: Account
    kind: ResourceKind
    from_ms: int
    to_ms: int
    used: int
    segments: int
    """How many segments that adds up."""
    first_seq: int
    last_seq: int
    """The first and the last record that had to do with it."""


@dataclass(frozen=True, slots=True)
class Balance:
    """All that was owned of one kind and generation, and all that there was to own."""

    kind: ResourceKind
    generation: HardwareGeneration | None
    owned: int
    capacity: int


@dataclass(frozen=True, slots=True)
class Part:
    """Some amount of a share, with one owner since its cursor."""

    number: int
    share: Share
    amount: int
    owner: Owner
    cursor_ms: int


class Switched(NamedTuple):
    """The guard held. ``late_ms`` is by how much the time came too late, and was clamped."""

    charged_ms: int
    late_ms: int


@dataclass(frozen=True, slots=True)
class GuardRefused:
    """The part is not held by the owner that was expected; nothing changed."""

    part: int
    expected: Owner
    found: Owner


@dataclass(frozen=True, slots=True)
class Taken:
    """A new part has the new owner now."""

    part: int


@dataclass(frozen=True, slots=True)
class Short:
    """Less of the share is free than was wanted; nothing changed."""

    wanted: int
    found: int


SwitchAnswer: TypeAlias = Switched | GuardRefused
TakeAnswer: TypeAlias = Taken | Short
