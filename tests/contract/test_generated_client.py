"""A client that somebody else's generator makes from the document logs in, looks, and submits.

The generator and what its clients need live in an environment of their own, where there is no
Bailiwick: the generator's pins (of Typer) are not ours, and a stranger has nothing of ours either.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.processes.harness import Server, running
from tests.support.tools import need
from tests.support.waiting import WAIT_S, until

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = Path("docs", "openapi.json")
TOOLS = ROOT / ".openapi-client" / "bin"
GENERATOR = "openapi-python-client"

# What a stranger might do first. Each line that is printed is judged by the test below.
SCRIPT = """
import base64, json, os, time

from bailiwick_client import AuthenticatedClient, Client, models
from bailiwick_client.api.job import job_list, job_output, job_read, job_submit
from bailiwick_client.api.journal import record_watch
from bailiwick_client.api.lease import lease_request
from bailiwick_client.api.node import node_list
from bailiwick_client.api.server import healthz, metrics_read
from bailiwick_client.api.session import login, self_log_out, self_read
from bailiwick_client.api.tenant import tenant_list

server, code = os.environ["BAILIWICK_SERVER"], os.environ["BAILIWICK_LOGIN_CODE"]
nobody = Client(server)
print("health", healthz.sync(client=nobody).status)
session = login.sync(client=nobody, body=models.Login(code=code))
assert isinstance(session, models.IssuedToken), session
again = login.sync(client=nobody, body=models.Login(code=code))
print("spent code", type(again).__name__, again.code)

client = AuthenticatedClient(server, session.token)
who = self_read.sync(client=client)
print("principal", who.principal, [held.role.value for held in who.roles])
print("tenants", *[each.tenant for each in tenant_list.sync(client=client).items])
(node,) = node_list.sync(client=client).items
print("node", node.mode.value, node.liveness.value, node.resources.cpu_milli > 0)

small = models.Resources(cpu_milli=100)
large = models.Resources(cpu_milli=5 * 10**6)  # within the quota of a new tenant
huge = models.Resources(cpu_milli=10**9)  # beyond it
wish = models.LeaseRequest(tenant="main", project="default", resources=small)
plan = lease_request.sync(client=client, body=wish, dry_run="true")
print("plan", type(plan).__name__, plan.plan)
for much in (huge, large):
    wish = models.LeaseRequest(tenant="main", project="default", resources=much, wait=False)
    plan = lease_request.sync(client=client, body=wish, dry_run="true")
    print("plan", type(plan).__name__, plan.plan, type(plan.denied).__name__)
no = lease_request.sync_detailed(client=client, body=wish)
decision = no.parsed.decision
print("refused", no.status_code.value, no.parsed.code.value, type(decision).__name__)

said = ["sh", "-c", "echo hello from $BAILIWICK_LEASE_ID"]
new = models.NewJob(tenant="main", project="default", command=said, resources=small, name="first")
job = job_submit.sync(client=client, body=new, idempotency_key="only-once")
assert isinstance(job, models.Job), job
same = job_submit.sync(client=client, body=new, idempotency_key="only-once")
print("submitted once", same.job_id == job.job_id)
listed = [each for each in job_list.sync(client=client).items if each.job_id == job.job_id]
print("listed", listed[0].name, listed[0].command == said)
while job_read.sync(job.job_id, client=client).ended_ms is None:
    time.sleep(0.1)  # the test has the patience
over = job_read.sync(job.job_id, client=client)
print("ended", over.phase.value, over.exit_code)
printed = base64.b64decode(job_output.sync(job.job_id, client=client).data).decode()
print("printed", printed == f"hello from {over.lease_id}\\n")

bad = models.NewJob(tenant="no such tenant!", command=["true"])
problem = job_submit.sync(client=client, body=bad)
print("bad name", type(problem).__name__, problem.code.value)
nothing = job_read.sync(10**6, client=client)
print("no job", type(nothing).__name__, nothing.code.value)

stream = record_watch.sync(client=client, follow="false", after="0")
events = [line for line in stream.splitlines() if line.startswith("data: ")]
record = models.JournalRecord.from_dict(json.loads(events[0].removeprefix("data: ")))
print("watched", record.seq, stream.count("event: end"))
print("metrics", "bailiwick_" in metrics_read.sync(client=client))
self_log_out.sync(client=client)
print("logged out", self_read.sync(client=client).code.value)
"""

PRINTED = """
health ok
spent code Problem unauthenticated
principal admin ['fleet_admin']
tenants lab main probe
node accepting alive True
plan WouldGrant grant
plan WouldRefuse refuse HardLimitExceeded
plan WouldRefuse refuse LargerThanAnyNode
refused 409 refused Refused
submitted once True
listed first True
ended succeeded 0
printed True
bad name Problem invalid_value
no job Problem not_found
watched 1 1
metrics True
logged out unauthenticated
"""


@pytest.fixture(scope="module")
def tools() -> Path:
    """The environment of the generator."""
    need("openapi-client")
    return TOOLS


def of_manual(language: str) -> str:
    """The first block of that language in the manual's section on clients."""
    manual = (ROOT / "docs" / "api.md").read_text()
    section = manual.split("## A client in your language\n")[1].split("\n## ")[0]
    found = re.search(rf"```{language}\n(.*?)```", section, re.S)
    assert found is not None
    return found[1]


def generate(tools: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """The manual's own command, in a folder where the document lies where it says."""
    launcher, name, *words = shlex.split(of_manual("console").splitlines()[0].removeprefix("$ "))
    assert (launcher, name) == ("uvx", GENERATOR)
    (folder / "config.yaml").write_text("post_hooks: []\n")  # no formatter: nobody reads it here
    command = [tools / name, *words, "--config", "config.yaml", "--fail-on-warning"]
    return subprocess.run(
        command, cwd=folder, text=True, capture_output=True, check=False, timeout=WAIT_S
    )


@pytest.fixture(scope="module")
def client(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The generated package, whose making drew no warning."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "docs").mkdir()
    shutil.copy(ROOT / DOCUMENT, folder / DOCUMENT)
    done = generate(tools, folder)
    made = folder / "bailiwick-client"
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["Generating", str(made)], done.stdout
    return made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of our own that is a node too."""
    folder = tmp_path_factory.mktemp("served")
    found = Server(folder, "one", "--data-dir", str(folder / "data"), is_node=True)
    with running(found):
        yield found
        until(lambda: jobs_are_over(found), "no job is left behind")


def jobs_are_over(server: Server) -> bool:
    """Whether nothing runs there any more."""
    with server.client() as admin:
        return all(job["ended_ms"] is not None for job in admin.ask("GET", "/v1/jobs")["items"])


@pytest.fixture
def run(tools: Path, client: Path, server: Server) -> Callable[[str], str]:
    """Runs a stranger's program with the package, the server's address and a fresh code."""

    def play(program: str) -> str:
        with server.client() as admin:
            wish = {"principal": "admin", "single_use": True}
            code = admin.ask("POST", "/v1/tokens", wish, key=uuid4().hex)["token"]
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(client),
            "BAILIWICK_SERVER": server.address,
            "BAILIWICK_LOGIN_CODE": code,
        }
        done = subprocess.run(
            [tools / "python", "-c", program],
            env=environment,
            text=True,
            capture_output=True,
            check=False,
            timeout=WAIT_S,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return play


def test_no_operation_and_no_schema_is_left_out(client: Path) -> None:
    document = json.loads((ROOT / DOCUMENT).read_text())
    named = {
        f"{operation['tags'][0]}/{operation['operationId']}.py"
        for operations in document["paths"].values()
        for operation in operations.values()
    }
    folder = client / "bailiwick_client" / "api"
    made = {path.relative_to(folder).as_posix() for path in folder.glob("*/*.py")}
    assert {name for name in made if not name.endswith("__init__.py")} == named


def test_a_document_that_the_generator_has_doubts_about_is_found(
    tools: Path, tmp_path: Path
) -> None:
    document = json.loads((ROOT / DOCUMENT).read_text())
    # The least that is a document still: all of it takes seconds.
    asked = document["paths"]["/healthz"]["get"]
    asked["responses"] = {"200": asked["responses"]["200"]}
    document["paths"] = {"/healthz": {"get": asked}}
    health = document["components"]["schemas"]["Health"]
    health["properties"]["status"] = {"type": "array"}  # of what?
    document["components"] = {"schemas": {"Health": health}}
    (tmp_path / "docs").mkdir()
    (tmp_path / DOCUMENT).write_text(json.dumps(document))
    done = generate(tools, tmp_path)
    assert done.returncode == 1
    assert "Health" in done.stdout + done.stderr


def test_a_generated_client_logs_in_looks_submits_and_sees_its_job(
    run: Callable[[str], str],
) -> None:
    assert run(SCRIPT).split("\n") == PRINTED.lstrip().split("\n")


def test_the_manuals_example_runs_as_it_stands(run: Callable[[str], str]) -> None:
    lines = run(of_manual("python")).splitlines()
    newest = lines[0].split(" ", 1)
    assert newest[0].isdigit()
    assert newest[1].startswith("['echo', 'hello'] ")
