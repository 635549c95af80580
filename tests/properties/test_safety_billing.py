"""A bill says what was used and what that costs, to the last unit: against a naive rating with
fractions; whatever way use was cut, told and corrected.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from fractions import Fraction
from io import StringIO
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.billing.accounts import Books, Posted, Repeated
from bailiwick.billing.export import COLUMNS, invoice_csv, plain_cell
from bailiwick.billing.focus import FOCUS_COLUMNS, focus_csv
from bailiwick.billing.invoice_body import body_of, canonical_bytes, digest_of, invoice_of
from bailiwick.billing.invoices import Agreed, Invoice, compare, correct, entry_of, split_by_tenant
from bailiwick.billing.lines import FREE, LineKey, RatedLine
from bailiwick.billing.rates import WHOLE, RateBook, RateChange
from bailiwick.billing.rating import rate
from bailiwick.metering.values import Use
from bailiwick.vocab.values import GIB
from bailiwick.vocab.words import HardwareGeneration, ResourceKind
from tests.unit.billing import bill_makers as mk

Rated = tuple[list[RateChange], list[Use]]


def key_of(line: RatedLine) -> tuple[Any, ...]:
    """What of a line's key the naive rating knows too."""
    key = line.key
    whose = (key.tenant, key.project, key.tag, key.lease_class, key.generation)
    return (*whose, key.kind, key.stage, key.cause is None, key.card[:3])


# -- rating ----------------------------------------------------------------------------------


@given(mk.rated())
def test_lines_count_and_cost_what_the_naive_rating_says(made: Rated) -> None:
    changes, uses = made
    lines = rate(uses, RateBook(changes))
    used: dict[Any, int] = defaultdict(int)
    cost: dict[Any, Fraction] = defaultdict(Fraction)
    for use in uses:
        who, card = use.account, mk.naive_card(changes, use.account.tenant, use.from_ms)
        is_gpu = use.kind is ResourceKind.GPU_MILLI
        generation = who.generation or (HardwareGeneration.OTHER if is_gpu else None)
        whose = (who.tenant, who.project, who.tag, who.lease_class, generation)
        card_id = (card.name, card.tenant, card.effective_ms)
        key = (*whose, use.kind, who.stage, who.stage.value == "held", card_id)
        if use.used:
            used[key] += use.used
            cost[key] += mk.naive_cost(changes, use, tenant=who.tenant)
    found: dict[Any, int] = defaultdict(int)
    exact: dict[Any, Fraction] = defaultdict(Fraction)
    for line in lines:
        found[key_of(line)] += line.used
        exact[key_of(line)] += Fraction(line.key.price.exact(line.key.kind, line.used), WHOLE)
    assert found == used
    assert exact == cost


@given(mk.rated())
def test_each_line_is_its_exact_cost_rounded_once(made: Rated) -> None:
    changes, uses = made
    book = RateBook(changes)
    exact: dict[LineKey, list[Fraction]] = {}
    for use in uses:
        for line in rate([use], book):
            sums = exact.setdefault(line.key, [Fraction(0), Fraction(0)])
            sums[0] += mk.naive_cost(changes, use, tenant=use.account.tenant)
            sums[1] += mk.naive_cost(changes, use, tenant=None)
    lines = rate(uses, book)
    assert {line.key: [line.cost_micros, line.list_cost_micros] for line in lines} == {
        key: [round(each) for each in sums] for key, sums in exact.items()
    }


@given(mk.rated())
def test_time_that_is_not_charged_is_shown_at_the_price_of_nothing(made: Rated) -> None:
    changes, uses = made
    for use in uses:
        for line in rate([use], RateBook(changes)):
            is_charged = mk.naive_is_charged(use.account)
            assert line.key.is_charged is is_charged
            assert is_charged or (line.key.price, line.cost_micros) == (FREE, 0)
            assert line.used == use.used


@given(mk.rated(), st.data())
def test_how_use_is_cut_and_ordered_changes_no_line(made: Rated, data: Any) -> None:
    changes, uses = made
    book = RateBook(changes)
    pieces: list[Use] = []
    for use in uses:
        span = use.to_ms - use.from_ms
        if span < 2 or not data.draw(st.booleans()):
            pieces.append(use)
            continue
        cut = data.draw(st.integers(use.from_ms + 1, use.to_ms - 1))
        part = data.draw(st.integers(0, use.used))
        pieces.append(use._replace(to_ms=cut, used=part, segments=0))
        pieces.append(use._replace(from_ms=cut, used=use.used - part))
    pieces = data.draw(st.permutations(pieces))

    def told(line: RatedLine) -> tuple[Any, ...]:
        return line.key, line.used, line.cost_micros, line.list_cost_micros

    whole, cut_up = rate(uses, book), rate(pieces, book)
    assert [told(line) for line in whole] == [told(line) for line in cut_up]
    assert [line.key for line in whole] == sorted(
        (line.key for line in whole), key=lambda key: key.order
    )


@given(mk.rated())
def test_a_line_names_all_that_it_adds_up(made: Rated) -> None:
    changes, uses = made
    book = RateBook(changes)
    for line in rate(uses, book):
        own = [use for use in uses if [each.key for each in rate([use], book)] == [line.key]]
        assert line.segments == sum(use.segments for use in own)
        assert (line.from_ms, line.to_ms) == (
            min(use.from_ms for use in own),
            max(use.to_ms for use in own),
        )
        assert (line.first_seq, line.last_seq) == (
            min(use.first_seq for use in own),
            max(use.last_seq for use in own),
        )


# -- invoices --------------------------------------------------------------------------------


@given(mk.rated())
def test_the_invoices_of_all_tenants_come_to_what_was_rated(made: Rated) -> None:
    changes, uses = made
    lines = rate(uses, RateBook(changes))
    invoices = [
        Invoice(mk.head(tenant=tenant), own) for tenant, own in split_by_tenant(lines).items()
    ]
    assert sum(each.total_micros for each in invoices) == sum(line.cost_micros for line in lines)
    for each in invoices:
        assert sum(cost for _, cost in each.by_project()) == each.total_micros
        assert sum(cost for _, cost in each.by_generation()) == each.total_micros
        for project, cost in each.by_project():
            alone = mk.invoice(
                lines, tenant=each.head.tenant, scope=mk.InvoiceScope.PROJECT, project=project
            )
            assert alone.total_micros == cost


@given(mk.rated(), mk.scopes, st.randoms())
def test_a_body_tells_the_whole_invoice_and_its_digest_nothing_else(
    made: Rated, scope: dict[str, Any], random: Any
) -> None:
    changes, uses = made
    lines = list(rate(uses, RateBook(changes)))
    issued = mk.invoice(lines, **scope)
    random.shuffle(lines)
    again = mk.invoice(lines, **scope)
    assert issued == again
    assert digest_of(issued) == digest_of(again)
    read = invoice_of(json.loads(canonical_bytes(issued)))
    assert read == issued
    assert canonical_bytes(read) == canonical_bytes(issued)
    assert_plain(body_of(issued))


def assert_plain(value: Any) -> None:
    """Texts, integers that every reader keeps, lists and objects of such."""
    if isinstance(value, dict):
        assert all(type(name) is str and name.isascii() for name in value)
        for each in value.values():
            assert_plain(each)
    elif isinstance(value, list):
        for each in value:
            assert_plain(each)
    else:
        assert value is None or type(value) in (str, int)
        assert type(value) is not int or abs(value) < 2**53


@given(mk.changes, st.data())
def test_corrections_lead_to_what_a_fresh_invoice_says(
    changes: list[RateChange], data: Any
) -> None:
    book = RateBook(changes)
    states = [data.draw(mk.uses(book)) for _ in range(4)]
    invoices = [mk.invoice(rate(uses, book), f"inv-{n}") for n, uses in enumerate(states)]
    issued, corrections, books = invoices[0], [], Books("credit")
    assert isinstance(books.post(entry_of(issued, at_ms=0)), Posted)
    for number, fresh in enumerate(invoices[1:], 1):
        found = correct(issued, fresh, earlier=corrections)
        if isinstance(found, Invoice):
            assert found.head.corrects == issued.head.invoice_id
            corrections.append(found)
            assert isinstance(books.post(entry_of(found, at_ms=number)), Posted)
        assert summed([issued, *corrections]) == summed([fresh])
        assert isinstance(correct(issued, _named(fresh, "again"), earlier=corrections), Agreed)
        alone = Books("credit")
        alone.post(entry_of(fresh, at_ms=0))
        assert nonzero(books.balances()) == nonzero(alone.balances())
        entry = entry_of(_named(fresh, "again"), at_ms=number)
        assert isinstance(books.correct(issued.head.invoice_id, entry), Repeated)


def _named(invoice: Invoice, invoice_id: str) -> Invoice:
    return mk.invoice(invoice.lines, invoice_id)


def summed(invoices: list[Invoice]) -> dict[LineKey, tuple[int, ...]]:
    sums: dict[LineKey, tuple[int, ...]] = defaultdict(lambda: (0, 0, 0))
    for invoice in invoices:
        for line in invoice.lines:
            new = (line.used, line.cost_micros, line.list_cost_micros)
            sums[line.key] = tuple(map(sum, zip(sums[line.key], new, strict=True)))
    return {key: each for key, each in sums.items() if any(each)}


def nonzero(sums: dict[Any, int]) -> dict[Any, int]:
    return {account: micros for account, micros in sums.items() if micros}


@given(mk.rated(), st.data())
def test_comparing_finds_every_difference_and_no_other(made: Rated, data: Any) -> None:
    changes, uses = made
    lines = rate(uses, RateBook(changes))
    first = mk.invoice(lines)
    assert compare(first, mk.invoice(lines)) == ()
    fewer = data.draw(st.lists(st.sampled_from(first.lines), unique=True)) if first.lines else []
    second = mk.invoice(fewer, journal_size=7)
    found = compare(first, second)
    missing = {line.key for line in first.lines} - {line.key for line in fewer}
    assert {each.line.key for each in found if hasattr(each, "line")} == missing
    assert len(found) == len(missing) + 1
    assert len(compare(second, first)) == len(found)


# -- exports ---------------------------------------------------------------------------------


def read_back(text: str) -> tuple[list[str], list[dict[str, str | None]]]:
    rows = list(csv.reader(StringIO(text, newline=""), strict=True))
    header = rows[0]
    found = [dict(zip(header, map(plain_cell, row), strict=True)) for row in rows[1:]]
    return header, found


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet may run it: what looks like one and is no number."""
    try:
        float(cell)
    except ValueError:
        return cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    return False


@given(mk.rated(), st.booleans())
def test_csv_read_back_gives_equal_sums_and_names(made: Rated, is_correction: bool) -> None:
    changes, uses = made
    whole = mk.invoice(rate(uses, RateBook(changes)))
    if is_correction:  # all of it taken back: every number is negative
        found = correct(whole, mk.invoice([], "inv-2"))
        whole = found if isinstance(found, Invoice) else whole
    header, rows = read_back(invoice_csv([whole]))
    assert tuple(header) == COLUMNS
    told = [Fraction(row["cost"] or "") for row in rows]
    assert told == [Fraction(line.cost_micros, 10**6) for line in whole.lines]
    assert sum(told) * 10**6 == whole.total_micros
    for row, line in zip(rows, whole.lines, strict=True):
        assert int(row["used"] or "") == line.used
        per_second = 10**6 if "milli" in (row["resource"] or "") else GIB * 1000
        assert Fraction(row["quantity"] or "") == Fraction(line.used, per_second)
        assert (row["tag"], row["project"]) == (line.key.tag, line.key.project)
        price = line.key.price
        assert Fraction(row["price_per_hour"] or "") == Fraction(
            price.micros_per_hour * price.per_mille, 10**9
        )


@given(mk.rated())
def test_no_cell_of_an_export_is_a_formula(made: Rated) -> None:
    changes, uses = made
    whole = mk.invoice(rate(uses, RateBook(changes)))
    for text in (invoice_csv([whole]), focus_csv([whole], provider="=cmd()")):
        for row in csv.reader(StringIO(text, newline=""), strict=True):
            assert not any(is_formula(cell) for cell in row), row


@given(mk.rated())
def test_focus_rows_add_up_and_their_prices_give_their_costs(made: Rated) -> None:
    changes, uses = made
    whole = mk.invoice(rate(uses, RateBook(changes)))
    header, rows = read_back(focus_csv([whole], provider="The Fleet"))
    assert tuple(header) == FOCUS_COLUMNS
    assert sum(Fraction(row["BilledCost"] or "") for row in rows) * 10**6 == whole.total_micros
    for row, line in zip(rows, whole.lines, strict=True):
        hours = Fraction(row["PricingQuantity"] or "")
        for unit_price, cost in (
            ("ListUnitPrice", "ListCost"),
            ("ContractedUnitPrice", "ContractedCost"),
        ):
            price = Fraction(row[unit_price] or "")
            off = abs(price * hours - Fraction(row[cost] or ""))
            assert off <= Fraction(1, 2 * 10**6) + price / (2 * 10**12)
        seconds = Fraction(row["ConsumedQuantity"] or "")
        assert abs(seconds / 3600 - hours) <= Fraction(1, 2 * 10**12)
        member = line.key.member
        tags = {} if line.key.tag is None else {"tag": line.key.tag}
        tags |= {} if member is None else {name: str(each) for name, each in member.plain().items()}
        assert json.loads(row["Tags"] or "{}") == tags
