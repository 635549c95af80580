"""Jobs from the command line as people know them: arrays, filters, names, many at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

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
FOREVER = ("--", "sleep", "1000")


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_jobs(tmp_path_factory.mktemp("jobs") / "all") as served:
        yield served


@pytest.fixture
def people(
    jobs: Served,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> Callable[[str, str], Cli]:
    """The command line in this process, as somebody of a tenant."""
    log_out(monkeypatch, tmp_path)
    monkeypatch.setenv("BAILIWICK_SERVER", jobs.url)

    def be(who: str, tenant: str) -> Cli:
        token = jobs.token(who)

        def run(*arguments: str) -> Told:
            monkeypatch.setenv("BAILIWICK_TOKEN", token)
            monkeypatch.setenv("BAILIWICK_TENANT", tenant)
            with pytest.raises(SystemExit) as ended:
                main([*arguments])
            told = capfdbinary.readouterr()
            code = ended.value.code
            return Told(code if isinstance(code, int) else 0, told.out.decode(), told.err.decode())

        return run

    return be


@pytest.fixture
def ann(people: Callable[[str, str], Cli]) -> Cli:
    return people("ann", "lab")


@pytest.fixture
def bob(people: Callable[[str, str], Cli]) -> Cli:
    return people("bob", "rival")


def done(told: Told) -> str:
    assert told.code == 0, told
    return told.out


def listed(cli: Cli, *filters: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(done(cli("job", "list", "-o", "json", *filters)))[
        "items"
    ]
    return found


def made(cli: Cli, *words: str) -> str:
    """The name of a job that was submitted."""
    return done(cli("submit", "-o", "name", *words)).strip()


def test_an_array_is_shown_followed_by_task_and_cancelled_as_a_whole(ann: Cli) -> None:
    text = "echo task $BAILIWICK_ARRAY_INDEX"
    told = ann("submit", "--array", "0-2%1", "--", "sh", "-c", text)
    name = done(told).split()[0]
    assert "is an array of 3 tasks, 1 at once" in told.out
    assert f"bailiwick logs -f {name}[0]" in told.err
    until(lambda: "succeeded  3" in done(ann("job", "show", name)), "all have succeeded")
    assert f"{name}[2]" in done(ann("job", "show", name))
    assert done(ann("logs", f"{name}[1]")) == "task 1\n"
    one = ann("logs", name)
    assert (one.code, "one task of the array" in one.err) == (2, True)
    assert ann("job", "show", f"{name}[7]").code == 2
    long = made(ann, "--array", "0-3%1", *FOREVER)
    refused = ann("job", "cancel", long)
    assert (refused.code, f"{long}[3]" in refused.err) == (2, True)
    told = ann("job", "cancel", long, "--yes")
    assert done(told).count(" is to end") == 4
    number = long.partition("-")[2]

    def phases() -> set[str]:
        rows = json.loads(done(ann("job", "show", long, "-o", "json")))["items"]
        assert {row["array_id"] for row in rows} == {int(number)}
        return {row["phase"] for row in rows}

    until(lambda: phases() == {"cancelled"}, "all are cancelled")


def test_a_job_is_called_by_its_name_while_that_is_one(ann: Cli, bob: Cli) -> None:
    first = made(ann, "--name", "solo", "--", "echo", "hello")
    until(lambda: "succeeded" in done(ann("job", "show", "solo")), "it is over")
    assert done(ann("logs", "solo")) == "hello\n"
    other = made(bob, "--name", "solo", "--", "true")
    assert first in done(ann("job", "show", "solo"))
    assert other in done(bob("job", "show", "solo"))
    second = made(ann, "--name", "solo", "--", "true")
    told = ann("job", "show", "solo")
    assert told.code == 2
    assert first in told.err
    assert second in told.err
    assert other not in told.err
    assert ann("job", "show", "nobody").code == 2


def test_lists_are_narrowed_sorted_and_wide(ann: Cli, bob: Cli) -> None:
    quick = made(ann, "--name", "aa-quick", "--", "true")
    waits = made(ann, "--name", "bb-waits", "--after", f"{made(ann, *FOREVER)}:ok", "--", "true")
    until(lambda: "succeeded" in done(ann("job", "show", quick)), "it is over")
    theirs = made(bob, "--name", "aa-quick", "--", "true")
    assert [job["name"] for job in listed(ann, "--state", "live", "--name", "bb-waits")] == [
        "bb-waits"
    ]
    assert listed(ann, "--name", "aa-quick", "--state", "live") == []
    for more in ((), ("-A",), ("--mine",)):
        numbers = [f"job-{job['job_id']}" for job in listed(ann, "--name", "aa-quick", *more)]
        assert numbers == [quick]
    assert listed(ann, "--tenant", "rival") == []
    assert theirs not in done(ann("job", "list", "-A", "-o", "name")).split()
    names = [job["name"] or "~" for job in listed(ann, "--sort", "name")]
    assert names == sorted(names)
    assert [job["name"] or "~" for job in listed(ann, "--sort", "-name")] == names[::-1]
    told = ann("job", "list")
    assert "jobs of lab; -A lists all that you may see" in told.err
    wide = done(ann("job", "list", "-o", "wide", "--name", "aa-quick"))
    assert "1 of 1" in wide
    assert "standard" in wide
    assert "jobs that it comes after are not over" in done(ann("explain", waits))
    assert ann("job", "list", "--state", "gone").code == 2
    assert ann("job", "list", "--sort", "colour").code == 2
    assert ann("job", "list", "-A", "--tenant", "lab").code == 2
    done(ann("job", "cancel", "--mine", "--yes"))


def test_many_are_cancelled_by_a_filter_that_reaches_only_ones_own(ann: Cli, bob: Cli) -> None:
    own = [made(ann, "--name", "herd", *FOREVER) for _ in range(2)]
    kept = made(ann, "--name", "kept", *FOREVER)
    theirs = made(bob, "--name", "herd", *FOREVER)
    asked = ann("job", "cancel", "--name", "herd")
    assert asked.code == 2
    assert all(name in asked.err for name in own)
    assert theirs not in asked.err
    assert kept not in asked.err
    tried = ann("job", "cancel", "--name", "herd", "--dry-run")
    assert done(tried).count("nothing was changed") == 2
    done(ann("job", "cancel", "--name", "herd", "--yes"))
    for tenant in ("rival", "lab"):
        done(ann("job", "cancel", "--name", "herd", "--tenant", tenant, "--yes"))
    for name in own:
        until(lambda name=name: "cancelled" in done(ann("job", "show", name)), "it is cancelled")
    assert "cancelled" not in done(ann("job", "show", kept))
    assert "cancelled" not in done(bob("job", "show", theirs))
    assert ann("job", "cancel", theirs).code != 0
    assert ann("job", "cancel").code == 2
    assert ann("job", "cancel", kept, "--mine").code == 2
    done(ann("job", "cancel", kept))
    done(bob("job", "cancel", "--mine", "--yes"))


def test_the_last_lines_of_an_output_are_read_alone(ann: Cli) -> None:
    text = "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; printf end"
    name = made(ann, "--", "sh", "-c", text)
    until(lambda: "succeeded" in done(ann("job", "show", name)), "it is over")
    assert done(ann("logs", name, "--tail", "2")) == "line 2999\nend"
    assert done(ann("logs", name, "--tail", "0")) == ""
    assert done(ann("job", "logs", "-f", name, "--tail", "9999")).startswith("line 0\n")
    assert done(ann("logs", name, "--tail", "1", "--since", "1h")) == "end"
    assert done(ann("logs", name, "-f", "--tail", "1", "--since", "2999-01-01")) == ""
    assert ann("logs", name, "--since", "soon").code == 2


def test_a_job_runs_in_the_folder_and_the_virtual_environment_that_are_named(
    ann: Cli, tmp_path: Path
) -> None:
    program = tmp_path / "env/bin/tool"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$VIRTUAL_ENV $1"; pwd; command -v ls > /dev/null\n')
    program.chmod(0o755)
    where = ("--venv", str(tmp_path / "env"), "--cwd", str(tmp_path), "--env", "A=b")
    name = made(ann, *where, "--", "sh", "-c", "tool $A")
    until(lambda: "succeeded" in done(ann("job", "show", name)), "it is over")
    assert done(ann("logs", name)) == f"{tmp_path}/env b\n{tmp_path}\n"
    lost = made(ann, "--cwd", "/no/such/folder", "--", "true")
    until(lambda: "failed" in done(ann("job", "show", lost)), "it is over")
    assert "--job-path" in " ".join(done(ann("job", "show", lost)).split())


TRIES = 'echo "try $BAILIWICK_ATTEMPT"; exit 4'


def test_attempts_are_shown(ann: Cli) -> None:
    name = made(ann, "--retries", "1", "--retry-on", "exit_code", "--", "sh", "-c", TRIES)
    until(lambda: over(ann, name), "both attempts are over")
    told = done(ann("job", "show", name))
    assert "2 of 2; again if exit_code" in told
    assert "Attempts that are over" in told
    assert done(ann("logs", name, "--attempt", "1")) == "try 1\n"
    assert done(ann("logs", name)) == "try 2\n"


def over(cli: Cli, name: str) -> bool:
    found = json.loads(done(cli("job", "show", name, "-o", "json")))
    return bool(found["phase"] == "failed")
