"""Every mode that this machine can have: a job reaches nothing that is not its own, and the
promises of the executor hold all the same."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bailiwick.agent.process import jobs_there
from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.modes import (
    UIDS,
    Apart,
    JobMode,
    ProjectUsers,
    ShownFolder,
    can_sandbox,
    can_switch_users,
    device_paths,
    parse_shown,
)
from bailiwick.executors.local.proc import load_process
from bailiwick.executors.local.sandbox import FORBIDDEN, filter_of
from bailiwick.executors.port import JobSpec, Lost, LostReason, Running, UsedInAll
from bailiwick.vocab.errors import Damaged, InvalidValue
from tests.executors.conftest import HASTY, PATIENT
from tests.executors.jobs import ended, said, shell, text_of
from tests.support.waiting import WAIT_S, until

APART = [
    pytest.param(mode, marks=pytest.mark.skipif(not can, reason=f"no {mode} on this machine"))
    for mode, can in ((JobMode.SANDBOX, can_sandbox()), (JobMode.USERS, can_switch_users()))
]
MODES = [JobMode.TRUSTED, *APART]
PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
"""One that every user of this machine may run."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The folder of a server: a database, a key, and another job's folder."""
    folder = tmp_path / "data"
    (folder / "jobs/9/work").mkdir(parents=True)
    for path in (folder, folder / "jobs", folder / "jobs/9"):
        path.chmod(0o700)
    for name in ("authority.pem", "jobs/9/output", "jobs/9/token"):
        (folder / name).write_text("secret")
    with sqlite3.connect(folder / "bailiwick.db") as database:
        database.execute("CREATE TABLE journal (seq INTEGER, line TEXT)")
        database.execute("INSERT INTO journal VALUES (1, 'true')")
    return folder


def opened(data: Path, mode: JobMode, **more: object) -> LocalExecutor:
    apart = Apart(mode=mode, hidden=(data,), shown=more.pop("shown", ()))  # type: ignore[arg-type]
    return LocalExecutor(data / "jobs", apart=apart, **more)  # type: ignore[arg-type]


@pytest.fixture(params=MODES)
def executor(request: pytest.FixtureRequest, data: Path) -> Iterator[LocalExecutor]:
    executor = opened(data, request.param, waits=PATIENT)
    yield executor
    for found in executor.adopt():
        if found.lease_id != 9:
            executor.tear_down(found.lease_id)
            executor.forget(found.lease_id)


def test_a_job_reaches_what_is_not_its_own_only_if_it_is_trusted(
    executor: LocalExecutor, data: Path, tmp_path: Path
) -> None:
    other = subprocess.Popen(["/bin/sleep", "1000"], env={"SECRET": "of another"})
    address = str(tmp_path / "s")
    program = Path(__file__).with_name("attacker.py").read_text()
    words = (PYTHON, "-I", "-c", program, str(data), str(other.pid), address)
    try:
        with socket.socket(socket.AF_UNIX) as here, socket.socket(socket.AF_UNIX) as abstract:
            here.bind(address)
            here.listen()
            abstract.bind("\0" + address)
            abstract.listen()
            executor.start(JobSpec(1, argv=words, token="t", owner="lab/one"))
            assert ended(executor, 1).code == 0, text_of(executor, 1)
    finally:
        other.kill()
        other.wait(WAIT_S)
    found = json.loads(text_of(executor, 1))
    is_trusted = executor.mode is JobMode.TRUSTED
    files = found.pop("files")
    assert (f"{data}/authority.pem" in files) is is_trusted
    assert bool(files) is is_trusted, files
    with sqlite3.connect(data / "bailiwick.db") as database:
        rows = database.execute("SELECT count(*) FROM journal").fetchone()[0]
    assert rows == (2 if is_trusted else 1)
    assert set(found.values()) == {is_trusted}, found


def test_what_a_job_leaves_outside_its_folder_is_never_told_as_nothing_left(
    executor: LocalExecutor,
) -> None:
    left = Path("/var/tmp") / f"bailiwick-left-{os.getpid()}"
    text = f"echo full > {left}; echo full > /tmp/{left.name}; true"
    assert jobs_there(executor) == (1 if executor.mode is JobMode.SANDBOX else None)
    try:
        executor.start(shell(1, text, owner="lab/one"))
        assert ended(executor, 1).code == 0
        assert executor.tear_down(1)
        executor.forget(1)
        paths = (left, Path("/tmp") / left.name)
        is_left = any(path.exists() for path in paths)
    finally:
        for path in (left, Path("/tmp") / left.name):
            path.unlink(missing_ok=True)
    assert is_left is (executor.mode is not JobMode.SANDBOX)
    # The fixture's own folder of a job is there all the time.
    assert jobs_there(executor) == (None if is_left else 1)


@pytest.mark.parametrize(
    ("apart", "is_known"),
    [
        (Apart(), True),
        (Apart(shown=(ShownFolder(Path("/usr")),)), True),
        (Apart(shown=(ShownFolder(Path("/usr")), ShownFolder(Path("/opt"), True))), False),
        (Apart(host_members=True), False),
    ],
)
@pytest.mark.parametrize("mode", [*MODES, JobMode.CLOSED])
def test_of_how_many_jobs_something_is_left_is_known_only_where_walls_keep_it_in(
    mode: JobMode, apart: Apart, is_known: bool, tmp_path: Path
) -> None:
    executor = LocalExecutor(tmp_path / "jobs", apart=replace(apart, mode=mode))
    is_known = is_known and mode is JobMode.SANDBOX
    assert jobs_there(executor) == (0 if is_known else None)
    (tmp_path / "jobs" / "7").mkdir()
    assert jobs_there(executor) == (1 if is_known else None)


def test_a_job_of_another_project_has_another_user(executor: LocalExecutor) -> None:
    for lease_id, owner in ((1, "lab/one"), (2, "lab/two"), (3, "lab/one")):
        executor.start(shell(lease_id, "id -u; cat $BAILIWICK_LEASE_TOKEN_FILE", owner=owner))
        assert ended(executor, lease_id).code == 0
    uids = [int(text_of(executor, i).split()[0]) for i in (1, 2, 3)]
    assert uids[0] == uids[2]
    if executor.mode is not JobMode.TRUSTED and os.geteuid() == 0:
        assert uids[0] != uids[1]
        assert {*uids} <= {*UIDS}


def test_a_job_has_a_name_a_home_a_place_for_files_and_can_make_its_own_environment(
    executor: LocalExecutor,
) -> None:
    is_own = executor.mode is JobMode.TRUSTED  # then it is the server's own user
    name = pwd.getpwuid(os.getuid()).pw_name if is_own else "job"
    home = "" if is_own else '[ "$(pwd)" = "$HOME" ];'
    text = (
        f'set -e; echo "$USER $LOGNAME" > who; read who < who; [ "$who" = "{name} {name}" ];'
        f'{home} t=$(mktemp); echo x > "$t";'
        "/usr/bin/env python3 -c 'import getpass; print(getpass.getuser())'"
    )
    executor.start(JobSpec(1, argv=("/bin/sh", "-c", text), token="t", owner="lab/p"))
    assert ended(executor, 1).code == 0, text_of(executor, 1)
    assert text_of(executor, 1) == f"{name}\n"


def test_how_it_ended_and_what_it_said_is_known(executor: LocalExecutor) -> None:
    executor.start(shell(1, "echo one; echo two >&2; exit 3"))
    assert ended(executor, 1).code == 3
    assert text_of(executor, 1) == "one\ntwo\n"
    executor.start(shell(2, "kill -SEGV $$"))
    assert ended(executor, 2).signal == signal.SIGSEGV
    assert isinstance(executor.usage(1), UsedInAll)


def test_all_it_started_is_ended_daemons_too(executor: LocalExecutor) -> None:
    executor.start(shell(1, "setsid sleep 1000 & setsid sleep 1001 & echo up; exec sleep 1002"))
    said(executor, 1, "up")
    status = executor.status(1)
    assert isinstance(status, Running)
    assert executor.tear_down(1)
    assert load_process(status.pid) is None
    assert ended(executor, 1).signal == signal.SIGTERM


def test_a_daemon_outlives_its_job_and_is_told(executor: LocalExecutor) -> None:
    executor.start(shell(1, "setsid sh -c 'until [ -e go ]; do sleep 0.02; done' & exit 4"))
    status = until(lambda: None if isinstance(s := executor.status(1), Running) else s, "it ended")
    assert (status.code, status.is_emptied) == (4, False)  # type: ignore[union-attr]
    assert executor.tear_down(1)


def test_a_warning_is_read_by_the_job_and_taken_back(executor: LocalExecutor) -> None:
    text = 'until cat "$BAILIWICK_PREEMPTION_FILE" 2>&-; do sleep 0.02; done; sleep 1000'
    executor.start(shell(1, text))
    executor.warn(1, 5)
    said(executor, 1, '{"lease_id": 1, "until_ms": 5}')
    assert executor.status(1).is_warned  # type: ignore[union-attr]
    executor.call_off(1)
    assert not executor.status(1).is_warned  # type: ignore[union-attr]


def test_another_owner_finds_it_again(executor: LocalExecutor, data: Path) -> None:
    started = executor.start(shell(1, "until [ -e go ]; do sleep 0.02; done; exit 8", owner="a/b"))
    again = opened(data, executor.mode, waits=PATIENT)
    status = again.status(1)
    assert isinstance(status, Running)
    assert status.pid == started.pid
    (started.cwd / "go").touch()
    assert ended(again, 1).code == 8


def test_what_cannot_be_run_is_refused_and_leaves_nothing(executor: LocalExecutor) -> None:
    with pytest.raises(InvalidValue, match=r"argv\[0\]"):
        executor.start(JobSpec(1, argv=("/no/such/program",), token="t"))
    assert 1 not in executor.leases()


@pytest.mark.parametrize("mode", APART[:1])
def test_with_its_supervisor_all_of_a_sandboxed_job_ends(data: Path, mode: JobMode) -> None:
    executor = opened(data, mode, waits=HASTY)
    executor.start(shell(1, "setsid sleep 1000 & echo up; sleep 1000"))
    said(executor, 1, "up")
    os.kill(json.loads((data / "jobs/1/state.json").read_text())["supervisor_pid"], signal.SIGKILL)
    gone = Lost(LostReason.SUPERVISOR_GONE)
    until(lambda: executor.status(1) == gone, "the supervisor is gone")
    assert until(lambda: executor.tear_down(1), "nothing is left")


@pytest.mark.parametrize("mode", APART[:1])
def test_a_sandboxed_job_sees_what_is_shown_and_has_no_way_to_more(
    data: Path, mode: JobMode, tmp_path: Path
) -> None:
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o777)
    shown = (ShownFolder(tmp_path / "in"), ShownFolder(tmp_path / "out", is_writable=True))
    executor = opened(data, mode, waits=PATIENT, shown=shown)
    text = (
        f"touch {tmp_path}/in/x; touch {tmp_path}/out/x && echo wrote; ls /proc | grep -c '^[0-9]';"
        "unshare -U true || echo no-user; mount -t tmpfs x /mnt || echo no-mount; touch /x;"
        "grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status"
    )
    executor.start(shell(1, text))
    ended(executor, 1)
    told = text_of(executor, 1)
    assert (tmp_path / "out/x").exists()
    assert not (tmp_path / "in/x").exists()
    for word in ("wrote", "no-user", "no-mount", "NoNewPrivs:\t1", "Seccomp:\t2", "0000000000\n"):
        assert word in told
    with pytest.raises(InvalidValue, match="job-path"):
        opened(data, mode, shown=(ShownFolder(data / "jobs"),))


def test_trusted_jobs_are_one_tenants_and_where_nothing_holds_none_run(data: Path) -> None:
    executor = opened(data, JobMode.TRUSTED)
    executor.start(shell(1, "true", owner="lab/one"))
    ended(executor, 1)
    with pytest.raises(InvalidValue, match="owner"):
        executor.start(shell(2, "true", owner="rival/one"))
    with pytest.raises(InvalidValue, match="owner"):
        opened(data, JobMode.CLOSED).start(shell(3, "true", owner="lab/one"))
    assert executor.leases() == (1, 9)


def test_a_user_id_stays_its_projects(tmp_path: Path) -> None:
    path = tmp_path / "users.json"
    first = [ProjectUsers(path).of(owner) for owner in ("a/x", "a/y", "a/x")]
    assert first == [UIDS[0], UIDS[1], UIDS[0]]
    assert ProjectUsers(path).of("a/y") == UIDS[1]
    for text in (
        "{",
        "[]",
        '{"users": {"a": 0}}',
        f'{{"users": {{"a": {UIDS[0]}, "b": {UIDS[0]}}}}}',
    ):
        path.write_text(text)
        with pytest.raises(Damaged):
            ProjectUsers(path).of("a/x")


def test_devices_are_counted_by_address(tmp_path: Path) -> None:
    for address, minor in (("0000:01:00.0", 1), ("0000:02:00.0", 0)):
        (tmp_path / address).mkdir()
        (tmp_path / address / "information").write_text(f"Model: x\nDevice Minor: \t {minor}\n")
    assert device_paths((), gpus=tmp_path) == []
    have = {path for path in device_paths((0,), gpus=tmp_path) if path[-1].isdigit()}
    assert have <= {"/dev/nvidia1"}


@pytest.mark.parametrize("text", ["relative", "/", "/no/such/folder"])
def test_only_a_folder_can_be_shown(text: str) -> None:
    with pytest.raises(InvalidValue, match="job-path"):
        parse_shown(text)


def test_a_filter_is_made_for_each_known_machine() -> None:
    assert {machine for machine in FORBIDDEN if len(filter_of(machine)) % 8 == 0} == {*FORBIDDEN}
    assert filter_of("vax") == b""
