"""``bailiwick up``: what it refuses, what it prints, how it ends, and two on one folder."""

from __future__ import annotations

import os
import random
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bailiwick.client import CallFailed, LineClient
from tests.processes.harness import Server, running, wait_until
from tests.processes.load import node_command, submit_command

OPEN = "0.0.0.0"


def up(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A start that must fail."""
    return subprocess.run(
        [sys.executable, "-m", "bailiwick.cli.main", "up", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--host", OPEN), "token file"),
        (("--database", "postgresql://nobody@127.0.0.1:1/none"), "--token-file"),
        (("--database", "postgresql://x/y", "--data-dir", "d"), "--data-dir"),
        (("--database", "/some/path", "--token-file", "t"), "--database"),
        (("--database", "mysql://u:secret@h/d", "--token-file", "good"), "store"),
        (("--name", "no spaces"), "--name"),
        (("--token-file", "open"), "token file"),
        (("--token-file", "short"), "token file"),
        (("--host", OPEN, "--token-file", "absent"), "token file"),
    ],
)
def test_a_wrong_or_dangerous_option_is_a_usage_error(
    tmp_path: Path, arguments: tuple[str, ...], word: str
) -> None:
    for name, text, mode in (
        ("good", "a-long-enough-secret", 0o600),
        ("open", "a-long-enough-secret", 0o644),
        ("short", "secret", 0o600),
    ):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(mode)
    done = up(*arguments, "--port", "0", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("bailiwick: ")
    assert word in done.stderr
    assert "secret" not in done.stderr
    assert not (tmp_path / "bailiwick-data" / "bailiwick.db").exists()


def test_help_tells_every_option_but_the_hidden_one(tmp_path: Path) -> None:
    done = up("--help", cwd=tmp_path)
    assert done.returncode == 0
    options = ("--data-dir", "--database", "--host", "--port", "--name", "--advertise")
    assert all(option in done.stdout for option in (*options, "--token-file"))
    assert "--snapshot-every" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_an_address_in_use_is_a_fault(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = up("--port", str(taken.getsockname()[1]), cwd=tmp_path)
    assert done.returncode == 1
    assert "cannot be used" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_first_start_makes_a_token_and_a_signal_ends_it_well(
    tmp_path: Path, number: signal.Signals
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "bailiwick.cli.main", "up", "--port", "0", "--name", "first"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("listening on 127.0.0.1:")
        assert line.endswith(" as first\n")
        token = tmp_path / "bailiwick-data" / "token"
        assert stat.S_IMODE(token.stat().st_mode) == 0o600
        with LineClient([line.split()[2]], token.read_text().strip()) as client:
            assert client.call(node_command("n"), key="n") == {"answer": "done", "seq": 2}
        time.sleep(0.3)  # its role is looked at a few times a second
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, out) == (0, "")
    assert "first leads, epoch 1" in err
    assert err.splitlines()[-1].endswith("first has stopped")
    assert token.read_text().strip() not in err


def test_a_second_process_on_the_folder_follows_and_takes_over(tmp_path: Path) -> None:
    where = ("--data-dir", str(tmp_path / "data"))
    one, two = Server(tmp_path, "one", *where), Server(tmp_path, "two", *where)
    with running(one):
        wait_until(lambda: one.role() == "leading", 10, "the first leads")
        with running(two):
            wait_until(lambda: two.role() == "following", 10, "the second follows")
            with two.client() as client:
                client.call(node_command("node-0"), key="node-0")
                answer = client.call(submit_command(random.Random(1)), key="one")
            one.kill9()
            took = wait_until(lambda: two.role() == "leading", 10, "the second leads")
            print(f"it led after {took:.2f} s")
            with two.client() as client:
                assert client.call(submit_command(random.Random(1)), key="one") == answer


def test_a_stop_lets_another_lead_at_once(tmp_path: Path) -> None:
    where = ("--data-dir", str(tmp_path / "data"))
    one, two = Server(tmp_path, "one", *where), Server(tmp_path, "two", *where)
    with running(one, two):
        wait_until(lambda: "leading" in (one.role(), two.role()), 10, "one of them leads")
        first, other = (one, two) if one.role() == "leading" else (two, one)
        assert first.stop() == 0
        wait_until(lambda: other.role() == "leading", 5, "the other leads")


def test_without_the_token_nothing_is_told(tmp_path: Path) -> None:
    server = Server(tmp_path, "alone", "--data-dir", str(tmp_path / "data"))
    with running(server):
        for token in ("", "wrong-but-long-enough", "a-token-for-tests-onlY"):
            with LineClient([server.address], token, deadline_s=1) as client:
                for ask in (
                    lambda client=client: client.read("status"),
                    lambda client=client: client.call(node_command("n")),
                ):
                    with pytest.raises(CallFailed) as failed:
                        ask()
                    assert (failed.value.code, failed.value.retryable) == ("unauthenticated", False)
        assert "wrong-but-long-enough" not in server.errors
        assert os.path.getsize(tmp_path / "data" / "bailiwick.db") > 0
