"""Double-entry accounts: what was charged, paid, granted and corrected, and what that leaves.

Rules:

- An entry moves money between accounts, and its postings sum to zero. So do all accounts together,
  after any history.
- Debit is positive: a tenant's receivable is what it owes, and below zero what it has paid ahead.
- A balance is never stored. It is added up from the entries each time somebody asks.
- An entry never changes. A correction is a new entry that names the first one, never another
  correction, and moves the difference (or all of it back).
- Posting the same entry again changes nothing. Another entry under the same id is a conflict, and
  is not posted.

>>> books = Books("credit")
>>> books.post(top_up("pay-1", "acme", micros=500, at_ms=10, currency="credit"))
Posted(entry_id='pay-1')
>>> books.balance(Receivable("acme")), sum(books.balances().values())
(-500, 0)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from bailiwick.vocab.errors import InvalidValue, NotFound
from bailiwick.vocab.values import AMOUNT_MAX, check_integer, check_name
from bailiwick.vocab.words import HardwareGeneration, ResourceKind

POSTINGS_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class Receivable:
    """What a tenant owes."""

    tenant: str

    def __str__(self) -> str:
        return f"receivable:{self.tenant}"


@dataclass(frozen=True, slots=True)
class Revenue:
    """What was earned with one kind of resource on one generation."""

    kind: ResourceKind
    generation: HardwareGeneration | None = None

    def __str__(self) -> str:
        return f"revenue:{self.kind}:{self.generation or '-'}"


@dataclass(frozen=True, slots=True)
class AppRevenue:
    """What was earned with what an app counts."""

    app: str

    def __str__(self) -> str:
        return f"revenue:app:{self.app}"


@dataclass(frozen=True, slots=True)
class BetweenProjects:
    """What projects of a tenant owe one another: nothing, once all of them are billed."""

    tenant: str

    def __str__(self) -> str:
        return f"between_projects:{self.tenant}"


@dataclass(frozen=True, slots=True)
class Credits:
    """What was granted or waived."""

    def __str__(self) -> str:
        return "credits"


@dataclass(frozen=True, slots=True)
class Payments:
    """What was paid in."""

    def __str__(self) -> str:
        return "payments"


LedgerAccount: TypeAlias = Receivable | Revenue | AppRevenue | BetweenProjects | Credits | Payments
"""Where money can be."""


class EntryKind(StrEnum):
    """Why money moved."""

    CHARGE = "charge"
    PAYMENT = "payment"
    CREDIT = "credit"
    CORRECTION = "correction"


@dataclass(frozen=True, slots=True)
class Posting:
    """So much more in one account; less if negative."""

    account: LedgerAccount
    micros: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One movement of money. Postings are added up by account and sorted, so that two entries that
    move the same are equal."""

    entry_id: str
    at_ms: int
    kind: EntryKind
    currency: str
    postings: tuple[Posting, ...]
    corrects: str | None = None

    def __post_init__(self) -> None:
        check_name("entry_id", self.entry_id)
        check_name("currency", self.currency)
        check_integer("at_ms", self.at_ms, low=0, high=AMOUNT_MAX)
        if (self.kind is EntryKind.CORRECTION) != (self.corrects is not None):
            raise InvalidValue("corrects", self.corrects, "what a correction corrects, else none")
        if self.corrects == self.entry_id:
            raise InvalidValue("corrects", self.corrects, "another entry")
        for posting in self.postings:
            check_integer("micros", posting.micros, low=-AMOUNT_MAX, high=AMOUNT_MAX)
        sums = _summed(self.postings)
        if total := sum(sums.values()):
            raise InvalidValue("postings", total, "postings that sum to 0")
        if len(sums) > POSTINGS_MAX:
            raise InvalidValue("postings", len(sums), f"at most {POSTINGS_MAX} accounts")
        object.__setattr__(self, "postings", _postings(sums))


Sums: TypeAlias = Mapping[LedgerAccount, int]


def _summed(postings: Iterable[Posting]) -> dict[LedgerAccount, int]:
    sums: dict[LedgerAccount, int] = {}
    for posting in postings:
        sums[posting.account] = sums.get(posting.account, 0) + posting.micros
    return sums


def _postings(sums: Sums) -> tuple[Posting, ...]:
    return tuple(Posting(each, sums[each]) for each in sorted(sums, key=str) if sums[each])


# -- entries ---------------------------------------------------------------------------------


def top_up(entry_id: str, tenant: str, *, micros: int, at_ms: int, currency: str) -> LedgerEntry:
    """A tenant paid this much."""
    return _received(entry_id, tenant, (Payments(), micros), at_ms=at_ms, currency=currency)


def grant(entry_id: str, tenant: str, *, micros: int, at_ms: int, currency: str) -> LedgerEntry:
    """A tenant need not pay this much."""
    return _received(entry_id, tenant, (Credits(), micros), at_ms=at_ms, currency=currency)


def _received(
    entry_id: str,
    tenant: str,
    source: tuple[Payments | Credits, int],
    *,
    at_ms: int,
    currency: str,
) -> LedgerEntry:
    account, micros = source
    check_name("tenant", tenant)
    check_integer("micros", micros, low=1, high=AMOUNT_MAX)
    return LedgerEntry(
        entry_id=entry_id,
        at_ms=at_ms,
        kind=EntryKind.PAYMENT if isinstance(account, Payments) else EntryKind.CREDIT,
        currency=currency,
        postings=(Posting(account, micros), Posting(Receivable(tenant), -micros)),
    )


def reverse(entry: LedgerEntry, entry_id: str, *, at_ms: int) -> LedgerEntry:
    """The correction that takes all of an entry back."""
    return LedgerEntry(
        entry_id=entry_id,
        at_ms=at_ms,
        kind=EntryKind.CORRECTION,
        currency=entry.currency,
        postings=tuple(Posting(each.account, -each.micros) for each in entry.postings),
        corrects=entry.entry_id,
    )


# -- answers ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Posted:
    """The entry is in the books now."""

    entry_id: str


@dataclass(frozen=True, slots=True)
class Repeated:
    """This very entry was in the books already; nothing changed."""

    entry_id: str


@dataclass(frozen=True, slots=True)
class ConflictingEntry:
    """Another entry has this id; nothing changed."""

    entry_id: str
    found: LedgerEntry


@dataclass(frozen=True, slots=True)
class Unfounded:
    """What it corrects is not in the books, or is itself a correction; nothing changed."""

    entry_id: str
    corrects: str


PostAnswer: TypeAlias = Posted | Repeated | ConflictingEntry | Unfounded


class Books:
    """All entries, in the order in which they were posted; one currency."""

    __slots__ = ("_entries", "currency")

    def __init__(self, currency: str) -> None:
        self.currency = check_name("currency", currency)
        self._entries: dict[str, LedgerEntry] = {}

    def __iter__(self) -> Iterator[LedgerEntry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def entry(self, entry_id: str) -> LedgerEntry:
        """The entry with this id."""
        try:
            return self._entries[entry_id]
        except KeyError:
            raise NotFound("entry", entry_id) from None

    def post(self, entry: LedgerEntry) -> PostAnswer:
        """Put an entry into the books, once."""
        if entry.currency != self.currency:
            raise InvalidValue("currency", entry.currency, self.currency)
        found = self._entries.get(entry.entry_id)
        if found is not None:
            return (
                Repeated(entry.entry_id)
                if found == entry
                else ConflictingEntry(found.entry_id, found)
            )
        if entry.corrects is not None:
            first = self._entries.get(entry.corrects)
            if first is None or first.kind is EntryKind.CORRECTION:
                return Unfounded(entry.entry_id, entry.corrects)
        self._entries[entry.entry_id] = entry
        return Posted(entry.entry_id)

    def balances(self, at_ms: int | None = None) -> dict[LedgerAccount, int]:
        """What every account holds: of all entries, or of those up to this time."""
        return _summed(
            posting
            for entry in self
            if at_ms is None or entry.at_ms <= at_ms
            for posting in entry.postings
        )

    def balance(self, account: LedgerAccount, at_ms: int | None = None) -> int:
        """What one account holds."""
        return self.balances(at_ms).get(account, 0)

    def standing(self, entry_id: str) -> dict[LedgerAccount, int]:
        """What an entry comes to with all of its corrections."""
        self.entry(entry_id)
        return _summed(
            posting
            for entry in self
            if entry_id in (entry.entry_id, entry.corrects)
            for posting in entry.postings
        )

    def correct(self, first_id: str, fresh: LedgerEntry) -> LedgerEntry | Repeated:
        """The entry that makes the first one come to what a fresh one says; or that it does.

        It has the fresh entry's id and time, and is not posted here.
        """
        if fresh.corrects is not None or self.entry(first_id).kind is EntryKind.CORRECTION:
            raise InvalidValue("corrects", first_id, "two entries that are no corrections")
        standing = self.standing(first_id)
        change = _summed(fresh.postings)
        for account, micros in standing.items():
            change[account] = change.get(account, 0) - micros
        if not any(change.values()):
            return Repeated(first_id)
        return LedgerEntry(
            entry_id=fresh.entry_id,
            at_ms=fresh.at_ms,
            kind=EntryKind.CORRECTION,
            currency=fresh.currency,
            postings=_postings(change),
            corrects=first_id,
        )
