"""The operator of a check as a process: when it has ended, and whom it is seen to talk to."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bailiwick.tools.app_check.connections import ConnectionWatcher, can_watch, spell_endpoint
from bailiwick.tools.app_check.operator_process import OperatorProcess
from tests.support.waiting import until


@contextmanager
def begun(
    *command: str, folder: Path, watcher: ConnectionWatcher | None = None
) -> Iterator[OperatorProcess]:
    operator = OperatorProcess(command, {}, log=folder / "log", watcher=watcher)
    operator.start()
    try:
        yield operator
    finally:
        operator.kill()


def test_an_operator_that_ends_by_itself_has_ended(tmp_path: Path) -> None:
    with begun("/bin/sh", "-c", "exit 0", folder=tmp_path) as operator:
        until(lambda: operator.has_ended, "it has ended")
        operator.kill()
        assert not operator.has_ended, "it was ended"


def test_an_operator_that_goes_on_in_a_child_has_not_ended(tmp_path: Path) -> None:
    script = "(echo there; exec sleep 1000) & exit 0"
    with begun("/bin/sh", "-c", script, folder=tmp_path) as operator:
        until(lambda: "there" in (tmp_path / "log").read_text(), "the child is there")
        until(lambda: not operator.first_runs, "the first is gone")
        assert not operator.has_ended


TALKS = """
import socket, sys, time
kept = [socket.create_connection(("127.0.0.1", int(port))) for port in sys.argv[1:]]
time.sleep(1000)
"""


@pytest.mark.skipif(not can_watch(), reason="this machine does not tell connections")
def test_a_connection_to_another_is_seen_and_the_one_to_the_control_plane_is_allowed(
    tmp_path: Path,
) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as plane,
        socket.create_server(("127.0.0.1", 0)) as other,
    ):
        ports = [each.getsockname()[1] for each in (plane, other)]
        watcher = ConnectionWatcher(f"http://127.0.0.1:{ports[0]}")
        words = (sys.executable, "-S", "-c", TALKS, *map(str, ports))
        with begun(*words, folder=tmp_path, watcher=watcher) as operator:
            far, _ = other.accept()  # it is connected to both by now
            with far:
                looks = watcher.looks
                until(lambda: watcher.looks > looks + 1, "it was looked at since")
            seen = operator.end()
    assert seen is not None
    assert seen.others == (spell_endpoint(("127.0.0.1", ports[1])),)
