"""The closed words: what a request is, what a decision says, which reason ended a lease.

Each enum's value is the one spelling used everywhere. ``human_summary`` turns a word into
prose for a person; the two are not interchangeable.
"""

from __future__ import annotations

from enum import StrEnum

from bailiwick.vocab.errors import InvalidValue


class Priority(StrEnum):
    """How urgent a request is; ``rank`` orders them."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for the least urgent."""
        return _PRIORITY_RANK[self]


_PRIORITY_RANK = {p: i for i, p in enumerate(Priority)}
PRIORITIES: tuple[Priority, ...] = tuple(Priority)


class LeaseClass(StrEnum):
    """What the tenant bought: how firmly the lease is held."""

    GUARANTEED = "guaranteed"
    STANDARD = "standard"
    SPOT = "spot"


LEASE_CLASSES: tuple[LeaseClass, ...] = tuple(LeaseClass)


class Exclusivity(StrEnum):
    """With whom a lease may share its GPU device."""

    SHARED = "shared"
    SESSION_EXCLUSIVE = "session_exclusive"
    DEVICE_EXCLUSIVE = "device_exclusive"
    PARTITION_EXCLUSIVE = "partition_exclusive"


class PreemptionReason(StrEnum):
    """Why running work was evicted. Mandatory on every eviction; there is no "other"."""

    PRIORITY_PREEMPTION = "priority_preemption"
    QUOTA_REBALANCE = "quota_rebalance"
    BURST_CREDIT_EXHAUSTED = "burst_credit_exhausted"
    BUDGET_EXHAUSTED = "budget_exhausted"
    COST_CAP_EVICTION = "cost_cap_eviction"
    OPERATOR_DRAIN = "operator_drain"
    OPERATOR_MIG_PROFILE_CHANGE = "operator_mig_profile_change"
    MAINTENANCE_WINDOW = "maintenance_window"
    POLICY_VIOLATION_RECOVERY = "policy_violation_recovery"

    def human_summary(self) -> str:
        """One sentence for a person."""
        return _PREEMPTION_SUMMARY[self]

    @property
    def spares_guaranteed(self) -> bool:
        """Whether a guaranteed lease is safe from this reason (operators and policy are not)."""
        return self not in _ENDS_GUARANTEED

    @property
    def makes_room(self) -> bool:
        """Whether a lease goes so that somebody who waits gets its room, and stays if he does not.

        What its owner may not know of him then (his name, in the course of what) is hidden.
        """
        return self in MAKES_ROOM


_PREEMPTION_SUMMARY = {
    PreemptionReason.PRIORITY_PREEMPTION: "more urgent work was admitted and took the resources",
    PreemptionReason.QUOTA_REBALANCE: "its owner held more than its quota allows",
    PreemptionReason.BURST_CREDIT_EXHAUSTED: "its owner ran above quota until burst credit ended",
    PreemptionReason.BUDGET_EXHAUSTED: "the owner's budget is spent and this work may end on that",
    PreemptionReason.COST_CAP_EVICTION: "a hard cost cap could no longer be kept",
    PreemptionReason.OPERATOR_DRAIN: "an operator is draining the node or cell",
    PreemptionReason.OPERATOR_MIG_PROFILE_CHANGE: "an operator is repartitioning the GPU",
    PreemptionReason.MAINTENANCE_WINDOW: "a scheduled maintenance window has begun",
    PreemptionReason.POLICY_VIOLATION_RECOVERY: "the node or the work no longer satisfies policy",
}
MAKES_ROOM = frozenset({PreemptionReason.PRIORITY_PREEMPTION, PreemptionReason.QUOTA_REBALANCE})
"""The reasons for which room may be kept for somebody who waits."""

_ENDS_GUARANTEED = frozenset(
    {
        PreemptionReason.OPERATOR_DRAIN,
        PreemptionReason.OPERATOR_MIG_PROFILE_CHANGE,
        PreemptionReason.MAINTENANCE_WINDOW,
        PreemptionReason.POLICY_VIOLATION_RECOVERY,
    }
)


class BudgetState(StrEnum):
    """How a budget stands."""

    HEALTHY = "healthy"
    LOW_BALANCE = "low_balance"
    AUTO_RELEASE_PENDING = "auto_release_pending"
    """Spent, and work that agreed to end on that is still being ended."""
    DEPLETED = "depleted"


class AttestationState(StrEnum):
    """What is known of whether a node is the machine, and runs the software, that it should."""

    UNATTESTED = "unattested"
    """Nobody has asked it to prove anything."""
    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"
    STALE = "stale"
    """It was trusted, and its proof is too old to count."""
    UNSUPPORTED = "unsupported"
    """It has nothing to prove it with."""


class EndCause(StrEnum):
    """Why a lease is no longer held."""

    RELEASED = "released"
    EXPIRED = "expired"
    PREEMPTED = "preempted"
    NODE_DEPARTED = "node_departed"


class QuotaViolation(StrEnum):
    """Which rule of a quota said no."""

    GPU_GENERATION_REQUIRED = "gpu_generation_required"
    GPU_GENERATION_LIMIT_EXCEEDED = "gpu_generation_limit_exceeded"
    HARD_LIMIT_EXCEEDED = "hard_limit_exceeded"
    BURST_CREDIT_EXHAUSTED = "burst_credit_exhausted"
    BUDGET_EXHAUSTED = "budget_exhausted"
    COST_CAP_EXCEEDED = "cost_cap_exceeded"


class Dimension(StrEnum):
    """What a quota can limit."""

    CPU_MILLI = "cpu_milli"
    MEM_BYTES = "mem_bytes"
    BLOCK_BYTES = "block_bytes"
    GPU_COUNT = "gpu_count"
    GPU_VRAM = "gpu_vram"
    LEASE_COUNT = "lease_count"


class ReservationLoss(StrEnum):
    """Why room is kept for a waiting request no more."""

    SLIPPED = "slipped"
    OWN_RENEWAL = "own_renewal"
    BEYOND_HORIZON = "beyond_horizon"


class ResourceKind(StrEnum):
    """The four resources a node offers, each in the unit its word names."""

    CPU_MILLI = "cpu_milli"
    MEM_BYTES = "mem_bytes"
    BLOCK_BYTES = "block_bytes"
    GPU_MILLI = "gpu_milli"


RESOURCE_KINDS: tuple[ResourceKind, ...] = tuple(ResourceKind)


class PendingReason(StrEnum):
    """Why a request did not get a lease, worst first; the first blocker is the smallest rank."""

    MISCONFIGURED = "misconfigured"
    FORBIDDEN = "forbidden"
    EXCEEDS_MAXIMUM = "exceeds_maximum"
    WAITING_FOR_QUOTA = "waiting_for_quota"
    WAITING_FOR_CAPACITY = "waiting_for_capacity"
    FRAGMENTED = "fragmented"
    WAITING_FOR_VICTIMS = "waiting_for_victims"
    NOT_YET_LOOKED_AT = "not_yet_looked_at"

    @property
    def rank(self) -> int:
        """0 for the reason that must be cleared first."""
        return _PENDING_RANK[self]

    @property
    def is_transient(self) -> bool:
        """Whether waiting can help, with nobody changing anything."""
        return self.rank >= PendingReason.WAITING_FOR_QUOTA.rank


_PENDING_RANK = {r: i for i, r in enumerate(PendingReason)}


class CapacityDenial(StrEnum):
    """Which rule of capacity said no (quota has its own words)."""

    DEADLINE_PASSED = "deadline_passed"
    NO_SUCH_HARDWARE = "no_such_hardware"
    NODES_FORBIDDEN = "nodes_forbidden"
    LARGER_THAN_ANY_NODE = "larger_than_any_node"
    HEADROOM_KEPT = "headroom_kept"
    ROOM_CLAIMED = "room_claimed"
    ROOM_RESERVED = "room_reserved"
    NODES_KEPT_APART = "nodes_kept_apart"
    NOT_ENOUGH_FREE = "not_enough_free"
    FRAGMENTED = "fragmented"
    VICTIMS_LEAVING = "victims_leaving"
    NODE_CLOSED = "node_closed"
    NODE_KEPT_APART = "node_kept_apart"
    NODES_CLOSED = "nodes_closed"
    TERM_RESERVED = "term_reserved"
    NODES_MAINTAINED = "nodes_maintained"
    NODE_MAINTAINED = "node_maintained"
    NODES_BOOKED = "nodes_booked"
    NODE_BOOKED = "node_booked"


class RightsDenial(StrEnum):
    """Which rule about who may ask for what said no."""

    SCOPE_CLOSED = "scope_closed"
    PRIORITY_TOO_HIGH = "priority_too_high"
    LEASE_CLASS_FORBIDDEN = "lease_class_forbidden"
    TERM_TOO_LONG = "term_too_long"
    TOO_MANY_WAITING = "too_many_waiting"


class Strategy(StrEnum):
    """How to choose among nodes that fit."""

    ROUND_ROBIN = "round_robin"
    BEST_FIT = "best_fit"
    WEIGHTED = "weighted"
    FRAGMENTATION_AWARE = "fragmentation_aware"


class FilterReason(StrEnum):
    """At which hard filter a node fell, in the order the filters are asked."""

    NODE_MODE = "node_mode"
    QUARANTINED = "quarantined"
    ATTESTATION = "attestation"
    """It has not proven, or not lately, what is asked of nodes like it."""
    GPU_KIND = "gpu_kind"
    LABELS = "labels"
    POLICY = "policy"
    CPU = "cpu"
    MEMORY = "memory"
    BLOCK = "block"
    GPU = "gpu"


class HardwareGeneration(StrEnum):
    """A family of accelerators; the unit in which GPU quota and prices are written."""

    NVIDIA_VOLTA = "nvidia_volta"
    NVIDIA_TURING = "nvidia_turing"
    NVIDIA_AMPERE = "nvidia_ampere"
    NVIDIA_ADA = "nvidia_ada"
    NVIDIA_HOPPER = "nvidia_hopper"
    NVIDIA_BLACKWELL = "nvidia_blackwell"
    NVIDIA_RUBIN = "nvidia_rubin"
    AMD_MI200 = "amd_mi200"
    AMD_MI300 = "amd_mi300"
    AMD_MI350 = "amd_mi350"
    INTEL_GAUDI2 = "intel_gaudi2"
    INTEL_GAUDI3 = "intel_gaudi3"
    GOOGLE_TPU_V5 = "google_tpu_v5"
    GOOGLE_TPU_V6 = "google_tpu_v6"
    AWS_TRAINIUM2 = "aws_trainium2"
    OTHER = "other"

    @classmethod
    def from_word(cls, word: str) -> HardwareGeneration:
        """The generation spelled exactly so; a typo is an error that lists what exists."""
        try:
            return cls(word)
        except ValueError:
            words = ", ".join(cls)
            raise InvalidValue("generation", word, f"one of {words}") from None


GENERATIONS: tuple[HardwareGeneration, ...] = tuple(HardwareGeneration)


class DomainKind(StrEnum):
    """What work can share, from the narrowest to the widest."""

    CACHE = "cache"
    NUMA = "numa"
    FABRIC = "fabric"
    HOST = "host"
    RACK = "rack"
    SEGMENT = "segment"
    REGION = "region"
