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
from bailiwick.kernel.codec import decode_answer, decode_command, encode_answer, encode_command
from bailiwick.kernel.commands import Command, Envelope, Tick
from bailiwick.kernel.fleet.commands import (
    ChangeMode,
    ChangeSettings,
    DepartNode,
    Elect,
    LabelNode,
    RegisterNode,
    SetQuota,
    SetShare,
)
from bailiwick.kernel.isolation.commands import EnforceIsolation, ScrubDomain, SetIsolationPolicy
from bailiwick.kernel.machine import Kernel, Outcome
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
    "Cancel",
    "ChangeMode",
    "ChangeSettings",
    "ClearFence",
    "Command",
    "DepartNode",
    "Done",
    "Elect",
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
    "Outcome",
    "Quarantine",
    "Queued",
    "RecordVerdict",
    "Refused",
    "RegisterNode",
    "Release",
    "RemoveBudget",
    "Renew",
    "ReportCheckpoint",
    "ReportFinding",
    "ReportTeardown",
    "ScrubDomain",
    "SetBudget",
    "SetIsolationPolicy",
    "SetQuota",
    "SetRateCard",
    "SetShare",
    "SetTrustPolicy",
    "Settings",
    "State",
    "Submit",
    "Tick",
    "TokenDenied",
    "TokenGranted",
    "WithdrawEnrolment",
    "WithdrawRateCard",
    "decode",
    "decode_answer",
    "decode_command",
    "digest_of",
    "encode",
    "encode_answer",
    "encode_command",
]
