"""What is in every lab: a server, who is who, and four nodes.

It is all asked for through the public API, as an administrator would. The clusters are in
``clusters``.

Rules:

- Two nodes run jobs as their agent's own user: a cluster of one project needs no more, and it also
  works without root. Nobody may share such a node, for whoever is root there has the cluster's key.
- So two nodes are for the cluster that projects share: they keep jobs apart, and give members of
  apps that were granted it the host. Only root can. Without root all four are of the first kind.
- Where an app's members land is the platform's to say, by a line about the app's regions.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from bailiwick.executors.local.modes import can_sandbox
from examples.lab.api import Api
from examples.lab.room import in_a_room

TENANT: Final = "campus"
USUAL: Final = "http://127.0.0.1:7077"
"""Where people look for a server if they are not told."""
OPEN: Final = "open"
KEPT: Final = "kept"
"""The regions of the lab: nodes of one project, and nodes that projects share."""
NODES: Final = {"n1": OPEN, "n2": OPEN, "n3": KEPT, "n4": KEPT}
PROJECTS: Final = ("vision", "audio", "genes", "it")
PEOPLE: Final = {
    "ada": ("project_admin", "vision"),
    "ben": ("project_member", "vision"),
    "cleo": ("project_admin", "audio"),
    "dan": ("project_member", "audio"),
    "eve": ("project_admin", "genes"),
    "grace": ("tenant_admin", None),
}
"""Who there is, what he is, and in which project; without one, in the whole tenant."""
TTL_S: Final = 43_200
WAIT_S: Final = 600.0
"""How long each step may take; an idle machine needs seconds."""
_LISTENS: Final = re.compile(r"^Bailiwick listens on (\S+) as", re.MULTILINE)
_LOGIN: Final = re.compile(r"^  bailiwick login (?:--server \S+ )?(\S+)$", re.MULTILINE)


@dataclass
class Campus:
    """The lab while it is made."""

    folder: Path
    begun_s: float = field(default_factory=time.monotonic)
    api: Api = field(default_factory=lambda: Api(""))
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    """By whom one can log in."""

    def tell(self, text: str) -> None:
        """What is done now; what is printed in the end is on the other stream."""
        print(f"[{time.monotonic() - self.begun_s:4.0f} s] {text}", file=sys.stderr, flush=True)

    def begin(self, name: str, words: list[str], environ: dict[str, str] | None = None) -> None:
        """Have a process beside this one, with its output in a file."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                words, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **(environ or {})}
            )

    def log_of(self, name: str) -> str:
        """What a process printed so far."""
        return (self.folder / f"{name}.log").read_text("utf-8", "replace")

    def until(self, is_so: Callable[[], bool], told: str) -> None:
        """Wait until something is so; whoever has ended meanwhile ends the lab."""
        end = time.monotonic() + WAIT_S
        while not is_so():
            for name, process in self.processes.items():
                if process.poll() is not None:
                    raise SystemExit(f"{name} has ended:\n{self.log_of(name)[-2_000:]}")
            if time.monotonic() > end:
                raise SystemExit(f"{told}: not within {WAIT_S:.0f} s")
            time.sleep(0.2)

    def person(self, name: str) -> Api:
        """The server, asked as somebody of the campus."""
        wish = {"principal": name, "kind": "human", "ttl_s": TTL_S}
        return Api(self.api.address, self.api.ask("POST", "/v1/tokens", wish)["token"])

    def token_file(self, name: str, **wish: Any) -> Path:
        """A token in a file that nobody else can read."""
        path = self.folder / f"{name}.token"
        path.touch(mode=0o600)
        path.write_text(self.api.ask("POST", "/v1/tokens", {"ttl_s": TTL_S, **wish})["token"])
        return path


def start_server(campus: Campus, *, port: int) -> None:
    """A server, and its administrator's session."""
    campus.tell("starting the server")
    data = str(campus.folder / "server")
    words = [*_bailiwick(), "up", "--no-node", "--port", str(port), "--data-dir", data]
    campus.begin("server", words)
    campus.until(lambda: _LOGIN.search(campus.log_of("server")) is not None, "it listens")
    printed = campus.log_of("server")
    listens, login = _LISTENS.search(printed), _LOGIN.search(printed)
    assert listens is not None
    assert login is not None
    campus.api = Api(listens[1])
    campus.api.token = campus.api.ask("POST", "/v1/login", {"code": login[1]})["token"]


def let_people_in(campus: Campus) -> None:
    """A tenant with its projects, and a login for everybody."""
    campus.tell("letting people in")
    api = campus.api
    api.ask("POST", "/v1/tenants", {"tenant": TENANT})
    for project in PROJECTS:
        api.ask("POST", f"/v1/tenants/{TENANT}/projects", {"project": project})
    for name, (role, project) in PEOPLE.items():
        place = f"/projects/{project}" if project else ""
        body = {"member": name, "role": role}
        api.ask("PUT", f"/v1/tenants/{TENANT}{place}/members", body)
        wish = {"principal": name, "ttl_s": TTL_S, "single_use": True}
        campus.codes[name] = api.ask("POST", "/v1/tokens", wish)["token"]


@cache
def can_share() -> bool:
    """Whether projects can share a cluster here: its members become people's users."""
    return os.geteuid() == 0 and can_sandbox()


def region_of(node: str) -> str:
    """What a node is for."""
    return NODES[node] if can_share() else OPEN


def start_nodes(campus: Campus) -> None:
    """An agent for each node, in a room of its own: to end the room is to lose the node."""
    campus.tell(f"starting {len(NODES)} nodes")
    api = campus.api
    for node in NODES:
        body = {"member": f"node:{node}", "role": "node_agent"}
        api.ask("PUT", "/v1/members", body)
        keys = ["scheduler.node.report"]
        token = campus.token_file(node, principal=f"node:{node}", kind="node", keys=keys)
        region = region_of(node)
        how = "--trust-jobs" if region == OPEN else "--host-members"
        words = [*_bailiwick(), "agent", "run", "--run-jobs", how, "--node", node]
        words += ["--label", f"region={region}", "--server", api.address]
        words += ["--token-file", str(token), "--attest-state", str(campus.folder / node)]
        campus.begin(node, in_a_room(words, node=node))
    campus.until(lambda: len(api.ask("GET", "/v1/nodes")["items"]) == len(NODES), "nodes report")


def _bailiwick() -> list[str]:
    return [sys.executable, "-m", "bailiwick.cli.main"]
