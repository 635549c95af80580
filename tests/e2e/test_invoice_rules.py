"""Journals whose writer was patched to issue what the kernel refuses: each is found, and told.

Every record is sealed by the real kernel with one of its rules switched off, so that every total
and every digest is right.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bailiwick.billing.audits import PriceHistory, audit, claim_of
from bailiwick.billing.invoice_body import body_of
from bailiwick.billing.rates import LIST_PRICES, RateBook
from bailiwick.kernel.money import rules
from bailiwick.kernel.money.commands import SetRateCard
from bailiwick.kernel.money.times import RecordTimes
from bailiwick.vocab.errors import BailiwickError
from tests.support.billed_campus import END_MS, Billed, billed_campus, compute, late_head, seal
from tests.support.invoice_cli import Cli
from tests.support.kernel_histories import HOUR, MINUTE

Patch = Callable[[pytest.MonkeyPatch], None]


def no_prefix_rule(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RecordTimes, "size_by", lambda *_, **__: 0)


def issue_of_a_part(made: Billed) -> None:
    """Before the last hour was written."""
    head = replace(late_head(made.campus), journal_size=len(made.campus.lines) - 4)
    seal(made.campus, compute(made.campus, head))


def no_rule_of_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rules, "_check_billed_once", lambda *_: None)


def issue_again(made: Billed) -> None:
    head = replace(late_head(made.campus), from_ms=END_MS - HOUR, to_ms=END_MS)
    seal(made.campus, compute(made.campus, head))


def no_rule_of_now(patch: pytest.MonkeyPatch) -> None:
    def as_told(book: RateBook, effective_ms: int, now_ms: int) -> int:
        return effective_ms or now_ms

    patch.setattr(rules, "_from_now", as_told)


def price_the_past(made: Billed) -> None:
    dear = {each: 9 * price for each, price in LIST_PRICES.gpu_micros_per_hour.items()}
    card = replace(LIST_PRICES, gpu_micros_per_hour=dear, name="dear", tenant="physics")
    made.campus.do(SetRateCard(replace(card, effective_ms=END_MS + 20 * MINUTE)))
    seal(made.campus, compute(made.campus, late_head(made.campus)))


CASES = [
    pytest.param(no_prefix_rule, issue_of_a_part, "prefix_too_short", id="a part of the period"),
    pytest.param(no_rule_of_once, issue_again, "billed_twice", id="the same time twice"),
    pytest.param(no_rule_of_now, price_the_past, "priced_in_the_past", id="prices for the past"),
]


def forged(patch: pytest.MonkeyPatch, how: Patch, act: Callable[[Billed], None]) -> Billed:
    made = billed_campus()
    with patch.context() as patched:
        how(patched)
        act(made)
    return made


@pytest.mark.parametrize(("how", "act", "word"), CASES)
def test_the_kernel_itself_refuses_it(how: Patch, act: Callable[[Billed], None], word: str) -> None:
    made = billed_campus()
    size = len(made.campus.lines)
    with pytest.raises(BailiwickError):
        act(made)
    assert len(made.campus.lines) == size


@pytest.mark.parametrize(("how", "act", "word"), CASES)
def test_it_is_found_although_every_number_agrees(
    how: Patch,
    act: Callable[[Billed], None],
    word: str,
    tmp_path: Path,
    invoice: Cli,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = forged(monkeypatch, how, act)
    path = made.campus.write(tmp_path / "forged.jsonl")
    records, prices = made.campus.records, PriceHistory()
    for record in records:
        prices.add(record)
    claims = [claim_of(each) for each in records if each.kind == "invoice_issued"]
    assert all(found.agrees for found in audit(claims, prices=prices, records=records))
    done = invoice("recompute", path)
    assert done.code == 3
    assert word in done.out
    assert "DIFFERS" not in done.out
    assert "1 finding about rules of issuing" in done.err
    found = json.loads(invoice("recompute", path, "-o", "json").out)
    (row,) = found["findings"]
    assert row["finding"] == word
    assert row["seq"] >= 26
    assert all(each["agrees"] for each in found["invoices"])


@pytest.mark.parametrize(("how", "act", "word"), CASES)
def test_such_an_invoice_is_not_exported_and_does_not_agree_with_a_saved_one(
    how: Patch,
    act: Callable[[Billed], None],
    word: str,
    tmp_path: Path,
    invoice: Cli,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = forged(monkeypatch, how, act)
    path = made.campus.write(tmp_path / "forged.jsonl")
    done = invoice("export", path, "--invoice", "late")
    assert (done.code, done.out) == (3, "")
    assert "nothing is exported" in done.err
    sealed: dict[str, Any] = dict(made.campus.records[-1].body)
    head = replace(
        late_head(made.campus),
        from_ms=sealed["period_start_ms"],
        to_ms=sealed["period_end_ms"],
        journal_size=sealed["journal_size"],
    )
    saved = tmp_path / "late.json"
    saved.write_text(json.dumps(body_of(compute(made.campus, head))), "utf-8")
    against = invoice("recompute", path, "--against", saved)
    assert against.code == 3
    assert word in against.out
    # What it has no part in is right as ever.
    assert invoice("export", path, "--invoice", "b-1").code == 0


def test_each_finding_is_a_sentence_with_its_records(
    tmp_path: Path,
    invoice: Cli,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = []
    for how, act in (
        (no_prefix_rule, issue_of_a_part),
        (no_rule_of_once, issue_again),
        (no_rule_of_now, price_the_past),
    ):
        path = forged(monkeypatch, how, act).campus.write(tmp_path / "forged.jsonl")
        told.append(" ".join(invoice("recompute", path).out.split()))
    assert "late is of the first 22 records, and record 22 is of 2026-11-15 06:" in told[0]
    assert "late bills 2026-11-15 05:00:00Z to 2026-11-15 06:00:00Z, which p-1 (record" in told[1]
    assert "card dear of physics was set at 2026-11-15 08:" in told[2]
    assert "to hold from 2026-11-15 06:20:00Z on" in told[2]
