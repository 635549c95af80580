"""The batch script of a cluster's job, run by a plain shell as a node would run it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bailiwick.executors.slurm.executor as slurm_executor
from bailiwick.executors.port import Exited, JobSpec, Running
from bailiwick.executors.slurm import batch
from bailiwick.executors.slurm.executor import SlurmExecutor
from bailiwick.executors.slurm.programs import (
    QueuedJob,
    SlurmPrograms,
    Submission,
    parse_queue,
    parse_used,
)
from bailiwick.vocab.errors import Damaged, InvalidValue

WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)


def run(
    folder: Path, spec: JobSpec, *, submission: str = "one"
) -> subprocess.CompletedProcess[bytes]:
    """The script of this job, in this folder."""
    (folder / "work").mkdir(exist_ok=True)
    (folder / "current").write_text("one")
    (folder / "environment").write_text(batch.environment_text(spec, folder))
    cwd = spec.cwd or folder / "work"
    script = batch.script_text(spec.argv, folder, cwd=cwd, submission=submission)
    return subprocess.run(
        ["sh", "-c", script],
        capture_output=True,
        env={"PATH": os.environ["PATH"]},
        check=False,
    )


def clear(folder: Path) -> None:
    for name in ("exit", "unstarted", "unprogram"):
        (folder / name).unlink(missing_ok=True)
    if (folder / "started").exists():
        (folder / "started").rmdir()


@settings(max_examples=15, deadline=None)
@given(words=st.lists(WORDS, max_size=3), value=WORDS)
def test_no_word_or_value_of_a_user_is_taken_for_a_piece_of_the_script(
    tmp_path_factory: pytest.TempPathFactory, *, words: list[str], value: str
) -> None:
    folder = tmp_path_factory.mktemp('it\'s a "job"')
    argv = ("printf", "%s\\0", *words, "end")
    ran = run(folder, JobSpec(1, argv=argv, token="t"))
    assert ran.stdout.decode().split("\0")[:-1] == [*words, "end"]
    clear(folder)
    shown = JobSpec(1, argv=("printenv", "-0", "MINE"), token="t", env={"MINE": value})
    assert run(folder, shown).stdout.decode() == value + "\0"


def test_a_script_runs_its_program_once_and_never_after_it_was_replaced(tmp_path: Path) -> None:
    spec = JobSpec(1, argv=("sh", "-c", "echo x >> ../effect; exit 3"), token="t")
    assert run(tmp_path, spec, submission="another").returncode == batch.SUPERSEDED
    assert run(tmp_path, spec).returncode == 3
    assert run(tmp_path, spec).returncode == batch.SUPERSEDED
    assert (tmp_path / "effect").read_text() == "x\n"
    ended, began_ms = batch.parse_exit((tmp_path / "exit").read_text())
    assert (ended.code, ended.signal) == (3, None)
    assert 0 < began_ms <= ended.ended_ms


def test_what_a_job_was_given_is_gone_from_the_folder_before_its_program_runs(
    tmp_path: Path,
) -> None:
    argv = ("sh", "-c", "[ -e ../environment ] || echo gone")
    assert run(tmp_path, JobSpec(1, argv=argv, token="t")).stdout == b"gone\n"


def test_a_program_or_directory_that_is_not_there_is_told_as_never_started(tmp_path: Path) -> None:
    run(tmp_path, JobSpec(1, argv=("/no/such/program",), token="t"))
    assert (tmp_path / "unstarted").read_text() == "program\n"
    clear(tmp_path)
    run(tmp_path, JobSpec(1, argv=("true",), token="t", cwd=tmp_path / "nowhere"))
    assert (tmp_path / "unstarted").read_text() == "cwd\n"
    assert not (tmp_path / "exit").exists()


def test_a_variable_that_no_shell_can_set_is_refused() -> None:
    with pytest.raises(InvalidValue, match=r"env\.a-b"):
        batch.assignment("a-b", "1")


@pytest.mark.parametrize("text", ["", "1 2", "1 2 x", "300 1 1", "-1 1 1"])
def test_an_exit_that_is_none_is_damage(text: str) -> None:
    with pytest.raises(Damaged):
        batch.parse_exit(text)


def test_only_our_jobs_are_read_from_the_queue_whatever_others_are_called() -> None:
    name = "bw-0123abcd-7-0123456789ab"
    theirs = "9|RUNNING|x|y|2026-11-16T20:00:00|0:0"
    ours = f"17|NODE_FAIL|{name}|2026-11-16T20:00:01|1:0"
    assert [*parse_queue(f"{theirs}\n{ours}\n")] == [name]
    with pytest.raises(Damaged):
        parse_queue(f"x|RUNNING|{name}|2026-11-16T20:00:01|0:0")


def test_what_accounts_cannot_tell_is_not_made_up() -> None:
    assert parse_used("") is None
    assert parse_used("1-02:03:04.5|\n|12K\n") == (93_784_500, 12 * 1024)


class Recorded(SlurmPrograms):
    """A cluster that answers as one was recorded; of a job that its memory limit ended, here."""

    def __init__(self) -> None:
        super().__init__({})
        self.line, self.name = "17|{}|{}|2026-11-16T20:00:01|0:125", ""
        self.state = "RUNNING"

    def submit(self, asked: Submission) -> int:
        self.name = asked.name
        return 17

    def queue(self) -> dict[str, QueuedJob]:
        return parse_queue(self.line.format(self.state, self.name))


@pytest.mark.parametrize("has_script_told", [True, False])
def test_a_job_that_its_memory_limit_ended_is_told_as_such_by_the_clusters_own_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_script_told: bool
) -> None:
    """The kernel ends the program; the script writes 137 down, or is ended with it."""
    monkeypatch.setattr(slurm_executor, "_FRESH_S", 0.0)
    cluster = Recorded()
    executor = SlurmExecutor(tmp_path, programs=cluster)
    executor.start(JobSpec(7, ("true",), token="t"))
    (tmp_path / "7" / batch.STARTED).mkdir()
    if has_script_told:
        (tmp_path / "7" / batch.EXIT).write_text("137 1000 2000")
    for state in ("RUNNING", "COMPLETING"):
        cluster.state = state
        assert isinstance(executor.status(7), Running)  # why it ended is not known yet
    cluster.state = "OUT_OF_MEMORY"
    found = executor.status(7)
    assert isinstance(found, Exited)
    assert (found.signal, found.is_emptied, found.is_out_of_memory) == (9, True, True)
    if has_script_told:
        cluster.state = "FAILED"
        found = executor.status(7)
        assert isinstance(found, Exited)
        assert (found.signal, found.ended_ms, found.is_out_of_memory) == (9, 2000, False)
