"""Members that are given the host: they see the machine as it is, and end as a whole, too."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.modes import Apart, JobMode, can_sandbox
from bailiwick.executors.local.proc import load_process
from bailiwick.executors.local.state import load_state
from bailiwick.executors.node.agents import AgentWord, check_order
from bailiwick.executors.port import JobSpec, Lost, LostReason, fault_of
from bailiwick.vocab.errors import Conflict, InvalidValue
from bailiwick.vocab.execs import ExecWish, Terminal
from bailiwick.vocab.jobs import JobFault
from tests.executors.conftest import HASTY
from tests.executors.jobs import ended, python, said, shell, text_of
from tests.support.oci_images import layer, pack, row
from tests.support.waiting import WAIT_S, until

IS_ROOT = os.geteuid() == 0
HELD = pytest.mark.skipif(IS_ROOT and not can_sandbox(), reason="no process namespaces here")
pytestmark = HELD

STUBBORN = """
import os, signal, sys, time
if os.fork():
    print("main", flush=True)
    time.sleep(1000)
os.setsid()
if os.fork():
    os._exit(0)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
os.environ.clear()
os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", '''
import os, signal, time
proc = MARK
told = open("/proc/self/stat").read() if proc == "/proc" else os.readlink(proc + "/self")
print("daemon", told.split()[0], flush=True)
time.sleep(1000)
'''.replace("MARK", repr(sys.argv[1]))], {})
"""
"""A daemon twice removed, in a session of its own, deaf, and with nothing of ours in its
environment; it tells its process number as the machine has it."""


@pytest.fixture
def host(root: Path) -> Iterator[LocalExecutor]:
    found = LocalExecutor(root, waits=HASTY, apart=Apart(host_members=True))
    yield found
    for each in found.adopt():
        found.tear_down(each.lease_id)


def member(lease_id: int, text: str) -> JobSpec:
    """A member that runs this in a shell."""
    return shell(lease_id, text, owner="lab/p", on_host=True)


def stubborn(executor: LocalExecutor, lease_id: int) -> int:
    """Start the daemon twice removed; its process number."""
    spec = python(lease_id, STUBBORN, owner="lab/p", on_host=True)
    proc = str(executor._root / str(lease_id) / "root") if IS_ROOT else "/proc"
    executor.start(JobSpec(lease_id, argv=(*spec.argv, proc), token="-", on_host=True))
    said(executor, lease_id, "main")
    words = until(lambda: said(executor, lease_id, "daemon").splitlines(), "it told its number")
    return int(next(line for line in words if line.startswith("daemon")).split()[1])


def is_alive(pid: int) -> bool:
    found = load_process(pid)
    return found is not None and found.is_alive


def test_a_member_sees_the_machine_as_whoever_runs_it_does(
    host: LocalExecutor, tmp_path: Path
) -> None:
    (tmp_path / "of-the-host").write_text("seen")
    kinds = ("net", "user", "ipc", "uts")
    script = "; ".join(
        (
            "id -u",
            f"cat {tmp_path}/of-the-host; echo",
            *(f"readlink /proc/self/ns/{kind}" for kind in kinds),
            f'tr "\\0" " " < $BAILIWICK_HOST_PROC/{os.getpid()}/cmdline > /dev/null && echo others',
            "grep -E '^(NoNewPrivs|CapEff)' /proc/self/status",
        )
    )
    host.start(member(1, script))
    assert ended(host, 1).code == 0, text_of(host, 1)
    lines = text_of(host, 1).splitlines()
    assert lines[:2] == [str(os.getuid()), "seen"]
    assert lines[2:6] == [os.readlink(f"/proc/self/ns/{kind}") for kind in kinds]
    assert lines[6] == "others"
    own = Path("/proc/self/status").read_text().splitlines()
    wanted = [line for line in own if line.startswith(("NoNewPrivs", "CapEff"))]
    assert sorted(lines[7:]) == sorted(wanted)


def test_a_job_beside_it_has_its_walls_as_before(host: LocalExecutor, tmp_path: Path) -> None:
    if host.mode not in (JobMode.SANDBOX, JobMode.USERS):
        pytest.skip("nothing keeps jobs apart here")
    (tmp_path / "of-the-host").write_text("seen")
    tmp_path.chmod(0o700)
    host.start(shell(1, f"id -u; cat {tmp_path}/of-the-host", owner="lab/p"))
    assert ended(host, 1).code == 1
    assert "seen" not in text_of(host, 1)


def test_teardown_leaves_nothing_of_it(host: LocalExecutor) -> None:
    daemon = stubborn(host, 3)
    assert is_alive(daemon)
    assert host.tear_down(3)
    assert not is_alive(daemon)


def test_who_forks_for_ever_is_ended_as_well(host: LocalExecutor) -> None:
    if not IS_ROOT:
        pytest.skip("only the process numbers that root gives hold such a one")
    text = "import os\nprint('begun', flush=True)\nwhile True:\n    if os.fork(): os._exit(0)\n"
    text += "    os.setsid()\n"
    host.start(python(4, text, owner="lab/p", on_host=True))
    said(host, 4, "begun")
    state = load_state(host._root / "4")
    assert state is not None
    assert state.on_host
    assert until(lambda: host.tear_down(4), "all of it has ended")


def test_it_ends_with_its_supervisor(host: LocalExecutor) -> None:
    if not IS_ROOT:
        pytest.skip("without process numbers of its own, what is left is seen and not ended")
    daemon = stubborn(host, 5)
    state = load_state(host._root / "5")
    assert state is not None
    assert state.supervisor is not None
    os.kill(state.supervisor.pid, signal.SIGKILL)
    until(lambda: not is_alive(daemon), "the kernel ends all of it")
    assert until(lambda: host.tear_down(5), "nothing is left")
    assert host.status(5) == Lost(LostReason.SUPERVISOR_GONE)


def test_a_machine_whose_operator_does_not_say_so_gives_it_to_nobody(root: Path) -> None:
    closed = LocalExecutor(root, waits=HASTY)
    with pytest.raises(InvalidValue, match="--host-members") as refused:
        closed.start(member(6, "id -u"))
    assert fault_of(refused.value) is JobFault.HOST_NOT_GIVEN
    assert closed.leases() == ()


def test_nobody_is_let_in(host: LocalExecutor) -> None:
    host.start(member(7, "echo on; exec sleep 1000"))
    said(host, 7, "on")
    with pytest.raises(Conflict, match="lets nobody in"):
        host.enter(7, ExecWish(argv=("id",)))
    with pytest.raises(InvalidValue, match="attached"):
        JobSpec(8, argv=("id",), token="-", on_host=True, is_interactive=True)


def test_the_one_program_that_it_names_is_let_in_and_nothing_else(host: LocalExecutor) -> None:
    asks = ("sh", "-c", "cat; pwd")
    host.start(replace(member(7, "echo on; exec sleep 1000"), ask=asks))
    said(host, 7, "on")
    for other in (
        ExecWish(argv=("id",)),
        ExecWish(argv=(*asks, "more")),
        ExecWish(argv=asks, terminal=Terminal(24, 80)),
    ):
        with pytest.raises(Conflict, match="lets nobody in"):
            host.enter(7, other)
    inside = host.enter(7, ExecWish(argv=asks))
    inside.write(b"asked ", wait_s=WAIT_S)
    inside.end_input()
    wrote = b""
    while inside.outcome is None:  # it ends when its input does
        wrote += b"".join(data for _, data in inside.read(wait_s=1))
    assert wrote.startswith(b"asked /")
    assert wrote.endswith(b"/7/work\n")


def test_its_image_lies_beside_and_its_programs_are_found_there_first(
    root: Path, tmp_path: Path
) -> None:
    hello = b"#!/bin/sh\necho from the image; cat $BAILIWICK_IMAGE_ROOT/etc/of-the-image\n"
    rows = (row("opt/bin/hello", hello, mode=0o755), row("etc/of-the-image", b"unpacked"))
    digest = pack(tmp_path / "images/apps", layer(*rows), env=("PATH=/opt/bin:/bin",))
    apart = Apart(host_members=True, images=tmp_path / "images")
    host = LocalExecutor(root, waits=HASTY, apart=apart)
    spec = JobSpec(9, argv=("hello",), token="-", image=f"apps@{digest}", on_host=True)
    host.start(spec)
    assert ended(host, 9).code == 0
    assert text_of(host, 9) == "from the image\nunpacked"


def test_an_agent_that_does_not_know_the_word_is_not_sent_such_a_member() -> None:
    with pytest.raises(InvalidValue, match="on_host"):
        check_order(member(1, "true"), AgentWord("0.1", "sandbox"), node="n1")
    check_order(member(1, "true"), AgentWord("9", "closed", frozenset({"on_host"})), node="n1")
