"""A real process and whoever is careless or hostile at its port: it refuses, and goes on."""

from __future__ import annotations

import contextlib
import json
import random
import select
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bailiwick.server.port import HEADER_BYTES_MAX
from tests.processes.caller import CallFailed, spelled
from tests.processes.harness import Server, running
from tests.processes.load import node_command, submit_command
from tests.support.waiting import WAIT_S, until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One process for all of these."""
    folder: Path = tmp_path_factory.mktemp("abuse")
    server = Server(folder, "alone", "--data-dir", str(folder / "data"))
    with running(server):
        until(lambda: server.role() == "leading", "it leads")
        yield server


@pytest.fixture(autouse=True)
def _still_serves(server: Server) -> Iterator[None]:
    """After each of them, another caller notices nothing."""
    yield
    with server.client() as client:
        assert client.status()["role"] == "leading"
        answer = client.call(submit_command(random.Random(), tenant="lab"))
        assert answer["answer"] in ("granted", "queued", "refused")


def leads(server: Server) -> bool:
    with server.client() as client:
        return bool(client.status()["role"] == "leading")


class Raw:
    """A bare connection."""

    def __init__(self, server: Server) -> None:
        at = urlsplit(server.address)
        self.socket = socket.create_connection((str(at.hostname), at.port or 0), timeout=WAIT_S)
        self._file = self.socket.makefile("rb")

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *raised: object) -> None:
        self._file.close()
        self.socket.close()

    def send(self, data: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            self.socket.sendall(data)

    def status(self) -> int:
        """The next answer's status; 0 if the other side has hung up."""
        with contextlib.suppress(ConnectionError):
            line = self._file.readline()
            return int(line.split()[1]) if line else 0
        return 0

    @property
    def is_open(self) -> bool:
        """Whether the other side has neither said anything nor hung up."""
        return not select.select([self.socket], [], [], 0)[0]

    def rest(self) -> bytes:
        """All that comes until the other side hangs up."""
        with contextlib.suppress(ConnectionError):
            return self._file.read()
        return b""


def request(server: Server, body: bytes, *more: str, path: str = "/v1/leases") -> bytes:
    """A request with any body at all."""
    lines = (
        f"POST {path} HTTP/1.1",
        "Host: x",
        f"Authorization: Bearer {server.token}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *more,
    )
    return "\r\n".join((*lines, "", "")).encode() + body


GARBAGE = [
    b"\n\n\n\n hello\r\n\r\n",
    b"hello\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    b"\xff\xfe\xfd\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET / HTTP/1.1\r\nno colon here\r\n\r\n",
    b"POST /v1/login HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"POST /v1/login HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    b"POST /v1/login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
]


@pytest.mark.parametrize("data", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_is_refused_and_the_connection_closed(server: Server, data: bytes) -> None:
    with Raw(server) as raw:
        raw.send(data)
        assert raw.status() in (0, 400)
        raw.rest()  # it ends


def test_headers_that_are_too_long_are_refused(server: Server) -> None:
    with Raw(server) as raw:
        raw.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * HEADER_BYTES_MAX)
        raw.send(b"\r\n\r\n")
        assert raw.status() in (0, 400)
    with Raw(server) as raw:
        raw.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        raw.send(b"".join(b"X-%d: %s\r\n" % (n, b"y" * 100) for n in range(2000)) + b"\r\n")
        assert raw.status() in (0, 400)


BODIES = [
    (b"[" * 200_000, 400),
    (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, 422),
    (b"\xff\xfe", 400),
    (b"NaN", 422),
    (b"", 422),
    (b"[]", 422),
    (b'{"tenant": "lab", "tenant": "lab", "surprise": 1}', 422),
    (b'{"tenant": "lab", "gpu_count": ' + b"9" * 5_000 + b"}", 422),
    (b'{"tenant": "\\ud800"}', 422),
    (b'{"tenant": "lab", "ttl_ms": true}', 422),
]


@pytest.mark.parametrize(("body", "status"), BODIES, ids=range(len(BODIES)))
def test_a_body_that_is_not_understood_is_told_so(server: Server, body: bytes, status: int) -> None:
    with Raw(server) as raw:
        raw.send(request(server, body, "Connection: close"))
        assert raw.status() in (status, 400, 422)
        _, _, told = raw.rest().partition(b"\r\n\r\n")
        found = json.loads(told)
        assert found["code"] in ("malformed", "invalid_value")
        assert found["retryable"] is False
        assert server.token not in told.decode()


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(server: Server) -> None:
    with Raw(server) as raw:
        raw.send(request(server, b"")[:-4].replace(b"Length: 0", b"Length: 99999999") + b"\r\n\r\n")
        assert raw.status() == 413


def test_without_a_token_nothing_is_told(server: Server) -> None:
    middle = len(server.token) - 20  # of the signature; the last character may mean nothing
    other = "A" if server.token[middle] != "A" else "B"
    forged = server.token[:middle] + other + server.token[middle + 1 :]
    for token in ("", "x", "a.b.c", forged):
        with Raw(server) as raw:
            raw.send(
                f"GET /v1/leases HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
                "Connection: close\r\n\r\n".encode()
            )
            assert raw.status() == 401
            assert b"lease_id" not in raw.rest()
    assert server.token not in server.errors


def test_many_requests_on_one_connection_are_all_answered(server: Server) -> None:
    count = 200
    with Raw(server) as raw:
        bodies = [submit_command(random.Random(i % 7)) for i in range(count)]
        for i, each in enumerate(bodies):
            body = json.dumps(spelled(each)[2]).encode()
            last = ("Connection: close",) if i == count - 1 else ()
            raw.send(request(server, body, f"Idempotency-Key: many-{i % 7}", *last))
        told = raw.rest()
    assert told.count(b"HTTP/1.1 20") + told.count(b"HTTP/1.1 409") == count


def test_a_crowd_that_says_nothing_does_not_keep_others_out(server: Server) -> None:
    def is_served_among_them() -> bool:
        with contextlib.ExitStack() as stack:
            crowd = [stack.enter_context(Raw(server)) for _ in range(300)]
            return leads(server) and all(each.is_open for each in crowd)

    until(is_served_among_them, "somebody is served while they all are there")


def test_somebody_who_never_takes_the_answers_is_no_burden(server: Server) -> None:
    ask = f"GET /v1/leases?limit=1000 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token}"
    with Raw(server) as raw:
        raw.socket.settimeout(0.5)
        with contextlib.suppress(OSError):
            for _ in range(5_000):
                raw.socket.sendall(ask.encode() + b"\r\n\r\n")
        with server.client() as client:
            client.call(node_command(f"node-{random.randrange(10**9)}"))


def test_what_is_unknown_is_not_found(server: Server) -> None:
    with server.client() as client:
        for path in ("/v1/leases/999999999", "/v1/queue/999999999", "/v1/nowhere", "/"):
            with pytest.raises(CallFailed) as failed:
                client.ask("GET", path)
            assert failed.value.code == "not_found"


def test_a_body_that_drips_in_is_given_up(server: Server) -> None:
    """The bound is thirty seconds, so that this only sees that others are served meanwhile."""

    def is_served_meanwhile() -> bool:
        with Raw(server) as raw:
            raw.send(request(server, b" " * 100)[:-50])
            return leads(server) and raw.is_open

    until(is_served_meanwhile, "somebody is served while the body is not there yet")
