"""Bailiwick: many teams share one GPU fleet, and every decision can be checked.

The names below are the library. Import them from here; what is not here may change.
Nothing in this package reads a clock, a file or the network: time is an argument.
"""

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.resources import Resources
from bailiwick.scheduler.admission import AdmissionController, Headroom
from bailiwick.scheduler.decision import (
    AdmissionDecision,
    Approved,
    CapacityDenied,
    DeadlinePassed,
    Denied,
    Fragmented,
    HeadroomKept,
    LargerThanAnyNode,
    NodesForbidden,
    NoSuchHardware,
    NotEnoughFree,
)
from bailiwick.scheduler.explain import Explanation, Remedy, RemedyWord
from bailiwick.scheduler.lease import EndedLease, Lease
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeFilter, NodeSet
from bailiwick.scheduler.node_state import NodeModeTransition, NodeUsage
from bailiwick.scheduler.placement import (
    PlacementScore,
    PlacementScorer,
    ScoreWeights,
    Strategy,
)
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import (
    BudgetExhausted,
    BudgetHook,
    BurstCredit,
    BurstCreditExhausted,
    CostCapExceeded,
    GpuFleetPolicy,
    GpuGenerationLimitExceeded,
    GpuGenerationQuota,
    GpuGenerationRequired,
    HardLimitExceeded,
    Quota,
    QuotaDenied,
    ResourceLimit,
    WithinQuota,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.revoker import LeaseRevoker, Revocation, RevokeTransition
from bailiwick.vocab.errors import (
    BailiwickError,
    Conflict,
    IllegalTransition,
    InvalidValue,
    InvariantBroken,
    LimitReached,
    NotFound,
    Stale,
)
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.values import AccountingTag, CellId, NodeId, ProjectId, TenantId
from bailiwick.vocab.words import (
    CapacityDenial,
    Dimension,
    EndCause,
    Exclusivity,
    FilterReason,
    HardwareGeneration,
    LeaseClass,
    PendingReason,
    PreemptionReason,
    Priority,
    QuotaViolation,
    ResourceKind,
)

__all__ = [
    "AccountingTag",
    "AdmissionController",
    "AdmissionDecision",
    "Approved",
    "BailiwickError",
    "BudgetExhausted",
    "BudgetHook",
    "BurstCredit",
    "BurstCreditExhausted",
    "CapacityDenial",
    "CapacityDenied",
    "CapacityLedger",
    "CellId",
    "Conflict",
    "CostCapExceeded",
    "DeadlinePassed",
    "Denied",
    "Dimension",
    "EndCause",
    "EndedLease",
    "Exclusivity",
    "Explanation",
    "FilterReason",
    "Fragmented",
    "GpuDevice",
    "GpuFleetPolicy",
    "GpuGenerationLimitExceeded",
    "GpuGenerationQuota",
    "GpuGenerationRequired",
    "HardLimitExceeded",
    "HardwareGeneration",
    "Headroom",
    "HeadroomKept",
    "IllegalTransition",
    "InvalidValue",
    "InvariantBroken",
    "LargerThanAnyNode",
    "Lease",
    "LeaseClass",
    "LeaseRevoker",
    "LimitReached",
    "NoSuchHardware",
    "NodeCapacity",
    "NodeFilter",
    "NodeId",
    "NodeMode",
    "NodeModeTransition",
    "NodeSet",
    "NodeUsage",
    "NodesForbidden",
    "NotEnoughFree",
    "NotFound",
    "PendingReason",
    "PlacementRequest",
    "PlacementScore",
    "PlacementScorer",
    "PreemptionReason",
    "Priority",
    "ProjectId",
    "Quota",
    "QuotaDenied",
    "QuotaManager",
    "QuotaViolation",
    "Remedy",
    "RemedyWord",
    "ResourceKind",
    "ResourceLimit",
    "Resources",
    "Revocation",
    "RevokeState",
    "RevokeTransition",
    "ScoreWeights",
    "Stale",
    "Strategy",
    "TenantId",
    "WithinQuota",
]
