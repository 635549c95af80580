"""Where work runs, from the command line: who runs it, on which node, and what is refused there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from bailiwick.cli.main import main
from bailiwick.cli.shared.completions import complete_places
from tests.support.http_server import Served, served_jobs


class Told(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Cli = Callable[..., Told]
GRAPH = """
tasks:
  whole: {command: "true", cpus: 1}
  part: {command: "true", after: [whole], cpus: 0.5}
"""


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_jobs(tmp_path_factory.mktemp("jobs") / "all") as served:
        yield served


@pytest.fixture
def cli(
    jobs: Served,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Cli:
    """The command line in this process, as the tenant's admin."""
    for name in [*os.environ]:
        if name.startswith("BAILIWICK_"):
            monkeypatch.delenv(name)
    for name in ("CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    monkeypatch.setenv("BAILIWICK_SERVER", jobs.url)
    monkeypatch.setenv("BAILIWICK_TOKEN", jobs.token("ann"))
    monkeypatch.setenv("BAILIWICK_TENANT", "lab")

    def run(*arguments: str) -> Told:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        told = capsys.readouterr()
        code = ended.value.code
        return Told(code if isinstance(code, int) else 0, told.out, told.err)

    return run


@pytest.mark.parametrize("on", ["local", "here"])
def test_a_job_runs_where_it_is_told_to(cli: Cli, on: str) -> None:
    told = cli("submit", "--on", on, "--follow", "--", "echo", "hello")
    assert (told.code, told.out) == (0, "hello\n"), told.err


def test_a_job_without_a_word_lands_on_a_machine_that_runs_jobs_itself(cli: Cli) -> None:
    assert "would run at once on here" in cli("plan", "--cpus", "1").out


@pytest.mark.parametrize("verb", ["submit", "plan"])
def test_a_place_that_is_none_is_refused_with_the_choices(cli: Cli, verb: str) -> None:
    told = cli(verb, "--on", "nowhere", "--", "true")
    assert told.code == 2
    assert "one of local, node, ray, slurm, or a node that runs jobs: here" in told.err


@pytest.mark.parametrize("verb", ["submit", "plan"])
@pytest.mark.parametrize(
    ("on", "words", "details"),
    [
        ("slurm", ("--gpus", "0.5"), ("gpu_share", 500, 1000)),
        ("ray", ("--gpus", "0.5"), ("gpu_share", 500, 1000)),
        ("slurm", ("--cpus", "1.5"), ("core_share", 1500, 1000)),
        ("ray", ("--image", "tool"), ("image", "tool", None)),
    ],
)
def test_what_nobody_there_can_honour_is_refused_with_its_numbers(
    cli: Cli, verb: str, *, on: str, words: tuple[str, ...], details: tuple[object, ...]
) -> None:
    told = cli(verb, "--on", on, *words, "--", "true")
    assert told.code == 3
    assert f"{on} cannot honour {details[0]}: asked for {details[1]}" in told.err
    told = cli(verb, "--on", on, *words, "-o", "json", "--", "true")
    problem = json.loads(told.out or told.err)
    assert problem["code"] == "not_honoured"
    what, asked, step = details
    wanted = {"what": what, "executor": on, "asked": asked, "step": step}
    assert problem["details"] == wanted
    jobs = json.loads(cli("job", "list", "-o", "json").out)["items"]
    assert {each["phase"] for each in jobs}.isdisjoint({"refused", "waiting"})


def test_a_share_that_takes_a_whole_device_anyway_is_honoured(cli: Cli) -> None:
    words = ("--gpus", "0.5", "--exclusivity", "session_exclusive")
    told = cli("plan", "--on", "slurm", *words, "--", "true")
    assert "cannot honour" not in told.err  # there is no such node here: that is another denial


def test_a_graph_is_planned_with_what_cannot_be_honoured_and_refused_when_run(
    cli: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "graph.yaml"
    file.write_text(GRAPH)
    told = cli("graph", "plan", str(file), "--on", "slurm")
    assert told.code == 0
    assert "part would be refused: slurm cannot honour core_share (500 asked for" in told.out
    plan = json.loads(cli("graph", "plan", str(file), "--on", "slurm", "-o", "json").out)
    bad = [stage["unhonoured"] for stage in plan["stages"]]
    wanted = {"what": "core_share", "executor": "slurm", "asked": 500, "step": 1000}
    assert bad == [None, wanted]
    refused = cli("graph", "run", str(file), "--on", "slurm")
    assert (refused.code, "cannot honour core_share" in refused.err) == (3, True)
    assert cli("graph", "run", str(file), "--on", "nowhere").code == 2
    for on in ("here", "local"):
        done = cli("graph", "run", str(file), "--on", on, "--follow")
        assert done.code == 0, done.err


def test_places_are_completed_from_the_registry_and_the_fleet(cli: Cli) -> None:
    assert complete_places("") == ["local", "node", "ray", "slurm", "here"]
    assert complete_places("h") == ["here"]


def test_explain_asks_as_submit_would(cli: Cli) -> None:
    assert "nothing stands in its way" in cli("explain", "--cpus", "1", "--on", "here").out
    told = cli("explain", "--cpus", "1", "--on", "ray")
    assert "needs a node that runs jobs" in told.err
