"""Every metric there is: its name, its kind, its labels, and what it says.

Rules:

- A label's value is a closed word or a tenant's name. A lease, a node, a principal or a path is
  never one: whoever needs those reads the journal or a trace.
- Names begin with ``bailiwick_`` and end in their unit; a counter ends in ``_total``.
- What the journal says every replica says: whoever adds up replicas counts the fleet several
  times. So each metric says whose it is, and a test (tests/ops) holds all rules and panels to it.
- Of tenants, the first ``TENANTS_MAX`` that are met have a label; the rest share ``other``. What
  the rest hold is not told.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.words import AttestationWord
from bailiwick.telemetry.signals import REFUSALS
from bailiwick.vocab.apps import DeliveryFault
from bailiwick.vocab.bookings import BookingPhase
from bailiwick.vocab.cells import CellStanding
from bailiwick.vocab.health import HealthCheck, HealthLevel
from bailiwick.vocab.notices import NoticeChannel
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


class Whose(StrEnum):
    """What a metric is about, and so how replicas' values go together."""

    JOURNAL = "journal"
    """Of the fleet, so every replica says the same: the greatest is taken, never the sum."""
    REPLICA = "replica"
    """Of one process: what it did or met itself, and no other counts."""


class GpuUse(StrEnum):
    """What becomes of a GPU now: somebody has it, anybody could, or why nobody can."""

    FREE = "free"
    LEASED = "leased"
    CLAIMED = "claimed"
    """Left by some for others, who have not started yet."""
    FENCED = "fenced"
    """Its lease is over, and nobody has confirmed that what ran there is gone."""
    DRAINING = "draining"
    DRAINED = "drained"
    MAINTENANCE = "maintenance"
    RETURNING = "returning"
    FENCE_LOST = "fence_lost"
    CORDONED = "cordoned"
    QUARANTINED = "quarantined"
    GATED = "gated"
    """Its node has yet to prove what is asked of it."""


@dataclass(frozen=True, slots=True)
class Spec:
    """One metric."""

    name: str
    kind: MetricKind
    whose: Whose
    labels: tuple[str, ...]
    says: str
    buckets: tuple[float, ...] = ()


LABELS: Final[dict[str, frozenset[str]]] = {
    "attestation": frozenset(AttestationWord),
    "attestation_state": frozenset(AttestationState),
    "booking_phase": frozenset(BookingPhase),
    "capacity_denial": frozenset(CapacityDenial),
    "channel": frozenset(NoticeChannel),
    "check": frozenset(HealthCheck),
    "delivery_fault": frozenset(DeliveryFault),
    "dimension": frozenset(Dimension),
    "end_cause": frozenset(EndCause),
    "generation": frozenset(HardwareGeneration),
    "gpu_use": frozenset(GpuUse),
    "lease_class": frozenset(LeaseClass),
    "lease_state": frozenset(RevokeState),
    "level": frozenset(HealthLevel),
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
    "standing": frozenset(CellStanding),
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
_FAILOVERS: Final = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
_SCORES: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_J, _R = Whose.JOURNAL, Whose.REPLICA
_C, _G, _H = MetricKind.COUNTER, MetricKind.GAUGE, MetricKind.HISTOGRAM

CATALOG: Final = (
    # what tenants use
    Spec("bailiwick_tenant_usage", _G, _J, (TENANT, "dimension"), "What a tenant holds, by quota."),
    Spec("bailiwick_tenant_limit", _G, _J, (TENANT, "dimension"), "Its limit, where it has one."),
    Spec(
        "bailiwick_tenant_headroom",
        _G,
        _J,
        (TENANT, "dimension"),
        "What it may still take, where it has a limit.",
    ),
    Spec(
        "bailiwick_tenant_gpu_usage",
        _G,
        _J,
        (TENANT, "generation"),
        "GPUs of a generation that a tenant holds.",
    ),
    Spec("bailiwick_tenant_waiting_requests", _G, _J, (TENANT,), "Requests of a tenant that wait."),
    # what is decided
    Spec(
        "bailiwick_admissions_total",
        _C,
        _J,
        (TENANT, "priority", "outcome"),
        "Decisions about requests.",
    ),
    Spec(
        "bailiwick_quota_denials_total",
        _C,
        _J,
        (TENANT, "quota_violation"),
        "Requests that quota refused or makes wait, by the rule that said so.",
    ),
    Spec(
        "bailiwick_capacity_denials_total",
        _C,
        _J,
        ("capacity_denial",),
        "Requests that capacity refused or makes wait, by the rule that said so.",
    ),
    Spec(
        "bailiwick_rights_denials_total",
        _C,
        _J,
        (TENANT, "rights_denial"),
        "Requests and renewals beyond what their owner may ask for, by the rule that said so.",
    ),
    Spec(
        "bailiwick_preemptions_total",
        _C,
        _J,
        (TENANT, "reason"),
        "Leases that were ended early, by their owner and the typed reason.",
    ),
    Spec(
        "bailiwick_preemption_freed_resources_total",
        _C,
        _J,
        ("reason", "resource"),
        "What preemptions freed, in the unit that the resource's word names.",
    ),
    Spec("bailiwick_attestation_verdicts_total", _C, _J, ("attestation",), "Verdicts about nodes."),
    Spec(
        "bailiwick_untrusted_verdicts_total",
        _C,
        _J,
        ("untrusted_reason",),
        "Verdicts that closed a node or kept it closed, by why.",
    ),
    Spec(
        "bailiwick_unjudged_evidence_total",
        _C,
        _R,
        ("untrusted_reason",),
        "Evidence that was refused and said nothing about its node: replays, unknown keys.",
    ),
    Spec(
        "bailiwick_attested_nodes",
        _G,
        _J,
        ("attestation_state",),
        "Nodes by how they stand, once a policy asks for proof.",
    ),
    Spec(
        "bailiwick_placement_score_ratio",
        _H,
        _R,
        (),
        "Scores of nodes for the latest admitted shape, sampled at scrapes, as part of the best.",
        _SCORES,
    ),
    # leases and nodes
    Spec("bailiwick_leases", _G, _J, ("lease_class", "lease_state"), "Leases there are."),
    Spec("bailiwick_leases_granted_total", _C, _J, (TENANT, "lease_class"), "Leases that began."),
    Spec("bailiwick_leases_ended_total", _C, _J, (TENANT, "end_cause"), "Leases that ended."),
    Spec(
        "bailiwick_leases_fenced_total", _C, _J, (), "Teardowns that failed: nobody gets the room."
    ),
    Spec("bailiwick_fenced_leases", _G, _J, (), "Leases whose room waits for an operator."),
    Spec("bailiwick_nodes", _G, _J, ("mode",), "Nodes by mode."),
    Spec(
        "bailiwick_gpus",
        _G,
        _J,
        ("generation", "gpu_use"),
        "GPUs by what becomes of them: leased, claimed, free, or why nobody can have them.",
    ),
    Spec("bailiwick_quarantined_nodes", _G, _J, (), "Nodes in quarantine."),
    Spec(
        "bailiwick_maintenance_late_nodes",
        _G,
        _J,
        (),
        "Nodes that are not empty though their maintenance has begun.",
    ),
    Spec(
        "bailiwick_maintenance_overdue_nodes",
        _G,
        _J,
        (),
        "Nodes that are not back though their maintenance is over.",
    ),
    Spec("bailiwick_bookings", _G, _J, ("booking_phase",), "Bookings that are ahead or on."),
    Spec(
        "bailiwick_booked_nodes",
        _G,
        _J,
        ("booking_phase",),
        "Nodes that are booked: now, or at some time ahead.",
    ),
    Spec(
        "bailiwick_booking_series_unbooked",
        _G,
        _R,
        (),
        "Times of booking series for which too few nodes are free; tried again until they begin.",
    ),
    Spec(
        "bailiwick_mig_failed_nodes",
        _G,
        _J,
        (),
        "Nodes whose GPUs could not be repartitioned, and that nobody has looked after.",
    ),
    Spec(
        "bailiwick_node_health_findings",
        _G,
        _J,
        ("check", "level"),
        "Nodes on which a check found something, by how bad it is; a node counts for each check.",
    ),
    Spec("bailiwick_health_failing_nodes", _G, _J, (), "Nodes that one check or more fails."),
    Spec("bailiwick_health_drained_nodes", _G, _J, (), "Nodes that were drained for their health."),
    Spec(
        "bailiwick_health_held_back_nodes",
        _G,
        _J,
        (),
        "Nodes that fail and are only closed to new work: too many are drained already.",
    ),
    Spec(
        "bailiwick_node_test_failed_nodes",
        _G,
        _J,
        (),
        "Nodes that are to come back, and whose test failed or was not answered.",
    ),
    Spec("bailiwick_node_tests_running", _G, _J, (), "Nodes that are being tested."),
    Spec(
        "bailiwick_gated_nodes", _G, _J, (), "Nodes that have yet to prove what is asked of them."
    ),
    Spec("bailiwick_quarantines_total", _C, _J, (), "Nodes that were put in quarantine."),
    Spec("bailiwick_node_departures_total", _C, _J, (), "Nodes that went away."),
    Spec(
        "bailiwick_cells", _G, _J, ("standing",), "Cells of this home, by whether it reaches them."
    ),
    Spec(
        "bailiwick_global_waiting_requests", _G, _J, (), "Requests to all cells that none has yet."
    ),
    Spec(
        "bailiwick_global_waiting_oldest_seconds", _G, _J, (), "How long the oldest of them waits."
    ),
    Spec("bailiwick_drains_total", _C, _J, (), "Drains that began."),
    Spec("bailiwick_waiting_requests", _G, _J, ("pending_reason",), "The line, by first blocker."),
    Spec("bailiwick_waiting_oldest_seconds", _G, _J, (), "How long the oldest request waits."),
    Spec(
        "bailiwick_queue_wait_seconds",
        _H,
        _J,
        ("lease_class",),
        "From request to lease; 0 where nothing stood in the way.",
        _WAITS,
    ),
    # who is turned away
    Spec("bailiwick_refusals_total", _C, _J, ("refusal",), "Callers turned away, as sealed."),
    Spec("bailiwick_lease_tokens_total", _C, _J, (), "Lease tokens that were issued."),
    Spec("bailiwick_lease_token_refusals_total", _C, _J, (), "Lease tokens that were refused."),
    Spec("bailiwick_break_glass_total", _C, _J, (), "Uses of break-glass."),
    # the machine itself
    Spec(
        "bailiwick_request_seconds",
        _H,
        _R,
        (ACTION, "status_class"),
        "How long requests took, where they were answered; what an app answered is not told.",
        _SECONDS,
    ),
    Spec("bailiwick_request_errors_total", _C, _R, ("status",), "Requests that ended in an error."),
    Spec("bailiwick_requests_running", _G, _R, (), "Requests under way."),
    Spec("bailiwick_kernel_queue_length", _G, _R, (), "Commands that wait for the kernel."),
    Spec(
        "bailiwick_kernel_wait_seconds",
        _H,
        _R,
        ("wait",),
        "From asking the kernel to its answer, or to giving up: queue, decision and commit.",
        _SECONDS,
    ),
    Spec("bailiwick_journal_append_seconds", _H, _R, (), "How long durable commits took.", _COMMIT),
    Spec("bailiwick_journal_append_records", _H, _R, (), "Records in one commit.", _BATCH),
    Spec("bailiwick_journal_append_failures_total", _C, _R, (), "Commits that failed."),
    Spec("bailiwick_journal_records_total", _C, _J, ("record_kind",), "Records that were sealed."),
    Spec("bailiwick_journal_size_records", _G, _J, (), "Records in the journal."),
    Spec("bailiwick_replica_role", _G, _R, ("role",), "1 for what this replica is doing."),
    Spec(
        "bailiwick_failover_seconds",
        _H,
        _R,
        (),
        "From when somebody was last seen to lead to this replica's first commit as the leader.",
        _FAILOVERS,
    ),
    Spec(
        "bailiwick_clock_ahead_seconds",
        _G,
        _R,
        ("against",),
        "How far this machine's clock is ahead of what it disagrees with; below zero: behind.",
    ),
    Spec("bailiwick_watchers", _G, _R, (), "Callers that watch the journal."),
    Spec("bailiwick_webhook_dead_letters_total", _C, _R, ("delivery_fault",), "Events given up."),
    Spec(
        "bailiwick_notice_dead_letters_total",
        _C,
        _R,
        ("channel", "delivery_fault"),
        "Notices to people that were given up.",
    ),
    Spec("bailiwick_telemetry_dropped_total", _C, _R, (), "Spans and log lines that were lost."),
)
