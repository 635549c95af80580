"""What a new user meets: limits that are told, numbers that stay, errors that programs can read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bailiwick.cli.lazy import load_command
from bailiwick.cli.main import main
from bailiwick.cli.shared.completions import (
    complete_classes,
    complete_exclusivities,
    complete_priorities,
    complete_retries,
)
from bailiwick.server.process import ProcessOptions, _welcome
from tests.support.command_line import log_out
from tests.support.http_server import Served, served_jobs
from tests.support.waiting import until


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Cli = Callable[..., Ended]


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
    log_out(monkeypatch, tmp_path)
    monkeypatch.setenv("BAILIWICK_SERVER", jobs.url)
    monkeypatch.setenv("BAILIWICK_TOKEN", jobs.token("ann"))
    monkeypatch.setenv("BAILIWICK_TENANT", "lab")

    def run(*arguments: str) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        told = capsys.readouterr()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0, told.out, told.err)

    return run


def test_the_time_limit_is_told_before_at_and_after_submitting(cli: Cli) -> None:
    assert "time limit: 1h; what still runs then is ended (--ttl" in cli("plan").out
    told = cli("submit", "--ttl", "2h", "--", "true")
    assert "time limit: 2h;" in told.err
    shown = cli("job", "show", told.out.split()[0]).out
    assert "2h" in next(line for line in shown.splitlines() if line.startswith("time limit"))
    assert re.search(r"^(cost|cost so far) +[0-9.]+ credit", shown, re.MULTILINE)


def test_a_refused_job_keeps_its_numbers(cli: Cli) -> None:
    refused = cli("submit", "--cpus", "900000", "--name", "huge", "--", "true")
    assert refused.code == 3
    why = refused.err.removeprefix("bailiwick: refused: ").partition(" (")[0]
    assert any(letter.isdigit() for letter in why)
    (job,) = [
        each
        for each in json.loads(cli("job", "list", "-o", "json").out)["items"]
        if each["name"] == "huge"
    ]
    assert job["denied"]["reason"] == job["reason"]
    name = f"job-{job['job_id']}"
    shown = " ".join(cli("job", "show", name).out.split())
    assert why in shown
    assert f"why: {why}" in cli("explain", name).out


def test_a_refused_plan_says_that_jobs_land_only_where_they_are_run(cli: Cli) -> None:
    told = cli("plan", "--gpus", "8", "--generation", "google_tpu_v6")
    assert told.code == 3
    assert "lease request" in told.err


def test_the_queue_tells_job_and_request_within_80_columns(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = cli("submit", "--cpus", "4", "--mem", "1GiB", "--", "sleep", "600")
    assert hold.code == 0, hold.err
    waits = cli("submit", "--cpus", "4", "--mem", "1GiB", "--", "true")
    monkeypatch.setenv("COLUMNS", "80")
    try:
        assert "in the queue" in waits.out
        table = cli("queue", "list").out
        job = waits.out.split()[0]
        assert job in table
        assert "4 cores" in " ".join(table.split())
        assert max(len(line) for line in table.splitlines()) <= 80
    finally:
        for each in (waits, hold):
            cli("job", "cancel", each.out.split()[0])
    until(lambda: not cli("queue", "list").out, "nothing waits")


def test_usage_fits_80_columns(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    table = cli("usage", "report").out
    assert "GPU hours" in table
    assert max(len(line) for line in table.splitlines()) <= 80


def test_decisions_say_whose_they_are_within_80_columns(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    cli("submit", "--cpus", "900000", "--", "true")
    table = cli("decision", "list").out
    assert "denied" in table
    assert max(len(line) for line in table.splitlines()) <= 80
    told = cli("decision", "list", "--limit", "1")
    assert "decisions about tenant lab" in told.err
    assert "decisions" not in cli("decision", "list", "-o", "json").err


@pytest.mark.parametrize(
    ("words", "exit_code", "code"),
    [
        (("job", "show", "job-999", "-o", "json"), 2, "not_found"),
        (("submit", "--cpus", "900000", "--output", "json", "--", "true"), 3, "refused"),
        (("job", "show", "job-x", "-o", "json"), 2, "invalid_value"),
        (("job", "list", "-ojson", "--nope"), 2, "usage"),
        (("job", "show", "-o", "json"), 2, "usage"),
    ],
)
def test_an_error_is_json_where_json_was_asked_for(
    cli: Cli, words: tuple[str, ...], exit_code: int, code: str
) -> None:
    ended = cli(*words)
    told: dict[str, Any] = json.loads(ended.err)
    assert (ended.code, told["exit_code"], told["code"]) == (exit_code, exit_code, code)
    assert told["message"]
    assert ended.out == ""


def test_exit_codes_are_the_same_with_json(cli: Cli) -> None:
    ended = cli("plan", "--cpus", "900000", "-o", "json")
    assert ended.code == 3
    assert json.loads(ended.out)["plan"] == "refuse"


def test_closed_words_are_completed() -> None:
    assert complete_priorities("h") == ["high"]
    assert complete_classes("s") == ["standard", "spot"]
    assert complete_exclusivities("device") == ["device_exclusive"]
    assert complete_retries("o") == ["out_of_memory"]
    options = {option.name: option for option in load_command("submit").params}
    for name in ("priority", "lease_class", "exclusivity", "retry_on"):
        assert options[name]._custom_shell_complete is not None


@pytest.mark.parametrize(
    ("demo", "line"), [(True, "lease request --dry-run --gpus 8"), (False, "plan --cpus 1")]
)
def test_what_a_start_suggests_can_be_done(*, demo: bool, line: str, tmp_path: Path) -> None:
    options = ProcessOptions(
        where=str(tmp_path),
        folder=tmp_path,
        authority=b"",
        capability=b"",
        host="127.0.0.1",
        port=0,
        is_node=True,
        shows_login=True,
        demo=demo,
    )
    assert f"bailiwick {line}" in _welcome("http://127.0.0.1:1", "code", options)
