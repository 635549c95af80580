"""Every decision of the demo as a sealed record: what a platform would keep, kept here in memory.

Rules:

- One record per decision, sealed when it was taken: answers of admission, each lease that ended,
  each step of a revocation, each change of a node or a quota.
- The lines are those of a journal file. ``verify`` reads them back as any auditor would, from the
  bytes alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum

from bailiwick import (
    AdmissionDecision,
    Denied,
    EndCause,
    EndedLease,
    Lease,
    NodeModeTransition,
    NodeUsage,
    PlacementRequest,
    Quota,
    Resources,
    RevokeTransition,
)
from bailiwick.journal import Chain, Context, RecordKind, Verification, verify_lines

SCHEDULER = "scheduler"


class Seal:
    """The demo's journal."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self._chain = Chain()
        self._requests = 0

    @property
    def root(self) -> str:
        """The root of the tree over all records: one line that stands for all of them."""
        return self._chain.root().hex()

    def verify(self) -> Verification:
        """Read the journal back from its bytes and judge it."""
        return verify_lines(self.lines)

    def admission(
        self, request: PlacementRequest, decision: AdmissionDecision, *, at_ms: int
    ) -> None:
        """What admission answered, and the leases that came of it."""
        self._requests += 1
        context = Context(SCHEDULER, f"request-{self._requests}", request.tenant, request.project)
        if isinstance(decision, Denied):
            body = {**_terms(request), "reason": decision.reason, **_detail(decision)}
            self._add(RecordKind.ADMISSION_DENIED, context, at_ms=at_ms, body=body)
            return
        body = {
            **_terms(request),
            "lease_ids": [lease.id for lease in decision.leases],
            "nodes": list(decision.nodes),
            "burst": decision.burst,
        }
        self._add(RecordKind.ADMISSION_APPROVED, context, at_ms=at_ms, body=body)

    def renewed(self, lease: Lease, *, at_ms: int) -> None:
        """A lease got a new term."""
        body = {
            "lease_id": lease.id,
            "generation": lease.generation,
            "expires_ms": lease.expires_ms,
        }
        self._add(RecordKind.LEASE_RENEWED, _owner(lease), at_ms=at_ms, body=body)

    def step(self, step: RevokeTransition, lease: Lease) -> None:
        """One step of a lease towards its end."""
        body = {
            "lease_id": step.lease_id,
            "before": step.before,
            "after": step.after,
            "node": lease.node,
            **({"reason": step.reason} if step.reason is not None else {}),
        }
        self._add(RecordKind.LEASE_REVOKED, _owner(lease), at_ms=step.at_ms, body=body)

    def ended(self, ended: EndedLease, *, by: str) -> None:
        """A lease is over: given back, expired, preempted by somebody, or fenced."""
        lease = ended.lease
        body: dict[str, object] = {
            "lease_id": lease.id,
            "node": lease.node,
            "resources": _amounts(lease.resources),
        }
        kind = RecordKind.LEASE_RELEASED
        if ended.fenced:
            kind = RecordKind.LEASE_FENCED
        elif ended.reason is not None:
            kind = RecordKind.LEASE_PREEMPTED
            body = {"lease_id": lease.id, "node": lease.node, "reason": ended.reason}
            body |= {"victim": lease.tenant, "preemptor": by.replace(" ", "-")}
            body |= {"freed": _amounts(lease.resources), "depth": lease.depth}
        elif ended.cause is EndCause.EXPIRED:
            kind = RecordKind.LEASE_EXPIRED
        self._add(kind, _owner(lease), at_ms=ended.ended_ms, body=body)

    def fence_cleared(self, ended: EndedLease) -> None:
        """An operator freed what a failed teardown had held."""
        body = {"lease_id": ended.lease.id, "node": ended.lease.node}
        context = Context("operator", f"lease-{ended.lease.id}", ended.lease.tenant)
        self._add(RecordKind.FENCE_CLEARED, context, at_ms=ended.ended_ms, body=body)

    def registered(self, node: NodeUsage, *, at_ms: int) -> None:
        """A machine joined the fleet."""
        body = {
            "node": node.id,
            "resources": _amounts(node.total),
            "gpu_count": len(node.device_free_milli),
        }
        self._add(RecordKind.NODE_REGISTERED, _node(node.id), at_ms=at_ms, body=body)

    def departed(self, node: str, lease_ids: list[int], *, at_ms: int) -> None:
        """A machine is gone, with these leases on it."""
        body = {"node": node, "lease_ids": lease_ids}
        self._add(RecordKind.NODE_DEPARTED, _node(node), at_ms=at_ms, body=body)

    def mode(self, change: NodeModeTransition, *, at_ms: int) -> None:
        """An operator moved a machine from one mode to another."""
        body = {"node": change.node, "before": change.before, "after": change.after}
        self._add(RecordKind.NODE_MODE_CHANGED, _node(change.node), at_ms=at_ms, body=body)

    def quarantine(self, node: str, reason: str | None, *, at_ms: int) -> None:
        """A machine lost the fleet's trust for this reason, or (None) got it back."""
        kind = RecordKind.NODE_QUARANTINE_LIFTED
        body: dict[str, object] = {"node": node}
        if reason is not None:
            kind = RecordKind.NODE_QUARANTINED
            body["reason"] = reason
        self._add(kind, _node(node), at_ms=at_ms, body=body)

    def quota(self, tenant: str, quota: Quota, *, project: str | None = None, at_ms: int) -> None:
        """A tenant or project was given this quota."""
        body = {
            "limits": {str(li.dimension): li.limit for li in quota.limits},
            "gpu_limits": {str(g.generation): g.count for g in quota.gpu_generations},
        }
        context = Context("operator", f"quota-{tenant}", tenant, project)
        self._add(RecordKind.QUOTA_CHANGED, context, at_ms=at_ms, body=body)

    def _add(
        self, kind: RecordKind, context: Context, *, at_ms: int, body: Mapping[str, object]
    ) -> None:
        plain = {name: _plain(value) for name, value in body.items()}
        self.lines.append(self._chain.seal(kind, context, at_ms=at_ms, body=plain).line)


def _terms(request: PlacementRequest) -> dict[str, object]:
    need = Resources(
        request.cpu_milli, request.mem_bytes, request.block_bytes, request.gpu_milli_total
    )
    terms: dict[str, object] = {
        "resources": _amounts(need),
        "priority": request.priority,
        "lease_class": request.lease_class,
    }
    if request.generation is not None:
        terms["gpu_generation"] = request.generation
    return terms


def _detail(denied: Denied) -> dict[str, object]:
    """The word of a denial and its numbers, by the names they have in the denial itself."""
    body: dict[str, object] = {"detail": denied.detail.code}
    for each in fields(denied.detail):
        if each.name == "generation":
            body["gpu_generation"] = getattr(denied.detail, each.name)
        elif each.name != "scope":
            body[each.name] = getattr(denied.detail, each.name)
    return body


def _amounts(resources: Resources) -> dict[str, int]:
    return {each.name: getattr(resources, each.name) for each in fields(resources)}


def _owner(lease: Lease) -> Context:
    return Context(SCHEDULER, f"lease-{lease.id}", lease.tenant, lease.project)


def _node(node: str) -> Context:
    return Context("operator", f"node-{node}")


def _plain(value: object) -> object:
    """Closed words and checked names as the plain strings that JSON knows."""
    if isinstance(value, StrEnum | str):
        return str(value)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value
