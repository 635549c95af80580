"""The rules of issuing, looked at again in a journal that somebody else's kernel may have written.

Rules:

- A kernel refuses all of this before it is sealed. Whoever can seal records could write it all the
  same, with every total and digest right: so numbers that agree are not enough.
- An invoice is of every record of its period: from the first record that it leaves out up to the
  record that issues it, none is of before the period's end. So the period was over, too.
- No time of a tenant or project is billed by two invoices; a tenant's covers its projects'. A
  correction bills nothing anew: it is of the period of the invoice that it names.
- A card, or its withdrawal, holds from the time of its record or later.
- A lease that is said to be a member's is of the project of that instance, and what it says of the
  instance is what the record says that made it.
- Each finding names the records that show it. It is told of the later of two invoices.

>>> from bailiwick.billing.audits import PriceHistory
>>> [*check_prices(PriceHistory())], [*check_billed_once([])], PrefixWatch([]).found
([], [], [])
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final, TypeAlias, assert_never

from bailiwick.billing.audits import InvoiceClaim, PriceHistory
from bailiwick.billing.invoices import InvoiceHead
from bailiwick.metering.records import FoldedRecord
from bailiwick.vocab.app_uses import MemberUse, member_use_in


class BillingFindingWord(StrEnum):
    """Which rule of issuing was not kept."""

    PREFIX_TOO_SHORT = "prefix_too_short"
    BILLED_TWICE = "billed_twice"
    PRICED_IN_THE_PAST = "priced_in_the_past"
    MISATTRIBUTED = "misattributed"


@dataclass(frozen=True, slots=True)
class PrefixTooShort:
    """An invoice leaves out a record that was written before its period ended.

    That may be the record that issues it: then the period was not over.
    """

    word: ClassVar = BillingFindingWord.PREFIX_TOO_SHORT
    invoice: str
    seq: int | None
    journal_size: int
    to_ms: int
    left_out_seq: int
    left_out_ms: int


@dataclass(frozen=True, slots=True)
class BilledTwice:
    """An invoice bills time that an earlier one bills: from one time to the other, both do."""

    word: ClassVar = BillingFindingWord.BILLED_TWICE
    invoice: str
    seq: int
    other: str
    other_seq: int
    from_ms: int
    to_ms: int


@dataclass(frozen=True, slots=True)
class PricedInThePast:
    """A card, of a tenant or the list, or its withdrawal holds from before it was set."""

    word: ClassVar = BillingFindingWord.PRICED_IN_THE_PAST
    card: str
    tenant: str | None
    seq: int
    at_ms: int
    effective_ms: int


@dataclass(frozen=True, slots=True)
class Misattributed:
    """A lease is said to be a member's of an instance that is not so, or not its project's."""

    word: ClassVar = BillingFindingWord.MISATTRIBUTED
    seq: int
    at_ms: int
    tenant: str | None
    project: str | None
    instance_id: int
    field: str
    """What does not fit: ``project``, or a word about the instance."""
    told: str
    sealed: str | None
    """What the instance's own record says; none if there is no such instance."""


BillingFinding: TypeAlias = PrefixTooShort | BilledTwice | PricedInThePast | Misattributed


def check_prices(prices: PriceHistory) -> Iterator[PricedInThePast]:
    """Every change of prices that holds from before its record."""
    for seq, at_ms, change in prices.rows:
        if change.effective_ms < at_ms:
            yield PricedInThePast(change.name, change.tenant, seq, at_ms, change.effective_ms)


# -- the same time twice ---------------------------------------------------------------------


def check_billed_once(claims: Iterable[InvoiceClaim]) -> Iterator[BilledTwice]:
    """Every two issued invoices that bill the same time of the same tenant or project."""
    by_tenant: dict[str, list[tuple[int, InvoiceHead]]] = {}
    for claim in claims:
        if claim.seq is not None and claim.head.corrects is None:
            by_tenant.setdefault(claim.head.tenant, []).append((claim.seq, claim.head))
    for issued in by_tenant.values():
        yield from _overlaps(issued)


def _overlaps(issued: list[tuple[int, InvoiceHead]]) -> Iterator[BilledTwice]:
    """Those of one tenant, by when they begin, beside all that have not ended by then."""
    running: list[tuple[int, InvoiceHead]] = []
    for seq, head in sorted(issued, key=lambda row: (row[1].from_ms, row[0])):
        running = [row for row in running if row[1].to_ms > head.from_ms]
        for other_seq, other in running:
            is_whole = None in (head.project, other.project)
            if is_whole or head.project == other.project:
                (first_seq, first), (last_seq, last) = sorted(
                    [(seq, head), (other_seq, other)], key=lambda row: row[0]
                )
                both = head.from_ms, min(head.to_ms, other.to_ms)
                yield BilledTwice(last.invoice_id, last_seq, first.invoice_id, first_seq, *both)
        running.append((seq, head))


# -- a part of the period --------------------------------------------------------------------


class PrefixWatch:
    """Looks at every record once, in order, for the invoices that should be of it."""

    def __init__(self, claims: Iterable[InvoiceClaim]) -> None:
        self.found: list[PrefixTooShort] = []
        self._ahead = sorted(claims, key=lambda claim: -claim.head.journal_size)
        self._open: list[InvoiceClaim] = []

    @property
    def is_done(self) -> bool:
        """Whether no record that is still to come could show anything."""
        return not self._ahead and not self._open

    def see(self, record: FoldedRecord) -> None:
        """One more record."""
        while self._ahead and self._ahead[-1].head.journal_size <= record.seq:
            self._open.append(self._ahead.pop())
        if self._open:
            self._open = [claim for claim in self._open if self._goes_on(claim, record)]

    def _goes_on(self, claim: InvoiceClaim, record: FoldedRecord) -> bool:
        head = claim.head
        if claim.seq is not None and record.seq > claim.seq:
            return False
        if record.at_ms >= head.to_ms:
            return claim.seq is None or record.seq < claim.seq
        name, size = head.invoice_id, head.journal_size
        left_out = record.seq, record.at_ms
        self.found.append(PrefixTooShort(name, claim.seq, size, head.to_ms, *left_out))
        return False


# -- whose member it is ------------------------------------------------------------------------


class MemberWatch:
    """Looks at every record once, in order, for leases that claim to be members of what is not."""

    def __init__(self) -> None:
        self.found: list[Misattributed] = []
        self._instances: dict[int, tuple[str, dict[str, str]]] = {}
        self._sources: dict[int, set[str]] = {}
        """The projects that contributed members to an instance, each at its own cost."""

    def see(self, record: FoldedRecord) -> None:
        """One more record."""
        if record.kind == "app_instance_requested":
            words = {name: str(record.body[name]) for name in _INSTANCE_WORDS}
            self._instances[record.body["instance_id"]] = _owner(record), words
        elif record.kind == "app_member_changed" and "source_project" in record.body:
            source = f"{record.tenant}/{record.body['source_project']}"
            self._sources.setdefault(record.body["instance_id"], set()).add(source)
        elif record.kind == "admission_approved":
            use = member_use_in(record.body.get("job_labels", ()))
            if use is not None:
                self._check(record, use)

    def _check(self, record: FoldedRecord, use: MemberUse) -> None:
        owner, words = self._instances.get(use.instance_id, (None, {}))
        if _owner(record) in self._sources.get(use.instance_id, ()):
            owner = _owner(record)
        told = {"project": _owner(record)} | {n: str(use.plain()[n]) for n in _INSTANCE_WORDS}
        sealed = {"project": owner, **words}
        wrong = [name for name, word in told.items() if sealed.get(name) != word]
        for name in wrong[:1]:
            whose = record.tenant, record.project, use.instance_id
            row = name, told[name], sealed.get(name)
            self.found.append(Misattributed(record.seq, record.at_ms, *whose, *row))


_INSTANCE_WORDS: Final = ("app", "operating_mode", "control_plane_scope", "runtime_backend")


def _owner(record: FoldedRecord) -> str:
    return f"{record.tenant}/{record.project}"


# -- whom it concerns ------------------------------------------------------------------------


def concerning(
    findings: Iterable[BillingFinding], claims: Collection[InvoiceClaim]
) -> list[BillingFinding]:
    """The findings that these invoices have a part in."""
    return [each for each in findings if any(_has_part(claim, each) for claim in claims)]


def _has_part(claim: InvoiceClaim, finding: BillingFinding) -> bool:
    head = claim.head
    match finding:
        case PrefixTooShort():
            return head.invoice_id == finding.invoice
        case BilledTwice():
            return head.invoice_id in (finding.invoice, finding.other)
        case PricedInThePast():
            is_its = finding.tenant in (None, head.tenant)
            return is_its and finding.seq < head.journal_size and finding.effective_ms < head.to_ms
        case Misattributed():
            is_its = finding.tenant == head.tenant and head.project in (None, finding.project)
            return is_its and finding.seq < head.journal_size and finding.at_ms < head.to_ms
        case _:
            assert_never(finding)
