"""In which order cells are asked: from the most free GPU (then CPU) on, as each was last seen.

Rules:

- Whoever is asked first is looked at first: a cell that has less than it was known to have falls
  back to its place. So no cell is asked before another for what it has lost.
- What a cell has won is seen when its turn comes: after each admission the next is looked at.
  Looking at every cell each time would cost more than the decision itself.
- Going through the order changes nothing that another way through would see, but corrections.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator
from typing import Final, TypeAlias

from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.vocab.values import CellId

LOOKS: Final = 1
"""Cells that are looked at after an admission, in turn."""

STALE_MAX: Final = 4
"""Places in the heap for each cell, those that it had once among them."""

_Row: TypeAlias = tuple[int, int, str]
"""Less free GPU and CPU, and the name: the smallest is asked first."""


class CellOrder:
    """The cells that can be reached, by what each had free when it was last seen."""

    def __init__(self) -> None:
        self._ledgers: dict[CellId, CapacityLedger] = {}
        self._known: dict[CellId, _Row] = {}
        self._heap: list[tuple[_Row, CellId]] = []
        self._turns: deque[CellId] = deque()

    def add(self, name: CellId, ledger: CapacityLedger) -> None:
        """One more cell, as it is now."""
        self._ledgers[name] = ledger
        self._turns.append(name)
        self._look(name)

    def remove(self, name: CellId) -> None:
        """A cell that is not to be asked; nothing happens if it was not."""
        if self._ledgers.pop(name, None) is not None:
            del self._known[name]
            self._turns.remove(name)

    def __iter__(self) -> Iterator[CellId]:
        """Every cell once, the one with the most room first."""
        passed: dict[CellId, None] = {}
        try:
            while self._heap:
                row, name = heapq.heappop(self._heap)
                if self._known.get(name) != row or name in passed:
                    continue  # it was seen again since, and stands elsewhere or twice
                seen = _row_of(name, self._ledgers[name])
                if seen > row and self._heap and self._heap[0][0] < seen:
                    self._known[name] = seen
                    heapq.heappush(self._heap, (seen, name))
                    continue
                self._known[name] = seen
                passed[name] = None
                yield name
        finally:
            for name in passed:
                if name in self._known:
                    heapq.heappush(self._heap, (self._known[name], name))

    def refresh(self) -> None:
        """Look at the cell whose turn it is."""
        for _ in range(min(LOOKS, len(self._turns))):
            self._look(self._turns[0])
            self._turns.rotate(-1)

    def _look(self, name: CellId) -> None:
        row = _row_of(name, self._ledgers[name])
        if self._known.get(name) == row:
            return
        self._known[name] = row
        heapq.heappush(self._heap, (row, name))
        if len(self._heap) > STALE_MAX * len(self._known):
            self._heap = [(known, each) for each, known in self._known.items()]
            heapq.heapify(self._heap)


def _row_of(name: CellId, ledger: CapacityLedger) -> _Row:
    cpu_milli, _, _, gpu_milli = ledger.engine.free_totals()
    return -gpu_milli, -cpu_milli, name
