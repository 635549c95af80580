"""Invoices with what apps told, recomputed by who has the journal alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from bailiwick.billing.invoice_body import body_of
from bailiwick.billing.invoices import InvoiceHead
from bailiwick.billing.rates import LIST_PRICES
from bailiwick.kernel.apps.units.commands import ReportAppUsage
from bailiwick.kernel.money.commands import SetRateCard
from tests.support.app_campus import OWN, AppCampus
from tests.support.billed_campus import compute, seal
from tests.support.invoice_cli import Cli
from tests.support.kernel_histories import HOUR, START_MS


def billed() -> tuple[AppCampus, InvoiceHead]:
    found = AppCampus()
    found.do(SetRateCard(replace(LIST_PRICES, app_unit_micros={"lab.svc/request": 250})))
    found.hold("worker", gpus=2)
    found.pass_time(2 * HOUR, tick_ms=HOUR)
    window = {"from_ms": found.now_ms - HOUR, "to_ms": found.now_ms}
    for number, (unit, quantity) in enumerate((("request", 4_000), ("job_hour", 9)), 1):
        told: dict[str, Any] = {"sequence": number, "unit": unit, "quantity": quantity, **window}
        found.do(ReportAppUsage(**OWN, instance_id=1, source="op", **told))
    found.pass_time(HOUR, tick_ms=HOUR)
    head = InvoiceHead(
        invoice_id="u-1",
        tenant="lab",
        from_ms=START_MS,
        to_ms=window["to_ms"],
        currency="credit",
        journal_size=len(found.lines),
    )
    seal(found, compute(found, head))
    return found, head


def test_an_auditor_recomputes_what_apps_told_and_finds_what_was_changed(
    tmp_path: Path, invoice: Cli
) -> None:
    found, head = billed()
    path = found.write(tmp_path / "journal.jsonl")
    assert invoice("recompute", path).code == 0
    told = invoice("recompute", path, "--tenant", "lab", "--from", START_MS, "--to", head.to_ms)
    assert "What apps told of their use" in told.out
    assert "not priced" in told.out
    saved = tmp_path / "saved.json"
    body = body_of(compute(found, head))
    saved.write_text(json.dumps(body), "utf-8")
    assert invoice("recompute", path, "--against", saved).code == 0
    exported = invoice("export", path).out
    assert "app_unit" in exported
    assert "not_priced" in exported
    # An hour that was disputed is said to have been held: it costs nothing, and it is found.
    (row,) = [line for line in body["unit_lines"] if line["unit"] == "job_hour"]
    assert row["disputed"] == "7"
    row["disputed"] = "6"
    saved.write_text(json.dumps(body), "utf-8")
    against = invoice("recompute", path, "--against", saved)
    assert against.code == 3
    assert "job_hour" in against.out
    assert "disputed" in against.out
