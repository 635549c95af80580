"""Accounts always sum to zero and balances are what a list of all movements says, whatever is
posted, posted again, posted in conflict, and corrected.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from bailiwick.billing.accounts import (
    Books,
    ConflictingEntry,
    Credits,
    EntryKind,
    LedgerAccount,
    LedgerEntry,
    Payments,
    Posted,
    Posting,
    Receivable,
    Repeated,
    Revenue,
    Unfounded,
    grant,
    reverse,
    top_up,
)
from bailiwick.vocab.words import HardwareGeneration, ResourceKind

ACCOUNTS: list[LedgerAccount] = [
    Receivable("acme"),
    Receivable("globex"),
    Revenue(ResourceKind.GPU_MILLI, HardwareGeneration.NVIDIA_HOPPER),
    Revenue(ResourceKind.CPU_MILLI),
    Credits(),
    Payments(),
]
ids = st.integers(0, 30).map(lambda number: f"e-{number}")
times = st.integers(0, 50)
amounts = st.one_of(st.integers(1, 5), st.integers(1, 2**50))


@st.composite
def postings(draw: Any) -> tuple[Posting, ...]:
    """Any that sum to zero."""
    found: list[Posting] = []
    for _ in range(draw(st.integers(0, 4))):
        source, target = draw(st.sampled_from(ACCOUNTS)), draw(st.sampled_from(ACCOUNTS))
        micros = draw(amounts)
        found += [Posting(source, -micros), Posting(target, micros)]
    return tuple(draw(st.permutations(found)))


charges = st.builds(
    LedgerEntry,
    entry_id=ids,
    at_ms=times,
    kind=st.just(EntryKind.CHARGE),
    currency=st.just("credit"),
    postings=postings(),
)


@st.composite
def receipts(draw: Any) -> LedgerEntry:
    """A payment, or a grant."""
    make = draw(st.sampled_from([top_up, grant]))
    tenant, micros, at_ms = draw(st.sampled_from(["acme", "globex"])), draw(amounts), draw(times)
    entry: LedgerEntry = make(draw(ids), tenant, micros=micros, at_ms=at_ms, currency="credit")
    return entry


class BooksMachine(RuleBasedStateMachine):
    """The books, and beside them the list of every movement that was answered as posted."""

    def __init__(self) -> None:
        super().__init__()
        self.books = Books("credit")
        self.entries: dict[str, LedgerEntry] = {}
        self.moved: list[tuple[str, str | None, int, LedgerAccount, int]] = []

    def post(self, entry: LedgerEntry) -> None:
        known = self.entries.get(entry.entry_id)
        answer = self.books.post(entry)
        if known is not None:
            is_same = known == entry
            assert isinstance(answer, Repeated if is_same else ConflictingEntry)
            return
        first = self.entries.get(entry.corrects or "")
        if entry.corrects and (first is None or first.corrects):
            assert isinstance(answer, Unfounded)
            return
        assert answer == Posted(entry.entry_id)
        self.entries[entry.entry_id] = entry
        for each in entry.postings:
            row = (entry.entry_id, entry.corrects, entry.at_ms, each.account, each.micros)
            self.moved.append(row)

    @rule(entry=st.one_of(charges, receipts()))
    def move(self, entry: LedgerEntry) -> None:
        self.post(entry)

    @rule(entry=charges, corrects=ids)
    def correct_by_hand(self, entry: LedgerEntry, corrects: str) -> None:
        if corrects != entry.entry_id:
            self.post(replace(entry, kind=EntryKind.CORRECTION, corrects=corrects))

    @precondition(lambda self: self.entries)
    @rule(data=st.data())
    def repeat(self, data: Any) -> None:
        self.post(data.draw(st.sampled_from(list(self.entries.values()))))

    @precondition(lambda self: self.entries)
    @rule(data=st.data(), entry_id=ids, at_ms=times)
    def take_back(self, data: Any, entry_id: str, at_ms: int) -> None:
        entry = data.draw(st.sampled_from(list(self.entries.values())))
        if entry_id != entry.entry_id:
            self.post(reverse(entry, entry_id, at_ms=at_ms))

    @precondition(lambda self: any(not each.corrects for each in self.entries.values()))
    @rule(data=st.data(), fresh=charges)
    def correct(self, data: Any, fresh: LedgerEntry) -> None:
        firsts = [each for each in self.entries.values() if not each.corrects]
        first = data.draw(st.sampled_from(firsts))
        if fresh.entry_id in self.entries:
            return
        found = self.books.correct(first.entry_id, fresh)
        if isinstance(found, LedgerEntry):
            self.post(found)
        wanted = Counter({each.account: each.micros for each in fresh.postings})
        standing = self.books.standing(first.entry_id)
        assert {k: v for k, v in standing.items() if v} == {k: v for k, v in wanted.items() if v}

    @invariant()
    def all_accounts_sum_to_zero(self) -> None:
        assert sum(self.books.balances().values()) == 0
        assert all(sum(each.micros for each in entry.postings) == 0 for entry in self.books)

    @invariant()
    def balances_are_a_naive_sum(self) -> None:
        for at_ms in (None, 10, 25):
            for account in ACCOUNTS:
                naive = sum(
                    micros
                    for _, _, moved_ms, moved, micros in self.moved
                    if moved == account and (at_ms is None or moved_ms <= at_ms)
                )
                assert self.books.balance(account, at_ms) == naive

    @invariant()
    def nothing_that_was_posted_ever_changes(self) -> None:
        assert list(self.books) == list(self.entries.values())


TestBooks = BooksMachine.TestCase
