"""``bailiwick meter reconcile``, ``finding list`` and the agent's counters, from the outside."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.agent.counting import LeaseCount
from bailiwick.agent.server import HttpServer
from bailiwick.cli.main import main
from bailiwick.clusters.slurm.parse import JOB_FIELDS
from bailiwick.kernel import Release
from bailiwick.vocab.words import LeaseClass
from tests.support.command_line import log_out
from tests.support.http_server import Served, served_house
from tests.support.kernel_histories import Campus, granted, node

BOOKS = Path(__file__).resolve().parents[1] / "vectors/slurm_books"
Cli = Callable[..., tuple[int, str, str]]
TEN_S = 10_000


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    log_out(monkeypatch, tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        told = capsys.readouterr()
        code = ended.value.code
        return code if isinstance(code, int) else 0, told.out, told.err

    return run


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_house(tmp_path_factory.mktemp("house")) as served:
        yield served


# --- offline ------------------------------------------------------------------------------------


def story(folder: Path) -> tuple[Path, list[int], int]:
    """A journal of two leases on ``n1``: the first held ten seconds, the second still held."""
    from bailiwick.kernel import RegisterNode

    campus = Campus()
    campus.do(RegisterNode("n1", node(2)))
    began_ms = campus.now_ms
    leases = []
    for _ in range(2):
        terms = {"gpu_count": 1, "cpu_cores": 2, "lease_class": LeaseClass.STANDARD}
        leases += granted(campus.submit("lab", **terms))
    campus.now_ms += TEN_S
    campus.do(Release(leases[0]))
    return campus.write(folder / "journal.jsonl"), leases, began_ms


def counters(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "counters.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def row(lease_id: int, began_ms: int, **told: Any) -> dict[str, Any]:
    at_ms = began_ms + TEN_S
    return {"lease_id": lease_id, "node": "n1", "at_ms": at_ms, "from_ms": began_ms} | told


def test_a_journal_and_honest_counters_agree(tmp_path: Path, cli: Cli) -> None:
    journal, leases, began_ms = story(tmp_path)
    told = counters(
        tmp_path,
        row(leases[0], began_ms, cpu_ms=19_000, to_ms=began_ms + TEN_S),
        row(leases[1], began_ms, cpu_ms=10_000),
        row(leases[1], began_ms, cpu_ms=20_000),
    )
    code, out, err = cli("meter", "reconcile", "--journal", str(journal), "--counters", str(told))
    assert (code, err) == (0, "")
    assert out == "2 counters, 2 leases compared, 0 findings\n"


def test_every_difference_is_named_with_its_numbers_and_ends_with_three(
    tmp_path: Path, cli: Cli
) -> None:
    journal, leases, began_ms = story(tmp_path)
    told = counters(
        tmp_path,
        row(leases[0], began_ms, cpu_ms=50_000),
        row(leases[1], began_ms - 6_000),
        row(99, began_ms),
    )
    words = ("meter", "reconcile", "--journal", str(journal), "--counters", str(told))
    code, out, _ = cli(*words, "-o", "json")
    assert code == 3
    document = json.loads(out)
    assert (document["counters"], document["compared"]) == (3, 2)
    assert [(f["finding"], f["what"], f["lease_id"]) for f in document["findings"]] == [
        ("quota_evasion", "cpu_time", leases[0]),
        ("attribution_drift", "before_grant", leases[1]),
        ("attribution_drift", "unknown_lease", 99),
    ]
    first = document["findings"][0]
    assert (first["counted"], first["attributed"]) == (50_000_000, 2_000 * TEN_S)
    assert first["allowed"] == 2_000 * TEN_S + 2_000 * 1_000 + 2_000 * TEN_S // 50
    code, out, _ = cli(*words)
    assert code == 3
    assert "50000000 of CPU time" in out
    assert "3 counters, 2 leases compared, 3 findings" in out
    assert cli(*words, "-o", "yaml")[1].startswith("counters: 3\n")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("{}", "line 1"),
        ('{"lease_id": 1, "node": "n", "at_ms": 1, "from_ms": 2}', "line 1: from_ms"),
        ("x" * 20_000, "line 1"),
        ("\n", "line 1"),
    ],
)
def test_a_mistake_in_the_counters_is_told_with_its_line(
    tmp_path: Path, cli: Cli, line: str, word: str
) -> None:
    journal, _, _ = story(tmp_path)
    path = tmp_path / "counters.jsonl"
    path.write_text(line + "\n")
    code, out, err = cli("meter", "reconcile", "--journal", str(journal), "--counters", str(path))
    assert (code, out) == (2, "")
    assert word in err


def test_files_that_are_not_there_are_told(tmp_path: Path, cli: Cli) -> None:
    journal, _, _ = story(tmp_path)
    none = str(tmp_path / "none")
    code, _, err = cli("meter", "reconcile", "--journal", str(journal), "--counters", none)
    assert (code, "--counters" in err) == (2, True)
    path = counters(tmp_path)
    assert cli("meter", "reconcile", "--journal", none, "--counters", str(path))[0] == 2


def test_saved_books_of_a_cluster_are_counters_too(tmp_path: Path, cli: Cli) -> None:
    journal, leases, _ = story(tmp_path)
    books = tmp_path / "books"
    shutil.copytree(BOOKS, books)
    separator = json.loads((books / "books.json").read_text())["separator"]
    jobs = (books / "jobs.txt").read_text().split(f"{separator}\n")
    names = dict(zip(JOB_FIELDS, range(len(JOB_FIELDS)), strict=True))
    for number, text in enumerate(jobs[:-1]):
        words = text.split(separator)
        if words[names["Start"]].isdecimal() and "[" not in words[names["NodeList"]]:
            words[names["Comment"]] = f"bailiwick-lease-{leases[0]}"
            jobs[number] = separator.join(words)
            break
    (books / "jobs.txt").write_text(f"{separator}\n".join(jobs))
    words = ("meter", "reconcile", "--journal", str(journal), "--counters", str(books))
    code, out, _ = cli(*words, "-o", "json")
    assert code == 3
    document = json.loads(out)
    assert document["counters"] == 1
    (found,) = document["findings"]
    assert (found["what"], found["lease_id"]) == ("other_node", leases[0])


# --- over a server ------------------------------------------------------------------------------


def test_findings_are_listed_and_the_agent_is_heard_over_http(
    house: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BAILIWICK_SERVER", house.url)
    monkeypatch.setenv("BAILIWICK_TOKEN", house.token("fleet_admin"))
    code, out, err = cli("finding", "list")
    assert (code, out) == (0, "")
    assert "nothing was found" in err
    token = tmp_path / "token"
    token.write_text(house.token("node_agent"))
    told = LeaseCount(1, 9, 5, 3, None, ())
    with HttpServer(house.url, token) as server:
        assert server.count("n1", 4, events=[(0, told), (1, told)]) == (4, 2)
        assert server.count("n1", 3, events=[(0, told)]) == (4, 2)
        assert server.count("n9", 4, events=[(2, told)]) == (0, 0)
