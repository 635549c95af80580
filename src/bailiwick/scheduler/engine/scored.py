"""Strategies that score every node, Weighted and FragmentationAware, in pure Python.

A score depends on the request's shape, the node's state and tables that change rarely (an epoch).
So scores are cached per (shape, node); a question rescores only the nodes in the change log since
the shape was last asked, and nodes in equal states share one computation. Decisions are those of
a plain pass over all nodes: highest score, lowest handle (``plain_find``, kept for the tests).

The fragmentation score of putting a request on a node is the sum of

- how much idle GPU it makes usable for requests drawn from the learned workload (fragmentation),
- three times how much GPU it un-strands: idle GPU beyond what the node's free CPU can feed at the
  workload's CPU per GPU (kappa),
- minus three times the pressure on the kind of device taken: how much of that kind's capacity is
  asked for by name,

in steps of 40 milli, less one step for devices of several fabrics; equal scores go to the first
node.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bailiwick.scheduler.engine.bestfit import allowed
from bailiwick.scheduler.engine.protocol import (
    CACHES_MAX,
    FRAGMENTATION_AWARE,
    LOG_SIZE,
    ONE,
    PRESSURE,
    SCORE_MAX,
    STEP,
    STRAND,
    WEIGHTED,
)
from bailiwick.scheduler.engine.tables import (
    ALL_DEVICES,
    ClassRecord,
    NodeRecord,
    ShapeRecord,
    bits,
    choose_devices,
    fits_within,
    is_spread,
    usable_devices,
)
from bailiwick.vocab.values import MILLI

if TYPE_CHECKING:
    from bailiwick.scheduler.engine.pure import PureEngine

UNFIT = -(2**15)
BLOCK = 64


@dataclass(slots=True)
class Group:
    """Learned requests alike in devices: weights by how much CPU they need, cumulative."""

    n: int
    m: int
    kinds: int
    items: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True)
class Cache:
    """Scores of every node for one shape, with the best of each block of nodes."""

    score: list[int]
    head: list[int]
    seen: int
    epoch: int
    by_state: dict[object, int]


class Scores:
    """The scored strategies of one engine."""

    def __init__(self, engine: PureEngine) -> None:
        self.engine = engine
        self.epoch = {WEIGHTED: 1, FRAGMENTATION_AWARE: 1}
        self.weight = (0, 0, 0, 0)
        self.groups: list[Group] = []
        self.inverse_kappa = 0
        self.pressure: list[int] = [0] * 64
        self.caches: dict[tuple[int, int], Cache] = {}

    def find(self, strategy: int, index: int, mask: bytearray | None) -> int:
        """The node with the highest score, the lowest handle among equals, or -1."""
        shape = self.engine.shapes[index]
        if not shape.asks:
            shape.asks = 1
            return self.plain_find(strategy, shape, mask)
        cache = self._fresh(strategy, index)
        best, top = -1, UNFIT
        for block, head in enumerate(cache.head):
            if head <= top:
                continue
            start = block * BLOCK
            for x, score in enumerate(cache.score[start : start + BLOCK], start):
                if score > top and allowed(mask, x):
                    best, top = x, score
        return best

    def plain_find(self, strategy: int, shape: ShapeRecord, mask: bytearray | None) -> int:
        """The same decision by one pass, without any cache."""
        best, top = -1, UNFIT
        for x in range(len(self.engine.nodes)):
            if allowed(mask, x):
                score, _ = self.score(strategy, shape, x)
                if score > top:
                    best, top = x, score
        return best

    def _fresh(self, strategy: int, index: int) -> Cache:
        engine = self.engine
        key = (strategy, index)
        cache = self.caches.pop(key, None)
        lag = engine.log_end - cache.seen if cache else 0
        if (
            cache is None
            or cache.epoch != self.epoch[strategy]
            or lag > LOG_SIZE
            or lag > len(engine.nodes)
        ):
            cache = Cache([], [], 0, self.epoch[strategy], {})
            changed = list(range(len(engine.nodes)))
        else:
            changed = list(dict.fromkeys(engine.changes_since(cache.seen)))
        cache.score.extend([UNFIT] * (len(engine.nodes) - len(cache.score)))
        for x in changed:
            cache.score[x] = self._score_by_state(strategy, index, x, memo=cache.by_state)
        blocks = {x // BLOCK for x in changed}
        cache.head.extend([UNFIT] * (-(-len(engine.nodes) // BLOCK) - len(cache.head)))
        for block in blocks:
            cache.head[block] = max(cache.score[block * BLOCK : (block + 1) * BLOCK])
        cache.seen = engine.log_end
        while len(self.caches) >= CACHES_MAX:
            del self.caches[next(iter(self.caches))]
        self.caches[key] = cache  # last in the dict: most recently asked
        return cache

    def _score_by_state(self, strategy: int, index: int, x: int, *, memo: dict[object, int]) -> int:
        node = self.engine.nodes[x]
        if not node.eligible:
            return UNFIT
        state = (node.cls, node.cpu, node.mem, node.block, *node.device)
        score = memo.get(state)
        if score is None:
            if len(memo) > LOG_SIZE:
                memo.clear()
            score = memo[state] = self.score(strategy, self.engine.shapes[index], x)[0]
        return score

    def drop(self, index: int) -> None:
        """Forget what is cached for a shape."""
        for key in [k for k in self.caches if k[1] == index]:
            del self.caches[key]

    def score(
        self, strategy: int, shape: ShapeRecord, x: int, within: int = ALL_DEVICES
    ) -> tuple[int, int]:
        """Score and devices (of those within) on one node; ``UNFIT`` when it cannot take it."""
        node = self.engine.nodes[x]
        cls = self.engine.classes[node.cls]
        if not fits_within(cls, node, shape, within):
            return UNFIT, 0
        self.engine.rescored += 1
        if strategy == WEIGHTED:
            return self._weighted(shape, node, cls, within)
        return self._fragmentation(shape, node, cls, within)

    def _weighted(
        self, shape: ShapeRecord, node: NodeRecord, cls: ClassRecord, within: int
    ) -> tuple[int, int]:
        left = (
            (node.cpu - shape.cpu, cls.cpu),
            (node.mem - shape.mem, cls.mem),
            (node.block - shape.block, cls.block),
            (node.idle - shape.count * shape.milli, cls.devices * MILLI),
        )
        total = sum(
            weight * (free * 1024 // capacity)
            for weight, (free, capacity) in zip(self.weight, left, strict=True)
            if capacity
        )
        devices = choose_devices(cls, node, shape, within) if shape.count else 0
        return _clamp(-total // 256 - is_spread(cls, devices)), devices

    def _fragmentation(
        self, shape: ShapeRecord, node: NodeRecord, cls: ClassRecord, within: int
    ) -> tuple[int, int]:
        before = self._usable(cls, node.cpu, node.device)
        cpu = node.cpu - shape.cpu
        options = [choose_devices(cls, node, shape, within)] if shape.count else [0]
        if shape.count and shape.milli < MILLI:
            first: dict[tuple[int, int], int] = {}
            for i in bits(usable_devices(cls, node, shape, within)):
                first.setdefault((node.device[i], cls.kind[i]), 1 << i)
            options = list(first.values())
        best, best_devices = None, 0
        for devices in options:
            after = list(node.device)
            pressure = 0
            for i in bits(devices):
                after[i] -= shape.milli
                pressure += self.pressure[cls.kind[i]] * shape.milli
            idle = node.idle - shape.count * shape.milli
            gain = (node.idle - idle) * ONE - (before - self._usable(cls, cpu, after))
            gain += STRAND * (self._stranded(node.idle, node.cpu) - self._stranded(idle, cpu))
            gain -= PRESSURE * pressure
            if best is None or gain > best:
                best, best_devices = gain, devices
        assert best is not None
        # As long as others serve as well, work without a GPU keeps off machines that have one, and
        # work with several keeps off machines where they would be of several fabrics.
        aside = not shape.count and bool(cls.devices)
        spread = is_spread(cls, best_devices)
        return _clamp((best + STEP // 2) // STEP - aside - spread), best_devices

    def _usable(self, cls: ClassRecord, cpu: int, device: list[int]) -> int:
        """Weighted GPU milli that requests drawn from the learned workload could use."""
        total = 0
        for group in self.groups:
            if not cls.kinds & group.kinds or group.items[0][0] > cpu:
                continue
            usable = [
                free
                for free, kind in zip(device, cls.kind, strict=True)
                if free >= group.m and group.kinds >> kind & 1
            ]
            if len(usable) < group.n:
                continue
            weight = 0
            for needed, cumulative in group.items:
                if needed > cpu:
                    break
                weight = cumulative
            total += weight * sum(usable)
        return total

    def _stranded(self, idle: int, cpu: int) -> int:
        return max(0, idle * ONE - cpu * self.inverse_kappa)


def _clamp(score: int) -> int:
    return max(-SCORE_MAX, min(SCORE_MAX, score))
