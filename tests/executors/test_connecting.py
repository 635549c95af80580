"""Connections to what a job itself listens on: to that, and to nothing else on the machine."""

from __future__ import annotations

import json
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.inside import LocalInside
from bailiwick.executors.local.modes import Apart
from bailiwick.executors.port import JobSpec
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.execs import ExecConnect, ExecStream, ExecWish
from tests.executors.conftest import HASTY
from tests.executors.jobs import said
from tests.executors.test_inside import MODES, all_of
from tests.support.waiting import WAIT_S

PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
"""One that every user of the machine can run."""
ECHO = """
import json, os, socket, sys, time
plug = socket.create_server((sys.argv[1], 0))
port = plug.getsockname()[1]
with open("told.new", "w") as file:
    json.dump({"port": port, "authorization": "Bearer shown"}, file)
os.rename("told.new", "told.json")
if os.fork():
    plug.close()  # a child of its has it alone
    print("listens", port, flush=True)
    time.sleep(1000)
while True:
    met, _ = plug.accept()
    while data := met.recv(65536):
        met.sendall(data.upper())
    met.close()
"""


@pytest.fixture(params=MODES)
def executor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LocalExecutor]:
    apart = Apart(mode=request.param, hidden=(tmp_path,))
    executor = LocalExecutor(tmp_path / "jobs", apart=apart, waits=HASTY)
    yield executor
    for found in executor.adopt():
        executor.tear_down(found.lease_id)
        executor.forget(found.lease_id)


def listen(executor: LocalExecutor, lease_id: int, host: str = "127.0.0.1") -> int:
    """A job that says everything back in capitals; its port."""
    argv = (PYTHON, "-I", "-c", ECHO, host)
    executor.start(JobSpec(lease_id, argv=argv, token="-", owner=f"lab/p{lease_id}"))
    return int(said(executor, lease_id, "listens").split()[-1])


def connect(executor: LocalExecutor, lease_id: int, **where: Any) -> LocalInside:
    return executor.enter(lease_id, ExecWish((), connect=ExecConnect(**where)))


def refusal(executor: LocalExecutor, lease_id: int, **where: Any) -> str:
    """Why there was no connection; nothing was moved."""
    wrote, outcome = all_of(connect(executor, lease_id, **where))
    assert outcome.code == 1
    assert wrote[ExecStream.STDOUT] == b""
    return str(json.loads(wrote[ExecStream.STDERR])["fault"])


def upto(inside: LocalInside, size: int) -> tuple[bytes, bytes]:
    """So many bytes of its output, and what it said beside."""
    found, end = dict.fromkeys(ExecStream, b""), time.monotonic() + WAIT_S
    while len(found[ExecStream.STDOUT]) < size:
        assert time.monotonic() < end, found
        for stream, data in inside.read(wait_s=0.5):
            found[stream] += data
    return found[ExecStream.STDOUT], found[ExecStream.STDERR]


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "127.64.0.9"])
def test_bytes_go_both_ways_wherever_the_job_listens(executor: LocalExecutor, host: str) -> None:
    port = listen(executor, 1, host)
    for where in (dict[str, Any](port=port), dict[str, Any](file="told.json")):
        inside = connect(executor, 1, **where)
        try:
            sent = b"abc" * 100_000
            left = sent
            got = b""
            while left or len(got) < len(sent):
                left = left[inside.write(left, wait_s=0.05) :] if left else left
                got += b"".join(d for s, d in inside.read(wait_s=0.05) if s is ExecStream.STDOUT)
            assert got == sent.upper()
        finally:
            inside.leave()


def test_it_says_what_the_app_wants_to_be_shown(executor: LocalExecutor) -> None:
    port = listen(executor, 1)
    inside = connect(executor, 1, file="told.json")
    inside.write(b"x", wait_s=1)
    said_back, told = upto(inside, 1)
    inside.leave()
    assert said_back == b"X"
    assert json.loads(told) == {"connected": port, "authorization": "Bearer shown"}


def test_what_others_listen_on_is_not_reached(executor: LocalExecutor) -> None:
    own, other = listen(executor, 1), listen(executor, 2)
    with socket.create_server(("127.0.0.1", 0)) as machine:
        for port in (other, machine.getsockname()[1]):
            assert refusal(executor, 1, port=port).startswith("nothing of this member listens")
        machine.setblocking(False)
        with pytest.raises(BlockingIOError):
            machine.accept()
    assert own != other


def test_a_file_that_says_no_port_is_refused(executor: LocalExecutor) -> None:
    listen(executor, 1)
    assert "No such file" in refusal(executor, 1, file="nothing.json")
    for text in ("[]", '{"port": 0}', '{"port": "1"}', "{", '{"port": true}'):
        lay = f"open('other.json', 'w').write({text!r})"
        all_of(executor.enter(1, ExecWish((PYTHON, "-I", "-c", lay))))
        assert refusal(executor, 1, file="other.json")
    fifo = "import os; os.mkfifo('pipe.json')"
    all_of(executor.enter(1, ExecWish((PYTHON, "-I", "-c", fifo))))
    assert refusal(executor, 1, file="pipe.json")


@pytest.mark.parametrize("where", [{}, {"port": 1, "file": "x"}, {"port": 0}, {"port": 65_536}])
def test_only_a_port_or_a_file_can_be_wished_for(where: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        ExecConnect(**where)


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "", ".hidden", "a/b", "a\0b"])
def test_a_file_is_one_of_the_members_folder(name: str) -> None:
    with pytest.raises(InvalidValue):
        ExecConnect(file=name)
