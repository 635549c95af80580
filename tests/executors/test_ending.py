"""Warning and teardown: everything of a job ends, and nothing else does."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.proc import Process, load_process, load_processes
from bailiwick.executors.local.teardown import Census, Sight, TeardownWaits, take_census
from bailiwick.executors.port import Exited, Running
from bailiwick.vocab.errors import Conflict, NotFound
from tests.executors.conftest import HASTY
from tests.executors.jobs import ended, python, said, shell, text_of
from tests.support.waiting import WAIT_S, until

# A child of the job, a child that left for a session of its own, and a full daemon.
FAMILY = """
import os, time
def tell(word):
    os.write(1, f"{word} {os.getpid()}\\n".encode())
    time.sleep(1000)
if not os.fork():
    tell("child")
if not os.fork():
    os.setsid()
    tell("session")
if not os.fork():
    os.setsid()
    if os.fork():
        os._exit(0)
    tell("daemon")
tell("main")
"""

DEAF = """
import os, signal, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
os.fork()
print("deaf", os.getpid(), flush=True)
time.sleep(1000)
"""


def is_alive(pid: int) -> bool:
    process = load_process(pid)
    return process is not None and process.is_alive


def family_of(executor: LocalExecutor, lease_id: int) -> dict[str, int]:
    for word in ("child", "session", "daemon", "main"):
        said(executor, lease_id, word)
    until(lambda: text_of(executor, lease_id).count("\n") == 4, "all four have told")
    lines = text_of(executor, lease_id).splitlines()
    return {word: int(pid) for word, pid in (line.split() for line in lines)}


def supervisor_of(root: Path, lease_id: int) -> int:
    return int(json.loads((root / str(lease_id) / "state.json").read_text())["supervisor_pid"])


def kill_supervisor(root: Path, lease_id: int) -> None:
    pid = supervisor_of(root, lease_id)
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_alive(pid), "the supervisor is gone")


# --- warning -------------------------------------------------------------------------------------


def test_a_warning_is_a_file_with_the_deadline_and_hurts_nobody(executor: LocalExecutor) -> None:
    text = 'until [ -e PREEMPTION ]; do sleep 0.02; done; cat "$BAILIWICK_PREEMPTION_FILE"; exit 5'
    executor.start(shell(1, text))
    executor.warn(1, 123_456)
    assert ended(executor, 1).code == 5
    assert json.loads(text_of(executor, 1)) == {"lease_id": 1, "until_ms": 123_456}


def test_a_warning_is_taken_back_and_the_job_goes_on(executor: LocalExecutor, root: Path) -> None:
    executor.start(shell(1, "echo up; exec sleep 1000"))
    said(executor, 1, "up")
    calm = executor.status(1)
    executor.warn(1, 123_456)
    warned = executor.status(1)
    executor.call_off(1)
    executor.call_off(1)  # and again, in vain
    assert isinstance(warned, Running)
    assert warned.is_warned
    assert executor.status(1) == calm
    assert not (root / "1/work/PREEMPTION").exists()


def test_a_job_that_did_not_ask_gets_no_signal(executor: LocalExecutor) -> None:
    executor.start(shell(1, "echo up; exec sleep 1000"))
    said(executor, 1, "up")
    executor.warn(1, 1)
    time.sleep(0.2)
    assert isinstance(executor.status(1), Running)


def test_a_job_that_asked_gets_its_signal_and_its_children_do_not(executor: LocalExecutor) -> None:
    text = "sleep 1000 & trap 'echo warned; kill -0 $! && echo child lives; kill $!; exit 4' USR1; "
    executor.start(shell(1, text + "echo up; wait", warn_by_signal=True))
    said(executor, 1, "up")
    executor.warn(1, 1)
    assert ended(executor, 1).code == 4
    assert text_of(executor, 1) == "up\nwarned\nchild lives\n"


def test_a_job_that_removed_its_directory_is_warned_all_the_same(
    executor: LocalExecutor, root: Path
) -> None:
    executor.start(shell(1, "rmdir $PWD; echo up; sleep 1000"))
    said(executor, 1, "up")
    executor.warn(1, 7)
    assert (root / "1/work/PREEMPTION").exists()


def test_a_job_that_has_ended_may_be_warned_in_vain(executor: LocalExecutor) -> None:
    executor.start(shell(1, "exit 2", warn_by_signal=True))
    ended(executor, 1)
    executor.warn(1, 1)
    assert ended(executor, 1).code == 2


# --- teardown ------------------------------------------------------------------------------------


def test_teardown_ends_all_that_a_job_started_and_is_clean(
    executor: LocalExecutor, root: Path
) -> None:
    executor.start(python(1, FAMILY))
    family = family_of(executor, 1)
    supervisor = supervisor_of(root, 1)
    assert executor.tear_down(1) is True
    assert not any(is_alive(pid) for pid in (*family.values(), supervisor))
    status = executor.status(1)
    assert isinstance(status, Exited)
    assert (status.signal, status.is_emptied) == (signal.SIGTERM, True)
    assert executor.tear_down(1) is True  # and again


def test_a_job_may_end_by_itself_on_sigterm(executor: LocalExecutor) -> None:
    executor.start(
        shell(1, "trap 'echo saved; exit 0' TERM; echo up; while :; do sleep 0.05; done")
    )
    said(executor, 1, "up")
    assert executor.tear_down(1)
    assert ended(executor, 1).code == 0
    assert text_of(executor, 1).endswith("saved\n")


def test_a_job_that_ignores_sigterm_is_killed(hasty: LocalExecutor) -> None:
    hasty.start(python(1, DEAF))
    until(lambda: text_of(hasty, 1).count("deaf") == 2, "both are deaf")
    began = time.monotonic()
    assert hasty.tear_down(1)
    assert time.monotonic() - began >= HASTY.term_s
    assert ended(hasty, 1).signal == signal.SIGKILL


def test_a_job_that_was_stopped_is_ended(executor: LocalExecutor) -> None:
    started = executor.start(shell(1, "kill -STOP $$; sleep 1000"))
    until(lambda: (found := load_process(started.pid)) and found.state == "T", "it is stopped")
    assert executor.tear_down(1)
    assert ended(executor, 1).signal == signal.SIGTERM  # it was heard


def test_what_outlives_the_main_process_is_told_and_torn_down(executor: LocalExecutor) -> None:
    executor.start(shell(1, "sleep 1000 & echo $!; exit 0"))
    status = until(
        lambda: found if isinstance(found := executor.status(1), Exited) else None,
        "the main process has ended",
    )
    assert (status.code, status.is_emptied) == (0, False)
    left = int(text_of(executor, 1))
    assert is_alive(left)
    assert executor.tear_down(1)
    assert not is_alive(left)
    assert ended(executor, 1).code == 0


def test_a_teardown_that_leaves_something_is_not_clean(root: Path) -> None:
    immortal = Process(1, 0, 0, "D", 1, 0)  # another start time: it is never reached

    def look(sight: Sight) -> Census:
        return Census((*take_census(sight).ours, immortal))

    executor = LocalExecutor(root, waits=TeardownWaits(WAIT_S, 0.1, 0.3), look=look)
    executor.start(shell(1, "sleep 1000"))
    assert executor.tear_down(1) is False
    assert isinstance(ended(executor, 1), Exited)  # what could be ended was


def test_teardown_touches_no_other_job_and_no_other_process(executor: LocalExecutor) -> None:
    other = subprocess.Popen(["sleep", "1000"])
    try:
        for lease_id in (1, 2):
            executor.start(shell(lease_id, "sleep 1000"))
        before = set(load_processes())
        assert executor.tear_down(1)
        assert isinstance(executor.status(2), Running)
        assert other.poll() is None
        assert {os.getpid(), other.pid} <= before & set(load_processes())
    finally:
        other.kill()
        other.wait(WAIT_S)


# --- without its supervisor ----------------------------------------------------------------------


def test_a_job_whose_supervisor_was_killed_is_lost_and_can_be_torn_down(
    executor: LocalExecutor, root: Path
) -> None:
    started = executor.start(shell(1, "sleep 1000 & echo up; sleep 1000"))
    said(executor, 1, "up")
    kill_supervisor(root, 1)
    assert str(executor.status(1)) == "Lost(reason=<LostReason.SUPERVISOR_GONE: 'supervisor_gone'>)"
    assert is_alive(started.pid)
    with pytest.raises(Conflict):
        executor.forget(1)
    members = [p.pid for p in load_processes().values() if p.session == started.pid]
    assert len(members) >= 2
    assert executor.tear_down(1)
    assert not any(is_alive(pid) for pid in members)
    executor.forget(1)
    assert executor.adopt() == ()


def test_without_supervisor_and_main_process_the_rest_of_the_session_is_ended_by_its_mark(
    executor: LocalExecutor, root: Path
) -> None:
    started = executor.start(shell(1, "sleep 1000 & echo $!; sleep 1000"))
    left = int(said(executor, 1, "\n"))
    kill_supervisor(root, 1)
    os.kill(started.pid, signal.SIGKILL)
    until(lambda: load_process(started.pid) is None, "the main process is gone")
    assert is_alive(left)
    assert executor.tear_down(1)
    assert not is_alive(left)


def test_without_supervisor_and_main_process_an_unmarked_one_is_left_alone_and_unclean(
    hasty: LocalExecutor, root: Path
) -> None:
    started = hasty.start(shell(1, "env -i sleep 1000 & echo $!; sleep 1000"))
    left = int(said(hasty, 1, "\n"))
    until(lambda: Path(f"/proc/{left}/environ").read_bytes() == b"", "it has no mark")
    kill_supervisor(root, 1)
    os.kill(started.pid, signal.SIGKILL)
    until(lambda: load_process(started.pid) is None, "the main process is gone")
    try:
        assert hasty.tear_down(1) is False
        assert is_alive(left)
    finally:
        os.kill(left, signal.SIGKILL)
    until(lambda: hasty.tear_down(1), "nothing is left")


def test_a_daemon_that_left_the_session_of_a_job_without_supervisor_makes_it_unclean(
    hasty: LocalExecutor, root: Path
) -> None:
    hasty.start(python(1, FAMILY))
    family = family_of(hasty, 1)
    kill_supervisor(root, 1)
    try:
        assert hasty.tear_down(1) is False  # nothing proves that they are the job's
        assert not is_alive(family["main"])
        assert not is_alive(family["child"])
        assert is_alive(family["session"])
        assert is_alive(family["daemon"])
    finally:
        for word in ("session", "daemon"):
            os.kill(family[word], signal.SIGKILL)
    until(lambda: hasty.tear_down(1), "nothing is left")


def _is_removed(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def test_a_job_whose_folder_was_removed_is_not_called_clean_while_it_lives(
    executor: LocalExecutor, root: Path
) -> None:
    started = executor.start(shell(1, "exec sleep 1000"))
    supervisor = supervisor_of(root, 1)
    # Its supervisor may write beside us: what it adds while the folder goes is removed too.
    until(lambda: _is_removed(root), "the folder is removed")
    assert executor.adopt() == ()
    try:
        assert executor.tear_down(1) is False
    finally:
        for pid in (supervisor, started.pid):
            os.kill(pid, signal.SIGKILL)
    until(lambda: not is_alive(started.pid), "it is gone")
    with pytest.raises(NotFound):
        executor.tear_down(1)
    executor.start(shell(2, "exit 4"))  # and there is a folder for the next
    assert ended(executor, 2).code == 4


def test_a_supervisor_that_is_stuck_is_ended_with_its_job(
    executor: LocalExecutor, root: Path
) -> None:
    del executor  # it ends what is left
    # The whole of the wait passes here: a stuck supervisor does not leave by itself.
    hasty = LocalExecutor(root, waits=TeardownWaits(start_s=WAIT_S, term_s=0.2, kill_s=2))
    hasty.start(shell(1, "sleep 1000"))
    supervisor = supervisor_of(root, 1)
    os.kill(supervisor, signal.SIGSTOP)
    until(lambda: hasty.tear_down(1), "it is clean")
    assert not is_alive(supervisor)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_supervisor_minds_only_its_job(
    executor: LocalExecutor, root: Path, number: signal.Signals
) -> None:
    executor.start(shell(1, "until [ -e go ]; do sleep 0.02; done; exit 6"))
    os.kill(supervisor_of(root, 1), number)
    (root / "1/work/go").touch()
    assert ended(executor, 1).code == 6
