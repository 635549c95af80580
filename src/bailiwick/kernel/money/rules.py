"""Prices, budgets, findings and invoices: decided and applied like everything else.

Rules:

- A card never becomes effective before the record that sets it: what was used has its price.
- One currency for the whole journal. Another than that of the list prices can only be chosen by
  the first card of all, for everybody and at once, before anything was leased or budgeted.
- An invoice is of a period that is over, and of a prefix of the journal that holds every record of
  that period: the first record that is not in it is of the period's end or later. Times of records
  are remembered as :mod:`.times` says, so a prefix of long ago may be refused that would do.
- What one invoice covers no other does: neither the same period, nor a project of a tenant that was
  billed as a whole. A correction is an invoice of its own that names the first, of the same owner
  and period, and of more records than the first and all corrections before it.
- How a budget stands is told when it changes, and only then; what was told of another period
  counts for nothing. When it is spent, work that agreed to end on that is evicted, and requests are
  refused; when a cap could not be kept, the cheapest work is. Guaranteed work never is. A top-up
  starts nothing: who still waits may start, and no one else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import assert_never, get_args

from bailiwick.billing.budgets import HEALTHY, Budget, BudgetProgress
from bailiwick.billing.rates import WHOLE, CardWithdrawn, RateBook, RateCard
from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.kernel.events import Event
from bailiwick.kernel.money import commands as cmd
from bailiwick.kernel.money import events as ev
from bailiwick.kernel.money.book import Issued
from bailiwick.kernel.money.charging import recount
from bailiwick.kernel.money.hook import MoneyHook
from bailiwick.kernel.money.spending import Purse
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.precondition import budget_digest, check_seen
from bailiwick.kernel.slice import Apply, Cause
from bailiwick.kernel.state import State
from bailiwick.kernel.work.ending import evict_active
from bailiwick.scheduler.evictions import plan_budget, plan_cost_cap
from bailiwick.scheduler.lease import Lease
from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached, NotFound
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.values import AMOUNT_MAX
from bailiwick.vocab.words import BudgetState, PreemptionReason

CARDS_MAX = 10_000
"""Cards, and withdrawals of cards, that a journal may set."""

BUDGETS_MAX = 10_000
"""Scopes that may have a budget."""

INVOICES_MAX = 1_000_000


def decide(state: State, command: cmd.MoneyCommand, now_ms: int) -> Iterator[Event]:
    """The events that follow from such a command."""
    match command:
        case cmd.SetRateCard():
            yield _set_card(state, command.card, now_ms)
        case cmd.WithdrawRateCard():
            yield _withdraw(state, command, now_ms)
        case cmd.SetBudget():
            yield from _set_budget(state, command, now_ms)
        case cmd.RemoveBudget():
            purse = find_purse(state, command.tenant, project=command.project)
            yield ev.BudgetChanged(purse.budget, is_removed=True)
        case cmd.ReportFinding():
            owner = Owner(command.tenant, command.project)
            yield ev.FindingReported(
                owner,
                command.finding,
                command.severity,
                command.subject,
                command.evidence,
                command.note,
            )
        case cmd.IssueInvoice():
            yield _issue(state, command, now_ms)
        case _:
            assert_never(command)


# -- cards -----------------------------------------------------------------------------------


def _set_card(state: State, card: RateCard, now_ms: int) -> ev.RateCardChanged:
    book = state.spending.book
    effective_ms = _from_now(book, card.effective_ms, now_ms)
    is_first = not (book.changes or state.lease_serial or state.spending.purses)
    if card.currency != book.currency and not (
        is_first and card.tenant is None and effective_ms == now_ms
    ):
        why = f"is not {book.currency}, in which this journal counts"
        hint = "only the first list card, at once and before any lease, may bring another"
        raise Conflict("currency", card.currency, why, hint=hint)
    return ev.RateCardChanged(replace(card, effective_ms=effective_ms))


def _withdraw(state: State, command: cmd.WithdrawRateCard, now_ms: int) -> ev.RateCardChanged:
    book = state.spending.book
    effective_ms = _from_now(book, command.effective_ms, now_ms)
    own = book.own_card(command.tenant, effective_ms)
    if own is None:
        raise Conflict("rate card", command.tenant, f"has none of its own at {effective_ms}")
    return ev.RateCardChanged(CardWithdrawn(command.tenant, effective_ms, own.name))


def _from_now(book: RateBook, effective_ms: int, now_ms: int) -> int:
    if len(book.changes) >= CARDS_MAX:
        raise LimitReached("rate cards", CARDS_MAX)
    if 0 < effective_ms < now_ms:
        why = f"0 (at once) or {now_ms} or later: what was used before has its price already"
        raise InvalidValue("effective_ms", effective_ms, why)
    return effective_ms or now_ms


# -- budgets ---------------------------------------------------------------------------------


def _set_budget(state: State, command: cmd.SetBudget, now_ms: int) -> Iterator[Event]:
    budget, purses = command.budget, state.spending.purses
    scope = budget.tenant, budget.project
    # A table that is full is told here; the row itself, still blank, changes nothing.
    state.quotas.row_of(*scope)
    before = purses.get(scope)
    if before is None and len(purses) >= BUDGETS_MAX:
        raise LimitReached("budgets", BUDGETS_MAX)
    there = budget_digest(None if before is None else before.budget)
    check_seen("budget", budget.tenant, seen=command.seen, current=there)
    opening = command.opening_micros
    is_new = before is None or _period(before.budget) != _period(budget)
    if opening is None and is_new:
        opening = 0
    yield ev.BudgetChanged(budget, opening)
    yield from _tell(state, purses[scope], now_ms, is_new=is_new)


def _period(budget: Budget) -> tuple[int, int | None]:
    return budget.from_ms, budget.until_ms


def find_purse(state: State, tenant: str, *, project: str | None) -> Purse:
    """The purse of a tenant or project; one without a budget has none."""
    purse = state.spending.purses.get((tenant, project))
    if purse is None:
        name = tenant if project is None else f"{tenant}/{project}"
        raise NotFound("budget", name, hint="nobody set one, or it was removed")
    return purse


@dataclass(frozen=True, slots=True)
class BudgetView:
    """A budget, what is spent of it, and where that is heading; in full micros."""

    budget: Budget
    standing: BudgetProgress
    spent_micros: int
    projected_micros: int


def look_at_budget(
    state: State, tenant: str, *, project: str | None = None, now_ms: int
) -> BudgetView:
    """How a budget stands now, whether or not that was told yet."""
    now, spending = max(now_ms, state.clock_ms), state.spending
    purse = find_purse(state, tenant, project=project)
    projected = spending.projected(purse) // WHOLE
    spent = spending.spent_micros(purse, now)
    return BudgetView(purse.budget, spending.stand(purse, now), spent, projected)


def watch_budgets(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Tell what crossed a line, and evict whom that asks for; a project's before its tenant's."""
    del limit
    spending = state.spending
    for scope in spending.watch.due(now_ms):
        purse = spending.purses[scope]
        yield from look_at_purse(state, purse, now_ms=now_ms)
        spending.watch.rest(scope, until_ms=spending.quiet_until_ms(purse, now_ms))


def look_at_purse(state: State, purse: Purse, *, now_ms: int) -> Iterator[Event]:
    """Tell how a budget stands if that is another now, and evict whom that asks for."""
    yield from _tell(state, purse, now_ms)
    if purse.standing.state is BudgetState.AUTO_RELEASE_PENDING:
        yield from _end_on_budget(state, purse, now_ms)
    if purse.budget.cap_micros is not None and purse.budget.is_on(now_ms):
        yield from _keep_cap(state, purse, now_ms)


def _tell(state: State, purse: Purse, now_ms: int, *, is_new: bool = False) -> Iterator[Event]:
    told, found = purse.standing, state.spending.stand(purse, now_ms)
    if is_new and found != HEALTHY:
        told = HEALTHY  # of this period nothing was told yet, however the one before stood
    if found != told:
        spent = min(state.spending.spent_micros(purse, now_ms), INTEGER_MAX)
        owner, limit = Owner(*purse.scope), purse.budget.limit_micros
        before = told.crossed if told.state is found.state else None
        words = told.state, found.state
        yield ev.BudgetStateChanged(owner, *words, spent, limit, found.crossed, before)


def _end_on_budget(state: State, purse: Purse, now_ms: int) -> Iterator[Event]:
    if not any(state.phase(i) is RevokeState.ACTIVE for i in purse.leaving):
        return
    tenant, project = purse.scope
    plan = plan_budget(state.ledger, tenant, project=project, now_ms=now_ms)
    ids = [state.ids[victim.lease_id] for victim in plan.victims]
    yield from evict_active(state, ids, reason=plan.reason, now_ms=now_ms, grace_ms=None)
    yield from _tell(state, purse, now_ms)


def _keep_cap(state: State, purse: Purse, now_ms: int) -> Iterator[Event]:
    cap, spending = purse.budget.cap_micros or 0, state.spending
    excess = spending.projected(purse) - cap * WHOLE
    if excess <= 0:
        return
    from_ms = now_ms + state.settings.grace_ms  # grace is charged: it saves nothing

    def saved_micros(lease: Lease) -> int:
        holding = purse.running.get(state.ids[lease.id])
        if holding is None or lease.state is not RevokeState.ACTIVE:
            return 0
        return spending.ahead(purse, holding, from_ms=from_ms) // WHOLE

    tenant, project = purse.scope
    plan = plan_cost_cap(
        state.ledger,
        tenant,
        project=project,
        excess_micros=min(-(-excess // WHOLE), AMOUNT_MAX),
        price_of=saved_micros,
        now_ms=now_ms,
    )
    ids = [state.ids[victim.lease_id] for victim in plan.victims]
    reason = PreemptionReason.COST_CAP_EVICTION
    yield from evict_active(state, ids, reason=reason, now_ms=now_ms, grace_ms=None)


# -- invoices --------------------------------------------------------------------------------


def _issue(state: State, command: cmd.IssueInvoice, now_ms: int) -> ev.InvoiceIssued:
    owner, known = Owner(command.tenant, command.project), state.invoices.get(command.invoice)
    if known is not None:
        same = (known.owner, known.digest) == (owner, command.digest)
        why = "was issued already" if same else "was issued already, and says something else"
        hint = "" if same else "issue a correction that names it"
        raise Conflict("invoice", command.invoice, why, hint=hint)
    if len(state.invoices) >= INVOICES_MAX:
        raise LimitReached("invoices", INVOICES_MAX)
    if command.currency != state.spending.book.currency:
        raise InvalidValue("currency", command.currency, state.spending.book.currency)
    if command.journal_size > state.size:
        raise InvalidValue("journal_size", command.journal_size, f"{state.size} or less")
    if command.period_end_ms > now_ms:
        raise InvalidValue("period_end_ms", command.period_end_ms, f"{now_ms} or before")
    least = state.times.size_by(command.period_end_ms, size=state.size)
    if command.journal_size < least:
        why = f"{least} or more, which hold every record of before {command.period_end_ms}"
        raise InvalidValue("journal_size", command.journal_size, why)
    if command.corrects is None:
        _check_billed_once(state, command, owner)
    else:
        _check_corrected(state, command, owner)
    return ev.InvoiceIssued(
        owner,
        command.invoice,
        command.period_start_ms,
        command.period_end_ms,
        command.journal_size,
        command.total_micros,
        command.currency,
        command.digest,
        command.corrects,
    )


def _check_billed_once(state: State, command: cmd.IssueInvoice, owner: Owner) -> None:
    """Refuse a bill for what another bill covers: the whole tenant's covers every project's."""
    for other in state.billed.get(command.tenant, ()):
        whole = None in (owner.project, other.owner.project)
        if other.corrects is not None or not (whole or owner.project == other.owner.project):
            continue
        if other.from_ms < command.period_end_ms and command.period_start_ms < other.to_ms:
            why = f"covers what {other.invoice} covers: {other.from_ms} to {other.to_ms}"
            hint = f"issue what is left of the period, or a correction of {other.invoice}"
            raise Conflict("invoice", command.invoice, why, hint=hint)


def _check_corrected(state: State, command: cmd.IssueInvoice, owner: Owner) -> None:
    first = state.invoices.get(command.corrects or "")
    if first is None:
        raise NotFound("invoice", command.corrects, hint="a correction names one that was issued")
    if first.owner != owner:
        raise Conflict("invoice", command.corrects, "is another owner's")
    if first.corrects is not None:
        why = f"is itself a correction, of {first.corrects}"
        raise Conflict("invoice", command.corrects, why, hint="name that one")
    if (first.from_ms, first.to_ms) != (command.period_start_ms, command.period_end_ms):
        raise Conflict("invoice", command.corrects, f"is of {first.from_ms} to {first.to_ms}")
    for other in state.billed[command.tenant]:
        is_same = first.invoice in (other.invoice, other.corrects)
        if is_same and command.journal_size <= other.journal_size:
            why = f"is of {other.journal_size} records already"
            raise Conflict("invoice", other.invoice, why, hint="a correction is of more")


# -- applying --------------------------------------------------------------------------------


def keep_invoice(state: State, issued: Issued) -> None:
    """Remember that this was issued."""
    state.invoices[issued.invoice] = issued
    state.billed.setdefault(str(issued.owner.tenant), []).append(issued)


def _apply(state: State, event: ev.MoneyEvent, at_ms: int) -> None:
    """The state after such an event."""
    match event:
        case ev.RateCardChanged():
            book = state.spending.book
            state.spending.use_book(RateBook((*book.changes, event.change)), at_ms)
        case ev.BudgetChanged():
            _apply_budget(state, event, at_ms)
        case ev.BudgetStateChanged():
            purse = state.spending.purses[str(event.owner.tenant), event.owner.project]
            purse.standing = BudgetProgress(event.after, event.crossed)
        case ev.FindingReported():
            pass
        case ev.InvoiceIssued():
            keep_invoice(
                state,
                Issued(
                    event.owner,
                    event.digest,
                    event.period_start_ms,
                    event.period_end_ms,
                    event.invoice,
                    event.corrects,
                    event.journal_size,
                ),
            )
        case _:
            assert_never(event)


def _apply_budget(state: State, event: ev.BudgetChanged, at_ms: int) -> None:
    budget, spending = event.budget, state.spending
    if event.is_removed:
        spending.close((budget.tenant, budget.project))
    elif event.opening_micros is None:
        spending.change(budget, at_ms)
        return
    else:
        spending.open(budget, opening_micros=event.opening_micros, at_ms=at_ms)
    recount(state, budget.tenant, at_ms=at_ms)
    ask_about(state, budget.tenant)


def ask_about(state: State, tenant: str) -> None:
    """Have quota ask about money for tenants with a budget, and for no others."""
    has_one = any(scope[0] == tenant for scope in state.spending.purses)
    hook = MoneyHook(state.spending, state.ledger) if has_one else None
    state.quotas.set_budget_hook(tenant, hook)


APPLY: Mapping[type, Apply] = dict.fromkeys(get_args(ev.MoneyEvent), _apply)


# -- causes ----------------------------------------------------------------------------------


def _priced(event: ev.RateCardChanged) -> cmd.SetRateCard | cmd.WithdrawRateCard:
    change = event.change
    if isinstance(change, RateCard):
        return cmd.SetRateCard(change)
    return cmd.WithdrawRateCard(str(change.tenant), change.effective_ms)


def _budgeted(event: ev.BudgetChanged) -> cmd.SetBudget | cmd.RemoveBudget:
    budget = event.budget
    if event.is_removed:
        return cmd.RemoveBudget(budget.tenant, budget.project)
    return cmd.SetBudget(budget, event.opening_micros)


CAUSES: Mapping[type, Cause] = {ev.RateCardChanged: _priced, ev.BudgetChanged: _budgeted}
TOLD_ONLY = (ev.FindingReported, ev.InvoiceIssued)
