"""Programs that are started inside running jobs: what they have, and that nothing of them stays."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.executors.execs import Enterable
from bailiwick.executors.local.door import GUESTS_MAX
from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.inside import LocalInside
from bailiwick.executors.local.modes import Apart, JobMode, can_sandbox, can_switch_users
from bailiwick.executors.local.proc import load_processes
from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached, NotFound
from bailiwick.vocab.execs import ExecEnd, ExecOutcome, ExecStream, ExecWish, Terminal
from tests.executors.conftest import HASTY
from tests.executors.jobs import ended, said, shell
from tests.support.waiting import WAIT_S, until

MODES = [
    JobMode.TRUSTED,
    *(
        pytest.param(mode, marks=pytest.mark.skipif(not can, reason=f"no {mode} on this machine"))
        for mode, can in ((JobMode.SANDBOX, can_sandbox()), (JobMode.USERS, can_switch_users()))
    ),
]
FOR_EVER = "echo begun; exec sleep 1000"
FACTS = (
    "readlink /proc/self/ns/pid /proc/self/ns/mnt /proc/self/ns/ipc; id -u; id -g;"
    " grep -E 'NoNewPrivs|Seccomp:|Cap|Groups' /proc/self/status; ulimit -c; pwd; ls /;"
    " env | grep -v -e ^_= -e ^OLDPWD -e ^SHLVL | sort"
)


@pytest.fixture(params=MODES)
def executor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LocalExecutor]:
    apart = Apart(mode=request.param, hidden=(tmp_path,))
    executor = LocalExecutor(tmp_path / "jobs", apart=apart, waits=HASTY)
    yield executor
    for found in executor.adopt():
        executor.tear_down(found.lease_id)
        executor.forget(found.lease_id)


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[LocalExecutor]:
    executor = LocalExecutor(tmp_path / "jobs", waits=HASTY)
    yield executor
    for found in executor.adopt():
        executor.tear_down(found.lease_id)


def run(executor: LocalExecutor, lease_id: int, text: str) -> LocalInside:
    return executor.enter(lease_id, ExecWish(("/bin/sh", "-c", text)))


def all_of(inside: LocalInside) -> tuple[dict[ExecStream, bytes], ExecOutcome]:
    """All that it wrote, and how it ended."""
    found = dict.fromkeys(ExecStream, b"")
    end = time.monotonic() + WAIT_S
    while inside.outcome is None:
        assert time.monotonic() < end, found
        for stream, data in inside.read(wait_s=0.5):
            found[stream] += data
    outcome = inside.outcome
    inside.leave()
    return found, outcome


def reads(inside: LocalInside, word: bytes) -> bytes:
    found, end = b"", time.monotonic() + WAIT_S
    while word not in found:
        assert time.monotonic() < end, found
        found += b"".join(data for _, data in inside.read(wait_s=0.5))
    return found


def alive(word: str) -> list[int]:
    """Processes with this word in their command line."""
    found = []
    for pid in load_processes():
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if word.encode() in line.split(b"\0"):
            found.append(pid)
    return found


def test_it_has_what_the_job_has_and_nothing_more(executor: LocalExecutor) -> None:
    assert isinstance(executor, Enterable)
    spec = shell(1, f"{FACTS}; echo END; exec sleep 1000", owner="lab/one", env={"A": "b"})
    executor.start(spec)
    of_job = said(executor, 1, "END").partition("END")[0]
    found, outcome = all_of(run(executor, 1, FACTS))
    assert outcome == ExecOutcome(ExecEnd.EXITED, code=0)
    assert found[ExecStream.STDOUT].decode() == of_job
    assert "A=b" in of_job
    assert "BAILIWICK_LEASE_TOKEN=secret-token" in of_job


def test_it_reaches_the_job_s_processes(executor: LocalExecutor) -> None:
    executor.start(
        shell(1, "trap 'echo heard; exit 7' USR1; echo pid $$; while :; do sleep 0.1; done")
    )
    pid = said(executor, 1, "pid").split()[1]
    _, outcome = all_of(run(executor, 1, f"kill -USR1 {pid}"))
    assert outcome.end in (ExecEnd.EXITED, ExecEnd.JOB_OVER)
    assert ended(executor, 1).code == 7


def test_its_files_are_apart_and_its_input_and_status_are_passed_on(plain: LocalExecutor) -> None:
    plain.start(shell(1, FOR_EVER))
    inside = run(plain, 1, "cat; echo wrong >&2; exit 3")
    assert inside.write(b"typed", wait_s=WAIT_S) == 5
    inside.end_input()
    found, outcome = all_of(inside)
    assert found == {ExecStream.STDOUT: b"typed", ExecStream.STDERR: b"wrong\n"}
    assert outcome == ExecOutcome(ExecEnd.EXITED, code=3)
    assert all_of(run(plain, 1, "kill -9 $$"))[1] == ExecOutcome(ExecEnd.SIGNALLED, signal=9)


def test_on_a_terminal_size_interrupt_and_end_of_input_work(executor: LocalExecutor) -> None:
    executor.start(shell(1, FOR_EVER, owner="lab/one"))
    wish = ExecWish(("/bin/sh",), Terminal(rows=10, columns=50, term="dumb"))
    inside = executor.enter(1, wish)
    for line, answer in (
        (b"echo $TERM; stty size; tty\n", b"/dev/pts/"),
        (b"echo $((40 + 2))\n", b"42"),
    ):
        inside.write(line, wait_s=WAIT_S)
        told = reads(inside, answer)
        if b"TERM" in line:
            assert b"dumb" in told
            assert b"10 50" in told
    inside.resize(Terminal(rows=20, columns=99))
    inside.write(b"stty size\n", wait_s=WAIT_S)
    reads(inside, b"20 99")
    inside.write(b"exit 5", wait_s=WAIT_S)
    inside.write(b"\n", wait_s=WAIT_S)
    assert all_of(inside)[1] == ExecOutcome(ExecEnd.EXITED, code=5)
    text = "trap 'echo got; exit 9' INT; echo ready; while :; do sleep 0.1; done"
    other = executor.enter(1, ExecWish(("/bin/sh", "-c", text), Terminal()))
    reads(other, b"ready")
    other.write(b"\x03", wait_s=WAIT_S)
    assert all_of(other)[1] == ExecOutcome(ExecEnd.EXITED, code=9)
    again = executor.enter(1, wish)
    again.end_input()
    assert all_of(again)[1] == ExecOutcome(ExecEnd.EXITED, code=0)


def test_who_leaves_takes_his_program_with_him(plain: LocalExecutor) -> None:
    plain.start(shell(1, FOR_EVER))
    word = f"77{os.getpid()}"
    inside = run(plain, 1, f"trap '' HUP TERM; sleep {word} & sleep {word}; sleep {word}")
    until(lambda: len(alive(word)) == 2, "both run")
    inside.leave()
    until(lambda: not alive(word), "nothing of it is left")
    assert plain.status(1) is not None
    plain.tear_down(1)


def test_what_a_program_leaves_behind_ends_with_it_or_at_the_latest_with_the_job(
    executor: LocalExecutor,
) -> None:
    executor.start(shell(1, FOR_EVER, owner="lab/one"))
    near, far = f"78{os.getpid()}", f"79{os.getpid()}"
    text = f"sleep {near} & setsid sh -c 'trap \"\" TERM HUP; sleep {far} & wait' & sleep 0.3"
    inside = run(executor, 1, text)
    until(lambda: bool(alive(far)), "the daemon runs")
    all_of(inside)
    until(lambda: not alive(near), "what was of its session is gone")
    assert alive(far)
    assert executor.tear_down(1)
    assert not alive(far)


def test_the_end_of_the_job_is_the_end_of_all_inside(executor: LocalExecutor) -> None:
    executor.start(shell(1, "echo begun; read x < /dev/null; sleep 2; exit 4", owner="lab/one"))
    said(executor, 1, "begun")
    inside = run(executor, 1, "trap '' HUP TERM; echo in; while :; do sleep 0.1; done")
    reads(inside, b"in")
    assert all_of(inside)[1].end is ExecEnd.JOB_OVER
    assert ended(executor, 1).code == 4
    with pytest.raises(Conflict):
        run(executor, 1, "true")
    with pytest.raises(NotFound):
        run(executor, 2, "true")


def test_a_tear_down_is_clean_with_stubborn_programs_inside(plain: LocalExecutor) -> None:
    plain.start(shell(1, FOR_EVER))
    word = f"80{os.getpid()}"
    inside = run(plain, 1, f"trap '' HUP TERM INT; echo in; while :; do sleep {word}; done")
    reads(inside, b"in")
    assert plain.tear_down(1)
    assert not alive(word)
    inside.leave()


def test_what_cannot_be_run_is_said_and_there_is_a_bound(plain: LocalExecutor) -> None:
    plain.start(shell(1, FOR_EVER))
    with pytest.raises(InvalidValue, match="No such file"):
        plain.enter(1, ExecWish(("/no/such/program",)))
    many = [run(plain, 1, "sleep 1000") for _ in range(GUESTS_MAX)]
    with pytest.raises(LimitReached):
        run(plain, 1, "true")
    for each in many:
        each.leave()

    def is_free() -> bool:
        try:
            return all_of(run(plain, 1, "true"))[1].code == 0
        except LimitReached:
            return False

    until(is_free, "there is room again")


def test_an_interactive_job_begins_with_who_is_attached_and_ends_with_him(
    executor: LocalExecutor,
) -> None:
    for lease_id in (1, 2):
        text = "echo $TERM; tty; read x; echo got $x; exit 6"
        executor.start(shell(lease_id, text, owner="lab/one", is_interactive=True))
        wish = ExecWish((), Terminal(rows=10, columns=50, term="dumb"), is_attach=True)
        inside = executor.enter(lease_id, wish)
        assert b"dumb" in reads(inside, b"/dev/pts/")
        with pytest.raises(InvalidValue, match="waits for somebody"):
            executor.enter(lease_id, wish)
        if lease_id == 1:
            inside.write(b"it\n", wait_s=WAIT_S)
            assert all_of(inside)[1] == ExecOutcome(ExecEnd.EXITED, code=6)
            assert ended(executor, 1).code == 6
        else:
            inside.leave()
            assert ended(executor, 2).code != 6
    executor.start(shell(3, FOR_EVER, owner="lab/one"))
    with pytest.raises(InvalidValue, match="waits for somebody"):
        executor.enter(3, wish)
    executor.start(shell(4, "true", owner="lab/one", is_interactive=True))
    assert executor.tear_down(4)


def test_a_flood_that_nobody_reads_stops_the_flooder_and_not_the_job(plain: LocalExecutor) -> None:
    plain.start(shell(1, "i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done"))
    inside = run(plain, 1, "yes")
    size = len(plain.read_output(1, 0).data)
    until(lambda: len(plain.read_output(1, 0).data) > size + 10, "the job goes on")
    assert inside.read(wait_s=WAIT_S)
    inside.leave()
