"""After the owner's death: its jobs are found again, and strangers are not taken for them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.executors.local import supervisor
from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.launch import laid_out
from bailiwick.executors.local.proc import (
    is_same,
    load_boot_id,
    load_process,
    load_processes,
    parse_stat,
)
from bailiwick.executors.local.state import (
    FILE_BYTES_MAX,
    Identity,
    JobState,
    parse_exit,
    parse_state,
)
from bailiwick.executors.port import Adopted, Exited, LimitedBy, Lost, LostReason, Running
from bailiwick.vocab.errors import Damaged
from tests.executors.conftest import PATIENT
from tests.executors.jobs import ended, said, shell, text_of
from tests.support.waiting import WAIT_S, until

REPOSITORY = Path(__file__).resolve().parents[2]

STATE: dict[str, Any] = {
    "format": 1,
    "phase": "running",
    "lease_id": 7,
    "boot_id": "ae6056b1-ff85",
    "argv_digest": "00ff",
    "limited_by": "rlimit",
    "cgroup": "",
    "cwd": "/w",
    "warn_by_signal": False,
    "pid": 10,
    "start_ticks": 20,
    "supervisor_pid": 9,
    "supervisor_start_ticks": 19,
}


def forge(root: Path, lease_id: int, changes: dict[str, Any]) -> dict[str, Any]:
    """Change a job's state file; the file as it was."""
    path = root / str(lease_id) / "state.json"
    before: dict[str, Any] = json.loads(path.read_text())
    path.write_text(json.dumps(before | changes))
    return before


def stranger_of_another_tick(root: Path, lease_id: int) -> subprocess.Popen[bytes]:
    """A process that began later than the job by the system's clock of processes.

    That ticks a hundred times a second, and a job can begin and end within one tick. No process id
    comes round again so soon; a forged one does.
    """
    job = json.loads((root / str(lease_id) / "state.json").read_text())["start_ticks"]

    def begin() -> subprocess.Popen[bytes] | None:
        stranger = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        found = load_process(stranger.pid)
        if found is not None and found.start_ticks != job:
            return stranger
        stranger.kill()
        stranger.wait(WAIT_S)
        return None

    return until(begin, "a process begins in another tick")


@pytest.fixture
def left_behind(root: Path) -> Iterator[LocalExecutor]:
    """An executor on the jobs of an owner that was killed with SIGKILL."""
    command = [sys.executable, "-m", "tests.executors.owner", str(root)]
    owner = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    assert owner.stdout.readline() == "started\n"
    owner.send_signal(signal.SIGKILL)
    owner.wait(WAIT_S)
    owner.stdout.close()
    executor = LocalExecutor(root, waits=PATIENT)
    yield executor
    for found in executor.adopt():
        executor.tear_down(found.lease_id)


def test_the_jobs_of_a_killed_owner_are_found_with_their_proof(left_behind: LocalExecutor) -> None:
    ended(left_behind, 3)
    first, second, third = left_behind.adopt()
    assert [first.lease_id, second.lease_id, third.lease_id] == [1, 2, 3]
    assert isinstance(third.status, Exited)
    assert third.status.code == 9
    for found in (first, second):
        assert isinstance(found.status, Running)
        assert found.status.boot_id == load_boot_id()
        assert is_same(found.status.pid, found.status.start_ticks)


def test_the_exit_code_and_output_of_a_job_outlive_its_owner(
    left_behind: LocalExecutor, root: Path
) -> None:
    said(left_behind, 1, "begun")
    (root / "1/work/go").touch()
    assert ended(left_behind, 1).code == 42
    assert text_of(left_behind, 1) == "begun\ndone\n"


def test_an_adopted_job_can_be_torn_down(left_behind: LocalExecutor) -> None:
    status = left_behind.status(2)
    assert isinstance(status, Running)
    assert left_behind.tear_down(2)
    assert load_process(status.pid) is None


def test_what_is_no_job_is_not_adopted(executor: LocalExecutor, root: Path) -> None:
    for name in ("007", "lost+found", "-1", "٣"):
        (root / name).mkdir()
    (root / "5").touch()
    assert executor.adopt() == ()
    for name in ("007", "lost+found", "-1", "٣"):
        (root / name).rmdir()


def test_what_was_half_laid_out_is_cleared_by_the_next_owner(root: Path) -> None:
    (root / ".new-abc/work").mkdir(parents=True)
    assert LocalExecutor(root).adopt() == ()
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("delay_s", [0.0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.13])
def test_an_owner_killed_at_any_moment_leaves_no_job_unrecorded(root: Path, delay_s: float) -> None:
    command = [sys.executable, "-m", "tests.executors.owner", str(root), "many"]
    owner = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    assert owner.stdout.readline() == "started\n"
    time.sleep(delay_s)
    owner.send_signal(signal.SIGKILL)
    owner.wait(WAIT_S)
    owner.stdout.close()
    executor = LocalExecutor(root, waits=PATIENT)
    found = {job.lease_id: job.status for job in executor.adopt()}
    mark = f"BAILIWICK_LEASE_TOKEN_FILE={root}/"
    try:
        running = {job for job, status in found.items() if isinstance(status, Running)}
        others = {status.reason for status in found.values() if isinstance(status, Lost)}
        assert len(running) >= 1
        assert others <= {LostReason.NEVER_STARTED}
        names = {str(job) for job in running}
        assert _marked(mark) <= names
        # One that is recorded may still stand at its gate: its program comes a moment later.
        until(lambda: _marked(mark) == names, "all that is recorded runs")
    finally:
        assert all(executor.tear_down(job) for job in found)
    assert _marked(mark) == set()


def _marked(mark: str) -> set[str]:
    """The leases whose processes are in the process table, whatever any file says."""
    found = set()
    for pid, process in load_processes().items():
        try:
            entries = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if process.is_alive:
            found |= {e[len(mark) :].split("/")[0] for e in entries if e.startswith(mark)}
    return found


def test_a_job_whose_owner_died_before_it_heard_of_it_runs_on(
    executor: LocalExecutor, root: Path
) -> None:
    state = STATE | {"phase": "starting", "lease_id": 1, "boot_id": load_boot_id()}
    order = {
        "state": state,
        "argv": ["/bin/sh", "-c", f"until [ -e {root}/go ]; do sleep 0.02; done; exit 8"],
        "env": {},
        "cwd": "/",
        "cgroup": "",
        "rlimits": [],
        "cores": [],
        "output_bytes_max": 100,
    }
    heard, ready = os.pipe()
    os.close(heard)  # as if it had died
    with laid_out(root / "1", shell(1, ""), state=state) as lock:
        command = [sys.executable, "-I", "-S", supervisor.__file__]
        subprocess.run(
            [*command, str(root / "1"), str(ready), str(lock)],
            input=json.dumps(order).encode(),
            pass_fds=(ready, lock),
            check=True,
            timeout=WAIT_S,
        )
    os.close(ready)
    assert isinstance(executor.status(1), Running)
    (root / "go").touch()
    assert ended(executor, 1).code == 8


def test_an_order_that_was_cut_short_starts_nothing(executor: LocalExecutor, root: Path) -> None:
    state = STATE | {"phase": "starting", "lease_id": 1, "boot_id": load_boot_id()}
    with laid_out(root / "1", shell(1, ""), state=state) as lock:
        command = [sys.executable, "-I", "-S", supervisor.__file__, str(root / "1"), "1", str(lock)]
        done = subprocess.run(
            command,
            check=False,
            input=b'{"argv": ["/b',
            pass_fds=(lock,),
            capture_output=True,
            timeout=WAIT_S,
        )
    assert done.returncode != 0
    assert executor.status(1) == Lost(LostReason.NEVER_STARTED)
    assert executor.tear_down(1) is True


# --- forged and foreign --------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["start_ticks", "supervisor_start_ticks"])
def test_another_start_time_is_another_process_and_is_not_killed(
    executor: LocalExecutor, root: Path, field: str
) -> None:
    started = executor.start(shell(1, "sleep 1000"))
    before = forge(root, 1, {field: 1})
    try:
        assert executor.status(1) == Lost(LostReason.NOT_THE_SAME_PROCESS)
        assert executor.tear_down(1) is False
        assert is_same(started.pid, started.start_ticks)
    finally:
        forge(root, 1, before)
    assert isinstance(executor.status(1), Running)


def test_an_id_used_again_by_a_stranger_is_not_killed(executor: LocalExecutor, root: Path) -> None:
    executor.start(shell(1, "exit 0"))
    ended(executor, 1)
    stranger = stranger_of_another_tick(root, 1)
    try:
        (root / "1/exit.json").unlink()
        forge(root, 1, {"pid": stranger.pid})
        assert executor.status(1) == Lost(LostReason.SUPERVISOR_GONE)
        assert executor.tear_down(1) is True
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait(WAIT_S)


def test_a_job_of_another_boot_is_lost_and_nothing_of_it_can_live(
    executor: LocalExecutor, root: Path
) -> None:
    started = executor.start(shell(1, "sleep 1000"))
    before = forge(root, 1, {"boot_id": "0" * 36})
    try:
        assert executor.status(1) == Lost(LostReason.OTHER_BOOT)
        assert executor.tear_down(1) is True
        assert is_same(started.pid, started.start_ticks)
    finally:
        forge(root, 1, before)
    assert isinstance(executor.status(1), Running)  # and its supervisor was not touched either


def test_a_job_that_never_began_is_lost_and_clean(executor: LocalExecutor, root: Path) -> None:
    executor.start(shell(1, "true"))
    ended(executor, 1)
    (root / "1/exit.json").unlink()
    forge(root, 1, {"phase": "starting"})
    assert executor.adopt() == (Adopted(1, Lost(LostReason.NEVER_STARTED)),)
    assert executor.tear_down(1) is True


@pytest.mark.parametrize("name", ["state.json", "exit.json"])
@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe", b"{}", b"9" * 5000])
def test_a_damaged_file_is_lost(
    executor: LocalExecutor, root: Path, *, name: str, data: bytes
) -> None:
    executor.start(shell(1, "true"))
    ended(executor, 1)
    (root / "1" / name).write_bytes(data)
    assert executor.adopt() == (Adopted(1, Lost(LostReason.STATE_UNREADABLE)),)
    # How it ended is gone, that nothing lives is seen; without the state not even that.
    assert executor.tear_down(1) is (name == "exit.json")


def test_a_damaged_exit_file_saves_no_job_from_its_teardown(
    executor: LocalExecutor, root: Path
) -> None:
    started = executor.start(shell(1, "sleep 1000"))
    (root / "1/exit.json").write_bytes(b"garbage")
    assert executor.tear_down(1) is True
    assert load_process(started.pid) is None


def test_a_state_file_that_is_a_directory_is_lost(executor: LocalExecutor, root: Path) -> None:
    (root / "1/state.json").mkdir(parents=True)
    assert executor.status(1) == Lost(LostReason.STATE_UNREADABLE)
    assert executor.tear_down(1) is False


# --- reading what anybody may have written -------------------------------------------------------


def test_a_state_file_is_read_as_written() -> None:
    state = parse_state(json.dumps(STATE).encode())
    assert state == JobState(
        lease_id=7,
        boot_id="ae6056b1-ff85",
        argv_digest="00ff",
        limited_by=LimitedBy.RLIMIT,
        cgroup="",
        cwd="/w",
        warn_by_signal=False,
        job=Identity(10, 20),
        supervisor=Identity(9, 19),
    )
    early = parse_state(json.dumps(state.to_body()).encode())
    assert early.to_body() == state.to_body()
    assert early.job is None


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.binary())
def test_safety_any_bytes_are_a_value_or_damaged(data: bytes) -> None:
    for parse in (parse_state, parse_exit, parse_stat):
        try:
            parse(data)
        except Damaged:
            continue


@given(st.sampled_from(sorted(STATE)), ANYTHING)
def test_safety_any_field_may_hold_anything(key: str, value: object) -> None:
    try:
        state = parse_state(json.dumps(STATE | {key: value}).encode())
    except Damaged:
        return
    assert state.job is None or state.job.pid > 1


@given(st.dictionaries(st.sampled_from(["code", "signal", "ended_ms", "emptied"]), ANYTHING))
def test_safety_an_exit_has_one_cause(content: dict[str, object]) -> None:
    try:
        status = parse_exit(json.dumps({"format": 1} | content).encode())
    except Damaged:
        return
    assert (status.code is None) != (status.signal is None)


@pytest.mark.parametrize("data", [b"[" * 100_000, b"1" * 60_000, b" " * (FILE_BYTES_MAX + 1)])
def test_monstrous_files_are_damaged(data: bytes) -> None:
    for parse in (parse_state, parse_exit):
        with pytest.raises(Damaged):
            parse(data)


def test_our_own_process_is_read_from_the_process_table() -> None:
    found = load_process(os.getpid())
    assert found is not None
    assert (found.parent, found.session) == (os.getppid(), os.getsid(0))
    assert found.is_alive
