"""The keeper beside a job on a node of a Ray cluster, held to its word without a cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.executors.port import JobSpec, LostReason
from bailiwick.executors.ray import folder as job_folder
from bailiwick.executors.ray import keeper
from bailiwick.executors.ray.folder import KeptEnd, RaySubmission
from bailiwick.vocab.errors import Damaged
from tests.support.executor_conformance import FOR_EVER, shell
from tests.support.waiting import until

NAME = "bw-0123abcd-1-0123456789ab"


class Worker:
    """Whoever holds the leash of one keeper."""

    def __init__(self, folder: Path, *, devices: str = "") -> None:
        leash, self.held = os.pipe()
        self.done, tell_done = os.pipe()
        words = [sys.executable, "-I", "-S", str(folder / "keeper.py"), str(folder), NAME]
        words += [str(leash), str(tell_done), devices]
        subprocess.run(words, pass_fds=(leash, tell_done), check=True, env={}, cwd="/")
        os.close(leash)
        os.close(tell_done)

    def wait(self) -> None:
        """Until the keeper has gone."""
        assert os.read(self.done, 1) == b""

    def die(self) -> None:
        """Let go of the leash, as a worker does that is killed."""
        os.close(self.held)
        self.held = -1

    def close(self) -> None:
        """Leave nothing behind."""
        if self.held >= 0:
            self.die()
        self.wait()
        os.close(self.done)


@pytest.fixture
def workers() -> Iterator[list[Worker]]:
    found: list[Worker] = []
    yield found
    for worker in found:
        worker.close()


def laid_out(root: Path, spec: JobSpec, term_s: float = 0.2) -> Path:
    place = root / str(spec.lease_id)
    job_folder.lay_out(spec, place, name=NAME, ask={"bundle": {}}, term_s=term_s)
    return place


def await_word(place: Path, word: str) -> None:
    path = place / keeper.OUTPUT
    until(lambda: path.exists() and path.read_text() == word, f"it says {word!r}")


def end_of(place: Path) -> KeptEnd:
    found = job_folder.load_end(place)
    assert found is not None
    return found


def test_it_runs_the_job_keeps_its_output_and_proves_its_end(
    tmp_path: Path, workers: list[Worker]
) -> None:
    text = 'echo "$MINE [$CUDA_VISIBLE_DEVICES]"; ls ../; exit 3'
    place = laid_out(tmp_path, shell(1, text, env={"MINE": "yes"}))
    workers.append(Worker(place, devices="0,3"))
    workers[0].wait()
    end = end_of(place)
    assert (end.code, end.signal, end.is_cut, end.is_emptied) == (3, None, False, True)
    assert end.began_ms <= end.ended_ms <= end.emptied_ms
    said = (place / keeper.OUTPUT).read_text().splitlines()
    assert said[0] == "yes [0,3]"
    assert keeper.ORDER not in said  # the secrets were gone before the program ran


def test_of_all_who_try_to_begin_one_does(tmp_path: Path, workers: list[Worker]) -> None:
    place = laid_out(tmp_path, shell(1, f"echo x >> {tmp_path}/effect"))
    workers += [Worker(place) for _ in range(3)]
    for worker in workers:
        worker.wait()
    assert (tmp_path / "effect").read_text() == "x\n"
    assert not job_folder.withdraw(place, RaySubmission(NAME, 0, 0))


def test_a_permit_that_was_withdrawn_is_no_permit(tmp_path: Path, workers: list[Worker]) -> None:
    place = laid_out(tmp_path, shell(1, f"echo x >> {tmp_path}/effect"))
    assert job_folder.withdraw(place, RaySubmission(NAME, 0, 0))
    assert job_folder.withdraw(place, RaySubmission(NAME, 0, 0))  # asked again: the same answer
    workers.append(Worker(place))
    workers[0].wait()
    assert not (tmp_path / "effect").exists()
    assert not job_folder.has_begun(place)


@pytest.mark.parametrize("by", ["worker", "server"])
def test_a_cut_leash_or_a_word_of_the_server_ends_all_of_the_job(
    tmp_path: Path, workers: list[Worker], by: str
) -> None:
    stubborn = f"(trap '' TERM; setsid sh -c '{FOR_EVER}') & echo up; {FOR_EVER}"
    place = laid_out(tmp_path, shell(1, stubborn))
    workers.append(Worker(place))
    await_word(place, "up\n")
    if by == "worker":
        workers[0].die()
    else:
        (place / keeper.END).touch()
    workers[0].wait()
    end = end_of(place)
    assert (end.code, end.signal, end.is_emptied) == (None, 15, True)
    assert end.is_cut == (by == "worker")
    process = job_folder.load_process(place)
    assert process is not None
    assert not Path(f"/proc/{process.pid}").exists()


def test_a_warning_becomes_a_signal_if_the_job_asked_for_one(
    tmp_path: Path, workers: list[Worker]
) -> None:
    text = f"trap 'echo warned; exit 5' USR1; echo up; {FOR_EVER}"
    place = laid_out(tmp_path, shell(1, text, warn_by_signal=True))
    workers.append(Worker(place))
    await_word(place, "up\n")
    (place / keeper.WARNING).write_text("{}")
    workers[0].wait()
    assert end_of(place).code == 5
    assert (place / keeper.OUTPUT).read_text() == "up\nwarned\n"


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        (JobSpec(1, argv=("/no/such/program",), token="t"), "argv"),
        (JobSpec(1, argv=("true",), token="t", cwd=Path("/no/such/folder")), "cwd"),
    ],
    ids=["program", "directory"],
)
def test_what_cannot_be_run_is_told_by_its_field(
    tmp_path: Path, workers: list[Worker], *, spec: JobSpec, field: str
) -> None:
    place = laid_out(tmp_path, spec)
    workers.append(Worker(place))
    workers[0].wait()
    refused = job_folder.load_unstarted(place)
    assert refused is not None
    assert refused.field == field
    assert job_folder.load_end(place) is None


GOOD: dict[str, Any] = {"format": 1, "code": 0, "ended_ms": 5, "is_cut": False, "emptied": False}


@pytest.mark.parametrize(
    "wrong",
    [
        {"format": 2},
        {"code": None},
        {"code": True},
        {"code": 256},
        {"signal": 9},
        {"ended_ms": -1},
        {"emptied": True},
    ],
    ids=str,
)
def test_an_exit_file_that_is_not_one_is_damage(tmp_path: Path, wrong: dict[str, Any]) -> None:
    path = tmp_path / keeper.EXIT
    path.write_text(json.dumps(GOOD))
    assert end_of(tmp_path).code == 0
    path.write_text(json.dumps(GOOD | wrong))
    with pytest.raises(Damaged):
        job_folder.load_end(tmp_path)


def test_a_lost_node_has_its_own_word() -> None:
    assert job_folder.lost_reason("node") is LostReason.NODE_LOST
    assert job_folder.lost_reason("worker") is LostReason.SUPERVISOR_GONE
    assert job_folder.lost_reason(None) is LostReason.SUPERVISOR_GONE
