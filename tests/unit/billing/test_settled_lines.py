"""What projects owe one another, on invoices: two sides of one amount, apart from all else."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.billing.accounts import BetweenProjects, Books, Receivable
from bailiwick.billing.audits import InvoiceClaim, PriceHistory, audit
from bailiwick.billing.export import COLUMNS, invoice_csv
from bailiwick.billing.focus import focus_csv
from bailiwick.billing.invoice_body import body_of, canonical_bytes, digest_of, invoice_of
from bailiwick.billing.invoices import (
    Agreed,
    Invoice,
    InvoiceHead,
    InvoiceScope,
    LineDiffers,
    OnlyInFirst,
    compare,
    correct,
    entry_of,
)
from bailiwick.billing.settled.lines import SettledLine, Side, settle
from bailiwick.kernel.apps.shared.use_commands import ReportSharedUse, SetSharedSettlement
from bailiwick.kernel.apps.shared.use_rules import digest_of_rule, rule_with
from bailiwick.metering.fold import JournalMeter
from bailiwick.metering.snapshot import read_meter, write_meter
from bailiwick.metering.told.between import SharedUseKey, SharedUseReport
from bailiwick.vocab.errors import InvalidValue
from tests.support.billed_campus import compute
from tests.support.kernel_histories import HOUR, START_MS
from tests.support.shared_campus import OF, SharedCampus

RATE = 20


def told(found: SharedCampus, *rows: tuple[str, str, str, int], **window: int) -> None:
    names = ("users", "sources", "units", "quantities")
    lists: dict[str, Any] = {
        name: tuple(row[at] for row in sorted(rows)) for at, name in enumerate(names)
    }
    times = {"from_ms": found.now_ms - HOUR, "to_ms": found.now_ms} | window
    found.do(ReportSharedUse(**OF, **lists, **times, by="runtime:1"))


def agreed(found: SharedCampus, **rates: int) -> None:
    rule = rule_with(found.shared.runtime, rates)
    told_ = {"accepted_digest": digest_of_rule(rule), "by": "tina", "rates": rates}
    found.do(SetSharedSettlement(**OF, **told_))


def campus() -> SharedCampus:
    """A worker of vision with two cores and one of audio with one, for two hours.

    In the second hour use is worth something, and of that hour audio tells too much of vision.
    """
    found = SharedCampus()
    found.lend("vision", cpus=2)
    found.lend("audio", cpus=1)
    found.pass_time(HOUR, tick_ms=HOUR)
    told(found, ("audio", "vision", "cpu_second", 100))
    agreed(found, cpu_second=RATE)
    found.pass_time(HOUR, tick_ms=HOUR)
    begin = found.now_ms - HOUR + 2_000
    rows = [
        ("audio", "vision", "cpu_second", 1_000),
        ("text", "vision", "cpu_second", 500),
        ("text", "audio", "cpu_second", 300),
        ("vision", "vision", "cpu_second", 700),
    ]
    told(found, *rows, from_ms=begin)
    found.pass_time(HOUR, tick_ms=HOUR)
    return found


def head_of(found: SharedCampus, name: str = "s-1", **given_: Any) -> InvoiceHead:
    head = InvoiceHead(
        invoice_id=name,
        tenant="lab",
        from_ms=START_MS,
        to_ms=START_MS + 3 * HOUR,
        currency="credit",
        journal_size=len(found.lines),
    )
    return replace(head, **given_)


def of_project(found: SharedCampus, project: str) -> Invoice:
    scope = {"scope": InvoiceScope.PROJECT, "project": project}
    return compute(found, head_of(found, f"s-{project}", **scope))


def balances(lines: tuple[SettledLine, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in lines:
        found[line.key.project] = found.get(line.key.project, 0) + line.cost_micros
    return found


# -- lines ---------------------------------------------------------------------------------------


def test_who_used_is_debited_and_whose_workers_they_are_is_credited() -> None:
    found = campus()
    invoice = compute(found, head_of(found))
    assert balances(invoice.settled_lines) == {
        "audio": (1_000 - 300) * RATE,
        "text": (500 + 300) * RATE,
        "vision": -1_500 * RATE,
    }
    # What was used before anybody accepted a price, and what is one's own, is no line.
    assert {line.key.other for line in invoice.settled_lines if line.key.project == "vision"} == {
        "audio",
        "text",
    }
    assert sum(line.reports for line in invoice.settled_lines) == 6


def test_a_tenant_pays_nothing_more_for_it_and_its_projects_pay_what_is_settled() -> None:
    found = campus()
    whole = compute(found, head_of(found))
    leases = sum(line.cost_micros for line in whole.lines)
    assert leases > 0
    assert whole.total_micros == leases
    owed = balances(whole.settled_lines)
    total = 0
    for project in ("vision", "audio", "text"):
        invoice = of_project(found, project)
        held = sum(line.cost_micros for line in invoice.lines)
        assert invoice.total_micros == held + owed[project]
        total += invoice.total_micros
    assert total == whole.total_micros
    assert of_project(found, "text").total_micros == 800 * RATE, "it holds no lease at all"
    assert dict(whole.by_project())["vision"] == of_project(found, "vision").total_micros


def test_in_the_ledger_all_of_it_sums_to_nothing() -> None:
    found, books = campus(), Books("credit")
    for project in ("vision", "audio", "text"):
        books.post(entry_of(of_project(found, project), at_ms=0))
    assert books.balance(BetweenProjects("lab")) == 0
    assert sum(books.balances().values()) == 0
    whole = Books("credit")
    whole.post(entry_of(compute(found, head_of(found)), at_ms=0))
    assert whole.balance(Receivable("lab")) == books.balance(Receivable("lab"))
    assert BetweenProjects("lab") not in whole.balances()


def test_what_is_beyond_what_was_held_is_not_settled() -> None:
    found = SharedCampus()
    agreed(found, cpu_second=RATE)
    found.lend("vision", cpus=1)
    found.pass_time(HOUR, tick_ms=HOUR)
    told(found, ("audio", "vision", "cpu_second", 5_000), from_ms=found.now_ms - HOUR // 2)
    used, lent = compute(found, head_of(found)).settled_lines
    assert (used.quantity, used.disputed, used.cost_micros) == (5_000, 3_200, 1_800 * RATE)
    assert (lent.key.side, lent.cost_micros) == (Side.LENT, -1_800 * RATE)


def test_a_project_that_left_keeps_what_it_owes_and_a_retelling_owes_no_more() -> None:
    found = campus()
    before = compute(found, head_of(found)).settled_lines
    found.leave("text")
    assert found.shared.attachments.keys() == {"vision", "audio"}
    again = found.records[-1].seq
    # The same window again is the same; the kernel writes nothing.
    (last,) = [r for r in found.records if r.kind == "shared_use_told" and len(r.body["users"]) > 1]
    window = {"from_ms": last.body["from_ms"], "to_ms": last.body["to_ms"]}
    rows = zip(*(last.body[n] for n in ("users", "sources", "units", "quantities")), strict=True)
    told(found, *rows, **window)
    assert found.records[-1].seq == again
    assert compute(found, head_of(found)).settled_lines == before


keys = st.builds(
    lambda user, source, unit, number: SharedUseKey(
        "lab", number, f"r{number}", "hub", user, source, unit
    ),
    st.sampled_from(["audio", "text", "vision"]),
    st.sampled_from(["audio", "text", "vision"]),
    st.sampled_from(["cpu_second", "gpu_second"]),
    st.integers(1, 2),
)
reports = st.builds(
    lambda start, quantity, beyond, rate, seq: SharedUseReport(
        start, start + 10, quantity, min(quantity, beyond), rate, 1 if rate else 0, seq
    ),
    *(st.integers(0, 90), st.integers(1, 10**12), st.integers(0, 10**12)),
    *(st.sampled_from([0, 1, 20, 10**9]), st.integers(2, 99)),
)


@given(st.lists(st.tuples(keys, reports), max_size=12))
def test_whatever_was_told_the_entries_of_a_tenant_sum_to_nothing(
    used: list[tuple[SharedUseKey, SharedUseReport]],
) -> None:
    lines = settle(used)
    assert sum(line.cost_micros for line in lines) == 0
    for line in lines:
        assert line.key.project != line.key.other
        (mirror,) = [
            each
            for each in lines
            if (each.key.project, each.key.other) == (line.key.other, line.key.project)
            and each.key[2:5] + each.key[7:] == line.key[2:5] + line.key[7:]
            and each.key.side is not line.key.side
        ]
        assert mirror.cost_micros == -line.cost_micros
        assert mirror.quantity == line.quantity


# -- as bytes ------------------------------------------------------------------------------------


def test_an_invoice_with_them_reads_back_and_one_without_is_as_it_was() -> None:
    found = campus()
    invoice = compute(found, head_of(found))
    body = json.loads(canonical_bytes(invoice))
    assert body["version"] == 4
    assert invoice_of(body) == invoice
    early = compute(found, head_of(found, to_ms=START_MS + HOUR))
    assert (early.settled_lines, body_of(early)["version"]) == ((), 2)
    assert "settled_lines" not in body_of(early)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("quantity", "1001"),
        ("disputed", "1"),
        ("cost_micros", 1),
        ("price_micros", 21),
        ("side", "used"),
        ("with_project", "vision"),
        ("unit", "gpu_second"),
        ("to_ms", START_MS),
    ],
)
def test_one_side_alone_cannot_be_changed(word: str, value: object) -> None:
    found = campus()
    body = json.loads(canonical_bytes(compute(found, head_of(found))))
    row = body["settled_lines"][0]
    assert row[word] != value
    row[word] = value
    with pytest.raises(InvalidValue):
        invoice_of(body)


def test_a_side_without_the_other_is_no_invoice_of_a_tenant() -> None:
    invoice = compute(found := campus(), head_of(found))
    with pytest.raises(InvalidValue, match="two sides"):
        replace(invoice, settled_lines=invoice.settled_lines[1:])


def test_what_is_told_after_an_invoice_is_a_correction_of_it() -> None:
    found = campus()
    issued = compute(found, head_of(found))
    late = START_MS + 2 * HOUR + 60_000
    told(found, ("text", "vision", "cpu_second", 7), from_ms=late, to_ms=late + 60_000)
    change = correct(issued, compute(found, head_of(found, "s-1-c1")))
    assert isinstance(change, Invoice)
    assert balances(change.settled_lines) == {"text": 7 * RATE, "vision": -7 * RATE}
    assert invoice_of(json.loads(canonical_bytes(change))) == change
    fresh = compute(found, head_of(found, "s-1-c2"))
    assert isinstance(correct(issued, fresh, earlier=[change]), Agreed)


def test_an_auditor_with_the_records_alone_finds_a_changed_pair() -> None:
    found = campus()
    invoice = compute(found, head_of(found))
    prices = PriceHistory()
    for record in found.records:
        prices.add(record)

    def agrees(other: Invoice) -> bool:
        claim = InvoiceClaim(other.head, other.total_micros, digest_of(other))
        (judged,) = audit([claim], prices=prices, records=found.records)
        return judged.agrees

    assert agrees(invoice)

    def twisted(line: SettledLine) -> SettledLine:
        if {line.key.project, line.key.other} != {"audio", "vision"}:
            return line
        cost = line.key.amount(line.quantity + 1, disputed=line.disputed)
        return replace(line, quantity=line.quantity + 1, cost_micros=cost)

    forged = replace(invoice, settled_lines=tuple(map(twisted, invoice.settled_lines)))
    assert not agrees(forged)
    assert {type(each) for each in compare(forged, invoice)} == {LineDiffers}
    assert {type(each) for each in compare(invoice, replace(invoice, settled_lines=()))} == {
        OnlyInFirst
    }


def test_a_meter_that_is_read_back_settles_the_same() -> None:
    found, meter = campus(), JournalMeter()
    for record in found.records:
        meter.add(record)
    again = read_meter(json.loads(json.dumps(write_meter(meter))))
    assert again.used.series == meter.used.series
    size = len(found.lines)
    window = {"from_ms": found.now_ms - 1_000, "to_ms": found.now_ms}
    told(found, ("audio", "vision", "cpu_second", 9), **window)
    for record in found.records[size:]:
        assert meter.add(record) == again.add(record)
    assert again.used.counted_in(0, 2**53) == meter.used.counted_in(0, 2**53)


def test_exports_have_a_row_for_each_side() -> None:
    found = campus()
    invoice = compute(found, head_of(found))
    rows = list(csv.DictReader(StringIO(invoice_csv([invoice]), newline="")))
    own = [row for row in rows if row["resource"] == "between_projects"]
    assert len(own) == len(invoice.settled_lines) == 6
    assert all(set(row) == set(COLUMNS) for row in rows)
    assert {(row["project"], row["part"], row["tag"], row["cost"]) for row in own} >= {
        ("audio", "used", "vision", "0.020000"),
        ("vision", "lent", "audio", "-0.020000"),
    }
    focus = list(csv.DictReader(StringIO(focus_csv([invoice], provider="campus"), newline="")))
    moved = [row for row in focus if row["ChargeCategory"] == "Adjustment"]
    assert len(moved) == 6
    assert json.loads(moved[0]["Tags"])["with_project"] == moved[0]["ChargeDescription"].split()[-1]
