"""What the engine foresees is what a walk over every node and lease finds."""

from __future__ import annotations

import random
from typing import Any

import pytest

from bailiwick import CapacityLedger, GpuDevice, HardwareGeneration, NodeCapacity, PlacementRequest
from bailiwick.scheduler.backfill.foresight import RoomForeseen, RoomSought, RoomStep, foresee, walk
from bailiwick.scheduler.engine import has_compiled
from bailiwick.scheduler.engine.protocol import BEST_FIT
from bailiwick.scheduler.handles import Shape

ENGINES = ["pure", *(["compiled"] if has_compiled() else [])]
HOPPER, ADA = HardwareGeneration.NVIDIA_HOPPER, HardwareGeneration.NVIDIA_ADA
TERMS: list[dict[str, Any]] = [
    {"cpu_cores": 1},
    {"cpu_cores": 3, "mem_bytes": 20},
    {"gpu_count": 1, "cpu_cores": 1},
    {"gpu_milli": 300},
    {"gpu_count": 2, "generation": ADA},
    {"cpu_cores": 7, "block_bytes": 4},
]


def told(found: RoomForeseen | None) -> object:
    """All that a reservation takes from it."""
    if found is None:
        return None
    rows = [(x, r.members, r.amounts, r.devices, r.serving) for x, r in found.rooms.items()]
    return found.at_ms, rows, found.slack


class Fleet:
    """A ledger with random nodes and leases, and random questions about it."""

    def __init__(self, rng: random.Random, engine: str) -> None:
        self.rng, self.ledger, self.now_ms = rng, CapacityLedger(engine=engine), 1_000
        for number in range(5):
            gpus = tuple(GpuDevice(rng.choice((HOPPER, ADA)), 8) for _ in range(rng.randrange(4)))
            self.ledger.register_node(f"n{number}", NodeCapacity(8, 64, 8, gpus=gpus))
        self.leases: list[int] = []

    def act(self) -> None:
        rng, ledger = self.rng, self.ledger
        if rng.random() < 0.8:
            request = self.request(gang_size=1, ttl_ms=rng.choice([1, 40, 40, 300, 5_000]))
            lease = ledger.place(ledger.prepare(request), BEST_FIT, now_ms=self.now_ms)
            if lease >= 0:
                self.leases.append(lease)
        elif rng.random() < 0.5 and self.leases:
            ledger.drop(self.leases.pop(rng.randrange(len(self.leases))), now_ms=self.now_ms)
        elif rng.random() < 0.5 and self.leases:
            lease = rng.choice(self.leases)
            expires = self.now_ms + rng.choice([2, 70, 900])
            ledger.change(lease, ledger.fields(lease)._replace(expires_ms=expires))
        else:
            self.now_ms += rng.choice([0, 5, 50])

    def request(self, **more: Any) -> PlacementRequest:
        return PlacementRequest(**{"tenant": "a", **self.rng.choice(TERMS), **more})

    def sought(self) -> RoomSought:
        rng, now_ms = self.rng, self.now_ms
        request = self.request(gang_size=rng.choice([1, 1, 2, 6]), ttl_ms=1)
        mask = rng.choice([None, None, bytearray([rng.randrange(256)])])
        until_ms = now_ms + rng.choice([0, 60, 400, 10_000])
        terms = {}
        if self.leases and rng.random() < 0.4:
            terms = {rng.choice(self.leases): now_ms + rng.choice([-5, 1, 60, 20_000])}
        steps = tuple(step for _ in range(rng.randrange(3)) for step in self.steps())
        shape = Shape.of(request)
        return RoomSought(shape, request.gang_size, mask, now_ms, until_ms, steps, terms)

    def steps(self) -> list[RoomStep]:
        """Somebody takes room on a node, and gives it back later."""
        rng, entry = self.rng, self.ledger.entry(f"n{self.rng.randrange(5)}")
        amounts = rng.randrange(4) * 1000, rng.randrange(20), rng.randrange(3), 0
        milli = tuple(rng.choice([0, 0, 400, 1000]) for _ in entry.capacity.gpus)
        from_ms = self.now_ms + rng.choice([-10, 0, 30, 200])
        less = tuple(-a for a in amounts), tuple(-m for m in milli)
        until_ms = max(from_ms, self.now_ms) + rng.choice([1, 50, 300])
        return [
            RoomStep(from_ms, entry.handle, *less),
            RoomStep(until_ms, entry.handle, amounts, milli),
        ]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(20))
def test_what_is_foreseen_is_what_a_walk_finds(engine: str, seed: int) -> None:
    fleet = Fleet(random.Random(seed), engine)
    later = 0
    for turn in range(150):
        fleet.act()
        if turn < 30:
            continue
        sought = fleet.sought()
        found = foresee(fleet.ledger, sought)
        assert told(found) == told(walk(fleet.ledger, sought))
        later += found is not None and found.at_ms > fleet.now_ms
    assert later >= 3
