"""What happened to prices and budgets, what was billed, and what was found out about usage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Self, TypeAlias

from bailiwick.billing.budgets import Budget
from bailiwick.billing.rates import RateChange, card_body, card_of
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.words import Severity
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import Body
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import BudgetState

_NUMBERS = ("limit_micros", "from_ms", "cap_micros", "until_ms")


@dataclass(frozen=True, slots=True)
class RateCardChanged:
    """A card was set, or a tenant's own was withdrawn."""

    kind: ClassVar = RecordKind.RATE_CARD_CHANGED
    change: RateChange

    @property
    def owner(self) -> Owner:
        """The tenant whose prices change; of the list, nobody in particular."""
        return Owner(self.change.tenant)

    def body(self) -> Body:
        """The whole card."""
        return card_body(self.change)

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        change = card_of(body)
        if change.tenant != owner.tenant:
            raise InvalidValue("of_tenant", change.tenant, f"{owner.tenant}, whose record it is")
        return cls(change)


def budget_body(budget: Budget) -> Body:
    """Every number of a budget; whose it is stands on the record."""
    body: Body = {name: value for name in _NUMBERS if (value := getattr(budget, name)) is not None}
    return body | ({"thresholds": list(budget.thresholds)} if budget.thresholds else {})


def budget_of(body: Fields, owner: Owner) -> Budget:
    """The budget that these numbers are."""
    numbers = {name: body[name] for name in _NUMBERS if name in body}
    thresholds = tuple(body.get("thresholds", ()))
    return Budget(str(owner.tenant), owner.project, **numbers, thresholds=thresholds)


@dataclass(frozen=True, slots=True)
class BudgetChanged:
    """A tenant or project may spend this; without ``opening_micros`` counting goes on as before.

    ``is_removed``: this was its budget, and it has none any more.
    """

    kind: ClassVar = RecordKind.BUDGET_CHANGED
    budget: Budget
    opening_micros: int | None = None
    is_removed: bool = False

    @property
    def owner(self) -> Owner:
        """Whose budget it is."""
        return Owner(self.budget.tenant, self.budget.project)

    def body(self) -> Body:
        """All of the budget's numbers."""
        body = budget_body(self.budget)
        if self.opening_micros is not None:
            body["opening_micros"] = self.opening_micros
        return body | ({"removed": 1} if self.is_removed else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        removed = bool(body.get("removed", 0))
        return cls(budget_of(body, owner), body.get("opening_micros"), removed)


_BEFORE: Final = "crossed_before"


@dataclass(frozen=True, slots=True)
class BudgetStateChanged:
    """A budget stands otherwise than was told last; ``crossed`` of its thresholds are passed.

    Where the word is the same, ``crossed_before`` says whether more are passed now, or fewer since
    somebody made room. Records of before that was said have none.
    """

    kind: ClassVar = RecordKind.BUDGET_STATE_CHANGED
    owner: Owner
    before: BudgetState
    after: BudgetState
    spent_micros: int
    limit_micros: int
    crossed: int
    crossed_before: int | None = None

    def body(self) -> Body:
        """Both states, and the numbers that led to it."""
        numbers = {"spent_micros": self.spent_micros, "limit_micros": self.limit_micros}
        words = {"before": self.before.value, "after": self.after.value}
        told: Body = {**words, **numbers, "crossed": self.crossed}
        return told if self.crossed_before is None else told | {_BEFORE: self.crossed_before}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        words = BudgetState(body["before"]), BudgetState(body["after"])
        numbers = body["spent_micros"], body["limit_micros"], body["crossed"]
        return cls(owner, *words, *numbers, body.get(_BEFORE))


@dataclass(frozen=True, slots=True)
class FindingReported:
    """Something does not agree, or is not as it should be."""

    kind: ClassVar = RecordKind.FINDING_REPORTED
    owner: Owner
    finding: str
    severity: Severity
    subject: str
    evidence: str | None = None
    note: str | None = None

    def body(self) -> Body:
        """What, how bad, about what, and what shows it."""
        body: Body = {"finding": self.finding, "severity": self.severity.value}
        body["subject"] = self.subject
        if self.evidence is not None:
            body["evidence"] = self.evidence
        return body | ({} if self.note is None else {"note": self.note})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        severity = Severity(body["severity"])
        more = body.get("evidence"), body.get("note")
        return cls(owner, body["finding"], severity, body["subject"], *more)


@dataclass(frozen=True, slots=True)
class InvoiceIssued:
    """This is what a tenant or project owes for a period, computed from so many records."""

    kind: ClassVar = RecordKind.INVOICE_ISSUED
    owner: Owner
    invoice: str
    period_start_ms: int
    period_end_ms: int
    journal_size: int
    total_micros: int
    currency: str
    digest: str
    corrects: str | None = None

    def body(self) -> Body:
        """The period, the sum, and what it was computed from."""
        body: Body = {name: getattr(self, name) for name in _INVOICE}
        return body | ({} if self.corrects is None else {"corrects": self.corrects})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        values = {name: body[name] for name in _INVOICE}
        return cls(owner, **values, corrects=body.get("corrects"))


_INVOICE = (
    *("invoice", "period_start_ms", "period_end_ms", "journal_size"),
    *("total_micros", "currency", "digest"),
)

MoneyEvent: TypeAlias = (
    RateCardChanged | BudgetChanged | BudgetStateChanged | FindingReported | InvoiceIssued
)
