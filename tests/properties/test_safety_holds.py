"""Room that is kept: never more or less than its rule says, and a shadow changes nothing.

The reference reckons with whole tables: what is free of a node is its capacity, less its leases,
less what each hold lacks beyond what its leaving leases still have there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick import CapacityLedger, NodeCapacity, PlacementRequest, QuotaManager, TenantId
from bailiwick.fleet.node import GpuDevice
from bailiwick.scheduler.room_holds import RoomHold, Seat
from bailiwick.vocab.values import NodeId
from bailiwick.vocab.words import EndCause, HardwareGeneration

GPU = GpuDevice(model="H100", generation=HardwareGeneration.NVIDIA_HOPPER, vram_bytes=80 * 2**30)
NODES = ("n0", "n1")
TENANTS = ("lab", "uni")


def request(tenant: str, cores: int, devices: int) -> PlacementRequest:
    return PlacementRequest(
        tenant=TenantId(tenant), cpu_cores=cores, mem_bytes=cores, gpu_count=devices
    )


@dataclass
class World:
    ledger: CapacityLedger
    now_ms: int = 0
    leases: dict[int, tuple[str, str, int, frozenset[int]]] = field(default_factory=dict)
    holds: dict[int, tuple[str, str, int, frozenset[int], list[int]]] = field(default_factory=dict)

    def free(self, node: str) -> list[int]:
        """By the rule: cores, then whole devices."""
        has = [8_000, *[1000] * 4]
        for at, _, cores, devices in self.leases.values():
            if at == node:
                has[0] -= 1000 * cores
                for index in devices:
                    has[1 + index] -= 1000
        rests = {i: [1000 * c, *_bits(d)] for i, (at, _, c, d) in self.leases.items() if at == node}
        for at, _, cores, devices, victims in self.holds.values():
            if at != node:
                continue
            need = [1000 * cores, *_bits(devices)]
            for victim in victims:
                for kind in range(5) if victim in rests else ():
                    used = min(need[kind], rests[victim][kind])
                    need[kind] -= used
                    rests[victim][kind] -= used
            has = [amount - lacking for amount, lacking in zip(has, need, strict=True)]
        return has

    def used(self, tenant: str) -> int:
        """By the rule: cores that count against a tenant's quota."""
        rests = {i: 1000 * c for i, (_, who, c, _) in self.leases.items() if who == tenant}
        total = sum(rests.values())
        for _, who, cores, _, victims in self.holds.values():
            need = 1000 * cores if who == tenant else 0
            for victim in victims if need else ():
                taken = min(need, rests.get(victim, 0))
                need -= taken
                if victim in rests:
                    rests[victim] -= taken
            total += need
        return total

    def ids(self) -> tuple[list[int], list[int]]:
        return sorted(self.leases), sorted(self.holds)

    def check(self) -> None:
        for node in NODES:
            _, _, cpu, _, _, devices, _ = self.ledger.engine.node(self.ledger.handle_of(node))
            assert [cpu, *devices] == self.free(node)
        assert self.ledger.quotas is not None
        for tenant in TENANTS:
            room = self.ledger.quotas.headroom(tenant)
            told = next(r.used for d, r in room.dimensions.items() if d.value == "cpu_milli")
            assert told == self.used(tenant)


def _bits(devices: frozenset[int]) -> list[int]:
    return [1000 * (index in devices) for index in range(4)]


def _world(engine: str) -> World:
    ledger = CapacityLedger(quotas=QuotaManager(), engine=engine)
    for node in NODES:
        ledger.register_node(node, NodeCapacity(cpu_cores=8, mem_bytes=2**40, gpus=(GPU,) * 4))
    return World(ledger)


def _play(world: World, draw: st.DataObject, steps: int) -> None:
    ledger = world.ledger
    for number in range(steps):
        world.now_ms += 1
        what = draw.draw(st.sampled_from(["grant", "end", "hold", "hold", "drop", "fence", "look"]))
        node = draw.draw(st.sampled_from(NODES))
        tenant = draw.draw(st.sampled_from(TENANTS))
        free = world.free(node)
        if what == "grant":
            cores = draw.draw(st.integers(1, 4))
            open_devices = [i for i in range(4) if free[1 + i] == 1000]
            count = draw.draw(st.integers(0, len(open_devices)))
            if 1000 * cores <= free[0]:
                lease = ledger.grant(node, request(tenant, cores, count), now_ms=world.now_ms)
                world.leases[lease.id] = (node, tenant, cores, frozenset(lease.devices))
        elif what == "hold":
            here = [i for i, row in world.leases.items() if row[0] == node]
            victims = draw.draw(st.lists(st.sampled_from(here), unique=True)) if here else []
            cores = draw.draw(st.integers(1, 8))
            devices = frozenset(draw.draw(st.lists(st.integers(0, 3), max_size=2)))
            row = (node, tenant, cores, devices, victims)
            if min(World(ledger, 0, world.leases, {**world.holds, number: row}).free(node)) < 0:
                continue  # there is no room for it, even when they have gone
            bits = sum(1 << i for i in devices)
            seats = (Seat(NodeId(node), bits),)
            hold = RoomHold(request(tenant, cores, len(devices)), seats, tuple(victims))
            ledger.holds.put(number, hold, now_ms=world.now_ms)
            world.holds[number] = row
        elif what == "drop" and world.holds:
            key = draw.draw(st.sampled_from(sorted(world.holds)))
            ledger.holds.drop(key, now_ms=world.now_ms)
            del world.holds[key]
        elif what == "end" and world.leases:
            lease_id = draw.draw(st.sampled_from(sorted(world.leases)))
            ledger.end(lease_id, EndCause.RELEASED, now_ms=world.now_ms)
            del world.leases[lease_id]
        elif what == "look":
            _look(world, draw)
        world.check()


def _look(world: World, draw: st.DataObject) -> None:
    """In a shadow all is as if some had left and some were not waited for."""
    subsets = [st.lists(st.sampled_from(s), unique=True) if s else st.just([]) for s in world.ids()]
    gone, lifted = (draw.draw(subset) for subset in subsets)
    seen = World(
        world.ledger,
        leases={i: row for i, row in world.leases.items() if i not in gone},
        holds={i: row for i, row in world.holds.items() if i not in lifted},
    )
    with world.ledger.holds.shadow(gone=gone, lifted=lifted, now_ms=world.now_ms):
        seen.check()
        with world.ledger.holds.shadow(gone=world.leases, now_ms=world.now_ms):
            World(world.ledger, holds=seen.holds).check()
        seen.check()


@pytest.mark.parametrize("engine", ["pure", "compiled"])
@settings(max_examples=150)
@given(draw=st.data())
def test_what_is_kept_is_what_is_lacking_and_no_more(engine: str, draw: st.DataObject) -> None:
    _play(_world(engine), draw, 14)
