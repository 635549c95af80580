"""One deterministic machine that decides everything: commands in, events out, no I/O anywhere.

``Kernel.execute`` decides a command and seals what follows; ``Kernel.replay`` rebuilds the same
state from the journal. Durability, clocks and sockets live outside (``bailiwick.services``).
"""

from bailiwick.kernel.answers import (
    Answer,
    Done,
    Granted,
    Queued,
    Refused,
    TokenDenied,
    TokenGranted,
)
from bailiwick.kernel.bookings.commands import (
    Book,
    CancelBooking,
    ReplaceBooked,
    SetSeries,
    WithdrawSeries,
)
from bailiwick.kernel.codec import decode_answer, decode_command, encode_answer, encode_command
from bailiwick.kernel.commands import Command, Envelope, Tick
from bailiwick.kernel.fleet.commands import (
    ChangeMode,
    ChangeSettings,
    DepartNode,
    Elect,
    EndNote,
    LabelNode,
    NoteNode,
    OpenNode,
    RebalanceQuota,
    RegisterNode,
    SetQuota,
    SetShare,
)
from bailiwick.kernel.health.commands import BeginTest, ReportHealth, ReportTest
from bailiwick.kernel.isolation.commands import EnforceIsolation, ScrubDomain, SetIsolationPolicy
from bailiwick.kernel.machine import Kernel, Outcome
from bailiwick.kernel.maintenance.commands import (
    CancelWindow,
    PlanWindow,
    SetCalendar,
    WithdrawCalendar,
)
from bailiwick.kernel.mig.commands import CancelMig, ChangeMig, ReportMig
from bailiwick.kernel.money.commands import (
    IssueInvoice,
    RemoveBudget,
    ReportFinding,
    SetBudget,
    SetRateCard,
    WithdrawRateCard,
)
from bailiwick.kernel.settings import Settings
from bailiwick.kernel.snapshot import decode, digest_of, encode
from bailiwick.kernel.state import State
from bailiwick.kernel.trust.commands import (
    EnrolNode,
    GrantToken,
    LiftQuarantine,
    Quarantine,
    RecordVerdict,
    SetTrustPolicy,
    WithdrawEnrolment,
)
from bailiwick.kernel.work.commands import (
    Cancel,
    ClearFence,
    Evict,
    Release,
    Renew,
    ReportCheckpoint,
    ReportTeardown,
    Submit,
)

__all__ = [
    "Answer",
    "BeginTest",
    "Book",
    "Cancel",
    "CancelBooking",
    "CancelMig",
    "CancelWindow",
    "ChangeMig",
    "ChangeMode",
    "ChangeSettings",
    "ClearFence",
    "Command",
    "DepartNode",
    "Done",
    "Elect",
    "EndNote",
    "EnforceIsolation",
    "EnrolNode",
    "Envelope",
    "Evict",
    "GrantToken",
    "Granted",
    "IssueInvoice",
    "Kernel",
    "LabelNode",
    "LiftQuarantine",
    "NoteNode",
    "OpenNode",
    "Outcome",
    "PlanWindow",
    "Quarantine",
    "Queued",
    "RebalanceQuota",
    "RecordVerdict",
    "Refused",
    "RegisterNode",
    "Release",
    "RemoveBudget",
    "Renew",
    "ReplaceBooked",
    "ReportCheckpoint",
    "ReportFinding",
    "ReportHealth",
    "ReportMig",
    "ReportTeardown",
    "ReportTest",
    "ScrubDomain",
    "SetBudget",
    "SetCalendar",
    "SetIsolationPolicy",
    "SetQuota",
    "SetRateCard",
    "SetSeries",
    "SetShare",
    "SetTrustPolicy",
    "Settings",
    "State",
    "Submit",
    "Tick",
    "TokenDenied",
    "TokenGranted",
    "WithdrawCalendar",
    "WithdrawEnrolment",
    "WithdrawRateCard",
    "WithdrawSeries",
    "decode",
    "decode_answer",
    "decode_command",
    "digest_of",
    "encode",
    "encode_answer",
    "encode_command",
]
