"""The tables of the pure engine: who has what, without any search.

Rules it keeps:

- A change to a node goes through ``_changed``, which writes the change log; every index is a cache
  of the nodes with a position in that log, so "position equals the log's end" proves it fresh.
- Quota is charged by ``take`` (:mod:`.charges`), and ``release`` gives back exactly that.
"""

from __future__ import annotations

from array import array

from bailiwick.scheduler.engine.charges import Charges
from bailiwick.scheduler.engine.expiries import Expiries
from bailiwick.scheduler.engine.protocol import (
    CLASS_GUARANTEED,
    FLAG_PINNED,
    FLAG_RESERVED,
    LOG_SIZE,
    NEVER,
    NO_CAPACITY,
    LeaseRow,
    NodeFields,
)
from bailiwick.scheduler.engine.tables import (
    ClassRecord,
    LeaseRecord,
    NodeRecord,
    ShapeRecord,
    bits,
    choose_devices,
    fits,
)
from bailiwick.vocab.values import MILLI


class Arena:
    """Nodes, shapes, accounts, leases and the change log of one fleet."""

    def __init__(self) -> None:
        self.classes: list[ClassRecord] = []
        self.nodes: list[NodeRecord] = []
        self.shapes: list[ShapeRecord] = []
        self.accounts: list[list[int]] = [[-1, 0]]  # account 0: the operator's own, no quota
        self.leases: list[LeaseRecord | None] = []
        self.reuse: list[int] = []
        self.charges = Charges()
        self.expiries = Expiries()
        self.headroom = (0, 0, 0, 0, 0)
        self.free_total = [0, 0, 0, 0]
        self.arrivals, self.learn_at = 0, 2**63 - 1
        self.log_end = 0
        self._log: list[int] = []
        self._node_free: list[int] = []
        self._shape_free: list[int] = []
        self._lease_free: list[int] = []

    # -- nodes -----------------------------------------------------------------------------

    def add_kind(self, kind: int, generation: int, vram: int) -> None:
        charges = self.charges
        charges.generation_of_kind[kind], charges.vram_of_kind[kind] = generation, vram

    def add_class(self, cpu: int, mem: int, block: int, kinds: bytes, fabrics: bytes = b"") -> int:
        if len(fabrics) not in (0, len(kinds)) or any(f >= len(kinds) for f in fabrics):
            raise IndexError("no such fabric")
        mask = 0
        for kind in kinds:
            mask |= 1 << kind
        groups = [0] * (max(fabrics) + 1 if fabrics else 0)
        for index, fabric in enumerate(fabrics):
            groups[fabric] |= 1 << index
        self.classes.append(ClassRecord(cpu, mem, block, kinds, mask, tuple(groups)))
        return len(self.classes) - 1

    def add_node(self, cls: int) -> int:
        record = self.classes[cls]
        node = NodeRecord(cls, record.cpu, record.mem, record.block, [MILLI] * record.devices)
        if self._node_free:
            x = self._node_free.pop()
            node.version, node.terms = self.nodes[x].version, self.nodes[x].terms
            self.nodes[x] = node
        else:
            x = len(self.nodes)
            self.nodes.append(node)
        record.members[x] = None
        self._changed(x)
        return x

    def remove_node(self, x: int) -> None:
        node = self._node(x)
        if node.leases:
            raise ValueError("the node still holds leases")
        self.set_eligible(x, 0)
        node.alive = False
        del self.classes[node.cls].members[x]
        self._changed(x)
        self._node_free.append(x)

    def set_eligible(self, x: int, eligible: int) -> None:
        node = self._node(x)
        if node.eligible == bool(eligible):
            return
        if not eligible:
            self._total(node, -1)
        node.eligible = bool(eligible)
        if eligible:
            self._total(node, 1)
        self._changed(x)

    def node(self, x: int) -> NodeFields:
        node = self._node(x)
        free = tuple(node.device)
        cpu, mem, block = node.cpu, node.mem, node.block
        return node.cls, int(node.eligible), cpu, mem, block, free, len(node.leases)

    def shift(self, x: int, cpu: int, mem: int, block: int, *devices: int) -> None:
        node = self._node(x)
        cls = self.classes[node.cls]
        after = (node.cpu + cpu, node.mem + mem, node.block + block)
        shares = [free + more for free, more in zip(node.device, devices, strict=False)]
        most = (cls.cpu, cls.mem, cls.block)
        if len(devices) > cls.devices or not all(
            0 <= free <= top
            for free, top in zip((*after, *shares), (*most, *[MILLI] * len(shares)), strict=True)
        ):
            raise ValueError("less than nothing or more than all would be free")
        if node.eligible:
            self._total(node, -1)
        node.cpu, node.mem, node.block = after
        node.device[: len(shares)] = shares
        self._changed(x)
        if node.eligible:
            self._total(node, 1)

    def leases_on(self, x: int) -> list[int]:
        return [self.reuse[slot] << 32 | slot for slot in reversed(self._node(x).leases)]

    def _node(self, x: int) -> NodeRecord:
        if not 0 <= x < len(self.nodes) or not self.nodes[x].alive:
            raise IndexError("no such node")
        return self.nodes[x]

    def _changed(self, x: int) -> None:
        node = self.nodes[x]
        if node.device:
            node.idle = sum(node.device)
            node.whole = node.device.count(MILLI)
            node.top = max(node.device)
        node.version += 1
        self._log.append(x)
        self.log_end += 1
        if len(self._log) > 2 * LOG_SIZE:
            del self._log[:LOG_SIZE]

    def changes_since(self, position: int) -> list[int]:
        """Nodes that changed since that position of the log, oldest first, with repeats."""
        lag = self.log_end - position
        return self._log[len(self._log) - lag :] if lag else []

    def _total(self, node: NodeRecord, sign: int) -> None:
        total = self.free_total
        total[0] += sign * node.cpu
        total[1] += sign * node.mem
        total[2] += sign * node.block
        total[3] += sign * node.idle

    # -- shapes, accounts, tables ------------------------------------------------------------

    def add_shape(
        self, cpu: int, mem: int, block: int, vram: int, count: int, milli: int,
        kinds: int, generation: int,
    ) -> int:  # fmt: skip
        shape = ShapeRecord(cpu, mem, block, vram, count, milli, kinds, generation)
        if self._shape_free:
            index = self._shape_free.pop()
            self.shapes[index] = shape
            return index
        self.shapes.append(shape)
        return len(self.shapes) - 1

    def _shape(self, index: int) -> ShapeRecord:
        if not 0 <= index < len(self.shapes) or not self.shapes[index].live:
            raise IndexError("no such shape")
        return self.shapes[index]

    def set_shape_kinds(self, index: int, kinds: int) -> None:
        shape = self._shape(index)
        shape.kinds, shape.denied_at, shape.entries = kinds, -1, None

    def free_shape(self, index: int) -> None:
        shape = self._shape(index)
        if shape.refs:
            raise ValueError("leases still use the shape")
        shape.live = False
        self._shape_free.append(index)

    def shape_use(self, index: int) -> tuple[int, int]:
        shape = self._shape(index)
        return shape.refs, shape.arrivals

    def set_arrivals(self, index: int, arrivals: int) -> None:
        self._shape(index).arrivals = arrivals

    def add_account(self, row: int) -> int:
        self.accounts.append([row, 0])
        return len(self.accounts) - 1

    def set_account(self, account: int, row: int) -> None:
        self.accounts[account][0] = row

    def account_refs(self, account: int) -> int:
        return self.accounts[account][1]

    def attach_quota(self, table: array[int]) -> None:
        self.charges.table = table

    def set_headroom(self, priority: int, cpu: int, mem: int, block: int, gpu: int) -> None:
        self.headroom = (priority, cpu, mem, block, gpu)

    def free_totals(self) -> tuple[int, int, int, int]:
        cpu, mem, block, gpu = self.free_total
        return cpu, mem, block, gpu

    def learning(self, *values: int) -> tuple[int, int]:
        if values:
            self.arrivals, self.learn_at = values
        return self.arrivals, self.learn_at

    # -- leases ------------------------------------------------------------------------------

    def take(
        self, x: int, index: int, account: int, traits: int, granted: int, expires: int,
        gang: int, devices: int,
    ) -> int:  # fmt: skip
        node, shape = self._node(x), self._shape(index)
        cls = self.classes[node.cls]
        if not fits(cls, node, shape):
            return NO_CAPACITY
        if devices < 0:
            devices = choose_devices(cls, node, shape) if shape.count else 0
        wanted = bits(devices) if devices else ()
        if len(wanted) != shape.count or devices >> cls.devices:
            return NO_CAPACITY
        for i in wanted:
            if node.device[i] < shape.milli or not shape.kinds >> cls.kind[i] & 1:
                return NO_CAPACITY
        lease = LeaseRecord(
            x, account, index, gang, devices, traits & 15, traits >> 4 & 15,
            traits >> 8 & 255, traits >> 16 & 255, granted, expires, NEVER,
        )  # fmt: skip
        if self._lease_free:
            slot = self._lease_free.pop()
            self.leases[slot] = lease
        else:
            slot = len(self.leases)
            self.leases.append(lease)
            self.reuse.append(0)
        node.leases[slot] = None
        self.expiries.note(slot, expires)
        shape.refs += 1
        self.accounts[account][1] += 1
        self._apply(lease, 1)
        self._charge(lease, 1)
        self._reclaim(lease, 1)
        return self.reuse[slot] << 32 | slot

    def release(self, lease_id: int) -> bool:
        lease = self._lease(lease_id)
        if lease is None:
            return False
        slot = lease_id & 0xFFFFFFFF
        self._reclaim(lease, -1)
        self._charge(lease, -1)
        self._apply(lease, -1)
        del self.nodes[lease.node].leases[slot]
        self.shapes[lease.shape].refs -= 1
        self.accounts[lease.account][1] -= 1
        self.leases[slot] = None
        self.reuse[slot] = (self.reuse[slot] + 1) & 0x3FFFFFFF
        self._lease_free.append(slot)
        return True

    def untake(self, lease_id: int) -> None:
        if not self.release(lease_id):
            raise IndexError("no such lease")
        self.reuse[lease_id & 0xFFFFFFFF] = lease_id >> 32

    def release_batch(self, ids: array[int]) -> int:
        return sum(i >= 0 and self.release(i) for i in ids)

    def _lease(self, lease_id: int) -> LeaseRecord | None:
        slot = lease_id & 0xFFFFFFFF
        if lease_id < 0 or slot >= len(self.leases) or self.reuse[slot] != lease_id >> 32:
            return None
        return self.leases[slot]

    def lease(self, lease_id: int) -> LeaseRow | None:
        le = self._lease(lease_id)
        if le is None:
            return None
        return (
            le.node, le.account, le.shape, le.gang, le.devices, le.priority, le.lease_class,
            le.state, le.flags, le.depth, le.generation, le.granted, le.expires, le.checkpoint,
        )  # fmt: skip

    def dump(self, leases: array[int]) -> bytes:
        rows = []
        for lease_id in leases:
            fields = self.lease(lease_id)
            if fields is None:
                raise IndexError("no such lease")
            rows.append(fields)
        return b"".join(array("q", column).tobytes() for column in zip(*rows, strict=True))

    def versions(self) -> bytes:
        return array("I", (node.version & 0xFFFFFFFF for node in self.nodes)).tobytes()

    def update_lease(
        self, lease_id: int, state: int, flags: int, generation: int, expires: int, checkpoint: int
    ) -> None:
        lease = self._lease(lease_id)
        if lease is None:
            raise IndexError("no such lease")
        self._reclaim(lease, -1)
        now, then = (state, flags, checkpoint), (lease.state, lease.flags, lease.checkpoint)
        self.nodes[lease.node].version += now != then
        self.nodes[lease.node].terms += lease.expires != expires
        lease.state, lease.flags, lease.generation = state, flags, generation
        lease.expires, lease.checkpoint = expires, checkpoint
        self.expiries.note(lease_id & 0xFFFFFFFF, expires)
        self._reclaim(lease, 1)

    def move_lease(self, lease_id: int, account: int) -> None:
        lease = self._lease(lease_id)
        if lease is None:
            raise IndexError("no such lease")
        self._charge(lease, -1)
        self.accounts[lease.account][1] -= 1
        lease.account = account
        self.accounts[account][1] += 1
        self._charge(lease, 1)

    def _apply(self, lease: LeaseRecord, sign: int) -> None:
        node, shape = self.nodes[lease.node], self.shapes[lease.shape]
        if node.eligible:
            self._total(node, -1)
        node.cpu -= sign * shape.cpu
        node.mem -= sign * shape.mem
        node.block -= sign * shape.block
        for i in bits(lease.devices) if lease.devices else ():
            node.device[i] -= sign * shape.milli
        self._changed(lease.node)
        if node.eligible:
            self._total(node, 1)

    def _charge(self, lease: LeaseRecord, sign: int) -> None:
        row, shape = self.accounts[lease.account][0], self.shapes[lease.shape]
        kinds = self.classes[self.nodes[lease.node].cls].kind
        self.charges.charge(row, shape, kinds, devices=lease.devices, sign=sign)

    def _reclaim(self, lease: LeaseRecord, sign: int) -> None:
        if lease.lease_class == CLASS_GUARANTEED or lease.state:
            return
        if lease.flags & (FLAG_RESERVED | FLAG_PINNED):
            return
        shape = self.shapes[lease.shape]
        sums = self.nodes[lease.node].reclaim[lease.level]
        amounts = (shape.cpu, shape.mem, shape.block, shape.count * shape.milli, 1)
        for d, amount in enumerate(amounts):
            sums[d] += sign * amount
