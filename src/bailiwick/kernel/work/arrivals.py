"""What the workload looks like, learned from the requests that the journal tells of.

Rules:

- A request counts once, when it is first answered; waiting and asking again do not count.
- Learning happens right after the arrival that makes it due, so every replica learns the same at
  the same record. Reading never counts, and never changes what was learned.
"""

from __future__ import annotations

from array import array
from typing import Any

from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.workload import Arrivals, learn, lesson_interval, steady_interval
from bailiwick.vocab.values import MILLI
from bailiwick.vocab.words import HardwareGeneration

SHAPES_MAX = 4096
"""Shapes that are counted; beyond it those that came only once are forgotten."""


class ArrivalBook:
    """Arrivals by shape, and the tables last learned from them."""

    __slots__ = ("_tables", "counts", "learn_at", "total")

    def __init__(self) -> None:
        self.counts: dict[Shape, int] = {}
        self.total = 0
        self.learn_at = 1
        self._tables: tuple[int, list[int], list[int]] | None = None

    def note(self, ledger: CapacityLedger, request: PlacementRequest) -> None:
        """Count a request, and learn if it is time."""
        shape = ledger.handles.shapes[ledger.prepare(request).shape]
        self.counts[shape] = self.counts.get(shape, 0) + request.gang_size
        self.total += request.gang_size
        if self.total >= self.learn_at:
            self.learn(ledger)

    def learn(self, ledger: CapacityLedger) -> None:
        """Make new tables from what arrived, and say when to do it again."""
        if len(self.counts) > SHAPES_MAX:
            self.counts = {shape: n for shape, n in self.counts.items() if n > 1}
        rows = [
            Arrivals(n, s.device_count, s.device_milli, ledger.handles.kinds_for(s), s.cpu_milli)
            for s, n in sorted(self.counts.items(), key=_by_text)
        ]
        capacity = [devices * MILLI for devices in ledger.handles.kind_devices]
        cpu_milli = sum(entry.capacity.cpu_milli for entry in ledger.entries.values())
        tables = learn(rows, milli_by_kind=capacity, cpu_milli=cpu_milli)
        self._tables = (tables.inverse_kappa, list(tables.pressure), list(tables.items))
        ledger.engine.set_workload(tables.inverse_kappa, tables.pressure, tables.items)
        if self.total >= 2 * steady_interval(len(ledger)):
            self.counts = {shape: n // 2 for shape, n in self.counts.items() if n > 1}
            self.total //= 2
        self.learn_at = self.total + lesson_interval(self.total, len(ledger))

    def dump(self) -> dict[str, Any]:
        """Counts and tables as plain lists, in one order."""
        order = sorted(self.counts.items(), key=_by_text)
        counts = [[shape_row(shape), count] for shape, count in order]
        return {
            "counts": counts,
            "total": self.total,
            "learn_at": self.learn_at,
            "tables": self._tables,
        }

    def load(self, dumped: dict[str, Any], ledger: CapacityLedger) -> None:
        """Take up what :meth:`dump` told."""
        self.counts = {shape_from(row): count for row, count in dumped["counts"]}
        self.total, self.learn_at = dumped["total"], dumped["learn_at"]
        self._tables = None
        if dumped["tables"] is not None:
            kappa, pressure, items = dumped["tables"]
            self._tables = (kappa, pressure, items)
            ledger.engine.set_workload(kappa, array("q", pressure), array("q", items))


def _by_text(row: tuple[Shape, int]) -> str:
    """One order for all replicas; the words and numbers of a shape do not compare."""
    return repr(row[0])


def shape_row(shape: Shape) -> list[Any]:
    """A shape as a plain list."""
    return [
        shape.cpu_milli,
        shape.mem_bytes,
        shape.block_bytes,
        shape.device_count,
        shape.device_milli,
        None if shape.generation is None else shape.generation.value,
        list(shape.models),
        shape.vram_bytes_min,
        int(shape.partitioned),
    ]


def shape_from(row: list[Any]) -> Shape:
    """The shape that such a list tells."""
    cpu, mem, block, count, milli, generation, models, vram, partitioned = row
    word = None if generation is None else HardwareGeneration(generation)
    return Shape(cpu, mem, block, count, milli, word, tuple(models), vram, bool(partitioned))
