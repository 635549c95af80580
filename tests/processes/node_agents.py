"""Two agents as real processes, each of a node that the server knows; only ever our own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bailiwick.executors.local.executor import LocalExecutor
from tests.processes.caller import HttpCaller
from tests.processes.harness import Server
from tests.support.command_line import COMMAND
from tests.support.waiting import until


@dataclass
class Agent:
    """``bailiwick agent run --run-jobs`` of one node."""

    folder: Path
    node: str
    server: Server
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.folder.mkdir(exist_ok=True)
        log = (self.folder / "log").open("ab")
        words = ["agent", "run", "--run-jobs", "--server", self.server.address]
        words += ["--token-file", str(self.folder / "token"), "--node", self.node]
        words += ["--attest-state", str(self.folder), "--label", f"site={self.node}"]
        self.process = subprocess.Popen([COMMAND, *words], stderr=log, stdout=log)
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


@contextmanager
def agents(
    server: Server, folder: Path, caller: HttpCaller, *, other: Server | None = None
) -> Iterator[list[Agent]]:
    """One on each of two nodes that the server knows; the second may ask another replica."""
    found = []
    try:
        for node, asked in (("n1", server), ("n2", other or server)):
            member = {"member": f"node:{node}", "role": "node_agent"}
            caller.ask("PUT", "/v1/members", member, key=f"member-{node}")
            wish = {"principal": f"node:{node}", "kind": "node", "ttl_s": 3600}
            wish |= {"keys": ["scheduler.node.report"]}
            agent = Agent(folder / node, node, asked)
            agent.folder.mkdir()
            token = caller.ask("POST", "/v1/tokens", wish, key=f"token-{node}")["token"]
            (agent.folder / "token").write_text(token)
            os.chmod(agent.folder / "token", 0o600)
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
