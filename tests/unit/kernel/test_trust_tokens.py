"""Tokens of leases: who may have one, what stands in it, and what a refusal tells to whom."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.journal import RecordKind
from bailiwick.kernel import (
    Envelope,
    Evict,
    GrantToken,
    Quarantine,
    Release,
    Renew,
    TokenDenied,
    TokenGranted,
)
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import MintDenial, Operation
from bailiwick.vocab.words import PreemptionReason
from tests.unit.kernel.desk import TTL_MS
from tests.unit.kernel.trust_desk import Gate

READ, WRITE = Operation.MEM_READ, Operation.MEM_WRITE


def open_gate(nodes: int = 1, **terms: Any) -> Gate:
    """A desk whose nodes have all attested."""
    d = Gate(nodes, **terms)
    for number in range(1, nodes + 1):
        d.trust(f"n{number}")
    return d


def test_a_token_says_whose_lease_it_is_where_and_until_when() -> None:
    d = open_gate()
    held = d.lease(project="vision")
    answer = d.token(held, operations=(READ, WRITE))
    assert answer == TokenGranted(
        "t-1", "lab", "vision", held, 1, "n1", (READ, WRITE), d.now_ms + 5_000
    )
    (record,) = d.last
    assert (record.kind, record.tenant, record.project) == ("token_issued", "lab", "vision")
    assert record.body["operations"] == ("mem_read", "mem_write")


def test_a_token_never_outlives_its_lease() -> None:
    d = open_gate()
    held = d.lease()
    ends = d.now_ms + TTL_MS
    answer = d.at(d.now_ms + 1_000).token(held, ttl_ms=300_000)
    assert isinstance(answer, TokenGranted)
    assert answer.expires_ms == ends


def test_a_renewal_makes_older_generations_stale_and_a_new_token_names_the_new_one() -> None:
    d = open_gate()
    held = d.lease()
    d.do(Renew(held, 60_000))
    assert d.token(held, generation=1) == TokenDenied(MintDenial.STALE_GENERATION)
    answer = d.token(held, generation=2)
    assert isinstance(answer, TokenGranted)
    assert answer.generation == 2


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        ({"audience": "n2"}, MintDenial.WRONG_AUDIENCE),
        ({"operations": ()}, MintDenial.NO_OPERATION),
        ({"ttl_ms": 300_001}, MintDenial.TTL_TOO_LONG),
        ({"generation": 2}, MintDenial.STALE_GENERATION),
    ],
)
def test_what_may_not_be_in_a_token_is_refused_and_sealed_for_its_owner(
    terms: dict[str, Any], reason: MintDenial
) -> None:
    d = open_gate(1)
    held = d.lease(project="vision")
    assert d.token(held, **terms) == TokenDenied(reason)
    (record,) = d.last
    assert (record.kind, record.tenant, record.project) == ("token_refused", "lab", "vision")
    assert (record.body["reason"], record.body["token_id"]) == (reason, "t-1")


def test_the_lease_s_own_node_may_be_named_as_audience() -> None:
    d = open_gate()
    answer = d.token(d.lease(), audience="n1")
    assert isinstance(answer, TokenGranted)


def test_a_lease_that_is_ending_or_over_has_no_tokens() -> None:
    d = open_gate(grace_ms=5_000)
    held, other = d.lease(), d.lease()
    d.do(Evict((held,), PreemptionReason.OPERATOR_DRAIN))
    assert d.phase(held) == "grace_running"
    assert d.token(held) == TokenDenied(MintDenial.LEASE_ENDING)
    d.at(d.now_ms + TTL_MS)
    assert d.token(other) == TokenDenied(MintDenial.LEASE_ENDING)


def test_a_node_in_quarantine_gets_no_tokens_while_its_leases_are_still_there() -> None:
    d = open_gate()
    held = d.lease()
    d.state.ledger.set_quarantine("n1", True)  # before what runs there is told to go
    assert d.token(held) == TokenDenied(MintDenial.NODE_QUARANTINED)


def test_a_lease_that_quarantine_ends_has_no_tokens_either() -> None:
    d = open_gate(grace_ms=5_000)
    held = d.lease()
    d.do(Quarantine("n1", "odd"))
    assert d.token(held) == TokenDenied(MintDenial.LEASE_ENDING)


def test_who_asks_about_another_s_lease_learns_what_he_would_if_there_were_none() -> None:
    d = open_gate()
    held = d.lease("lab")
    answers, records = [], []
    for lease_id, tenant in ((held, "spy"), (held + 1, "spy")):
        answers.append(d.token(lease_id, tenant))
        records += d.last
    assert answers == [TokenDenied(MintDenial.NO_SUCH_LEASE)] * 2
    assert [record.body["reason"] for record in records] == ["not_owner", "no_such_lease"]
    assert [(record.tenant, record.project) for record in records] == [(None, None)] * 2
    assert not any("lab" in str(record.body) for record in records)


def test_a_released_lease_is_one_that_is_not_there() -> None:
    d = open_gate()
    held = d.lease()
    d.do(Release(held))
    assert d.token(held) == TokenDenied(MintDenial.NO_SUCH_LEASE)


def test_a_node_with_a_key_of_its_own_mints_and_nobody_else_does() -> None:
    d = Gate()
    d.enrol(ak_public="ab", capability_key="cd" * 32)
    d.trust()
    held = d.lease()
    assert d.token(held) == TokenDenied(MintDenial.NODE_MINTS)
    answer = d.token(held, by_node=True)
    assert isinstance(answer, TokenGranted)
    assert d.last[0].body["by_node"] == 1


def test_the_first_thing_that_speaks_against_a_token_is_told() -> None:
    d = open_gate()
    held = d.lease()
    terms: dict[str, Any] = {"operations": (), "ttl_ms": 10**6, "audience": "n9", "generation": 7}
    order = [
        MintDenial.STALE_GENERATION,
        MintDenial.WRONG_AUDIENCE,
        MintDenial.NO_OPERATION,
        MintDenial.TTL_TOO_LONG,
    ]
    mends: list[dict[str, Any]] = [{"generation": 1}, {"audience": "n1"}, {"operations": (READ,)}]
    for reason, mend in zip(order, [*mends, {}], strict=True):
        assert d.token(held, **terms) == TokenDenied(reason)
        terms |= mend


def test_the_same_key_gives_the_same_answer_here_and_after_a_restart() -> None:
    d = open_gate()
    held = d.lease()
    wanted = GrantToken(held, "lab", "t-1", (READ,), None, 5_000)
    other = GrantToken(held, "spy", "t-2", (READ,), None, 5_000)
    for command, key in ((wanted, "k1"), (other, "k2")):
        first = d.do(command, key=key)
        size = d.kernel.chain.size
        assert d.at(d.now_ms + 100).do(command, key=key) == first
        assert d.kernel.chain.size == size
        again = d.replayed().execute(Envelope(command, key=key), d.now_ms)
        assert (again.answer, again.lines) == (first, ())


def test_no_record_of_a_token_has_room_for_the_token() -> None:
    d = open_gate()
    d.token(d.lease())
    assert set(d.last[0].body) == {
        *("token_id", "lease_id", "generation", "expires_ms", "audience", "operations"),
    }
    assert RecordKind.TOKEN_ISSUED.scope == "tenant"


@pytest.mark.parametrize(
    "wrong",
    [
        {"lease_id": 0},
        {"tenant": "a b"},
        {"token_id": ""},
        {"operations": ("mem_read",)},
        {"operations": (READ, READ)},
        {"operations": READ},
        {"audience": "x/y"},
        {"ttl_ms": 0},
        {"generation": 0},
        {"by_node": 1},
    ],
)
def test_what_could_not_be_written_down_is_refused_at_once(wrong: dict[str, Any]) -> None:
    good: dict[str, Any] = {"lease_id": 1, "tenant": "lab", "token_id": "t", "ttl_ms": 1}
    good |= {"operations": (READ,), "audience": None}
    GrantToken(**good)
    with pytest.raises(InvalidValue):
        GrantToken(**{**good, **wrong})
