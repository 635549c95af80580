"""Ray as an app, on a real server and its node: from a request to a job's result to nothing left.

A cluster takes long to start, so there is one that is used, in one test, and another that
``bailiwick app check`` lives through. Both take minutes, and are ``long``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from bailiwick.executors.local.modes import JobMode, choose_mode
from bailiwick.operators.kit.packing import digest_of
from bailiwick.operators.ray import operator as ray_operator
from bailiwick.operators.ray.member.rendering import ClusterDoor, parse_cluster
from setup.test_tools import RAY
from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, running
from tests.processes.test_jobs_survive import no_process_left_behind
from tests.support.tools import need
from tests.support.waiting import until

PROJECT = "/v1/tenants/main/projects/default"
ALL = f"{PROJECT}/instances"
KEYS = ["scheduler.instance.read", "scheduler.instance.update", "scheduler.job.exec"]
PYTHON = RAY.resolve() / "bin" / "python"
FIRST, LATER = "1.0.0", "1.1.0"
SLOW_S = 600.0
"""How long a cluster may take on a machine that has other things to do."""
WORK = (
    "import ray; ray.init(); f = ray.remote(num_cpus=1)(lambda n: n * n);"
    " print('squares', ray.get([f.remote(n) for n in range(4)]))"
)
LONG = (
    "import os, ray, time; ray.init();"
    " wait = lambda: [time.sleep(0.2) for _ in range(9000) if not os.path.exists({go!r})] and 1;"
    " ray.get([ray.remote(num_cpus=1)(wait).remote() for _ in range(2)]); print('both')"
)


def manifest() -> str:
    """The one that is published, for a small machine, with Ray where the tests have it."""
    text = (Path(ray_operator.__file__).parent / "manifest.yaml").read_text()
    for old, new in (
        ("/opt/ray/bin/python", str(PYTHON)),
        ("shape: {cpus: 1, mem: 4GiB}", "shape: {cpus: 0.5, mem: 2GiB}"),
        ('"4096"', '"2048"'),
        ("shape: {cpus: 4, mem: 16GiB}", "shape: {cpus: 0.4, mem: 1GiB}"),
        ('"4"', '"1"'),
        ('"16384"', '"1024"'),
        ("within: 2m", "within: 20s"),
    ):
        assert old in text
        text = text.replace(old, new)
    return text


def later_manifest() -> str:
    """Another version of it, to which one can go from the first."""
    text = manifest().replace(f"version: {FIRST}", f"version: {LATER}")
    return f"{text}upgrades: [{{from: {FIRST}, to: {LATER}}}]\nrollback: {{data: discarded}}\n"


def publish(caller: HttpCaller, folder: Path) -> None:
    """Both versions of the app are there, verified, and may be used."""
    program = ray_operator.pack_member()
    digest = digest_of(program)
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    (blobs / digest.removeprefix("sha256:")).write_bytes(program)
    source = {"source": "ray", "kind": "blob", "address": f"file://{folder / 'blobs'}"}
    caller.ask("PUT", "/v1/artifact-sources", source, key="source")
    artifact = {"digest": digest}
    new = artifact | {"kind": "blob", "source": "ray"}
    caller.ask("POST", "/v1/artifacts", new, key="register")
    caller.ask("POST", "/v1/artifacts/verify", artifact, key="verify")
    caller.ask("POST", "/v1/apps", {"document": manifest()}, key="publish")
    caller.ask("POST", "/v1/apps", {"document": later_manifest()}, key="publish-later")
    caller.ask("PATCH", "/v1/apps/ray", {"visibility": "public"}, key="public")
    line = {"app": "ray", "tenant": "main", "is_enabled": True}
    caller.ask("PUT", "/v1/entitlements", line, key="line")


class Operator:
    """The operator's process."""

    def __init__(self, server: Server, folder: Path) -> None:
        self._log, token = folder / "operator.log", folder / "token"
        with server.client() as caller:
            own = {"tenant": "main", "project": "default"}
            caller.ask("POST", "/v1/service-accounts", {"account": "robot", **own}, key="account")
            role = {"member": "robot", "role": "project_admin"}
            caller.ask("PUT", f"{PROJECT}/members", role, key="role")
            wish = {"principal": "robot", "kind": "service_account", "keys": KEYS}
            token.touch(mode=0o600)
            token.write_text(caller.ask("POST", "/v1/tokens", wish)["token"])
        self._environ = {
            **os.environ,
            "BAILIWICK_SERVER": server.address,
            "BAILIWICK_TENANT": "main",
            "BAILIWICK_PROJECT": "default",
            "BAILIWICK_TOKEN_FILE": str(token),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words = [sys.executable, "-m", "bailiwick.operators.ray", "ray", "--alone"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(words, env=self._environ, stderr=log)

    def kill9(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    @property
    def told(self) -> str:
        return self._log.read_text() if self._log.exists() else ""


@contextmanager
def started(operator: Operator) -> Iterator[None]:
    operator.start()
    try:
        yield
    except BaseException:
        print(operator.told[-3000:])
        raise
    finally:
        operator.kill9()


class Ray:
    """The cluster, as somebody of the project meets it: by Ray's own API."""

    def __init__(self, caller: HttpCaller, path: str) -> None:
        self._caller, self._path = caller, path

    def members(self, role: str) -> list[dict[str, Any]]:
        found = self._caller.ask("GET", f"{self._path}/members")["items"]
        return [each for each in found if each["role"] == role]

    def runs(self, workers: int) -> bool:
        """Whether it runs as wanted, and nobody else is left."""
        told = self._caller.ask("GET", self._path)
        phases = [each["phase"] for each in self.members("worker")]
        return (
            told["phase"] == "running"
            and told["observed_generation"] == told["generation"]
            and phases == ["ready"] * workers
            and told["reason"].startswith(f"{workers} workers; jobs at ")
        )

    def cluster(self, folder: Path) -> ClusterDoor:
        """Where it is, as whoever runs the machine finds it in the head's own folder."""
        (head,) = self.members("head")
        place = folder / "data" / "jobs" / str(head["lease_id"]) / "work" / "cluster.json"
        return parse_cluster(json.loads(place.read_text()))


def ask(cluster: ClusterDoor, path: str, body: object = None, *, token: str | None = None) -> Any:
    """Ray's own API."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token or cluster.token}"}
    asked = urllib.request.Request(cluster.dashboard + path, data, headers)
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return json.load(answer)


def submit(cluster: ClusterDoor, name: str, program: str) -> None:
    entrypoint = f'python -c "{program}"'
    ask(cluster, "/api/jobs/", {"entrypoint": entrypoint, "submission_id": name})


def succeeded(cluster: ClusterDoor, name: str) -> bool:
    told = ask(cluster, f"/api/jobs/{name}")
    assert told["status"] not in ("FAILED", "STOPPED"), told
    return bool(told["status"] == "SUCCEEDED")


def said(cluster: ClusterDoor, name: str) -> str:
    return str(ask(cluster, f"/api/jobs/{name}/logs")["logs"])


def rays_of(server: Server) -> list[int]:
    """Processes of members of this server, Ray's own among them."""
    marks = (b"APP_MEMBER_ID=", f"BAILIWICK_SERVER={server.address}".encode())
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if all(any(word.startswith(mark) for word in words) for mark in marks):
            found.append(int(place.name))
    return found


@contextmanager
def house(folder: Path, *paths: Path) -> Iterator[tuple[Server, HttpCaller]]:
    """A server that is a node, with the app in its catalog; members see these paths too."""
    need("ray")
    options = ["--data-dir", str(folder / "data")]
    for each in (RAY.resolve(), PYTHON.resolve().parent.parent, *paths):
        options += ["--job-path", str(each)]
    if choose_mode(None) is JobMode.CLOSED:
        options.append("--trust-jobs")
    server = Server(folder, "one", *options, is_node=True)
    with no_process_left_behind(folder), running(server):
        server.wait_for_its_node()
        with server.client() as caller:
            publish(caller, folder)
            yield server, caller
            until(lambda: not caller.ask("GET", "/v1/leases")["items"], "all leases are back")
            until(lambda: not rays_of(server), "no process is left")
        assert "Traceback" not in server.errors


def the_dashboard_is_opened_with_the_platforms_login_alone(
    server: Server, caller: HttpCaller, path: str
) -> None:
    """By who has the key in the project; Ray's own token is nobody's to know."""
    people = f"{PROJECT}/members"
    caller.ask("PUT", people, {"member": "mia", "role": "project_member"}, key="mia")
    lab = "/v1/tenants/lab/projects"
    caller.ask("POST", lab, {"project": "p"}, key="lab-p")
    caller.ask("PUT", f"{lab}/p/members", {"member": "sam", "role": "project_admin"}, key="sam")

    def opened(who: str, what: str) -> httpx2.Response:
        token = caller.ask("POST", "/v1/tokens", {"principal": who})["token"]
        headers = {"Authorization": f"Bearer {token}"}
        address = f"{server.address}{path}/endpoints/dashboard{what}"
        return httpx2.get(address, headers=headers, timeout=60)

    page = opened("mia", "/")
    assert (page.status_code, page.headers["x-bailiwick-endpoint"]) == (200, "dashboard")
    assert "<title>Ray Dashboard</title>" in page.text
    jobs = opened("mia", "/api/jobs/").json()
    assert [(each["submission_id"], each["status"]) for each in jobs] == [("squares", "SUCCEEDED")]
    assert opened("sam", "/").status_code == 404
    told = caller.ask("GET", "/v1/tenants/main/records?limit=500")["items"]
    sealed = [each["actor"] for each in told if each["kind"] == "app_endpoint_opened"]
    assert sealed == ["mia"], "once, however much she looked at"


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_app_is_ready_by_its_check(tmp_path: Path) -> None:
    with house(tmp_path) as (server, caller):
        environ = {
            **os.environ,
            "BAILIWICK_SERVER": server.address,
            "BAILIWICK_TOKEN": server.token,
            "BAILIWICK_TENANT": "main",
            "BAILIWICK_PROJECT": "default",
        }
        operator = f"{sys.executable} -m bailiwick.operators.ray ray --alone"
        words = [sys.executable, "-m", "bailiwick.cli.main", "app", "check", "ray"]
        words += ["--version", LATER, "--operator", operator, "--count", "worker=1"]
        words += ["--timeout", "10m", "--operator-log", str(tmp_path / "log"), "-o", "json"]
        ran = subprocess.run(
            words, env=environ, capture_output=True, text=True, timeout=1700, check=False
        )
        assert ran.stdout, ran.stderr
        found = json.loads(ran.stdout)
        log = (tmp_path / "log").read_text()
        assert (ran.returncode, found["verdict"]) == (0, "ready"), (found, ran.stderr, log[-3000:])
        shown = caller.ask("GET", f"/v1/apps/ray/versions/{LATER}")["check"]
        assert shown["verdict"] == "ready", "and that is sealed"


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_cluster_from_a_request_to_a_result_to_nothing_left(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    seen = tmp_path_factory.mktemp("seen")
    seen.chmod(0o755)
    go = seen / "go"
    with house(tmp_path, seen) as (server, caller):
        operator = Operator(server, tmp_path)
        with started(operator):
            scale = {"autoscale": {"min": 1, "max": 2, "wait_s": 1, "idle_s": 5}}
            wish = {"name": "demo", "app": "ray", "version": "1.0.0", "parameters": scale}
            made = caller.ask("POST", ALL, wish | {"counts": {"worker": 1}}, key="make")
            path = f"{ALL}/{made['instance_id']}"
            ray = Ray(caller, path)
            until(lambda: ray.runs(1), "it runs", wait_s=SLOW_S)

            assert rays_of(server), "they are found by what their environment says"
            cluster = ray.cluster(tmp_path)
            with pytest.raises(urllib.error.HTTPError) as refused:
                ask(cluster, "/api/jobs/", token="0" * 64)
            assert refused.value.code in (401, 403), "nobody gets in without the token"
            submit(cluster, "squares", WORK)
            until(lambda: succeeded(cluster, "squares"), "the job is done", wait_s=SLOW_S)
            assert "squares [0, 1, 4, 9]" in said(cluster, "squares")
            the_dashboard_is_opened_with_the_platforms_login_alone(server, caller, path)

            operator.kill9()
            submit(cluster, "long", LONG.format(go=str(go)))
            operator.start()
            until(lambda: ray.runs(2), "what waits has one more worker come", wait_s=SLOW_S)
            go.touch()
            until(lambda: succeeded(cluster, "long"), "both ran", wait_s=SLOW_S)
            until(lambda: ray.runs(1), "the one that is idle goes", wait_s=SLOW_S)
            assert ray.cluster(tmp_path) == cluster, "nobody began the cluster anew"

            caller.ask("DELETE", path, key="delete")
            until(lambda: not caller.ask("GET", ALL)["items"], "it is gone", wait_s=SLOW_S)
    journal = subprocess.run(
        ["grep", "-rlF", cluster.token, str(tmp_path)], capture_output=True, check=False, text=True
    )
    assert journal.stdout == "", "the token is written down nowhere"
    shutil.rmtree(tmp_path / "blobs")
