"""A fleet's month as records: nodes, leases that come and go, evictions, a node now and then lost.

What a scheduler would write, made without one so that a million leases take seconds: each lease has
whole GPUs of one node that were free, and ends by release, expiry, or (one in fifty) eviction with
grace. One in ten thousand takes its node with it, which joins again an hour later.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from bailiwick.journal import RecordKind

START_MS = 1_793_491_200_000
"""2026-11-01 00:00:00 UTC."""
DAY_MS = 86_400_000
MONTH_MS = 30 * DAY_MS
NODES, GPUS = 1_250, 8
TENANTS = [f"team-{number:02}" for number in range(40)]
_GENERATIONS = ("nvidia_hopper", "nvidia_hopper", "nvidia_ampere", "nvidia_blackwell")
_CLASSES = ("standard", "standard", "guaranteed", "spot")


@dataclass(slots=True)
class Told:
    """A record, as the meter reads it."""

    seq: int
    at_ms: int
    kind: str
    body: dict[str, Any]
    tenant: str | None = None
    project: str | None = None

    @property
    def moves_shares(self) -> bool:
        """Whether it moves a share of a device to another owner."""
        return RecordKind(self.kind).moves_shares


class FleetMonth:
    """Records of a fleet, one after the other; about ``leases`` leases over the month."""

    def __init__(self, leases: int, *, nodes: int = NODES, seed: int = 1) -> None:
        self._leases, self._nodes, self._chance = leases, nodes, Random(seed)
        self._free = [2**GPUS - 1] * nodes
        self._ends: list[tuple[int, int, int, int, str | None]] = []
        self._on: list[dict[int, int]] = [{} for _ in range(nodes)]
        self._seq = 0

    def __iter__(self) -> Iterator[Told]:
        for number in range(self._nodes):
            yield self._node(number, START_MS)
        step_ms = MONTH_MS / self._leases
        for lease_id in range(1, self._leases + 1):
            at_ms = START_MS + int(lease_id * step_ms)
            yield from self._end_until(at_ms)
            yield from self._begin(lease_id, at_ms)
        yield from self._end_until(START_MS + MONTH_MS)

    def _told(self, at_ms: int, kind: str, body: dict[str, Any], owner: int | None = None) -> Told:
        self._seq += 1
        if owner is None:
            return Told(self._seq - 1, at_ms, kind, body)
        tenant, project = TENANTS[owner % 40], f"p{owner // 40 % 3}"
        return Told(self._seq - 1, at_ms, kind, body, tenant, project)

    def _node(self, number: int, at_ms: int) -> Told:
        self._free[number] = 2**GPUS - 1
        amounts = {"cpu_milli": 128_000, "mem_bytes": 2**40, "gpu_milli": 1_000 * GPUS}
        kinds = [_GENERATIONS[number % len(_GENERATIONS)]] * GPUS
        body = {"node": f"node-{number:04}", "resources": amounts, "gpu_generations": kinds}
        return self._told(at_ms, "node_registered", body)

    def _begin(self, lease_id: int, at_ms: int) -> Iterator[Told]:
        chance = self._chance
        wanted = chance.choice((1, 1, 1, 2, 2, 4, 8))
        for _ in range(60):
            node = chance.randrange(self._nodes)
            if self._free[node].bit_count() >= wanted:
                break
        else:
            return
        mask = 0
        for index in range(GPUS):
            if self._free[node] >> index & 1 and mask.bit_count() < wanted:
                mask |= 1 << index
        self._free[node] &= ~mask
        self._on[node][lease_id] = mask
        # So that the fleet is four fifths full, whatever the number of leases.
        mean_ms = 0.8 * self._nodes * GPUS * MONTH_MS / (self._leases * 2.71)
        until_ms = at_ms + max(1_000, int(mean_ms * chance.choice((0.1, 0.5, 0.9, 1.0, 2.5))))
        end = chance.choice(("lease_released", "lease_released", "lease_expired"))
        roll = chance.random()
        end = "lease_preempted" if roll < 0.02 else end
        end = "node_departed" if roll > 0.9999 else end
        heapq.heappush(self._ends, (until_ms, lease_id, node, mask, end))
        body = {
            "lease_ids": [lease_id],
            "nodes": [f"node-{node:04}"],
            "resources": self._amounts(mask),
            "priority": "normal",
            "lease_class": _CLASSES[lease_id % len(_CLASSES)],
            "devices": [mask],
            "tag": f"run-{lease_id % 4}",
            "ttl_ms": until_ms - at_ms if end == "lease_expired" else 7 * DAY_MS,
        }
        yield self._told(at_ms, "admission_approved", body, lease_id)

    def _amounts(self, mask: int) -> dict[str, int]:
        count = mask.bit_count()
        return {"cpu_milli": 16_000 * count, "mem_bytes": count << 36, "gpu_milli": 1_000 * count}

    def _end_until(self, at_ms: int) -> Iterator[Told]:
        while self._ends and self._ends[0][0] <= at_ms:
            until_ms, lease_id, node, mask, kind = heapq.heappop(self._ends)
            if self._on[node].get(lease_id) != mask:
                continue  # lost with its node
            if kind == "node_departed":
                yield from self._lose(node, until_ms)
                continue
            del self._on[node][lease_id]
            self._free[node] |= mask
            yield from self._end(lease_id, (node, mask), kind=str(kind), at_ms=until_ms)

    def _end(
        self, lease_id: int, place: tuple[int, int], *, kind: str, at_ms: int
    ) -> Iterator[Told]:
        node, amounts = f"node-{place[0]:04}", self._amounts(place[1])
        if kind != "lease_preempted":
            body = {"lease_id": lease_id, "node": node, "resources": amounts}
            yield self._told(at_ms, kind, body, lease_id)
            return
        reason = "priority_preemption"
        step = {"lease_id": lease_id, "before": "revoke_warning", "after": "grace_running"}
        yield self._told(at_ms, "lease_revoked", step | {"reason": reason}, lease_id)
        who = {
            "reason": reason,
            "victim": TENANTS[lease_id % 40],
            "preemptor": "team-00",
            "freed": amounts,
        }
        yield self._told(at_ms, kind, {"lease_id": lease_id, "node": node} | who, lease_id)

    def _lose(self, node: int, at_ms: int) -> Iterator[Told]:
        lost = sorted(self._on[node])
        self._on[node].clear()
        body = {"node": f"node-{node:04}", "lease_ids": lost, "last_seen_ms": at_ms - 30_000}
        yield self._told(at_ms, "node_departed", body)
        yield self._node(node, at_ms)
