"""What a server's refusals mean to the agent: wait, report again, tell and go on, or end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from bailiwick.agent.attestation import NotAccepted
from bailiwick.agent.dividing import NotWanted
from bailiwick.agent.health.watching import TooSoon
from bailiwick.agent.heartbeat import Away, NotKnown, NotTaken
from bailiwick.agent.minting import MintRequest
from bailiwick.agent.server import HttpServer
from bailiwick.attestation.evidence import Evidence
from bailiwick.capability import Denied
from bailiwick.client.errors import Misunderstood, Refusal, Unreachable
from bailiwick.client.http_client import Client
from bailiwick.fleet.node import NodeCapacity
from bailiwick.server.problems import PROBLEMS
from bailiwick.vocab.errors import ErrorCode
from bailiwick.vocab.health import HealthCheck, HealthFinding, HealthLevel
from bailiwick.vocab.trust import EvidenceKind, MintDenial, Operation
from bailiwick.wire.answers import TokenDenied
from bailiwick.wire.problem import EdgeCode, Problem

SMALL = NodeCapacity(cpu_cores=4, mem_bytes=2**33)
PIECE = Evidence(EvidenceKind.ED25519, {"statement": b"s", "signature": b"t"})
WISH = MintRequest(operations=(Operation.MEM_READ,), lease_id=7)
Fails = Callable[[Exception], HttpServer]


@pytest.fixture
def fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fails]:
    """A server that answers every call so."""
    token = tmp_path / "token"
    token.write_text("t")
    with HttpServer("http://127.0.0.1:1", token) as server:

        def set_up(error: Exception) -> HttpServer:
            def call(*_: Any, **__: Any) -> NoReturn:
                raise error

            monkeypatch.setattr(Client, "send", call)
            return server

        yield set_up


def refusal(
    code: ErrorCode | EdgeCode, decision: TokenDenied | None = None, **details: list[str] | str
) -> Refusal:
    row = PROBLEMS[code]
    problem = Problem(
        code=code,
        message=f"no: {code.value}",
        correlation_id="c",
        details=dict(details),
        retryable=row.retryable,
        decision=decision,
    )
    return Refusal(row.status, problem)


GONE = Unreachable("http://x", "no connection", correlation_id="c")


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        (EdgeCode.REFUSED, NotAccepted),
        (EdgeCode.TOO_LARGE, NotAccepted),
        (ErrorCode.CONFLICT, NotAccepted),
        (ErrorCode.INVALID_VALUE, NotAccepted),
        (ErrorCode.NOT_FOUND, NotKnown),
        (ErrorCode.UNAVAILABLE, Away),
        (ErrorCode.NOT_LEADER, Away),
        (EdgeCode.RATE_LIMITED, Away),
        (EdgeCode.UNAUTHENTICATED, Refusal),
        (EdgeCode.FORBIDDEN, Refusal),
    ],
)
def test_a_refusal_of_a_proof_has_one_meaning(
    fails: Fails, code: ErrorCode | EdgeCode, meaning: type[Exception]
) -> None:
    server = fails(refusal(code))
    with pytest.raises(meaning):
        server.offer("n1", EvidenceKind.ED25519, parts={"public_key": b"k"})
    with pytest.raises(meaning):
        server.prove("n1", "0" * 32, parts={"signature": b"s"})
    with pytest.raises(meaning):
        server.present("n1", bytes(32), pieces=[PIECE])
    if code is not ErrorCode.CONFLICT:
        with pytest.raises(meaning):
            server.nonce("n1")


@pytest.mark.parametrize(
    ("details", "gpus"),
    [({}, None), ({"gpus": []}, ()), ({"gpus": ["a", "a"]}, ("a", "a")), ({"gpus": "a"}, None)],
)
def test_a_report_that_is_not_taken_says_with_which_gpus_the_node_is_known(
    fails: Fails, details: dict[str, Any], gpus: tuple[str, ...] | None
) -> None:
    with pytest.raises(NotTaken, match="no: conflict") as told:
        fails(refusal(ErrorCode.CONFLICT, **details)).report("n1", SMALL)
    assert told.value.gpus == gpus


def test_a_node_in_no_pool_is_asked_nothing(fails: Fails) -> None:
    assert fails(refusal(ErrorCode.CONFLICT)).nonce("n1") is None


def test_a_server_that_does_not_answer_is_away(fails: Fails) -> None:
    server = fails(GONE)
    for call in (
        lambda: server.nonce("n1"),
        lambda: server.present("n1", bytes(32), pieces=[PIECE]),
        lambda: server.leave("n1", WISH),
    ):
        with pytest.raises(Away):
            call()


@pytest.mark.parametrize("reason", list(MintDenial))
def test_a_denial_of_leave_is_told_with_its_word(fails: Fails, reason: MintDenial) -> None:
    decision = TokenDenied(answer="token_denied", reason=reason)
    assert fails(refusal(EdgeCode.REFUSED, decision)).leave("n1", WISH) == Denied(reason)


def test_a_lease_that_is_hidden_is_no_such_lease_and_all_else_is_away(fails: Fails) -> None:
    hidden = fails(refusal(ErrorCode.NOT_FOUND)).leave("n1", WISH)
    assert hidden == Denied(MintDenial.NO_SUCH_LEASE)
    odd = Misunderstood("http://x", "what", correlation_id="c")
    for error in (odd, refusal(EdgeCode.FORBIDDEN), refusal(ErrorCode.UNAVAILABLE)):
        with pytest.raises(Away):
            fails(error).leave("n1", WISH)


WRONG = (HealthFinding(HealthCheck.ECC, HealthLevel.FAIL, 3, 2),)


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (refusal(ErrorCode.CONFLICT), NotWanted),
        (refusal(ErrorCode.NOT_FOUND), NotWanted),
        (refusal(EdgeCode.METHOD_NOT_ALLOWED), NotWanted),
        (Misunderstood("http://x", "what", correlation_id="c"), NotWanted),
        (refusal(ErrorCode.UNAVAILABLE), Away),
        (refusal(EdgeCode.RATE_LIMITED), TooSoon),
        (GONE, Away),
        (refusal(EdgeCode.FORBIDDEN), Refusal),
    ],
)
def test_a_refusal_of_what_is_wrong_with_a_machine_has_one_meaning(
    fails: Fails, error: Exception, meaning: type[Exception]
) -> None:
    server = fails(error)
    with pytest.raises(meaning):
        server.tell_health("n1", WRONG, can_test=True)
    with pytest.raises(meaning):
        server.tell_tested("n1", 7, findings=WRONG, took_ms=10**12)
