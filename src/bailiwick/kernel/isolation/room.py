"""What of a machine somebody could be given now: what is free there, as far as he may go.

Rules:

- A closed machine gives nothing. Room that is kept for a claimant is not free
  (:mod:`bailiwick.scheduler.room_holds`), nor is what is held, whoever holds it.
- A policy is asked as for a request of the shortest kind that takes one device (or one core, where
  there is none): of a machine that it closes nothing is free, of one that it closes in part the
  devices that are open.
- Who may ask in several tenants or projects is told the most that any of them could be given.
- That a machine is full and that a policy closes it look alike, and nobody is told whose it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple, TypeAlias

from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.scheduler.node_set import ALL_DEVICES, NodeSet
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.values import ProjectId, TenantId

OWNERS_MAX = 64
"""Tenants and projects of one person that are asked for; the rest could only add to it."""


class FreeRoom(NamedTuple):
    """What is free on one machine; of the devices, each by itself."""

    cpu_milli: int = 0
    mem_bytes: int = 0
    block_bytes: int = 0
    devices_milli: tuple[int, ...] = ()


RoomOn: TypeAlias = Callable[[NodeEntry], FreeRoom]


def room_for(state: State, owners: Collection[Owner] | None, *, now_ms: int) -> RoomOn:
    """What these could be given on a machine; ``None``: what is free there for anybody."""
    policies = state.guards.policies
    for policy in policies:
        policy.look(max(now_ms, state.clock_ms))
    if owners is not None and not owners:
        return _nothing
    if owners is None or not policies:
        return lambda entry: _room(state, entry, devices=ALL_DEVICES)
    asked = sorted(owners, key=lambda owner: (owner.tenant or "", owner.project or ""))
    reached = [_sets(state, owner) for owner in asked[:OWNERS_MAX]]

    def room(entry: NodeEntry) -> FreeRoom:
        handle = entry.handle
        with_gpus = bool(entry.capacity.gpus)
        found = [sets[with_gpus] for sets in reached]
        inside = [sets for sets in found if all(handle in each for each in sets)]
        if not inside:
            return _nothing(entry)
        devices = 0
        for sets in inside:
            one = ALL_DEVICES
            for each in sets:
                one &= each.devices.get(handle, ALL_DEVICES)
            devices |= one
        return _room(state, entry, devices=devices)

    return room


def _sets(state: State, owner: Owner) -> tuple[list[NodeSet], list[NodeSet]]:
    """Where policies let work without and with a device go."""
    return _reached(state, owner, gpu_count=0), _reached(state, owner, gpu_count=1)


def _reached(state: State, owner: Owner, *, gpu_count: int) -> list[NodeSet]:
    request = PlacementRequest(
        tenant=TenantId(str(owner.tenant)),
        project=None if owner.project is None else ProjectId(owner.project),
        cpu_cores=1 - gpu_count,
        gpu_count=gpu_count,
        ttl_ms=1,
    )
    found = (policy.nodes_for(request) for policy in state.guards.policies)
    return [each for each in found if each is not None]


def _room(state: State, entry: NodeEntry, *, devices: int) -> FreeRoom:
    if not entry.takes_leases:
        return _nothing(entry)
    _, _, cpu, mem, block, free, _ = state.ledger.engine.node(entry.handle)
    open_free = (milli if devices >> at & 1 else 0 for at, milli in enumerate(free))
    return FreeRoom(cpu, mem, block, tuple(open_free))


def _nothing(entry: NodeEntry) -> FreeRoom:
    return FreeRoom(devices_milli=(0,) * len(entry.capacity.gpus))
