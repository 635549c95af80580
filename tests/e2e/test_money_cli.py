"""The commands about money over a real server: what is printed, what is sent, how they end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from bailiwick.cli.main import main
from bailiwick.wire.base import Page
from bailiwick.wire.billing import BudgetStanding, Correction, Invoice, InvoiceHead, Stretch
from bailiwick.wire.usage import FleetUsage, RateChange, Rates, Usage
from tests.support.command_line import log_out
from tests.support.http_house import INVOICE
from tests.support.http_server import Served, served_house


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Cli = Callable[..., Ended]

PERIOD = ("--from", "2026-01-01", "--to", "-5ms")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server has its journal."""
    return tmp_path_factory.mktemp("house")


@pytest.fixture(scope="module")
def house(folder: Path) -> Iterator[Served]:
    with served_house(folder) as served:
        yield served


@pytest.fixture
def cli(
    house: Served,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Cli:
    """The command line of the fleet's admin, at the tenant ``lab``."""
    log_out(monkeypatch, tmp_path)
    monkeypatch.setenv("BAILIWICK_SERVER", house.url)
    monkeypatch.setenv("BAILIWICK_TOKEN", house.token("fleet_admin"))
    monkeypatch.setenv("BAILIWICK_TENANT", "lab")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        told = capsys.readouterr()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0, told.out, told.err)

    return run


def done(ended: Ended) -> str:
    assert ended.code == 0, ended
    return ended.out


def refused(ended: Ended, code: int, *words: str) -> None:
    assert (ended.code, ended.out) == (code, ""), ended
    assert ended.err.count("\n") == 1
    assert all(word in ended.err for word in words), ended.err


def test_usage_is_a_table_for_people_and_the_wire_for_programs(cli: Cli) -> None:
    told = done(cli("usage", "report"))
    assert "Usage of lab, 20" in told
    assert "in all" in told
    assert "metered from the first" in told
    found = Usage.model_validate_json(done(cli("usage", "report", "--from", "-1h", "-o", "json")))
    assert sum(row.cost_micros for row in found.rows) == found.total.cost_micros
    empty = Usage.model_validate_json(
        done(cli("usage", "report", "--month", "1999-12", "-o", "json"))
    )
    assert (empty.rows, empty.from_ms) == ([], 944_006_400_000)
    refused(cli("usage", "report", "--from", "soon"), 2, "--from", "soon")
    refused(cli("usage", "report", "--month", "2026-13"), 2, "--month", "2026-13")
    refused(cli("usage", "report", "--month", "1999-12", "--to", "now"), 2, "not together")


def test_the_fleets_time_is_told_with_its_equation(cli: Cli) -> None:
    told = done(cli("usage", "fleet"))
    assert "leased + idle + unavailable = capacity x time, to the last unit" in told
    found = FleetUsage.model_validate_json(done(cli("usage", "fleet", "-o", "json")))
    for row in found.rows:
        parts = (row.leased, row.idle, *row.unavailable.values())
        assert sum(map(int, parts)) == int(row.capacity)


def test_a_card_that_was_shown_can_be_edited_and_set(cli: Cli) -> None:
    Path("card.yaml").write_text(done(cli("rates", "show", "--list", "-o", "yaml")))
    text = Path("card.yaml").read_text().replace("nvidia_hopper: 2400000", "nvidia_hopper: 7")
    Path("card.yaml").write_text(text)
    dry = done(cli("rates", "set", "-f", "card.yaml", "--tenant", "rival", "--dry-run"))
    assert dry == "card rival holds for rival from now on (dry run: nothing was changed)\n"
    assert "no prices were set" in cli("rates", "list").err
    done(cli("rates", "set", "-f", "card.yaml", "--tenant", "rival"))
    Path("part.yaml").write_text("core_micros_per_hour: 3\n")
    done(cli("rates", "set", "-f", "part.yaml", "--tenant", "rival", "--name", "second"))
    found = Rates.model_validate_json(done(cli("rates", "show", "--tenant", "rival", "-o", "json")))
    prices = {word.value: price for word, price in found.gpu_micros_per_hour.items()}
    assert (found.name, found.tenant, found.core_micros_per_hour) == ("second", "rival", 3)
    assert prices["nvidia_hopper"] == 7
    assert "Card list, for everybody" in done(cli("rates", "show"))
    listed = Page[RateChange].model_validate_json(done(cli("rates", "list", "-o", "json")))
    assert [row.name for row in listed.items] == ["rival", "second"]
    assert done(cli("rates", "withdraw", "--tenant", "rival")) == (
        "the list holds for rival again\n"
    )
    refused(cli("rates", "withdraw", "--tenant", "rival"), 3, "none of its own")
    assert "withdrawn: the list holds again" in done(cli("rates", "list"))
    past = cli("rates", "set", "-f", "part.yaml", "--from", "2001-01-01")
    refused(past, 2, "effective_ms", "has its price already")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("core_micros: 3", ("core_micros_per_hour", "'core_micros'")),
        ("core_micros_per_hour: 1.5", ("core_micros_per_hour", "1.5")),
        ("gpu_micros_per_hour: {nvidia_hoper: 1}", ("nvidia_hoper",)),
        ("gpu_micros_per_hour: 3", ("gpu_micros_per_hour", "a number for each word")),
        ("- 3", ("words with values",)),
        ("a: [", ("bad.yaml:", "YAML")),
        ("x: " + "y" * 70_000, ("at most 65536 bytes",)),
    ],
)
def test_what_is_wrong_in_a_card_is_told(cli: Cli, text: str, words: tuple[str, ...]) -> None:
    Path("bad.yaml").write_text(text)
    refused(cli("rates", "set", "-f", "bad.yaml"), 2, *words)


def test_a_budget_is_set_by_what_it_changes(cli: Cli) -> None:
    def show() -> BudgetStanding:
        return BudgetStanding.model_validate_json(done(cli("budget", "show", "-o", "json")))

    done(cli("budget", "remove"))
    refused(cli("budget", "show"), 2, "no budget 'lab'")
    dry = done(cli("budget", "set", "5000", "--period", "2026-11", "--dry-run"))
    first, *outlook = dry.splitlines()
    assert (
        first == "lab may spend 5,000.00, 2026-11-01 to 2026-12-01 (dry run: nothing was changed)"
    )
    assert outlook[2:] == [
        "it would be healthy",
        "used up: never, by what runs now",
        "at once no request would start",
    ]
    done(cli("budget", "set", "5000", "--cap", "6000.5", "--period", "2026-11-01.."))
    budget = show().budget
    assert (budget.limit_micros, budget.cap_micros) == (5_000_000_000, 6_000_500_000)
    assert (budget.thresholds, budget.until_ms) == ([800], None)
    done(cli("budget", "set", "8000", "--warn", "99.5%", "--warn", "50"))
    again = show().budget
    assert (again.limit_micros, again.cap_micros) == (8_000_000_000, 6_000_500_000)
    assert (again.thresholds, again.from_ms) == ([500, 995], budget.from_ms)
    done(cli("budget", "set", "8000", "--cap", "none", "--warn", "none", "--period", "always"))
    assert show().budget.model_dump() == {
        "limit_micros": 8_000_000_000,
        "cap_micros": None,
        "thresholds": [],
        "from_ms": 0,
        "until_ms": None,
    }
    told = done(cli("budget", "show"))
    assert "healthy" in told
    assert "8,000.00 credit" in told
    assert [line.split()[0] for line in done(cli("budget", "list")).splitlines()[2:]] == [
        *("lab", "lab/p"),
    ]
    for wrong in ("-5", "1.2345678", "much"):
        refused(cli("budget", "set", "--", wrong), 2, "LIMIT")
    refused(cli("budget", "set", "5", "--warn", "0"), 2, "--warn")
    refused(cli("budget", "set", "5", "--period", "soon"), 2, "--period")


def test_an_invoice_is_issued_shown_traced_and_corrected(cli: Cli) -> None:
    draft = Invoice.model_validate_json(done(cli("invoice", "show", "-o", "json")))
    assert draft.status == "draft"
    assert "a draft: nothing is sealed" in done(cli("invoice", "show"))
    dry = done(cli("invoice", "issue", *PERIOD, "--dry-run"))
    assert "a draft: nothing is sealed" in dry
    made = Invoice.model_validate_json(done(cli("invoice", "issue", *PERIOD, "-o", "json")))
    name = made.body.invoice_id
    assert made.status == "issued"
    shown = done(cli("invoice", "show", name))
    assert f"sealed in the journal with SHA-256 {made.digest}" in shown
    assert Invoice.model_validate_json(done(cli("invoice", "show", name, "-o", "json"))) == made
    assert done(cli("invoice", "list", "-o", "name")).split() == [name, INVOICE["lab"]]
    heads = Page[InvoiceHead].model_validate_json(done(cli("invoice", "list", "-o", "json")))
    assert heads.items[0].total_micros == made.body.total_micros
    traced = Page[Stretch].model_validate_json(
        done(cli("invoice", "trace", name, "1", "-o", "json"))
    )
    assert sum(int(each.used) for each in traced.items) == int(made.body.lines[0].used)
    assert "lease-1" in done(cli("invoice", "trace", name, "1"))
    agreed = done(cli("invoice", "correct", name))
    assert agreed == f"{name} agrees with the journal: there is nothing to correct\n"
    found = Correction.model_validate_json(
        done(cli("invoice", "correct", INVOICE["lab"], "-o", "json"))
    )
    assert found.outcome == "corrected"  # nothing ever ran in 1970
    assert f"corrects {INVOICE['lab']}" in done(cli("invoice", "show", f"{INVOICE['lab']}-c1"))
    refused(cli("invoice", "issue", "--from", "2026-01-01"), 2, "--month")
    refused(cli("invoice", "issue", "--month", "2999-01"), 2, "to_ms", "not over yet")
    refused(cli("invoice", "show", "inv-none"), 2, "no such thing")
    refused(cli("invoice", "show", name, "--month", "2026-01"), 2, "INVOICE")


def test_a_served_invoice_agrees_with_the_exported_journal(folder: Path, cli: Cli) -> None:
    made = Invoice.model_validate_json(
        done(cli("invoice", "issue", *PERIOD, "--tenant", "rival", "-o", "json"))
    )
    Path("journal.jsonl").write_text(done(cli("journal", "export", str(folder))))
    Path("invoice.json").write_text(made.model_dump_json())
    words = ("invoice", "recompute", "journal.jsonl", "--against", "invoice.json", "-o", "json")
    found = json.loads(done(cli(*words)))
    assert str(made.body.invoice_id) in json.dumps(found)
