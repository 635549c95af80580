"""One Slurm for a tenant on a real server: agents that give the host, people, and its operator.

What is asked inside the members is asked with the token of the runtime's operator: nobody else is
let in. Programs of Slurm are run there as the Unix user of a person, as somebody on a login machine
would, so nothing of the platform's door stands in between.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bailiwick.executors.local.modes import can_sandbox
from bailiwick.operators.kit.packing import digest_of
from bailiwick.operators.slurm.__main__ import pack
from bailiwick.operators.slurm.manifest import SHARED_APP, SlurmOffer, pack_member
from bailiwick.operators.slurm.member.shared_host import PLACE
from bailiwick.operators.slurm.questions import ASK_SHARED
from bailiwick.operators.slurm.shared.people import unix_of
from bailiwick.operators.slurm.wanted import CONTROLLER, PORTS
from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, running
from tests.processes.node_agents import Agent, enrol
from tests.support.ports import free_ports
from tests.support.slurm_app import another_program
from tests.support.slurm_shared import Told
from tests.support.tools import leave_out, need
from tests.support.waiting import WAIT_S, until

TENANT = "/v1/tenants/lab"
ONE = f"{TENANT}/runtimes/main"
VERSION, LATER = "1.0.0", "1.1.0"
OWNER = "core"
PEOPLE = {"alice": "vision", "bob": "audio", "carl": "vision"}
"""Who is of which project; the first two are its administrators."""
KILL_WAIT_S = 2
APP = (sys.executable, "-m", "bailiwick.operators.slurm")


@dataclass
class SharedApp:
    """A server with a tenant, its people, its machines, and the operator of its runtime."""

    folder: Path
    server: Server
    admin: HttpCaller
    agents: list[Agent] = field(default_factory=list)
    people: dict[str, HttpCaller] = field(default_factory=dict)
    operator: HttpCaller | None = None
    instance: str = ""
    """Where the instance behind the runtime is."""
    parameters: dict[str, Any] = field(default_factory=dict)
    _process: subprocess.Popen[bytes] | None = None

    # -- people ------------------------------------------------------------------------------

    def enter(self, stack: ExitStack) -> None:
        """Have the tenant's projects, and somebody logged in for each."""
        for project in (OWNER, "vision", "audio"):
            self.admin.ask("POST", f"{TENANT}/projects", {"project": project}, key=project)
        role = {"member": "tina", "role": "tenant_admin"}
        self.admin.ask("PUT", f"{TENANT}/members", role, key="tina")
        for who, project in PEOPLE.items():
            role = "project_member" if who == "carl" else "project_admin"
            path, body = f"{TENANT}/projects/{project}/members", {"member": who, "role": role}
            self.admin.ask("PUT", path, body, key=who)
        for who in ("tina", *PEOPLE):
            wish = {"principal": who, "kind": "human", "ttl_s": 3_600}
            token = self.admin.ask("POST", "/v1/tokens", wish, key=f"token-{who}")["token"]
            self.people[who] = stack.enter_context(HttpCaller([self.server.address], token))

    @property
    def tina(self) -> HttpCaller:
        """The tenant's administrator."""
        return self.people["tina"]

    def part(self, project: str, rest: str) -> str:
        """Where a project's part is."""
        return f"{ONE}/projects/{project}/{rest}"

    # -- the runtime -------------------------------------------------------------------------

    def publish(self) -> None:
        """The app is there in two versions, may be used, and may have the host."""
        first = SlurmOffer(
            version=VERSION,
            cpus=1,
            mem="800MiB",
            controller_cpus=0.2,
            controller_mem="2GiB",
            is_shared=True,
        )
        later = replace(first, version=LATER, upgrades_from=(VERSION,))
        for offer, program in ((first, pack_member()), (later, another_program())):
            self._publish(offer, program)
        self.admin.ask("PATCH", f"/v1/apps/{SHARED_APP}", {"visibility": "public"}, key="public")
        line = {"app": SHARED_APP, "tenant": "lab", "is_enabled": True}
        self.admin.ask("PUT", "/v1/entitlements", line, key="line")

    def _publish(self, offer: SlurmOffer, program: bytes) -> None:
        packed, ask = self.folder / f"packed-{offer.version}", self.admin.ask
        pack(packed, offer, program=program)
        digest, version = digest_of(program), offer.version
        source = {"source": "slurm", "kind": "blob", "address": f"file://{packed}"}
        ask("PUT", "/v1/artifact-sources", source, key=f"source-{version}")
        new = {"digest": digest, "kind": "blob", "source": "slurm"}
        ask("POST", "/v1/artifacts", new, key=f"register-{version}")
        ask("POST", "/v1/artifacts/verify", {"digest": digest}, key=f"verify-{version}")
        document = (packed / "manifest.json").read_text()
        ask("POST", "/v1/apps", {"document": document}, key=f"publish-{version}")
        host = f"/v1/apps/{SHARED_APP}/versions/{version}/host"
        ask("PUT", host, {"is_granted": True}, key=f"host-{version}")

    def create(self, *, withdraw_within_ms: int = 60_000, **more: Any) -> None:
        """The tenant's administrator shares it, having read who pays, and lets its operator in."""
        self.parameters = {
            "port": free_ports(PORTS)[0],
            "kill_wait_s": KILL_WAIT_S,
            "min_job_age_s": 5,
            **more,
        }
        wish = {
            "runtime": "main",
            "environment": "prod",
            "project": OWNER,
            "app": SHARED_APP,
            "version": VERSION,
            "parameters": self.parameters,
            "counts": {"worker": 1},
            "withdraw_within_ms": withdraw_within_ms,
        }
        plan = self.tina.ask("POST", f"{TENANT}/runtime-plans", wish)
        wish["accepted_digest"] = plan["digest"]
        self.tina.ask("POST", f"{TENANT}/runtimes", wish, key="create")
        self.let_operator_in()

    def let_operator_in(self) -> None:
        """Give the operator of the runtime that there is its token."""
        number = self.tina.ask("GET", ONE)["runtime"]["instance_id"]
        self.instance = f"{TENANT}/projects/{OWNER}/instances/{number}"
        wish = {"ttl_s": 3_600}
        token = self.tina.ask("POST", f"{ONE}/operator-token", wish, key=None)["token"]
        (self.folder / "token").touch(mode=0o600)
        (self.folder / "token").write_text(token)
        self.operator = HttpCaller([self.server.address], token)

    def change(self, name: str, body: dict[str, Any]) -> None:
        """Have the instance behind it be another, as its administrator asks."""
        self.tina.ask("PATCH", self.instance, body, key=name)

    def attach(self, project: str) -> None:
        """Both sides consent."""
        person = next(who for who, of in PEOPLE.items() if of == project)
        self.tina.ask("PUT", f"{ONE}/attachments/{project}", key=f"allow-{project}")
        self.people[person].ask("PUT", self.part(project, "attachment"), key=f"accept-{project}")

    def view(self) -> dict[str, Any]:
        """All of the runtime, as its operator sees it."""
        assert self.operator is not None
        return self.operator.ask("GET", ONE)

    def phase_of(self, project: str) -> str:
        """How far a project's part is; nothing once it has none."""
        found = [each for each in self.view()["attachments"] if each["project"] == project]
        return str(found[0]["phase"]) if found else ""

    def runs(self, workers: int) -> bool:
        """Whether jobs came back from so many workers, and all is seen to."""
        told = self.admin.ask("GET", self.instance)
        is_seen = told["observed_generation"] == told["generation"]
        well, _, _ = str(told["reason"]).partition("; ")  # and what should not be
        return bool(is_seen and well == f"jobs run on all {workers} workers")

    @property
    def reason(self) -> str:
        """What its operator says of it."""
        return str(self.admin.ask("GET", self.instance)["reason"])

    def members(self) -> dict[str, dict[str, Any]]:
        """Those that have not failed, by what they are called."""
        found = self.admin.ask("GET", f"{self.instance}/members")["items"]
        return {each["component_key"]: each for each in found if each["phase"] != "failed"}

    # -- its operator ------------------------------------------------------------------------

    @property
    def log(self) -> Path:
        """What the operator says."""
        return self.folder / "operator.log"

    def start_operator(self) -> None:
        """Begin the operator's program."""
        words = ["run", "--alone", "--app", SHARED_APP, "--keys", str(self.folder / "keys")]
        words += ["--packed", str(self.folder / f"packed-{LATER}")]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen([*APP, *words], env=self._environ(), stderr=log)

    def command(self, verb: str, *words: str) -> subprocess.CompletedProcess[str]:
        """One of the operator's other commands, to its end."""
        return subprocess.run(
            [*APP, verb, "main", *words, "--app", SHARED_APP],
            env=self._environ(),
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=False,
        )

    def _environ(self) -> dict[str, str]:
        return {
            **os.environ,
            "BAILIWICK_SERVER": self.server.address,
            "BAILIWICK_TENANT": "lab",
            "BAILIWICK_PROJECT": OWNER,
            "BAILIWICK_RUNTIME": "main",
            "BAILIWICK_TOKEN_FILE": str(self.folder / "token"),
        }

    def end_operator(self, number: signal.Signals) -> None:
        """End it."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(WAIT_S)
            self._process = None

    # -- what there is on the machine --------------------------------------------------------

    def leases(self) -> set[int]:
        """The leases that there are."""
        return {each["lease_id"] for each in self.admin.ask("GET", "/v1/leases")["items"]}

    def inside_pids(self, program: str = "") -> list[int]:
        """Processes that are in a member, jobs among them; those of one program, if named."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                mounts = (entry / "mountinfo").read_text() if entry.name.isdigit() else ""
                words = (entry / "cmdline").read_bytes().split(b"\0") if mounts else []
            except OSError:
                continue
            shown = [line for line in mounts.splitlines() if f" {PLACE} " in line]
            is_there = any(self.folder.name in line for line in shown)
            if is_there and program in ("", words[0].decode().rpartition("/")[2]):
                found.append(int(entry.name))
        return found

    def kill(self, victim: str) -> bool:
        """End something as a power cut would, and begin it again if nothing else does."""
        match victim:
            case "operator":
                self.end_operator(signal.SIGKILL)
                self.start_operator()
            case "server":
                self.server.kill9()
                self.server.start()
            case "agent":
                self.agents[-1].kill9()
                self.agents[-1].start(options=("--host-members",))
            case _:
                found = self.inside_pids(victim)
                for pid in found:
                    os.kill(pid, signal.SIGKILL)
                return bool(found)
        return True

    # -- inside ------------------------------------------------------------------------------

    def ask(self, member: str, **question: Any) -> dict[str, Any]:
        """What a member answers its operator."""
        assert self.operator is not None
        job = self.members()[member]["job_id"]
        path, caller = f"/v1/jobs/{job}/execs", self.operator
        opened = caller.ask("POST", path, {"command": list(ASK_SHARED)}, key=None)
        path += f"/{opened['exec_id']}"
        data = base64.b64encode(b"0\n" + json.dumps(question).encode()).decode()
        typed = {"offset": 0, "data": data, "is_closed": True}
        caller.ask("PUT", f"{path}/input", typed, key=None)
        wrote, offset = {"stdout": b"", "stderr": b""}, 0
        while True:  # until it is over, which the server sees to
            found = caller.ask("POST", f"{path}/output", {"offset": offset, "wait_s": 15})
            offset = found["next_offset"]
            for piece in found["pieces"]:
                wrote[piece["stream"]] += base64.b64decode(piece["data"])
            if found["end"] is not None:
                break
        assert found["end"] == "exited", (found, wrote["stderr"])
        answer: dict[str, Any] = json.loads(wrote["stdout"])
        return answer

    def by(self, who: str | None, *argv: str) -> Told:
        """Run one of Slurm's programs in the controller as somebody; none: as its operator."""
        user = None if who is None else unix_of(who).name
        answer = self.ask(CONTROLLER, do="slurm", argv=argv, user=user, wait_s=60)
        if "error" in answer:
            return Told(False, str(answer["error"]))
        return Told(answer["code"] == 0, answer["out"] + answer["err"])

    def slurm(self, *argv: str) -> str:
        """What a program of Slurm says to its operator."""
        told = self.by(None, *argv)
        assert told.is_done, told.text
        return told.text

    def sbatch(self, who: str, *words: str, seconds: int = 0) -> Told:
        """Submit a small job as somebody."""
        job = ("--parsable", "-o", "/dev/null", "-c1", "--mem=1", "--wrap", f"sleep {seconds}")
        return self.by(who, "sbatch", *words, *job)

    def state(self, job: str) -> str:
        """A job's state, by the accounting: of all that ever had its number, the newest."""
        return (self.states(job) or [""])[-1]

    def states(self, job: str) -> list[str]:
        """The states of all that ever had a number, oldest first: a requeued job has several."""
        rows = self.slurm("sacct", "-aXnP", "-D", "-j", job, "-o", "submit,state").splitlines()
        return [row.partition("|")[2] for row in sorted(rows)]

    def jobs(self) -> list[str]:
        """All that are not gone, but for probes."""
        rows = self.slurm("squeue", "-hr", "-o", "%i %T %a %P").splitlines()
        return [row for row in rows if " bailiwick.probe " not in row]


@contextmanager
def shared_app(*labels: str, nodes: int = 2) -> Iterator[SharedApp]:
    """A tenant with machines, all with these labels, and people, to which the app is offered."""
    need("slurm")
    if os.geteuid() != 0:
        leave_out("root", "members become the users of several projects, which takes root")
    if not can_sandbox():
        leave_out("namespaces", "members on the host need namespaces of their own")
    folder = Path(tempfile.mkdtemp(prefix="bw-t-"))
    server = Server(folder, "s", "--data-dir", str(folder / "d"))
    try:
        with running(server), server.client() as caller, ExitStack() as stack:
            found = SharedApp(folder, server, caller)
            stack.callback(_close, found)
            try:
                for number in range(1, nodes + 1):
                    agent = enrol(caller, folder, f"n{number}", server)
                    agent.options = tuple(f"--label={each}" for each in labels)
                    found.agents.append(agent)
                    found.agents[-1].start(options=("--host-members",))
                rows = lambda: caller.ask("GET", "/v1/nodes")["items"]  # noqa: E731
                until(lambda: len(rows()) == nodes, "all machines are known")
                found.enter(stack)
                found.publish()
                yield found
            except BaseException:
                print(found.log.read_text()[-8_000:] if found.log.exists() else "no operator")
                print(server.errors[-3_000:])
                raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _close(found: SharedApp) -> None:
    found.end_operator(signal.SIGKILL)
    if found.operator is not None:
        found.operator.close()
    for agent in found.agents:
        agent.close()
