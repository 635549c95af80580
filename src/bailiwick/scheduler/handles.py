"""Names and requests as the engine's integers: kinds of device, classes, shapes, accounts.

Rules:

- Interning is exact: two requests share a shape only if no rule can tell them apart.
- Which kinds of device may serve a shape is worked out here (generation, model, memory,
  partitioning), and again for every shape when a new kind appears.
- Shapes and accounts that no lease uses any more are swept, so one-off requests do not pile up;
  ``epoch`` grows with each sweep, and integers prepared before it must be looked up again. It
  grows too when devices come or go, since what a request counts for at least hangs on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.scheduler.engine import Engine
from bailiwick.scheduler.engine.protocol import DEPTH_SHIFT, KINDS_MAX, NODE_AMOUNT_MAX
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.quota_rows import vram_held
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.rights.eviction_table import evictable_by
from bailiwick.scheduler.workload import Arrivals
from bailiwick.vocab.errors import InvalidValue, LimitReached
from bailiwick.vocab.values import AccountingTag, ProjectId, TenantId
from bailiwick.vocab.words import GENERATIONS, Exclusivity, HardwareGeneration

if TYPE_CHECKING:
    from bailiwick.scheduler.decision import LargerThanAnyNode, NoSuchHardware

IDLE_MAX = 4096
"""Unused shapes or accounts kept before a sweep."""

ClassKey: TypeAlias = tuple[int, int, int, bytes, bytes]
"""Cores, memory and block storage of a machine; the kind of each device, and its fabric."""

OPERATOR_ACCOUNT = 0
"""The engine's account that belongs to no tenant."""


@dataclass(frozen=True, slots=True)
class DeviceKind:
    """What tells one device from another for a request."""

    generation: HardwareGeneration
    model: str
    vram_bytes: int
    partitionable: bool

    @classmethod
    def of(cls, device: GpuDevice) -> DeviceKind:
        """The kind of a device."""
        return cls(device.generation, device.model, device.vram_bytes, device.partitionable)


def fabrics_of(devices: Sequence[GpuDevice]) -> bytes:
    """The number of each device's fabric, in order of their first devices.

    A device that is joined to no other is a fabric of its own. Nothing is said where it makes no
    difference: all are joined, or none is.

    >>> named = [GpuDevice(HardwareGeneration.OTHER, fabric=name) for name in ("a", "b", "b", "")]
    >>> list(fabrics_of(named)), fabrics_of(named[1:3]), fabrics_of(named[:2])
    ([0, 1, 1, 2], b'', b'')
    """
    numbers: dict[object, int] = {}
    names = [device.fabric or index for index, device in enumerate(devices)]
    found = bytes(numbers.setdefault(name, len(numbers)) for name in names)
    return found if 1 < len(numbers) < len(found) else b""


class Shape(NamedTuple):
    """What one member of a request takes, and of which devices.

    A tuple, because it is made and hashed for every request.
    """

    cpu_milli: int
    mem_bytes: int
    block_bytes: int
    device_count: int
    device_milli: int
    generation: HardwareGeneration | None
    models: tuple[str, ...]
    vram_bytes_min: int
    partitioned: bool
    vram_bytes_max: int | None = None
    """For who seeks devices with no more memory than that; what leases hold has no such bound."""

    @classmethod
    def of(cls, request: PlacementRequest) -> Shape:
        """The shape of a request."""
        return cls(
            request.cpu_milli,
            request.mem_bytes,
            request.block_bytes,
            request.device_count,
            request.device_milli,
            request.generation,
            tuple(request.gpu_models),
            request.gpu_vram,
            request.exclusivity is Exclusivity.PARTITION_EXCLUSIVE,
        )

    @property
    def vram_least(self) -> int:
        """What its devices count for in GPU memory at least."""
        return self.device_count * vram_held(self.vram_bytes_min, self.device_milli)

    def served_by(self, kind: DeviceKind) -> bool:
        """Whether a device of this kind may serve the shape."""
        return (
            (self.generation is None or kind.generation is self.generation)
            and (not self.models or kind.model in self.models)
            and kind.vram_bytes >= self.vram_bytes_min
            and (self.vram_bytes_max is None or kind.vram_bytes <= self.vram_bytes_max)
            and (kind.partitionable or not self.partitioned)
        )


class ChargedAccount(NamedTuple):
    """Who is charged."""

    tenant: TenantId
    project: ProjectId | None
    tag: AccountingTag | None


class Prepared(NamedTuple):
    """A request turned into the engine's integers; good for many placements."""

    request: PlacementRequest
    shape: int
    account: int
    traits: int
    ttl_ms: int
    sets: list[NodeSet]
    epoch: int
    row: int
    demand: tuple[int, ...]

    @property
    def evictable(self) -> int:
        """Whom it may evict, as the engine takes it."""
        return evictable_by(self.request.lease_class, self.request.priority)

    def beside(self, sets: list[NodeSet]) -> Prepared:
        """The same, kept to these sets of nodes as well."""
        return Prepared(*self[:5], self.sets + sets, *self[6:])

    def at_depth(self, depth: int) -> Prepared:
        """The same, for work that evicted others in a cascade so deep."""
        return self._replace(traits=self.traits | depth << DEPTH_SHIFT) if depth else self


class Handles:
    """The interning tables of one ledger."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.epoch = 0
        self.kinds: list[DeviceKind] = []
        self.kind_devices: list[int] = []
        self.class_of: dict[ClassKey, int] = {}
        self.classes: list[ClassKey] = []
        self.shape_of: dict[Shape, int] = {}
        self.shapes: dict[int, Shape] = {}
        self.account_of: dict[tuple[ChargedAccount, int], int] = {}
        self.accounts: dict[int, ChargedAccount] = {}
        self._owned: dict[tuple[TenantId, ProjectId | None], set[int]] = {}
        self._free_accounts: list[int] = []
        self._serving: dict[tuple[int, Shape], tuple[int, ...]] = {}
        self._memories: dict[Shape, tuple[int, ...]] = {}
        self.impossible: dict[Shape, NoSuchHardware | LargerThanAnyNode | None] = {}
        """Why no machine could ever hold a shape, as long as none comes or goes."""
        self._sweep_at = {"shapes": IDLE_MAX, "accounts": IDLE_MAX}

    def machine_class(self, capacity: NodeCapacity) -> int:
        """The class of machines with exactly this hardware."""
        self.check_room(capacity)
        kinds = bytes(self.kind_of(device) for device in capacity.gpus)
        amounts = capacity.cpu_milli, capacity.mem_bytes, capacity.block_bytes
        return self.add_class((*amounts, kinds, fabrics_of(capacity.gpus)))

    def add_class(self, key: ClassKey) -> int:
        """The class of machines with these capacities, kinds of device and fabrics."""
        if key not in self.class_of:
            self.class_of[key] = self.engine.add_class(*key)
            self.classes.append(key)
        return self.class_of[key]

    def check_room(self, capacity: NodeCapacity) -> None:
        """Refuse a machine that is too large or brings more kinds of device than there may be."""
        for name in ("mem_bytes", "block_bytes", "gpu_vram"):
            if getattr(capacity, name) >= NODE_AMOUNT_MAX:
                raise InvalidValue(name, getattr(capacity, name), f"below {NODE_AMOUNT_MAX}")
        new = {DeviceKind.of(device) for device in capacity.gpus}.difference(self.kinds)
        if len(self.kinds) + len(new) > KINDS_MAX:
            raise LimitReached("kinds of GPU device in one ledger", KINDS_MAX)

    def kind_of(self, device: GpuDevice) -> int:
        """The number of the device's kind; a new kind is added."""
        return self.add_kind(DeviceKind.of(device))

    def add_kind(self, kind: DeviceKind) -> int:
        """The number of this kind; a new one is added."""
        if kind in self.kinds:
            return self.kinds.index(kind)
        if len(self.kinds) >= KINDS_MAX:
            raise LimitReached("kinds of GPU device in one ledger", KINDS_MAX)
        self.kinds.append(kind)
        self.kind_devices.append(0)
        index = len(self.kinds) - 1
        self.engine.add_kind(index, GENERATIONS.index(kind.generation), kind.vram_bytes)
        for handle, shape in self.shapes.items():
            self.engine.set_shape_kinds(handle, self.kinds_for(shape))
        return index

    def serving(self, machine_class: int, shape: Shape) -> tuple[int, ...]:
        """Indices of the class's devices that may serve the shape."""
        key = (machine_class, shape)
        found = self._serving.get(key)
        if found is None:
            if len(self._serving) > IDLE_MAX:
                self._serving.clear()
            kinds = self.classes[machine_class][3]
            found = tuple(i for i, k in enumerate(kinds) if shape.served_by(self.kinds[k]))
            self._serving[key] = found
        return found

    def memories(self, shape: Shape) -> tuple[int, ...]:
        """How much memory the fleet's devices have that may serve the shape, the least first."""
        found = self._memories.get(shape)
        if found is None:
            if len(self._memories) > IDLE_MAX:
                self._memories.clear()
            there = zip(self.kinds, self.kind_devices, strict=True)
            sizes = {k.vram_bytes for k, count in there if count and shape.served_by(k)}
            found = self._memories[shape] = tuple(sorted(sizes))
        return found

    def count_devices(self, capacity: NodeCapacity, sign: int) -> None:
        """Keep the number of devices of each kind: a machine came, or (-1) it goes."""
        self.impossible.clear()
        for device in capacity.gpus:
            self.kind_devices[self.kind_of(device)] += sign
        if capacity.gpus:
            self._memories.clear()
            self.epoch += 1  # what requests count for at least may be another amount

    def kinds_for(self, shape: Shape) -> int:
        """The kinds of device that may serve the shape, as bits."""
        return sum(1 << i for i, kind in enumerate(self.kinds) if shape.served_by(kind))

    def shape(self, request: PlacementRequest) -> int:
        """The engine's shape for one member of the request."""
        return self.intern_shape(Shape.of(request))

    def intern_shape(self, shape: Shape) -> int:
        """The engine's shape for this one, made when it has none."""
        handle = self.shape_of.get(shape)
        if handle is None:
            if len(self.shapes) >= self._sweep_at["shapes"]:
                self._sweep_shapes()
            generation = shape.generation
            handle = self.engine.add_shape(
                shape.cpu_milli,
                shape.mem_bytes,
                shape.block_bytes,
                shape.vram_least,
                shape.device_count,
                shape.device_milli,
                self.kinds_for(shape),
                GENERATIONS.index(generation) if generation is not None else -1,
            )
            self.shape_of[shape] = handle
            self.shapes[handle] = shape
        return handle

    def account(self, request: PlacementRequest, row: int) -> int:
        """The engine's account for the request's owner, charged to that quota row."""
        return self.intern_account(
            ChargedAccount(request.tenant, request.project, request.tag), row
        )

    def accounts_of(self, request: PlacementRequest) -> bytearray:
        """The accounts of the request's owner, whatever their tags, as a bit for each there is."""
        return self.accounts_owned([(request.tenant, request.project)])

    def accounts_owned(self, owners: Iterable[tuple[TenantId, ProjectId | None]]) -> bytearray:
        """The accounts of these owners (tenant and project), as a bit for each there is."""
        mask = bytearray((len(self.accounts) + len(self._free_accounts)) // 8 + 1)
        for handle in (each for owner in owners for each in self._owned.get(owner, ())):
            mask[handle >> 3] |= 1 << (handle & 7)
        return mask

    def intern_account(self, account: ChargedAccount, row: int) -> int:
        """The engine's account of this owner, charged to that quota row."""
        key = (account, row)
        handle = self.account_of.get(key)
        if handle is None:
            if len(self.accounts) >= self._sweep_at["accounts"]:
                self._sweep_accounts()
            if self._free_accounts:
                handle = self._free_accounts.pop()
                self.engine.set_account(handle, row)
            else:
                handle = self.engine.add_account(row)
            self.account_of[key] = handle
            self.accounts[handle] = account
            self._owned.setdefault((account.tenant, account.project), set()).add(handle)
        return handle

    def _sweep_shapes(self) -> None:
        for shape, handle in list(self.shape_of.items()):
            refs, arrivals = self.engine.shape_use(handle)
            if not refs and arrivals <= 1:
                self.engine.free_shape(handle)
                del self.shape_of[shape], self.shapes[handle]
        self._sweep_at["shapes"] = 2 * len(self.shapes) + IDLE_MAX
        self.epoch += 1

    def _sweep_accounts(self) -> None:
        for key, handle in list(self.account_of.items()):
            if not self.engine.account_refs(handle):
                self._free_accounts.append(handle)
                owned = self._owned[key[0].tenant, key[0].project]
                owned.discard(handle)
                if not owned:
                    del self._owned[key[0].tenant, key[0].project]
                del self.account_of[key], self.accounts[handle]
        self._sweep_at["accounts"] = 2 * len(self.accounts) + IDLE_MAX
        self.epoch += 1

    def arrivals(self) -> list[Arrivals]:
        """How often each known shape arrived."""
        return [
            Arrivals(
                self.engine.shape_use(handle)[1],
                shape.device_count,
                shape.device_milli,
                self.kinds_for(shape),
                shape.cpu_milli,
            )
            for handle, shape in self.shapes.items()
        ]

    def fade(self) -> None:
        """Halve every arrival count, so that the past weighs less than the present."""
        for handle in self.shapes:
            self.engine.set_arrivals(handle, self.engine.shape_use(handle)[1] // 2)
