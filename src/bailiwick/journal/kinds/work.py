"""What became of requests, and of the leases that they were granted."""

from __future__ import annotations

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
    Words,
)
from bailiwick.journal.kinds.row import GPU_GENERATION, PRIORITY, REASON, row
from bailiwick.journal.ocsf import API, CREATE, DELETE, HIGH, LOW, MEDIUM, UPDATE, Ocsf
from bailiwick.journal.words import CancelCause
from bailiwick.vocab.execs import CopyDirection, ExecEnd
from bailiwick.vocab.graphs import FailureCategory, GraphPhase
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.words import (
    CapacityDenial,
    Dimension,
    Exclusivity,
    FilterReason,
    LeaseClass,
    PendingReason,
    QuotaViolation,
    ReservationLoss,
    ResourceKind,
    RightsDenial,
)

_LEASE_CLASS = Words((LeaseClass,))
_REVOKE_STATE = Words((RevokeState,))
_DETAIL = Words((QuotaViolation, CapacityDenial, RightsDenial))
# The numbers of a denial are those of its own class; each class has some of them.
_DENIAL_NUMBERS: Fields = dict.fromkeys(
    (
        *("limit", "used", "requested", "credit", "credit_needed", "free", "kept", "largest"),
        *("nodes", "placed", "members", "deadline_ms", "now_ms", "gang_size"),
        *("budget_micros", "spent_micros", "requested_micros"),
        *("cap_micros", "projected_micros", "leases", "until_ms"),
        *("requested_ms", "longest_ms", "starts_ms", "waiting", "waiting_max"),
    ),
    SIGNED,
)
# What a request asked for beyond its amounts; what is left out has its default.
REQUEST: Fields = {
    **dict.fromkeys(("gpu_count", "gpu_milli", "gpu_vram", "gang_size", "ttl_ms"), AMOUNT),
    **dict.fromkeys(("deadline_ms", "preemptible_on_budget", "wait"), AMOUNT),
    "gpu_models": TEXTS,
    "gpu_generation": GPU_GENERATION,
    "exclusivity": Words((Exclusivity,)),
    "labels": LABELS,
    "job_labels": LABELS,
    "tag": NAME,
}
_DENIAL: Fields = {
    "reason": Words((PendingReason,)),
    "detail": _DETAIL,
}
_DENIAL_MORE: Fields = {
    "dimension": Words((Dimension,)),
    "resource": Words((ResourceKind,)),
    "denied_generation": GPU_GENERATION,
    "denied_scope": NAMES,
    "node": NAME,
    "closed_by": Words((FilterReason,)),
    "rule": NAME,
    "asked_priority": PRIORITY,
    "priority_max": PRIORITY,
    "asked_class": _LEASE_CLASS,
    **_DENIAL_NUMBERS,
}
TERMS: Fields = {"resources": RESOURCES, "priority": PRIORITY, "lease_class": _LEASE_CLASS}


class WorkKinds:
    """The kinds of the work slice."""

    ADMISSION_APPROVED = row(
        "admission_approved",
        1,
        ocsf=Ocsf(API, CREATE),
        moves_shares=True,
        body=BodySpec(
            {
                "lease_ids": INTEGERS,
                "nodes": NAMES,
                "resources": RESOURCES,
                "priority": PRIORITY,
                "lease_class": _LEASE_CLASS,
            },
            {
                **REQUEST,
                "burst": AMOUNT,
                "cores": TEXTS,
                "gang": AMOUNT,
                "depth": AMOUNT,
                "devices": INTEGERS,
                "entry_id": AMOUNT,
                "members_left": AMOUNT,
            },
        ),
    )
    ADMISSION_DENIED = row(
        "admission_denied",
        2,
        ocsf=Ocsf(API, CREATE, LOW, is_failure=True),
        body=BodySpec({**_DENIAL, **TERMS}, {**REQUEST, **_DENIAL_MORE}),
    )
    REQUEST_QUEUED = row(
        "request_queued",
        3,
        ocsf=Ocsf(API, CREATE),
        body=BodySpec(
            {"entry_id": AMOUNT, "reason": Words((PendingReason,)), **TERMS},
            {"detail": _DETAIL, **REQUEST, **_DENIAL_MORE},
        ),
    )
    REQUEST_BLOCKED = row(
        "request_blocked",
        4,
        ocsf=Ocsf(API, UPDATE),
        body=BodySpec(
            {"entry_id": AMOUNT, **_DENIAL},
            {
                "victims": INTEGERS,
                "victim_nodes": NAMES,  # written until rooms were told
                "seats": NAMES,
                "seat_devices": INTEGERS,
                "depth": AMOUNT,
                "gave_way": AMOUNT,
                **_DENIAL_MORE,
            },
        ),
    )
    REQUEST_CANCELLED = row(
        "request_cancelled",
        5,
        ocsf=Ocsf(API, DELETE),
        body=BodySpec({"entry_id": AMOUNT, "cause": Words((CancelCause,))}),
    )
    ROOM_RESERVED = row(
        "room_reserved",
        6,
        ocsf=Ocsf(API, UPDATE),
        body=BodySpec(
            {"entry_id": AMOUNT, "starts_ms": AMOUNT, "nodes": NAMES}, {"overdue": AMOUNT}
        ),
    )
    ROOM_POSTPONED = row(
        "room_postponed",
        62,
        ocsf=Ocsf(API, UPDATE),
        body=BodySpec({"entry_id": AMOUNT, "starts_ms": AMOUNT, "nodes": NAMES, "slips": AMOUNT}),
    )
    ROOM_LOST = row(
        "room_lost",
        63,
        ocsf=Ocsf(API, UPDATE, LOW),
        body=BodySpec(
            {"entry_id": AMOUNT, "cause": Words((ReservationLoss,))}, {"until_ms": AMOUNT}
        ),
    )
    LEASE_RENEWED = row(
        "lease_renewed",
        8,
        ocsf=Ocsf(API, UPDATE),
        moves_shares=True,
        body=BodySpec({"lease_id": AMOUNT, "generation": AMOUNT, "expires_ms": AMOUNT}),
    )
    RENEWAL_DENIED = row(
        "renewal_denied",
        59,
        ocsf=Ocsf(API, UPDATE, LOW, is_failure=True),
        body=BodySpec({"lease_id": AMOUNT, "ttl_ms": AMOUNT, **_DENIAL}, _DENIAL_MORE),
    )
    LEASE_RELEASED = row(
        "lease_released",
        9,
        ocsf=Ocsf(API, DELETE),
        moves_shares=True,
        body=BodySpec({"lease_id": AMOUNT, "node": NAME, "resources": RESOURCES}, {"tag": NAME}),
    )
    LEASE_EXPIRED = row(
        "lease_expired",
        10,
        ocsf=Ocsf(API, DELETE, LOW),
        moves_shares=True,
        body=BodySpec({"lease_id": AMOUNT, "node": NAME, "resources": RESOURCES}, {"tag": NAME}),
    )
    LEASE_REVOKED = row(
        "lease_revoked",
        11,
        ocsf=Ocsf(API, UPDATE, LOW),
        moves_shares=True,
        body=BodySpec(
            {"lease_id": AMOUNT, "before": _REVOKE_STATE, "after": _REVOKE_STATE},
            {
                "reason": REASON,
                "node": NAME,
                "expires_ms": AMOUNT,
                "released": AMOUNT,
                "preemptor": PRINCIPAL,
                "generation": AMOUNT,
                "rule": NAME,
                "departed": NAME,
            },
        ),
    )
    LEASE_RESTORED = row(
        "lease_restored",
        58,
        ocsf=Ocsf(API, UPDATE),
        moves_shares=True,
        body=BodySpec(
            {"lease_id": AMOUNT, "generation": AMOUNT, "expires_ms": AMOUNT},
            {"preemptor": PRINCIPAL},
        ),
    )
    LEASE_FENCED = row(
        "lease_fenced",
        12,
        ocsf=Ocsf(API, UPDATE, HIGH),
        moves_shares=True,
        body=BodySpec(
            {"lease_id": AMOUNT, "node": NAME, "resources": RESOURCES}, {"reason": REASON}
        ),
    )
    FENCE_CLEARED = row(
        "fence_cleared",
        13,
        ocsf=Ocsf(API, UPDATE, MEDIUM),
        moves_shares=True,
        body=BodySpec({"lease_id": AMOUNT, "node": NAME}, {"note": TEXT}),
    )
    LEASE_PREEMPTED = row(
        "lease_preempted",
        14,
        ocsf=Ocsf(API, DELETE, MEDIUM),
        moves_shares=True,
        body=BodySpec(
            {
                "lease_id": AMOUNT,
                "reason": REASON,
                "victim": NAME,
                "preemptor": PRINCIPAL,
                "freed": RESOURCES,
            },
            {
                "node": NAME,
                "preemptor_entry_id": AMOUNT,
                "preemptor_lease_id": AMOUNT,
                "gang": AMOUNT,
                "depth": AMOUNT,
                "cost": AMOUNT,
                "tag": NAME,
            },
        ),
    )
    CHECKPOINT_REPORTED = row(
        "checkpoint_reported",
        31,
        ocsf=Ocsf(API, UPDATE),
        body=BodySpec({"lease_id": AMOUNT}, {"node": NAME, "digest": DIGEST, "step": AMOUNT}),
    )
    # Not what a task runs: that may be secret.
    GRAPH_SUBMITTED = row(
        "graph_submitted",
        80,
        ocsf=Ocsf(API, CREATE),
        body=BodySpec({"graph_id": AMOUNT, "tasks": AMOUNT}, {"name": NAME}),
    )
    GRAPH_TASK_RETRIED = row(
        "graph_task_retried",
        81,
        ocsf=Ocsf(API, UPDATE, LOW),
        body=BodySpec(
            {
                "graph_id": AMOUNT,
                "task": TEXT,
                "attempt": AMOUNT,
                "category": Words((FailureCategory,)),
                "pause_ms": AMOUNT,
            },
            {"exit_code": AMOUNT, "reason": NAME, "job_id": AMOUNT},
        ),
    )
    GRAPH_ENDED = row(
        "graph_ended",
        82,
        ocsf=Ocsf(API, UPDATE),
        body=BodySpec(
            {
                "graph_id": AMOUNT,
                "phase": Words((GraphPhase,)),
                "tasks": AMOUNT,
                "failed": AMOUNT,
            }
        ),
    )
    # Which program, and never what is typed into it or what it prints.
    EXEC_STARTED = row(
        "exec_started",
        76,
        ocsf=Ocsf(API, CREATE, LOW),
        body=BodySpec(
            {"job_id": AMOUNT, "lease_id": AMOUNT, "exec_id": TEXT, "argv": TEXTS},
            {"terminal": AMOUNT},
        ),
    )
    EXEC_ENDED = row(
        "exec_ended",
        77,
        ocsf=Ocsf(API, UPDATE),
        body=BodySpec(
            {"job_id": AMOUNT, "exec_id": TEXT, "end": Words((ExecEnd,))},
            {"exit_code": AMOUNT, "signal": AMOUNT},
        ),
    )
    FILES_COPIED = row(
        "files_copied",
        78,
        ocsf=Ocsf(API, UPDATE, LOW),
        body=BodySpec(
            {
                "job_id": AMOUNT,
                "exec_id": TEXT,
                "direction": Words((CopyDirection,)),
                "path": TEXT,
            }
        ),
    )
