"""Sets of nodes as bitmaps: how a filter reaches the hot path without a call per node.

Rules:

- A filter is a set of nodes kept up to date as events arrive. The search reads one bit per node.
- A set belongs to one ledger; its bits are the ledger's node handles. A node that departs leaves
  every set, so that a later node with its handle starts in none.
- ``version`` grows with every change, so a combination of sets can be cached and proven fresh.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeGuard

from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.values import check_integer

HANDLE_MAX = 2**31 - 1
"""Largest handle a node can have."""


class NodeSet:
    """Some of a ledger's nodes."""

    __slots__ = ("bits", "version")

    def __init__(self, size: int = 0) -> None:
        self.bits = bytearray(-(-size // 8))
        self.version = 0

    def add(self, handle: int) -> None:
        """Put a node in."""
        check_integer("handle", handle, low=0, high=HANDLE_MAX)
        if handle >> 3 >= len(self.bits):
            self.grow(handle + 1)
        self.bits[handle >> 3] |= 1 << (handle & 7)
        self.version += 1

    def discard(self, handle: int) -> None:
        """Take a node out, if it is in."""
        if handle in self:
            self.bits[handle >> 3] &= ~(1 << (handle & 7))
            self.version += 1

    def grow(self, size: int) -> None:
        """Make room for handles below ``size``, doubling so that growth stays cheap."""
        missing = -(-size // 8) - len(self.bits)
        if missing > 0:
            # A new object, never a resize: a search may hold the old one's memory.
            self.bits = self.bits + bytearray(max(missing, len(self.bits), 8))

    def __contains__(self, handle: int) -> bool:
        byte = handle >> 3
        return 0 <= byte < len(self.bits) and bool(self.bits[byte] >> (handle & 7) & 1)

    def __len__(self) -> int:
        return int.from_bytes(self.bits, "little").bit_count()


class NodeFilter(Protocol):
    """A hard rule about where a request may land, handed in from outside (isolation, trust)."""

    def nodes_for(self, request: PlacementRequest) -> NodeSet | None:
        """The nodes this rule allows the request to use; ``None`` when it allows all."""


class GangFilter(NodeFilter, Protocol):
    """A rule about the members of one gang, too: it is asked again for each of them."""

    def nodes_beside(self, request: PlacementRequest, placed: Sequence[int]) -> NodeSet | None:
        """Where a further member may go, with others on these nodes; ``None`` for anywhere."""


def judges_gangs(rule: NodeFilter) -> TypeGuard[GangFilter]:
    """Whether the rule is about members of a gang, too; by name, as protocols are slow to ask."""
    return hasattr(rule, "nodes_beside")


class MaskCache:
    """Intersections of node sets, kept while every part is unchanged."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, ...], tuple[tuple[int, ...], list[NodeSet], bytearray]] = {}

    def intersection(self, sets: Sequence[NodeSet], size: int) -> bytearray | None:
        """The bitmap of nodes in all sets, at least ``size`` bits long; ``None`` for no set."""
        if not sets:
            return None
        for part in sets:
            part.grow(size)
        if len(sets) == 1:
            return sets[0].bits
        key = tuple(id(part) for part in sets)
        versions = (size, *(part.version for part in sets))
        kept = self._kept.get(key)
        if kept is not None and kept[0] == versions:
            return kept[2]
        length = -(-size // 8)
        both = ~0
        for part in sets:
            both &= int.from_bytes(part.bits[:length], "little")
        bits = bytearray(both.to_bytes(length, "little"))
        if len(self._kept) >= 256:
            self._kept.clear()
        # The sets are kept alive beside their ids: an id is unique only while its object lives.
        self._kept[key] = (versions, list(sets), bits)
        return bits
