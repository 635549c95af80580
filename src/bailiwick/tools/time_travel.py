"""The whole state of a journal as it was at some moment.

Rules:

- The state is rebuilt from records that were verified, and from nothing else; its digest is told,
  so that two people can see whether they look at the same one.
- When a waiting request may start is an estimate, and is marked as one.
"""

from __future__ import annotations

import dataclasses
from itertools import islice
from typing import Any

from bailiwick.kernel import Kernel, State, digest_of, views
from bailiwick.kernel.spelling import denial_body, request_body
from bailiwick.kernel.views import ScopeUsage, WaitingEntry
from bailiwick.phrases.amounts import span
from bailiwick.phrases.denials import denial_numbers
from bailiwick.phrases.requests import asks
from bailiwick.phrases.times import told_time
from bailiwick.scheduler.decision import DeadlinePassed, Denied, VictimsLeaving
from bailiwick.tools.record_source import OpenedJournal, UpTo, follow
from bailiwick.vocab.errors import InvalidValue


def rebuild(source: OpenedJournal, moment: UpTo) -> Kernel:
    """The kernel after the records that had been made by then."""
    kernel = Kernel()
    with source.reporter.progress("replaying", source.size) as step:
        for record in source.records():
            if not moment.has(record):
                break
            follow(kernel, record)
            if record.seq % 1_000 == 0:
                step(record.seq)
    if source.size and not kernel.state.size:
        first = next(source.records()).at_ms
        when = f"not before the journal begins: {told_time(first)} UTC ({first} ms)"
        raise InvalidValue("TIME", moment.at_ms, when)
    return kernel


def as_of(state: State, source: OpenedJournal, *, moment: UpTo) -> int:
    """The time that was meant, but never beyond what the journal knows."""
    if moment.at_ms is not None:
        return max(min(moment.at_ms, source.end_ms), state.clock_ms)
    return state.clock_ms


def tell(state: State, now_ms: int, *, limit: int) -> dict[str, Any]:
    """The state as plain values."""
    fleet = views.fleet(state)
    rows = [
        {
            "generation": row.generation.value,
            "nodes": row.nodes,
            "devices": row.devices,
            "leased_milli": row.leased_milli,
            "claimed_milli": row.claimed_milli,
            "free_milli": row.free_milli,
            "closed_milli": row.closed_milli,
        }
        for row in fleet.generations
    ]
    return {
        "at_ms": now_ms,
        "at": told_time(now_ms).replace(" ", "T") + "Z",
        "seq": state.size - 1,
        "epoch": state.epoch,
        "digest": digest_of(state),
        "fleet": {
            "nodes": fleet.nodes,
            "modes": {mode.value: count for mode, count in fleet.modes.items()},
            "quarantined": fleet.quarantined,
            "gated": fleet.gated,
            "fenced": fleet.fenced,
            "capacity": dataclasses.asdict(fleet.capacity),
            "leased": dataclasses.asdict(fleet.leased),
            "claimed": dataclasses.asdict(fleet.claimed),
            "free": dataclasses.asdict(fleet.free),
            "generations": rows,
        },
        "tenants": [_scope(each) for each in views.usage(state)],
        "leases_total": len(state.leases),
        "leases": [_lease(lease) for lease in islice(views.leases(state), limit)],
        "waiting_total": len(state.line.entries),
        "waiting": [_entry(entry) for entry in views.waiting(state, now_ms, limit=limit)],
    }


def _scope(each: ScopeUsage) -> dict[str, Any]:
    rooms = {d.value: r for d, r in each.dimensions.items() if r.used or r.limit is not None}
    rooms |= {g.value: r for g, r in each.generations.items()}
    return {
        "tenant": str(each.scope.tenant),
        "project": None if each.scope.project is None else str(each.scope.project),
        "share": each.share,
        "leases": each.leases,
        "gpu_milli": each.held.gpu_milli,
        "cpu_milli": each.held.cpu_milli,
        "waiting": each.waiting,
        "quota": {word: {"used": r.used, "limit": r.limit} for word, r in rooms.items()},
    }


def _lease(lease: Any) -> dict[str, Any]:
    return {
        "id": lease.id,
        "tenant": str(lease.tenant),
        "project": None if lease.project is None else str(lease.project),
        "node": str(lease.node),
        "devices": list(lease.devices),
        "resources": dataclasses.asdict(lease.resources),
        "priority": lease.priority.value,
        "lease_class": lease.lease_class.value,
        "state": lease.state.value,
        "gang": lease.gang,
        "granted_ms": lease.granted_ms,
        "expires_ms": lease.expires_ms,
    }


def _entry(entry: WaitingEntry) -> dict[str, Any]:
    return {
        "position": entry.position,
        "raised": entry.raised,
        "slips": entry.slips,
        "id": entry.id,
        "tenant": str(entry.request.tenant),
        "project": None if entry.request.project is None else str(entry.request.project),
        "asks": asks(entry.request),
        "request": request_body(entry.request),
        "submitted_ms": entry.submitted_ms,
        "reason": entry.reason.value,
        "blocker": None if entry.blocker is None else denial_body(entry.blocker),
        "blockers": [denial_body(each) for each in entry.blockers],
        "because": because(entry.blocker),
        "nodes_fallen": {reason.value: count for reason, count in entry.fallen.items()},
        "nodes_fitting": entry.fitting,
        "rules": [{"rule": rule, "nodes": nodes} for rule, nodes in entry.rules.told],
        "rules_more": entry.rules.more,
        "remedy": dataclasses.asdict(entry.remedy),
        "estimate": {"starts_ms": entry.estimate.starts_ms, "basis": entry.estimate.basis.value},
    }


def because(blocker: Denied | None) -> str:
    """What stands in the way, with its numbers."""
    match None if blocker is None else blocker.detail:
        case None:
            return "only those ahead of it are in the way"
        case VictimsLeaving(leases=count, until_ms=until):
            return f"{count} leases are leaving, the last by {told_time(until)[11:19]}"
        case DeadlinePassed(deadline_ms=deadline):
            return f"had to start by {told_time(deadline)[:19]}"
        case detail:
            return denial_numbers(detail, when=told_time, late=span)
