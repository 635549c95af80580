"""A real process and whoever is careless or hostile at its port: it refuses, and goes on."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.kernel.codec import COMMANDS
from tests.processes.harness import TOKEN, Server, running, wait_until
from tests.processes.load import node_command, submit_command


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One process for all of these."""
    folder: Path = tmp_path_factory.mktemp("abuse")
    server = Server(folder, "alone", "--data-dir", str(folder / "data"))
    with running(server):
        wait_until(lambda: server.role() == "leading", 10, "it leads")
        yield server


@pytest.fixture(autouse=True)
def _still_serves(server: Server) -> Iterator[None]:
    """After each of them, another caller notices nothing."""
    yield
    with server.client(deadline_s=5) as client:
        assert client.read("status")["role"] == "leading"
        assert (
            client.call({"command": "set_share", "tenant": "lab", "share": 3})["answer"] == "done"
        )


class Raw:
    """A bare connection."""

    def __init__(self, server: Server) -> None:
        host, _, port = server.address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=15)
        self._file = self.socket.makefile("rb")

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *raised: object) -> None:
        self._file.close()
        self.socket.close()

    def send(self, data: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            self.socket.sendall(data)

    def ask(self, **request: Any) -> dict[str, Any]:
        self.send(json.dumps(request).encode() + b"\n")
        answer = self.line()
        assert answer is not None
        return answer

    def line(self) -> dict[str, Any] | None:
        """The next answer; nothing if the other side has hung up."""
        with contextlib.suppress(ConnectionError):
            line = self._file.readline()
            return json.loads(line) if line else None
        return None


GARBAGE = [
    b"\n",
    b"hello\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n",
    b"\xff\xfe\xfd\n",
    b"[]\n",
    b"17\n",
    b'{"id": 1, "id": 2, "read": "ping"}\n',
    b'{"id": NaN, "read": "ping"}\n',
    b"[" * 200_000 + b"\n",
    b'{"id": 1, "read": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}\n",
    b'{"id": ' + b"9" * 10_000 + b', "read": "ping"}\n',
    b'{"id": 1, "token": "\\ud800", "read": "status"}\n',
]


@pytest.mark.parametrize("data", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_is_refused_and_the_connection_closed(server: Server, data: bytes) -> None:
    with Raw(server) as raw:
        raw.send(data)
        told = raw.line()
        assert told is not None
        assert told["error"]["code"] in ("invalid_value", "unauthenticated")
        assert told["error"]["retryable"] is False
        assert raw.line() is None


def test_a_line_that_is_too_long_is_refused_and_the_connection_closed(server: Server) -> None:
    with Raw(server) as raw:
        raw.send(b'{"id": 1, "token": "' + b"x" * (3 << 20))
        told = raw.line()  # nothing, if it hung up before it had read all of it
        assert told is None or told["error"]["code"] == "limit_reached"
        assert told is None or raw.line() is None


def test_a_ping_needs_no_token_and_tells_nothing(server: Server) -> None:
    with Raw(server) as raw:
        for number in range(3):
            assert raw.ask(id=number, read="ping") == {"id": number, "pong": True}
        assert raw.ask(id=9, read="status")["error"]["code"] == "unauthenticated"
        assert raw.line() is None


def test_every_request_shows_the_token(server: Server) -> None:
    with Raw(server) as raw:
        assert raw.ask(id=1, token=TOKEN, read="status")["read"]["role"] == "leading"
        assert raw.ask(id=2, read="status")["error"]["code"] == "unauthenticated"
        assert raw.ask(id=3, token="x", read="leases")["error"]["code"] == "unauthenticated"


BAD: list[dict[str, Any]] = [
    {},
    {"id": None, "read": "ping"},
    {"id": [1], "read": "status"},
    {"id": "x" * 129, "read": "status"},
    {"id": 1},
    {"id": 1, "read": "everything"},
    {"id": 1, "read": ["status"]},
    {"id": 1, "read": "status", "verbose": True},
    {"id": 1, "read": "status", "digest": "yes"},
    {"id": 1, "read": "lease"},
    {"id": 1, "read": "lease", "lease_id": "7"},
    {"id": 1, "read": "lease", "lease_id": True},
    {"id": 1, "read": "leases", "limit": 1_000_000},
    {"id": 1, "read": "leases", "after": -1},
    {"id": 1, "read": "leases", "age_ms_max": 0.5},
    {"id": 1, "command": None},
    {"id": 1, "command": "release"},
    {"id": 1, "command": {"command": "release"}},
    {"id": 1, "command": {"command": "release", "lease_id": 0}},
    {"id": 1, "command": {"command": "release", "lease_id": 2**60}},
    {"id": 1, "command": {"command": "release", "lease_id": 1, "force": True}},
    {"id": 1, "command": {"command": "release", "lease_id": 1}, "urgent": True},
    {"id": 1, "command": {"command": "release", "lease_id": 1}, "forwarded": "yes"},
    {"id": 1, "command": {"command": "release", "lease_id": 1}, "actor": ""},
    {"id": 1, "command": {"command": "release", "lease_id": 1}, "actor": 7},
    {"id": 1, "command": {"command": "release", "lease_id": 1}, "key": "a key"},
    {"id": 1, "command": {"command": "release", "lease_id": 1}, "correlation_id": "\n"},
]


@pytest.mark.parametrize("request_", BAD, ids=range(len(BAD)))
def test_a_request_that_is_not_understood_is_told_why(
    server: Server, request_: dict[str, Any]
) -> None:
    with Raw(server) as raw:
        told = raw.ask(token=TOKEN, **request_)
        assert told["error"]["code"] == "invalid_value", told
        assert told["error"]["retryable"] is False
        assert TOKEN not in json.dumps(told)
        assert raw.ask(id="next", token=TOKEN, read="status")["id"] == "next"


def test_what_only_the_kernel_may_do_is_forbidden(server: Server) -> None:
    tick, elect = {"command": "tick"}, {"command": "elect", "epoch": 99, "leader": "me"}
    release = {"command": "release", "lease_id": 1}
    with Raw(server) as raw:
        for asked in ({"command": tick}, {"command": elect}):
            assert raw.ask(id=1, token=TOKEN, **asked)["error"]["code"] == "forbidden"
        told = raw.ask(id=1, token=TOKEN, actor="kernel", command=release)
        assert told["error"]["code"] == "forbidden"


def test_what_is_unknown_is_not_found(server: Server) -> None:
    with Raw(server) as raw:
        assert raw.ask(id=1, token=TOKEN, read="lease", lease_id=10**9)["error"]["code"] == (
            "not_found"
        )
        assert raw.ask(id=1, token=TOKEN, read="entry", entry_id=10**9)["error"]["code"] == (
            "not_found"
        )


def test_many_requests_on_one_connection_are_all_answered(server: Server) -> None:
    count = 500
    with Raw(server) as raw:
        lines = [
            {"id": i, "token": TOKEN, "key": f"many-{i % 7}", "command": submit_command(chance)}
            for i, chance in ((i, random.Random(i % 7)) for i in range(count))
        ]
        raw.send(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        answers = [raw.line() for _ in range(count)]
        found = {answer["id"]: answer["answer"] for answer in answers if answer is not None}
        assert sorted(found) == list(range(count))
        assert all(found[i] == found[i % 7] for i in range(count))


def test_connections_beyond_the_limit_are_told_and_others_go_on(server: Server) -> None:
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(Raw(server)) for _ in range(256 + 8)]
        # Those who came last are told; the others can still ask.
        late = [raw.line() for raw in crowd[-4:]]
        assert {told["error"]["code"] for told in late if told is not None} == {"limit_reached"}
        assert crowd[0].ask(id=1, read="ping") == {"id": 1, "pong": True}
    with server.client(deadline_s=10) as client:
        assert client.read("status")["role"] == "leading"


def test_somebody_who_never_takes_the_answers_is_no_burden(server: Server) -> None:
    ask = json.dumps({"id": 1, "token": TOKEN, "read": "leases", "limit": 1000}).encode() + b"\n"
    with Raw(server) as raw:
        raw.socket.settimeout(0.5)
        with contextlib.suppress(OSError):
            for _ in range(20_000):
                raw.socket.sendall(ask)
        began = time.monotonic()
        with server.client(deadline_s=5) as client:
            client.call(node_command(f"node-{random.randrange(10**9)}"))
        assert time.monotonic() - began < 5


def twisted(chance: random.Random, value: Any, depth: int = 0) -> Any:
    """Something like the value, but wrong here and there."""
    odd = [None, True, -1, 0, 2**53, 1.5, "", "x", "\u0000", "a" * 5000, [], {}, [[1]], {"a": 1}]
    if chance.random() < 0.12 or depth > 4:
        return chance.choice(odd)
    if isinstance(value, dict):
        found = {name: twisted(chance, each, depth + 1) for name, each in value.items()}
        if chance.random() < 0.1 and found:
            found.pop(chance.choice(list(found)))
        return found
    if isinstance(value, list):
        return [twisted(chance, each, depth + 1) for each in value] * chance.choice((1, 1, 2))
    return value


def models() -> list[dict[str, Any]]:
    """One of every command that comes from outside."""
    found: list[dict[str, Any]] = [
        node_command("node-f"),
        *(submit_command(random.Random(seed)) for seed in range(5)),
        {"command": "cancel", "entry_id": 1},
        {"command": "renew", "lease_id": 1, "ttl_ms": 5, "generation": 1},
        {"command": "release", "lease_id": 1},
        {"command": "report_checkpoint", "lease_id": 1},
        {"command": "report_teardown", "lease_id": 1, "clean": True},
        {"command": "evict", "lease_ids": [1, 2], "reason": "operator_drain", "grace_ms": 1},
        {"command": "clear_fence", "lease_id": 1},
        {"command": "depart_node", "node": "node-f", "last_seen_ms": 5},
        {"command": "change_mode", "node": "node-f", "mode": "draining", "grace_ms": 5},
        {"command": "quarantine", "node": "node-f", "reason": "odd", "grace_ms": 0},
        {"command": "lift_quarantine", "node": "node-f"},
        {"command": "set_share", "tenant": "lab", "share": 2, "project": "p"},
        {
            "command": "set_quota",
            "tenant": "other",
            "quota": {
                "limits": {"gpu_count": 4},
                "gpu_limits": {"nvidia_hopper": 2},
                "burst_dimension": "gpu_count",
                "burst_capacity": 5,
                "burst_refill_per_s": 1,
                "burst_ceiling": 6,
            },
        },
        {
            "command": "change_settings",
            "settings": {"strategy": "best_fit", "grace_ms": 5, "headroom": {"cpu_milli": 1}},
        },
        *iam_models(),
    ]
    missing = set(COMMANDS) - {each["command"] for each in found} - {"tick", "elect"}
    assert not missing, f"a command has no model here: {missing}"
    return found


def test_twisted_commands_never_break_anything(server: Server) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    chance = random.Random(seed)
    with Raw(server) as raw:
        for number in range(1500):
            command = twisted(chance, chance.choice(models()))
            told = raw.ask(id=number, token=TOKEN, command=command)
            code = told.get("error", {}).get("code")
            assert code != "invariant_broken", (seed, command)
            # Retryable would mean that the server failed; a stale generation is the caller's doing.
            failed = told.get("error", {}).get("retryable") is True and code != "stale"
            assert not failed, (seed, command, told)


def iam_models() -> list[dict[str, Any]]:
    """One of each command about principals and their rights."""
    token = {"token_id": "t-1", "principal": "alice", "kind": "human", "digest": "ab" * 32}
    return [
        {"command": "create_tenant", "tenant": "fresh", "display_name": "Fresh"},
        {"command": "change_tenant", "tenant": "fresh", "is_open": False},
        {"command": "create_project", "tenant": "fresh", "project": "p", "display_name": "P"},
        {"command": "change_project", "tenant": "fresh", "project": "p", "display_name": "Q"},
        {"command": "set_member", "member": "alice", "role": "tenant_admin", "tenant": "fresh"},
        {"command": "create_account", "account": "ci", "tenant": "fresh", "project": "p"},
        {"command": "change_account", "account": "ci", "is_enabled": False},
        {"command": "issue_token", **token, "expires_ms": 2**50, "keys": ["scheduler.queue.read"]},
        {"command": "revoke_token", "token_id": "t-1"},
        {
            "command": "note_refusal",
            "reason": "bad_token",
            "principal": "mallory",
            "permission": "scheduler.queue.submit",
            "tenant": "fresh",
        },
        {
            "command": "break_glass",
            "action": "read",
            "target": "tenant/fresh",
            "justification": "an incident that was reported today",
        },
    ]
