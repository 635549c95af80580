"""Tokens minted on the node: who gets one, within which bounds, and over which socket."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.agent import mint_socket
from bailiwick.agent.heartbeat import Away
from bailiwick.agent.machine.counters import Machine
from bailiwick.agent.mint_socket import CALLERS_MAX, MintSocket
from bailiwick.agent.minting import (
    LINE_BYTES_MAX,
    Leave,
    LeaveOutcome,
    Minting,
    MintRequest,
    read_wish,
)
from bailiwick.capability import (
    Accepted,
    BiscuitMinter,
    Denied,
    KeyRing,
    MintDenial,
    Operation,
    Refused,
    Revocations,
    TokenClaims,
    TokenFault,
    Use,
    verify,
)
from bailiwick.vocab.errors import Conflict, InvalidValue
from tests.support.waiting import WAIT_S
from tests.unit.agent.test_counters import Tree

NOW = 10**12
MINTER, BROKER = BiscuitMinter(bytes(32)), BiscuitMinter(b"b" * 32)
READ = (Operation.MEM_READ,)


class ScriptedServer:
    """Gives leave as it is told."""

    def __init__(self, **changed: Any) -> None:
        self.asked: list[MintRequest] = []
        self.says: LeaveOutcome | Exception | None = None
        self.changed = changed

    def leave(self, node: str, wish: MintRequest) -> LeaveOutcome:
        self.asked.append(wish)
        if isinstance(self.says, Exception):
            raise self.says
        assert wish.lease_id is not None
        claims = {
            "token_id": "t1",
            "tenant": "lab",
            "lease_id": wish.lease_id,
            "generation": 3,
            "resource": f"lease-{wish.lease_id}",
            "operations": wish.operations,
            "audience": node,
            "expires_ms": NOW + wish.ttl_ms,
        }
        return self.says or Leave(TokenClaims(**{**claims, **self.changed}))


class Bench:
    """A node with two processes, of lease 7 and of no lease."""

    def __init__(self, root: Path, **changed: Any) -> None:
        self.tree, self.server = Tree(root), ScriptedServer(**changed)
        self.tree.process(10, lease="7")
        self.tree.process(11)
        self.minting = Minting("n1", MINTER, self.server, self.tree.machine, lambda: NOW)

    def ask(self, pid: int = 10, **wish: Any) -> dict[str, Any]:
        line = json.dumps({"operations": ["mem_read"], **wish}).encode()
        told: dict[str, Any] = json.loads(self.minting.answer(line, pid=pid))
        return told


def judged(token: str, *, keys: KeyRing, audience: str = "n1", now_ms: int = NOW) -> object:
    use = Use(Operation.MEM_READ, "lab", 7)
    known = Revocations()
    return verify(token, use, keys=keys, audience=audience, revoked=known, now_ms=now_ms)


NODE_KEYS = KeyRing(shared=(BROKER.key,), nodes={"n1": (MINTER.key,)})


def test_work_gets_a_token_for_its_own_lease_under_the_nodes_own_key(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    told = bench.ask(ttl_ms=60_000)
    assert bench.server.asked == [MintRequest(operations=READ, lease_id=7, ttl_ms=60_000)]
    assert told["claims"]["expires_ms"] == NOW + 60_000
    accepted = judged(told["token"], keys=NODE_KEYS)
    assert isinstance(accepted, Accepted), accepted
    assert accepted.claims.lease_id == 7


def test_the_servers_own_key_forges_nothing_for_such_a_node(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    claims = bench.ask()["claims"]
    forged = BROKER.mint(TokenClaims(**{**claims, "operations": READ}))
    assert judged(forged, keys=NODE_KEYS) == Refused(TokenFault.UNKNOWN_KEY)


def test_nobody_gets_a_token_for_anothers_lease(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    denied = "not_owner"
    assert bench.ask(pid=11)["denied"] == denied
    assert bench.ask(pid=11, lease_id=7)["denied"] == denied
    assert bench.ask(pid=10, lease_id=8)["denied"] == denied
    assert bench.ask(pid=99)["denied"] == denied
    assert bench.server.asked == []


def test_a_control_group_counts_before_what_the_environment_says(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.tree.process(12, lease="7", groups="0::/work/lease-9/inner\n")
    bench.tree.process(13, lease="7", groups="0::/work/lease-9/lease-7\n")
    assert bench.ask(pid=12, lease_id=7)["denied"] == "not_owner"
    assert bench.ask(pid=12)["claims"]["lease_id"] == 9
    assert bench.ask(pid=13)["denied"] == "not_owner"


@pytest.mark.parametrize("reason", list(MintDenial))
def test_a_refusal_is_told_with_its_word(tmp_path: Path, reason: MintDenial) -> None:
    bench = Bench(tmp_path)
    bench.server.says = Denied(reason)
    assert bench.ask()["denied"] == reason.value


def test_a_server_that_is_away_is_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.server.says = Away("no connection")
    assert bench.ask() == {"error": "unavailable", "message": "no connection"}


@pytest.mark.parametrize(
    "changed",
    [
        {"audience": "n2"},
        {"lease_id": 8, "resource": "lease-8"},
        {"operations": (Operation.MEM_READ, Operation.MEM_WRITE)},
        {"expires_ms": NOW},
    ],
)
def test_leave_for_something_else_mints_nothing(tmp_path: Path, changed: dict[str, Any]) -> None:
    assert "denied" in Bench(tmp_path, **changed).ask()


def test_no_token_lives_for_more_than_300_s_whatever_the_server_says(tmp_path: Path) -> None:
    told = Bench(tmp_path, expires_ms=NOW + 10**9).ask()
    assert told["claims"]["expires_ms"] == NOW + 300_000
    late = judged(told["token"], keys=NODE_KEYS, now_ms=NOW + 300_000)
    assert late == Refused(TokenFault.EXPIRED)


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[]", b"{}", b"null", b'{"operations": "mem_read"}', b'{"operations": ["rm"]}',
     b'{"operations": [[]]}', b'{"operations": [], "sudo": true}', b"[" * 4000,
     b'{"operations": ["mem_read"], "ttl_ms": 0}', b'{"operations": ["mem_read"], "ttl_ms": true}',
     b'{"operations": ["mem_read"], "lease_id": "7"}', b'{"operations": ["mem_read"]' + b" " * 5000,
     b'{"operations": ["mem_read"], "lease_id": 1e3}', b"\xff\xfe"],
)  # fmt: skip
def test_a_line_that_is_no_wish_is_told_what_is_expected(tmp_path: Path, line: bytes) -> None:
    bench = Bench(tmp_path)
    told = json.loads(bench.minting.answer(line, pid=10))
    assert told["error"] == "invalid_value"
    assert "expected" in told["message"]


@given(st.binary(max_size=200))
def test_any_line_is_a_wish_or_an_invalid_value(line: bytes) -> None:
    with suppress(InvalidValue):
        assert isinstance(read_wish(line), MintRequest)


# -- the socket ------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _slow_callers_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody here is slow on purpose, only by the machine."""
    monkeypatch.setattr(mint_socket, "CALLER_S", WAIT_S)


@contextmanager
def served(path: Path, answer: Callable[[bytes, int], bytes]) -> Iterator[list[str]]:
    said: list[str] = []
    with MintSocket(path, answer, say=said.append):
        yield said


def echo(line: bytes, pid: int) -> bytes:
    return b"%d %s\n" % (pid, line)


def connected(path: Path) -> socket.socket:
    caller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    caller.settimeout(WAIT_S)
    caller.connect(str(path))
    return caller


def call(path: Path, data: bytes) -> bytes:
    with connected(path) as caller:
        caller.sendall(data)
        return caller.makefile("rb").read()


def test_who_connected_and_is_gone_is_answered_no_more_whoever_has_the_connection(
    tmp_path: Path,
) -> None:
    """By then its number may be another's, and so would be the lease."""
    path = tmp_path / "s"
    hand_over = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        "socket.send_fds(socket.socket(fileno=int(sys.argv[2])), [b'x'], [s.fileno()])"
    )
    with served(path, echo) as said:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            command = [sys.executable, "-c", hand_over, str(path), str(theirs.fileno())]
            subprocess.run(command, check=True, pass_fds=[theirs.fileno()])
            with socket.socket(fileno=socket.recv_fds(ours, 1, 1)[1][0]) as caller:
                caller.settimeout(WAIT_S)
                with suppress(BrokenPipeError):
                    caller.sendall(b"hello\n")
                with suppress(ConnectionResetError):
                    assert caller.recv(100) == b""
    assert len(said) == 1


def test_a_line_is_answered_with_a_line_and_who_asks_is_known(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with served(path, echo):
        assert call(path, b"hello\n") == b"%d hello\n" % os.getpid()
        assert call(path, b"one\ntwo\n") == b"%d one\n" % os.getpid()
    assert not path.exists()


def test_the_socket_is_for_its_user_and_group_alone(tmp_path: Path) -> None:
    path = tmp_path / "state" / "s"
    with served(path, echo):
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o710


def test_a_line_without_an_end_or_too_long_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with served(path, echo):
        for data in (b"x" * (LINE_BYTES_MAX + 1), b"x" * LINE_BYTES_MAX + b"y\n"):
            assert json.loads(call(path, data))["error"] == "invalid_value"
        with connected(path) as caller:
            caller.sendall(b"no end")
            caller.shutdown(socket.SHUT_WR)
            assert json.loads(caller.makefile("rb").read())["error"] == "invalid_value"


def test_more_callers_than_it_takes_are_told_so_and_the_others_are_served(tmp_path: Path) -> None:
    path, gate = tmp_path / "s", threading.Event()

    def slow(line: bytes, pid: int) -> bytes:
        gate.wait(WAIT_S)
        return line + b"\n"

    with served(path, slow):
        callers = [connected(path) for _ in range(CALLERS_MAX)]
        for caller in callers:
            caller.sendall(b"a\n")
        assert json.loads(call(path, b""))["error"] == "limit_reached"
        gate.set()
        assert {caller.makefile("rb").read() for caller in callers} == {b"a\n"}
        for caller in callers:
            caller.close()


def test_a_fault_of_ours_is_told_to_the_operator_and_the_next_caller_is_served(
    tmp_path: Path,
) -> None:
    path, faults = tmp_path / "s", [ZeroDivisionError("secret")]

    def faulty(line: bytes, pid: int) -> bytes:
        if faults:
            raise faults.pop()
        return line + b"\n"

    with served(path, faulty) as said:
        assert call(path, b"a\n") == b""
        assert call(path, b"a\n") == b"a\n"
    assert "ZeroDivisionError" in said[-1]
    assert "secret" not in said[-1]


def test_what_a_dead_agent_left_is_taken_over_and_a_living_ones_is_not(tmp_path: Path) -> None:
    path = tmp_path / "s"
    left = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    left.bind(str(path))
    left.close()
    with served(path, echo):
        with pytest.raises(Conflict, match="another agent"), served(path, echo):
            pass
        assert call(path, b"a\n") == b"%d a\n" % os.getpid()


def test_a_path_that_is_no_place_for_a_socket_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / ("x" * 200)):
        with pytest.raises(InvalidValue, match="mint socket"), served(path, echo):
            pass


def test_a_real_process_gets_a_token_for_the_lease_that_it_was_started_under(
    tmp_path: Path,
) -> None:
    path, server = tmp_path / "s", ScriptedServer()
    minting = Minting("n1", MINTER, server, Machine(), lambda: NOW)
    asks = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        's.sendall(b\'{"operations": ["mem_read"]}\\n\'); print(s.makefile().read())'
    )
    with served(path, lambda line, pid: minting.answer(line, pid=pid)):
        done = subprocess.run(
            [sys.executable, "-c", asks, str(path)],
            env=os.environ | {"BAILIWICK_LEASE_ID": "7"},
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=True,
        )
    assert isinstance(judged(json.loads(done.stdout)["token"], keys=NODE_KEYS), Accepted)
