"""Commands about money and what was found out about usage; the others are in :mod:`.commands`.

Rules:

- A card or its withdrawal with ``effective_ms`` 0 holds from the moment it is decided.
- A budget that is set anew for the same period goes on counting; for another period it begins with
  ``opening_micros``, what was spent of it before anybody counted. Said for the same period, it
  begins anew too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.billing.budgets import Budget
from bailiwick.billing.rates import RATE_MAX, RateCard
from bailiwick.journal.fields import DIGEST, INTEGER_MAX, NAME, PRINCIPAL, SIGNED, TEXT
from bailiwick.journal.words import Severity
from bailiwick.kernel.checks import check_scope
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer, check_kind, check_name


@dataclass(frozen=True, slots=True)
class SetRateCard:
    """These prices hold from the card's time on: for its tenant, or (the list) for everybody."""

    card: RateCard

    def __post_init__(self) -> None:
        check_kind("card", self.card, RateCard)


@dataclass(frozen=True, slots=True)
class WithdrawRateCard:
    """From then on the list holds for this tenant again."""

    tenant: str
    effective_ms: int = 0

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        check_integer("effective_ms", self.effective_ms, low=0, high=RATE_MAX)


@dataclass(frozen=True, slots=True)
class SetBudget:
    """Replace the budget of a tenant or project, if it is still what was ``seen``."""

    budget: Budget
    opening_micros: int | None = None
    seen: str | None = None

    def __post_init__(self) -> None:
        check_kind("budget", self.budget, Budget)
        if self.opening_micros is not None:
            check_integer("opening_micros", self.opening_micros, low=0, high=INTEGER_MAX)
        if self.seen is not None:
            DIGEST.check("seen", self.seen)


@dataclass(frozen=True, slots=True)
class RemoveBudget:
    """What the tenant or project spends is limited by this no more."""

    tenant: str
    project: str | None = None

    def __post_init__(self) -> None:
        check_scope(self.tenant, self.project)


@dataclass(frozen=True, slots=True)
class ReportFinding:
    """Seal that two accounts of the same usage do not agree, or something else that was found.

    ``evidence`` is the SHA-256 of what it was found in.
    """

    finding: str
    severity: Severity
    subject: str
    evidence: str | None = None
    note: str | None = None
    tenant: str | None = None
    project: str | None = None

    def __post_init__(self) -> None:
        NAME.check("finding", self.finding)
        check_kind("severity", self.severity, Severity)
        PRINCIPAL.check("subject", self.subject)
        if self.evidence is not None:
            DIGEST.check("evidence", self.evidence)
        if self.note is not None:
            TEXT.check("note", self.note)
        if self.tenant is not None:
            check_scope(self.tenant, self.project)
        elif self.project is not None:
            raise InvalidValue("project", self.project, "none without its tenant")


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueInvoice:
    """Seal that this is what a tenant or project owes for a period; or corrects such a bill.

    ``journal_size`` is how many records it was computed from, ``digest`` the SHA-256 of the whole.
    """

    invoice: str
    tenant: str
    project: str | None = None
    period_start_ms: int
    period_end_ms: int
    journal_size: int
    total_micros: int
    currency: str
    digest: str
    corrects: str | None = None

    def __post_init__(self) -> None:
        NAME.check("invoice", self.invoice)
        check_scope(self.tenant, self.project)
        check_integer("period_start_ms", self.period_start_ms, low=0, high=INTEGER_MAX)
        low = self.period_start_ms + 1
        check_integer("period_end_ms", self.period_end_ms, low=low, high=INTEGER_MAX)
        check_integer("journal_size", self.journal_size, low=0, high=INTEGER_MAX)
        SIGNED.check("total_micros", self.total_micros)
        check_name("currency", self.currency)
        DIGEST.check("digest", self.digest)
        if self.corrects is not None:
            NAME.check("corrects", self.corrects)


MoneyCommand: TypeAlias = (
    SetRateCard | WithdrawRateCard | SetBudget | RemoveBudget | ReportFinding | IssueInvoice
)
