"""Invoices: what they hold, how they are corrected and compared, and what they are as bytes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bailiwick.billing.accounts import EntryKind, Receivable, Revenue
from bailiwick.billing.invoice_body import body_of, canonical_bytes, digest_of, invoice_of
from bailiwick.billing.invoices import (
    Agreed,
    HeadDiffers,
    Invoice,
    InvoiceScope,
    LineDiffers,
    OnlyInFirst,
    OnlyInSecond,
    compare,
    correct,
    entry_of,
)
from bailiwick.billing.lines import RatedLine
from bailiwick.billing.rates import HOUR_MS, RateBook
from bailiwick.billing.rating import rate
from bailiwick.metering.owners import Account
from bailiwick.metering.values import Use
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import GIB
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, ResourceKind
from tests.unit.billing.bill_makers import head

PINNED = "599e77c41b363a8a5e2106cc1053b0b60bc88f43d86c662f80c30df601621c98"
HOPPER = HardwareGeneration.NVIDIA_HOPPER
GPU, CORES, MEM = ResourceKind.GPU_MILLI, ResourceKind.CPU_MILLI, ResourceKind.MEM_BYTES


def line(kind: ResourceKind = GPU, *, hours: int = 1, **given: Any) -> RatedLine:
    """What a whole GPU, a core or a GiB held for some hours comes to."""
    fields: dict[str, Any] = {
        "project": "p1",
        "tag": None,
        "lease_class": LeaseClass.STANDARD,
        "generation": HOPPER,
    }
    account = Account(tenant=given.pop("tenant", "acme"), **(fields | given))
    amount = GIB if kind is MEM else 1000
    span = hours * HOUR_MS
    (found,) = rate([Use(account, kind, 0, span, amount * span, 1, 3, 9)], RateBook())
    return found


def invoice(*lines: RatedLine, invoice_id: str = "inv-1", **given: Any) -> Invoice:
    return Invoice(head(invoice_id, **({"to_ms": 100 * HOUR_MS} | given)), lines)


def test_an_invoice_adds_up_its_lines_by_project_and_by_generation() -> None:
    found = invoice(
        line(project="p2"),
        line(CORES),
        line(project=None, generation=None, kind=CORES),
        line(hours=2),
    )
    assert found.total_micros == 2_400_000 + 20_000 + 20_000 + 4_800_000
    assert found.by_project() == ((None, 20_000), ("p1", 4_820_000), ("p2", 2_400_000))
    assert found.by_generation() == ((None, 20_000), (HOPPER, 7_220_000))


def test_lines_have_one_order_however_they_came() -> None:
    lines = [line(), line(CORES), line(project=None), line(tag="b"), line(tag="a")]
    assert invoice(*lines) == invoice(*lines[::-1])
    assert [each.key.tag for each in invoice(*lines[3:]).lines] == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({}, line(tenant="globex")),
        ({"scope": InvoiceScope.PROJECT, "project": "p2"}, line()),
        ({"scope": InvoiceScope.PROJECT}, line()),
        ({"from_ms": 1}, line()),
        ({"to_ms": HOUR_MS}, line(hours=2)),
        ({"currency": "euro"}, line()),
        ({}, replace(line(), used=-1)),
        ({}, replace(line(), segments=-1)),
        ({}, replace(line(), cost_micros=line().cost_micros + 1)),
        ({}, replace(line(), cost_micros=2**53)),
    ],
)
def test_a_line_that_does_not_belong_or_cannot_be_is_refused(
    given: dict[str, Any], wrong: RatedLine
) -> None:
    with pytest.raises(InvalidValue):
        invoice(wrong, **given)


def test_no_key_has_two_lines() -> None:
    with pytest.raises(InvalidValue, match="one line for each key"):
        invoice(line(), line(hours=2))


def test_a_head_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(InvalidValue, match="project"):
        head(project="p1")
    with pytest.raises(InvalidValue, match="to_ms"):
        head(from_ms=5, to_ms=5)
    with pytest.raises(InvalidValue, match="another invoice"):
        head(corrects="inv-1")


def test_issuing_moves_what_was_earned_to_what_is_owed() -> None:
    entry = entry_of(invoice(line(), line(CORES), line(project=None)), at_ms=7)
    assert {each.account: each.micros for each in entry.postings} == {
        Receivable("acme"): 4_820_000,
        Revenue(GPU, HOPPER): -4_800_000,
        Revenue(CORES, HOPPER): -20_000,
    }
    assert (entry.entry_id, entry.kind, entry.at_ms) == ("inv-1", EntryKind.CHARGE, 7)


# -- corrections -----------------------------------------------------------------------------


def test_a_correction_has_the_differences_and_names_what_it_corrects() -> None:
    issued = invoice(line(hours=3), line(CORES), line(tag="gone"))
    fresh = invoice(line(hours=2), line(CORES), line(MEM), invoice_id="inv-2", journal_size=2_000)
    found = correct(issued, fresh)
    assert isinstance(found, Invoice)
    assert (found.head.corrects, found.head.invoice_id) == ("inv-1", "inv-2")
    assert found.head.journal_size == 2_000
    told = {
        (each.key.kind, each.key.tag): (each.quantity, each.cost_micros) for each in found.lines
    }
    assert told == {
        (GPU, None): ("-3600", -2_400_000),
        (GPU, "gone"): ("-3600", -2_400_000),
        (MEM, None): ("3600", 2_000),
    }
    entry = entry_of(found, at_ms=9)
    assert (entry.kind, entry.corrects) == (EntryKind.CORRECTION, "inv-1")


def test_what_is_right_is_not_corrected() -> None:
    issued = invoice(line())
    later = replace(line(), last_seq=99, segments=4)
    assert correct(issued, invoice(later, invoice_id="inv-2")) == Agreed("inv-1")


def test_a_second_correction_counts_on_the_first() -> None:
    issued = invoice(line(hours=3))
    first = correct(issued, invoice(line(hours=2), invoice_id="fix-1"))
    assert isinstance(first, Invoice)
    fresh = invoice(line(hours=1), invoice_id="fix-2")
    second = correct(issued, fresh, earlier=[first])
    assert isinstance(second, Invoice)
    assert second.head.corrects == "inv-1"
    assert [each.cost_micros for each in second.lines] == [-2_400_000]


def test_only_an_invoice_of_the_same_matter_corrects_another() -> None:
    issued = invoice(line())
    fix = correct(issued, invoice(invoice_id="fix-1"))
    assert isinstance(fix, Invoice)
    wrong = [
        (issued, invoice(line())),  # the same id
        (issued, invoice(line(), invoice_id="x", to_ms=90 * HOUR_MS)),
        (issued, invoice(invoice_id="x", tenant="globex")),
        (issued, invoice(line(), invoice_id="x", scope=InvoiceScope.PROJECT, project="p1")),
        (issued, invoice(line(), invoice_id="x", journal_size=999)),  # older knowledge
        (issued, fix),
        (fix, invoice(line(), invoice_id="x")),
    ]
    for first, second in wrong:
        with pytest.raises(InvalidValue):
            correct(first, second)
    with pytest.raises(InvalidValue, match="corrects inv-1"):
        correct(issued, invoice(invoice_id="x"), earlier=[invoice(invoice_id="y")])


# -- comparing -------------------------------------------------------------------------------


def test_comparing_tells_each_difference() -> None:
    first = invoice(line(), line(CORES), line(tag="a"))
    changed = replace(line(), first_seq=4)
    second = invoice(changed, line(CORES), line(tag="b"), journal_size=1_001)
    assert compare(first, second) == (
        HeadDiffers("journal_size", 1_000, 1_001),
        LineDiffers(line().key, "first_seq", 3, 4),
        OnlyInFirst(line(tag="a")),
        OnlyInSecond(line(tag="b")),
    )
    assert compare(first, first) == ()


# -- bytes -----------------------------------------------------------------------------------


def test_the_bytes_of_an_invoice_are_stable() -> None:
    # Pinned: whoever holds an issued digest must find it again, with any later version.
    found = invoice(line(), line(MEM, tag="ü"))
    assert canonical_bytes(found).startswith(b'{"by_generation":[{"cost_micros":2402000,')
    assert digest_of(found) == PINNED


def test_usage_beyond_what_json_readers_keep_is_written_as_digits() -> None:
    body = body_of(invoice(line(MEM, hours=90)))
    assert body["lines"][0]["used"] == str(90 * HOUR_MS * GIB)
    assert body["lines"][0]["quantity"] == "324000"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("total_micros",), 1),
        (("by_project",), []),
        (("version",), 2),
        (("version",), True),
        (("scope",), "fleet"),
        (("invoice_id",), "a b"),
        (("tenant",), ""),
        (("lines",), {}),
        (("lines", 0), None),
        (("lines", 0, "used"), "1e9"),
        (("lines", 0, "used"), "9" * 61),
        (("lines", 0, "used"), 3_600_000_000),
        (("lines", 0, "used"), "٣"),
        (("lines", 0, "used"), "²"),
        (("lines", 0, "used"), "-0"),
        (("lines", 0, "quantity"), "3601"),
        (("lines", 0, "cost_micros"), 2_400_001),
        (("lines", 0, "cost_micros"), 2_400_000.0),
        (("lines", 0, "price_micros_per_hour"), 2_400_001),
        (("lines", 0, "kind"), "gpu"),
        (("lines", 0, "tag"), "x" * 257),
        (("lines", 0, "first_seq"), -1),
        (("lines", 0, "extra"), 1),
        (("extra",), 1),
    ],
)
def test_a_body_that_is_not_an_invoices_to_the_last_value_is_refused(
    path: tuple[str | int, ...], value: object
) -> None:
    body: Any = json.loads(canonical_bytes(invoice(line())))
    assert invoice_of(body) == invoice(line())
    place = body
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(InvalidValue):
        invoice_of(body)


def test_a_body_that_lacks_a_value_is_refused() -> None:
    whole = json.loads(canonical_bytes(invoice(line())))
    for name in whole:
        with pytest.raises(InvalidValue):
            invoice_of({key: value for key, value in whole.items() if key != name})
    with pytest.raises(InvalidValue):
        invoice_of([])
