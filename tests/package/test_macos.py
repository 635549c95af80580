"""Holds that the library, the client and the command line need nothing that only Linux has.

Tried on Linux with all of that taken away (``as_on_a_mac``), and by the type checker, which knows
what each platform has. Neither is a Mac.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.package.building import ROOT, run
from tests.support.waiting import WAIT_S

MAC = [sys.executable, str(ROOT / "tests/package/as_on_a_mac.py")]
BAILIWICK = [*MAC, "-m", "bailiwick.cli.main"]
NO_JOBS = "jobs run on Linux machines; here Bailiwick serves, and `bailiwick agent` brings nodes"

EVERY_MODULE = """
import importlib, pkgutil, bailiwick
from bailiwick import *
names = [each.name for each in pkgutil.walk_packages(bailiwick.__path__, "bailiwick.")]
refused = []
for name in names:
    try:
        importlib.import_module(name)
    except ImportError as error:
        refused.append(f"{name}: {error}")
print(len(names), refused)
"""
EVERY_HELP = """
import contextlib, io
from bailiwick.cli.lazy import COMMANDS, load_command
from bailiwick.cli.main import app

def paths(name, command):
    verbs = getattr(command, "commands", {})
    yield [name]
    for verb, each in verbs.items():
        yield from ([name, *path] for path in paths(verb, each))

asked = 0
for name in COMMANDS:
    for path in paths(name, load_command(name)):
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                app([*path, "--help"])
        except SystemExit as end:
            assert end.code == 0, path
        assert "Usage:" in out.getvalue(), path
        asked += 1
print(asked)
"""


def _python(code: str) -> subprocess.CompletedProcess[str]:
    return run([*MAC, "-c", code])


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.pidfd_open",
        "import psutil, socket; socket.SO_PEERCRED",
        "open('/proc/self/stat').close()",
        "import bailiwick.executors.local as e; assert e.is_available()",
        "import bailiwick.executors.local as l, pathlib; l.open_executor(pathlib.Path('jobs'))",
    ],
)
def test_what_only_linux_has_is_really_taken_away(code: str, tmp_path: Path) -> None:
    assert run([*MAC, "-c", code], cwd=tmp_path).returncode == 1
    assert list(tmp_path.iterdir()) == []
    assert run([sys.executable, "-c", code], cwd=tmp_path).returncode == 0


def test_every_module_can_be_imported() -> None:
    done = _python(EVERY_MODULE)
    count, _, refused = done.stdout.partition(" ")
    assert int(count) > 400
    assert refused.strip() == "[]"


def test_every_command_gives_its_help() -> None:
    assert int(_python(EVERY_HELP).stdout) > 100


def test_a_story_is_told_its_journal_written_and_verified(tmp_path: Path) -> None:
    journal = tmp_path / "campus.jsonl"
    told = run([*BAILIWICK, "demo", "--days", "1", "--quiet", "--journal", str(journal)])
    assert told.returncode == 0
    verified = run([*BAILIWICK, "journal", "verify", str(journal)])
    assert verified.returncode == 0
    assert "records are as sealed" in verified.stdout


def test_a_journal_is_written_durably_by_what_a_mac_has_for_it() -> None:
    done = _python("""
import fcntl, os
from pathlib import Path
from tempfile import mkdtemp
from bailiwick.journal import Context, RecordKind, SeedSigner
from bailiwick.store.journal.writer import JournalWriter
asked, real = [], fcntl.fcntl
fcntl.fcntl = lambda file, command, *rest: asked.append(command) or real(file, command, *rest)
with JournalWriter(Path(mkdtemp()), SeedSigner("log.example/fleet", bytes(32))) as journal:
    body = {"lease_id": 4, "generation": 2, "expires_ms": 9000}
    journal.append(RecordKind.LEASE_RENEWED, Context("me", "r", tenant="a"), at_ms=1, body=body)
    del asked[:]
    journal.commit()
    print(asked == [fcntl.F_FULLFSYNC])
""")
    assert done.stdout == "True\n"


# --- the server --------------------------------------------------------------------------------


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server as on a Mac: the words of its login, and the file of its complaints."""
    out, err = tmp_path / "out", tmp_path / "err"
    with out.open("wb") as told, err.open("wb") as complained:
        process = subprocess.Popen(
            [*BAILIWICK, "up", "--port", "0"], cwd=tmp_path, stdout=told, stderr=complained
        )
    try:
        until = time.monotonic() + WAIT_S
        found = None
        while found is None:
            assert process.poll() is None, err.read_text()
            assert time.monotonic() < until, "no login was printed"
            time.sleep(0.1)
            found = re.search(r"^ +bailiwick (login .*)$", out.read_text(), re.MULTILINE)
        yield found[1], err
        process.terminate()
        assert process.wait(WAIT_S) == 0
    finally:
        process.kill()
        process.wait()


def test_the_server_comes_up_without_a_node_says_so_and_answers(
    server: tuple[str, Path], tmp_path: Path
) -> None:
    login, complaints = server
    assert complaints.read_text().startswith(f"bailiwick: {NO_JOBS}\n")
    env = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    assert run([*BAILIWICK, *login.split()], env=env).returncode == 0
    assert "admin" in run([*BAILIWICK, "whoami"], env=env).stdout
    listed = run([*BAILIWICK, "node", "list", "-o", "json"], env=env)
    assert '"items": []' in listed.stdout


def test_a_node_that_cannot_be_is_refused_in_one_line_and_nothing_is_made(tmp_path: Path) -> None:
    done = run([*BAILIWICK, "up", "--node"], cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"bailiwick: --node: expected Linux: {NO_JOBS}, got True\n"
    assert list(tmp_path.iterdir()) == []


def test_an_agent_that_cannot_mint_says_so_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t")
    agent = ["agent", "run", "--server", "http://127.0.0.1:9", "--token-file", "token"]
    mint = ["--attest", "ed25519", "--firmware", "0" * 64, "--mint", "--attest-state", "state"]
    done = run([*BAILIWICK, *agent, *mint], cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "mint socket: expected Linux, whose kernel tells who asks" in done.stderr


# --- and the type checker, which reads every line ----------------------------------------------


def test_no_line_uses_what_macos_has_not() -> None:
    cache = ROOT / ".mypy_cache" / "darwin"
    mypy = [sys.executable, "-m", "mypy", "--platform", "darwin", "--cache-dir", str(cache)]
    done = run(mypy, cwd=ROOT)
    assert done.returncode == 0, done.stdout
