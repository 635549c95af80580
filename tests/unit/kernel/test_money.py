"""Cards, findings and invoices: sealed by the kernel, and refused where they cannot be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bailiwick.billing.budgets import Budget
from bailiwick.billing.rates import LIST_PRICES, RateCard, card_of
from bailiwick.journal.words import Severity
from bailiwick.kernel import Done, RegisterNode
from bailiwick.kernel.money import rules as ruling
from bailiwick.kernel.money.commands import (
    IssueInvoice,
    ReportFinding,
    SetBudget,
    SetRateCard,
    WithdrawRateCard,
)
from bailiwick.kernel.snapshot import decode, digest_of, encode
from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached, NotFound
from tests.unit.kernel.desk import Desk, cores


def desk(**how: Any) -> Desk:
    return Desk(nodes=[cores(8)], **how)


def card(effective_ms: int = 0, **terms: Any) -> RateCard:
    return replace(LIST_PRICES, effective_ms=effective_ms, **terms)


def names(d: Desk, tenant: str, *times: int) -> list[str]:
    return [d.state.spending.book.card_for(tenant, at_ms).name for at_ms in times]


# --- cards --------------------------------------------------------------------------------------


def test_a_card_is_one_record_that_carries_all_of_it() -> None:
    d = desk()
    assert d.do(SetRateCard(card(name="spring"))) == Done(len(d.lines) - 1)
    assert d.kinds == ["rate_card_changed"]
    assert card_of(d.last[0].body) == card(1_000, name="spring")
    assert d.last[0].tenant is None


def test_a_tenants_card_is_a_record_of_that_tenant() -> None:
    d = desk()
    d.do(SetRateCard(card(5_000, name="deal", tenant="lab")))
    assert d.last[0].tenant == "lab"
    assert names(d, "lab", 4_999, 5_000) == ["list", "deal"]
    assert names(d, "other", 5_000) == ["list"]


def test_a_withdrawn_card_gives_way_to_the_list() -> None:
    d = desk()
    d.do(SetRateCard(card(name="deal", tenant="lab")))
    d.do(WithdrawRateCard("lab", 3_000))
    assert names(d, "lab", 2_999, 3_000) == ["deal", "list"]
    assert d.last[0].body == {
        "card": "deal",
        "of_tenant": "lab",
        "effective_ms": 3_000,
        "withdrawn": 1,
    }
    d.at(4_000)
    assert "none of its own" in d.refuses(Conflict, WithdrawRateCard("lab"))
    d.refuses(Conflict, WithdrawRateCard("other"))


def test_prices_of_what_was_used_already_cannot_be_set() -> None:
    d = desk()
    assert "has its price already" in d.refuses(InvalidValue, SetRateCard(card(999)))
    d.do(SetRateCard(card(tenant="lab")))
    d.refuses(InvalidValue, WithdrawRateCard("lab", 999))
    d.do(SetRateCard(card(1_000)))


def test_a_journal_counts_in_one_currency_which_the_first_card_may_choose() -> None:
    d = desk()
    d.do(SetRateCard(card(currency="EUR")))
    assert d.state.spending.book.currency == "EUR"
    assert "is not EUR" in d.refuses(Conflict, SetRateCard(card(2_000)))
    d.do(SetRateCard(card(2_000, currency="EUR", tenant="lab")))


@pytest.mark.parametrize("after", ["a lease", "a budget", "a card", "later", "for one tenant"])
def test_another_currency_comes_first_and_at_once_or_not_at_all(after: str) -> None:
    d = desk()
    euro = card(currency="EUR")
    if after == "a lease":
        d.lease()
    elif after == "a budget":
        d.do(SetBudget(Budget("lab", limit_micros=5)))
    elif after == "a card":
        d.do(SetRateCard(card(name="same")))
    elif after == "later":
        euro = card(9_000, currency="EUR")
    else:
        euro = card(currency="EUR", tenant="lab")
    d.refuses(Conflict, SetRateCard(euro))


def test_cards_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ruling, "CARDS_MAX", 1)
    d = desk()
    d.do(SetRateCard(card()))
    d.refuses(LimitReached, SetRateCard(card()))


# --- findings -----------------------------------------------------------------------------------


def test_a_finding_is_sealed_and_changes_nothing_else() -> None:
    d = desk()
    told = ReportFinding(
        "attribution_drift", Severity.HIGH, "node-1/gpu-0", "ab" * 32, "3 s too many", "lab", "p"
    )
    d.do(told)
    record = d.last[0]
    assert (record.kind, record.tenant, record.project) == ("finding_reported", "lab", "p")
    assert record.body == {
        "finding": "attribution_drift",
        "severity": "high",
        "subject": "node-1/gpu-0",
        "evidence": "ab" * 32,
        "note": "3 s too many",
    }
    d.do(replace(told, tenant=None, project=None, evidence=None, note=None))
    assert d.last[0].tenant is None


@pytest.mark.parametrize(
    "bad",
    [
        {"finding": "two words"},
        {"severity": "high"},
        {"subject": ""},
        {"evidence": "ab"},
        {"note": "x" * 1_025},
        {"tenant": None, "project": "p"},
        {"tenant": "", "project": None},
    ],
)
def test_a_finding_that_no_record_could_tell_is_refused(bad: dict[str, Any]) -> None:
    good = {"finding": "x", "severity": Severity.LOW, "subject": "y", "tenant": "lab"}
    with pytest.raises(InvalidValue):
        ReportFinding(**{**good, **bad})


# --- invoices -----------------------------------------------------------------------------------


def invoice(name: str = "inv-1", **more: Any) -> IssueInvoice:
    said: dict[str, Any] = {
        "invoice": name,
        "tenant": "lab",
        "period_start_ms": 0,
        "period_end_ms": 1_000,
        "journal_size": 2,
        "total_micros": 17,
        "currency": "credit",
        "digest": "ab" * 32,
    }
    return IssueInvoice(**{**said, **more})


def test_an_invoice_says_what_it_was_computed_from() -> None:
    d = desk()
    d.do(invoice(project="p", journal_size=1))
    record = d.last[0]
    assert (record.kind, record.tenant, record.project) == ("invoice_issued", "lab", "p")
    assert record.body == {
        "invoice": "inv-1",
        "period_start_ms": 0,
        "period_end_ms": 1_000,
        "journal_size": 1,
        "total_micros": 17,
        "currency": "credit",
        "digest": "ab" * 32,
    }


def test_the_same_invoice_is_issued_once() -> None:
    d = desk(grace_ms=1)
    d.do(invoice())
    assert d.refuses(Conflict, invoice()).endswith("was issued already")
    assert "something else" in d.refuses(Conflict, invoice(digest="cd" * 32))
    assert "something else" in d.refuses(Conflict, invoice(tenant="other"))


def test_a_correction_names_an_invoice_of_the_same_owner() -> None:
    d = desk(grace_ms=1)
    d.refuses(NotFound, invoice("inv-2", corrects="inv-1"))
    d.do(invoice())
    d.refuses(Conflict, invoice("inv-2", corrects="inv-1", tenant="other"))
    d.refuses(Conflict, invoice("inv-2", corrects="inv-1", project="p"))
    d.do(invoice("inv-2", corrects="inv-1", total_micros=-5, journal_size=3))
    assert d.last[0].body["corrects"] == "inv-1"


def test_a_correction_is_of_the_same_period_and_names_the_first_invoice() -> None:
    d = desk(grace_ms=1)
    d.do(invoice())
    assert "0 to 1000" in d.refuses(Conflict, invoice("inv-2", corrects="inv-1", period_end_ms=9))
    d.do(invoice("inv-2", corrects="inv-1", journal_size=3))
    assert "correction, of inv-1" in d.refuses(Conflict, invoice("inv-3", corrects="inv-2"))
    d.do(invoice("inv-3", corrects="inv-1", journal_size=4))


def test_a_correction_is_of_more_records_than_all_that_was_issued_of_the_same() -> None:
    d = desk(grace_ms=1)
    d.do(invoice())
    same = invoice("inv-2", corrects="inv-1")
    assert "is of 2 records already" in d.refuses(Conflict, same)
    d.do(invoice("inv-2", corrects="inv-1", journal_size=3))
    again = invoice("inv-3", corrects="inv-1", journal_size=3)
    assert "is of 3 records already" in d.refuses(Conflict, again)
    back = decode(encode(d.state), digest_of(d.state))
    with pytest.raises(Conflict):
        list(ruling.decide(back, again, 1_000))


# A node at 1,000, one each at 2,000 and 3,000, and it is 4,000 now.
@pytest.mark.parametrize(
    ("end_ms", "least"),
    [(1_000, 0), (1_001, 2), (2_000, 2), (2_001, 3), (3_000, 3), (3_001, 4), (4_000, 4)],
)
def test_an_invoice_is_of_every_record_of_its_period(end_ms: int, least: int) -> None:
    d = desk(grace_ms=1)
    for number, at_ms in enumerate((2_000, 3_000), 2):
        d.at(at_ms).do(RegisterNode(f"n{number}", cores(1)))
    d.at(4_000)
    assert len(d.lines) == 4
    for size in range(least):
        short = invoice(period_end_ms=end_ms, journal_size=size)
        assert f"journal_size: expected {least} or more" in d.refuses(InvalidValue, short)
        back = decode(encode(d.state), digest_of(d.state))
        with pytest.raises(InvalidValue):
            list(ruling.decide(back, short, 4_000))
    d.do(invoice(period_end_ms=end_ms, journal_size=least))
    late = invoice("inv-2", corrects="inv-1", period_end_ms=end_ms, journal_size=least + 1)
    d.do(late)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {"period_start_ms": 999}),
        ({"period_start_ms": 100, "period_end_ms": 200}, {}),
        ({}, {"project": "p"}),
        ({"project": "p"}, {"period_start_ms": 500}),
        ({"project": "p"}, {"project": "p", "period_end_ms": 1}),
    ],
)
def test_nothing_is_billed_by_two_invoices(first: dict[str, Any], second: dict[str, Any]) -> None:
    d = desk(grace_ms=1)
    d.do(invoice(**first))
    assert "covers what inv-1 covers" in d.refuses(Conflict, invoice("inv-2", **second))
    again = decode(encode(d.state), digest_of(d.state))
    with pytest.raises(Conflict):
        list(ruling.decide(again, invoice("inv-2", **second), 1_000))


def test_what_is_left_of_a_period_and_other_owners_can_be_billed() -> None:
    d = desk(grace_ms=1)
    d.do(invoice(period_end_ms=400))
    d.do(invoice("inv-2", period_start_ms=400))
    d.do(invoice("inv-3", tenant="other", project="p"))
    d.do(invoice("inv-4", tenant="other", project="q"))


@pytest.mark.parametrize(
    "bad", [{"journal_size": 99}, {"period_end_ms": 1_001}, {"currency": "EUR"}]
)
def test_an_invoice_of_the_future_or_in_other_money_is_refused(bad: dict[str, Any]) -> None:
    d = desk(grace_ms=1)
    assert next(iter(bad)) in d.refuses(InvalidValue, invoice(**bad))


def test_invoices_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ruling, "INVOICES_MAX", 1)
    d = desk(grace_ms=1)
    d.do(invoice())
    d.refuses(LimitReached, invoice("inv-2"))


@pytest.mark.parametrize(
    "bad",
    [
        {"period_end_ms": 0},
        {"total_micros": 1.0},
        {"digest": "x"},
        {"journal_size": -1},
        {"corrects": "a b"},
    ],
)
def test_an_invoice_that_no_record_could_tell_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        invoice(**bad)


def test_all_of_it_is_in_the_state_and_comes_back_from_the_records() -> None:
    d = desk(grace_ms=1)
    d.do(SetRateCard(card(name="deal", tenant="lab")))
    d.do(SetBudget(Budget("lab", limit_micros=5)))
    d.do(invoice())
    again = d.replayed().state
    assert again.invoices.keys() == {"inv-1"}
    assert [each.name for each in again.spending.book.changes] == ["deal"]
    assert again.spending.purses.keys() == {("lab", None)}
