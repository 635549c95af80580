"""Two agents as real processes, each of a node that the server knows; only ever our own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bailiwick.executors.local.executor import LocalExecutor
from tests.processes.caller import HttpCaller
from tests.processes.harness import Server
from tests.processes.nursery import ROOT
from tests.support.command_line import COMMAND
from tests.support.waiting import until


@dataclass
class Agent:
    """``bailiwick agent run --run-jobs`` of one node."""

    folder: Path
    node: str
    server: Server
    process: subprocess.Popen[bytes] | None = None

    options: tuple[str, ...] = ()

    def start(
        self,
        *before: str,
        address: str | None = None,
        options: tuple[str, ...] = (),
        has_gpu: bool = False,
        program: str | None = None,
    ) -> None:
        """Start it, as the words of another command if there are any before it.

        ``program`` is a module that is the command line on another machine.
        """
        self.folder.mkdir(exist_ok=True)
        log = (self.folder / "log").open("ab")
        module = "tests.processes.gpu_agent" if has_gpu else program
        own = [COMMAND] if module is None else [sys.executable, "-m", module]
        words = ["agent", "run", "--run-jobs", "--server", address or self.server.address]
        words += ["--token-file", str(self.folder / "token"), "--node", self.node]
        words += ["--attest-state", str(self.folder), "--label", f"site={self.node}"]
        words += [*self.options, *options]
        self.process = subprocess.Popen([*before, *own, *words], stderr=log, stdout=log, cwd=ROOT)
        log.close()

    def kill9(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.terminate()
            self.process.wait()
        executor = LocalExecutor(self.folder / "jobs")
        for found in executor.adopt():
            executor.tear_down(found.lease_id)


def enrol(caller: HttpCaller, folder: Path, node: str, server: Server) -> Agent:
    """The agent of a node, which has its token and does not run yet."""
    member = {"member": f"node:{node}", "role": "node_agent"}
    caller.ask("PUT", "/v1/members", member, key=f"member-{node}")
    wish = {"principal": f"node:{node}", "kind": "node", "ttl_s": 3600}
    wish |= {"keys": ["scheduler.node.report"]}
    agent = Agent(folder / node, node, server)
    agent.folder.mkdir()
    token = caller.ask("POST", "/v1/tokens", wish, key=f"token-{node}")["token"]
    (agent.folder / "token").write_text(token)
    os.chmod(agent.folder / "token", 0o600)
    return agent


@contextmanager
def agents(
    server: Server,
    folder: Path,
    caller: HttpCaller,
    *,
    other: Server | None = None,
    options: tuple[str, ...] = (),
) -> Iterator[list[Agent]]:
    """One on each of two nodes that the server knows; the second may ask another replica.

    The options are the second's alone.
    """
    found = []
    try:
        for node, asked, more in (("n1", server, ()), ("n2", other or server, options)):
            agent = enrol(caller, folder, node, asked)
            agent.options = more
            found.append(agent)
            agent.start()

        def all_there() -> bool:
            rows = caller.ask("GET", "/v1/nodes")["items"]
            return {"n1", "n2"} <= {row["node"] for row in rows}

        until(all_there, "both nodes are reported")
        yield found
    finally:
        for agent in found:
            agent.close()
