"""What the body of each kind of record holds: one table, read by writers and readers alike.

Rules:

- A field that the table does not name is refused on write and on read; so is a missing one.
- A preemption names its typed reason, its victim, its preemptor and what it freed; without them
  it cannot be built.
- A reason is a closed word where an enum for it exists; a ``NAME`` where people give it too (why a
  node is in quarantine).
- No body holds a secret: a secret and a token are named by id, evidence by its digest. Keys that
  nodes enrolled with are public ones.

>>> check_body(RecordKind.LEASE_RENEWED, {"lease_id": 4, "generation": 2, "expires_ms": 9_000})
>>> check_body(RecordKind.LEASE_PREEMPTED, {"lease_id": 4})
Traceback (most recent call last):
...
bailiwick.journal.fields.RecordRefused: lease_preempted.reason: expected a value, got nothing
"""

from __future__ import annotations

from collections.abc import Mapping

from bailiwick.journal.body_spec import BodySpec, Fields
from bailiwick.journal.fields import (
    AMOUNT,
    DIGEST,
    INTEGERS,
    LABELS,
    NAME,
    NAMES,
    PRINCIPAL,
    RESOURCES,
    SIGNED,
    TEXT,
    TEXTS,
    Amounts,
    ListOf,
    Words,
)
from bailiwick.journal.trust_bodies import TRUST_BODIES
from bailiwick.journal.words import (
    ArtifactChannel,
    CancelCause,
    GrantChange,
    MemberChange,
    RecordKind,
    RuntimeChange,
    Severity,
    TrustState,
)
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.words import (
    BudgetState,
    CapacityDenial,
    Dimension,
    Exclusivity,
    HardwareGeneration,
    LeaseClass,
    PendingReason,
    PreemptionReason,
    Priority,
    QuotaViolation,
    ResourceKind,
    Strategy,
)


def check_body(kind: RecordKind, body: object) -> None:
    """Refuse a body that is not what its kind holds."""
    BODIES[kind].check(str(kind), body)


_REASON = Words((PreemptionReason,))
_PRIORITY = Words((Priority,))
_LEASE_CLASS = Words((LeaseClass,))
_GPU_GENERATION = Words((HardwareGeneration,))
_REVOKE_STATE = Words((RevokeState,))
_NODE_MODE = Words((NodeMode,))
_TRUST = Words((TrustState,))
_LIMITS = Amounts(Dimension)
_GPU_LIMITS = Amounts(HardwareGeneration)
_CHANGE: Fields = {"before": TEXT, "after": TEXT}
# The numbers of a denial are those of its own class; each class has some of them.
_DENIAL_NUMBERS: Fields = dict.fromkeys(
    (
        *("limit", "used", "requested", "credit", "free", "kept", "largest"),
        *("nodes", "placed", "members", "deadline_ms", "now_ms", "gang_size"),
        *("budget_micros", "spent_micros", "requested_micros"),
        *("cap_micros", "projected_micros", "leases", "until_ms"),
    ),
    SIGNED,
)
# What a request asked for beyond its amounts; what is left out has its default.
_REQUEST: Fields = {
    **dict.fromkeys(("gpu_count", "gpu_milli", "gpu_vram", "gang_size", "ttl_ms"), AMOUNT),
    **dict.fromkeys(("deadline_ms", "preemptible_on_budget", "wait"), AMOUNT),
    "gpu_models": TEXTS,
    "gpu_generation": _GPU_GENERATION,
    "exclusivity": Words((Exclusivity,)),
    "labels": LABELS,
    "tag": NAME,
}
_DENIAL: Fields = {
    "reason": Words((PendingReason,)),
    "detail": Words((QuotaViolation, CapacityDenial)),
}
_DENIAL_MORE: Fields = {
    "dimension": Words((Dimension,)),
    "resource": Words((ResourceKind,)),
    "denied_generation": _GPU_GENERATION,
    "denied_scope": NAMES,
    **_DENIAL_NUMBERS,
}
_TERMS: Fields = {"resources": RESOURCES, "priority": _PRIORITY, "lease_class": _LEASE_CLASS}
# Any record that answers a command may carry the command's idempotency key and digest.
_KEYED: Fields = {"key": PRINCIPAL, "command": DIGEST}

_BODIES: Mapping[RecordKind, BodySpec] = {
    RecordKind.ADMISSION_APPROVED: BodySpec(
        {
            "lease_ids": INTEGERS,
            "nodes": NAMES,
            "resources": RESOURCES,
            "priority": _PRIORITY,
            "lease_class": _LEASE_CLASS,
        },
        {
            **_REQUEST,
            "burst": AMOUNT,
            "gang": AMOUNT,
            "depth": AMOUNT,
            "devices": INTEGERS,
            "entry_id": AMOUNT,
            "members_left": AMOUNT,
        },
    ),
    RecordKind.ADMISSION_DENIED: BodySpec({**_DENIAL, **_TERMS}, {**_REQUEST, **_DENIAL_MORE}),
    RecordKind.REQUEST_QUEUED: BodySpec(
        {"entry_id": AMOUNT, "reason": Words((PendingReason,)), **_TERMS},
        {"detail": Words((QuotaViolation, CapacityDenial)), **_REQUEST, **_DENIAL_MORE},
    ),
    RecordKind.REQUEST_BLOCKED: BodySpec(
        {"entry_id": AMOUNT, **_DENIAL},
        {"victims": INTEGERS, "victim_nodes": NAMES, "depth": AMOUNT, **_DENIAL_MORE},
    ),
    RecordKind.REQUEST_CANCELLED: BodySpec({"entry_id": AMOUNT, "cause": Words((CancelCause,))}),
    RecordKind.ROOM_RESERVED: BodySpec(
        {"entry_id": AMOUNT, "starts_ms": AMOUNT, "nodes": NAMES}, {"overdue": AMOUNT}
    ),
    RecordKind.LEASE_GRANTED: BodySpec(
        {
            "lease_id": AMOUNT,
            "node": NAME,
            "resources": RESOURCES,
            "priority": _PRIORITY,
            "lease_class": _LEASE_CLASS,
            "generation": AMOUNT,
            "expires_ms": AMOUNT,
        },
        {
            "devices": INTEGERS,
            "gpu_generation": _GPU_GENERATION,
            "vram_bytes": AMOUNT,
            "gang": AMOUNT,
            "depth": AMOUNT,
            "tag": NAME,
        },
    ),
    RecordKind.LEASE_RENEWED: BodySpec(
        {"lease_id": AMOUNT, "generation": AMOUNT, "expires_ms": AMOUNT}
    ),
    RecordKind.LEASE_RELEASED: BodySpec(
        {"lease_id": AMOUNT, "node": NAME, "resources": RESOURCES}, {"tag": NAME}
    ),
    RecordKind.LEASE_EXPIRED: BodySpec(
        {"lease_id": AMOUNT, "node": NAME, "resources": RESOURCES}, {"tag": NAME}
    ),
    RecordKind.LEASE_REVOKED: BodySpec(
        {"lease_id": AMOUNT, "before": _REVOKE_STATE, "after": _REVOKE_STATE},
        {"reason": _REASON, "node": NAME, "expires_ms": AMOUNT, "released": AMOUNT},
    ),
    RecordKind.LEASE_FENCED: BodySpec(
        {"lease_id": AMOUNT, "node": NAME, "resources": RESOURCES}, {"reason": _REASON}
    ),
    RecordKind.FENCE_CLEARED: BodySpec({"lease_id": AMOUNT, "node": NAME}, {"note": TEXT}),
    RecordKind.LEASE_PREEMPTED: BodySpec(
        {
            "lease_id": AMOUNT,
            "reason": _REASON,
            "victim": NAME,
            "preemptor": PRINCIPAL,
            "freed": RESOURCES,
        },
        {
            "node": NAME,
            "preemptor_lease_id": AMOUNT,
            "gang": AMOUNT,
            "depth": AMOUNT,
            "cost": AMOUNT,
            "tag": NAME,
        },
    ),
    RecordKind.NODE_REGISTERED: BodySpec(
        {"node": NAME, "resources": RESOURCES},
        {
            "gpu_count": AMOUNT,
            "gpu_generation": _GPU_GENERATION,
            "vram_bytes": AMOUNT,
            "cell": NAME,
            "labels": LABELS,
            "gpu_generations": ListOf(_GPU_GENERATION),
            "gpu_vram_bytes": INTEGERS,
            "gpu_models": TEXTS,
            "gpu_fabrics": TEXTS,
            "gpu_partitionable": INTEGERS,
        },
    ),
    RecordKind.NODE_DEPARTED: BodySpec(
        {"node": NAME},
        {"lease_ids": INTEGERS, "leases_left": AMOUNT, "last_seen_ms": AMOUNT, "note": TEXT},
    ),
    RecordKind.NODE_MODE_CHANGED: BodySpec(
        {"node": NAME, "before": _NODE_MODE, "after": _NODE_MODE}, {"note": TEXT}
    ),
    **TRUST_BODIES,
    RecordKind.DRAIN_STARTED: BodySpec(
        {"node": NAME, "reason": _REASON}, {"deadline_ms": AMOUNT, "lease_ids": INTEGERS}
    ),
    RecordKind.DRAIN_FINISHED: BodySpec({"node": NAME}, {"lease_ids": INTEGERS}),
    RecordKind.QUOTA_CHANGED: BodySpec(
        {"limits": _LIMITS},
        {
            "limits_before": _LIMITS,
            "gpu_limits": _GPU_LIMITS,
            "gpu_limits_before": _GPU_LIMITS,
            "burst_dimension": Words((Dimension,)),
            "burst_capacity": AMOUNT,
            "burst_refill_per_s": AMOUNT,
            "burst_ceiling": AMOUNT,
        },
    ),
    RecordKind.OPERATOR_ACTION: BodySpec({"action": NAME, "target": PRINCIPAL}, {"note": TEXT}),
    RecordKind.BREAK_GLASS: BodySpec(
        {"action": NAME, "target": PRINCIPAL, "justification": TEXT},
        {"approver": PRINCIPAL, "expires_ms": AMOUNT},
    ),
    RecordKind.CHECKPOINT_REPORTED: BodySpec(
        {"lease_id": AMOUNT}, {"node": NAME, "digest": DIGEST, "step": AMOUNT}
    ),
    RecordKind.TENANT_CREATED: BodySpec({}, {"display_name": TEXT}),
    RecordKind.TENANT_CHANGED: BodySpec({"field": NAME}, _CHANGE),
    RecordKind.PROJECT_CREATED: BodySpec({}, {"display_name": TEXT}),
    RecordKind.PROJECT_CHANGED: BodySpec({"field": NAME}, _CHANGE),
    RecordKind.MEMBER_CHANGED: BodySpec(
        {"member": PRINCIPAL, "change": Words((MemberChange,))},
        {"role": NAME, "role_before": NAME},
    ),
    RecordKind.SERVICE_ACCOUNT_CREATED: BodySpec(
        {"account": PRINCIPAL}, {"scopes": NAMES, "expires_ms": AMOUNT}
    ),
    RecordKind.SERVICE_ACCOUNT_CHANGED: BodySpec({"account": PRINCIPAL, "field": NAME}, _CHANGE),
    RecordKind.ENTITLEMENT_CHANGED: BodySpec(
        {"app": NAME, "change": Words((GrantChange,))}, {"concurrency": AMOUNT}
    ),
    RecordKind.APP_INSTANCE_CREATED: BodySpec(
        {"instance": NAME, "app": NAME, "version": NAME}, {"digest": DIGEST}
    ),
    RecordKind.APP_INSTANCE_CHANGED: BodySpec({"instance": NAME, "field": NAME}, _CHANGE),
    RecordKind.APP_INSTANCE_REMOVED: BodySpec({"instance": NAME}, {"note": TEXT}),
    RecordKind.SHARED_RUNTIME_CHANGED: BodySpec(
        {"runtime": NAME, "change": Words((RuntimeChange,))},
        {"attached_project": NAME, "field": NAME, **_CHANGE},
    ),
    RecordKind.ARTIFACT_PROMOTED: BodySpec(
        {"artifact": NAME, "digest": DIGEST, "channel": Words((ArtifactChannel,))},
        {"trust": _TRUST, "trust_before": _TRUST},
    ),
    RecordKind.SECRET_ISSUED: BodySpec(
        {"secret": NAME, "audience": PRINCIPAL, "expires_ms": AMOUNT}
    ),
    # The whole card, so that a journal alone says what everything cost; one that is withdrawn has
    # no prices.
    RecordKind.RATE_CARD_CHANGED: BodySpec(
        {"card": NAME, "effective_ms": AMOUNT},
        {
            "of_tenant": NAME,
            "currency": NAME,
            "gpu_micros_per_hour": _GPU_LIMITS,
            "class_per_mille": Amounts(LeaseClass),
            **dict.fromkeys(
                ("core_micros_per_hour", "mem_micros_per_gib_hour", "block_micros_per_gib_hour"),
                AMOUNT,
            ),
            "withdrawn": AMOUNT,
        },
    ),
    RecordKind.INVOICE_ISSUED: BodySpec(
        {
            "invoice": NAME,
            "period_start_ms": AMOUNT,
            "period_end_ms": AMOUNT,
            "journal_size": AMOUNT,
            "total_micros": SIGNED,
            "currency": NAME,
            "digest": DIGEST,
        },
        {"corrects": NAME},
    ),
    RecordKind.BUDGET_CHANGED: BodySpec(
        {"limit_micros": AMOUNT, "from_ms": AMOUNT},
        {
            **dict.fromkeys(("cap_micros", "until_ms", "opening_micros", "removed"), AMOUNT),
            "thresholds": INTEGERS,
        },
    ),
    RecordKind.BUDGET_STATE_CHANGED: BodySpec(
        {
            "before": Words((BudgetState,)),
            "after": Words((BudgetState,)),
            **dict.fromkeys(("spent_micros", "limit_micros", "crossed"), AMOUNT),
        },
    ),
    RecordKind.FINDING_REPORTED: BodySpec(
        {"finding": NAME, "severity": Words((Severity,)), "subject": PRINCIPAL},
        {"evidence": DIGEST, "note": TEXT},
    ),
    RecordKind.SHARE_CHANGED: BodySpec({"share": AMOUNT}, {"share_before": AMOUNT}),
    RecordKind.SETTINGS_CHANGED: BodySpec(
        {"strategy": Words((Strategy,))},
        {
            "weights": ListOf(SIGNED),
            "headroom": RESOURCES,
            "headroom_priority": _PRIORITY,
            "preempt_from": _PRIORITY,
            **dict.fromkeys(
                (
                    *("grace_ms", "teardown_ms", "confirm_teardown", "min_run_ms"),
                    *("max_cascade_depth", "fresh_checkpoint_ms", "half_life_ms"),
                    *("patience_ms", "horizon_ms", "queue_max", "keys_ms", "keys_max"),
                ),
                AMOUNT,
            ),
        },
    ),
    RecordKind.STATE_CHECKPOINT: BodySpec({"digest": DIGEST, "leases": AMOUNT, "waiting": AMOUNT}),
    RecordKind.LEADER_ELECTED: BodySpec({"epoch": AMOUNT, "leader": NAME}, {"address": TEXT}),
    RecordKind.ACCESS_TOKEN_ISSUED: BodySpec(
        {
            "token_id": NAME,
            "principal": PRINCIPAL,
            "principal_kind": NAME,
            "digest": DIGEST,
            "expires_ms": AMOUNT,
        },
        {"single_use": AMOUNT, "keys": NAMES, "within": ListOf(PRINCIPAL)},
    ),
    RecordKind.ACCESS_TOKEN_REVOKED: BodySpec({"token_id": NAME}),
    RecordKind.ACCESS_REFUSED: BodySpec(
        {"reason": NAME}, {"principal": PRINCIPAL, "permission": NAME}
    ),
}
BODIES: Mapping[RecordKind, BodySpec] = {
    kind: BodySpec(spec.required, {**spec.optional, **_KEYED}) for kind, spec in _BODIES.items()
}
