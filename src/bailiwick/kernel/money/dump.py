"""Cards, budgets, invoices, times of records, and until when leaving leases were held."""

from __future__ import annotations

from bailiwick.billing.budgets import BudgetProgress
from bailiwick.billing.rates import RateBook, card_body, card_of
from bailiwick.kernel.money import events as ev
from bailiwick.kernel.money.book import Issued
from bailiwick.kernel.money.charging import count_all
from bailiwick.kernel.money.hook import MoneyHook
from bailiwick.kernel.money.rules import keep_invoice
from bailiwick.kernel.money.spending import Leaving, Purse
from bailiwick.kernel.money.times import RecordTimes
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.slice import Plain
from bailiwick.kernel.state import State
from bailiwick.vocab.clock_repair import ClockRepair
from bailiwick.vocab.words import BudgetState


def dump(state: State) -> Plain:
    """Cards, budgets with what is spent of them, and invoices, in one order; sums are text."""
    purses = sorted(state.spending.purses.items(), key=lambda row: (row[0][0], row[0][1] or ""))
    money = {
        "cards": [card_body(change) for change in state.spending.book.changes],
        "budgets": [
            [
                *scope,
                ev.budget_body(purse.budget),
                str(purse.whole),
                *(purse.began_ms, purse.settled_ms),
                *(purse.standing.state.value, purse.standing.crossed),
            ]
            for scope, purse in purses
        ],
        "invoices": [
            [name, *each.owner, *each[1:4], each.corrects, each.journal_size]
            for name, each in sorted(state.invoices.items())
        ],
        "times": [list(mark) for mark in state.times.marks],
    }
    leaving = [[i, *times] for i, times in sorted(state.leaving.items())]
    return {"money": money, "leaving": leaving}


def load(state: State, plain: Plain) -> None:
    """Take up what :func:`dump` told; the leases are there already."""
    spending, dumped = state.spending, plain["money"]
    state.leaving = {i: Leaving(*times) for i, *times in plain["leaving"]}
    spending.use_book(RateBook(card_of(body) for body in dumped["cards"]), 0)
    for tenant, project, body, whole, began_ms, settled_ms, word, crossed in dumped["budgets"]:
        budget = ev.budget_of(body, Owner(tenant, project))
        standing = BudgetProgress(BudgetState(word), crossed)
        purse = Purse(budget, int(whole), began_ms, settled_ms, standing)
        spending.purses[purse.scope] = purse
    count_all(state)
    for tenant in {scope[0] for scope in spending.purses}:
        state.quotas.set_budget_hook(tenant, MoneyHook(spending, state.ledger))
    for name, tenant, project, digest, from_ms, to_ms, corrects, size in dumped["invoices"]:
        owner = Owner(tenant, project)
        keep_invoice(state, Issued(owner, digest, from_ms, to_ms, name, corrects, size))
    state.times = RecordTimes((seq, at_ms) for seq, at_ms in dumped["times"])


def repair(plain: Plain, clock: ClockRepair) -> None:
    """Money that was counted is as of the repaired time.

    Cards, invoices and records say of what time they are: all who read the journal go by that, so
    they stay.
    """
    for row in plain["money"]["budgets"]:
        row[4], row[5] = clock.past(row[4]), clock.past(row[5])
    for row in plain["leaving"]:
        row[1:] = [None if at_ms is None else clock.past(at_ms) for at_ms in row[1:]]
