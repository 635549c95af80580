"""What a job sees, what is kept of it, and what is refused: with real processes."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pwd
import signal
import stat
import sys
import threading
from pathlib import Path

import pytest

from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.proc import load_processes
from bailiwick.executors.local.teardown import TeardownWaits
from bailiwick.executors.port import (
    Exited,
    JobSpec,
    LimitedBy,
    Limits,
    Lost,
    LostReason,
    Running,
)
from bailiwick.vocab.errors import BailiwickError, Conflict, InvalidValue, NotFound, Unavailable
from bailiwick.vocab.jobs import PLAIN_PATH
from tests.executors.conftest import PATIENT
from tests.executors.jobs import ended, python, said, shell, text_of
from tests.support.waiting import WAIT_S, until

SHOW_ENV = "import json, os; print(json.dumps(dict(os.environ)))"


def test_a_job_runs_and_what_it_says_is_kept_in_order(executor: LocalExecutor) -> None:
    started = executor.start(shell(1, "echo one; echo two >&2; echo three; exit 3"))
    assert ended(executor, 1).code == 3
    assert text_of(executor, 1) == "one\ntwo\nthree\n"
    assert started.limited_by in tuple(LimitedBy)
    assert started.unenforced == ()
    assert executor.output(1)[0].read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize("code", [0, 1, 126, 255])
def test_an_exit_code_is_told(executor: LocalExecutor, code: int) -> None:
    executor.start(shell(1, f"exit {code}"))
    status = ended(executor, 1)
    assert (status.code, status.signal) == (code, None)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGPIPE])
def test_a_signal_is_told(executor: LocalExecutor, number: signal.Signals) -> None:
    executor.start(
        python(
            1,
            f"import os, signal; signal.signal({number.value}, signal.SIG_DFL)"
            f" if {number.value} != 9 else 0; os.kill(os.getpid(), {number})",
        )
    )
    status = ended(executor, 1)
    assert (status.code, status.signal) == (None, number)


def test_the_environment_is_exactly_what_is_documented(
    executor: LocalExecutor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SECRET_OF_THE_SERVER", "PYTHONPATH", "LD_LIBRARY_PATH", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "leak")
    executor.start(python(5, SHOW_ENV, env={"MINE": "yes"}, device_indices=(2, 0)))
    ended(executor, 5)
    found = json.loads(text_of(executor, 5))
    found.pop("LC_CTYPE", None)  # Python's own, made inside the job
    assert found == {
        "PATH": PLAIN_PATH,
        "HOME": pwd.getpwuid(os.getuid()).pw_dir,
        "LANG": "C.UTF-8",
        "SHELL": "/bin/sh",
        "USER": pwd.getpwuid(os.getuid()).pw_name,
        "LOGNAME": pwd.getpwuid(os.getuid()).pw_name,
        "MINE": "yes",
        "BAILIWICK_LEASE_ID": "5",
        "BAILIWICK_LEASE_TOKEN": "secret-token",
        "BAILIWICK_LEASE_TOKEN_FILE": str(root / "5/token"),
        "BAILIWICK_PREEMPTION_FILE": str(root / "5/work/PREEMPTION"),
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": "2,0",
        "NVIDIA_VISIBLE_DEVICES": "2,0",
    }


def test_the_supervisor_has_nothing_of_our_environment_and_no_secret_in_its_arguments(
    executor: LocalExecutor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_SERVER", "leak")
    executor.start(shell(1, "sleep 1000", env={"MINE": "user-secret"}))
    pid = json.loads((root / "1/state.json").read_text())["supervisor_pid"]
    assert Path(f"/proc/{pid}/environ").read_bytes() == b""
    assert b"secret" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    kept = [p.read_bytes() for p in (root / "1").iterdir() if p.is_file() and p.name != "token"]
    assert not any(b"secret" in data for data in kept)


def test_a_job_without_devices_sees_none(executor: LocalExecutor) -> None:
    executor.start(shell(1, 'echo "[$CUDA_VISIBLE_DEVICES][$NVIDIA_VISIBLE_DEVICES]"'))
    ended(executor, 1)
    assert text_of(executor, 1) == "[][]\n"


def test_a_user_may_change_the_base_and_the_program_is_sought_there(
    executor: LocalExecutor, tmp_path: Path
) -> None:
    program = tmp_path / "train"
    program.write_text("#!/bin/sh\necho trained in $LANG\n")
    program.chmod(0o755)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "LANG": "de_DE"}
    executor.start(JobSpec(1, argv=("train",), token="t", env=env))
    assert ended(executor, 1).code == 0
    assert text_of(executor, 1) == "trained in de_DE\n"


def test_the_working_directory_is_private_and_so_is_the_token(
    executor: LocalExecutor, root: Path
) -> None:
    started = executor.start(shell(1, 'pwd; cat "$BAILIWICK_LEASE_TOKEN_FILE"; echo kept > file'))
    ended(executor, 1)
    assert text_of(executor, 1) == f"{root}/1/work\nsecret-token"
    assert started.cwd == root / "1/work"
    assert (started.cwd / "file").read_text() == "kept\n"
    for path in (root, root / "1", root / "1/work"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    for name in ("token", "state.json", "exit.json", "output", "lock"):
        assert stat.S_IMODE((root / "1" / name).stat().st_mode) == 0o600


def test_a_given_working_directory_is_used(executor: LocalExecutor, tmp_path: Path) -> None:
    executor.start(shell(1, "pwd", cwd=tmp_path))
    ended(executor, 1)
    assert text_of(executor, 1) == f"{tmp_path}\n"


def test_a_job_gets_no_input_no_open_files_and_default_signals(executor: LocalExecutor) -> None:
    executor.start(
        shell(1, "cat; ls /proc/self/fd | wc -l; grep -E 'SigIgn|SigBlk' /proc/self/status")
    )
    ended(executor, 1)
    words = text_of(executor, 1).split()
    assert words[0] == "4"  # the three, and the directory that ls reads
    # Signals 32 and 33 belong to the C library, which lets nobody set them; `make` hands them on.
    assert {int(word, 16) & ~0x1_8000_0000 for word in words[2::2]} == {0}


def test_arguments_reach_the_program_as_they_are(executor: LocalExecutor) -> None:
    odd = ("$HOME", "a b", "`id`", "", "ü\udcff", "-n")
    text = "import sys, os; print([os.fsencode(a) for a in sys.argv[1:]])"
    spec = JobSpec(1, argv=(sys.executable, "-X", "utf8", "-c", text, *odd), token="t")
    executor.start(spec)
    ended(executor, 1)
    assert text_of(executor, 1).strip() == str([os.fsencode(word) for word in odd])


# --- output --------------------------------------------------------------------------------------


def test_output_can_be_followed_by_offset_while_the_job_runs(executor: LocalExecutor) -> None:
    executor.start(shell(1, "echo first; sleep 1000"))
    said(executor, 1, "first\n")
    part = executor.read_output(1, 0, limit=3)
    assert (part.data, part.next_offset) == (b"fir", 3)
    part = executor.read_output(1, part.next_offset)
    assert (part.data, part.next_offset, part.is_truncated) == (b"st\n", 6, False)
    assert executor.read_output(1, 6).data == b""
    assert isinstance(executor.status(1), Running)


def test_output_past_the_bound_is_dropped_and_the_job_goes_on(executor: LocalExecutor) -> None:
    text = "import sys; sys.stdout.write('x' * 3_000_000); sys.stdout.flush(); sys.exit(7)"
    executor.start(python(1, text, output_bytes_max=1000))
    assert ended(executor, 1).code == 7
    part = executor.read_output(1, 0, limit=10**7)
    assert part.data == b"x" * 1000
    assert part.is_truncated


def test_output_of_exactly_the_bound_is_whole(executor: LocalExecutor) -> None:
    executor.start(shell(1, "printf 12345", output_bytes_max=5))
    ended(executor, 1)
    part = executor.read_output(1, 0)
    assert (part.data, part.is_truncated) == (b"12345", False)


def test_all_output_is_there_when_the_end_is_told(executor: LocalExecutor) -> None:
    executor.start(python(1, "print('y' * 500_000)"))
    until(lambda: isinstance(executor.status(1), Exited), "the end is told")
    assert len(executor.read_output(1, 0, limit=10**6).data) == 500_001


# --- limits --------------------------------------------------------------------------------------


def test_a_job_cannot_have_more_memory_than_its_limit(executor: LocalExecutor) -> None:
    text = "kept = bytearray(400 * 2**20); print('had it all')"
    executor.start(python(1, text, limits=Limits(mem_bytes=100 * 2**20)))
    status = ended(executor, 1)
    assert (status.code, status.signal) != (0, None)
    assert "had it all" not in text_of(executor, 1)
    executor.start(python(2, text, limits=Limits(mem_bytes=800 * 2**20)))
    assert ended(executor, 2).code == 0


def test_a_large_reservation_that_is_not_used_is_no_memory(executor: LocalExecutor) -> None:
    """CUDA reserves far more address space than a machine has memory."""
    text = (
        "import ctypes, ctypes.util\n"
        "libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p\n"
        "at = libc.mmap(None, ctypes.c_size_t(2**40), 0, 0x4022, -1, ctypes.c_long(0))\n"
        "print('failed' if at == ctypes.c_void_p(-1).value else 'reserved')\n"
    )
    executor.start(python(1, text, limits=Limits(mem_bytes=100 * 2**20)))
    ended(executor, 1)
    assert text_of(executor, 1) == "reserved\n"


def test_a_job_runs_on_the_cores_it_was_given(executor: LocalExecutor) -> None:
    core = max(os.sched_getaffinity(0))
    text = "import os; print(os.sched_getaffinity(0))"
    executor.start(python(1, text, limits=Limits(cores=(core,), cpu_milli=1000)))
    ended(executor, 1)
    assert text_of(executor, 1) == f"{{{core}}}\n"


def test_processor_time_is_limited_if_asked_and_cores_are_never_dumped(
    executor: LocalExecutor,
) -> None:
    text = "import resource as r; print(r.getrlimit(r.RLIMIT_CORE), flush=True)\nwhile True: pass"
    executor.start(python(1, text, limits=Limits(cpu_s=1)))
    assert ended(executor, 1).signal in (signal.SIGXCPU, signal.SIGKILL)
    assert text_of(executor, 1) == "(0, 0)\n"


def test_a_limit_that_nothing_holds_is_told(executor: LocalExecutor) -> None:
    started = executor.start(shell(1, "true", limits=Limits(cpu_milli=500)))
    held = started.limited_by is LimitedBy.CGROUP_V2
    assert started.unenforced == (() if held else ("cpu_milli",))


# --- what is refused -----------------------------------------------------------------------------

GOOD = {"lease_id": 1, "argv": ("true",), "token": "t"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"argv": ()}, "argv"),
        ({"argv": ("",)}, "argv"),
        ({"argv": ["true"]}, "argv"),
        ({"argv": ("true", "a\0b")}, "argv[1]"),
        ({"argv": ("true", 5)}, "argv[1]"),
        ({"lease_id": -1}, "lease_id"),
        ({"lease_id": "../1"}, "lease_id"),
        ({"lease_id": True}, "lease_id"),
        ({"token": ""}, "token"),
        ({"token": "a\nb"}, "token"),
        ({"cwd": Path("relative")}, "cwd"),
        ({"cwd": Path("/a\0b")}, "cwd"),
        ({"env": {"": "x"}}, "env"),
        ({"env": {"A=B": "x"}}, "env"),
        ({"env": {"A": "x\0y"}}, "env.A"),
        ({"env": {"A": 1}}, "env.A"),
        ({"env": None}, "env"),
        ({"env": {"CUDA_VISIBLE_DEVICES": "0"}}, "env.CUDA_VISIBLE_DEVICES"),
        ({"env": {"BAILIWICK_LEASE_ID": "9"}}, "env.BAILIWICK_LEASE_ID"),
        ({"device_indices": (0, 0)}, "device_indices"),
        ({"device_indices": (-1,)}, "device_indices"),
        ({"limits": None}, "limits"),
        ({"output_bytes_max": -1}, "output_bytes_max"),
        ({"warn_by_signal": 1}, "warn_by_signal"),
    ],
)
def test_a_bad_specification_names_its_field(change: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        JobSpec(**(GOOD | change))  # type: ignore[arg-type]
    assert caught.value.field == field


@pytest.mark.parametrize("change", [{"mem_bytes": 0}, {"cpu_milli": -1}, {"cores": (1, 1)}])
def test_a_bad_limit_names_its_field(change: dict[str, object]) -> None:
    with pytest.raises(InvalidValue) as caught:
        Limits(**change)  # type: ignore[arg-type]
    assert caught.value.field == f"limits.{next(iter(change))}"


def test_no_secret_shows_in_a_specification_or_its_errors() -> None:
    assert "hush" not in repr(JobSpec(1, argv=("true",), token="hush", env={"A": "hush"}))
    for change in ({"token": "hush\n"}, {"env": {"A": "hush\0"}}, {"env": {"CUDA_X": "hush\0"}}):
        with pytest.raises(InvalidValue) as caught:
            JobSpec(**(GOOD | change))  # type: ignore[arg-type]
        assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("argv", "more", "field"),
    [
        (("/no/such/program",), {}, "argv[0]"),
        (("no-such-program",), {}, "argv[0]"),
        (("/etc/passwd",), {}, "argv[0]"),
        (("/tmp",), {}, "argv[0]"),
        (("true", "x" * 3_000_000), {}, "argv[0]"),
        (("true",), {"limits": Limits(cores=(100_000,))}, "limits"),
        (("true",), {"cwd": Path("/no/such/place")}, "cwd"),
        (("true",), {"cwd": Path("/dev/null")}, "cwd"),
        (("true",), {"cwd": Path("/" + "x" * 5000)}, "cwd"),
    ],
)
def test_what_cannot_be_run_is_refused_and_leaves_nothing(
    executor: LocalExecutor,
    root: Path,
    *,
    argv: tuple[str, ...],
    more: dict[str, object],
    field: str,
) -> None:
    with pytest.raises(InvalidValue) as caught:
        executor.start(JobSpec(1, argv=argv, token="t", **more))  # type: ignore[arg-type]
    assert caught.value.field == field
    assert list(root.iterdir()) == []
    executor.start(JobSpec(1, argv=("true",), token="t"))
    assert ended(executor, 1).code == 0


def test_a_working_directory_that_goes_away_is_refused(
    executor: LocalExecutor, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    spec = shell(1, "true", cwd=place)
    place.rmdir()
    with pytest.raises(InvalidValue) as caught:
        executor.start(spec)
    assert caught.value.field == "cwd"


def test_a_lease_is_started_once(executor: LocalExecutor) -> None:
    executor.start(shell(1, "echo once"))
    ended(executor, 1)
    with pytest.raises(Conflict):
        executor.start(shell(1, "echo twice"))
    assert text_of(executor, 1) == "once\n"
    executor.forget(1)
    executor.start(shell(1, "echo again"))
    ended(executor, 1)
    assert text_of(executor, 1) == "again\n"


def test_of_many_starts_of_one_lease_one_wins(executor: LocalExecutor, root: Path) -> None:
    outcomes: list[str] = []

    def start() -> None:
        try:
            executor.start(shell(1, "echo once"))
            outcomes.append("started")
        except BailiwickError as error:
            outcomes.append(type(error).__name__)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert sorted(outcomes) == ["Conflict"] * 7 + ["started"]
    ended(executor, 1)
    assert [path.name for path in root.iterdir()] == ["1"]
    assert text_of(executor, 1) == "once\n"


def test_an_unknown_lease_is_not_found(executor: LocalExecutor) -> None:
    for ask in (executor.status, executor.tear_down, executor.output, executor.forget):
        with pytest.raises(NotFound):
            ask(77)
    with pytest.raises(NotFound):
        executor.warn(77, 1)


def test_a_running_job_is_not_forgotten(executor: LocalExecutor) -> None:
    executor.start(shell(1, "sleep 1000"))
    with pytest.raises(Conflict):
        executor.forget(1)
    assert isinstance(executor.status(1), Running)


def test_a_folder_without_a_state_is_lost_and_can_be_forgotten(
    executor: LocalExecutor, root: Path
) -> None:
    (root / "4").mkdir()
    assert executor.status(4) == Lost(LostReason.NEVER_STARTED)
    assert executor.tear_down(4)
    executor.forget(4)
    assert executor.adopt() == ()


def test_fifty_jobs_at_once_all_run_and_none_is_lost(executor: LocalExecutor) -> None:
    faults: list[BaseException] = []

    def start(lease_id: int) -> None:
        try:
            executor.start(shell(lease_id, f"echo job {lease_id}; exit {lease_id}"))
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=start, args=(n,)) for n in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert faults == []
    for lease_id in range(50):
        assert ended(executor, lease_id).code == lease_id
        assert text_of(executor, lease_id) == f"job {lease_id}\n"
    assert len(executor.adopt()) == 50
    ours = [p for p in load_processes().values() if p.parent == os.getpid() and not p.is_alive]
    assert ours == []  # no zombies of ours: supervisors belong to nobody


def test_a_root_that_cannot_be_written_is_unavailable(
    executor: LocalExecutor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr("bailiwick.executors.local.launch.subprocess.Popen", refuse)
        with pytest.raises(Unavailable):
            executor.start(shell(1, "true"))
    assert list(root.iterdir()) == []
    executor.start(shell(1, "true"))
    ended(executor, 1)


@pytest.mark.parametrize("trick", ["mkfifo", "ln -s /etc/passwd", "mkdir"])
def test_a_job_that_replaces_its_output_neither_hangs_nor_shows_others_files(
    executor: LocalExecutor, trick: str
) -> None:
    executor.start(shell(1, f"cd .. && rm output && {trick} output; echo said"))
    ended(executor, 1)
    assert executor.read_output(1, 0).data == b""


@pytest.mark.parametrize("patience_s", [0.01, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.3])
def test_a_start_that_was_given_up_never_runs_the_program_twice(
    root: Path, tmp_path: Path, patience_s: float
) -> None:
    runs = tmp_path / "runs"
    spec = shell(1, f"echo once >> {runs}")
    hasty = LocalExecutor(root, waits=TeardownWaits(start_s=patience_s))
    for _ in range(5):
        try:
            hasty.start(spec)
            break
        except Unavailable:
            continue
        except Conflict:  # it is on record: nobody starts it again
            break
    patient = LocalExecutor(root, waits=PATIENT)
    with contextlib.suppress(NotFound):
        until(lambda: not isinstance(patient.status(1), Running), "it runs no more")
        assert patient.tear_down(1)
    assert not runs.exists() or runs.read_text() == "once\n"
