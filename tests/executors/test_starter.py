"""The process that supervisors are copied from: when it goes, nothing goes with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.proc import descendants, load_processes
from bailiwick.executors.local.teardown import find_bearers
from bailiwick.executors.port import Exited, Running
from tests.executors.jobs import ended, said, shell
from tests.support.waiting import until


def starters(root: Path) -> list[int]:
    """The one that is copied for the jobs of this folder, and its copies: the supervisors."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        is_one = any(word.endswith(b"/starter.py") for word in words)
        if is_one and os.fsencode(root) in words:
            found.append(int(path.name))
    return found


def test_one_that_was_killed_is_begun_again_and_the_jobs_go_on(
    executor: LocalExecutor, root: Path
) -> None:
    executor.start(shell(1, "echo begun; sleep 1000"))
    said(executor, 1, "begun")
    table = load_processes()
    (idle,) = [pid for pid in starters(root) if not descendants(table, pid)]
    os.kill(idle, signal.SIGKILL)
    executor.start(shell(2, "exit 3"))
    assert ended(executor, 2).code == 3
    assert isinstance(executor.status(1), Running)
    assert executor.tear_down(1)


def test_it_leaves_with_the_executors_process_and_the_job_stays(root: Path) -> None:
    text = (
        "import os, sys; from pathlib import Path\n"
        "from bailiwick.executors.local.executor import LocalExecutor\n"
        "from tests.executors.jobs import shell\n"
        "executor = LocalExecutor(Path(sys.argv[1]))\n"
        "executor.start(shell(1, 'sleep 1000'))\n"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", text, str(root)], check=False)
    assert done.returncode == -signal.SIGKILL
    executor = LocalExecutor(root)
    assert isinstance(executor.status(1), Running)
    until(lambda: len(starters(root)) == 1, "only the job's supervisor is left")
    assert executor.tear_down(1)
    assert isinstance(executor.status(1), Exited)
    until(lambda: not starters(root), "nothing is left")
    assert not find_bearers(b"BAILIWICK_LEASE_TOKEN_FILE=" + os.fsencode(root / "1/token"))
