"""Graphs from the command line: planned, run for real, watched, shown, tried again, ended."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from bailiwick.cli.main import main
from tests.support.command_line import log_out
from tests.support.http_server import Served, served_jobs
from tests.support.waiting import until


class Told(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Cli = Callable[..., Told]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_jobs(tmp_path_factory.mktemp("jobs") / "all") as served:
        yield served


@pytest.fixture
def cli(
    jobs: Served,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> Cli:
    """The command line in this process, as the tenant's admin."""
    log_out(monkeypatch, tmp_path)
    monkeypatch.setenv("BAILIWICK_SERVER", jobs.url)
    monkeypatch.setenv("BAILIWICK_TOKEN", jobs.token("ann"))
    monkeypatch.setenv("BAILIWICK_TENANT", "lab")

    def run(*arguments: str) -> Told:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        told = capfdbinary.readouterr()
        code = ended.value.code
        return Told(code if isinstance(code, int) else 0, told.out.decode(), told.err.decode())

    return run


def written(folder: Path, last: str) -> str:
    file = folder / "graph.yaml"
    file.write_text(
        f"""
name: night
tasks:
  prep: {{command: [echo, prepared], ttl: 10m}}
  train: {{command: [echo, "item {{item}}"], map: [a, b], after: [prep]}}
  report: {{command: [/bin/sh, -c, '{last}'], after: [train]}}
"""
    )
    return str(file)


def test_a_graph_is_planned_run_watched_and_shown(cli: Cli, tmp_path: Path) -> None:
    file = written(tmp_path, "true")
    plan = cli("graph", "plan", file)
    assert plan.code == 0, plan.err
    assert "longest path: prep -> train[0] -> report (2h 10m at most)" in plan.out
    assert "cost: " in plan.out
    ran = cli("graph", "run", file, "--follow")
    assert ran.code == 0, ran
    name = ran.out.split(":")[0]
    assert f"{name}: succeeded: succeeded 4" in ran.out
    assert cli("graph", "logs", name, "train[1]").out == "item b\n"
    assert "graph-" in cli("graph", "list", "-o", "name").out
    shown = cli("graph", "show", name).out
    assert all(word in shown for word in ("night", "train[1]", "succeeded"))
    detail = json.loads(cli("graph", "show", name, "-o", "json").out)
    assert [task["name"] for task in detail["tasks"]] == ["prep", "train[0]", "train[1]", "report"]
    assert '"prep" -> "train";' in cli("graph", "show", name, "-o", "dot").out
    picture = ElementTree.fromstring(cli("graph", "show", name, "-o", "svg").out)
    assert picture.tag.endswith("svg")
    assert "did you mean train[1]?" in cli("graph", "logs", name, "trian[1]").err


def test_what_failed_is_tried_again_from_there(cli: Cli, tmp_path: Path) -> None:
    go = tmp_path / "go"
    ran = cli("graph", "run", written(tmp_path, f"test -e {go}"), "-f")
    name = ran.out.split(":")[0]
    assert ran.code == 1, ran
    assert f"{name}: report failed: exit_code 1" in ran.out
    assert f"bailiwick graph logs {name} report\n  bailiwick graph retry {name}" in ran.err
    assert "exit_code 1" in cli("graph", "show", name).out
    go.touch()
    assert cli("graph", "retry", name).code == 0
    assert cli("graph", "watch", name).code == 0
    detail = json.loads(cli("graph", "show", name, "-o", "json").out)
    assert [task["attempt"] for task in detail["tasks"]] == [1, 1, 1, 2]


def test_an_attempt_reports_what_it_made(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, file, data = tmp_path / "go", tmp_path / "graph.yaml", tmp_path / "data"
    text = f"""
tasks:
  a: {{command: [/bin/sh, -c, "until [ -e {go} ]; do sleep 0.05; done"], outputs: [data]}}
  b: {{command: [/bin/sh, -c, "echo $TASK_INPUT_DATA"], inputs: {{data: a/data}}}}
"""
    file.write_text(text)
    data.write_bytes(b"")
    made = cli("graph", "run", str(file), "-o", "name").out.strip()
    for name, value in (("GRAPH_ID", made[6:]), ("TASK_NAME", "a"), ("TASK_ATTEMPT", "1")):
        monkeypatch.setenv(name, value)
    reported = "graph", "report", "--made", f"data={data}"
    until(lambda: cli(*reported).code == 0, "the attempt is under way, and reported about")
    assert cli("graph", "report", "--made", "data").code == 2
    go.touch()
    assert cli("graph", "watch", made).code == 0
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert cli("graph", "logs", made, "b").out == f"sha256:{empty}\n"


def test_a_mistake_is_told_with_its_line_and_a_graph_can_be_ended(cli: Cli, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("tasks:\n  a: {command: [ls], aftr: [b]}\n")
    told = cli("graph", "run", str(wrong))
    assert told.code == 2
    assert "  line 2, column 22: no word 'aftr'; did you mean after?\n" in told.err
    greedy = tmp_path / "greedy.yaml"
    greedy.write_text("tasks: {a: {command: [ls], gpus: 8}}")
    assert "a would be refused: 8 GPUs asked" in cli("graph", "plan", str(greedy)).out
    made = cli("graph", "run", written(tmp_path, "sleep 1000"), "-o", "name").out.strip()
    assert cli("graph", "cancel", made).code == 0
    assert cli("graph", "watch", made).code == 3
