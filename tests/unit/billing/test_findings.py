"""Rules of issuing in a journal whose writer did not keep them: found, and nothing else is.

The references compare every invoice with every other, and with every record.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.billing.audits import InvoiceClaim, PriceHistory, claim_of
from bailiwick.billing.findings import (
    BilledTwice,
    PrefixTooShort,
    PrefixWatch,
    PricedInThePast,
    check_billed_once,
    check_prices,
    concerning,
)
from bailiwick.billing.invoices import InvoiceHead, InvoiceScope
from bailiwick.billing.rates import LIST_PRICES, CardWithdrawn, card_body
from tests.support.billed_campus import billed_campus

ZEROS = "0" * 64


@dataclass(frozen=True)
class Told:
    """A record, as it is read here."""

    seq: int
    at_ms: int
    kind: str = "something"
    body: Any = None
    tenant: str | None = None
    project: str | None = None
    moves_shares: bool = False


def claim(name: str, seq: int | None, **said: Any) -> InvoiceClaim:
    whole = said.get("project") is None
    known: dict[str, Any] = {"tenant": "lab", "from_ms": 0, "to_ms": 9, "journal_size": 0}
    scope = InvoiceScope.TENANT if whole else InvoiceScope.PROJECT
    head = InvoiceHead(invoice_id=name, scope=scope, currency="credit", **(known | said))
    return InvoiceClaim(head, 0, ZEROS, seq)


# -- the same time twice ---------------------------------------------------------------------


@st.composite
def issued(draw: st.DrawFn) -> list[InvoiceClaim]:
    found: list[InvoiceClaim] = []
    for seq in range(draw(st.integers(0, 8))):
        from_ms = draw(st.integers(0, 6))
        said = {
            "tenant": draw(st.sampled_from(["lab", "uni"])),
            "project": draw(st.sampled_from([None, "p", "q"])),
            "from_ms": from_ms,
            "to_ms": from_ms + draw(st.integers(1, 4)),
        }
        if found and draw(st.integers(0, 4)) == 0:
            said["corrects"] = "inv-0"
        is_issued = draw(st.integers(0, 5)) > 0
        found.append(claim(f"inv-{seq + 1}", seq if is_issued else None, **said))
    return found


def naive_twice(claims: list[InvoiceClaim]) -> set[tuple[str, str]]:
    found = set()
    for later in claims:
        for first in claims:
            if None in (later.seq, first.seq) or first.seq >= later.seq:  # type: ignore[operator]
                continue
            one, two = first.head, later.head
            moments = set(range(one.from_ms, one.to_ms)) & set(range(two.from_ms, two.to_ms))
            same = one.project is None or two.project is None or one.project == two.project
            anew = one.corrects is None and two.corrects is None
            if one.tenant == two.tenant and same and anew and moments:
                found.add((two.invoice_id, one.invoice_id))
    return found


@given(issued())
def test_every_two_invoices_that_bill_the_same_time_are_found_once(
    claims: list[InvoiceClaim],
) -> None:
    found = list(check_billed_once(claims))
    assert {(each.invoice, each.other) for each in found} == naive_twice(claims)
    assert len(found) == len(naive_twice(claims))
    heads = {each.head.invoice_id: each.head for each in claims}
    for each in found:
        assert each.seq > each.other_seq
        both = heads[each.invoice], heads[each.other]
        assert each.from_ms == max(head.from_ms for head in both)
        assert each.to_ms == min(head.to_ms for head in both)


def test_an_invoice_that_is_issued_again_under_its_own_name_is_found() -> None:
    found = list(check_billed_once([claim("inv-1", 3), claim("inv-1", 4)]))
    assert found == [BilledTwice("inv-1", 4, "inv-1", 3, 0, 9)]


# -- a part of the period --------------------------------------------------------------------


@st.composite
def prefixes(draw: st.DrawFn) -> tuple[list[Told], list[InvoiceClaim]]:
    steps = draw(st.lists(st.integers(0, 2), min_size=1, max_size=12))
    times = [sum(steps[: number + 1]) for number in range(len(steps))]
    records = [Told(seq, at_ms) for seq, at_ms in enumerate(times)]
    claims = []
    for number in range(draw(st.integers(0, 5))):
        seq = draw(st.one_of(st.none(), st.integers(0, len(times) - 1)))
        size = draw(st.integers(0, len(times) if seq is None else seq))
        to_ms = draw(st.integers(1, times[-1] + 3))
        claims.append(claim(f"inv-{number}", seq, to_ms=to_ms, journal_size=size))
    return records, claims


@given(prefixes())
def test_an_invoice_that_leaves_out_a_record_of_its_period_is_found_with_the_first_of_them(
    made: tuple[list[Told], list[InvoiceClaim]],
) -> None:
    records, claims = made
    watch = PrefixWatch(claims)
    for record in records:
        watch.see(record)
    expected = set()
    for each in claims:
        last = len(records) - 1 if each.seq is None else each.seq
        head = each.head
        for record in records[head.journal_size : last + 1]:
            if record.at_ms < head.to_ms:
                told = head.invoice_id, each.seq, head.journal_size, head.to_ms
                expected.add(PrefixTooShort(*told, record.seq, record.at_ms))
                break
    assert set(watch.found) == expected
    assert len(watch.found) == len(expected)
    assert watch.is_done or any(each.seq is None for each in claims)


# -- prices for the past ---------------------------------------------------------------------


def history(*rows: tuple[int, int, Any]) -> PriceHistory:
    prices = PriceHistory()
    for seq, at_ms, change in rows:
        prices.add(Told(seq, at_ms, "rate_card_changed", card_body(change)))
    return prices


def test_a_card_and_a_withdrawal_that_hold_from_before_their_record_are_found() -> None:
    card = replace(LIST_PRICES, name="ours", tenant="lab", effective_ms=50)
    back = CardWithdrawn("lab", 70, "ours")
    assert list(check_prices(history((3, 50, card), (4, 70, back)))) == []
    found = list(check_prices(history((3, 51, card), (4, 71, back))))
    assert found == [
        PricedInThePast("ours", "lab", 3, 51, 50),
        PricedInThePast("ours", "lab", 4, 71, 70),
    ]


def test_a_finding_concerns_the_invoices_that_it_could_change() -> None:
    mine = claim("inv-1", 9, journal_size=5, to_ms=60)
    listed = PricedInThePast("list", None, 4, 55, 50)
    twice = BilledTwice("inv-2", 11, "inv-1", 9, 0, 9)
    short = PrefixTooShort("inv-1", 9, 5, 60, 6, 58)
    assert concerning([listed, twice, short], [mine]) == [listed, twice, short]
    others = [
        replace(listed, tenant="uni"),
        replace(listed, seq=5),
        replace(listed, effective_ms=60),
        replace(twice, other="inv-3"),
        replace(short, invoice="inv-2"),
    ]
    assert concerning(others, [mine]) == []


def test_what_a_kernel_sealed_breaks_no_rule() -> None:
    records = billed_campus().campus.records
    prices, claims = PriceHistory(), []
    for record in records:
        prices.add(record)
        if record.kind == "invoice_issued":
            claims.append(claim_of(record))
    watch = PrefixWatch(claims)
    for record in records:
        watch.see(record)
    assert len(claims) == 6
    assert prices.rows
    assert [*check_prices(prices), *check_billed_once(claims), *watch.found] == []
    assert watch.is_done
