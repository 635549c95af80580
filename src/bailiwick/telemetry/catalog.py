"""Every metric there is: its name, its kind, its labels, and what it says.

Rules:

- A label's value is a closed word or a tenant's name. A lease, a node, a principal or a path is
  never one: whoever needs those reads the journal or a trace.
- Names begin with ``bailiwick_`` and end in their unit; a counter ends in ``_total``.
- Of tenants, the first ``TENANTS_MAX`` that are met have a label; the rest share ``other``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.words import AttestationWord
from bailiwick.telemetry.signals import REFUSALS
from bailiwick.vocab.apps import DeliveryFault
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.trust import UntrustedReason
from bailiwick.vocab.words import (
    AttestationState,
    CapacityDenial,
    Dimension,
    EndCause,
    HardwareGeneration,
    LeaseClass,
    PendingReason,
    PreemptionReason,
    Priority,
    QuotaViolation,
    ResourceKind,
    RightsDenial,
)

OTHER: Final = "other"
TENANT: Final = "tenant"
ACTION: Final = "action"
TENANTS_MAX: Final = 200


class MetricKind(StrEnum):
    """How a metric moves."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class GpuUse(StrEnum):
    """What becomes of a GPU now: somebody has it, anybody could, or why nobody can."""

    FREE = "free"
    LEASED = "leased"
    DRAINING = "draining"
    DRAINED = "drained"
    MAINTENANCE = "maintenance"
    RETURNING = "returning"
    FENCE_LOST = "fence_lost"
    QUARANTINED = "quarantined"
    GATED = "gated"
    """Its node has yet to prove what is asked of it."""


@dataclass(frozen=True, slots=True)
class Spec:
    """One metric."""

    name: str
    kind: MetricKind
    labels: tuple[str, ...]
    says: str
    buckets: tuple[float, ...] = ()


LABELS: Final[dict[str, frozenset[str]]] = {
    "attestation": frozenset(AttestationWord),
    "attestation_state": frozenset(AttestationState),
    "capacity_denial": frozenset(CapacityDenial),
    "delivery_fault": frozenset(DeliveryFault),
    "dimension": frozenset(Dimension),
    "end_cause": frozenset(EndCause),
    "generation": frozenset(HardwareGeneration),
    "gpu_use": frozenset(GpuUse),
    "lease_class": frozenset(LeaseClass),
    "lease_state": frozenset(RevokeState),
    "mode": frozenset(NodeMode),
    "outcome": frozenset(("approved", "denied", "queued")),
    "pending_reason": frozenset(PendingReason),
    "priority": frozenset(Priority),
    "quota_violation": frozenset(QuotaViolation),
    "reason": frozenset(PreemptionReason),
    "record_kind": frozenset(RecordKind),
    "refusal": frozenset(REFUSALS),
    "resource": frozenset(ResourceKind),
    "rights_denial": frozenset(RightsDenial),
    "role": frozenset(("starting", "following", "leading")),
    "against": frozenset(("timer", "store", "follower", "journal")),
    "status": frozenset(
        ("400", "401", "403", "404", "405", "409", "412", "413", "422", "428", "429", "500", "503")
    ),
    "untrusted_reason": frozenset(UntrustedReason),
    "status_class": frozenset(("1xx", "2xx", "3xx", "4xx", "5xx")),
    "wait": frozenset(("call", "look")),
}
"""The words that each label may have; ``tenant`` and ``action`` are bounded elsewhere."""

_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_COMMIT: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
_BATCH: Final = (1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 5000.0)
_WAITS: Final = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14400.0, 86400.0)
_SCORES: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_C, _G, _H = MetricKind.COUNTER, MetricKind.GAUGE, MetricKind.HISTOGRAM

CATALOG: Final = (
    # what tenants use
    Spec("bailiwick_tenant_usage", _G, (TENANT, "dimension"), "What a tenant holds, by quota."),
    Spec("bailiwick_tenant_limit", _G, (TENANT, "dimension"), "Its limit, where it has one."),
    Spec(
        "bailiwick_tenant_headroom",
        _G,
        (TENANT, "dimension"),
        "What it may still take, where it has a limit.",
    ),
    Spec(
        "bailiwick_tenant_gpu_usage",
        _G,
        (TENANT, "generation"),
        "GPUs of a generation that a tenant holds.",
    ),
    Spec("bailiwick_tenant_waiting_requests", _G, (TENANT,), "Requests of a tenant that wait."),
    # what is decided
    Spec(
        "bailiwick_admissions_total",
        _C,
        (TENANT, "priority", "outcome"),
        "Decisions about requests.",
    ),
    Spec(
        "bailiwick_quota_denials_total",
        _C,
        (TENANT, "quota_violation"),
        "Requests that quota refused or makes wait, by the rule that said so.",
    ),
    Spec(
        "bailiwick_capacity_denials_total",
        _C,
        ("capacity_denial",),
        "Requests that capacity refused or makes wait, by the rule that said so.",
    ),
    Spec(
        "bailiwick_rights_denials_total",
        _C,
        (TENANT, "rights_denial"),
        "Requests and renewals beyond what their owner may ask for, by the rule that said so.",
    ),
    Spec(
        "bailiwick_preemptions_total",
        _C,
        (TENANT, "reason"),
        "Leases that were ended early, by their owner and the typed reason.",
    ),
    Spec(
        "bailiwick_preemption_freed_resources_total",
        _C,
        ("reason", "resource"),
        "What preemptions freed, in the unit that the resource's word names.",
    ),
    Spec("bailiwick_attestation_verdicts_total", _C, ("attestation",), "Verdicts about nodes."),
    Spec(
        "bailiwick_untrusted_verdicts_total",
        _C,
        ("untrusted_reason",),
        "Verdicts that closed a node or kept it closed, by why.",
    ),
    Spec(
        "bailiwick_unjudged_evidence_total",
        _C,
        ("untrusted_reason",),
        "Evidence that was refused and said nothing about its node: replays, unknown keys.",
    ),
    Spec(
        "bailiwick_attested_nodes",
        _G,
        ("attestation_state",),
        "Nodes by how they stand, once a policy asks for proof.",
    ),
    Spec(
        "bailiwick_placement_score_ratio",
        _H,
        (),
        "Scores of nodes for the latest admitted shape, sampled at scrapes, as part of the best.",
        _SCORES,
    ),
    # leases and nodes
    Spec("bailiwick_leases", _G, ("lease_class", "lease_state"), "Leases there are."),
    Spec("bailiwick_leases_granted_total", _C, (TENANT, "lease_class"), "Leases that began."),
    Spec("bailiwick_leases_ended_total", _C, (TENANT, "end_cause"), "Leases that ended."),
    Spec("bailiwick_leases_fenced_total", _C, (), "Teardowns that failed: nobody gets the room."),
    Spec("bailiwick_fenced_leases", _G, (), "Leases whose room waits for an operator."),
    Spec("bailiwick_nodes", _G, ("mode",), "Nodes by mode."),
    Spec(
        "bailiwick_gpus",
        _G,
        ("generation", "gpu_use"),
        "GPUs by what becomes of them: leased, free, or why nobody can have them.",
    ),
    Spec("bailiwick_quarantined_nodes", _G, (), "Nodes in quarantine."),
    Spec("bailiwick_gated_nodes", _G, (), "Nodes that have yet to prove what is asked of them."),
    Spec("bailiwick_quarantines_total", _C, (), "Nodes that were put in quarantine."),
    Spec("bailiwick_node_departures_total", _C, (), "Nodes that went away."),
    Spec("bailiwick_drains_total", _C, (), "Drains that began."),
    Spec("bailiwick_waiting_requests", _G, ("pending_reason",), "The line, by first blocker."),
    Spec("bailiwick_waiting_oldest_seconds", _G, (), "How long the oldest request waits."),
    Spec(
        "bailiwick_queue_wait_seconds",
        _H,
        ("lease_class",),
        "From request to lease; 0 where nothing stood in the way.",
        _WAITS,
    ),
    # who is turned away
    Spec("bailiwick_refusals_total", _C, ("refusal",), "Callers turned away, as sealed."),
    Spec("bailiwick_lease_tokens_total", _C, (), "Lease tokens that were issued."),
    Spec("bailiwick_lease_token_refusals_total", _C, (), "Lease tokens that were refused."),
    Spec("bailiwick_break_glass_total", _C, (), "Uses of break-glass."),
    # the machine itself
    Spec(
        "bailiwick_request_seconds",
        _H,
        (ACTION, "status_class"),
        "How long requests took.",
        _SECONDS,
    ),
    Spec("bailiwick_request_errors_total", _C, ("status",), "Requests that ended in an error."),
    Spec("bailiwick_requests_running", _G, (), "Requests under way."),
    Spec("bailiwick_kernel_queue_length", _G, (), "Commands that wait for the kernel."),
    Spec(
        "bailiwick_kernel_wait_seconds",
        _H,
        ("wait",),
        "From asking the kernel to its answer: queue, decision and commit.",
        _SECONDS,
    ),
    Spec("bailiwick_journal_append_seconds", _H, (), "How long durable commits took.", _COMMIT),
    Spec("bailiwick_journal_append_records", _H, (), "Records in one commit.", _BATCH),
    Spec("bailiwick_journal_append_failures_total", _C, (), "Commits that failed."),
    Spec("bailiwick_journal_records_total", _C, ("record_kind",), "Records that were sealed."),
    Spec("bailiwick_journal_size_records", _G, (), "Records in the journal."),
    Spec("bailiwick_replica_role", _G, ("role",), "1 for what this replica is doing."),
    Spec(
        "bailiwick_clock_ahead_seconds",
        _G,
        ("against",),
        "How far this machine's clock is ahead of what it disagrees with; below zero: behind.",
    ),
    Spec("bailiwick_watchers", _G, (), "Callers that watch the journal."),
    Spec("bailiwick_webhook_dead_letters_total", _C, ("delivery_fault",), "Events given up."),
    Spec("bailiwick_telemetry_dropped_total", _C, (), "Spans and log lines that were lost."),
)
