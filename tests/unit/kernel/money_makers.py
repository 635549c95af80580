"""Cards, budgets, findings and invoices of every sort, for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bailiwick.billing.budgets import Budget
from bailiwick.billing.rates import RATE_MAX, CardWithdrawn, RateCard
from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.journal.words import Severity
from bailiwick.kernel.money import commands as cmd
from bailiwick.kernel.money import events as ev
from bailiwick.kernel.owner import Owner
from bailiwick.vocab.words import BudgetState, HardwareGeneration, LeaseClass
from tests.unit.journal.makers import amounts, hashes, names, principals

maybe_names = st.none() | names
owners = st.builds(Owner, names, maybe_names)
anybody = st.just(Owner()) | owners
prices = st.integers(0, RATE_MAX)
severities = st.sampled_from(list(Severity))
states = st.sampled_from(list(BudgetState))
notes = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
evidences = st.none() | hashes


def whole(words: type[Any]) -> st.SearchStrategy[dict[Any, int]]:
    """A price for each of these words."""
    return st.fixed_dictionaries(dict.fromkeys(words, prices))


cards = st.builds(
    RateCard,
    currency=names,
    gpu_micros_per_hour=whole(HardwareGeneration),
    core_micros_per_hour=prices,
    mem_micros_per_gib_hour=prices,
    block_micros_per_gib_hour=prices,
    class_per_mille=whole(LeaseClass),
    effective_ms=prices,
    name=names,
    tenant=maybe_names,
)
withdrawals = st.builds(CardWithdrawn, names, prices, names)


@st.composite
def budgets(draw: st.DrawFn) -> Budget:
    """Any budget."""
    from_ms = draw(st.integers(0, INTEGER_MAX - 1))
    some = st.lists(st.integers(1, 999), unique=True, max_size=4).map(sorted)
    return Budget(
        draw(names),
        draw(maybe_names),
        limit_micros=draw(amounts),
        cap_micros=draw(st.none() | amounts),
        from_ms=from_ms,
        until_ms=draw(st.none() | st.integers(from_ms + 1, INTEGER_MAX)),
        thresholds=tuple(draw(some)),
    )


@st.composite
def invoices(draw: st.DrawFn) -> dict[str, Any]:
    """What an invoice says."""
    start = draw(st.integers(0, INTEGER_MAX - 1))
    return {
        "invoice": draw(names),
        "period_start_ms": start,
        "period_end_ms": draw(st.integers(start + 1, INTEGER_MAX)),
        "journal_size": draw(amounts),
        "total_micros": draw(st.integers(-INTEGER_MAX, INTEGER_MAX)),
        "currency": draw(names),
        "digest": draw(hashes),
        "corrects": draw(maybe_names),
    }


EVENTS: dict[type[Any], st.SearchStrategy[Any]] = {
    ev.RateCardChanged: st.builds(ev.RateCardChanged, cards | withdrawals),
    ev.BudgetChanged: st.builds(
        ev.BudgetChanged, budgets(), st.none() | amounts, is_removed=st.booleans()
    ),
    ev.BudgetStateChanged: st.builds(
        ev.BudgetStateChanged,
        *(owners, states, states, amounts, amounts, amounts, st.none() | amounts),
    ),
    ev.FindingReported: st.builds(
        ev.FindingReported, anybody, names, severities, principals, evidences, notes
    ),
    ev.InvoiceIssued: st.builds(lambda o, said: ev.InvoiceIssued(o, **said), owners, invoices()),
}
COMMANDS: dict[type[Any], st.SearchStrategy[Any]] = {
    cmd.SetRateCard: st.builds(cmd.SetRateCard, cards),
    cmd.WithdrawRateCard: st.builds(cmd.WithdrawRateCard, names, prices),
    cmd.SetBudget: st.builds(cmd.SetBudget, budgets(), st.none() | amounts, evidences),
    cmd.RemoveBudget: st.builds(cmd.RemoveBudget, names, maybe_names),
    cmd.ReportFinding: st.builds(
        lambda o, *said: cmd.ReportFinding(*said, *o),
        anybody,
        names,
        severities,
        principals,
        evidences,
        notes,
    ),
    cmd.IssueInvoice: st.builds(
        lambda o, said: cmd.IssueInvoice(tenant=o.tenant, project=o.project, **said),
        owners,
        invoices(),
    ),
}
