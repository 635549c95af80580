"""Who holds what of one node: device by device, lease by lease.

Rules:

- Whoever asks is told of the leases that he may read, and of no other: neither a name nor a number,
  nor how much they hold. To who may read every lease that is all of them.
- Leases without a GPU are told too: they hold cores there.
- No more than :data:`HOLDERS_MAX` are told one by one; all that may be read are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from bailiwick.iam import FLEET, Permission, Scope
from bailiwick.kernel import State
from bailiwick.kernel.owner import Owner
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.services.caller import Caller
from bailiwick.services.history import History
from bailiwick.store.history.questions import LeaseRow, lease_of
from bailiwick.vocab.errors import Unavailable
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.words import LEASE_CLASSES, LeaseClass

HOLDERS_MAX: Final = 64
"""Leases of one node that are told one by one."""


@dataclass(frozen=True, slots=True)
class NodeHolder:
    """A lease on a node: whose it is, and what it holds there."""

    lease_id: int
    owner: Owner
    lease_class: LeaseClass
    devices: tuple[int, ...]
    device_milli: int
    """Its share of each of these devices."""
    cpu_milli: int
    expires_ms: int
    is_ending: bool
    is_fenced: bool = False
    """Whether nobody could say that nothing of it runs any more: an operator has to."""
    fenced_ms: int | None = None
    """Since when, where that was looked up."""


@dataclass(frozen=True, slots=True)
class NodeHeld:
    """What leases hold of a node, as far as whoever asks may know."""

    leases: int
    devices_milli: tuple[int, ...]
    """Of each device, in the order of the inventory."""
    holders: tuple[NodeHolder, ...]
    """The first of them, by number."""


def reader_of(caller: Caller) -> Callable[[Owner], bool]:
    """Whose leases the caller may read; each owner is asked about once."""
    if caller.holds(Permission.LEASE_READ, FLEET):
        return lambda owner: True
    known: dict[Owner, bool] = {}

    def may_read(owner: Owner) -> bool:
        if owner not in known:
            known[owner] = caller.holds(Permission.LEASE_READ, Scope(*owner))
        return known[owner]

    return may_read


def held_of(state: State, entry: NodeEntry, *, may_read: Callable[[Owner], bool]) -> NodeHeld:
    """What the leases that may be read hold of a node."""
    devices, count, told = [0] * len(entry.capacity.gpus), 0, []
    for lease_id in state.leases_on(str(entry.id)):
        owner = state.owner_of(lease_id)
        if not may_read(owner):
            continue
        count += 1
        holder = _holder(state, lease_id, owner)
        for device in holder.devices:
            devices[device] += holder.device_milli
        if count <= HOLDERS_MAX:
            told.append(holder)
    return NodeHeld(count, tuple(devices), tuple(told))


async def with_fences(caller: Caller, history: History | None, *, held: NodeHeld) -> NodeHeld:
    """The same, with since when those are fenced that are; unknown without tables up to date."""
    wanted = [each.lease_id for each in held.holders if each.is_fenced]
    if history is None or not wanted:
        return held
    rows: list[LeaseRow | None] = []
    with suppress(Unavailable):
        rows = await history.ask(
            caller.gateway.role, lambda store: [lease_of(store, each) for each in wanted]
        )
    since = {row.lease_id: row.ended_ms for row in rows if row is not None}
    told = (replace(each, fenced_ms=since.get(each.lease_id)) for each in held.holders)
    return replace(held, holders=tuple(told))


def _holder(state: State, lease_id: int, owner: Owner) -> NodeHolder:
    fields = state.fields(lease_id)
    shape = state.ledger.handles.shapes[fields.shape]
    return NodeHolder(
        lease_id=lease_id,
        owner=owner,
        lease_class=LEASE_CLASSES[fields.lease_class],
        devices=tuple(at for at in range(fields.devices.bit_length()) if fields.devices >> at & 1),
        device_milli=shape.device_milli,
        cpu_milli=shape.cpu_milli,
        expires_ms=fields.expires_ms,
        is_ending=state.phase(lease_id) is not RevokeState.ACTIVE,
        is_fenced=lease_id in state.fenced,
    )
