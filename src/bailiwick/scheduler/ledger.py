"""The capacity ledger: which nodes exist, what is free on them, who holds the rest.

Rules it keeps:

- ``total = reserved + leased + claimed + free`` on every node, per device and per milli-share;
  nothing is ever negative or above its total, because a hold is taken only where it fits.
- A node that departs ends its leases (and the gangs they belong to) with ``node_departed``.
- A change that a state table does not have is refused with ``IllegalTransition``; any refused
  call has changed nothing.
- Leases live in the engine as 72 bytes each; objects are made when asked for.

>>> from bailiwick import CapacityLedger, NodeCapacity, PlacementRequest, TenantId
>>> ledger = CapacityLedger()
>>> _ = ledger.register_node("node-1", NodeCapacity(cpu_cores=16, mem_bytes=8_000_000_000))
>>> ask = PlacementRequest(tenant=TenantId("lab"), cpu_cores=4, mem_bytes=1_000_000_000)
>>> lease = ledger.grant("node-1", ask)
>>> ledger.node("node-1").free.cpu_milli
12000
>>> ledger.release(lease.id).cause.value
'released'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bailiwick.fleet.inventory import check_inventory
from bailiwick.fleet.node import NodeCapacity
from bailiwick.fleet.resources import NOTHING, Resources
from bailiwick.scheduler.engine.protocol import FLAG_RESERVED
from bailiwick.scheduler.handles import Prepared
from bailiwick.scheduler.lease import EndedLease, Lease
from bailiwick.scheduler.leases import LeaseTable
from bailiwick.scheduler.library.watch import LedgerWatchers
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.node_state import (
    NodeEntry,
    NodeModeTransition,
    NodeUsage,
    resources_of_node,
    total_of,
)
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.room_holds import Holds, RoomHold
from bailiwick.vocab.errors import Conflict, InvariantBroken, Stale
from bailiwick.vocab.transitions import NodeMode, RevokeState, check_mode_change
from bailiwick.vocab.values import (
    NodeId,
    check_amount,
    check_integer,
    check_kind,
    check_name,
)
from bailiwick.vocab.words import EndCause, FilterReason, PreemptionReason

if TYPE_CHECKING:
    from bailiwick.scheduler.victims.unit_index import UnitIndex

__all__ = ["CapacityLedger", "Prepared"]


class CapacityLedger(LeaseTable):
    """Capacity of a fleet, by node."""

    def __init__(self, *, quotas: QuotaManager | None = None, engine: str = "auto") -> None:
        super().__init__(engine)
        self.total = NOTHING
        self.closed: dict[FilterReason, int] = {}
        """How many nodes take no leases, by what closes them."""
        self._closed_why: dict[int, FilterReason] = {}
        self.holds = Holds(self)
        self.watchers = LedgerWatchers()
        self._hold_serial = 0
        self.unit_index: UnitIndex | None = None
        if quotas is not None:
            self.attach_quotas(quotas)

    # -- nodes -------------------------------------------------------------------------------

    def register_node(self, node_id: str, capacity: NodeCapacity) -> NodeUsage:
        """Add a machine from its inventory; it takes leases at once."""
        name = NodeId(check_name("node_id", node_id))
        check_kind("capacity", capacity, NodeCapacity)
        check_inventory(capacity)
        if name in self.entries:
            raise Conflict("node", str(name), "is registered already", hint="depart it first")
        machine_class = self.handles.machine_class(capacity)
        handle = self.engine.add_node(machine_class)
        if self.vacant:
            self.vacant.pop()
        self._enter(NodeEntry(name, handle, machine_class, capacity))
        self.engine.set_eligible(handle, 1)
        return self.node(name)

    def _enter(self, entry: NodeEntry) -> None:
        """Put a node that the engine has into the tables."""
        self.entries[entry.id] = entry
        self.by_class.setdefault(entry.machine_class, {})[entry.id] = entry
        while len(self.by_handle) <= entry.handle:
            self.by_handle.append(None)
        self.by_handle[entry.handle] = entry
        self.total += total_of(entry.capacity)
        self.handles.count_devices(entry.capacity, 1)
        self.labelled.enter(entry)
        self.watchers.joined(entry)

    def restore_nodes(
        self, nodes: Mapping[int, tuple[str, NodeCapacity]], *, vacant: Sequence[int]
    ) -> None:
        """Fill an empty ledger with nodes that keep their handles, in order of registration.

        ``vacant`` are the handles of departed nodes, the one to be used next standing last. Kinds
        and classes must be there already, so that their numbers are the old ones too.
        """
        for handle in range(len(nodes) + len(vacant)):
            machine_class = self.handles.machine_class(nodes[handle][1]) if handle in nodes else 0
            if self.engine.add_node(machine_class) != handle:
                raise InvariantBroken(f"node handle {handle} is taken")
        for handle in vacant:
            self.engine.remove_node(handle)
        self.vacant = list(vacant)
        # As long as the engine's table, or masks would be too short when the last handle is vacant.
        self.by_handle = [None] * (len(nodes) + len(vacant))
        for handle, (name, capacity) in nodes.items():
            machine_class = self.handles.machine_class(capacity)
            self._enter(NodeEntry(NodeId(name), handle, machine_class, capacity))
            self.engine.set_eligible(handle, 1)

    def restore_mode(self, node_id: str, mode: NodeMode, *, quarantined: bool) -> None:
        """Put a node into a mode that it was in before, whatever the mode table says."""
        entry = self.entry(node_id)
        entry.mode, entry.quarantined = mode, quarantined
        self._open_or_close(entry)

    def _open_or_close(self, entry: NodeEntry) -> None:
        """Have everybody know whether the node takes leases, and count why not."""
        self.engine.set_eligible(entry.handle, int(entry.takes_leases))
        self._count_closed(entry.handle, entry.closed_by)

    def _count_closed(self, handle: int, why: FilterReason | None) -> None:
        before = self._closed_why.pop(handle, None)
        if before is not None:
            self.closed[before] -= 1
        if why is not None:
            self._closed_why[handle] = why
            self.closed[why] = self.closed.get(why, 0) + 1

    def depart_node(self, node_id: str, *, now_ms: int = 0) -> tuple[EndedLease, ...]:
        """Forget a machine that is gone; its leases end as ``node_departed``."""
        entry = self.entry(node_id)
        self.check_time(now_ms)
        lost = self.with_gangs(self.engine.leases_on(entry.handle))
        ended = tuple(self.end(i, EndCause.NODE_DEPARTED, now_ms=now_ms) for i in lost)
        self.holds.node_left(entry.handle, now_ms=now_ms)
        self.engine.remove_node(entry.handle)
        self._count_closed(entry.handle, None)
        self.vacant.append(entry.handle)
        self.labelled.leave(entry)
        for members in self.node_sets:
            members.discard(entry.handle)
        self.by_handle[entry.handle] = None
        self.total -= total_of(entry.capacity)
        self.handles.count_devices(entry.capacity, -1)
        del self.entries[entry.id], self.by_class[entry.machine_class][entry.id]
        self.watchers.left(entry)
        return ended

    def set_mode(self, node_id: str, mode: NodeMode) -> NodeModeTransition:
        """Move a node along the mode table; only ``accepting`` takes new leases."""
        entry = self.entry(node_id)
        check_kind("mode", mode, NodeMode)
        check_mode_change(entry.mode, mode)
        if mode is NodeMode.DRAINED and self.engine.node(entry.handle)[6]:
            raise Conflict("node", str(entry.id), "still holds leases", hint="evict them first")
        change = NodeModeTransition(entry.id, entry.mode, mode)
        entry.mode = mode
        self._open_or_close(entry)
        return change

    def set_quarantine(self, node_id: str, quarantined: bool) -> None:
        """Close a node because it is not trusted, or open it again; its mode stays."""
        entry = self.entry(node_id)
        check_kind("quarantined", quarantined, bool)
        entry.quarantined = quarantined
        self._open_or_close(entry)

    def set_gate(self, node_id: str, gated: bool) -> None:
        """Close a node that has not proven what is asked of it, or open it once it has."""
        entry = self.entry(node_id)
        check_kind("gated", gated, bool)
        entry.gated = gated
        self._open_or_close(entry)

    def set_attested(self, node_id: str, labels: Mapping[str, str]) -> None:
        """What the node has proven, as labels: these, and none that it had before."""
        self.labelled.attest(self.entry(node_id), labels)

    def node(self, node_id: str) -> NodeUsage:
        """One node's total, reserved, leased, claimed and free."""
        entry = self.entry(node_id)
        _, _, cpu, mem, block, devices, count = self.engine.node(entry.handle)
        free = Resources(cpu, mem, block, sum(devices))
        reserved = NOTHING
        for lease_id in self.engine.leases_on(entry.handle):
            fields = self.fields(lease_id)
            if fields.flags & FLAG_RESERVED:
                reserved += self.resources_of(fields.shape)
        total, kept = total_of(entry.capacity), self.holds.kept_on(entry.handle)
        claimed = resources_of_node(kept)
        leased = total - free - reserved - claimed
        return NodeUsage(
            entry.id, entry.mode, entry.quarantined, total, reserved, leased, claimed,
            free, devices, count,
        )  # fmt: skip

    def nodes(self) -> Iterator[NodeUsage]:
        """Every node, in the order of registration."""
        for name in list(self.entries):
            yield self.node(name)

    def class_samples(self, mask: bytearray | None = None) -> Iterator[NodeEntry]:
        """One node of each class of machines that the fleet has now, within the mask."""
        for members in self.by_class.values():
            for entry in members.values():
                if mask is None or mask[entry.handle >> 3] >> (entry.handle & 7) & 1:
                    yield entry
                    break

    def __contains__(self, node_id: object) -> bool:
        return node_id in self.entries

    def __len__(self) -> int:
        return len(self.entries)

    def node_set(self, node_ids: Iterable[str] = ()) -> NodeSet:
        """A set of this ledger's nodes, to be handed back by a filter."""
        members = NodeSet(self.engine.counters()["nodes"])
        for node_id in node_ids:
            members.add(self.entry(node_id).handle)
        self.node_sets.append(members)
        return members

    def mask_within(self, sets: list[NodeSet]) -> bytearray | None:
        """The bitmap of nodes that are in all of these sets; ``None`` for all."""
        return self._masks.intersection(sets, len(self.by_handle)) if sets else None

    def handle_of(self, node_id: str) -> int:
        """The integer by which node sets know the node."""
        return self.entry(node_id).handle

    @property
    def free(self) -> Resources:
        """What is free on nodes that take leases."""
        return Resources(*self.engine.free_totals())

    def keep(self, hold: RoomHold, *, now_ms: int) -> int:
        """Keep this room for somebody who gives it no number of his own; the number it has."""
        self._hold_serial += 1
        self.holds.put(self._hold_serial, hold, now_ms=now_ms)
        return self._hold_serial

    # -- leases ------------------------------------------------------------------------------

    def end(
        self,
        lease_id: int,
        cause: EndCause,
        *,
        now_ms: int,
        reason: PreemptionReason | None = None,
    ) -> EndedLease:
        """Give the resources back and say why; what is kept of them for others is kept."""
        ended = super().end(lease_id, cause, now_ms=now_ms, reason=reason)
        self.holds.lease_ended(lease_id, now_ms=now_ms)
        self.watchers.ended(lease_id, now_ms)
        return ended

    def drop(self, lease_id: int, *, now_ms: int) -> None:
        """The same, for a caller that knows what the lease was."""
        super().drop(lease_id, now_ms=now_ms)
        self.holds.lease_ended(lease_id, now_ms=now_ms)
        self.watchers.ended(lease_id, now_ms)

    def fence(
        self,
        lease_id: int,
        cause: EndCause,
        *,
        now_ms: int,
        reason: PreemptionReason | None = None,
    ) -> EndedLease:
        """End the lease for its owner, but keep what it held; who counted on it waits in vain."""
        ended = super().fence(lease_id, cause, now_ms=now_ms, reason=reason)
        self.holds.lease_fenced(lease_id, now_ms=now_ms)
        return ended

    def reserve(self, node_id: str, request: PlacementRequest, *, now_ms: int = 0) -> Lease:
        """Hold resources for a request that is not yet a lease; see ``commit``."""
        return self._hold(node_id, request, FLAG_RESERVED, now_ms=now_ms)

    def grant(self, node_id: str, request: PlacementRequest, *, now_ms: int = 0) -> Lease:
        """Give one member of the request a lease on this node."""
        return self._hold(node_id, request, 0, now_ms=now_ms)

    def _hold(self, node_id: str, request: PlacementRequest, flags: int, *, now_ms: int) -> Lease:
        entry = self.entry(node_id)
        check_kind("request", request, PlacementRequest)
        check_amount("now_ms", now_ms)
        self.settle(request, now_ms)
        lease_id = self.take(entry, self.prepare(request), flags=flags, now_ms=now_ms)
        if lease_id < 0:
            why = "cannot hold the request"
            raise Conflict("node", str(entry.id), why, hint="ask admission first")
        self.watchers.began(request, (lease_id,))
        return self.lease(lease_id)

    def commit(self, lease_id: int, *, now_ms: int = 0) -> Lease:
        """Turn a reservation into a lease whose term starts now."""
        lease = self.lease(lease_id)
        check_amount("now_ms", now_ms)
        if not lease.reserved:
            raise Conflict("lease", lease_id, "is not a reservation")
        if lease.state is not RevokeState.ACTIVE:
            raise Conflict("lease", lease_id, f"is {lease.state}, so it cannot be committed")
        fields = self.fields(lease_id)
        term = lease.expires_ms - lease.granted_ms
        self.watchers.check_stay(lease_id, ttl_ms=term, now_ms=now_ms)
        flags, expires_ms = fields.flags & ~FLAG_RESERVED, now_ms + term
        self.change(lease_id, fields._replace(flags=flags, expires_ms=expires_ms))
        return self.lease(lease_id)

    def lease(self, lease_id: int) -> Lease:
        """The lease as it is now."""
        return self.told(lease_id)

    def leases(self, *, node: str | None = None) -> Iterator[Lease]:
        """Leases on one node, or on all."""
        names = [self.entry(node).id] if node is not None else list(self.entries)
        for name in names:
            for lease_id in self.engine.leases_on(self.entries[name].handle):
                yield self.told(lease_id)

    def renew(
        self, lease_id: int, *, ttl_ms: int, now_ms: int, generation: int | None = None
    ) -> Lease:
        """A new term from now; the generation grows, and a caller with an older one is stale."""
        fields = self.fields(lease_id)
        check_integer("ttl_ms", ttl_ms, low=1, high=2**53)
        check_amount("now_ms", now_ms)
        if generation is not None:
            check_integer("generation", generation, low=1, high=2**31)
        if generation is not None and generation != fields.generation:
            raise Stale("lease", lease_id, held=generation, current=fields.generation)
        lease = self.told(lease_id)
        if lease.state is not RevokeState.ACTIVE:
            raise Conflict("lease", lease_id, f"is {lease.state}, so it cannot be renewed")
        if lease.expires_ms <= now_ms:
            raise Conflict("lease", lease_id, f"expired at {lease.expires_ms}")
        self.watchers.check_stay(lease_id, ttl_ms=ttl_ms, now_ms=now_ms)
        generation, expires_ms = fields.generation + 1, now_ms + ttl_ms
        self.change(lease_id, fields._replace(generation=generation, expires_ms=expires_ms))
        return self.told(lease_id)

    def report_checkpoint(self, lease_id: int, *, now_ms: int) -> Lease:
        """The holder says its work is saved; evicting it now costs least."""
        fields = self.fields(lease_id)
        check_amount("now_ms", now_ms)
        self.change(lease_id, fields._replace(checkpoint_ms=now_ms))
        return self.told(lease_id)

    def release(self, lease_id: int, *, now_ms: int = 0) -> EndedLease:
        """The holder gives the lease back."""
        check_amount("now_ms", now_ms)
        self._refuse_fence(lease_id)
        return self.end(lease_id, EndCause.RELEASED, now_ms=now_ms)

    def expire(self, now_ms: int, *, limit: int = 100_000) -> tuple[EndedLease, ...]:
        """End every lease whose term is over; one of a gang ends the gang."""
        self.check_time(now_ms)
        check_integer("limit", limit, low=1, high=2**31 - 1)
        # Leases being revoked are the revoker's; they must not use up the limit.
        found = self.engine.expired(now_ms, limit + len(self.revoking))
        due = [i for i in found if not self.fields(i).state][:limit]
        return tuple(self.end(i, EndCause.EXPIRED, now_ms=now_ms) for i in self.with_gangs(due))

    def evict(self, lease_id: int, reason: PreemptionReason, *, now_ms: int) -> EndedLease:
        """End a lease against its holder's wish, at once and with the reason it carries."""
        lease = self.told(lease_id)
        check_kind("reason", reason, PreemptionReason)
        check_amount("now_ms", now_ms)
        self._refuse_fence(lease_id)
        if lease.lease_class.value == "guaranteed" and reason.spares_guaranteed:
            raise Conflict("lease", lease_id, f"is guaranteed; {reason} may not end it")
        return self.end(lease_id, EndCause.PREEMPTED, reason=reason, now_ms=now_ms)

    def _refuse_fence(self, lease_id: int) -> None:
        if self.is_pinned(lease_id):
            raise Conflict("lease", lease_id, "is fenced", hint="an operator clears a fence")
