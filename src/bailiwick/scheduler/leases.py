"""Between objects and the engine: requests made ready, holds taken, leases read and ended.

This is the lower half of :class:`~bailiwick.scheduler.ledger.CapacityLedger`; it speaks both
languages (names and integers) and keeps the few tables that need Python objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bailiwick.fleet.resources import Resources
from bailiwick.scheduler.engine import new_engine
from bailiwick.scheduler.engine.protocol import (
    FLAG_ON_BUDGET,
    FLAG_PINNED,
    FLAG_RESERVED,
    LEARN_FLAG,
    NEVER,
    LeaseFields,
    traits,
)
from bailiwick.scheduler.handles import OPERATOR_ACCOUNT, ChargedAccount, Handles, Prepared, Shape
from bailiwick.scheduler.lease import EndedLease, Lease
from bailiwick.scheduler.node_labels import LabelIndex
from bailiwick.scheduler.node_set import ANYWHERE, MaskCache, NodeFilter, NodeSet, Reach
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_rows import FLAG_ASK, ROW_WIDTH, demand_of, vram_of
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.victim_cost import BlockedNodes, FoundVictims, VictimTerms
from bailiwick.scheduler.workload import learn, lesson_interval, steady_interval
from bailiwick.vocab.errors import Conflict, InvariantBroken, NotFound
from bailiwick.vocab.transitions import REVOKE_STATES, RevokeState
from bailiwick.vocab.values import AMOUNT_MAX, MILLI, NodeId, TenantId, check_amount, check_kind
from bailiwick.vocab.words import LEASE_CLASSES, PRIORITIES, EndCause, PreemptionReason

FENCE = TenantId("fenced")
"""The owner shown for a fenced hold: no tenant pays for it."""


class LeaseTable:
    """The lower half of a capacity ledger."""

    def __init__(self, engine: str) -> None:
        self.engine = new_engine(engine)
        self.handles = Handles(self.engine)
        self.entries: dict[NodeId, NodeEntry] = {}
        self.by_handle: list[NodeEntry | None] = []
        self.labelled = LabelIndex(self.entries)
        self.node_sets: list[NodeSet] = []
        self.quotas: QuotaManager | None = None
        self.gangs: dict[int, list[int]] = {}
        self._gang_serial = 0
        self._quota_version = -1
        self._masks = MaskCache()
        self._weights: tuple[int, int, int, int] | None = None
        self._headroom = (0, 0, 0, 0, 0)
        self.revoking: dict[int, PreemptionReason] = {}
        self.by_class: dict[int, dict[NodeId, NodeEntry]] = {}
        self.vacant: list[int] = []
        self._prepared: Prepared | None = None
        self.learn_now()

    def attach_quotas(self, quotas: QuotaManager) -> None:
        """Charge every lease of this ledger to that quota manager from now on."""
        check_kind("quotas", quotas, QuotaManager)
        if self.quotas is quotas:
            return
        if self.quotas is not None or self.engine.counters()["leases"]:
            raise Conflict(
                "ledger", "quotas", "is in use already", hint="attach before the first lease"
            )
        self.quotas, self._prepared = quotas, None
        self.sync_quota()

    def sync_quota(self) -> None:
        """The quota table may have moved when it grew; use the one that is current."""
        quotas = self.quotas
        if quotas is not None and quotas.buffer_version != self._quota_version:
            self.engine.attach_quota(quotas.buffer)
            self._quota_version = quotas.buffer_version

    def entry(self, node_id: str) -> NodeEntry:
        """The node by name; an unknown one is an error."""
        if not isinstance(node_id, str) or node_id not in self.entries:
            raise NotFound("node", node_id, hint="register it first")
        return self.entries[node_id]  # type: ignore[index]

    # -- requests ----------------------------------------------------------------------------

    def prepare(self, request: PlacementRequest, filters: Sequence[NodeFilter] = ()) -> Prepared:
        """The request as integers, with the node sets of its labels and of the filters."""
        known = self._prepared
        # The same object asked again, as deciding and doing do: its integers are still good.
        if known is None or known.request is not request or known.epoch != self.handles.epoch:
            known = self._prepared = self._prepare(request)
        sets = [s for s in (f.nodes_for(request) for f in filters) if s is not None]
        return known.beside(sets) if sets else known

    def _prepare(self, request: PlacementRequest) -> Prepared:
        row = -1
        if self.quotas is not None:
            row = self.quotas.row_for(request)
            self.sync_quota()
        sets = [self.labelled.nodes_with(label) for label in sorted(request.labels.items())]
        shape, account = self.handles.shape(request), self.handles.account(request, row)
        vram = None
        if request.device_count and (sizes := self.handles.memories(self.handles.shapes[shape])):
            vram = vram_of(request, sizes[0])
        return Prepared(
            request, shape, account, self.traits_of(request), request.ttl_ms, sets,
            self.handles.epoch, row, demand_of(request, vram),
        )  # fmt: skip

    @staticmethod
    def traits_of(request: PlacementRequest) -> int:
        """Priority, class and flags as the engine keeps them."""
        on_budget = FLAG_ON_BUDGET * request.preemptible_on_budget
        return traits(request.priority.rank, LEASE_CLASSES.index(request.lease_class), on_budget)

    def reach_of(self, ready: Prepared, *, by_device: bool = True) -> Reach:
        """Where its labels and filters let it go; by device, those apart that have a limit."""
        apart = by_device and ready.request.device_count > 0
        return self._masks.reach(ready.sets, len(self.by_handle), by_device=apart)

    def mask_of(self, ready: Prepared) -> bytearray | None:
        """The bitmap of nodes that it may use as they are; ``None`` for all."""
        return self.reach_of(ready).mask

    def fresh(self, ready: Prepared) -> Prepared:
        """The same request with integers that are valid now."""
        if ready.epoch == self.handles.epoch:
            return ready
        return self.prepare(ready.request)._replace(sets=ready.sets, traits=ready.traits)

    def find(self, ready: Prepared, strategy: int) -> NodeEntry | None:
        """Where the strategy would put one member now; nothing changes."""
        handle = self.engine.find(strategy, ready.shape, *self.reach_of(ready))
        return self.by_handle[handle] if handle >= 0 else None

    def place(self, ready: Prepared, strategy: int, *, now_ms: int, gang: int = -1) -> int:
        """Check quota, choose a node and take it: a lease id, or the engine's word for no."""
        if ready.epoch != self.handles.epoch:
            ready = self.fresh(ready)
        if self.quotas is not None:
            self.sync_quota()
        reach = self.reach_of(ready) if ready.sets else ANYWHERE
        lease_id = self.engine.place(
            strategy, ready.shape, ready.account, ready.traits, now_ms, now_ms + ready.ttl_ms,
            gang, reach.mask, reach.limits,
        )  # fmt: skip
        if lease_id >= LEARN_FLAG:
            lease_id -= LEARN_FLAG
            self.learn_now()
        elif lease_id < 0:
            self._learn_if_due()
        if lease_id >= 0 and gang >= 0:
            self.gangs.setdefault(gang, []).append(lease_id)
        return lease_id

    def take(
        self,
        entry: NodeEntry,
        ready: Prepared,
        *,
        now_ms: int,
        flags: int = 0,
        gang: int = -1,
        devices: int = -1,
    ) -> int:
        """Take resources on a chosen node (settle first); quota is charged but not asked."""
        self.sync_quota()
        lease_id = self.engine.take(
            entry.handle, ready.shape, ready.account, ready.traits | flags << 8, now_ms,
            now_ms + ready.ttl_ms, gang, devices,
        )  # fmt: skip
        if lease_id >= 0 and gang >= 0:
            self.gangs.setdefault(gang, []).append(lease_id)
        return lease_id

    def untake(self, lease_id: int) -> None:
        """Undo the newest ``take`` as if it had never been."""
        gang = self.fields(lease_id).gang
        self.engine.untake(lease_id)
        if gang >= 0:
            self._leave_gang(gang, lease_id)

    def note_arrivals(self, ready: Prepared, times: int) -> None:
        """Count arrivals that did not go through ``place``, and learn when it is time."""
        arrivals, learn_at = self.engine.learning()
        self.engine.set_arrivals(ready.shape, self.engine.shape_use(ready.shape)[1] + times)
        self.engine.learning(arrivals + times, learn_at)
        self._learn_if_due()

    def _learn_if_due(self) -> None:
        """Learn right after the arrival that makes it due, so that asking and doing agree."""
        arrivals, learn_at = self.engine.learning()
        if arrivals >= learn_at:
            self.learn_now()

    def serving(self, entry: NodeEntry, shape: Shape) -> tuple[int, ...]:
        """Indices of the node's devices that may serve the shape, free or not."""
        return self.handles.serving(entry.machine_class, shape)

    def node_of(self, lease_id: int) -> NodeId:
        """The node a lease is on."""
        return self.node_at(self.fields(lease_id).node)

    def node_at(self, handle: int) -> NodeId:
        """The node that has this handle."""
        entry = self.by_handle[handle]
        if entry is None:
            raise InvariantBroken(f"a lease is on node {handle}, which departed")
        return entry.id

    def search_victims(
        self, ready: Prepared, terms: VictimTerms, *, mask: bytearray | None
    ) -> FoundVictims | BlockedNodes:
        """The cheapest victims on one node for one member, or what blocked the nodes."""
        answer = self.engine.find_victims(
            ready.shape, ready.evictable, terms.now_ms, terms.min_run_ms,
            terms.fresh_checkpoint_ms, terms.max_cascade_depth, mask, -1,
        )  # fmt: skip
        if len(answer) == 4:
            cost, node, ids, exact = answer
            return FoundVictims(cost, node, tuple(ids), exact)
        return BlockedNodes(*answer)

    def use_headroom(self, kept: tuple[int, int, int, int, int]) -> None:
        """The priority and amounts that the next placements keep free for more urgent ones."""
        if kept != self._headroom:
            self.engine.set_headroom(*kept)
            self._headroom = kept

    def use_weights(self, weights: tuple[int, int, int, int]) -> None:
        """The weights of the weighted strategy; scores are recomputed when they change."""
        if weights != self._weights:
            self.engine.set_weights(*weights)
            self._weights = weights

    def new_gang(self) -> int:
        """A number for a gang about to be placed."""
        self._gang_serial += 1
        return self._gang_serial

    def learn_now(self) -> None:
        """Learn the workload from what arrived, and say when to do it again."""
        capacity = [devices * MILLI for devices in self.handles.kind_devices]
        cpu_milli = sum(entry.capacity.cpu_milli for entry in self.entries.values())
        tables = learn(self.handles.arrivals(), milli_by_kind=capacity, cpu_milli=cpu_milli)
        self.engine.set_workload(tables.inverse_kappa, tables.pressure, tables.items)
        arrivals, _ = self.engine.learning()
        if arrivals >= 2 * steady_interval(len(self.entries)):
            self.handles.fade()
            arrivals //= 2
        self.engine.learning(arrivals, arrivals + lesson_interval(arrivals, len(self.entries)))

    # -- leases ------------------------------------------------------------------------------

    def fields(self, lease_id: int) -> LeaseFields:
        """The engine's record of a lease; an unknown or ended one is an error."""
        known = type(lease_id) is int and 0 <= lease_id < 2**63
        row = self.engine.lease(lease_id) if known else None
        if row is None:
            raise NotFound("lease", lease_id, hint="it never existed or has ended")
        return LeaseFields._make(row)

    def change(self, lease_id: int, to: LeaseFields) -> None:
        """Overwrite what may change while a lease is held; the other fields stay as they are."""
        self.engine.update_lease(
            lease_id, to.state, to.flags, to.generation, to.expires_ms, to.checkpoint_ms
        )

    def told(self, lease_id: int) -> Lease:
        """The lease as an object."""
        (node, account, shape, gang, devices, priority, lease_class, state, flags, depth,
         generation, granted, expires, checkpoint) = self.fields(lease_id)  # fmt: skip
        entry = self.by_handle[node]
        if entry is None:
            raise InvariantBroken(f"lease {lease_id} is on a node that departed")
        owner = self.handles.accounts.get(account) if account != OPERATOR_ACCOUNT else None
        indices = tuple(i for i in range(len(entry.capacity.gpus)) if devices >> i & 1)
        return Lease(
            id=lease_id,
            node=entry.id,
            tenant=owner.tenant if owner else FENCE,
            project=owner.project if owner else None,
            tag=owner.tag if owner else None,
            resources=self.resources_of(shape),
            devices=indices,
            gpu_generation=entry.capacity.gpus[indices[0]].generation if indices else None,
            vram_bytes=entry.vram_held(devices, self.handles.shapes[shape].device_milli),
            priority=PRIORITIES[priority],
            lease_class=LEASE_CLASSES[lease_class],
            state=REVOKE_STATES[state],
            generation=generation,
            granted_ms=granted,
            expires_ms=expires,
            checkpoint_ms=None if checkpoint == NEVER else checkpoint,
            gang=None if gang < 0 or flags & FLAG_PINNED else gang,
            depth=depth,
            reserved=bool(flags & FLAG_RESERVED),
            preemptible_on_budget=bool(flags & FLAG_ON_BUDGET),
        )

    def resources_of(self, shape: int) -> Resources:
        """What one lease of this shape holds."""
        s = self.handles.shapes[shape]
        return Resources(s.cpu_milli, s.mem_bytes, s.block_bytes, s.device_count * s.device_milli)

    def is_pinned(self, lease_id: int) -> bool:
        """Whether the hold is a fence."""
        return bool(self.fields(lease_id).flags & FLAG_PINNED)

    def with_gangs(self, lease_ids: Iterable[int]) -> list[int]:
        """The leases and every other member of their gangs, each once."""
        wanted: dict[int, None] = {}
        for lease_id in lease_ids:
            fields = self.fields(lease_id)
            alone = fields.gang < 0 or fields.flags & FLAG_PINNED  # a fence has left its gang
            wanted.update(dict.fromkeys((lease_id,) if alone else self.gangs[fields.gang]))
        return list(wanted)

    def end(
        self,
        lease_id: int,
        cause: EndCause,
        *,
        now_ms: int,
        reason: PreemptionReason | None = None,
    ) -> EndedLease:
        """Give the resources back and say why."""
        lease = self.told(lease_id)
        ended = EndedLease(lease=lease, cause=cause, ended_ms=now_ms, reason=reason)
        self.sync_quota()
        self.settle(lease, now_ms)
        if not self.engine.release(lease_id):
            raise InvariantBroken(f"lease {lease_id} vanished while it was ended")
        self.revoking.pop(lease_id, None)
        if lease.gang is not None:
            self._leave_gang(lease.gang, lease_id)
        return ended

    def drop(self, lease_id: int, *, now_ms: int) -> None:
        """Give the resources back, for a caller that knows what the lease was."""
        fields = self.fields(lease_id)
        self.sync_quota()
        owner = self.handles.accounts.get(fields.account)
        if owner is not None:
            self.settle(owner, now_ms)
        self.engine.release(lease_id)
        self.revoking.pop(lease_id, None)
        if fields.gang >= 0 and not fields.flags & FLAG_PINNED:
            self._leave_gang(fields.gang, lease_id)

    def _leave_gang(self, gang: int, lease_id: int) -> None:
        members = self.gangs[gang]
        members.remove(lease_id)
        if not members:
            del self.gangs[gang]

    def fence(
        self,
        lease_id: int,
        cause: EndCause,
        *,
        now_ms: int,
        reason: PreemptionReason | None = None,
    ) -> EndedLease:
        """End the lease for its owner, but keep what it held: teardown was not confirmed."""
        lease = self.told(lease_id)
        ended = EndedLease(lease=lease, cause=cause, ended_ms=now_ms, reason=reason, fenced=True)
        self.sync_quota()
        self.settle(lease, now_ms)
        fields = self.fields(lease_id)
        self.engine.move_lease(lease_id, OPERATOR_ACCOUNT)
        fenced = REVOKE_STATES.index(RevokeState.FENCED)
        flags = fields.flags | FLAG_PINNED
        self.change(lease_id, fields._replace(state=fenced, flags=flags, expires_ms=AMOUNT_MAX))
        self.revoking.pop(lease_id, None)
        if lease.gang is not None:
            self._leave_gang(lease.gang, lease_id)
        return ended

    def check_time(self, now_ms: int) -> int:
        """The time, if nothing that depends on time has been told a later one."""
        check_amount("now_ms", now_ms)
        return now_ms if self.quotas is None else self.quotas.check_time(now_ms)

    def settle(self, owner: PlacementRequest | Lease | ChargedAccount, now_ms: int) -> None:
        """Burst credit drains with time, so it is brought up to now before usage changes."""
        if self.quotas is None or owner.tenant is FENCE:  # a tenant may have that name too
            return
        self.settle_row(self.quotas.row_of(owner.tenant, owner.project), now_ms)

    def settle_row(self, row: int, now_ms: int) -> None:
        """The same, for the row of a request that was prepared."""
        quotas = self.quotas
        if quotas is not None and quotas.buffer[row * ROW_WIDTH + 1] & FLAG_ASK:
            quotas.settle(row, now_ms)
