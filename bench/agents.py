"""Jobs on node agents: how soon one runs, and how long a graph of a thousand takes.

``bailiwick up`` and two agents run as they do for anybody, all on this machine, and share its cores
with the jobs. A job's time counts from before it is submitted until it is read as running, over one
kept connection; jobs on the server's own machine and on an agent's come in turns, so that what
else the machine does falls on both. The tasks of the graph do nothing.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from bench.api import server
from bench.measure import percentile, say
from bench.report import Section, Table

TASKS, TASKS_QUICK, TASKS_BAR_S = 1_000, 100, 60
STARTS, STARTS_QUICK, START_BAR_MS = 15, 5, 150
NODES = ("n1", "n2")
LOOK_S = 0.002
WAIT_S = 600.0
SMALL = {"cpu_milli": 20, "mem_bytes": 2**24}
OWNER = {"tenant": "main", "project": "default"}


class Line:
    """One kept connection to the server, as its administrator."""

    def __init__(self, address: str, code: str) -> None:
        at = urlsplit(address)
        self._http = http.client.HTTPConnection(str(at.hostname), at.port, timeout=WAIT_S)
        self._token = "none"
        self._token = self.ask("POST", "/v1/login", {"code": code})["token"]

    def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """What is answered; anything but success is an error."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        self._http.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = self._http.getresponse()
        found: dict[str, Any] = json.loads(answer.read())
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status}: {found}")
        return found

    def until(self, path: str, is_it: Any) -> dict[str, Any]:
        """What is read there, once it is as wanted."""
        end = time.monotonic() + WAIT_S
        while not is_it(found := self.ask("GET", path)):
            if time.monotonic() > end:
                raise RuntimeError(f"{path} stays {found}")
            time.sleep(LOOK_S)
        return found


@contextmanager
def agent(line: Line, address: str, folder: Path, node: str) -> Iterator[None]:
    """An agent that runs the jobs of a node."""
    folder.mkdir()
    line.ask("PUT", "/v1/members", {"member": f"node:{node}", "role": "node_agent"})
    wish = {"principal": f"node:{node}", "kind": "node", "ttl_s": 7200}
    told = line.ask("POST", "/v1/tokens", wish | {"keys": ["scheduler.node.report"]})
    token = folder / "token"
    token.touch(mode=0o600)
    token.write_text(told["token"])
    words = ["agent", "run", "--run-jobs", "--server", address, "--token-file", str(token)]
    words += ["--node", node, "--attest-state", str(folder)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "bailiwick.cli.main", *words], stdout=log, stderr=log
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait(WAIT_S)


def submit_to_running(line: Line, label: str) -> float:
    """Milliseconds until a job of an idle executor is read as running; then it is ended."""
    body = OWNER | {"command": ["sleep", "600"], "resources": SMALL, "labels": [label]}
    begin = time.perf_counter()
    path = f"/v1/jobs/{line.ask('POST', '/v1/jobs', body)['job_id']}"
    line.until(path, lambda job: job["phase"] == "running")
    took_ms = 1000 * (time.perf_counter() - begin)
    line.ask("DELETE", path)
    line.until(path, lambda job: job["phase"] == "cancelled")
    line.until("/v1/leases", lambda leases: not leases["items"])
    return took_ms


def map_of(line: Line, tasks: int) -> float:
    """Seconds from the submission of a graph of no-ops to its success."""
    needs = "cpus: 0.02, mem: 16MiB, ttl: 10m"
    text = f"running_max: 64\ntasks: {{nothing: {{command: ['true'], map: {tasks}, {needs}}}}}"
    begin = time.perf_counter()
    made = line.ask("POST", "/v1/graphs", OWNER | {"document": text, "executor": "node"})
    end, path = time.monotonic() + WAIT_S, "/v1/graphs?limit=1"
    while (found := line.ask("GET", path)["items"][0])["phase"] == "running":
        if time.monotonic() > end:
            raise RuntimeError(f"{made} stays {found}")
        time.sleep(0.1)
    took_s = time.perf_counter() - begin
    if found["phase"] != "succeeded" or found["counts"] != {"succeeded": tasks}:
        raise RuntimeError(f"the graph ended otherwise: {found}")
    return took_s


def measure(*, quick: bool) -> tuple[dict[str, list[float]], float]:
    """Starts on both executors in turns, then the map."""
    starts: dict[str, list[float]] = {"local": [], "node": []}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address, code = stack.enter_context(server(folder, "--node"))
        line = Line(address, code)
        for node in NODES:
            stack.enter_context(agent(line, address, folder / node, node))
        wanted = 1 + len(NODES)
        line.until("/v1/nodes", lambda nodes: len(nodes["items"]) == wanted)
        say("agents: submit to running, in turns")
        for name in starts:
            submit_to_running(line, f"executor={name}")  # warm
        for _ in range(STARTS_QUICK if quick else STARTS):
            for name, took in starts.items():
                took.append(submit_to_running(line, f"executor={name}"))
        tasks = TASKS_QUICK if quick else TASKS
        say(f"agents: a map of {tasks:,} tasks")
        return starts, map_of(line, tasks)


def run(*, quick: bool = False) -> Section:
    """The section: submit to running on both, and the map on two agents."""
    starts, took_s = measure(quick=quick)
    section = Section("agents", "Jobs on node agents")
    table = Table("from submit to running, ms", ["where", "p50", "p90", "max"])
    for name, took in starts.items():
        figures = (median(took), percentile(took, 90), max(took))
        table.rows.append([name, *(f"{ms:.0f}" for ms in figures)])
        section.data[f"{name}_ms"] = [round(ms, 1) for ms in took]
    section.tables.append(table)
    tasks = TASKS_QUICK if quick else TASKS
    rows = [[f"map of {tasks:,} no-ops", f"{took_s:.1f}", f"{tasks / took_s:.0f}"]]
    section.tables.append(Table("graphs on two agents", ["graph", "seconds", "tasks/s"], rows))
    section.data["map_s"] = round(took_s, 2)
    over = median(starts["node"]) - median(starts["local"])
    section.bar_at_most("submit to running on an agent, over local", over, START_BAR_MS, unit=" ms")
    section.bar_at_most(f"a map of {tasks:,} no-ops", took_s, TASKS_BAR_S, unit=" s")
    section.notes.append(f"server, agents, jobs and caller share {os.cpu_count()} cores")
    return section
