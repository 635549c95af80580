"""A real server and real agents for the live tests of trust; every process is ended by its number.

The operator here speaks plain HTTP: what judges the product shares nothing with its client.
"""

from __future__ import annotations

import http.client
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from tests.processes.harness import Server, running
from tests.support.waiting import WAIT_S, until

COMMAND = (sys.executable, "-m", "bailiwick.cli.main")
_BEAT_S = 3.0
WORK = {"tenant": "lab", "wait": False, "resources": {"cpu_milli": 100, "mem_bytes": 2**20}}


@dataclass(frozen=True)
class Answer:
    """A status and what came with it."""

    status: int
    body: Any

    @property
    def ok(self) -> Any:
        """The body of an answer that is no refusal."""
        assert self.status < 300, self
        return self.body


@dataclass
class Fleet:
    """One server, and the operator's way to it."""

    server: Server
    folder: Path

    def ask(self, method: str, path: str, body: object = None, *, token: str = "") -> Answer:
        """One request, once."""
        at = urlsplit(self.server.address)
        line = http.client.HTTPConnection(str(at.hostname), at.port, timeout=WAIT_S)
        headers = {"Authorization": f"Bearer {token or self.server.token}"}
        headers |= {} if method == "GET" else {"Idempotency-Key": uuid4().hex}
        data = None if body is None else json.dumps(body)
        headers |= {} if data is None else {"Content-Type": "application/json"}
        try:
            line.request(method, path, data, headers)
            response = line.getresponse()
            return Answer(response.status, json.loads(response.read()))
        finally:
            line.close()

    def set_policy(self, pools: dict[str, Any]) -> None:
        """Say what is asked of which nodes."""
        body = {"document": json.dumps({"pools": pools})}
        assert self.ask("PUT", "/v1/attestation/policy", body).ok

    def admit(self, node: str) -> Path:
        """A token for a node, in a file."""
        path = self.folder / f"token-{node}"
        if path.exists():
            return path
        member = {"member": f"node:{node}", "role": "node_agent"}
        assert self.ask("PUT", "/v1/members", member).ok
        wish = {"principal": f"node:{node}", "kind": "node", "keys": ["scheduler.node.report"]}
        path.touch(mode=0o600)
        path.write_text(self.ask("POST", "/v1/tokens", wish).ok["token"])
        return path

    def node(self, node: str) -> dict[str, Any]:
        """How a node stands."""
        found: dict[str, Any] = self.ask("GET", f"/v1/nodes/{node}").ok
        return found

    def trust(self, node: str) -> dict[str, Any]:
        """How far a node is trusted, and why."""
        found: dict[str, Any] = self.ask("GET", f"/v1/nodes/{node}/attestation").ok
        return found

    def wait_for(self, node: str, state: str, *, quarantined: bool = False) -> None:
        """Wait until a node is so far trusted, and closed or not."""

        def is_so() -> bool:
            answer = self.ask("GET", f"/v1/nodes/{node}")
            if answer.status == 404:
                return False
            return (answer.ok["attestation"], answer.ok["quarantined"]) == (state, quarantined)

        until(is_so, f"{node} is {state}, quarantined: {quarantined}")

    @contextmanager
    def heard(self, node: str) -> Iterator[None]:
        """A node whose agent ran once goes on to be heard, however long the test takes."""
        token, over = self.admit(node).read_text(), Event()

        def beat() -> None:
            while not over.wait(_BEAT_S):
                self.ask("POST", f"/v1/nodes/{node}/heartbeat", token=token)

        beats = Thread(target=beat, name=f"beats-{node}")
        beats.start()
        try:
            yield
        finally:
            over.set()
            beats.join()

    def lease(self, *labels: str) -> Answer:
        """Ask for a lease on a node with these labels, now or not at all."""
        return self.ask("POST", "/v1/leases", WORK | {"labels": list(labels)})

    def fallen(self) -> dict[str, int]:
        """How many nodes fell at which filter, as ``explain`` counts."""
        found: dict[str, int] = self.ask("POST", "/v1/leases/explain", WORK).ok["fallen"]
        return found

    def records(self) -> list[dict[str, Any]]:
        """Everything that was sealed, once the journal has been verified by the command."""
        where = str(self.folder / "data")
        for words in (("verify", where), ("export", where)):
            done = subprocess.run(
                [*COMMAND, "journal", *words], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]


@dataclass
class Agent:
    """One ``bailiwick agent run``."""

    fleet: Fleet
    node: str
    token_file: Path
    arguments: tuple[str, ...]
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def _err(self) -> Path:
        return self.fleet.folder / f"agent-{self.node}.err"

    @property
    def said(self) -> str:
        """What it has told its operator so far."""
        return self._err.read_text() if self._err.exists() else ""

    def _command(self, *more: str) -> list[str]:
        guard = shutil.which("setpriv")
        return [
            *([guard, "--pdeathsig", "KILL"] if guard else []),
            *(*COMMAND, "agent", "run", "--server", self.fleet.server.address),
            *("--token-file", str(self.token_file), "--node", self.node),
            *(*self.arguments, *more),
        ]

    def start(self) -> Agent:
        """Have it run until it is stopped."""
        with self._err.open("ab") as err:
            self._process = subprocess.Popen(
                self._command(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=err,
                start_new_session=True,
            )
        return self

    def once(self) -> subprocess.CompletedProcess[str]:
        """One report, one beat and one proof."""
        return subprocess.run(
            self._command("--once"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=False,
        )

    @property
    def runs(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> int | None:
        """End it in good order; its exit code."""
        if self._process is None:
            return None
        if self.runs:
            self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(WAIT_S)
        self._process = None
        return code

    def kill(self) -> None:
        """Whatever it does, it is gone afterwards."""
        if self._process is not None and self.runs:
            self._process.kill()
            self._process.wait(WAIT_S)


@contextmanager
def fleet(folder: Path) -> Iterator[Fleet]:
    """A server without a machine of its own, and its operator."""
    server = Server(folder, "gate", "--data-dir", str(folder / "data"))
    with running(server):
        yield Fleet(server, folder)


@contextmanager
def alive(*agents: Agent) -> Iterator[None]:
    """Agents that run, and are gone afterwards; if the test failed, what they said is shown."""
    try:
        for agent in agents:
            agent.start()
        yield
    except BaseException:
        for agent in agents:
            print(f"--- agent {agent.node}\n{agent.said[-3000:]}")
        raise
    finally:
        for agent in agents:
            agent.kill()
