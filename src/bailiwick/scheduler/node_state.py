"""What a ledger knows of one node: its inventory, its mode, and how much of it is in use."""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.fleet.node import NodeCapacity
from bailiwick.fleet.resources import Resources
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import NodeId


@dataclass(slots=True)
class NodeEntry:
    """One node of a ledger, as kept."""

    id: NodeId
    handle: int
    machine_class: int
    capacity: NodeCapacity
    mode: NodeMode = NodeMode.ACCEPTING
    quarantined: bool = False

    @property
    def takes_leases(self) -> bool:
        """Whether new leases may land here."""
        return self.mode is NodeMode.ACCEPTING and not self.quarantined


@dataclass(frozen=True, slots=True)
class NodeUsage:
    """One node, as told: total = reserved + leased + free, in every dimension."""

    id: NodeId
    mode: NodeMode
    quarantined: bool
    total: Resources
    reserved: Resources
    leased: Resources
    free: Resources
    device_free_milli: tuple[int, ...]
    lease_count: int


@dataclass(frozen=True, slots=True)
class NodeModeTransition:
    """A node went from one mode to another."""

    node: NodeId
    before: NodeMode
    after: NodeMode
