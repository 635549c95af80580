"""Nodes by the time at which they close: which of them are open to a term that ends then.

Rules:

- Nodes stand in the order of their times, in blocks of a bounded size. Each block keeps, as bits,
  all nodes but those of the blocks before it: so an answer is a copy of these bits and a walk of at
  most one block, however many nodes and times there are.
- A node that closes at another time changes its bit in the blocks between the two, and no more.

>>> table = ClosingTable()
>>> table.put(3, 1_000)
>>> table.put(5, 2_000)
>>> found = table.before(1_500)
>>> found.nodes, found.latest_ms, 3 in found.open, 5 in found.open
(1, 1000, False, True)
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Container
from typing import Final, NamedTuple

from bailiwick.scheduler.node_set import NodeSet

BLOCK_MAX: Final = 256
"""Nodes of one block."""

_ALL: Final = b"\xff"


class ClosedNodes(NamedTuple):
    """What is closed to a term."""

    open: NodeSet
    """All other nodes."""
    nodes: int
    latest_ms: int
    """When the last of these nodes closes."""


class _Block:
    """Some nodes that stand together."""

    __slots__ = ("others", "rows")

    def __init__(self, rows: list[tuple[int, int]], others: bytearray) -> None:
        self.rows = rows
        """When each closes, and its handle."""
        self.others = others
        """All nodes but those of the blocks before, as bits; those beyond its end are in, too."""


class ClosingTable:
    """When which nodes close."""

    def __init__(self, *, block_max: int = BLOCK_MAX) -> None:
        self._block_max = block_max
        self._blocks = [_Block([], bytearray())]
        self._at_ms: dict[int, int] = {}

    def put(self, handle: int, at_ms: int) -> None:
        """The node closes then, and at no other time."""
        if self._at_ms.get(handle) == at_ms:
            return
        self.drop(handle)
        self._at_ms[handle] = at_ms
        row = at_ms, handle
        place = max(self._place(row), 0)
        block = self._blocks[place]
        insort(block.rows, row)
        for later in self._blocks[place + 1 :]:
            _take_out(later.others, handle)
        if len(block.rows) > self._block_max:
            self._split(place)

    def drop(self, handle: int) -> None:
        """The node does not close."""
        at_ms = self._at_ms.pop(handle, None)
        if at_ms is None:
            return
        row = at_ms, handle
        place = self._place(row)
        rows = self._blocks[place].rows
        del rows[bisect_left(rows, row)]
        for later in self._blocks[place + 1 :]:
            later.others[handle >> 3] |= 1 << (handle & 7)
        if not rows and len(self._blocks) > 1:
            del self._blocks[place]

    def last_before(self, at_ms: int, *, without: Container[int] = ()) -> int | None:
        """The last time before this one at which a node closes: answers are the same up to it."""
        for place in range(self._place((at_ms,)), -1, -1):
            rows = self._blocks[place].rows
            for index in range(bisect_left(rows, (at_ms,)) - 1, -1, -1):
                closes_ms, handle = rows[index]
                if handle not in without:
                    return closes_ms
        return None

    def before(self, at_ms: int) -> ClosedNodes:
        """What closes before this time."""
        place, left = self._place((at_ms,)), NodeSet()
        block = self._blocks[place]
        if place < 0 or not block.rows:
            return ClosedNodes(left, 0, 0)
        count = bisect_left(block.rows, (at_ms,))
        left.bits = bytearray(block.others)
        for _, handle in block.rows[:count]:
            _take_out(left.bits, handle)
        nodes = sum(len(each.rows) for each in self._blocks[:place]) + count
        return ClosedNodes(left, nodes, block.rows[count - 1][0])

    def _place(self, row: tuple[int, ...]) -> int:
        """The last block that does not begin after the row; -1 if there is none."""
        return bisect_right(self._blocks, row, key=_first) - 1

    def _split(self, place: int) -> None:
        block = self._blocks[place]
        half = len(block.rows) // 2
        others = bytearray(block.others)
        for _, handle in block.rows[:half]:
            _take_out(others, handle)
        self._blocks.insert(place + 1, _Block(block.rows[half:], others))
        del block.rows[half:]


def _first(block: _Block) -> tuple[int, ...]:
    return block.rows[0] if block.rows else ()


def _take_out(bits: bytearray, handle: int) -> None:
    """Take a node out of a set of bits, beyond whose end all are in."""
    byte = handle >> 3
    if byte >= len(bits):
        bits.extend(_ALL * (byte + 1 - len(bits)))
    bits[byte] &= ~(1 << (handle & 7))
