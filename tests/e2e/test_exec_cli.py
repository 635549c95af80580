"""Programs inside running jobs, from the command line: with files, on a terminal, and bounded."""

from __future__ import annotations

import base64
import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.command_line import COMMAND
from tests.support.http_server import Served, served_jobs
from tests.support.waiting import WAIT_S, until

HOLD = "echo begun; exec sleep 1000"


class Person:
    """Somebody at a command line of his own, or at the API."""

    def __init__(self, served: Served, name: str, *, tenant: str, folder: Path) -> None:
        self.served, self.token = served, served.token(name)
        kept = {k: v for k, v in os.environ.items() if not k.startswith("BAILIWICK_")}
        own = {"BAILIWICK_SERVER": served.url, "BAILIWICK_TOKEN": self.token}
        self.env = {**kept, **own, "BAILIWICK_TENANT": tenant, "XDG_CONFIG_HOME": str(folder)}
        self.env |= {"TERM": "dumb"}

    def run(self, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [COMMAND, *words],
            input=given,
            env=self.env,
            capture_output=True,
            timeout=WAIT_S,
            check=False,
        )

    def job(self, text: str = HOLD) -> str:
        told = self.run("submit", "--wait", "-o", "name", "--", "sh", "-c", text)
        assert told.returncode == 0, told
        name = told.stdout.decode().strip()
        until(lambda: self.run("logs", name).stdout, "it runs")
        return name

    def ask(self, method: str, path: str, body: Any = None) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.token}"}
        url = self.served.url + path
        return httpx2.request(method, url, json=body, headers=headers, timeout=WAIT_S)

    def records(self, kind: str) -> list[dict[str, Any]]:
        told = self.ask("GET", "/v1/tenants/lab/records?limit=500").json()
        return [each for each in told["items"] if each["kind"] == kind]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_jobs(tmp_path_factory.mktemp("exec") / "all") as found:
        yield found


@pytest.fixture(scope="module")
def ann(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Person:
    return Person(served, "ann", tenant="lab", folder=tmp_path_factory.mktemp("ann"))


@pytest.fixture(scope="module")
def bob(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Person:
    return Person(served, "bob", tenant="rival", folder=tmp_path_factory.mktemp("bob"))


@pytest.fixture(scope="module")
def job(ann: Person) -> str:
    return ann.job()


class AtTerminal:
    """The command line on a terminal of its own."""

    def __init__(self, person: Person, *words: str) -> None:
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execve(COMMAND, [COMMAND, *words], person.env)
        self.said = b""

    def type(self, text: bytes) -> None:
        os.write(self.fd, text)

    def reads(self, word: bytes) -> bytes:
        end = time.monotonic() + WAIT_S
        while word not in self.said:
            assert time.monotonic() < end, self.said
            if not select.select([self.fd], [], [], 0.5)[0]:
                continue
            try:
                self.said += os.read(self.fd, 65536)
            except OSError:
                raise AssertionError(self.said) from None
        found, _, self.said = self.said.partition(word)
        return found

    def ends(self) -> int:
        try:
            while piece := os.read(self.fd, 65536):
                self.said += piece
        except OSError:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_with_files_all_is_passed_on_and_it_is_sealed(ann: Person, job: str) -> None:
    told = ann.run("exec", "-i", job, "--", "sh", "-c", "cat; echo no >&2; exit 3", given=b"\x00in")
    assert (told.returncode, told.stdout, told.stderr) == (3, b"\x00in", b"no\n")
    ended = until(lambda: ann.records("exec_ended"), "its end is sealed")[0]
    begun = ann.records("exec_started")[0]
    assert begun["actor"] == ended["actor"] == "ann"
    assert begun["body"]["argv"] == ["sh", "-c", "cat; echo no >&2; exit 3"]
    assert (ended["body"]["end"], ended["body"]["exit_code"]) == ("exited", 3)
    assert begun["body"]["exec_id"] == ended["body"]["exec_id"]
    told = ann.run("exec", job, "--", "sh", "-c", "cat; kill -TERM $$", given=b"not passed on")
    assert (told.returncode, told.stdout) == (143, b"")
    large = os.urandom(3_000_000)
    assert ann.run("exec", "-i", job, "--", "cat", given=large).stdout == large
    told = ann.run("exec", job, "--", "/no/such")
    assert (told.returncode, b"No such file" in told.stderr) == (1, True)


def test_on_a_terminal_a_shell_is_as_at_home(ann: Person, job: str) -> None:
    home = AtTerminal(ann, "exec", "-it", job, "--", "sh")
    home.type(b"tty && echo $TERM $((6*7))\n")
    home.reads(b"dumb 42")
    home.type(b"sh -c 'trap \"echo got; exit 9\" INT; echo rea''dy; while :; do sleep 0.1; done'\n")
    home.reads(b"ready\r\n")
    home.type(b"\x03")
    home.reads(b"got\r\n")
    home.type(b"exit $?\n")
    assert home.ends() == 9
    left = AtTerminal(ann, "exec", "-it", job, "--", "cat")
    left.type(b"x\n")
    left.reads(b"x\r\nx\r\n")
    left.type(b"\x04")
    assert left.ends() == 0


def test_who_is_another_s_or_guesses_finds_nothing(ann: Person, bob: Person, job: str) -> None:
    number = job.removeprefix("job-")
    told = bob.run("exec", job, "--", "true")
    assert (told.returncode, b"no such thing" in told.stderr) == (3, True) or told.returncode == 2
    path = f"/v1/jobs/{number}/execs"
    opened = ann.ask("POST", path, {"command": ["cat"]})
    assert opened.status_code == 201
    own = f"{path}/{opened.json()['exec_id']}"
    nobody = f"{path}/{'0' * 32}"
    for method, rest, body in (
        ("POST", "/output", {"offset": 0}),
        ("PUT", "/input", {"offset": 0, "data": "AA=="}),
        ("DELETE", "", None),
    ):
        told_of = [bob.ask(method, each + rest, body) for each in (own, nobody)]
        assert [each.status_code for each in told_of] == [404, 404]
        plain = [{**each.json(), "correlation_id": "", "trace_id": ""} for each in told_of]
        assert plain[0] == plain[1]
        assert ann.ask(method, nobody + rest, body).status_code == 404
    typed = {"offset": 0, "data": base64.b64encode(b"mine").decode(), "is_closed": True}
    assert ann.ask("PUT", own + "/input", typed).json() == {"next_offset": 4}
    assert ann.ask("PUT", own + "/input", typed).json() == {"next_offset": 4}
    read = ann.ask("POST", own + "/output", {"offset": 0, "wait_s": 20}).json()
    assert [base64.b64decode(piece["data"]) for piece in read["pieces"]] == [b"mine"]


def test_a_job_s_own_token_enters_nothing(ann: Person, job: str) -> None:
    told = ann.run("exec", job, "--", "printenv", "BAILIWICK_LEASE_TOKEN")
    headers = {"Authorization": f"Bearer {told.stdout.decode().strip()}"}
    number = job.removeprefix("job-")
    whoami = httpx2.get(f"{ann.served.url}/v1/whoami", headers=headers, timeout=WAIT_S)
    assert whoami.status_code == 200, "it is a token that is let in"
    for other in (number, "999"):
        url = f"{ann.served.url}/v1/jobs/{other}/execs"
        answer = httpx2.post(url, json={"command": ["id"]}, headers=headers, timeout=WAIT_S)
        assert answer.status_code == 404, answer.text


def test_a_flood_is_held_back_and_stays_bounded(ann: Person, job: str) -> None:
    path = f"/v1/jobs/{job.removeprefix('job-')}/execs"
    own = f"{path}/{ann.ask('POST', path, {'command': ['yes']}).json()['exec_id']}"

    def held() -> int:
        return int(ann.ask("POST", own + "/output", {"offset": 0}).json()["next_offset"])

    until(lambda: held() > 200_000, "it floods")
    assert held() <= 1_048_576
    typed = {"offset": 0, "data": base64.b64encode(b"x" * 65_536).decode()}
    for number in range(8):
        typed["offset"] = 65_536 * number
        taken = ann.ask("PUT", own + "/input", typed).json()
        if taken.get("next_offset") != 65_536 * (number + 1):
            break
    else:
        raise AssertionError("what nobody reads was taken without a bound")
    assert ann.ask("DELETE", own).status_code == 200
    assert ann.ask("POST", own + "/output", {"offset": 0}).status_code == 200


def test_only_a_job_that_runs_is_entered_and_its_end_ends_all(ann: Person) -> None:
    name = ann.job()
    text = "trap '' TERM HUP; echo in; while :; do sleep 0.1; done"
    home = AtTerminal(ann, "exec", "-it", name, "--", "sh", "-c", text)
    home.reads(b"in")
    assert ann.run("job", "cancel", name).returncode == 0
    assert home.ends() == 1
    assert b"the job is over" in home.said
    until(lambda: b"cancelled" in ann.run("job", "show", name).stdout, "it is over")
    told = ann.run("exec", name, "--", "true")
    assert (told.returncode != 0, b"only a job that runs" in told.stderr) == (True, True)


def test_a_run_on_a_terminal_is_a_job_that_ends_as_its_program_does(ann: Person) -> None:
    home = AtTerminal(ann, "run", "-it", "--name", "mine", "--", "sh")
    home.type(b"tty && echo $TERM $((6*7)) $BAILIWICK_LEASE_ID\n")
    home.reads(b"dumb 42 ")
    shown = ann.run("job", "show", "mine").stdout
    assert b"running" in shown
    home.type(b"exit 5\n")
    assert home.ends() == 5
    until(lambda: b"exit code 5" in ann.run("job", "show", "mine").stdout, "so does the job")
    begun = ann.records("exec_started")[-1]["body"]
    assert (begun["argv"], begun["terminal"]) == (["sh"], 1)
    gone = AtTerminal(ann, "run", "-it", "--name", "gone", "--", "sleep", "1000")
    until(lambda: b"running" in ann.run("job", "show", "gone").stdout, "it runs")
    assert ann.run("job", "cancel", "gone").returncode == 0
    assert gone.ends() != 0
    told = ann.run("run", "-it", "--", "sh")
    assert (told.returncode, b"a terminal on stdin" in told.stderr) == (2, True)
    told = ann.run("run", "--", "sh", "-c", "echo out; exit 4")
    assert (told.returncode, told.stdout) == (1, b"out\n")


def test_files_go_in_and_out_and_nothing_is_written_elsewhere(
    ann: Person, bob: Person, job: str, tmp_path: Path
) -> None:
    (tmp_path / "in/sub").mkdir(parents=True)
    (tmp_path / "in/sub/large").write_bytes(os.urandom(2_000_000))
    (tmp_path / "in/link").symlink_to("sub/large")
    told = ann.run("cp", str(tmp_path / "in"), f"{job}:there")
    assert (told.returncode, told.stderr) == (0, b""), told.stderr
    assert ann.run("exec", job, "--", "sh", "-c", "ls there there/sub").stdout.split() == [
        *(b"there:", b"link", b"sub", b"there/sub:", b"large")
    ]
    assert ann.run("cp", f"{job}:there", str(tmp_path / "out")).returncode == 0
    same = (tmp_path / "in/sub/large").read_bytes()
    assert (tmp_path / "out/link").is_symlink()
    assert (tmp_path / "out/link").read_bytes() == same
    assert ann.run("cp", f"{job}:there/sub/large", str(tmp_path)).returncode == 0
    assert (tmp_path / "large").read_bytes() == same
    for far, near in ((f"{job}:no/such", "x"), (f"{job}:there", "/no/such/x")):
        told = ann.run("cp", far, near)
        assert (told.returncode, b"No such file" in told.stderr) == (1, True), told
        assert told.stderr.count(b"\n") == 1, "why, once"
    assert bob.run("cp", f"{job}:there", str(tmp_path / "theirs")).returncode != 0
    ann.run("exec", job, "--", "ln", "-s", "/etc/hostname", "leads-out")
    told = ann.run("cp", f"{job}:leads-out", str(tmp_path / "led"))
    assert (told.returncode, (tmp_path / "led").exists()) == (1, False)
    assert ann.run("cp", "a", "b").returncode == 2
    ways = [
        (each["body"]["direction"], each["body"]["path"]) for each in ann.records("files_copied")
    ]
    assert ("in", "there") in ways
    assert ("out", "there/sub/large") in ways


def test_a_caller_who_is_gone_takes_his_program_along(ann: Person, job: str) -> None:
    number = 4000 + os.getpid()
    process = subprocess.Popen(
        [COMMAND, "exec", job, "--", "sleep", str(number)], env=ann.env, stdin=subprocess.DEVNULL
    )
    listing = ("exec", job, "--", "sh", "-c", f"pgrep -f '[s]leep {number}'")
    until(lambda: ann.run(*listing).stdout, "it runs")
    process.send_signal(signal.SIGINT)
    assert process.wait(WAIT_S) == 130
    until(lambda: not ann.run(*listing).stdout, "it is gone")
