"""What is in the lab: a server, four nodes, who is who, and the clusters.

It is all asked for through the public API, as an administrator would. To have more in the lab, add
a function to ``CLUSTERS``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bailiwick.operators.kit.packing import digest_of
from bailiwick.operators.slurm.manifest import (
    PERMISSIONS,
    SlurmOffer,
    manifest_of,
    pack_member,
)
from examples.lab.api import Api
from examples.lab.room import in_a_room

TENANT: Final = "campus"
USUAL: Final = "http://127.0.0.1:7077"
"""Where people look for a server if they are not told."""
NODES: Final = ("n1", "n2", "n3", "n4")
PEOPLE: Final = {
    "grace": ("tenant_admin", None),
    "ada": ("project_admin", "vision"),
    "ben": ("project_member", "vision"),
    "eve": ("project_admin", "genes"),
}
"""Who there is, what he is, and in which project; without one, in the whole tenant."""
TTL_S: Final = 43_200
WAIT_S: Final = 600.0
"""How long each step may take; an idle machine needs seconds."""
_LISTENS: Final = re.compile(r"^Bailiwick listens on (\S+) as", re.MULTILINE)
_LOGIN: Final = re.compile(r"^  bailiwick login (?:--server \S+ )?(\S+)$", re.MULTILINE)
_OFFER: Final = SlurmOffer(cpus=1, mem="1000MiB", controller_cpus=0.2, controller_mem="2GiB")


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
    """A tenant with two projects, and a login for everybody."""
    campus.tell("letting people in")
    api = campus.api
    api.ask("POST", "/v1/tenants", {"tenant": TENANT})
    for project in ("vision", "genes"):
        api.ask("POST", f"/v1/tenants/{TENANT}/projects", {"project": project})
    for name, (role, project) in PEOPLE.items():
        place = f"/projects/{project}" if project else ""
        body = {"member": name, "role": role}
        api.ask("PUT", f"/v1/tenants/{TENANT}{place}/members", body)
        wish = {"principal": name, "ttl_s": TTL_S, "single_use": True}
        campus.codes[name] = api.ask("POST", "/v1/tokens", wish)["token"]


def start_nodes(campus: Campus) -> None:
    """An agent for each node, in a room of its own: to end the room is to lose the node."""
    campus.tell(f"starting {len(NODES)} nodes")
    api = campus.api
    for node in NODES:
        body = {"member": f"node:{node}", "role": "node_agent"}
        api.ask("PUT", "/v1/members", body)
        keys = ["scheduler.node.report"]
        token = campus.token_file(node, principal=f"node:{node}", kind="node", keys=keys)
        words = [*_bailiwick(), "agent", "run", "--run-jobs", "--trust-jobs", "--node", node]
        words += ["--server", api.address, "--token-file", str(token)]
        words += ["--attest-state", str(campus.folder / node)]
        campus.begin(node, in_a_room(words, node=node))
    campus.until(lambda: len(api.ask("GET", "/v1/nodes")["items"]) == len(NODES), "nodes report")


def offer_the_app(campus: Campus) -> None:
    """The app is in the catalog, verified, and the tenant may have it."""
    campus.tell("publishing the app slurm")
    api, blobs, program = campus.api, campus.folder / "apps" / "sha256", pack_member()
    digest = digest_of(program)
    blobs.mkdir(parents=True)
    (blobs / digest.removeprefix("sha256:")).write_bytes(program)
    source = {"source": "slurm", "kind": "blob", "address": f"file://{blobs.parent}"}
    api.ask("PUT", "/v1/artifact-sources", source)
    api.ask("POST", "/v1/artifacts", {"digest": digest, "kind": "blob", "source": "slurm"})
    api.ask("POST", "/v1/artifacts/verify", {"digest": digest})
    api.ask("POST", "/v1/apps", {"document": manifest_of(_OFFER, program)})
    api.ask("PATCH", "/v1/apps/slurm", {"visibility": "public"})
    api.ask("PUT", "/v1/entitlements", {"app": "slurm", "tenant": TENANT, "is_enabled": True})


def start_operator(campus: Campus, project: str) -> None:
    """The app's operator for one project, with an account that can do no more than it needs."""
    account = f"slurm-{project}"
    own = {"tenant": TENANT, "project": project}
    campus.api.ask("POST", "/v1/service-accounts", {"account": account, **own})
    members = f"/v1/tenants/{TENANT}/projects/{project}/members"
    campus.api.ask("PUT", members, {"member": account, "role": "project_admin"})
    keys = list(PERMISSIONS)
    token = campus.token_file(account, principal=account, kind="service_account", keys=keys)
    words = [sys.executable, "-m", "bailiwick.operators.slurm", "run", "--alone"]
    words += ["--keys", str(campus.folder / f"{account}.keys")]
    told = {
        "BAILIWICK_SERVER": campus.api.address,
        "BAILIWICK_TENANT": TENANT,
        "BAILIWICK_PROJECT": project,
        "BAILIWICK_TOKEN_FILE": str(token),
    }
    campus.begin(account, words, told)


def make_cluster_of_a_project(campus: Campus) -> None:
    """``c1``, a cluster of the project ``vision`` alone."""
    start_operator(campus, "vision")
    campus.tell("making the cluster c1 of the project vision")
    instances = f"/v1/tenants/{TENANT}/projects/vision/instances"
    wish = {"name": "c1", "app": "slurm", "version": _OFFER.version, "counts": {"worker": 2}}
    made = campus.api.ask("POST", instances, wish | {"parameters": {"kill_wait_s": 5}})
    path = f"{instances}/{made['instance_id']}"

    def runs() -> bool:
        told = campus.api.ask("GET", path)
        return bool(told["phase"] == "running" and told["reason"] == "jobs run on all 2 workers")

    campus.until(runs, "jobs came back from all workers of c1")


CLUSTERS: Final[tuple[Callable[[Campus], None], ...]] = (make_cluster_of_a_project,)
"""What is made, in this order. A cluster that projects share is one more function here."""


def _bailiwick() -> list[str]:
    return [sys.executable, "-m", "bailiwick.cli.main"]


def make_campus(folder: Path, *, port: int) -> Campus:
    """All of it."""
    campus = Campus(folder)
    start_server(campus, port=port)
    let_people_in(campus)
    start_nodes(campus)
    offer_the_app(campus)
    for make in CLUSTERS:
        make(campus)
    campus.tell("ready")
    return campus


def guide(campus: Campus) -> str:
    """Who to log in as, and what to try."""
    address = campus.api.address
    login = "bailiwick login" if address == USUAL else f"bailiwick login --server {address}"
    return f"""\
Bailiwick listens on {address} as lab
In another terminal, each of these codes works once:
  {login} {campus.codes["ada"]}    # ada administers the project {TENANT}/vision
  {login} {campus.codes["ben"]}    # ben works in it
  {login} {campus.codes["grace"]}    # grace administers the tenant {TENANT}
  {login} {campus.codes["eve"]}    # eve administers the project {TENANT}/genes
Then try, as ada:
  bailiwick context --tenant {TENANT} --project vision
  bailiwick app instance show c1
  bailiwick app call c1 submit -- sbatch --wrap=hostname
  bailiwick app call c1 read -- squeue
  bailiwick app instance scale c1 worker=3
What each process prints is in {campus.folder}/*.log. Ctrl-C ends all of it and removes that folder.
"""


def stay(campus: Campus) -> None:
    """Until the lab is ended, or its server is not there any more. Nodes may be lost: try it."""
    while campus.processes["server"].poll() is None:  # until then
        time.sleep(0.5)
    raise SystemExit(f"the server has ended:\n{campus.log_of('server')[-2_000:]}")
