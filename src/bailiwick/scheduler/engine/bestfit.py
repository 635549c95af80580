"""Best fit by tightest-dimension lists, in pure Python.

A node stands in the list of (its class, the dimension where its free fraction is smallest), in
the bucket of that fraction. A request enters each list at its own need in that dimension. Past
the largest of its needs every node of the list is certain to fit, so after a few misses the
search jumps there. One candidate per list is compared by the exact key. Only when no list has
one does a scan decide, so a denial is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiwick.scheduler.engine.protocol import LOG_SIZE
from bailiwick.scheduler.engine.tables import ClassRecord, NodeRecord, ShapeRecord, fits
from bailiwick.vocab.values import MILLI

if TYPE_CHECKING:
    from bailiwick.scheduler.engine.pure import PureEngine

BUCKETS = 1024
MISSES = 16
_PLAIN, _WHOLE, _SHARE = range(3)
_PER_MILLI = BUCKETS / MILLI


def best_fit_key(node: NodeRecord) -> int:
    """What stays free, as parts of a large reference machine; less is a better fit.

    128 cores, 1 TiB, 8 GPUs and 16 TiB of block weigh 25, 25, 40 and 10. The request is the same
    for all nodes, so it drops out.
    """
    return (
        node.cpu * 2147483
        + (node.mem >> 20) * 262144
        + node.idle * 54975581
        + (node.block >> 30) * 6710886
    )


class BestFitLists:
    """The lists of one engine, brought up to date from its change log when asked."""

    def __init__(self, engine: PureEngine) -> None:
        self.engine = engine
        self.seen = -1
        self.classes = 0
        self.filled: list[int] = []  # per list, a big integer whose set bits are its buckets
        self.buckets: list[dict[int, dict[int, None]]] = []
        self.place: list[list[int]] = []  # per node, its bucket in each of the three list sets
        self.steps: list[tuple[float, float, float, float]] = []

    def find(self, shape: ShapeRecord, mask: bytearray | None) -> int:
        """The node this strategy chooses, or -1 when no node fits."""
        self.refresh()
        nodes, filled = self.engine.nodes, self.filled
        if shape.entries is None:
            shape.entries = self._entries(shape)
        best, best_key = -1, 0
        for at, start, sure in shape.entries:
            if not filled[at] >> start:
                continue
            x = self._probe(at, shape, (start, sure), mask)
            if x < 0:
                continue
            key = best_fit_key(nodes[x])
            if best < 0 or key < best_key or (key == best_key and x < best):
                best, best_key = x, key
        return best if best >= 0 else self.scan(shape, mask)

    def _entries(self, shape: ShapeRecord) -> list[tuple[int, int, int]]:
        """For each list a shape can use: the list, the bucket of its need, the sure bucket."""
        entries = []
        which = _PLAIN if not shape.count else _WHOLE if shape.milli == MILLI else _SHARE
        for index, cls in enumerate(self.engine.classes):
            if not class_could(cls, shape):
                continue
            step = self.steps[index]
            gpu = (0.0, shape.count * step[3], shape.milli * _PER_MILLI)[which]
            need = (shape.cpu * step[0], shape.mem * step[1], shape.block * step[2], gpu)
            sure = min(BUCKETS - 1, int(max(need)) + 1)
            for dim in range(4):
                at = (index * 3 + which) * 4 + dim
                entries.append((at, min(BUCKETS - 1, int(need[dim])), sure))
        return entries

    def _probe(
        self, at: int, shape: ShapeRecord, span: tuple[int, int], mask: bytearray | None
    ) -> int:
        """The first fitting node of one list from its need on; jumps to the sure region."""
        engine = self.engine
        nodes, classes, buckets = engine.nodes, engine.classes, self.buckets[at]
        bucket, sure = span
        rest = self.filled[at] >> bucket
        misses = 0
        while rest:
            skip = (rest & -rest).bit_length() - 1
            bucket += skip
            rest >>= skip
            for x in reversed(buckets[bucket]):
                engine.probes += 1
                node = nodes[x]
                if fits(classes[node.cls], node, shape) and allowed(mask, x):
                    return x
                misses += 1
                if misses >= MISSES:
                    break
            jump = 1
            if misses >= MISSES:
                if bucket >= sure:
                    return -1  # only a mask or a mixed node is in the way: scan
                jump, misses = sure - bucket, 0
            rest >>= jump
            bucket += jump
        return -1

    def scan(self, shape: ShapeRecord, mask: bytearray | None) -> int:
        """Exact: the fitting node with the least key, the lowest handle among equals."""
        engine = self.engine
        engine.scans += 1
        best, best_key = -1, 0
        for cls in engine.classes:
            if not class_could(cls, shape):
                continue
            for x in cls.members:
                node = engine.nodes[x]
                if not fits(cls, node, shape) or not allowed(mask, x):
                    continue
                key = best_fit_key(node)
                if best < 0 or (key, x) < (best_key, best):
                    best, best_key = x, key
        return best

    def refresh(self) -> None:
        """Catch up with the change log, or build everything anew."""
        engine = self.engine
        if (
            self.seen >= 0
            and self.classes == len(engine.classes)
            and engine.log_end - self.seen <= LOG_SIZE
        ):
            for x in engine.changes_since(self.seen):
                self._reindex(x)
            self.seen = engine.log_end
            return
        self.classes = len(engine.classes)
        self.steps = [_steps(cls) for cls in engine.classes]
        self.filled = [0] * (self.classes * 12)
        self.buckets = [{} for _ in range(self.classes * 12)]
        self.place = [[-1, -1, -1] for _ in engine.nodes]
        for x in range(len(engine.nodes) - 1, -1, -1):
            self._reindex(x)
        self.seen = engine.log_end
        for shape in engine.shapes:
            shape.entries = None  # there may be new classes to look at

    def _reindex(self, x: int) -> None:
        while len(self.place) <= x:
            self.place.append([-1, -1, -1])
        node = self.engine.nodes[x]
        if not node.eligible:
            for which in range(3):
                self._move(x, which, -1)
            return
        step = self.steps[node.cls]
        least, dim = float(BUCKETS), 0
        for d, free in enumerate((node.cpu, node.mem, node.block)):
            if step[d] and free * step[d] < least:
                least, dim = free * step[d], d
        base = node.cls * 12
        self._move(x, _PLAIN, (base + dim) * BUCKETS + min(BUCKETS - 1, int(least)))
        if not step[3]:
            return
        for which, fraction in ((_WHOLE, node.whole * step[3]), (_SHARE, node.top * _PER_MILLI)):
            d, f = (3, fraction) if fraction <= least else (dim, least)
            at = base + which * 4 + d
            self._move(x, which, at * BUCKETS + min(BUCKETS - 1, int(f)))

    def _move(self, x: int, which: int, to: int) -> None:
        place = self.place[x]
        was = place[which]
        if was == to:
            return
        if was >= 0:
            at, bucket = divmod(was, BUCKETS)
            members = self.buckets[at][bucket]
            del members[x]
            if not members:
                del self.buckets[at][bucket]
                self.filled[at] &= ~(1 << bucket)
        if to >= 0:
            at, bucket = divmod(to, BUCKETS)
            self.buckets[at].setdefault(bucket, {})[x] = None
            self.filled[at] |= 1 << bucket
        place[which] = to


def _steps(cls: ClassRecord) -> tuple[float, float, float, float]:
    cpu, mem, block, devices = (
        BUCKETS / amount if amount else 0.0 for amount in (cls.cpu, cls.mem, cls.block, cls.devices)
    )
    return cpu, mem, block, devices


def class_could(cls: ClassRecord, shape: ShapeRecord) -> bool:
    """Whether an empty machine of the class could take the shape."""
    if cls.cpu < shape.cpu or cls.mem < shape.mem or cls.block < shape.block:
        return False
    return not shape.count or bool(cls.kinds & shape.kinds and cls.devices >= shape.count)


def allowed(mask: bytearray | None, x: int) -> bool:
    """Whether the node is in the mask (no mask: every node is)."""
    return mask is None or bool(mask[x >> 3] >> (x & 7) & 1)
