"""Invoices with members of apps, recomputed by who has the journal alone."""

from __future__ import annotations

import json
from pathlib import Path

from bailiwick.billing.invoice_body import body_of
from bailiwick.billing.invoices import InvoiceHead
from tests.support.app_campus import AppCampus
from tests.support.billed_campus import compute, seal
from tests.support.invoice_cli import Cli
from tests.support.kernel_histories import HOUR, START_MS


def billed(found: AppCampus) -> InvoiceHead:
    found.pass_time(3 * HOUR, tick_ms=HOUR)
    head = InvoiceHead(
        invoice_id="m-1",
        tenant="lab",
        from_ms=START_MS,
        to_ms=START_MS + 2 * HOUR,
        currency="credit",
        journal_size=len(found.lines),
    )
    seal(found, compute(found, head))
    return head


def test_an_auditor_gets_the_same_lines_and_sees_whose_members(
    tmp_path: Path, invoice: Cli
) -> None:
    found = AppCampus()
    found.hold("controller")
    found.hold("worker", gpus=2)
    found.hold(None)
    head = billed(found)
    path = found.write(tmp_path / "journal.jsonl")
    done = invoice("recompute", path)
    assert (done.code, "all" in done.err or "agrees" in done.err) == (0, True)
    saved = tmp_path / "saved.json"
    body = body_of(compute(found, head))
    saved.write_text(json.dumps(body), "utf-8")
    assert invoice("recompute", path, "--against", saved).code == 0
    assert (
        "lab.svc #1 control_plane"
        in invoice("recompute", path, "--tenant", "lab", "--from", START_MS, "--to", head.to_ms).out
    )
    # Somebody shifts a controller's time to the workload: the same money, and not the same invoice.
    text = saved.read_text("utf-8").replace('"instance_id": 1', '"instance_id": 2')
    saved.write_text(text, "utf-8")
    against = invoice("recompute", path, "--against", saved)
    assert against.code == 3
    assert "lab.svc #2" in against.out
    assert "control_plane" in invoice("export", path).out


def test_a_lease_that_names_an_instance_of_nobody_is_found(tmp_path: Path, invoice: Cli) -> None:
    found = AppCampus()
    labels = found.use("worker")._replace(instance_id=9).labels()
    found.submit("lab", project="vision", job_labels=labels, gpu_count=1, ttl_ms=9 * HOUR)
    billed(found)
    path = found.write(tmp_path / "journal.jsonl")
    done = invoice("recompute", path)
    assert done.code == 3
    assert "misattributed" in done.out
    assert "1 finding about rules of issuing" in done.err
    assert invoice("export", path).code == 3
