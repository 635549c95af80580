"""A server process as a test meets it: started, asked, stopped, killed; only ever our own.

Each has its own folder and port, and ends with the test run even if that is killed.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bailiwick.services.authority import Authority
from tests.processes.caller import CallFailed, HttpCaller, log_in
from tests.processes.nursery import Born, nursery
from tests.support.ports import free_port
from tests.support.waiting import until

LISTENS = re.compile(r"^Bailiwick listens on (\S+) as (\S+)$", re.MULTILINE)
LOGIN = re.compile(r"^  bailiwick login (?:--server \S+ )?(\S+)$", re.MULTILINE)
TENANTS = ("lab", "probe")


class Server:
    """One ``bailiwick up``; as a node it runs jobs, which outlive it: the test must end them."""

    def __init__(self, folder: Path, name: str, *arguments: str, is_node: bool = False) -> None:
        self.name = name
        self._node = "--node" if is_node else "--no-node"
        self._folder = folder
        self._arguments = arguments
        self._process: Born | None = None
        self._runs = 0
        self.address = ""
        self._port = free_port()
        self.key_file = folder / "authority-for-all.pem"
        if not self.key_file.exists():
            self.key_file.touch(mode=0o600)
            self.key_file.write_bytes(Authority.new_key())
        self.token_file = folder / "session-for-all"

    @property
    def pid(self) -> int:
        """The number of the process."""
        assert self._process is not None, f"{self.name} does not run"
        return self._process.pid

    @property
    def runs(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def start(self, *, wait: bool = True) -> Server:
        """Start it, and wait until it listens. Call it from the main thread: it ends with it."""
        assert not self.runs, f"{self.name} runs already"
        self._runs += 1
        words = ("up", "--name", self.name, "--port", str(self._port), self._node)
        more = ("--key-file", str(self.key_file), *self._arguments)
        for path in (self._out, self._err):
            path.touch()
        self._process = nursery().start([*words, *more], out=self._out, err=self._err)
        if wait:
            self.wait_until_it_listens()
        return self

    @property
    def _out(self) -> Path:
        return self._folder / f"{self.name}-{self._runs}.out"

    @property
    def _err(self) -> Path:
        return self._folder / f"{self.name}-{self._runs}.err"

    def wait_until_it_listens(self) -> None:
        """Wait for the one line on stdout."""

        def listens() -> bool:
            found = LISTENS.search(self._out.read_text())
            if found:
                self.address = found[1]
            elif not self.runs:
                raise AssertionError(f"{self.name} ended:\n{self.errors}")
            return bool(found)

        until(listens, f"{self.name} listens")

    @property
    def errors(self) -> str:
        """What the last start has said on stderr."""
        return self._err.read_text() if self._err.exists() else ""

    def client(self, **options: Any) -> HttpCaller:
        """A caller of this process alone, as the administrator."""
        return HttpCaller([self.address], self.token, **options)

    @property
    def token(self) -> str:
        """The administrator's session; the first of a group that was given a login makes it."""
        if not self.token_file.exists():
            until(self._take_login, "somebody is given a login")
        return self.token_file.read_text()

    def _take_login(self) -> bool:
        for path in self._folder.glob("*.out"):
            listens, login = LISTENS.search(path.read_text()), LOGIN.search(path.read_text())
            if listens and login:
                token = log_in(listens[1], login[1])
                with HttpCaller([listens[1]], token) as caller:
                    for tenant in TENANTS:
                        caller.ask("POST", "/v1/tenants", {"tenant": tenant}, key=tenant)
                scratch = self.token_file.with_suffix(".new")
                scratch.write_text(token)
                scratch.rename(self.token_file)
                return True
        return False

    def kill9(self) -> None:
        """End it as a power cut would."""
        self._signal(signal.SIGKILL)

    def pause(self) -> None:
        """It does nothing any more, and does not know."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """It goes on where it was."""
        os.kill(self.pid, signal.SIGCONT)

    def stop(self) -> int:
        """End it in good order; its exit code."""
        return self._signal(signal.SIGTERM)

    def wait(self) -> int:
        """Wait until it ends by itself; its exit code."""
        assert self._process is not None
        return self._process.wait()

    def close(self) -> None:
        """Whatever it does, it is gone afterwards."""
        if self.runs:
            self.kill9()

    def _signal(self, number: signal.Signals) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait()

    def wait_for_its_node(self) -> None:
        """Wait until this machine is a node: before that, every job is refused."""
        with self.client() as client:
            until(lambda: client.ask("GET", "/v1/nodes")["items"], f"{self.name} is a node")

    def role(self) -> str:
        """What it says it is doing; nothing if it does not say."""
        if not self.runs or not self.address:
            return ""
        with contextlib.suppress(CallFailed), self.client() as client:
            return str(client.ask_once("GET", "/v1/replica?digest=false")["role"])
        return ""

    def is_one_of(self, *roles: str) -> bool:
        """Whether it says that it is in one of these roles."""
        return self.role() in roles


@contextlib.contextmanager
def running(*servers: Server) -> Iterator[None]:
    """Started, and gone afterwards; if the test failed, what they said last is shown."""
    try:
        for server in servers:
            server.start(wait=False)
        for server in servers:
            server.wait_until_it_listens()
        yield
    except BaseException:
        for server in servers:
            print(f"--- {server.name}\n{server.errors[-3000:]}")
        raise
    finally:
        for server in servers:
            server.close()


def leader_of(servers: list[Server]) -> Server | None:
    """The one that says it leads."""
    return next((s for s in servers if s.runs and s.role() == "leading"), None)
