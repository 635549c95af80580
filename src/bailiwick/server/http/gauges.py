"""What the metrics say of the state: read in short pieces, beside the kernel.

Rules:

- One look takes at most ``PIECE`` leases or the GPUs of ``NODES`` nodes, so a scrape never keeps
  others waiting; the sums may be off by what happened in between.
- A kernel that does not answer within ``WAIT_S`` is no reason to tell nothing: the counters, the
  role and the length of its queue are what an operator needs then.
- What was read is told again for ``FRESH_S`` seconds, however many scrape.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Final

from bailiwick.kernel.spelling import request_from
from bailiwick.kernel.state import State
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.replica import Role, View
from bailiwick.runtime.steady_clock import Against, Disagrees
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.telemetry.catalog import GpuUse
from bailiwick.telemetry.metrics import Fact, Gauges
from bailiwick.vocab.bookings import BookingPhase
from bailiwick.vocab.cells import CellStanding
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.health import NodeTestOutcome, has_failed
from bailiwick.vocab.transitions import REVOKE_STATES, NodeMode
from bailiwick.vocab.values import MILLI, NodeId
from bailiwick.vocab.words import LEASE_CLASSES, PendingReason

PIECE: Final = 2_000
NODES: Final = 500
TENANTS_MAX: Final = 200
SCORED_MAX: Final = 500
FRESH_S: Final = 5.0
WAIT_S: Final = 3.0


class GaugeReader:
    """Reads gauges from one replica, and keeps them for a moment."""

    def __init__(self, gateway: Gateway, *, wait_s: float = WAIT_S) -> None:
        self._gateway, self._wait_s = gateway, wait_s
        self._kept: tuple[float, Gauges] | None = None
        self._lock = asyncio.Lock()

    async def read(self, last_approved: Fact | None) -> Gauges:
        """What the state says, at most a moment old."""
        async with self._lock:
            if self._kept is None or time.monotonic() - self._kept[0] > FRESH_S:
                self._kept = time.monotonic(), await self._read_soon(last_approved)
            gauges = self._kept[1]
        replica = self._gateway.runner.replica
        gauges.put("bailiwick_kernel_queue_length", replica.waiting)
        gauges.put("bailiwick_journal_size_records", replica.journal.size)
        stands = replica.watch.agreement
        for against in Against:
            is_it = isinstance(stands, Disagrees) and stands.against is against
            ahead_ms = stands.by_ms if isinstance(stands, Disagrees) and is_it else 0
            gauges.put("bailiwick_clock_ahead_seconds", ahead_ms / 1000, against.value)
        if replica.role is not Role.LEADING:  # what it found when it led is old by now
            gauges.put("bailiwick_booking_series_unbooked", 0)
        for role in Role:
            gauges.put("bailiwick_replica_role", int(replica.role is role), role.value)
        return gauges

    async def _read_soon(self, last_approved: Fact | None) -> Gauges:
        try:
            async with asyncio.timeout(self._wait_s):
                return await self._read(last_approved)
        except (TimeoutError, BailiwickError):
            return Gauges()

    async def _read(self, last_approved: Fact | None) -> Gauges:
        gauges = Gauges()
        if not self._gateway.is_ready:
            return gauges

        def begin(view: View) -> list[int]:
            _fleet(gauges, view)
            _line(gauges, view)
            _cells(gauges, view)
            _tenants(gauges, view.state)
            return list(view.state.leases)

        rest = await self._gateway.read(begin)
        nodes = await self._gateway.read(lambda view: list(view.state.ledger.entries))
        for first in range(0, len(nodes), NODES):
            some = nodes[first : first + NODES]
            await self._gateway.read(partial(_gpus, gauges, nodes=some))
        for first in range(0, len(rest), PIECE):
            piece = rest[first : first + PIECE]
            await self._gateway.read(partial(_leases, gauges, ids=piece))
        if last_approved is not None:
            gauges.scores = await self._gateway.read(
                lambda view: _scores(view.state, last_approved)
            )
        return gauges


def _fleet(gauges: Gauges, view: View) -> None:
    state = view.state
    for name in (
        "bailiwick_nodes",
        "bailiwick_leases",
        "bailiwick_attested_nodes",
        "bailiwick_gpus",
    ):
        gauges.values[name] = {}  # told even if there is none left
    closed = gated = 0
    for entry in state.ledger.entries.values():
        gauges.add("bailiwick_nodes", 1, entry.mode.value)
        closed += entry.quarantined
        gated += entry.gated
        if state.trust.policy is not None:
            word = state.trust.state_of(str(entry.id), view.now_ms)
            gauges.add("bailiwick_attested_nodes", 1, word.value)
    gauges.put("bailiwick_quarantined_nodes", closed)
    gauges.put("bailiwick_gated_nodes", gated)
    gauges.put("bailiwick_fenced_leases", len(state.fenced))
    book = state.maintenance
    late = sum(book.is_open_for(node) for node in book.unready)
    gauges.put("bailiwick_maintenance_late_nodes", late)
    gauges.put("bailiwick_maintenance_overdue_nodes", book.overdue(view.now_ms))
    _bookings(gauges, view)
    failed = sum(not each.is_on for each in state.mig.changes.values())
    gauges.put("bailiwick_mig_failed_nodes", failed)
    _health(gauges, state)


def _health(gauges: Gauges, state: State) -> None:
    book = state.health
    gauges.values["bailiwick_node_health_findings"] = {}  # told even if there is none left
    failed = failing = 0
    for node, found in book.nodes.items():
        if node in book.away:
            continue
        failed += found.verdict in (NodeTestOutcome.FAILED, NodeTestOutcome.TIMED_OUT)
        failing += has_failed(found.findings)
        for check, level in {(each.check.value, each.level.value) for each in found.findings}:
            gauges.add("bailiwick_node_health_findings", 1, check, level)
    gauges.put("bailiwick_health_failing_nodes", failing)
    gauges.put("bailiwick_health_drained_nodes", len(book.drained))
    gauges.put("bailiwick_health_held_back_nodes", len(book.held_back))
    gauges.put("bailiwick_node_test_failed_nodes", failed)
    gauges.put("bailiwick_node_tests_running", len(book.tests))


def _bookings(gauges: Gauges, view: View) -> None:
    nodes: dict[BookingPhase, set[str]] = {phase: set() for phase in BookingPhase}
    for phase in BookingPhase:
        gauges.put("bailiwick_bookings", 0, phase.value)
    for each in view.state.bookings.bookings.values():
        phase = each.phase(view.now_ms)
        gauges.add("bailiwick_bookings", 1, phase.value)
        nodes[phase].update(each.nodes)
    for phase, booked in nodes.items():
        gauges.put("bailiwick_booked_nodes", len(booked), phase.value)


def _gpus(gauges: Gauges, view: View, *, nodes: Sequence[NodeId]) -> None:
    """Each device once: what is free of it, kept for who waits, fenced, and leased is the rest."""
    state, ledger = view.state, view.state.ledger
    for name in nodes:
        entry = ledger.entries.get(name)
        if entry is None:
            continue
        gpus, free = entry.capacity.gpus, ledger.engine.node(entry.handle)[5]
        kept = ledger.holds.kept_on(entry.handle)[3:] or (0,) * len(gpus)
        fenced = _fenced_milli(state, entry) if state.fenced else (0,) * len(gpus)
        unheld = _use(entry)
        for gpu, *milli in zip(gpus, free, kept, fenced, strict=True):
            told = zip((unheld, GpuUse.CLAIMED, GpuUse.FENCED), milli, strict=True)
            for use, part in (*told, (GpuUse.LEASED, MILLI - sum(milli))):
                gauges.add("bailiwick_gpus", part / MILLI, gpu.generation.value, use.value)


def _fenced_milli(state: State, entry: NodeEntry) -> list[int]:
    """How much of each device of a node belongs to leases whose end nobody has confirmed."""
    found, ledger = [0] * len(entry.capacity.gpus), state.ledger
    for handle in ledger.engine.leases_on(entry.handle):
        if state.ids[handle] in state.fenced:
            fields = ledger.fields(handle)
            milli = ledger.handles.shapes[fields.shape].device_milli
            for index in range(len(found)):
                found[index] += milli * (fields.devices >> index & 1)
    return found


def _use(entry: NodeEntry) -> GpuUse:
    """What becomes of what nobody holds there."""
    if entry.quarantined:
        return GpuUse.QUARANTINED
    if entry.mode is not NodeMode.ACCEPTING:
        return GpuUse(entry.mode.value)
    return GpuUse.GATED if entry.gated else GpuUse.FREE


def _line(gauges: Gauges, view: View) -> None:
    """Who waits: the blocker that the kernel last found, which costs nothing to ask for."""
    oldest_ms = view.now_ms
    gauges.values["bailiwick_waiting_requests"] = {}
    gauges.values["bailiwick_tenant_waiting_requests"] = {}
    since = gauges.submitted_ms = {}
    for entry in view.state.line.entries.values():
        denied = view.state.blocked.get(entry.id)
        reason = PendingReason.NOT_YET_LOOKED_AT if denied is None else denied.reason
        gauges.add("bailiwick_waiting_requests", 1, reason.value)
        gauges.add("bailiwick_tenant_waiting_requests", 1, str(entry.request.tenant))
        since[entry.id] = entry.submitted_ms
        oldest_ms = min(oldest_ms, entry.submitted_ms)
    gauges.put("bailiwick_waiting_oldest_seconds", (view.now_ms - oldest_ms) / 1000)


def _cells(gauges: Gauges, view: View) -> None:
    """The cells of a home, if there are any, and who waits for one of them."""
    book = view.state.cells
    for standing in CellStanding if book.members else ():
        there = sum(member.standing is standing for member in book.members.values())
        gauges.put("bailiwick_cells", there, standing.value)
    since_ms = (book.requests[number].asked_ms for number in book.waiting)
    oldest_ms = min(since_ms, default=view.now_ms)
    gauges.put("bailiwick_global_waiting_requests", len(book.waiting))
    gauges.put("bailiwick_global_waiting_oldest_seconds", (view.now_ms - oldest_ms) / 1000)


def _tenants(gauges: Gauges, state: State) -> None:
    for tenant in islice(state.directory.tenants, TENANTS_MAX):
        room = state.quotas.headroom(tenant)
        for dimension, row in room.dimensions.items():
            gauges.put("bailiwick_tenant_usage", row.used, tenant, dimension.value)
            if row.limit is not None and row.left is not None:
                gauges.put("bailiwick_tenant_limit", row.limit, tenant, dimension.value)
                gauges.put("bailiwick_tenant_headroom", row.left, tenant, dimension.value)
        for generation, row in room.generations.items():
            if row.used:
                gauges.put("bailiwick_tenant_gpu_usage", row.used, tenant, generation.value)


def _leases(gauges: Gauges, view: View, *, ids: Sequence[int]) -> None:
    state = view.state
    for lease_id in ids:
        if lease_id in state.leases:
            fields = state.fields(lease_id)
            held, phase = LEASE_CLASSES[fields.lease_class], REVOKE_STATES[fields.state]
            gauges.add("bailiwick_leases", 1, held.value, phase.value)


def _scores(state: State, fact: Fact) -> list[float]:
    """How nodes stand for the shape that was admitted last, as parts of the best one's score."""
    if len(state.ledger) > SCORED_MAX:
        return []
    request = request_from(fact["body"], fact["tenant"], project=fact["project"])
    found = [row.score for row in state.admission.scorer.score(state.ledger, request)]
    best = max(found, default=0)
    return [score / best for score in found] if best > 0 else []
