"""What a member serves, opened through the platform: a real server, and a real app in a job."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.processes.caller import HttpCaller
from tests.processes.harness import Server, running
from tests.processes.test_jobs_survive import no_process_left_behind
from tests.support.app_manifests import SERVICE_DIGEST, service
from tests.support.waiting import WAIT_S, until

ALL = "/v1/tenants/main/projects/default/instances"
PAGE = '<script src="/echo"></script>'
APP = """
import hashlib, http.server, json, os, sys, threading, time
OK, END = b"HTTP/1.1 200 OK\\r\\n", b"\\r\\n\\r\\n"
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *words): pass
    def say(self, status, body, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def answer(self):
        told = self.headers.get("Authorization")
        if told != "Bearer inside":
            return self.say(401, b"the app lets nobody in")
        if self.path == "/":
            return self.say(200, PAGE.encode(), Content_Type="text/html", Set_Cookie="app=1",
                Content_Security_Policy="default-src *", Service_Worker_Allowed="/",
                Access_Control_Allow_Origin="*", Clear_Site_Data='"*"', ETag='"1"')
        if self.path == "/away":
            return self.say(302, b"", Location="/echo?from=away")
        if self.path == "/elsewhere":
            return self.say(302, b"", Location="https://elsewhere.example/")
        if self.path == "/big":
            return self.say(200, bytes(range(256)) * 20_000)
        if self.path == "/broken":
            return self.say(500, b"the app broke")
        if self.path == "/hold":
            held.wait(60)
            return self.say(200, b"held")
        if self.path == "/let-go":
            held.set()
            return self.say(200, b"")
        if self.path == "/endless":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            while True:
                self.wfile.write(b"5\\r\\ntick\\n\\r\\n")
                self.wfile.flush()
                time.sleep(0.1)
        if self.path == "/smuggle":
            two = OK + b"Content-Length: 2", b"ok" + OK + b"Content-Length: 4", b"evil"
            self.wfile.write(END.join(two))
            return None
        if self.path == "/both":
            lengths = b"Content-Length: 2\\r\\nContent-Length: 9"
            self.wfile.write(OK + lengths + END + b"ok")
            return None
        if self.path == "/short":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"only this")
            self.close_connection = True
            return None
        body = b""
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        told = {"method": self.command, "path": self.path, "size": len(body),
            "sha256": hashlib.sha256(body).hexdigest(), "connection": self.client_address[1],
            "headers": {name.lower(): value for name, value in self.headers.items()}}
        return self.say(200, json.dumps(told).encode(), Content_Type="application/json")
    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer
held = threading.Event()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open("new", "w") as file:
    json.dump({"port": server.server_address[1], "authorization": "Bearer inside"}, file)
os.rename("new", "web.json")
server.serve_forever()
""".replace("PAGE", repr(PAGE))


def publish(caller: HttpCaller, program: Path) -> None:
    """The app is there, and may be used."""
    program.write_text(APP)
    plain = json.loads(service().canonical)
    plain["artifacts"]["service"]["kind"] = "blob"
    plain["roles"]["worker"]["command"] = [sys.executable, "-I", str(program)]
    plain["roles"]["worker"]["shape"] = {"cpus": "0.1", "mem": "256MiB"}
    plain["endpoints"] = {
        "web": {"role": "worker", "title": "The page", "file": "web.json"},
        "none": {"role": "worker", "title": "Nothing", "port": 1},
    }
    source = {"source": "main", "kind": "blob", "address": "https://blobs.example/apps"}
    caller.ask("PUT", "/v1/artifact-sources", source, key="source")
    caller.ask("POST", "/v1/apps", {"document": json.dumps(plain)}, key="publish")
    artifact = {"digest": SERVICE_DIGEST}
    caller.ask("POST", "/v1/artifacts", artifact | {"kind": "blob", "source": "main"}, key="blob")
    caller.ask("PATCH", "/v1/artifacts", artifact | {"trust": "verified"}, key="trust")
    caller.ask("PATCH", "/v1/apps/svc", {"visibility": "public"}, key="public")
    line = {"app": "svc", "tenant": "main", "is_enabled": True}
    caller.ask("PUT", "/v1/entitlements", line, key="line")


@dataclass(frozen=True)
class Opened:
    """One who asks an endpoint through the platform."""

    server: Server
    token: str
    path: str

    def ask(self, what: str = "/", *, method: str = "GET", name: str = "web", **more: Any) -> Any:
        address = f"{self.server.address}{self.path}/endpoints/{name}{what}"
        headers = {"Authorization": f"Bearer {self.token}"} | more.pop("headers", {})
        return httpx2.request(method, address, headers=headers, timeout=WAIT_S, **more)


class Story:
    """The server, the instance, and who asks."""

    def __init__(self, server: Server, caller: HttpCaller, folder: Path) -> None:
        self.server, self.caller, self.folder = server, caller, folder
        publish(caller, folder / "app.py")
        wish = {"name": "demo", "app": "svc", "version": "1.0.0", "counts": {"worker": 1}}
        self.number = int(caller.ask("POST", ALL, wish, key="make")["instance_id"])
        self.path = f"{ALL}/{self.number}"
        until(lambda: caller.ask("GET", self.path)["phase"] == "running", "it runs")
        main = {"tenant": "main", "project": "default"}
        self.member = self.person("mia", "project_member", **main)
        self.viewer = self.person("vic", "project_viewer", **main)
        caller.ask("POST", "/v1/tenants/lab/projects", {"project": "p"}, key="other")
        self.stranger = self.person("sam", "project_admin", tenant="lab", project="p")
        until(lambda: self.member.ask().status_code == 200, "the app serves")

    def person(self, name: str, role: str, *, tenant: str, project: str) -> Opened:
        path = f"/v1/tenants/{tenant}/projects/{project}/members"
        self.caller.ask("PUT", path, {"member": name, "role": role}, key=f"role-{name}")
        return Opened(self.server, self.issue(name), self.path)

    def issue(self, name: str) -> str:
        return str(self.caller.ask("POST", "/v1/tokens", {"principal": name})["token"])

    def revoke(self, token: str) -> None:
        with HttpCaller([self.server.address], token) as caller:
            caller.ask("DELETE", "/v1/session", key=f"revoke-{hash(token)}")

    def records(self, kind: str) -> list[dict[str, Any]]:
        path = "/v1/tenants/main/records?limit=500"
        found = self.caller.ask("GET", path)["items"]
        return [each for each in found if each["kind"] == kind]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    folder = tmp_path_factory.mktemp("endpoints")
    options = ("--data-dir", str(folder / "data"), "--trust-jobs")
    server = Server(folder, "one", *options, is_node=True)
    with no_process_left_behind(folder), running(server):
        server.wait_for_its_node()
        with server.client() as caller:
            found = Story(server, caller, folder)
            yield found
            caller.ask("DELETE", found.path, key="delete")
            until(lambda: not caller.ask("GET", "/v1/leases")["items"], "all leases are back")
        assert "Traceback" not in server.errors
        assert server.stop() == 0


def test_an_instance_says_what_it_serves_and_who_does(story: Story) -> None:
    told = story.caller.ask("GET", f"{story.path}/endpoints")["items"]
    web = {"name": "web", "title": "The page", "role": "worker", "component_key": "worker-0"}
    assert told == [web | {"name": "none", "title": "Nothing"}, web]


def test_a_request_reaches_the_app_without_the_callers_token_or_cookie(story: Story) -> None:
    odd = "/a%2Fb/c;d//e?x=1&x=2&dry_run=true&%41=%20../"
    sent = {"Cookie": "session=1", "X-Forwarded-For": "1.2.3.4", "Accept-Language": "de"}
    sent |= {"Idempotency-Key": "k", "TE": "trailers", "Proxy-Authorization": "Basic eA=="}
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        answer = story.member.ask(odd, method=method, headers=sent)
        assert answer.status_code == 200
        told = answer.json()
        assert told["method"] == method
        assert told["path"] == odd
        assert told["headers"].pop("authorization") == "Bearer inside"
        assert story.member.token not in json.dumps(told)
        allowed = {"host", "accept", "accept-encoding", "accept-language", "user-agent"}
        assert told["headers"].keys() <= allowed | {"content-length"}


def test_what_the_app_says_about_the_platforms_own_origin_stays_behind(story: Story) -> None:
    page = story.member.ask()
    assert page.text == PAGE
    assert page.headers["content-type"] == "text/html"
    assert page.headers["etag"] == '"1"'
    assert page.headers["x-bailiwick-endpoint"] == "web"
    assert page.headers["content-security-policy"].startswith("sandbox;")
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["cache-control"] == "private, no-store"
    for name in ("set-cookie", "service-worker-allowed", "access-control-allow-origin"):
        assert name not in page.headers
    assert "clear-site-data" not in page.headers


def test_a_redirect_stays_below_the_endpoint(story: Story) -> None:
    answer = story.member.ask("/away")
    assert answer.headers["location"] == f"{story.path}/endpoints/web/echo?from=away"
    assert "location" not in story.member.ask("/elsewhere").headers


def test_bodies_go_on_piece_by_piece_and_arrive_whole(story: Story) -> None:
    much = os.urandom(3_000_000)
    for body in (much, iter([much[:1_000_000], b"", much[1_000_000:]])):
        told = story.member.ask("/put", method="POST", content=body).json()
        assert (told["size"], told["sha256"]) == (len(much), hashlib.sha256(much).hexdigest())
    assert story.member.ask("/big").content == bytes(range(256)) * 20_000


def test_connections_are_used_again_and_one_session_is_two_records(story: Story) -> None:
    before = len(story.records("app_endpoint_opened"))
    ports = {story.member.ask("/echo").json()["connection"] for _ in range(5)}
    assert len(ports) == 1
    opened = story.records("app_endpoint_opened")
    assert len(opened) == before
    mine = [each for each in opened if each["actor"] == "mia"]
    assert len(mine) == 1
    assert mine[0]["body"]["endpoint"] == "web"
    assert mine[0]["project"] == "default"


def test_who_may_not_reaches_nothing(story: Story) -> None:
    before = len(story.records("app_endpoint_opened"))
    refused = story.viewer.ask()
    assert refused.status_code == 403
    assert refused.json()["details"]["permission"] == "scheduler.endpoint.open"
    hidden = story.stranger.ask()
    assert hidden.status_code == 404
    own = Opened(story.server, story.stranger.token, f"{ALL}/{story.number}".replace("main", "lab"))
    assert own.ask().status_code == 404
    other = Opened(story.server, story.stranger.token, "/v1/tenants/lab/projects/p/instances/1")
    assert other.ask().status_code == 404
    assert httpx2.get(f"{story.server.address}{story.path}/endpoints/web/").status_code == 401
    for each in (refused, hidden):
        assert "x-bailiwick-endpoint" not in each.headers
    assert len(story.records("app_endpoint_opened")) == before


def test_nothing_but_what_is_declared_is_reached(story: Story) -> None:
    assert story.member.ask(name="other").status_code == 404
    assert story.member.ask("", name="web:8080/").status_code == 422
    nobody = story.member.ask(name="none")
    assert nobody.status_code == 503
    assert "nothing of this member listens on port 1" in nobody.json()["message"]
    spelled = f"{story.server.address}{story.path}/endpoints%2Fweb/x"
    headers = {"Authorization": f"Bearer {story.member.token}"}
    assert httpx2.get(spelled, headers=headers).status_code == 422


def test_what_is_no_http_and_what_is_cut_short_is_not_told_as_whole(story: Story) -> None:
    assert story.member.ask("/smuggle").text == "ok"
    assert story.member.ask("/echo").json()["path"] == "/echo"  # not what was left over
    both = story.member.ask("/both")
    assert both.status_code == 503
    with pytest.raises(httpx2.RemoteProtocolError):
        story.member.ask("/short")


def faults(server: Server) -> dict[str, float]:
    """What a server counts as faults of its own, by series."""
    told = httpx2.get(f"{server.address}/metrics").text.splitlines()
    rows = [line.rpartition(" ") for line in told if re.search(r'status(_class)?="5', line)]
    counts = {name: float(value) for name, _, value in rows if re.search("(_total|_count){", name)}
    return {name: value for name, value in counts.items() if value}


def test_an_app_that_breaks_is_no_fault_of_the_servers_and_the_platforms_answer_is(
    story: Story,
) -> None:
    series = (
        'bailiwick_request_errors_total{status="503"}',
        'bailiwick_request_seconds_count{action="instance_endpoint.get",status_class="5xx"}',
    )
    before = faults(story.server)
    broken = story.member.ask("/broken")
    assert (broken.status_code, broken.text) == (500, "the app broke")
    assert broken.headers["x-bailiwick-endpoint"] == "web"
    assert story.member.ask(name="none").status_code == 503
    expected = before | {each: before.get(each, 0) + 1 for each in series}
    until(lambda: faults(story.server) == expected, "the platform's own is counted, and no other")
    assert "was answered with 500" not in story.server.errors


def test_a_replica_that_follows_passes_all_of_it_on(story: Story) -> None:
    second = Server(story.folder, "two", "--data-dir", str(story.folder / "data"))
    with running(second):
        until(lambda: second.is_one_of("following"), "it follows")
        through = Opened(second, story.member.token, story.path)
        until(lambda: through.ask().status_code == 200, "it knows who leads")
        assert through.ask().headers["x-bailiwick-endpoint"] == "web"
        assert through.ask().headers["content-security-policy"].startswith("sandbox;")
        much = os.urandom(3_000_000)
        for body in (much, iter([much])):
            told = through.ask("/put?a=%20b", method="PUT", content=body).json()
            assert (told["path"], told["size"]) == ("/put?a=%20b", len(much))
            assert story.member.token not in json.dumps(told)
        assert through.ask("/big").content == bytes(range(256)) * 20_000
        assert through.ask("/away").headers["location"].endswith("/endpoints/web/echo?from=away")
        before = faults(second)
        assert through.ask("/broken").status_code == 500
        assert faults(second) == before
        with pytest.raises(httpx2.RemoteProtocolError):
            through.ask("/short")
        assert Opened(second, story.stranger.token, story.path).ask().status_code == 404


def test_no_protocol_is_switched_to(story: Story) -> None:
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    told = story.member.ask("/echo", headers=upgrade).json()
    assert not told["headers"].keys() & {"connection", "upgrade", "sec-websocket-version"}


def test_a_revoked_token_ends_an_answer_that_goes_on(story: Story) -> None:
    brief = Opened(story.server, story.issue("mia"), story.path)
    address = f"{story.server.address}{story.path}/endpoints/web/endless"
    headers = {"Authorization": f"Bearer {brief.token}"}
    with httpx2.stream("GET", address, headers=headers, timeout=WAIT_S) as answer:
        pieces = answer.iter_raw()
        assert b"tick" in next(pieces)
        story.revoke(brief.token)
        with pytest.raises(httpx2.RemoteProtocolError):
            deque(pieces, maxlen=0)
    assert brief.ask().status_code == 401


# -- on the person's own machine ----------------------------------------------------------------


@contextmanager
def opened(story: Story, token: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """``bailiwick app open``; the address that it prints."""
    words = [sys.executable, "-m", "bailiwick.cli.main", "app", "open", "demo"]
    words += ["--endpoint", "web", "--tenant", "main", "--project", "default"]
    told = {"BAILIWICK_SERVER": story.server.address, "BAILIWICK_TOKEN": token}
    environ = {**os.environ, **told, "XDG_CONFIG_HOME": str(story.folder)}
    with subprocess.Popen(
        words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), process.communicate()
            yield address, process
        finally:
            process.kill()


def test_a_page_is_opened_on_ones_own_machine_and_by_nobody_else_there(story: Story) -> None:
    with opened(story, story.member.token) as (address, process):
        origin, _, secret = address.partition("/-/open/")

        def ask(what: str = "/", **headers: str) -> httpx2.Response:
            return httpx2.get(f"{origin}{what}", headers=headers, timeout=WAIT_S)

        assert ask().status_code == 403
        entry = httpx2.get(address)
        assert (entry.status_code, entry.headers["location"]) == (303, "/")
        cookie = entry.headers["set-cookie"]
        assert cookie.endswith("; Path=/; HttpOnly; SameSite=Strict")
        shown = {"Cookie": f"other=1; {cookie.partition(';')[0]}"}
        page = ask(**shown)
        assert page.text == PAGE
        assert "content-security-policy" not in page.headers
        told = ask("/echo?x=%20y", Authorization=f"Bearer {secret}").json()
        assert told["path"] == "/echo?x=%20y"
        assert secret not in json.dumps(told)
        assert told["headers"]["authorization"] == "Bearer inside"
        assert ask("/away", **shown).headers["location"] == "/echo?from=away"
        assert ask("/big", **shown).content == bytes(range(256)) * 20_000
        much = os.urandom(1_000_000)
        sent = httpx2.post(f"{origin}/put", content=much, headers=shown, timeout=WAIT_S).json()
        assert sent["sha256"] == hashlib.sha256(much).hexdigest()

        assert ask(**shown, Host="evil.example").status_code == 421
        assert ask(**shown, Origin="http://evil.example").status_code == 403
        assert ask(**shown, **{"Sec-Fetch-Site": "cross-site"}).status_code == 403
        assert ask(**shown, **{"Sec-Fetch-Site": "same-site"}).status_code == 403
        assert ask(**shown, Upgrade="websocket").status_code == 501
        assert ask(Cookie="bailiwick=wrong").status_code == 403
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_S) == 0


def test_a_listener_ends_when_the_login_is_over(story: Story) -> None:
    token = story.issue("mia")
    with opened(story, token) as (address, process):
        origin, _, secret = address.partition("/-/open/")
        headers: Mapping[str, str] = {"Authorization": f"Bearer {secret}"}
        assert httpx2.get(f"{origin}/", headers=headers, timeout=WAIT_S).text == PAGE
        story.revoke(token)
        assert httpx2.get(f"{origin}/", headers=headers, timeout=WAIT_S).status_code == 401
        assert process.wait(WAIT_S) == 3
        assert process.stderr is not None
        assert "any more" in process.stderr.read()
