"""Sets of nodes as bitmaps: how a filter reaches the hot path without a call per node.

Rules:

- A filter is a set of nodes kept up to date as events arrive. The search reads one bit per node.
- A set belongs to one ledger; its bits are the ledger's node handles. A node that departs leaves
  every set, so that a later node with its handle starts in none.
- Of a node in a set only some devices may be usable, or only the cores of some caches: such limits
  are bits by handle, few, and changed with ``limit_devices`` and ``limit_caches``. Sets together
  leave what each of them leaves.
- A search that asks for devices gets the nodes with a limit apart from all others (``Reach``): it
  looks at them one by one. Who cannot takes the mask alone, in which they are not.
- ``version`` grows with every change, so a combination of sets can be cached and proven fresh.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from typing import NamedTuple, Protocol, TypeGuard

from bailiwick.scheduler.decision import NodesBooked, NodesMaintained
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.values import check_integer

ALL_DEVICES = 0xFFFF
"""Every device that a node can have, as bits."""

HANDLE_MAX = 2**31 - 1
"""Largest handle a node can have."""


class NodeSet:
    """Some of a ledger's nodes."""

    __slots__ = ("_devices", "_limited", "bits", "caches", "version")

    def __init__(self, size: int = 0) -> None:
        self.bits = bytearray(-(-size // 8))
        self.version = 0
        self.devices = {}
        self.caches: dict[int, int] = {}
        """Under which caches of a node cores may be taken, as bits; anywhere on any other node."""

    @property
    def devices(self) -> dict[int, int]:
        """Of which nodes only these devices may be used, as bits; all of any other node."""
        return self._devices

    @devices.setter
    def devices(self, limits: dict[int, int]) -> None:
        self._devices = limits
        self._limited: tuple[int, array[int]] | None = None

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
        self.limit_devices(handle, None)
        self.limit_caches(handle, None)

    def limit_devices(self, handle: int, devices: int | None) -> None:
        """Only these devices of the node may be used; ``None``: all."""
        if self._limit(self._devices, handle, devices):
            self._limited = None

    def limit_caches(self, handle: int, caches: int | None) -> None:
        """Only cores under these caches of the node may be taken; ``None``: under any."""
        self._limit(self.caches, handle, caches)

    def limited(self) -> tuple[int, array[int]]:
        """The nodes with a limit on devices, as bits, and each of them with those, by handle.

        Joined anew only if one changed, which is far more seldom than that nodes come and go.
        """
        if self._limited is None:
            rows = sorted(self._devices.items())
            found = bytearray((rows[-1][0] >> 3) + 1 if rows else 0)
            for handle, _ in rows:
                found[handle >> 3] |= 1 << (handle & 7)
            joined = array("q", chain.from_iterable(rows))
            self._limited = int.from_bytes(found, "little"), joined
        return self._limited

    def _limit(self, kept: dict[int, int], handle: int, bits: int | None) -> bool:
        """Whether that is another limit than before."""
        if kept.get(handle) == bits:
            return False
        if bits is None:
            del kept[handle]
        else:
            kept[handle] = check_integer("bits", bits, low=0, high=2**256 - 1)
        self.version += 1
        return True

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


def uncut(nodes: NodeSet) -> NodeSet:
    """The nodes of which the cores of all caches are open."""
    if not nodes.caches:
        return nodes
    found = NodeSet()
    found.bits, found.devices = bytearray(nodes.bits), dict(nodes.devices)
    for handle in nodes.caches:
        found.discard(handle)
    return found


class NodeFilter(Protocol):
    """A hard rule about where a request may land, handed in from outside (isolation, trust)."""

    def nodes_for(self, request: PlacementRequest) -> NodeSet | None:
        """The nodes this rule allows the request to use; ``None`` when it allows all."""


class GangFilter(NodeFilter, Protocol):
    """A rule about the members of one gang, too: it is asked again for each of them."""

    def nodes_beside(self, request: PlacementRequest, placed: Sequence[int]) -> NodeSet | None:
        """Where a further member may go, with others on these nodes; ``None`` for anywhere."""


class RuledFilter(NodeFilter, Protocol):
    """A filter of several rules, which can say how many nodes each of them closes."""

    def closed_by(self, request: PlacementRequest) -> Mapping[str, int]:
        """How many nodes each rule closes to the request now, by the rule's name."""


def closes_most(rule: RuledFilter, request: PlacementRequest) -> tuple[int, str] | None:
    """Of a filter's rules the one that closes most nodes to the request, with how many."""
    if hasattr(rule, "closes_most"):  # it need not count all for that
        found: tuple[int, str] | None = rule.closes_most(request)
        return found
    return max(((count, name) for name, count in rule.closed_by(request).items()), default=None)


class PolicyFilter(GangFilter, RuledFilter, Protocol):
    """A policy that knows what runs now: what it closes may open again, but for a lasting part."""

    @property
    def lasting(self) -> NodeFilter:
        """The part of it that no waiting clears."""

    def look(self, now_ms: int) -> None:
        """What is asked next is asked as of this time."""

    def without(self, lease_ids: Collection[int]) -> AbstractContextManager[None]:
        """As if these leases had ended, and had left behind what they will."""


def is_policy(rule: NodeFilter) -> TypeGuard[PolicyFilter]:
    """Whether the filter follows time and what runs, and can say what of it lasts."""
    return hasattr(rule, "lasting")


def look_at(filters: Sequence[NodeFilter], now_ms: int) -> None:
    """Have the policies among these filters know as of when they are asked."""
    for each in filters:
        if is_policy(each):
            each.look(now_ms)


def names_rules(rule: NodeFilter) -> TypeGuard[RuledFilter]:
    """Whether the filter can say which of its rules closes how many nodes."""
    return hasattr(rule, "closed_by")


class TellingFilter(RuledFilter, Protocol):
    """A filter with words of its own for whom it keeps out."""

    def told_as(self, request: PlacementRequest) -> NodesMaintained | NodesBooked:
        """The denial of a request that it keeps out."""


def tells_itself(rule: NodeFilter) -> TypeGuard[TellingFilter]:
    """Whether the filter has words of its own for whom it keeps out."""
    return hasattr(rule, "told_as")


def judges_gangs(rule: NodeFilter) -> TypeGuard[GangFilter]:
    """Whether the rule is about members of a gang, too; by name, as protocols are slow to ask."""
    return hasattr(rule, "nodes_beside")


class Reach(NamedTuple):
    """Where a request may go: to some nodes as they are, to others on some of their devices."""

    mask: bytearray | None
    """Nodes without a limit; ``None`` for all."""
    limits: array[int] | None = None
    """Rows of a node and the devices that may be used there, by handle, as an engine takes them."""

    def within(self, handle: int) -> int:
        """The devices that may be used on a node that is in reach."""
        rows = self.limits or ()
        at = 2 * bisect_left(range(0, len(rows), 2), handle, key=rows.__getitem__)
        return rows[at + 1] if at < len(rows) and rows[at] == handle else ALL_DEVICES


ANYWHERE = Reach(None)


def caches_within(sets: Sequence[NodeSet], handle: int) -> int | None:
    """The caches under which these sets let cores be taken on a node; ``None``: under any."""
    found = None
    for part in sets:
        bits = part.caches.get(handle)
        if bits is not None:
            found = bits if found is None else found & bits
    return found


def _limits_of(sets: Sequence[NodeSet], within: Sequence[int]) -> tuple[int, array[int]]:
    """The limits of nodes that are in reach, of all sets together."""
    both = NodeSet()
    for part in sets:
        for handle, bits in part.devices.items():
            if within[handle >> 3] >> (handle & 7) & 1:
                both.devices[handle] = both.devices.get(handle, ALL_DEVICES) & bits
    return both.limited()


class MaskCache:
    """Intersections of node sets, kept while every part is unchanged."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, ...], tuple[tuple[int, ...], list[NodeSet], bytearray]] = {}
        self._last = ANYWHERE
        self._reach: dict[tuple[int, ...], tuple[tuple[int, ...], list[NodeSet], Reach]] = {}

    def reach(self, sets: Sequence[NodeSet], size: int, *, by_device: bool) -> Reach:
        """The nodes in all sets; by device, those with a limit are told apart."""
        for part in sets if by_device else ():
            if part.devices:
                return self._by_device(sets, size)
        if len(sets) == 1 and size <= 8 * len(sets[0].bits):  # as it is for most
            return Reach(sets[0].bits)
        mask = self.intersection(sets, size)
        if self._last.mask is not mask:
            self._last = Reach(mask)
        return self._last

    def _by_device(self, sets: Sequence[NodeSet], size: int) -> Reach:
        key = tuple(id(part) for part in sets)
        versions = (size, *(part.version for part in sets))
        kept = self._reach.get(key)
        if kept is not None and kept[0] == versions:
            return kept[2]
        both = self.intersection(sets, size) or b""
        nodes, limited = int.from_bytes(both, "little"), [p for p in sets if p.devices]
        bits, rows = limited[0].limited()
        if len(limited) > 1 or nodes & bits != bits:
            bits, rows = _limits_of(limited, both)
        mask = bytearray((nodes ^ bits).to_bytes(len(both), "little"))
        if len(self._reach) >= 256:
            self._reach.clear()
        self._reach[key] = (versions, list(sets), Reach(mask, rows))
        return self._reach[key][2]

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
