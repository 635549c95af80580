"""What can happen: the closed union of the kernel's events, each one kind of journal record.

Rules:

- An event holds all that applying it takes; nothing is decided again when it is read back.
- ``body`` is what the record says, ``read`` makes an equal event from it. The owner (tenant and
  project) stands on the record, not in the body.
- Nothing here knows time or order: the record has both.
"""

from __future__ import annotations

from typing import TypeAlias

from bailiwick.kernel.fleet_events import (
    LeaderElected,
    ModeChanged,
    NodeDeparted,
    NodeQuarantined,
    NodeRegistered,
    QuarantineLifted,
    QuotaChanged,
    SettingsChanged,
    ShareChanged,
    StateCheckpoint,
)
from bailiwick.kernel.iam_events import (
    AccessRefused,
    AccountChanged,
    AccountCreated,
    GlassBroken,
    MemberChanged,
    ProjectChanged,
    ProjectCreated,
    TenantChanged,
    TenantCreated,
    TokenIssued,
    TokenRevoked,
)
from bailiwick.kernel.lease_events import (
    CheckpointReported,
    FenceCleared,
    LeaseExpired,
    LeaseFenced,
    LeasePreempted,
    LeaseReleased,
    LeaseRenewed,
    LeaseStepped,
)
from bailiwick.kernel.money_events import (
    BudgetChanged,
    BudgetStateChanged,
    FindingReported,
    InvoiceIssued,
    RateCardChanged,
)
from bailiwick.kernel.owner import FLEET, MEMBERS_MAX, Owner
from bailiwick.kernel.request_events import (
    AdmissionApproved,
    AdmissionDenied,
    RequestBlocked,
    RequestCancelled,
    RequestQueued,
    RoomReserved,
)
from bailiwick.kernel.trust_events import (
    EnrolmentWithdrawn,
    LeaseTokenIssued,
    LeaseTokenRefused,
    NodeEnrolled,
    TrustPolicyChanged,
    VerdictSealed,
)

Event: TypeAlias = (
    LeaderElected
    | ModeChanged
    | NodeDeparted
    | NodeQuarantined
    | NodeRegistered
    | QuarantineLifted
    | QuotaChanged
    | SettingsChanged
    | ShareChanged
    | StateCheckpoint
    | AdmissionApproved
    | AdmissionDenied
    | RequestBlocked
    | RequestCancelled
    | RequestQueued
    | RoomReserved
    | CheckpointReported
    | FenceCleared
    | LeaseExpired
    | LeaseFenced
    | LeasePreempted
    | LeaseReleased
    | LeaseRenewed
    | LeaseStepped
    | TenantCreated
    | ProjectCreated
    | TenantChanged
    | ProjectChanged
    | MemberChanged
    | AccountCreated
    | AccountChanged
    | TokenIssued
    | TokenRevoked
    | AccessRefused
    | GlassBroken
    | RateCardChanged
    | BudgetChanged
    | BudgetStateChanged
    | FindingReported
    | InvoiceIssued
    | TrustPolicyChanged
    | NodeEnrolled
    | EnrolmentWithdrawn
    | VerdictSealed
    | LeaseTokenIssued
    | LeaseTokenRefused
)

__all__ = [
    "FLEET",
    "MEMBERS_MAX",
    "AccessRefused",
    "AccountChanged",
    "AccountCreated",
    "AdmissionApproved",
    "AdmissionDenied",
    "BudgetChanged",
    "BudgetStateChanged",
    "CheckpointReported",
    "EnrolmentWithdrawn",
    "Event",
    "FenceCleared",
    "FindingReported",
    "GlassBroken",
    "InvoiceIssued",
    "LeaderElected",
    "LeaseExpired",
    "LeaseFenced",
    "LeasePreempted",
    "LeaseReleased",
    "LeaseRenewed",
    "LeaseStepped",
    "LeaseTokenIssued",
    "LeaseTokenRefused",
    "MemberChanged",
    "ModeChanged",
    "NodeDeparted",
    "NodeEnrolled",
    "NodeQuarantined",
    "NodeRegistered",
    "Owner",
    "ProjectChanged",
    "ProjectCreated",
    "QuarantineLifted",
    "QuotaChanged",
    "RateCardChanged",
    "RequestBlocked",
    "RequestCancelled",
    "RequestQueued",
    "RoomReserved",
    "SettingsChanged",
    "ShareChanged",
    "StateCheckpoint",
    "TenantChanged",
    "TenantCreated",
    "TokenIssued",
    "TokenRevoked",
    "TrustPolicyChanged",
    "VerdictSealed",
]
