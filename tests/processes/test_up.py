"""``bailiwick up``: what it refuses, what it prints, how it ends, and two on one folder."""

from __future__ import annotations

import http.client
import random
import signal
import socket
import ssl
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bailiwick.services.authority import Authority
from tests.processes.caller import CallFailed, HttpCaller, log_in
from tests.processes.harness import LISTENS, LOGIN, Server, leader_of, running
from tests.processes.load import node_command, submit_command
from tests.support.certificates import make_certificate
from tests.support.command_line import call, run
from tests.support.waiting import WAIT_S, until

OPEN = "0.0.0.0"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--host", OPEN), "--tls-cert"),
        (("--tls-cert", "good"), "--tls-key"),
        (("--tls-cert", "good", "--tls-key", "good"), "--tls-cert"),
        (("--database", "postgresql://nobody@127.0.0.1:1/none"), "--key-file"),
        (("--database", "postgresql://x/y", "--key-file", "absent"), "key file"),
        (("--database", "postgresql://x/y", "--key-file", "good", "--node"), "--node"),
        (("--database", "/some/path", "--key-file", "good"), "--database"),
        (("--database", "mysql://u:secret@h/d", "--key-file", "good"), "store"),
        (("--name", "no spaces"), "--name"),
        (("--key-file", "open"), "key file"),
        (("--key-file", "nonsense"), "key"),
    ],
)
def test_a_wrong_or_dangerous_option_is_a_usage_error(
    tmp_path: Path, arguments: tuple[str, ...], word: str
) -> None:
    for name, data, mode in (
        ("good", Authority.new_key(), 0o600),
        ("open", Authority.new_key(), 0o644),
        ("nonsense", b"a secret that is no key", 0o600),
    ):
        (tmp_path / name).write_bytes(data)
        (tmp_path / name).chmod(mode)
    done = call("up", *arguments, "--port", 0, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("bailiwick: ")
    assert word in done.stderr
    assert "secret" not in done.stderr
    assert not (tmp_path / "bailiwick-data" / "bailiwick.db").exists()


def test_help_tells_every_option_but_the_hidden_one(tmp_path: Path) -> None:
    done = run("up", "--help", cwd=tmp_path)
    assert done.returncode == 0
    options = ("--data-dir", "--database", "--host", "--port", "--name", "--advertise", "--demo")
    assert all(option in done.stdout for option in (*options, "--key-file", "--tls-cert"))
    assert "--snapshot-every" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_an_address_in_use_is_a_fault(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run("up", "--port", taken.getsockname()[1], cwd=tmp_path)
    assert done.returncode == 1
    assert "cannot be used" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_first_start_gives_a_login_and_a_signal_ends_it_well(
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
        found = LISTENS.match(line)
        assert found is not None, line
        assert (found[1].startswith("http://127.0.0.1:"), found[2]) == (True, "first")
        told = ""
        while not (login := LOGIN.search(told)):
            told += process.stdout.readline()
        for name in ("authority.pem", "capability.key"):
            key = tmp_path / "bailiwick-data" / name
            assert stat.S_IMODE(key.stat().st_mode) == 0o600
        token = log_in(found[1], login[1])
        with HttpCaller([found[1]], token) as caller:
            assert caller.call(node_command("n"), key="n")["answer"] == "done"
        with pytest.raises(CallFailed):
            log_in(found[1], login[1])
        process.send_signal(number)
        _, err = process.communicate(timeout=WAIT_S)
    finally:
        process.kill()
    assert process.returncode == 0
    assert "first leads, epoch 1" in err
    assert "first has stopped" in err.splitlines()[-1]
    assert token not in err
    assert login[1] not in err


def test_a_second_start_continues_where_it_was(tmp_path: Path) -> None:
    server = Server(tmp_path, "alone", "--data-dir", str(tmp_path / "data"))
    with running(server):
        with server.client() as client:
            client.call(node_command("node-0"), key="node-0")
            granted = client.call(submit_command(random.Random(1)), key="one")
            before = client.status(digest=True)
        assert server.stop() == 0
        server.start()
        with server.client() as client:
            assert client.call(submit_command(random.Random(1)), key="one") == granted
            after = client.status()
    kept = ("nodes", "leases", "waiting")
    assert [after[name] for name in kept] == [before[name] for name in kept]


def test_a_second_process_on_the_folder_follows_and_takes_over(tmp_path: Path) -> None:
    where = ("--data-dir", str(tmp_path / "data"))
    one, two = Server(tmp_path, "one", *where), Server(tmp_path, "two", *where)
    with running(one):
        until(lambda: one.role() == "leading", "the first leads")
        with running(two):
            until(lambda: two.role() == "following", "the second follows")
            with two.client() as client:
                client.call(node_command("node-0"), key="node-0")
                answer = client.call(submit_command(random.Random(1)), key="one")
            one.kill9()
            until(lambda: two.role() == "leading", "the second leads")
            with two.client() as client:
                assert client.call(submit_command(random.Random(1)), key="one") == answer


def test_a_stop_lets_another_lead_at_once(tmp_path: Path) -> None:
    where = ("--data-dir", str(tmp_path / "data"))
    one, two = Server(tmp_path, "one", *where), Server(tmp_path, "two", *where)
    with running(one, two):
        first = until(lambda: leader_of([one, two]), "one of them leads")
        other = two if first is one else one
        assert first.stop() == 0
        until(lambda: other.role() == "leading", "the other leads")


def test_with_a_certificate_it_speaks_tls_and_nothing_else(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    server = Server(
        tmp_path,
        "safe",
        *("--data-dir", str(tmp_path / "data"), "--host", "0.0.0.0"),
        *("--tls-cert", str(certificate), "--tls-key", str(key)),
    )
    with running(server):
        assert server.address.startswith("https://0.0.0.0:")
        port = int(server.address.rpartition(":")[2])
        context = ssl.create_default_context(cafile=str(certificate))
        line = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=WAIT_S)
        line.request("GET", "/healthz")
        assert line.getresponse().status == 200
        line.close()
        with HttpCaller([f"http://127.0.0.1:{port}"], "none", deadline_s=1.0) as plain:
            with pytest.raises(CallFailed) as failed:
                plain.ask("GET", "/healthz")
            assert failed.value.code == "unavailable"
        assert server.stop() == 0
