"""Commands about MIG profiles: change those of a node, call it off, and how the node fared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from bailiwick.fleet.node import DEVICES_MAX, NodeCapacity
from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.kernel.checks import check_grace
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.mig import BY_AGENT, PROFILES_MAX, MigFailure, check_profile
from bailiwick.vocab.values import check_integer, check_kind, check_name

WAIT_MS: Final = 15 * 60_000
WAIT_MS_LEAST, WAIT_MS_MOST = 60_000, 86_400_000


@dataclass(frozen=True, slots=True)
class ChangeMig:
    """Empty a node, and have its agent divide some of its GPUs into these instances.

    Without ``profiles`` they are whole again. ``wait_ms`` is how long the agent has for it, once
    the node is empty.
    """

    node: str
    gpus: tuple[int, ...]
    profiles: tuple[str, ...] = ()
    grace_ms: int | None = None
    wait_ms: int = WAIT_MS

    def __post_init__(self) -> None:
        check_name("node", self.node)
        if not 1 <= len(self.gpus) <= DEVICES_MAX or len({*self.gpus}) < len(self.gpus):
            raise InvalidValue("gpus", self.gpus, f"1 to {DEVICES_MAX} GPUs, and none twice")
        for gpu in self.gpus:
            check_integer("gpus", gpu, low=0, high=DEVICES_MAX - 1)
        if len(self.profiles) > PROFILES_MAX:
            raise InvalidValue("profiles", self.profiles, f"at most {PROFILES_MAX} instances")
        for profile in self.profiles:
            check_profile(profile)
        check_grace(self.grace_ms)
        check_integer("wait_ms", self.wait_ms, low=WAIT_MS_LEAST, high=WAIT_MS_MOST)


@dataclass(frozen=True, slots=True)
class CancelMig:
    """Call a change off. A node that was not empty yet takes work again; else it stays closed."""

    node: str

    def __post_init__(self) -> None:
        check_name("node", self.node)


@dataclass(frozen=True, slots=True)
class ReportMig:
    """A node's agent tells how it fared: done and what it has now, or the cause of its failure."""

    node: str
    change_id: int
    cause: MigFailure | None = None
    capacity: NodeCapacity | None = None

    def __post_init__(self) -> None:
        check_name("node", self.node)
        check_integer("change_id", self.change_id, low=0, high=INTEGER_MAX)
        if self.cause is not None:
            check_kind("cause", self.cause, MigFailure)
            if self.cause not in BY_AGENT:
                raise InvalidValue("cause", self.cause, "one that a machine can tell")
        if self.capacity is not None:
            check_kind("capacity", self.capacity, NodeCapacity)


MigCommand: TypeAlias = ChangeMig | CancelMig | ReportMig
