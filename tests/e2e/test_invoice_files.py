"""Invoices from journals alone, as an auditor meets them: what is printed, and how it ends.

Every journal here is a kernel's own; every invoice in one was computed and sealed as a server does.
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from bailiwick.billing.export import COLUMNS, invoice_csv
from bailiwick.billing.focus import FOCUS_COLUMNS, focus_csv
from bailiwick.billing.invoice_body import body_of, digest_of
from bailiwick.billing.invoices import Invoice
from bailiwick.journal import RecordKind, SeedSigner
from bailiwick.store import JournalWriter, open_store
from tests.support.billed_campus import Billed, billed_campus, compute, head_of, late_head, seal
from tests.support.invoice_cli import Cli, Ended
from tests.support.waiting import WAIT_S

SIGNER = SeedSigner("log.example/fleet", bytes(range(32)))
PERIOD = ("--from", "2026-11-15", "--to", "2026-11-15T06:00:00Z")


@pytest.fixture(scope="module")
def billed() -> Billed:
    return billed_campus()


@pytest.fixture(scope="module")
def journal(billed: Billed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return billed.campus.write(tmp_path_factory.mktemp("exported") / "journal.jsonl")


def save(body: dict[str, Any], path: Path) -> Path:
    path.write_text(json.dumps(body), "utf-8")
    return path


def refused(ended: Ended, code: int, *words: str) -> None:
    assert ended.code == code, ended
    assert ended.out == ""
    assert ended.err.startswith("bailiwick: ")
    assert all(word in ended.err for word in words), ended.err


# --- recompute ------------------------------------------------------------------------------


def test_on_another_machine_every_invoice_and_correction_is_confirmed(
    billed: Billed, journal: Path, tmp_path: Path
) -> None:
    """Another machine has the file, a Bailiwick, and nothing else: no home, no server."""
    copy = shutil.copy(journal, tmp_path / "copy.jsonl")
    done = subprocess.run(
        [sys.executable, "-m", "bailiwick.cli.main", "invoice", "recompute", copy],
        capture_output=True,
        check=False,
        timeout=WAIT_S,
        encoding="utf-8",
        cwd=tmp_path,
        env={"COLUMNS": "200", "HOME": str(tmp_path / "nowhere")},
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[2:]]
    assert [row[0] for row in rows] == [*billed.issued]
    assert [row[-1] for row in rows] == ["equal"] * 6
    assert all(row[-2] == row[-3] for row in rows)
    assert "all 6 invoices agree with 26 records, to the last unit" in done.stderr


def test_the_rows_are_there_as_json(billed: Billed, journal: Path, invoice: Cli) -> None:
    told = json.loads(invoice("recompute", journal, "-o", "json").out)
    found = told["invoices"]
    assert told["findings"] == []
    for row, (name, issued) in zip(found, billed.issued.items(), strict=True):
        assert row["invoice"] == name
        assert row["issued_micros"] == row["recomputed_micros"] == issued.total_micros
        assert row["corrects"] == issued.head.corrects
        assert row["is_digest_equal"] is row["agrees"] is True


def test_a_directory_and_a_database_give_the_same_as_a_file(
    billed: Billed, journal: Path, tmp_path: Path, invoice: Cli
) -> None:
    with JournalWriter(tmp_path / "log", SIGNER) as writer:
        for record in billed.campus.records:
            body = json.loads(record.canonical)["body"]
            writer.append(record.kind, record.context, at_ms=record.at_ms, body=body)
        writer.commit()
    store_lines(tmp_path / "data", billed.campus.lines)
    told = invoice("recompute", journal, "-o", "json")
    for place in ("log", "data"):
        done = invoice("recompute", tmp_path / place, "-o", "json")
        assert (done.code, done.out) == (0, told.out), done.err


def store_lines(folder: Path, lines: list[bytes]) -> Path:
    with open_store(folder) as store:
        leader = store.lead("test", "")
        assert leader is not None
        store.append(leader.epoch, 0, lines)
    return folder


def test_a_journal_of_which_one_record_was_altered_is_refused(
    billed: Billed, tmp_path: Path, invoice: Cli
) -> None:
    lines = list(billed.campus.lines)
    lines[6] = lines[6].replace(b'"gpu_milli":300', b'"gpu_milli":200')
    assert lines[6] != billed.campus.lines[6]
    path = tmp_path / "altered.jsonl"
    path.write_bytes(b"".join(lines))
    refused(invoice("recompute", path), 3, "changed", "record 6")
    refused(invoice("export", path), 3, "record 6")
    refused(invoice("recompute", store_lines(tmp_path / "data", lines)), 3, "record 6")


@pytest.mark.parametrize("by", [1, -1])
def test_a_total_that_was_sealed_wrong_is_found_and_not_exported(
    by: int, tmp_path: Path, invoice: Cli
) -> None:
    made = billed_campus()
    right = compute(made.campus, late_head(made.campus))
    seal(made.campus, right, total_micros=right.total_micros + by)
    path = made.campus.write(tmp_path / "wrong.jsonl")
    done = invoice("recompute", path)
    assert done.code == 3
    assert f"late says 0.000001 credit too {'much' if by > 0 else 'little'}" in done.out
    assert "1 of 7 invoices does not agree with the journal" in done.err
    refused(invoice("export", path), 3, "late says 0.000001 credit", "nothing is exported")
    assert invoice("export", path, "--invoice", "p-1").code == 0


def test_a_digest_that_was_sealed_wrong_is_found(tmp_path: Path, invoice: Cli) -> None:
    made = billed_campus()
    right = compute(made.campus, late_head(made.campus))
    seal(made.campus, right, digest="0" * 64)
    done = invoice("recompute", made.campus.write(tmp_path / "wrong.jsonl"))
    assert done.code == 3
    assert "late says the same total by other lines" in done.out
    assert done.out.count("DIFFERS") == 1


def test_what_cannot_be_built_is_told_beside_what_can(
    billed: Billed, tmp_path: Path, invoice: Cli
) -> None:
    """A kernel would refuse these; whoever can seal records could write them all the same."""
    absurd = {"period_end_ms": 2**53 - 1, "journal_size": 2**53 - 1}
    with JournalWriter(tmp_path / "log", SIGNER) as writer:
        for record in billed.campus.records:
            body = json.loads(record.canonical)["body"]
            writer.append(record.kind, record.context, at_ms=record.at_ms, body=body)
        body = {**billed.campus.records[18].body, "invoice": "far", **absurd}
        last = billed.campus.records[-1]
        writer.append(RecordKind.INVOICE_ISSUED, last.context, at_ms=last.at_ms, body=body)
        writer.commit()
    done = invoice("recompute", tmp_path / "log")
    assert done.code == 3
    assert done.out.count("equal") == 6
    told = "far cannot be built again: it is of 9007199254740991 records, and there are 27"
    assert told in done.out


def test_a_journal_without_invoices_says_so(tmp_path: Path, invoice: Cli) -> None:
    made = billed_campus()
    path = tmp_path / "few.jsonl"
    path.write_bytes(b"".join(made.campus.lines[:17]))
    assert invoice("recompute", path) == (0, "", f"{path} tells of no invoice\n")


def test_the_accounts_of_all_invoices_sum_to_zero(
    billed: Billed, journal: Path, invoice: Cli
) -> None:
    done = invoice("recompute", journal, "--books", "-o", "json")
    balances = json.loads(done.out)["balances_micros"]
    assert sum(balances.values()) == 0
    owed = sum(
        each.total_micros for each in billed.issued.values() if each.head.tenant == "biology"
    )
    assert balances["receivable:biology"] == owed
    shown = invoice("recompute", journal, "--books")
    assert "receivable:physics" in shown.out
    assert shown.out.rstrip().endswith("0.000000")
    refused(invoice("recompute", journal, "--books", "--tenant", "x"), 2, "all three")


# --- against a saved one --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["p-1", "p-1-quarks", "b-1-c2"])
def test_a_saved_invoice_that_is_right_agrees(
    name: str, billed: Billed, journal: Path, tmp_path: Path, invoice: Cli
) -> None:
    kept = billed.issued[name]
    plain = save(body_of(kept), tmp_path / "plain.json")
    told = {"status": "issued", "digest": digest_of(kept), "corrected_by": []}
    wrapped = save(told | {"body": body_of(kept)}, tmp_path / "told.json")
    for path in (plain, wrapped):
        done = invoice("recompute", journal, "--against", path)
        assert done.code == 0, done
        assert "the invoice agrees with 26 records, to the last unit" in done.err


def test_where_a_saved_invoice_differs_is_told_line_by_line(
    billed: Billed, journal: Path, tmp_path: Path, invoice: Cli
) -> None:
    made, kept = billed_campus(), billed.issued["p-1"]
    other = compute(made.campus, head_of(made.campus, "p-1", "physics"))
    lines = [line for line in other.lines if line.key.tag is None or line.key.kind != "mem_bytes"]
    path = save(body_of(Invoice(other.head, tuple(lines))), tmp_path / "other.json")
    done = invoice("recompute", journal, "--against", path)
    assert done.code == 3
    missing = [line for line in kept.lines if line.key.tag and line.key.kind == "mem_bytes"]
    assert len(missing) == 3
    assert done.out.count("quarks/nvidia_hopper/run-1/standard/mem_bytes/held/by") == 3
    assert "journal_size" in done.out
    found = json.loads(invoice("recompute", journal, "--against", path, "-o", "json").out)
    assert found["differences"][0] == {
        "where": "head",
        "field": "journal_size",
        "saved": 26,
        "recomputed": 18,
    }
    lacking = [row for row in found["differences"] if row["saved"] is None]
    assert len(lacking) == 3


def test_a_saved_draft_is_compared_although_nobody_issued_it(
    billed: Billed, journal: Path, tmp_path: Path, invoice: Cli
) -> None:
    draft = compute(billed.campus, head_of(billed.campus, "not-yet", "biology"))
    done = invoice("recompute", journal, "--against", save(body_of(draft), tmp_path / "draft.json"))
    assert done.code == 0, done
    assert "not-yet was not issued by then" in done.err


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("", "an invoice as JSON"),
        ("[" * 100_000, "an invoice as JSON"),
        ("[]", "an object"),
        ('{"version": 5}', "version"),
    ],
)
def test_a_file_that_is_no_invoice_is_refused(
    content: str, word: str, journal: Path, tmp_path: Path, invoice: Cli
) -> None:
    path = tmp_path / "saved.json"
    path.write_text(content, "utf-8")
    refused(invoice("recompute", journal, "--against", path), 2, word)
    refused(invoice("export", "--body", path), 2, word)


def test_a_saved_invoice_with_anothers_digest_is_refused(
    billed: Billed, journal: Path, tmp_path: Path, invoice: Cli
) -> None:
    told = {"digest": digest_of(billed.issued["b-1"]), "body": body_of(billed.issued["p-1"])}
    path = save(told, tmp_path / "mixed.json")
    refused(invoice("recompute", journal, "--against", path), 2, "digest", "by its body")


# --- drafts ---------------------------------------------------------------------------------


def test_an_invoice_that_nobody_issued_can_be_computed(
    billed: Billed, journal: Path, tmp_path: Path, invoice: Cli
) -> None:
    done = invoice("recompute", journal, "--tenant", "biology", *PERIOD, "-o", "json")
    assert done.code == 0, done.err
    right = compute(billed.campus, head_of(billed.campus, "draft", "biology"))
    assert json.loads(done.out) == body_of(right)
    kept = save(json.loads(done.out), tmp_path / "draft.json")
    assert invoice("recompute", journal, "--against", kept).code == 0
    table = invoice("recompute", journal, "--tenant", "biology", *PERIOD).out
    assert "Invoice draft of biology, 2026-11-15 to 2026-11-15 06:00:00Z" in table
    assert "grace (spot_evicted)" in table
    assert "total 46.578667 credit, from the first 26 records" in table


def test_a_project_has_an_invoice_of_its_own(journal: Path, invoice: Cli) -> None:
    scope = ("--tenant", "physics", "--project", "quarks")
    found = json.loads(invoice("recompute", journal, *scope, *PERIOD, "-o", "json").out)
    assert (found["scope"], found["project"]) == ("project", "quarks")
    assert {line["project"] for line in found["lines"]} == {"quarks"}


def test_a_period_that_is_not_over_is_told(journal: Path, invoice: Cli) -> None:
    done = invoice("recompute", journal, "--tenant", "physics", "--from", "-1h", "--to", "end")
    assert (done.code, done.err) == (0, "")
    beyond = ("--from", "2026-11-15", "--to", "2026-12-01")
    done = invoice("recompute", journal, "--tenant", "physics", *beyond)
    assert done.code == 0
    assert "the journal ends before the period does" in done.err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--tenant", "physics"), "all three of them"),
        (("--from", "2026-11-15", "--to", "end"), "all three of them"),
        (("--project", "quarks"), "all three of them"),
        (("--tenant", "physics", "--from", "seq:3", "--to", "end"), "a record's number is not"),
        (("--tenant", "physics", "--from", "end", "--to", "-2h"), "to_ms"),
        (("--tenant", "physics", "--from", "soon", "--to", "end"), "ISO 8601"),
        (("--tenant", "p", *PERIOD, "--against", "x.json"), "not together with --tenant"),
    ],
)
def test_what_makes_no_sense_together_is_refused(
    arguments: tuple[str, ...], word: str, journal: Path, invoice: Cli
) -> None:
    refused(invoice("recompute", journal, *arguments), 2, word)


# --- export ---------------------------------------------------------------------------------


def test_all_invoices_leave_as_csv_with_every_line(
    billed: Billed, journal: Path, tmp_path: Path, invoice: Cli
) -> None:
    done = invoice("export", journal)
    assert done.code == 0, done.err
    assert done.out == invoice_csv(billed.issued.values())
    out = tmp_path / "all.csv"
    done = invoice("export", journal, "--out", out)
    assert (done.code, done.out) == (0, "")
    count = sum(len(each.lines) for each in billed.issued.values())
    assert f"{count} lines of 6 invoices" in done.err
    assert out.read_bytes().decode() == invoice_csv(billed.issued.values())


def test_one_invoice_leaves_in_focus_columns_from_the_journal_and_from_a_saved_body(
    billed: Billed, journal: Path, tmp_path: Path, invoice: Cli
) -> None:
    kept = billed.issued["b-1-c2"]
    focus = ("--format", "focus", "--provider", "Campus")
    done = invoice("export", journal, "--invoice", "b-1-c2", *focus)
    assert done.out == focus_csv([kept], provider="Campus")
    rows = [*csv.DictReader(StringIO(done.out))]
    assert [*rows[0]] == [*FOCUS_COLUMNS]
    assert {row["ChargeClass"] for row in rows} == {"Correction"}
    saved = save(body_of(kept), tmp_path / "b.json")
    assert invoice("export", "--body", saved, *focus).out == done.out


def test_a_draft_can_leave_too(journal: Path, invoice: Cli) -> None:
    done = invoice("export", journal, "--tenant", "biology", *PERIOD)
    rows = [*csv.DictReader(StringIO(done.out))]
    assert [*rows[0]] == [*COLUMNS]
    assert {row["invoice_id"] for row in rows} == {"draft"}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((), "a journal, or --body"),
        (("JOURNAL", "--body", "x.json"), "a journal, or --body"),
        (("--body", "x.json", "--invoice", "p-1"), "it is one invoice"),
        (("--body", "missing.json"), "a file to read"),
        (("JOURNAL", "--invoice", "p-9"), "the journal tells of none"),
        (("JOURNAL", "--invoice", "p-1", "--tenant", "p", *PERIOD), "not together"),
        (("JOURNAL", "--format", "focus"), "the name of who runs the fleet"),
        (("JOURNAL", "--out", "no/such/folder/x.csv"), "a place to write"),
        (("missing.jsonl",), "missing.jsonl"),
    ],
)
def test_an_export_of_what_is_not_there_is_refused(
    arguments: tuple[str, ...], word: str, journal: Path, invoice: Cli
) -> None:
    told = [journal if each == "JOURNAL" else each for each in arguments]
    refused(invoice("export", *told), 2, word)
