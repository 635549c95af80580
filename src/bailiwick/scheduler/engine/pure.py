"""The reference engine: readable Python, no dependency, the same decisions as the compiled twin.

The tables are in :mod:`.arena`, the two kinds of index in :mod:`.bestfit` and :mod:`.scored`;
here they become the one surface that :class:`~.protocol.Engine` describes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

from bailiwick.scheduler.engine.arena import Arena
from bailiwick.scheduler.engine.bestfit import BestFitLists, allowed, best_fit_key
from bailiwick.scheduler.engine.protocol import (
    ASK_PYTHON,
    BEST_FIT,
    EVICTABLE_ALL,
    FRAGMENTATION_AWARE,
    LEARN_FIRST,
    LEARN_FLAG,
    LOG_SIZE,
    NO_CAPACITY,
    NO_HEADROOM,
    ROUND_ROBIN,
    WEIGHTED,
    FilterCounts,
    Survey,
    VictimAnswer,
)
from bailiwick.scheduler.engine.rooms import Rooms, RoomThen
from bailiwick.scheduler.engine.scored import Group, Scores
from bailiwick.scheduler.engine.tables import (
    ALL_DEVICES,
    ShapeRecord,
    choose_devices,
    fits,
    fits_within,
    usable_devices,
)
from bailiwick.scheduler.engine.victims import Query, VictimSearch


class PureEngine(Arena):
    """Tables and searches of one fleet; see :class:`~.protocol.Engine` for each method."""

    def __init__(self) -> None:
        super().__init__()
        self.probes = self.scans = self.rescored = 0
        self._cursor = 0
        self._lists = BestFitLists(self)
        self.scores = Scores(self)
        self.rooms = Rooms(self)

    def remove_node(self, x: int) -> None:
        super().remove_node(x)
        if self._lists.seen >= 0:
            self._lists.refresh()  # its place must not survive into the next node of this handle

    def set_shape_kinds(self, index: int, kinds: int) -> None:
        super().set_shape_kinds(index, kinds)
        self.scores.drop(index)
        self.rooms.drop(index)

    def free_shape(self, index: int) -> None:
        super().free_shape(index)
        self.scores.drop(index)
        self.rooms.drop(index)

    def set_weights(self, cpu: int, mem: int, block: int, gpu: int) -> None:
        self.scores.weight = (cpu, mem, block, gpu)
        self.scores.epoch[WEIGHTED] += 1

    def set_workload(self, inverse_kappa: int, pressure: array[int], items: array[int]) -> None:
        groups: list[Group] = []
        for at in range(0, len(items), 5):
            n, m, kinds, cpu, weight = items[at : at + 5]
            if not groups or (groups[-1].n, groups[-1].m, groups[-1].kinds) != (n, m, kinds):
                groups.append(Group(n, m, kinds))
            before = groups[-1].items[-1][1] if groups[-1].items else 0
            groups[-1].items.append((cpu, before + weight))
        self.scores.groups = groups
        self.scores.inverse_kappa = inverse_kappa
        self.scores.pressure = list(pressure)
        self.scores.epoch[FRAGMENTATION_AWARE] += 1

    # -- search ------------------------------------------------------------------------------

    def survey(self, index: int, mask: bytearray | None) -> Survey:
        shape = self._shape(index)
        nodes = taking = able = able_open = cpu = mem = block = gpu = 0
        for x, node in enumerate(self.nodes):
            cls = self.classes[node.cls]
            if not node.alive or (shape.count and not cls.kinds & shape.kinds):
                continue
            if not allowed(mask, x):
                continue
            serving = sum(shape.kinds >> kind & 1 for kind in cls.kind)
            large = cls.cpu >= shape.cpu and cls.mem >= shape.mem and cls.block >= shape.block
            is_able = large and serving >= shape.count
            nodes, able = nodes + 1, able + is_able
            if not node.eligible:
                continue
            taking, able_open = taking + 1, able_open + is_able
            cpu, mem, block = cpu + node.cpu, mem + node.mem, block + node.block
            for free, kind in zip(node.device, cls.kind, strict=True):
                gpu += free if shape.kinds >> kind & 1 else 0
        return nodes, taking, able, able_open, cpu, mem, block, gpu

    def leases_of(self, accounts: bytearray, limit: int) -> list[int]:
        if len(accounts) * 8 < len(self.accounts):
            raise ValueError("mask is shorter than the number of accounts")
        found: list[int] = []
        for slot in range(len(self.leases) - 1, -1, -1):
            lease = self.leases[slot]
            if len(found) >= limit:
                break
            if lease is not None and allowed(accounts, lease.account):
                found.append(self.reuse[slot] << 32 | slot)
        return found

    def filter_counts(
        self,
        index: int,
        labels: bytearray | None,
        permitted: bytearray | None,
        limits: array[int] | None = None,
    ) -> FilterCounts:
        shape, counts, within = self._shape(index), [0] * 8, dict(_rows(limits))
        for mask in (labels, permitted):
            if mask is not None and len(mask) * 8 < len(self.nodes):
                raise ValueError("mask is shorter than the number of nodes")
        for x, node in enumerate(self.nodes):
            if not node.alive or not node.eligible:
                continue
            cls = self.classes[node.cls]
            usable = usable_devices(cls, node, shape, within.get(x, ALL_DEVICES)).bit_count()
            passed = (
                not shape.count or cls.kinds & shape.kinds,
                allowed(labels, x),
                allowed(permitted, x),
                node.cpu >= shape.cpu,
                node.mem >= shape.mem,
                node.block >= shape.block,
                usable >= shape.count,
            )
            counts[next((at for at, well in enumerate(passed) if not well), 7)] += 1
        kind, label, policy, cpu, mem, block, gpu, fitting = counts
        return kind, label, policy, cpu, mem, block, gpu, fitting

    def find(
        self,
        strategy: int,
        index: int,
        mask: bytearray | None,
        limits: array[int] | None = None,
    ) -> int:
        shape = self._shape(index)
        if mask is not None and len(mask) * 8 < len(self.nodes):
            raise ValueError("mask is shorter than the number of nodes")
        if mask is None and self._still_denied(shape):
            return -1
        if strategy == BEST_FIT:
            x = self._lists.find(shape, mask)
        elif strategy == ROUND_ROBIN:
            x = self._round_robin(shape, mask)
        else:
            x = self.scores.find(strategy, index, mask)
        if mask is None:
            shape.denied_at = self.log_end if x < 0 else -1
        return self._best_limited(strategy, index, x, _rows(limits)) if limits else x

    def _best_limited(
        self, strategy: int, index: int, best: int, rows: Iterable[tuple[int, int]]
    ) -> int:
        """That node, or one of which only some devices may be used, if it is better."""
        top = self.score(strategy, index, best) if best >= 0 else None
        for x, within in rows:
            if not 0 <= x < len(self.nodes) or not self.nodes[x].alive:
                continue
            found = self.score(strategy, index, x, within)
            if found is None:
                continue
            if top is None or found[0] > top[0] or (found[0] == top[0] and x < best):
                best, top = x, found
        return best

    def cursor(self, *value: int) -> int:
        if value:
            self._cursor = value[0] % len(self.nodes) if self.nodes else 0
        return self._cursor

    def _round_robin(self, shape: ShapeRecord, mask: bytearray | None) -> int:
        count = len(self.nodes)
        for i in range(count):
            x = (self._cursor + i) % count
            node = self.nodes[x]
            if fits(self.classes[node.cls], node, shape) and allowed(mask, x):
                return x
        return -1

    def _still_denied(self, shape: ShapeRecord) -> bool:
        """After a proven denial only nodes that changed since can help."""
        lag = self.log_end - shape.denied_at
        if shape.denied_at < 0 or lag > len(self.nodes) or lag > LOG_SIZE:
            return False
        for x in self.changes_since(shape.denied_at):
            node = self.nodes[x]
            if fits(self.classes[node.cls], node, shape):
                return False
        shape.denied_at = self.log_end
        return True

    def score(
        self, strategy: int, index: int, x: int, within: int = ALL_DEVICES
    ) -> tuple[int, int] | None:
        shape, node = self._shape(index), self._node(x)
        cls = self.classes[node.cls]
        if not fits_within(cls, node, shape, within):
            return None
        if strategy in (WEIGHTED, FRAGMENTATION_AWARE):
            return self.scores.score(strategy, shape, x, within)
        devices = choose_devices(cls, node, shape, within) if shape.count else 0
        if strategy == BEST_FIT:
            return -best_fit_key(node), devices
        return -((x - self._cursor) % len(self.nodes)), devices

    def place(self, *request: Any) -> int:
        lease_id = self._place(*request)
        due = lease_id >= 0 and self.arrivals >= self.learn_at
        return lease_id + LEARN_FLAG if due else lease_id

    def _place(
        self, strategy: int, index: int, account: int, traits: int, granted: int, expires: int,
        gang: int, mask: bytearray | None, limits: array[int] | None = None,
    ) -> int:  # fmt: skip
        shape = self._shape(index)
        if self.arrivals >= self.learn_at:
            return LEARN_FIRST
        row = self.accounts[account][0]
        no = self.charges.check(row, shape)
        if no:
            return no
        need = (shape.cpu, shape.mem, shape.block, shape.count * shape.milli)
        if traits & 15 < self.headroom[0] and any(
            amount and free - amount < kept
            for amount, free, kept in zip(need, self.free_total, self.headroom[1:], strict=True)
        ):
            return NO_HEADROOM
        self.arrivals += 1
        shape.arrivals += 1
        x = self.find(strategy, index, mask, limits)
        if x < 0:
            return NO_CAPACITY
        devices = 0
        if shape.count:
            cls = self.classes[self.nodes[x].cls]
            within = dict(_rows(limits)).get(x, ALL_DEVICES)
            if strategy == FRAGMENTATION_AWARE:
                devices = self.scores.score(strategy, shape, x, within)[1]
            else:
                devices = choose_devices(cls, self.nodes[x], shape, within)
            if not self.charges.bears_vram(row, cls.kind, devices, milli=shape.milli):
                self.arrivals -= 1
                shape.arrivals -= 1
                return ASK_PYTHON  # devices with less memory may do
        if strategy == ROUND_ROBIN:
            self._cursor = (x + 1) % len(self.nodes)
        return self.take(x, index, account, traits, granted, expires, gang, devices)

    def place_batch(self, strategy: int, rows: array[int], now: int, out: array[int]) -> int:
        for i in range(len(rows) // 4):
            shape, account, traits, expires = rows[4 * i : 4 * i + 4]
            out[i] = self._place(strategy, shape, account, traits, now, expires, -1, None)
            if out[i] in (ASK_PYTHON, LEARN_FIRST):
                return i
        return len(rows) // 4

    def find_victims(
        self, index: int, evictable: int, now: int, run_min: int, fresh: int, depth_max: int,
        mask: bytearray | None, exclude: int,
    ) -> VictimAnswer:  # fmt: skip
        if mask is not None and len(mask) * 8 < len(self.nodes):
            raise ValueError("mask is shorter than the number of nodes")
        if evictable & ~EVICTABLE_ALL:
            raise IndexError("no such victims")
        query = Query(self._shape(index), evictable, now, run_min, fresh, depth_max)
        return VictimSearch(self, query).answer(mask, exclude)

    # -- time ----------------------------------------------------------------------------------

    def expired(self, now: int, limit: int) -> list[int]:
        found = self.expiries.due(self.leases, now, limit=limit)
        return [self.reuse[slot] << 32 | slot for slot in found]

    def room_time(
        self, index: int, need: int, mask: bytearray | None, now: int, until: int
    ) -> int | None:
        self._shape(index)
        return self.rooms.time(index, need, mask, now=now, until=until)

    def room_nodes(
        self, index: int, need: int, mask: bytearray | None, at: int
    ) -> list[tuple[int, int]]:
        self._shape(index)
        return self.rooms.nodes(index, need, mask, at)

    def room_on(self, x: int, at: int) -> RoomThen:
        self._node(x)
        return self.rooms.on(x, at)

    def room_steps(
        self, index: int, x: int, until: int, rows: list[tuple[int, ...]]
    ) -> list[tuple[int, int]]:
        self._shape(index)
        self._node(x)
        return self.rooms.steps(index, x, until, rows)

    def counters(self) -> dict[str, int]:
        return {
            "nodes": len(self.nodes),
            "leases": len(self.leases) - len(self._lease_free),
            "caches": len(self.scores.caches),
            "probes": self.probes,
            "scans": self.scans,
            "rescored": self.rescored,
        }


def _rows(limits: array[int] | None) -> Iterable[tuple[int, int]]:
    """Nodes and the devices that may be used there."""
    return () if limits is None else zip(limits[::2], limits[1::2], strict=True)
