"""In the course of what each record of a tick must stand, told naively from the records before it.

Nothing is kept between two records but the records themselves: each question walks back through all
of them. Slow, and plain to see.
"""

from __future__ import annotations

from collections.abc import Sequence

from bailiwick.journal import Record

MAKES_ROOM = ("priority_preemption", "quota_rebalance")
OF_ENTRIES = ("admission_approved", "request_blocked", "request_cancelled", "room_reserved")
OF_LEASES = ("lease_revoked", "lease_preempted", "lease_fenced", "lease_restored")
STRONG = ("trusted", "untrusted")


def expected_course(before: Sequence[Record], record: Record) -> set[str] | None:
    """The correlation ids that may stand on a record of a tick; ``None`` if only the tick's own."""
    kind, body = str(record.kind), record.body
    if kind in OF_ENTRIES:
        return {_first(before, "request_queued", entry_id=body["entry_id"])}
    if kind in OF_LEASES:
        return _of_lease(before, record)
    if kind == "node_mode_changed":
        return {_last(before, "node_mode_changed", node=body["node"], after="draining")}
    if kind == "budget_state_changed":
        own = {"tenant": record.tenant, "project": record.project}
        return {r.correlation_id for r in before[::-1] if _is_budget(r, own)} or None
    if kind == "attestation_verdict":
        return {_evidence(before, str(body["node"]), str(body["evidence"]))}
    if kind == "node_quarantined":
        return {_evidence(before, str(body["node"]), str(body["evidence"]))}
    return None


def _of_lease(before: Sequence[Record], record: Record) -> set[str] | None:
    lease_id = record.body["lease_id"]
    began = _began(before, lease_id)
    if record.kind == "lease_restored":
        return {began} if began else None
    reason = record.body.get("reason")
    if reason is None:
        return None  # a term that was over
    counted = _claimants(before, lease_id) if reason in MAKES_ROOM else set()
    if counted:
        return counted
    if began:
        return {began}
    if reason == "burst_credit_exhausted":
        return _changes(before, record, "quota_changed")
    if reason in ("budget_exhausted", "cost_cap_eviction"):
        return _changes(before, record, "budget_changed")
    if reason == "policy_violation_recovery":
        return {r.correlation_id for r in before[::-1] if r.kind == "node_quarantined"}
    return None


def _began(before: Sequence[Record], lease_id: object) -> str | None:
    """In the course of what the lease was told to go, if it was and still has to."""
    for record in reversed(before):
        if record.body.get("lease_id") != lease_id:
            continue
        if record.kind == "lease_restored":
            return None
        if record.kind == "lease_revoked" and record.body["after"] == "revoke_warning":
            return record.correlation_id
    return None


def _claimants(before: Sequence[Record], lease_id: object) -> set[str]:
    """In the course of what those asked who count on the lease's room now."""
    told: dict[object, Record] = {}
    gone: set[object] = set()
    for record in before:
        entry_id = record.body.get("entry_id")
        if record.kind == "request_blocked":
            told[entry_id] = record
        elif record.kind in ("admission_approved", "request_cancelled"):
            gone.add(entry_id)
    return {
        _first(before, "request_queued", entry_id=entry_id)
        for entry_id, record in told.items()
        if entry_id not in gone and lease_id in record.body.get("victims", ())
    }


def _changes(before: Sequence[Record], record: Record, kind: str) -> set[str]:
    """The last change of the project's rule, or of its tenant's: either may be the one."""
    found: dict[object, str] = {}
    for other in before:
        same = other.kind == kind and other.tenant == record.tenant
        if same and other.project in (None, record.project):
            found[other.project] = other.correlation_id
    return set(found.values())


def _is_budget(record: Record, own: dict[str, str | None]) -> bool:
    same = (record.tenant, record.project) == (own["tenant"], own["project"])
    return record.kind == "budget_changed" and same


def _evidence(before: Sequence[Record], node: str, digest: str) -> str:
    for record in before:
        body = record.body
        is_it = record.kind == "attestation_verdict" and body.get("evidence") == digest
        if is_it and body["node"] == node and body["verdict"] in STRONG:
            return record.correlation_id
    raise AssertionError(f"nobody told of evidence {digest} of {node}")


def _first(before: Sequence[Record], kind: str, **fields: object) -> str:
    return next(r.correlation_id for r in before if _is(r, kind, fields))


def _last(before: Sequence[Record], kind: str, **fields: object) -> str:
    return next(r.correlation_id for r in reversed(before) if _is(r, kind, fields))


def _is(record: Record, kind: str, fields: dict[str, object]) -> bool:
    return record.kind == kind and all(record.body.get(n) == v for n, v in fields.items())
