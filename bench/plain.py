"""The reference every speed is told against: best fit by a plain loop over the nodes.

It is what one would write first, and write well: lists of numbers, one pass, the key of each node
kept up to date, quota checked before, a lease recorded after. Same policy, same order among equals
(the first node), no index.
"""

from __future__ import annotations

from bench.workload import CONFIDENTIAL, TENANTS, Ask, Workload

__all__ = ["CONFIDENTIAL", "PlainScan"]


class PlainScan:
    """Best fit over a fleet of lists."""

    def __init__(self, workload: Workload) -> None:
        machines = workload.machines
        self.free = [
            [m.cls.cores * 1000, m.cls.mem_gib * 1024, m.cls.block_gib, m.cls.gpus]
            for m in machines
        ]
        self.key = [self._key(row) for row in self.free]
        self.generation = [m.cls.generation for m in machines]
        self.closed = [m.closed for m in machines]
        self.zone = [m.zone for m in machines]
        self.trusted = [m.trusted for m in machines]
        cores, gpus, leases = workload.limits
        self.limit = (cores * 1000, gpus, leases)
        self.used = [[0, 0, 0] for _ in range(TENANTS)]
        self.leases: dict[int, tuple[int, Ask]] = {}
        self.serial = 0

    @staticmethod
    def _key(row: list[int]) -> float:
        """What stays free, as parts of 128 cores, 1 TiB, 16 TiB and 8 GPUs; less fits better."""
        cpu, mem, block, gpus = row
        return 0.25 * cpu / 128_000 + 0.25 * mem / 2**20 + 0.1 * block / 2**14 + 0.4 * gpus / 8

    def find(self, ask: Ask) -> int:
        """The fitting node with the least key, or -1."""
        cpu, mem, block, gpus = ask.cpu_milli, ask.mem_mib, ask.block_gib, ask.gpus
        keys, generations, closed = self.key, self.generation, self.closed
        best, best_key = -1, 1e9
        for x, row in enumerate(self.free):
            if (
                row[0] >= cpu
                and row[1] >= mem
                and row[2] >= block
                and row[3] >= gpus
                and keys[x] < best_key
                and (not gpus or generations[x] is ask.generation)
                and not closed[x]
                and (ask.zone < 0 or self.zone[x] == ask.zone)
                and (not ask.confidential or self.trusted[x])
            ):
                best, best_key = x, keys[x]
        return best

    def place(self, ask: Ask) -> int:
        """Check quota, scan, take: a lease number, or a negative one."""
        used = self.used[ask.tenant]
        for have, more, limit in zip(used, (ask.cpu_milli, ask.gpus, 1), self.limit, strict=True):
            if more and have + more > limit:
                return -2
        x = self.find(ask)
        return self.take(x, ask) if x >= 0 else -1

    def take(self, x: int, ask: Ask) -> int:
        """Record a lease on this node."""
        self._apply(x, ask, 1)
        self.serial += 1
        self.leases[self.serial] = (x, ask)
        return self.serial

    def release(self, lease: int) -> None:
        """Give the lease back."""
        x, ask = self.leases.pop(lease)
        self._apply(x, ask, -1)

    def _apply(self, x: int, ask: Ask, sign: int) -> None:
        row, used = self.free[x], self.used[ask.tenant]
        row[0] -= sign * ask.cpu_milli
        row[1] -= sign * ask.mem_mib
        row[2] -= sign * ask.block_gib
        row[3] -= sign * ask.gpus
        used[0] += sign * ask.cpu_milli
        used[1] += sign * ask.gpus
        used[2] += sign
        self.key[x] = self._key(row)
