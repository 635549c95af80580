"""Budgets and invoices on the wire.

Rules:

- Money is whole millionths (micros) of the currency.
- The ``body`` of an invoice is the invoice, to the last value: its canonical JSON (keys in order,
  no spaces) has the SHA-256 that the journal sealed.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bailiwick.vocab.words import BudgetState, PreemptionReason
from bailiwick.wire.base import Amount, Model, Name, Number, Within
from bailiwick.wire.usage import ClassWord, Digits, Generation, KindWord, LineMember
from bailiwick.wire.words import CauseWord, StageWord

_State = Annotated[BudgetState, Field(strict=False)]
_Reason = Annotated[PreemptionReason, Field(strict=False)]
Threshold = Annotated[int, Within(1, 999)]


class Budget(Model):
    """What may be spent from ``from_ms`` on (to ``until_ms``); over ``cap_micros`` work is ended.

    ``thresholds`` are per mille of the limit, rising: each is told once when it is crossed.
    """

    limit_micros: Amount
    cap_micros: Amount | None = None
    from_ms: Amount = 0
    until_ms: Number | None = None
    thresholds: Annotated[list[Threshold], Field(max_length=8, default_factory=list)]


class NewBudget(Budget):
    """A budget to be set; what was spent of its period before is metered, unless it is said."""

    opening_micros: Amount | None = None


class BudgetStanding(Model):
    """A budget, what is spent of it, and where that is heading."""

    tenant: str
    project: str | None
    currency: str
    budget: Budget
    state: _State
    crossed: int
    """How many of its thresholds are crossed."""
    spent_micros: int
    left_micros: int
    projected_micros: int
    """What will be spent if everything that runs now runs to its term."""


# -- invoices --------------------------------------------------------------------------------


class ProjectSum(Model):
    """What a project comes to; without a name, what belongs to none."""

    project: str | None
    cost_micros: int


class GenerationSum(Model):
    """What work on a generation comes to, with its cores and memory."""

    generation: Generation | None
    cost_micros: int


def _is_none(value: object) -> bool:
    return value is None


class InvoiceLine(Model):
    """What one key used, at which price of which card, and what that costs.

    A line of a member of an app says whose (``member``); every other line lacks the word.
    """

    project: str | None
    generation: Generation | None
    tag: str | None
    lease_class: ClassWord
    kind: KindWord
    stage: StageWord
    cause: CauseWord | None
    card: str
    card_tenant: str | None
    card_effective_ms: int
    price_micros_per_hour: int
    price_per_mille: int
    list_micros_per_hour: int
    list_per_mille: int
    used: Digits
    quantity: str
    unit: str
    cost_micros: int
    list_cost_micros: int
    segments: int
    from_ms: int
    to_ms: int
    first_seq: int
    last_seq: int
    member: LineMember | None = Field(default=None, exclude_if=_is_none)


class InvoiceUnitLine(Model):
    """What an instance told of one unit, at which price of which card, and what that costs.

    Without ``price_micros`` no card has a price for it. What is ``disputed`` is more than the
    instance's members held, and is not charged.
    """

    project: str | None
    instance_id: int
    app: str
    unit: str
    card: str
    card_tenant: str | None
    card_effective_ms: int
    price_micros: int | None
    list_price_micros: int | None
    quantity: Digits
    disputed: Digits
    cost_micros: int
    list_cost_micros: int
    reports: int
    from_ms: int
    to_ms: int
    first_seq: int
    last_seq: int


class InvoiceSettledLine(Model):
    """What a project has with another for workers of a shared runtime: two lines of one amount.

    Who ``used`` another's workers owes ``cost_micros``; who ``lent`` them is owed it, and it is
    negative. What is ``disputed`` is more than those workers held, and moves nothing.
    """

    project: str
    runtime_id: int
    runtime: str
    app: str
    side: Literal["used", "lent"]
    with_project: str
    unit: str
    price_micros: int
    quantity: Digits
    disputed: Digits
    cost_micros: int
    reports: int
    from_ms: int
    to_ms: int
    first_seq: int
    last_seq: int


class InvoiceBody(Model):
    """An invoice: whose it is, of which period, from how many records, and its lines.

    What apps told of their use are lines apart (``unit_lines``), and so is what projects owe one
    another (``settled_lines``); an invoice without any lacks the word.
    """

    version: int
    invoice_id: str
    tenant: str
    scope: Literal["tenant", "project"]
    project: str | None
    from_ms: int
    to_ms: int
    currency: str
    journal_size: int
    corrects: str | None
    total_micros: int
    by_project: list[ProjectSum]
    by_generation: list[GenerationSum]
    lines: list[InvoiceLine]
    unit_lines: list[InvoiceUnitLine] | None = Field(default=None, exclude_if=_is_none)
    settled_lines: list[InvoiceSettledLine] | None = Field(default=None, exclude_if=_is_none)


class Invoice(Model):
    """An invoice that was issued, or that would be (``draft``: nothing is sealed)."""

    status: Literal["draft", "issued"]
    digest: str
    corrected_by: list[str]
    """The corrections of it so far, the oldest first."""
    body: InvoiceBody


class InvoiceHead(Model):
    """What a list tells of an invoice."""

    invoice_id: str
    tenant: str
    project: str | None
    from_ms: int
    to_ms: int
    currency: str
    total_micros: int
    lines: int
    journal_size: int
    corrects: str | None
    digest: str


class NewInvoice(Model):
    """An invoice to be issued: of a tenant, or with ``project`` of that, for a period that is over.

    A tenant's invoice has the lines of all its projects.
    """

    project: Name | None = None
    from_ms: Amount
    to_ms: Number


class Correction(Model):
    """Whether an invoice still agrees with the journal; if not, the correction that makes it."""

    outcome: Literal["agreed", "corrected"]
    correction: Invoice | None


class Stretch(Model):
    """For ``from_ms <= t < to_ms`` a lease held this amount of a share, and by which records."""

    lease_id: int
    node: str
    kind: KindWord
    device: int | None
    """Which GPU of the node it is; of other resources there is one of each."""
    reason: _Reason | None
    amount: int
    from_ms: int
    to_ms: int
    used: Digits
    from_seq: int
    to_seq: int
    """The records that gave it to the lease, and that ended this stretch; equal while it runs."""
