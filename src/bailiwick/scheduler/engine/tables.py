"""The records of the pure engine, and the two questions every search asks of a node."""

from __future__ import annotations

from dataclasses import dataclass, field

from bailiwick.scheduler.engine.protocol import CLASS_SPOT
from bailiwick.vocab.values import MILLI

ALL_DEVICES = 0xFFFF
"""Every device that a node can have, as bits."""


@dataclass(slots=True)
class ClassRecord:
    """Machines of equal hardware."""

    cpu: int
    mem: int
    block: int
    kind: bytes
    kinds: int
    fabrics: tuple[int, ...] = ()
    """The devices of each fabric as bits, in order of their first; none where it says nothing."""
    members: dict[int, None] = field(default_factory=dict)

    @property
    def devices(self) -> int:
        """GPU devices on each machine."""
        return len(self.kind)


@dataclass(slots=True)
class NodeRecord:
    """One machine: what is free on it, and who holds the rest."""

    cls: int
    cpu: int
    mem: int
    block: int
    device: list[int]
    idle: int = 0
    whole: int = 0
    top: int = 0
    alive: bool = True
    eligible: bool = False
    version: int = 0
    terms: int = 0
    leases: dict[int, None] = field(default_factory=dict)
    # What eviction could give back, by level (spot: 0, others: priority): cpu, mem, block, gpu
    # milli, leases.
    reclaim: list[list[int]] = field(default_factory=lambda: [[0] * 5 for _ in range(4)])


@dataclass(slots=True)
class ShapeRecord:
    """What one member of a request takes, and which kinds of device may serve it."""

    cpu: int
    mem: int
    block: int
    vram: int  # what its devices count for at least
    count: int
    milli: int
    kinds: int
    generation: int
    refs: int = 0
    asks: int = 0
    arrivals: int = 0
    denied_at: int = -1
    live: bool = True
    entries: list[tuple[int, int, int]] | None = None  # where best fit enters which lists


@dataclass(slots=True)
class LeaseRecord:
    """A hold on one node's resources."""

    node: int
    account: int
    shape: int
    gang: int
    devices: int
    priority: int
    lease_class: int
    flags: int
    depth: int
    granted: int
    expires: int
    checkpoint: int
    state: int = 0
    generation: int = 1

    @property
    def level(self) -> int:
        """Where it counts among what could go: a spot lease lowest, whatever its priority."""
        return 0 if self.lease_class == CLASS_SPOT else self.priority


def fits(cls: ClassRecord, node: NodeRecord, shape: ShapeRecord) -> bool:
    """Whether the node can take the shape right now."""
    if not node.eligible or node.cpu < shape.cpu:
        return False
    if node.mem < shape.mem or node.block < shape.block:
        return False
    if not shape.count:
        return True
    if node.whole < shape.count if shape.milli == MILLI else node.top < shape.milli:
        return False
    if not cls.kinds & ~shape.kinds:
        return True
    found = sum(
        free >= shape.milli and shape.kinds >> kind & 1
        for free, kind in zip(node.device, cls.kind, strict=True)
    )
    return found >= shape.count


def usable_devices(cls: ClassRecord, node: NodeRecord, shape: ShapeRecord, within: int) -> int:
    """The devices, of those within, that have the share free and may serve the shape, as bits."""
    found = 0
    for index, kind in enumerate(cls.kind):
        if node.device[index] >= shape.milli and shape.kinds >> kind & 1:
            found |= 1 << index
    return found & within


def fits_within(cls: ClassRecord, node: NodeRecord, shape: ShapeRecord, within: int) -> bool:
    """Whether the node can take the shape on these devices."""
    if not fits(cls, node, shape):
        return False
    if within == ALL_DEVICES:
        return True
    free = usable_devices(cls, node, shape, within) if shape.count else 0
    return free.bit_count() >= shape.count


def choose_devices(
    cls: ClassRecord, node: NodeRecord, shape: ShapeRecord, within: int = ALL_DEVICES
) -> int:
    """The devices a lease gets: the tightest that holds a share, or wholly free ones.

    Those are the first, or where the machine has several fabrics: of as few as possible.
    """
    usable = usable_devices(cls, node, shape, within)
    if shape.milli < MILLI:
        return 1 << min(bits(usable), key=lambda index: node.device[index])
    if not cls.fabrics:
        return lowest(usable, shape.count)
    return _of_few_fabrics(cls.fabrics, usable, shape.count)


def _of_few_fabrics(fabrics: tuple[int, ...], usable: int, left: int) -> int:
    """The smallest fabric that suffices; until one does, all of the largest. First of equals."""
    chosen = 0
    while left > 0:
        here = [usable & fabric for fabric in fabrics if usable & fabric]
        enough = [each for each in here if each.bit_count() >= left]
        if enough:
            return chosen | lowest(min(enough, key=int.bit_count), left)
        most = max(here, key=int.bit_count)
        chosen, usable, left = chosen | most, usable & ~most, left - most.bit_count()
    return chosen


def is_spread(cls: ClassRecord, devices: int) -> bool:
    """Whether these devices are of more than one fabric, of a machine that has several."""
    return sum(1 for fabric in cls.fabrics if devices & fabric) > 1


def lowest(mask: int, count: int) -> int:
    """The lowest set bits, so many of them."""
    return sum(1 << index for index in bits(mask)[:count])


def bits(mask: int) -> list[int]:
    """Positions of the set bits, lowest first."""
    return [i for i in range(mask.bit_length()) if mask >> i & 1]
