"""What will be free on nodes as leases end, each at its expiry.

Rules:

- What should have ended already may end at any moment; what is fenced never ends.
- Members of one request are equal, so how many fit on a node follows from what is free there, and
  it does not matter which devices go first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from bailiwick.scheduler.engine.protocol import FLAG_PINNED
from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_state import NodeEntry


class LeaseEnding(NamedTuple):
    """A lease that ends: when, on which node, and what comes back. Told in this order."""

    at_ms: int
    lease: int
    node: int
    shape: int
    devices: int


def endings(ledger: CapacityLedger, *, now_ms: int, until_ms: int) -> list[LeaseEnding]:
    """All leases that end by then on nodes that take leases, the earliest first."""
    found = []
    for node in ledger.entries.values():
        for lease in ledger.engine.leases_on(node.handle) if node.takes_leases else ():
            fields = ledger.fields(lease)
            at_ms = max(fields.expires_ms, now_ms)
            if at_ms <= until_ms:
                found.append(LeaseEnding(at_ms, lease, node.handle, fields.shape, fields.devices))
    found.sort()
    return found


def ends_on(
    ledger: CapacityLedger, node: int, *, now_ms: int, terms: Mapping[int, int]
) -> Iterator[tuple[int, int | None]]:
    """The leases on a node and when each ends, some by ``terms``; ``None``: never."""
    for lease in ledger.engine.leases_on(node):
        fields = ledger.fields(lease)
        at_ms = terms.get(lease, fields.expires_ms)
        yield lease, None if fields.flags & FLAG_PINNED else max(at_ms, now_ms)


def amounts_of(shape: Shape) -> tuple[int, int, int]:
    """Cpu, memory and block of one member."""
    return shape.cpu_milli, shape.mem_bytes, shape.block_bytes


@dataclass(slots=True)
class FutureRoom:
    """What is free on one node, now or later, and its devices that may serve the shape asked.

    Less than nothing is free where room is kept that leases have yet to leave.
    """

    node: NodeEntry
    amounts: list[int]
    devices: list[int]
    serving: tuple[int, ...]
    members: int = 0

    @classmethod
    def now(cls, ledger: CapacityLedger, node: NodeEntry, *, shape: Shape) -> FutureRoom:
        """What is free on the node at this moment."""
        _, _, cpu, mem, block, devices, _ = ledger.engine.node(node.handle)
        return cls(node, [cpu, mem, block], list(devices), ledger.serving(node, shape))

    def change(self, amounts: Iterable[int], devices: Iterable[int], *, sign: int) -> None:
        """These amounts, and milli of each device, come back (``sign`` 1) or are taken (-1)."""
        for kind, amount in enumerate(amounts):
            self.amounts[kind] += sign * amount
        for index, milli in enumerate(devices):
            self.devices[index] += sign * milli

    def fitting(self, shape: Shape) -> int:
        """How many members fit."""
        rows = zip(self.amounts, amounts_of(shape), strict=True)
        counts = [max(free, 0) // need for free, need in rows if need]
        if shape.device_count:
            counts.append(self.slots(shape, self.serving) // shape.device_count)
        return min(counts)

    def slots(self, shape: Shape, devices: Iterable[int]) -> int:
        """How often these devices could serve one device of the shape."""
        return sum(max(self.devices[index], 0) // shape.device_milli for index in devices)

    def milli_for(self, shape: Shape, members: int) -> list[int]:
        """What so many members would take of each device: of those that fit, the least free."""
        left = list(self.devices)
        for _ in range(members):
            free = (i for i in self.serving if left[i] >= shape.device_milli)
            for index in sorted(free, key=lambda i: (left[i], i))[: shape.device_count]:
                left[index] -= shape.device_milli
        return [was - rest for was, rest in zip(self.devices, left, strict=True)]


def milli_of(shape: Shape, bits: int, *, width: int) -> tuple[int, ...]:
    """What one lease of the shape holds of each device, its devices being told as bits."""
    return tuple(shape.device_milli * (bits >> index & 1) for index in range(width))
