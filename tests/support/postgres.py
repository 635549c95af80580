"""A private PostgreSQL server for tests: its own files, port, socket and password.

It is made from the programs the distribution installs, is started as a child of the test run, and
ends with it, even if the test run is killed. ``fsync`` stays on. No other server is ever touched.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg

from tests.support.ports import free_port
from tests.support.tools import need
from tests.support.waiting import WAIT_S, until

PASSWORD = "hunter-of-leaks"
USER = "keeper"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "on",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "logging_collector": "off",
}


def find_programs() -> Path | None:
    """The folder of the newest server's programs, if there is one."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3])
    )
    if found:
        return found[-1].parent
    named = shutil.which("initdb")
    return Path(named).resolve().parent if named else None


def start_or_skip() -> PostgresServer:
    """A started server; where there are no programs to start, the test is left out and says so."""
    need("postgresql")
    programs = find_programs()
    assert programs is not None
    return PostgresServer(programs)


class PostgresServer:
    """One server with one superuser; ``with`` it, or call ``close``."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self._owner = _unprivileged_user()
        # Short, because the path of a socket has at most 107 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="bw-pg-"))
        self._data = self.folder / "data"
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        try:
            self._make()
            self.start()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def url(self, database: str) -> str:
        """The address of one of its databases."""
        return f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def new_database(self, *, like: str = "template1") -> str:
        """The address of a new database: empty, or as another one is."""
        self._databases += 1
        name = f"test_{self._databases}"
        self.run_sql(f"CREATE DATABASE {name} TEMPLATE {like.rpartition('/')[2]}")
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Remove a database, whoever is still connected to it."""
        self.run_sql(f"DROP DATABASE IF EXISTS {url.rpartition('/')[2]} WITH (FORCE)")

    def run_sql(self, statement: str, *, url: str = "") -> list[tuple[object, ...]]:
        """Run one statement on a connection of its own, and give its rows."""
        with psycopg.connect(url or self.url("postgres"), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def start(self) -> None:
        """Start, and wait until it answers. Call it from the main thread: it ends with it."""
        assert self._process is None, "it runs already"
        log = (self.folder / "log").open("ab")
        command = [str(self._programs / "postgres"), "-D", str(self._data)]
        with log:
            self._process = self._spawn(command, output=log.fileno())
        self._wait_until_ready()

    def stop(self) -> None:
        """End it in good order; whoever is connected is thrown out."""
        self._end(signal.SIGINT)

    def kill9(self) -> None:
        """End it as a power cut would, the processes it has started included."""
        assert self._process is not None, "it does not run"
        self._end(signal.SIGKILL)
        # Another may begin only when the last of them has let go of the shared memory. They are
        # sought when no more can come: one may have been started just before the end.
        until(lambda: not _kill_all_in(self._data), "the last of its processes is gone")

    def restart(self) -> None:
        """Stop and start."""
        self.stop()
        self.start()

    def close(self) -> None:
        """End it and remove its files."""
        if self._process is not None:
            self._end(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _make(self) -> None:
        password = self.folder / "password"
        password.write_text(PASSWORD)
        if self._owner is not None:
            for path in (self.folder, password):
                os.chown(path, self._owner.pw_uid, self._owner.pw_gid)
        done = self._spawn(
            [
                *(str(self._programs / "initdb"), "-D", str(self._data), "-U", USER),
                *("-A", "scram-sha-256", f"--pwfile={password}", "--no-sync"),
                *("-E", "UTF8", "--locale=C"),
            ]
        )
        output, _ = done.communicate(timeout=WAIT_S)
        assert done.returncode == 0, output.decode()
        settings = {**SETTINGS, "port": str(self.port), "unix_socket_directories": str(self.folder)}
        lines = [f"{name} = '{value}'\n" for name, value in settings.items()]
        with (self._data / "postgresql.conf").open("a") as file:
            file.writelines(lines)

    def _spawn(
        self, command: list[str], *, output: int = subprocess.PIPE
    ) -> subprocess.Popen[bytes]:
        """Run a program as somebody who is not root, which PostgreSQL insists on."""
        guard = shutil.which("setpriv")
        # Should the test run be killed, the kernel tells the server to end.
        prefix = [guard, "--pdeathsig", "INT"] if guard else []
        who = {}
        if self._owner is not None:
            who = {"user": self._owner.pw_uid, "group": self._owner.pw_gid, "extra_groups": []}
        return subprocess.Popen(
            [*prefix, *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=self.folder,
            start_new_session=True,
            **who,
        )

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.url("postgres"), connect_timeout=30).close()
                return
            if self._process is None or self._process.poll() is not None:
                break
            time.sleep(0.05)
        log = (self.folder / "log").read_text(errors="replace")
        raise AssertionError(f"PostgreSQL did not start:\n{log[-2000:]}")

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        assert process is not None, "it does not run"
        process.send_signal(how)
        process.wait(timeout=WAIT_S)


def _kill_all_in(folder: Path) -> list[int]:
    """Kill the processes that work in a folder, as all of one PostgreSQL's do; those found."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if path.readlink() == folder.resolve():
                found.append(int(path.parent.name))
                os.kill(found[-1], signal.SIGKILL)
    return found


def _unprivileged_user() -> pwd.struct_passwd | None:
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise AssertionError("neither a user postgres nor nobody: PostgreSQL does not run as root")
